"""The command line. This file imports nothing heavy, so that Ctrl-C is answered from the start."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main", "run_process"]

_INTERRUPTED = 130


def run_process() -> "NoReturn":
    """Run the program on the arguments of the process, and end the process with its exit code."""
    try:
        code = main()
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: on the way out Ctrl-C could only spoil the end
    except KeyboardInterrupt:
        code = _answer_interrupt()
    if code == _INTERRUPTED:
        _leave_at_once()
    sys.exit(code)


def main() -> int:
    """Run the program on the arguments of the process; return its exit code.

    0 done, 1 a check that was asked for says no, 2 could not do it, 130 interrupted. This is the
    only place that turns errors into exit codes.
    """
    try:
        from pe_spectra.cli.ctrl_c import RepeatedInterrupts

        with RepeatedInterrupts() as interrupts:
            from pe_spectra.cli.program import run

            return run(sys.argv[1:], interrupts.has_come)
    except KeyboardInterrupt:
        return _answer_interrupt()


def _answer_interrupt() -> int:
    while True:
        try:
            return _say_interrupted()
        except KeyboardInterrupt:  # the next one is ignored, or the one after that
            continue


def _say_interrupted() -> int:
    import signal

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the way out
        from pe_spectra.cli.terminal import silence_stdout, write_error

        silence_stdout()
        write_error("interrupted")
    except ValueError:  # outside the main thread
        pass
    return _INTERRUPTED


def _leave_at_once() -> "NoReturn":
    # Python's own end would go wrong: a library of C++ whose import was interrupted may let go of its objects
    # when Python is gone, and abort (matplotlib's ft2font); and where Ctrl-C met a text that Python was running,
    # as every named tuple is made of one, Python ends itself by the signal. What was registered for the exit is run.
    import os
    from atexit import _run_exitfuncs as run_exit_functions

    try:
        run_exit_functions()
    finally:
        os._exit(_INTERRUPTED)
