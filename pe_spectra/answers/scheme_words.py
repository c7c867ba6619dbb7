"""What the first line says of a model whose encoding is not a rotation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping

from pe_spectra.encodings.biases import compute_slopes
from pe_spectra.encodings.lag_tables import compute_buckets
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.wording import count

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

    def place(distance: int) -> int:
        found = compute_buckets([-distance], buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
        return int(found[0])

    return bisect_left(range(max_distance + 1), place(max_distance), key=place)


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
    held = f"in a table of {values['rows']:,} rows" if "rows" in values else "for any number of positions"
    return f"Sinusoidal: {values['d']} columns by formula, {held}"


def _say_measured(audit: ModelAudit) -> str:
    sizes = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in audit.scheme_parameters.items())
    known = "" if audit.layers[0].encoding is not None else "; named, not analysed"
    return _MEASURED[audit.scheme or ""] + (f"; {sizes}" if sizes else "") + known


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
    'Relative: a bias for each offset within a window; heads 3, window 7'
    """
    return _SCHEMES[audit.scheme or "none"](audit)
