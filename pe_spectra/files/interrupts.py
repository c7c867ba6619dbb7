"""Ctrl-C held back while files are put in place, and answered between the steps."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType


class HeldInterrupts:
    """Holds Ctrl-C back, so that neither a first nor a second one breaks the clean-up.

    A mask would not do: where numerical libraries run threads, the signal reaches one of those and
    Python's handler runs all the same.
    """

    def __init__(self) -> None:
        self._arrived = False
        self._previous: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> HeldInterrupts:
        # outside the main thread handlers cannot be set, and Ctrl-C raises nothing
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                self._previous = previous
                signal.signal(signal.SIGINT, self._record)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _record(self, _number: int, _frame: FrameType | None) -> None:
        self._arrived = True

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Answer Ctrl-C at once for a while: what is done meanwhile may wait for somebody."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        try:
            yield
        finally:
            if self._previous is not None:
                signal.signal(signal.SIGINT, self._record)

    def raise_pending(self) -> None:
        """Answer a Ctrl-C that has arrived, the way it would have been answered outside."""
        if self._arrived and self._previous is not None:
            self._arrived = False
            self._previous(signal.SIGINT, None)
