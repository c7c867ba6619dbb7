"""The command line. This file imports nothing heavy, so that Ctrl-C is answered from the start."""

import _thread
import gc
import signal
import sys
import time
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType, TracebackType
    from typing import Any, NoReturn

__all__ = ["main", "run_process"]

_INTERRUPTED = 130
#: Objects between two looks for rings of them that nothing holds: the modules alone are hundreds of times as many as
#: Python waits for, and none of theirs are. A look at them costs as much as a tenth of the import of NumPy; a command
#: that draws, with Matplotlib's, makes half as many.
_MANY = 400_000
#: Places for values in the frame of the whole program. Python keeps frames in pieces of memory of 2,048 places, takes a
#: piece from the system and gives it back wherever a call crosses the end of one, and makes a larger piece only for a
#: frame that asks for more: behind this one, half of a piece of 32,768 places is left for all calls within. Where the
#: end of a piece fell into a loop, a command did so up to 1,800 times, which cost as much as a twentieth of the import
#: of NumPy.
_PLACES = (1 << 14) + 1
#: Bytes of a block that is taken and given back at once, and never touched. From then on glibc keeps blocks up to this
#: size for the next arrays, twice as much in all (mallopt(3): its threshold is dynamic, up to 32 MiB). Before that it
#: gives what is larger than 128 KiB back to the system, and takes it anew, each page by a fault: a fifth of the time
#: that `faithfulness` took.
_BLOCK = 31 << 20
#: Seconds between a Ctrl-C and the next try: cleaning up takes less, and nobody notices the difference.
_AGAIN = 0.1


def run_process() -> "NoReturn":
    """Run the program on the arguments of the process, and end the process with its exit code."""
    gc.set_threshold(_MANY)
    bytes(_BLOCK)
    main.__code__ = main.__code__.replace(co_stacksize=_PLACES)
    try:
        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: on the way out Ctrl-C could only spoil the end
    except KeyboardInterrupt:
        code = _answer_interrupt()
    if code == _INTERRUPTED or not _has_more_to_end():
        _leave_at_once(code)
    sys.exit(code)


def main() -> int:
    """Run the program on the arguments of the process; return its exit code.

    0 done, 1 a check that was asked for says no, 2 could not do it, 130 interrupted. This is the
    only place that turns errors into exit codes.
    """
    report = sys.unraisablehook
    try:
        with _RepeatedInterrupts() as interrupts:
            try:
                from pe_spectra.cli.program import run

                return run(sys.argv[1:])
            except Exception as error:
                if interrupts.has_come():
                    raise KeyboardInterrupt from error  # Python and compiled code make other errors of some
                from pe_spectra.cli.program import fail

                return fail(error)
    except KeyboardInterrupt:
        code = _answer_interrupt()
    sys.unraisablehook = report  # what was half made has gone with the error
    return code


def _answer_interrupt() -> int:
    while True:
        try:
            return _say_interrupted()
        except KeyboardInterrupt:  # the next one is ignored, or the one after that
            continue


def _say_interrupted() -> int:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the way out
        from pe_spectra.cli.terminal import silence_stdout, write_error

        silence_stdout()
        write_error("interrupted")
    except ValueError:  # outside the main thread
        pass
    return _INTERRUPTED


def _has_more_to_end() -> bool:
    """Whether Python's own end does more than take down what is loaded: for threads, streams, tools of developers."""
    if sys.getprofile() or sys.gettrace() or sys.flags.inspect or sys.flags.dev_mode:
        return True
    if "threading" in sys.modules and sys.modules["threading"].active_count() > 1:
        return True
    return not _flush()


def _flush() -> bool:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def _leave_at_once(code: int) -> "NoReturn":
    # To take down all that is loaded, object by object, takes Python a sixth of a short command, and nobody waits for
    # it. After Ctrl-C it would go wrong, too: a library of C++ whose import was interrupted may let go of its objects
    # when Python is gone, and abort (matplotlib's ft2font); and where Ctrl-C met a text that Python was running,
    # as every named tuple is made of one, Python ends itself by the signal. What was registered for the exit is run.
    import os
    from atexit import _run_exitfuncs as run_exit_functions

    try:
        run_exit_functions()
        _flush()
    finally:
        os._exit(code)


class _RepeatedInterrupts:
    """Raises KeyboardInterrupt at Ctrl-C, again and again until it has come through to this context.

    One that is raised within a callback of Python's own, as imports have, is only reported, and compiled code may
    swallow one, or print it, warn of it or raise an error of its own, as modules that use NumPy do while they are
    imported. So it is raised again until the program has answered, and nobody else says anything. Where something
    else than KeyboardInterrupt answers Ctrl-C, and outside the main thread, nothing changes.
    """

    _has_come = _is_answered = _is_ours = False

    def __enter__(self) -> "_RepeatedInterrupts":
        self._report, sys.unraisablehook = sys.unraisablehook, self._report_others
        self._print, sys.excepthook = sys.excepthook, self._print_others
        self._warn, warnings.showwarning = warnings.showwarning, self._warn_before
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._raise)
                self._is_ours = True
            except ValueError:  # outside the main thread
                pass
        return self

    def __exit__(self, *_: object) -> None:
        self._is_answered = True
        sys.excepthook = self._print
        if not self._has_come:
            sys.unraisablehook = self._report
        warnings.showwarning = self._warn
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def has_come(self) -> bool:
        """Whether Ctrl-C was pressed: an error that ends the program now has come of it."""
        return self._has_come

    def _raise(self, _number: int, _frame: "FrameType | None") -> None:
        if not self._has_come:
            self._has_come = True
            _thread.start_new_thread(self._repeat, ())
        raise KeyboardInterrupt

    def _repeat(self) -> None:
        while True:
            time.sleep(_AGAIN)
            if self._is_answered:
                break
            _thread.interrupt_main()

    def _report_others(self, lost: "UnraisableHookArgs") -> None:
        if not (self._has_come or issubclass(lost.exc_type, KeyboardInterrupt)):
            self._report(lost)

    def _print_others(self, kind: "type[BaseException]", error: BaseException, trace: "TracebackType | None") -> None:
        if not issubclass(kind, KeyboardInterrupt):
            self._print(kind, error, trace)

    def _warn_before(self, *warning: "Any", **place: "Any") -> None:
        if not self._has_come:
            self._warn(*warning, **place)
