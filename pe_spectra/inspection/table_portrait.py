"""What a table shows by itself: its rows, its periods, its traces, and its principal components."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike, find_largest
from pe_spectra.inspection.anatomy import Anatomy, dissect
from pe_spectra.inspection.channels import ChannelPeriods, SinusoidFit, find_channel_periods, fit_sinusoid
from pe_spectra.inspection.column_order import find_in_another_order
from pe_spectra.inspection.diagnosis import find_in_table
from pe_spectra.inspection.formulas import Formula, find_formula
from pe_spectra.inspection.periods import DominantPeriod, Periods, find_periods
from pe_spectra.inspection.row_findings import RowFinding
from pe_spectra.inspection.rows import compute_mean_row, reduce_columns
from pe_spectra.inspection.seams import Seams
from pe_spectra.inspection.series import bridge, bridge_grid
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_LENGTH
from pe_spectra.metrics.measures import check_table
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.ordering import find_median
from pe_spectra.precision.dtypes import STORED_TYPES, find_stored_type
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass

PREFIX = IntegerRange(minimum=0, maximum=MAX_LENGTH)
OFFSET = IntegerRange(minimum=0, maximum=MAX_HELD_ENTRIES)
DTYPE = Choice(members=tuple(STORED_TYPES)[::-1])
#: Up to this smaller side the principal components come from a full decomposition.
_FULL = 256
_SKETCH, _ITERATIONS = 16, 6
#: Largest number that is accepted: norms of many such ones are still finite.
_LARGEST = 1e300


@dataclass(frozen=True, kw_only=True, eq=False)
class Helix(ReadOnly):
    """The first three principal components of a table: a curve in space.

    Attributes
    ----------
    coordinates : (S, 3) of the rows that are used, about their mean; columns of zeros where the
        table has fewer dimensions. The entry of largest size in each column is positive.
    shares : (3,) of the variance that each explains.
    """

    coordinates: F64
    shares: F64


@dataclass(frozen=True, kw_only=True, eq=False)
class TableInspection(ReadOnly):
    """What `inspect_table` saw. Rows are rows of the file (`row_offset` added).

    Attributes
    ----------
    rows_used : [from, to) without special rows in front and without an untrained tail; periods,
        channels and helix are about these.
    grid : (H, W) or None; prefix : rows in front that were declared special; spacing : positions from row to row.
    dtype : the type its numbers were rounded to, as far as they tell: :func:`precision.dtypes.find_stored_type`.
    metrics : name -> number; None where it does not exist.
    dominant_periods : by falling share.
    channels : period and share of each column.
    sinusoid : the nearest ladder; None where none tells anything.
    formula : the formula of the catalogue that the table is, or is near to; None where there is none, and for the
        codes of a formula.
    findings : see `findings`.
    norms : (S,) of all rows given; steps : (S - 1,) between rows, NaN across the end of a grid's
        line; cosines : (S - 1,) of neighbours, about the mean row, NaN likewise.
    helix : principal components.

    >>> from pe_spectra import Sinusoidal
    >>> found = inspect_table(Sinusoidal(d=8).table(96))
    >>> [round(one.period, 2) for one in found.dominant_periods], found.findings
    ([62.85, 6.28], ())
    """

    rows_used: tuple[int, int]
    grid: tuple[int, int] | None
    prefix: int
    spacing: float | None
    dtype: str
    metrics: Mapping[str, float | None]
    dominant_periods: tuple[DominantPeriod, ...]
    channels: ChannelPeriods
    sinusoid: SinusoidFit | None
    formula: Formula | None
    findings: tuple[RowFinding, ...]
    norms: F64
    steps: F64
    cosines: F64
    helix: Helix


def inspect_table(
    table: ArrayLike,
    *,
    grid: tuple[int, int] | None = None,
    prefix: int = 0,
    dtype: str = "float64",
    row_offset: int = 0,
    is_trained: bool = True,
    spacing: float | None = 1.0,
) -> TableInspection:
    """Look at a table of codes: special and untrained rows, seams, periods, traces of interpolation.

    Parameters
    ----------
    table : (S, d) real and finite, at most 2**26 numbers, at least 2 rows.
    grid : (H, W) with prefix + H W = S where the rows are a grid in reading order; then no seam is
        reported, and periods are two-dimensional.
    prefix : rows in front that are not positions (CLS, padding).
    dtype : type the table was stored in, one of `precision.dtypes.STORED_TYPES`.
    row_offset : rows of the file before the first row of `table`.
    is_trained : False for the codes of a formula: findings are then about equal, zero and constant rows and
        columns alone, since no training can have left a trace.
    spacing : positions from one row to the next, in which periods are given; None where rows are not evenly apart:
        then no periods are looked for, and a ladder only where it is 1.

    Raises
    ------
    InputError : a table, grid or number that cannot be used.

    >>> import numpy as np
    >>> table = np.sin(np.arange(64)[:, None] / np.arange(3, 19))
    >>> table[9] = table[30]
    >>> [finding.code for finding in inspect_table(table).findings]
    ['duplicate-rows']
    """
    codes = _check_table(table)
    first, offset = PREFIX.check(prefix, "prefix"), OFFSET.check(row_offset, "row_offset")
    kind = DTYPE.check(dtype, "dtype")
    _check_grid(codes, grid, first)
    formula = None
    if is_trained:
        anatomy, formula = recognise(codes, grid=grid, prefix=first, dtype=kind, offset=offset)
    else:
        anatomy = dissect(codes, grid=grid, prefix=first, dtype=kind, is_trained=False, offset=offset)
    rows, exponent = slice(anatomy.first, anatomy.last), anatomy.exponent
    used, good = anatomy.table[rows], ~anatomy.odd[rows]
    used = bridge(used, good) if grid is None else bridge_grid(used, good, grid)
    periods, channels = _to_positions(find_periods(used, grid), find_channel_periods(used), spacing)
    sinusoid = fit_sinusoid(used) if spacing == 1 else None
    return TableInspection(
        rows_used=(anatomy.first + offset, anatomy.last + offset),
        grid=grid,
        prefix=first,
        spacing=spacing,
        dtype=find_stored_type(kind, codes),
        metrics=_measure(used, anatomy, periods, channels, sinusoid),
        dominant_periods=() if anatomy.noise else periods.dominant,
        channels=channels,
        sinusoid=sinusoid,
        formula=formula,
        findings=find_in_table(anatomy),
        norms=_restore(anatomy.signals.norms, exponent),
        steps=_open_wraps(_restore(anatomy.signals.steps, exponent), grid, first),
        cosines=_open_wraps(anatomy.signals.centred_cosines, grid, first),
        helix=compute_helix(used, exponent),
    )


def _to_positions(periods: Periods, channels: ChannelPeriods, spacing: float | None) -> tuple[Periods, ChannelPeriods]:
    """Give periods that were found in rows in positions; none where rows are not evenly apart."""
    if spacing is None:
        nothing = np.full_like(channels.periods, np.nan)
        none = ChannelPeriods(periods=nothing, shares=np.zeros_like(nothing), explained=None)
        return replace(periods, dominant=(), explained=periods.trend_share), none
    if spacing == 1:
        return periods, channels
    dominant = tuple(
        replace(
            one,
            period=one.period * spacing,
            drift=None if one.drift is None else (one.drift[0] * spacing, one.drift[1] * spacing),
        )
        for one in periods.dominant
    )
    return replace(periods, dominant=dominant), replace(channels, periods=channels.periods * spacing)


def recognise(
    codes: F64, *, grid: tuple[int, int] | None = None, prefix: int = 0, dtype: str = "float64", offset: int = 0
) -> tuple[Anatomy, Formula | None]:
    """Sort the rows of a table, and look for its formula: where one gives every number, training left no trace.

    The arguments are those of `dissect`.

    >>> from pe_spectra import read_encoding
    >>> table = read_encoding("calendar").table(151)
    >>> dissect(table).seams.spacing, recognise(table)[0].seams.spacing
    (24, None)
    """
    anatomy = dissect(codes, grid=grid, prefix=prefix, dtype=dtype, offset=offset)
    formula = _find_formula(anatomy, grid, find_stored_type(dtype, codes))
    if formula is None or not formula.exact:
        return anatomy, formula
    if formula.rows_left_out:  # what is found is about these rows alone
        return replace(anatomy, resizing=(), seams=Seams(stray=anatomy.seams.stray)), formula
    return dissect(codes, grid=grid, prefix=prefix, dtype=dtype, is_trained=False, offset=offset), formula


def _find_formula(anatomy: Anatomy, grid: tuple[int, int] | None, dtype: str) -> Formula | None:
    """Look for a formula in the rows that are used; one that is found is asked about the others as well."""
    table, formula, size = anatomy.table, None, len(anatomy.table)
    odd = anatomy.odd.copy()
    odd[: anatomy.first] = odd[anatomy.last :] = True
    for first, last in dict.fromkeys([(anatomy.first, anatomy.last), (anatomy.prefix, size)]):
        start = first + anatomy.offset
        rows, exponent = slice(first, last), anatomy.exponent
        found = find_formula(table[rows], dtype=dtype, grid=grid, first=start, odd=odd[rows], exponent=exponent)
        if grid is None and not (found and found.exact):
            ordered = find_in_another_order(table[rows], dtype=dtype, first=start, odd=odd[rows], exponent=exponent)
            found = ordered or found
        if found is None:
            break
        if formula is None or found.exact:
            others = size - anatomy.prefix - (last - first)
            formula = replace(found, rows_left_out=found.rows_left_out + others)
    return formula


def compute_helix(table: F64, exponent: int = 0) -> Helix:
    """Compute the first three principal components: X - mean = U S V^T, coordinates U S.

    Exact up to a smaller side of 256; beyond by subspace iteration with a fixed start.

    Parameters
    ----------
    table : (S, d), divided by two to this exponent.

    >>> from pe_spectra import Sinusoidal
    >>> compute_helix(Sinusoidal(d=2).table(64)).coordinates.shape
    (64, 3)
    """
    centred = table - compute_mean_row(table)
    total = float(np.einsum("ij,ij->", centred, centred))
    coordinates, shares = np.zeros((len(table), 3)), np.zeros(3)
    if total > 0:
        reduced = centred
        if min(centred.shape) > _FULL:
            reduced = reduce_columns(centred, _SKETCH, rounds=_ITERATIONS, seed=3)
        left, singular, _ = np.linalg.svd(reduced, full_matrices=False)
        count = min(3, len(singular))
        coordinates[:, :count] = left[:, :count] * singular[:count]
        peaks = coordinates[np.argmax(np.abs(coordinates), axis=0), np.arange(3)]
        coordinates *= np.where(peaks < 0, -1.0, 1.0)
        shares[:count] = singular[:count] ** 2 / total
    return Helix(coordinates=_restore(coordinates, exponent), shares=shares)


def _measure(
    used: F64, anatomy: Anatomy, periods: Periods, channels: ChannelPeriods, sinusoid: SinusoidFit | None
) -> Mapping[str, float | None]:
    rows, exponent = slice(anatomy.first, anatomy.last), anatomy.exponent
    regular = ~anatomy.odd[rows]
    norms = _restore(anatomy.signals.norms, exponent)[rows][regular]
    pairs = regular[:-1] & regular[1:]
    inner = slice(anatomy.first, anatomy.last - 1)
    energy, mean = float(np.einsum("ij,ij->", used, used)), used.mean(axis=0)

    def find_middle(values: F64) -> float | None:
        return float(find_median(values)) if len(values) else None

    return MappingProxyType(
        {
            "rows": float(len(used)),
            "columns": float(used.shape[1]),
            "norm_median": find_middle(norms),
            "norm_smallest": float(norms.min()) if len(norms) else None,
            "norm_largest": float(norms.max()) if len(norms) else None,
            "step_median": find_middle(_restore(anatomy.signals.steps, exponent)[inner][pairs]),
            "neighbour_cosine_median": find_middle(anatomy.signals.cosines[inner][pairs]),
            "neighbour_cosine_centred_median": None
            if periods.trend_share is None
            else find_middle(anatomy.signals.centred_cosines[inner][pairs]),
            "mean_row_share": len(used) * float(mean @ mean) / energy if energy > 0 else None,
            "trend_share": periods.trend_share,
            "trend_and_periods_share": periods.explained,
            "channels_with_period": float(np.isfinite(channels.periods).sum()),
            "sinusoid_per_channel_share": channels.explained,
            "nearest_sinusoid_rho": None if sinusoid is None else sinusoid.rho,
            "nearest_sinusoid_share": None if sinusoid is None else sinusoid.share,
        }
    )


def _check_table(table: ArrayLike) -> F64:
    values = np.ascontiguousarray(check_table(table))
    if len(values) < 2:
        raise InputError("table has the wrong shape", str(values.shape), "(S, d) is accepted, S at least 2")
    if (largest := find_largest(values)) > _LARGEST:
        raise InputError(
            "the table has too large a number", f"{largest:.3g}", f"numbers up to {_LARGEST:g} are accepted"
        )
    return values


@np.errstate(under="ignore")
def _restore(lengths: F64, exponent: int) -> F64:
    if not exponent:
        return lengths
    restored: F64 = np.ldexp(lengths, exponent)
    return restored


def _check_grid(values: F64, grid: tuple[int, int] | None, prefix: int) -> None:
    if prefix > len(values) - 2:
        raise InputError("prefix leaves fewer than 2 rows", str(prefix), f"0 to {len(values) - 2} is accepted")
    if grid is not None and (min(grid) < 1 or math.prod(grid) != len(values) - prefix):
        accepted = f"H x W = {len(values) - prefix} is accepted"
        raise InputError("the grid does not have the table's rows", "x".join(map(str, grid)), accepted)


def _open_wraps(values: F64, grid: tuple[int, int] | None, prefix: int) -> F64:
    if grid is None:
        return values
    opened = values.copy()
    opened[prefix + grid[1] - 1 :: grid[1]] = np.nan
    opened[:prefix] = np.nan
    return opened
