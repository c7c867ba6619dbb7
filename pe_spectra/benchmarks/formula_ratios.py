"""Eq. (15) and Algorithm 1 against the formula as printed, SciPy and bare transforms: rows E and A."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from pe_spectra.benchmarks.measuring import ROUNDS, Ratios, compare_calls
from pe_spectra.benchmarks.ratio_row import RatioRow
from pe_spectra.encodings import Frequencies, Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.reconstruction import reconstruct, reconstruct_all_positions
from pe_spectra.spectrum.density import sum_kernels
from pe_spectra.spectrum.lag_window import compute_spectrum
from pe_spectra.spectrum.record import Spectrum

BANDWIDTH = 4.0
#: Width of the encodings here, and of the one whose reconstructions are taken all at once.
WIDTH, ALL = 1 << 16, 16384


@cache
def prepare_ladder(d: int) -> tuple[Frequencies, F64]:
    """Return the frequencies of the sinusoidal encoding and d numbers to transform.

    >>> prepare_ladder(8)[1].shape
    (8,)
    """
    return Sinusoidal(d=d).frequencies(), np.random.default_rng(d).normal(size=d)


def weigh_ladder(d: int) -> F64:
    """Return the weights of Eq. (15) from a list of frequencies, without logarithms.

    >>> round(float(weigh_ladder(64).sum()), 12)
    1.0
    """
    return sum_kernels(prepare_ladder(d)[0], d, BANDWIDTH, "none").normalise()[0]


def list_bins(d: int) -> F64:
    """Return the frequencies of the sinusoidal encoding in bins.

    >>> round(float(list_bins(8)[0]), 3)
    1.273
    """
    bins: F64 = prepare_ladder(d)[0].values * (d / (2 * math.pi))
    return bins


@cache
def prepare_spectrum(d: int) -> tuple[Spectrum, F64]:
    """Return the spectrum of the sinusoidal encoding and a position function of d numbers.

    >>> prepare_spectrum(8)[0].grid
    8
    """
    return compute_spectrum(Sinusoidal(d=d)), prepare_ladder(d)[1]


def transform_back(x: F64) -> F64:
    """Transform real numbers and back, which leaves them as they were.

    >>> transform_back(np.array([1.0, 0.0])).round(3).tolist()
    [1.0, 0.0]
    """
    back: F64 = np.fft.irfft(np.fft.rfft(x), len(x))
    return back


def measure_weights(d: int) -> Ratios:
    """Return the weights of Eq. (15) over one transform.

    >>> measure_weights(64).median > 0
    True
    """
    x = prepare_ladder(d)[1]
    return compare_calls(lambda: weigh_ladder(d), lambda: np.fft.rfft(x))


def measure_any_function(d: int) -> Ratios:
    """Return Algorithm 1 of any position function over a transform and back.

    >>> measure_any_function(64).median > 0
    True
    """
    spectrum, x = prepare_spectrum(d)
    return compare_calls(lambda: reconstruct(x, spectrum), lambda: transform_back(x))


def _measure_scipy() -> Ratios:
    """Against SciPy on 256 of the points, scaled to all of them: its time is proportional to their number."""
    from scipy.stats import gaussian_kde

    u, points = list_bins(WIDTH), WIDTH // 2 + 1
    kde = gaussian_kde(u, bw_method=BANDWIDTH / float(u.std(ddof=1)))
    some = np.linspace(0, WIDTH // 2, 256)
    return compare_calls(lambda: kde(some), lambda: weigh_ladder(WIDTH), rounds=5, factor=points / len(some))


def _broadcast() -> F64:
    """The paper's formula for d = 256, as printed."""
    d, rho, sigma = 256, 10000.0, BANDWIDTH * 2 * math.pi / 256
    w = rho ** (-np.arange(0, d, 2) / d)
    omega = 2 * math.pi * np.arange(d // 2 + 1) / d
    g: F64 = np.exp(-((omega[:, None] - w) ** 2) / (2 * sigma**2)).sum(axis=1)
    g /= g.sum()
    return g


def _measure_small() -> Ratios:
    encoding = Sinusoidal(d=256)
    return compare_calls(lambda: compute_spectrum(encoding), _broadcast, rounds=3 * ROUNDS)


def _measure_all_positions() -> Ratios:
    spectrum, x = prepare_spectrum(ALL)
    return compare_calls(lambda: reconstruct_all_positions(spectrum), lambda: transform_back(x), factor=1 / ALL)


FORMULA_ROWS = (
    RatioRow(
        name="E1",
        what="Eq. 15, weights from frequencies, d = 65536",
        over="rfft",
        target=2.5,
        measure=lambda: measure_weights(WIDTH),
        gate=True,
        margin=3,
    ),
    RatioRow(
        name="E4",
        what="scipy gaussian_kde",
        over="Eq. 15, d = 65536",
        target=8000,
        at_most=False,
        measure=_measure_scipy,
        gate=True,
    ),
    RatioRow(
        name="E7",
        what="compute_spectrum, d = 256",
        over="broadcast of the formula",
        target=5,
        measure=_measure_small,
        gate=True,
        margin=4,
    ),
    RatioRow(
        name="A1",
        what="Algorithm 1, any function, d = 65536",
        over="rfft + irfft",
        target=1.2,
        measure=lambda: measure_any_function(WIDTH),
        gate=True,
        margin=3,
    ),
    RatioRow(
        name="A3",
        what="all positions at once, d = 16384",
        over="d x (rfft + irfft)",
        target=0.001,
        measure=_measure_all_positions,
        gate=True,
        margin=3,
    ),
)
