"""Sums of Gaussians beyond the outermost source, and in wide gaps, relative to the nearest source."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pe_spectra.exact import F64, I64, two_sum
from pe_spectra.spectrum.gaussian_cells import compute_chebyshev

#: More sources than this are replaced by as many Chebyshev nodes, on stretches over which terms change by exp(8).
_NODES = 32
_STRETCH = 8.0
_BLOCK = 1 << 17


def compute_reach(sources: int) -> float:
    """Return r: all sources with delta (delta + 2 x) > r b**2 together do not count beside the nearest one.

    >>> round(compute_reach(1), 1), compute_reach(1000) > compute_reach(10)
    (70.0, True)
    """
    return 70.0 + 2 * float(np.log(sources))


def sum_beyond(delta: F64, masses: F64, width: float, x: F64) -> F64:
    """Sum Gaussians beyond the outermost source, relative to its own exponential.

    With x the distance to that source and delta that of another one behind it, a term is
    exp(-delta (delta + 2 x) / 2 b**2): the farther away, the fewer sources count, in the end one.

    Parameters
    ----------
    delta, masses : (M,) sources by their distance from the outermost, ascending from 0.
    width : b > 0.
    x : (L,) distances of the points from the outermost source, ascending, >= 0.

    >>> sum_beyond(np.array([0.0, 0.0]), np.ones(2), 1.0, np.array([3.0]))
    array([2.])
    """
    result = np.empty(len(x))
    reach, variance = compute_reach(len(delta)) * width * width, width * width
    start = 0
    while start < len(x):
        low = float(x[start])
        count = int(np.searchsorted(delta, reach / (np.sqrt(low * low + reach) + low), side="right"))
        if delta[count - 1] == 0:
            result[start:] = masses[:count].sum()
            break
        points, weights = delta[:count], masses[:count]
        weights = weights * np.exp(points * (points + 2 * low) / (-2 * variance))
        high = 2 * low + width
        if count > _NODES:
            high = low + _STRETCH * variance / points[-1]
            points, weights = _move_to_nodes(points, weights)
        stop = max(start + 1, int(np.searchsorted(x, high)))
        for i in range(start, stop, _BLOCK // _NODES):
            some = slice(i, min(i + _BLOCK // _NODES, stop))
            result[some] = np.exp((x[some, None] - low) * (points / -variance)) @ weights
        start = stop
    return result


def sum_between(u: F64, u_low: F64, masses: F64, width: float, k: F64) -> F64:
    """Sum at points in wide gaps between crowds: in each gap the tail from the left and that from the right.

    Relative to the exponential of the nearest source. All sources (M,) and points (L,) ascending.

    >>> sum_between(np.array([0.0, 100.0]), np.zeros(2), np.ones(2), 1.0, np.array([50.0]))
    array([2.])
    """
    result = np.empty(len(k))
    right = np.searchsorted(u, k)
    span = np.sqrt(compute_reach(len(u))) * width
    edges = np.concatenate([[0], np.flatnonzero(np.diff(right)) + 1, [len(k)]]).tolist()
    for i, j in pairwise(edges):
        r = int(right[i])
        first, last = np.searchsorted(u, u[r - 1] - span), np.searchsorted(u, u[r] + span, side="right")
        sides = (slice(first, r), -1), (slice(r, last), 1)
        exponents, factors = [], []
        for some, step in sides:
            source, low, mass = u[some][::step], u_low[some][::step], masses[some][::step]
            x = np.abs((k[i:j] - source[0]) - low[0])[::-step]
            delta = np.abs((source - source[0]) + (low - low[0]))
            factors.append(sum_beyond(delta, mass, width, x)[::-step])
            exponents.append(-0.5 * (x[::-step] / width) ** 2)
        top = np.maximum(*exponents)
        result[i:j] = sum(f * np.exp(e - top) for f, e in zip(factors, exponents, strict=True))
    return result


def _move_to_nodes(points: F64, weights: F64) -> tuple[F64, F64]:
    """Replace sources by weighted Chebyshev nodes that integrate smooth functions as the sources do."""
    nodes, to_coefficients = compute_chebyshev(_NODES)
    low, high = points[0], points[-1]
    if low == high:
        return points[:1], weights.sum(keepdims=True)
    moments = np.zeros(_NODES)
    for start in range(0, len(points), 8192):
        y = (2 * points[start : start + 8192] - (low + high)) / (high - low)
        mass = weights[start : start + 8192]
        before, now = np.ones_like(y), y
        for n in range(_NODES):
            moments[n] += before @ mass
            before, now = now, 2 * y * now - before
    return low + (nodes + 1) * (high - low) / 2, to_coefficients.T @ moments


def sum_windows(u: F64, u_low: F64, masses: F64, width: float, anchor: F64, x: F64, first: I64, last: I64) -> F64:
    """Sum each point over the sources first .. last-1, relative to the exponential of an anchor.

    Parameters
    ----------
    u, u_low, masses : (M,) ascending sources.
    anchor : (2, L) a source of each point as high and low word, x : (L,) the point minus that source.
    first, last : (L,) the sources that count; at least one each.

    >>> one = np.array([0])
    >>> sum_windows(np.zeros(1), np.zeros(1), np.ones(1), 1.0, np.zeros((2, 1)), np.array([2.0]), one, one + 1)
    array([1.])
    """
    result = np.empty(len(x))
    sizes = last - first
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    start = 0
    while start < len(x):
        stop = max(start + 1, int(np.searchsorted(bounds, bounds[start] + _BLOCK)) - 1)
        size, offsets = sizes[start:stop], bounds[start:stop] - bounds[start]
        source = np.arange(size.sum()) + np.repeat(first[start:stop] - offsets, size)
        delta = u[source] - np.repeat(anchor[0, start:stop], size)
        delta += u_low[source] - np.repeat(anchor[1, start:stop], size)
        terms = masses[source] * np.exp(delta * (2 * np.repeat(x[start:stop], size) - delta) / (2 * width * width))
        result[start:stop] = np.add.reduceat(terms, offsets)
        start = stop
    return result


def merge_sources(u: F64, u_low: F64, masses: F64, width: float) -> tuple[F64, F64, F64]:
    """Replace crowds of sources within a few eighths of a width by 32 nodes each.

    What they sum to at points less than some 12 b away stays the same to 15 digits.

    >>> u, u_low, masses = merge_sources(np.linspace(0, 0.1, 1000), np.zeros(1000), np.ones(1000), 1.0)
    >>> len(u), round(float(masses.sum()), 9)
    (32, 1000.0)
    """
    cell = np.floor(u * (4 / width))
    edges = np.concatenate([[0], np.flatnonzero(np.diff(cell)) + 1, [len(u)]])
    parts = []
    for i, j in pairwise(edges.tolist()):
        part = (u[i:j], u_low[i:j], masses[i:j])
        if j - i > _NODES:
            delta = (u[i:j] - u[i]) + (u_low[i:j] - u_low[i])
            nodes, weights = _move_to_nodes(delta, masses[i:j])
            order = np.argsort(nodes)
            high, error = two_sum(nodes[order], np.full(len(nodes), u[i]))
            part = (high, error + u_low[i], weights[order])
        parts.append(part)
    merged = [np.concatenate(words) for words in zip(*parts, strict=True)]
    return merged[0], merged[1], merged[2]
