"""Which rows of a table are what: special, outlying, equal, untrained; where it changes; what is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from pe_spectra.exact import F64, I64, find_largest
from pe_spectra.inspection.outliers import FITTED_STEPS, breaks_off, continues, find_outliers
from pe_spectra.inspection.row_findings import RowRange, group_rows
from pe_spectra.inspection.rows import (
    JUMP_WIDTH,
    RowSignals,
    compute_mean_row,
    find_equal_rows,
    find_jumping_columns,
    measure_rows,
)
from pe_spectra.inspection.seams import Seams, find_seams
from pe_spectra.inspection.series import Mask
from pe_spectra.inspection.structure import (
    MAX_PREFIX,
    Noise,
    Tail,
    count_last_rows,
    count_special_rows,
    find_noise,
    find_tail,
)
from pe_spectra.inspection.traces import Resizing, find_resizing
from pe_spectra.ordering import find_median, list_distinct
from pe_spectra.records import dataclass

#: Tables whose largest number has a power of two between these are not scaled.
_LEAST_EXPONENT, _MOST_EXPONENT = -200, 330
#: Columns that are sampled, and numbers in one that are few.
_SAMPLED_COLUMNS, _FEW_NUMBERS = 16, 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Anatomy:
    """The rows of a table, sorted by what they are; all indices count from its first row.

    Attributes
    ----------
    table : (S, d) the rows, divided by two to the `exponent`; offset : rows of the file before them.
    prefix : how many in front were declared special.
    signals : norms, steps, cosines.
    zero_rows, constant_rows : indices; outliers and outlier_ratios : rows and their norm over the median.
    zero_columns, constant_columns : indices of columns.
    equal_rows : groups of equal rows, zero rows left out; period : every row that is used and is not among the first
        `period` equals the one so many rows before it; None where the table does not repeat.
    noise : that of which the table as a whole cannot be told; nothing else is then looked for.
    special : rows in front that do not belong to the sequence, as found (not as declared); last_special : rows at the
        end that do not.
    tail : rows at the end that were never trained.
    seams : changes, stray rows and regular jumps; empty for a grid.
    resizing : axes along which the table was interpolated; special rows, tail and seams are then those of the rows
        that a line was made of.
    first, last : first <= row < last are the rows that periods are looked for in.
    odd : (S,) rows that are passed over there.
    """

    table: F64
    exponent: int
    offset: int
    prefix: int
    signals: RowSignals
    zero_rows: I64
    constant_rows: I64
    zero_columns: I64
    constant_columns: I64
    equal_rows: tuple[tuple[int, ...], ...]
    first: int
    last: int
    odd: Mask
    period: int | None = None
    outliers: I64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    outlier_ratios: F64 = field(default_factory=lambda: np.empty(0))
    noise: Noise | None = None
    special: int = 0
    last_special: int = 0
    tail: Tail | None = None
    seams: Seams = field(default_factory=Seams)
    resizing: tuple[Resizing, ...] = ()

    def name_rows(self, rows: Iterable[int]) -> tuple[RowRange, ...]:
        """Group rows of the table as rows of the file.

        >>> dissect(np.eye(8), offset=10).name_rows([1, 2, 3, 5])
        ((11, 13), 15)
        """
        return group_rows(row + self.offset for row in rows)


def dissect(
    codes: F64,
    *,
    grid: tuple[int, int] | None = None,
    prefix: int = 0,
    dtype: str = "float64",
    is_trained: bool = True,
    offset: int = 0,
) -> Anatomy:
    """Sort the rows of a table.

    Parameters
    ----------
    codes : (S, d); grid : (H, W) or None: neighbours in the file are not neighbours at the end of a line of a grid,
        so tails and seams are not looked for; prefix : rows in front that are declared special.
    dtype : type that the table is stored in.
    is_trained : False for a formula: no row is then passed over, and nothing that training leaves is looked for.
    offset : rows of the file before the table.

    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[0] = 0
    >>> dissect(table).zero_rows.tolist()
    [0]
    """
    table, exponent = _scale(codes)
    plain, equal = _sort_rows(codes, table, exponent, prefix, offset)
    if not is_trained:
        return plain
    look = partial(_look_for_training, equal=equal, dtype=dtype, is_grid=grid is not None)
    trained = _leave_out_habits(look(plain, codes), plain, codes, look)
    if trained.noise:
        return trained
    # what interpolation makes of the first rows may pass for special ones, and of the last for a tail
    for first, last in dict.fromkeys([(prefix, len(codes)), (trained.first, trained.last)]):
        resizing = find_resizing(table[first:last], grid=grid, dtype=dtype)
        if resizing:
            return replace(trained if grid else _look_through(trained, first, last, resizing[0]), resizing=resizing)
    return trained


def _sort_rows(
    codes: F64, table: F64, exponent: int, prefix: int, offset: int
) -> tuple[Anatomy, tuple[tuple[int, ...], ...]]:
    size = len(codes)
    signals = measure_rows(table, compute_mean_row(table[prefix:]))
    # what asks for equal numbers is told before they are scaled
    equal = find_equal_rows(codes)
    zero_columns, constant_columns = _find_constant_columns(codes[prefix:])
    plain = Anatomy(
        table=table,
        exponent=exponent,
        offset=offset,
        prefix=prefix,
        signals=signals,
        zero_rows=_find_zero_rows(table[prefix:], signals.norms[prefix:]) + prefix,
        constant_rows=_find_constant_rows(codes[prefix:]) + prefix,
        zero_columns=zero_columns,
        constant_columns=constant_columns,
        equal_rows=tuple(group for group in equal if signals.norms[group[0]] > 0),
        first=prefix,
        last=size,
        odd=np.zeros(size, dtype=bool),
    )
    return replace(plain, period=_find_period(plain, prefix, size)), equal


def _look_through(trained: Anatomy, first: int, last: int, resizing: Resizing) -> Anatomy:
    """Look for what training left in the rows that a line was made of, and say where they are now."""
    source = resizing.recover(trained.table[first:last])
    plain, equal = _sort_rows(source, source, 0, 0, 0)
    made_of = _look_for_training(plain, source, equal, "float64", is_grid=False)

    def find_place(row: int) -> int:
        return first + round(row * resizing.new / resizing.old)

    # rows behind those that were interpolated stay what they were found to be
    tail = trained.tail if last < len(trained.table) else None
    if tail is None and made_of.tail:
        tail = replace(made_of.tail, start=find_place(made_of.tail.start))
    seams = tuple(replace(seam, row=find_place(seam.row + 1) - 1) for seam in made_of.seams.seams)
    stray = tuple(row for old in made_of.seams.stray for row in range(find_place(old), find_place(old + 1)))
    odd = trained.odd.copy()
    odd[list(trained.seams.stray)] = False
    odd[list(stray)] = True
    special = find_place(made_of.special) if made_of.special else min(first, trained.special)
    return replace(
        trained,
        special=special,
        last_special=min(trained.last_special, len(trained.table) - last),
        tail=tail,
        seams=Seams(seams=seams, stray=stray),
        first=max(special, first),
        last=tail.start if tail else last,
        odd=odd,
    )


@np.errstate(under="ignore")
def _scale(codes: F64) -> tuple[F64, int]:
    """Divide by a power of two where squares would leave the range of float64; return the exponent, too."""
    exponent = math.frexp(find_largest(codes))[1]
    if _LEAST_EXPONENT <= exponent <= _MOST_EXPONENT:
        return codes, 0
    # huge numbers only as far as needed: tiny ones beside them must not become zero
    exponent -= _MOST_EXPONENT if exponent > 0 else 0
    values: F64 = np.ldexp(codes, -exponent)
    if exponent > 0:
        lost = (values == 0) & (codes != 0)
        values[lost] = np.copysign(np.nextafter(0.0, 1.0), codes[lost])
    return values, exponent


def _look_for_training(
    plain: Anatomy, codes: F64, equal: tuple[tuple[int, ...], ...], dtype: str, *, is_grid: bool
) -> Anatomy:
    """Add what training leaves, or leaves out: special rows, outliers, tails, noise and seams."""
    table, signals, prefix, size = plain.table, plain.signals, plain.prefix, len(plain.table)
    tail = None if is_grid else find_tail(table, signals, min(max(prefix, MAX_PREFIX), size))
    last = tail.start if tail else size
    zero = _find_zero_rows(table[:last], signals.norms[:last])
    outliers, ratios = find_outliers(table[:last], signals.norms[:last])
    odd = np.zeros(size, dtype=bool)
    odd[zero] = odd[outliers] = True
    special = min(count_special_rows(table, odd), prefix if is_grid else size)
    first = max(special, prefix)
    regular = ~odd & (np.arange(size) >= first)
    noise = find_noise(table, signals, regular, prefix)
    if noise:
        tail, last, special, first = None, size, int(prefix and odd[:prefix].all()) * prefix, prefix
    period = _find_period(plain, first, last)
    has_end = not (is_grid or noise or tail or period)
    behind = count_last_rows(table[first:], signals.steps[first:], odd[first:]) if has_end else 0
    last -= behind
    regular[min(last, first + (period or size)) :] = False  # what comes again is not new
    copied = [row for group in equal for row in group]
    if len(copied) <= size // 20:  # where many rows are equal, the table repeats, and they are no accidents
        regular[copied] = False
    seams = Seams() if is_grid or noise or _has_few_numbers(codes) else find_seams(table, signals, regular, dtype)
    odd[list(seams.stray)] = True
    return replace(
        plain,
        zero_rows=zero,
        constant_rows=_find_constant_rows(codes[prefix:last]) + prefix,
        outliers=outliers,
        outlier_ratios=ratios,
        noise=noise,
        special=special,
        last_special=behind,
        tail=tail,
        seams=seams,
        first=first,
        last=last,
        odd=odd,
        period=period,
    )


def _leave_out_habits(found: Anatomy, plain: Anatomy, codes: F64, look: Callable[[Anatomy, F64], Anatomy]) -> Anatomy:
    """Drop what is only found in columns that jump again and again, as the fields of a calendar do."""
    seams = found.seams
    is_empty = not (seams.seams or seams.stray or found.special or found.last_special or len(found.outliers))
    if is_empty or seams.spacing or (steady := ~find_jumping_columns(plain.table)).all():
        return found
    again = replace(plain, odd=plain.odd.copy())
    if steady.any():
        table = np.ascontiguousarray(plain.table[:, steady])
        part = replace(plain, table=table, signals=measure_rows(table, compute_mean_row(table[plain.prefix :])))
        again = look(part, codes[:, steady])
    both = np.isin(found.outliers, again.outliers)
    places = [one.row for one in again.seams.seams]
    kept = tuple(one for one in seams.seams if any(abs(one.row - row) <= JUMP_WIDTH for row in places))
    stray = tuple(row for row in seams.stray if row in again.seams.stray)
    odd = found.odd & again.odd
    odd[found.zero_rows] = True
    special = min(found.special, again.special)
    return replace(
        found,
        outliers=found.outliers[both],
        outlier_ratios=found.outlier_ratios[both],
        special=special,
        last_special=min(found.last_special, again.last_special),
        seams=Seams(seams=kept, stray=stray),
        first=max(special, found.prefix),
        last=max(found.last, again.last) if found.tail is None else found.last,
        odd=odd,
    )


def _find_period(plain: Anatomy, first: int, last: int) -> int | None:
    """Return after how many rows the table repeats: every row from the second time on equals the one before it."""
    lags = {b - a for group in plain.equal_rows for a, b in pairwise(group)}
    period = lags.pop() if len(lags) == 1 else 1
    # one row that comes again is a copy; two in their order are a sequence
    if period < 2 or first + period > last - 2:
        return None
    again = np.zeros(last, dtype=bool)
    again[[row for group in plain.equal_rows for row in group[1:] if row < last]] = True
    zero = plain.signals.norms[:last] == 0  # rows of zeros are in no group
    again[period:] |= zero[period:] & zero[:-period]
    return period if again[first + period :].all() else None


def _has_few_numbers(table: F64) -> bool:
    """Say whether most columns have so few numbers that no training made them: digits, branches of a tree, ones."""
    columns = list_distinct(np.linspace(0, table.shape[1] - 1, _SAMPLED_COLUMNS).astype(int))
    return float(find_median([len(list_distinct(table[:, column])) for column in columns])) <= _FEW_NUMBERS


def _find_zero_rows(table: F64, norms: F64) -> I64:
    """Rows that are zero in all columns, but for the start of a straight line or of a curve."""
    zero = [int(s) for s in np.flatnonzero(norms == 0) if not continues(table, int(s))]
    if zero[:1] == [0] and zero[1:2] != [1] and len(table) > FITTED_STEPS:
        steps = np.linalg.norm(np.diff(table[: FITTED_STEPS + 2], axis=0), axis=1)
        # neighbours of a curve are closer to one another than to zero
        if steps[1] < float(norms[2]) and not breaks_off(steps):
            zero = zero[1:]
    return np.array(zero, dtype=np.int64)


def _find_constant_rows(table: F64) -> I64:
    """Rows with one value, not zero, in all columns; none where that is the rule (a ramp)."""
    if table.shape[1] < 2:
        return np.empty(0, dtype=np.int64)
    found = np.flatnonzero((table.min(axis=1) == table.max(axis=1)) & (table[:, 0] != 0))
    return found if 2 * len(found) <= len(table) else found[:0]


def _find_constant_columns(table: F64) -> tuple[I64, I64]:
    """Columns that are zero in all rows, and columns with another value in all rows."""
    constant = np.flatnonzero(table.min(axis=0) == table.max(axis=0)) if len(table) > 1 else np.empty(0, np.int64)
    zero = table[0, constant] == 0
    return constant[zero], constant[~zero]
