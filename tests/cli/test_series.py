"""The command `series`: its answer in every format, its figure, and what it refuses."""

import json

import numpy as np
import pytest

from pe_spectra.answers.documents import build_schema
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
    assert first.startswith("Periods of load: a day (48 steps, ")
    assert " and a week (33" in first
    assert first.endswith("; 1 other column below.")
    assert "gaps: 1 gap, 20 steps missing: 2024-01-15 13:30 to 2024-01-16 00:00 (20)" in rest
    assert "repeated: 1 row at times that others have, 0 with other values: 2024-01-01 04:00" in rest
    assert "flat: periods: not looked for: all values are equal" in rest
    assert "note: of rows at one time the mean of the values was taken" in done.err


def test_json_and_csv_have_the_same_periods(here):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(here("series load.csv --json").out)
    jsonschema.validate(document, build_schema())
    assert document["kind"] == "series"
    assert (document["time"], document["sampling"]["step"]) == ("date", 1800.0)
    periods = [period for column in document["columns"] for period in column["periods"]]
    assert [one["named"] for one in periods] == ["day", "week"]
    lines = here("series load.csv --format csv").out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("column,period,error,named,steps,")
    assert [float(line.split(",")[1]) for line in lines[1:]] == [one["period"] for one in periods]


def test_columns_are_chosen_by_name(here):
    done = here("series load.csv --column noise --column flat --time date")
    assert done.out.splitlines()[0] == "No period in noise stands out of red and white noise."
    assert here("series load.csv --column noise --format csv").out.count("\n") == 1


def test_a_figure_is_drawn_where_there_is_something_to_draw(here, refuse, tmp_path):
    assert here("series load.csv --figure a.svg -q").code == 0
    assert "week" in (tmp_path / "a.svg").read_text()
    told = refuse("series flat.csv --figure b.png")
    assert told == "--figure has nothing to draw (b.png); a column in which periods were looked for"
    assert here("series flat.csv").out.startswith("Nothing was looked for: x: all values are equal.")


def test_what_is_refused(here, refuse):
    assert refuse("series one.csv") == "one.csv has one time only; rows at two times or more are accepted"
    assert refuse("series none.csv") == "none.csv: no such file or folder (FILE)"
    assert refuse("series load.csv --column a") == (
        "load.csv: has no column a; it has date, load, noise and flat (FILE)"
    )
    assert "is read by this command" in refuse("series load.csv --output load.csv")
