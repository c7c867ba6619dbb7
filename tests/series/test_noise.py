"""The level of noise, and how rarely noise alone is above its threshold."""

import itertools

import numpy as np
import pytest

from pe_spectra.series.line_search import RATE, search_lines
from pe_spectra.series.noise import _draw, _list_shapes, _weigh_medians, fit_background, measure_false_alarm
from pe_spectra.series.periodogram import choose_frequencies, compute_power, prepare_sums
from tests.series.recorded import make_red


def draw(kind, seed, size):
    rng = np.random.default_rng([seed, size])
    times = np.arange(float(size))
    if "uneven" in kind:
        times = np.sort(rng.uniform(0, size, size))
    if "gap" in kind:
        times[size // 3 :] += size / 2
    memory = {"white": 0.0, "red": 10.0, "redder": 100.0}[kind.split()[0]]
    return times - times[0], make_red(rng, times, memory)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["white", "red", "redder", "white uneven", "red uneven", "white gap", "red gap", "redder uneven"]
)
@pytest.mark.parametrize("size", [30, pytest.param(336, marks=pytest.mark.slow)])
def test_noise_has_a_period_no_more_often_than_is_stated(kind, size):
    series = [draw(kind, seed, size) for seed in range(200)]
    told = sum(bool(search_lines(*one, float(np.median(np.diff(one[0])))).lines) for one in series)
    assert told <= RATE * 200


def test_shapes_and_weighted_medians_of_all_rows_are_those_of_each():
    rng = np.random.default_rng(0)
    turns = np.sort(rng.uniform(0, 0.5, 40))
    shapes, choices = _list_shapes(turns)
    assert len(shapes) == len(choices) > 1000
    for shape, (rho, white) in zip(shapes, choices.tolist(), strict=True):
        np.testing.assert_array_equal(shape, _draw((rho, white), turns))
    for size, heaviest in itertools.product((1, 2, 5, 40), (1, 8)):
        values = np.round(rng.exponential(size=(30, size)), 1)
        weights = rng.integers(1, heaviest + 1, size).astype(float)
        for row, found in zip(values, _weigh_medians(values, weights), strict=True):
            pairs, passed = iter(sorted(zip(row, weights, strict=True))), 0.0
            while passed < weights.sum() / 2:
                wanted, weight = next(pairs)
                passed += weight
            assert found == wanted


def test_the_level_of_red_noise_is_its_spectrum():
    rho, size = 0.9, 4000
    levels = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        times = np.arange(float(size))
        values = make_red(rng, times, -1 / np.log(rho))
        spacing, count = choose_frequencies(size - 1.0, 1.0)
        power = compute_power(prepare_sums(times, spacing, count), values) * 0.5 * size * np.var(values)
        background = fit_background(power, 1.0, spacing, 15.0)
        levels.append(background.level)
        assert background.correlation == pytest.approx(rho, abs=0.1)
    angles = 2 * np.pi * np.arange(count) * spacing
    truth = (1 - rho**2) / (1 - 2 * rho * np.cos(angles) + rho**2)
    np.testing.assert_allclose(np.mean(levels, axis=0)[40:], truth[40:], rtol=0.35)


def test_noise_between_the_nulls_of_its_spectrum_is_no_period():
    """Of a mean over twelve steps the spectrum has six humps, each twice as high as the median of it."""
    told = 0
    for seed in range(40):
        noise = np.random.default_rng(seed).standard_normal(1511)
        told += bool(search_lines(np.arange(1500.0), np.convolve(noise, np.ones(12), mode="valid"), 1.0).lines)
    assert told <= RATE * 40


def test_lines_do_not_raise_the_level():
    rng = np.random.default_rng(0)
    power = rng.exponential(size=1200)
    plain = fit_background(power, 1.0, 1 / 2400, 14.0).level
    power[[40, 200, 400]] = 500.0
    found = fit_background(power, 1.0, 1 / 2400, 14.0).level
    assert (found[8:] < 2 * plain[8:]).all()  # from two cycles on, where periods are looked for
    assert (found[8:] > plain[8:] / 2).all()


def test_a_false_alarm_falls_with_the_ratio_and_rises_with_the_frequencies():
    ratios = [measure_false_alarm(ratio, 100.0, 500) for ratio in (1.0, 5.0, 10.0, 20.0, 400.0)]
    assert ratios == sorted(ratios, reverse=True)
    assert 0 <= ratios[-1] < 1e-30
    assert ratios[0] <= 1
    assert measure_false_alarm(12.0, 1000.0, 500) > measure_false_alarm(12.0, 100.0, 500)
    assert measure_false_alarm(12.0, 100.0, 50) > measure_false_alarm(12.0, 100.0, 500)
