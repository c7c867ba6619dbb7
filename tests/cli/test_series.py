"""The command `series`: its answer in every format, its figure, and what it refuses."""

import csv
import io
import json

import numpy as np
import pytest

from tests.documents import find_fault
from tests.series.recorded import add_waves


@pytest.fixture
def here(cli, tmp_path):
    """A folder with half-hourly readings of eight weeks: a day, a week, noise, a gap, a repeated row."""
    steps = np.delete(np.arange(2688.0), np.arange(700, 720))
    rng = np.random.default_rng(0)
    load = add_waves(steps, (48, 1), (336, 0.7)) + 0.3 * rng.standard_normal(len(steps))
    moments = np.datetime64("2024-01-01T00:00") + (steps * 30).astype("timedelta64[m]")
    rows = [f"{moment},{one:.4f},{rng.standard_normal():.4f},5" for moment, one in zip(moments, load, strict=True)]
    (tmp_path / "load.csv").write_text("\n".join(["date,load,noise,flat", *rows[:9], *rows[8:]]))
    (tmp_path / "one.csv").write_text("date,x\n2024-01-01,1\n")
    (tmp_path / "flat.csv").write_text("\n".join(["x", *["1"] * 40]))
    return cli


def test_the_answer_names_periods_gaps_and_repeated_rows(here):
    done = here("series load.csv")
    assert done.code == 0
    first, _, rest = done.out.partition("\n")
    assert first.startswith(
        "Use ladder and periods or ladder and calendar (no rule tells them apart), for their kernel"
    )
    assert "; second: sinusoidal and rope; avoid alibi (is learned worse" in first
    assert "series: Periods of load: a day (48 steps, " in rest
    assert " and a week (33" in rest
    assert "; 1 other column below\n" in rest
    assert "load: a day: 1 d +- " in rest
    assert "gaps: 1 gap, 20 steps missing: 2024-01-15 13:30 to 2024-01-16 00:00 (20)" in rest
    assert "repeated: 1 row at times that others have, 0 with other values: 2024-01-01 04:00" in rest
    assert "flat: periods: not looked for: all values are equal" in rest
    assert "note: of rows at one time the mean of the values was taken" in done.err


def test_json_and_csv_have_the_same_periods(here):
    document = json.loads(here("series load.csv --json").out)
    assert find_fault(document) is None
    assert document["kind"] == "series"
    assert (document["time"], document["sampling"]["step"]) == ("date", 1800.0)
    periods = [period for column in document["columns"] for period in column["periods"]]
    assert [one["named"] for one in periods] == ["day", "week"]
    choice = document["choice"]
    assert (choice["window"], choice["d"], choice["reason"]) == (672, 256, "two of the longest period")
    assert [one["name"] for one in choice["periods"]] == ["day", "week"]
    rows = list(csv.DictReader(io.StringIO(here("series load.csv --format csv").out)))
    assert [row["candidate"] for row in rows] == [one["name"] for one in choice["candidates"]]
    for row, one in zip(rows, choice["candidates"], strict=True):
        assert (row["advice"], int(row["rank"]), row["spec"]) == (one["advice"], one["rank"], one["spec"])
        assert float(row["overlap"]) == one["overlap"]
        assert [float(row[f"ratio_{at['name']}"]) for at in one["periods"]] == [at["ratio"] for at in one["periods"]]


def test_where_nothing_is_chosen_the_rows_are_periods(here):
    document = json.loads(here("series flat.csv --json").out)
    assert (document["choice"], document["verdict"]["code"]) == (None, "not-looked-for")
    assert here("series flat.csv --format csv").out.startswith("column,period,error,named,steps,")


def test_the_window_the_width_and_the_candidates_are_asked_for(here, refuse):
    done = here("series load.csv --window 96 --d 64 --candidates dft sinusoidal:d=8 --candidates rope --json")
    choice = json.loads(done.out)["choice"]
    assert (choice["window"], choice["d"], choice["reason"]) == (96, 64, "as given")
    assert {one["name"] for one in choice["candidates"]} == {"dft:d=64", "sinusoidal:d=8", "rope:d=64"}
    done = here(
        "series load.csv --window 96 --d 64 --candidates calendar:fields=hour+weekday tape periods:steps=49 --json"
    )
    named = [one["name"] for one in json.loads(done.out)["choice"]["candidates"]]
    assert sorted(named) == ["calendar:fields=hour+weekday", "periods:steps=49", "tape:d=64"]
    assert refuse("series load.csv --window 2669") == (
        "--window is longer than the series (2669); 2 to 2668 samples are accepted"
    )
    assert refuse("series load.csv --window 2048 --d 16384") == (
        "--window and --d together ask for too much (6.87e+10 numbers); at most 34359738368 is accepted"
    )
    assert refuse("series load.csv --window 1") == (
        "--window is out of range (1); an integer from 2 to 4096 is accepted"
    )
    assert refuse("series load.csv --candidates dff").startswith("--candidates is not known (dff); did you mean dft?")


def test_a_table_is_a_candidate_and_what_cannot_answer_is_told(here, tmp_path):
    np.save(tmp_path / "table.npy", np.random.default_rng(0).standard_normal((100, 16)))
    done = here("series load.csv --window 96 --candidates dft shaw --candidates table.npy")
    assert "table.npy" in done.out
    assert "note: left out: shaw" in done.err
    assert "its numbers are learned" in done.err
    done = here("series load.csv --window 96 --candidates shaw")
    assert done.out.startswith("Periods of load: ")


def test_columns_are_chosen_by_name(here):
    done = here("series load.csv --column noise --column flat --time date")
    assert done.out.startswith("Use tape, for its closest vectors are ")
    assert "series: No period in noise stands out of red and white noise\n" in done.out
    assert "window: 128 samples, no period was found; width 256" in done.out


def test_a_figure_is_drawn_where_there_is_something_to_draw(here, refuse, tmp_path):
    assert here("series load.csv --figure a.svg -q").code == 0
    assert "kernels over a window" in (tmp_path / "a.svg").read_text()
    told = refuse("series flat.csv --figure b.png")
    assert told == "--figure has nothing to draw (b.png); a column in which periods were looked for"
    assert here("series flat.csv").out.startswith("Nothing was looked for: x: all values are equal.")


@pytest.mark.parametrize(
    ("unit", "step"), [("30min", 1800.0), ("h", 3600.0), ("d", 86400.0), ("0.5ms", 0.0005), (".5s", 0.5)]
)
def test_rows_and_numbers_have_the_unit_that_is_told(here, tmp_path, unit, step):
    values = add_waves(np.arange(2400.0), (48, 1)) + 0.3 * np.random.default_rng(0).standard_normal(2400)
    np.save(tmp_path / "rows.npy", values)
    np.savez(tmp_path / "numbers.npz", t=np.arange(2400.0), load=values)
    for name in ("rows.npy", "numbers.npz"):
        document = json.loads(here(f"series {name} --time-unit {unit} --json").out)
        assert (document["sampling"]["unit"], document["sampling"]["step"]) == ("s", pytest.approx(step))
        (period,) = document["columns"][0]["periods"]
        assert period["period"] == pytest.approx(48 * step, rel=1e-3)
        assert period["named"] == {1800.0: "day"}.get(step)
        dated = json.loads(here(f"series {name} --time-unit {unit} --start 2024-01-01T00:00:00.5 --json").out)
        assert dated["sampling"]["start"] == "2024-01-01 00:00:00.5"
    names = [one["name"] for one in dated["choice"]["candidates"]]
    assert ("ladder and calendar" in names) == (step == 1800)
    if step == 1800:
        assert any(
            one.endswith("a calendar begins with a date, and the first time has none") for one in document["notes"]
        )


@pytest.mark.parametrize("unit", ["month", "2month", "year"])
def test_months_and_years_are_those_of_the_calendar(here, tmp_path, unit):
    numbers = np.arange(1900.0, 2100.0)
    values = add_waves(numbers, (12, 1)) + 0.3 * np.random.default_rng(0).standard_normal(200)
    np.savez(tmp_path / "numbers.npz", t=numbers, load=values)
    months = {"month": 1, "2month": 2, "year": 12}[unit]
    document = json.loads(here(f"series numbers.npz --time-unit {unit} --json").out)
    assert (document["sampling"]["spacing"], document["sampling"]["step"]) == ("even", months * 2629746)
    (period,) = document["columns"][0]["periods"]
    assert period["named"] == ("year" if months == 1 else None)
    dated = json.loads(here(f"series numbers.npz --time-unit {unit} --start 0001-03-31 --json").out)
    first = {"month": "0159-07-31", "2month": "0317-11-30", "year": "1901-03-31"}[unit]
    assert (dated["sampling"]["spacing"], dated["sampling"]["start"]) == ("months", f"{first} 00:00")
    np.testing.assert_allclose(dated["columns"][0]["periods"][0]["period"], period["period"], rtol=1e-9)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("load.csv --time-unit h", "load.csv: has dates in column date; --time-unit goes with numbers (FILE)"),
        ("flat.csv --start 2024-01-01", "--start goes with --time-unit (2024-01-01)"),
        ("flat.csv --time-unit 0.5month", "--time-unit is no unit or duration (0.5month); a number of ns, us, "),
        ("flat.csv --time-unit parsec", "--time-unit is no unit or duration (parsec); a number of ns, us, "),
        ("flat.csv --time-unit ''", "--time-unit is no unit or duration (''); a number of ns, us, "),
        ("flat.csv --time-unit 0s", "--time-unit is no unit or duration (0s); a number of ns, us, "),
        ("flat.csv --time-unit h --start soon", "--start is not a date or time (soon); an ISO date"),
    ],
)
def test_units_and_starts_that_are_refused(refuse, here, line, told):
    assert refuse(f"series {line}").startswith(told)


def test_what_is_refused(here, refuse):
    assert refuse("series one.csv") == "one.csv has one time only; rows at two times or more are accepted"
    assert refuse("series none.csv") == "none.csv: no such file or folder (FILE)"
    assert refuse("series load.csv --column a") == (
        "load.csv: has no column a; it has date, load, noise and flat (FILE)"
    )
    assert "is read by this command" in refuse("series load.csv --output load.csv")


def test_a_code_of_what_is_missing_is_told(here, tmp_path):
    values = np.sin(np.arange(400.0)) + np.random.default_rng(0).standard_normal(400)
    values[[3, 50]] = -9999
    np.save(tmp_path / "coded.npy", values)
    told = "value: 2 values more than 30 ranges of the middle half from the median, the farthest -9999: a code of what"
    assert told in here("series coded.npy").err
