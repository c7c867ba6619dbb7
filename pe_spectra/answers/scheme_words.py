"""What the first line says of a model whose encoding is not a rotation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.bias_maps import Swin
from pe_spectra.encodings.biases import compute_slopes
from pe_spectra.encodings.grids import DetrSine, Sincos2d
from pe_spectra.encodings.lag_tables import T5, Shaw, compute_buckets
from pe_spectra.encodings.lag_vectors import Deberta, TransformerXl, compute_log_buckets
from pe_spectra.encodings.sinusoidal import Sinusoidal, Tensor2Tensor
from pe_spectra.exact import F64, I64
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.models.rotation import TURN
from pe_spectra.wording import count

#: Wavelengths from here on are written without decimals.
_LONG = 100
#: Orders of columns, in a few words.
_ORDERS = {
    "interleaved": "sines and cosines in turns",
    "concatenated": "all sines first",
    "cosines-first": "all cosines first",
}
#: Sizes that a sentence of their own tells.
_SAID_BEHIND = ("before", "behind", "max_lag", "fails_from")
#: Schemes that a table says of a class, in a few words.
_MEASURED = {
    "sine-2d": "Sinusoidal on a grid: sines and cosines of both axes",
    "axial-tables": "Learned: a table for each axis, summed or joined",
    "axial-rotary": "Rotary on a grid: each axis turns pairs of its own",
    "transformer-xl": "Relative: sines and cosines of the lag, projected for each layer (Transformer-XL)",
    "shaw": "Relative: a learned vector for each lag up to a distance",
    "disentangled": "Relative: words against learned vectors of lags (DeBERTa)",
    "bucketed-bias": "Relative: a learned bias for each bucket of lags",
    "window-bias": "Relative: a bias for each offset within a window",
    "offset-bias": "Relative: a learned bias for each offset on the grid",
    "decomposed-bias": "Relative: learned vectors for the lag of rows and for that of columns",
    "relative-logits": "Relative: a bias for each lag, projected from the query",
    "random-fourier": "Sines and cosines of both coordinates at random frequencies",
    "learned-fourier": "Sines and cosines of coordinates at learned frequencies",
    "convolutional": "Convolutional: what a convolution over neighbours adds",
}


def _say_alibi(audit: ModelAudit) -> str:
    slopes = compute_slopes(int(audit.scheme_parameters["heads"]))
    return f"ALiBi: {count(slopes.size, 'head')}, slopes from {slopes.max():.6g} to {slopes.min():.6g}"


def _say_t5(audit: ModelAudit) -> str:
    values = audit.scheme_parameters
    buckets, most = int(values["buckets"]), int(values["max_distance"])
    ends = [_find_last_bucket(buckets, most, bidirectional=way) for way in (True, False)]
    shared = f"distances from {ends[0]} on share one in an encoder, from {ends[1]} on in a decoder"
    return f"T5: {buckets} buckets, {count(int(values['heads']), 'head')}; {shared}"


def _find_last_bucket(buckets: int, max_distance: int, *, bidirectional: bool) -> int:
    """The smallest distance of those that share the last bucket of T5."""

    def place(distances: I64) -> I64:
        return compute_buckets(-distances, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)

    return _find_end(place, max_distance)


def _find_end(place: Callable[[I64], I64], max_distance: int) -> int:
    """The smallest distance that is placed as the largest one is; places do not fall."""
    last = int(place(np.array([max_distance]))[0])
    return bisect_left(range(max_distance + 1), last, key=lambda n: int(place(np.array([n]))[0]))


def _say_learned(audit: ModelAudit) -> str:
    values, length = audit.scheme_parameters, audit.layers[0].served_length
    if "rows" not in values and "grid_height" in values:
        return f"Learned: a table for {values['grid_height']} x {values['grid_width']} patches"
    if "rows" not in values:
        return "Learned: a table of positions whose number of rows is not stated"
    unused = int(values.get("unused", 0))
    kept = f", {unused} of which {'is no position' if unused == 1 else 'are no positions'}," if unused else ""
    places = f" for {length:,} positions" if length is not None else ""
    if "grid_height" in values:
        places = f" for {values['grid_height']} x {values['grid_width']} patches"
    return f"Learned: {int(values['rows']):,} rows{kept}{places}"


def _say_sinusoidal(audit: ModelAudit) -> str:
    values = audit.scheme_parameters
    encoding, configuration = audit.layers[0].encoding, audit.layers[0].configuration
    held = ", for any number of positions" if configuration.grows else ""
    held = f", in a table of {values['rows']:,} rows" if "rows" in values else held
    said = f"Sinusoidal: {values['d']} columns by formula{held}"
    if configuration.untold or not isinstance(encoding, Sinusoidal | Tensor2Tensor):
        return f"{said}; {configuration.untold}"
    return f"{said}; {_say_columns(encoding)}"


def _say_columns(encoding: Sinusoidal | Tensor2Tensor) -> str:
    """The order of sines and cosines, their wavelengths, and where they begin."""
    waves = TURN / encoding.words()[0]
    said = f"{_ORDERS[encoding.layout]}, {_say_waves(waves, 'positions')}"
    said += f", the first position counted as {encoding.offset}" if encoding.offset else ""
    return said + (f", all times {encoding.amplitude:.6g}" if encoding.amplitude != 1.0 else "")


def _say_measured(audit: ModelAudit) -> str:
    encoding, values, name = audit.layers[0].encoding, audit.scheme_parameters, audit.scheme or ""
    if isinstance(encoding, TransformerXl):
        return _say_lag_waves(encoding, audit.layers[0].trained_length)
    known = _OF_ENCODINGS.get(type(encoding)) if encoding is not None else None
    if known is not None:
        return known(encoding)
    sizes = {size: value for size, value in values.items() if size not in _SAID_BEHIND}
    said = _MEASURED[name] + "".join(f", {size.replace('_', ' ')} {value:,}" for size, value in sizes.items())
    if "before" in values and name == "convolutional":
        return f"{said}; it sees {values['before']:,} positions before and {values['behind']:,} behind"
    if "before" in values:
        reach = f"up to {values['before']:,} positions before and {values['behind']:,} behind"
        return f"{said}; {reach} each lag has its own, those beyond share the last"
    if "max_lag" in values:
        return f"{said}; lags beyond {values['max_lag']:,} have its code"
    if "fails_from" in values:
        return f"{said}; a place from {values['fails_from']:,} on has no row and fails"
    return f"{said}; named, not analysed"


def _say_grid(encoding: DetrSine | Sincos2d) -> str:
    columns = f"Sinusoidal on a grid: {encoding.d:,} columns, half for each axis; {encoding.d // 4} frequencies"
    if isinstance(encoding, DetrSine) and encoding.normalise == "yes":
        centre = ", which is counted from the middle of a place" if encoding.centred == "yes" else ""
        return f"{columns}, the fastest one turn over a side of any length{centre}"
    return f"{columns}, {_say_waves(_list_waves(encoding.rho, encoding.d // 2), 'places')}"


def _say_lag_waves(encoding: TransformerXl, length: int | None) -> str:
    waves = _list_waves(encoding.rho, encoding.d)
    slow = int(np.count_nonzero(waves > length)) if length is not None else 0
    never = f"; {slow} of them complete no turn within {length:,} positions" if slow else ""
    return f"{_MEASURED['transformer-xl']}; {encoding.d // 2} frequencies, {_say_waves(waves, 'positions')}{never}"


def _list_waves(rho: float, d: int) -> F64:
    """Wavelengths of a ladder with two columns for each frequency."""
    return TURN * rho ** (np.arange(0, d, 2) / d)


def _say_waves(waves: F64, unit: str) -> str:
    first, last = (f"{one:,.{2 if one < _LONG else 0}f}" for one in (waves[0], waves[-1]))
    return f"wavelengths from {first} to {last} {unit}" if len(waves) > 1 else f"wavelength {first} {unit}"


def _say_log_buckets(encoding: Deberta) -> str:
    buckets, most = encoding.buckets, encoding.max_distance

    def place(distances: I64) -> I64:
        return compute_log_buckets(distances, buckets=buckets, max_distance=most)

    alone, shared = buckets // 2, _find_end(place, most)
    own = f"distances up to {alone} have one each, those from {shared} on share the last"
    return f"DeBERTa: {buckets} buckets on each side, width {encoding.d:,}; {own}"


def _say_measured_t5(encoding: T5) -> str:
    last = _find_last_bucket(encoding.buckets, encoding.max_distance, bidirectional=encoding.bidirectional == "yes")
    buckets = f"{encoding.buckets} buckets, {count(encoding.heads, 'head')}"
    return f"{_MEASURED['bucketed-bias']} as T5's: {buckets}; distances from {last} on share one"


def _say_clipped(encoding: Shaw) -> str:
    return f"{_MEASURED['shaw']}, {encoding.clip}, and width {encoding.d}; lags beyond share the last"


def _say_window(encoding: Swin) -> str:
    side = encoding.window
    offsets = f"{(2 * side - 1) ** 2:,} offsets within a window of {side} x {side}, {count(encoding.heads, 'head')}"
    if encoding.mode == "table":
        return f"Relative: a learned bias for each of {offsets}"
    trained = f", scaled by a window of {encoding.trained}" if encoding.trained not in (None, side) else ""
    return f"Relative: a bias that a small network makes for each of {offsets}{trained} (Swin v2)"


#: What is said of the encodings of the catalogue that classes were measured to have.
_OF_ENCODINGS: Mapping[type[Encoding], Callable[..., str]] = {
    DetrSine: _say_grid,
    Sincos2d: _say_grid,
    Deberta: _say_log_buckets,
    T5: _say_measured_t5,
    Shaw: _say_clipped,
    Swin: _say_window,
}


def _say_none(audit: ModelAudit) -> str:
    if any(one.code == "no-position-scheme" for one in audit.findings):
        return "No position scheme was found in the model's classes"
    return "No positional encoding: order is in the recurrence"


_SCHEMES: Mapping[str, Callable[[ModelAudit], str]] = {
    **dict.fromkeys(_MEASURED, _say_measured),
    "alibi": _say_alibi,
    "t5": _say_t5,
    "learned": _say_learned,
    "sinusoidal": _say_sinusoidal,
    "none": _say_none,
}


def say_other_scheme(audit: ModelAudit) -> str:
    """Say what a model has that is not turned, or that it has nothing.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> say_other_scheme(audit_configuration(read_configuration({"model_type": "swin"}, "config.json")))
    'Relative: a learned bias for each of 169 offsets within a window of 7 x 7, 3 heads'
    """
    return _SCHEMES[audit.scheme or "none"](audit)
