"""Encodings side by side: the numbers that need no model, each with its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.codes import describe_part, explain_absence, is_sampled
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.report import OUTCOME_TEXT, measure_codes
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.metrics import METRICS, Metric, Views, measure_metrics
from pe_spectra.metrics.common_ground import (
    Lattice,
    add_codes,
    choose_length,
    find_kernel,
    find_own_frequencies,
    find_spacing,
    find_spectrum,
    normalise_kernel,
)
from pe_spectra.metrics.kernel_shape import OF_PERIOD, PeriodMatch, measure_periods
from pe_spectra.quantities import Document, Result, derived, list_column_names, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.kernels import LENGTH, estimate_kernel
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import OUTCOME_CELLS, OUTCOMES
from pe_spectra.wording import capitalise

#: Other names of columns: what `faithfulness` calls them.
SYNONYMS: Mapping[str, str] = {"separation": "min_separation"}
#: Comparisons are sorted by this unless another column is named: no scale changes it.
DEFAULT_ORDER = "relative_separation"


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

    @derived("Definition 1 on these positions; null where it is not decided.", column=None)
    def injective(self) -> bool | None:
        return None if self.outcome == "undecided" else self.outcome != "not-injective"

    outcome: str = quantity(OUTCOME_TEXT, words=tuple(OUTCOMES), column="injective", write=OUTCOME_CELLS.get)
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
        return {
            f"{prefix}_{name}": getattr(found.get(name), column.field, None)
            for name in self.asked
            for prefix, column in OF_PERIOD.items()
        }

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
    #: Number of positions that all encodings were to be measured on; a grid may have more.
    shared: int
    #: Which positions were taken where all were too much, in words; empty where all, or those asked for, were.
    part: str = ""
    #: What certifies the outcome, in a sentence.
    proof: str = ""
    #: Names of the periods that were asked for.
    asked: tuple[str, ...] = ()


def compare_encodings(
    encodings: Sequence[Encoding],
    *,
    length: int | None = None,
    step_seconds: float | Fraction | None = None,
    periods: Sequence[tuple[str, float | Fraction]] = (),
    progress: Callable[[int, int], None] | None = None,
    missing: dict[str, str] | None = None,
) -> tuple[Comparison, ...]:
    """Measure encodings by everything in `METRICS`, all on one number of positions and one lattice of as many points.

    Parameters
    ----------
    length : number of positions for all of them; default as :func:`choose_length` says. A grid is always taken
        whole.
    step_seconds, periods : time between positions, and names with lengths in seconds of periods to look for.
    progress : is told how many of how many are measured.
    missing : takes, by their labels, why encodings cannot be measured, which are left out then; without it, and where
        none can, the first of them raises.

    Raises
    ------
    InputError : a length that an encoding has not, or vectors that it has not.

    >>> from pe_spectra import Dft, Sinusoidal
    >>> [round(c.values["stable_rank"]) for c in compare_encodings([Sinusoidal(d=64), Dft(d=64)], length=64)]
    [2, 64]
    """
    shared = choose_length(encodings) if length is None else LENGTH.check(length, "length")
    lattice = Lattice.choose(encodings, shared)
    compared: list[Comparison] = []
    errors: dict[str, InputError] = {}
    for done, encoding in enumerate(encodings):
        if progress is not None:
            progress(done, len(encodings))
        if reason := explain_absence(encoding, shared):
            raise InputError("length is beyond the rows of the encoding", str(shared), f"{encoding.label} has {reason}")
        size = shared if encoding.shape is None else math.prod(encoding.shape)
        try:
            one = _compare(encoding, size, lattice, step_seconds, periods)
        except InputError as error:
            if missing is None:
                raise
            errors[encoding.label] = error
            continue
        compared.append(one if length is not None else replace(one, part=describe_part(encoding, size)))
    if missing is not None:
        missing |= {label: f"left out: {error}" for label, error in errors.items()}
    if errors and not compared:
        first, *others = errors.values()
        for other in others:
            first.add_note(f"error: {other}")
        raise first
    return tuple(compared)


def list_columns(periods: Sequence[str] = ()) -> tuple[str, ...]:
    """List the columns of a comparison, with those of the periods that were asked for.

    >>> list_columns(["day"])[:5], list_columns(["day"])[-3:]
    (('encoding', 'random', 'length', 'injective', 'low_bin_mass'), ('ratio_day', 'maximum_day', 'nearest_day'))
    """
    own = [name for name in list_column_names(Comparison) if name not in ("metrics", "at_periods")]
    return (*own, *METRICS, *(f"{prefix}_{name}" for name in periods for prefix in OF_PERIOD))


def list_numbers(periods: Sequence[str] = ()) -> tuple[str, ...]:
    """List those of the columns that hold numbers, synonyms first: what a bound may be set for.

    >>> list_numbers(["day"])[:3], list_numbers(["day"])[-2:]
    (('separation', 'length', 'low_bin_mass'), ('ratio_day', 'nearest_day'))
    """
    words = {"encoding", "random", "injective", *(f"maximum_{name}" for name in periods)}
    return (*SYNONYMS, *(name for name in list_columns(periods) if name not in words))


def read_numbers(one: Comparison) -> dict[str, float | None]:
    """Return the numbers of a row by their columns, as :func:`list_numbers` names them.

    >>> from pe_spectra import Dft
    >>> (row,) = compare_encodings([Dft(d=8)], length=8)
    >>> read_numbers(row)["length"], read_numbers(row)["separation"] == row.values["min_separation"]
    (8, True)
    """
    cells: dict[str, Any] = {name: cell for name, (cell,) in one.to_columns().items()}
    return {name: cells[SYNONYMS.get(name, name)] for name in list_numbers(one.asked)}


def find_better(column: str) -> str | None:
    """Return which end of a column is the better one, "higher" or "lower"; None where neither is.

    >>> find_better("probe_rmse"), find_better("ratio_day"), find_better("length")
    ('lower', 'higher', None)
    """
    if column in METRICS:
        return METRICS[column].better
    of_period = OF_PERIOD.get(column.partition("_")[0])
    return "higher" if column == "injective" else of_period and of_period.better


def sort_comparisons(compared: Sequence[Comparison], column: str) -> tuple[Comparison, ...]:
    """Sort by a column, best first (the smaller where neither is), what has no value last.

    Of outcomes the injective one is best, before one that is so by rounding alone. Encodings whose values are drawn at
    random stand behind all others.

    Raises
    ------
    InputError : a column that they have not.

    >>> from pe_spectra import read_encoding
    >>> rows = compare_encodings([read_encoding(spec) for spec in ("ramp:length=8", "one-hot:d=8")], length=8)
    >>> [row.encoding.name for row in sort_comparisons(rows, "min_separation")]
    ['one-hot', 'ramp']
    """
    sign = -1.0 if find_better(column) == "higher" else 1.0

    def rank(one: Comparison) -> tuple[bool, bool, Any]:
        cells = one.to_columns()
        if column not in cells:
            raise InputError("no such column", column, ", ".join(cells))
        (value,) = cells[column]
        if column == "injective":
            return one.encoding.is_random, value is None, -list(OUTCOMES).index(one.outcome)
        key = value if isinstance(value, str) else sign * float(value or 0)
        return one.encoding.is_random, value is None, key

    return tuple(sorted(compared, key=rank))


def _compare(
    encoding: Encoding,
    size: int,
    lattice: Lattice,
    step_seconds: float | Fraction | None,
    periods: Sequence[tuple[str, float | Fraction]],
) -> Comparison:
    codes = CodeTable(encoding, size)
    kernel = find_kernel(codes)
    found = {
        "kernel": kernel if isinstance(kernel, str) else normalise_kernel(kernel),
        "spectrum": find_spectrum(encoding, size, lattice, kernel),
    }
    missing = {name: reason for name, reason in found.items() if isinstance(reason, str)}
    known: dict[str, Any] = {name: None if name in missing else view for name, view in found.items()}
    faithfulness = measure_codes(codes, limit=0)
    views = Views(faithfulness=faithfulness, spacing=find_spacing(encoding, size), missing=missing, **known)
    measured = measure_metrics(add_codes(views, codes))
    return Comparison(
        encoding=encoding,
        length=size,
        shared=lattice.length,
        outcome=faithfulness.outcome,
        proof=faithfulness.certificate.text,
        values=measured.values,
        notes=measured.notes,
        **known,
        periods=_match_periods(encoding, size, step_seconds, periods),
        asked=tuple(name for name, _ in periods),
        remarks=_remark(encoding, step_seconds),
    )


def _match_periods(
    encoding: Encoding,
    size: int,
    step_seconds: float | Fraction | None,
    periods: Sequence[tuple[str, float | Fraction]],
) -> tuple[PeriodMatch, ...]:
    """Read the kernel at the periods, with lags enough for the longest where the encoding has them.

    Of positions with gaps the encoding's own is read: a lag is a time there, which it is not from row to row.
    """
    encoding = encoding.encoding if is_sampled(encoding) else encoding
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
    return measure_periods(
        kernel, step_seconds=step_seconds, periods=periods, frequencies=find_own_frequencies(encoding)
    )


def _remark(encoding: Encoding, step_seconds: float | Fraction | None) -> tuple[str, ...]:
    """Minute slots that are coarser than the step: neighbours share their calendar fields."""
    slot = getattr(encoding, "minute_slot", None)
    fields = getattr(encoding, "fields", ())
    if step_seconds is None or slot is None or "minute" not in fields or slot * 60 <= step_seconds:
        return ()
    shared = math.ceil(slot * 60 / step_seconds)
    # as many everywhere only where steps fill a slot, and slots an hour
    most = "" if slot * 60 % step_seconds == 0 and 60 % slot == 0 else "up to "
    coarse = f"minute slots of {slot} min are coarser than the step of {float(step_seconds / 60):g} min"
    return (f"{encoding.label}: {coarse}, so {most}{shared} positions in a row share their fields",)
