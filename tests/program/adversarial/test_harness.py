"""The harness finds what it is there to find: one deliberate fault after the other, and none in clean runs."""

import json
import os
import re
import sys
from pathlib import Path

import harness as harness_module
import pytest
from harness import BASE, Harness
from rows import build_fixture, expand, load
from running import parse_moment, parse_signals
from warm import WarmProgram
from workspace import SetupError

FAKE = Path(__file__).with_name("fake_program.py")
FIXTURES = {
    "old.svg": {"name": "old.svg", "parts": ["<svg/>\n"]},
    "data.csv": {"name": "data.csv", "parts": ['a,b\n1,"x,y"\n']},
}


#: They judge moments and durations, which a busy machine moves about.
pytestmark = pytest.mark.slow


@pytest.fixture
def harness(tmp_path, monkeypatch):
    monkeypatch.setattr(harness_module, "PATIENCE", 0.3)
    monkeypatch.setattr(harness_module, "measure_slowness", lambda: 1.0)
    monkeypatch.setattr(harness_module, "average", lambda _: 1.0)
    return Harness([sys.executable, str(FAKE)], FIXTURES, tmp_path, marker="fake_program")


@pytest.fixture(scope="module")
def warm():
    program = WarmProgram("fake_program:main", ["json"], BASE, FAKE.parent)
    yield program
    program.close()


def case(*argv, code=0, stdout="some", files="unchanged", **fields):
    """Give a row; fields that are not a row's own go to `expect`."""
    outer = {"fixtures", "pre", "env", "act", "repeat", "repeat_env", "variants", "limits", "needs"}
    expect = {"exit": code, "stdout": stdout, "files": files}
    expect |= {name: value for name, value in fields.items() if name not in outer}
    row = {name: value for name, value in fields.items() if name in outer}
    return {"id": "X01", "group": "X", "do": "", "argv": list(argv), "expect": expect, **row}


def refusal(*argv, **fields):
    return case(*argv, **{"code": 2, "stdout": "empty", **fields})


def answer(document, **expect):
    return case("say", json.dumps(document), stdout="json", **expect)


OLD = {"fixtures": ["old.svg"]}
CLEAN = {
    "an answer": case("good"),
    "a refusal": refusal("refuse", stderr_contains=["--D"]),
    "either of two codes, 0": case("good", code=[0, 2], stdout="any", stderr_contains=["--d"]),
    "either of two codes, 2": case("refuse", code=[0, 2], stdout="any", stderr_contains=["--d"]),
    "json": answer({"a": [1.0, {"b": True}], "n": None, "f": []}, finite=True, json={"a.1.b": True, "n": None}),
    "a member of a list": answer(
        {"p": [{"e": {"name": "x"}, "v": 1}, {"e": {"name": "y"}, "v": 2}]}, json={"p[e.name=y].v": 2}
    ),
    "a tolerance": answer({"a": 1.0}, json={"a": [1.0000001, 1e-6]}),
    "an absolute tolerance": answer({"a": 1e-9}, json={"a": [0.0, 1e-8, "abs"]}),
    "a pair": answer({"closest_pair": [0, 64]}, json={"closest_pair": [0, 64]}),
    "a lag": answer({"closest_pair": [3, 13]}, json={"closest_pair": {"lag": 10}}),
    "an optional field": answer({"a": 1}, json={"?b": 5}),
    "a whole file": case("whole", "new.svg", files=[["exists", "new.svg"], ["notemp"]]),
    "a changed file": case("whole", files=[["changed", "old.svg"], ["notemp"]], **OLD),
    "an old file": refusal("refuse", files=[["same", "old.svg"], ["absent", "x"], ["notemp"]], **OLD),
    "safe cells": case("say", "a,-1.5\n'=x,+2\n", csv_safe=True),
    "the same output": case("good", same_output=True, repeat=2, variants=[["good"]]),
    "a broken pipe": case("flood", stdout="unread", stderr="empty", pre=[["pipe-close", "1"]]),
    "a pipe closed at once": case("flood", stdout="unread", stderr="empty", pre=[["pipe-close", "0"]]),
    "a full stdout": case("full", code=2, stdout="unread", stderr_contains=["stdout"], pre=[["stdout", "/dev/full"]]),
    "a full stderr": case("good", stderr="unread", pre=[["stderr", "/dev/full"]]),
    "stderr that is closed": case("good", stderr="unread", pre=[["close", "2"]]),
    "Latin-1": case("bytes", "e90a", env={"PYTHONIOENCODING": "latin-1"}),
    "an interrupt": case(
        "patient", code=130, stdout="empty", act="INT@0.5T", files=[["same", "old.svg"], ["notemp"]], **OLD
    ),
    "two interrupts": case("patient", code=130, stdout="empty", act="INT@0.5T,INT@0.5T+0.05", **OLD),
    "a stop": case("atomic", act="STOP@0.2T,CONT@0.2T+0.2", files=[["changed", "old.svg"], ["notemp"]], **OLD),
    "a termination": case("atomic", code=[-15, 143], act="TERM@0.5T", files=[["same", "old.svg"]], **OLD),
    "kills": case(
        "atomic", code=[-9, 0], stdout="any", act="KILL@random", repeat=5, files=[["old-or-new", "old.svg"]], **OLD
    ),
    "kills of runs shorter than the first": case("pause-once", code=[-9, 0], stdout="any", act="KILL@random", repeat=8),
    "time that is slept away": case("atomic", limits={"seconds": 0.28}, files=[["changed", "old.svg"]], **OLD),
    "work that was too much once": case("slow-once", limits={"seconds": 0.4}),
    "many at once": case("atomic", act="parallel 4", files=[["exists", "old.svg"], ["notemp"]], **OLD),
    "a file cut under its reader": case("good", act="truncate old.svg while running", files="any", **OLD),
    "a link": case(
        "whole", files=[["link", "link.svg"], ["changed", "old.svg"]], pre=[["symlink", "old.svg", "link.svg"]], **OLD
    ),
    "a mode": case("whole", "m.svg", files=[["mode", "m.svg", "600"]], pre=[["umask", "077"]]),
    "created or refused, created": case("whole", "a.svg", code=[0, 2], files=[["if-0-exists", "a.svg"]]),
    "created or refused, refused": case("refuse", code=[0, 2], files=[["if-0-exists", "a.svg"], ["if-2-unchanged"]]),
}


@pytest.mark.parametrize("row", CLEAN.values(), ids=CLEAN)
def test_a_clean_run_passes(harness, row):
    assert harness.run(row) == []


FAULTS = {
    "traceback": (case("raise"), "'Traceback (most recent call last)' on stderr"),
    "wild exit code": (case("wild", code=2), "exit 3 where [2] is allowed"),
    "code among several": (case("wild", code=[0, 2]), "exit 3 where [0, 2] is allowed"),
    "crash": (case("crash"), "exit -11"),
    "success where a refusal belongs": (refusal("good"), "exit 0 where [2] is allowed"),
    "hang": (case("hang", limits={"seconds": 0.2}), "still running"),
    "slow": (case("slow", limits={"seconds": 0.4}), "seconds 0."),
    "slow in a process of its own": (case("slow-below", limits={"seconds": 0.4}), "seconds 0."),
    "hungry": (case("hungry", limits={"rss_mib": 100}), "above the limit of 100"),
    "long message": (case("complain", "x" * 100, limits={"stderr_bytes": 50}), "stderr_bytes 100"),
    "long answer": (case("good", limits={"stdout_bytes": 5}), "stdout_bytes 11"),
    "ignored exception": (case("ignored"), "'Exception ignored' on stderr"),
    "orphan": (case("orphan"), "left a process behind"),
    "answer of a failure": (refusal("noisy-failure"), "failed, and stdout is not empty"),
    "answer of a failure, allowed codes": (case("noisy-failure", code=[0, 2], stdout="any"), "stdout is not empty"),
    "two error lines": (refusal("two-lines"), "2 lines on stderr"),
    "no prefix": (refusal("no-prefix"), "begins with 'error: '"),
    "silent failure": (refusal("silent-failure"), "0 lines on stderr"),
    "no answer": (case("nothing"), "stdout is empty"),
    "an answer where none belongs": (case("good", stdout="empty"), "stdout is not empty"),
    "escape": (case("bytes", "1b5b6d0a"), "control character '\\x1b' on stdout"),
    "carriage return": (case("bytes", "610d0a"), "control character '\\r'"),
    "C1": (case("bytes", "c29b0a"), "control character '\\x9b'"),
    "control on stderr": (case("complain", "\x07"), "control character '\\x07' on stderr"),
    "not UTF-8": (case("bytes", "ff0a"), "stdout is not utf-8"),
    "not ASCII": (case("bytes", "c3a90a", ascii=True), "stdout is not ASCII"),
    "cut digits": (case("bytes", "312e3233e280a60a", digits_whole=True), "cuts digits"),
    "text missing": (case("good", stdout_contains=["no such"]), "'no such' is not on stdout"),
    "text there": (case("good", stdout_lacks=["ANSWER"]), "'ANSWER' is on stdout"),
    "error text missing": (refusal("refuse", stderr_contains=["--rho"]), "'--rho' is not on stderr"),
    "error text there": (refusal("refuse", stderr_lacks=["--d"]), "'--d' is on stderr"),
    "error text missing, allowed codes": (
        case("refuse", code=[0, 2], stdout="any", stderr_contains=["--rho"]),
        "'--rho' is not on stderr",
    ),
    "none of several": (refusal("refuse", stderr_any=["a b", "c d"]), "none of ['a b', 'c d']"),
    "on neither stream": (case("good", either_contains=["no such"]), "on neither stream"),
    "stderr not empty": (case("complain", "x", stderr="empty"), "stderr is not empty"),
    "unsafe cell": (case("say", "a,=1+1\n", csv_safe=True), "a spreadsheet would run"),
    "NaN": (case("say", '{"a": NaN}', stdout="json"), "NaN is no JSON"),
    "duplicate key": (case("say", '{"a": 1, "a": 2}', stdout="json"), "a key is given twice"),
    "two documents": (case("say", "{}\n{}\n", stdout="json"), "not one strict JSON document"),
    "no document": (case("nothing", stdout="json"), "not one strict JSON document"),
    "field missing": (answer({"a": 1}, json={"b": 1}), "b is not in the document"),
    "list too short": (answer({"a": [1]}, json={"a.1": 1}), "a.1 is not in the document"),
    "member missing": (answer({"a": [{"n": "x"}]}, json={"a[n=y].v": 1}), "is not in the document"),
    "value": (answer({"a": 2}, json={"a": 1}), "a is 2 where 1 is expected"),
    "float for an integer": (answer({"a": 1.0}, json={"a": 1}), "a is 1.0"),
    "one for true": (answer({"a": 1}, json={"a": True}), "a is 1"),
    "true for one": (answer({"a": True}, json={"a": 1}), "a is True"),
    "zero for null": (answer({"a": 0}, json={"a": None}), "a is 0"),
    "outside a tolerance": (answer({"a": 1.001}, json={"a": [1.0, 1e-6]}), "a is 1.001"),
    "null for a number": (answer({"a": None}, json={"a": [1.0, 1e-6]}), "a is None"),
    "outside an absolute tolerance": (answer({"a": 1e-7}, json={"a": [0.0, 1e-8, "abs"]}), "a is 1e-07"),
    "lag": (answer({"closest_pair": [0, 5]}, json={"closest_pair": {"lag": 4}}), "closest_pair is [0, 5]"),
    "other pair": (answer({"closest_pair": [0, 65]}, json={"closest_pair": [0, 64]}), "closest_pair is [0, 65]"),
    "empty notes": (answer({"notes": []}, json_nonempty=["notes"]), "notes is empty"),
    "hole in numbers": (answer({"w": [1.0, None]}, finite=True), "w is not finite"),
    "too large a number": (case("say", '{"w": 1e999}', stdout="json", finite=True), "w is not finite"),
    "stray file": (case("touch", "x"), "x was created"),
    "stray file at a failure": (refusal("touch-and-fail", "x", files=[["absent", "y"]]), "x was created"),
    "file in HOME": (case("home"), "../home/x was created"),
    "file in TMPDIR": (case("temporary"), "../tmp/x was created"),
    "removed file": (refusal("remove", **OLD), "old.svg was removed"),
    "rewritten file": (refusal("rewrite", **OLD), "old.svg was changed"),
    "file missing": (case("good", files=[["exists", "a.svg"]]), "a.svg is not there"),
    "file cut": (case("cut", files=[["changed", "old.svg"]], **OLD), "old.svg is not whole"),
    "file unchanged": (case("good", files=[["changed", "old.svg"]], fixtures=["old.svg"]), "old.svg was not changed"),
    "file there": (case("touch", "x", files=[["absent", "x"]]), "x is there"),
    "file not the same": (case("whole", files=[["same", "old.svg"]], **OLD), "old.svg is not what it was"),
    "file left beside": (case("left", files=[["exists", "old.svg"], ["notemp"]]), "stray was left"),
    "temporary in a named folder": (
        case("litter", "out", files=[["exists", "out"], ["notemp"]], pre=[["mkdir", "out"]]),
        "out/x.tmp was left",
    ),
    "link replaced": (
        case("unlink-link", files=[["link", "link.svg"]], pre=[["symlink", "old.svg", "link.svg"]], **OLD),
        "link.svg is not the link it was",
    ),
    "mode": (case("whole", "m.svg", files=[["mode", "m.svg", "600"]], pre=[["umask", "022"]]), "has mode 644"),
    "not created": (case("good", code=[0, 2], files=[["if-0-exists", "a.svg"]]), "a.svg is not there"),
    "neither old nor new": (case("mixed", files=[["old-or-new", "old.svg"]], act="KILL@9", **OLD), "neither the old"),
    "other output": (case("number", same_output=True, repeat=2), "not every run has the same output"),
    "other output of a variant": (case("good", same_output=True, variants=[["number"]]), "same output"),
    "other bytes": (
        case("number-file", repeat=2, files=[["same-bytes", "out"]], pre=[["mkdir", "out"]]),
        "differs between runs",
    ),
    "bytes missing": (case("good", repeat=2, files=[["same-bytes", "out"]]), "out is not there"),
    "deaf to an interrupt": (case("deaf", code=130, stdout="empty", act="INT@0.5T"), "exit 0 where [130]"),
    "traceback of an interrupt": (case("interrupt-trace", code=130, act="INT@0.5T"), "'Traceback"),
    "temporary left by an interrupt": (
        case("untidy", code=130, stdout="empty", act="INT@0.5T", files=[["same", "old.svg"], ["notemp"]], **OLD),
        "x.tmp was created",
    ),
    "signal after the end": (case("good", code=130, act="INT@5"), "only 0 of 1 runs were alive"),
    "kills after the end": (case("good", code=[-9, 0], act="KILL@5", repeat=2), "only 0 of 2"),
    "torn file": (
        case("torn", code=[-9, 0], stdout="any", act="KILL@random", repeat=4, files=[["old-or-new", "old.svg"]], **OLD),
        "neither the old nor the new",
    ),
    "mixed answers": (case("mixed", act="parallel 2", files=[["exists", "old.svg"]]), "not what an undisturbed run"),
    "undisturbed failure": (case("refuse", code=130, act="INT@0.01"), "undisturbed, the run ends with 2"),
}


@pytest.mark.parametrize(("row", "problem"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(harness, row, problem):
    assert problem in "\n".join(harness.run(row))


def test_a_slow_machine_has_more_seconds(harness, monkeypatch):
    row, problem = FAULTS["slow"]
    monkeypatch.setattr(harness_module, "average", lambda _: 3.0)
    assert harness.run(row) == []
    monkeypatch.setattr(harness_module, "average", lambda _: 1.0)
    assert f"{problem}5" in "\n".join(harness.run(row))


def test_the_work_of_a_forked_run_counts(harness, warm):
    harness.warm = warm
    row = case("slow")
    (outcome,) = harness._try(row, row["argv"], {}).outcomes
    assert 0.5 <= outcome.processor < 10
    row = case("atomic", **OLD)
    (outcome,) = harness._try(row, row["argv"], {}).outcomes
    assert outcome.processor < 0.3 <= outcome.seconds


def forked(rows):
    """Give the rows that need no process of their own."""
    own = {"act", "env", "pre", "limits"}
    return {name: row for name, row in rows.items() if not own & set(row[0] if isinstance(row, tuple) else row)}


@pytest.mark.parametrize("row", forked(CLEAN).values(), ids=forked(CLEAN))
def test_a_clean_forked_run_passes(harness, warm, row):
    harness.warm = warm
    assert harness.run(row) == []


@pytest.mark.parametrize(("row", "problem"), forked(FAULTS).values(), ids=forked(FAULTS))
def test_a_fault_is_found_in_a_forked_run(harness, warm, row, problem):
    harness.warm = warm
    assert problem in "\n".join(harness.run(row))


def test_a_forked_run_that_hangs_is_ended(harness, warm):
    harness.warm = warm
    row, problem = FAULTS["hang"]
    assert problem in "\n".join(harness.run(row))
    assert harness.run(CLEAN["an answer"]) == []


def test_what_needs_a_process_of_its_own_gets_one(harness, warm, monkeypatch):
    harness.warm = warm
    monkeypatch.setattr(warm, "run", lambda *_: pytest.fail("was forked"))
    for fields in ({"env": {}}, {"pre": [["umask", "077"]]}, {"limits": {"rss_mib": 500}}, {"act": "parallel 2"}):
        assert harness.run(case("good", **fields)) == []
    for group in "JKL":
        assert harness.run({**case("good"), "group": group}) == []


def shown(harness, *argv, **fields):
    """Give what the program found around it."""
    row = case("show", *argv, stdout="json", files="any", **fields)
    trial = harness._try(row, row["argv"], {})
    return json.loads(trial.outcomes[0].stdout)


def test_the_place_is_empty_and_its_own(harness):
    found = shown(harness)
    environment = found["environment"]
    assert (found["files"], found["argv"]) == ([], [])
    assert environment["COLUMNS"] == "200"
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
    assert len({found["folder"], environment["HOME"], environment["TMPDIR"], environment["MPLCONFIGDIR"]}) == 4
    assert not set(environment) & {"PYTHONPATH", "LC_ALL", "DISPLAY", "PYTEST_CURRENT_TEST"}


def test_arguments_and_variables_arrive(harness):
    found = shown(harness, "%9*3%", "a\udcff", "100%", env={"HOME": None, "X": "\u00e9", "MPLCONFIGDIR": "fresh"})
    assert found["argv"] == ["999", "a\udcff", "100%"]
    assert "HOME" not in found["environment"]
    assert found["environment"]["X"] == "\u00e9"
    assert found["environment"]["MPLCONFIGDIR"].endswith("fresh")


def test_the_steps_before_a_run_are_taken(harness):
    steps = [
        ["mkdir", "f"], ["copy", "old.svg", "f[x"], ["mkfifo", "pipe"], ["symlink", "none", "link"],
        ["write", "text", "x"], ["chmod", "555", "f"], ["umask", "027"], ["rlimit", "fsize", "4096"],
        ["close", "0"], ["run", "whole", "a.svg"],
    ]  # fmt: skip
    found = shown(harness, pre=steps, fixtures=["old.svg"])
    assert found["files"] == ["a.svg", "f", "f[x", "link", "old.svg", "pipe", "text"]
    assert (found["umask"], found["fsize"], found["stdin"]) == ("027", 4096, ["closed"])


def test_the_working_directory_can_go(harness):
    assert shown(harness, pre=[["cwd-gone"]])["folder"] == "gone"


def test_a_cell_is_set(harness, tmp_path):
    steps = [["set-cell", "data.csv", "2", "2", "0.5"]]
    row = case("good", pre=steps, fixtures=["data.csv"])
    before = harness._try(row, row["argv"], {}).before
    assert before["data.csv"].content == b"a,b\n1,0.5\n"


@pytest.mark.parametrize(
    "pre", [["set-cell", "data.csv", "9", "1", "x"], ["run", "refuse"], ["no-such-verb", "x"]], ids=lambda pre: pre[0]
)
def test_a_step_that_fails_is_no_verdict(harness, pre):
    with pytest.raises(SetupError):
        harness.run(case("good", pre=[pre], fixtures=["data.csv"]))


def test_a_need_is_a_reason_to_skip(harness, monkeypatch):
    assert harness.reason_to_skip(case("good")) == ""
    for everywhere, reason in ((True, "root may write everywhere"), (False, "")):
        monkeypatch.setattr(harness_module, "may_write_everywhere", lambda _, answer=everywhere: answer)
        assert harness.reason_to_skip(case("good", needs="not root")) == reason
    with pytest.raises(SetupError):
        harness.reason_to_skip(case("good", needs="a miracle"))


def test_nothing_stays_behind(harness, tmp_path):
    harness.run(case("good", pre=[["mkdir", "f"], ["write", "f/x", "x"], ["chmod", "555", "f"]]))
    assert os.listdir(tmp_path) == ["cache"]


def test_moments():
    assert parse_moment("0.3T+0.05", 2.0, None) == pytest.approx(0.65)
    assert parse_moment("0.05", 2.0, None) == 0.05
    pairs = parse_signals("STOP@0.2T,CONT@0.2T+0.5", 1.0, None)
    assert [number.name for number, _ in pairs] == ["SIGSTOP", "SIGCONT"]
    with pytest.raises(ValueError, match="no moment"):
        parse_moment("soon", 1.0, None)


def test_fixtures_are_built():
    parts = ["a\u00ff", ["b", 3], {"b64": "AAE="}, {"join": ", ", "template": "t#", "count": 3}]
    assert build_fixture({"name": "x", "parts": parts}) == b"a\xffbbb\x00\x01t0, t1, t2"
    archive = build_fixture({"name": "x", "stored": True, "zip": [{"name": "#.npy", "count": 2, "parts": ["x"]}]})
    assert archive.startswith(b"PK")
    assert (b"0.npy" in archive, b"1.npy" in archive) == (True, True)
    assert expand("%x*4%.svg") == "xxxx.svg"


@pytest.mark.parametrize("second", ['"fixtures": ["none"]', '"fixtures": []'])
def test_a_damaged_catalogue_is_refused(tmp_path, second):
    row = '{"id": "A", "group": "A", "argv": [], %s}\n'
    (tmp_path / "rows").write_text(
        row % '"x": 1' + row.replace('"A", "g', '"%s", "g') % ("A" if "[]" in second else "B", second)
    )
    with pytest.raises(ValueError, match=r"given twice|no row describes"):
        load(tmp_path / "rows")


def test_every_field_of_the_catalogue_is_understood():
    """A row with a field that nothing reads would pass for nothing."""
    sources = "".join(
        path.read_text() for path in FAKE.parent.glob("*.py") if not path.name.startswith(("test_", "fake"))
    )
    _, cases = load()
    fields = {name for row in cases for name in row} | {name for row in cases for name in row["expect"]}
    verbs = {check[0] for row in cases for check in row["expect"]["files"] if isinstance(row["expect"]["files"], list)}
    unread = {"group", "do", "no_control"}  # no_control holds for every row
    missing = [name for name in sorted(fields | verbs - unread) if not re.search(f"[\"']{name}[\"']", sources)]
    assert [name for name in missing if name not in unread] == []
