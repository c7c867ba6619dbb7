"""Time2Vec and mTAN, against the formulas that they come from."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.temporal import Mtan, MtanLearned, Time2Vec
from pe_spectra.errors import InputError


def test_time2vec_is_a_line_and_sines():
    """Kazemi et al. 2019, Eq. (1): w_0 t + b_0 first, then sin(w_i t + b_i)."""
    encoding = Time2Vec(values=np.array([[0.5, 2.0, -3.0], [1.0, 0.25, 0.0]]))
    assert encoding.d == 3
    expected = [0.5 * 7 + 1, math.sin(2 * 7 + 0.25), math.sin(-21)]
    assert_allclose(encoding.table([7])[0], expected, rtol=0, atol=4e-16)
    assert_allclose(encoding.table_at([6.5])[0], [4.25, math.sin(13.25), math.sin(-19.5)], rtol=0, atol=1e-15)


def test_mtan_learned_is_a_line_and_sines_of_scaled_time():
    """reml-lab/mTAN, src/models.py, learn_time_embedding: [linear(t), sin(periodic(t))]."""
    encoding = MtanLearned(values=np.array([[0.5, 2.0], [1.0, 0.25]]), unit=10)
    assert_allclose(encoding.table([7])[0], [0.5 * 0.7 + 1, math.sin(2 * 0.7 + 0.25)], rtol=0, atol=4e-16)
    assert_allclose(encoding.table_at([6.5])[0], [0.5 * 0.65 + 1, math.sin(1.55)], rtol=0, atol=4e-16)


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_far_positions_keep_their_digits(cls):
    encoding = cls(d=5, seed=3)
    unit = 48 if cls is MtanLearned else 1
    with mpmath.workdps(60):
        for s in (1, 999, 10**9, 2**53):
            row = encoding.table([s])[0]
            for column in range(1, 5):
                w, b = (mpmath.mpf(float(x)) for x in encoding.entries[:, column])
                assert abs(row[column] - mpmath.sin(w * s / unit + b)) < 4e-16


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_keys_of_a_line_and_sines(cls):
    s = np.arange(50)
    assert_array_equal(cls(seed=1).exact_key(s), s)
    level = cls(values=np.array([[0.0, 0.0], [1.0, 2.0]]))
    assert_array_equal(level.exact_key(s), np.zeros(50))
    assert_array_equal(level.table(3), np.tile(level.table(1), (3, 1)))
    sine = cls(values=np.array([[0.0, 1e-3], [1.0, 0.0]]))
    assert len(np.unique(sine.exact_key(s))) == 50
    assert cls().is_random
    assert not level.is_random


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_a_line_and_sines_refuse_what_does_not_fit(cls):
    two = np.ones((2, 4))
    assert cls(values=two, d=4).d == 4
    assert cls(**cls(values=two).given) == cls(values=two)
    for given, message in (
        ({"values": np.ones((3, 4))}, "table has shape"),
        ({"values": np.ones((2, 1))}, "table has shape"),
        ({"values": two, "d": 5}, "d contradicts the given values"),
        ({"values": two, "seed": 1}, "seed has no meaning here"),
    ):
        with pytest.raises(InputError, match=message):
            cls(**given)


def test_weights_begin_as_published():
    assert abs(Time2Vec(d=4096).entries.std() - 1) < 0.03
    drawn = MtanLearned(d=4096).entries
    assert abs(drawn.std() - 1 / math.sqrt(3)) < 0.01
    assert np.abs(drawn).max() <= 1


def test_mtan_is_a_sinusoid_of_base_10():
    """reml-lab/mTAN, src/models.py, fixed_time_embedding: sin, cos of 48 t 10^(-2i/d)."""
    encoding = Mtan(d=6, unit=100)
    expected = [f(48 * 0.37 / 10 ** (2 * i / 6)) for i in range(3) for f in (math.sin, math.cos)]
    assert_allclose(encoding.table([37])[0], expected, rtol=0, atol=4e-15)
    assert_allclose(encoding.table_at([37.0])[0], expected, rtol=0, atol=4e-15)
    assert_allclose(Mtan(d=4).frequencies().values, [1, 10**-0.5], rtol=1e-15)
    with pytest.raises(InputError, match="d is odd"):
        Mtan(d=5)


@pytest.mark.parametrize("unit", [0.001, 47.3, 48.0, 1e12])
def test_mtan_to_many_digits(unit):
    encoding = Mtan(d=8, unit=unit)
    frequencies = encoding.frequencies()
    with mpmath.workdps(60):
        for i in range(4):
            w = 48 / mpmath.mpf(unit) * mpmath.mpf(10) ** (-mpmath.mpf(2 * i) / 8)
            found = mpmath.mpf(float(frequencies.values[i])) + mpmath.mpf(float(frequencies.low[i]))
            assert abs(found - w) < 1e-30 * w
            assert abs(mpmath.mpf(str(encoding.turns(i))) * 2 * mpmath.pi - w) < 1e-50 * w
            for s in (3, 12345, 2**53):
                row = encoding.table([s])[0]
                assert abs(row[2 * i] - mpmath.sin(w * s)) < 2.3e-16
                assert abs(row[2 * i + 1] - mpmath.cos(w * s)) < 2.3e-16


def test_the_kernel_of_mtan_is_the_dot_product():
    encoding = Mtan(d=16, unit=30)
    table = encoding.table(40)
    assert_allclose(encoding.kernel(np.arange(40))[0], table @ table[0], rtol=0, atol=1e-14)
    assert_allclose(encoding.kernel([-5, 5])[0], table[5] @ table[0] * np.ones(2), rtol=0, atol=1e-14)
