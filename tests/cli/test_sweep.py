"""sweep: every point of a grid as the command alone answers it, in a file that survives whatever ends the program."""

import csv
import importlib.util
import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from pe_spectra.cli import sweeping
from pe_spectra.cli.sweep_points import _read_values
from pe_spectra.cli.sweeping import _list_commands
from pe_spectra.errors import InputError
from pe_spectra.experiment import pools
from pe_spectra.files import parquet_table
from pe_spectra.files.ledger import read_ledger
from pe_spectra.files.parquet_table import encode_parquet
from tests.documents import find_fault
from tests.places import ROOT

SWEEP = "sweep count-low-bin --grid d=8,16,64 --grid rho=10,1e4 --workers 1 --output sweep.csv"


@pytest.fixture(autouse=True)
def here(empty_folder):
    return empty_folder


def read_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def take_answer(rows):
    """The columns of answers, without those of the grid."""
    return [{k: v for k, v in row.items() if k not in ("key", "error") and not k.startswith("grid_")} for row in rows]


def test_every_point_is_what_the_command_says(cli, here):
    done = cli(f"{SWEEP} --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert (found["points"], found["computed"], found["refused"], found["lines"]) == (6, 6, 0, 6)
    rows = read_ledger(here / "sweep.csv").rows
    points = list(itertools.product(("8", "16", "64"), ("10", "1e4")))
    assert [(row["grid_d"], row["grid_rho"]) for row in rows] == points
    alone = [read_rows(cli(f"count-low-bin --d {d} --rho {rho} --format csv").out) for d, rho in points]
    assert take_answer(rows) == [one for answer in alone for one in answer]


def test_answers_of_many_rows_and_flags_and_specs(cli, here):
    line = "sweep spectrum dft:d=8 sinusoidal:d=8 --grid bandwidth=0.5:1.1:0.5 --grid boundary=none,reflect --workers 1"
    done = cli(f"{line} --output a.csv --json")
    rows = read_ledger(here / "a.csv").rows
    assert json.loads(done.out)["lines"] == json.loads(cli(f"{line} --output a.csv --json").out)["lines"] == len(rows)
    points = list(itertools.product(("dft:d=8", "sinusoidal:d=8"), ("0.5", "1.0"), ("none", "reflect")))
    alone = [
        read_rows(cli(f"spectrum -e {spec} --bandwidth {b} --boundary {how} --format csv --no-figure").out)
        for spec, b, how in points
    ]
    assert take_answer(rows) == [one for answer in alone for one in answer]
    assert not (here / "figures").exists()
    line = "sweep reconstruct --grid d=8 --grid s=3 --grid window-free=true,false --workers 1 --output b.csv"
    assert json.loads(cli(f"{line} --json").out)["points"] == 2


def test_files_are_points(cli, here):
    for number in (1, 2):
        np.save(here / f"t{number}.npy", np.random.default_rng(number).normal(size=(16, 4)))
    assert cli("sweep faithfulness t1.npy t2.npy --grid length=8,16 --workers 1 --output s.csv").code == 0
    rows = read_ledger(here / "s.csv").rows
    assert [(row["grid_spec"], row["length"]) for row in rows] == [
        (name, length) for name in ("t1.npy", "t2.npy") for length in ("8", "16")
    ]


def test_processes_give_the_same_lines(cli, here):
    cli(SWEEP)
    cli(SWEEP.replace("--workers 1", "--workers 2").replace("sweep.csv", "two.csv"))
    assert sorted((here / "two.csv").read_bytes().splitlines()) == sorted(
        (here / "sweep.csv").read_bytes().splitlines()
    )


def test_processes_are_opened_for_what_takes_longer_than_to_open_them(cli, here, monkeypatch):
    """Without --workers: none for six quick points, nor for points that are there; at once for long ones."""
    opened, portions = [], []

    def open_here(workers):
        opened.append(workers)
        return open_pool(1)

    def run_portions(pool, answer, tasks, keep, name):
        portions.extend(tasks)
        run_all(pool, answer, tasks, keep, name)

    open_pool, run_all = pools.open_pool, pools.run_all
    monkeypatch.setattr(pools, "open_pool", open_here)
    monkeypatch.setattr(pools, "run_all", run_portions)
    monkeypatch.setattr(pools, "read_workers", lambda text: {None: 7, "1": 1}[text])
    quick, slow = (SWEEP.replace(" --workers 1", "").replace("sweep.csv", name) for name in ("quick.csv", "slow.csv"))
    assert json.loads(cli(f"{quick} --json").out)["computed"] == 6
    assert json.loads(cli(f"{quick} --json").out)["computed"] == 0
    assert opened == []
    look = sweeping._look_at_first
    monkeypatch.setattr(sweeping, "_look_at_first", lambda points: (look(points)[0], 60.0))
    assert json.loads(cli(f"{slow} --json").out)["computed"] == 6
    assert (opened, sum(map(len, portions))) == ([7], 6)
    cli(SWEEP)
    assert len({(here / name).read_bytes() for name in ("sweep.csv", "quick.csv", "slow.csv")}) == 1


def test_lines_are_there_as_soon_as_they_are_answered(cli, here, monkeypatch):
    """Also those of the first points, which no other process answers."""
    answered, answer = [], sweeping.answer_points

    def stop_at_third(points, columns):
        if len(answered) == 2:
            raise InputError("stopped")
        answered.extend(points)
        return answer(points, columns)

    monkeypatch.setattr(sweeping, "answer_points", stop_at_third)
    assert cli(SWEEP.replace(" --workers 1", "")).code == 2
    lines = (here / "sweep.csv").read_text(encoding="utf-8").splitlines()
    assert [line.partition(",")[0].rpartition(" ")[0] for line in lines[2:]] == [one.key for one in answered]


def test_what_is_there_is_not_computed_again(cli, here):
    cli(SWEEP)
    before = (here / "sweep.csv").read_bytes()
    again = json.loads(cli(f"{SWEEP} --json").out)
    assert (again["points"], again["computed"]) == (6, 0)
    assert (here / "sweep.csv").read_bytes() == before
    more = json.loads(cli(f"{SWEEP} --json".replace("d=8,16,64", "d=16:20:2")).out)
    assert (more["points"], more["computed"], more["lines"]) == (4, 2, 4)


def test_a_point_that_is_refused_is_a_line_with_its_error(cli, here):
    line = "sweep count-low-bin --grid d=0,8,1 --workers 1 --output s.csv"
    found = json.loads(cli(f"{line} --json").out)
    assert found["verdict"]["code"] == "points-refused"
    assert (found["points"], found["refused"], found["lines"]) == (3, 2, 3)
    assert found["reason"] == "--d is out of range (0); an integer from 2 to 1048576 is accepted"
    rows = read_ledger(here / "s.csv").rows
    assert [bool(row["error"]) for row in rows] == [True, False, True]
    assert json.loads(cli(f"{line} --json").out)["computed"] == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sweep", "COMMAND is missing"),
        ("sweep spectra --grid d=8 --output a.csv", "COMMAND is not known (spectra); did you mean spectrum?"),
        ("sweep schema --grid d=8 --output a.csv", "COMMAND is not known (schema)"),
        ("sweep sweep --grid d=8 --output a.csv", "COMMAND is not known (sweep)"),
        ("sweep spectrum --output a.csv", "a sweep has no grid"),
        ("sweep spectrum --grid d=8", "--output is missing; a file ending in .csv or .parquet is accepted"),
        ("sweep spectrum --grid d=8 --output a.npy", "--output is no name of a file of answers (a.npy)"),
        ("sweep spectrum --grid d --output a.csv", "--grid has no values (d)"),
        ("sweep spectrum --grid d= --output a.csv", "--grid has no values (d=)"),
        ("sweep spectrum --grid bandwith=1 --output a.csv", "--grid is not known (bandwith); did you mean bandwidth?"),
        ("sweep spectrum --grid json=true --output a.csv", "--grid is not known (json)"),
        ("sweep spectrum --grid d=8 --grid d=9 --output a.csv", "--grid is given twice (d); each option once"),
        (
            "sweep spectrum --grid d=8:8:1 --output a.csv",
            "--grid is an empty range, or one of too many values (d=8:8:1)",
        ),
        ("sweep spectrum --grid d=8:9:0 --output a.csv", "--grid is no range of numbers (d=8:9:0)"),
        ("sweep spectrum --grid d=8:9:-1 --output a.csv", "--grid is an empty range"),
        ("sweep spectrum --grid d=a:b:c --output a.csv", "--grid is no range of numbers (d=a:b:c)"),
        ("sweep spectrum --grid d=0:inf:1 --output a.csv", "--grid is no range of numbers"),
        ("sweep spectrum --grid d=0:nan:1 --output a.csv", "--grid is no range of numbers"),
        ("sweep spectrum --grid d=0:1e30:1 --output a.csv", "--grid is an empty range, or one of too many values"),
        ("sweep reconstruct --grid window-free=1 --output a.csv", "--grid window-free is not known (1)"),
        ("sweep context a.json --grid target=9 --output a.csv", "context takes no SPEC or file (a.json)"),
        (
            "sweep spectrum --grid d=2:60000:1 --grid rho=1:30:1 --output a.csv",
            "the grid has too many points (1739942)",
        ),
        ("sweep spectrum --grid d=0,1 --output a.csv --workers 1", "every point is refused, the first: --d is out of"),
        ("sweep spectrum --grid d=8 --output no/a.csv --workers 1", "no/a.csv: its folder does not exist (--output)"),
    ],
)
def test_what_cannot_be_swept_is_refused(refuse, line, words):
    assert refuse(line).startswith(words)


def test_another_grid_is_another_file(cli, refuse):
    cli(SWEEP)
    assert refuse(SWEEP.replace("count-low-bin", "faithfulness").replace("1e4", "20")).startswith(
        "sweep.csv: was begun with other settings: command is count-low-bin there and faithfulness now"
    )
    assert "options is" in refuse("sweep count-low-bin --grid d=8 --workers 1 --output sweep.csv")


def test_answers_of_two_kinds_are_refused(cli, refuse, here):
    done = cli("sweep compare dft:d=8 --grid periods=day,week --workers 1 --output a.csv")
    assert done.code == 2
    assert "error: the answer has other columns at spec=dft:d=8 periods=week" in done.err


def test_without_pyarrow_one_line_says_what_to_install(cli, here, monkeypatch):
    monkeypatch.setattr(parquet_table, "find_spec", lambda _name: None)
    done = cli(SWEEP.replace("sweep.csv", "sweep.parquet"))
    assert (done.code, done.out, list(here.iterdir())) == (2, "", [])
    assert done.err == "error: a .parquet file needs pyarrow; pip install pyarrow installs it, and .csv needs nothing\n"


def test_a_parquet_file_has_the_lines_of_the_csv_file(cli, here, monkeypatch):
    encoded = []
    if importlib.util.find_spec("pyarrow") is None:  # what is encoded is looked at all the same
        monkeypatch.setattr(parquet_table, "find_spec", lambda _name: True)
        monkeypatch.setattr(parquet_table, "encode_parquet", lambda columns: encoded.append(columns) or b"PAR1")
    done = cli(SWEEP.replace("sweep.csv", "sweep.parquet"))
    assert (done.code, sorted(path.name for path in here.iterdir())) == (0, ["sweep.csv", "sweep.parquet"])
    assert "are in sweep.parquet" in done.out
    rows = read_ledger(here / "sweep.csv").rows
    assert (here / "sweep.parquet").read_bytes().startswith(b"PAR1")
    if encoded:
        assert encoded == [{name: [row[name] for row in rows] for name in rows[0]}]
    else:
        from pyarrow import parquet

        table = parquet.read_table(here / "sweep.parquet").to_pylist()
        assert [str(row["total"]) for row in table] == [row["total"] for row in rows]
        assert {type(row["grid_rho"]) for row in table} == {float}


def test_ranges_are_decimals():
    assert _read_values("", "0:0.4:0.1") == ("0.0", "0.1", "0.2", "0.3")
    assert _read_values("", "1:16:5") == ("1", "6", "11")
    assert _read_values("", "1:17:5") == ("1", "6", "11", "16")
    assert _read_values("", "0:3e2:1e2") == ("0", "100", "200")
    assert _read_values("", "4,2,4") == ("4", "2")


def test_the_commands_that_can_be_swept():
    assert {"spectrum", "inspect", "audit", "compare", "context"} <= set(_list_commands())
    assert not {"figures", "export", "schema", "sweep", "run"} & set(_list_commands())


@pytest.mark.slow
def test_a_killed_sweep_goes_on_where_it_was(here):
    """Answers have nine lines each, of which a kill may leave some."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    slow = (
        "import os, time; real = os.pwrite; os.pwrite = lambda d, data, at: time.sleep(1e-5) or real(d, data[:99], at)"
    )
    program = f"{slow}\nfrom pe_spectra import cli\ncli.run_process()"

    def start(output):
        words = f"sweep spectrum --grid d=16 --grid bandwidth=1:61:1 --grid boundary=none,reflect --output {output}"
        command = [sys.executable, "-c", program, *words.split(), "--workers", "1"]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    with start("whole.csv") as process:
        assert process.wait() == 0
    whole, path, draw = (here / "whole.csv").read_bytes(), here / "killed.csv", random.Random(4)
    assert whole.count(b"\n") == 2 + 9 * 120
    for number in range(4):
        with start("killed.csv") as process:
            while process.poll() is None and (not path.exists() or path.stat().st_size < number * len(whole) / 5 + 400):
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 0.01))
            process.send_signal(signal.SIGKILL)
    with start("killed.csv") as process:
        assert process.wait() == 0
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("command", "maker"),
    [
        ("faithfulness -e dft:d=8", "injectivity._list_facts"),
        ("faithfulness -e dft:d=8", "injectivity._list_details"),
        ("precision dft:d=8 --length 8", "roundings._sum_up"),
        ("context --d 8 --base 1e4 --trained 64 --target 128", "lengthenings._explain"),
        ("inspect dft:d=8", "portraits._list_facts"),
    ],
)
def test_sentences_that_rows_have_not_are_not_made(cli, monkeypatch, command, maker):
    """They can cost ten times as much as the rows, at every point of a sweep."""

    def fail(*_):
        pytest.fail("a fact was made that nobody reads")

    before = cli(f"{command} --format csv")
    monkeypatch.setattr(f"pe_spectra.answers.{maker}", fail)
    assert cli(f"{command} --format csv") == before


def test_columns_go_to_pyarrow_as_numbers_and_words(monkeypatch):
    written = []
    arrow, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    arrow.__spec__ = parquet.__spec__ = ModuleSpec("pyarrow", None)
    buffer = SimpleNamespace(getvalue=lambda: SimpleNamespace(to_pybytes=lambda: b"PAR1"))
    arrow.BufferOutputStream, arrow.table, arrow.parquet = lambda: buffer, dict, parquet
    parquet.write_table = lambda table, _: written.append(table)
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    assert encode_parquet({"d": ["4", ""], "w": ["a", "1"]}) == b"PAR1"
    assert written == [{"d": [4, None], "w": ["a", "1"]}]
