"""The dot-product kernel of any encoding: exact where it is a formula, else a mean over the pairs at each lag."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.encodings import Encoding, HasBias, HasBiasMap, HasKernel, HasLagTable, HasTable
from pe_spectra.encodings.codes import read_codes, read_grid_codes
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, find_largest
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_LENGTH, MIN_LENGTH
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.spectrum.gram import compute_gram_kernel, compute_grid_kernel, count_grid_pairs, measure_toeplitz_share

LENGTH = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_LENGTH)
SOURCES = {
    "exact": "its kernel is a formula of the lag",
    "exp-bias": "kernel exp(b) of the bias b, relative to the largest",
    "bias-map": "kernel exp(b), the mean over all pairs at each lag, since b is not a function of the lag",
    "lag-rows": "mean dot product of the rows of lags, by their distance",
    "gram-diagonals": "mean dot product of the position vectors at each lag",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel(ReadOnly):
    """Similarity of two positions as a function of their lag.

    Attributes
    ----------
    values : (heads, L) at lags 0 .. L-1; on a grid (heads, 2 H - 1, 2 W - 1), offset (0, 0) in the middle.
    source : "exact", "exp-bias", "bias-map", "lag-rows" or "gram-diagonals".
    length : number of positions that were averaged over; None where the kernel is exact.
    toeplitz_share : how much of the energy of all similarities is a function of the lag alone; None
        where it was not averaged.
    scale : what codes were divided by so that their products stay in range; 1 for all but huge or tiny ones.

    >>> from pe_spectra import Dft, estimate_kernel
    >>> kernel = estimate_kernel(Dft(d=4), length=3)
    >>> kernel.values.round(12) + 0.0, kernel.source
    (array([[1., 0., 0.]]), 'exact')
    """

    values: F64
    source: str
    length: int | None = None
    toeplitz_share: float | None = None
    scale: float = 1.0


def describe_kernel(encoding: Encoding, source: str, length: int | None) -> str:
    """Say where a kernel comes from, and of an average over which positions.

    Parameters
    ----------
    encoding : whose kernel it is.
    source, length : as of its :class:`Kernel`.

    >>> from pe_spectra import read_encoding
    >>> describe_kernel(read_encoding("calendar"), "gram-diagonals", 192)
    'mean dot product of the position vectors at each lag, over positions 0 .. 191 (192 positions)'
    """
    over = describe_average(encoding, source, length)
    return SOURCES[source] + (f", over {over}" if over else "")


def describe_average(encoding: Encoding, source: str, length: int | None) -> str:
    """Name the positions, places of a grid, or lags that a kernel was averaged over; empty where it was not.

    >>> from pe_spectra import Dft, read_encoding
    >>> describe_average(read_encoding("sincos2d:d=16,height=4,width=6"), "gram-diagonals", 24)
    'the 4 x 6 places of the grid'
    >>> describe_average(read_encoding("shaw"), "lag-rows", 159), describe_average(Dft(), "exact", None)
    ('lags -79 .. 79 (159 lags)', '')
    """
    if length is None:
        return ""
    if encoding.shape is not None and length == math.prod(encoding.shape):
        return f"the {' x '.join(map(str, encoding.shape))} places of the grid"
    things, first = "positions", 0
    if source == "lag-rows":
        things, first = "lags", 0 if getattr(encoding, "causal", False) else -(length // 2)
    if length == 1:
        return f"{things[:-1]} {first} alone"
    most = encoding.rows if things == "positions" else None
    of = f" of {most}" if most is not None and most > length else ""
    return f"{things} {first} .. {first + length - 1} ({length}{of} {things})"


def check_length(encoding: Encoding, length: int | None) -> int:
    """Return the number of positions: `length`, or the encoding's own.

    Raises
    ------
    InputError : out of range, or more than the encoding has.

    >>> from pe_spectra.encodings.absolute import OneHot
    >>> check_length(OneHot(d=8), None), check_length(OneHot(d=8), 4)
    (8, 4)
    """
    size = encoding.default_length if length is None else LENGTH.check(length, "length")
    if encoding.rows is not None and size > encoding.rows:
        raise InputError("length is beyond the rows of the encoding", str(size), f"1 to {encoding.rows} is accepted")
    return size


def estimate_kernel(
    encoding: Encoding, *, length: int | None = None, count: int | None = None, codes: F64 | None = None
) -> Kernel:
    """Return the kernel k(tau) of an encoding on a line.

    Parameters
    ----------
    encoding : anything with a kernel, a bias, rows for lags, or a table.
    length : number of positions to average over; default all rows of a table, 80 of a formula.
    count : how many lags, from 0 on; fewer where there are none to average. Default `length`.
    codes : (length, d) of the positions of a table, where they were read already.

    Raises
    ------
    InputError : an encoding without any of these, or a length out of range.

    >>> from pe_spectra import Sinusoidal
    >>> estimate_kernel(Sinusoidal(d=4), count=2).values.round(4)
    array([[2.    , 1.5403]])
    """
    size = check_length(encoding, length)
    lags = size if count is None else count
    if isinstance(encoding, HasKernel):
        return Kernel(values=encoding.kernel(np.arange(lags)), source="exact")
    if isinstance(encoding, HasBias):
        return _exponentiate_bias(encoding, min(lags, encoding.rows or lags), encoding.kernel_count)
    if isinstance(encoding, HasBiasMap):
        return _average_map(encoding, size, min(lags, size))
    if isinstance(encoding, HasLagTable):
        first = 0 if encoding.causal else 1 - size
        return _average_table(encoding.lag_table(np.arange(first, size)), lags, "lag-rows")
    return _average_table(read_codes(encoding, size) if codes is None else codes, lags, "gram-diagonals")


def estimate_grid_kernel(encoding: Encoding, codes: F64 | None = None) -> Kernel:
    """Return the kernel of an encoding on a grid, by offset (dy, dx); special rows before the grid are left out.

    Parameters
    ----------
    codes : (H W, d) of the places of a table, where they were read already.

    Raises
    ------
    InputError : an encoding without a grid, or without a table or a bias on it.

    >>> from pe_spectra import read_encoding
    >>> kernel = estimate_grid_kernel(read_encoding("sincos2d:d=16,height=4,width=4"))
    >>> kernel.values.shape, kernel.source
    ((1, 7, 7), 'gram-diagonals')
    """
    shape = encoding.shape
    if shape is None:
        raise InputError("this encoding fills no grid", encoding.label, "grid=HxW gives a table one")
    if isinstance(encoding, HasTable):
        codes, scale = _bound(read_grid_codes(encoding, shape) if codes is None else codes)
        plane = compute_grid_kernel(codes, shape)
        share = measure_toeplitz_share(codes, shape, kernel=plane)
        return Kernel(values=plane[None], source="gram-diagonals", length=len(codes), toeplitz_share=share, scale=scale)
    if isinstance(encoding, HasBiasMap):
        cells = shape[0] * shape[1]
        maps = _exponentiate(encoding.bias_map(cells))
        values = np.stack([_average_offsets(one, shape) for one in maps])
        return Kernel(values=values, source="bias-map", length=cells)
    raise InputError("this encoding has no kernel on a grid", encoding.label)


def _exponentiate(bias: F64, *, hides_later_keys: bool = False) -> F64:
    # relative to the largest of each head: a softmax does not see what all have in common
    seen = np.tri(*bias.shape[1:]) > 0 if hides_later_keys else np.ones([1] * bias.ndim, dtype=np.bool_)
    top = bias.max(axis=tuple(range(1, bias.ndim)), keepdims=True, where=seen, initial=-np.inf)
    values: F64 = np.subtract(bias, top)
    if hides_later_keys:
        np.copyto(values, -np.inf, where=~seen)  # what a map holds for them is no bias
    return np.exp(values, out=values)  # in place: a map may be the largest array that may be held


def _exponentiate_bias(encoding: HasBias, lags: int, heads: int) -> Kernel:
    sides = 1 if encoding.causal else 2
    if sides * lags * heads > MAX_HELD_ENTRIES:
        accepted = f"{MAX_HELD_ENTRIES} numbers; a larger bandwidth spans fewer lags"
        raise InputError("the bias is too large to hold", f"{sides * lags} lags x {heads} heads", accepted)
    values = _exponentiate(encoding.bias(np.arange(0 if encoding.causal else 1 - lags, lags)))
    if not encoding.causal:  # the even part: a spectrum of similarity has no side
        values = (values[:, lags - 1 :] + values[:, lags - 1 :: -1]) / 2
    return Kernel(values=values, source="exp-bias")


def _average_map(encoding: HasBiasMap, size: int, lags: int) -> Kernel:
    maps = _exponentiate(encoding.bias_map(size), hides_later_keys=encoding.causal)
    values = np.empty((len(maps), lags))
    for lag in range(lags):
        before = np.diagonal(maps, -lag, axis1=1, axis2=2)
        after = before if encoding.causal else np.diagonal(maps, lag, axis1=1, axis2=2)
        values[:, lag] = (before.mean(axis=1) + after.mean(axis=1)) / 2
    return Kernel(values=values, source="bias-map", length=size)


def _average_table(table: F64, lags: int, source: str) -> Kernel:
    table, scale = _bound(table)
    kernel = compute_gram_kernel(table)  # the share asks for all lags
    share = measure_toeplitz_share(table, kernel=kernel)
    return Kernel(values=kernel[None, :lags], source=source, length=len(table), toeplitz_share=share, scale=scale)


def _bound(table: F64) -> tuple[F64, float]:
    # squares would leave the range of float64; a scale is not in a spectrum
    largest = find_largest(table)
    return (table / largest, largest) if largest > 0 and not 1e-100 < largest < 1e100 else (table, 1.0)


def _average_offsets(one: F64, shape: tuple[int, int]) -> F64:
    """Mean of a map between the places of a grid, by offset."""
    height, width = shape
    sums = np.zeros((2 * height - 1, 2 * width - 1))
    places = one.reshape(height, width, height, width)
    for y in range(height):
        for x in range(width):
            sums[height - 1 - y : 2 * height - 1 - y, width - 1 - x : 2 * width - 1 - x] += places[y, x]
    means = sums / count_grid_pairs(shape)
    return (means + means[::-1, ::-1]) / 2
