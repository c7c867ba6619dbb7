"""Two arrays that hold cosines and sines side by side: compared as the tables that they are, and as rotations.

Of a rotation, how the columns stand and which sign they have is the port's own business; of a table of
positions it is not. Both are seen in such arrays, so that a difference of numbers is never passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.models.comparison.divergence import Diff
from pe_spectra.models.comparison.table_diff import TableDiff, compare_tables
from pe_spectra.models.dumps.dump import Arrangement, Dump, split_in_two
from pe_spectra.models.dumps.storing import ROUNDOFF
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC

#: Parts of a rotation that say what has become of a table whose numbers are others.
_OF_FREQUENCIES = ("base", "scaling", "frequencies", "rotary_dim")
#: What angles that were computed in float32 may move an entry by at most: beyond, a row would fit its neighbour.
_LARGEST_DRIFT = 0.1
#: Roundings of the largest angle of a row, on each side: of its frequency, and of the product.
_ROUNDINGS = 4
#: Share of the rows, at most, that arithmetic leaves equal to the last bit; with more, those that differ were changed.
_LEFT_EQUAL = 0.5


def compare_waves(table_a: F64, table_b: F64, dump_a: Dump, dump_b: Dump) -> TableDiff | None:
    """Compare two arrays of cosines and sines as tables, and say how their columns stand and which signs they have.

    Parameters
    ----------
    table_a, table_b : (S, d) each. dump_a, dump_b : what was read from them.

    Returns
    -------
    As :func:`compare_tables`; None where one of them does not hold both side by side.

    >>> from pe_spectra.models.dumps.dumped_arrays import read_cache
    >>> angles = np.arange(64)[:, None] * 100.0 ** -np.arange(0, 1, 0.25)
    >>> a, b = np.hstack([np.sin(angles), np.cos(angles)]), np.hstack([np.cos(angles), np.sin(angles)])
    >>> compare_waves(a, b, read_cache(a), read_cache(b)).order
    'the columns of B are those of A in another order: sines first in A, cosines first in B'
    """
    arranged_a, arranged_b = dump_a.arrangement, dump_b.arrangement
    if arranged_a is None or arranged_b is None:
        return None
    drift = _bound_drift(dump_a, dump_b, len(table_b))
    types = dump_a.dtype or "float64", dump_b.dtype or "float64"
    found = compare_tables(table_a, table_b, drift, stored=types)
    if found.in_place and not found.near and not _is_arithmetic(table_a, table_b, dump_a, dump_b, found):
        drift = np.zeros(len(table_b))
        found = compare_tables(table_a, table_b, stored=types)
    if found.max_difference is None or found.in_place:
        return found
    words = _state_arrangements(arranged_a, arranged_b)
    order = f"the columns of B are those of A in another order: {words}" if words else ""
    differing = [one * other for one, other in zip(dump_a.signs, dump_b.signs, strict=True)]
    columns, signs = _align_columns(arranged_a, arranged_b, differing, found.shape_a[1])
    if found.explained:
        if found.columns is None or not np.array_equal(found.columns, columns):
            return found
        first = found.findings[0].replace(found.order, order)
        return replace(found, order=order, findings=(first, *found.findings[1:]))
    aligned = compare_tables(table_a[:, columns] * signs, table_b, drift, stored=types)
    if not aligned.explained:
        return replace(found, findings=(*found.findings, words)) if words else found
    moved = "" if aligned.in_place else aligned.findings[0]
    turned = " and the ".join(name for name, sign in zip(("sines", "cosines"), differing, strict=True) if sign < 0)
    parts = (order, f"the {turned} of B have the opposite sign" if turned else "", moved)
    return replace(found, findings=(", ".join(part for part in parts if part), *found.findings))


def _bound_drift(a: Dump, b: Dump, rows: int) -> F64:
    """Bound what the arithmetic of angles moves the entries of each row by, over the amplitude, (rows,)."""
    drift = np.zeros(rows)
    for side in (a, b):
        step = ROUNDOFF["float64" if side.dtype == "float64" else "float32"]
        drift += _ROUNDINGS * step * float(side.frequencies[0]) * (np.arange(rows) + abs(side.offset or 0))
    return np.minimum(drift, _LARGEST_DRIFT)


def _is_arithmetic(table_a: F64, table_b: F64, a: Dump, b: Dump, found: TableDiff) -> bool:
    """Tell whether arithmetic alone explains how entries differ, column by column: angles of slow pairs are small."""
    rows = min(len(table_a), len(table_b))
    if a.arrangement is None or (found.equal_rows or 0) > _LEFT_EQUAL * rows:
        return False
    stored = 2 * max(ROUNDOFF[name] for name in found.dtypes)
    drift = _bound_drift(a, b, rows)
    angles = np.arange(rows) + abs(a.offset or 0)
    for place in _find_places(a.arrangement, table_a.shape[1]):
        for column, frequency in zip(place, a.frequencies, strict=True):
            off = np.abs(table_a[:rows, column] - table_b[:rows, column])
            allowed = stored + np.minimum(drift, 2 * FLOAT32_ARITHMETIC * frequency * angles)
            if (off > allowed * max(a.attention_scaling or 1.0, b.attention_scaling or 1.0)).any():
                return False
    return True


def shows_rotations(table: TableDiff, diff: Diff) -> bool:
    """Tell whether two arrays are better answered as rotations: where their numbers agree, or their frequencies do not.

    >>> same = compare_tables(np.eye(4), np.eye(4))
    >>> shows_rotations(same, Diff(agree=None, differences=(), layer_types=(), unknown=(), length=4))
    True
    """
    if table.in_place:
        return True
    last = min(table.shape_b[0], table.shape_a[0] - (table.shift or 0))
    inside = [row for row in table.unmatched_rows if max(0, -(table.shift or 0)) <= row < last]
    if table.explained and not inside:
        return False
    return any(one.what in _OF_FREQUENCIES or one.first_position is not None for one in diff.differences)


def remark_rotations(diff: Diff) -> str:
    """Say of two arrays that are compared as tables how they are as caches of a rotation.

    >>> remark_rotations(Diff(agree=None, differences=(), layer_types=(), unknown=(), length=4))
    'read as rotary caches, both have the same frequencies'
    """
    parts = "; ".join(f"{one.what.replace('_', ' ')} differs: {one.effect}" for one in diff.differences)
    known = all(layer.agree for layer in diff.layer_types)
    same = "both have the same frequencies" if known else ""
    return f"read as rotary caches, {'; '.join(part for part in (same, parts) if part)}"


# --------------------------------------------------------------------- how columns stand


def _align_columns(a: Arrangement, b: Arrangement, differing: Iterable[int], width: int) -> tuple[I64, F64]:
    """Return for each column of b the column of a that holds the same wave, and the sign between them.

    differing are the signs between the sines, and between the cosines, of both.
    """
    columns, signs = np.empty(width, dtype=np.int64), np.empty(width)
    for one, other, sign in zip(_find_places(a, width), _find_places(b, width), differing, strict=True):
        columns[other], signs[other] = one, sign
    return columns, signs


def _find_places(arrangement: Arrangement, width: int) -> tuple[I64, I64]:
    """Return the columns of the sines and those of the cosines, fastest pair first."""
    first, second = split_in_two(np.arange(width))["interleaved" if arrangement.interleaved else "half"]
    return (first, second) if arrangement.sines_first else (second, first)


def _state_arrangements(a: Arrangement, b: Arrangement) -> str:
    """Say how the columns of A and of B stand; empty where they stand alike."""
    if a == b:
        return ""
    if a.interleaved == b.interleaved:
        return ", ".join(
            f"{'sines' if one.sines_first else 'cosines'} first in {letter}" for letter, one in (("A", a), ("B", b))
        )
    names = ["sines and cosines" if one.sines_first else "cosines and sines" for one in (a, b)]
    ways = ["interleaved" if one.interleaved else "in halves" for one in (a, b)]
    other = "" if names[0] == names[1] else f"{names[1]} "
    return f"{names[0]} {ways[0]} in A, {other}{ways[1]} in B"
