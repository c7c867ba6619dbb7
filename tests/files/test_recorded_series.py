"""Files of recorded series: what is read of each, what is counted, and what is refused in one line."""

import re

import numpy as np
import pytest

from pe_spectra.errors import FileError, PeSpectraError
from pe_spectra.files.reading import RefusedError
from pe_spectra.files.recorded_series import read_series
from pe_spectra.files.series_times import NumberUnit, read_moments
from pe_spectra.sources import read_encoding

DAYS = [str(np.datetime64("2024-01-01") + day) for day in range(4)]
PLAIN = "date,x\n" + "".join(f"{day},{place}\n" for place, day in enumerate(DAYS))


def read(tmp_path, text, name="a.csv", **more):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_series(path, **more)


def refuse(tmp_path, text, name="a.csv", **more):
    with pytest.raises(FileError) as caught:
        read(tmp_path, text, name, **more)
    told = str(caught.value)
    assert "\n" not in told
    return told.partition(f"{name}: ")[2]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.rstrip("\n"),
        PLAIN + "\n\n",
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", " | "),
        PLAIN.replace("2024-01-02", '"2024-01-02"'),
        PLAIN.replace("01,0", "01 00:00:00.000000000,0"),
        PLAIN.replace("02,1", "02T00:00,1.0"),
    ],
)
def test_one_table_in_many_spellings(tmp_path, text):
    found = read(tmp_path, text)
    assert (found.timed, list(found.columns), found.rows) == ("date", ["x"], 4)
    np.testing.assert_array_equal(found.columns["x"], np.arange(4.0))
    np.testing.assert_array_equal(found.times.seconds, np.arange(4) * 86400.0)
    assert found.times.origin == np.datetime64("2024-01-01")
    assert found.notes == ()


@pytest.mark.parametrize("text", [PLAIN.replace("-", "/"), PLAIN.replace("-", "/").replace("03,2", "03 00:00,2")])
def test_dates_may_have_slashes(tmp_path, text):
    found = read(tmp_path, text)
    assert (found.timed, found.times.origin, found.notes) == ("date", np.datetime64("2024-01-01"), ())
    np.testing.assert_array_equal(found.times.seconds, np.arange(4) * 86400.0)
    assert refuse(tmp_path, text.replace("2024/01/02", "2024/01-02")).startswith("line 3, column date is no time")
    assert "is no date of the calendar (2024/02/30)" in refuse(tmp_path, text.replace("2024/01/02", "2024/02/30"))


def test_days_may_be_numbers(tmp_path):
    found = read(tmp_path, PLAIN.replace("-", ""))
    assert (found.timed, found.times.origin) == ("date", np.datetime64("2024-01-01"))
    np.testing.assert_array_equal(found.times.seconds, np.arange(4) * 86400.0)
    assert found.notes == ("column date was read as days, written as YYYYMMDD",)
    # of other numbers one at least is no day
    other = read(tmp_path, "t,x\n20240230,1\n20240301,2\n20240302,3\n")
    assert (other.known["unit"], other.known["origin"], other.notes) == ("units of the times", None, ())


def test_years_are_dates_by_the_name_of_their_column(tmp_path):
    found = read(tmp_path, "YEAR,x\n1999,1\n2000,2\n2001,3\n")
    assert (found.timed, found.times.origin, list(found.columns)) == ("YEAR", np.datetime64("1999-01-01"), ["x"])
    np.testing.assert_array_equal(found.times.seconds, np.array([0, 365, 731]) * 86400.0)
    assert found.notes == ("column YEAR was read as years",)
    half = read(tmp_path, "yr,x\n1999.04,1\n2000.5,2\n")
    assert half.times.origin == np.datetime64("1999-01-01") + np.timedelta64(round(0.04 * 365 * 86400), "s")
    # of a year that stands there for each of its months the month is elsewhere
    for text in ("year,month,x\n1999,1,1\n1999,2,2\n", "year,x\n12,1\n13,2\n"):
        assert read(tmp_path, text).timed is None
    assert read(tmp_path, "t,x\n1999,1\n2000,2\n").known["origin"] is None


def test_years_with_months_as_their_parts_are_dates(tmp_path):
    months = np.arange("1999-11", "2001-03", dtype="datetime64[M]")
    years = (months.astype(int) + 12 * 1970) / 12
    found = read(tmp_path, "time,x\n" + "".join(f"{year:.9g},1\n" for year in years))
    assert found.times.origin == np.datetime64("1999-11-01")
    np.testing.assert_array_equal(
        found.times.seconds, (months - months[0].astype("datetime64[D]")) / np.timedelta64(1, "s")
    )
    assert found.notes == ("column time was read as years, parts of which are months",)


def test_a_text_without_a_header_has_numbered_columns(tmp_path):
    found = read(tmp_path, PLAIN.partition("\n")[2], columns=["column2"])
    assert (found.timed, list(found.columns), found.rows) == ("column1", ["column2"], 4)


def test_an_unnamed_column_is_the_index(tmp_path):
    assert list(read(tmp_path, ",x\n0,1\n1,2\n").columns) == ["index", "x"]


def test_missing_values_and_rows_without_a_time(tmp_path):
    found = read(tmp_path, "t,date,x\n1,2024-01-01,\n2,,5\n3,NaT,6\n4,2024-01-02,nan\n5,2024-01-03,7\n", columns=["x"])
    np.testing.assert_array_equal(found.columns["x"], [np.nan, np.nan, 7])
    np.testing.assert_array_equal(found.times.seconds, [0, 86400, 172800])
    assert found.known["timeless"] == 2


def test_words_and_further_dates_are_left_out_and_named(tmp_path):
    text = "a,b,site,x\n2024-01-01,2024-02-01,k,1\n2024-01-02,2024-02-02,l,2\n"
    found = read(tmp_path, text)
    assert (found.timed, list(found.columns)) == ("a", ["x"])
    assert found.notes == ("left out, for they hold no numbers: site (k) and b",)
    assert read(tmp_path, text, time="b", columns=["x"]).times.origin == np.datetime64("2024-02-01")


@pytest.mark.parametrize(
    ("zones", "hours"),
    [
        (["Z", "+00:00", " UTC"], [0, 1, 2]),
        (["+01:00", "+0100", "+01"], [0, 1, 2]),
        (["+01:00", "+02:00", "+02:00"], [0, 0, 1]),
        (["-05:30", "-05:30", "-04:30"], [0, 1, 1]),
    ],
)
def test_zones_become_utc(tmp_path, zones, hours):
    rows = "".join(f"2024-01-01T{hour:02}:00{zone},1\n" for hour, zone in enumerate(zones))
    found = read(tmp_path, f"time,x\n{rows}")
    np.testing.assert_array_equal(found.times.seconds, np.array(hours) * 3600.0)
    shifts = [shift for _, shift in found.times.shifts]
    assert shifts == [3600.0] * (3 - len({*np.diff(hours)}) == 1)
    told = "column time: its zone changes 1 time; times are in UTC, where what goes by local clocks moves by as much"
    assert found.notes == ((told,) if shifts else ())


@pytest.mark.parametrize(("parts", "unit"), [(1, "seconds"), (10**3, "milliseconds"), (10**6, "mic"), (10**9, "nano")])
def test_numbers_since_1970_are_dates(tmp_path, parts, unit):
    rows = "".join(f"{1_700_000_000 * parts + place},1\n" for place in range(3))
    found = read(tmp_path, f"ts,x\n{rows}")
    np.testing.assert_allclose(found.times.seconds, np.arange(3) / parts, rtol=1e-12)
    assert found.times.origin == np.datetime64("2023-11-14T22:13:20")
    assert f"column ts was read as {unit}" in found.notes[0]


def test_other_numbers_are_times_of_any_unit(tmp_path):
    found = read(tmp_path, "x,t\n1,0.5\n2,\n3,2.5\n")
    assert (found.timed, found.known["unit"], found.known["origin"]) == ("t", "units of the times", None)
    np.testing.assert_array_equal(found.times.seconds, [0.5, 2.5])
    np.testing.assert_array_equal(found.columns["x"], [1, 3])


@pytest.mark.parametrize("text", ["x,t\n1,3\n2,\n3,5.5\n", "x,t\n1,3e9\n2,\n3,3000000002.5\n"])
def test_numbers_are_times_of_the_unit_that_is_told(tmp_path, text):
    first = 3 if "3e9" not in text else 3e9
    plain = read(tmp_path, text, unit=NumberUnit(seconds=0.25))
    assert (plain.known["unit"], plain.known["origin"]) == ("s", None)
    np.testing.assert_array_equal(plain.known["times"], [first / 4, first / 4 + 0.625])
    dated = read(tmp_path, text, unit=NumberUnit(seconds=0.25, start=np.datetime64("2024-01-01", "us")))
    np.testing.assert_array_equal(dated.known["times"], [0, 0.625])
    assert dated.known["origin"] == np.datetime64("2024-01-01", "us") + np.timedelta64(int(first * 250_000), "us")
    assert plain.notes == dated.notes == ()
    np.testing.assert_array_equal(dated.columns["x"], [1, 3])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x,t\n1,0\n2,1.5\n", "column t has 1.5; after --start whole months or years from 0 on are accepted"),
        ("x,t\n1,-2\n2,1\n", "column t has -2; after --start whole months or years from 0 on are accepted"),
        ("x,t\n1,1\n2,1e300\n", "column t: a position is beyond year 9999 (1000000000 steps of 1month from "),
    ],
)
def test_months_without_a_date_are_refused(tmp_path, text, told):
    unit = NumberUnit(seconds=2629746.0, start=np.datetime64("2024-01-01", "us"), months=1)
    assert refuse(tmp_path, text, unit=unit).startswith(told)


def test_rows_last_as_long_as_is_told_where_there_are_no_times(tmp_path):
    found = read(tmp_path, "x\n1\n2\n", unit=NumberUnit(seconds=60.0))
    assert (found.timed, found.known["unit"], found.known["rows"], found.known["timeless"]) == (None, "s", 2, 0)
    np.testing.assert_array_equal(found.known["times"], [0, 60])
    assert found.notes == ("no column of times was found: rows count as evenly spaced",)
    told = refuse(tmp_path, "day,x\n2024-01-01,1\n", unit=NumberUnit(seconds=60.0))
    assert told == "has dates in column day; --time-unit goes with numbers"


def test_rows_are_counted_where_there_are_no_times(tmp_path):
    found = read(tmp_path, "x\n1\n2\n")
    assert (found.timed, found.times) == (None, None)
    np.testing.assert_array_equal(found.known["times"], [0, 1])
    assert found.notes == ("no column of times was found: rows count as evenly spaced",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty (0 bytes)"),
        ("\n\n", "is empty, or its first line is; a header or numbers are accepted"),
        ("date,x\n", "is empty: no line below its header"),
        (PLAIN.replace(",2", ",a"), "line 4, column x is no number (a); --column chooses others"),
        (
            PLAIN.replace(",2", ";2,5").replace(",", ";").replace("2;5", "2,5").replace(";;", ";"),
            "line 4, column x is no",
        ),
        (
            PLAIN.replace("2024-01-03", "03.01.2024"),
            "line 4, column date is no time (03.01.2024); dates of ISO 8601 as",
        ),
        (PLAIN.replace("2024-01-03", "2024-02-30"), "line 4, column date is no date of the calendar (2024-02-30)"),
        (PLAIN.replace("2024-01-03", "2024-01-03Z"), "line 4, column date has a zone where lines above have none; all"),
        (PLAIN.replace("-01,", "-01Z,"), "line 3, column date has no zone where lines above have one; all or none"),
        (PLAIN.replace(",2", ",2,3"), "line 4 has 3 cells where 2 are expected"),
        (PLAIN.replace("2024-01-03", "\n2024-01-03"), "line 4 is empty, and more follow"),
        ("a,a\n1,2\n", "line 1 has two columns with one name (a)"),
        (b"\xff\xfed\x00", "is UTF-16; UTF-8 is accepted"),
        ("date\n2024-01-01\n", "has no numbers beside its times"),
        ("date,x\n2024-01-01,k\n", "has no numbers beside its times; without numbers: x (k)"),
        ("date,x\n2024-01-01,1\n,2\n".replace("2024-01-01", "NaT"), "column date has no time"),
        (
            ",".join(f"c{place}" for place in range(65)) + "\n" + ",".join("1" * 65),
            "has 65 columns of numbers; --column",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, told):
    assert refuse(tmp_path, text, time="date" if "NaT" in str(text) else None).startswith(told)


def test_columns_that_there_are_not_or_that_hold_no_numbers(tmp_path):
    assert refuse(tmp_path, PLAIN, columns=["load"]) == "has no column load; it has date and x"
    assert refuse(tmp_path, PLAIN, time="when") == "has no column when; it has date and x"
    text = "date,until,x\n2024-01-01,2024-01-02,1\n"
    assert refuse(tmp_path, text, columns=["until"]) == "has no numbers beside its times; without numbers: until"
    assert refuse(tmp_path, "a,b\nk,1\n", columns=["a"]).startswith("line 2, column a is no number (k)")
    assert refuse(tmp_path, "t,b\n,1\n") == "column t has no time"


def test_an_empty_line_of_one_column_is_a_missing_value_but_for_the_last(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, "x\n1\n\n\n2\n\n").columns["x"], [1, np.nan, np.nan, 2])


def test_too_many_rows_are_refused(tmp_path, monkeypatch):
    for module in ("series_text", "recorded_series"):
        monkeypatch.setattr(f"pe_spectra.files.{module}.MAX_SERIES_ROWS", 3)
    assert refuse(tmp_path, PLAIN) == "has more than 3 rows, the most that is accepted"
    np.save(tmp_path / "a.npy", np.arange(4))
    with pytest.raises(FileError, match=r"has 4 rows; at most 3 are accepted"):
        read_series(tmp_path / "a.npy")
    monkeypatch.setattr("pe_spectra.files.series_text.MAX_TEXT_TABLE_BYTES", 5)
    assert refuse(tmp_path, PLAIN) == f"has {len(PLAIN)} bytes; a text of at most 5 is accepted"


def test_long_texts_are_read_in_parts_as_at_once(tmp_path, monkeypatch):
    rows = "".join(f"2024-01-01T{place // 60:02}:{place % 60:02},{place}\n" for place in range(600))
    whole = read(tmp_path, f"date,x\n{rows}")
    monkeypatch.setattr("pe_spectra.files.series_text._LINES", 7)
    parts = read(tmp_path, f"date,x\n{rows}")
    np.testing.assert_array_equal(parts.columns["x"], whole.columns["x"])
    np.testing.assert_array_equal(parts.times.seconds, np.arange(600) * 60.0)
    assert refuse(tmp_path, f"date,x\n{rows}".replace(",500\n", ",k\n")).startswith("line 502, column x is no number")


def test_arrays_of_numpy(tmp_path):
    np.save(tmp_path / "a.npy", np.array([1.0, np.nan, 3.0]))
    np.testing.assert_array_equal(read_series(tmp_path / "a.npy").columns["value"], [1, np.nan, 3])
    np.save(tmp_path / "b.npy", np.arange(6).reshape(3, 2))
    assert list(read_series(tmp_path / "b.npy").columns) == ["value0", "value1"]
    np.savez(tmp_path / "c.npz", time=[0.0, 2.0], load=[5, 6], pair=np.eye(2))
    found = read_series(tmp_path / "c.npz", columns=["load"])
    assert (found.timed, list(found.columns)) == ("time", ["load"])
    np.savez(tmp_path / "d.npz", time=[0.0, 2.0], load=[5, 6, 7])
    with pytest.raises(FileError, match=r"has arrays of different lengths \(2 and 3\); one is accepted"):
        read_series(tmp_path / "d.npz")


def test_other_files_are_refused(tmp_path):
    assert refuse(tmp_path, "x", "a.json").startswith("is no kind of file that a series is read from; .csv")
    with pytest.raises(FileError, match="no such file"):
        read_series(tmp_path / "none.csv")


def test_a_column_of_dates_without_any_is_refused():
    with pytest.raises(RefusedError, match="column when has no time"):
        read_moments(np.array(["NaT", "NaT"], dtype="datetime64[us]"), "when")


def test_without_pyarrow_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("pe_spectra.files.parquet_table.find_spec", lambda _: None)
    with pytest.raises(PeSpectraError, match="pip install pyarrow installs it"):
        read(tmp_path, b"PAR1", "a.parquet")


def test_months_are_their_first_days_in_cells_and_may_be_names_of_columns(tmp_path):
    found = read(tmp_path, "Month,x\n1949-11,1\n1949-12,2\n1950-01,3\n")
    assert (found.timed, found.times.origin, found.notes) == ("Month", np.datetime64("1949-11-01"), ())
    np.testing.assert_array_equal(found.times.seconds, np.array([0, 30, 61]) * 86400.0)
    assert list(read(tmp_path, "2015-01,2015-02\n1,2\n3,4\n").columns) == ["2015-01", "2015-02"]
    assert read(tmp_path, "Month,x\n1949-13,1\n1949-14,2\n").timed is None


@pytest.mark.parametrize("name", ["time", "at"])
def test_days_have_their_times_from_another_column(tmp_path, name):
    rows = "".join(f"2024-01-0{1 + place // 2},{12 * (place % 2):02}:30,{place}\n" for place in range(4))
    found = read(tmp_path, f"date,{name},x\n{rows}2024-01-03,,5\n,00:30,6\n", columns=["x"])
    assert (found.timed, list(found.columns), found.times.origin) == ("date", ["x"], np.datetime64("2024-01-01T00:30"))
    np.testing.assert_array_equal(found.times.seconds, np.arange(4) * 43200.0)
    assert found.known["timeless"] == 2  # no time is made up for them
    assert found.notes == (f"times of the day of column date are those of column {name}",)


def test_days_that_stand_there_once_each_are_as_they_are(tmp_path):
    found = read(tmp_path, "date,sunrise,x\n2024-01-01,08:12,1\n2024-01-02,08:11,2\n")
    assert found.times.origin == np.datetime64("2024-01-01")
    assert found.notes == ("left out, for they hold no numbers: sunrise (08:12)",)


@pytest.mark.parametrize("zone", ["+25:00", "-24:00", "+01:99", "+0160"])
def test_what_no_zone_can_be_is_refused(tmp_path, zone):
    rows = f"2024-01-01T00:00+01:00,1\n2024-01-02T00:00{zone},2\n"
    assert refuse(tmp_path, f"date,x\n{rows}").startswith(f"line 3, column date is no time (2024-01-02T00:00{zone})")


def test_columns_that_are_left_out_are_named_with_what_they_hold(tmp_path):
    found = read(tmp_path, "date,x\n31/01/2024,1\n01/02/2024,2\n")
    assert found.notes[-1] == "left out, for they hold no numbers: date (31/01/2024)"
    text = "date;x\n2024-01-01;10,5\n2024-01-02;11,5\n"
    assert refuse(tmp_path, text).startswith("has no numbers beside its times; without numbers: x (10,5)")


def test_lines_that_end_in_carriage_returns_alone_are_refused(tmp_path):
    assert "carriage return" in refuse(tmp_path, PLAIN.replace("\n", "\r"))
    assert "line 3 has a carriage return within it" in refuse(tmp_path, PLAIN.replace("02,1", "02,\r1"))


MOMENTS = np.datetime64("2024-01-01T00:00") + 30 * np.arange(4).astype("timedelta64[m]")


@pytest.mark.parametrize("kind", ["<M8[m]", ">M8[s]", "<M8[us]", "<M8[ns]"])
def test_dates_of_numpy_are_times(tmp_path, kind):
    np.savez(tmp_path / "a.npz", load=np.arange(4.0), when=MOMENTS.astype(kind))
    found = read_series(tmp_path / "a.npz")
    assert (found.timed, found.known["origin"], found.notes) == ("when", np.datetime64("2024-01-01", "us"), ())
    np.testing.assert_array_equal(found.known["times"], 1800 * np.arange(4.0))
    np.testing.assert_array_equal(found.columns["load"], np.arange(4.0))


def test_dates_of_numpy_that_are_missing_or_finer_than_microseconds_are_told(tmp_path):
    moments = MOMENTS.astype("datetime64[ns]") + np.timedelta64(7, "ns")
    moments[1] = "NaT"
    np.savez(tmp_path / "a.npz", load=np.arange(4.0), t=moments)
    found = read_series(tmp_path / "a.npz")
    assert (found.known["timeless"], found.notes) == (1, ("column t: parts of a microsecond were left out",))
    np.testing.assert_array_equal(found.columns["load"], [0, 2, 3])


@pytest.mark.parametrize(
    ("dates", "told"),
    [
        (np.array([20000, 20001], dtype="datetime64[Y]"), "column t has a date beyond the years 1 to 9999"),
        (np.array(["NaT", "NaT"], dtype="datetime64[s]"), "column t has no time"),
        (MOMENTS[:2].astype("datetime64[25s]"), "holds dates (<M8[25s]); float16, "),
        (MOMENTS[:3], "has arrays of different lengths (2 and 3); one is accepted"),
    ],
)
def test_dates_of_numpy_that_are_refused(tmp_path, dates, told):
    np.savez(tmp_path / "a.npz", t=dates, x=np.zeros(2))
    with pytest.raises(FileError, match=re.escape(told)):
        read_series(tmp_path / "a.npz")


def test_dates_of_numpy_are_no_table(tmp_path):
    np.save(tmp_path / "a.npy", MOMENTS)
    with pytest.raises(FileError, match="holds dates"):
        read_encoding(str(tmp_path / "a.npy"))
