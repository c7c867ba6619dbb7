"""Encodings of time: calendars, Time2Vec and mTAN, against the formulas and facts they come from."""

import cmath
import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.domains import (
    Duration,
    Moment,
    compute_moments,
    describe_moment,
    parse_periods,
    read_duration,
    read_moment,
)
from pe_spectra.encodings import calendar_keys
from pe_spectra.encodings.calendar import FIELDS, Calendar
from pe_spectra.encodings.calendar_keys import key_sums, write_roots_of_unity
from pe_spectra.encodings.temporal import Mtan, MtanLearned, Time2Vec
from pe_spectra.errors import InputError

INFORMER = {"fields": ("month", "day", "weekday", "hour"), "kind": "fixed", "mode": "sum"}


def count_groups(encoding, length):
    """Distinct keys, positions that share theirs, and the largest group."""
    _, counts = np.unique(encoding.exact_key(np.arange(length)), return_counts=True)
    return len(counts), int(counts[counts > 1].sum()), int(counts.max())


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
    ],
)
def test_moments_are_read_and_kept_as_one_text(given, kept):
    assert Moment().parse(given, "--start") == kept == Moment().check(kept, "--start")
    assert read_moment(given) == datetime.fromisoformat(kept)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "2016", "2016-7-1", "2016-13-01", "2015-02-29", "0000-01-01", "10000-01-01", "2016-07-01T24:00",
        "2016-07-01T00", "2016-07-01T00:00Z", "2016-07-01T00:00+02:00", "2016-07-01T00:00:00.5", " 2016-07-01",
        "2016-07-01\n", "٢٠١٦-07-01", "20160701", "2016-W26-5",
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(InputError, match="--start is no moment") as caught:
        Moment().parse(text, "--start")
    assert "2016-07-01T00:00" in str(caught.value)


def test_moments_of_python():
    assert Moment().check(date(2016, 7, 1), "start") == "2016-07-01T00:00"
    assert Moment().check(datetime(2016, 7, 1, 2, 3, 4), "start") == "2016-07-01T02:03:04"
    for value in (
        datetime(2016, 7, 1, tzinfo=UTC),
        datetime(2016, 7, 1, 0, 0, 0, 5),
        2016,
        None,
        b"2016-07-01",
    ):
        with pytest.raises(InputError, match="start is no moment"):
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
    ],
)
def test_durations_are_read_and_kept_as_one_text(given, kept, seconds):
    assert Duration().parse(given, "--step") == kept == Duration().check(kept, "--step")
    assert read_duration(given) == seconds == read_duration(kept)


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "min", "0s", "-5min", "1.5h", "5 min", "5m", "5T", "1H", "1month", "1h30min", "9" * 40 + "s",
        "315537897600s", "٥min",
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InputError, match="--step is "):
        Duration().parse(text, "--step")


def test_durations_of_python():
    assert Duration().check(timedelta(days=1, minutes=5), "step") == "1445min"
    for value in (timedelta(0), timedelta(seconds=-5), timedelta(microseconds=5), 300, None):
        with pytest.raises(InputError, match="step is "):
            Duration().check(value, "step")


def test_a_position_is_written_as_a_date_in_english():
    assert describe_moment("2016-07-01", "1h", 0) == "Fri 2016-07-01 00:00"
    assert describe_moment("2016-07-01", "1h", 73) == "Mon 2016-07-04 01:00"
    assert describe_moment("2016-07-01", "30s", 1) == "Fri 2016-07-01 00:00:30"
    assert describe_moment("0001-01-01", "1d", 0) == "Mon 0001-01-01 00:00"


def test_moments_end_with_year_9999():
    last = compute_moments("2016-07-01", "1h", np.array([69981935]))
    assert str(last[0]) == "9999-12-31T23:00:00"
    for positions in ([69981936], [2**53]):
        with pytest.raises(InputError, match="beyond year 9999"):
            compute_moments("2016-07-01", "1h", np.array(positions))
    assert len(compute_moments("2016-07-01", "1h", np.array([], dtype=np.int64))) == 0


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
        moment = read_moment(start) + s * timedelta(seconds=read_duration(step))
        expected = [
            moment.minute // 7, moment.hour, moment.weekday(), moment.day, moment.timetuple().tm_yday, moment.month
        ]  # fmt: skip
        assert found.tolist() == expected


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
        ({"start": "2016"}, "start is no moment"),
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


# ----------------------------------------------------------------------------------- Time2Vec, mTAN


def test_time2vec_is_a_line_and_sines():
    """Kazemi et al. 2019, Eq. (1): w_0 t + b_0 first, then sin(w_i t + b_i)."""
    encoding = Time2Vec(values=np.array([[0.5, 2.0, -3.0], [1.0, 0.25, 0.0]]))
    assert encoding.d == 3
    expected = [0.5 * 7 + 1, math.sin(2 * 7 + 0.25), math.sin(-21)]
    assert_allclose(encoding.table([7])[0], expected, rtol=0, atol=4e-16)
    assert_allclose(encoding.table_at([6.5])[0], [4.25, math.sin(13.25), math.sin(-19.5)], rtol=0, atol=1e-15)


def test_mtan_learned_is_a_line_and_sines_of_scaled_time():
    """reml-lab/mTAN, src/models.py, learn_time_embedding: [linear(t), sin(periodic(t))]."""
    encoding = MtanLearned(values=np.array([[0.5, 2.0], [1.0, 0.25]]), unit=10)
    assert_allclose(encoding.table([7])[0], [0.5 * 0.7 + 1, math.sin(2 * 0.7 + 0.25)], rtol=0, atol=4e-16)
    assert_allclose(encoding.table_at([6.5])[0], [0.5 * 0.65 + 1, math.sin(1.55)], rtol=0, atol=4e-16)


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_far_positions_keep_their_digits(cls):
    encoding = cls(width=5, seed=3)
    unit = 48 if cls is MtanLearned else 1
    with mpmath.workdps(60):
        for s in (1, 999, 10**9, 2**53):
            row = encoding.table([s])[0]
            for column in range(1, 5):
                w, b = (mpmath.mpf(float(x)) for x in encoding.weights[:, column])
                assert abs(row[column] - mpmath.sin(w * s / unit + b)) < 4e-16


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_keys_of_a_line_and_sines(cls):
    s = np.arange(50)
    assert_array_equal(cls(seed=1).exact_key(s), s)
    level = cls(values=np.array([[0.0, 0.0], [1.0, 2.0]]))
    assert_array_equal(level.exact_key(s), np.zeros(50))
    assert_array_equal(level.table(3), np.tile(level.table(1), (3, 1)))
    sine = cls(values=np.array([[0.0, 1e-3], [1.0, 0.0]]))
    assert len(np.unique(sine.exact_key(s))) == 50
    assert cls().is_random
    assert not level.is_random


@pytest.mark.parametrize("cls", [Time2Vec, MtanLearned])
def test_a_line_and_sines_refuse_what_does_not_fit(cls):
    two = np.ones((2, 4))
    assert cls(values=two, width=4).d == 4
    assert cls(**cls(values=two).given) == cls(values=two)
    for given, message in (
        ({"values": np.ones((3, 4))}, "table has shape"),
        ({"values": np.ones((2, 1))}, "table has shape"),
        ({"values": two, "width": 5}, "d contradicts the table"),
        ({"values": two, "seed": 1}, "seed has no meaning here"),
    ):
        with pytest.raises(InputError, match=message):
            cls(**given)


def test_weights_begin_as_published():
    assert abs(Time2Vec(width=4096).weights.std() - 1) < 0.03
    drawn = MtanLearned(width=4096).weights
    assert abs(drawn.std() - 1 / math.sqrt(3)) < 0.01
    assert np.abs(drawn).max() <= 1


def test_mtan_is_a_sinusoid_of_base_10():
    """reml-lab/mTAN, src/models.py, fixed_time_embedding: sin, cos of 48 t 10^(-2i/d)."""
    encoding = Mtan(d=6, unit=100)
    expected = [f(48 * 0.37 / 10 ** (2 * i / 6)) for i in range(3) for f in (math.sin, math.cos)]
    assert_allclose(encoding.table([37])[0], expected, rtol=0, atol=4e-15)
    assert_allclose(encoding.table_at([37.0])[0], expected, rtol=0, atol=4e-15)
    assert_allclose(Mtan(d=4).frequencies().values, [1, 10**-0.5], rtol=1e-15)
    with pytest.raises(InputError, match="d is odd"):
        Mtan(d=5)


@pytest.mark.parametrize("unit", [0.001, 47.3, 48.0, 1e12])
def test_mtan_to_many_digits(unit):
    encoding = Mtan(d=8, unit=unit)
    frequencies = encoding.frequencies()
    with mpmath.workdps(60):
        for i in range(4):
            w = 48 / mpmath.mpf(unit) * mpmath.mpf(10) ** (-mpmath.mpf(2 * i) / 8)
            found = mpmath.mpf(float(frequencies.values[i])) + mpmath.mpf(float(frequencies.low[i]))
            assert abs(found - w) < 1e-30 * w
            assert abs(mpmath.mpf(str(encoding.turns(i))) * 2 * mpmath.pi - w) < 1e-50 * w
            for s in (3, 12345, 2**53):
                row = encoding.table([s])[0]
                assert abs(row[2 * i] - mpmath.sin(w * s)) < 2.3e-16
                assert abs(row[2 * i + 1] - mpmath.cos(w * s)) < 2.3e-16


def test_the_kernel_of_mtan_is_the_dot_product():
    encoding = Mtan(d=16, unit=30)
    table = encoding.table(40)
    assert_allclose(encoding.kernel(np.arange(40))[0], table @ table[0], rtol=0, atol=1e-14)
    assert_allclose(encoding.kernel([-5, 5])[0], table[5] @ table[0] * np.ones(2), rtol=0, atol=1e-14)
