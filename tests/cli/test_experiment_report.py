"""experiment report and experiment data: what they say of a file of results, and of a data set."""

import csv
import io
import json
import sys

import numpy as np
import pytest

from pe_spectra.experiment import data_trials, runs
from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.experiment.design import QUICK
from pe_spectra.experiment.runs import open_runs, write_row
from tests.documents import find_fault
from tests.experiment.made_runs import make_runs
from tests.files.datasets.published import draw_ett, write_lines


@pytest.fixture
def results(monkeypatch, tmp_path):
    """A file of results in the working directory."""
    monkeypatch.chdir(tmp_path)
    found = make_runs(seeds=6)
    with open_runs(tmp_path / "results.csv", QUICK) as ledger:
        for one in found:
            ledger.append(one.key, write_row(one))
    return found


def test_the_report_is_that_of_the_lines(cli, results):
    done = cli("experiment report results.csv --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert found["kind"] == "learning"
    assert found["parameters"] == {"file": "results.csv"}
    expected = compare_runs(results, scale=QUICK.scale).to_dict()
    assert found["rows"] == json.loads(json.dumps(expected["rows"]))
    assert found["numbers"] == json.loads(json.dumps(expected["numbers"]))
    assert found["verdict"]["text"].startswith("6 seeds are too few")


@pytest.mark.slow
def test_rows_are_arms_or_numbers_and_each_has_its_figure(cli, results, tmp_path):
    arms = list(csv.DictReader(io.StringIO(cli("experiment report results.csv --format csv --figure a.png").out)))
    numbers = list(csv.DictReader(io.StringIO(cli("experiment report results.csv --by-number --format csv").out)))
    assert {"arm", "p_corrected", "difference"} <= set(arms[0])
    assert {"number", "rho"} <= set(numbers[0])
    assert len(arms) == 24
    cli("experiment report results.csv --by-number --figure b.png")
    pictures = [(tmp_path / name).read_bytes() for name in ("a.png", "b.png")]
    assert all(one.startswith(b"\x89PNG") for one in pictures)
    assert pictures[0] != pictures[1]


def test_nothing_is_drawn_unless_it_is_asked_for(cli, results, tmp_path):
    cli("experiment report results.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing.csv", None, "missing.csv: no such file or folder (RESULTS)"),
        ("table.csv", "a,b\n1,2\n", "table.csv: is no ledger of results; it stays as it is, name another file"),
    ],
)
def test_files_that_are_no_results(cli, results, tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = cli(f"experiment report {name}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {said}")


def test_a_file_without_results_yet(cli, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with open_runs(tmp_path / "new.csv", QUICK):
        pass
    done = cli("experiment report new.csv")
    assert (done.code, done.err) == (2, "error: new.csv: has no result yet\n")


def test_the_file_of_results_is_not_overwritten(cli, results, tmp_path):
    before = (tmp_path / "results.csv").read_bytes()
    assert cli("experiment report results.csv --output results.csv").code == 2
    assert (tmp_path / "results.csv").read_bytes() == before


# ----------------------------------------------------------------------------------- a data set


def learn(data, arm, design, seed, importance):
    """Right of every window but some, by arm and seed."""
    return {"precision": 0.5, "recall": 0.5, "f1": 0.5 + 0.01 * seed, "accuracy": 0.5, "rms_norm": arm.rms_norm}


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """A data set in the working directory, and networks that train nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "check_extra", lambda: None)
    monkeypatch.setattr(data_trials, "learn_windows", learn)
    monkeypatch.setattr(data_trials, "judge_windows", lambda _weights, part, *_: np.ones(len(part.labels)))
    values = np.random.default_rng(0).normal(size=1200).round(3).tolist()
    lines = [f"{value},{int(row % 41 < 4)}" for row, value in enumerate(values)]
    write_lines(tmp_path / "pump.csv", ["speed,state", *lines])


def test_a_data_set_is_learned(cli, pretended):
    done = cli("experiment data --data table:pump.csv --label state --arms sinusoidal dft --seeds 2 --length 16 --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert (found["kind"], found["parameters"]) == ("detection", {"source": "pump.csv", "length": 16, "stride": 8})
    names = [(row["arm"], row["norm"]) for row in found["rows"]]
    arms = [("sinusoidal", "own"), ("dft", "own"), ("dft", "matched")]
    assert names == [*arms, ("random", None), ("always", None), ("untrained", None)]
    assert [row["runs"] for row in found["rows"]] == [2, 2, 2, 0, 0, 2]
    quick = json.loads(cli("experiment data --data table:pump.csv --label state --quick --json").out)
    assert quick["rows"][0]["runs"] == 3
    assert quick["parameters"]["length"] == 32


def test_windows_of_ett_are_forecasts(cli, pretended, tmp_path):
    write_lines(tmp_path / "ETTh1.csv", draw_ett(800))
    done = cli("experiment data --data ett:ETTh1.csv --arms none --seeds 1 --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["positive"] == "rising"
    assert 0 < found["training_share"] < 1
    assert "a window is rising where the mean of OT over the next window" in " ".join(found["notes"])
    assert [row["arm"] for row in found["rows"]] == ["none", "random", "always", "untrained"]
    write_lines(tmp_path / "short.csv", draw_ett(50))
    done = cli("experiment data --data ett:short.csv")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(
        "error: short.csv: windows are too long (32); three parts of the longest series, 50 rows,"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "--data is missing; smd:FOLDER, table:FILE.csv and others are accepted"),
        ("--data pump.csv", "--data is not known (pump.csv); smd:FOLDER"),
        ("--data table:pump.csv", "--label is missing; the name of the column of labels of"),
        ("--data table:pump.csv --label stat", "pump.csv: line 1 has no column stat; it has speed and state (--data)"),
        ("--data table:pump.csv --label state --length 500", "pump.csv: windows are too long (500); three"),
        ("--data table:pump.csv --label state --length 16 --stride 17", "stride is out of range (17)"),
        ("--data smd:nowhere", "nowhere/train: no such file or folder (--data)"),
    ],
)
def test_data_sets_that_are_refused(cli, pretended, options, said):
    done = cli(f"experiment data {options}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {said}")
    assert done.err.count("\n") == 1


def test_without_the_extra_one_line_says_what_to_install(cli, pretended, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "jax", None)
    done = cli("experiment data --data table:pump.csv --label state")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install 'pe-spectra[experiment]'" in done.err
