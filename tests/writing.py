"""What the tests of the writer share: calls of the system that fail, disks compared, programs and signals."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pe_spectra.files import places, writer

OLD = b"old " * 1000
NEW = b"new" * 2000

CODES = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EINTR, errno.EDQUOT, errno.EROFS]

#: The calls of the system that the writer makes and that may fail; a test holds this list against what it calls.
CALLS = (
    "open", "write", "fsync", "close", "stat", "lstat", "readlink", "fchmod", "fchown", "link", "replace",
    "mkdir", "rmdir", "unlink",
)  # fmt: skip

#: A temporary file is told from anybody's own by its name.
TEMPORARY = re.compile(r"\.pe-spectra-[0-9a-f]{16}\.tmp")

#: Both ways to make a temporary file: without a name (Linux), and with one (elsewhere).
WAYS = ("unnamed", "named")

_SOURCES = {places.__file__, writer.__file__}


def take_way(way, monkeypatch):
    """Let the writer make its temporary files in one of the two ways."""
    if way == "named":
        monkeypatch.setattr(writer, "_UNNAMED", 0)
    return way


class Calls:
    """Counts the writer's calls of the system and does something before each.

    Parameters
    ----------
    patch : a monkeypatch that takes it back.
    act : called with the number of the call, from 1, and its name; may raise.
    only : the calls to count.
    replaced : calls to make in place of the system's, by name.
    """

    def __init__(self, patch, act, only=CALLS, replaced=()):
        self.count, self.act, self.names = 0, act, []
        replaced = dict(replaced)
        for name in only:
            call = getattr(os, name)
            patch.setattr(os, name, self._wrap(name, call, replaced.get(name, call)))

    def _wrap(self, name, call, instead):
        def counted(*arguments, **options):
            if not _is_within_writer():
                return call(*arguments, **options)
            self.count += 1
            self.names.append(name)
            if name == "close":  # a close that reports an error has closed all the same
                call(*arguments, **options)
            self.act(self.count, name)
            return None if name == "close" else instead(*arguments, **options)

        return counted


def _is_within_writer():
    """Whether the writer is at work: other code, that draws or prints, makes calls of its own."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename not in _SOURCES:
        frame = frame.f_back
    return frame is not None


def fail_at(numbers, code):
    """Let the calls of these numbers fail."""

    def act(count, _):
        if count in numbers:
            raise OSError(code, "text of the system")

    return act


def names(folder="."):
    return sorted(os.listdir(folder))


def contents_of(*paths):
    return {path: Path(path).read_bytes() if Path(path).exists() else None for path in paths}


def snapshot(folder):
    """Give everything below a folder: its kind, permissions and bytes."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
    return found


def prepare(folder):
    """Make one old file, one old file behind a link; name these, one new file, and one in a folder that is missing."""
    folder.mkdir()
    (folder / "a").write_bytes(OLD)
    (folder / "target").write_bytes(OLD)
    (folder / "link").symlink_to("target")
    given = ("a", "link", "new", "f/new")
    return {folder / name: NEW for name in given}, tuple(folder / name for name in given)


def run_apart(function, *arguments, folder, patience=600):
    """Call a function of program/writers_apart.py in a process of its own that works in a folder; give its result."""
    here = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "tests.program.writers_apart", function, *map(json.dumps, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(here), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        timeout=patience,
        check=True,
    )
    return json.loads(done.stdout)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What became of a program to which signals were sent."""

    code: int
    stdout: str
    stderr: str
    #: Whether the program was there to receive the first signal.
    was_alive: bool
    #: From the first signal, or the beginning if there was none, to the end; of the clock and of the processor.
    seconds: float
    processor_seconds: float


#: The program as `python -m pe_spectra` starts it; it says when it has begun, at the first import within `main`.
BEGINNING = """
import os, sys
from pe_spectra.cli import run_process

class Announcer:
    def find_spec(self, *_):
        sys.meta_path.remove(self)
        os.write(int(os.environ["BEGUN"]), b".")

sys.meta_path.insert(0, Announcer())
run_process()
"""


def send_signals(argv, moments, number, *, folder, environment, patience=120):
    """Start the program, send it a signal at each moment (seconds from its beginning), and wait for its end.

    The environment leads Python to a module `beginning` with the text above.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        reader, writer_end = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "beginning", *argv],
            cwd=folder,
            env={**environment, "BEGUN": str(writer_end)},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[writer_end],
        )
        os.close(writer_end)
        with open(reader, "rb", buffering=0) as begun:
            assert begun.read(1) == b"."
        since = time.monotonic()
        pending = [since + moment for moment in moments]
        was_alive, spent = False, 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            now = time.monotonic()
            if pending and now >= pending[0]:
                pending.pop(0)
                if not was_alive:
                    was_alive, since, spent = True, time.monotonic(), _processor_seconds(process.pid)
                os.kill(process.pid, number)
            if now > since + patience:
                os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.002)
        seconds = time.monotonic() - since
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        stdout.seek(0)
        stderr.seek(0)
        return Ending(
            code=process.returncode,
            stdout=stdout.read().decode(),
            stderr=stderr.read().decode(),
            was_alive=was_alive,
            seconds=seconds,
            processor_seconds=ended[2].ru_utime + ended[2].ru_stime - spent,
        )


def _processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
