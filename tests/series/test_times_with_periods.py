"""Times that have a period themselves, as days of business and hours of opening: what they do to noise and to waves."""

import numpy as np
import pytest

from pe_spectra.series.series_report import describe_series
from tests.series.recorded import make_red

HOUR, DAY = 3600.0, 86400.0
MONDAY = np.datetime64("2024-01-01")


def find(times, values):
    (column,) = describe_series({"x": values}, times, origin=MONDAY).columns
    return column.periods


def list_business_days(count):
    days = np.arange(float(count))
    return days[days % 7 < 5]


def list_open_hours(days, first=8, last=17):
    hours = np.arange(24.0 * days)
    return hours[(hours % 24 >= first) & (hours % 24 <= last)]


@pytest.mark.parametrize("noise", ["memory of eight rows", "a random walk"])
def test_slow_noise_on_days_of_business_has_no_week(noise):
    """As of prices and rates: what is slow is found again at a week, and beside it."""
    days = list_business_days(1500)
    told = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        is_walk = noise == "a random walk"
        rows = np.arange(float(len(days)))
        told += bool(find(days * DAY, rng.standard_normal(len(days)).cumsum() if is_walk else make_red(rng, rows, 8)))
    assert told <= 1


def test_slow_noise_without_one_hour_of_each_day_has_no_day():
    """Of a lattice with few gaps even a weak period of the times is far above what random gaps would leave."""
    hours = np.arange(24.0 * 150)
    told = 0
    for seed in range(20):
        noise = make_red(np.random.default_rng(1000 + seed), hours, 48)
        told += bool(find(hours[hours % 24 != 12] * HOUR, noise[hours % 24 != 12]))
    assert told <= 1


def test_a_pattern_of_few_hours_a_day_is_one_of_the_day():
    """As of the volume of trade in five minutes, large at both ends of the day."""
    times = np.arange(0, 60 * DAY, 300)
    clock = times % DAY / HOUR
    is_open = (times // DAY % 7 < 5) & (clock >= 9.5) & (clock < 16)
    times, clock = times[is_open], clock[is_open]
    for seed in range(5):
        noise = 0.4 * np.random.default_rng(seed).standard_normal(len(times))
        found = find(times - times[0], np.exp(4 * ((clock - 9.5) / 6.5 - 0.5) ** 2 + noise))
        assert [one.named for one in found] == ["day"]


def test_noise_that_is_sampled_at_two_rates_has_no_period_of_the_slower_one():
    times = np.concatenate([np.arange(500.0) * 60, 30000 + np.arange(800.0) * 10])
    told = 0
    for seed in range(20):
        told += bool(find(times, make_red(np.random.default_rng(seed), times, 120)))
    assert told <= 1


def test_a_pattern_of_the_days_of_business_is_one_of_the_week():
    """Five values and their mean are three sinusoids and a constant: which of these is strongest tells nothing."""
    days = list_business_days(1100)
    pattern = np.array([0.9, 0, -0.5, 0, -0.6, 0, 0])
    for seed in range(20):
        noise = 0.5 * np.random.default_rng(seed).standard_normal(len(days))
        assert [one.named for one in find(days * DAY, pattern[days.astype(int) % 7] + noise)] == ["week"]


def test_a_hump_in_the_hours_of_opening_is_one_of_the_day():
    hours = list_open_hours(120)
    for seed in range(10):
        noise = 0.5 * np.random.default_rng(seed).standard_normal(len(hours))
        found = find(hours * HOUR, 2 * np.sin(np.pi * (hours % 24 - 8) / 9) + noise)
        assert [(one.named, one.harmonics[:1]) for one in found] == [("day", (2,))]
    # a wave that is no multiple is as it is, and so is one of the week
    for period in (12.42, 168.0, 17.3):
        noise = 0.5 * np.random.default_rng(0).standard_normal(len(hours))
        assert find(hours * HOUR, np.sin(2 * np.pi * hours / period) + noise)[0].steps == pytest.approx(
            period, rel=0.01
        )


def test_what_stood_for_a_day_before_it_was_found_is_given_up():
    """Of samples by day alone half a day explains most of a day at first, and nothing beside it."""
    hours = np.arange(24.0 * 150)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        seen = hours[rng.uniform(size=len(hours)) < np.sin(2 * np.pi * (hours - 6) / 24)]
        values = 2 * np.sin(2 * np.pi * seen / 24 - 1.2) + 0.7 * rng.standard_normal(len(seen))
        assert [one.named for one in find(seen * HOUR, values)] == ["day"]
