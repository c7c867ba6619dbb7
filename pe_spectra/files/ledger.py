"""A ledger: a CSV file of results that long work appends to, line by line, and goes on with after an end of any kind.

Its first line is a comment with the settings under which all lines were made, its second the names of the columns,
the first of which is `key`. A line is there whole and on the disk, or not at all: what a killed process left of its
last one is cut off when the ledger is opened again, and that piece of work is done anew.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pe_spectra.errors import FileError, InputError, shorten
from pe_spectra.faces import Cell
from pe_spectra.files.places import check_writable
from pe_spectra.files.reading import RefusedError, naming, open_regular, read_bytes
from pe_spectra.files.writer import HeldInterrupts
from pe_spectra.limits import MAX_TEXT_TABLE_BYTES
from pe_spectra.records import dataclass
from pe_spectra.wording import count

#: How the first line begins; JSON follows.
_MAGIC = "# pe-spectra ledger 1 "
#: The name of the first column, by which a line is known; so many differing settings are named.
KEY, _MOST_NAMED = "key", 4
#: Stands for a setting that one of two has and the other has not.
_ABSENT = object()


def is_ledger(path: Path) -> bool:
    """Whether a file begins as a ledger does; False for what is no file that can be read.

    >>> is_ledger(Path("none.csv"))
    False
    """
    with suppress(FileError), open_regular(path, label="") as file:
        return file.read_at(0, len(_MAGIC)) == _MAGIC.encode()
    return False


@dataclass(frozen=True, kw_only=True)
class LedgerContents:
    """What a ledger holds.

    Attributes
    ----------
    settings : what all lines were made with.
    about : what was written down of the first opening, as the versions of libraries.
    columns : their names, `key` first.
    rows : the cells of each line as they are written, by column.
    size : bytes up to the end of the last whole line.
    """

    settings: Mapping[str, Any]
    about: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    size: int


class Ledger:
    """A ledger that this process alone appends to; made by :meth:`open`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.csv"
    ...     with Ledger.open(path, {"passes": 24}, columns=["accuracy"], label="--output") as ledger:
    ...         ledger.append("lag/dft", {"accuracy": 0.5})
    ...     with Ledger.open(path, {"passes": 24}, columns=["accuracy"], label="--output") as ledger:
    ...         ledger.done
    {'lag/dft'}
    """

    def __init__(self, path: Path, descriptor: int, contents: LedgerContents, label: str) -> None:
        self.path, self.columns, self.about = path, contents.columns, contents.about
        #: The cells of each line that was there or came by :meth:`append_all`, by column, in the order of the file.
        self.rows = list(contents.rows)
        self.done = {row[KEY] for row in self.rows}
        self._descriptor, self._end, self._label = descriptor, contents.size, label

    @classmethod
    @contextmanager
    def open(
        cls,
        path: Path,
        settings: Mapping[str, Any],
        *,
        columns: Sequence[str],
        about: Mapping[str, Any] | None = None,
        label: str = "",
        resume: bool = True,
        is_end: Callable[[str], bool] = lambda _key: True,
    ) -> Iterator[Ledger]:
        """Open a ledger, new or with lines of the same settings, which stay; no other process can until it is closed.

        Parameters
        ----------
        settings : what lines are made with, as JSON can hold it; those of an earlier opening must be the same.
        columns : the names of the columns behind the key.
        about : written down in a new ledger, and not compared.
        label : the option that named the file, for messages; may be empty.
        resume : whether there may be lines already.
        is_end : of lines that belong together, the key of the last; those without it are cut off, as a torn line is.

        Raises
        ------
        FileError : no place for a file, a file that is no ledger, one with lines that may not be there or with other
            settings or columns, or one that another process has open. The file is as it was.
        """
        check_writable([path], label=label)
        wanted = (KEY, *columns)
        header = _write_header(settings, about or {}, wanted)
        with naming(path, label):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
        try:
            with naming(path, label):
                _lock(descriptor)
                contents = _cut(_read_locked(path, descriptor, header, label), is_end)
                _compare(contents, json.loads(json.dumps(settings)), wanted)
                if contents.rows and not resume:
                    raise RefusedError(f"has {count(len(contents.rows), 'line')} already; name another file")
                if os.fstat(descriptor).st_size > contents.size:
                    os.ftruncate(descriptor, contents.size)
                _keep_name(path)
            yield cls(path, descriptor, contents, label)
        finally:
            os.close(descriptor)

    def append(self, key: str, row: Mapping[str, Cell]) -> None:
        """Write one line onto the disk, as :meth:`append_all` writes several."""
        self.append_all({key: row})

    def append_all(self, rows: Mapping[str, Mapping[str, Cell]]) -> None:
        """Write lines by their keys, in one piece; of those that a killed process left, the last may be missing.

        Raises
        ------
        InputError : a key that is there already, other columns than those of the ledger, or a cell with a line break.
        FileError : the lines could not be written, and none of them is there; or the file was removed or changed.
        """
        cells = []
        for key, row in rows.items():
            if (KEY, *row) != self.columns:
                raise InputError("the columns are not those of the ledger", ", ".join(row), ", ".join(self.columns[1:]))
            cells.append([key, *map(_write_cell, row.values())])
        self.append_lines(rows.keys(), render_lines(cells))
        self.rows += [dict(zip(self.columns, one, strict=True)) for one in cells]

    def append_lines(self, keys: Collection[str], lines: bytes) -> None:
        """Write lines that :func:`render_lines` made, as :meth:`append_all` does; `rows` has them not."""
        if known := next((key for key in keys if key in self.done), None):
            raise InputError("a line of this key is there already", known, "each key once")
        with naming(self.path, self._label), HeldInterrupts() as interrupts:
            self._check()
            try:
                _write_at(self._descriptor, lines, self._end)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, self._end)
                raise
            self._end += len(lines)
            self.done.update(keys)
        interrupts.raise_pending()

    def _check(self) -> None:
        """Refuse to go on where somebody else has taken the file away, or written to it."""
        status = os.fstat(self._descriptor)
        if not status.st_nlink:
            raise RefusedError("was removed or replaced while it was written")
        if status.st_size != self._end:
            raise RefusedError("was changed by another program while it was written")


def read_ledger(path: Path, *, label: str = "") -> LedgerContents:
    """Read a ledger, which another process may be writing; the beginning of a last line is left out.

    Raises
    ------
    FileError : no ledger, a line with too few or too many cells, or a key that stands twice.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.csv"
    ...     with Ledger.open(path, {"passes": 24}, columns=["accuracy"]) as ledger:
    ...         ledger.append("lag/dft", {"accuracy": 0.5})
    ...     read_ledger(path).rows
    ({'key': 'lag/dft', 'accuracy': '0.5'},)
    """
    data = read_bytes(path, limit=MAX_TEXT_TABLE_BYTES, label=label)
    with naming(path, label):
        return _parse(data)


# --------------------------------------------------------------------- the two first lines


def _write_header(settings: Mapping[str, Any], about: Mapping[str, Any], columns: Sequence[str]) -> bytes:
    said = json.dumps({"settings": settings, "about": about}, allow_nan=False)
    return f"{_MAGIC}{said}\n".encode() + render_lines([columns])


def _read_header(lines: Sequence[str]) -> tuple[Mapping[str, Any], Mapping[str, Any], tuple[str, ...]]:
    if not lines or not lines[0].startswith(_MAGIC):
        raise RefusedError("is no ledger of results; it stays as it is, name another file")
    try:
        said = json.loads(lines[0].removeprefix(_MAGIC))
        settings, about = dict(said["settings"]), dict(said["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError("line 1: its settings are damaged") from error
    columns = tuple(_read_line(lines[1])) if len(lines) > 1 else ()
    if columns[:1] != (KEY,) or len(set(columns)) < len(columns):
        raise RefusedError("line 2: its columns are damaged")
    return settings, about, columns


def _compare(found: LedgerContents, settings: Mapping[str, Any], columns: tuple[str, ...]) -> None:
    """Refuse to mix lines of different settings, naming these."""
    if differing := describe_differences(found.settings, settings):
        raise RefusedError(f"was begun with other settings: {differing}; name another file")
    if found.columns != columns:
        other = sorted({*found.columns} ^ {*columns}) or ["in another order"]
        raise RefusedError(f"has other columns: {shorten(', '.join(other))}; name another file")


def describe_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Name the settings that differ, with both values; empty where none does.

    >>> describe_differences({"width": 64, "rates": {"low": 1}}, {"width": 32, "rates": {"low": 1}})
    'width is 64 there and 32 now'
    """
    before, after = dict(_flatten(old)), dict(_flatten(new))
    names = [name for name in {**before, **after} if before.get(name, _ABSENT) != after.get(name, _ABSENT)]
    said = [
        f"{name} is {_name_value(before.get(name, _ABSENT))} there and {_name_value(after.get(name, _ABSENT))} now"
        for name in names
    ]
    more = [f"and {len(said) - _MOST_NAMED} more"] if len(said) > _MOST_NAMED else []
    return ", ".join([*said[:_MOST_NAMED], *more])


def _flatten(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _name_value(value: Any) -> str:
    return "not set" if value is _ABSENT else shorten(value if isinstance(value, str) else json.dumps(value))


# --------------------------------------------------------------------- lines


def _write_cell(value: Cell) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def render_lines(rows: Sequence[Sequence[str]]) -> bytes:
    """Write lines of CSV; the end of a line is that of a row, by which a torn one is known, so no cell has one.

    >>> render_lines([["lag/dft", "0.5"], ['a "b", c', ""]])
    b'lag/dft,0.5\\n"a ""b"", c",\\n'
    """
    for cell in chain.from_iterable(rows):
        if not cell.isprintable() and (cell != (cell.splitlines() or [""])[0] or "\0" in cell):
            raise InputError("a cell of a ledger has a line break", repr(cell), "one line is accepted")
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode("utf-8", "surrogateescape")


def _read_line(line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise RefusedError("has a line that is no CSV") from error


def _parse(data: bytes) -> LedgerContents:
    """Read the whole lines; what stands behind the last line break is the beginning of one."""
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", "surrogateescape").split("\n")[:-1]
    settings, about, columns = _read_header(lines)
    rows: list[Mapping[str, str]] = []
    first: dict[str, int] = {}
    for number, line in enumerate(lines[2:], start=3):
        cells = _read_line(line)
        if len(cells) != len(columns):
            raise RefusedError(f"line {number} has {count(len(cells), 'cell')}, not {len(columns)}")
        if cells[0] in first:
            raise RefusedError(f"line {number} has the key of line {first[cells[0]]}: {shorten(cells[0])}")
        first[cells[0]] = number
        rows.append(dict(zip(columns, cells, strict=True)))
    return LedgerContents(settings=settings, about=about, columns=columns, rows=tuple(rows), size=len(whole))


def _cut(found: LedgerContents, is_end: Callable[[str], bool]) -> LedgerContents:
    """Leave out the last lines of those that belong together and were not all written."""
    rows = list(found.rows)
    cut = 0
    while rows and not is_end(rows[-1][KEY]):
        cut += len(render_lines([list(rows.pop().values())]))
    return replace(found, rows=tuple(rows), size=found.size - cut)


# --------------------------------------------------------------------- the file


def _lock(descriptor: int) -> None:
    """Take the file for this process; the system gives it back at its end, however that comes."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RefusedError("is being written by another process; wait for its end, or name another file") from error


def _read_locked(path: Path, descriptor: int, header: bytes, label: str) -> LedgerContents:
    """Read what is there; where that is nothing, or the beginning of two first lines, write them."""
    with open_regular(path, label=label) as file:
        if not os.path.samestat(os.fstat(descriptor), os.fstat(file.descriptor)):
            raise RefusedError("was replaced while it was opened")
        data = file.read_at(0, MAX_TEXT_TABLE_BYTES + 1)
    if len(data) > MAX_TEXT_TABLE_BYTES:
        raise RefusedError(f"holds more than {MAX_TEXT_TABLE_BYTES} bytes, the most that is accepted")
    if header.startswith(data) or (data.startswith(_MAGIC.encode()) and data.count(b"\n") < 2):
        os.ftruncate(descriptor, 0)
        _write_at(descriptor, header, 0)
        data = header
    return _parse(data)


def _write_at(descriptor: int, data: bytes, place: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, place)
        rest, place = rest[written:], place + written
    os.fsync(descriptor)


def _keep_name(path: Path) -> None:
    """Make the name of a new file outlast a power cut; without it the lines are there all the same."""
    with suppress(OSError):
        folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
