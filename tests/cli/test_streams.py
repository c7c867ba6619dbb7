"""Standard output and standard error: colours, widths, quiet, closed and full streams."""

import atexit
import io
import json
import os
import re
import runpy
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import pe_spectra
from pe_spectra.cli import main, run, terminal
from pe_spectra.errors import FileError
from tests.cli.paper import PAPER

# ----------------------------------------------------------------------------------- stderr and colours


def test_quiet(cli):
    for command in PAPER:
        assert cli(f"{command} -e dft --d 4 --no-figure --quiet").err == ""
    assert cli("spectrum -e dft --d 4 -q --json").err == ""


def test_notes_are_on_stderr_but_for_json(cli):
    line = "spectrum -e dft:d=4 --no-figure"
    assert cli(line).err.startswith("note: dft: ")
    assert cli(f"{line} --format csv").err.startswith("note: dft: ")
    done = cli(f"{line} --json")
    assert done.err == ""
    assert json.loads(done.out)["notes"][0].startswith("dft: ")


def test_colours(cli):
    for command in PAPER:
        assert "\x1b[" in cli(f"{command} --d 64 --no-figure --color always").out
        for line in ("", "--color never", "--color auto"):
            assert "\x1b" not in cli(f"{command} --d 64 --no-figure {line}", FORCE_COLOR="1").out
        for form in ("json", "csv"):
            plain = cli(f"{command} --d 64 --no-figure --format {form}").out
            assert cli(f"{command} --d 64 --no-figure --format {form} --color always").out == plain


def on_terminal(monkeypatch):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)


def test_a_terminal_has_colours_unless_told_otherwise(cli, monkeypatch):
    on_terminal(monkeypatch)
    assert "\x1b[" in cli("spectrum --no-figure").out
    assert "\x1b[" not in cli("spectrum --no-figure", NO_COLOR="1").out
    assert "\x1b[" in cli("spectrum --no-figure", NO_COLOR="").out
    assert "\x1b[" not in cli("spectrum --no-figure --color never").out
    assert "\x1b[" in cli("spectrum --no-figure --color always", NO_COLOR="1").out


def test_full(cli, monkeypatch):
    on_terminal(monkeypatch)
    short = cli("spectrum --no-figure --color never").out
    left_out = re.fullmatch(r"(\d+) (?:more )?rows: --full", short.splitlines()[-1])
    assert 129 - 12 <= int(left_out[1]) <= 129
    whole = cli("spectrum --no-figure --color never --full").out
    assert "rows: --full" not in whole
    assert len(whole.splitlines()) >= len(short.splitlines()) - 1 + int(left_out[1])
    assert "rows: --full" not in cli("count-low-bin --d 4 8 --no-figure --color never").out


def test_a_terminal_is_told_what_to_try_next_and_a_pipe_is_not(cli, monkeypatch):
    assert "next: " not in cli("spectrum --no-figure").err
    on_terminal(monkeypatch)
    line = cli("spectrum --no-figure").err.splitlines()[-1]
    assert line.startswith("next: pe-spectra ")
    assert cli(f"{line.removeprefix('next: pe-spectra ')} --no-figure").code == 0
    assert cli("spectrum --no-figure --quiet").err == ""


@pytest.mark.parametrize("columns", ["20", "40", "0", "80", "1000", "x"])
def test_a_terminal_of_any_width_cuts_no_number(cli, monkeypatch, columns):
    on_terminal(monkeypatch)
    for command in PAPER:
        text = cli(f"{command} --d 64 --no-figure --color never", COLUMNS=columns).out
        assert "…" not in text
        width = int(columns) if columns.isdigit() and int(columns) else 100
        if width >= 40:
            assert max(len(line) for line in text.splitlines()) <= min(width, 110)
    rows = json.loads(cli("count-low-bin --d 64 --json --no-figure").out)["rows"]
    text = cli("count-low-bin --d 64 --color never --full", COLUMNS=columns).out
    assert f"{rows[0]['crossing']:.6g}" in text


def test_a_stream_that_is_not_utf8_gets_ascii(cli, monkeypatch):
    on_terminal(monkeypatch)
    monkeypatch.setattr(terminal, "is_unicode", lambda _: False)
    for command in PAPER:
        assert cli(f"{command} --d 64 --no-figure").out.isascii()


# ----------------------------------------------------------------------------------- the program


def test_the_package_itself_can_be_run(monkeypatch, capfd):
    program = str(Path(pe_spectra.__file__).with_name("__main__.py"))  # pytest has a loader of its own for the package
    monkeypatch.setattr(sys, "argv", ["pe_spectra", "--version"])
    # the end of this process is not that of the tests
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: None)
    monkeypatch.setattr(os, "_exit", sys.exit)
    previous = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as leaving:
            runpy.run_path(program, run_name="__main__")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # the answer is out: Ctrl-C could only spoil the end
    finally:
        signal.signal(signal.SIGINT, previous)
    assert leaving.value.code == 0
    assert capfd.readouterr().out == f"pe-spectra {pe_spectra.__version__}\n"
    assert "run_process" in runpy.run_path(program, run_name="imported")


def test_an_interrupt_where_no_handler_can_be_set_ends_with_130(monkeypatch):
    """As where a host program runs the command line in a thread of its own."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pe_spectra.cli.program.run", interrupt)
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main()))
    thread.start()
    thread.join()
    assert codes == [130]


# ----------------------------------------------------------------------------------- standard streams


def test_an_answer_needs_a_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(FileError, match="stdout: is closed"):
        terminal.write_answer("answer")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    with pytest.raises(FileError, match="stdout: cannot be written"):
        terminal.write_answer("answer")


def test_a_reader_that_has_gone_is_no_error(monkeypatch):
    source, sink = os.pipe()
    os.close(source)
    with os.fdopen(sink, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert terminal.write_answer("answer") is False
        # nothing more fails, not even the last flush at the end of the interpreter
        stream.write("more")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_output_is_said_and_a_full_error_stream_is_borne(monkeypatch):
    with open("/dev/full", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(FileError, match="stdout: no space left on device"):
            terminal.write_answer("answer")
    with open("/dev/full", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        terminal.write_error("lost")
    monkeypatch.setattr(sys, "stderr", None)
    terminal.write_error("lost")


def test_a_closed_stream_is_no_terminal():
    with open(os.devnull, encoding="utf-8") as stream:
        assert not terminal.is_terminal(stream)
    assert not terminal.is_terminal(stream)
    assert not terminal.is_terminal(None)


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("patience", "seen"), [(0.001, True), (60.0, False)])
def test_a_terminal_sees_signs_of_life_of_long_work_alone(monkeypatch, patience, seen):
    monkeypatch.setattr(run, "_PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with run.Run.progress(SimpleNamespace(quiet=False), "auditing") as tell:
        tell(3, 7)
        end = time.monotonic() + 10
        while True:
            time.sleep(0.01)
            if not seen or "3 of 7" in terminal.getvalue() or time.monotonic() > end:
                break
    written = terminal.getvalue()
    clear = "\r\x1b[2K"
    assert (f"{clear}auditing, 3 of 7 (0 s)" in written) == seen
    assert written.endswith(clear) == seen
    assert bool(written) == seen
