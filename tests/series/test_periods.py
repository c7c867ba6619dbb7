"""Planted periods are found within 1 %, whatever the step, the times and the noise, and nothing else is."""

import functools

import numpy as np
import pytest

from pe_spectra.series.series_report import describe_series
from tests.series.recorded import add_waves, make_red

MS, MINUTE, HOUR, DAY, WEEK, YEAR = 1e-3, 60.0, 3600.0, 86400.0, 604800.0, 365.2425 * 86400

#: step in seconds, samples, (period in steps, amplitude) of each, and more: noise, memory in steps, trend, times.
KINDS = {
    "1 us": (1e-6, 600, [(12, 1)], {}),
    "1 ms": (MS, 600, [(20, 1)], {}),
    "1 ms, two": (MS, 2000, [(50, 1), (7.3, 0.5)], {}),
    "20 ms": (0.02, 1500, [(5.5, 1)], {}),
    "1 s": (1, 3600, [(60, 1)], {}),
    "1 s, three": (1, 3600, [(60, 1), (300, 1), (13.7, 0.4)], {}),
    "10 s": (10, 2000, [(360, 1)], {}),
    "1 min": (MINUTE, 4320, [(1440, 1)], {}),
    "1 min, two": (MINUTE, 4320, [(60, 1), (720, 0.7)], {}),
    "5 min": (300, 2016, [(288, 1)], {}),
    "15 min": (900, 2688, [(96, 1), (672, 0.6)], {}),
    "30 min": (1800, 3360, [(48, 1), (336, 0.6)], {}),
    "30 min, three": (1800, 3360, [(48, 1), (336, 0.6), (20, 0.4)], {}),
    "30 min, short": (1800, 336, [(48, 1)], {}),
    "1 h": (HOUR, 2400, [(24, 1), (168, 0.5)], {}),
    "1 h, yearly": (HOUR, 26300, [(24, 1), (8765.82, 1)], {}),
    "6 h": (6 * HOUR, 1460, [(4, 1)], {}),
    "1 d": (DAY, 730, [(7, 1)], {}),
    "1 d, yearly": (DAY, 1830, [(7, 0.5), (365.2425, 1)], {}),
    "1 week": (WEEK, 300, [(52.18, 1)], {}),
    "1 year": (YEAR, 300, [(11, 1)], {}),
    "faint": (1800, 8000, [(48, 0.25)], {}),
    "strong": (1800, 336, [(48, 100)], {}),
    "no noise": (1800, 500, [(48, 1)], {"noise": 0}),
    "no noise, two": (1800, 1000, [(48, 1), (31.4, 0.2)], {"noise": 0}),
    "few cycles": (1800, 480, [(160, 3)], {"noise": 0.5}),
    "near": (1800, 4800, [(48, 1), (45, 1)], {}),
    "trend": (1800, 2000, [(48, 1)], {"trend": 5}),
    "steep trend": (1800, 2000, [(48, 1)], {"trend": 60}),
    "red noise": (1800, 3000, [(48, 1.5)], {"memory": 20}),
    "redder noise": (1800, 3000, [(30, 1.5)], {"memory": 300}),
    "gap": (1800, 2000, [(48, 1)], {"times": "gap"}),
    "gap, two": (1800, 3000, [(48, 1), (336, 1)], {"times": "gap"}),
    "gaps": (1800, 2000, [(48, 1)], {"times": "gaps"}),
    "half missing": (1800, 3000, [(48, 1)], {"times": "missing"}),
    "uneven": (1800, 2000, [(48, 1)], {"times": "uneven"}),
    "uneven, three": (1800, 3000, [(48, 1), (336, 1), (20, 0.7)], {"times": "uneven"}),
    "jittered": (1800, 2000, [(48, 1)], {"times": "jittered"}),
    "wrong order": (1800, 1000, [(48, 1)], {"times": "shuffled"}),
    "repeated": (1800, 1000, [(48, 1)], {"times": "repeated"}),
    "uneven, red noise": (1800, 3000, [(48, 1.5)], {"times": "uneven", "memory": 20}),
    "none": (1800, 2000, [], {}),
    "none, red noise": (1800, 2000, [], {"memory": 50}),
    "none, trend": (1800, 2000, [], {"trend": 5}),
    "none, uneven": (1800, 2000, [], {"times": "uneven"}),
}


def make(kind, seed=1):
    step, size, waves, more = KINDS[kind]
    rng = np.random.default_rng(seed)
    steps = np.arange(float(size))
    times = more.get("times")
    if times == "uneven":
        steps = np.sort(rng.uniform(0, size, size))
    elif times == "jittered":
        steps = steps + 0.2 * rng.uniform(-1, 1, size)
    elif times == "gap":
        steps = np.delete(steps, np.arange(size // 3, size // 2))
    elif times == "gaps":
        steps = np.delete(steps, np.concatenate([np.arange(start, start + 30) for start in range(50, size - 50, 130)]))
    elif times == "missing":
        steps = np.sort(rng.permutation(steps)[: size // 2])
    values = add_waves(steps, *waves) + more.get("trend", 0) * steps / size
    values = values + more.get("noise", 0.5) * make_red(rng, steps, more.get("memory", 0))
    if times == "shuffled":
        order = rng.permutation(len(steps))
        steps, values = steps[order], values[order]
    if times == "repeated":
        steps, values = np.concatenate([steps, steps[:20]]), np.concatenate([values, values[:20]])
    return steps * step, values, [period * step for period, _ in waves]


@functools.cache
def describe_kind(kind, origin):
    """What is found in a series of a kind: it is frozen, and one for all tests that ask for it."""
    times, values, _ = make(kind)
    return describe_series({"x": values}, times, origin=origin)


def find(times, values, **more):
    (column,) = describe_series({"x": values}, times, **more).columns
    return sorted(column.periods, key=lambda one: one.period)


@pytest.mark.few(20)
@pytest.mark.parametrize("kind", KINDS)
def test_planted_periods_are_found_and_no_others(kind):
    times, values, periods = make(kind)
    found = find(times, values, origin=np.datetime64("2020-01-01"))
    np.testing.assert_allclose([one.period for one in found], sorted(periods), rtol=0.01)
    for one in found:
        assert one.false_alarm <= 0.01
        assert one.steps > 2
        # a planted period is within five of its standard errors
        truth = min(periods, key=lambda period: abs(period - one.period))
        assert abs(one.period - truth) <= 5 * one.error + 1e-9 * truth


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["30 min", "uneven, three", "gap, two", "trend"])
def test_units_and_origins_change_nothing_and_noise_little(kind):
    times, values, periods = make(kind)
    first = find(times, values)
    for other in (find(times + 1e9, values), find(times, 1e-30 * values), find(times, 1e6 - 1e3 * values)):
        np.testing.assert_allclose([one.period for one in other], [one.period for one in first], rtol=1e-5)
        np.testing.assert_allclose([one.share for one in other], [one.share for one in first], rtol=1e-4)
    for seed in range(2, 6):
        again = find(*make(kind, seed)[:2])
        np.testing.assert_allclose([one.period for one in again], sorted(periods), rtol=0.01)


def test_shares_are_those_of_the_variance():
    times, values, _ = make("30 min")
    (column,) = describe_series({"x": values}, times).columns
    day, week = (0.5 / np.var(values), 0.18 / np.var(values))
    np.testing.assert_allclose([one.share for one in column.periods], [day, week], rtol=0.1)
    assert column.explained == pytest.approx(1 - 0.25 / np.var(values), abs=0.02)
    np.testing.assert_allclose([one.amplitude for one in column.periods], [1, 0.6], rtol=0.05)


def test_a_trend_is_told_with_its_slope_and_is_no_period():
    times, values, _ = make("none, trend")
    (column,) = describe_series({"x": values}, times).columns
    assert column.slope == pytest.approx(5 / (2000 * 1800), rel=0.05)
    assert column.trend_share == pytest.approx(25 / 12 / np.var(values), rel=0.05)
    assert not column.periods


def test_a_pattern_is_one_period_with_its_harmonics():
    steps = np.arange(2000.0)
    rng = np.random.default_rng(0)
    (found,) = find(steps, (steps % 48 < 16) + 0.1 * rng.standard_normal(2000))
    assert found.period == pytest.approx(48, rel=1e-3)
    assert found.harmonics[:3] == (2, 4, 5)  # the third of a wave that is up for a third of its length is none
    assert found.share > 0.9


@pytest.mark.parametrize("period", [24, 37, 60])
def test_harmonics_that_are_all_alike_are_of_one_pulse(period):
    """Noise makes one of them the strongest, which may be any."""
    steps = np.arange(2400.0)
    for seed in range(10):
        pulse = 4.0 * (steps % period == 8) + 0.5 * np.random.default_rng(seed).standard_normal(2400)
        assert [round(one.steps) for one in find(steps, pulse)] == [period]


def test_a_pulse_has_all_its_harmonics_beside_another_period():
    minutes = np.arange(1440.0 * 6)
    values = 6.0 * (minutes % 60 == 17) + add_waves(minutes, (1440, 2)) + np.random.default_rng(1).standard_normal(8640)
    found = find(minutes * MINUTE, values, origin=np.datetime64("2024-01-01"))
    assert [one.named for one in found] == ["hour", "day"]
    assert max(found[0].harmonics) > 24


@pytest.mark.parametrize("times", ["months", "days"])
def test_a_period_of_uneven_times_leaves_none_at_the_highest_frequencies(times):
    """Next to one cycle in two steps little of another wave makes a large one."""
    months = np.datetime64("2000-01") + np.arange(240)
    days = (months - months[0].astype("datetime64[D]")).astype(float) * DAY
    dated = {"origin": np.datetime64("2000-01-01")} if times == "months" else {}
    others = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal(240)
        found = find(days, np.sin(2 * np.pi * days / YEAR) + 0.5 * noise, **dated)
        assert max(found, key=lambda one: one.share).period == pytest.approx(YEAR, rel=0.01)
        others += len(found) > 1
    assert others <= 1  # noise has one in 5 % of the series


def test_months_are_steps_of_one_length():
    """A pattern of the months of the year is one of twelve steps, whichever days they begin on."""
    months = np.datetime64("2001-01") + np.arange(180)
    days = (months - months[0].astype("datetime64[D]")).astype(float) * DAY
    pattern = np.random.default_rng(5).standard_normal(12)
    values = pattern[np.arange(180) % 12] + 0.01 * np.random.default_rng(0).standard_normal(180)
    (found,) = find(days, values, origin=np.datetime64("2001-01-01"))
    assert (found.named, found.harmonics) == ("year", (2, 3, 4, 5, 6))
    assert found.steps == pytest.approx(12, abs=1e-3)
    report = describe_series({"x": values}, days, origin=np.datetime64("2001-01-01"))
    assert report.places.tolist() == list(range(180))


def test_a_period_is_told_by_its_harmonics_as_well():
    """The first sinusoid of the pattern is the weakest, and the last lies at one cycle in two steps."""
    strengths = [0.0, 0.39, 0.56, 0.52, 0.63, 0.47, 0.99]
    pattern = np.fft.irfft(6 * np.array(strengths) * np.exp(1j * np.array([0, 1, 2, 3, 4, 5, 0.0])), 12)
    away = []
    for seed in range(40):
        noise = 0.5 * np.random.default_rng(seed).standard_normal(240)
        (found,) = find(np.arange(240.0), pattern[np.arange(240) % 12] + noise)
        assert found.harmonics == (2, 3, 4, 5, 6)
        assert found.error < 0.005  # of the first sinusoid alone it is eight times as much
        away.append((found.period - 12) / found.error)
    assert 0.7 < np.sqrt(np.mean(np.square(away))) < 1.4


def test_a_day_is_no_harmonic_of_a_week_nor_half_a_day_of_one():
    steps = np.arange(3360.0)
    values = add_waves(steps, (336, 1), (48, 0.6), (24, 0.3)) + 0.2 * np.random.default_rng(0).standard_normal(3360)
    found = find(steps * 1800, values, origin=np.datetime64("2024-01-01"))
    assert [(one.named, one.harmonics) for one in found] == [("day", (2,)), ("week", ())]


def describe_steps(values, step=1.0, **more):
    rng = np.random.default_rng(4)
    noisy = values + 0.2 * rng.standard_normal(len(values))
    (column,) = describe_series({"x": noisy}, np.arange(float(len(values))) * step, **more).columns
    return {round(one.steps, 1): one for one in column.periods}


@pytest.mark.parametrize("unit", ["dated", "plain"])
def test_a_period_whose_amplitude_goes_with_a_slower_one_has_its_sidebands(unit):
    days = np.arange(1600.0)
    year = np.cos(2 * np.pi * days / 365.2425)
    week = (np.arange(1600) % 7 < 2) * 2.0
    more = {"step": DAY, "origin": np.datetime64("2020-01-01")} if unit == "dated" else {}
    values = (1 + 0.6 * year) * week + 2 * year
    found = describe_steps(values, **more)
    assert sorted(found) == [7.0, pytest.approx(365.2, abs=3)]
    (slow,) = (one for steps, one in found.items() if steps > 300)
    assert (found[7.0].harmonics, slow.harmonics, slow.modulated) == ((2, 3), (), ())
    (name,) = found[7.0].modulated
    assert name == "year" if unit == "dated" else name.startswith("36")
    # with its sidebands it explains what the product does
    product = (1 + 0.6 * year) * (week - week.mean())
    assert found[7.0].share == pytest.approx(np.var(product) / (np.var(values) + 0.04), rel=0.03)


def test_two_periods_that_add_up_have_no_sidebands():
    found = describe_steps(add_waves(np.arange(2000.0), (24, 1), (300, 1)))
    assert sorted(found) == [24.0, pytest.approx(300, abs=2)]
    assert all(one.modulated == () for one in found.values())


@pytest.mark.parametrize("third", [1 / (1 / 24 + 1 / 300 + 3 / 2000), 18.3])
def test_a_third_period_elsewhere_is_its_own(third):
    found = describe_steps(add_waves(np.arange(2000.0), (24, 1), (300, 1), (third, 0.4)))
    assert len(found) == 3
    assert all(one.modulated == () for one in found.values())


def test_what_lies_at_a_sum_but_is_the_strongest_is_no_sideband():
    found = describe_steps(add_waves(np.arange(2000.0), (24, 0.5), (300, 0.5), (1 / (1 / 24 + 1 / 300), 2)))
    assert round(1 / (1 / 24 + 1 / 300), 1) in found
    # nor is one that the calendar has a name for: a day, at the sum of a week and of what makes it up
    hours = np.arange(3000.0)
    other = 1 / (1 / 24 - 1 / 168)
    days = describe_steps(
        add_waves(hours, (other, 1.5), (168, 1.5), (24, 1)), step=HOUR, origin=np.datetime64("2024-01-01")
    )
    assert days[24.0].named == "day"


def test_a_strong_day_is_no_harmonic_of_a_week_that_has_all_the_others():
    """Without dates nothing but its own harmonics tells it."""
    steps = np.arange(4032.0)
    week = [(336 / multiple, 0.3) for multiple in (1, 2, 3, 4, 5, 6)]
    for day in ([(48, 1), (24, 0.4)], [(48, 1)]):
        noise = 0.2 * np.random.default_rng(0).standard_normal(4032)
        found = find(steps, add_waves(steps, *week, *day) + noise)
        assert [round(one.steps) for one in found] == ([48, 336] if len(day) == 2 else [336])
    # where none could stand out of the lattice, all that follow each other are of one pattern
    assert found[0].harmonics == (2, 3, 4, 5, 6, 7)


def test_a_multiple_is_a_harmonic_within_what_is_told_apart():
    """Errors from the noise alone are smaller than what a wave that is no sinusoid moves by."""
    steps = np.arange(4032.0)
    noise = 0.02 * np.random.default_rng(0).standard_normal(4032)
    fifth = 1 / (5 / 48 + 0.12 / 4032)
    (found,) = find(steps, add_waves(steps, (48, 1), (24, 0.5), (fifth, 0.2)) + noise)
    assert found.harmonics == (2, 5)
    # by chance at most one in twenty is so near a multiple of a slow period
    slow, quick = 1 / (6 / 4032), 1 / ((6 * 5 + 0.4) / 4032)
    assert len(find(steps, add_waves(steps, (slow, 1), (slow / 2, 0.5), (quick, 0.2)) + noise)) == 2


@pytest.mark.parametrize("away", [1.0, 3.0, 4.5])
def test_what_a_sudden_change_leaves_beside_a_period_is_none(away):
    """A day that is stronger from one date on has lines beside it."""
    steps = np.arange(8760.0)
    cycles = 365 + away
    noise = 0.2 * np.random.default_rng(0).standard_normal(8760)
    weak = 0.9 * 2 / (np.pi * max(away, 1.5))
    (found,) = find(steps, add_waves(steps, (24, 1), (8760 / cycles, weak)) + noise)
    assert found.drifts
    assert found.period == pytest.approx(24, rel=1e-3)
    strong = 2.5 * 2 / (np.pi * away)
    two = find(steps, add_waves(steps, (24, 1), (8760 / cycles, strong)) + noise)
    assert len(two) == (1 if away < 2.5 else 2)


@pytest.mark.parametrize(
    "curve", [lambda u: np.cos(np.pi * u), lambda u: 1.5 * u**2, lambda u: np.sin(0.7 * np.pi * u)]
)
def test_a_trend_that_is_no_straight_line_has_no_period(curve):
    """A record of one year has the year, and none of half of one."""
    steps = np.arange(8760.0)
    rng = np.random.default_rng(0)
    trend = 10 * curve(steps / 4380 - 1)
    found = find(steps * HOUR, trend + add_waves(steps, (24, 3)) + make_red(rng, steps, 30))
    assert [round(one.steps, 1) for one in found] == [24.0]


def test_a_period_that_drifts_is_one_that_is_not_steady():
    steps = np.arange(2000.0)
    phases = 2 * np.pi * steps / 48 * (1 + 0.01 * steps / 2000)
    found = find(steps, np.sin(phases) + 0.2 * np.random.default_rng(0).standard_normal(2000))
    assert [one.drifts for one in found] == [True]
    assert found[0].period == pytest.approx(48, rel=0.03)


@pytest.mark.parametrize("size", [2, 10, 23])
def test_short_series_are_not_searched(size):
    (column,) = describe_series({"x": np.arange(size) % 3.0}, np.arange(float(size))).columns
    assert (column.silent, column.periods, column.threshold) == ("too few samples", (), None)


def test_a_wave_of_fewer_than_two_cycles_is_no_period():
    steps = np.arange(1000.0)
    values = np.sin(2 * np.pi * 1.5 * steps / 1000) + 0.1 * np.random.default_rng(0).standard_normal(1000)
    assert [one.cycles for one in find(steps, values) if one.cycles < 2] == []
