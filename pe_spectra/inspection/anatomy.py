"""Which rows of a table are what: special, outlying, equal, untrained; where it changes; what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.rows import (
    Mask,
    RowSignals,
    compute_mean_row,
    find_constant_columns,
    find_constant_rows,
    find_equal_rows,
    find_outliers,
    find_zero_rows,
    measure_rows,
)
from pe_spectra.inspection.seams import Seams, find_seams
from pe_spectra.inspection.structure import MAX_PREFIX, Tail, count_special_rows, find_tail, is_noise


@dataclass(frozen=True, kw_only=True, eq=False)
class Anatomy:
    """The rows of a table, sorted by what they are; all indices count from its first row.

    Attributes
    ----------
    signals : norms, steps, cosines.
    zero_rows, constant_rows : indices; outliers and outlier_ratios : rows and their norm over the median.
    zero_columns, constant_columns : indices of columns.
    equal_rows : groups of equal rows, zero rows left out.
    is_noise : the table as a whole cannot be told from noise; nothing else is then looked for.
    special : rows in front that do not belong to the sequence, as found (not as declared).
    tail : rows at the end that were never trained.
    seams : changes, stray rows and regular jumps; empty for a grid.
    first, last : first <= row < last are the rows that periods are looked for in.
    odd : (S,) rows that are passed over there.
    """

    signals: RowSignals
    zero_rows: I64
    constant_rows: I64
    outliers: I64
    outlier_ratios: F64
    zero_columns: I64
    constant_columns: I64
    equal_rows: tuple[tuple[int, ...], ...]
    is_noise: bool
    special: int
    tail: Tail | None
    seams: Seams
    first: int
    last: int
    odd: Mask

    def repeats_after(self, period: int) -> bool:
        """Say whether every row that is used, from the second period on, equals the one a period before it.

        Parameters
        ----------
        period : distance of equal neighbours in all of `equal_rows`.

        >>> table = np.random.default_rng(0).normal(size=(40, 4))
        >>> twice = np.concatenate([table, table[:10]])
        >>> dissect(twice, is_grid=False, prefix=0).repeats_after(40)
        True
        """
        again = np.zeros(self.last, dtype=bool)
        again[[row for group in self.equal_rows for row in group[1:] if row < self.last]] = True
        zero = self.signals.norms[: self.last] == 0  # rows of zeros are in no group
        again[period:] |= zero[period:] & zero[:-period]
        return bool(again[self.first + period :].all())


def dissect(table: F64, *, is_grid: bool, prefix: int, codes: F64 | None = None, is_trained: bool = True) -> Anatomy:
    """Sort the rows of a table.

    Parameters
    ----------
    table : (S, d); is_grid : neighbours in the file are not neighbours at the end of a line, so
        tails and seams are not looked for; prefix : rows in front that are declared special.
    codes : (S, d) the table before it was scaled, for what asks for equal numbers; default the table.
    is_trained : False for a formula: no row is then passed over, and nothing that training leaves is looked for.

    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[0] = 0
    >>> dissect(table, is_grid=False, prefix=0).zero_rows.tolist()
    [0]
    """
    size = len(table)
    codes = table if codes is None else codes
    signals = measure_rows(table, compute_mean_row(table[prefix:]))
    if not is_trained:
        return _describe_formula(table, codes, signals, prefix)
    equal = find_equal_rows(codes)
    zero_columns, constant_columns = find_constant_columns(codes[prefix:])
    tail = None if is_grid else find_tail(table, signals, min(max(prefix, MAX_PREFIX), size))
    last = tail.start if tail else size
    zero = find_zero_rows(table[:last], signals.norms[:last])
    outliers, ratios = find_outliers(table[:last], signals.norms[:last])
    odd = _mark(size, zero, outliers)
    special = min(count_special_rows(table, odd), prefix if is_grid else size)
    first = max(special, prefix)
    regular = ~odd
    regular[:first] = False
    noise = is_noise(table, signals, regular)
    if noise:
        tail, last, special, first = None, size, int(prefix and odd[:prefix].all()) * prefix, prefix
    regular[last:] = False
    regular &= ~_mark_copies(size, equal)
    seams = Seams() if is_grid or noise else find_seams(table, signals, regular)
    odd[list(seams.stray)] = True
    return Anatomy(
        signals=signals,
        zero_rows=zero,
        constant_rows=find_constant_rows(codes[prefix:last]) + prefix,
        outliers=outliers,
        outlier_ratios=ratios,
        zero_columns=zero_columns,
        constant_columns=constant_columns,
        equal_rows=tuple(group for group in equal if signals.norms[group[0]] > 0),
        is_noise=noise,
        special=special,
        tail=tail,
        seams=seams,
        first=first,
        last=last,
        odd=odd,
    )


def _describe_formula(table: F64, codes: F64, signals: RowSignals, prefix: int) -> Anatomy:
    size, none = len(codes), np.empty(0, dtype=np.int64)
    zero_columns, constant_columns = find_constant_columns(codes[prefix:])
    return Anatomy(
        signals=signals,
        zero_rows=find_zero_rows(table[prefix:], signals.norms[prefix:]) + prefix,
        constant_rows=find_constant_rows(codes[prefix:]) + prefix,
        outliers=none,
        outlier_ratios=np.empty(0),
        zero_columns=zero_columns,
        constant_columns=constant_columns,
        equal_rows=tuple(group for group in find_equal_rows(codes) if signals.norms[group[0]] > 0),
        is_noise=False,
        special=0,
        tail=None,
        seams=Seams(),
        first=prefix,
        last=size,
        odd=np.zeros(size, dtype=bool),
    )


def _mark(size: int, *rows: I64) -> Mask:
    marked = np.zeros(size, dtype=bool)
    for some in rows:
        marked[some] = True
    return marked


def _mark_copies(size: int, groups: tuple[tuple[int, ...], ...]) -> Mask:
    # where many rows are equal, the table repeats, and they are no accidents
    copied = np.array([row for group in groups for row in group], dtype=np.int64)
    return _mark(size, copied if len(copied) <= size // 20 else copied[:0])


def bridge_rows(table: F64, odd: Mask) -> F64:
    """Replace rows that do not belong by straight lines between their neighbours.

    >>> bridge_rows(np.array([[0.0], [9.0], [2.0]]), np.array([False, True, False])).tolist()
    [[0.0], [1.0], [2.0]]
    """
    places = np.flatnonzero(~odd)
    if len(places) in (0, len(table)):
        return table
    bridged = table.copy()
    for row in np.flatnonzero(odd):
        after = int(np.searchsorted(places, row))
        low, high = places[max(after - 1, 0)], places[min(after, len(places) - 1)]
        weight = (row - low) / (high - low) if high > low else 0.0
        bridged[row] = (1 - weight) * table[low] + weight * table[high]
    return bridged
