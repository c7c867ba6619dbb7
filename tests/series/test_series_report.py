"""What stands in a report of a series besides its periods."""

import numpy as np
import pytest

from pe_spectra.series.series_report import describe_series
from pe_spectra.series.wave_fits import fit_waves, refine_waves

TIMES = np.arange(400.0)


def describe(values, **more):
    return describe_series({"x": np.asarray(values, dtype=float)}, TIMES, **more).columns[0]


def test_missing_values_are_counted_and_left_out():
    values = np.sin(TIMES / 5)
    values[[3, 50, 51, 52, 399]] = np.nan
    found = describe(values)
    assert (found.values, found.missing, found.longest_missing) == (395, 5, 3)
    assert [round(one.period, 1) for one in found.periods] == [31.4]


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300])
def test_equal_values_have_no_variance(value):
    found = describe(np.full(400, value))
    assert (found.silent, found.deviation, found.mean) == ("all values are equal", 0.0, value)


def test_no_values_at_all():
    found = describe(np.full(400, np.nan))
    assert (found.silent, found.mean, found.deviation, found.missing) == ("too few samples", None, None, 400)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_numbers_of_any_size(scale):
    found = describe(scale * np.sin(TIMES / 5))
    assert found.deviation == pytest.approx(scale * np.std(np.sin(TIMES / 5)))
    assert [round(one.period, 1) for one in found.periods] == [31.4]


def test_the_picture_has_the_highest_of_the_frequencies_that_share_a_place():
    rng = np.random.default_rng(0)
    times = np.arange(20000.0)
    found = describe_series({"x": np.sin(times) + rng.standard_normal(20000)}, times).columns[0]
    assert len(found.frequencies) == len(found.power) == len(found.noise) <= 512
    peak = int(np.argmax(found.power))
    assert found.frequencies[peak] == pytest.approx(1 / (2 * np.pi), rel=1e-4)
    assert found.power[peak] == pytest.approx(0.5 / 1.5, rel=0.05)


def test_what_was_looked_for_is_told():
    found = describe(np.sin(TIMES / 5))
    assert found.slowest == 399 / 2
    assert 2 < found.fastest < 2.01


def test_waves_near_each_other_are_told_apart():
    places = np.linspace(-1, 1, 900)
    truth = np.array([20.2, 21.9, 90.4])
    values = 2 - places + sum(np.cos(np.pi * one * places + one) for one in truth)
    model = refine_waves(places, values, truth + np.array([0.2, -0.2, 0.1]), 8)
    np.testing.assert_allclose(model.frequencies, truth, rtol=1e-6)
    np.testing.assert_allclose([model.level, model.slope], [2, -1], rtol=1e-6)
    np.testing.assert_allclose(model.compute(places), values, atol=1e-6)


def test_waves_are_fitted_in_parts_as_at_once(monkeypatch):
    places = np.linspace(-1, 1, 900)
    values = np.random.default_rng(0).standard_normal(900)
    whole = fit_waves(places, values, np.array([3.0, 7.5]))
    monkeypatch.setattr("pe_spectra.series.wave_fits._CHUNK", 77)
    parts = fit_waves(places, values, np.array([3.0, 7.5]))
    np.testing.assert_allclose(parts.cosines, whole.cosines, rtol=1e-10)


@pytest.mark.parametrize(
    ("spikes", "far", "farthest"),
    [({}, 0, None), ({7: -9999.0, 90: 400.0}, 2, -9999.0), ({5: 1e300}, 1, 1e300), ({5: np.nan}, 0, None)],
)
def test_values_far_from_all_others_are_counted(spikes, far, farthest):
    values = np.sin(np.arange(400.0)) + np.random.default_rng(0).standard_normal(400)
    for place, value in spikes.items():
        values[place] = value
    (found,) = describe_series({"x": values}, np.arange(400.0)).columns
    assert (found.far, found.farthest) == (far, farthest)


@pytest.mark.parametrize("values", [np.zeros(30), np.append(np.zeros(29), 7.0), np.full(30, np.nan)])
def test_of_a_middle_half_without_a_range_nothing_is_far(values):
    (found,) = describe_series({"x": values}, np.arange(30.0)).columns
    assert (found.far, found.farthest) == (0, None)
