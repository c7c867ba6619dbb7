"""Algorithm 1: rows A1 to A3, and what the limits of A1 and A2 are at 4096, where passes count beside transforms.

`multiply_in_parts` and `respond_in_parts` do what cannot be left out, each in the fewest passes of NumPy. A response is
even, and a transform of half the length would do; but it sums as it goes along (cosft1 of Numerical Recipes), with an
error that grows as the root of d, where this one has that of the transform. So the targets are 1.1 times the parts.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra import Sinusoidal, Spectrum, compute_spectrum, reconstruct
from pe_spectra.reconstruction import _respond_to_spike, reconstruct_all_positions
from tests.benchmarks.measuring import Measured, compare

_ALL = 16384


@cache
def _prepare(d: int) -> tuple[Spectrum, np.ndarray]:
    return compute_spectrum(Sinusoidal(d=d)), np.random.default_rng(d).normal(size=d)


def _transform(x: np.ndarray) -> np.ndarray:
    return np.fft.irfft(np.fft.rfft(x), len(x))


def multiply_in_parts(d: int) -> None:
    """Transform, power and its largest and smallest, the two norms, one product, and back."""
    spectrum, x = _prepare(d)
    weights = spectrum.weights
    c = np.fft.rfft(x)
    power = c.real**2
    power += c.imag**2
    power.max(), power.min(), spectrum.log_weights.max(), power.sum()
    damped = power * weights
    damped *= weights
    damped.sum()
    c *= weights * 2.0
    np.fft.irfft(c, d)


def respond_in_parts(d: int, out: np.ndarray) -> None:
    """The largest weight and the norm, one product, back from real coefficients, and the shifts into a given array."""
    weights = _prepare(d)[0].weights
    weights.max(), (weights * weights).sum()
    response = np.fft.irfft(weights * 2.0, d)
    for row, s in zip(out, (5, 40, 75), strict=True):
        row[s:], row[:s] = response[: d - s], response[d - s :]


def measure_parts_of_any_function(d: int) -> Measured:
    x = _prepare(d)[1]
    return compare(lambda: multiply_in_parts(d), lambda: _transform(x))


def measure_parts_of_one_hots(d: int) -> Measured:
    x, out = _prepare(d)[1], np.empty((3, d))
    return compare(lambda: respond_in_parts(d, out), lambda: _transform(x))


def measure_any_function(d: int) -> Measured:
    spectrum, x = _prepare(d)
    return compare(lambda: reconstruct(x, spectrum), lambda: _transform(x))


def measure_one_hots(d: int) -> Measured:
    spectrum, x = _prepare(d)
    out = np.empty((3, d))

    def fill() -> None:
        response = _respond_to_spike(spectrum.multipliers, spectrum.grid)
        for row, s in zip(out, (5, 40, 75), strict=True):
            row[s:], row[:s] = response[: d - s], response[d - s :]

    return compare(fill, lambda: _transform(x))


def measure_all_positions() -> Measured:
    spectrum, x = _prepare(_ALL)
    return compare(lambda: reconstruct_all_positions(spectrum), lambda: _transform(x), factor=1 / _ALL)


def measure_memory_of_all_positions() -> Measured:
    """The extent of the memory that the rows are views of, in units of d numbers."""
    first, last = np.lib.array_utils.byte_bounds(reconstruct_all_positions(_prepare(_ALL)[0]))
    return Measured(ratios=((last - first) / (8 * _ALL),))


def measure_copy_of_all_positions() -> Measured:
    rows = reconstruct_all_positions(_prepare(_ALL)[0])
    return compare(rows.copy, lambda: np.full((_ALL, _ALL), 0.5), rounds=5)
