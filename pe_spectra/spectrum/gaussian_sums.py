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

from pe_spectra.exact import CONTEXT, F64, I64, to_words, two_product, two_sum

#: Below this many pairs of point and source every pair is computed, with exponents as pairs of doubles.
DIRECT_PAIRS = 1 << 23
#: exp(-REACH / 2) is below half a unit in the last place of 1: sources beyond do not count.
REACH = 74.0
#: Within this many widths of a source, sums over cells are used.
NEAR = 3.0
_BLOCK = 1 << 17
_FEW = 64
#: Chebyshev polynomials per cell of 4 b, and on an outer tail; the first neglected one is below 1e-15.
_CELL_TERMS = 28
_TAIL_TERMS = 64
_NEIGHBOURS = 3


@dataclass(frozen=True, kw_only=True)
class LogSum:
    """G_k = exp(exponent + exponent_low) * factor; all of shape (K,)."""

    exponent: F64
    exponent_low: F64
    factor: F64


def sum_gaussians(u: F64, u_low: F64, masses: F64, width: float, count: int) -> LogSum:
    """Sum Gaussians of `width` at the sources u + u_low, on the points 0 .. count-1.

    Parameters
    ----------
    u, u_low, masses : (M,), M >= 1; sources in units of the lattice, in any order.
    width : b > 0, in units of the lattice.
    count : number of points K >= 1.
    """
    order = np.argsort(u, kind="stable")
    u, u_low, masses = u[order], u_low[order], masses[order]
    if len(u) * count <= DIRECT_PAIRS:
        return _sum_all_pairs(u, u_low, masses, width, count)
    return _sum_fast(u, masses, width, count)


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
    c, c_low = to_words(CONTEXT.divide(Decimal("-0.5"), CONTEXT.power(Decimal(width), 2)), 2)
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


def _sum_fast(u: F64, masses: F64, width: float, count: int) -> LogSum:
    k = np.arange(count, dtype=float)
    x = k - u[_nearest(u, k)]
    reach = np.sqrt(x * x + REACH * width * width)
    first, last = np.searchsorted(u, k - reach), np.searchsorted(u, k + reach)
    far = np.abs(x) > NEAR * width
    exponent = -0.5 * (x / width) ** 2
    factor = np.empty(count)
    by_cells = ~far & (last - first > _FEW) & (width >= 1)
    by_nodes = far & (last - first > _FEW) & ((k > u[-1]) | (k < u[0]))
    rest = np.flatnonzero(~by_cells & ~by_nodes)
    factor[rest] = _sum_windows(u, masses, width, rest, x[rest], first[rest], last[rest])
    if by_cells.any():
        exponent[by_cells] = 0.0
        factor[by_cells] = _sum_cells(u, masses, width, count)[by_cells]
    for side in (by_nodes & (k > u[-1]), by_nodes & (k < u[0])):
        points = np.flatnonzero(side)
        if len(points):
            factor[points] = _sum_tail(u, masses, width, x[points])
    return LogSum(exponent=exponent, exponent_low=np.zeros(count), factor=factor)


def _sum_windows(u: F64, masses: F64, width: float, points: I64, x: F64, first: I64, last: I64) -> F64:
    """Sum each point over the sources first .. last-1 that count for it, relative to the nearest."""
    result = np.empty(len(points))
    sizes = last - first
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    start = 0
    while start < len(points):
        stop = max(start + 1, int(np.searchsorted(bounds, bounds[start] + _BLOCK)) - 1)
        size = sizes[start:stop]
        offsets = bounds[start:stop] - bounds[start]
        source = np.arange(size.sum()) + np.repeat(first[start:stop] - offsets, size)
        anchor = np.repeat(x[start:stop], size)
        delta = u[source] - np.repeat(points[start:stop] - x[start:stop], size)
        terms = masses[source] * np.exp(delta * (2 * anchor - delta) / (2 * width * width))
        result[start:stop] = np.add.reduceat(terms, offsets)
        start = stop
    return result


def _chebyshev_rows(y: F64, count: int) -> F64:
    rows = np.empty((count, len(y)))
    rows[0] = 1.0
    rows[1] = y
    twice = 2 * y
    for n in range(2, count):
        np.multiply(twice, rows[n - 1], out=rows[n])
        rows[n] -= rows[n - 2]
    return rows


def _chebyshev_nodes(count: int) -> tuple[F64, F64]:
    """Return the nodes and the matrix from values at the nodes to Chebyshev coefficients."""
    angle = np.pi * (np.arange(count) + 0.5) / count
    matrix = np.cos(np.arange(count)[:, None] * angle) * (2 / count)
    matrix[0] /= 2
    return np.cos(angle), matrix


def _sum_cells(u: F64, masses: F64, width: float, count: int) -> F64:
    """Sum over cells of about 4 b by Chebyshev moments of the sources in each (a fast Gauss transform)."""
    size = max(1, round(4 * width))
    cells = -(-count // size)
    position = (u + 0.5) / size
    inside = (position >= -_NEIGHBOURS) & (position < cells + _NEIGHBOURS)
    position, masses = position[inside] + _NEIGHBOURS, masses[inside]
    cell = position.astype(np.int64)
    moments = np.zeros((cells + 2 * _NEIGHBOURS, _CELL_TERMS))
    chunk = 8192
    for start in range(0, len(cell), chunk):
        part = cell[start : start + chunk]
        y = 2 * (position[start : start + chunk] - part) - 1
        rows = _chebyshev_rows(y, _CELL_TERMS) * masses[start : start + chunk]
        edges = np.flatnonzero(np.diff(part, prepend=part[0] - 1))
        moments[part[edges]] += np.add.reduceat(rows, edges, axis=1).T
    windows = np.lib.stride_tricks.sliding_window_view(moments, 2 * _NEIGHBOURS + 1, axis=0)
    stacked = windows.transpose(0, 2, 1).reshape(cells, -1)
    nodes, to_coefficients = _chebyshev_nodes(_CELL_TERMS)
    offsets = np.arange(-_NEIGHBOURS, _NEIGHBOURS + 1)[:, None] + (nodes + 1) / 2
    result = np.empty((cells, size))
    for start in range(0, size, 1024):
        t = (np.arange(start, min(start + 1024, size)) + 0.5) / size
        kernel = np.exp(-0.5 * ((t - offsets[:, :, None]) * (size / width)) ** 2)
        result[:, start : start + len(t)] = stacked @ (to_coefficients @ kernel).reshape(-1, len(t))
    return result.ravel()[:count]


def _sum_tail(u: F64, masses: F64, width: float, x: F64) -> F64:
    """Sum beyond the outermost source: there the sources are replaced by weighted Chebyshev nodes.

    With x the distance to that source and delta that of another one from it, a term is
    exp(-delta (delta + 2 x) / 2 b**2): for x in [X, 2 X] it is a smooth function of delta on the
    interval on which it counts, and 64 nodes integrate it as the sources would.
    """
    if x[0] > 0:
        delta, mass = u[-1] - u[::-1], masses[::-1]
    else:
        delta, mass = u - u[0], masses
    distance = np.abs(x)
    result = np.empty(len(x))
    nodes, to_coefficients = _chebyshev_nodes(_TAIL_TERMS)
    low = distance.min()
    while low <= distance.max():
        here = (distance >= low) & (distance < 2 * low)
        span = np.sqrt(low * low + REACH * width * width) - low
        n = int(np.searchsorted(delta, span, side="right"))
        points, weights = delta[:n], mass[:n]
        if n > _TAIL_TERMS:
            moments = _moments(2 * points / span - 1, weights, _TAIL_TERMS)
            points, weights = (nodes + 1) * span / 2, to_coefficients.T @ moments
        where = np.flatnonzero(here)
        for start in range(0, len(where), _BLOCK // _TAIL_TERMS):
            some = where[start : start + _BLOCK // _TAIL_TERMS]
            terms = np.exp(-points * (points + 2 * distance[some, None]) / (2 * width * width))
            result[some] = terms @ weights
        low *= 2
    return result


def _moments(y: F64, weights: F64, count: int) -> F64:
    total = np.zeros(count)
    for start in range(0, len(y), 8192):
        total += _chebyshev_rows(y[start : start + 8192], count) @ weights[start : start + 8192]
    return total
