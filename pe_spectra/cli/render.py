"""Answers as text: a table for people or pipes, CSV, JSON."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Literal

from pe_spectra.answers.answer import Answer
from pe_spectra.cli.terminal import (
    GAP,
    STYLES,
    Screen,
    escape,
    fold,
    guard_cell,
    measure,
    shorten_paths,
    to_ascii,
    write_head,
)
from pe_spectra.faces import PART, Cell, are_numbers, is_column, simplify, write_cell
from pe_spectra.records import dataclass
from pe_spectra.wording import count

_CELL_CHARACTERS = 400
#: Sentences longer than this may be continued on further lines of their column; numbers never are.
_WRAPPED = 24
#: The fewest characters of a name that tell anything.
_SHORTEST = 20
#: Rows that a terminal shows of a table that may be cut: what fits a screen, of many within these bounds.
_FEWEST, _MOST = 4, 12


def render(answer: Answer, form: str, screen: Screen, figure: str | None) -> Iterable[str]:
    """Give the whole answer as text in one of the formats, many rows part by part."""
    if form == "json":
        return chain(_write_json(answer.to_values(figure)), ["\n"])
    if form == "csv":
        return _write_csv(answer.columns)
    if form != "table":
        from pe_spectra.cli.markup import write_document

        return [write_document(answer, form, full=screen.full)]
    return [_write_terminal(answer, screen)] if screen.watched else _write_pipe(answer)


def _write_json(value: Any) -> Iterator[str]:
    """Write a value as `json.dumps` does, long arrays and lists part by part."""
    value = value.to_values() if hasattr(value, "to_values") else value
    if isinstance(value, Mapping) and value:
        for number, (key, item) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{_dump(str(key))}: "
            yield from _write_json(item)
        yield "}"
    elif is_column(value) and len(value) > PART:
        for start in range(0, len(value), PART):
            yield (", " if start else "[") + _dump(value[start : start + PART])[1:-1]
        yield "]"
    elif isinstance(value, list | tuple) and value:
        for number, item in enumerate(value):  # members are small, and there may be thousands
            yield f"{', ' if number else '['}{_dump(item)}"
        yield "]"
    else:
        yield _dump(value)


def _dump(value: Any) -> str:
    from json import dumps  # of the forms of answers one alone needs it

    return dumps(simplify(value), allow_nan=False)


def _join(cells: Iterable[Iterable[str]], gap: str) -> Iterator[str]:
    """Write columns of texts as lines, part by part."""
    lines = map(gap.join, zip(*cells, strict=True))
    while part := list(islice(lines, PART)):
        yield "\n".join(part)
        yield "\n"


def _write_csv(columns: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(guard_cell, columns))  # a layer type of a file names a column
    if all(are_numbers(values) for values in columns.values()):  # which need no quotes
        yield stream.getvalue()
        yield from _join((map(repr, values) for values in columns.values()), ",")
        return
    guarded = [[guard_cell(c) if isinstance(c, str) else c for c in values] for values in columns.values()]
    writer.writerows(zip(*guarded, strict=True))
    yield stream.getvalue()


def _write_pipe(answer: Answer) -> Iterator[str]:
    """Plain text: every row and every digit, columns separated by tabs, no width logic."""
    facts = [f"{escape(label)}: {escape(text)}" for label, text in (*answer.facts, *answer.details)]
    yield "\n".join([escape(answer.verdict.text), "", *facts, *([""] if facts else []), ""])
    for place, columns in enumerate((answer.columns, answer.beside)):
        if any(map(len, columns.values())):
            yield "\n" * place + "\t".join(map(escape, columns)) + "\n"
        yield from _join((map(_write_exactly, values) for values in columns.values()), "\t")
    if answer.last:
        yield f"\n{escape(answer.last)}\n"


def _write_exactly(cell: Cell) -> str:
    return repr(cell) if isinstance(cell, float) else escape(write_cell(cell, 1))


# ----------------------------------------------------------------------------------- on a terminal


def _write_terminal(answer: Answer, screen: Screen) -> str:
    """The verdict, a curve, what carries the answer, and its rows: as much as fits, unless all was asked for."""
    facts = _choose_facts(answer, screen.full)
    drafts = (_write_draft(answer, facts, screen, *cut) for cut in _list_cuts(answer, len(facts), screen.full))
    lines = next(drafts)
    for shorter in drafts:
        if len(lines) < screen.height:  # the next prompt takes a line
            break
        lines = shorter
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return text if screen.unicode else to_ascii(text)


def _list_cuts(answer: Answer, facts: int, full: bool) -> Iterator[tuple[bool, int, int]]:
    """Whether there is a curve, how many facts and how many rows: all, then ever less of an answer that may be cut.

    Rows give way until a few are left, then the curve, then the last facts; at last the few. Where no rows are shown,
    the curve carries the answer, and only facts give way.
    """
    total = answer.row_count
    if full or answer.rows == "all":
        yield True, facts, total
    elif answer.rows == "none":
        yield from ((True, kept, 0) for kept in range(facts, 0 if answer.drawing else facts - 1, -1))
    else:
        few, most = min(total, _FEWEST), min(total, _MOST)
        for is_drawn, kept in ((True, facts), *((False, kept) for kept in range(facts, -1, -1))):
            yield from ((is_drawn, kept, shown) for shown in range(most, few - 1, -1))
        yield from ((False, 0, shown) for shown in range(few - 1, 0, -1))


def _write_draft(
    answer: Answer, facts: Sequence[tuple[str, str]], screen: Screen, is_drawn: bool, kept: int, shown: int
) -> list[str]:
    """The lines of an answer with so many facts and rows, and how much more there is."""
    left = 0 if is_drawn or answer.drawing is None else 1
    left += len(facts) - kept + (0 if screen.full else len(answer.details))
    lines = write_head(answer, facts[:kept], screen, is_drawn=is_drawn)
    if shown:
        lines += ["", *_write_rows(answer, screen, shown)]
    lines += ["", *_write_rows(answer.second, screen, answer.second.row_count)] if answer.beside else []
    hidden = answer.row_count - shown
    more = [count(left, "detail")] if left else []
    more += [count(hidden, "more row" if shown else "row")] if hidden else []
    if more:
        lines += [*([] if kept or shown else [""]), f"{' and '.join(more)}: --full"]
    return [*lines, *(fold(answer.last, screen.text_width, GAP) if answer.last else [])]


def _choose_facts(answer: Answer, full: bool) -> list[tuple[str, str]]:
    """The facts; where every row of a table has a group of its own, the rows stand for them unless all is asked for."""
    if full:
        return [*answer.facts, *answer.details]
    groups = {name.rpartition(": ")[0] for name, _ in answer.facts} - {""}
    are_rows = answer.rows != "none" and any(1 < len(groups) == len(cells) for cells in answer.columns.values())
    return [(name, text) for name, text in answer.facts if not (are_rows and ": " in name)]


def _write_rows(answer: Answer, screen: Screen, shown: int) -> list[str]:
    """Write the first rows of the table, with the columns that do not fit and how to see them."""
    names = list(answer.columns if screen.full or not answer.shown else answer.shown)
    columns, left_out, everywhere = _fit([_make_column(name, answer, shown) for name in names], screen.width)
    lines = fold(f"each row: {', '.join(everywhere)}", screen.text_width, GAP) if everywhere else []
    for number, block in enumerate(_split(columns, left_out if screen.full else [], screen.width)):
        lines += [""] * bool(number) + _write_block(block, screen)
    if left_out and not screen.full:
        left = ", ".join(column.name for column in left_out)
        lines += fold(f"columns that do not fit: {left} (--full, --format csv)", screen.text_width, GAP)
    return lines


@dataclass(kw_only=True, eq=False)
class _Column:
    """A column of a table, to be narrowed: its heading, with line feeds where it is broken, and its cells.

    `same` : all cells, also of rows that are not shown, are one.
    `least` : the fewest characters of one whose cells are sentences, which may be continued; None for others.
    `narrow` : its names may be shortened.
    """

    name: str
    heading: str
    cells: tuple[str, ...]
    numeric: bool
    narrow: bool
    same: bool
    least: int | None

    @property
    def width(self) -> int:
        own = max(_widest(cell) for cell in self.cells) if self.least is None else self.least
        return max(_widest(self.heading), own)


def _make_column(name: str, answer: Answer, shown: int) -> _Column:
    every = answer.columns[name]
    cells = every[:shown]
    written = [write_cell(cell, answer.digits) for cell in cells]
    texts = tuple(escape(answer.spelled.get(text, text), _CELL_CHARACTERS) for text in written)
    is_prose = any(" " in text for text in texts) and max(map(measure, texts)) > _WRAPPED
    heading = escape(name, _CELL_CHARACTERS)
    return _Column(
        name=heading,
        heading=heading,
        cells=texts,
        numeric=all(isinstance(cell, int | float | None) for cell in cells),
        narrow=name in answer.narrow or any(map(_is_path, texts)),
        same=len(every) > 1 and len(set(every)) == 1,
        least=_WRAPPED if is_prose else None,
    )


def _fit(columns: list[_Column], width: int) -> tuple[list[_Column], list[_Column], list[str]]:
    """Make a table of a terminal's width, without cutting a number.

    Gives its columns, those that do not fit, and what all rows have in common: that stands above the rows of a table
    that does not fit as it is. Of one that is still too wide, columns are left out from the right.
    """
    if _measure_table(columns) <= width:
        return columns, [], []
    common = [column for column in columns[1:] if column.same]
    everywhere = [f"{column.name} {column.cells[0]}" for column in common if column.cells[0]]
    kept = [column for column in columns if column not in common]
    if any(_measure_table(kept) <= width for _ in _narrow(kept, width)):
        return kept, [], everywhere
    most = max((n for n in range(1, len(kept)) if _measure_table(kept[:n]) <= width), default=1)
    return kept[:most], kept[most:], everywhere


def _narrow(columns: list[_Column], width: int) -> Iterator[None]:
    """Narrow columns step by step: headings, sentences and names that may be narrow; then paths lose their middle."""
    yield
    for column in columns:
        column.heading = _break(column.heading)
    yield
    for column in columns:
        if column.least is not None:
            column.least = min(_WRAPPED, max(measure(word) for cell in column.cells for word in cell.split(" ")))
    yield
    paths = [column for column in columns if any(map(_is_path, column.cells))]
    for column in columns:
        if column.narrow and not column.numeric and column.least is None and column not in paths:
            column.cells = tuple(map(_break, column.cells))
    yield
    for column in paths:
        room = max(_SHORTEST, width - _measure_table(columns) + column.width)
        column.cells, column.least = shorten_paths(column.cells, room), None
        yield


def _split(first: list[_Column], others: list[_Column], width: int) -> list[list[_Column]]:
    """All columns as tables below each other, each with the first column."""
    blocks = [[*first]]
    for column in others:
        if _measure_table([*blocks[-1], column]) > width:
            blocks.append([first[0]])
        blocks[-1].append(column)
    return blocks


def _write_block(columns: Sequence[_Column], screen: Screen) -> list[str]:
    """Lay out a table whose columns fit; sentences are continued in the room that is left."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # widths and gaps are given: releases of Rich before 15 add padding where later ones do not
    table = Table(box=None, padding=0, pad_edge=False, header_style=STYLES["heading"])
    for number, (column, width) in enumerate(zip(columns, _share_room(columns, screen.width), strict=True)):
        if number:
            table.add_column(width=len(GAP))
        justify: Literal["right", "left"] = "right" if column.numeric else "left"
        no_wrap = column.least is None
        table.add_column(Text(column.heading), justify=justify, no_wrap=no_wrap, width=width, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        first, *others = map(Text, row)
        table.add_row(first, *(part for other in others for part in (Text(), other)))
    stream = io.StringIO()
    Console(
        file=stream,
        force_terminal=screen.colour,
        color_system="standard" if screen.colour else None,
        no_color=not screen.colour,
        width=max(screen.width, _measure_table(columns)),
        legacy_windows=False,
        _environ={},  # nothing is read from the environment
    ).print(table)
    return stream.getvalue().split("\n")[:-1]


def _share_room(columns: Sequence[_Column], width: int) -> list[int]:
    """The width of each column: its own, and of the room that is left what its sentences need, or a share by that."""
    widths, spare = [column.width for column in columns], max(0, width - _measure_table(columns))
    needs = {i: max(0, max(map(_widest, c.cells)) - c.width) for i, c in enumerate(columns) if c.least is not None}
    for i in sorted(needs, key=needs.__getitem__):  # what needs no more than an equal share is whole
        more = needs[i] if needs[i] * len(needs) <= spare else spare * needs[i] // sum(needs.values())
        del needs[i]
        widths[i] += more
        spare -= more
    return widths


def _measure_table(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _widest(text: str) -> int:
    return max(map(measure, text.split("\n")))


def _is_path(text: str) -> bool:
    """Whether a text begins with a path, as labels of tables do; a sentence may have a stroke, too."""
    first, stroke, _ = text.partition("/")
    return bool(stroke) and " " not in first


def _break(name: str) -> str:
    """Write a name on several lines, so that it is no wider than its numbers."""
    return name.replace("_", "_\n")
