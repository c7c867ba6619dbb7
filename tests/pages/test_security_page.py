"""SECURITY.md is true: its limits and formats; no command starts a program, opens a socket or writes elsewhere."""

import ast
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pe_spectra import __version__, limits
from pe_spectra.files import model_files, tables
from pe_spectra.files.reading import PICKLE_SUFFIXES
from tests.pages.trees import parse
from tests.places import ROOT
from tests.program import damage_judge, test_damaged_files
from tests.program.damage import KINDS
from tests.program.hostile_files import LLAMA, draw_table, pack_tensors

PACKAGE = ROOT / "pe_spectra"
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
LIMIT = re.compile(r"^\| [^|]+ \| ([^|]+) \| `([A-Z_]+)` \|$", re.MULTILINE)


# ----------------------------------------------------------------------------------- what the page says


def read_size(text):
    """Read a limit as the page writes it.

    >>> read_size("2^26"), read_size("16 MiB"), read_size("10,000 bytes")
    (67108864, 16777216, 10000)
    """
    number, _, unit = text.replace(",", "").partition(" ")
    base, _, power = number.partition("^")
    return int(base) ** int(power or 1) << (20 if unit == "MiB" else 0)


def test_the_limits_are_those_of_the_program():
    stated = LIMIT.findall(TEXT)
    assert len(stated) == 16
    for size, name in stated:
        assert read_size(size) == getattr(limits, name), name


def test_another_limit_would_be_seen(monkeypatch):
    monkeypatch.setattr(limits, "MAX_COLUMNS", 1 << 15)
    with pytest.raises(AssertionError):
        test_the_limits_are_those_of_the_program()


def test_the_formats_are_those_that_are_read():
    section = TEXT.partition("## What it reads")[2].partition("##")[0]
    for suffix in {*tables._KINDS, *model_files._SUFFIXES}:
        assert suffix in section
    for name in ("HF_HUB_CACHE", "HF_HOME"):
        assert name in (PACKAGE / "files" / "model_files.py").read_text()
    refused = set(re.findall(r"\.(?:pt|pth|bin|pkl|ckpt)\b", TEXT))
    assert refused | {".pickle"} == set(PICKLE_SUFFIXES)


def test_what_damaged_files_take_is_what_their_tests_allow():
    assert "within a second, and takes at most four times its size and 64 MiB" in WORDS
    assert (damage_judge.MOST_SECONDS, damage_judge.FREE_BYTES) == (1.0, 64 << 20)
    assert "20,000 damaged files" in WORDS
    assert hasattr(test_damaged_files, "test_20000_damaged_files_are_answered_or_refused")
    assert len(KINDS) == 5


def test_the_version_is_the_newest():
    assert f"(now {__version__.rpartition('.')[0]})" in TEXT


def test_every_file_that_is_named_is_there():
    for name in re.findall(r"`(pe_spectra/[a-z_./]+)`", TEXT):
        assert (ROOT / name).is_file()
    assert (ROOT / "CITATION.cff").is_file()


class _Runs:
    def __reduce__(self):
        return os.mkdir, ("made",)


@pytest.mark.parametrize("suffix", PICKLE_SUFFIXES)
def test_a_pickle_is_refused_and_not_run(refuse, suffix):
    Path(f"a{suffix}").write_bytes(pickle.dumps(_Runs()))
    assert "pickle" in refuse(f"inspect ./a{suffix}")
    np.save("o.npy", np.array([[_Runs()]], dtype=object), allow_pickle=True)
    assert "pickle" in refuse("inspect o.npy")


def test_no_output_may_be_an_input(refuse):
    np.save("t.npy", draw_table())
    for line in ("export t.npy --output t.npy", "inspect t.npy --output ./t.npy --json"):
        before = Path("t.npy").read_bytes()
        refuse(line)
        assert Path("t.npy").read_bytes() == before


def test_what_is_not_in_the_cache_is_not_fetched(refuse, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert "hf download no/such" in refuse("audit no/such")


# ----------------------------------------------------------------------------------- what the sources call


FORBIDDEN_MODULES = {
    *("pickle", "marshal", "shelve", "dill", "joblib", "socket", "ssl", "http", "ftplib", "smtplib", "urllib"),
    *("subprocess", "ctypes", "multiprocessing", "asyncio", "webbrowser", "requests", "code", "runpy", "torch"),
}
#: The processes of --workers and of bench, which the page tells of.
STARTED = {
    "experiment/pools.py": {"multiprocessing", "multiprocessing.connection"},
    "benchmarks/measuring.py": {"subprocess"},
}
FORBIDDEN_NAMES = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_CALLS = {
    "os.system",
    "os.popen",
    "os.execv",
    "os.spawnv",
    "os.fork",
    "os.posix_spawn",
    "importlib.import_module",
}


def find_forbidden(module):
    """List what a module imports or calls that it must not."""
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.partition(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module] if node.module.partition(".")[0] in FORBIDDEN_MODULES else []
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            # the empty text runs nothing, and a module that is named in the source is no text from outside
            harmless = name in ("exec", "importlib.import_module") and all(map(_is_harmless, node.args))
            if name in FORBIDDEN_NAMES | FORBIDDEN_CALLS and not harmless:
                found.append(name)
            found += [
                name for keyword in node.keywords if keyword.arg == "allow_pickle" and not _is_false(keyword.value)
            ]
            found += [name] if name in ("np.load", "numpy.load") else []
    return found


def _is_harmless(node):
    return isinstance(node, ast.Constant) and node.value in ("", "matplotlib", "matplotlib.font_manager")


def _is_false(node):
    return isinstance(node, ast.Constant) and node.value is False


def test_no_module_can_run_what_it_read():
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 150
    found = {path.relative_to(PACKAGE).as_posix(): {*find_forbidden(parse(path))} for path in modules}
    assert {name: words for name, words in found.items() if words} == STARTED
    assert "`--workers`" in WORDS
    assert "`bench`" in WORDS


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, marshal as m",
        "def f():\n    from urllib.request import urlopen",
        "from subprocess import run",
        "import http.client",
        "x = eval(text)",
        "exec(text)",
        "compile('1', '', 'eval')",
        "__import__(name)",
        "importlib.import_module(name)",
        "exec('import os')",
        "os.system('ls')",
        "np.load(path)",
        "np.lib.format.read_array(file, allow_pickle=True)",
    ],
)
def test_what_runs_code_would_be_seen(source):
    assert find_forbidden(ast.parse(source))


# ----------------------------------------------------------------------------------- what the commands do


#: Run command lines in one process and report, as JSON, what Python's audit hooks see of programs, sockets and writes.
WATCH = r"""
import json, os, sys
seen, canary = [], "canary_5417"
KINDS = ("socket", "subprocess", "pickle", "ctypes", "urllib", "http", "ftplib", "smtplib", "webbrowser", "pty")
NAMES = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile")
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink", "os.truncate", "os.rmdir", "shutil.rmtree")
def watch(event, args):
    if event.partition(".")[0] in KINDS or event in NAMES:
        if event != "ctypes.dlopen" or args[0] is not None:  # NumPy opens the program itself
            seen.append(["program", event, str(args[0]) if args else ""])
    elif event == "compile":
        if canary in str(args[0]):
            seen.append(["code", event, str(args[0])[:80]])
    elif event == "open":
        path, mode, flags = args
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
        if set(mode or "") & set("wax+") or (isinstance(flags, int) and flags & writes):
            seen.append(["write", event, str(path)])
    elif event in CHANGES:
        seen.append(["write", event, str(args[1] if event in ("os.rename", "os.link") else args[0])])
sys.addaudithook(watch)
from pe_spectra.cli import main
exec(os.environ.get("PLANT", ""))
codes = []
for line in json.loads(sys.stdin.read()):
    sys.argv = ["pe-spectra", *line.split()]
    codes.append(main())
sys.stdout.flush()
seen_now = list(seen)
print("\n" + json.dumps([codes, seen_now]))
"""
CANARY = "canary_5417"
LINES = (
    "spectrum -e t.npy --figure spectrum.svg",
    "reconstruct -e t.safetensors --s 1 --no-figure",
    "faithfulness -e t.npz --no-figure --output f.json",
    "count-low-bin --d 16 --no-figure",
    "inspect t.csv --format csv",
    "compare t.npy alibi",
    "precision t.npy --dtype bfloat16 --no-figure",
    "audit config.json model/ --json",
    "diff config.json --all-stacks",
    "diff t.npy t.safetensors",
    "inspect a.safetensors.index.json",
    "inspect config.json --settings s.toml",
    "context --target 65536 --base 10000 --trained 4096",
    "encodings rope",
    "export t.npy --output e.safetensors",
    "export t.npy --output -",
    "audit no/such",
    "inspect object.npy",
    "inspect a.pkl",
    "spectrum --d 8",
)
#: Where these lines may write: what they name, and the picture of the last.
NAMED = {"spectrum.svg", "f.json", "e.safetensors", "figures", "figures/spectrum.png"}


def write_inputs(folder):
    """Write one file of each kind; each has the canary in it, which code made of a file would have too."""
    table = draw_table()
    np.save(folder / "t.npy", table)
    np.savez(folder / "t.npz", **{CANARY: table})
    (folder / "t.csv").write_text(f"{CANARY},b\n1,2\n3,5\n4,4\n")
    (folder / "t.safetensors").write_bytes(pack_tensors(CANARY))
    (folder / "a.safetensors.index.json").write_text(json.dumps({"weight_map": {CANARY: "t.safetensors"}}))
    (folder / "config.json").write_text(json.dumps({**LLAMA, "_name_or_path": CANARY}))
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text(json.dumps({**LLAMA, CANARY: f"__import__('os').mkdir('{CANARY}')"}))
    (folder / "s.toml").write_text('format = "json"\n')
    np.save(folder / "object.npy", np.array([[_Runs()]], dtype=object), allow_pickle=True)
    (folder / "a.pkl").write_bytes(pickle.dumps(_Runs()))


def watch_commands(folder, lines, plant=""):
    """Run command lines in a process of their own; give the exit codes and what was seen."""
    folder.mkdir()
    write_inputs(folder)
    fonts = folder.parent / "fonts"
    environment = {**os.environ, "MPLCONFIGDIR": str(fonts), "HF_HUB_CACHE": str(folder / "none"), "PLANT": plant}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-B", "-c", WATCH]
    done = subprocess.run(command, input=json.dumps(lines), cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    codes, seen = json.loads(done.stdout.splitlines()[-1])
    return codes, [event for event in seen if not is_of_matplotlib(event, fonts)]


def is_of_matplotlib(event, fonts):
    """Whether an event is the list of fonts that Matplotlib makes when it draws for the first time."""
    kind, name, what = event
    if kind == "program":
        return name == "subprocess.Popen" and what == "fc-list"
    return what == str(fonts) or what.startswith(f"{fonts}/")


def find_faults(folder, seen):
    """Give what was seen that SECURITY.md does not allow."""
    allowed = {str(folder), *(str(folder / name) for name in NAMED), os.devnull}
    faults = []
    for kind, name, what in seen:
        path = str(folder / what) if kind == "write" else what
        beside = Path(path).name.startswith(".pe-spectra-") and str(Path(path).parent) in allowed
        if kind != "write" or not (path in allowed or beside or what.isdigit()):
            faults.append((kind, name, what))
    return faults


@pytest.mark.slow
def test_commands_start_nothing_and_write_only_what_was_named(tmp_path):
    folder = tmp_path / "work"
    codes, seen = watch_commands(folder, LINES)
    assert codes == [2 if line in ("audit no/such", "inspect object.npy", "inspect a.pkl") else 0 for line in LINES]
    assert find_faults(folder, seen) == []
    assert [event for event in seen if event[0] == "write"]  # it sees what is written
    for name in NAMED:
        assert (folder / name).exists()
    left = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert len(left) == 11 + len(NAMED)


@pytest.mark.slow
def test_figures_and_claims_start_nothing_either(tmp_path):
    folder = tmp_path / "work"
    codes, seen = watch_commands(folder, ["figures --output figures", "figures --check --output figures", "claims"])
    assert codes == [0, 0, 0]
    inside = str(folder / "figures")
    assert [fault for fault in find_faults(folder, seen) if not str(folder / fault[2]).startswith(inside)] == []


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        ("import socket; socket.socket().close()", "program"),
        ("import subprocess; subprocess.run(['true'])", "program"),
        ("import pickle; pickle.loads(pickle.dumps(len))", "program"),
        ("import os; os.system('true')", "program"),
        ("eval('\"canary_5417\"')", "code"),
        ("open('stray', 'w').close()", "write"),
        ("import os; os.mkdir('stray')", "write"),
    ],
)
def test_what_is_forbidden_would_be_seen(tmp_path, plant, kind):
    folder = tmp_path / "work"
    _, seen = watch_commands(folder, [], plant)
    assert kind in [fault[0] for fault in find_faults(folder, seen)]
