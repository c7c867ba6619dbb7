"""Calendars: their fields, keys and periods, against the facts of dates."""

import cmath
import math
from collections import Counter
from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.domains import read_duration
from pe_spectra.encodings import calendar_keys
from pe_spectra.encodings.calendar import FIELDS, Calendar
from pe_spectra.encodings.calendar_keys import key_sums, write_roots_of_unity
from pe_spectra.errors import InputError

INFORMER = {"fields": ("month", "day", "weekday", "hour"), "kind": "fixed", "mode": "sum"}


def count_groups(encoding, length):
    """Distinct keys, positions that share theirs, and the largest group."""
    _, counts = np.unique(encoding.exact_key(np.arange(length)), return_counts=True)
    return len(counts), int(counts[counts > 1].sum()), int(counts.max())


# ----------------------------------------------------------------------------------- calendars: facts


def test_hour_and_weekday_repeat_after_a_week():
    encoding = Calendar(fields=("hour", "weekday"))
    key = encoding.exact_key(np.arange(192))
    assert count_groups(encoding, 192) == (168, 48, 2)
    assert_array_equal(key[:24], key[168:])
    assert_array_equal(encoding.table(192)[:24], encoding.table(192)[168:])
    assert count_groups(Calendar(fields=("hour", "weekday"), timestamp="yes"), 192) == (192, 0, 1)


@pytest.mark.parametrize(
    ("fields", "slot", "distinct"),
    [
        (("hour", "weekday"), 15, 168),
        (("minute", "hour", "weekday"), 15, 672),
        (("minute", "hour", "weekday"), 5, 2016),
    ],
)
def test_eight_days_of_five_minutes(fields, slot, distinct):
    encoding = Calendar(fields=fields, minute_slot=slot, step="5min")
    assert count_groups(encoding, 2304)[0] == distinct
    assert bool(encoding.notes) == (slot == 15)


def test_two_years_of_informers_calendar():
    encoding = Calendar(**INFORMER)
    assert count_groups(encoding, 17420) == (10953, 10388, 9)
    first, second = encoding.exact_key(np.array([0, 73]))
    assert first == second
    assert encoding.describe_position(0) == "Fri 2016-07-01 00:00"
    assert encoding.describe_position(73) == "Mon 2016-07-04 01:00"
    assert_array_equal(encoding.read_fields(np.array([0, 73])), [[7, 1, 4, 0], [7, 4, 0, 1]])
    rows = encoding.table([0, 73])
    assert_allclose(rows[0], rows[1], rtol=0, atol=1e-15)


def test_two_years_of_informers_calendar_counted_with_sorted_tuples():
    shared = Counter()
    for hours in range(17420):
        moment = datetime(2016, 7, 1) + timedelta(hours=hours)
        shared[tuple(sorted((moment.month, moment.day, moment.weekday(), moment.hour)))] += 1
    assert sum(n for n in shared.values() if n > 1) == 10388
    assert (len(shared), max(shared.values())) == (10953, 9)


def test_informers_rows_written_out():
    """zhouhaoyi/Informer2020, models/embed.py: hour_x + weekday_x + day_x + month_x of one sinusoid."""
    d = 6
    expected = [
        sum(f(v / 10000 ** (2 * i / d)) for v in (7, 1, 4, 0)) for i in range(d // 2) for f in (math.sin, math.cos)
    ]
    assert_allclose(Calendar(**INFORMER, width=d).table(1)[0], expected, rtol=0, atol=2e-15)


@pytest.mark.parametrize("start", ["2016-02-27T22:17", "0001-01-01", "1900-02-27T23:59:59", "2099-12-30"])
@pytest.mark.parametrize("step", ["1s", "5min", "1h", "1d", "1week", "1000h"])
def test_fields_are_those_of_datetime(start, step):
    encoding = Calendar(fields=tuple(FIELDS), minute_slot=7, start=start, step=step)
    for s, found in enumerate(encoding.read_fields(np.arange(300))):
        moment = datetime.fromisoformat(start) + s * timedelta(seconds=int(read_duration(step)))
        expected = [
            moment.minute // 7, moment.hour, moment.weekday(), moment.day, moment.timetuple().tm_yday, moment.month,
            60 * moment.hour + moment.minute,
        ]  # fmt: skip
        assert found.tolist() == expected


def test_the_time_of_the_day_is_one_circle():
    """Neighbours are as near around midnight and the full hour as anywhere; half an hour is 7.5 degrees."""
    day = Calendar(fields=("time",), step="1min").table(1441)
    steps = np.linalg.norm(np.diff(day, axis=0), axis=1)
    assert_allclose(steps, 2 * math.sin(math.pi / 1440), rtol=1e-12)
    assert_array_equal(day[0], day[1440])
    assert_allclose(day[600] @ day[630], math.cos(math.radians(7.5)), rtol=1e-14)
    hour = Calendar(fields=("minute",), minute_slot=1, step="1min").table(31)
    assert_allclose(hour[0] @ hour[30], -1, rtol=1e-14)
    half = Calendar(fields=("time",), step="30min")
    assert half.periods_in_steps == (48.0,)
    assert not half.notes


@pytest.mark.parametrize("timestamp", ["no", "yes"])
@pytest.mark.parametrize("fields", [tuple(FIELDS), ("hour", "minute")])
def test_sums_of_numbers_are_equal_where_they_are_the_same_ones(fields, timestamp):
    """One sinusoid of each number: 1:02 is 2:01 where time and timestamp do not tell them apart."""
    encoding = Calendar(fields=fields, kind="fixed", mode="sum", step="1min", minute_slot=1, timestamp=timestamp)
    positions = np.concatenate([np.arange(0, 2000, 7), np.arange(10**6, 10**6 + 500), [62, 121]])
    numbers = encoding.read_fields(positions)
    if timestamp == "yes":
        numbers = np.concatenate([numbers, positions[:, None]], axis=1)
    keys = encoding.exact_key(positions)
    groups = {}
    for key, row in zip(keys.tolist(), np.sort(numbers, axis=1).tolist(), strict=True):
        assert groups.setdefault(key, row) == row
    assert len(groups) == len(np.unique(np.sort(numbers, axis=1), axis=0))
    assert (keys[-1] == keys[-2]) == (fields == ("hour", "minute") and timestamp == "no")


def test_cyclic_rows_close():
    encoding = Calendar(fields=("weekday", "month"), step="1d")
    expected = [
        math.sin(2 * math.pi * 4 / 7),
        math.cos(2 * math.pi * 4 / 7),
        -0.5,
        -math.sqrt(0.75),
    ]
    assert_allclose(encoding.table(1)[0], expected, rtol=0, atol=2e-16)
    steps = np.linalg.norm(np.diff(encoding.table(8)[:, :2], axis=0), axis=1)
    assert_allclose(steps, steps[0], rtol=1e-14)


# ----------------------------------------------------------------------------------- calendars: keys


VARIANTS = [
    {"fields": fields, "kind": kind, "mode": mode, "timestamp": timestamp, "step": step}
    for fields in (("hour",), ("month", "day", "weekday", "hour"), tuple(FIELDS))
    for kind in ("cyclic", "fixed", "learned")
    for mode in ("concat", "sum")
    for timestamp in ("no", "yes")
    for step in ("5min", "1h", "1d")
]


@pytest.mark.few(21)
@pytest.mark.parametrize("given", VARIANTS, ids=lambda given: "-".join(map(str, given.values())))
def test_keys_are_equal_where_rows_are(given):
    narrow = {"width": 5} if given["kind"] != "cyclic" else {}
    encoding = Calendar(**given, **narrow)
    keys, table = encoding.exact_key(np.arange(300)), encoding.table(300)
    distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
    assert_array_equal(np.equal.outer(keys, keys), distances < 1e-12)
    assert table.shape == (300, encoding.d)
    assert encoding.theorem.text
    assert type(encoding)(**encoding.given) == encoding
    assert encoding.is_random == (given["kind"] == "learned")


def test_the_timestamp_can_stand_in_for_a_field():
    """Summed with fixed rows, position 0 at hour 12 has the sum of position 12 at hour 0."""
    encoding = Calendar(fields=("hour",), kind="fixed", mode="sum", timestamp="yes", start="2016-07-01T12:00")
    table = encoding.table(40)
    keys = encoding.exact_key(np.arange(40))
    distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
    assert_array_equal(np.equal.outer(keys, keys), distances < 1e-12)
    assert keys[0] == keys[12]
    assert len(np.unique(keys)) == 28


def test_keys_of_far_positions():
    for timestamp in ("no", "yes"):
        encoding = Calendar(**INFORMER, timestamp=timestamp, step="1s")
        keys = encoding.exact_key(np.array([0, 366, 367, 10**11, 10**11 + 1, 200_000_000_000]))
        assert len(np.unique(keys)) == (6 if timestamp == "yes" else len(np.unique(keys)))
        assert np.isfinite(encoding.table([10**11])).all()


@pytest.mark.parametrize("orders", [(1,), (2, 3), (24, 7), (12, 31), (30, 61, 24), (9, 8, 5)])
def test_roots_of_unity_in_integers(orders):
    """Multiplied with its basis, every row is its root; the basis is read off its own rows."""
    tables = write_roots_of_unity(orders)
    rows = np.concatenate(tables)
    values = np.array([cmath.exp(2j * math.pi * k / p) for p in orders for k in range(p)])
    basis, _, rank, _ = np.linalg.lstsq(rows.astype(complex), values, rcond=None)
    assert rank <= rows.shape[1]
    assert_allclose(rows @ basis, values, atol=1e-12)
    # two and three roots in sum: equal integers exactly where the numbers are equal
    sums = rows[:, None, :] + rows[None, :, :]
    numbers = values[:, None] + values[None, :]
    zero = ~sums.any(axis=2)
    assert_array_equal(zero, np.abs(numbers) < 1e-9)


def test_key_sums_sees_equal_sums_of_different_rows():
    tables = [np.array([[0, 0], [1, 2], [5, 5]]), np.array([[1, 2], [0, 0], [9, 9]])]
    numbers = np.array([[0, 0], [1, 1], [2, 2], [0, 1], [2, 1], [0, 0]])
    keys = key_sums(numbers, tables)
    assert keys[0] == keys[1] == keys[5]
    assert len(set(keys.tolist())) == 4


def test_key_sums_takes_another_form_where_one_mixes_up_different_sums(monkeypatch):
    honest, seeds = calendar_keys._hash_sums, []

    def mix_up(numbers, tables, seed):
        seeds.append(seed)
        return honest(numbers, tables, seed) * (seed > 1)

    monkeypatch.setattr(calendar_keys, "_hash_sums", mix_up)
    monkeypatch.setattr(calendar_keys, "_BLOCK", 4)
    tables = [np.arange(40).reshape(20, 2), np.arange(60).reshape(30, 2)]
    numbers = np.array([[a, b] for a in range(20) for b in range(30)])
    keys = key_sums(numbers, tables)
    assert seeds == [0, 1, 2]
    assert_array_equal(np.unique(keys, return_inverse=True)[1].reshape(-1).max() + 1, 49)
    assert len(set(zip(keys.tolist(), numbers.sum(axis=1).tolist(), strict=True))) == 49


def test_a_million_moments():
    encoding = Calendar(**INFORMER, step="5min")
    assert count_groups(encoding, 1_000_000)[0] == 19458
    assert count_groups(Calendar(step="5min"), 1_000_000)[0] == 59982


def test_learned_rows_of_a_field_stay_whatever_stands_beside_it():
    alone, beside = Calendar(fields=("hour",), kind="learned"), Calendar(fields=("weekday", "hour"), kind="learned")
    assert_array_equal(alone.table(30), beside.table(30)[:, 64:])
    assert abs(Calendar(fields=("hour",), kind="learned", width=4096).table(24).std() - 1) < 0.01


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fields": ("hour", "hour")}, "twice"),
        ({"minute_slot": 5}, "minute_slot has no meaning here"),
        ({"width": 8}, "d has no meaning here"),
        ({"kind": "fixed", "seed": 1}, "seed has no meaning here"),
        ({"fields": ()}, "fields has 0 members"),
        ({"fields": ("second",)}, "fields is not known"),
        ({"timestamp_d": 8}, "timestamp_d has no meaning here"),
        ({"start": "2016"}, "start is not a date or time"),
        ({"step": "0s"}, "step is out of range"),
    ],
)
def test_calendars_refuse_what_does_not_fit(given, message):
    with pytest.raises(InputError, match=message) as caught:
        Calendar(**given)
    assert str(caught.value).startswith("calendar: ")
    assert "\n" not in str(caught.value)


def test_a_calendar_ends_with_year_9999():
    for call in (Calendar().table, Calendar().exact_key):
        with pytest.raises(InputError, match="beyond year 9999"):
            call(np.array([2**53]))


def test_a_calendar_of_months_goes_by_the_calendar():
    calendar = Calendar(fields=("month", "day", "weekday"), start="2015-12-31", step="1month")
    moments = [date(2015, 12, 31), date(2016, 1, 31), date(2016, 2, 29), date(2016, 3, 31), date(2016, 4, 30)]
    assert calendar.read_fields(np.arange(5)).tolist() == [[d.month, d.day, d.weekday()] for d in moments]
    assert calendar.describe_position(2) == "Mon 2016-02-29 00:00"


@pytest.mark.parametrize(("step", "is_coarse"), [("1month", False), ("1d", True), ("31d", False)])
def test_neighbours_share_no_month_where_steps_are_months(step, is_coarse):
    assert any("coarser" in note for note in Calendar(fields=("month",), step=step).notes) is is_coarse
    assert Calendar(fields=("month",), step="1month").periods_in_steps == (12.0,)


# ----------------------------------------------------------------------------------- calendar periods


@pytest.mark.parametrize(("step", "seconds"), [("1h", 3600), ("5min", 300), ("15min", 900)])
@pytest.mark.parametrize("kind", ["cyclic", "fixed", "learned"])
def test_periods_of_fields_are_exact(step, seconds, kind):
    fields = ("minute", "hour", "weekday", "day", "dayofyear", "month")
    days = {"hour": 1, "weekday": 7, "day": 146097 / 4800, "dayofyear": 365.2425, "month": 365.2425}
    expected = [days[field] * 86400 / seconds for field in fields[1:]]
    if step != "1h":  # an hour has one step then
        expected.insert(0, 3600 / seconds)
    assert_allclose(Calendar(fields=fields, step=step, kind=kind).periods_in_steps, expected, rtol=1e-15)


def test_a_field_that_cannot_be_followed_has_no_period():
    assert Calendar(fields=("hour",), step="1d").periods_in_steps == ()
    assert Calendar(fields=("hour",), step="12h").periods_in_steps == (2.0,)
    assert Calendar(fields=("minute",), minute_slot=60, step="1min").periods_in_steps == ()


def test_a_timestamp_adds_its_wavelengths():
    periods = Calendar(fields=("weekday",), timestamp="yes", timestamp_d=4).periods_in_steps
    assert_allclose(periods, [168, 2 * math.pi, 200 * math.pi], rtol=1e-15)


def test_the_nearest_period_of_a_calendar_is_its_own():
    from pe_spectra.metrics.compare import compare_encodings

    periods = [("month", 146097 / 4800 * 86400), ("week", 604800.0), ("year", 365.2425 * 86400), ("90min", 5400.0)]
    (found,) = compare_encodings([Calendar()], length=64, step_seconds=3600.0, periods=periods)
    nearest = [match.nearest_period for match in found.periods]
    assert_allclose(nearest, [146097 / 4800 * 86400, 604800, 365.2425 * 86400, 86400], rtol=1e-14)


# ----------------------------------------------------------------------------------- calendars


def count_in_a_row(slot: int, step: int, positions: int = 2000) -> int:
    """The most positions in a row with one minute slot and one hour."""
    start = datetime(2016, 7, 1)
    moments = [start + timedelta(minutes=step * s) for s in range(positions)]
    fields = [(one.hour, one.minute // slot) for one in moments]
    longest = run = 1
    for before, after in pairwise(fields):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize(
    ("slot", "step", "most"),
    [(15, 5, ""), (15, 10, "up to "), (15, 7, "up to "), (14, 7, "up to "), (60, 45, "up to ")],
)
def test_positions_that_share_a_slot_are_counted(slot, step, most):
    encoding = read_encoding(f"calendar:fields=minute+hour,minute_slot={slot},step={step}min")
    ((remark,),) = [one.remarks for one in compare_encodings([encoding], step_seconds=60 * step)]
    assert remark.endswith(f"so {most}{count_in_a_row(slot, step)} positions in a row share their fields")


@pytest.mark.parametrize(("days", "shares"), [(28, True), (30, True), (31, False), (59, False)])
def test_months_are_coarser_than_steps_below_their_longest(days, shares):
    encoding = read_encoding(f"calendar:fields=month,start=2016-01-01,step={days}d")
    months = [(datetime(2016, 1, 1) + timedelta(days=days * s)).month for s in range(200)]
    assert any(a == b for a, b in pairwise(months)) == shares
    assert any("neighbours share a position vector" in note for note in encoding.notes) == shares
