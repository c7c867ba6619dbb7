"""The spectrum that a series has without periods: red noise and white noise, fitted to its own periodogram.

Red noise is an autoregression of first order: its spectrum rises towards slow frequencies, where a test against white
noise would find a period in any of them.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from pe_spectra.exact import F64, NDArray
from pe_spectra.ordering import find_median
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.series.periodogram import OVERSAMPLING

#: Ordinates in a block of the fit: this share of their place, so that blocks are even in the logarithm.
_SHARE = 0.15
#: Those in a block of the correction, at least and as a share of their place, and in the first block: a trend that is
#: no straight line lies in few.
_CORRECTED, _CORRECTED_SHARE, _FIRST = 24, 0.08, 8
#: Ratio from which on an ordinate pulls the first fit no more than by its logarithm.
_CAP = 3.0
#: Ordinates beside a line that are left out with it, on either side.
_BESIDE = 1
_ROUNDS = 8
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Background(ReadOnly):
    """The level of noise at each frequency.

    Attributes
    ----------
    level : (M,) the mean power of noise, as the periodogram counts it.
    correlation : of the red part, from one step to the next; 0 for white noise. white : share of white noise in it.
    """

    level: F64
    correlation: float
    white: float


def measure_false_alarm(ratio: float, cycles: float, samples: int) -> float:
    """Return how likely noise alone has an ordinate so far above its level, anywhere among the frequencies.

    The tail at one frequency is that of Fisher's F with 2 and N degrees of freedom, for the level is estimated too.

    Parameters
    ----------
    ratio : of the highest ordinate to the level of noise there. samples : N.
    cycles : the highest frequency times the root of 4 pi times the variance of the times.

    References
    ----------
    Baluev 2008, Mon. Not. R. Astron. Soc. 385, 1279 (the highest of all ordinates).

    >>> round(measure_false_alarm(12.0, 100.0, 10**6), 5)
    0.00213
    """
    tail = math.exp(-samples / 2 * math.log1p(2 * ratio / samples))
    return -math.expm1(-tail * (1 + cycles * math.sqrt(ratio)))


def fit_background(power: F64, step: float, spacing: float, threshold: float) -> Background:
    """Fit red and white noise to a periodogram; what stands above `threshold` times the fit is left out of it.

    The likelihood is that of independent ordinates (Whittle 1953). Where the median of the ordinates lies above what
    the fit gives, the level is raised to it: other noise than of first order is then no period either.

    Parameters
    ----------
    power : (M,) in units of variance, at frequencies k `spacing`. step : time from sample to sample.

    References
    ----------
    Allen & Smith 1996, J. Clim. 9, 3373; Torrence & Compo 1998, Bull. Am. Meteorol. Soc. 79, 61;
    Schulz & Mudelsee 2002, Comput. Geosci. 28, 421 (at uneven times).

    >>> rng = np.random.default_rng(0)
    >>> found = fit_background(rng.exponential(size=400), 1.0, 1 / 800, 12.0)
    >>> bool(abs(find_median(found.level) - 1) < 0.3)
    True
    """
    ordinates = np.maximum(power[OVERSAMPLING::OVERSAMPLING], _TINY)
    frequencies: F64 = np.arange(1.0, len(ordinates) + 1) * (OVERSAMPLING * spacing)
    edges = _cut(len(ordinates), 1, _SHARE)
    centres = np.array([np.mean(frequencies[a:b]) for a, b in pairwise(edges)])
    shapes, choices = _list_shapes(centres * step)
    kept = np.ones(len(ordinates), dtype=bool)
    chosen = _fit(ordinates, kept, edges, shapes, is_first=True)
    for _ in range(_ROUNDS):
        level = _draw(choices[chosen[0]], frequencies * step) * chosen[1]
        lines = ordinates > threshold * level
        beside = np.convolve(lines, np.ones(2 * _BESIDE + 1), mode="same") > 0
        if (kept == ~beside).all() or beside.mean() > 0.5:
            break
        kept = ~beside
        chosen = _fit(ordinates, kept, edges, shapes)
    correlation, white = choices[chosen[0]]
    level = _draw((correlation, white), frequencies * step) * chosen[1]
    turns: F64 = np.arange(float(len(power))) * (spacing * step)
    every = _draw((correlation, white), turns) * chosen[1]
    places = np.log(np.maximum(np.arange(len(power)) / OVERSAMPLING, 1))
    factors: F64 | float = 0.0
    for raised in (_correct(ordinates / level, first, places) for first in (_FIRST, _CORRECTED)):
        factors = np.maximum(factors, raised, out=raised)
    del places
    every *= np.exp(factors)
    return Background(level=every, correlation=float(correlation), white=float(white))


def _cut(count: int, least: int, share: float, first: int | None = None) -> NDArray[np.int64]:
    """Edges of blocks, each a share of its place wide."""
    edges = [0] if first is None else [0, first]
    while edges[-1] < count:
        edges.append(edges[-1] + max(least, int(share * edges[-1])))
    edges[-1] = count
    return np.array(edges)


def _list_shapes(turns: F64) -> tuple[F64, F64]:
    """The spectra that are tried, each with a mean near 1, and their autocorrelation and share of white noise."""
    redness = 1 - np.concatenate([[1.0], np.geomspace(0.9, 1e-4, 40)])
    whites = np.concatenate([[0.0], np.geomspace(1e-5, 0.9, 26)])
    choices = np.array([(rho, white) for rho in redness for white in (whites if rho else whites[:1])])
    rho, white = choices.T[:, :, None]
    return _draw((rho, white), turns), choices


def _draw(choice: F64 | tuple[float | F64, float | F64], turns: F64) -> F64:
    """The spectrum of a choice; of many, each in a row of its own, their spectra in rows."""
    rho, white = choice
    red = (1 - rho**2) / (1 - 2 * rho * np.cos(2 * np.pi * turns) + rho**2)
    found: F64 = (1 - white) * red + white
    return found


def _fit(
    ordinates: F64, kept: NDArray[np.bool_], edges: NDArray[np.int64], shapes: F64, *, is_first: bool = False
) -> tuple[int, float]:
    """Choose the shape and its scale; the first time lines are not known yet and pull with their logarithm only."""
    counts = np.add.reduceat(kept.astype(np.float64), edges[:-1])
    means = np.add.reduceat(np.where(kept, ordinates, 0), edges[:-1]) / np.maximum(counts, 1)
    if is_first:
        means = np.array([_find_centre(ordinates[a:b]) for a, b in pairwise(edges)])
    used = counts > 0
    counts, means, shapes = counts[used], means[used], shapes[:, used]
    ratios = means / shapes
    if is_first:
        scales = _weigh_medians(ratios, counts)
        ratios /= scales[:, None]
        costs = np.where(ratios > _CAP, _CAP * (1 + np.log(np.maximum(ratios, _CAP) / _CAP)), ratios)
    else:
        scales = ratios @ counts / counts.sum()
        costs = ratios / scales[:, None]
    totals = (np.log(shapes) + np.log(scales)[:, None] + costs) @ counts
    best = int(np.argmin(totals))
    return best, float(scales[best])


def _find_centre(block: F64) -> float:
    """The mean that noise of this median has; of few ordinates their mean."""
    return float(find_median(block) / math.log(2)) if len(block) >= 5 else float(np.mean(block))


def _weigh_medians(values: F64, weights: F64) -> F64:
    """The weighted median of each row."""
    order = np.argsort(values, axis=1)
    below = np.cumsum(weights[order], axis=1) < weights.sum() / 2
    found: F64 = np.take_along_axis(values, np.take_along_axis(order, below.sum(axis=1)[:, None], 1), 1)[:, 0]
    return found


def _correct(ratios: F64, first: int, places: F64) -> F64:
    """Logarithms of the factors by which the level is raised where the median of the ordinates lies above it, in
    blocks, at logarithms of places.
    """
    edges = _cut(len(ratios), _CORRECTED, _CORRECTED_SHARE, first)
    if len(edges) > 2 and edges[-1] - edges[-2] < _CORRECTED:
        edges = np.delete(edges, -2)
    centres = (edges[:-1] + edges[1:] + 1) / 2
    medians = [find_median(ratios[a:b]) / math.log(2) for a, b in pairwise(edges)]
    found: F64 = np.interp(places, np.log(centres), np.log(np.maximum(1.0, medians)))
    return found
