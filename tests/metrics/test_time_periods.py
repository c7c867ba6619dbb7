"""Periods of a kernel: days and weeks in hourly codes."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.errors import InputError
from pe_spectra.metrics import find_kernel_periods, measure_periods

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


def test_a_lag_between_two_steps_is_taken_linearly_from_values_and_exactly_from_a_function():
    step = 3600 * 24 / 10.5
    kernel = np.cos(2 * np.pi * np.arange(50) / 10.5)
    (values,) = measure_periods(kernel, step_seconds=step, periods=[DAY])
    (function,) = measure_periods(lambda lags: np.cos(2 * np.pi * lags / 10.5), step_seconds=step, periods=[DAY])
    assert values.ratio == pytest.approx((kernel[10] + kernel[11]) / 2)
    assert "not whole" in values.note
    assert function.ratio == pytest.approx(1)
    assert function.note == ""
    assert function.nearest_period is None
    # the whole lags on either side are as high as each other, and higher than theirs
    assert values.is_local_maximum
    assert function.is_local_maximum


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
    found = find_kernel_periods(np.cos(2 * np.pi * np.arange(1000) / period))
    assert_allclose(found, [period], rtol=0.01)


def test_periods_are_strongest_first_and_a_trend_is_none():
    lags = np.arange(1000)
    kernel = 3 * np.cos(2 * np.pi * lags / 24) + np.cos(2 * np.pi * lags / 168) + np.exp(-lags / 400)
    assert_allclose(find_kernel_periods(kernel), [24, 168], rtol=0.03)
    for flat in (np.ones(100), np.zeros(100), np.exp(-lags / 50), [1.0, 0.5]):
        assert len(find_kernel_periods(flat)) == 0
