"""What a change of level explains of a signal: likelihood ratios of a change beside correlated noise.

The signal is a level that may change once, and Gaussian noise beside it of density f = 1 + (c / (m + b))^n, where
m = 2 - 2 cos w is the density of a difference: white noise and a random walk (n = 1, b = 0), a memory that fades
(b > 0), or a slope that wanders (n = 2). In the discrete cosine transform its entries are independent (Whittle), so
that all places and densities are tried in closed form, with the change and without it: a walk explains its own
steps, a trend its own slope, and only what neither explains speaks for a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pe_spectra.exact import F64

#: Memories b that are tried, and the largest corner c, as a power of 4: from there on a walk hides all white noise.
_FADING, _LARGEST_CORNER = (0.003, 0.03, 0.3), 4
#: The median of the square of a standard normal number.
_MEDIAN_SQUARE = 0.4549364
#: Lengths whose densities are kept, up to this one: at most 20 MB of them.
_RECALLED, _MOST_RECALLED = 16, 1024


class Gains(NamedTuple):
    """What a change of level before each number but the first explains.

    Attributes
    ----------
    values : (n - 1,) twice the gain in log-likelihood; sizes : (n - 1,) the change.
    apart : (n - 2,) one less the correlation of the errors of two such changes, beside one another, in the noise that
        explains the numbers best without a change: small in white noise, near 1 in a walk.
    """

    values: F64
    sizes: F64
    apart: F64


def measure_gains(values: F64) -> Gains:
    """Measure what a change of level before each number but the first explains.

    The gain is over densities and variance with the change and without. Where most gains are larger than chance lets
    them be, noise of another kind wanders, and all are taken down.

    References
    ----------
    Whittle 1953, Ark. Mat. 2, 423 (likelihood by frequencies); Tsay 1988, J. Forecasting 7, 1 (changes of level).

    >>> gains = measure_gains(np.array([0.0, 1.0] * 16 + [5.0, 6.0] * 16))
    >>> int(gains.values.argmax()), round(float(gains.sizes[31]))
    (31, 5)
    """
    from scipy.fft import dct

    count = len(values)
    waves = dct(values - values.mean(), norm="ortho")[1:]
    plain, best, sizes, apart = -np.inf, np.full(count - 1, -np.inf), np.zeros(count - 1), np.zeros(count - 2)
    # of a long signal the densities one by one, for memory
    for some in (
        [_recall_densities(count)] if count <= _MOST_RECALLED else (_stack(one) for one in _weigh_densities(count))
    ):
        alone, gained, changes, between = _try_densities(waves, some)
        if alone > plain:
            plain, apart = alone, between
        sizes = np.where(gained > best, changes, sizes)
        best = np.maximum(best, gained)
    gains: F64 = best - plain
    return Gains(gains / max(1.0, float(np.median(gains)) / _MEDIAN_SQUARE), sizes, apart)


class _Densities(NamedTuple):
    """Densities, (k, n - 1), with the volume of each, (k,), and the energies of steps, (k, n - 1)."""

    values: F64
    volumes: F64
    norms: F64


def bound_gains(apart: F64, signals: int, rate: float) -> float:
    """Bound the largest sum of so many gains like these by chance: at one of the places it is exceeded at this rate.

    Neighbouring places are nearly one where noise is white, and independent in a walk.

    Parameters
    ----------
    apart : (n - 1,) of :class:`Gains` for n places; zeros for one place.

    References
    ----------
    Siegmund 1985, Sequential Analysis, ch. 4 and 11 (the largest of correlated normal numbers in steps).

    >>> [round(bound_gains(apart * np.ones(399), 1, 0.01), 1) for apart in (0.0, 1.0)]
    [6.6, 17.8]
    """
    from scipy.special import chdtri, ndtr

    level = math.sqrt(chdtri(signals, rate / (len(apart) + 1)))
    half = level * np.sqrt(np.maximum(apart, 1e-12) / 2)
    density = np.exp(-(half**2) / 2) / math.sqrt(2 * math.pi)
    overshoot = (ndtr(half) - 0.5) / half / (half * ndtr(half) + density)
    places = 1 + float(np.sum(apart * level**2 * overshoot))
    return float(chdtri(signals, rate / min(places, len(apart) + 1)))


def _try_densities(waves: F64, some: _Densities) -> tuple[float, F64, F64, F64]:
    """The log-likelihood of the best density, and of the best with a change at each place, that change, and `apart`."""
    from scipy.fft import idct

    count = len(waves) + 1
    white = np.zeros((len(some.values), count))
    np.divide(waves, some.values, out=white[:, 1:])
    energies = white[:, 1:] @ waves
    products = -np.cumsum(idct(white, norm="ortho", axis=1), axis=1)[:, :-1]
    left = np.maximum(energies[:, None] - products**2 / some.norms, 1e-15 * energies[:, None])
    gained = -(count - 1) * np.log(left) - some.volumes[:, None]
    best = gained.argmax(axis=0), np.arange(count - 1)
    alone = -(count - 1) * np.log(energies) - some.volumes
    plain = int(np.argmax(alone))
    # two steps beside one another differ by one number of 1
    norms, one = some.norms[plain], float(np.mean(1 / some.values[plain]))
    apart = 1 - (norms[1:] + norms[:-1] - one) / (2 * np.sqrt(norms[1:] * norms[:-1]))
    return float(alone[plain]), gained[best], products[best] / some.norms[best], apart


def _weigh_densities(count: int) -> Iterator[tuple[F64, float, F64]]:
    """Weigh the densities of `count` numbers, each with its volume and the energy of a step of 1 before each number."""
    orders = np.pi * np.arange(1, count) / (2 * count)
    # a step before number k has the transform - step sin(2 k orders)
    step = 1 / (math.sqrt(2 * count) * np.sin(orders))
    for density in _list_densities(4 * np.sin(orders) ** 2, count):
        powers = np.concatenate([[0.0], step**2 / density])
        norms = (powers.sum() - np.fft.fft(powers).real[1:]) / 2
        yield density, float(np.log(density).sum()), norms


def _stack(*weighed: tuple[F64, float, F64]) -> _Densities:
    densities, volumes, norms = zip(*weighed, strict=True)
    return _Densities(np.stack(densities), np.array(volumes), np.stack(norms))


@lru_cache(maxsize=_RECALLED)
def _recall_densities(count: int) -> _Densities:
    """The same, kept: they are those of every signal of one length."""
    return _stack(*_weigh_densities(count))


def _list_densities(differences: F64, count: int) -> Iterator[F64]:
    yield np.ones_like(differences)
    for power in range(math.floor(math.log2(math.pi / count)), _LARGEST_CORNER + 1):
        corner = 4.0**power
        yield 1 + (corner / differences) ** 2
        for memory in (0.0, *_FADING):
            yield 1 + corner / (differences + memory)
