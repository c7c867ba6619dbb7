"""Standard output and standard error: the only code that writes to them."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

from pe_spectra.cli.text import escape, to_ascii
from pe_spectra.errors import FileError


def write_answer(text: str) -> bool:
    """Write the whole answer to standard output and flush it; False when its reader has gone.

    Raises
    ------
    FileError : standard output is closed or full.
    """
    if sys.stdout is None:
        raise FileError("stdout", "is closed")
    try:
        sys.stdout.write(_fit(text, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return False
    except (OSError, ValueError) as error:
        silence_stdout()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "cannot be written"
        raise FileError("stdout", reason.lower()) from error
    return True


def write_message(text: str) -> None:
    """Write one line to standard error; what cannot be written there is lost, and nothing else."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(_fit(text, sys.stderr) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        _silence(sys.stderr)  # else the interpreter's last flush fails and changes the exit code


def write_error(text: str) -> None:
    """Write an error as one line, with everything in it made safe to print."""
    write_message(escape(f"error: {text}"))


def silence_stdout() -> None:
    """Let nothing more reach standard output, so that the interpreter's last flush cannot fail."""
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, stream.fileno())
        os.close(sink)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person watches this stream."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:
        return False


def is_unicode(stream: TextIO | None) -> bool:
    """Whether the stream takes any character."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf8")


def _fit(text: str, stream: TextIO) -> str:
    return text if is_unicode(stream) else to_ascii(text)
