"""The closest two of many numbers: neighbours once they are sorted; and of rows whose columns all rise or fall."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.faithfulness.closest_pair import ClosestPair, bound_underflow, make_room, measure_pairs, scale_up

_EPS = float(np.finfo(float).eps)
#: Columns that a table is taken to have at least: narrower products cost as much.
_LEAST_WIDTH = 64


def count_pair_work(rows: int, width: int) -> int:
    """Return what the closest pair of a table costs, in multiplications; a single column is sorted.

    >>> count_pair_work(1000, 1), count_pair_work(1000, 8)
    (1000, 64000000)
    """
    return rows if width == 1 else rows * rows * max(width, _LEAST_WIDTH)


def find_closest_numbers(table: F64, error: float = 0.0) -> ClosestPair:
    """Find the closest two rows of a single column, in O(S log S); as :func:`find_closest_pair` does.

    Parameters
    ----------
    table : (S, 1), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.

    >>> find_closest_numbers(np.array([[3.0], [0.0], [9.0], [7.0]])).pair
    (2, 3)
    """
    roomy, exponent = make_room(table)
    order = np.argsort(roomy[:, 0], kind="stable")
    gaps = np.diff(roomy[order, 0])
    best = float(gaps.min())
    near = np.flatnonzero(gaps <= best * (1 + 4 * _EPS) + 2 * np.ldexp(error, -exponent))
    pairs = np.sort(np.stack([order[near], order[near + 1]], axis=1), axis=1)
    first = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))[0]]
    rounding = scale_up(_EPS * best, exponent) or 0.0
    if exponent:  # else a difference that is subnormal is exact
        rounding += bound_underflow(1, exponent)
    return ClosestPair(
        distance=scale_up(best, exponent), pair=(int(first[0]), int(first[1])), error=rounding + 2 * error
    )


def find_closest_neighbours(table: F64, error: float = 0.0) -> ClosestPair | None:
    """Find the closest two rows where every column rises or falls all the way, in O(S d); None where one does not.

    There no two rows are closer than the neighbours between them.

    Parameters
    ----------
    table : (S, d), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.

    >>> find_closest_neighbours(np.array([[0.0, 9.0], [3.0, 5.0], [4.0, 4.0]])).pair
    (1, 2)
    """
    roomy, exponent = make_room(table)
    steps = np.diff(roomy, axis=0)
    if not ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).all():
        return None
    before = np.arange(len(table) - 1)
    distances = measure_pairs(roomy, before, before + 1)
    best, allowed = float(distances.min()), 2 * math.sqrt(table.shape[1]) * error
    tied = distances <= best * (1 + 4 * _EPS) + math.ldexp(allowed, -exponent)
    first = int(np.argmax(tied))
    width = table.shape[1]
    rounding = (scale_up((width + 16) * _EPS * best, exponent) or 0.0) + bound_underflow(width, exponent)
    return ClosestPair(distance=scale_up(best, exponent), pair=(first, first + 1), error=rounding + allowed)
