"""The smallest separation: of a ladder, rows F1 and F2, and of a long table of any numbers, rows F3."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import cache

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.encodings import find_encoding
from pe_spectra.faithfulness.closest_pair import ClosestPair, find_closest_pair
from pe_spectra.faithfulness.pair_lags import find_closest_lag
from pe_spectra.faithfulness.separation import _trace_lags, find_pair_words
from tests.benchmarks.measuring import Measured, compare, trace_peak

_D, _LONG, _SHORT = 512, 1_000_000, 8192
#: A long table, and how many of its rows the peers are given.
_ROWS, _WIDTH, _SOME = 65536, 384, 2048


def _separate(length: int) -> ClosestPair:
    """The smallest separation and its pair; the curve over all lags is not asked for."""
    words = find_pair_words(Sinusoidal(d=_D))
    if words is None:
        raise RuntimeError("a ladder has a separation")
    return find_closest_lag(words, length)


def _square_distances(lags: np.ndarray) -> np.ndarray:
    """All distances of some lags, squared, as the definition has it."""
    w = Sinusoidal(d=_D).frequencies().values
    return 4 * np.sum(np.sin(np.multiply.outer(lags, w / 2)) ** 2, axis=1)


def measure_brute() -> Measured:
    """Brute force runs over 4096 of the lags and is scaled to all of them."""
    some = np.arange(1, 4097)
    return compare(lambda: _square_distances(some), lambda: _separate(_LONG), rounds=5, factor=_LONG / len(some))


def measure_passes() -> Measured:
    """Against one pass over as many floats."""
    floats, out = np.random.default_rng(1).normal(size=_LONG), np.empty(_LONG)
    return compare(lambda: _separate(_LONG), lambda: np.multiply(floats, 2.0, out=out), rounds=5)


def measure_peak() -> Measured:
    return trace_peak(lambda: _separate(_LONG))


def measure_pdist() -> Measured:
    """Against scipy on 512 of the 8192 rows, scaled to all pairs of rows."""
    from scipy.spatial.distance import pdist

    rows = Sinusoidal(d=_D).table(512)
    factor = _SHORT * (_SHORT - 1) / (512 * 511)
    return compare(lambda: pdist(rows), lambda: _separate(_SHORT), rounds=5, factor=factor)


def measure_scikit_learn() -> Measured | str:
    """Against scikit-learn's brute force on the rows of the ladder."""
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    brute = neighbors.NearestNeighbors(n_neighbors=1, algorithm="brute").fit(Sinusoidal(d=_D).table(_SHORT))
    return compare(brute.kneighbors, lambda: _separate(_SHORT), rounds=3)


@cache
def _draw() -> np.ndarray:
    """A table with one pair that differs in a last bit."""
    table = np.random.default_rng(0).normal(size=(_ROWS, _WIDTH))
    table[60000] = table[123]
    table[60000, 7] = np.nextafter(table[60000, 7], 9)
    return table


def _find_long() -> None:
    if find_closest_pair(_draw()).pair != (123, 60000):
        raise RuntimeError("the closest pair was missed")


def _time_once(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


@cache
def _time_long() -> float:
    """Seconds for the closest pair of 65536 x 384: long enough for one turn to be its own median."""
    return _time_once(_find_long)


def measure_long_pdist() -> Measured:
    """The closest pair of 65536 x 384 against scipy on 2048 of the rows, scaled to all pairs."""
    from scipy.spatial.distance import pdist

    some = _draw()[:_SOME]
    factor = _ROWS * (_ROWS - 1) / (_SOME * (_SOME - 1))
    return Measured(ratios=(factor * _time_once(lambda: pdist(some)) / _time_long(),))


def measure_long_scikit_learn() -> Measured | str:
    """The same against scikit-learn's brute force for 2048 of the rows among all, scaled to all."""
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    brute, some = neighbors.NearestNeighbors(n_neighbors=2, algorithm="brute").fit(_draw()), _draw()[:_SOME]
    return Measured(ratios=(_ROWS / _SOME * _time_once(lambda: brute.kneighbors(some)) / _time_long(),))


def measure_long_peak() -> Measured:
    """MiB beside the table, which has 192."""
    return trace_peak(_find_long)


def measure_lags() -> Measured:
    """The curve over the lag of a year of half-hours against differences lag by lag, at 256 lags, scaled to all."""
    table = find_encoding("calendar")(step="30min").table(17520)
    some = range(1, len(table), len(table) // 256)

    def trace_slowly() -> None:
        for lag in some:
            difference = table[lag:] - table[:-lag]
            np.einsum("ij,ij->i", difference, difference).min()

    return compare(trace_slowly, lambda: _trace_lags(table), rounds=3, factor=(len(table) - 1) / len(some))


def measure_error() -> Measured:
    """Relative error of the separation at the winning lag, against 40 digits."""
    import mpmath

    found = _separate(_SHORT)
    lag = found.pair[1] - found.pair[0]
    with mpmath.workdps(40):
        rho = mpmath.mpf(10000)
        terms = (4 * mpmath.sin(rho ** (-mpmath.mpf(index) / _D) * lag / 2) ** 2 for index in range(0, _D, 2))
        exact = mpmath.sqrt(mpmath.fsum(terms))
        return Measured(ratios=(float(abs(found.distance / exact - 1)),))
