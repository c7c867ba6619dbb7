"""The closest two rows of any table: found among all pairs by blocks of products, decided by differences.

One product of two blocks in float32 gives squared distances with a rounding error that is bounded;
every pair that could be the closest within that bound is computed again from the difference of its
rows. Where very many pairs are as close as that (rows of an orthonormal table), a product in
float64 narrows them down first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pe_spectra.exact import F64, I64, NDArray, find_largest, two_product, two_sum
from pe_spectra.records import dataclass

_EPS = float(np.finfo(float).eps)
_BLOCK = 512
#: Numbers of the differences that are held at a time.
_HELD = 1 << 18
#: Distances are the same where they differ by less than their own rounding.
_TIE = 1 + 4 * _EPS
#: More candidates in a block than this are narrowed down by a product in float64.
_MANY = 1 << 12
#: Numbers of the differences that are computed for pairs that float64 products cannot tell apart, in all.
_BUDGET = 1 << 27
#: Above this exponent, distances could leave the range of float64.
ROOMY = 1000
#: What is told how many rows of how many are done.
Tell = Callable[[int, int], None]


def tell_nobody(_done: int, _total: int) -> None:
    """For those who do not ask how far the work is.

    >>> tell_nobody(1, 2)
    """


@dataclass(frozen=True, kw_only=True)
class ClosestPair:
    """The smallest distance, None where it is not representable, and the first pair of rows or positions that has it.

    `error` : by how much the distance may be wrong, what is allowed for entries included.
    """

    distance: float | None
    pair: tuple[int, int]
    error: float = 0.0


def find_closest_pair(table: F64, error: float = 0.0, tell: Tell = tell_nobody) -> ClosestPair:
    """Find the closest two rows by Euclidean distance; O(S**2 d) time, O(S d) memory.

    No pair can be missed: one is left out only where a product shows that it is farther apart than another
    by more than the product can be wrong. The pairs that remain are measured by their differences, and those
    that rounding could order otherwise once more without a rounded sum. Where very many pairs tie within the
    rounding of a product in float64, only the first of them are measured (2**27 numbers), and `error` says
    what the others could have been.

    Parameters
    ----------
    table : (S, d), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.
    tell : is given how many rows of how many are done.

    >>> find_closest_pair(np.array([[0.0, 1e-200], [1e-200, 0.0], [1.0, 1.0]])).pair
    (0, 1)
    """
    search = _AllPairs(table, error)
    search.run(tell)
    if search.has_twins:
        return ClosestPair(distance=0.0, pair=_find_twins(table))
    pair, best, wrong = search.settle()
    wrong = (scale_up(wrong, search.exponent) or 0.0) + bound_underflow(table.shape[1], search.exponent)
    return ClosestPair(distance=scale_up(best, search.exponent), pair=pair, error=wrong)


def _find_twins(table: F64) -> tuple[int, int]:
    """The first two rows that are equal, of a table that has such."""
    from pe_spectra.encodings.equal_rows import number_equal_rows

    keys = number_equal_rows(table)
    later = np.flatnonzero(keys != np.arange(len(keys)))
    first = int(keys[later].min())
    return first, int(later[keys[later] == first][0])


class _AllPairs:
    """All pairs, block by block, and the closest so far.

    Attributes
    ----------
    best : the smallest distance so far, in units of 2**exponent.
    has_twins : whether two rows are equal; then the search ends, as hashes find the first two.
    """

    def __init__(self, table: F64, error: float) -> None:
        self.table, self.exponent = scale_down(table, below=ROOMY)
        self.best, self.has_twins = math.inf, False
        self._is_exact = not error and not self.exponent
        self._allowed: float = 2 * math.sqrt(table.shape[1]) * math.ldexp(error, -self.exponent)
        # of differences, and of sums of their squares in any order
        self._rounding: float = (table.shape[1] + 16) * _EPS
        #: Half squared distances with their sign, in units of the products, that pairs left unmeasured may have.
        self._lost = -math.inf
        self._places = _Places(self.table)
        self._kept: list[tuple[I64, I64, F64]] = []
        self._budget = _BUDGET

    def run(self, tell: Tell) -> None:
        """Go through all pairs."""
        rows = len(self.table)
        for a in range(0, rows, _BLOCK):
            tell(a, rows)
            for b in range(a, rows, _BLOCK):
                s, t = self._list_candidates(a, b)
                if len(s):
                    self._measure(s, t)
                if self.has_twins:
                    return
        tell(rows, rows)

    def settle(self) -> tuple[tuple[int, int], float, float]:
        """The first pair that is as close as the closest, that distance, and by how much it may be wrong."""
        s, t, distances = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        near = distances <= self._limit()
        s, t, distances, share = s[near], t[near], distances[near], self._rounding
        if not self._allowed and len(s) * self.table.shape[1] <= _HELD:
            distances = _measure_exactly(self.table[s], self.table[t])
            share = _EPS
        self.best = float(distances.min())
        tied = np.flatnonzero(distances <= self.best * _TIE + self._allowed)
        first = tied[np.lexsort((t[tied], s[tied]))[0]]
        return (int(s[first]), int(t[first])), self.best, share * self.best + self._allowed + self._bound_lost()

    def _limit(self) -> float:
        """Distances up to this may be the smallest."""
        return self.best * (1 + 2 * self._rounding) + self._allowed

    def _bound_lost(self) -> float:
        """How much closer than the closest a pair may be that was not measured."""
        if math.isinf(self._lost):
            return 0.0
        least = self._places.from_units(math.sqrt(max(0.0, -2 * self._lost)))
        return float(max(0.0, self.best - least))

    def _measure(self, s: I64, t: I64) -> None:
        distances = measure_pairs(self.table, s, t)
        self.best = min(self.best, float(distances.min()))
        self.has_twins = self._is_exact and self.best == 0
        near = distances <= self._limit()
        self._kept.append((s[near], t[near], distances[near]))

    def _list_candidates(self, a: int, b: int) -> tuple[I64, I64]:
        """The pairs of two blocks that could be as close as the closest so far, in order."""
        places = self._places
        halves = places.multiply(a, b)
        least = -places.slack - 0.5 * places.to_units(self._limit()) ** 2
        largest = float(halves.max())
        if largest < least:
            return _NONE
        s, t = np.nonzero(halves >= max(least, largest - 2 * places.slack - self._spread(largest)))
        if len(s) > _MANY:
            s, t = self._narrow(a, b)
        return s + a, t + b

    def _narrow(self, a: int, b: int) -> tuple[I64, I64]:
        """The same by products in float64, and fewer once the budget is used up."""
        places = self._places
        halves, slack = places.multiply_exactly(a, b), places.slack_of_float64
        largest = float(halves.max())
        known = 0.5 * places.to_units(self._limit()) ** 2
        least = -slack - known if self._budget > 0 else slack - known
        s, t = np.nonzero(halves >= max(least, largest - 2 * slack - self._spread(largest)))
        most = max(_MANY, self._budget // self.table.shape[1])
        if self._budget <= 0 or len(s) > most:
            self._lost = max(self._lost, largest + slack)
        self._budget -= len(s) * self.table.shape[1]
        return s[:most], t[:most]

    def _spread(self, largest: float) -> float:
        """How far below `largest`, half a squared distance with its sign, ties within the given error may be."""
        allowed = self._places.to_units(self._allowed)
        distance = math.sqrt(max(0.0, -2 * largest) + 4 * self._places.slack)
        return distance * allowed + 0.5 * allowed**2


_NONE: tuple[I64, I64] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


class _Places:
    """Rows less their mean, scaled so that squares stay in range; products are -distance**2/2 of two rows.

    Attributes
    ----------
    slack, slack_of_float64 : how wrong a product can be.
    """

    def __init__(self, table: F64) -> None:
        rows, width = table.shape
        self._table, self._scale = table, max(-ROOMY, _find_exponent(table))
        self._mean, self._rescale = np.zeros(width), 0
        self._mean = np.sum([self._centre(part).sum(axis=0) for part in self._split()], axis=0) / rows
        self._rescale = max(-ROOMY, *(_find_exponent(self._centre(part)) for part in self._split()))
        self._rows = np.empty((rows, width), dtype=np.float32)
        self._halves = np.empty(rows)
        for part in self._split():
            self._rows[part] = centred = self._centre(part)
            self._halves[part] = -0.5 * np.einsum("ij,ij->i", centred, centred)
        self._narrow_halves = self._halves.astype(np.float32)
        # of sums of width + 2 products, in any order, and of the conversion
        largest = -2 * float(self._halves.min())
        self.slack = 2 * (width + 8) * 2.0**-24 * largest + 1e-30
        self.slack_of_float64 = 2 * (width + 8) * _EPS * largest + 1e-290
        self._out = np.empty((_BLOCK, _BLOCK), dtype=np.float32)
        self._mask = np.tri(_BLOCK, dtype=np.bool_)

    def to_units(self, distance: float) -> float:
        """Turn a distance of rows into one of what is multiplied."""
        return distance if math.isinf(distance) else math.ldexp(distance, -self._scale - self._rescale)

    def from_units(self, distance: float) -> float:
        """Turn a distance in units of what is multiplied into one of rows."""
        return math.ldexp(distance, self._scale + self._rescale)

    def multiply(self, a: int, b: int) -> NDArray[np.float32]:
        """-distance**2/2 of the rows of two blocks, right to `slack`; -inf on and below the diagonal."""
        rows, columns = slice(a, a + _BLOCK), slice(b, b + _BLOCK)
        left, right = self._rows[rows], self._rows[columns]
        out = self._out[: len(left), : len(right)]
        np.matmul(left, right.T, out=out)
        # -|c - c'|**2/2 = c . c' - |c|**2/2 - |c'|**2/2
        out += self._narrow_halves[columns]
        out += self._narrow_halves[rows, None]
        if a == b:
            out[self._mask[: len(left), : len(right)]] = -np.inf
        return out

    def multiply_exactly(self, a: int, b: int) -> F64:
        """The same in float64, right to `slack_of_float64`."""
        rows, columns = slice(a, a + _BLOCK), slice(b, b + _BLOCK)
        out: F64 = self._centre(rows) @ self._centre(columns).T
        out += self._halves[rows, None] + self._halves[None, columns]
        if a == b:
            out[self._mask[: len(out), : len(out)]] = -np.inf
        return out

    def _split(self) -> list[slice]:
        step = max(1, _HELD // self._table.shape[1])
        return [slice(start, start + step) for start in range(0, len(self._table), step)]

    def _centre(self, part: slice) -> F64:
        # products with powers of two are exact, and several times as fast as `np.ldexp`
        centred: F64 = self._table[part] * math.ldexp(1.0, -self._scale)
        centred -= self._mean
        centred *= math.ldexp(1.0, -self._rescale)
        return centred


def _find_exponent(table: F64) -> int:
    """The exponent of two below whose power all entries are; 0 for zeros."""
    largest = find_largest(table)
    return math.frexp(largest)[1] if largest > 0 else 0


def bound_underflow(width: int, exponent: int) -> float:
    """Return what a distance may be wrong by as it, or entries that :func:`scale_down` scales, become subnormal.

    Errors that are shares of a distance do not have it.

    >>> bound_underflow(2, 0)
    5e-324
    """
    units = 1 + math.ceil(math.sqrt(width)) if exponent else 1
    return math.ldexp(units * math.ulp(0.0), exponent)


def scale_down(table: F64, *, below: int = 0) -> tuple[F64, int]:
    """Return the table times 2**-exponent, entries below 2**below in magnitude, and the exponent.

    Where entries span more than the range of float64 does below that, the smallest become 0. With `below`,
    entries that are as small already keep the exponent 0: up to `ROOMY` no distance of two rows overflows.

    >>> table, exponent = scale_down(np.array([[3.0], [-8.0]]))
    >>> table.tolist(), exponent, scale_down(np.array([[3.0], [-8.0]]), below=ROOMY)[1]
    ([[0.1875], [-0.5]], 4, 0)
    """
    exponent = _find_exponent(table) - below
    if below:
        exponent = max(0, exponent)
    return (np.ldexp(table, -exponent) if exponent else table), exponent


def scale_up(distance: float, exponent: int) -> float | None:
    """Return distance times 2**exponent; None where float64 has no such number.

    >>> scale_up(0.75, 3), scale_up(0.75, 1100)
    (6.0, None)
    """
    try:
        return math.ldexp(distance, exponent)
    except OverflowError:
        return None


def _measure_exactly(first: F64, second: F64) -> F64:
    """The distances of rows, (n, d) and (n, d), from sums without rounding: right to a unit in the last place."""
    difference, rest = two_sum(first, -second)
    exponents = np.frexp(np.abs(difference).max(axis=1))[1]
    difference, rest = (np.ldexp(one, -exponents[:, None]) for one in (difference, rest))
    square, more = two_product(difference, difference)
    terms = np.concatenate([square, more, 2 * difference * rest], axis=1).tolist()
    return np.ldexp([math.sqrt(math.fsum(row)) for row in terms], exponents)


def measure_pairs(table: F64, s: np.ndarray, t: np.ndarray) -> F64:
    """Return the distances of rows s[i] and t[i] from their differences; shape (n,).

    >>> measure_pairs(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0]), np.array([1])).tolist()
    [5.0]
    """
    distances = np.empty(len(s))
    step = max(1, _HELD // table.shape[1])
    for start in range(0, len(s), step):
        part = slice(start, start + step)
        difference = table[s[part]]
        difference -= table[t[part]]
        np.abs(difference, out=difference)
        largest = difference.max(axis=1)
        # relative to the largest entry: a square of 1e-200 would be 0
        difference /= np.where(largest > 0, largest, 1.0)[:, None]
        distances[part] = largest * np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return distances
