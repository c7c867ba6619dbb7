"""The smallest separation: of a ladder, rows F1 and F2, and of a long table of any numbers, rows F3."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import cache

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.benchmarks.table_ratios import LONG, SHORT, D, separate_ladder
from pe_spectra.encodings import find_encoding
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.separation import _trace_lags
from tests.benchmarks.measuring import trace_peak

#: A long table, and how many of its rows the peers are given.
_ROWS, _WIDTH, _SOME = 65536, 384, 2048


def measure_peak() -> Ratios:
    return trace_peak(lambda: separate_ladder(LONG))


def measure_scikit_learn() -> Ratios | str:
    """Against scikit-learn's brute force on the rows of the ladder."""
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    brute = neighbors.NearestNeighbors(n_neighbors=1, algorithm="brute").fit(Sinusoidal(d=D).table(SHORT))
    return compare_calls(brute.kneighbors, lambda: separate_ladder(SHORT), rounds=3)


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


def measure_long_pdist() -> Ratios:
    """The closest pair of 65536 x 384 against scipy on 2048 of the rows, scaled to all pairs."""
    from scipy.spatial.distance import pdist

    some = _draw()[:_SOME]
    factor = _ROWS * (_ROWS - 1) / (_SOME * (_SOME - 1))
    return Ratios(ratios=(factor * _time_once(lambda: pdist(some)) / _time_long(),))


def measure_long_scikit_learn() -> Ratios | str:
    """The same against scikit-learn's brute force for 2048 of the rows among all, scaled to all."""
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    brute, some = neighbors.NearestNeighbors(n_neighbors=2, algorithm="brute").fit(_draw()), _draw()[:_SOME]
    return Ratios(ratios=(_ROWS / _SOME * _time_once(lambda: brute.kneighbors(some)) / _time_long(),))


def measure_long_peak() -> Ratios:
    """MiB beside the table, which has 192."""
    return trace_peak(_find_long)


def measure_lags() -> Ratios:
    """The curve over the lag of a year of half-hours against differences lag by lag, at 256 lags, scaled to all."""
    table = find_encoding("calendar")(step="30min").table(17520)
    some = range(1, len(table), len(table) // 256)

    def trace_slowly() -> None:
        for lag in some:
            difference = table[lag:] - table[:-lag]
            np.einsum("ij,ij->i", difference, difference).min()

    return compare_calls(trace_slowly, lambda: _trace_lags(table), rounds=3, factor=(len(table) - 1) / len(some))


def measure_error() -> Ratios:
    """Relative error of the separation at the winning lag, against 40 digits."""
    import mpmath

    found = separate_ladder(SHORT)
    lag = found.pair[1] - found.pair[0]
    with mpmath.workdps(40):
        rho = mpmath.mpf(10000)
        terms = (4 * mpmath.sin(rho ** (-mpmath.mpf(index) / D) * lag / 2) ** 2 for index in range(0, D, 2))
        exact = mpmath.sqrt(mpmath.fsum(terms))
        return Ratios(ratios=(float(abs(found.distance / exact - 1)),))
