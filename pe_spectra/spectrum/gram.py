"""What the Gram matrix of a table shows, without the matrix: its mean diagonals, their share, whether rows fill a grid.

k(tau) is the mean of <e(s), e(s + tau)> over all s, a sum of autocorrelations of columns: zero-padded
transforms in O(S d log S) time and O(S) memory beside the table. On a grid that is written one row after the
other every offset is one lag of the line, but one lag is two offsets: a step within a row of the grid, and a
step that wraps. Where the wrap matters, the two Toeplitz shares tell a grid from a line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pe_spectra.encodings.parameters import Value
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, find_largest

#: The last lags are few pairs, whose mean would magnify the rounding of a transform: they are summed directly.
_LAST = 256
#: Rows of a transform to the pairs of a lag, at most: lags of fewer pairs take a transform of fewer rows.
_SHARE = 16
#: Numbers of one block of padded columns: it stays in the cache.
_BLOCK = 1 << 17
#: Columns that are read together at least, as many as a line of the cache has numbers, and rows of them at a time.
_COLUMNS, _STRETCH = 8, 1024
#: A grid explains at least this much more of the centred Gram matrix than a line, as a share of what it explains and
#: beyond what grids of other widths do, those up to so many places narrower and wider; by chance once in a thousand.
_GAIN, _WIDTHS, _CHANCE = 0.03, 3, 1e-3
#: Columns that this is measured on; standard errors that a peak of the kernel at the width of a grid stands out by.
_MOST_COLUMNS, _ERRORS = 128, 5.0
#: Rows that differ by no more of their largest number are one constant and its rounding.
_CONSTANT = 1e-14
#: Sides of grids that are looked for: smaller ones have too few wraps to tell, larger ones are no patches.
_SIDES = (3, 128)


def compute_gram_kernel(table: F64, count: int | None = None) -> F64:
    """Return the mean dot product of two rows by their lag 0 .. count-1.

    Parameters
    ----------
    table : (S, d), finite; count : how many lags, 1 to S; default S.

    Returns
    -------
    (count,) mean over all pairs of rows at that lag; right to 1e-13 of the largest squared norm of a row, which is
    k(0) where all rows have one norm.

    Raises
    ------
    InputError : more lags than the table has.

    >>> compute_gram_kernel(np.array([[1.0], [2.0], [3.0]]))
    array([4.66666667, 4.        , 3.        ])
    """
    rows = len(table)
    lags = rows if count is None else count
    if not 1 <= lags <= rows:
        raise InputError("more lags than the table has", str(lags), f"1 to {rows}")
    pairs = np.arange(rows, rows - lags, -1)
    kernel: F64 = _sum_products(table, lags) / pairs
    width = rows // _SHARE
    while width > _LAST and lags > (first := rows - width):
        # from here on the pairs are of one of the first and one of the last `width` rows
        kernel[first:] = _correlate(table[:width], table[first:], lags - first) / pairs[first:]
        width //= _SHARE
    first = max(0, rows - _LAST)
    if lags > first:
        products = table[: rows - first] @ table[first:].T
        kernel[first:] = [np.trace(products, offset) for offset in range(lags - first)] / pairs[first:]
    return kernel


def _sum_products(table: F64, lags: int) -> F64:
    """Sum the products of rows at each lag, by segments several times as long as the largest lag."""
    rows = len(table)
    segment = rows if 2 * lags > rows else min(rows, max(8 * lags, 4096))
    total = np.zeros(lags)
    for start in range(0, rows, segment):
        stop = min(rows, start + segment)
        total += _correlate(table[start:stop], None, lags)
        if stop < rows and lags > 1:
            # pairs of the last rows of this segment and the first of the next
            tail, head = table[stop - lags + 1 : stop], table[stop : stop + lags - 1]
            total += _correlate(tail, np.concatenate([np.zeros_like(tail), head]), lags)
    return total


def _correlate(first: F64, second: F64 | None, lags: int) -> F64:
    """Sum the products of row s of `first` and row s + tau of `second` (default the same), shape (lags,)."""
    tables = (first,) if second is None else (first, second)
    size = _find_quick_length(max(len(tables[-1]), len(first) + lags))
    step = max(_COLUMNS, _BLOCK // size)
    power = np.zeros(size // 2 + 1, dtype=np.complex128)
    squares = power.view(np.float64)
    for column in range(0, first.shape[1], step):
        spectra = []
        for table in tables:
            columns = table[:, column : column + step]
            turned = np.empty(columns.shape[::-1])
            for start in range(0, len(columns), _STRETCH):
                turned[:, start : start + _STRETCH] = columns[start : start + _STRETCH].T
            spectra.append(np.fft.rfft(turned, size))
        if second is None:
            squares += np.square(spectra[0].view(np.float64)).sum(axis=0)  # of real and imaginary parts, in turns
        else:
            power += np.einsum("ij,ij->j", np.conj(spectra[0]), spectra[1])
    summed: F64 = np.fft.irfft(power if second is not None else squares[::2] + squares[1::2], size)[:lags]
    return summed


def compute_grid_kernel(table: F64, shape: tuple[int, int]) -> F64:
    """Return the mean dot product of two rows by their offset on the grid that they fill in reading order.

    Parameters
    ----------
    table : (H W, d), finite.
    shape : (H, W).

    Returns
    -------
    (2 H - 1, 2 W - 1), the offset (0, 0) in the middle; k(-dy, -dx) = k(dy, dx), exactly.

    Raises
    ------
    InputError : the rows do not fill the grid.

    >>> compute_grid_kernel(np.eye(4), (2, 2))
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    height, width = shape
    if height * width != len(table):
        raise InputError("the rows do not fill the grid", f"{len(table)} rows", f"{height} x {width}")
    sizes = _find_quick_length(2 * height - 1), _find_quick_length(2 * width - 1)
    planes = table.T.reshape(-1, height, width)
    step = max(_COLUMNS, _BLOCK // (sizes[0] * sizes[1]))
    power = np.zeros((sizes[0], sizes[1] // 2 + 1))
    for first in range(0, len(planes), step):
        spectrum = np.fft.rfft2(planes[first : first + step], sizes)
        power += np.sum(spectrum.real**2 + spectrum.imag**2, axis=0)
    summed = np.roll(np.fft.irfft2(power, sizes), (height - 1, width - 1), axis=(0, 1))
    kernel: F64 = summed[: 2 * height - 1, : 2 * width - 1] / count_grid_pairs(shape)
    return (kernel + kernel[::-1, ::-1]) / 2


def count_grid_pairs(shape: tuple[int, int]) -> F64:
    """Return how many pairs of places there are at each offset, shape (2 H - 1, 2 W - 1).

    >>> count_grid_pairs((2, 2))[0].tolist()
    [1.0, 2.0, 1.0]
    """
    height, width = shape
    vertical = height - np.abs(np.arange(1.0 - height, height))
    pairs: F64 = np.multiply.outer(vertical, width - np.abs(np.arange(1.0 - width, width)))
    return pairs


def measure_toeplitz_share(
    table: F64, shape: tuple[int, int] | None = None, *, kernel: F64 | None = None
) -> float | None:
    """Return how much of the Gram matrix's energy is a function of the lag (on a grid, of the offset) alone.

    With T the mean of the Gram matrix G along its diagonals: ||T||**2 / ||G||**2, Frobenius norms; 1
    for an encoding whose dot products depend on the lag alone. Since T is an orthogonal projection
    of G, the rest is what an average along diagonals hides. None for a table of zeros.

    Parameters
    ----------
    table : (S, d); shape : (H, W) of the grid that the rows fill, or None for a line.
    kernel : T of this table by lag, or by offset, where it was computed already.

    >>> measure_toeplitz_share(np.eye(4)), round(measure_toeplitz_share(np.array([[1.0], [0.0], [0.0]])), 3)
    (1.0, 0.333)
    """
    largest = find_largest(table)
    if not largest > 0:
        return None
    # a copy only where fourth powers would leave the range of float64: the table may be large
    scaled = table if 1e-50 < largest < 1e50 else table / largest
    gram = scaled @ scaled.T if len(scaled) < scaled.shape[1] else scaled.T @ scaled
    energy = float(np.sum(gram * gram))
    if kernel is not None and scaled is not table:
        kernel = kernel / largest / largest
    if shape is None:
        kernel = compute_gram_kernel(scaled) if kernel is None else kernel
        pairs = 2.0 * np.arange(len(scaled), 0, -1)
        pairs[0] /= 2
    else:
        kernel = compute_grid_kernel(scaled, shape) if kernel is None else kernel
        pairs = count_grid_pairs(shape)
    return min(1.0, float(np.sum(pairs * kernel**2)) / energy)


def _find_quick_length(least: int) -> int:
    """The smallest length from `least` on whose only prime factors are 2, 3 and 5: transforms of it are quick."""
    powers = range(least.bit_length())
    odd = [int(3**three * 5**five) for three in powers for five in powers]
    return min(one << (-(-least // one) - 1).bit_length() for one in odd)


# --------------------------------------------------------------------- whether rows fill a grid


def _measure_fold(codes: F64, side: int) -> tuple[float, float, float]:
    """What speaks for a grid of `side` x `side` places, of codes (side**2, d).

    Any grid explains more of a Gram matrix than a line does, for it has more offsets than that has lags; so one is held
    against grids that are narrower or wider by up to three places.

    Returns
    -------
    (share of the grid - share of the line) / share of the grid, of the centred Gram matrix, less its mean over the
    other widths; that in standard deviations over these; and by how many standard errors the kernel at lag `side`
    stands above both of its neighbours.
    """
    codes = codes[:, :: -(-codes.shape[1] // _MOST_COLUMNS) or 1]
    centred = codes / (find_largest(codes) or 1.0)  # so that no square leaves the range of float64
    centred -= centred.mean(axis=0)
    if not find_largest(centred) > _CONSTANT:
        return 0.0, 0.0, 0.0
    others = [side + more for more in range(-_WIDTHS, _WIDTHS + 1) if more and side + more >= 2]
    gain, *usual = (_measure_gain(centred, width) for width in (side, *others))
    lead, spread = gain - float(np.mean(usual)), float(np.std(usual, ddof=1))
    kernel = compute_gram_kernel(centred, side + 2)
    error = kernel[0] / math.sqrt(centred.size)
    peak = float((kernel[side] - max(kernel[side - 1], kernel[side + 1])) / error)
    return lead, lead / max(spread, _CONSTANT), peak


def _measure_gain(centred: F64, width: int) -> float:
    """What a grid of this width explains beyond a line, as a share of what it explains; of whole lines of it."""
    height = len(centred) // width
    whole = centred[: height * width]
    plane, line = measure_toeplitz_share(whole, (height, width)), measure_toeplitz_share(whole)
    return (plane - line) / plane if plane and line is not None else 0.0


def _is_grid(deviations: float, peak: float, widths: int, chance: float) -> bool:
    """Whether one width leads the others by more than it would by chance: Student's distribution of one more draw.

    A peak of the kernel, which noise in few columns has in one of ten tables, makes a lesser lead enough.
    """
    from scipy.special import stdtrit

    chance = max(chance, 10 * _CHANCE) if peak > _ERRORS else chance
    return deviations > float(stdtrit(widths - 1, 1 - chance)) * math.sqrt(1 + 1 / widths)


def settle_grid(table: F64, values: Mapping[str, Value]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Find the grid that a table's rows fill, where none is named.

    Parameters
    ----------
    table : (rows, d), as a file has it.
    values : what was given: first, last, prefix, grid.

    Returns
    -------
    The values with what was found, and a sentence about it. A grid that only the number of rows speaks for is named in
    the sentence alone.

    >>> import numpy as np
    >>> settle_grid(np.eye(6), {"grid": "2x3"})
    ({'grid': '2x3'}, ())
    """
    found = dict(values)
    if "grid" in values:
        return found, ()
    first, last, prefix = (values.get(name) for name in ("first", "last", "prefix"))
    start = (first if isinstance(first, int) else 0) + (prefix if isinstance(prefix, int) else 0)
    codes = table[start : last if isinstance(last, int) else None]
    proposed, chance = _propose_grids(codes, (0,) if prefix is not None else (0, 1))
    for skipped, height, width in proposed:
        lead, deviations, peak = _measure_fold(codes[skipped:], width)
        rows, grid, named = f"{height * width} rows", f"{height}x{width}", f"a grid of {height} x {width}"
        if lead > _GAIN and _is_grid(deviations, peak, 2 * _WIDTHS - max(0, _WIDTHS + 2 - width), chance):
            found["grid"] = grid
            if skipped:
                found["prefix"] = skipped
            rows += " after one special row (prefix=1)" if skipped else ""
            return found, (f"{rows} are read as {named} (grid={grid}; grid=none reads a line)",)
        if peak > _ERRORS:
            return found, (f"{rows} could be {named}, but are read as a line; grid={grid} says so",)
    return found, ()


def _propose_grids(codes: F64, skipped: Sequence[int]) -> tuple[list[tuple[int, int, int]], float]:
    """List (rows in front, height, width) of the grids that are tried: the one whose wraps lead, else squares.

    With the chance at which the Gram matrix has to show it, too: the root of it where the wraps do.

    Where a grid is written line by line, every W-th step goes from the end of a line to the next one's start, and is
    longer. Of a multiple of W steps within are so, too, and of a part of it some at the ends are not.
    """
    shapes = [(first, size, width) for first in skipped for size, width in _list_shapes(len(codes) - first)]
    if not shapes:
        return [], _CHANCE
    few = codes[:, :: -(-codes.shape[1] // _MOST_COLUMNS) or 1]
    steps = np.linalg.norm(np.diff(few / (find_largest(few) or 1.0), axis=0), axis=1)
    leads = {one: _measure_wraps(steps[one[0] :], one[2]) for one in shapes}
    best = max(shapes, key=lambda one: leads[one])
    if leads[best] > _find_lead(len(shapes)) and _is_alone(steps[best[0] :], best[2]):
        return [best], math.sqrt(_CHANCE)
    return [one for one in shapes if one[1] == one[2]], _CHANCE


def _list_shapes(count: int) -> list[tuple[int, int]]:
    """List the heights and widths of grids of so many places."""
    least, most = _SIDES
    sides = range(least, min(most, count // least) + 1)
    return [(count // width, width) for width in sides if count % width == 0 and least <= count // width <= most]


def _measure_wraps(steps: F64, width: int) -> float:
    """By how many standard errors steps at the ends of lines are longer than those within, of one variance."""
    ends = np.arange(1, len(steps) + 1) % width == 0
    there, within = steps[ends], steps[~ends]
    squares = float(np.square(there - there.mean()).sum() + np.square(within - within.mean()).sum())
    error = math.sqrt(squares / max(len(steps) - 2, 1) * (1 / len(there) + 1 / len(within)))
    return float(there.mean() - within.mean()) / max(error, _CONSTANT)


def _is_alone(steps: F64, width: int) -> bool:
    """Whether steps are long at the ends of lines alone: those of a period that is no grid grow and shrink on the way.

    The mean of the steps at one place of a line is held against those at the others, by Student's distribution.
    """
    from scipy.special import stdtrit

    places = np.arange(1, len(steps) + 1) % width
    last, *others = (float(steps[places == place].mean()) for place in range(width))
    spread = max(float(np.std(others, ddof=1)), _CONSTANT)
    limit = float(stdtrit(width - 2, 1 - math.sqrt(_CHANCE))) * math.sqrt(1 + 1 / (width - 1))
    return last - float(np.mean(others)) > limit * spread


def _find_lead(count: int) -> float:
    """Standard errors that the best of `count` shapes has by chance once in a thousand tables without a grid."""
    from statistics import NormalDist  # scipy.special takes as long to load as all else that reads a table

    return -NormalDist().inv_cdf(_CHANCE / count)
