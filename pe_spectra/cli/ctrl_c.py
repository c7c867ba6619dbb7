"""Ctrl-C that is answered even where its exception is lost.

A KeyboardInterrupt that is raised within a callback of Python's own, as imports have, is only reported,
and compiled code may swallow one, or print it and raise an error of its own, as modules that use NumPy do
while they are imported. So it is raised again until the program has answered, and printed by nobody else.
"""

import _thread
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType, TracebackType

#: Seconds between a Ctrl-C and the next try: cleaning up takes less, and nobody notices the difference.
_AGAIN = 0.1


class RepeatedInterrupts:
    """Raises KeyboardInterrupt at Ctrl-C, again and again until it has come through to this context.

    Where something else than KeyboardInterrupt answers Ctrl-C, and outside the main thread, nothing changes.
    """

    def __init__(self) -> None:
        self._has_come = False
        self._is_answered = False
        self._is_ours = False

    def __enter__(self) -> "RepeatedInterrupts":
        self._report, sys.unraisablehook = sys.unraisablehook, self._report_others
        self._print, sys.excepthook = sys.excepthook, self._print_others
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._raise)
                self._is_ours = True
            except ValueError:  # outside the main thread
                pass
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        self._is_answered = True
        sys.unraisablehook, sys.excepthook = self._report, self._print
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
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            self._report(lost)

    def _print_others(self, kind: "type[BaseException]", error: BaseException, trace: "TracebackType | None") -> None:
        if not issubclass(kind, KeyboardInterrupt):
            self._print(kind, error, trace)
