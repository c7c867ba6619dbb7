"""Answers as text: a table for people or pipes, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pe_spectra.cli.drawing import draw
from pe_spectra.cli.text import escape, guard_cell, to_ascii
from pe_spectra.records.answer import Answer, Cell

if TYPE_CHECKING:
    from rich.console import Console

    from pe_spectra.cli.screen import Screen

#: Texts longer than this may be wrapped at their blanks; numbers never are.
_WRAPPED = 24
_CELL_CHARACTERS = 400
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
    writer.writerow(columns)
    guarded = [[guard_cell(c) if isinstance(c, str) else c for c in values] for values in columns.values()]
    writer.writerows(zip(*guarded, strict=True))
    return stream.getvalue()


def _write_pipe(answer: Answer) -> str:
    """Plain text: every row and every digit, columns separated by tabs, no width logic."""
    lines = [escape(answer.verdict.text), ""]
    lines += [f"{escape(label)}: {escape(text)}" for label, text in answer.facts]
    lines += [""] if answer.facts else []
    rows = ["\t".join(_write_exactly(cell) for cell in row) for row in zip(*answer.columns.values(), strict=True)]
    lines += ["\t".join(answer.columns), *rows] if rows else []
    return "\n".join(lines) + "\n"


def _write_exactly(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return escape(cell) if isinstance(cell, str) else repr(cell)


def _write_briefly(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
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


def _print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in facts:
        grid.add_row(Text(escape(label)), Text(escape(text)))
    console.print(grid)


def _print_table(console: Console, answer: Answer, screen: Screen) -> None:
    from rich.text import Text

    names = list(answer.columns if screen.full or not answer.shown else answer.shown)
    total = len(next(iter(answer.columns.values()), ()))
    shown = total if screen.full else min(total, answer.brief)
    chosen = zip(*(answer.columns[name] for name in names), strict=True)
    rows = [[_write_briefly(cell) for cell in row] for row in islice(chosen, shown)]
    console.print()
    if rows:
        numeric = [all(isinstance(cell, int | float | None) for cell in answer.columns[name][:shown]) for name in names]
        _print_rows(console, names, rows, numeric)
    if total > shown:
        more = f"{total - shown} {'more ' if shown else ''}row{'s' if total - shown > 1 else ''}"
        console.print(Text(f"{more}: --full"))


def _print_rows(console: Console, names: list[str], rows: list[list[str]], numeric: list[bool]) -> None:
    from rich.table import Table
    from rich.text import Text

    lengths = [[len(row[i]) for row in rows] for i in range(len(names))]
    wraps = [any(" " in row[i] for row in rows) and max(lengths[i]) > _WRAPPED for i in range(len(names))]
    headings = names if _count_columns(names, lengths, wraps) <= console.width else [_break(name) for name in names]
    if _count_columns(headings, lengths, wraps) > console.width:
        # too narrow for columns: numbers are never cut, so each row becomes a list
        for row in rows:
            for name, cell in zip(names, row, strict=True):
                console.print(Text(f"{name}: {cell}"), overflow="fold")
            console.print()
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for i in range(len(names)):
        table.add_column(
            Text(headings[i]), justify="right" if numeric[i] else "left", no_wrap=not wraps[i], overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _count_columns(headings: Sequence[str], lengths: Sequence[Sequence[int]], wraps: Sequence[bool]) -> int:
    """Columns of the terminal that a table needs."""
    widest = [max(map(len, heading.split("\n"))) for heading in headings]
    needed = [_WRAPPED if wrap else max(wide, *own) for wide, own, wrap in zip(widest, lengths, wraps, strict=True)]
    return sum(needed) + 2 * len(headings)


def _break(name: str) -> str:
    """Write the name of a column on several lines, so that it is no wider than its numbers."""
    return name.replace("_", "_\n")
