"""Sums of Gaussians on a lattice, with their logarithm right far out in the tail.

The sum asked for is G_k = sum over j of mass_j exp(-(k - u_j)**2 / (2 b**2)), k = 0 .. K-1, with
sources u_j and width b in units of the lattice. Every function here returns it as a pair of an
exponent and a factor, G_k = exp(exponent_k) factor_k, where the exponent is that of the nearest
source: a factor never underflows, however small the sum is.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import CONTEXT, F64, I64, to_words, two_product, two_sum
from pe_spectra.spectrum.gaussian_cells import MIN_WIDTH, sum_cells
from pe_spectra.spectrum.gaussian_tails import compute_reach, merge_sources, sum_between, sum_beyond, sum_windows

#: Below this many pairs of point and source every pair is computed, with exponents as pairs of doubles.
DIRECT_PAIRS = 1 << 23
_BLOCK = 1 << 17
#: Above this many pairs of point and source in windows, crowds of sources are merged first.
_MANY = 1 << 25
#: Then a point that sees more sources than this takes the merged ones, or those of its gap as two tails.
_CROWD = 256
#: Merged sources stand for the crowd up to this many widths from the nearest source.
_MERGED_WIDTHS = 8.0


@dataclass(frozen=True, kw_only=True, eq=False)
class LogSum:
    """G_k = exp(exponent + exponent_low) * factor; all of shape (K,).

    `exponent_low` is None where the exponent is a single double.
    """

    exponent: F64
    exponent_low: F64 | None
    factor: F64


def sum_gaussians(u: F64, u_low: F64, masses: F64, width: float, count: int) -> LogSum:
    """Sum Gaussians of `width` at the sources u + u_low, on the points 0 .. count-1.

    Parameters
    ----------
    u, u_low, masses : (M,), M >= 1; sources in units of the lattice, in any order.
    width : b > 0, in units of the lattice.
    count : number of points K >= 1.

    >>> found = sum_gaussians(np.array([2.0]), np.zeros(1), np.ones(1), 1.0, 5)
    >>> (found.factor * np.exp(found.exponent)).round(4)  # exp(-x**2 / 2)
    array([0.1353, 0.6065, 1.    , 0.6065, 0.1353])
    """
    u, u_low, masses = _sort(u, u_low, masses)
    if is_direct(len(u), count):
        return _sum_all_pairs(u, u_low, masses, width, count)
    return _sum_fast(u, u_low, masses, width, count)


def is_direct(sources: int, count: int) -> bool:
    """Return whether so few pairs are summed one by one, where low words of the sources are worth having.

    >>> is_direct(64, 129), is_direct(100000, 100000)
    (True, False)
    """
    return sources * count <= DIRECT_PAIRS


def _sort(u: F64, u_low: F64, masses: F64) -> tuple[F64, F64, F64]:
    if (u[1:] >= u[:-1]).all():
        return u, u_low, masses
    order = np.argsort(u, kind="stable")
    return u[order], u_low[order], masses[order]


def _nearest(u: F64, k: F64) -> I64:
    right = np.clip(np.searchsorted(u, k), 1, max(1, len(u) - 1))
    if len(u) == 1:
        return np.zeros(len(k), dtype=np.int64)
    return np.where(k - u[right - 1] <= u[right] - k, right - 1, right).astype(np.int64)


def _sum_all_pairs(u: F64, u_low: F64, masses: F64, width: float, count: int) -> LogSum:
    k = np.arange(count, dtype=float)
    near = _nearest(u, k)
    x, error = two_sum(k, -u[near])
    x, x_low = two_sum(x, error - u_low[near])
    # -x**2 / (2 b**2) as a pair: the exponent may reach -1e5, and its rounding would be multiplied by it
    c, c_low = to_words(CONTEXT.divide(Decimal("-0.5"), CONTEXT.power(Decimal.from_float(width), 2)), 2)
    square, error = two_product(x, x)
    square_low = error + 2 * x * x_low
    exponent, error = two_product(square, np.full_like(square, c))
    exponent, low = two_sum(exponent, error + (square * c_low + square_low * c))
    return LogSum(exponent=exponent, exponent_low=low, factor=_sum_ratios(u, u_low, masses, c, k, near))


def _sum_ratios(u: F64, u_low: F64, masses: F64, c: float, k: F64, near: I64) -> F64:
    """Sum every source's kernel over that of the nearest one, at each point.

    With n the nearest source, (k - u)**2 - (k - n)**2 = (u - n) (u - (2 k - n)): neither factor loses
    digits, not even for a source that lies on the other side of k at the same distance.
    """
    mirror, error = two_sum(2 * k, -u[near])
    mirror_low = error - u_low[near]
    factor = np.empty(len(k))
    rows = max(1, _BLOCK // len(u))
    for start in range(0, len(k), rows):
        part = slice(start, start + rows)
        n = near[part, None]
        exponent = (u - u[n]) + (u_low - u_low[n])
        exponent *= (u - mirror[part, None]) + (u_low - mirror_low[part, None])
        exponent *= c
        np.exp(exponent, out=exponent)
        exponent *= masses
        factor[part] = np.sum(exponent, axis=1)
    return factor


def _sum_fast(u: F64, u_low: F64, masses: F64, width: float, count: int) -> LogSum:
    """Sum over cells near the sources, and relative to the nearest source wherever that sum is small."""
    exponent, factor = np.arange(count, dtype=float), np.empty(count)
    done = np.zeros(count, dtype=bool)
    if width >= MIN_WIDTH:
        start, sums, trusted = sum_cells(u, u_low, masses, width, count)
        factor[start : start + len(sums)] = sums
        done[start : start + len(sums)] = trusted
    # points below the first source and above the last one, as far as the outermost sum that is trusted
    below = _count_outside(done[: np.searchsorted(exponent, u[0])])
    above = count - _count_outside(done[np.searchsorted(exponent, u[-1], side="right") :][::-1])
    span = np.sqrt(compute_reach(len(u))) * width
    if below:
        part, some = slice(below - 1, None, -1), slice(0, np.searchsorted(u, u[0] + span, side="right"))
        _sum_outside(u[some], u_low[some], masses[some], width, exponent[part], factor[part])
    if above < count:
        some = slice(np.searchsorted(u, u[-1] - span), None)
        outer = (u[some][::-1], u_low[some][::-1], masses[some][::-1])
        _sum_outside(*outer, width, exponent[above:], factor[above:])
    exponent[below:above] = 0.0
    points = below + np.flatnonzero(~done[below:above])
    if len(points):
        exponent[points], factor[points] = _sum_inside(u, u_low, masses, width, points)
    return LogSum(exponent=exponent, exponent_low=None, factor=factor)


def _count_outside(done: NDArray[np.bool_]) -> int:
    """Return how many of the first points reach to the last that is not done."""
    return 0 if done.all() else len(done) - int(np.argmin(done[::-1]))


def _sum_outside(u: F64, u_low: F64, masses: F64, width: float, exponent: F64, factor: F64) -> None:
    """Sum at points beyond the outermost source u[0].

    Sources are in order away from the points. `exponent` holds the points, in order away from the
    sources, and is replaced; `factor` is filled.
    """
    exponent -= u[0]
    exponent -= u_low[0]
    np.abs(exponent, out=exponent)
    delta = np.abs((u - u[0]) + (u_low - u_low[0]))
    factor[:] = sum_beyond(delta, masses, width, exponent)
    exponent *= exponent
    exponent *= -0.5 / (width * width)


def _sum_inside(u: F64, u_low: F64, masses: F64, width: float, points: I64) -> tuple[F64, F64]:
    """Sum at points between sources, each over the window of sources that count for it."""
    k = points.astype(float)
    near = _nearest(u, k)
    anchor = np.stack([u[near], u_low[near]])
    x = (k - anchor[0]) - anchor[1]
    # a little wider than needed, so that rounding leaves out neither the nearest source nor its mirror image
    reach = np.sqrt(x * x + compute_reach(len(u)) * width * width) * (1 + 1e-15) + 1e-15 * k
    first, last = _find_windows(u, k, reach)
    factor = np.empty(len(k))
    rest = np.ones(len(k), dtype=bool)
    if np.sum(last - first) > _MANY:
        close, rest = np.abs(x) <= _MERGED_WIDTHS * width, last - first <= _CROWD
        close &= ~rest
        wide = ~(close | rest)
        if close.any():
            merged = merge_sources(u, u_low, masses, width)
            windows = _find_windows(merged[0], k[close], reach[close])
            factor[close] = sum_windows(*merged, width, anchor[:, close], x[close], *windows)
        if wide.any():
            factor[wide] = sum_between(u, u_low, masses, width, k[wide])
    factor[rest] = sum_windows(u, u_low, masses, width, anchor[:, rest], x[rest], first[rest], last[rest])
    return -0.5 * (x / width) ** 2, factor


def _find_windows(u: F64, k: F64, reach: F64) -> tuple[I64, I64]:
    return np.searchsorted(u, k - reach), np.searchsorted(u, k + reach, side="right")
