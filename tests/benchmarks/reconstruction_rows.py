"""Algorithm 1: rows A1 to A3, and what the limits of A1 and A2 are, where passes count beside transforms.

`multiply_in_parts` and `respond_in_parts` do what cannot be left out, each in the fewest passes of NumPy. A response is
even, and a transform of half the length would do; but it sums as it goes along (cosft1 of Numerical Recipes), with an
error that grows as the root of d, where this one has that of the transform. So the targets are 1.1 times the parts,
which take 1.27 of two transforms for any function at d = 4096. At 65536 a row over the parts is measured besides.
"""

from __future__ import annotations

import numpy as np

from pe_spectra.benchmarks.formula_ratios import ALL, prepare_spectrum, transform_back
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.reconstruction import _respond_to_spike, reconstruct, reconstruct_all_positions


def multiply_in_parts(d: int) -> None:
    """Transform, power and its smallest, the two sums, one product, and back."""
    spectrum, x = prepare_spectrum(d)
    weights = spectrum.weights
    c = np.fft.rfft(x)
    power = c.real**2
    power += c.imag**2
    power.sum(), power.min()
    power *= weights
    power *= weights
    power.sum()
    c *= weights * 2.0
    np.fft.irfft(c, d)


def respond_in_parts(d: int, out: np.ndarray) -> None:
    """The largest weight and the norm, one product, back from real coefficients, and the shifts into a given array."""
    weights = prepare_spectrum(d)[0].weights
    weights.max(), (weights * weights).sum()
    response = np.fft.irfft(weights * 2.0, d)
    for row, s in zip(out, (5, 40, 75), strict=True):
        row[s:], row[:s] = response[: d - s], response[d - s :]


def measure_parts_of_any_function(d: int) -> Ratios:
    x = prepare_spectrum(d)[1]
    return compare_calls(lambda: multiply_in_parts(d), lambda: transform_back(x))


def measure_parts_of_one_hots(d: int) -> Ratios:
    x, out = prepare_spectrum(d)[1], np.empty((3, d))
    return compare_calls(lambda: respond_in_parts(d, out), lambda: transform_back(x))


def measure_any_function_over_parts(d: int) -> Ratios:
    spectrum, x = prepare_spectrum(d)
    return compare_calls(lambda: reconstruct(x, spectrum), lambda: multiply_in_parts(d))


def measure_one_hots(d: int) -> Ratios:
    spectrum, x = prepare_spectrum(d)
    out = np.empty((3, d))

    def fill() -> None:
        response = _respond_to_spike(spectrum.multipliers, spectrum.grid)
        for row, s in zip(out, (5, 40, 75), strict=True):
            row[s:], row[:s] = response[: d - s], response[d - s :]

    return compare_calls(fill, lambda: transform_back(x))


def measure_memory_of_all_positions() -> Ratios:
    """The extent of the memory that the rows are views of, in units of d numbers."""
    first, last = np.lib.array_utils.byte_bounds(reconstruct_all_positions(prepare_spectrum(ALL)[0]))
    return Ratios(ratios=((last - first) / (8 * ALL),))


def measure_copy_of_all_positions() -> Ratios:
    rows = reconstruct_all_positions(prepare_spectrum(ALL)[0])
    return compare_calls(rows.copy, lambda: np.full((ALL, ALL), 0.5), rounds=5)
