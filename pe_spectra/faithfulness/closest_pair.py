"""The closest two rows of any table: found among all pairs by blocks of products, decided by differences.

One product of two blocks gives squared distances with a rounding error that is bounded; every pair
that could be the closest within that bound is computed again from the difference of its rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64

_EPS = float(np.finfo(float).eps)
_BLOCK = 512
#: Numbers of the differences that are held at a time.
_HELD = 1 << 22
#: Distances are the same where they differ by less than their own rounding.
_TIE = 1 + 4 * _EPS


@dataclass(frozen=True, kw_only=True)
class ClosestPair:
    """The smallest distance, None where it is not representable, and the first pair of rows that has it."""

    distance: float | None
    pair: tuple[int, int]


def find_closest_pair(table: F64, error: float = 0.0) -> ClosestPair:
    """Find the closest two rows by Euclidean distance; O(S**2 d) time, O(S d) memory.

    Rows are scaled by a power of two first, so that neither squares nor differences leave the range
    of float64; a distance that does when scaled back is None.

    Parameters
    ----------
    table : (S, d), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.

    >>> find_closest_pair(np.array([[0.0, 1e-200], [1e-200, 0.0], [1.0, 1.0]])).pair
    (0, 1)
    """
    scaled, exponent = scale_down(table)
    allowed = 2 * math.sqrt(table.shape[1]) * math.ldexp(error, -exponent)
    measured = [(s, t, measure_pairs(scaled, s, t)) for s, t in _collect(scaled, allowed)]
    best = min(float(distances.min()) for _, _, distances in measured)
    limit = best * _TIE + allowed
    pair = min((int(s[i]), int(t[i])) for s, t, distances in measured for i in np.flatnonzero(distances <= limit)[:1])
    return ClosestPair(distance=scale_up(best, exponent), pair=pair)


def scale_down(table: F64) -> tuple[F64, int]:
    """Return the table times 2**-exponent, entries below 1 in magnitude; rows near 0 are kept apart."""
    largest = float(np.abs(table).max(initial=0.0))
    if not largest > 0:
        return table, 0
    exponent = math.frexp(largest)[1]
    return np.ldexp(table, -exponent), exponent


def scale_up(distance: float, exponent: int) -> float | None:
    """Return distance times 2**exponent; None where float64 has no such number."""
    try:
        return math.ldexp(distance, exponent)
    except OverflowError:
        return None


def measure_pairs(table: F64, s: np.ndarray, t: np.ndarray) -> F64:
    """Return the distances of rows s[i] and t[i] from their differences; shape (n,)."""
    distances = np.empty(len(s))
    step = max(1, _HELD // table.shape[1])
    for start in range(0, len(s), step):
        part = slice(start, start + step)
        difference = table[s[part]] - table[t[part]]
        largest = np.abs(difference).max(axis=1)
        safe = np.where(largest > 0, largest, 1.0)
        # relative to the largest entry: a square of 1e-200 would be 0
        distances[part] = largest * np.sqrt(np.sum((difference / safe[:, None]) ** 2, axis=1))
    return distances


def _collect(table: F64, allowed: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every pair that could be the closest, in order: those within the rounding bound of the smallest.

    Pairs of one block come in order of their first row, so the first tie of a block is its smallest.
    """
    centred = table - table.mean(axis=0)
    squares = np.einsum("ij,ij->i", centred, centred)
    # of a sum of d products, in any order, and of the subtraction of the mean
    largest = float(squares.max(initial=0.0))
    slack = 4 * _EPS * (table.shape[1] + 4) * largest + 4 * allowed * math.sqrt(largest)
    found: list[tuple[np.ndarray, np.ndarray, F64]] = []
    best = math.inf
    for a in range(0, len(table), _BLOCK):
        rows = slice(a, a + _BLOCK)
        for b in range(a, len(table), _BLOCK):
            columns = slice(b, b + _BLOCK)
            squared = squares[rows, None] + squares[None, columns] - 2 * (centred[rows] @ centred[columns].T)
            if a == b:
                squared[np.tril_indices(squared.shape[0])] = math.inf
            smallest = float(squared.min(initial=math.inf))
            if smallest > best + 2 * slack:
                continue
            best = min(best, smallest)
            s, t = np.nonzero(squared <= best + 2 * slack)
            found.append((s + a, t + b, squared[s, t]))
    kept = [(s, t, squared <= best + 2 * slack) for s, t, squared in found]
    return [(s[near], t[near]) for s, t, near in kept if near.any()]
