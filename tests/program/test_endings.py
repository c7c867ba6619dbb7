"""How a process of the program ends: at once, but with all that Python's own end does for others."""

import os
import subprocess
import sys

import pytest


def end(program, *arguments, line="--version", **variables):
    """Run a process that prepares something and then runs the program."""
    text = f"import sys; sys.argv = ['pe-spectra', *{line.split()!r}]\n{program}\n"
    return subprocess.run(
        [sys.executable, *arguments, "-c", f"{text}from pe_spectra.cli import run_process\nrun_process()"],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        timeout=100,
    )


def test_what_is_registered_for_the_end_is_run():
    done = end("import atexit; atexit.register(print, 'last')")
    assert done.stdout.splitlines()[1:] == ["last"]
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_taken_down():
    """Else this would say so: it is what a short command saves."""
    done = end("class Kept:\n    def __del__(self): print('gone')\nkept = Kept()")
    assert "gone" not in done.stdout


@pytest.mark.parametrize("option", [["-X", "dev"], ["-i"]])
def test_tools_of_developers_see_the_end(option):
    assert "gone" in end("class Kept:\n    def __del__(self): print('gone')\nkept = Kept()", *option).stdout


def test_a_profile_is_printed():
    command = [sys.executable, "-m", "cProfile", "-m", "pe_spectra", "--version"]
    assert " function calls " in subprocess.run(command, capture_output=True, text=True, timeout=100).stdout


def test_a_thread_that_goes_on_is_waited_for():
    thread = "threading.Thread(target=lambda: (time.sleep(0.5), print('done'))).start()"
    assert end(f"import threading, time; {thread}").stdout.splitlines()[-1] == "done"


@pytest.mark.parametrize(("line", "code"), [("--version", 0), ("nonsense", 2), ("spectrum --d x", 2)])
def test_the_exit_code_is_kept(line, code):
    assert end("", line=line).returncode == code


def test_what_was_written_before_is_flushed():
    assert end("sys.stdout.write('first ')").stdout.startswith("first pe-spectra ")


def test_a_stream_that_takes_no_more_is_told_of_by_python():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    done = end("print('x'); sys.stderr.flush(); sys.stdout = open('/dev/full', 'w'); sys.stdout.write('y')")
    assert done.returncode != 0
