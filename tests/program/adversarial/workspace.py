"""Where one run of the program takes place: its folders, the steps before it, what it changed."""

import csv
import io
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from rows import build_fixture


class SetupError(Exception):
    """The catalogue or the machine is at fault, not the program under test."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is at one path: kind and permissions, content, and a mark that every writing changes."""

    mode: int
    content: bytes
    mark: tuple[int, ...]

    @property
    def kind(self):
        return stat.S_IFMT(self.mode)


class Workspace:
    """A working directory, HOME and TMPDIR of their own, empty at first."""

    def __init__(self, root):
        self.root = Path(root)
        self.work, self.home, self.temporary = (self.root / name for name in ("work", "home", "tmp"))
        for folder in (self.work, self.home, self.temporary):
            folder.mkdir(parents=True)
        #: What the process itself does before the program starts, in order.
        self.process_steps = []
        self.pipe_lines = None

    def prepare(self, case, fixtures, run_program):
        """Create the fixtures and take the steps of `pre`; `run_program` runs the program itself."""
        for name in case.get("fixtures", []):
            (self.work / name).write_bytes(build_fixture(fixtures[name]))
        for verb, *arguments in case.get("pre", []):
            step = getattr(self, "_" + verb.replace("-", "_"), None)
            if step is not None:
                step(*arguments)
            elif verb == "run":
                run_program(arguments)
            else:
                self.process_steps.append([verb, *arguments])
        known = {"umask", "rlimit", "stdout", "stderr", "close", "cwd-gone"}
        unknown = {step[0] for step in self.process_steps} - known
        if unknown:
            raise SetupError(f"steps that nobody understands: {sorted(unknown)}")

    def _copy(self, source, target):
        shutil.copyfile(self.work / source, self.work / target)

    def _mkdir(self, name):
        (self.work / name).mkdir()

    def _mkfifo(self, name):
        os.mkfifo(self.work / name)

    def _symlink(self, target, name):
        (self.work / name).symlink_to(target)

    def _chmod(self, mode, name):
        (self.work / name).chmod(int(mode, 8))

    def _write(self, name, text):
        (self.work / name).write_text(text, encoding="utf-8")

    def _pipe_close(self, lines):
        self.pipe_lines = int(lines)

    def _set_cell(self, name, line, column, text):
        path = self.work / name
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
        try:
            rows[int(line) - 1][int(column) - 1] = text
        except IndexError:
            raise SetupError(f"{name} has no cell in line {line}, column {column}") from None
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows(rows)
        path.write_text(out.getvalue(), encoding="utf-8", newline="")

    def snapshot(self):
        """Give an entry for every path below the three folders, the folders themselves included."""
        return {name: entry for folder in (self.work, self.home, self.temporary) for name, entry in self._walk(folder)}

    def _walk(self, folder):
        if not os.path.lexists(folder):
            return
        yield self._name(folder), _look(folder)
        for parent, folders, files in os.walk(folder):
            for name in folders + files:
                path = Path(parent, name)
                yield self._name(path), _look(path)

    def _name(self, path):
        """Name a path as the program would: from the working directory."""
        return os.path.relpath(path, self.work)

    def clear(self):
        """Remove everything, also what the steps before the run have protected."""
        for parent, folders, _ in os.walk(self.root):
            for name in folders:
                path = Path(parent, name)
                if not path.is_symlink():
                    path.chmod(0o700)
        shutil.rmtree(self.root)


def _look(path):
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    content = b""
    if kind == stat.S_IFREG:
        content = path.read_bytes()
    elif kind == stat.S_IFLNK:
        content = os.fsencode(os.readlink(path))
    # a folder changes whenever a file in it comes or goes, and a temporary may
    mark = () if kind == stat.S_IFDIR else (status.st_ino, status.st_mtime_ns)
    return Entry(mode=status.st_mode, content=content, mark=mark)


def may_write_everywhere(folder):
    """Whether permissions do not bind this process, as they do not bind root."""
    probe = Path(folder) / "probe"
    probe.mkdir(mode=0o555)
    try:
        return os.access(probe, os.W_OK)
    finally:
        probe.rmdir()
