"""Ctrl-C that is answered even where its exception is lost.

A KeyboardInterrupt that is raised within a callback of Python's own, as imports have, is only reported,
and compiled code may swallow one. So it is raised again until the program has answered.
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
        self._is_repeating = False
        self._is_answered = False
        self._is_ours = False

    def __enter__(self) -> None:
        self._report, sys.unraisablehook = sys.unraisablehook, self._report_others
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._raise)
                self._is_ours = True
            except ValueError:  # outside the main thread
                pass

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        self._is_answered = True
        sys.unraisablehook = self._report
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _raise(self, _number: int, _frame: "FrameType | None") -> None:
        if not self._is_repeating:
            self._is_repeating = True
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


def is_interrupt(error: "BaseException | None") -> bool:
    """Whether an error is a KeyboardInterrupt, or came of one: Python wraps some in errors of its own.

    >>> is_interrupt(ValueError())
    False
    """
    seen: list[BaseException] = []
    while error is not None and error not in seen:  # a cause may lead back to where it came from
        seen.append(error)
        error = error.__cause__ or error.__context__
    return any(isinstance(one, KeyboardInterrupt) for one in seen)
