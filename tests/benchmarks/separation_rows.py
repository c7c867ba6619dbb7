"""The smallest separation of a ladder: rows F1 and F2."""

from __future__ import annotations

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.faithfulness.separation import Separation, measure_separation
from tests.benchmarks.measuring import Measured, compare, trace_peak

_D, _LONG, _SHORT = 512, 1_000_000, 8192


def _separate(length: int) -> Separation:
    found = measure_separation(Sinusoidal(d=_D), length)
    if found is None:
        raise RuntimeError("a ladder has a separation")
    return found


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


def measure_error() -> Measured:
    """Relative error of the separation at the winning lag, against 40 digits."""
    import mpmath

    found = _separate(_SHORT)
    if found.pair is None or found.smallest is None:
        raise RuntimeError("two positions have a distance")
    lag = found.pair[1] - found.pair[0]
    with mpmath.workdps(40):
        rho = mpmath.mpf(10000)
        terms = (4 * mpmath.sin(rho ** (-mpmath.mpf(index) / _D) * lag / 2) ** 2 for index in range(0, _D, 2))
        exact = mpmath.sqrt(mpmath.fsum(terms))
        return Measured(ratios=(float(abs(found.smallest / exact - 1)),))
