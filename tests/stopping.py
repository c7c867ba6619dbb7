"""Programs that stop at a byte of what they write, where a test kills them: no moment depends on the machine's load."""

import os
import signal
import sys

NEVER = sys.maxsize


def stop_at(size, piece):
    """Let this process write so many bytes at a time, as the system may, and stop when its file has reached a size."""
    real = os.pwrite

    def write(descriptor, data, place):
        if place >= size:
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(descriptor, bytes(data[: min(piece, size - place)]), place)

    os.pwrite = write
