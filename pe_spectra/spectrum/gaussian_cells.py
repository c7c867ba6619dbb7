"""Sums of Gaussians near their sources: cells of sources, each known by its moments.

The axis is cut into cells of some 4.5 widths. Within a cell a Gaussian is a polynomial of degree 35
in the place of its source to 16 digits, so that the moments of a cell say all about its sources, and
one matrix product turns the moments of a cell and its neighbours into the sums at its points (a fast
Gauss transform, Greengard & Strain 1991, with Chebyshev interpolation in place of Hermite series).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, I64

#: Sums over cells need a lattice that is not coarser than the kernel.
MIN_WIDTH = 1.0
_CELL_WIDTHS = 4.5
#: Cells on each side whose sources count: a kernel is below 3e-18 beyond them.
_NEIGHBOURS = 2
#: Powers 0..5 times powers 0, 6, .., 30: all 36 moments of a row of sources are one product of two tables.
_STEP = 6
_TERMS = _STEP * _STEP
#: Sources to a row. A cell takes as many rows as it needs, the last one filled up with masses of 0.
_SLOTS = 32
_ROWS = 250
_POINTS = 1024
#: A sum is right to some 1e-14 where it is at least this share of the masses 0, 1, 2, 3 cells away.
_TRUSTED_SHARES = np.array([3e-4, 1e-3, 0.03, 0.03, 0.03, 1e-3, 3e-4])


def sum_cells(u: F64, u_low: F64, masses: F64, width: float, count: int) -> tuple[int, F64, NDArray[np.bool_]]:
    """Sum Gaussians at points near their sources.

    Parameters
    ----------
    u, u_low, masses : (M,), ascending sources, in units of the lattice.
    width : b >= MIN_WIDTH, in units of the lattice.
    count : number of points 0 .. count-1.

    Returns
    -------
    start : the first point whose sum is returned.
    sums : (L,) the sums at the points start .. start+L-1; all other points are more than 9 b from any source.
    trusted : (L,) where the sum is right to about 1e-14; elsewhere it is too small beside its neighbourhood.

    >>> start, sums, known = sum_cells(np.array([20.0]), np.zeros(1), np.ones(1), 8.0, 41)
    >>> float(sums[20 - start].round(9)), float(sums[28 - start].round(9))  # 1, and exp(-1/2) at one width
    (1.0, 0.60653066)
    """
    size = int(np.ceil(_CELL_WIDTHS * width))
    ends = np.clip((u[[0, -1]] + 0.5) / size, -4.0, count / size + 4.0)
    first = max(0, int(np.floor(ends[0])) - _NEIGHBOURS)
    last = min(-(-count // size), int(np.floor(ends[1])) + _NEIGHBOURS + 1)
    if last <= first:
        return 0, np.empty(0), np.empty(0, dtype=bool)
    margin = _NEIGHBOURS + 1
    edges = size * np.arange(first - margin, last + margin + 1, dtype=float) - 0.5
    moments = _compute_moments(u, u_low, masses, np.searchsorted(u, edges), edges[:-1] + size / 2, size / 2)
    sums = _apply_kernel(moments[1:-1], width, size, min(size, count))
    floor = np.convolve(moments[:, 0], _TRUSTED_SHARES, mode="valid")
    trusted = (sums >= floor[:, None]) & (sums > 0)
    return first * size, sums.ravel()[: count - first * size], trusted.ravel()[: count - first * size]


def _compute_moments(u: F64, u_low: F64, masses: F64, bounds: I64, centres: F64, half: float) -> F64:
    """Return sum of mass y**(p + 6 q) over the sources of each cell, y in [-1, 1]; shape (cells, 36) by p, q."""
    cell, first = _lay_out_rows(bounds)
    moments = np.zeros((len(centres), _TERMS))
    uniform = bool((masses == 1.0).all())
    tables = np.empty((2, _STEP, _ROWS, _SLOTS))
    for start in range(0, len(cell), _ROWS):
        here = cell[start : start + _ROWS]
        index = first[start : start + _ROWS, None] + np.arange(_SLOTS)
        inside = index < bounds[here + 1][:, None]
        part = slice(index[0, 0], index[-1, -1] + 1)
        index -= part.start
        y = u[part].take(index, mode="clip")
        y -= centres[here][:, None]
        if u_low[part].any():
            y += u_low[part].take(index, mode="clip")
        y *= inside * (1 / half)
        fine, coarse = tables[:, :, : len(y)]
        coarse[0] = inside
        if not uniform:
            coarse[0] *= masses[part].take(index, mode="clip")
        _fill_powers(y, fine, coarse)
        product = fine.transpose(1, 0, 2) @ coarse.transpose(1, 2, 0)
        starts = np.flatnonzero(np.diff(here, prepend=-1))
        moments[here[starts]] += np.add.reduceat(product.reshape(-1, _TERMS), starts, axis=0)
    return moments


def _lay_out_rows(bounds: I64) -> tuple[I64, I64]:
    """Return the cell of each row and its first source."""
    sizes = np.diff(bounds)
    rows = -(-sizes // _SLOTS)
    cell = np.repeat(np.arange(len(sizes)), rows)
    return cell, np.repeat(bounds[:-1] - _SLOTS * (np.cumsum(rows) - rows), rows) + _SLOTS * np.arange(len(cell))


def _fill_powers(y: F64, fine: F64, coarse: F64) -> None:
    fine[0], fine[1] = 1.0, y
    for p in range(2, _STEP):
        np.multiply(fine[p - 1], y, out=fine[p])
    y *= fine[_STEP - 1]
    for q in range(1, _STEP):
        np.multiply(coarse[q - 1], y, out=coarse[q])


def _apply_kernel(moments: F64, width: float, size: int, points: int) -> F64:
    """Turn the moments of cells and their neighbours into the sums at the points of the inner cells."""
    cells = len(moments) - 2 * _NEIGHBOURS
    (nodes, to_chebyshev), to_powers = compute_chebyshev(_TERMS), _expand_chebyshev()
    sums = np.zeros((cells, points))
    occupied = [shift for shift in range(2 * _NEIGHBOURS + 1) if moments[shift : shift + cells, 0].any()]
    for start in range(0, points, _POINTS):
        part = slice(start, min(start + _POINTS, points))
        place = (np.arange(part.start, part.stop) + 0.5) / size
        for shift in occupied:
            distance = place - (shift - _NEIGHBOURS + (nodes[:, None] + 1) / 2)
            kernel = np.exp(-0.5 * (distance * (size / width)) ** 2)
            sums[:, part] += moments[shift : shift + cells] @ (to_powers @ (to_chebyshev @ kernel))
    return sums


def compute_chebyshev(count: int) -> tuple[F64, F64]:
    """Return the Chebyshev nodes in [-1, 1] and the matrix from values there to Chebyshev coefficients.

    >>> nodes, matrix = compute_chebyshev(3)
    >>> np.round(matrix @ nodes**2, 12) + 0.0  # x**2 = 1/2 T_0 + 1/2 T_2
    array([0.5, 0. , 0.5])
    """
    angle = np.pi * (np.arange(count) + 0.5) / count
    matrix = np.cos(np.arange(count)[:, None] * angle) * (2 / count)
    matrix[0] /= 2
    return np.cos(angle), matrix


@cache
def _expand_chebyshev() -> F64:
    """Return the matrix from Chebyshev coefficients to those of y**(p + 6 q), in the order of the moments.

    It is applied after the one to Chebyshev coefficients, never multiplied with it: only between the
    two are the large entries of this one harmless, since those coefficients fall faster than they grow.
    """
    powers = np.zeros((_TERMS, _TERMS))  # powers[n, t]: coefficient of y**t in T_n
    powers[0, 0] = powers[1, 1] = 1.0
    for n in range(2, _TERMS):
        powers[n, 1:] = 2 * powers[n - 1, :-1]
        powers[n] -= powers[n - 2]
    order = np.arange(_TERMS).reshape(_STEP, _STEP).T.ravel()
    return powers.T[order]
