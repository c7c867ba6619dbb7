"""Spectra where rounding is large beside what is asked for: last lags, far tails, long gaps; against exact sums."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal
from pe_spectra.encodings.temporal import Time2Vec
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.spectrum import compute_gram_kernel, compute_irregular_spectrum

# few pairs of long tables ------------------------------------------------------------------------------

ROWS = 1 << 17


@pytest.mark.parametrize("count", [ROWS, ROWS - 100, ROWS - 300, ROWS - 513, ROWS - 9000])
def test_few_pairs_of_a_long_table_are_right_too(count):
    x = np.sin(np.arange(ROWS) * 1e-3)
    found = compute_gram_kernel(x[:, None], count)
    for n in (1, 200, 256, 257, 260, 400, 511, 512, 513, 700, 3000, 8191, 8192, 8193, 9001, 70000, ROWS):
        lag = ROWS - n
        if lag < count:
            exact = math.fsum(x[lag:] * x[:n]) / n
            assert abs(found[lag] - exact) <= 1e-14 * found[0]


def test_rows_of_several_columns_keep_their_last_lags():
    table = np.random.default_rng(0).normal(size=(1 << 14, 11))
    found, rows = compute_gram_kernel(table), len(table)
    for n in (257, 300, 1000, 1023, 1024, 1025):
        exact = math.fsum((table[rows - n :] * table[:n]).ravel()) / n
        assert abs(found[rows - n] - exact) <= 1e-14 * found[0]


# real positions ----------------------------------------------------------------------------------------


def compute_powers(table, times, delta):
    """P at each point of the lattice in the current precision: exact positions, codes as float64 has them."""
    n = len(times)
    shifts = [mpmath.mpf(t) - mpmath.mpf(times[0]) for t in times.tolist()]
    powers = []
    for k in range(n // 2 + 1):
        turns = [mpmath.expj(2 * mpmath.pi * k * t / (n * mpmath.mpf(delta))) for t in shifts]
        powers.append(mpmath.fsum(abs(mpmath.fdot(turns, map(mpmath.mpf, column))) ** 2 for column in table.T.tolist()))
    return powers


def smooth(powers, n, bandwidth):
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
        exact = smooth(compute_powers(encoding.table_at(times), times, delta), 64, bandwidth)
        logs = [float(mpmath.log(weight)) for weight in exact]
    assert_allclose(found.weights, [float(weight) for weight in exact], rtol=1e-9)
    assert_allclose(found.log_weights, logs, rtol=0, atol=1e-9)
    assert math.exp(found.log_weights.mean()) / found.weights.mean() == pytest.approx(flatness, rel=1e-5)


@pytest.mark.parametrize("gap", [0.0, 1e6, 1e9, 1e11, 2.5e11])
@pytest.mark.parametrize("count", [39, 40])
def test_gaps_of_any_length_leave_weights_as_they_are(gap, count):
    draws = np.random.default_rng(count)
    times = np.sort(np.concatenate([draws.uniform(-7, 23, 20), gap + draws.uniform(0, 30, count - 20)]))
    encoding = Sinusoidal(d=4)
    found = compute_irregular_spectrum(encoding, times, bandwidth=0.5)
    with mpmath.workdps(50):
        delta = float(np.median(np.diff(times)))
        exact = smooth(compute_powers(encoding.table_at(times), times, delta), count, 0.5)
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
    with pytest.raises(UndefinedError, match="all codes are zero"):
        compute_irregular_spectrum(Time2Vec(values=np.zeros((2, 3))), [0.0, 0.5, 2.0])
