"""Steps, gaps, repeated times and changes of clocks are told with their dates."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.series.series_report import describe_series
from pe_spectra.series.times import arrange_times

START = np.datetime64("2024-01-01T00:00")


def arrange(times, **more):
    return arrange_times(np.asarray(times, dtype=float), **{"rows": len(times), **more})


@pytest.mark.parametrize("step", [1e-6, 1e-3, 1.0, 60.0, 1800.0, 86400.0, 31556952.0])
def test_an_even_step_is_told_exactly(step):
    sampling, order = arrange(np.arange(100) * step, origin=START)
    assert (sampling.spacing, sampling.gaps, sampling.repeated, sampling.disordered) == ("even", 0, 0, 0)
    assert sampling.is_dated
    assert not arrange(np.arange(100) * step)[0].is_dated
    assert sampling.step == pytest.approx(step, rel=1e-9)
    assert sampling.span == order.times[-1] == pytest.approx(99 * step)


def test_a_gap_has_the_dates_of_both_its_ends():
    times = np.delete(np.arange(500.0), np.r_[100:120, 300:301]) * 1800
    sampling, _ = arrange(times, origin=START)
    told = [(one.after, one.before, one.missing, one.length) for one in sampling.named_gaps]
    assert told == [
        ("2024-01-03 01:30", "2024-01-03 12:00", 20, 21 * 1800.0),
        ("2024-01-07 05:30", "2024-01-07 06:30", 1, 3600.0),
    ]
    assert (sampling.gaps, sampling.missing, sampling.spacing) == (2, 21, "even")


def test_of_many_gaps_the_longest_are_named_in_their_order():
    times = np.delete(np.arange(2000.0), np.r_[50:1950:50, 1000:1010])
    sampling, _ = arrange(times)
    assert sampling.gaps == 38
    assert len(sampling.named_gaps) == 20
    assert max(one.missing for one in sampling.named_gaps) == 10
    assert [float(one.after) for one in sampling.named_gaps] == sorted(float(one.after) for one in sampling.named_gaps)


def test_repeated_times_are_counted_with_their_dates_and_averaged():
    times = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]) * 86400
    values = np.array([1.0, 2.0, 4.0, 5.0, 5.0, np.nan, 7.0])
    sampling, order = arrange(times, origin=START, columns=[values])
    assert (sampling.samples, sampling.repeated, sampling.contradicting) == (4, 3, 2)
    assert sampling.named_repeats == ("2024-01-02 00:00", "2024-01-03 00:00")
    np.testing.assert_array_equal(order.gather(values), [1, 3, 5, 7])


def test_a_wrong_order_is_sorted_and_counted():
    sampling, order = arrange([0.0, 2.0, 1.0, 3.0, 5.0, 4.0])
    assert sampling.disordered == 2
    np.testing.assert_array_equal(order.gather(np.array([0, 2, 1, 3, 5, 4.0])), np.arange(6))


def test_jitter_is_a_share_of_the_step():
    rng = np.random.default_rng(0)
    sampling, _ = arrange(np.arange(2000) * 10.0 + rng.normal(0, 0.5, 2000))
    assert sampling.spacing == "jittered"
    assert sampling.step == pytest.approx(10, rel=0.01)
    assert sampling.jitter == pytest.approx(0.05 * np.sqrt(2), rel=0.1)  # of a distance of two times
    assert sampling.gaps == 0


def test_uneven_times_are_called_so():
    sampling, _ = arrange(np.sort(np.random.default_rng(0).uniform(0, 1000, 1000)))
    assert (sampling.spacing, sampling.gaps) == ("uneven", 0)


@pytest.mark.parametrize("step", [1, 3, 12])
@pytest.mark.parametrize("is_last_day", [False, True])
def test_months_of_the_calendar_are_even(step, is_last_day):
    months = np.datetime64("2010-01") + step * np.delete(np.arange(40), [17])
    days = (months + 1).astype("datetime64[D]") - 1 if is_last_day else months.astype("datetime64[D]")
    moments = days.astype("datetime64[us]")
    sampling, _ = arrange((moments - moments[0]).astype(float) / 1e6, origin=moments[0])
    assert (sampling.spacing, sampling.jitter, sampling.gaps, sampling.missing) == ("months", 0.0, 1, 1)
    assert sampling.step == pytest.approx(step * 30.436875 * 86400, rel=0.02)


def test_a_missing_leap_day_is_a_gap():
    days = np.arange("2023-06-01", "2024-10-01", dtype="datetime64[D]")
    moments = days[days != np.datetime64("2024-02-29")].astype("datetime64[us]")
    sampling, _ = arrange((moments - moments[0]).astype(float) / 1e6, origin=moments[0])
    assert [(one.after, one.before) for one in sampling.named_gaps] == [("2024-02-28 00:00", "2024-03-01 00:00")]


def read_clock(zone, step, days):
    """Seconds since the first of what a clock shows, and since the first of what has passed."""
    passed = np.arange(0, days * 86400, step)
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    shown = [(begin + timedelta(seconds=int(one))).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for one in passed]
    return shown[0], np.array([(one - shown[0]).total_seconds() for one in shown]), passed


@pytest.mark.parametrize("step", [600, 1800, 3600])
@pytest.mark.parametrize(
    ("zone", "changes"),
    [
        ("Europe/Berlin", ("2024-03-31 01:", "2024-10-27 02:")),
        ("America/New_York", ("2024-03-10 01:", "2024-11-03 01:")),
        ("Australia/Sydney", ("2024-04-07 02:", "2024-10-06 01:")),
    ],
)
def test_clocks_that_were_changed_are_told_and_what_had_passed_is_taken(zone, changes, step):
    begin, times, passed = read_clock(zone, step, 366)
    sampling, order = arrange(times, origin=np.datetime64(begin))
    np.testing.assert_allclose(order.times, passed)
    assert (sampling.clock_changes, sampling.gaps, sampling.repeated, sampling.spacing) == (2, 0, 0, "even")
    assert [one.startswith(two) for one, two in zip(sampling.named_changes, changes, strict=True)] == [True, True]
    # times are written as the clock shows them, also behind a change
    assert sampling.end == str(np.datetime64(begin) + np.timedelta64(int(times[-1]), "s")).replace("T", " ")[:16]


def test_an_hour_that_is_only_missing_may_be_an_outage():
    begin, times, _ = read_clock("Europe/Berlin", 1800, 200)
    sampling, _ = arrange(times, origin=np.datetime64(begin))
    assert (sampling.clock_changes, sampling.gaps, sampling.missing) == (0, 1, 2)


def test_zones_tell_where_they_change_and_move_nothing():
    sampling, _ = arrange(np.arange(10) * 1800.0, origin=START, shifts=[(4, 3600.0)])
    assert (sampling.clock_changes, sampling.named_changes, sampling.gaps) == (1, ("2024-01-01 01:30",), 0)


def test_an_hour_twice_in_every_day_is_no_change_of_clocks():
    times = np.concatenate([np.arange(23.0), np.arange(22.0, 24.0)]) * 3600
    sampling, _ = arrange(np.concatenate([times + day * 86400 for day in range(1500)]), origin=START)
    assert (sampling.clock_changes, sampling.repeated) == (0, 1500)


def test_lengths_are_written_in_the_largest_unit():
    dated, _ = arrange([0.0, 1.0], origin=START)
    assert [dated.write(one) for one in (2e-6, 0.25, 90.0, 86399.9)] == ["2 us", "250 ms", "1.5 min", "1 d"]
    plain, _ = arrange([0.0, 1.0])
    assert [plain.write(one) for one in (1.0, 2.5)] == ["1 row", "2.5 rows"]


@pytest.mark.parametrize("times", [[], [1.0], [2.0, 2.0]])
def test_one_time_is_too_few(times):
    with pytest.raises(InputError, match="has one time only; rows at two times or more"):
        describe_series({"x": np.ones(len(times))}, np.array(times))


def test_one_unit_is_written_as_one():
    sampling, _ = arrange_times(np.arange(3.0), rows=3, unit="units of the times")
    assert [sampling.write(length) for length in (1.0, 1.5)] == ["1 unit of the times", "1.5 units of the times"]
