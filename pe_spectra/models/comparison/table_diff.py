"""Two tables of positions against each other: is one the other, moved, scaled, with columns in another order?

A table b is looked for in a as b[i, j] = c a[i + k, p(j)], with a few orders of columns p, shifts k of a few
rows, and one factor c; and as a mere order of columns where none of those fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pe_spectra.encodings.pairs import Columns, list_orders
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, NDArray, list_blocks
from pe_spectra.faithfulness.closest_pair import scale_down, scale_up
from pe_spectra.models.comparison.row_likeness import scale_rows, state_likeness
from pe_spectra.models.dumps.storing import ROUNDOFF
from pe_spectra.numbers import find_shortest
from pe_spectra.precision.dtypes import find_stored_type
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

#: Tables in float64 that were computed in two ways differ by this much.
_FLOAT64 = 1e-12
#: Rows that an order, a shift and a factor are tried on; the shifts that are always tried.
_TRIED_ROWS, _SHIFTS = 48, 8
#: Share of the rows that must fit an order, a shift and a factor.
_MOST = 0.5
#: Rows without a match that are named.
_NAMED = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDiff(Result):
    """How one table is found in another."""

    agree: bool = quantity(
        "Whether they have one shape and numbers that are equal within the rounding of the coarser type.", key=None
    )
    shape_a: tuple[int, int] = quantity("Rows and columns of A.", key=None)
    shape_b: tuple[int, int] = quantity("Rows and columns of B.", key=None)
    dtypes: tuple[str, str] = quantity("The coarsest type that holds each table's numbers.", key=None)
    equal_rows: int | None = quantity(
        "Rows at the same index that are equal number by number; null where widths differ.", default=None, minimum=0
    )
    first_row: int | None = quantity(
        "First row that differs at all; null where none does, and where widths differ.", default=None, minimum=0
    )
    near: bool = quantity(
        "Whether the rows that both have are equal within the rounding of the coarser type.", default=False, key=None
    )
    max_difference: float | None = quantity(
        "Largest difference of two numbers over the rows that both have; null where widths differ, and where "
        "float64 has no number as large.",
        default=None,
        minimum=0,
    )
    rms_difference: float | None = quantity(
        "Root mean square of these differences; null where the largest is.", default=None, minimum=0
    )
    differing_columns: int | None = quantity(
        "Columns in which a number differs, over the rows that both have; null where widths differ.",
        default=None,
        minimum=0,
    )
    explained: bool = quantity("Whether B is A with columns in an order, a shift of rows and a factor.", default=False)
    order: str = quantity(
        "How the columns of B stand in A, in words; null for the same order, or where B is not explained.",
        default="",
        defined=lambda found: bool(found.order),
    )
    columns: I64 | None = quantity(
        "Column j of B is column columns[j] of A; null for the same order, or where B is not explained.",
        default=None,
        minimum=0,
    )
    shift: int | None = quantity("Row i of B is row i + shift of A; null where B is not explained.", default=None)
    factor: float | None = quantity("B is so many times A; null where B is not explained.", default=None)
    unmatched_rows: tuple[int, ...] = quantity(
        "Rows of B that do not fit all the same: special rows, and those that A has not.", default=(), minimum=0
    )
    findings: tuple[str, ...] = quantity("Sentences; what explains B comes first.", default=())

    @property
    def in_place(self) -> bool:
        """Whether each row of b that a has, too, is that row of a: nothing is moved, scaled or permuted."""
        return self.explained and not (self.shift or self.order or self.unmatched_rows) and self.factor == 1


def compare_tables(
    table_a: F64, table_b: F64, drift: F64 | None = None, *, stored: tuple[str, str] = ("float64", "float64")
) -> TableDiff:
    """Compare two tables row by row, and look for an order of columns, a shift and a factor between them.

    Parameters
    ----------
    table_a, table_b : (S, d) finite numbers.
    drift : (rows of b,) what each row may differ by beside storing, over its largest number, as angles that
        were computed in float32 make it; `agree` and `equal_rows` are not about it. None for nothing.
    stored : the types that they were stored in; a coarser one that holds all numbers is found.

    Raises
    ------
    InputError : an array that is no table.

    >>> table = np.arange(12.0).reshape(4, 3)
    >>> compare_tables(table, 2 * table[1:]).findings[0]
    'row i of B is row i + 1 of A, times 2'
    """
    a, b = _as_table(table_a, "A"), _as_table(table_b, "B")
    dtypes = find_stored_type(stored[0], a), find_stored_type(stored[1], b)
    found = TableDiff(agree=False, shape_a=a.shape, shape_b=b.shape, dtypes=dtypes)
    if a.shape[1] != b.shape[1]:
        return replace(found, findings=tuple(_state_widths(a, b)))
    rows = min(len(a), len(b))
    equal, first, largest = _compare_rows(a[:rows], b[:rows])
    rounded = np.full(len(b), max(2 * max(ROUNDOFF[name] for name in dtypes), _FLOAT64))
    tolerance = rounded if drift is None else rounded + drift
    near = bool(_find_near_rows(a[:rows], b[:rows], rounded[:rows]).all())
    in_place = near or bool(_find_near_rows(a[:rows], b[:rows], tolerance[:rows]).all())
    found = replace(found, explained=True, shift=0, factor=1.0) if in_place else _find_match(found, a, b, tolerance)
    findings = [] if in_place else [_state_match(found)] if found.explained else list(_state_moved_rows(a, b))
    within = max(dtypes, key=lambda name: ROUNDOFF[name]) if near else "angles" if in_place else ""
    if near and dtypes[0] != dtypes[1]:
        within += f" ({'A' if dtypes[0] == within else 'B'} is rounded)"
    findings += _state_rows(len(a), len(b), equal, first, largest, within=within)
    if not found.explained:
        findings += state_likeness(a[:rows], b[:rows])
    return replace(
        found,
        agree=a.shape == b.shape and near,
        equal_rows=equal,
        first_row=first,
        near=near,
        max_difference=largest if math.isfinite(largest) else None,
        rms_difference=_measure_rms(a[:rows] - b[:rows]) if math.isfinite(largest) else None,
        differing_columns=int((a[:rows] != b[:rows]).any(axis=0).sum()),
        findings=tuple(findings),
    )


# --------------------------------------------------------------------- rows


def _as_table(values: F64, name: str) -> F64:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise InputError(f"{name} is no table", f"shape {table.shape}", "rows and columns of finite numbers")
    return table


def _compare_rows(a: F64, b: F64) -> tuple[int, int | None, float]:
    """Count equal rows, find the first one that differs, and the largest difference, infinity beyond float64."""
    equal, first, largest = 0, None, 0.0
    for block in list_blocks(*a.shape):
        with np.errstate(over="ignore"):
            off = np.abs(a[block] - b[block]).max(axis=1)
        equal += int((off == 0).sum())
        largest = max(largest, float(off.max()))
        if first is None and off.any():
            first = block.start + int(np.argmax(off > 0))
    return equal, first, largest


def _measure_rms(differences: F64) -> float | None:
    scaled, exponent = scale_down(differences)
    return scale_up(math.sqrt(float(np.mean(np.square(scaled)))), exponent)


def _state_widths(a: F64, b: F64) -> Iterator[str]:
    """Say how two tables of other widths are alike."""
    (rows_a, width_a), (rows_b, width_b) = a.shape, b.shape
    if (rows_a, width_a) == (width_b, rows_b) and np.array_equal(a, b.T):
        yield f"rows of B are columns of A: B is A transposed ({rows_a} x {width_a} and {rows_b} x {width_b})"
        return
    yield f"A has {width_a} columns and B has {width_b}"
    rows, width = min(rows_a, rows_b), min(width_a, width_b)
    if np.array_equal(a[:rows, :width], b[:rows, :width]):
        yield f"the first {width} columns are equal ({count(rows, 'row')})"


def _state_rows(
    rows_a: int, rows_b: int, equal: int, first: int | None, largest: float, *, within: str
) -> Iterator[str]:
    """Say how many rows are equal at the same index; `within` is the rounding that explains all differences."""
    rows = min(rows_a, rows_b)
    every = "the only row" if rows == 1 else f"all {rows} rows"
    if rows_a != rows_b:
        yield f"{'A' if rows_a > rows_b else 'B'} has {count(abs(rows_a - rows_b), 'row')} more ({rows_a} and {rows_b})"
        every = f"the {'one row' if rows == 1 else f'{rows} rows'} that both have"
    verb = "is" if rows == 1 else "are"
    apart = f"up to {largest:.4g}" if math.isfinite(largest) else f"more than {np.finfo(float).max:.4g}"
    if first is None:
        yield f"{every} {verb} equal"
    elif within:
        yield f"{every} {verb} equal within the rounding of {within}, by {largest:.2g} at most"
    elif equal == 0:
        yield f"no row equals the one at its index; numbers differ by {apart}"
    else:
        yield (
            f"{equal} of {count(rows, 'row')} {'is' if equal == 1 else 'are'} equal; the first that differs is "
            f"{first}; numbers differ by {apart}"
        )


def _state_moved_rows(a: F64, b: F64) -> Iterator[str]:
    """Say whether rows of B are rows of A at other indices."""
    keys_a, keys_b = _list_keys(a), _list_keys(b)
    if len(a) == len(b) and len(a) > 1 and keys_a == keys_b[::-1]:
        yield "the rows of B are those of A in reverse order"
        return
    known = set(keys_a)
    found = sum(key in known for key in keys_b)
    if found == len(b) and sorted(keys_a) == sorted(keys_b):
        yield "the rows of B are those of A in another order"
    elif 2 * found > len(b) and len(set(keys_b)) > 1:
        yield f"{found} of {count(len(b), 'row')} of B {'is' if found == 1 else 'are'} in A, at other indices"


def _list_keys(table: F64) -> list[bytes]:
    from hashlib import blake2b  # loads OpenSSL, which configurations do not need

    # 0.0 and -0.0 are one number
    return [blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in table]


# --------------------------------------------------------------------- one table in the other


def _state_match(found: TableDiff) -> str:
    shift = found.shift or 0
    index = "i" if shift == 0 else f"i {'+' if shift > 0 else '-'} {abs(shift)}"
    factor = "" if found.factor == 1 else f", times {found.factor:.10g}"
    parts = [f"row i of B is row {index} of A{factor}"] if shift or factor else []
    parts += [found.order] if found.order else []
    unmatched = found.unmatched_rows
    shown = ", ".join(str(row) for row in unmatched[:_NAMED])
    more = f" and {len(unmatched) - _NAMED} more" if len(unmatched) > _NAMED else ""
    rows = f"row{'s' if len(unmatched) > 1 else ''} {shown}{more} of B"
    if not parts:
        return f"A and B are the same except {rows}"
    return ", ".join([*parts, f"except {rows}"] if unmatched else parts)


def _find_match(found: TableDiff, a: F64, b: F64, tolerance: F64) -> TableDiff:
    """Look for b in a: an order of columns, a shift and a factor that fit most rows, within a tolerance for each."""
    for order, columns in list_orders(a.shape[1]):
        for shift in _list_shifts(a, b, columns, tolerance):
            fitted = _try_shift(a, b, columns, shift, tolerance)
            if fitted is not None:
                moved = None if isinstance(columns, slice) else columns
                factor, unmatched = fitted
                found = replace(found, explained=True, order=order.format(a="A", b="B"), columns=moved)
                return replace(found, shift=shift, factor=factor, unmatched_rows=unmatched)
    moved = _match_columns(a, b) if len(a) == len(b) else None
    if moved is None:
        return found
    order = "the columns of B are those of A in another order"
    return replace(found, explained=True, order=order, columns=moved, shift=0, factor=1.0)


def _list_shifts(a: F64, b: F64, columns: Columns, tolerance: F64) -> list[int]:
    """List small shifts, that of the ends, and those to rows of a that begin as one row of b does."""
    row = min(len(b) - 1, len(b) // 2)
    few = np.arange(a.shape[1])[columns][:16]
    with np.errstate(over="ignore"):
        alike = np.abs(a[:, few] - b[row, :16]).max(axis=1) <= tolerance[row] * np.abs(b[row]).max()
    found = [int(index) - row for index in np.flatnonzero(alike)[:_SHIFTS]]
    return list(dict.fromkeys([*sorted(range(-_SHIFTS, _SHIFTS + 1), key=abs), len(a) - len(b), *found]))


def _try_shift(a: F64, b: F64, columns: Columns, shift: int, tolerance: F64) -> tuple[float, tuple[int, ...]] | None:
    """Return the factor, and the rows that do not fit, where most rows do."""
    first, last = max(0, -shift), min(len(b), len(a) - shift)
    if last - first < 2:
        return None
    tried = np.unique(np.linspace(first, last - 1, min(last - first, _TRIED_ROWS)).astype(np.int64))
    # errors of angles move an entry along the circle, and the factor by their square only
    exact = float(tolerance.min() + np.median(tolerance[tried] ** 2))
    factor = _measure_factor(a[tried + shift][:, columns], b[tried], exact)
    allowed = tolerance if factor == 1 else 4 * tolerance  # what a factor that was measured leaves, too
    if factor is None or _find_near_rows(a[tried + shift], b[tried], allowed[tried], columns, factor).mean() < _MOST:
        return None
    near = _find_near_rows(a[first + shift : last + shift], b[first:last], allowed[first:last], columns, factor)
    outside = [row for row in range(len(b)) if not first <= row < last]
    unmatched = sorted([*(int(row) + first for row in np.flatnonzero(~near)), *outside])
    return (factor, tuple(unmatched)) if near.mean() >= _MOST else None


def _measure_factor(a: F64, b: F64, tolerance: float) -> float | None:
    """Return what most rows are times those of a; None where a has only zeros or float64 has no such number."""
    (a, exponents_a), (b, exponents_b) = scale_rows(a), scale_rows(b)
    squares = np.einsum("ij,ij->i", a, a)
    usable = squares > 0
    if not usable.any():
        return None
    shares = np.einsum("ij,ij->i", a, b)[usable] / squares[usable]
    with np.errstate(over="ignore", invalid="ignore"):  # the middle of -inf and inf is NaN
        factor = float(np.median(np.ldexp(shares, (exponents_b - exponents_a)[usable])))
    if not factor or not math.isfinite(factor * (1 + tolerance)):
        return None
    return find_shortest(*sorted((factor * (1 - tolerance), factor * (1 + tolerance))))


def _match_columns(a: F64, b: F64) -> I64 | None:
    """Return columns of a, in b's order, where every column of b is one of a to the last bit."""
    places: dict[bytes, list[int]] = {}
    for index, key in reversed(list(enumerate(_list_keys(a.T)))):
        places.setdefault(key, []).append(index)
    wanted = [places.get(key) for key in _list_keys(b.T)]
    found = [where.pop() for where in wanted if where]
    return np.array(found, dtype=np.int64) if len(found) == len(wanted) else None


def _find_near_rows(
    a: F64, b: F64, tolerance: F64, columns: Columns = slice(None), factor: float = 1.0
) -> NDArray[np.bool_]:
    """Tell which rows of b are factor times those of a, within a tolerance for each, over its largest number."""
    near = np.empty(len(a), dtype=bool)
    for block in list_blocks(*a.shape):
        with np.errstate(over="ignore"):
            one, other = factor * a[block][:, columns], b[block]
            size = np.maximum(np.abs(one).max(axis=1), np.abs(other).max(axis=1))
            # a multiple beyond float64 is no row of b
            near[block] = np.isfinite(size) & (np.abs(one - other).max(axis=1) <= tolerance[block] * size)
    return near
