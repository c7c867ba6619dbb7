"""Kernels and frequencies of every encoding: symmetry, zero lag, and the two roads to a spectrum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import HasFrequencies, HasKernel, HasTable, Sinusoidal
from pe_spectra.encodings.absolute import OnLattice
from pe_spectra.errors import InputError
from pe_spectra.spectrum import compute_density_spectrum, compute_gram_kernel, compute_lag_window_spectrum
from tests.laws.variants import choose_positions, every, has_lone_sine, has_still_channels, is_decaying

# ----------------------------------------------------------------------------------- kernels


def add_still(encoding):
    """What the channels of a rope that are not turned add to each dot product."""
    return (encoding.d - encoding.rotary_width) / 2 if has_still_channels(encoding) else 0.0


@every(HasKernel)
def test_kernel_is_symmetric(encoding):
    lags = np.arange(40)
    kernel = encoding.kernel(lags)
    assert kernel.shape == (encoding.kernel_count, 40)
    assert kernel.dtype == np.float64
    assert np.isfinite(kernel).all()
    assert_array_equal(kernel, encoding.kernel(-lags))
    assert_array_equal(kernel, encoding.kernel(lags))
    assert np.all(np.abs(kernel) <= kernel[0, 0])


@every(HasKernel)
def test_kernel_refuses_what_is_no_lag(encoding):
    for lags in ([1.5], [2**53 + 1], [-(2**53) - 1], [[1, 2]], ["a"]):
        with pytest.raises(InputError):
            encoding.kernel(lags)
    assert np.isfinite(encoding.kernel([2**53, -(2**53)])).all()


@every(HasKernel, HasTable)
def test_kernel_at_zero_is_the_squared_norm_of_a_row(encoding):
    squared = np.sum(encoding.table(choose_positions(encoding, np.arange(64))) ** 2, axis=1)
    zero = encoding.kernel([0])[0, 0]
    if has_lone_sine(encoding):
        # the lone sine of odd d counts one half, its mean over all positions
        assert np.all(np.abs(squared - zero) <= (0.5 + 1e-12) * encoding.amplitude**2)
    else:
        assert_allclose(squared, zero, rtol=1e-14)


@every(HasKernel, HasTable, where=lambda e: not is_decaying(e))
def test_kernel_is_the_dot_product_of_two_rows(encoding):
    s = choose_positions(encoding, np.arange(24))
    table = encoding.table(s)
    expected = encoding.kernel(np.subtract.outer(s, s).ravel())[0].reshape(len(s), len(s))
    if has_lone_sine(encoding):
        frequencies = encoding.frequencies()
        angles = frequencies.values[-1] * np.add.outer(s, s) + 2 * frequencies.phases[-1]
        expected = expected + 0.5 * encoding.amplitude**2 * np.cos(angles)
    assert_allclose(table @ table.T, expected, rtol=0, atol=1e-14 * max(1, expected.max()) * encoding.d)


@every(HasKernel, HasTable, where=lambda e: not is_decaying(e))
def test_kernel_is_what_the_mean_over_many_pairs_tends_to(encoding):
    """Exactly where dot products are a function of the lag; a lone sine is left with what does not cancel."""
    s = choose_positions(encoding, np.arange(400))
    found = compute_gram_kernel(encoding.table(s), min(40, len(s)))
    expected = encoding.kernel(np.arange(len(found)))[0]
    bound = 2e-13 * expected[0]
    if has_lone_sine(encoding):
        # |mean of cos(w (2 s + tau))| over n positions is at most 1/(n |sin w|), and at most 1
        bound += 0.5 * encoding.amplitude**2 * min(1.0, 1 / (360 * abs(math.sin(encoding.frequencies().values[-1]))))
    assert_allclose(found, expected, rtol=0, atol=bound)


@every(HasKernel, HasFrequencies, where=lambda e: not is_decaying(e))
def test_kernel_is_the_sum_over_its_frequencies(encoding):
    lags = np.arange(50)
    frequencies = encoding.frequencies()
    expected = np.cos(np.outer(lags, frequencies.values)) @ frequencies.masses * frequencies.amplitude**2
    largest = encoding.kernel([0])[0, 0]
    assert_allclose(encoding.kernel(lags)[0], expected + add_still(encoding), rtol=0, atol=1e-12 * largest)


@every(HasKernel, HasFrequencies, where=is_decaying)
def test_a_decaying_kernel_is_below_that_of_its_frequencies(encoding):
    frequencies = encoding.frequencies()
    kernel = encoding.kernel(np.arange(2000))[0]
    without = np.cos(np.outer(np.arange(2000), frequencies.values)) @ frequencies.masses + add_still(encoding)
    assert_allclose(kernel[0], without[0], rtol=1e-15)
    far, undamped = (np.abs(values[1500:] - add_still(encoding)).max() for values in (kernel, without))
    assert far < 0.7 * undamped  # zeta is at most 0.83 for these, and 1500 lags are nearly three of its 512


@pytest.mark.few(5)
@every(HasKernel, HasFrequencies, where=lambda e: not (is_decaying(e) or has_still_channels(e)))
@pytest.mark.parametrize("bandwidth", [1.0, 4.0, 16.0])
def test_eq_15_with_reflection_is_the_spectrum_of_the_kernel(encoding, bandwidth):
    """Two roads: a Gaussian around each frequency, or a Gaussian over the lags of the kernel."""
    for grid in (24, 33):
        assert not (isinstance(encoding, OnLattice) and encoding.default_grid == grid) or encoding.d == 33
        if isinstance(encoding, OnLattice) and encoding.default_grid == grid:
            continue  # on its own lattice it shows its masses, and no kernel enters
        density = compute_density_spectrum(encoding, grid=grid, bandwidth=bandwidth, boundary="reflect")
        window = compute_lag_window_spectrum(encoding, grid=grid, bandwidth=bandwidth)
        assert (density.estimator, window.estimator) == ("kde", "lag-window")
        assert_allclose(window.weights, density.weights, rtol=0, atol=1e-12 * density.weights.max())


# ----------------------------------------------------------------------------------- frequencies


@every(HasFrequencies)
def test_frequencies_are_read_only_arrays_of_one_length(encoding):
    frequencies = encoding.frequencies()
    for name in ("values", "low", "masses", "phases"):
        array = getattr(frequencies, name)
        assert array.shape == frequencies.values.shape
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert frequencies.amplitude > 0
    assert np.all(frequencies.values >= 0)
    assert np.all(np.abs(frequencies.low) <= np.spacing(frequencies.values))
    assert set(frequencies.masses) <= {0.5, 1.0}
    again = type(encoding)(**encoding.given).frequencies()
    assert_array_equal(frequencies.values, again.values)
    assert_array_equal(frequencies.low, again.low)


@every(HasFrequencies, HasTable)
def test_masses_count_columns(encoding):
    """A mass of one is a pair of columns.

    Columns that are 0 as published count for nothing: the ends of dfstrans, the last of odd tensor2tensor. Nor do
    the channels of a rope that are not turned.
    """
    zero = 0
    if encoding.name in ("dfstrans", "tensor2tensor"):
        zero = int(np.sum(~encoding.table(7).any(axis=0)))
    assert 2 * encoding.frequencies().masses.sum() + zero + 2 * add_still(encoding) == encoding.d


@every(HasFrequencies)
def test_turns_are_the_frequencies(encoding):
    frequencies = encoding.frequencies()
    turns = [encoding.turns(index) for index in range(len(frequencies.values))]
    assert_allclose([float(turn) * 2 * math.pi for turn in turns], frequencies.values, rtol=1e-15)


@every(Sinusoidal)
def test_a_ladder_is_geometric(encoding):
    values = encoding.frequencies().values
    assert_allclose(values, encoding.rho ** (-np.arange(0, 2 * len(values), 2) / encoding.d), rtol=1e-13)
    high, low, last = encoding.words()
    assert_array_equal(high, values)
    assert np.all(np.abs(last) <= np.spacing(np.abs(low)))


@every(OnLattice)
def test_masses_on_the_lattice_are_those_of_the_frequencies(encoding):
    masses = encoding.lattice_masses()
    assert masses.shape == (encoding.default_grid // 2 + 1,)
    found = np.zeros_like(masses)
    for index, mass in enumerate(encoding.frequencies().masses):
        place = encoding.turns(index) * encoding.default_grid
        assert place == Fraction(int(place))
        found[int(place)] += 2 * mass
    assert_array_equal(found, masses)
