"""Sums of Gaussians near their sources: cells of sources, each known by its moments.

The axis is cut into cells of some three widths. Within a cell a Gaussian is a polynomial of degree 24
in the place of its source to 15 digits, so that the moments of a cell say all about its sources, and
one matrix product turns the moments of a cell and its neighbours into the sums at its points (a fast
Gauss transform, Greengard & Strain 1991, with Chebyshev interpolation in place of Hermite series).
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from pe_spectra.exact import F64, I64, NDArray

#: Sums over cells need a lattice that is not coarser than the kernel.
_MIN_WIDTH = 1.0
_CELL_WIDTHS = 3.0
#: Sources count as far as this many widths beyond the edge of a cell: there a kernel is below 3e-18.
_REACH = 9.0
#: Powers 0, 5, .., 20 times powers 4..0: all 25 moments of a row of sources are one product of two tables, which can
#: share their power 0. So the moments of a cell stand in the order 4..0, 9..5, .., 24..20, that of power 0 at `_MASS`.
_STEP = 5
_TERMS, _MASS = _STEP * _STEP, _STEP - 1
_POWERS = np.arange(_TERMS).reshape(_STEP, _STEP)[:, ::-1].ravel()
#: Sources to a row. A cell of few sources is one short row, one of more as many long rows as it needs; they are filled
#: up. Of such small products OpenBLAS 0.3.31 makes one of 32 sources in 0.6 of the time of one of 16.
_SHORT, _LONG = 32, 88
#: Places in the rows whose powers are made together, sources that are placed together, and points of one product.
_PLACES, _TOGETHER, _POINTS = 3 << 14, 1 << 15, 1024
#: Numbers between two tables of powers: at distances of a power of two they would push each other out of the cache.
_APART = 64
#: A sum is right to 1e-13 where it is at least this share of the masses in its cell and those beside it, whose
#: Gaussians are right to 3e-15 of their peak, and this share of the masses far away.
_NEAR_SHARE, _FAR_SHARE = 0.03, 3e-4
_SMALLEST = math.ulp(0.0)
_NO_SUMS = 0, np.empty(0), np.empty(0, dtype=bool)


def sum_cells(u: F64, u_low: F64, masses: F64, width: float, count: int) -> tuple[int, F64, NDArray[np.bool_]]:
    """Sum Gaussians at points near their sources.

    Parameters
    ----------
    u, u_low, masses : (M,), ascending sources, in units of the lattice; masses below 1e150, for moments must be finite.
    width : b, in units of the lattice.
    count : number of points 0 .. count-1.

    Returns
    -------
    start : the first point whose sum is returned.
    sums : (L,) the sums at the points start .. start+L-1; none where b is below 1, else all other points are more than
        9 b from any source.
    trusted : (L,) where the sum is right to 1e-13; elsewhere it is too small beside its neighbourhood.

    >>> start, sums, known = sum_cells(np.array([20.0]), np.zeros(1), np.ones(1), 8.0, 41)
    >>> float(sums[20 - start].round(9)), float(sums[28 - start].round(9))  # 1, and exp(-1/2) at one width
    (1.0, 0.60653066)
    """
    if width < _MIN_WIDTH:
        return _NO_SUMS
    size = int(_CELL_WIDTHS * width)
    neighbours = math.ceil(_REACH * width / size)
    # a source may lie beyond all integers
    least, most = (min(max(float(u[end]), -2 * _REACH * width), count + 2 * _REACH * width) for end in (0, -1))
    first = max(0, math.floor((least + 0.5) / size) - neighbours)
    last = min(-(-count // size), math.floor((most + 0.5) / size) + neighbours + 1)
    if last <= first:
        return _NO_SUMS
    margin = neighbours + 1
    edges = size * np.arange(first - margin, last + margin + 1, dtype=float) - 0.5
    moments = _compute_moments(u, u_low, masses, u.searchsorted(edges), edges[:-1] + size / 2)
    sums = _apply_kernel(moments[1:-1], width, size, neighbours, min(size, count))
    floor = np.convolve(moments[:, _MASS], _share_masses(margin, size / width), mode="valid")
    trusted = sums >= np.maximum(floor, _SMALLEST)[:, None]
    return first * size, sums.ravel()[: count - first * size], trusted.ravel()[: count - first * size]


@lru_cache(maxsize=2)
def _share_masses(margin: int, widths: float) -> F64:
    """Return the shares of the masses up to so many cells of so many widths away below which no sum is trusted."""
    gaps = np.maximum(np.abs(np.arange(-margin, margin + 1.0)) - 1, 0.0)
    shares: F64 = np.maximum(_NEAR_SHARE * np.exp(-0.5 * (gaps * widths) ** 2), _FAR_SHARE)
    shares.flags.writeable = False  # it is kept
    return shares


def _compute_moments(u: F64, u_low: F64, masses: F64, bounds: I64, centres: F64) -> F64:
    """Return sums of mass y**n over the sources of cells, (cells, 25): y their places from its centre, n `_POWERS`."""
    moments = np.zeros((len(centres), _TERMS))
    # through a reversed view NumPy looks several times as long
    is_uniform = bool((masses[:: -1 if masses.strides[0] < 0 else 1] == 1.0).all())
    for start in range(bounds[0], bounds[-1], _TOGETHER):
        part = slice(start, min(start + _TOGETHER, bounds[-1]))
        cells = slice(bounds.searchsorted(start, side="right") - 1, bounds.searchsorted(part.stop))
        starts = np.minimum(np.maximum(bounds[cells.start : cells.stop + 1], start), part.stop) - start
        sizes = starts[1:] - starts[:-1]
        room = np.zeros(_LONG)  # for a last row that is filled up
        y = np.empty(part.stop - start + len(room))
        y[part.stop - start :] = 0.0
        placed = np.subtract(u[part], centres[cells].repeat(sizes), out=y[: part.stop - start])
        placed += u_low[part]
        weights = None if is_uniform else np.concatenate([masses[part], room])
        before = moments[cells.start].copy()  # of a cell that begins in the part before
        fits = sizes <= _SHORT
        for slots, fitting in ((_SHORT, fits & (sizes > 0)), (_LONG, ~fits)):
            here = fitting.nonzero()[0]
            if len(here):
                moments[cells.start + here] = _sum_rows(y, weights, starts[here], sizes[here], slots)
        moments[cells.start] += before
    return moments


def _sum_rows(y: F64, masses: F64 | None, starts: I64, sizes: I64, slots: int) -> F64:
    """Return the moments of some cells, each laid out in rows of so many sources.

    `masses` is None where all are 1. What fills up a row are the sources behind it, which are finite numbers: their
    places are multiplied by 0, and so is their power 0.
    """
    filled, firsts = sizes, None
    if slots == _LONG:
        rows = -(-sizes // slots)
        ends = rows.cumsum()
        firsts = ends - rows
        last = (starts + sizes).repeat(rows)
        starts = (starts - slots * firsts).repeat(rows) + slots * np.arange(len(last))
        filled = last - starts  # more than `slots` where another row follows
    step = min(_PLACES // slots, len(starts))
    tables = np.empty((2 * _STEP, step * slots + _APART))[:, : step * slots].reshape(2 * _STEP, step, slots)
    products = np.empty((len(starts), _STEP, _STEP))
    for start in range(0, len(starts), step):
        here = slice(start, start + step)
        powers = tables[:, : len(starts[here])]
        # masses that are 1 are power 0 of the places
        fine, coarse = powers[:_STEP], powers[_MASS if masses is None else _STEP :][:_STEP]
        _list_masks(slots).take(filled[here], axis=0, out=fine[_MASS], mode="clip")
        np.multiply(_take_windows(y, starts[here], slots), fine[_MASS], out=fine[_MASS - 1])
        _fill_powers(fine, coarse)
        if masses is not None:
            coarse[0] = _take_windows(masses, starts[here], slots)
            coarse[1:] *= coarse[0]
        np.matmul(coarse.transpose(1, 0, 2), fine.transpose(1, 2, 0), out=products[here])
    moments = products.reshape(-1, _TERMS)
    return moments if firsts is None else np.add.reduceat(moments, firsts, axis=0)


def _take_windows(values: F64, starts: I64, size: int) -> F64:
    """Windows of so many numbers, (starts, size): as records, which NumPy takes in half the time of rows."""
    record = np.dtype(f"V{size * values.itemsize}")
    windows = np.ndarray(len(values) - size + 1, record, values, strides=values.strides)
    return windows[starts].view(values.dtype).reshape(-1, size)


@cache
def _list_masks(slots: int) -> F64:
    """1 in the first 0, 1, .. all slots of a row, 0 in the others: to take them is quicker than to compare places."""
    return np.tri(slots + 1, slots, -1)


def _fill_powers(fine: F64, coarse: F64) -> None:
    """Fill in powers 2, 3, 4 of places `fine[3]`, and 5, 10, 15, 20: squares, which are quickest, where they serve."""
    np.square(fine[3], out=fine[2])
    np.multiply(fine[2], fine[3], out=fine[1])
    np.square(fine[2], out=fine[0])
    np.multiply(fine[0], fine[3], out=coarse[1])
    np.square(coarse[1], out=coarse[2])
    np.multiply(coarse[2], coarse[1], out=coarse[3])
    np.square(coarse[2], out=coarse[4])


def _apply_kernel(moments: F64, width: float, size: int, neighbours: int, points: int) -> F64:
    """Turn the moments of cells and their neighbours into the sums at the points of the inner cells."""
    together = 2 * neighbours + 1
    cells = len(moments) - together + 1
    sums = np.empty((cells, points))
    for start in range(0, points, _POINTS):
        part = slice(start, min(start + _POINTS, points))
        kernels = _expand_kernel(width, size, neighbours, part.start, part.stop)
        for first in range(min(together, cells)):
            # rows that do not overlap: the moments of every seventh cell, say, and those of its neighbours
            rows = -(-(cells - first) // together)
            ranges = moments[first : first + together * rows].reshape(rows, -1)
            np.matmul(ranges, kernels, out=sums[first::together, part])
    return sums


@lru_cache(maxsize=2)
def _expand_kernel(width: float, size: int, neighbours: int, start: int, stop: int) -> F64:
    """Return what the moments of a cell and its neighbours, all in one row, add at its points start..stop-1.

    Those of the last two widths are kept: of a width whose cells have more points than one product none is found again.
    """
    nodes, to_chebyshev = compute_chebyshev(_TERMS)
    shifts = np.arange(-neighbours, neighbours + 1)[:, None, None]
    distance = (np.arange(start, stop) + 0.5) / size - (shifts + (nodes[:, None] + 1) / 2)
    kernels: F64 = _expand_chebyshev() @ (to_chebyshev @ np.exp(-0.5 * (distance * (size / width)) ** 2))
    kernels /= (size / 2) ** np.arange(_TERMS)[:, None]  # nodes reach from -1 to 1, places from -size/2 to size/2
    kernels = kernels[:, _POWERS].reshape(-1, stop - start)
    kernels.flags.writeable = False  # it is kept
    return kernels


@cache
def compute_chebyshev(count: int) -> tuple[F64, F64]:
    """Return the Chebyshev nodes in [-1, 1] and the matrix from values there to Chebyshev coefficients.

    >>> nodes, matrix = compute_chebyshev(3)
    >>> np.round(matrix @ nodes**2, 12) + 0.0  # x**2 = 1/2 T_0 + 1/2 T_2
    array([0.5, 0. , 0.5])
    """
    odd, quarter = 2 * np.arange(count) + 1, np.pi / (2 * count)
    # angles by whole numbers, less whole turns: those of several turns would be wrong by their rounding
    matrix = np.cos(np.arange(count)[:, None] * odd % (4 * count) * quarter) * (2 / count)
    matrix[0] /= 2
    nodes = np.cos(odd * quarter)
    nodes.flags.writeable = matrix.flags.writeable = False  # each is made once
    return nodes, matrix


@cache
def _expand_chebyshev() -> F64:
    """Return the matrix from Chebyshev coefficients to those of y**n.

    It is applied after the one to Chebyshev coefficients, never multiplied with it: only between the
    two are the large entries of this one harmless, since those coefficients fall faster than they grow.
    """
    powers = np.zeros((_TERMS, _TERMS))  # powers[n, t]: coefficient of y**t in T_n
    powers[0, 0] = powers[1, 1] = 1.0
    for n in range(2, _TERMS):
        powers[n, 1:] = 2 * powers[n - 1, :-1]
        powers[n] -= powers[n - 2]
    return powers.T
