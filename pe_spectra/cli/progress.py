"""Signs of life on stderr for work that takes more than a second; nothing for work that does not."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from pe_spectra.cli.streams import is_terminal

_PATIENCE = 1.0
_CLEAR = "\r\x1b[2K"


class Progress:
    """While it is entered, says on a terminal's stderr what is being done and for how long."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self._what = what
        self._shown = not quiet and is_terminal(sys.stderr)
        self._done = threading.Event()
        self._step = ""

    def __enter__(self) -> Progress:
        if self._shown:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._shown:
            self._thread.join()

    def step(self, done: int, total: int) -> None:
        """Report that `done` of `total` parts are done."""
        self._step = f", {done} of {total}"

    def _watch(self) -> None:
        start = time.monotonic()
        wrote = False
        while not self._done.wait(_PATIENCE):
            sys.stderr.write(f"{_CLEAR}{self._what}{self._step} ({time.monotonic() - start:.0f} s)")
            sys.stderr.flush()
            wrote = True
        if wrote:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
