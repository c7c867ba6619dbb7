"""Sums of Gaussians of few sources on a lattice: every pair of point and source that counts, to the last digit.

The sum asked for is G_k = sum over j of mass_j exp(-(k - u_j)**2 / (2 b**2)), k = 0 .. K-1, with
sources u_j and width b in units of the lattice. It is returned as a pair of an exponent and a factor,
G_k = exp(exponent_k) factor_k, where the exponent is that of the nearest source: a factor never
underflows, however small the sum is.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from pe_spectra.exact import CONTEXT, F64, I64, divide_into_words, two_product, two_sum
from pe_spectra.records import NamedTuple

#: Below this many pairs of point and source the pairs that count are computed, with exponents as pairs of doubles.
DIRECT_PAIRS = 1 << 23
_BLOCK = 1 << 17
#: Points that share the sources which are summed for them: of one set of sources, at least, and pairs at a time.
_ROWS, _FEWEST_ROWS, _PAIRS = 128, 16, 1 << 15
#: Kernels whose sum is below exp(-this) of another one do not change its last digit.
_LEAST = 44.0
_MINUS_HALF = Decimal("-0.5")
#: exp of less is 0 in float64.
_ZERO_BELOW = -746.0
_ONCE_AND_TWICE, _SIDES = np.array([[[1.0]], [[2.0]]]), np.array([[-1.0], [1.0]])
#: By how much more than computed a source may lie away, in parts and in units of the lattice.
_SLACK = 1e-9


class LogSum(NamedTuple):
    """G_k = exp(exponent + exponent_low) * factor; all of shape (K,), or (B, K) for B sets of sources.

    `exponent_low` is None where the exponent is a single double.
    """

    exponent: F64
    exponent_low: F64 | None
    factor: F64

    def normalise(self, top: float = 0.0) -> tuple[F64, float]:
        """The sums over their total, (K,), and the total over exp(top), of one set whose exponent is a single double.

        All is summed in units of exp(top), so that one of the exponents at least must be near it.
        """
        exponent, weights = self.exponent - top if top else self.exponent, np.zeros(len(self.factor))
        counts = exponent > _ZERO_BELOW  # what comes out as 0 takes NumPy's exp twice as long
        start = int(counts.argmax())
        stop = start + int(np.count_nonzero(counts))
        part = slice(start, stop if counts[start:stop].all() else None)
        some = weights[part]
        np.multiply(np.exp(exponent[part]), self.factor[part], out=some)
        total = float(some.sum())
        some *= 1 / total
        return weights, total


class Sources(NamedTuple):
    """Sources at u + low with their masses, each (M,), in ascending order of u unless it is said otherwise."""

    u: F64
    low: F64
    masses: F64

    def take(self, part: slice | I64) -> Sources:
        """Some of the sources."""
        return Sources(self.u[part], self.low[part], self.masses[part])

    def from_first(self) -> F64:
        """The distance of each from the first one."""
        distances: F64 = np.abs((self.u - self.u[0]) + (self.low - self.low[0]))
        return distances

    def find_nearest(self, k: F64) -> I64:
        """The nearest source of each point."""
        if len(self.u) == 1:
            return np.zeros(len(k), dtype=np.int64)
        right = 1 + self.u[1:-1].searchsorted(k)
        return np.where(k - self.u[right - 1] <= self.u[right] - k, right - 1, right)

    def find_windows(self, k: F64, reach: F64) -> tuple[I64, I64]:
        """The first source within reach of each point, and the first one beyond."""
        return self.u.searchsorted(k - reach), self.u.searchsorted(k + reach, side="right")


def is_direct(sources: int, count: int) -> bool:
    """Return whether so few pairs are summed one by one, where low words of the sources are worth having.

    >>> is_direct(64, 129), is_direct(100000, 100000)
    (True, False)
    """
    return sources * count <= DIRECT_PAIRS


def sum_stacked_gaussians(u: F64, low: F64, masses: F64, width: float, count: int) -> LogSum:
    """Sum Gaussians as :func:`sum_gaussians` does, for several sets of few sources at once.

    Parameters
    ----------
    u, low, masses : (B, M), B sets of sources.

    >>> sets = np.array([[2.0], [3.0]])
    >>> sum_stacked_gaussians(sets, np.zeros((2, 1)), np.ones((2, 1)), 1.0, 5).exponent.argmax(axis=1).tolist()
    [2, 3]
    """
    offsets = u.shape[1] * np.arange(len(u))[:, None]  # of each set among all sources
    order = u.argsort(axis=1, kind="stable") + offsets
    sources = Sources(u.take(order), low.take(order), masses.take(order))
    k = np.arange(count, dtype=float)
    # of two sources as near as each other, but for rounding, either will do: exponents are pairs
    halves = 0.5 * sources.u
    near = np.array([one.searchsorted(k) for one in halves[:, 1:] + halves[:, :-1]]) + offsets
    n, n_low = sources.u.take(near), sources.low.take(near)
    # k - n, and the mirror image of n on the other side of the point, m = 2 k - n
    (x, m), (error, m_error) = two_sum(k * _ONCE_AND_TWICE, -n)
    x_low, m_low = error - n_low, m_error - n_low
    # -x**2 / (2 b**2) as a pair: the exponent may reach -1e5, and its rounding would be multiplied by it
    exactly = Decimal.from_float(width)
    c, c_low = divide_into_words(_MINUS_HALF, CONTEXT.multiply(exactly, exactly))
    square, error = two_product(x, x)
    square_low = error + (2 * x + x_low) * x_low
    exponent, error = two_product(square, np.float64(c))
    exponent, exponent_low = two_sum(exponent, error + (square * c_low + square_low * c))
    factor = _sum_ratios(sources, (n, n_low, m, m_low), c, exponent)
    return LogSum(exponent=exponent, exponent_low=exponent_low, factor=factor)


def _sum_ratios(sources: Sources, nearest: tuple[F64, F64, F64, F64], c: float, exponent: F64) -> F64:
    """Sum every source's kernel over that of the nearest one, at each point: (B, K).

    With n the nearest source, (k - u)**2 - (k - n)**2 = (n - u) (m - u), m = 2 k - n: neither factor loses
    digits, not even for a source that lies on the other side of k at the same distance. Both factors, and what
    the low words add to their product, are sums of products of a number of the point and one of the source:
    a matrix product has them for all pairs, differences rounded once as elsewhere.
    """
    u, low, masses = sources
    n, n_low, m, m_low = nearest
    (sets, size), count = u.shape, n.shape[1]
    points, of_sources = np.ones((sets, 8, count)), np.ones((sets, 4, size))
    points[:, 0], points[:, 2], points[:, 4] = n, m, n_low * m + n * m_low + n_low * m_low
    points[:, 5], points[:, 6] = n_low + m_low, n + m
    of_sources[:, 1], of_sources[:, 2], of_sources[:, 3] = -u, -low, (2 * u + low) * low
    rows = count
    if sets * size * count > _PAIRS:
        rows = min(max(_ROWS // sets, _FEWEST_ROWS), max(1, _BLOCK // size))
        rows = math.ceil(count / math.ceil(count / rows))  # evenly: a last block of few takes as long as one of many
    factor = np.empty((sets, count, 1))
    together = max(1, _PAIRS // (rows * size))
    for first_set in range(0, sets, together):
        one = slice(first_set, first_set + together)
        windows = _find_windows(u[one], masses[one], c, exponent[one], rows)
        for start, some in zip(range(0, count, rows), windows, strict=True):
            part = slice(start, start + rows)
            here, there = points[one, :, part].swapaxes(1, 2), of_sources[one, :, some]
            terms = here[:, :, :2] @ there[:, :2]
            terms *= here[:, :, 2:4] @ there[:, :2]
            terms += here[:, :, 4:] @ there
            terms *= c
            np.exp(terms, out=terms)
            np.matmul(terms, masses[one, some, None], out=factor[one, part])
    return factor[:, :, 0]


def _find_windows(u: F64, masses: F64, c: float, exponent: F64, rows: int) -> list[slice]:
    """The sources that count in each block of so many points, in one set of them or another.

    Sources whose kernels together are below exp(-44) of the nearest one's, a thousandth of its last digit, are left
    out. Those that count lie within r of the point, r**2 = (k - n)**2 + a constant; k - r and k + r both grow with
    k, so that the first point of a block and its last one tell.
    """
    count = exponent.shape[1]
    if rows == count:  # to leave sources out takes longer than to sum them
        return [slice(None)]
    starts = np.arange(0, count, rows)
    ends = np.array([starts, np.minimum(starts + (rows - 1), count - 1)])
    # infinite, so that all sources count, where a mass is 0 or the kernel is as wide as floats can be
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        spread = np.log(masses.shape[1] * np.divide(masses.max(axis=1), masses.min(axis=1)))
        reach = np.sqrt((exponent.take(ends, axis=1) - (_LEAST + spread)[:, None, None]) / c) * (1 + _SLACK) + _SLACK
    bounds = ends + _SIDES * reach
    windows = np.array([one.searchsorted(both) for one, both in zip(u, bounds, strict=True)])
    return list(map(slice, windows[:, 0].min(axis=0).tolist(), windows[:, 1].max(axis=0).tolist()))
