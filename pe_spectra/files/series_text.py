"""Columns of a text, a part at a time: numbers that may be missing, and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import NDArray
from pe_spectra.files.csv_lines import NUMBER, split_cells, split_lines
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.files.series_times import (
    MISSING,
    ONE_DATE,
    ONE_DAY,
    ONE_HOUR,
    DateColumn,
    SeriesCells,
    is_named_as_time,
)
from pe_spectra.limits import MAX_SERIES_ROWS, MAX_TEXT_TABLE_BYTES
from pe_spectra.wording import count

_DELIMITERS = (",", ";", "\t", "|")
#: Lines that are read together, and bytes in which the first line is looked for.
_LINES, _HEAD = 1 << 14, 1 << 16
#: A number, or one on each of several lines.
_NUMBERS = re.compile(rf"{NUMBER}(?:\n{NUMBER})*+")
_INTEGERS = re.compile(r"-?1?[0-9]{1,18}(?:\n-?1?[0-9]{1,18})*+")  # of 64 bits


class _NumberColumn:
    """Gathers the numbers of a column; integers, as times are, with all their digits."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[NDArray[Any]] = []

    def take(self, cells: Sequence[str], first: int) -> None:
        """Read some cells, the first of which stands in line `first`."""
        text = "\n".join(cells)
        if _INTEGERS.fullmatch(text):
            self._parts.append(np.array(list(map(int, cells)), dtype=np.int64))
        elif _NUMBERS.fullmatch(text):
            self._parts.append(np.array(list(map(float, cells))))
        else:
            self._parts.append(np.array([self._read(cell.strip(), line) for line, cell in enumerate(cells, first)]))

    def _read(self, cell: str, line: int) -> float:
        if _NUMBERS.fullmatch(cell):
            return float(cell)
        if cell.lower() in MISSING:
            return np.nan
        hint = "; numbers with a point are accepted" if "," in cell else "; --column chooses others"
        where = f"line {line}, column {shorten(self._name, 40)}"
        raise RefusedError(f"{where} is no number ({shorten(cell, 20)}){hint}")

    def finish(self) -> NDArray[Any]:
        """Give the numbers; NaN where one is missing."""
        return np.concatenate(self._parts)


def read_text_columns(
    file: RegularFile, columns: Sequence[str], time: str | None
) -> tuple[Mapping[str, SeriesCells], Mapping[str, str]]:
    """Read the columns of a text that hold numbers or times, and name those that hold words, with the first of each.

    Where columns are named, no other one of numbers is read.

    The delimiter is the one of commas, semicolons, tabs and bars that the first line has most of.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("a;b@1;x@2;y".replace("@", chr(10)))
    ...     with open_regular(Path(folder) / "a.csv", label="") as file:
    ...         read_text_columns(file, (), None)
    ({'a': array([1, 2])}, {'b': 'x'})
    """
    if file.size > MAX_TEXT_TABLE_BYTES:
        raise RefusedError(f"has {file.size} bytes; a text of at most {MAX_TEXT_TABLE_BYTES} is accepted")
    head = file.read_at(0, _HEAD).partition(b"\n")[0]
    delimiter = max(_DELIMITERS, key=lambda one: head.count(one.encode()))
    lines = split_lines(file, delimiter)
    first = next(lines, "")
    if not first.strip():
        raise RefusedError("is empty, or its first line is; a header or numbers are accepted")
    cells = [cell.strip() for cell in split_cells(first, 1, delimiter)]
    names, start = _read_names(cells)
    rows = _split_rows(lines if start == 2 else chain([first], lines), start, len(names), delimiter)
    opening = next(rows, None)
    if opening is None:
        raise RefusedError("is empty: no line below its header")
    gathered, left = _choose_columns(names, opening, columns, time)
    hours = _find_hours(names, opening, gathered)
    line = start
    for part in chain([opening], rows):
        line_after = line + len(part[0])
        if line_after - start > MAX_SERIES_ROWS:
            raise RefusedError(f"has more than {MAX_SERIES_ROWS} rows, the most that is accepted")
        for place, one in gathered.items():
            one.take(part[place] if place not in hours else _join_hours(part[place], part[hours[place]]), line)
        line = line_after
    taken = {names[place] for place in hours.values()}
    found = {names[place]: one.finish() for place, one in gathered.items()}
    return found, {name: cell for name, cell in left.items() if name not in taken}


def holds_times(file: RegularFile) -> bool:
    """Whether one of the first two lines of a text has a date.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("2024-01-01,5")
    ...     with open_regular(Path(folder) / "a.csv", label="") as file:
    ...         holds_times(file)
    True
    """
    lines = file.read_at(0, _HEAD).decode("utf-8", "replace").splitlines()[:2]
    cells = (cell.strip('" ') for line in lines for cell in re.split("[,;\t|]", line))
    return any(ONE_DATE.fullmatch(cell) for cell in cells)


def _read_names(cells: Sequence[str]) -> tuple[list[str], int]:
    """The names of the columns, and the line where rows begin; columns of a text without a header are numbered."""
    times = [found for found in map(ONE_DATE.fullmatch, cells) if found is not None]
    if any(map(_NUMBERS.fullmatch, cells)) or any(found[1] for found in times):  # a month may be a name
        return [f"column{place}" for place in range(1, len(cells) + 1)], 1
    for cell in cells:
        if cells.count(cell) > 1:
            raise RefusedError(f"line 1 has two columns with one name ({shorten(cell, 20) or 'empty'})")
    return [cell or "index" for cell in cells], 2


def _split_rows(lines: Iterator[str], start: int, width: int, delimiter: str) -> Iterator[list[tuple[str, ...]]]:
    """Give the columns of some rows at a time."""
    number = start
    lines = _leave_out_last(lines)
    while part := list(islice(lines, _LINES)):
        cells = [line.split(delimiter) if '"' not in line else split_cells(line, 0, delimiter) for line in part]
        for line, row in enumerate(cells, start=number):
            if len(row) != width:
                if not part[line - number].strip():
                    raise RefusedError(f"line {line} is empty, and more follow")
                raise RefusedError(f"line {line} has {count(len(row), 'cell')} where {width} are expected")
        number += len(part)
        yield list(zip(*cells, strict=True))


def _leave_out_last(lines: Iterator[str]) -> Iterator[str]:
    """Leave out the empty lines at the end."""
    empty = 0
    for line in lines:
        if not line.strip():
            empty += 1
            continue
        yield from [""] * empty
        empty = 0
        yield line


def _choose_columns(
    names: Sequence[str], opening: Sequence[Sequence[str]], columns: Sequence[str], time: str | None
) -> tuple[dict[int, DateColumn | _NumberColumn], dict[str, str]]:
    """Which columns are read, by the first cell that is not missing, and the names of the others with that cell."""
    found: dict[int, DateColumn | _NumberColumn] = {}
    left: dict[str, str] = {}
    for place, name in enumerate(names):
        cell = _find_first(opening[place])
        is_asked = name in columns or name == time
        if ONE_DATE.fullmatch(cell):
            found[place] = DateColumn(name)
        elif is_asked or ((not cell or _NUMBERS.fullmatch(cell)) and (not columns or is_named_as_time(name))):
            found[place] = _NumberColumn(name)
        else:
            left[name] = cell
    return found, left


def _find_first(cells: Sequence[str]) -> str:
    """The first cell that is not missing."""
    return next((one.strip() for one in cells if one.strip().lower() not in MISSING), "")


def _find_hours(
    names: Sequence[str], opening: Sequence[Sequence[str]], gathered: Mapping[int, DateColumn | _NumberColumn]
) -> dict[int, int]:
    """Of the first column of days that stand there several times each, the column of their times of the day."""
    hours = [place for place, cells in enumerate(opening) if ONE_HOUR.fullmatch(_find_first(cells))]
    hours.sort(key=lambda place: not is_named_as_time(names[place]))
    for place, one in gathered.items():
        cells = opening[place]
        is_repeated = len(set(cells)) < len(cells)
        if hours and isinstance(one, DateColumn) and ONE_DAY.fullmatch(_find_first(cells)) and is_repeated:
            one.hours = names[hours[0]]
            return {place: hours[0]}
    return {}


def _join_hours(days: Sequence[str], hours: Sequence[str]) -> list[str]:
    """Days with their times; where one of both is missing there is no time."""
    pairs = [(day.strip(), hour.strip()) for day, hour in zip(days, hours, strict=True)]
    return ["" if {day.lower(), hour.lower()} & set(MISSING) else f"{day} {hour}" for day, hour in pairs]
