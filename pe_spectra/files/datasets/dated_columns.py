"""Tables with a row for each step of time: ETT, whose windows are forecasts, and any .csv file with a column of labels.

ETT: github.com/zhouhaoyi/ETDataset, columns date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT. Zhou et al. 2021, Informer.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64, I64
from pe_spectra.files.csv_lines import split_cells, split_lines
from pe_spectra.files.csv_table import ONE_NUMBER
from pe_spectra.files.datasets.recorded import RISING_OR_NOT, RecordedSet, Recording
from pe_spectra.files.reading import RefusedError, RegularFile, open_regular
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join, write_time

_ETT = ("date", "HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")
#: So many different labels are those of a column of measurements.
MAX_CLASSES = 64


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """The columns of a file, as far as it was read: names, and what was found below each."""

    names: tuple[str, ...]
    #: Of each that is read as numbers; in the order of the file.
    numbers: Mapping[str, array[float]]
    #: Of the column of labels, the spelling of each row; empty without one.
    labels: list[str] = field(default_factory=list)
    #: Of the column of times, the first row's and each next one's.
    times: list[datetime] = field(default_factory=list)


def read_ett(path: Path, *, label: str = "") -> RecordedSet:
    """Read a file of ETT: seven channels, without labels; what is learned is whether the oil temperature, OT, rises.

    Raises
    ------
    FileError : other columns, a cell that is no number or no date, a date that is not later than the one before.

    >>> from tempfile import TemporaryDirectory
    >>> text = "date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT;2016-07-01 00:00:00,1,2,3,4,5,6,30.5"
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "ETTh1.csv").write_text(text.replace(";", chr(10)))
    ...     found = read_ett(Path(folder) / "ETTh1.csv")
    >>> found.channels[-1], found.recordings[0].values[:, -1].tolist(), found.recordings[0].labels is None
    ('OT', [30.5], True)
    """
    with open_regular(path, label=label) as file:
        lines = split_lines(file, ",")
        names = _read_names(next(lines, ""))
        if names != _ETT:
            raise RefusedError(f"line 1 has the columns {shorten(','.join(names))}; {','.join(_ETT)} are expected")
        columns = _read_rows(lines, names, time="date", labels=None)
    return replace(_make_set("ett", path, columns, None), classes=RISING_OR_NOT, forecast=_ETT[-1])


def read_labelled_table(path: Path, column: str, *, label: str = "") -> RecordedSet:
    """Read a .csv file with a header, of which one column names the class of each row.

    The first column is left out where it holds times, which must rise, or has no name and counts the rows. All others
    are numbers. Classes are in the order of their numbers, or of their words; where one is named as COLUMN=CLASS, it
    is the second of two, and all others are the first.

    Parameters
    ----------
    path : the file.
    column : the name of the column of labels, or COLUMN=CLASS.
    label : the option that named the file, for messages; may be empty.

    Raises
    ------
    FileError : no such column, a name twice, a cell that is no finite number, no label, or labels of one class only.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("speed,state;1,up;2,down".replace(";", chr(10)))
    ...     found = read_labelled_table(Path(folder) / "a.csv", "state")
    >>> found.classes, found.recordings[0].labels.tolist(), found.channels
    (('down', 'up'), [1, 0], ('speed',))
    """
    with open_regular(path, label=label) as file:
        columns, name, wanted = _read_labelled(file, column)
        classes = _list_classes(columns.labels, name)
        if wanted:
            columns, classes = _join_others(columns, classes, name, wanted)
    return _make_set("table", path, columns, classes)


def _make_set(form: str, path: Path, columns: _Columns, classes: tuple[str, ...] | None) -> RecordedSet:
    values: F64 = np.stack([np.frombuffer(one, dtype=np.float64) for one in columns.numbers.values()], axis=1)
    labels: I64 | None = None
    notes = [*_note_times(columns.times)]
    if classes is not None:
        places = {name: number for number, name in enumerate(classes)}
        labels = np.array([places[one] for one in columns.labels], dtype=np.int64)
    # there is always one: of the times, or of the labels
    left = [f"column {name}" if name else "the counter" for name in columns.names if name not in columns.numbers]
    notes.append(f"left out of the channels: {join(left)}")
    one = Recording(name=path.stem, part="whole", values=values, labels=labels, origin=str(path))
    return RecordedSet(
        form=form,
        origin=str(path),
        channels=tuple(columns.numbers),
        classes=classes or (),
        recordings=(one,),
        notes=tuple(notes),
    )


def _note_times(times: list[datetime]) -> Iterator[str]:
    steps = sorted({(later - time).total_seconds() for time, later in pairwise(times)})
    if len(steps) > 1:
        first, last = write_time(steps[0]), write_time(steps[-1])
        yield f"steps of time are not even ({first} to {last}); rows are taken as evenly spaced"


def _join_others(
    columns: _Columns, classes: tuple[str, ...], column: str, wanted: str
) -> tuple[_Columns, tuple[str, ...]]:
    """Make one class of all but the one that is looked for."""
    if wanted not in classes:
        raise RefusedError(
            f"column {shorten(column, 40)} has no label {shorten(wanted, 20)}; it has {join(classes, 6)}"
        )
    others = f"not {wanted}"
    return replace(columns, labels=[one if one == wanted else others for one in columns.labels]), (others, wanted)


def _read_labelled(file: RegularFile, column: str) -> tuple[_Columns, str, str]:
    """The columns, the name of that of labels, and the class that is looked for; empty where none was named."""
    lines = split_lines(file, ",")
    names = _read_names(next(lines, ""))
    wanted = ""
    if column not in names and column.rpartition("=")[0] in names:
        column, _, wanted = column.rpartition("=")
    if column not in names:
        raise RefusedError(f"line 1 has no column {shorten(column)}; it has {shorten(join(names))}")
    first = next(lines, "")
    cells = split_cells(first, 2, ",")
    time = names[0] if names[0] != column and _read_time(cells[0].strip()) is not None else None
    if len(names) - 1 - (time is not None) - (names[0] == "") < 1:
        raise RefusedError(f"line 1 has no column beside {join([f'column {name}' for name in names])}")
    return _read_rows(chain([first], lines), names, time=time, labels=column), column, wanted


def _read_names(line: str) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in split_cells(line, 1, ","))
    if not "".join(names):
        raise RefusedError("is empty, or its first line is; a header with the names of the columns is expected")
    for place, name in enumerate(names, start=1):
        if names.count(name) > 1:
            raise RefusedError(f"line 1 has two columns with one name ({shorten(name, 20) or 'empty'})")
        if not name and place > 1:
            raise RefusedError(f"line 1 has an empty cell ({place})")
        if ONE_NUMBER.fullmatch(name):
            raise RefusedError(f"line 1, cell {place} is a number ({shorten(name, 20)}); names of columns are expected")
    return names


def _read_rows(lines: Iterator[str], names: tuple[str, ...], *, time: str | None, labels: str | None) -> _Columns:
    """Read the rows below the header; `time` and `labels` name the columns that hold such."""
    kept = [name for name in names if name and name not in (time, labels)]
    found = _Columns(names=names, numbers={name: array("d") for name in kept})
    blank = rows = 0
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            blank = blank or number
            continue
        if blank:
            raise RefusedError(f"line {blank} is empty")
        cells = [cell.strip() for cell in split_cells(line, number, ",")]
        if len(cells) != len(names):
            raise RefusedError(f"line {number} has {count(len(cells), 'cell')} where {len(names)} are expected")
        for name, cell in zip(names, cells, strict=True):
            _take(found, name, cell, number, is_time=name == time, is_label=name == labels)
        rows += 1
        if rows * len(kept) > MAX_HELD_ENTRIES:
            raise RefusedError(f"has too many numbers; at most {MAX_HELD_ENTRIES} are accepted")
    if not rows:
        raise RefusedError("is empty: no line below its header")
    return found


def _take(found: _Columns, name: str, cell: str, number: int, *, is_time: bool, is_label: bool) -> None:
    """Put one cell where it belongs, or refuse it."""
    where = f"line {number}, column {shorten(name, 40) or 1}"
    if is_label:
        if not cell:
            raise RefusedError(f"{where} has no label")
        found.labels.append(cell)
    elif is_time:
        time = _read_time(cell)
        if time is None:
            raise RefusedError(f"{where} is no time ({shorten(cell, 20) or 'empty'}); 2016-07-01 00:00:00 is one")
        if found.times and not _is_later(time, found.times[-1]):
            raise RefusedError(f"{where} is not later than the line before ({shorten(cell, 20)})")
        found.times.append(time)
    else:
        value = float(cell) if ONE_NUMBER.fullmatch(cell) else np.nan
        if not np.isfinite(value):
            said = shorten(cell, 20) or "empty"
            raise RefusedError(f"{where} is no finite number ({said}); numbers such as -1.5e-3 are accepted")
        if name:
            found.numbers[name].append(value)
        elif value not in (number - 2, number - 1):  # from 0 or from 1 on
            raise RefusedError(f"{where} has no name and does not count the rows ({shorten(cell, 20)})")


def _is_later(time: datetime, before: datetime) -> bool:
    """Whether a time follows another; a zone stands with both or with none."""
    return (time.tzinfo is None) == (before.tzinfo is None) and time > before


def _read_time(cell: str) -> datetime | None:
    """Read a time as ISO 8601 has it; None where it is none, and for a number."""
    if ONE_NUMBER.fullmatch(cell):
        return None
    try:
        return datetime.fromisoformat(cell)
    except ValueError:
        return None


def _list_classes(labels: list[str], column: str) -> tuple[str, ...]:
    """List the spellings of labels in order, those of numbers by their values."""
    names = set(labels)
    if len(names) > MAX_CLASSES:
        said = f"has {len(names)} different labels; at most {MAX_CLASSES} are accepted"
        raise RefusedError(f"column {shorten(column, 40)} {said}")
    if len(names) == 1:
        raise RefusedError(f"column {shorten(column, 40)} has one class only ({shorten(labels[0], 20)})")
    if all(ONE_NUMBER.fullmatch(name) for name in names):
        if len({float(name) for name in names}) < len(names):
            raise RefusedError(f"column {shorten(column, 40)} spells one number in two ways ({join(sorted(names), 4)})")
        return tuple(sorted(names, key=float))
    return tuple(sorted(names))
