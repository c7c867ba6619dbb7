"""Where one table is found in another: an order of columns that implementations use, a shift of rows, a factor.

A table b is looked for in a as b[i, j] = c a[i + k, p(j)], with a few orders of columns p, shifts k of a few
rows, and one factor c; and as a mere order of columns where none of those fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, I64
from pe_spectra.models.dumps.ladder_fits import find_shortest
from pe_spectra.models.dumps.rounding import list_blocks

#: Rows that an order, a shift and a factor are tried on; the shifts that are always tried.
_TRIED_ROWS, _SHIFTS = 48, 8
#: Share of the rows that must fit an order, a shift and a factor.
_MOST = 0.5


@dataclass(frozen=True, kw_only=True)
class Match:
    """Where b is found in a.

    >>> list(Match(order="", columns=None, shift=1, factor=2.0).describe())
    ['row i of B is row i + 1 of A, times 2']
    """

    order: str
    columns: I64 | None
    shift: int
    factor: float
    unmatched: tuple[int, ...] = ()

    def describe(self) -> Iterator[str]:
        """Say it in a sentence without a full stop.

        >>> list(Match(order="", columns=None, shift=0, factor=1.0, unmatched=(3,)).describe())
        ['A and B are the same except row 3 of B']
        """
        index = "i" if self.shift == 0 else f"i {'+' if self.shift > 0 else '-'} {abs(self.shift)}"
        factor = "" if self.factor == 1 else f", times {self.factor:.10g}"
        parts = [self.order] if self.order else []
        if self.shift or factor:
            parts.insert(0, f"row i of B is row {index} of A{factor}")
        shown = ", ".join(str(row) for row in self.unmatched[:6])
        more = f" and {len(self.unmatched) - 6} more" if len(self.unmatched) > 6 else ""
        rows = f"row{'s' if len(self.unmatched) > 1 else ''} {shown}{more} of B"
        if not parts:
            yield f"A and B are the same except {rows}"
            return
        yield ", ".join([*parts, f"except {rows}"] if self.unmatched else parts)


def _list_orders(width: int) -> Iterator[tuple[str, I64 | None]]:
    yield "", None
    if width % 2 or width < 4:
        return
    halves = np.arange(width).reshape(2, -1)
    pairs = np.arange(width).reshape(-1, 2)
    yield "the halves of A's columns are interleaved in B", halves.T.ravel()
    yield "the interleaved columns of A are halves of B", pairs.T.ravel()
    yield "the halves of the columns are swapped", halves[::-1].ravel()
    yield "neighbouring columns are swapped", pairs[:, ::-1].ravel()
    yield "the halves of A's columns are interleaved in B, the second first", halves[::-1].T.ravel()
    yield "the interleaved columns of A are halves of B, the second first", pairs[:, ::-1].T.ravel()


def find_match(a: F64, b: F64, tolerance: F64) -> Match | None:
    """Look for b in a: an order of columns, a shift and a factor that fit most rows, within a tolerance for each.

    >>> table = np.arange(12.0).reshape(4, 3)
    >>> find_match(table, 2 * table[1:], np.full(3, 1e-12)).shift
    1
    """
    for order, columns in _list_orders(a.shape[1]):
        for shift in _list_shifts(a, b, columns, tolerance):
            found = _try_shift(a, b, columns, shift, tolerance)
            if found is not None:
                if columns is not None:
                    columns.flags.writeable = False
                return Match(order=order, columns=columns, shift=shift, factor=found[0], unmatched=found[1])
    columns = _match_columns(a, b) if len(a) == len(b) else None
    if columns is None:
        return None
    return Match(order="the columns of B are those of A in another order", columns=columns, shift=0, factor=1.0)


def _list_shifts(a: F64, b: F64, columns: I64 | None, tolerance: F64) -> list[int]:
    shifts = sorted(range(-_SHIFTS, _SHIFTS + 1), key=abs)
    row = min(len(b) - 1, len(b) // 2)
    few = np.arange(a.shape[1])[:16]
    # rows of a that begin as one row of b does
    alike = (
        np.abs(a[:, few if columns is None else columns[few]] - b[row, few]).max(axis=1)
        <= tolerance[row] * np.abs(b[row]).max()
    )
    found = [int(index) - row for index in np.flatnonzero(alike)[:_SHIFTS]]
    return list(dict.fromkeys([*shifts, len(a) - len(b), *found]))


def _try_shift(a: F64, b: F64, columns: I64 | None, shift: int, tolerance: F64) -> tuple[float, tuple[int, ...]] | None:
    """Return the factor, and the rows that do not fit, where most rows do."""
    first, last = max(0, -shift), min(len(b), len(a) - shift)
    if last - first < 2:
        return None
    tried = np.unique(np.linspace(first, last - 1, min(last - first, _TRIED_ROWS)).astype(np.int64))
    # errors of angles move an entry along the circle, and the factor by their square only
    exact = float(tolerance.min() + np.median(tolerance[tried] ** 2))
    factor = _measure_factor(_order(a[tried + shift], columns), b[tried], exact)
    allowed = 4 * tolerance
    if factor is None or find_near_rows(a[tried + shift], b[tried], allowed[tried], columns, factor).mean() < _MOST:
        return None
    near = find_near_rows(a[first + shift : last + shift], b[first:last], allowed[first:last], columns, factor)
    outside = [row for row in range(len(b)) if not first <= row < last]
    unmatched = sorted([*(int(row) + first for row in np.flatnonzero(~near)), *outside])
    return (factor, tuple(unmatched)) if near.mean() >= _MOST else None


def _measure_factor(a: F64, b: F64, tolerance: float) -> float | None:
    squares = np.einsum("ij,ij->i", a, a)
    usable = squares > 0
    if not usable.any():
        return None
    factor = float(np.median(np.einsum("ij,ij->i", a, b)[usable] / squares[usable]))
    if factor == 0:
        return None
    low, high = sorted((factor * (1 - tolerance), factor * (1 + tolerance)))
    return find_shortest(low, high)


def _match_columns(a: F64, b: F64) -> I64 | None:
    """Return columns of a, in b's order, where every column of b is one of a to the last bit."""
    places: dict[bytes, list[int]] = {}
    for index in range(a.shape[1] - 1, -1, -1):
        places.setdefault(np.ascontiguousarray(a[:, index] + 0.0).tobytes(), []).append(index)
    found = []
    for index in range(b.shape[1]):
        where = places.get(np.ascontiguousarray(b[:, index] + 0.0).tobytes())
        if not where:
            return None
        found.append(where.pop())
    columns = np.array(found, dtype=np.int64)
    columns.flags.writeable = False
    return columns


def find_near_rows(
    a: F64, b: F64, tolerance: F64, columns: I64 | None = None, factor: float = 1.0
) -> NDArray[np.bool_]:
    """Tell which rows of b are factor times those of a, within a tolerance for each, over its largest number.

    >>> find_near_rows(np.eye(2), np.eye(2) + 1e-3, np.full(2, 1e-6)).tolist()
    [False, False]
    """
    near = np.empty(len(a), dtype=bool)
    for block in list_blocks(*a.shape):
        one, other = factor * _order(a[block], columns), b[block]
        size = np.maximum(np.abs(one).max(axis=1), np.abs(other).max(axis=1))
        near[block] = np.abs(one - other).max(axis=1) <= tolerance[block] * size
    return near


def _order(a: F64, columns: I64 | None) -> F64:
    return a if columns is None else a[:, columns]
