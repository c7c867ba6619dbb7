"""What surrounds a peak of a spectrum summed over columns: how many columns it counts as, its level, and their errors.

Columns that are copies or mixtures of a few count as few: their summed periodogram scatters as that of a few
columns does, and noise alone makes high peaks in it. Neighbouring bins of noise are independent vectors of the
columns' covariance C, so that the products of several of them tell tr C^2 and tr C^3 without C.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import C128, F64, NDArray
from pe_spectra.ordering import find_median
from pe_spectra.records import NamedTuple

#: Chance that noise alone gives a table a period. Two bins a cycle over the table are tried (a peak between bins is
#: looked for, too), so that one of S rows has S tries.
_CHANCE = 1e-3
#: A line is this many times what surrounds it at least: below, a bump of a smooth spectrum may be as high.
LEAST_RATIO = 3.0
#: Bins of a Hann-tapered spectrum are correlated, 2/3 and 1/6 at one and two apart along each axis: n count as n over
#: the sum of the squares; from three apart on they are independent.
_HANN_SQUARES, HANN_APART = 1 + 2 * (2 / 3) ** 2 + 2 * (1 / 6) ** 2, 3
#: A continuum falls no faster than the side lobes of the Hann window, 1 / f**6, and does not rise; steps of its fit;
#: one in so many bins of noise is above what a bin may count as.
_STEEPEST, _PASSES, _RARE = 6.0, 12, 0.01


def measure_distances(cycles: F64, one: F64, shape: tuple[int, ...]) -> F64:
    """Return the cycles from frequencies (n, axes) to another, or to what it is the same as: mirrored, or beyond pi.

    >>> measure_distances(np.array([[7.0], [1.0]]), np.array([-2.0]), (10,)).tolist()
    [1.0, 1.0]
    """
    ways = [way - np.round(way / shape) * shape for way in (cycles - one, cycles + one)]
    return np.asarray(np.min([np.linalg.norm(way, axis=1) for way in ways], axis=0))


class Bins(NamedTuple):
    """Bins of a spectrum, one of each two that are conjugate: cycles over each side (n, axes), Fourier coefficients."""

    cycles: F64
    vectors: C128
    shape: tuple[int, ...]
    rest: float

    @property
    def powers(self) -> F64:
        """Sum over columns, (n,), those that were left out among them."""
        return np.asarray(np.einsum("ij,ij->i", self.vectors, self.vectors.conj()).real + self.rest)

    def take(self, places: NDArray[np.bool_]) -> Bins:
        """Some of the bins."""
        return self._replace(cycles=self.cycles[places], vectors=self.vectors[places])

    def take_nearest(self, cycles: F64, count: int, clear: float) -> Bins:
        """Those nearest to a frequency, from `clear` cycles on; of equally near ones all: no axis comes first."""
        distances = measure_distances(self.cycles, cycles, self.shape)
        farther = np.sort(distances[distances >= clear])[:count]
        return self.take((distances >= clear) & (distances <= farther.max(initial=0.0) + 1e-9))


def find_bins(values: F64, shape: tuple[int, ...], rest: float) -> Bins:
    """Transform values (S, c) of a line or a grid; without bins that are their own conjugates, as of frequency 0.

    >>> find_bins(np.ones((6, 1)), (6,), 0.0).cycles.tolist(), len(find_bins(np.ones((16, 1)), (4, 4), 0.0).cycles)
    ([[1.0], [2.0]], 6)
    """
    axes = tuple(range(len(shape)))
    spectrum = np.fft.rfftn(values.reshape(*shape, -1), axes=axes).reshape(-1, values.shape[1])
    sides = [*(np.fft.fftfreq(size, 1 / size) for size in shape[:-1]), np.fft.rfftfreq(shape[-1], 1 / shape[-1])]
    cycles = np.stack([axis.ravel() for axis in np.meshgrid(*sides, indexing="ij")], axis=1)
    last = cycles[:, -1]
    inner = (last > 0) & (2 * last < shape[-1])
    edge = np.zeros_like(inner) if len(shape) == 1 else ~inner & (cycles[:, 0] > 0) & (2 * cycles[:, 0] < shape[0])
    kept = np.flatnonzero(inner | edge)
    return Bins(cycles[kept], spectrum[kept] / math.sqrt(len(values)), shape, rest)


class Level(NamedTuple):
    """A level of noise, and how many independent squares of complex numbers it is as sure as."""

    value: float
    squares: float


def count_columns(bins: Bins, apart: int = 1) -> float:
    """Count the independent columns of equal strength that noise scatters like, from 1 up.

    With c2 = tr C^2 / (tr C)^2 and c3 = tr C^3 / (tr C)^3, sum_i lambda_i E_i of unit exponential E_i has the variance
    and the skewness of a gamma variable, shifted, with the shape h = c2^3 / c3^2; h never exceeds
    1/c2 = (tr C)^2 / tr C^2, equals it for columns of equal strength, and is that of the strongest ones where some
    are much stronger, which alone make the tail. Unit vectors u_j of independent bins have
    E |<u_i, u_j>|^2 = c2 and E <u_i, u_j> <u_j, u_k> <u_k, u_i> = c3, nearly.

    Parameters
    ----------
    bins : beside each other; the columns that were left out are taken to be many.
    apart : bins closer than this along all axes are correlated, and are not compared.

    References
    ----------
    Pearson 1959, Biometrika 46, 364 (three moments of a quadratic form); Satterthwaite 1946, Biometrics Bull. 2, 110.

    >>> noise = np.random.default_rng(0).normal(size=(64, 8))
    >>> [round(count_columns(find_bins(some, (64,), 0.0)), 6) for some in (noise, noise[:, :1] * np.ones(8))]
    [8.041219, 1.0]
    """
    bins = bins.take(bins.powers > 0)
    scaled = bins.vectors / np.sqrt(bins.powers[:, None])
    apart_by = np.abs(bins.cycles[:, None] - bins.cycles).max(axis=2, initial=0.0)
    compared = (apart_by >= apart).astype(np.float64)
    products = (scaled @ scaled.conj().T) * compared
    pairs, triples = float(compared.sum()), float(np.trace(compared @ compared @ compared))
    if pairs == 0 or triples == 0:
        return 1.0
    second = float(np.sum(np.abs(products) ** 2)) / pairs
    third = float(np.trace(products @ products @ products).real) / triples
    # Cauchy and Schwarz: c2^2 <= c3 <= c2^1.5; what is measured scatters
    third = min(max(third, second**2), second**1.5)
    return max(1.0, second**3 / third**2) if third > 1e-30 else 1e10


def find_ratio(columns: float, squares: float, tries: int) -> float:
    """Return how many times its level a peak is that noise has, in one of `tries` places, once in a thousand tables.

    A bin of noise is gamma with the shape `columns`, its level gamma with the shape `squares`, both of one mean: their
    ratio has Fisher's distribution of twice as many degrees of freedom. A level that is less sure than that of a few
    squares was fitted to what is no noise; its logarithm is then taken to be normal, which has lighter tails.

    >>> round(find_ratio(1, math.inf, 1), 2), round(find_ratio(1, 5, 1), 2), find_ratio(100, math.inf, 1)
    (6.91, 14.91, 3.0)
    """
    from scipy.special import fdtri, gammainccinv, ndtri

    chance = max(_CHANCE / tries, 1e-14)
    ratio = float(gammainccinv(columns, chance)) / columns
    if math.isfinite(squares):
        by_level = ratio * math.exp(min(-float(ndtri(chance)) / math.sqrt(squares), 500.0))
        ratio = min(float(fdtri(2 * columns, 2 * squares, 1 - chance)), by_level)
    return max(LEAST_RATIO, ratio)


def find_median_level(powers: F64, columns: float) -> float:
    """Return the mean of noise from the median of its bins, which a few lines among them do not move.

    >>> round(find_median_level(np.random.default_rng(0).exponential(size=9001), 1.0), 1)
    1.0
    """
    from scipy.special import gammaincinv

    return float(find_median(powers)) * columns / float(gammaincinv(columns, 0.5))


def find_continuum(power: F64, reach: int) -> F64:
    """Return a power of the frequency fitted, by logarithms, to `reach` bins on either side of each; (n,) as `power`.

    >>> float(find_continuum(np.maximum(np.arange(9.0), 1) ** -2, 3)[4].round(9))
    0.0625
    """
    x, y = np.log(np.maximum(np.arange(len(power)), 1)), np.log(np.maximum(power, 1e-300))
    first = np.clip(np.arange(len(x)) - reach, 1, max(len(x) - 2 * reach - 1, 1))
    last = np.minimum(first + 2 * reach + 1, len(x))
    sums = [np.concatenate([[0.0], np.cumsum(one)]) for one in (np.ones_like(x), x, y, x * x, x * y)]
    count, sum_x, sum_y, squares, products = (one[last] - one[first] for one in sums)
    spread = squares - sum_x**2 / count
    slope = np.clip((products - sum_x * sum_y / count) / np.maximum(spread, 1e-9), -_STEEPEST, 0.0)
    level: F64 = np.exp(sum_y / count + slope * (x - sum_x / count))
    return level


def predict_level(bins: Bins, cycles: F64, columns: float) -> Level:
    """Return the level at a frequency of a continuum, a power of the frequency fitted to Hann-tapered bins around.

    The fit is the likeliest one for gamma variables of the shape `columns`, by a regression of the scores (P - m)/m
    on ln f; bins that one in a hundred of noise is above are lines, and count as no more than that.

    Parameters
    ----------
    bins : 3 and more; cycles : (axes,) of the frequency.

    References
    ----------
    McCullagh & Nelder 1989, Generalized Linear Models, chapter 8 (gamma variables, logarithmic link).

    >>> bins = find_bins(np.random.default_rng(0).normal(size=(400, 50)), (400,), 0.0)
    >>> round(predict_level(bins, np.array([20.0]), 50.0).value / 50, 1)
    1.0
    """
    from scipy.special import gammainccinv

    x, powers = np.log(np.linalg.norm(bins.cycles, axis=1)), np.maximum(bins.powers, 1e-300)
    middle, most = float(x.mean()), float(gammainccinv(columns, _RARE)) / columns
    x, at = x - middle, math.log(float(np.linalg.norm(cycles))) - middle
    width, fitted = max(float(x @ x), 1e-9), np.full(len(x), float(np.log(powers).mean()))
    for _ in range(_PASSES):
        scores = np.minimum(powers / np.exp(fitted), most) - 1
        wanted = fitted + scores
        height, slope = float(wanted.mean()), float(np.clip(x @ wanted / width, -_STEEPEST, 0.0))
        fitted = height + slope * x
    scatter = max(float(scores @ scores) / (len(x) - 2), 1 / columns)
    variance = scatter * _HANN_SQUARES ** len(bins.shape) * (1 / len(x) + at**2 / width)
    return Level(math.exp(height + slope * at), 1 / variance)
