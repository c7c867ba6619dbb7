"""Which rows of a table are equal: rows whose hashes differ are different, others are read again and compared.

So the answer is exact, and a table that is too long to hold need not be held: rows are hashed as they come, and
computed anew where they must be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pe_spectra.exact import F64, I64, NDArray, list_blocks

U64 = NDArray[np.uint64]
Rows = NDArray[np.floating[Any]]
#: Columns that the first hash looks at, in runs that lie together in memory; they tell nearly all rows apart.
_SAMPLED, _RUN = 32, 8


def number_equal_rows(table: F64) -> I64:
    """Number the rows of a table by the first that equals them, 0 and -0 being one number; shape (S,).

    >>> number_equal_rows(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0]]))
    array([0, 1, 0])
    """
    hashes = np.empty(len(table), dtype=np.uint64)
    # a few hundred rows of many columns: what is taken of them stays in cache
    for part in list_blocks(len(table), min(table.shape[1], _SAMPLED) << 6):
        hashes[part] = hash_rows(table[part], choose_columns(table.shape[1]))
    return find_first_equal(hashes, lambda rows: table[rows] + 0.0, table.shape[1])


@lru_cache(maxsize=8)
def choose_columns(width: int) -> I64 | None:
    """Return the columns that the first hash looks at: four runs of eight; None: all of them.

    >>> choose_columns(32), choose_columns(1024)[[0, 7, 8, -1]].tolist()
    (None, [0, 7, 338, 1023])
    """
    if width <= _SAMPLED:
        return None
    starts = np.linspace(0, width - _RUN, _SAMPLED // _RUN).astype(np.int64)
    columns: I64 = np.add.outer(starts, np.arange(_RUN)).ravel()
    columns.flags.writeable = False
    return columns


def hash_rows(block: Rows, columns: I64 | None = None) -> U64:
    """Hash rows of float32 or float64 to 64 bits, shape (n,): words times random odd numbers, modulo 2**64.

    columns : which of them count; default all.

    >>> hash_rows(np.eye(3)).shape
    (3,)
    """
    chosen = block if columns is None else block.take(columns, axis=1)
    words = _view_words(chosen + chosen.dtype.type(0)).astype(np.uint64, copy=False)  # -0 becomes 0
    if block.dtype == np.float64:
        words ^= words >> np.uint64(32)  # doubles of few digits have their bits on top, where a product loses them
    result: U64 = np.einsum("ij,j->i", words, _draw_factors(words.shape[1]))  # of integers several times as fast as @
    return result


def _view_words(block: Rows) -> NDArray[np.unsignedinteger[Any]]:
    return np.ascontiguousarray(block).view(np.uint32 if block.dtype == np.float32 else np.uint64)


@lru_cache(maxsize=8)
def _draw_factors(columns: int) -> U64:
    """Odd numbers, as SplitMix64 draws them (Steele et al. 2014): the same in every release of NumPy."""
    drawn = np.arange(1, columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        drawn = (drawn ^ (drawn >> np.uint64(shift))) * np.uint64(factor)
    odd: U64 = drawn ^ (drawn >> np.uint64(31)) | np.uint64(1)
    return odd


def find_first_equal(hashes: U64, evaluate: Callable[[I64], Rows], columns: int) -> I64:
    """Return for each row the number of the first row that equals it, byte by byte; shape (S,).

    Parameters
    ----------
    hashes : (S,) of rows, equal where the rows are.
    evaluate : reads or computes rows by their numbers, (n,) -> (n, columns).

    >>> table = np.array([[1.0], [2.0], [1.0]])
    >>> find_first_equal(hash_rows(table), lambda rows: table[rows], 1)
    array([0, 1, 0])
    """
    keys = np.arange(len(hashes))
    open_rows, groups = keys, [hashes]
    while len(open_rows):
        first = _find_leaders(groups)
        if first is None:
            break
        members = np.flatnonzero(first != np.arange(len(first)))
        equal = _compare(open_rows[members], open_rows[first[members]], evaluate, columns)
        keys[open_rows[members[equal]]] = open_rows[first[members[equal]]]
        # what only looked equal is told apart by a hash of whole rows, then again by bytes
        open_rows, groups = open_rows[members[~equal]], [one[members[~equal]] for one in groups]
        more = np.empty(len(open_rows), dtype=np.uint64)
        for part in list_blocks(len(open_rows), columns):
            more[part] = hash_rows(evaluate(open_rows[part]))
        groups.append(more)
    return keys


def _find_leaders(groups: list[U64]) -> I64 | None:
    """Return for each place in arrays of one length the first that has the same in all of them; None: all differ."""
    alone = np.sort(groups[0])
    if not (alone[1:] == alone[:-1]).any():
        return None  # one word tells all apart, and is sorted the quickest
    order = np.lexsort(groups)
    starts = np.zeros(len(order), dtype=bool)
    starts[0] = True
    for words in groups:
        ordered = words[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    # lexsort is stable: the first of a run has the smallest number
    leaders: I64 = np.empty(len(order), dtype=np.int64)
    leaders[order] = order[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return leaders


def _compare(a: I64, b: I64, evaluate: Callable[[I64], Rows], columns: int) -> NDArray[np.bool_]:
    equal = np.empty(len(a), dtype=bool)
    for part in list_blocks(len(a), columns):
        equal[part] = (_view_words(evaluate(a[part])) == _view_words(evaluate(b[part]))).all(axis=1)
    return equal
