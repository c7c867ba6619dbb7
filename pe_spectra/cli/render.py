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
    from pe_spectra.cli.run import Screen

#: Rows of a table on a terminal, unless --full asks for all.
SHOWN_ROWS = 12
_CELL_CHARACTERS = 60
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
    lines += [f"{label}: {escape(text)}" for label, text in answer.facts]
    lines += [""] if answer.facts else []
    lines.append("\t".join(answer.columns))
    lines += ["\t".join(_write_exactly(cell) for cell in row) for row in zip(*answer.columns.values(), strict=True)]
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
    from rich.console import Console
    from rich.text import Text

    stream = io.StringIO()
    console = Console(
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
    console.print(Text(escape(answer.verdict.text), style=f"bold {_LEVEL_COLOURS[answer.verdict.level]}"))
    if answer.drawing is not None:
        console.print()
        for line in draw(answer.drawing, min(screen.width, 100)):
            console.print(Text(line), crop=False, overflow="fold")
    if answer.facts:
        console.print()
        label_width = max(len(label) for label, _ in answer.facts)
        for label, text in answer.facts:
            console.print(Text.assemble((f"  {label:{label_width}}  ", "dim"), escape(text)))
    _print_table(console, answer, screen)
    text = "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))
    return text if screen.unicode else to_ascii(text)


def _print_table(console: object, answer: Answer, screen: Screen) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not isinstance(console, Console):
        return
    names = [name for name in (answer.shown or answer.columns) if name in answer.columns]
    total = len(next(iter(answer.columns.values()), ()))
    shown = total if screen.full else SHOWN_ROWS
    if not total:
        return
    rows = [
        [_write_briefly(cell) for cell in row]
        for row in islice(zip(*(answer.columns[name] for name in names), strict=True), shown)
    ]
    console.print()
    wrapped = {i for i, name in enumerate(names) if any(" " in row[i] and len(row[i]) > 24 for row in rows)}
    needed = sum(
        16 if i in wrapped else max(len(names[i]), *(len(row[i]) for row in rows)) for i in range(len(names))
    ) + 2 * len(names)
    if needed > screen.width:
        # too narrow for columns: numbers are never cut, so each row becomes a list
        for row in rows:
            for name, cell in zip(names, row, strict=True):
                console.print(Text(f"{name}: {cell}"), overflow="fold", soft_wrap=True)
            console.print()
    else:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for i, name in enumerate(names):
            numeric = all(isinstance(cell, int | float | None) for cell in answer.columns[name][:SHOWN_ROWS])
            table.add_column(
                Text(name), justify="right" if numeric else "left", no_wrap=i not in wrapped, overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
    if total > shown:
        console.print(Text(f"{total - shown} more rows: --full"))
