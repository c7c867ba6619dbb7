"""The periodogram of real positions, smoothed on its axis; against sums in many digits."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal, find_encoding
from pe_spectra.encodings.temporal import Time2Vec
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.spectrum import compute_density_spectrum, compute_irregular_spectrum, compute_lag_window_spectrum
from pe_spectra.spectrum.periodograms import _smooth as smooth_power
from tests import naive

# ----------------------------------------------------------------------------------- real positions


def smooth(power, n, bandwidth):
    """A Gaussian of `bandwidth` bins around each bin, on an axis unfolded until nothing is left of it."""
    reach = math.ceil(10 * bandwidth) + n
    out = [
        sum(power[min(j % n, -j % n)] * math.exp(-(((j - k) / bandwidth) ** 2) / 2) for j in range(-reach, reach + 1))
        for k in range(len(power))
    ]
    return np.array(out) / sum(out)


@pytest.mark.parametrize("width", [1.0, 4.0, 9.0, 50.0])
def test_one_line_is_smoothed_to_a_theta_function(width):
    # a Gaussian that goes around a circle, as its Fourier series
    n, tone = 20, 3
    damping = [math.exp(-2 * (math.pi * width * p / n) ** 2) for p in range(40)]

    def theta(x):
        return 1 + 2 * sum(damping[p] * math.cos(2 * math.pi * p * x / n) for p in range(1, 40))

    expected = np.array([theta(k - tone) + theta(k + tone) for k in range(11)])
    found = smooth_power(np.eye(11)[tone], n, width)
    assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("bandwidth", [1e-3, 4.0, 30.0, 1e6])
def test_a_flat_periodogram_stays_flat(bandwidth):
    smoothed = smooth_power(np.ones(11), 20, bandwidth)
    assert_allclose(smoothed, smoothed[0], rtol=1e-14)
    assert (smooth_power(np.eye(11)[3], 20, bandwidth) >= 0).all()


@pytest.mark.parametrize("count", [2, 3, 8, 15, 20])
@pytest.mark.parametrize("bandwidth", [0.2, 1.5, 4.0, 100.0])
def test_real_positions_have_the_smoothed_periodogram(count, bandwidth):
    encoding = find_encoding("sinusoidal")(d=6, rho=20.0)
    times = np.sort(np.random.default_rng(count).uniform(-5, 40, count))
    found = compute_irregular_spectrum(encoding, np.concatenate([times[::-1], times[:1]]), bandwidth=bandwidth)
    delta = np.median([b - a for a, b in pairwise(times)])
    omega = 2 * np.pi * np.arange(count // 2 + 1) / (count * delta)
    expected = smooth(naive.periodogram(encoding.table_at(times), times, omega), count, bandwidth)
    assert_allclose(found.omega, omega, rtol=1e-12)
    assert_allclose(found.weights, expected, rtol=0, atol=1e-12)
    assert found.estimator == "nudft"
    assert found.length == count


def test_only_an_estimate_from_frequencies_says_where_the_axis_is_empty():
    encoding = find_encoding("sinusoidal")(d=16)
    assert_allclose(compute_density_spectrum(encoding).summary.empty_upper_band, 1 - 1 / math.pi, rtol=1e-15)
    # the axis of real positions ends elsewhere, and a lag window does not ask for the frequencies
    for found in (compute_irregular_spectrum(encoding, np.arange(8) / 2), compute_lag_window_spectrum(encoding)):
        assert found.summary.empty_upper_band is None


def test_a_tone_is_found_at_its_place():
    encoding = find_encoding("sinusoidal")(d=2)  # frequency 1
    times = np.arange(0, 100, 0.25) + 0.1 * np.sin(np.arange(400.0))
    found = compute_irregular_spectrum(encoding, times, bandwidth=1.0)
    assert_allclose(found.omega[int(found.weights.argmax())], 1.0, atol=0.05)


@pytest.mark.parametrize(
    ("times", "match"),
    [
        ([], "too few"),
        ([1.0, 1.0], "too few"),
        ([0.0, math.nan], "out of range"),
        ([0.0, 1e-14, 2e-14, 1.0], "too uneven"),
        ([0.0, 5e-324, 1e-323, 1.0], "too uneven"),
        ([[0.0, 1.0]], "axes"),
    ],
)
def test_positions_without_a_periodogram(times, match):
    with pytest.raises(InputError, match=match):
        compute_irregular_spectrum(find_encoding("sinusoidal")(d=2), times)


def test_integers_only_have_no_periodogram():
    with pytest.raises(InputError, match="takes no real positions"):
        compute_irregular_spectrum(find_encoding("one-hot")(d=4), [0.0, 0.5])


# ----------------------------------------------------------------------------------- real positions


def compute_powers(table, times, delta):
    """P at each point of the lattice in the current precision: exact positions, codes as float64 has them."""
    n = len(times)
    shifts = [mpmath.mpf(t) - mpmath.mpf(times[0]) for t in times.tolist()]
    powers = []
    for k in range(n // 2 + 1):
        turns = [mpmath.expj(2 * mpmath.pi * k * t / (n * mpmath.mpf(delta))) for t in shifts]
        powers.append(mpmath.fsum(abs(mpmath.fdot(turns, map(mpmath.mpf, column))) ** 2 for column in table.T.tolist()))
    return powers


def smooth_in_digits(powers, n, bandwidth):
    """Weights of a Gaussian around each bin, on the axis unfolded three times around."""
    width, weights = mpmath.mpf(bandwidth), []
    for k in range(len(powers)):
        bins = range(-n, 2 * n)
        weights.append(
            mpmath.fsum(powers[min(j % n, -j % n)] * mpmath.exp(-(((j - k) / width) ** 2) / 2) for j in bins)
        )
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


@pytest.mark.parametrize(("bandwidth", "flatness"), [(3.0, 1.08915e-07), (4.0, 1.958715e-4)])
def test_the_tail_of_a_line_is_not_lost(bandwidth, flatness):
    encoding, times = Sinusoidal(d=2), np.arange(64) * 2 * np.pi / 64
    found = compute_irregular_spectrum(encoding, times, bandwidth=bandwidth)
    with mpmath.workdps(50):
        delta = float(np.median(np.diff(times)))
        exact = smooth_in_digits(compute_powers(encoding.table_at(times), times, delta), 64, bandwidth)
        logs = [float(mpmath.log(weight)) for weight in exact]
    # the amplitude of an empty bin is off by some roundings of the line's, its power by their square
    wanted = np.array([float(weight) for weight in exact])
    noise = (8 * np.finfo(float).eps) ** 2 * wanted.max()
    assert_allclose(found.weights, wanted, rtol=1e-9, atol=noise)
    assert_allclose(found.log_weights, logs, rtol=0, atol=1e-9 + noise / wanted.min())
    assert math.exp(found.log_weights.mean()) / found.weights.mean() == pytest.approx(flatness, rel=1e-5)


@pytest.mark.few(4)
@pytest.mark.parametrize("gap", [0.0, 1e6, 1e9, 1e11, 2.5e11])
@pytest.mark.parametrize("count", [39, 40])
def test_gaps_of_any_length_leave_weights_as_they_are(gap, count):
    draws = np.random.default_rng(count)
    times = np.sort(np.concatenate([draws.uniform(-7, 23, 20), gap + draws.uniform(0, 30, count - 20)]))
    encoding = Sinusoidal(d=4)
    found = compute_irregular_spectrum(encoding, times, bandwidth=0.5)
    with mpmath.workdps(50):
        delta = float(np.median(np.diff(times)))
        exact = smooth_in_digits(compute_powers(encoding.table_at(times), times, delta), count, 0.5)
    assert_allclose(found.weights, [float(weight) for weight in exact], rtol=0, atol=1e-13 * found.weights.max())


@pytest.mark.parametrize("times", [[0.0, 5e-324, 1e-323], [0.0, 1e-310, 3e-310, 4e-310]])
def test_steps_without_frequencies_are_refused(times):
    with pytest.raises(InputError, match=r"too close together \(median step .*\); 1e-307 and more"):
        compute_irregular_spectrum(Sinusoidal(d=2), times)


def test_the_least_steps_have_frequencies():
    found = compute_irregular_spectrum(Sinusoidal(d=2), np.arange(4) * 2e-307)
    assert np.isfinite(found.omega).all()
    assert found.weights.argmax() == 0


def test_codes_of_zeros_have_no_weights():
    with pytest.raises(UndefinedError, match="all vectors are zero"):
        compute_irregular_spectrum(Time2Vec(values=np.zeros((2, 3))), [0.0, 0.5, 2.0])
