"""Algorithm 1: rows A1 to A3."""

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
