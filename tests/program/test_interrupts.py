"""Ctrl-C and SIGTERM: in the writer nothing or all is done, and the program is gone soon, with one line and no file."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra import cli
from pe_spectra.files.writer import HeldInterrupts, write_files
from tests.pace import measure_pace, measure_slowness
from tests.places import ROOT
from tests.program.environments import fill_cache
from tests.writing import BEGINNING, NEW, OLD, WAYS, Calls, contents_of, prepare, send_signals, snapshot, take_way

#: Where thousands of files are written, nobody waits for the disk.
UNSYNCED = {"fsync": lambda _: None}


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    return take_way(request.param, monkeypatch)


# within the writer
@pytest.mark.few(1)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_before_any_call_leaves_all_or_nothing(tmp_path, monkeypatch, times):
    """Twice: a second Ctrl-C comes with every later call, the ones that clean up included."""
    number, interrupted = 0, 0
    while True:
        number += 1
        folder = tmp_path / str(number)
        files, paths = prepare(folder)
        before = contents_of(*paths)
        raised = False

        def act(count, _, number=number):
            if count == number or (times == 2 and count > number):
                signal.raise_signal(signal.SIGINT)

        with monkeypatch.context() as patch:
            calls = Calls(patch, act, replaced=UNSYNCED)
            try:
                write_files(files, create_parents=True)
            except KeyboardInterrupt:
                raised = True
        if raised and contents_of(*paths) == before:
            interrupted += 1
            assert not (folder / "f").exists()
        else:  # not reached, or too late: while the folders are synced
            assert contents_of(*paths) == files
        left = {path.name for path in folder.rglob("*")}
        assert left <= {"a", "target", "link", "new", "f"}
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if calls.count < number:
            break
    assert interrupted > 20


def test_a_handler_of_its_own_is_asked_and_put_back(monkeypatch):
    seen = []

    def handler(number, frame):
        seen.append((number, frame))

    def interrupt(count, _):
        if count == 1:
            signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, handler)
    try:
        with monkeypatch.context() as patch:
            Calls(patch, interrupt, only=["write"])
            write_files({Path("a"): NEW})
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [(signal.SIGINT, None)]
    assert Path("a").read_bytes() == NEW


def test_an_ignored_interrupt_stays_ignored():
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        write_files({Path("a"): NEW})
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


# the program

#: Commands that run for more than a second; FOLDER is where their inputs are.
LONG = {
    "spectrum": ["spectrum", "--d", "1048576", "--figure", "old.svg"],
    "faithfulness": ["faithfulness", "-e", "FOLDER/table.npy", "--figure", "old.svg", "--output", "new.json"],
    "precision": ["precision", "sinusoidal:d=512", "--length", "16384", "--figure", "old.svg"],
    "compare": ["compare", "--all", "--figure", "old.svg"],
    "figures": ["figures", "--output", "drawn"],
    "audit": ["audit", *(f"FOLDER/config{number}.json" for number in range(500)), "--output", "new.json"],
    "inspect": ["inspect", "FOLDER/table.npy", "--figure", "old.svg"],
    "reconstruct": ["reconstruct", "--s", "0:80", "--d", "4096", "--output", "new.csv"],
    "bench": ["bench", "--output", "new.json"],
}
#: Seconds between a signal and the end, by the clock of a machine at rest, and of the processor.
GONE_WITHIN = 0.5
#: How often a moment is halved when the program had ended before it.
ATTEMPTS = 8


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A table of four million numbers, 500 configurations, and the drawing library's cache."""
    folder = tmp_path_factory.mktemp("inputs")
    fill_cache(folder / "cache")
    np.save(folder / "table.npy", np.random.default_rng(1).normal(size=(8192, 512)))
    (folder / "beginning.py").write_text(BEGINNING)
    config = {"model_type": "llama", "head_dim": 128, "rope_theta": 500000.0, "max_position_embeddings": 8192}
    for number in range(500):
        (folder / f"config{number}.json").write_text(json.dumps(config))
    return folder


class Trials:
    """Runs of one command that are sent signals at random moments, two at a time."""

    def __init__(self, inputs, folder):
        self._inputs, self._folder, self._numbers = inputs, folder, itertools.count()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PE_SPECTRA_")}
        self._environment = {**kept, "MPLCONFIGDIR": str(inputs / "cache"), "COLUMNS": "100"}
        places = [str(inputs), str(ROOT)]
        self._environment["PYTHONPATH"] = os.pathsep.join(places)

    def interrupt(self, argv, number, moments, *, again=()):
        """Send a signal at each moment, and again after further seconds; give the endings."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda moment: self._hit(argv, number, moment, again), moments))

    def _hit(self, argv, number, moment, again):
        """Send it to the living program: sooner where it had ended, or had begun to print what was done."""
        for _ in range(ATTEMPTS):
            ending = self._run(argv, number, [moment, *(moment + later for later in again)])
            if ending.was_alive and not ending.stdout:
                return ending
            moment /= 2
        raise AssertionError(f"never at work: {ending}")

    def _run(self, argv, number, moments):
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        (folder / "old.svg").write_bytes(OLD)
        before = snapshot(folder)
        argv = [word.replace("FOLDER", str(self._inputs)) for word in argv]
        ending = send_signals(argv, moments, number, folder=folder, environment=self._environment)
        # while the answer is printed files have names already, and what kills the process at once leaves these
        if ending.was_alive and not (ending.stdout and number == signal.SIGTERM):
            assert snapshot(folder) == before, (moments, ending)
        return ending


def judge_interrupted(endings, scale):
    pace = measure_pace()
    for ending in endings:
        assert ending.was_alive
        assert (ending.code, ending.stdout, ending.stderr) == (130, "", "error: interrupted\n"), ending
        # what it did until it was gone, however many programs shared the processor
        assert ending.processor_seconds <= GONE_WITHIN * pace, ending
    assert median(ending.seconds for ending in endings) <= GONE_WITHIN * scale


def judge_terminated(endings):
    assert {ending.code for ending in endings} <= {-signal.SIGTERM, 128 + signal.SIGTERM}
    assert "".join(ending.stdout + ending.stderr for ending in endings) == ""


def interrupt_command(inputs, folder, name, counts, seed):
    """Interrupt a long command once, twice within 50 ms, and terminate it, so many times each."""
    trials, draw = Trials(inputs, folder), random.Random(seed)
    scale = measure_slowness(3)
    once, twice, terminated = ([draw.uniform(0.0, 1.0) for _ in range(count)] for count in counts)
    endings = trials.interrupt(LONG[name], signal.SIGINT, once)
    endings += trials.interrupt(LONG[name], signal.SIGINT, twice, again=[0.05])
    judge_interrupted(endings, max(scale, measure_slowness(3)))
    judge_terminated(trials.interrupt(LONG[name], signal.SIGTERM, terminated))


def test_a_long_run_is_interrupted(inputs, tmp_path):
    interrupt_command(inputs, tmp_path, "spectrum", (2, 2, 2), seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_every_long_command_is_interrupted(inputs, tmp_path, name):
    """One hundred interruptions in all, some of them during imports."""
    interrupt_command(inputs, tmp_path, name, (11, 2, 2), seed=len(name))


IMPORTS = """
import os, signal, sys
from pe_spectra import cli

class Interrupt:
    def __init__(self, number):
        self.left = number

    def find_spec(self, *_):
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)

first, step = map(int, sys.argv[1:3])
sys.argv = ["pe-spectra", *sys.argv[3:]]
number, interrupted = first, 0
while True:
    reader, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(end, 2)
        hook = Interrupt(number)
        sys.meta_path.insert(0, hook)
        main = cli.main
        cli.main = lambda: code if (code := main()) == 130 or hook.left <= 0 else 77
        cli.run_process()
    os.close(end)
    with open(reader) as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 77:
        break
    assert (code, said) == (130, "error: interrupted\\n"), (number, code, said)
    interrupted += 1
    number += step
os.write(2, str(interrupted).encode())
"""


def interrupt_imports(folder, first, step, *argv):
    """Interrupt the program at every so many imports, from one on, until there are no more; count the runs."""
    (folder / "old.svg").write_bytes(OLD)
    command = [sys.executable, "-c", IMPORTS, str(first), str(step), *argv]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["old.svg"]
    return int(done.stderr)


def test_imports_are_interrupted(tmp_path):
    assert interrupt_imports(tmp_path, 30, 120, "spectrum", "--d", "16", "--no-figure") >= 2


@pytest.mark.slow
def test_many_imports_are_interrupted(tmp_path):
    assert interrupt_imports(tmp_path, 1, 25, "spectrum", "--d", "16", "--figure", "old.svg") > 15


ENDINGS = """
import atexit, ctypes, pathlib, signal, sys
from pe_spectra import cli
from pe_spectra.cli import program

def interrupt(*_):
    signal.raise_signal(signal.SIGINT)

def within_a_text_that_python_runs(*_):
    exec("raise KeyboardInterrupt")

def with_a_library_that_fails_when_python_is_gone(*_):
    libc = ctypes.CDLL(None)
    libc.__cxa_atexit(ctypes.cast(libc.abort, ctypes.c_void_p), None, None)
    interrupt()

def after_the_answer(*_):
    cli.main = lambda main=cli.main: interrupt(main())
    return 0

program.run = globals()[sys.argv[1]]
if program.run is after_the_answer:
    program.run()
atexit.register(pathlib.Path("tidied").touch)
cli.run_process()
"""


@pytest.mark.parametrize(
    "moment",
    ["within_a_text_that_python_runs", "with_a_library_that_fails_when_python_is_gone", "after_the_answer"],
)
def test_an_interrupted_process_ends_with_130(tmp_path, moment):
    """Python alone would end itself by the signal, abort or give a traceback; what is to be tidied is tidied."""
    Path("endings.py").write_text(ENDINGS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    # as a module: of a text given with -c Python forgets that it was interrupted
    command = [sys.executable, "-P", "-m", "endings", moment]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")
    assert Path("tidied").exists()


@pytest.fixture
def run_interrupted(monkeypatch, capfd):
    """Run the program in this process, which an interrupt must end with one line."""

    def run():
        previous = signal.getsignal(signal.SIGINT)
        # it would silence for good what these tests read
        monkeypatch.setattr("pe_spectra.cli.terminal.silence_stdout", lambda: None)
        try:
            assert cli.main() == 130
        finally:
            signal.signal(signal.SIGINT, previous)
        assert capfd.readouterr() == ("", "error: interrupted\n")

    return run


def test_an_interrupt_on_the_way_out_is_forgotten(monkeypatch, run_interrupted):
    """A second Ctrl-C comes before the first one is answered, and a third while that is begun anew."""
    say, times = cli._say_interrupted, []

    def interrupt():
        times.append(None)
        if len(times) < 3:
            raise KeyboardInterrupt
        return say()

    def run(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_say_interrupted", interrupt)
    monkeypatch.setattr("pe_spectra.cli.program.run", run)
    run_interrupted()
    assert len(times) == 3


LOST = """
import signal, sys, time, warnings, weakref
from pe_spectra import cli
from pe_spectra.cli import program

class Thing:
    pass

def interrupt(*_):
    signal.raise_signal(signal.SIGINT)
    sum(range(10))

def lose_in_callback():
    thing = Thing()
    watch = weakref.ref(thing, interrupt)
    del thing

def swallow():
    try:
        interrupt()
    except BaseException:
        pass

def swallow_and_warn():
    swallow()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("Cython module failed to patch module with custom type", RuntimeWarning)

class Half:
    def __init__(self):
        interrupt()
        self.whole = True

    def __del__(self):
        self.whole

def make_half():
    Half()

def run(*_):
    globals()[sys.argv[1]]()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        time.sleep(0.001)
    return 0

program.run = run
sys.exit(cli.main())
"""


@pytest.mark.parametrize("loses", ["lose_in_callback", "swallow", "swallow_and_warn", "make_half"])
def test_an_interrupt_that_is_lost_is_answered(loses):
    """As in the callbacks by which imports give their locks back, and in compiled code, which may warn of it; of an
    object that was half made Python says what its end misses.
    """
    done = subprocess.run([sys.executable, "-c", LOST, loses], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


class Wrapping:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)


def wrap():
    """As Python before 3.12 does where the naming of an attribute fails."""
    return type("Owner", (), {"name": Wrapping()})


def fail_in_cleaning():
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        Path("no such folder/a").unlink()


def print_and_replace():
    """As compiled modules do whose import of NumPy fails."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        raise ImportError("numpy._core.multiarray failed to import") from None


@pytest.mark.parametrize("act", [wrap, fail_in_cleaning, print_and_replace])
def test_an_error_that_an_interrupt_became_is_an_interrupt(monkeypatch, run_interrupted, act):
    class Command:
        def main(self, **_):
            act()

    monkeypatch.setattr("pe_spectra.cli.declared.build_command", Command)
    run_interrupted()


def test_an_import_that_an_interrupt_broke_is_an_interrupt(monkeypatch, run_interrupted):
    class Finder:
        def find_spec(self, name, *_):
            if name == "pe_spectra.cli.program":
                wrap()

    monkeypatch.delitem(sys.modules, "pe_spectra.cli.program")
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    run_interrupted()


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_what_else_answers_an_interrupt_is_left_alone(monkeypatch, handler):
    def run(*_):
        assert signal.getsignal(signal.SIGINT) is handler
        return 0

    monkeypatch.setattr("pe_spectra.cli.program.run", run)
    previous = signal.signal(signal.SIGINT, handler)
    try:
        assert cli.main() == 0
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, previous)


def test_an_interrupt_before_anything_is_set_up_is_answered(monkeypatch, run_interrupted):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli._RepeatedInterrupts, "__enter__", interrupt)
    run_interrupted()


def test_the_program_can_be_called_outside_the_main_thread(monkeypatch):
    monkeypatch.setattr("pe_spectra.cli.program.run", lambda *_: 0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(cli.main).result() == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("hook", "error"), [("unraisablehook", (SimpleNamespace(exc_type=ValueError),)), ("excepthook", (ValueError, 1, 2))]
)
def test_other_errors_of_python_are_told_as_ever(monkeypatch, hook, error):
    told = []
    monkeypatch.setattr(sys, hook, lambda *given: told.append(given))
    before = getattr(sys, hook)
    monkeypatch.setattr("pe_spectra.cli.program.run", lambda *_: getattr(sys, hook)(*error) or 0)
    assert cli.main() == 0
    assert told == [error]
    assert getattr(sys, hook) is before


def test_outside_the_main_thread_nothing_is_held():
    """Handlers cannot be set there, and Ctrl-C raises nothing."""
    before, seen = signal.getsignal(signal.SIGINT), []

    def hold():
        with HeldInterrupts() as held:
            with held.released():
                seen.append(signal.getsignal(signal.SIGINT))
            held.raise_pending()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [before, before]
    assert signal.getsignal(signal.SIGINT) is before
