"""The fast code against the slow one of tests/naive.py, at odd, even, tiny and larger sizes."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import (
    Dft,
    Sinusoidal,
    compute_dft_weights,
    compute_lag_window_spectrum,
    compute_spectrum,
    count_low_bin,
    fourier,
    measure_faithfulness,
    reconstruct,
    reconstruct_positions,
)
from pe_spectra.reconstruction import measure_width, reconstruct_all_positions
from pe_spectra.spectrum import low_bin
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]
POSITIONS = [0, 1, 2, 3, 10, 17, 40, 99]


def functions_on(n):
    """A few functions on the lattice: noise, a one-hot, the constant, and the last basis function."""
    noise = np.random.default_rng(n).standard_normal(n)
    return [noise, naive.one_hot(n, n // 3), np.ones(n), naive.basis(n)[-1]]


def tolerance(n):
    """Of Fourier sums written out: n roundings of cosines that are themselves rounded."""
    return 4e-16 * n


# ----------------------------------------------------------------------------------- Eq. 2-3


@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_sinusoidal_table(d, rho):
    for layout in ("interleaved", "concatenated"):
        found = Sinusoidal(d=d, rho=rho, layout=layout).table(POSITIONS)
        expected = naive.sinusoidal_table(d, rho, POSITIONS, layout)
        # the slow angle w s is rounded: its error grows with the angle
        largest = max(POSITIONS) * max(naive.frequencies(d, rho))
        assert_allclose(found, expected, rtol=0, atol=4e-16 * largest)


@pytest.mark.parametrize("d", SIZES)
def test_a_count_of_positions_means_the_first_ones(d):
    assert_array_equal(Sinusoidal(d=d).table(6), Sinusoidal(d=d).table(range(6)))
    assert_array_equal(Dft(d=d).table(6), Dft(d=d).table(range(6)))


@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_frequencies_and_masses(d, rho):
    found = Sinusoidal(d=d, rho=rho).frequencies()
    # the rounding of the exponent l/d is multiplied by ln rho
    rtol = 4e-16 * (1 + abs(np.log(rho)))
    assert_allclose(found.values, naive.frequencies(d, rho), rtol=rtol)
    assert_array_equal(found.masses, naive.masses(d))


@pytest.mark.parametrize("d", SIZES)
def test_kernel(d):
    w, mass = naive.frequencies(d, 1e4), naive.masses(d)
    lags = [-5, 0, 1, 7, 99]
    expected = [[naive.kernel(w, mass, lag) for lag in lags]]
    assert_allclose(Sinusoidal(d=d).kernel(lags), expected, rtol=0, atol=1e-13 * d)


@pytest.mark.parametrize("d", [2, 8, 48, 128])
def test_kernel_is_the_product_of_rows(d):
    rows = naive.sinusoidal_table(d, 50.0, range(40))
    expected = [[np.dot(rows[0], rows[lag]) for lag in range(40)]]
    assert_allclose(Sinusoidal(d=d, rho=50.0).kernel(range(40)), expected, rtol=0, atol=1e-14 * d)


# --------------------------------------------------------------------------------- Eq. 10-14


@pytest.mark.parametrize("n", SIZES)
def test_basis(n):
    assert_allclose(fourier.basis(n), naive.basis(n), rtol=0, atol=2e-15)
    assert_allclose(naive.basis(n) @ naive.basis(n).T, np.eye(n), rtol=0, atol=tolerance(n))


@pytest.mark.parametrize("n", SIZES)
def test_coefficients_and_their_inverse(n):
    for f in functions_on(n):
        size = np.linalg.norm(f)
        c = naive.transform(f)
        assert_allclose(fourier.transform(f), c, rtol=0, atol=tolerance(n) * size)
        assert_allclose(fourier.invert(c), naive.invert(c), rtol=0, atol=tolerance(n) * size)
        assert_allclose(fourier.invert(fourier.transform(f)), f, rtol=0, atol=tolerance(n) * size)


# ----------------------------------------------------------------------------- Eq. 15, 16, 22


@pytest.mark.parametrize("boundary", ["none", "reflect"])
@pytest.mark.parametrize("bandwidth", [0.5, 4.0])
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 8, 16, 31, 48])
def test_weights(d, rho, bandwidth, boundary):
    found = compute_spectrum(Sinusoidal(d=d, rho=rho), bandwidth=bandwidth, boundary=boundary)
    w, mass = naive.frequencies(d, rho), naive.masses(d)
    expected = naive.weights(w, mass, d, bandwidth, boundary)
    # the exponent of the slow one, up to some hundreds, is rounded
    assert_allclose(found.weights, expected, rtol=1e-11, atol=1e-300)
    assert_allclose(found.omega, 2 * np.pi * np.arange(d // 2 + 1) / d, rtol=4e-16)


@pytest.mark.parametrize(("d", "grid"), [(7, 30), (30, 7), (16, 2), (2, 17), (97, 64)])
def test_weights_on_another_lattice(d, grid):
    found = compute_spectrum(Sinusoidal(d=d), grid=grid)
    expected = naive.weights(naive.frequencies(d, 1e4), naive.masses(d), grid)
    assert_allclose(found.weights, expected, rtol=1e-11)
    assert found.grid == grid


@pytest.mark.parametrize("bandwidth", [0.5, 4.0])
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", [2, 3, 7, 8, 31, 48])
def test_lag_window_weights(d, rho, bandwidth):
    found = compute_lag_window_spectrum(Sinusoidal(d=d, rho=rho), bandwidth=bandwidth)
    w, mass = naive.frequencies(d, rho), naive.masses(d)
    assert_allclose(found.weights, naive.lag_window_weights(w, mass, d, bandwidth), rtol=0, atol=1e-13)
    reflected = naive.weights(w, mass, d, bandwidth, "reflect")
    assert_allclose(found.weights, reflected, rtol=0, atol=4e-14)


@pytest.mark.parametrize("length", [None, 2, 6, 7, 100, 5000])
@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_low_bin_count(d, rho, length):
    found = count_low_bin(Sinusoidal(d=d, rho=rho), length=length)
    assert (found.inside, found.total) == naive.count_low_bin(d, rho, length)
    if rho != 1:
        assert_allclose(found.crossing, naive.crossing(d, rho, length), rtol=1e-14)


@pytest.mark.parametrize("n", SIZES)
def test_dft_weights(n):
    assert_allclose(compute_dft_weights(n), naive.dft_weights(n), rtol=4e-16)
    assert_allclose(np.sum(naive.dft_weights(n)), 1.0, rtol=4e-15)


@pytest.mark.parametrize("d", SIZES)
def test_dft_table(d):
    positions = [0, 1, 2, d - 1, d, 5 * d + 1, 10**6]
    assert_allclose(Dft(d=d).table(positions), naive.dft_table(d, positions), rtol=0, atol=2e-15)


# ------------------------------------------------------------------------------- Algorithm 1


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("rho", [0.3, 2.5, 1e4])
@pytest.mark.parametrize("n", SIZES)
def test_reconstruction_of_any_function(n, rho, rescale):
    spectrum = compute_spectrum(Sinusoidal(d=n, rho=rho))
    g = naive.weights(naive.frequencies(n, rho), naive.masses(n), n)
    for f in functions_on(n)[:3]:
        expected = naive.reconstruct(f, g, rescale)
        found = reconstruct(f, spectrum, rescale=rescale)
        # rounding in coefficients that should be 0 is lifted with the rest where g is small
        lift = max(g) * np.linalg.norm(f) / np.linalg.norm(naive.reconstruct(f, g, False))
        atol = tolerance(n) * np.linalg.norm(f) * (lift if rescale else 1.0)
        assert_allclose(found, expected, rtol=1e-13, atol=atol)


@pytest.mark.parametrize("n", SIZES)
def test_reconstruction_of_positions(n):
    spectrum = compute_spectrum(Sinusoidal(d=n, rho=100.0))
    g = naive.weights(naive.frequencies(n, 100.0), naive.masses(n), n)
    for at in reconstruct_positions(spectrum, range(min(n, 5))).positions:
        f = naive.one_hot(n, at.s)
        r, raw = naive.reconstruct(f, g), naive.reconstruct(f, g, rescale=False)
        assert_allclose(at.values, r, rtol=0, atol=tolerance(n))
        assert at.peak == np.argmax(r)
        assert_allclose(at.relative_error, np.linalg.norm(r - f), rtol=0, atol=tolerance(n))
        assert_allclose(at.relative_error_unscaled, np.linalg.norm(raw - f), rtol=1e-14)
        cosine = r @ f / np.linalg.norm(r) / np.linalg.norm(f)
        assert_allclose(at.cosine, cosine, rtol=0, atol=tolerance(n))
        for found, fraction in ((at.fwhm, 0.5), (at.width_10, 0.1)):
            expected = naive.width(r, fraction)
            assert (found is None) == (expected is None)
            if expected is not None:
                assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", [2, 3, 8, 31, 64])
def test_width_of_a_curve(n):
    t = np.arange(n)
    distance = np.minimum((t - n // 3) % n, (n // 3 - t) % n)
    for curve in (
        1.0 / (1.0 + 0.9 * distance),
        np.exp(-0.01 * distance),
        np.exp(-3.0 * distance**2),
    ):
        for fraction in (0.5, 0.1):
            expected, found = naive.width(curve, fraction), measure_width(curve, fraction)
            assert (found is None) == (expected is None)
            if expected is not None:
                assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("curve", "width"),
    [
        ([1.0, 0.5], 2.0),
        ([0.5, 1.0, 0.5], 2.0),
        ([4.0, 3.0, 2.0, 3.0], 4.0),
        ([1.0, 0.6, 0.6], None),
    ],
)
def test_a_curve_that_just_reaches_half_of_its_peak_has_a_width(curve, width):
    assert naive.width(np.array(curve), 0.5) == width
    assert measure_width(curve, 0.5) == width


# ------------------------------------------------------------------------------ faithfulness


@pytest.mark.parametrize("rho", BASES)
@pytest.mark.parametrize("d", SIZES)
def test_smallest_separation(d, rho):
    found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=60)
    expected, (s, t) = naive.smallest_separation(naive.sinusoidal_table(d, rho, range(60)))
    assert_allclose(found.min_separation, expected, rtol=1e-11)
    a, b = found.closest_pair
    assert b - a == t - s
    assert found.collisions.count == 0


@pytest.mark.parametrize("rho", [2.5, 1e4])
@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 16, 31])
def test_smallest_separation_at_each_lag(d, rho):
    rows = naive.sinusoidal_table(d, rho, range(40))
    found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=40).separation_by_lag
    assert_allclose(found, naive.separation_by_lag(rows), rtol=1e-11)


def test_separations_of_one_frequency_keep_their_digits():
    lags = np.arange(1, 1000)
    found = measure_faithfulness(Sinusoidal(d=2), length=1000).separation_by_lag
    # the one frequency is 1 rad, so lag / 2 is exact and so is the sine, to half a unit
    assert_allclose(found, 2 * np.abs(np.sin(lags / 2)), rtol=4e-16)


@pytest.mark.parametrize("length", [2, 7, 8, 9, 40])
@pytest.mark.parametrize("d", [2, 3, 7, 8, 16])
def test_collisions_of_the_dft_table(d, length):
    found = measure_faithfulness(Dft(d=d), length=length, limit=1000).collisions
    pairs = naive.dft_collisions(d, length)
    assert found.count == len(pairs)
    # of the pairs, those of a position with the next one that has its code
    later = {s: min(t for first, t in pairs if first == s) for s, _ in pairs}
    assert [tuple(pair) for pair in found.examples] == sorted(later.items())


@pytest.mark.parametrize("limit", [1, 5])
def test_the_limit_bounds_the_examples_and_not_the_count(limit):
    found = measure_faithfulness(Dft(d=4), length=30, limit=limit).collisions
    assert found.count == len(naive.dft_collisions(4, 30))
    assert len(found.examples) == limit


# ------------------------------------------------------------------------------- edges


@pytest.mark.parametrize(("d", "length"), [(8, 8), (7, 5), (97, 13), (360, 120), (15, 5), (30, 5), (78, 2)])
def test_a_frequency_at_the_edge_or_0_is_outside(d, length):
    """Frequencies 2 pi k/d against 2 pi/length, in integers: where they are equal, doubles would not decide."""
    found = count_low_bin(Dft(d=d), length=length)
    assert found.inside == sum(0 < k * length < d for k in range(d // 2 + 1))
    assert found.inside + found.outside == found.total == d // 2 + 1


@pytest.mark.parametrize("length", [7, 11, 32, 100, 4096])
def test_bases_next_to_a_tie_are_counted_as_60_digits_say(length):
    """rho**(-1/2) against 2 pi/length, where both round to one double: the low words decide, then decimals."""
    rho = (length / (2 * np.pi)) ** 2
    for _ in range(3):
        rho = np.nextafter(rho, 0)
    with mpmath.workdps(60):
        for _ in range(7):
            exact = mpmath.mpf(float(rho)) ** -0.5 < 2 * mpmath.pi / length
            assert count_low_bin(Sinusoidal(d=4, rho=float(rho)), length=length).inside == int(exact), rho
            rho = np.nextafter(rho, np.inf)
    assert low_bin._is_below(Decimal(f"0.124{'9' * 40}"), 8)
    assert not low_bin._is_below(Decimal(f"0.125{'0' * 40}1"), 8)


def test_a_small_part_of_a_function_is_no_rounding():
    t = np.arange(64)
    function = 1 + 1e-9 * np.cos(np.pi * t)
    assert_allclose(reconstruct(function, compute_spectrum(Dft(d=64))), function, rtol=0, atol=1e-14)


@pytest.mark.parametrize("d", [64, 512, 1024])
def test_the_fastest_wave_comes_back_whatever_its_weight_is(d):
    """At d = 512 its weight is 1e-416 of the largest, at 1024 no double at all; rescaled, it is the wave again."""
    wave = np.cos(np.pi * np.arange(d))
    assert_allclose(reconstruct(wave, compute_spectrum(Sinusoidal(d=d))), wave, rtol=0, atol=1e-14)


def test_results_cannot_be_changed():
    spectrum = compute_spectrum(Sinusoidal(d=8))
    result = reconstruct_positions(spectrum, [3])
    arrays = (spectrum.omega, spectrum.weights, spectrum.log_weights, spectrum.log_multipliers)
    for array in (*arrays, result.impulse_response, result.positions[0].values, reconstruct_all_positions(spectrum)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize("turn", [0, 2, 5])
def test_a_curve_that_falls_faster_on_one_side_has_the_width_of_both(turn):
    curve = np.roll([1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0], turn)
    assert measure_width(curve, 0.5) == 2.5
    assert measure_width(curve[::-1], 0.5) == 2.5
    assert measure_width(curve, 0.25) == 3.75
