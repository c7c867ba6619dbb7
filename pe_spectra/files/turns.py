"""One writer at a time: of processes that read a file, add to it and write it whole, none loses what another added."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def take_turns(place: Path) -> Iterator[None]:
    """Wait for others that take turns in the folder of a file, and keep them waiting until the end.

    The system gives the folder back at the end of a process, however that comes; nothing is written. Where it cannot be
    locked, as on some network disks, nobody waits.

    >>> with take_turns(Path("ref.json")):
    ...     Path("ref.json").exists()
    False
    """
    descriptor = -1
    try:
        with suppress(OSError):
            descriptor = os.open(place.resolve().parent, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)
