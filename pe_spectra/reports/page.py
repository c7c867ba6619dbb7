"""The page of a report: what stands on it, and how it is written by its template."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from pe_spectra.faces import Cell, Columns, are_numbers, write_cell
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.wording import count

if TYPE_CHECKING:
    from jinja2 import Template

#: Characters that all tables of a page have room for, and what a cell takes beside its text, and its exact value.
ROOM, _CELL, _EXACT = 1_100_000, 16, 24


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows by column, with the significant digits that are shown; `title` says what a row is."""

    title: str
    columns: Columns
    digits: int = 6


@dataclass(frozen=True, kw_only=True)
class Section:
    """The answer of one command line, or why it has none.

    Attributes
    ----------
    command : the line that gives the answer again. name : its command. purpose : what that is for.
    level : of the verdict. verdict : the answer in one sentence.
    findings : a table of them, or none. facts : label and text. notes : sentences.
    rows : a table of them, or none. last : a line below them.
    figure : an <svg> element, made by :func:`pe_spectra.plots.inline.draw_inline`; empty for none.
    values : the numbers that are drawn in it.
    refused : why there is no answer; empty where there is one.
    """

    command: str
    name: str
    purpose: str
    level: str = ""
    verdict: str = ""
    findings: Sequence[Table] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    rows: Sequence[Table] = ()
    last: str = ""
    figure: str = ""
    values: Sequence[Mapping[str, Any]] = ()
    refused: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A report: answers, the command line that made it, versions by their names, and how to cite."""

    title: str
    command: str
    sections: Sequence[Section]
    versions: Mapping[str, str]
    citation: str


class _Shown(NamedTuple):
    """A table as the template takes it: names and whether they are of numbers; rows of text and exact value."""

    title: str
    names: list[tuple[str, bool]]
    rows: list[list[tuple[str, str]]]
    left: str


def write_page(page: Page) -> str:
    """Write a report as HTML; every text on it is text, whatever it is made of.

    >>> section = Section(command="pe-spectra audit '<b>'", name="audit", purpose="Audit.", level="ok", verdict="<b>")
    >>> text = write_page(Page(title="<i>", command="", sections=[section], versions={}, citation=""))
    >>> "<title>&lt;i&gt;</title>" in text, "<b>" in text
    (True, False)
    """
    from markupsafe import Markup

    room = ROOM // max(1, sum(len(section.findings) + len(section.rows) for section in page.sections))
    script = _read("page.js")
    return _find_template().render(
        page=page,
        show=lambda table: _show(table, room),
        style=Markup(_read("page.css")),
        script=Markup(script),
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        figures=[Markup(section.figure) for section in page.sections],  # made by our own drawing
    )


def _show(table: Table, room: int) -> _Shown:
    """Write the cells of the first rows, as many as there is room for."""
    names = [(name, are_numbers([cell for cell in cells if cell is not None])) for name, cells in table.columns.items()]
    total = len(next(iter(table.columns.values()), ()))
    rows: list[list[tuple[str, str]]] = []
    for cells in islice(zip(*table.columns.values(), strict=True), total):
        row = [_write(cell, table.digits) for cell in cells]
        room -= sum(len(text) + _CELL + (len(exact) + _EXACT if exact else 0) for text, exact in row)
        if room < 0 and rows:
            break
        rows.append(row)
    left = total - len(rows)
    return _Shown(table.title, names, rows, f"{count(left, 'more row')}: the command below has all" if left else "")


def _write(cell: Cell, digits: int) -> tuple[str, str]:
    """A cell as it is shown, and its exact value where that is another text."""
    text = write_cell(cell, digits)
    exact = repr(cell) if isinstance(cell, float) else ""
    return text, "" if exact in (text, f"{text}.0") else exact


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _find_template() -> Template:
    from jinja2 import Environment, StrictUndefined

    surroundings = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return surroundings.from_string(_read("page.html.j2"))
