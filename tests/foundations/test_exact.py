"""The arithmetic that answers rest on: error-free sums and products in fractions, sines and angles in 60 digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.exact import PI as PI_IN_DECIMALS
from pe_spectra.exact import (
    _sum_to_pair,
    ladder_pairs,
    ladder_words,
    lattice_pairs,
    scale_pair,
    sin_cos,
    sin_cos_of_turns,
    sin_cos_pairs_of_turns,
    sum_cosines,
    to_words,
    two_product,
    two_sum,
)

#: Numbers of all sizes whose sums and products round.
SOME = np.array([1.0, 1 / 3, -0.1, math.pi, -1e-17, 2.0**53 + 2, 1e150 / 7, -7e-140, 134217729.0, 1 + 2.0**-52])
LADDERS = [(10000.0, 64), (2.5, 7), (500000.0, 128), (0.3, 9), (1.0, 4)]


def add_exactly(words):
    """The sum of the words of one number, as a fraction."""
    return sum((Fraction(float(word)) for word in words), Fraction(0))


def as_mpf(value):
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def pair_up(values):
    return (each.ravel() for each in np.meshgrid(values, values))


# ----------------------------------------------------------------------------------- sums and products


def test_two_sum_keeps_the_error():
    a, b = pair_up(SOME)
    total, error = two_sum(a, b)
    assert_array_equal(total, a + b)
    assert [add_exactly(pair) for pair in zip(total, error, strict=True)] == [
        Fraction(x) + Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]


@pytest.mark.parametrize("squared", [False, True])
def test_two_product_keeps_the_error(squared):
    a, b = pair_up(np.concatenate([SOME, np.random.Generator(np.random.PCG64(0)).standard_normal(20)]))
    b = a if squared else b
    inside = np.abs(a) * np.abs(b) < 1e200
    a = a[inside]
    b = a if squared else b[inside]
    product, error = two_product(a, b)
    assert_array_equal(product, a * b)
    for x, y, p, e in zip(a.tolist(), b.tolist(), product.tolist(), error.tolist(), strict=True):
        if abs(p) > 1e-250:  # below, the error itself has no room in float64
            assert Fraction(x) * Fraction(y) == Fraction(p) + Fraction(e), (x, y)


def test_sums_come_as_if_from_three_times_the_precision():
    """The large terms cancel, and so do those that are 1e16 times smaller: 1e-17 is what is left."""
    terms = [1e16, 1.0, 1e-17, -1e16, 2.0**-60, -1.0]
    high, low = _sum_to_pair([np.array([term]) for term in terms])
    exact = add_exactly(terms)
    assert abs(add_exactly([high[0], low[0]]) - exact) <= abs(exact) * Fraction(2) ** -90


def test_a_pair_is_scaled_by_a_root_and_rounded_once():
    from decimal import Decimal

    third = np.array([1 / 3]), np.array([float(Fraction(1, 3) - Fraction(1 / 3))])
    with mpmath.workdps(60):
        for square in ("2", "0.1", "0.0078125", "3e-5"):
            exact = mpmath.sqrt(mpmath.mpf(square)) / 3
            found = float(scale_pair(third, Decimal(square))[0])
            assert abs(mpmath.mpf(found) - exact) <= mpmath.mpf(0.5001) * np.spacing(found), square


def test_words_are_the_number():
    with mpmath.workdps(80):
        for count, digits in ((1, 15), (2, 31), (3, 47)):
            words = to_words(PI_IN_DECIMALS, count)
            assert len(words) == count
            assert abs(as_mpf(add_exactly(words)) - mpmath.pi) < mpmath.mpf(10) ** -digits


# ----------------------------------------------------------------------------------- frequencies


@pytest.mark.parametrize(("base", "width"), LADDERS)
def test_ladders_are_right_to_31_and_48_digits(base, width):
    pairs, words = ladder_pairs(base, width), ladder_words(base, width)
    assert len(pairs[0]) == words.shape[1] == (width + 1) // 2
    with mpmath.workdps(70):
        for i in range(words.shape[1]):
            exact = mpmath.power(base, mpmath.mpf(-2 * i) / width)
            assert abs(as_mpf(add_exactly(word[i] for word in pairs)) / exact - 1) < mpmath.mpf("1e-31")
            assert abs(as_mpf(add_exactly(words[:, i])) / exact - 1) < mpmath.mpf("1e-47")


def test_lattice_frequencies_are_right_to_31_digits():
    for n in (2, 7, 256, 1000003):
        high, low = lattice_pairs(min(n, 300), n)
        with mpmath.workdps(60):
            for k in range(1, len(high)):
                exact = 2 * mpmath.pi * k / n
                assert abs(as_mpf(add_exactly([high[k], low[k]])) / exact - 1) < mpmath.mpf("1e-31"), (k, n)
        assert high[0] == low[0] == 0


def test_what_is_kept_for_later_calls_cannot_be_changed():
    for array in (*ladder_pairs(10000.0, 16), ladder_words(10000.0, 16)):
        with pytest.raises(ValueError, match="read-only"):
            array[..., 0] = 2.0


# ----------------------------------------------------------------------------------- sines and cosines


def measure_ulps(found, exact):
    """The error in units in the last place of the exact value."""
    return abs(mpmath.mpf(float(found)) - exact) / np.spacing(abs(float(exact)))


@pytest.mark.parametrize("positions", [[0, 1, 2, 44, 333, 710], [10**9 + 7, 10**12 - 1], [2**52 + 1, 2**53 - 1, 2**53]])
def test_sine_and_cosine_are_right_to_two_units_at_any_position(positions):
    words = ladder_words(10000.0, 96)
    sine, cosine = sin_cos(words, positions)
    with mpmath.workdps(80):
        for i in range(words.shape[1]):
            w = as_mpf(add_exactly(words[:, i]))
            for row, s in enumerate(positions):
                assert measure_ulps(sine[row, i], mpmath.sin(w * s)) <= 2, (i, s)
                assert measure_ulps(cosine[row, i], mpmath.cos(w * s)) <= 2, (i, s)


def test_the_third_word_is_seen_at_far_positions():
    """Frequencies of which the third word is as large as it can be: it turns 2**53 positions by a tenth of a unit."""
    words = np.array([[1.0], [2.0**-54], [2.0**-108]])
    words[2] = 2.0**-55
    sine, cosine = sin_cos(words, [2**53])
    with mpmath.workdps(60):
        angle = as_mpf(add_exactly(words[:, 0])) * 2**53
        assert measure_ulps(sine[0, 0], mpmath.sin(angle)) <= 2
        assert measure_ulps(cosine[0, 0], mpmath.cos(angle)) <= 2


def test_zeros_and_ones_of_turns_are_exact_and_without_a_sign():
    sine, cosine = sin_cos_of_turns(np.arange(-8, 9), 4)
    assert_array_equal(sine, [0, 1, 0, -1] * 4 + [0])
    assert_array_equal(cosine, [1, 0, -1, 0] * 4 + [1])
    for zeros in (sine[sine == 0], cosine[cosine == 0]):
        assert not np.signbit(zeros).any()
    # and of ladders: sin 0 in every quarter
    assert not np.signbit(sin_cos(ladder_words(10000.0, 8), [0])[0]).any()


@pytest.mark.parametrize("d", [3, 8, 97, 1000, 2**40 + 1])
def test_turns_are_right_to_two_units_whatever_the_numerator(d):
    numerators = np.array(
        [0, 1, 2, d // 8, d // 8 + 1, d // 4, d // 2, d - 1, d, d + 1, -1, 2**62, 2**62 + 12345, -(2**62)]
    )
    (sine, sine_low), (cosine, cosine_low) = sin_cos_pairs_of_turns(numerators, d)
    with mpmath.workdps(60):
        for i, n in enumerate(numerators.tolist()):
            angle = 2 * mpmath.pi * (n % d) / d
            for found, low, exact in (
                (sine[i], sine_low[i], mpmath.sin(angle)),
                (cosine[i], cosine_low[i], mpmath.cos(angle)),
            ):
                if abs(exact) < 1e-50:
                    assert found == 0
                else:
                    assert measure_ulps(found, exact) <= 2, (n, d)
                    # sine and cosine themselves are rounded, and the rest of the sum is kept
                    assert abs(mpmath.mpf(float(found)) + mpmath.mpf(float(low)) - exact) <= np.spacing(1.0)


LAGS = [
    np.arange(40),
    np.arange(5, 9),
    np.arange(2**40, 2**40 + 10),
    np.array([3]),
    np.array([0, 2, 4, 6]),
    np.array([1, 2, 4, 7]),
    np.array([5, 4, 3]),
    np.array([-3, -2, -1, 0, 1]),
]


@pytest.mark.parametrize("lags", LAGS, ids=lambda lags: f"{lags[0]}..{lags[-1]}")
def test_sums_of_cosines_at_lags_in_a_row_with_gaps_and_backwards(lags):
    words, masses = ladder_words(10000.0, 9), np.array([1.0, 1.0, 0.5, 2.0, 0.25])
    found = sum_cosines(words, masses, lags)
    with mpmath.workdps(60):
        frequencies = [as_mpf(add_exactly(words[:, i])) for i in range(5)]
        exact = [
            float(mpmath.fsum(m * mpmath.cos(w * int(lag)) for m, w in zip(masses.tolist(), frequencies, strict=True)))
            for lag in lags
        ]
    assert_allclose(found, exact, rtol=0, atol=5e-16 * 5)
