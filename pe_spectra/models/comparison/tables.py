"""Two tables of positions against each other: is one the other, moved, scaled, with columns in another order?

A table b is looked for in a as b[i, j] = c a[i + k, p(j)], with a few orders of columns p that
implementations use, shifts k of a few rows, and one factor c; and as a mere order of columns where
none of those fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.models.comparison.table_words import state_likeness, state_moved_rows, state_rows, state_widths
from pe_spectra.models.dumps.ladders import find_shortest
from pe_spectra.models.dumps.rounding import ROUNDOFF, find_rounding

#: Rows that an order, a shift and a factor are tried on; the shifts that are always tried.
_TRIED_ROWS, _SHIFTS = 48, 8
#: Numbers that are compared at a time.
_BLOCK = 1 << 20
#: Share of the rows that must fit an order, a shift and a factor.
_MOST = 0.5
#: Tables in float64 that were computed in two ways differ by this much.
_FLOAT64 = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDiff:
    """What two tables have in common.

    Attributes
    ----------
    agree : the same shape, and numbers equal within the rounding of the coarser type.
    shape_a, shape_b : rows and columns.
    dtypes : the coarsest type that holds each table's numbers.
    equal_rows : rows at the same index that are equal to the last bit; None where widths differ.
    first_row : the first row that differs at all; None where none does.
    near : whether the rows that both have are equal within that rounding.
    max_difference : largest |a - b| over the rows that both have; None where widths differ.
    explained : whether b is a with the columns in an order, a shift and a factor.
    order : how the columns of b stand in a, in words; empty for the same order.
    columns : (d,) b's column j is a's column columns[j]; None where no order was found.
    shift : k of b[i] = a[i + k]; factor : c of b = c a; None where not explained.
    unmatched_rows : rows of b that do not fit all the same (special rows, and those that a has not).
    findings : sentences; what explains b comes first.
    """

    agree: bool
    shape_a: tuple[int, int]
    shape_b: tuple[int, int]
    dtypes: tuple[str, str]
    equal_rows: int | None = None
    first_row: int | None = None
    near: bool = False
    max_difference: float | None = None
    explained: bool = False
    order: str = ""
    columns: I64 | None = None
    shift: int | None = None
    factor: float | None = None
    unmatched_rows: tuple[int, ...] = ()
    findings: tuple[str, ...] = ()

    @property
    def in_place(self) -> bool:
        """Whether each row of b that a has, too, is that row of a: nothing is moved, scaled or permuted."""
        return self.explained and not (self.shift or self.order or self.unmatched_rows) and self.factor == 1


def compare_tables(table_a: F64, table_b: F64, drift: F64 | None = None) -> TableDiff:
    """Compare two tables row by row, and look for an order of columns, a shift and a factor between them.

    Parameters
    ----------
    table_a, table_b : (S, d) finite numbers.
    drift : (rows of b,) what each row may differ by beside storing, over its largest number, as angles that
        were computed in float32 make it; `agree` and `equal_rows` are not about it. None for nothing.

    Raises
    ------
    InputError : an array that is no table.

    >>> table = np.arange(12.0).reshape(4, 3)
    >>> compare_tables(table, 2 * table[1:]).findings[0]
    'row i of B is row i + 1 of A, times 2'
    """
    a, b = _as_table(table_a, "A"), _as_table(table_b, "B")
    dtypes = find_rounding(a, "float64"), find_rounding(b, "float64")
    found = TableDiff(agree=False, shape_a=_shape(a), shape_b=_shape(b), dtypes=dtypes)
    if a.shape[1] != b.shape[1]:
        return replace(found, findings=tuple(state_widths(a, b)))
    rows = min(len(a), len(b))
    equal, first, largest = _compare_rows(a[:rows], b[:rows])
    stored = np.full(len(b), max(2 * max(ROUNDOFF[name] for name in dtypes), _FLOAT64))
    tolerance = stored if drift is None else stored + drift
    near = bool(_find_near_rows(a[:rows], b[:rows], stored[:rows]).all())
    in_place = near or bool(_find_near_rows(a[:rows], b[:rows], tolerance[:rows]).all())
    match = _Match(order="", columns=None, shift=0, factor=1.0) if in_place else _find_match(a, b, tolerance)
    findings = list(state_moved_rows(a, b) if match is None else () if in_place else match.describe())
    within = _name_within(dtypes) if near else "angles" if in_place else ""
    findings += state_rows(found.shape_a, found.shape_b, equal, first, largest, within=within)
    if match is None:
        findings += state_likeness(a[:rows], b[:rows])
    return replace(
        found,
        agree=a.shape == b.shape and near,
        equal_rows=equal,
        first_row=first,
        near=near,
        max_difference=largest,
        explained=match is not None,
        order=match.order if match else "",
        columns=match.columns if match else None,
        shift=match.shift if match else None,
        factor=match.factor if match else None,
        unmatched_rows=match.unmatched if match else (),
        findings=tuple(findings),
    )


def state_table_verdict(diff: TableDiff) -> tuple[str, str]:
    """Return the code of the answer and the answer: same, explained, differs.

    >>> state_table_verdict(compare_tables(np.eye(4), np.eye(4)))[0]
    'same'
    """
    if diff.agree:
        return "same", f"The same: {diff.findings[0]}."
    if not diff.explained:
        return "differs", f"Different: {'; '.join(diff.findings)}."
    if diff.in_place:
        return "explained", f"Different: {'; '.join(diff.findings)}."
    return "explained", f"Different: {diff.findings[0]}."


def _name_within(dtypes: tuple[str, str]) -> str:
    coarse = max(dtypes, key=lambda name: ROUNDOFF[name])
    return coarse if dtypes[0] == dtypes[1] else f"{coarse} ({'A' if dtypes[0] == coarse else 'B'} is rounded)"


# --------------------------------------------------------------------- rows


def _as_table(values: F64, name: str) -> F64:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise InputError(f"{name} is no table", f"shape {table.shape}", "rows and columns of finite numbers")
    return table


def _shape(table: F64) -> tuple[int, int]:
    return int(table.shape[0]), int(table.shape[1])


def _compare_rows(a: F64, b: F64) -> tuple[int, int | None, float]:
    """Count equal rows, find the first one that differs, and the largest difference."""
    equal, first, largest = 0, None, 0.0
    for start in range(0, len(a), step := max(1, _BLOCK // a.shape[1])):
        off = np.abs(a[start : start + step] - b[start : start + step]).max(axis=1)
        equal += int((off == 0).sum())
        largest = max(largest, float(off.max()))
        if first is None and off.any():
            first = start + int(np.argmax(off > 0))
    return equal, first, largest


def _find_near_rows(
    a: F64, b: F64, tolerance: F64, columns: I64 | None = None, factor: float = 1.0
) -> NDArray[np.bool_]:
    """Tell which rows of b are factor times those of a, within a tolerance for each, over its largest number."""
    near = np.empty(len(a), dtype=bool)
    for start in range(0, len(a), step := max(1, _BLOCK // a.shape[1])):
        one, other = factor * _order(a[start : start + step], columns), b[start : start + step]
        size = np.maximum(np.abs(one).max(axis=1), np.abs(other).max(axis=1))
        near[start : start + step] = np.abs(one - other).max(axis=1) <= tolerance[start : start + step] * size
    return near


def _order(a: F64, columns: I64 | None) -> F64:
    return a if columns is None else a[:, columns]


# --------------------------------------------------------------------- orders, shifts, factors


@dataclass(frozen=True, kw_only=True)
class _Match:
    """Where b is found in a."""

    order: str
    columns: I64 | None
    shift: int
    factor: float
    unmatched: tuple[int, ...] = ()

    def describe(self) -> Iterator[str]:
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
    turns = np.arange(width).reshape(-1, 2)
    yield "the halves of A's columns stand in turn in B", halves.T.ravel()
    yield "the columns that stand in turn in A are halves of B", turns.T.ravel()
    yield "the halves of the columns are swapped", halves[::-1].ravel()
    yield "neighbouring columns are swapped", turns[:, ::-1].ravel()
    yield "the halves of A's columns stand in turn in B, the second first", halves[::-1].T.ravel()
    yield "the columns that stand in turn in A are halves of B, the second first", turns[:, ::-1].T.ravel()


def _find_match(a: F64, b: F64, tolerance: F64) -> _Match | None:
    for order, columns in _list_orders(a.shape[1]):
        for shift in _list_shifts(a, b, columns, tolerance):
            found = _try_shift(a, b, columns, shift, tolerance)
            if found is not None:
                if columns is not None:
                    columns.flags.writeable = False
                return _Match(order=order, columns=columns, shift=shift, factor=found[0], unmatched=found[1])
    columns = _match_columns(a, b) if len(a) == len(b) else None
    if columns is None:
        return None
    return _Match(order="the columns of B are those of A in another order", columns=columns, shift=0, factor=1.0)


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
    if factor is None or _find_near_rows(a[tried + shift], b[tried], allowed[tried], columns, factor).mean() < _MOST:
        return None
    near = _find_near_rows(a[first + shift : last + shift], b[first:last], allowed[first:last], columns, factor)
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
