"""Moments and durations: how they are written, what is kept of them, and where they end."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from pe_spectra.cli.positions import read_places
from pe_spectra.domains import (
    Duration,
    Moment,
    compute_moments,
    describe_moment,
    parse_periods,
    read_duration,
)
from pe_spectra.errors import InputError

# ----------------------------------------------------------------------------------- moments, durations


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2016-07-01", "2016-07-01T00:00"),
        ("2016-07-01T05:06", "2016-07-01T05:06"),
        ("2016-07-01 05:06:00", "2016-07-01T05:06"),
        ("2016-07-01T05:06:07", "2016-07-01T05:06:07"),
        ("0001-01-01", "0001-01-01T00:00"),
        ("9999-12-31T23:59:59", "9999-12-31T23:59:59"),
        ("2016-02-29", "2016-02-29T00:00"),
        ("2016-07-01T05:06:07.250", "2016-07-01T05:06:07.25"),
        ("2016-07-01T05:06:00.000001000", "2016-07-01T05:06:00.000001"),
        ("2016-07-01T05:06:00.000", "2016-07-01T05:06"),
    ],
)
def test_moments_are_read_and_kept_as_one_text(given, kept):
    assert Moment().parse(given, "--start") == kept == Moment().check(kept, "--start")
    moment = compute_moments(given, "1s", np.array([0]))[0].item()
    assert moment == datetime.fromisoformat(kept).replace(microsecond=0)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "2016", "2016-7-1", "2016-13-01", "2015-02-29", "0000-01-01", "10000-01-01", "2016-07-01T24:00",
        "2016-07-01T00", "2016-07-01T00:00Z", "2016-07-01T00:00+02:00", "2016-07-01T00:00:00.",
        "2016-07-01T00:00:00.0000001", " 2016-07-01", "2016-07-01\n", "٢٠١٦-07-01", "20160701", "2016-W26-5",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(InputError, match="--start is not a date or time") as caught:
        Moment().parse(text, "--start")
    assert "2016-07-01T00:00" in str(caught.value)


def test_moments_of_python():
    assert Moment().check(date(2016, 7, 1), "start") == "2016-07-01T00:00"
    assert Moment().check(datetime(2016, 7, 1, 2, 3, 4), "start") == "2016-07-01T02:03:04"
    assert Moment().check(datetime(2016, 7, 1, 0, 0, 0, 5), "start") == "2016-07-01T00:00:00.000005"
    for value in (
        datetime(2016, 7, 1, tzinfo=UTC),
        2016,
        None,
        b"2016-07-01",
    ):
        with pytest.raises(InputError, match="start is not a date or time"):
            Moment().check(value, "start")


@pytest.mark.parametrize(
    ("given", "kept", "seconds"),
    [
        ("5min", "5min", 300),
        ("60min", "1h", 3600),
        ("1hour", "1h", 3600),
        ("24h", "1d", 86400),
        ("1day", "1d", 86400),
        ("168h", "1week", 604800),
        ("1w", "1week", 604800),
        ("36h", "36h", 129600),
        ("90s", "90s", 90),
        ("007minutes", "7min", 420),
        ("315537897599s", "315537897599s", 315537897599),
        ("30m", "30min", 1800),
        ("1.5h", "90min", 5400),
        ("0.50d", "12h", 43200),
        ("1.5s", "1.5s", Fraction(3, 2)),
        (".5s", "500ms", Fraction(1, 2)),
        ("0.2ms", "200us", Fraction(1, 5000)),
        ("33.3us", "33.3us", Fraction("0.0000333")),
        ("33.3µs", "33.3us", Fraction("0.0000333")),
        ("22675.736961ns", "22.675736961us", Fraction("0.000022675736961")),
        ("1ns", "1ns", Fraction(1, 10**9)),
        ("1month", "1month", 2629746),
        ("03months", "3month", 3 * 2629746),
        ("0.5year", "6month", 6 * 2629746),
        ("24months", "2year", 2 * 31556952),
        ("1years", "1year", 31556952),
    ],
)
def test_durations_are_read_and_kept_as_one_text(given, kept, seconds):
    assert Duration().parse(given, "--step") == kept == Duration().check(kept, "--step")
    assert read_duration(given) == seconds == read_duration(kept)


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "min", "0s", "0.0ms", "-5min", "+5min", "1.5", "1.h", ".h", "1e3s", "nans", "nan", "inf", "30x",
        "5 min", "5T", "1H", "0month", "1.5month", "9999year", "1mon", "1h30min",
        "9" * 40 + "s", "315537897600s", "315537897599.5s", "0.9ns", "٥min",
        "1.0000000000000000001s", "s",
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InputError, match=r"--step (is|has) "):
        Duration().parse(text, "--step")


def test_durations_of_python():
    assert Duration().check(timedelta(days=1, minutes=5), "step") == "1445min"
    assert Duration().check(timedelta(microseconds=5), "step") == "5us"
    for value in (timedelta(0), timedelta(seconds=-5), timedelta(microseconds=-5), 300, None):
        with pytest.raises(InputError, match="step is "):
            Duration().check(value, "step")


def test_a_position_is_written_as_a_date_in_english():
    assert describe_moment("2016-07-01", "1h", 0) == "Fri 2016-07-01 00:00"
    assert describe_moment("2016-07-01", "1h", 73) == "Mon 2016-07-04 01:00"
    assert describe_moment("2016-07-01", "30s", 1) == "Fri 2016-07-01 00:00:30"
    assert describe_moment("0001-01-01", "1d", 0) == "Mon 0001-01-01 00:00"


@pytest.mark.parametrize("step", ["0.2ms", "33.3us", "1.5s", "999.999999999ms", "1ns", "22.675736961us"])
def test_moments_of_parts_of_a_second_are_those_of_decimal_numbers(step):
    size = Decimal(step.rstrip("munsµ")) * {"ms": Decimal("1e-3"), "us": Decimal("1e-6"), "ns": Decimal("1e-9")}.get(
        step.lstrip("0123456789."), Decimal(1)
    )
    positions = [0, 1, 7, 29999, 30031, 10**9]
    found = compute_moments("2016-07-01", step, np.array(positions)).astype(np.int64).tolist()
    first = int(np.datetime64("2016-07-01", "s").astype(np.int64))
    assert found == [first + int(size * s) for s in positions]
    for s in positions:
        seconds = Decimal(describe_moment("2016-07-01", step, s).rpartition(":")[2])
        assert size * s % 60 in (seconds, 0 if describe_moment("2016-07-01", step, s).count(":") == 1 else seconds)


def test_moments_end_with_year_9999():
    last = compute_moments("2016-07-01", "1h", np.array([69981935]))
    assert str(last[0]) == "9999-12-31T23:00:00"
    for positions in ([69981936], [2**53]):
        with pytest.raises(InputError, match="beyond year 9999"):
            compute_moments("2016-07-01", "1h", np.array(positions))
    assert len(compute_moments("2016-07-01", "1h", np.array([], dtype=np.int64))) == 0
    assert str(compute_moments("9999-12-31T23:59:59", "0.3s", np.array([3]))[0]) == "9999-12-31T23:59:59"
    with pytest.raises(InputError, match="0 to 3"):
        compute_moments("9999-12-31T23:59:59", "0.3s", np.array([4]))


MONTHLY = [
    ("2016-01-31", "1month", 1, "Mon 2016-02-29 00:00"),
    ("2016-01-31", "1month", 2, "Thu 2016-03-31 00:00"),
    ("2016-01-31T12:30", "1month", 13, "Tue 2017-02-28 12:30"),
    ("2016-11-15", "3month", 1, "Wed 2017-02-15 00:00"),
    ("2016-02-29", "1year", 3, "Thu 2019-02-28 00:00"),
    ("2016-01-01T00:00:01.25", "1month", 11, "Thu 2016-12-01 00:00:01.25"),
    ("9999-10-31", "1month", 2, "Fri 9999-12-31 00:00"),
]


@pytest.mark.parametrize(("start", "step", "position", "written"), MONTHLY)
def test_steps_of_months_are_those_of_the_calendar(start, step, position, written):
    assert describe_moment(start, step, position) == written
    (moment,) = compute_moments(start, step, np.array([position])).tolist()
    assert moment == datetime.fromisoformat(written[4:].partition(".")[0])


def test_months_end_with_year_9999_and_begin_with_year_1():
    with pytest.raises(InputError, match=r"beyond year 9999 \(3 steps of 1month .*; 0 to 2"):
        compute_moments("9999-10-31", "1month", np.array([0, 3]))
    for position in (-1, 12 * 9999):
        with pytest.raises(InputError, match="beyond the calendar"):
            describe_moment("0001-01-31", "1month", position)
    assert describe_moment("0001-02-01", "1month", -1) == "Mon 0001-01-01 00:00"


def test_a_position_between_two_months_is_counted_in_mean_ones():
    assert describe_moment("2016-01-01", "1month", 0.5) == "Sat 2016-01-16 05:14:33"


def test_a_start_within_a_second_moves_the_seconds_of_all():
    found = compute_moments("2016-07-01T00:00:00.25", "0.5s", np.arange(4)).astype(np.int64)
    assert (found - found[0]).tolist() == [0, 0, 1, 1]
    assert describe_moment("2016-07-01T00:00:00.25", "0.5s", 2) == "Fri 2016-07-01 00:00:01.25"
    assert describe_moment("2016-07-01T00:00:00.25", "1.75s", 1) == "Fri 2016-07-01 00:00:02"
    assert len(compute_moments("9999-12-31T23:59:59.5", "0.3s", np.array([1]))) == 1
    with pytest.raises(InputError, match="0 to 1"):
        compute_moments("9999-12-31T23:59:59.5", "0.3s", np.array([2]))


def test_periods():
    assert parse_periods(["minute hour", "day", "week,month,year", "36h", "60min", "hour"], "--periods") == (
        ("minute", 60),
        ("hour", 3600),
        ("day", 86400),
        ("week", 604800),
        ("month", 2629746),
        ("year", 31556952),
        ("36h", 129600),
        ("1h", 3600),
    )
    assert 2629746 == 30.436875 * 86400
    assert 31556952 == 365.2425 * 86400
    for text in ("", "day,,week", "fortnight", "0s", "5"):
        with pytest.raises(InputError, match="--periods is "):
            parse_periods([text], "--periods")


# ----------------------------------------------------------------------------------- real positions


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("p.json", "--positions is no file of a kind that is read here (p.json)"),
        ("p.csv::", "--positions is no file of a kind that is read here (p.csv::)"),
        ("folder/", "--positions is no file of a kind that is read here (folder/)"),
        ("0:10", "--positions has no step (0:10)"),
        ("0:1:2:3", "--positions is no range (0:1:2:3)"),
        ("times", "--positions is no range (times)"),
        ("", "--positions is no range ('')"),
    ],
)
def test_positions_say_what_is_accepted(text, what):
    with pytest.raises(InputError) as caught:
        read_places(text)
    accepted = "a file with one column of numbers or ISO times, or FILE::COLUMN, is accepted"
    assert str(caught.value) == f"{what}; A:B:C (from A by C, end excluded) or {accepted}"
