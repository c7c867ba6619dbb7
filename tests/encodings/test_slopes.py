"""ALiBi, KERPLE and Sandwich: each against its published formula, written out again, naively."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.biases import Alibi, Kerple, Sandwich, compute_slopes
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError

# ----------------------------------------------------------------------------------- ALiBi


def write_slopes(heads):
    """The list that ofirpress/attention_with_linear_biases builds, by its own recursion."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return write_slopes(below) + write_slopes(2 * below)[0::2][: heads - below]


def test_slopes_by_hand():
    assert compute_slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    twelve = [2.0**-h for h in range(1, 9)] + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert_allclose(compute_slopes(12), twelve, rtol=1e-15)
    forty = [2 ** (-h / 4) for h in range(1, 33)] + [2 ** (-(2 * k + 1) / 8) for k in range(8)]
    assert_allclose(compute_slopes(40), forty, rtol=1e-15)


@pytest.mark.parametrize("heads", [*range(1, 41), 64, 71, 112, 128, 1023, 1024])
def test_slopes_are_those_of_the_published_recursion(heads):
    slopes = compute_slopes(heads)
    assert slopes.shape == (heads,)
    assert_allclose(slopes, write_slopes(heads), rtol=1e-12)


def test_the_plain_formula_gives_other_slopes():
    naive = 2.0 ** (-8 * np.arange(1, 13) / 12)
    assert np.abs(np.sort(naive) - np.sort(compute_slopes(12))).max() > 0.01
    for heads in (0, 1025, 2.5):
        with pytest.raises(InputError, match="heads"):
            compute_slopes(heads)
    assert_array_equal(compute_slopes(np.int64(12)), compute_slopes(12))


def test_alibi_is_minus_slope_times_distance():
    bias = Alibi(heads=12, direction="no").bias([-3, 0, 5])
    assert_allclose(bias, -np.outer(write_slopes(12), [3, 0, 5]), rtol=1e-12)
    assert not np.signbit(bias[:, 1]).any()
    assert_array_equal(Alibi(direction="no").exact_key(np.array([-3, 3, 0])), [3, 3, 0])


def test_stored_rows_differ_from_alibi_by_a_constant_of_the_query():
    n, slope = 9, compute_slopes(8)[2]
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    ours = Alibi(head=2, direction="no").bias((query - key).ravel())[0].reshape(n, n)
    for stored in (slope * key, -slope * (n - 1 - key)):
        shift = np.tril(stored - ours - (stored - ours)[:, :1])
        assert_allclose(shift, 0, atol=1e-14)


# ----------------------------------------------------------------------------------- KERPLE, Sandwich


def test_kerple_by_its_formulas():
    r1, r2 = (1.5, 0.25), (0.5, 2.0)
    lags = np.arange(7)
    log = Kerple(r1=r1, r2=r2).bias(lags)
    power = Kerple(kind="power", r1=r1, r2=r2).bias(lags)
    for head in range(2):
        for lag in range(7):
            assert log[head, lag] == pytest.approx(-r1[head] * math.log(1 + r2[head] * lag), rel=1e-14)
            assert power[head, lag] == pytest.approx(-r1[head] * lag ** r2[head], rel=1e-14)
    assert not Kerple(r1=r1, r2=r2).is_random
    assert Kerple(r1=r1, r2=r2).kernel_count == 2


def test_kerple_is_drawn_as_published():
    for kind, wide, narrow in (("log", 0, 1), ("power", 1, 0)):
        drawn = Kerple(kind=kind, heads=1024).coefficients
        assert 0.01 == drawn[narrow].min() < 0.02
        assert 0.98 < drawn[narrow].max() < 1
        assert 1.98 < drawn[wide].max() < 2
        assert drawn[wide].min() == 0.01
    assert Kerple(r1=(1.0,)).is_random
    assert Kerple(r1=(1.0,)).coefficients[0] == 1


def test_kerple_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="r2 is too large for a power"):
        Kerple(kind="power", r1=(1.0,), r2=(2.5,))
    with pytest.raises(InputError, match="r2 has 1 members"):
        Kerple(r1=(1.0, 2.0), r2=(2.5,))
    with pytest.raises(InputError, match="heads contradicts"):
        Kerple(r1=(1.0, 2.0), heads=3)
    with pytest.raises(InputError):
        Kerple(r1=(0.0,))


def test_sandwich_is_the_kernel_of_the_sinusoidal_encoding():
    lags = np.arange(300)
    kernel = Sinusoidal(d=128, rho=10000).kernel(lags)[0]
    for ratio in ("divide", "multiply"):
        bias = Sandwich(first=0, ratio=ratio).bias(lags)
        for head in range(8):
            factor = 8 * (head + 1) / 8
            factor = 1 / factor if ratio == "divide" else factor
            assert_allclose(bias[head], factor * (kernel - 64), rtol=0, atol=1e-11)
    table = Sinusoidal(d=128, rho=10000).table(300)
    assert_allclose(Sandwich(first=0).bias(lags)[0] + 64, table @ table[0], atol=1e-11)


def test_sandwich_as_published_code_counts_frequencies():
    mp.dps = 40
    lags = [0, 1, 17, 1000, 10**9]
    for heads, d in ((8, 128), (3, 6)):
        bias = Sandwich(heads=heads, d=d).bias(lags)
        for head in range(heads):
            for place, lag in enumerate(lags):
                total = sum(mp.cos(lag * mpf(10000) ** (-mpf(2 * i) / d)) for i in range(1, d // 2 + 1))
                expected = (total - d // 2) / (mpf(8 * (head + 1)) / heads)
                assert bias[head, place] == pytest.approx(float(expected), rel=1e-11, abs=1e-12)
    assert_array_equal(bias[:, 0], 0)
    with pytest.raises(InputError, match="d is odd"):
        Sandwich(d=7)
