"""Sums of Gaussians on a lattice, with their logarithm right far out in the tail.

The sum asked for is G_k = sum over j of mass_j exp(-(k - u_j)**2 / (2 b**2)), k = 0 .. K-1, with
sources u_j and width b in units of the lattice. Every function here returns it as a pair of an
exponent and a factor, G_k = exp(exponent_k) factor_k, where the exponent is that of the nearest
source: a factor never underflows, however small the sum is.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import cast

import numpy as np

from pe_spectra.exact import F64, I64, NDArray, two_sum
from pe_spectra.spectrum.gaussian_pairs import LogSum, Sources, is_direct, sum_stacked_gaussians

_BLOCK = 1 << 17
#: Above this many pairs of point and source in windows, crowds of sources are merged first.
_MANY = 1 << 25
#: Then a point that sees more sources than this takes the merged ones, or those of its gap as two tails.
_CROWD = 256
#: Merged sources stand for the crowd up to this many widths from the nearest source.
_MERGED_WIDTHS = 8.0
#: More sources than this are replaced by as many Chebyshev nodes, on stretches over which terms change by exp(8): what
#: was rounded where a crowd outweighs the one source that counts in the end grows by as much.
_NODES, _STRETCH = 32, 8.0
#: So few terms take no longer than to look how many fewer would do.
_FEW = 4096
#: T_0 .. T_7 times each eighth polynomial give all 32, of so many sources at a time.
_STEP, _TOGETHER = 8, 4096


def sum_gaussians(u: F64, low: F64, masses: F64, width: float, count: int) -> LogSum:
    """Sum Gaussians of `width` at the sources u + low, on the points 0 .. count-1.

    Parameters
    ----------
    u, low, masses : (M,), M >= 1; sources in units of the lattice, in any order.
    width : b > 0, in units of the lattice.
    count : number of points K >= 1.

    >>> found = sum_gaussians(np.array([2.0]), np.zeros(1), np.ones(1), 1.0, 5)
    >>> (found.factor * np.exp(found.exponent)).round(4)  # exp(-x**2 / 2)
    array([0.1353, 0.6065, 1.    , 0.6065, 0.1353])
    """
    if is_direct(len(u), count):
        stacked = sum_stacked_gaussians(u[None], low[None], masses[None], width, count)
        return LogSum(*(cast("F64", word)[0] for word in stacked))
    sources = Sources(u, low, masses)
    if not (u[1:] > u[:-1]).all():
        order = np.argsort(u, kind="stable")  # the images of a ladder are runs in order, which it merges
        tied = np.diff(u[order]) == 0
        places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        some = order[places]  # of one double with others: in the order of their low words
        order[places] = some[np.lexsort((low[some], u[some]))]
        sources = sources.take(order)
    return _sum_fast(sources, width, count)


def _sum_fast(sources: Sources, width: float, count: int) -> LogSum:
    """Sum over cells near the sources, and relative to the nearest source wherever that sum is small."""
    from pe_spectra.spectrum.gaussian_cells import sum_cells

    u = sources.u
    start, sums, trusted = sum_cells(*sources, width, count)  # before rows of all points, which are long
    exponent, factor, done = np.empty(count), np.empty(count), np.zeros(count, dtype=bool)
    factor[start : start + len(sums)] = sums
    done[start : start + len(sums)] = trusted
    del sums, trusted
    # points below the first source and above the last one, as far as the outermost sum that is trusted
    inside = slice(min(max(0, math.ceil(u[0])), count), min(max(0, math.floor(u[-1]) + 1), count))
    below = inside.start - _find_first(done[: inside.start][::-1])
    above = inside.stop + _find_first(done[inside.stop :])
    exponent[below:above] = 0.0
    span = math.sqrt(_compute_reach(len(u))) * width
    if below:
        part, first = slice(below - 1, None, -1), sources.take(slice(0, u.searchsorted(u[0] + span, side="right")))
        exponent[part] = np.arange(below, dtype=np.int32)  # which NumPy counts in half the time of longer ones
        _sum_outside(first, width, below - 1, exponent[part], factor[part])
    if above < count:
        last = sources.take(slice(u.searchsorted(u[-1] - span), None)).take(slice(None, None, -1))
        exponent[above:] = np.arange(count - above, dtype=np.int32)
        _sum_outside(last, width, above, exponent[above:], factor[above:])
    if not done[below:above].all():
        points = below + np.flatnonzero(~done[below:above])
        exponent[points], factor[points] = _sum_inside(sources, width, points.astype(float))
    return LogSum(exponent=exponent, exponent_low=None, factor=factor)


def _find_first(done: NDArray[np.bool_]) -> int:
    """The first point that is not done, or their number."""
    return len(done) if done.all() else int(done.argmin())


def _sum_inside(sources: Sources, width: float, k: F64) -> tuple[F64, F64]:
    """Sum at points between sources, each over the window of sources that count for it."""
    near = sources.find_nearest(k)
    anchor = np.stack([sources.u[near], sources.low[near]])
    x = (k - anchor[0]) - anchor[1]
    # a little wider than needed, so that rounding leaves out neither the nearest source nor its mirror image
    reach = np.sqrt(x * x + _compute_reach(len(sources.u)) * width * width) * (1 + 1e-15) + 1e-15 * k
    first, last = sources.find_windows(k, reach)
    factor = np.empty(len(k))
    rest = np.ones(len(k), dtype=bool)
    if np.sum(last - first) > _MANY:
        close, rest = np.abs(x) <= _MERGED_WIDTHS * width, last - first <= _CROWD
        close &= ~rest
        wide = ~(close | rest)
        if close.any():
            merged = _merge_sources(sources, width)
            windows = merged.find_windows(k[close], reach[close])
            factor[close] = _sum_windows(merged, width, anchor[:, close], x[close], *windows)
        if wide.any():
            factor[wide] = _sum_between(sources, width, k[wide])
    factor[rest] = _sum_windows(sources, width, anchor[:, rest], x[rest], first[rest], last[rest])
    return -0.5 * (x / width) ** 2, factor


def _sum_windows(sources: Sources, width: float, anchor: F64, x: F64, first: I64, last: I64) -> F64:
    """Sum each point over the sources first .. last-1, at least one, relative to the exponential of an anchor.

    `anchor`, (2, L), is a source of each point as high and low word; `x`, (L,), the point minus that source.
    """
    result = np.empty(len(x))
    sizes = last - first
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    start = 0
    while start < len(x):
        stop = max(start + 1, int(bounds.searchsorted(bounds[start] + _BLOCK)) - 1)
        size, offsets = sizes[start:stop], bounds[start:stop] - bounds[start]
        some = sources.take(np.arange(size.sum()) + np.repeat(first[start:stop] - offsets, size))
        delta = some.u - np.repeat(anchor[0, start:stop], size)
        delta += some.low - np.repeat(anchor[1, start:stop], size)
        terms = some.masses * np.exp(delta * (2 * np.repeat(x[start:stop], size) - delta) / (2 * width * width))
        result[start:stop] = np.add.reduceat(terms, offsets)
        start = stop
    return result


# --------------------------------------------------------------------- far from the sources, and where they crowd


def _compute_reach(sources: int) -> float:
    """r: all sources with delta (delta + 2 x) > r b**2 together do not count beside the nearest one."""
    return 70.0 + 2 * math.log(sources)


def _sum_between(sources: Sources, width: float, k: F64) -> F64:
    """Sum at points in wide gaps between crowds: in each gap the tail from the left and that from the right.

    Relative to the exponential of the nearest source. Points (L,) ascending.
    """
    result, u = np.empty(len(k)), sources.u
    right = u.searchsorted(k)
    span = math.sqrt(_compute_reach(len(u))) * width
    edges = np.concatenate([[0], np.flatnonzero(np.diff(right)) + 1, [len(k)]]).tolist()
    for i, j in pairwise(edges):
        r = int(right[i])
        left = sources.take(slice(u.searchsorted(u[r - 1] - span), r)).take(slice(None, None, -1))
        other = sources.take(slice(r, u.searchsorted(u[r] + span, side="right")))
        exponents, factors = np.stack([k[i:j] - k[i], k[j - 1] - k[i:j]]), np.empty((2, j - i))
        _sum_outside(left, width, k[i], exponents[0], factors[0])
        _sum_outside(other, width, k[j - 1], exponents[1, ::-1], factors[1, ::-1])
        result[i:j] = (factors * np.exp(exponents - exponents.max(axis=0))).sum(axis=0)
    return result


def _sum_outside(sources: Sources, width: float, nearest: float, exponent: F64, factor: F64) -> None:
    """Sum at points beyond the first source; sources and points each in order away from the others.

    With x the distance to the first source and delta that of another one behind it, a term is
    exp(-delta (delta + 2 x) / 2 b**2) of the first one's: the farther away, the fewer count, in the end one.
    `exponent` holds the points, counted from the nearest one, and is replaced, `factor` is filled: a long row of points
    has no room twice.
    """
    delta, x = sources.from_first(), exponent
    x += abs((nearest - sources.u[0]) - sources.low[0])
    reach, variance = _compute_reach(len(delta)) * width * width, width * width
    start = 0
    while start < len(x):
        low = float(x[start])
        count = int(delta.searchsorted(reach / (math.sqrt(low * low + reach) + low), side="right"))
        points, weights = delta[:count], sources.masses[:count]
        if points[-1] == 0:
            factor[start:] = weights.sum()
            break
        weights = weights * np.exp(points * (points + 2 * low) / (-2 * variance))
        high = max(4 * low + 4 * width, low + _FEW / count)
        if count > _NODES:
            high = low + _STRETCH * variance / points[-1]
            points, weights = _move_to_nodes(points, weights)
        stop = max(start + 1, int(x.searchsorted(high)))
        for i in range(start, stop, _BLOCK // _NODES):
            some = slice(i, min(i + _BLOCK // _NODES, stop))
            terms = np.multiply.outer(x[some] - low, points / -variance)
            factor[some] = np.exp(terms, out=terms) @ weights
        start = stop
    x *= x
    x *= -0.5 / variance


def _move_to_nodes(points: F64, weights: F64) -> tuple[F64, F64]:
    """Replace sources by weighted Chebyshev nodes that integrate smooth functions as the sources do."""
    from pe_spectra.spectrum.gaussian_cells import compute_chebyshev

    nodes, to_coefficients = compute_chebyshev(_NODES)
    low, high = points[0], points[-1]
    if low == high:
        return points[:1], weights.sum(keepdims=True)
    moments = np.zeros(_NODES)
    for start in range(0, len(points), _TOGETHER):
        y = (2 * points[start : start + _TOGETHER] - (low + high)) / (high - low)
        moments += _sum_chebyshev(y, weights[start : start + _TOGETHER])
    return low + (nodes + 1) * (high - low) / 2, to_coefficients.T @ moments


def _sum_chebyshev(y: F64, weights: F64) -> F64:
    """Sum weight T_n(y) over places in [-1, 1] for n below 32.

    T_m T_p = (T_(m+p) + T_(m-p)) / 2, so that products of T_0 .. T_7 with T_0, T_8, T_16 and T_24 tell all of them.
    """
    fine, coarse = np.empty((_STEP, len(y))), np.empty((_NODES // _STEP, len(y)))
    fine[0], fine[1], coarse[0] = 1.0, y, weights
    for n in range(2, _STEP):
        np.multiply(fine[n // 2], fine[n - n // 2], out=fine[n])
        fine[n] *= 2
        fine[n] -= fine[n % 2]
    step = 2 * fine[_STEP // 2] ** 2 - 1  # T_8
    coarse[1] = step * weights
    for q in range(2, len(coarse)):
        np.multiply(coarse[q - 1], step, out=coarse[q])
        coarse[q] *= 2
        coarse[q] -= coarse[q - 2]
    sums = coarse @ fine.T
    for q in range(1, len(sums)):
        sums[q, 1:] = 2 * sums[q, 1:] - sums[q - 1, :0:-1]
    return sums.ravel()


def _merge_sources(sources: Sources, width: float) -> Sources:
    """Replace crowds of sources within a few eighths of a width by 32 nodes each.

    What they sum to at points less than some 12 b away stays the same to 15 digits.
    """
    cell = np.floor(sources.u * (4 / width))
    edges = np.concatenate([[0], np.flatnonzero(np.diff(cell)) + 1, [len(cell)]])
    parts = []
    for i, j in pairwise(edges.tolist()):
        part = sources.take(slice(i, j))
        if j - i > _NODES:
            nodes, weights = _move_to_nodes(part.from_first(), part.masses)
            order = np.argsort(nodes)
            high, error = two_sum(nodes[order], np.full(len(nodes), part.u[0]))
            part = Sources(high, error + part.low[0], weights[order])
        parts.append(part)
    return Sources(*(np.concatenate(words) for words in zip(*parts, strict=True)))
