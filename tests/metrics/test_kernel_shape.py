"""Half-width and sidelobe of a kernel, and the times at which it comes back."""

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.errors import InputError
from pe_spectra.faithfulness.separation import find_sidelobe
from pe_spectra.metrics import measure_periods
from pe_spectra.metrics.kernel_shape import _find_kernel_periods, _measure_half_width
from pe_spectra.spectrum import compute_gram_kernel
from tests.making import draw_table
from tests.metrics.tables import dft, measure_half_width, measure_sidelobe

# ----------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1, 0], 0.5),
        ([2, 1], 1.0),
        ([4, 3, 1], 1.5),
        ([1, 0.6, 0.9, 0.2], 2 + 0.4 / 0.7),
        ([1, 0.9, 0.51], None),
        ([1], None),
        ([0, 1], None),
        ([-1, 0], None),
        ([1, -1], 0.25),
    ],
)
def test_the_half_width_is_where_the_kernel_first_falls_to_a_half(kernel, expected):
    assert measure_half_width(kernel) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("w", [0.3, 0.05, 0.011])
def test_the_half_width_of_a_cosine_is_a_sixth_of_its_period(w):
    assert measure_half_width(7 * np.cos(w * np.arange(400))) == pytest.approx(math.pi / 3 / w, rel=0.02)


def test_the_half_width_of_the_gaussian_is_known():
    lags = np.arange(200)
    assert measure_half_width(np.exp(-(lags**2) / (2 * 30.0**2))) == pytest.approx(30 * 1.17741, rel=1e-3)


def test_the_sidelobe_is_the_highest_maximum_beyond_the_first_minimum():
    found = measure_sidelobe([4, 2, 1, 2.5, 1, 3, 0])
    assert (found.lag, found.value) == (5, 0.75)
    assert measure_sidelobe([4, 3, 2]) is None
    assert measure_sidelobe([0, 1, 0]) is None


def test_rounding_has_no_sidelobe():
    assert measure_sidelobe(compute_gram_kernel(dft(64, 50))) is None
    assert measure_sidelobe(1 + 1e-15 * draw_table(50, 1)[:, 0]) is None


def test_the_sidelobe_of_a_period_is_that_period():
    found = measure_sidelobe(np.cos(2 * np.pi * np.arange(100) / 24) + 2)
    assert found.lag == 24
    assert found.value == pytest.approx(1)


# ----------------------------------------------------------------------------------- all together


def test_of_a_plateau_its_beginning_is_the_sidelobe():
    for kernel in ([4.0, 1.0, 2.0, 2.0, 2.0, 0.0], [4.0, 1.0, 2.0, 2.0, 1.0, 2.0, 0.0]):
        assert (measure_sidelobe(kernel).lag, measure_sidelobe(kernel).value) == (2, 0.5)


# ----------------------------------------------------------------------------------- scale


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1e-300, 1e300, 0.0], 2.0),
        ([1e-300, 1e300, -1e300], 1.5),
        ([1e300, -1.7e308], 0.5e300 / 1.7e308),
        ([1.7e308, -1.7e308], 0.25),
        ([5e-324, 0.0], 0.5),
        ([1.5e-323, 1e-323, 0.0], 1.25),
    ],
)
def test_half_widths_hold_where_values_are_no_multiples_of_the_first(kernel, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _measure_half_width(np.array(kernel)) == pytest.approx(expected, rel=1e-13)


def test_the_rounding_of_a_flat_kernel_has_no_sidelobe():
    flat = np.r_[1.0, 1e-17 * np.random.default_rng(0).standard_normal(30)]
    assert find_sidelobe(flat) is None
    assert find_sidelobe(np.array([1.0, 0.2, 0.5, 0.1])).lag == 2


DAY, WEEK = ("day", 86400.0), ("week", 604800.0)


def test_hourly_kernel_comes_back_after_a_day_and_a_week():
    lags = np.arange(400)
    kernel = 1 + np.cos(2 * np.pi * lags / 24) + 0.5 * np.cos(2 * np.pi * lags / 168)
    w = 2 * np.pi / np.array([24.0, 168.0])
    day, week = measure_periods(kernel, step_seconds=3600, periods=[DAY, WEEK], frequencies=w)
    assert (day.lag, week.lag) == (24, 168)
    assert day.is_local_maximum
    assert week.is_local_maximum
    assert week.ratio == pytest.approx(1)
    assert day.ratio == pytest.approx((2 + 0.5 * math.cos(2 * math.pi / 7)) / 2.5)
    assert (day.nearest_period, week.nearest_period) == (pytest.approx(86400), pytest.approx(604800))
    assert day.nearest_ratio == pytest.approx(1)
    assert day.note == ""


def test_a_kernel_without_the_period_says_so():
    (day,) = measure_periods(np.exp(-np.arange(100) / 30), step_seconds=3600, periods=[DAY])
    assert day.is_local_maximum is False
    assert day.nearest_period is None
    assert day.ratio == pytest.approx(math.exp(-0.8))


def test_a_period_beyond_the_kernel_is_none_with_a_note():
    (week,) = measure_periods(np.ones(100), step_seconds=3600, periods=[WEEK])
    assert week.ratio is week.is_local_maximum is None
    assert "lag 99" in week.note
    (last,) = measure_periods(np.ones(169), step_seconds=3600, periods=[WEEK])
    assert last.ratio == 1
    assert last.is_local_maximum is None


def test_a_lag_between_two_steps_is_taken_linearly():
    kernel = np.cos(2 * np.pi * np.arange(50) / 10.5)
    (found,) = measure_periods(kernel, step_seconds=3600 * 24 / 10.5, periods=[DAY])
    assert found.ratio == pytest.approx((kernel[10] + kernel[11]) / 2)
    assert "not whole" in found.note
    # the whole lags on either side are as high as each other, and higher than theirs
    assert found.is_local_maximum


@pytest.mark.parametrize(("seconds", "expected"), [(10.6, True), (11, True), (11.4, True), (10, False), (12.5, False)])
def test_a_maximum_is_looked_for_at_the_whole_lags_next_to_the_period(seconds, expected):
    kernel = np.cos(2 * np.pi * np.arange(40) / 11)
    (found,) = measure_periods(kernel, step_seconds=1, periods=[("eleven", seconds)])
    assert found.is_local_maximum is expected


def test_a_period_shorter_than_a_step_is_no_maximum():
    (found,) = measure_periods(np.ones(10), step_seconds=100, periods=[("short", 50)])
    assert found.is_local_maximum is False
    assert "shorter than a step" in found.note


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_length_of_time_is_above_0(seconds):
    with pytest.raises(InputError):
        measure_periods(np.ones(3), step_seconds=seconds, periods=[DAY])
    with pytest.raises(InputError):
        measure_periods(np.ones(3), step_seconds=1, periods=[("none", seconds)])


@pytest.mark.parametrize("period", [2.5, 6.1, 18.2, 54.6, 164.0])
def test_the_periods_of_a_kernel_are_found(period):
    found = _find_kernel_periods(np.cos(2 * np.pi * np.arange(1000) / period))
    assert_allclose(found, [period], rtol=0.01)


def test_periods_are_strongest_first_and_a_trend_is_none():
    lags = np.arange(1000)
    kernel = 3 * np.cos(2 * np.pi * lags / 24) + np.cos(2 * np.pi * lags / 168) + np.exp(-lags / 400)
    assert_allclose(_find_kernel_periods(kernel), [24, 168], rtol=0.03)
    for flat in (np.ones(100), np.zeros(100), np.exp(-lags / 50), [1.0, 0.5]):
        assert len(_find_kernel_periods(flat)) == 0
