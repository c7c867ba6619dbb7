"""experiment run: what it makes of its options, and a file of results that survives whatever ends the program."""

import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra.cli import run
from pe_spectra.cli.declared import Commands
from pe_spectra.errors import FileError
from pe_spectra.experiment import runs, trial
from pe_spectra.experiment.design import FULL, QUICK, list_trials
from pe_spectra.experiment.runs import check_extra, open_runs, read_row, read_runs, write_row
from pe_spectra.files.ledger import Ledger
from pe_spectra.plots import accuracies
from pe_spectra.vocabulary import ARMS, NORMS, QUICK_ARMS, QUICK_TASKS
from tests.cli.paper import settle
from tests.documents import find_fault
from tests.experiment import fake_trials
from tests.places import ROOT

RUN = "experiment run --workers 1 --output runs.csv"
SMALL = f"{RUN} --tasks lag bag --arms none dft --lengths 32 --seeds 2"


@pytest.fixture(autouse=True)
def pretended(monkeypatch, tmp_path):
    """A working directory, and trials that train nothing."""
    monkeypatch.chdir(tmp_path)
    fake_trials.pretend(lambda *what: monkeypatch.setattr(*what, raising=False))


def read_keys(path="runs.csv"):
    return [result.key for result in read_runs(path).results]


# ----------------------------------------------------------------------------------- the answer


def test_the_answer_has_the_means_of_the_lines(cli):
    done = cli(f"{SMALL} --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert find_fault(found) is None
    results = read_runs("runs.csv").results
    assert len(results) == found["trials"] == found["trained"] == 12
    assert found["parameters"] == {"output": "runs.csv", "tasks": ["lag", "bag"], "seeds": 2, "quick": False}
    rows = {(row["arm"], row["norm"]): row for row in found["rows"]}
    assert list(rows) == [("none", "own"), ("dft", "own"), ("dft", "matched")]
    for (arm, norm), row in rows.items():
        assert (row["seeds"], row["length"]) == (2, 32)
        for task in ("lag", "bag"):
            chosen = [r.accuracy for r in results if (r.arm, r.norm, r.task) == (arm, norm, task)]
            np.testing.assert_allclose(row["accuracy"][task], np.mean(chosen), rtol=1e-15)
    low, high = (pick(v for row in rows.values() for v in row["accuracy"].values()) for pick in (min, max))
    assert found["verdict"]["text"].startswith("12 trials are in runs.csv, all of them trained now; mean accuracy is")
    assert f"from {low:.3g} (" in found["verdict"]["text"]
    assert f"to {high:.3g} (" in found["verdict"]["text"]


def test_a_table_has_a_row_for_each_arm_and_a_column_for_each_task(cli):
    rows = list(csv.DictReader(io.StringIO(cli(f"{SMALL.replace('32', '16 32')} --format csv").out)))
    assert [(row["arm"], row["norm"], row["length"]) for row in rows] == [
        (arm, norm, length)
        for length in ("16", "32")
        for arm, norm in (("none", "own"), ("dft", "own"), ("dft", "matched"))
    ]
    assert list(rows[0])[-2:] == ["lag", "bag"]


def test_the_forms_have_their_tasks_arms_and_seeds(cli):
    quick = json.loads(cli(f"{RUN} --quick --json").out)
    expected = list_trials(QUICK_TASKS, QUICK_ARMS, NORMS, [32], range(3), QUICK)
    assert read_keys() == [one.key for one in expected]
    assert quick["trials"] == 24
    assert quick["parameters"]["quick"]
    assert read_runs("runs.csv").settings == QUICK.to_dict()
    full = json.loads(cli(f"{RUN.replace('runs', 'full')} --seeds 1 --tasks lag --lengths 32 --json").out)
    assert [row["arm"] for row in full["rows"] if row["norm"] == "own"] == list(ARMS)
    assert read_runs("full.csv").settings == FULL.to_dict()


def test_every_accuracy_is_drawn_where_that_is_asked_for(cli, monkeypatch):
    drawn = []
    compose = accuracies.compose_learning
    monkeypatch.setattr(accuracies, "compose_learning", lambda report: drawn.append(report) or compose(report))
    assert cli(f"{SMALL} --figure a.png").err.splitlines()[-1] == "wrote a.png"
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    (report,) = drawn
    found = {(one.task, one.arm, one.norm): one.accuracies for one in report.arms}
    results = read_runs("runs.csv").results
    assert sum(map(len, found.values())) == len(results)
    assert all(one.accuracy in found[one.task, one.arm, one.norm] for one in results)


def test_processes_give_the_same_lines(cli):
    assert cli(SMALL).code == 0
    assert cli(f"{SMALL.replace('--workers 1', '--workers 2').replace('runs.csv', 'two.csv')}").code == 0
    assert sorted(read_runs("two.csv").results, key=lambda r: r.key) == sorted(
        read_runs("runs.csv").results, key=lambda r: r.key
    )


# ----------------------------------------------------------------------------------- going on


def test_what_is_there_is_not_trained_again(cli, monkeypatch):
    cli(SMALL)
    before = (Path("runs.csv").read_text(), cli(f"{SMALL} --json").out)
    trained = []

    def count(one, design):
        trained.append(one.key)
        return fake_trials.run_trial(one, design)

    monkeypatch.setattr(trial, "run_trial", count)
    again = json.loads(cli(f"{SMALL} --resume --json").out)
    assert (again["trials"], again["trained"], again["others"]) == (12, 0, 0)
    assert "none of them trained now" in again["verdict"]["text"]
    assert Path("runs.csv").read_text() == before[0]
    more = cli(f"{SMALL} --seeds 3 --json".replace("--seeds 2 ", ""))
    assert len(trained) == 6
    assert json.loads(more.out)["trained"] == 6
    fewer = json.loads(cli(f"{RUN} --tasks lag --arms none --lengths 32 --seeds 1 --json").out)
    assert (fewer["trials"], fewer["others"]) == (1, 17)
    assert fewer["notes"] == ["runs.csv has 17 lines about other trials, too"]


def test_other_settings_are_refused_in_one_line(cli, refuse):
    cli(SMALL)
    said = refuse(f"{SMALL} --quick")
    assert said.startswith("runs.csv: was begun with other settings: ")
    for name, value in FULL.to_dict().items():
        other = QUICK.to_dict()[name]
        assert (f"{name} is {json.dumps(value)} there and {json.dumps(other)} now" in said) == (value != other)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--resume", "runs.csv: is not there, so there is nothing to go on with (--resume)"),
        ("--resume --no-resume", "--resume and --no-resume exclude each other; one of them is accepted"),
        ("--output runs.txt", "--output is no name of a file of results (runs.txt); a file ending in .csv is accepted"),
        ("--output ''", "--output is no name of a file of results (''); a file ending in .csv is accepted"),
        ("--output no/runs.csv", "no/runs.csv: its folder does not exist (--output)"),
        ("--tasks bags", "--tasks is not known (bags)"),
        ("--arms sinusoidl", "arm"),
        ("--arms dft:d=128", "arm"),
        ("--lengths 8", "--lengths is out of range (8)"),
        ("--seeds 0", "--seeds is out of range (0)"),
        ("--workers none", "--workers is not known (none)"),
    ],
)
def test_what_cannot_be_run_is_refused_before_a_file_is_there(refuse, more, words):
    line = "experiment run --quick" if more.startswith("--workers") else "experiment run --quick --workers 1"
    line = line if "--output" in more else f"{line} --output runs.csv"
    assert refuse(f"{line} {more}").startswith(words)


def test_no_resume_refuses_a_file_with_lines(cli, refuse):
    assert cli(f"{SMALL} --no-resume").code == 0
    assert refuse(f"{SMALL} --no-resume") == "runs.csv: has 12 lines already; name another file (--output)"


def test_output_is_demanded(refuse):
    assert refuse("experiment run --quick") == "--output is missing; a file ending in .csv is accepted"


def test_a_table_that_is_an_arm_is_not_written_over(refuse):
    np.savetxt("runs.csv", np.ones((32, 8)), delimiter=",")
    assert "is read by this command (--output)" in refuse(f"{RUN} --arms runs.csv")


def test_without_the_extra_it_is_said_what_to_install(refuse, monkeypatch):
    monkeypatch.setattr(runs, "check_extra", lambda: check_extra(["numpy", "jax_of_nowhere"]))
    assert refuse(SMALL) == "training needs jax_of_nowhere; pip install 'pe-spectra[experiment]' installs it"


def test_another_ledger_is_refused(refuse):
    with Ledger.open(Path("runs.csv"), FULL.to_dict(), columns=["points"]) as ledger:
        ledger.append("a", {"points": 1})
    assert refuse(SMALL).startswith("runs.csv: has other columns: ")
    with pytest.raises(FileError, match="is a ledger, but not of trials"):
        read_runs(Path("runs.csv"))


# ----------------------------------------------------------------------------------- lines of the file


def test_a_line_is_read_to_the_number_that_was_written(tmp_path):
    trials = list_trials(["lag", "bag"], ["none", "dft"], NORMS, [32], range(2))
    results = [fake_trials.run_trial(one, FULL) for one in trials]
    assert [read_row({k: "" if v is None else str(v) for k, v in write_row(one).items()}) for one in results] == results
    with open_runs(tmp_path / "r.csv", FULL) as ledger:
        for one in results:
            ledger.append(one.key, write_row(one))
    found = read_runs(tmp_path / "r.csv")
    assert list(found.results) == results
    assert {"pe-spectra", "python", "numpy", "machine"} <= set(found.about)


# ----------------------------------------------------------------------------------- ends of all kinds


def start(folder, workers, output):
    words = f"experiment run --tasks lag bag order --arms none dft --seeds 12 --workers {workers} --output {output}"
    command = [sys.executable, "-m", "tests.experiment.fake_trials", *words.split()]
    environment = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **environment
    )


def wait_for_lines(path, number, process):
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= number:
            return
        time.sleep(0.005)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_experiment_goes_on_where_it_was(tmp_path, workers):
    with start(tmp_path, 1, "whole.csv") as process:
        assert process.wait() == 0, process.stderr.read()
    whole, path, draw = (tmp_path / "whole.csv").read_bytes(), tmp_path / "killed.csv", random.Random(workers)
    for number in range(3 * workers):
        with start(tmp_path, workers, "killed.csv") as process:
            wait_for_lines(path, 2 + 20 * number, process)
            time.sleep(draw.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL if number % 2 else signal.SIGINT)
            out, err = process.communicate()
            assert (process.returncode, out, err) in ((130, "", "error: interrupted\n"), (-9, "", "")), (out, err)
    with start(tmp_path, workers, "killed.csv") as process:
        assert process.wait() == 0
    lines = path.read_bytes().splitlines()
    assert (lines if workers == 1 else sorted(lines)) == (
        whole.splitlines() if workers == 1 else sorted(whole.splitlines())
    )


# ----------------------------------------------------------------------------------- a family of commands


def test_a_family_shows_its_commands(cli):
    for line in ("experiment", "experiment --help", "experiment -h"):
        done = cli(line)
        assert (done.code, done.err) == (0, "")
        for name in Commands("experiment"):
            assert re.search(rf"^  {name} +[A-Z]", done.out, re.MULTILINE)
    assert "\n  experiment     Does an encoding matter" in cli("--help").out
    assert "Usage: pe-spectra experiment run" in cli("experiment run --help").out


def test_a_command_that_is_not_of_a_family_is_refused(refuse):
    accepted = ", ".join(Commands("experiment"))
    assert refuse("experiment rn") == f"no such command (rn); did you mean run? accepted: {accepted}"
    assert refuse("experiment --quick").startswith("no such option (--quick)")
    assert refuse("run").startswith("no such command (run)")
    assert refuse("'experiment run'").startswith("no such command (experiment run)")


@pytest.mark.parametrize("columns", [40, 80])
def test_its_help_fits_the_terminal(cli, columns):
    text = cli("experiment run --help", COLUMNS=str(columns)).out.partition("Examples:")[0]
    assert max(map(len, text.splitlines())) <= columns


def test_settings_and_variables_reach_it(cli, tmp_path, refuse):
    option = settle(tmp_path, "[experiment.run]\nseeds = '1'\narms = ['none']\nworkers = '1'\n")
    found = json.loads(cli(f"experiment run --tasks lag --lengths 32 --output a.csv --json {option}").out)
    assert found["trials"] == 1
    found = json.loads(cli(f"{SMALL} --json".replace("--seeds 2 ", ""), PE_SPECTRA_EXPERIMENT_RUN_SEEDS="1").out)
    assert found["parameters"]["seeds"] == 1
    option = settle(tmp_path, "[experiment.rn]\nseeds = '1'\n")
    assert "did you mean experiment run?" in refuse(f"{SMALL} {option}")
    assert "PE_SPECTRA_EXPERIMENT_RUN_SEED is not known" in cli(SMALL, PE_SPECTRA_EXPERIMENT_RUN_SEED="1").err
    assert refuse(RUN, PE_SPECTRA_EXPERIMENT_RUN_LENGTHS="x").startswith("PE_SPECTRA_EXPERIMENT_RUN_LENGTHS is not")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pe-spectra exp", ["experiment", "export"]),
        ("pe-spectra experiment ru", ["run"]),
        ("pe-spectra experiment run --no-", ["--no-caption", "--no-figure", "--no-resume", "--no-title"]),
        ("pe-spectra experiment run --arms no", ["none"]),
        ("pe-spectra experiment run --tasks b", ["bag"]),
    ],
)
def test_a_shell_is_offered_its_words(cli, capfd, monkeypatch, line, offered):
    monkeypatch.setitem(sys.modules, "rich", None)
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    with pytest.raises(SystemExit):
        cli("", _PE_SPECTRA_COMPLETE="complete_bash", **words)
    assert sorted(capfd.readouterr().out.split()) == sorted(offered)


# ----------------------------------------------------------------------------------- the time that is left


@pytest.mark.parametrize(
    ("done", "seconds", "left"), [(3, 30, "about 60 s"), (2, 600, "about 35 min"), (2, 3600, "about 3.5 h")]
)
def test_a_terminal_sees_how_long_it_will_take(monkeypatch, done, seconds, left):
    """Of ten parts one was there before."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = 100.0
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(run, "_PATIENCE", 0.001)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(run.time, "monotonic", lambda: clock)
    with run.Run.progress(SimpleNamespace(quiet=False), "training", is_long=True) as tell:
        tell(1, 10)
        clock += seconds
        tell(1 + done, 10)
        end = time.perf_counter() + 10
        while f"{1 + done} of 10" not in sys.stderr.getvalue() and time.perf_counter() < end:
            time.sleep(0.01)
    assert f"training, {1 + done} of 10, {left} left (" in sys.stderr.getvalue()
