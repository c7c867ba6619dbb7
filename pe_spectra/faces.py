"""Values and tables in other languages: JSON, Markdown, HTML and pandas."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any, overload

from pe_spectra.errors import PeSpectraError
from pe_spectra.records import dataclass

Cell = str | int | float | bool | None
Columns = Mapping[str, Sequence[Cell]]
#: Numbers below are written without an exponent.
_LARGE = 1e9
#: Numbers of an array that are made Python's at a time.
PART = 1 << 10
#: Of a short description: characters of a line, and lines.
_LONGEST_LINE, _MOST_LINES = 110, 10
#: What Markdown may read as markup in a line, and as the beginning of a list, heading or rule at its start.
_MARKDOWN = r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])"
_MARKDOWN_START = r"^([0-9]*)([#+=.)-])"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
#: A word in which sites find a mention, an address, or the number of an issue. No escape keeps them from it, for they
#: look at the text that is shown; they pass over code.
_WORD, _LINKED = r"\S+", r"(?i:@.|://|#\d|www\.|gh-\d)"


def write_cell(cell: Cell, digits: int) -> str:
    """Write one cell with so many significant digits; what does not exist is a dash.

    >>> write_cell(0.123456, 3), write_cell(1234567.0, 6), write_cell(None, 3), write_cell(True, 3)
    ('0.123', '1234567', '-', 'yes')
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        is_long = cell.is_integer() or abs(cell) >= 10**digits
        return f"{cell:.0f}" if is_long and abs(cell) < _LARGE else f"{cell:.{digits}g}"
    return str(cell)


def simplify(value: Any) -> Any:
    """Turn a value into what JSON has: numbers, texts, lists and objects; None for what is not finite.

    >>> simplify((1.0, math.nan, {"rows": (3, 4)}))
    [1.0, None, {'rows': [3, 4]}]
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): simplify(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy, which is not loaded for their sake
        plain = value.tolist()
        return plain if _holds_finite_numbers(value) else simplify(plain)
    return list(value) if isinstance(value, range) else [simplify(item) for item in value]


def is_column(value: Any) -> bool:
    """Whether a value is the cells of many rows: an array, or cells of a table.

    >>> is_column(range(2)), is_column((3, 4)), is_column(0.5)
    (True, False, False)
    """
    return isinstance(value, list | range | Cells) or bool(getattr(value, "ndim", 0))


@dataclass(frozen=True, eq=False)
class Cells(Sequence[Cell]):
    """The cells of a column, values below each other; what is no column itself stands as often as it says.

    Encodings are called by their labels, and a pair is one cell. They are made when somebody looks at them, of an
    array a part at a time: as numbers of Python many rows would take some ten times the room.

    >>> list(Cells([((3, 4), 1), (0.5, 2), (range(2), 2)]))
    ['3 4', 0.5, 0.5, 0, 1]
    """

    parts: Sequence[tuple[Any, int]]

    def __len__(self) -> int:
        return sum(len(value) if is_column(value) else rows for value, rows in self.parts)

    def __iter__(self) -> Iterator[Cell]:
        return chain.from_iterable(self._list_parts())

    def _list_parts(self) -> Iterator[Iterable[Cell]]:
        for value, rows in self.parts:
            if isinstance(value, list | Cells):
                yield value
            elif is_column(value):
                yield from (simplify(value[start : start + PART]) for start in range(0, len(value), PART))
            else:
                yield repeat(_simplify_cell(value), rows)

    @overload
    def __getitem__(self, place: int) -> Cell: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Cell]: ...

    def __getitem__(self, place: int | slice) -> Cell | Sequence[Cell]:
        if isinstance(place, int):
            return next(islice(self, range(len(self))[place], None))
        start, stop, step = place.indices(len(self))
        return list(islice(self, start, stop, step)) if step > 0 else list(self)[place]

    def list_types(self) -> set[type]:
        """The types of all cells."""
        return {one for part in self.parts for one in _list_types(part)}


def _list_types(part: tuple[Any, int]) -> set[type]:
    if isinstance(part[0], Cells):
        return part[0].list_types()
    is_array = hasattr(part[0], "dtype") and _holds_finite_numbers(part[0])
    return {float} if is_array else {*map(type, Cells([part]))}


def are_numbers(cells: Sequence[Cell]) -> bool:
    """Whether every cell of a column is a number.

    >>> are_numbers([1, 0.5]), are_numbers([True]), are_numbers(["1"])
    (True, False, False)
    """
    return (cells.list_types() if isinstance(cells, Cells) else {*map(type, cells)}) <= {int, float}


def _simplify_cell(value: Any) -> Cell:
    if value is None or isinstance(value, str | int):
        return value
    if hasattr(value, "label"):
        return str(value.label)
    if isinstance(value, float) or hasattr(value, "tolist"):
        cell: Cell = simplify(value)
        return cell
    return " ".join(str(one) for one in value)


def _holds_finite_numbers(values: Any) -> bool:
    """Whether an array holds floating-point numbers, all of them finite."""
    from numpy import isfinite

    return values.dtype.kind == "f" and bool(isfinite(values).all())


def escape_markdown(text: str, *, starts: bool = False, in_cell: bool = False) -> str:
    r"""Write a text so that Markdown shows it as it is; `starts` where it is the first of its line.

    A word that would become a mention or a link is written as code; `in_cell` where this is within a table.

    >>> print(escape_markdown("kernel_half_width of *a|b*"), escape_markdown("<img> [x](y)"))
    kernel_half_width of \*a\|b\* &lt;img&gt; \[x\](y)
    >>> print(escape_markdown("- 1. no list", starts=True))
    \- 1. no list
    >>> print(escape_markdown("of @name at https://a_b.org"))
    of `@name` at `https://a_b.org`
    """
    safe = re.sub(_WORD, lambda word: _write_word(word[0], in_cell), text)
    return re.sub(_MARKDOWN_START, r"\1\\\2", safe) if starts else safe


def _write_word(word: str, in_cell: bool) -> str:
    if re.search(_LINKED, word):
        return _write_code(word, in_cell)
    return re.sub(_MARKDOWN, r"\\\g<0>", "".join(_ENTITIES.get(one, one) for one in word))


def _write_code(word: str, in_cell: bool) -> str:
    """Write a word as code, between more accents than it has in a row; cells are split before code is read."""
    fence = "`" * (1 + max(map(len, re.findall("`+", word)), default=0))
    blank = " " if "`" in (word[0], word[-1]) else ""
    return f"{fence}{blank}{word.replace('|', chr(92) + '|') if in_cell else word}{blank}{fence}"


def write_markdown(columns: Columns, digits: int = 6) -> str:
    """Write a table in Markdown; columns of numbers are aligned to the right.

    >>> print(write_markdown({"s": [5, 40], "encoding": ["a|b", "dft"]}))
    | s | encoding |
    |--:|:--|
    | 5 | a\\|b |
    | 40 | dft |
    """
    rows = [list(columns), *_write_rows(columns, digits)]
    lines = [f"| {' | '.join(escape_markdown(cell, in_cell=True) for cell in row)} |" for row in rows]
    rule = "".join("--:|" if is_numeric(cells) else ":--|" for cells in columns.values())
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])


def write_html(columns: Columns, digits: int = 6, most: int | None = None) -> str:
    """Write a table in HTML, at most the first `most` rows; names from files never become markup.

    >>> write_html({"encoding": ["<b>"]})
    '<table><tr><th>encoding</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    rows = _write_rows(columns, digits)
    left = 0 if most is None else max(0, len(rows) - most)
    from html import escape

    lines = ["".join(f"<th>{escape(name)}</th>" for name in columns)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[: len(rows) - left]]
    more = f"<p>{left} more row{'s' if left > 1 else ''}</p>" if left else ""
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>{more}"


def write_short(name: str, words: Sequence[str]) -> str:
    """Write a record on at most ten lines; a value that is longer than a line ends in two dots.

    >>> write_short("Count", ["inside=76", "total=128"])
    'Count(inside=76, total=128)'
    >>> write_short("Text", ["text=" + "a" * 200])[-8:]
    'aaaaa..)'
    """
    lines = [f"{name}("]
    for place, word in enumerate(words):
        kept = word if len(word) <= _LONGEST_LINE - 4 else f"{word[: _LONGEST_LINE - 6]}.."
        part = kept + (")" if place == len(words) - 1 else ", ")
        if len(lines[-1]) + len(part) > _LONGEST_LINE and lines[-1].strip():
            lines.append("  ")
        lines[-1] += part
    lines = [line.rstrip() for line in lines]
    return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "  ..)"])


def make_dataframe(columns: Columns) -> Any:
    """Return a table as a DataFrame of pandas.

    Raises
    ------
    PeSpectraError : pandas is not installed.

    >>> try:
    ...     rows = len(make_dataframe({"s": [5, 40]}))
    ... except PeSpectraError:  # pandas is not installed here
    ...     rows = 2
    >>> rows
    2
    """
    from importlib import import_module

    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise PeSpectraError("to_dataframe needs pandas, which is not installed: pip install pandas") from error
    return pandas.DataFrame({name: list(cells) for name, cells in columns.items()})


def is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column is of numbers, or of what does not exist.

    >>> is_numeric([1, None, 0.5]), is_numeric([True])
    (True, False)
    """
    return all(isinstance(cell, int | float | None) and not isinstance(cell, bool) for cell in cells)


def _write_rows(columns: Columns, digits: int) -> list[list[str]]:
    return [[write_cell(cell, digits) for cell in row] for row in zip(*columns.values(), strict=True)]
