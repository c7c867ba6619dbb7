"""The columns of a table on a terminal: how they are made narrow enough, before a list takes their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

#: Texts longer than this may be wrapped at their blanks; numbers never are.
_WRAPPED = 24
#: White between columns.
_GAP = 2
#: The fewest characters of a path that tell anything.
_SHORTEST = 20
_CUT = "..."


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What a table shows.

    Attributes
    ----------
    headings : one for each column; with line feeds where it is broken.
    rows : a cell for each column; with line feeds where it is broken.
    leasts : of a column whose cells may be wrapped at blanks, the fewest characters that it needs; else None.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    leasts: tuple[int | None, ...]

    def measure(self, column: int) -> int:
        """Return the characters that one column needs."""
        least = self.leasts[column]
        own = max(_measure(row[column]) for row in self.rows) if least is None else least
        return max(_measure(self.headings[column]), own)

    @property
    def width(self) -> int:
        """The characters of a line."""
        return sum(self.measure(column) + _GAP for column in range(len(self.headings)))


def fit_columns(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int, narrow: Collection[str] = ()
) -> Columns | None:
    """Make a table of a terminal's width; None where that would cut a number.

    Parameters
    ----------
    names : of the columns.
    rows : at least one; a text for each column.
    width : characters of a line.
    narrow : the columns whose texts may be made narrow: paths lose their beginning, sentences are wrapped to their
        longest word, names are broken at underscores.

    >>> fit_columns(["pair", "first_position"], [["0", "1234567"]], 16).headings
    ('pair', 'first_\\nposition')
    """
    cells = tuple(tuple(row) for row in rows)
    leasts = tuple(_WRAPPED if _is_prose([row[i] for row in cells]) else None for i in range(len(names)))
    columns = Columns(headings=tuple(names), rows=cells, leasts=leasts)
    if columns.width <= width:
        return columns
    columns = replace(columns, headings=tuple(map(_break, names)))
    chosen = [i for i, name in enumerate(names) if name in narrow]
    paths = [i for i in chosen if any("/" in row[i] for row in cells)]
    wrapped = _wrap_more(columns, chosen)
    broken = _break_cells(wrapped, [i for i in chosen if i not in paths])
    tries = [columns]
    for tried in (wrapped, broken):
        tries += [tried, *(_shorten(tried, path, width) for path in paths)]
    return next((found for found in tries if found.width <= width), None)


def _is_prose(cells: Sequence[str]) -> bool:
    return any(" " in cell for cell in cells) and max(map(len, cells)) > _WRAPPED


def _wrap_more(columns: Columns, chosen: Collection[int]) -> Columns:
    """Let the sentences of some columns be no wider than their longest word."""
    leasts = list(columns.leasts)
    for i in chosen:
        least = leasts[i]
        if least is not None:
            leasts[i] = min(least, max(len(word) for row in columns.rows for word in row[i].split(" ")))
    return replace(columns, leasts=tuple(leasts))


def _break(name: str) -> str:
    """Write a name on several lines, so that it is no wider than its numbers."""
    return name.replace("_", "_\n")


def _break_cells(columns: Columns, chosen: Collection[int]) -> Columns:
    rows = tuple(tuple(_break(cell) if i in chosen else cell for i, cell in enumerate(row)) for row in columns.rows)
    return replace(columns, rows=rows)


def _shorten(columns: Columns, path: int, width: int) -> Columns:
    """Let the paths of one column lose their beginnings; not where too little would be left, or two be the same."""
    room = width - columns.width + columns.measure(path)
    if room < _SHORTEST:
        return columns
    short = {text: shorten_path(text, room) for text in (row[path] for row in columns.rows)}
    if len(set(short.values())) < len(short):
        return columns
    rows = tuple((*row[:path], short[row[path]], *row[path + 1 :]) for row in columns.rows)
    return replace(columns, rows=rows)


def shorten_path(path: str, room: int) -> str:
    """Cut the beginning of a path, at a slash where two names at least are left.

    >>> shorten_path("models/meta-llama/Llama-3.1-8B/config.json", 32)
    '.../Llama-3.1-8B/config.json'
    >>> shorten_path("models/meta-llama/Llama-3.1-8B/config.json", 22)
    '...-3.1-8B/config.json'
    """
    if len(path) <= room:
        return path
    end = path[len(path) - (room - len(_CUT)) :]
    slash = end.find("/")
    return _CUT + (end[slash:] if 0 <= slash < end.rfind("/") else end)


def _measure(text: str) -> int:
    return max(map(len, text.split("\n")))
