"""The search behind `near_pairs`: points within a radius of each other, counted, and the nearest kept.

A k-d tree for few columns, blocks of products in float64 for others. What is near the radius, or may be among
the nearest, is decided by the difference of two rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.faithfulness.closest_pair import ROOMY, measure_pairs, scale_down
from pe_spectra.limits import MAX_DIRECT_WORK
from pe_spectra.records import dataclass

_EPS = float(np.finfo(float).eps)
_BLOCK = 512
#: A tree is worth its while for so few columns, and from so many points on.
_TREE_COLUMNS, _TREE_POINTS = 16, 1 << 11
#: Pairs that a tree may list, neighbours that it may count, and points that are asked how many they have.
_LISTED, _COUNTED, _ASKED = 1 << 22, 1 << 28, 256
#: Of pairs that a product cannot tell apart, as many are measured.
_MANY = 1 << 12
#: Numbers of the differences that are computed for pairs near the radius, in all.
_BUDGET = 1 << 27


class Nearest:
    """The nearest pairs so far, at most `limit`, in order of distance, then of place.

    Distances that differ by no more than `tie`, and by their own rounding, are one distance.
    """

    def __init__(self, limit: int, radius: float, tie: float) -> None:
        self.limit, self._radius, self.tie = limit, radius, tie
        self._s, self._t = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._distances = np.empty(0)

    @property
    def reach(self) -> float:
        """No pair farther apart than this can be among the nearest."""
        if len(self._distances) < self.limit:
            return self._radius
        return min(self._radius, self._widen(self._last))

    @property
    def _last(self) -> float:
        return float(self._distances[self.limit - 1]) if self.limit else -1.0

    def _widen(self, distance: float) -> float:
        return distance * (1 + 4 * _EPS) + self.tie

    def add(self, s: I64, t: I64, distances: F64) -> None:
        """Take further pairs; those beyond reach are left out."""
        near = distances <= self.reach
        self._set(
            np.concatenate([self._s, s[near]]),
            np.concatenate([self._t, t[near]]),
            np.concatenate([self._distances, distances[near]]),
        )
        if len(self._s) <= 2 * self.limit:
            return
        # all that are nearer than the last of the limit; of those that tie with it, the first in order
        low = self._last * (1 - 4 * _EPS) - self.tie
        nearer, end = np.searchsorted(self._distances, [low, self._widen(self._last)], side="right")
        tied = np.lexsort((self._t[nearer:end], self._s[nearer:end]))[: self.limit] + nearer
        kept = np.concatenate([np.arange(nearer), tied])
        self._set(self._s[kept], self._t[kept], self._distances[kept])

    def _set(self, s: I64, t: I64, distances: F64) -> None:
        order = np.lexsort((t, s, distances))
        self._s, self._t, self._distances = s[order], t[order], distances[order]

    def list_pairs(self) -> list[tuple[int, int, float]]:
        """The nearest, in order."""
        found: list[tuple[int, int, float]] = []
        start = 0
        while start < len(self._distances) and start < self.limit:
            end = int(np.searchsorted(self._distances, self._widen(float(self._distances[start])), side="right"))
            group = np.lexsort((self._t[start:end], self._s[start:end])) + start
            found += [(int(self._s[i]), int(self._t[i]), float(self._distances[i])) for i in group]
            start = end
        return found[: self.limit]


@dataclass(kw_only=True, eq=False)
class FoundNear:
    """What a search found: pairs of positions within the radius, those that rounding decides, and the nearest."""

    nearest: Nearest
    count: int = 0
    unsure: int = 0
    method: str = "blocks"


class Points:
    """Different codes, each with the number of positions that have it, and what is asked of them.

    Attributes
    ----------
    codes : (U, d); sizes : (U,) positions that share each.
    error : by how much a distance may be wrong.
    """

    def __init__(self, codes: F64, sizes: I64, radius: float, error: float) -> None:
        self.sizes, self.radius, self.error = sizes, radius, error
        self.codes, self._exponent = scale_down(codes, below=ROOMY)
        self.scaled, self._scale = scale_down(codes)

    def measure(self, s: I64, t: I64) -> F64:
        """Distances of pairs from the differences of their codes; infinite where float64 has no such number."""
        with np.errstate(over="ignore"):
            return np.ldexp(measure_pairs(self.codes, s, t), self._exponent)

    def to_units(self, distance: float) -> float:
        """Turn a distance into one of `scaled`; codes there are less than 2 sqrt(d) apart."""
        farthest = 4 * math.sqrt(self.codes.shape[1])
        try:
            return min(math.ldexp(distance, -self._scale), farthest)
        except OverflowError:
            return farthest

    @property
    def margin(self) -> float:
        """How near the radius rounding decides."""
        return self.error + 4 * _EPS * self.radius


def choose_nearest(squared: F64, slack: float, limit: int) -> I64:
    """Return where the `limit` smallest of numbers may be that are each wrong by up to `slack`.

    Where very many tie within that, the first of them.

    >>> choose_nearest(np.array([4.0, 1.0, 9.0]), 0.1, 2).tolist()
    [0, 1, 2]
    """
    if len(squared) <= max(limit, _MANY):
        return np.arange(len(squared))
    last = float(np.partition(squared, limit - 1)[limit - 1])
    smaller = np.flatnonzero(squared < last - 2 * slack)
    tied = np.flatnonzero((squared >= last - 2 * slack) & (squared <= last + 2 * slack))
    return np.sort(np.concatenate([smaller, tied[: max(limit, _MANY)]]))


def search(points: Points, limit: int) -> FoundNear:
    """Find all pairs of points within the radius.

    Raises
    ------
    InputError : more work than 2**37 multiplications, and no tree helps.

    >>> found = search(Points(np.array([[0.0], [1.0], [3.0]]), np.ones(3, dtype=np.int64), 2.0, 0.0), 5)
    >>> found.count + found.unsure
    3
    """
    count, width = points.codes.shape
    found = _search_tree(points, limit) if width <= _TREE_COLUMNS and count > _TREE_POINTS else None
    if found is not None:
        return found
    if count**2 * width > MAX_DIRECT_WORK:
        given = f"{count} different vectors of {width} columns, radius {points.radius:g}"
        raise InputError("near pairs are beyond the budget", given, "fewer positions, or a smaller radius")
    return _Blocks(points, limit).run()


class _Blocks:
    """All pairs, by products of blocks of codes less their mean."""

    def __init__(self, points: Points, limit: int) -> None:
        self._points = points
        self._rows = points.scaled - points.scaled.mean(axis=0)
        self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        # of sums of d products, in any order, and of the difference of three such
        self._slack = 8 * _EPS * (self._rows.shape[1] + 6) * float(self._squares.max(initial=0.0)) + 1e-300
        self._limit = points.to_units(points.radius) ** 2
        self._found = FoundNear(nearest=Nearest(limit, points.radius, points.error))
        self._budget = _BUDGET

    def run(self) -> FoundNear:
        """Go through all pairs of blocks."""
        for a in range(0, len(self._rows), _BLOCK):
            for b in range(a, len(self._rows), _BLOCK):
                self._look(a, b)
        return self._found

    def _look(self, a: int, b: int) -> None:
        squared = self._square(a, b)
        if squared.min() > self._limit + self._slack:
            return
        sure = squared < self._limit - self._slack
        sizes = self._points.sizes.astype(float)
        self._found.count += int(sizes[a : a + len(sure)] @ (sure @ sizes[b : b + len(sure.T)]))
        s, t = np.nonzero((squared <= self._limit + self._slack) & ~sure)
        self._decide(s + a, t + b, squared[s, t])
        nearest = self._found.nearest
        if nearest.limit:
            reach = self._points.to_units(nearest.reach) ** 2
            s, t = np.nonzero(squared <= reach + self._slack)
            chosen = choose_nearest(squared[s, t], self._slack, nearest.limit)
            s, t = s[chosen] + a, t[chosen] + b
            nearest.add(s, t, self._points.measure(s, t))

    def _square(self, a: int, b: int) -> F64:
        """Squared distances of the rows of two blocks; infinite on and below the diagonal."""
        rows, columns = slice(a, a + _BLOCK), slice(b, b + _BLOCK)
        squared: F64 = self._rows[rows] @ self._rows[columns].T
        squared *= -2.0
        squared += self._squares[rows, None]
        squared += self._squares[columns]
        if a == b:
            squared[np.tri(len(squared), dtype=np.bool_)] = np.inf
        return squared

    def _decide(self, s: I64, t: I64, squared: F64) -> None:
        """Count the pairs that the products leave open, by their differences as long as the budget lasts."""
        points, found = self._points, self._found
        weights = points.sizes[s] * points.sizes[t]  # pairs of positions behind those of points
        self._budget -= len(s) * points.codes.shape[1]
        if self._budget < 0:
            found.count += int(weights[squared <= self._limit].sum())
            found.unsure += int(weights.sum())
            return
        distances = points.measure(s, t)
        found.count += int(weights[distances <= points.radius].sum())
        found.unsure += int(weights[np.abs(distances - points.radius) <= points.margin].sum())


def _search_tree(points: Points, limit: int) -> FoundNear | None:
    """The same by a k-d tree; None where too many pairs are within the radius."""
    from scipy.spatial import cKDTree

    tree, radius = cKDTree(points.scaled), points.to_units(points.radius)
    asked = points.scaled[:: max(1, len(points.scaled) // _ASKED)]
    neighbours = tree.query_ball_point(asked, radius, return_length=True)
    if float(np.mean(neighbours)) * len(points.scaled) > _COUNTED:
        return None
    # the tree adds d squares; pairs so near the radius are not decided
    margin = points.to_units(points.margin) + 2 * (points.scaled.shape[1] + 4) * _EPS * radius
    weights = points.sizes.astype(float)
    radii = [max(0.0, radius - margin), radius, radius + margin]
    within = tree.count_neighbors(tree, radii, weights=(weights, weights))
    less, pairs, more = np.rint((within - np.sum(weights**2)) / 2).astype(np.int64).tolist()
    nearest = Nearest(limit, points.radius, points.error)
    if limit and more and not _list_nearest(tree, points, nearest, radius + margin):
        return None
    return FoundNear(nearest=nearest, count=pairs, unsure=more - less, method="tree")


def _list_nearest(tree: Any, points: Points, nearest: Nearest, radius: float) -> bool:
    """Add the nearest pairs; False where they tie with too many."""
    from scipy.spatial import cKDTree

    closest = tree.query(points.scaled, k=2)[0][:, 1]
    least = 2 * nearest.limit
    # among twice as many points there are `limit` pairs, even if each is the closest of its closest
    reach = min(radius, float(np.partition(closest, least - 1)[least - 1])) if least <= len(closest) else radius
    reach = reach * (1 + 64 * _EPS) + 2 * points.to_units(points.error)
    inside = np.flatnonzero(closest <= reach)
    part = cKDTree(points.scaled[inside])
    if not len(inside) or part.count_neighbors(part, reach) - len(inside) > 2 * _LISTED:
        return not len(inside)
    pairs = inside[np.sort(part.query_pairs(reach, output_type="ndarray"), axis=1)]
    nearest.add(pairs[:, 0], pairs[:, 1], points.measure(pairs[:, 0], pairs[:, 1]))
    return True
