"""Quantiles of noise: against SciPy's, and against the chances themselves in arithmetic of 60 digits."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import special

from pe_spectra import quantiles

SHAPES = (0.3, 0.5, 1.0, 1.5, 7.0, 15.9, 16.0, 100.0, 4096.0, 1e5)
CHANCES = (0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-14)


@pytest.mark.parametrize("shape", [*SHAPES, 1e7])
@pytest.mark.parametrize("chance", CHANCES)
def test_gamma_quantiles_are_those_of_scipy(shape, chance):
    assert quantiles.find_gamma_quantile(shape, chance) == pytest.approx(special.gammainccinv(shape, chance), rel=1e-13)


@pytest.mark.few(30)
@pytest.mark.parametrize("above", SHAPES)
@pytest.mark.parametrize("below", [*SHAPES, 1e10])
@pytest.mark.parametrize("chance", CHANCES)
def test_ratio_quantiles_are_those_of_scipy(above, below, chance):
    # that of the inverse ratio, for SciPy takes the chance below, which has lost digits where that above is small
    theirs = 1 / special.fdtri(2 * below, 2 * above, chance)
    assert quantiles.find_ratio_quantile(above, below, chance) == pytest.approx(theirs, rel=2e-12)


def test_a_quantile_that_is_no_number_is_infinite():
    assert quantiles.find_ratio_quantile(1.3, 0.01, 2.6e-6) == math.inf
    assert quantiles.find_ratio_quantile(1.3, 0.5, 1e-99) > 1e190


@pytest.mark.parametrize("shape", [0.7, 3.0, 64.0, 900.0])
@pytest.mark.parametrize("chance", CHANCES)
def test_the_chance_at_a_quantile_is_the_one_asked_for(shape, chance):
    with mpmath.workdps(60):
        value = mpmath.mpf(quantiles.find_gamma_quantile(shape, chance))
        found = mpmath.gammainc(shape, value, regularized=True)
        assert float(abs(found / mpmath.mpf(chance) - 1)) < 1e-11
        ratio = mpmath.mpf(quantiles.find_ratio_quantile(shape, 2.5, chance))
        found = mpmath.betainc(2.5, shape, 0, 2.5 / (2.5 + shape * ratio), regularized=True)
        assert float(abs(found / mpmath.mpf(chance) - 1)) < 1e-11


@pytest.mark.parametrize("degrees", [1, 2, 9, 1000])
@pytest.mark.parametrize("chance", [0.4, 0.025, 0.5e-4])
def test_student_quantiles_are_those_of_scipy(degrees, chance):
    theirs = -special.stdtrit(degrees, chance)
    assert quantiles.find_student_quantile(degrees, chance) == pytest.approx(theirs, rel=1e-13)


def test_half_of_students_variables_are_below_zero():
    assert quantiles.find_student_quantile(5, 0.5) == 0


@pytest.mark.parametrize("value", [-6.0, -0.3, 0.0, 1.0, 9.0])
def test_normal_chances_and_quantiles_are_those_of_scipy(value):
    chance = quantiles.find_normal_chance(value)
    assert chance == pytest.approx(special.ndtr(-value), rel=1e-14)
    assert quantiles.find_normal_quantile(chance) == pytest.approx(-special.ndtri(chance), rel=1e-14, abs=1e-15)


def test_a_quantile_takes_few_steps(monkeypatch):
    """From any start they come to the root from one side, so that a step that goes the other way is a fault."""
    taken = []
    solve = quantiles._solve
    monkeypatch.setattr(
        quantiles, "_solve", lambda measure, chance: solve(lambda u: taken.append(u) or measure(u), chance)
    )
    for shape in SHAPES:
        for chance in CHANCES:
            taken.clear()
            quantiles.find_gamma_quantile(shape, chance)
            assert len(taken) <= 30
            assert all(math.isfinite(one) for one in taken)


@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (6, 4), (3, 1, 8)])
def test_medians_are_those_of_numpy(shape):
    values = np.random.default_rng(len(shape)).normal(size=shape)
    assert quantiles.find_median(values) == np.median(values)
    for axis in range(len(shape)):
        assert_array_equal(quantiles.find_median(values, axis=axis), np.median(values, axis=axis))
    values.reshape(-1)[0] = np.nan
    assert np.isnan(quantiles.find_median(values))
