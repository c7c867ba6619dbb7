"""Lines and cells of .csv and .tsv files, and how a number is spelled there."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import MAX_COLUMNS, MAX_LINE_BYTES, MAX_TEXT_LINES, MAX_TEXT_TABLE_BYTES

_CHUNK = 1 << 20
#: As numbers are spelled everywhere in this program; possessive, so that a long line fails at once.
NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def split_lines(file: RegularFile, delimiter: str) -> Iterator[str]:
    """Give the lines without their ends; no more than one of them and a chunk are held.

    Raises
    ------
    RefusedError : not UTF-8, a zero byte, too many bytes, lines, bytes in a line, or cells in one.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.csv").write_bytes(bytes([97, 44, 98, 13, 10, 49]))
    ...     with open_regular(Path(folder) / "a.csv", label="") as file:
    ...         list(split_lines(file, ","))
    ['a,b', '1']
    """
    rest, place, number = b"", 0, 0
    while True:
        data = file.read_at(place, _CHUNK)
        if place == 0 and data.startswith(_UTF16):
            raise RefusedError("is UTF-16; UTF-8 is accepted")
        place += len(data)
        if place > MAX_TEXT_TABLE_BYTES:
            raise RefusedError(f"grew beyond {MAX_TEXT_TABLE_BYTES} bytes while it was read")
        lines = (rest + data).split(b"\n") if data or rest else []
        rest = lines.pop() if data else b""
        if number + len(lines) > MAX_TEXT_LINES:
            raise RefusedError(f"has more than {MAX_TEXT_LINES} lines, the most that is accepted of a text")
        for line in lines:
            number += 1
            yield _decode(line, number, delimiter)
        if len(rest) > MAX_LINE_BYTES:
            raise RefusedError(f"line {number + 1} has more than {MAX_LINE_BYTES} bytes")
        if not data:
            return


def _decode(line: bytes, number: int, delimiter: str) -> str:
    if line.count(delimiter.encode()) > MAX_COLUMNS:  # one more than that many cells: a counter and a table
        what = f"line {number} has {line.count(delimiter.encode()) + 1} cells"
        raise RefusedError(f"{what}; at most {MAX_COLUMNS} are accepted")
    if b"\0" in line:
        raise RefusedError(f"line {number} has a zero byte in it; text is accepted")
    try:
        text = (line.removeprefix(BOM_UTF8) if number == 1 else line).decode()
    except UnicodeDecodeError as error:
        raise RefusedError(f"is not UTF-8 (line {number})") from error
    text = text.removesuffix("\r")
    if "\r" in text:
        raise RefusedError(f"line {number} has a carriage return within it; lines that end in a line feed are accepted")
    return text


def split_cells(line: str, number: int, delimiter: str) -> list[str]:
    """Split a line into its cells, those in double quotes as they were meant.

    Raises
    ------
    RefusedError : a quote that is not closed; `number` is the line's.

    >>> split_cells('P-1,"[[1, 2]]",3', 2, ",")
    ['P-1', '[[1, 2]]', '3']
    """
    if '"' not in line:
        return line.split(delimiter)
    import csv

    try:
        (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        raise RefusedError(f"line {number} has a quote that is not closed") from error
    return cells
