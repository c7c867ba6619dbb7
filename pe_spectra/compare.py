"""Encodings side by side: the numbers that need no model, each with its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from pe_spectra.encodings import Encoding, HasBias, HasFrequencies, HasKernel, HasTable
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, sin_cos
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.metrics import (
    METRICS,
    Measured,
    Metric,
    PeriodMatch,
    Resolution,
    measure_kernel_metrics,
    measure_ladder_resolution,
    measure_periods,
    measure_table_metrics,
)
from pe_spectra.spectrum import (
    Spectrum,
    compute_spectrum,
    estimate_grid_kernel,
    estimate_kernel,
    measure_toeplitz_share,
)
from pe_spectra.spectrum.kernels import check_length, read_codes, read_grid_codes
from pe_spectra.spectrum.shape import classify_shape

DEFAULT_LENGTH = 128
#: Every metric by name, in the order in which they are shown.
COMPARED: Mapping[str, Metric] = MappingProxyType(
    {
        "low_bin_mass": Metric(
            definition="weight of the first ten bins of the spectrum", unit="", better=None, source="Eq. (15)"
        ),
        "centroid": Metric(
            definition="mean frequency of the spectrum", unit="rad/position", better=None, source="Eq. (15)"
        ),
        "effective_bins_entropy": Metric(
            definition="exp of the entropy of the weights", unit="bins", better="higher", source="Shannon 1948"
        ),
        "flatness": Metric(
            definition="geometric over arithmetic mean of the weights",
            unit="",
            better="higher",
            source="Wiener entropy",
        ),
        "min_separation": Metric(
            definition="smallest distance of two codes", unit="", better="higher", source="Definition 1"
        ),
        "toeplitz_share": Metric(
            definition="share of the Gram matrix's energy that is a function of the lag alone",
            unit="",
            better="higher",
            source="orthogonal projection on Toeplitz matrices",
        ),
        **METRICS,
    }
)
#: What holds of a kernel on a grid along a row, or does not depend on the order of positions.
_OF_GRIDS = ("kernel_half_width", "sidelobe", "kernel_monotonicity", "stable_rank", "effective_rank")
#: What a spectrum with weights of both signs does not have, and why.
OF_SHARES = ("low_bin_mass", "centroid", "effective_bins_entropy", "flatness")
SIGNED = "the spectrum has weights of both signs, which are no shares"
_ON_A_GRID = "its positions fill a grid, so they have no single lag"


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """One encoding among others.

    Attributes
    ----------
    encoding, length : what was measured, on how many positions.
    injective : Definition 1; None where it is not decided.
    values : every name of `COMPARED` -> its value, or None; notes : why it is None.
    kernel : (L,) k(tau)/k(0) at lags 0 .. L-1, the mean over heads; on a grid along a row. None without one.
    spectrum : on a grid along a row; None where it is not defined.
    periods : what the kernel does at the periods of the data.
    remarks : findings about time, each a sentence.

    >>> from pe_spectra import Dft
    >>> row, = compare_encodings([Dft(d=64)], length=64)
    >>> row.injective, round(row.values["min_separation"], 5)  # sqrt 2
    (True, 1.41421)
    """

    encoding: Encoding
    length: int
    injective: bool | None
    values: Mapping[str, float | None]
    notes: Mapping[str, str]
    kernel: F64 | None
    spectrum: Spectrum | None
    periods: tuple[PeriodMatch, ...]
    remarks: tuple[str, ...]


def compare_encodings(
    encodings: Sequence[Encoding],
    *,
    length: int | None = None,
    step_seconds: float | None = None,
    periods: Sequence[tuple[str, float]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Comparison, ...]:
    """Measure encodings by everything in `COMPARED`.

    Parameters
    ----------
    length : number of positions for all of them; default 128, or all rows where there are fewer. A grid is
        always taken whole.
    step_seconds, periods : time between positions, and names with lengths in seconds of periods to look for.
    progress : is told how many of how many are measured.

    Raises
    ------
    InputError : a length that an encoding has not.

    >>> from pe_spectra import Dft, Sinusoidal
    >>> [round(c.values["stable_rank"]) for c in compare_encodings([Sinusoidal(d=64), Dft(d=64)], length=64)]
    [2, 64]
    """
    compared = []
    for done, encoding in enumerate(encodings):
        if progress is not None:
            progress(done, len(encodings))
        on_line = length is not None and encoding.shape is None
        size = check_length(encoding, length) if on_line else choose_length(encoding)
        compared.append(_compare(encoding, size, step_seconds, periods))
    return tuple(compared)


def choose_length(encoding: Encoding) -> int:
    """Return the number of positions that an encoding is compared on unless told otherwise.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> choose_length(Sinusoidal()), choose_length(read_encoding("one-hot:d=64"))
    (128, 64)
    """
    return min(encoding.rows or DEFAULT_LENGTH, DEFAULT_LENGTH) if encoding.shape is None else encoding.default_length


def sort_comparisons(compared: Sequence[Comparison], metric: str) -> tuple[Comparison, ...]:
    """Sort by a metric, the better first (the smaller where neither is), what has no value last.

    Encodings whose values are drawn at random stand behind all others.

    >>> from pe_spectra import read_encoding
    >>> rows = compare_encodings([read_encoding(spec) for spec in ("ramp:length=8", "one-hot:d=8")], length=8)
    >>> [row.encoding.name for row in sort_comparisons(rows, "min_separation")]
    ['one-hot', 'ramp']
    """
    sign = -1.0 if COMPARED[metric].better == "higher" else 1.0

    def rank(one: Comparison) -> tuple[bool, float]:
        value = one.values[metric]
        return one.encoding.is_random, math.inf if value is None else sign * value

    return tuple(sorted(compared, key=rank))


def _compare(
    encoding: Encoding, size: int, step_seconds: float | None, periods: Sequence[tuple[str, float]]
) -> Comparison:
    kernel = _find_kernel(encoding, size)
    spectrum = _find_spectrum(encoding, size)
    faithfulness = measure_faithfulness(encoding, length=size, limit=0)
    measured = _measure(encoding, size, kernel)
    values, notes = dict(measured.values), dict(measured.notes)
    is_signed = spectrum is not None and classify_shape(spectrum) == "signed"
    for name, value in _summarise(spectrum, faithfulness, is_signed=is_signed).items():
        values[name] = value
        if value is None:
            notes[name] = SIGNED if is_signed and name in OF_SHARES else "not defined for this encoding"
    matches = _match_periods(encoding, size, step_seconds, periods)
    return Comparison(
        encoding=encoding,
        length=size,
        injective=faithfulness.injective,
        values=MappingProxyType({name: values.get(name) for name in COMPARED}),
        notes=MappingProxyType(notes),
        kernel=kernel,
        spectrum=spectrum,
        periods=matches,
        remarks=_remark(encoding, step_seconds),
    )


def _find_kernel(encoding: Encoding, size: int) -> F64 | None:
    try:
        if encoding.shape is not None:
            plane = np.mean(estimate_grid_kernel(encoding).values, axis=0)
            line = plane[len(plane) // 2, plane.shape[1] // 2 :]
        else:
            line = np.mean(estimate_kernel(encoding, length=size, count=size).values, axis=0)
    except InputError:
        return None
    if not line[0] > 0:
        return None
    normalised: F64 = line / line[0]
    normalised.flags.writeable = False
    return normalised


def _find_spectrum(encoding: Encoding, size: int) -> Spectrum | None:
    try:
        return compute_spectrum(encoding, length=None if encoding.shape is not None else size)
    except (InputError, UndefinedError):
        return None


def _summarise(spectrum: Spectrum | None, faithfulness: Faithfulness, *, is_signed: bool) -> dict[str, float | None]:
    summary = spectrum.summary if spectrum is not None and not is_signed else None
    return {
        "low_bin_mass": summary.low_bin_mass if summary else None,
        "centroid": summary.centroid if summary else None,
        "effective_bins_entropy": summary.effective_bins_entropy if summary else None,
        "flatness": summary.flatness if summary else None,
        "min_separation": faithfulness.min_separation,
        "toeplitz_share": _find_share(faithfulness, spectrum),
    }


def _find_share(faithfulness: Faithfulness, spectrum: Spectrum | None) -> float | None:
    if spectrum is not None and spectrum.toeplitz_share is not None:
        return spectrum.toeplitz_share
    encoding = faithfulness.encoding
    if isinstance(encoding, HasBias | HasKernel) and not isinstance(encoding, HasTable):
        return 1.0  # a function of the lag by its formula
    if not isinstance(encoding, HasTable) or faithfulness.length * encoding.d > MAX_HELD_ENTRIES:
        return None
    return measure_toeplitz_share(read_codes(encoding, faithfulness.length))


def _measure(encoding: Encoding, size: int, kernel: F64 | None) -> Measured:
    if encoding.shape is not None:
        return _measure_on_grid(encoding, kernel)
    if isinstance(encoding, HasTable) and size * encoding.d <= MAX_HELD_ENTRIES:
        return measure_table_metrics(
            read_codes(encoding, size),
            kernel=kernel,
            resolution=_find_resolution(encoding, size),
            beyond=_find_beyond(encoding, size),
        )
    if kernel is None:
        return Measured(values={}, notes=dict.fromkeys(METRICS, "no table that can be held, and no kernel"))
    return measure_kernel_metrics(kernel)


def _measure_on_grid(encoding: Encoding, kernel: F64 | None) -> Measured:
    """What does not need one lag for each pair of positions; kernels along a row of the grid."""
    shape = encoding.shape or (1, 1)
    if isinstance(encoding, HasTable):
        found = measure_table_metrics(read_grid_codes(encoding, shape), kernel=kernel)
    elif kernel is not None:
        found = measure_kernel_metrics(kernel)
    else:
        found = Measured(values={}, notes={})
    kept = {name: value for name, value in found.values.items() if name.startswith(_OF_GRIDS)}
    notes = {name: found.notes.get(name, _ON_A_GRID) for name in METRICS if kept.get(name) is None}
    return Measured(values=kept, notes=notes)


def _find_resolution(encoding: Encoding, size: int) -> Resolution | None:
    """Exact Fisher information at positions 0 .. size-1 where the codes are sines and cosines."""
    if not isinstance(encoding, HasFrequencies) or not isinstance(encoding, HasTable):
        return None
    found = encoding.frequencies()
    masses, is_lone = found.masses, found.masses < 1
    values, phases = found.values[is_lone], found.phases[is_lone]
    sine, cosine = sin_cos(np.stack([values, found.low[is_lone], np.zeros_like(values)]), np.arange(size))
    # a lone cos(w s + phase) has the slope -w sin(w s + phase); at pi it never moves at integers
    shares = np.where(values == np.pi, 0.0, (sine * np.cos(phases) + cosine * np.sin(phases)) ** 2)
    slowest = int(np.argmin(shares @ (values * values)))

    def measure(lone: F64) -> Resolution:
        weights = masses.copy()
        weights[is_lone] = lone
        return measure_ladder_resolution(found.values, weights, found.amplitude)

    least = measure(shares[slowest])
    return replace(
        measure(shares.mean(axis=0)),
        fisher_information_min=least.fisher_information_min,
        cramer_rao_bound_worst=least.cramer_rao_bound_worst,
    )


def _find_beyond(encoding: HasTable, size: int) -> F64 | None:
    """Codes of as many positions again, or of those that the encoding still has."""
    if not isinstance(encoding, Encoding):
        return None
    last = 2 * size if encoding.rows is None else min(2 * size, encoding.rows)
    if last - size < 2 or last * encoding.d > MAX_HELD_ENTRIES:
        return None
    return encoding.table(np.arange(size, last))


def _match_periods(
    encoding: Encoding, size: int, step_seconds: float | None, periods: Sequence[tuple[str, float]]
) -> tuple[PeriodMatch, ...]:
    """Read the kernel at the periods, with lags enough for the longest where the encoding has them."""
    if not periods or step_seconds is None or encoding.shape is not None:
        return ()
    longest = math.ceil(2.2 * max(seconds for _, seconds in periods) / step_seconds) + 2
    count = min(max(size, longest), encoding.rows or max(size, longest))
    width = getattr(encoding, "d", 1)
    if count * width > MAX_HELD_ENTRIES:
        count = size
    try:
        kernel = np.mean(estimate_kernel(encoding, length=count, count=count).values, axis=0)
    except InputError:
        return ()
    own = encoding.frequencies().values if isinstance(encoding, HasFrequencies) else None
    exact = getattr(encoding, "periods_in_steps", ())  # fields of the calendar, which the kernel shows only roughly
    if exact:
        own = 2 * np.pi / np.asarray(exact)
    return measure_periods(kernel, step_seconds=step_seconds, periods=periods, frequencies=own)


def _remark(encoding: Encoding, step_seconds: float | None) -> tuple[str, ...]:
    """Minute slots that are coarser than the step: neighbours share their calendar fields."""
    slot = getattr(encoding, "minute_slot", None)
    fields = getattr(encoding, "fields", ())
    if step_seconds is None or slot is None or "minute" not in fields or slot * 60 <= step_seconds:
        return ()
    shared = math.ceil(slot * 60 / step_seconds)
    # as many everywhere only where steps fill a slot, and slots an hour
    most = "" if slot * 60 % step_seconds == 0 and 60 % slot == 0 else "up to "
    coarse = f"minute slots of {slot} min are coarser than the step of {step_seconds / 60:g} min"
    return (f"{encoding.label}: {coarse}, so {most}{shared} positions in a row share their fields",)
