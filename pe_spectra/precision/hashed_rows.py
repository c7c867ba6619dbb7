"""Equal and nearest rows of a rounded table that is too long to hold.

The exact distance of two codes of a ladder is a function of their lag; a rounded one differs from it by
at most twice the error of a row. So only lags whose exact distance is within that of the best so far need
be gone through, and most often that is lag 1 alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cached_property

import numpy as np

from pe_spectra.encodings.equal_rows import U64, choose_columns, find_first_equal, hash_rows
from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import Carried
from pe_spectra.records import dataclass

#: Computes rows by their numbers, (n,) -> (n, columns).
Evaluate = Callable[[I64], Carried]

#: Numbers that are worked on at a time: of half as many, what calls cost would be more than what the cache saves.
BLOCK = 1 << 17
#: Share by which a sum of squares of differences in float32 may be wrong: two roundings for each, and some more.
_SINGLE_SUM, _MORE = 2.0**-23, 8
#: Multiplications of all pairs of rows that are held.
MAX_HELD_WORK = 1 << 32
#: Numbers of the rows at all lags that are gone through, and how many multiplications each of them is worth.
_MAX_LAG_WORK, _WORTH = 1 << 29, 1 << 8

Nearest = tuple[float, tuple[int, int]]


def list_blocks(rows: int, columns: int) -> Iterator[I64]:
    """Yield the numbers of rows, as many at a time as are worked on together.

    >>> [len(block) for block in list_blocks(5, 2)]
    [5]
    """
    step = max(1, BLOCK // max(1, columns))
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Positions or lags, and the rows that belong to them: those that were cast to one number share a row.

    Attributes
    ----------
    values : (S,) positions or lags.
    groups : (S,) for each the number of its row, in order of appearance.
    keys : (S,) equal where codes are in exact arithmetic; None where all are different, as far as is known.
    """

    values: I64
    groups: I64
    keys: I64 | None = None

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.groups.max()) + 1

    def find_twins(self, leaders: I64) -> I64:
        """Return for each place the first place whose row is equal, given the first equal row of each row."""
        if self.rows == len(self.groups):  # then the rows are numbered as the places are
            return leaders
        first = np.unique(self.groups, return_index=True)[1].astype(np.int64)
        twins: I64 = first[leaders[self.groups]]
        return twins

    def find_collision(self, twins: I64, keys: I64 | None = None) -> tuple[int, int] | None:
        """Return the first place that equals an earlier one, after that one; with keys, one that differs in them."""
        names = np.arange(len(twins)) if keys is None else keys
        later = np.flatnonzero((twins if keys is None else keys[twins]) != names)
        if not len(later):
            return None
        t = int(later[0])
        return int(self.values[twins[t]]), int(self.values[t])


@dataclass(kw_only=True, eq=False)
class Gathering:
    """What is seen of a table while its rows stream past, in order.

    Attributes
    ----------
    evaluate : computes rows again, where they must be compared.
    is_hashed : whether rows are hashed, which they need not be where it is known otherwise which may be equal.
    wants_nearest : whether neighbouring rows are to be told apart by their distance as well.
    constant : the columns that have had one value so far.
    nearest, pair : the smallest distance of two rows in turn, and their numbers.
    """

    rows: int
    columns: int
    evaluate: Evaluate
    is_hashed: bool = True
    wants_nearest: bool = False
    constant: I64 = field(init=False)
    nearest: float = np.inf
    pair: tuple[int, int] | None = None
    _odd: list[I64] = field(default_factory=list)
    _hashes: U64 = field(init=False)
    _first: Carried | None = None
    _last: Carried | None = None

    def __post_init__(self) -> None:
        self.constant = np.arange(self.columns)
        self._hashes = np.empty(self.rows if self.is_hashed else 0, dtype=np.uint64)

    def add(self, numbers: I64, block: Carried) -> None:
        """Look at the next rows."""
        start, stop = int(numbers[0]), int(numbers[-1]) + 1
        if self.is_hashed:
            self._hashes[start:stop] = hash_rows(block, choose_columns(self.columns))
        flat = block.reshape(-1)
        if not math.isfinite(np.vdot(flat, flat)):  # one look in place of two; squares may end beyond all numbers, too
            self._odd.append(numbers[~np.isfinite(block).all(axis=1)])
        self._narrow_constants(block)
        if self.wants_nearest:
            self._measure_neighbours(start, block)

    @property
    def not_finite(self) -> I64:
        """The numbers of the rows that hold an infinity or NaN."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._odd])

    def _narrow_constants(self, block: Carried) -> None:
        if self._first is None:
            self._first = block[0].copy()
        if len(self.constant):
            part, first = block.take(self.constant, axis=1), self._first[self.constant]
            words = f"u{block.itemsize}"  # numbers of a type are equal where their bytes are
            self.constant = self.constant[(part.view(words) == first.view(words)).all(axis=0)]

    def _measure_neighbours(self, start: int, block: Carried) -> None:
        before, self._last = self._last, block[-1].copy()
        if not self.nearest:
            return
        with np.errstate(over="ignore", invalid="ignore"):  # rows that are not finite have no nearest one
            steps = np.empty_like(block)
            steps[0] = np.inf if before is None else block[0] - before
            np.subtract(block[1:], block[:-1], out=steps[1:])
            squares = (steps[:, None] @ steps[:, :, None]).ravel()
        slack = _SINGLE_SUM * (self.columns + _MORE)
        near = np.flatnonzero(squares <= min(float(squares.min()), self.nearest**2) * (1 + slack))
        near = near[np.isfinite(squares[near])]
        if len(near):
            others = block[near - 1]
            if before is not None and near[0] == 0:
                others[0] = before
            exact = _measure_distances(block[near], others)
            best = int(np.argmin(exact))
            if exact[best] < self.nearest:
                self.nearest = float(exact[best])
                self.pair = (start + int(near[best]) - 1, start + int(near[best]))

    def find_first_equal(self, known: I64 | None = None) -> I64:
        """Return for each row the number of the first row that equals it; shape (rows,). Can be asked once.

        known : the same of a table whose rows follow from these: where they differ there, they differ here.
        """
        hashes = self._hashes if known is None or self.is_hashed else known.view(np.uint64)
        del self._hashes  # of each of several tables as long as the positions
        # numbers of first rows have this sum where each row is its own first, and else a smaller one
        if known is not None and int(known.sum()) == self.rows * (self.rows - 1) // 2:
            return known
        return find_first_equal(hashes, self.evaluate, self.columns)


def _measure_distances(a: Carried, b: Carried) -> F64:
    """Return the Euclidean distances of rows, in float64; shape (n,)."""
    difference = a.astype(np.float64) - b.astype(np.float64)
    result: F64 = np.sqrt(np.sum(difference * difference, axis=1))
    return result


def find_nearest_held(evaluate: Evaluate, rows: int) -> Nearest:
    """Find the closest two of all rows by comparing every pair.

    >>> table = np.array([[0.0], [3.0], [1.0]], dtype=np.float32)
    >>> find_nearest_held(lambda rows: table[rows], 3)
    (1.0, (0, 2))
    """
    from pe_spectra.faithfulness.closest_pair import find_closest_pair

    table = evaluate(np.arange(rows)).astype(np.float64)
    found = find_closest_pair(table)
    return (found.distance if found.distance is not None else np.inf), found.pair


def find_nearest_of_ladder(
    evaluate: Evaluate, rows: int, columns: int, bounds: F64, error: float, known: Nearest
) -> Nearest | None:
    """Find the closest two rows, given the closest neighbours; None where too many lags come into question.

    Parameters
    ----------
    bounds : lower bounds of the exact distance at lag 1, 2, ..
    error : by how much a row is away from its exact code at most.
    known : the smallest distance at lag 1, and its rows.

    >>> from pe_spectra import Sinusoidal
    >>> table = Sinusoidal(d=2).table(10).astype(np.float32)
    >>> bounds = 2 * np.abs(np.sin(np.arange(1, 10) / 2)) - 1e-6
    >>> known = (float(np.linalg.norm(table[1] - table[0])), (0, 1))
    >>> find_nearest_of_ladder(lambda rows: table[rows], 10, 2, bounds, 1e-6, known)[1]
    (0, 6)
    """
    best = known
    near = np.flatnonzero(bounds <= best[0] + 2 * error)
    near = near[near > 0]
    near = near[np.argsort(bounds[near], kind="stable")]
    work = int((rows - 1 - near).sum()) * columns
    if rows * rows * columns <= min(MAX_HELD_WORK, _WORTH * work):
        return find_nearest_held(evaluate, rows)
    if work > _MAX_LAG_WORK:
        return None
    for place in near:
        if bounds[place] > best[0] + 2 * error:
            break
        found = _measure_lag(evaluate, rows, columns, int(place) + 1)
        best = min(best, found)
    return best


def _measure_lag(evaluate: Evaluate, rows: int, columns: int, lag: int) -> Nearest:
    best: Nearest = (np.inf, (0, lag))
    for part in list_blocks(rows - lag, columns):
        distances = _measure_distances(evaluate(part), evaluate(part + lag))
        place = int(np.argmin(distances))
        best = min(best, (float(distances[place]), (int(part[place]), int(part[place]) + lag)))
    return best
