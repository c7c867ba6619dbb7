"""Answers as text: a table for people or pipes, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from pe_spectra.answers.answer import Answer as NewAnswer
from pe_spectra.cli.columns import Columns, fit_columns
from pe_spectra.cli.drawing import draw
from pe_spectra.cli.text import escape, guard_cell, to_ascii
from pe_spectra.records.answer import Answer as OldAnswer
from pe_spectra.records.answer import Cell

if TYPE_CHECKING:
    from rich.console import Console

    from pe_spectra.cli.screen import Screen

Answer = NewAnswer | OldAnswer
_CELL_CHARACTERS = 400
#: Numbers below are written without an exponent.
_LARGE = 1e9
_LEVEL_COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "error": "red"}


def render(answer: Answer, form: str, screen: Screen, figure: str | None) -> str:
    """Return the whole answer as text in one of the formats table, json, csv."""
    if form == "json":
        return json.dumps(answer.to_document(figure), allow_nan=False) + "\n"
    if form == "csv":
        return _write_csv(answer.columns)
    return _write_terminal(answer, screen) if screen.terminal or screen.colour else _write_pipe(answer)


def _write_csv(columns: Mapping[str, Sequence[Cell]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(guard_cell, columns))  # a layer type of a file names a column
    guarded = [[guard_cell(c) if isinstance(c, str) else c for c in values] for values in columns.values()]
    writer.writerows(zip(*guarded, strict=True))
    return stream.getvalue()


def _write_pipe(answer: Answer) -> str:
    """Plain text: every row and every digit, columns separated by tabs, no width logic."""
    lines = [escape(answer.verdict.text), ""]
    lines += [f"{escape(label)}: {escape(text)}" for label, text in answer.facts]
    lines += [""] if answer.facts else []
    rows = ["\t".join(_write_exactly(cell) for cell in row) for row in zip(*answer.columns.values(), strict=True)]
    lines += ["\t".join(map(escape, answer.columns)), *rows] if rows else []
    return "\n".join(lines) + "\n"


def _write_exactly(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return escape(cell) if isinstance(cell, str) else repr(cell)


def _write_briefly(cell: Cell, digits: int) -> str:
    if isinstance(cell, float):
        is_long = cell.is_integer() or abs(cell) >= 10**digits
        return f"{cell:.0f}" if is_long and abs(cell) < _LARGE else f"{cell:.{digits}g}"
    return escape(cell, _CELL_CHARACTERS) if isinstance(cell, str) else _write_exactly(cell)


def _write_terminal(answer: Answer, screen: Screen) -> str:
    from rich.text import Text

    stream = io.StringIO()
    console = _open_console(stream, screen)
    console.print(Text(escape(answer.verdict.text), style=f"bold {_LEVEL_COLOURS[answer.verdict.level]}"))
    if answer.drawing is not None:
        console.print()
        for line in draw(answer.drawing, min(screen.width, 100)):
            console.print(Text(line), crop=False, overflow="fold")
    if answer.facts:
        console.print()
        _print_facts(console, answer.facts)
    _print_table(console, answer, screen)
    text = "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))
    return text if screen.unicode else to_ascii(text)


def _open_console(stream: io.StringIO, screen: Screen) -> Console:
    from rich.console import Console

    # nothing is read from the environment, and no text is taken for markup
    return Console(
        file=stream,
        force_terminal=screen.colour,
        color_system="standard" if screen.colour else None,
        no_color=not screen.colour,
        width=screen.width,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


#: Columns between a fact's label and its text, and before the label.
_FACT_PADDING = 4


def _print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Write each fact; those of one group, "group: label", follow a line with its name.

    Where the column of texts is narrower than a word of theirs, which may be a number, each is a line.
    """
    from rich.table import Table
    from rich.text import Text

    labels = [escape(name.rpartition(": ")[2]) for name, _ in facts]
    room = console.width - max(map(len, labels)) - _FACT_PADDING
    if max((len(word) for _, text in facts for word in escape(text).split()), default=0) > room:
        for name, text in facts:
            console.print(Text(escape(f"{name}: {text}")), overflow="fold")
        return
    grid = Table.grid(padding=(0, 2, 0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    last = ""
    for number, (name, text) in enumerate(facts):
        group, _, label = name.rpartition(": ")
        if group != last and number:
            grid.add_row()
        if group != last and group:
            grid.add_row(Text(escape(group), style="not dim bold"))
        last = group
        grid.add_row(Text(escape(label)), Text(escape(text)))
    console.print(grid)


def _print_table(console: Console, answer: Answer, screen: Screen) -> None:
    from rich.text import Text

    names = list(answer.columns if screen.full or not answer.shown else answer.shown)
    total = len(next(iter(answer.columns.values()), ()))
    shown = total if screen.full else min(total, answer.brief)
    chosen = zip(*(answer.columns[name] for name in names), strict=True)
    rows = [[_write_briefly(cell, answer.digits) for cell in row] for row in islice(chosen, shown)]
    console.print()
    if rows:
        numeric = [all(isinstance(cell, int | float | None) for cell in answer.columns[name][:shown]) for name in names]
        shown_names = [escape(name, _CELL_CHARACTERS) for name in names]
        columns = fit_columns(shown_names, rows, console.width, answer.narrow)
        if columns is not None:
            _print_columns(console, columns, numeric)
        else:
            _print_list(console, shown_names, rows)
    if total > shown:
        more = f"{total - shown} {'more ' if shown else ''}row{'s' if total - shown > 1 else ''}"
        console.print(Text(f"{more}: --full"))


def _print_columns(console: Console, columns: Columns, numeric: Sequence[bool]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading, number, least in zip(columns.headings, numeric, columns.leasts, strict=True):
        justify: Literal["right", "left"] = "right" if number else "left"
        table.add_column(Text(heading), justify=justify, no_wrap=least is None, min_width=least, overflow="fold")
    for row in columns.rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _print_list(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Too narrow for columns: numbers are never cut, so each row becomes a list."""
    from rich.text import Text

    for row in rows:
        for name, cell in zip(names, row, strict=True):
            console.print(Text(f"{name}: {cell}"), overflow="fold")
        console.print()
