"""Tables in text: .csv and .tsv, streamed line by line, with every number spelled as numbers are."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import chain

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64
from pe_spectra.files.arrays import FileArray, Wanted, check_finite, check_shape, format_shape
from pe_spectra.files.csv_lines import NUMBER, split_cells, split_lines
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_TEXT_TABLE_BYTES
from pe_spectra.wording import count

ONE_NUMBER = re.compile(NUMBER)
#: A cell that is data even where it is no number: it begins like one, or is a value that is not finite.
_LIKE_DATA = re.compile(r"[+-]?[.0-9]|[=@]|[+-]?(?:nan|inf|infinity|none|null|na)$", re.IGNORECASE)
#: First cells of a header whose column holds the number of the row, as `export` writes them.
_COUNTERS = ("position", "lag", "index")
#: As other programs name it, pandas with no name at all: left out where the column does count the rows.
_PERHAPS_COUNTERS = ("", "pos", "idx", "row", "id")
#: So many numbers that rise by 1 are no accident.
_COUNTED = 3


def read_csv_table(file: RegularFile, wanted: Wanted, delimiter: str) -> FileArray:
    """Read the table in a .csv or .tsv file.

    UTF-8, with or without a byte order mark; lines end with LF or CRLF; a header line may stand on
    top. A first column with the header `position`, `lag` or `index` is left out, so that what
    `export` writes is read back as it was; one with the header `pos`, `idx`, `row`, `id` or none,
    as pandas writes it, where its numbers rise by 1 from row to row. A note says of any other that does.

    Raises
    ------
    RefusedError : not UTF-8, lines of different lengths, an empty cell, a cell that is no finite number.
        Lines count from 1.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.tables import read_array
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.csv").write_text("position,c0,c1@0,1,2@1,3,4".replace("@", chr(10)))
    ...     read_array(Path(folder) / "a.csv").values.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    wanted.refuse_name("a text")
    if file.size > MAX_TEXT_TABLE_BYTES:
        raise RefusedError(f"has {file.size} bytes; a text of at most {MAX_TEXT_TABLE_BYTES} is accepted")
    lines = split_lines(file, delimiter)
    first = next(lines, "")
    if not first.strip():
        raise RefusedError("is empty, or its first line is; numbers are accepted")
    names = _read_header(first, delimiter)
    name = names[0].strip().lower() if names is not None and len(names) > 1 else None
    skipped = name in _COUNTERS
    body = lines if names is not None else chain([first], lines)
    start = 2 if names is not None else 1
    numbers, columns = _read_rows(body, start, _count_names(names), delimiter, skipped)
    table = np.frombuffer(numbers, dtype=np.float64).reshape(-1, columns - skipped)
    check_finite(table, first_line=start)
    counts = not skipped and columns > 1 and _counts_rows(table[:, 0])
    if name == "" and not counts:
        raise RefusedError("line 1 has an empty cell (1); over a column that counts the rows it is accepted")
    if counts and name in _PERHAPS_COUNTERS:
        table, skipped = np.ascontiguousarray(table[:, 1:]), True
    counts = counts and len(table) >= _COUNTED
    notes = _list_notes(first, names, columns, delimiter, skipped=skipped, counts=counts)
    return FileArray(values=_shape(table, wanted), dtype="text", tensor=None, notes=notes)


def _counts_rows(column: F64) -> bool:
    """Whether a column is n, n + 1, n + 2, .. with a whole number n; one number alone is 0 or 1."""
    is_start = column[0] in (0, 1) if len(column) == 1 else column[0] == np.rint(column[0])
    return bool(is_start and (np.diff(column) == 1).all())


def _read_header(line: str, delimiter: str) -> list[str] | None:
    """Give the names of the columns if the first line is one of names."""
    cells = split_cells(line, 1, delimiter)
    if cells[0].strip().lower() in _COUNTERS or _is_unnamed_index(cells):
        return cells
    if any(not cell.strip() or _LIKE_DATA.match(cell.strip()) for cell in cells):
        return None
    return cells


def _is_unnamed_index(cells: list[str]) -> bool:
    """Whether only the first name is empty, as in what pandas writes; its other names may be numbers."""
    return len(cells) > 1 and not cells[0].strip() and all(cell.strip() for cell in cells[1:])


def _count_names(names: list[str] | None) -> int | None:
    """Give the number of cells that a header promises; a comment, as NumPy writes it, promises none."""
    return None if names is None or names[0].startswith("#") else len(names)


def _read_rows(
    lines: Iterator[str], first: int, columns: int | None, delimiter: str, skipped: bool
) -> tuple[array[float], int]:
    numbers = array("d")
    row = re.compile(rf"{NUMBER}(?:{re.escape(delimiter)}{NUMBER})*+")
    ended = 0
    for number, line in enumerate(lines, start=first):
        if not line.strip(" "):
            ended = ended or number
            continue
        if ended:
            raise RefusedError(f"line {ended} is empty")
        plain = row.fullmatch(line) is not None
        cells = line.split(delimiter) if plain else split_cells(line, number, delimiter)
        if columns is None:
            columns = len(cells)
        if len(cells) != columns:
            hint = _find_delimiter(line, delimiter) if len(cells) == 1 else ""
            found = count(len(cells), "cell")
            raise RefusedError(f"line {number} has {found} where {columns} are expected{hint}")
        cells = cells if plain else _check_cells(cells, number, delimiter)
        numbers.extend(map(float, cells[skipped:]))
        if len(numbers) > MAX_HELD_ENTRIES:
            raise RefusedError(f"has too many numbers; at most {MAX_HELD_ENTRIES} are accepted")
    if columns is None or not numbers:
        raise RefusedError("is empty: no line of numbers")
    return numbers, columns


def _find_delimiter(line: str, delimiter: str) -> str:
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), (" ", "blanks")):
        if sign in line.strip() and sign != delimiter:
            return f"; cells are separated by {'tabs' if delimiter == chr(9) else 'commas'}, not by {name}"
    return ""


def _check_cells(cells: list[str], number: int, delimiter: str) -> list[str]:
    """Give the cells without blanks around them, each spelled as a number."""
    stripped = [cell.strip(" ") for cell in cells]
    for column, cell in enumerate(stripped, start=1):
        if not cell:
            raise RefusedError(f"line {number} has an empty cell ({column})")
        if not ONE_NUMBER.fullmatch(cell):
            hint = _find_delimiter(cell, delimiter) or "; finite numbers such as -1.5e-3 are accepted"
            raise RefusedError(f"line {number}, cell {column} is not a number ({shorten(cell, 20)}){hint}")
    return stripped


def _shape(table: F64, wanted: Wanted) -> F64:
    """Give the table read-only, as a list where only one axis is wanted."""
    if 2 not in wanted.axes and 1 in wanted.axes and 1 in table.shape:
        table = table.reshape(-1)
    values = table.reshape(check_shape(table.shape, wanted.axes))
    values.flags.writeable = False
    return values


def _list_notes(
    first: str, names: list[str] | None, columns: int, delimiter: str, *, skipped: bool, counts: bool
) -> tuple[str, ...]:
    column = f"column {(names and shorten(names[0].strip())) or 1}"
    if skipped:
        return (f"{column} counts the rows and was left out",)
    notes = []
    if counts:
        notes.append(f"{column} counts the rows, but is read as one of the table; the name position leaves it out")
    if names is None and columns > 1 and first.split(delimiter) == [str(n) for n in range(columns)]:
        notes.append(f"line 1 ({format_shape((columns,))} cells: 0, 1, ..) was read as numbers; a header has names")
    return tuple(notes)
