"""Which rows of a table are equal: rows whose hashes differ are different, others are read again and compared.

So the answer is exact, and a table that is too long to hold need not be held: rows are hashed as they come, and
computed anew where they must be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, I64, list_blocks

U64 = NDArray[np.uint64]
Rows = NDArray[np.floating[Any]]
#: Columns that the first hash looks at; they tell nearly all rows apart.
_SAMPLED = 64


def number_equal_rows(table: F64) -> I64:
    """Number the rows of a table by the first that equals them, 0 and -0 being one number; shape (S,).

    >>> number_equal_rows(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0]]))
    array([0, 1, 0])
    """
    hashes = np.empty((len(table), 2), dtype=np.uint64)
    for part in list_blocks(*table.shape):
        hashes[part] = hash_rows(table[part] + 0.0)  # -0 becomes 0
    return find_first_equal(hashes, lambda rows: table[rows] + 0.0, table.shape[1])


def hash_rows(block: Rows, columns: I64 | None = None) -> U64:
    """Hash rows of float32 or float64 to 128 bits, shape (n, 2): words times random odd numbers, modulo 2**64.

    columns : which of them count; default 64 of them, or all where there are fewer.

    >>> hash_rows(np.eye(3)).shape
    (3, 2)
    """
    if columns is None:
        width = block.shape[1]
        columns = np.unique(np.linspace(0, width - 1, min(width, _SAMPLED)).astype(np.int64))
    words = _view_words(block[:, columns]).astype(np.uint64)
    if block.dtype == np.float64:
        words ^= words >> np.uint64(32)  # doubles of few digits have their bits on top, where a product loses them
    result: U64 = words @ _draw_factors(len(columns))
    return result


def _view_words(block: Rows) -> NDArray[np.unsignedinteger[Any]]:
    return np.ascontiguousarray(block).view(np.uint32 if block.dtype == np.float32 else np.uint64)


@lru_cache(maxsize=8)
def _draw_factors(columns: int) -> U64:
    factors = np.random.Generator(np.random.PCG64(1)).integers(1, 2**63, (columns, 2), dtype=np.uint64)
    odd: U64 = factors | np.uint64(1)
    return odd


def find_first_equal(hashes: U64, evaluate: Callable[[I64], Rows], columns: int) -> I64:
    """Return for each row the number of the first row that equals it, byte by byte; shape (S,).

    Parameters
    ----------
    hashes : (S, 2) of rows, equal where the rows are.
    evaluate : reads or computes rows by their numbers, (n,) -> (n, columns).

    >>> table = np.array([[1.0], [2.0], [1.0]])
    >>> find_first_equal(hash_rows(table), lambda rows: table[rows], 1)
    array([0, 1, 0])
    """
    keys = np.arange(len(hashes))
    open_rows, groups = keys, hashes
    while len(open_rows):
        first = _find_leaders(groups)
        members = np.flatnonzero(first != np.arange(len(first)))
        if not len(members):
            break
        equal = _compare(open_rows[members], open_rows[first[members]], evaluate, columns)
        keys[open_rows[members[equal]]] = open_rows[first[members[equal]]]
        # what only looked equal is told apart by a hash of whole rows, then again by bytes
        open_rows, groups = open_rows[members[~equal]], groups[members[~equal]]
        more, everything = np.empty((len(open_rows), 2), dtype=np.uint64), np.arange(columns)
        for part in list_blocks(len(open_rows), columns):
            more[part] = hash_rows(evaluate(open_rows[part]), everything)
        groups = np.concatenate([groups, more], axis=1)
    return keys


def _find_leaders(groups: U64) -> I64:
    """Return for each row of integers the number of the first row that equals it."""
    alone = np.sort(groups[:, 0])
    if not (alone[1:] == alone[:-1]).any():
        return np.arange(len(groups))  # one word tells all apart, and is sorted the quickest
    order = np.lexsort(groups.T)
    ordered = groups[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    # lexsort is stable: the first of a run has the smallest number
    leaders: I64 = np.empty(len(order), dtype=np.int64)
    leaders[order] = order[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return leaders


def _compare(a: I64, b: I64, evaluate: Callable[[I64], Rows], columns: int) -> NDArray[np.bool_]:
    equal = np.empty(len(a), dtype=bool)
    for part in list_blocks(len(a), columns):
        equal[part] = (_view_words(evaluate(a[part])) == _view_words(evaluate(b[part]))).all(axis=1)
    return equal
