"""What a series asks for, and the encodings that are proposed for it."""

import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.series.proposing import find_demand, propose_candidates, write_step
from pe_spectra.series.series_report import describe_series
from tests.series.recorded import add_waves
from tests.series.test_periods import describe_kind

START = np.datetime64("2024-01-01T06:30")


def describe(kind, origin=START):
    return describe_kind(kind, origin)


def load(steps, *waves, columns=1, step=1800.0, origin=START):
    values = {f"x{place}": add_waves(steps, *waves) + 0.1 * np.cos(3 * steps) for place in range(columns)}
    return describe_series(values, steps * step, origin=origin)


def propose(report, d=256, window=None):
    found = propose_candidates(report, find_demand(report, d=d, window=window))
    return {one.name: one.encoding for one in found}, {one.name: one.why_not for one in found}


@pytest.mark.parametrize(
    ("kind", "window", "reason"),
    [
        ("30 min", 672, "two of the longest period"),
        ("1 min, two", 120, "two of the longest that fits twice in 1,024"),
        ("1 min", 128, "no period fits twice"),
        ("none", 128, "no period was found"),
    ],
)
def test_a_window_is_chosen_and_told(kind, window, reason):
    demand = find_demand(describe(kind), d=64)
    assert (demand.window, demand.reason) == (window, reason)
    assert find_demand(describe(kind), d=64, window=50).window == 50


def test_a_window_is_no_longer_than_the_series():
    flat = describe_series({"x": np.random.default_rng(0).standard_normal(60)}, np.arange(60.0))
    assert find_demand(flat, d=8).window == 60
    with pytest.raises(InputError, match="--window is longer than the series \\(61\\); 2 to 60 samples"):
        find_demand(load(np.arange(60.0)), d=8, window=61)


def test_periods_of_the_calendar_are_exact_and_others_as_exact_as_they_are_known():
    assert [(one.name, one.steps) for one in find_demand(describe("30 min"), d=64).wanted] == [
        ("day", 48.0),
        ("week", 336.0),
    ]
    (one,) = find_demand(describe("redder noise"), d=64).wanted
    assert (one.name, one.steps) == ("30 steps", 30.0)
    one = find_demand(describe("1 s, three"), d=64).wanted[-1]
    assert one.steps == pytest.approx(13.7, abs=0.005)
    assert len(f"{one.steps:g}") <= 8


def test_periods_of_several_columns_are_one_with_their_mean_share():
    steps = np.arange(2000.0)
    rng = np.random.default_rng(0)
    values = {"a": add_waves(steps, (48, 1)), "b": add_waves(steps, (48, 2), (100, 1)), "flat": np.ones(2000)}
    noisy = {name: column + 0.1 * rng.standard_normal(2000) * (name != "flat") for name, column in values.items()}
    report = describe_series(noisy, steps * 1800, origin=START)
    wanted = find_demand(report, d=64).wanted
    shares = {one.steps: one.share for one in wanted}
    columns = [{round(p.steps): p.share for p in one.periods} for one in report.columns[:2]]
    assert shares == {48.0: pytest.approx((columns[0][48] + columns[1][48]) / 2), 100.0: columns[1][100] / 2}
    # the sinusoids have the variance that the period explains
    for one in wanted:
        assert sum(power for _, power in one.waves) == pytest.approx(one.share, rel=0.02)
        assert all(length == pytest.approx(one.steps, rel=0.01) for length, _ in one.waves)


def test_the_proposals_have_the_width_the_window_and_the_periods():
    found, _ = propose(describe("30 min"), d=64)
    assert (found["sinusoidal"].d, found["tape"].d, found["tape"].length, found["dft"].d) == (64, 64, 672, 64)
    assert found["periods"].steps == (48.0, 336.0)
    assert found["calendar"].fields == ("time", "weekday")
    assert (found["calendar"].start, found["calendar"].step) == ("2024-01-01T06:30", "30min")
    for name, beside in (("ladder and periods", "periods"), ("ladder and calendar", "calendar")):
        joined = found[name]
        assert joined.d == 64
        assert joined.of == (type(joined.of[0])(d=64 - found[beside].d), found[beside])
        parts = [weight * member.table(9) for weight, member in zip(joined.weights, joined.of, strict=True)]
        # each has half of the squared norm of the sinusoid
        np.testing.assert_allclose([np.mean(np.sum(part**2, axis=1)) for part in parts], 16, rtol=1e-3)


def test_harmonics_that_stand_out_are_proposed_too():
    steps = np.arange(2000.0)
    values = (steps % 48 < 16) + 0.1 * np.random.default_rng(0).standard_normal(2000)
    report = describe_series({"x": values}, steps)
    assert max(report.columns[0].periods[0].harmonics) > 8
    assert propose(report)[0]["periods"].harmonics == 8
    assert propose(report, d=16)[0]["periods"].harmonics == 4  # in half of the columns


def test_without_dates_or_named_periods_there_is_no_calendar():
    names = set(propose(describe("30 min", origin=None))[0])
    assert "calendar" not in names
    assert {"periods", "ladder and periods"} <= names
    assert "calendar" not in propose(describe("redder noise"))[0]
    assert set(propose(describe("none"))[0]) == {"sinusoidal", "tape", "dft", "rope", "alibi"}


def read_months(step=1, last_day=False, *waves):
    """A series of months, each at its first day or its last."""
    months = np.datetime64("2000-01") + step * np.arange(240)
    days = (months + 1).astype("datetime64[D]") - 1 if last_day else months.astype("datetime64[D]")
    seconds = days.astype("datetime64[s]").astype(float)
    values = add_waves(np.arange(240.0), *waves) + 0.3 * np.random.default_rng(1).standard_normal(240)
    return describe_series({"x": values}, seconds - seconds[0], origin=days[0].astype("datetime64[us]"))


@pytest.mark.parametrize("last_day", [False, True])
@pytest.mark.parametrize(("step", "months"), [("1month", 1), ("3month", 3)])
def test_a_year_of_months_is_a_circle_of_the_calendar(last_day, step, months):
    found, _ = propose(read_months(months, last_day, (12 / months, 1)))
    calendar = found["calendar"]
    assert (calendar.fields, calendar.step) == (("month",), step)
    assert 12 / months in found["periods"].steps
    numbers = calendar.read_fields(np.arange(240))[:, 0]
    assert numbers.tolist() == [(s * months) % 12 + 1 for s in range(240)]
    assert found["ladder and calendar"] is not None


def test_what_cannot_be_built_is_told():
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 20 * 86400, 2000))
    values = add_waves(times, (86400.0, 1)) + 0.3 * rng.standard_normal(2000)
    found, why_not = propose(describe_series({"x": values}, times, origin=np.datetime64("2000-01-01")))
    assert found["calendar"] is None
    assert "steps of one length, or months" in why_not["calendar"]
    assert found["periods"].step == "1h"  # as any that are told in positions
    assert "multiple" in propose(describe("30 min"), d=65)[1]["tape"] or propose(describe("30 min"), d=65)[1]["tape"]
    assert "are more than half of 6" in propose(describe("30 min"), d=6)[1]["ladder and calendar"]


def test_a_day_of_hours_and_a_year_of_days_have_their_fields():
    hours, days = np.arange(2400.0), np.arange(1830.0)
    assert propose(load(hours, (24, 1), step=3600.0))[0]["calendar"].fields == ("hour",)
    hourly = propose(load(hours, (6, 1), step=600.0))[0]["calendar"]
    assert (hourly.fields, hourly.minute_slot) == (("minute",), 10)
    fields = propose(load(days, (7, 1), (365.2425, 1), step=86400.0))[0]["calendar"].fields
    assert fields == ("weekday", "dayofyear")


def test_jittered_times_have_the_calendar_of_their_lattice():
    found, _ = propose(describe("jittered"))
    assert (found["calendar"].step, found["calendar"].fields) == ("30min", ("time",))


def test_what_is_proposed_has_the_step_and_the_start_of_the_series():
    rng, steps = np.random.default_rng(1), np.arange(40000.0)
    values = add_waves(steps, (400.0, 1)) + 0.3 * rng.standard_normal(40000)
    begin = np.datetime64("2024-05-05T18:00:00.25")
    found, _ = propose(describe_series({"x": values}, steps * 0.25, origin=begin))
    assert found["periods"].step == "250ms"
    found, _ = propose(load(np.arange(2400.0), (144, 1), step=600.0, origin=begin))
    assert (found["calendar"].start, found["calendar"].step) == ("2024-05-05T18:00:00.25", "10min")
    assert propose(load(np.arange(2400.0), (48, 1), origin=None))[0]["periods"].step == "1h"


@pytest.mark.parametrize(
    ("step", "jitter", "text"),
    [(0.25, 0, "250ms"), (1e-4, 0, "100us"), (0.01, 0.02, "10ms"), (61.0, 0.02, "61s"), (86400.0, 0.01, "1d")],
)
def test_a_step_is_written_as_the_option_takes_it(step, jitter, text):
    rng = np.random.default_rng(0)
    times = (np.arange(2000.0) + jitter * rng.standard_normal(2000)) * step
    assert write_step(describe_series({"x": times}, times - times[0], origin=START).sampling) == text


def test_an_hour_of_steps_below_a_minute_has_a_slot_for_each():
    found, _ = propose(load(np.arange(4000.0), (120, 1), step=30.0))
    assert (found["calendar"].fields, found["calendar"].minute_slot) == (("minute",), 1)
