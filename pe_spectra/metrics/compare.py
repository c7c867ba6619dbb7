"""Encodings side by side: the numbers that need no model, each with its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pe_spectra.encodings import Encoding, HasFrequencies, HasTable
from pe_spectra.encodings.codes import count_work, read_codes, read_grid_codes
from pe_spectra.encodings.learned import describe_part
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, sin_cos
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.limits import MAX_COMPARED_NUMBERS, MAX_HELD_ENTRIES, MAX_LENGTH, MAX_PAIR_WORK_TOGETHER
from pe_spectra.metrics import (
    METRICS,
    Metric,
    PeriodMatch,
    Resolution,
    Views,
    measure_ladder_resolution,
    measure_metrics,
    measure_periods,
)
from pe_spectra.quantities import Document, Result, derived, quantity
from pe_spectra.spectrum import Spectrum, compute_spectrum, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.wording import capitalise

DEFAULT_LENGTH = 128
#: What a position costs at least, in columns, whatever the width.
LEAST_WIDTH = 64
_ON_A_GRID = "its positions fill a grid, so they have no single lag"
_TOO_LARGE = "the table has too many entries to be held"


def _describe_metric(declared: Metric) -> Document:
    unit = f", in {declared.unit}" if declared.unit else ""
    text = f"{capitalise(declared.text)}{unit}; null where `undefined` says why."
    return {"type": ["number", "null"], "description": text}


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Result):
    """Every metric of one encoding.

    >>> from pe_spectra import Dft
    >>> row, = compare_encodings([Dft(d=64)], length=64)
    >>> row.injective, round(row.values["min_separation"], 5)  # sqrt 2
    (True, 1.41421)
    """

    encoding: Encoding = quantity("The encoding that was measured.")

    @derived("Whether its values were drawn at random, in place of learned ones.")
    def random(self) -> bool:
        return self.encoding.is_random

    length: int = quantity("Number of positions that it was measured on.", minimum=1)
    injective: bool | None = quantity("Definition 1 on these positions; null where it is not decided.")
    values: Mapping[str, float | None] = quantity(
        "The metrics by name.",
        key="metrics",
        schema={
            "type": "object",
            "properties": {name: _describe_metric(declared) for name, declared in METRICS.items()},
            "required": list(METRICS),
            "additionalProperties": False,
        },
    )
    notes: Mapping[str, str] = quantity(
        "Why a metric is null, by its name.",
        key="undefined",
        column=None,
        schema={
            "type": "object",
            "properties": {},
            "propertyNames": {"enum": list(METRICS)},
            "additionalProperties": {"type": "string", "minLength": 1},
        },
    )
    periods: tuple[PeriodMatch, ...] = quantity(
        "With --periods: what the kernel does at each.", only=lambda comparison: comparison.periods, column=None
    )

    @derived("Of each period that was asked for: ratio, whether there is a maximum, nearest period.", key=None)
    def at_periods(self) -> Mapping[str, float | None]:
        found = {match.name: match for match in self.periods}
        columns: dict[str, float | None] = {}
        for name in self.asked:
            match = found.get(name)
            columns[f"ratio_{name}"] = match.ratio if match else None
            columns[f"maximum_{name}"] = match.is_local_maximum if match else None
            columns[f"nearest_{name}"] = match.nearest_period if match else None
        return columns

    remarks: tuple[str, ...] = quantity(
        "What does not fit the time step, in sentences; left out where all does.",
        key="findings",
        column=None,
        least=1,
        only=lambda comparison: comparison.remarks,
    )
    #: (L,) k(tau)/k(0) at lags 0 .. L-1, the mean over heads; on a grid along a row. None without one.
    kernel: F64 | None
    #: On a grid along a row; None where it is not defined.
    spectrum: Spectrum | None
    #: Which positions were taken where all were too much, in words; empty where all, or those asked for, were.
    part: str = ""
    #: Names of the periods that were asked for.
    asked: tuple[str, ...] = ()


def compare_encodings(
    encodings: Sequence[Encoding],
    *,
    length: int | None = None,
    step_seconds: float | None = None,
    periods: Sequence[tuple[str, float]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Comparison, ...]:
    """Measure encodings by everything in `METRICS`.

    Parameters
    ----------
    length : number of positions for all of them; default as :func:`choose_lengths` says. A grid is always taken
        whole.
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
    for done, (encoding, usual) in enumerate(zip(encodings, choose_lengths(encodings), strict=True)):
        if progress is not None:
            progress(done, len(encodings))
        on_line = length is not None and encoding.shape is None
        size = check_length(encoding, length) if on_line else usual
        one = _compare(encoding, size, step_seconds, periods)
        compared.append(one if length is not None else replace(one, part=describe_part(encoding, size)))
    return tuple(compared)


def choose_lengths(encodings: Sequence[Encoding]) -> tuple[int, ...]:
    """Return the numbers of positions that encodings are compared on unless told otherwise.

    All that an encoding has, 128 of one without end. Where that is too much together, no line has more than 128.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> choose_lengths([Sinusoidal(), read_encoding("one-hot:d=64"), read_encoding("ramp:length=300")])
    (128, 64, 300)
    """
    whole = tuple((e.rows or DEFAULT_LENGTH) if e.shape is None else e.default_length for e in encodings)
    numbers, pairs = count_work(encodings, whole, LEAST_WIDTH)
    fits = numbers <= MAX_COMPARED_NUMBERS and pairs <= MAX_PAIR_WORK_TOGETHER
    if fits and max(whole, default=0) <= MAX_LENGTH:
        return whole
    return tuple(
        min(size, DEFAULT_LENGTH) if e.shape is None else size for e, size in zip(encodings, whole, strict=True)
    )


def sort_comparisons(compared: Sequence[Comparison], metric: str) -> tuple[Comparison, ...]:
    """Sort by a metric, best first (the smaller where neither is), what has no value last.

    Encodings whose values are drawn at random stand behind all others.

    >>> from pe_spectra import read_encoding
    >>> rows = compare_encodings([read_encoding(spec) for spec in ("ramp:length=8", "one-hot:d=8")], length=8)
    >>> [row.encoding.name for row in sort_comparisons(rows, "min_separation")]
    ['one-hot', 'ramp']
    """
    sign = -1.0 if METRICS[metric].better == "higher" else 1.0

    def rank(one: Comparison) -> tuple[bool, float]:
        value = one.values[metric]
        return one.encoding.is_random, math.inf if value is None else sign * value

    return tuple(sorted(compared, key=rank))


def _compare(
    encoding: Encoding, size: int, step_seconds: float | None, periods: Sequence[tuple[str, float]]
) -> Comparison:
    kernel, spectrum = _find_kernel(encoding, size), _find_spectrum(encoding, size)
    faithfulness = measure_faithfulness(encoding, length=size, limit=0)
    views = Views(spectrum=spectrum, faithfulness=faithfulness, kernel=kernel)
    measured = measure_metrics(_add_codes(views, encoding, size))
    return Comparison(
        encoding=encoding,
        length=size,
        injective=faithfulness.injective,
        values=measured.values,
        notes=measured.notes,
        kernel=kernel,
        spectrum=spectrum,
        periods=_match_periods(encoding, size, step_seconds, periods),
        asked=tuple(name for name, _ in periods),
        remarks=_remark(encoding, step_seconds),
    )


def _add_codes(views: Views, encoding: Encoding, size: int) -> Views:
    """Add the codes of positions, and what is known of them; on a grid no two positions have one lag."""
    if encoding.shape is not None:
        vectors = read_grid_codes(encoding, encoding.shape) if isinstance(encoding, HasTable) else None
        return replace(views, vectors=vectors, missing={"table": _ON_A_GRID})
    if not isinstance(encoding, HasTable):
        return views
    if size * encoding.d > MAX_HELD_ENTRIES:
        return replace(views, missing=dict.fromkeys(("vectors", "table", "beyond"), _TOO_LARGE))
    # as many positions again, or those that the encoding still has
    last = 2 * size if encoding.rows is None else min(2 * size, encoding.rows)
    goes_on = last - size > 1 and last * encoding.d <= MAX_HELD_ENTRIES
    return replace(
        views,
        table=read_codes(encoding, size),
        resolution=_find_resolution(encoding, size),
        beyond=encoding.table(np.arange(size, last)) if goes_on else None,
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
    return normalised


def _find_spectrum(encoding: Encoding, size: int) -> Spectrum | None:
    try:
        return compute_spectrum(encoding, length=None if encoding.shape is not None else size)
    except (InputError, UndefinedError):
        return None


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
    mean, least = masses.copy(), masses.copy()
    mean[is_lone], least[is_lone] = shares.mean(axis=0), shares[np.argmin(shares @ (values * values))]
    return measure_ladder_resolution(found.values, mean, found.amplitude, least=least)


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
