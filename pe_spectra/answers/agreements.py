"""How far things agree that should be one: two tables, and what every implementation makes of one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts, gather_notes
from pe_spectra.faces import Cell
from pe_spectra.models.comparison.table_diff import TableDiff
from pe_spectra.models.stacks.conformance import REFERENCE, ConformanceRow
from pe_spectra.quantities import Result, quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.wording import count

VERDICTS = Verdicts({"stacks-agree": "ok", "stacks-differ": "warning", "reference-refuses": "warning"})
TABLE_VERDICTS = Verdicts({"same": "ok", "explained": "note", "differs": "warning"})
_EMPTY: Mapping[str, object] = {"type": "array", "items": {"type": "null"}, "maxItems": 0}
_SHAPE: Mapping[str, object] = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1},
    "minItems": 2,
    "maxItems": 2,
}
#: What a cell says of a stack, by its word; any other is the first position that is off.
_CELLS = {
    "same": f"the frequencies of {REFERENCE}",
    "scores": "these with another attention factor",
    "close": "no phase is off by more than pi/8",
    "pairs": "another number of pairs",
    "no": "refuses it",
    "yes": "takes it",
}


@dataclass(frozen=True, kw_only=True)
class ConformanceSide(Result):
    """The file that was read."""

    name: str = quantity("The file, as it was named.")


@dataclass(frozen=True, kw_only=True)
class ConformanceBody(Body):
    """What every implementation makes of one file, and of one example of each scaling."""

    kind = "conformance"
    draws = False
    length: int = quantity("Number of positions that were looked at.", minimum=1, asked=True)
    a: ConformanceSide = quantity("The file that was read.")
    rows: tuple[ConformanceRow, ...] = quantity(
        "One row for each implementation and type of layer, the file first.", least=1
    )


def answer_conformance(
    name: str,
    rows: Sequence[ConformanceRow],
    examples: Sequence[ConformanceRow],
    *,
    length: int,
    full: bool = False,
    again: str = "",
) -> Answer:
    """Turn the table of what every implementation makes of a file into an answer.

    Parameters
    ----------
    rows : the file in every stack. examples : one example of each scaling in every stack.
    full : whether there is a row for each stack and scaling, with its numbers, in place of one for each stack.
    again : the command that names the file; empty where it cannot be repeated.

    >>> from pe_spectra.models.stacks.conformance import tabulate_conformance
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}, "config.json")
    >>> answer_conformance("config.json", tabulate_conformance(stated), (), length=64).verdict.code
    'stacks-agree'
    """
    every = (*rows, *examples)
    columns = tabulate(every) if full else _list_stacks(rows, examples)
    return Answer(
        body=ConformanceBody(length=length, a=ConformanceSide(name=name), rows=every),
        verdict=_judge(name, rows),
        results=every,
        table=columns,
        facts=(("file", f"{name}, {length:,} positions"), *(() if full else _explain(columns))),
        notes=_gather_notes(rows, examples if full else ()),
        rows="all",
        next_command=_suggest(rows, again),
    )


def _explain(columns: Mapping[str, Sequence[Cell]]) -> tuple[tuple[str, str], ...]:
    """Say what the columns are, and the words in them."""
    words = {str(cell) for name, cells in columns.items() if name != "stack" for cell in cells}
    said = [f"{word}: {meaning}" for word, meaning in _CELLS.items() if word in words]
    said += ["a number: off by more than pi/8 from that position on"] if words - _CELLS.keys() else []
    examples = "the other columns: each scaling with the head, the base and the length of the file"
    return ("examples", examples), ("cells", "; ".join(said))


def _judge(name: str, rows: Sequence[ConformanceRow]) -> Verdict:
    names = list(dict.fromkeys(row.stack for row in rows))
    refused = [n for n in names if any(row.stack == n and row.refusal is not None for row in rows)]
    if REFERENCE in refused:
        reason = next(row.refusal for row in rows if row.stack == REFERENCE and row.refusal is not None)
        reason = (reason or "").removeprefix(f"{name}: ")
        nothing = "refuses this file, so there is nothing to compare the others with"
        return VERDICTS.say("reference-refuses", f"{REFERENCE} {nothing}: {reason}.")
    wrong = [n for n in names if n not in refused and any(_is_other(row) for row in rows if row.stack == n)]
    alike = [n for n in names if n not in refused and n not in wrong]
    parts = [f"{len(alike)} of {len(names)} implementations give this file the same frequencies"]
    parts += [f"{', '.join(wrong)} {'give' if len(wrong) > 1 else 'gives'} others"] if wrong else []
    parts += [f"{', '.join(refused)} {'refuse' if len(refused) > 1 else 'refuses'} it"] if refused else []
    return VERDICTS.say("stacks-differ" if wrong or refused else "stacks-agree", f"{'; '.join(parts)}.")


def _gather_notes(rows: Sequence[ConformanceRow], examples: Sequence[ConformanceRow]) -> tuple[str, ...]:
    """Say each note once, with the implementations that it is about."""
    several = len({row.layer for row in rows}) > 1
    places = [(f"{row.layer}: " if several else "", row) for row in rows]
    places += [(f"example of {row.scaling}: ", row) for row in examples]
    every = {row.stack for row in rows}
    return tuple(
        f"{where}{note}"
        for where in dict.fromkeys(where for where, _ in places)
        for note in gather_notes([(r.stack, n) for one, r in places if one == where for n in r.notes], every)
    )


def _is_other(row: ConformanceRow) -> bool:
    """Whether the frequencies are others than in the reference, or another number of them."""
    return row.refusal is None and row.differing != 0


def _suggest(rows: Sequence[ConformanceRow], again: str) -> str:
    other = next((row.stack for row in rows if _is_other(row)), None)
    return f"{again} --stack {REFERENCE},{other}" if again and other not in (None, REFERENCE) else ""


def _list_stacks(rows: Sequence[ConformanceRow], examples: Sequence[ConformanceRow]) -> Mapping[str, Sequence[Cell]]:
    """One row for each stack, a column for each layer type of the file and for each example."""
    several = len({row.layer for row in rows}) > 1
    named = [*((f"file_{row.layer}" if several else "file", row) for row in rows), *((r.scaling, r) for r in examples)]
    found: dict[str, dict[str, ConformanceRow]] = {}
    for name, row in named:
        found.setdefault(name, {})[row.stack] = row
    stacks = list(dict.fromkeys(row.stack for _, row in named))
    cells = {name: [_write_cell(one[stack], one[REFERENCE]) for stack in stacks] for name, one in found.items()}
    return {"stack": stacks, **cells}


def _write_cell(row: ConformanceRow, reference: ConformanceRow) -> str:
    if row.refusal is not None:
        return "no"
    if reference.refusal is not None:
        return "yes"
    if row.differing is None:
        return "pairs"
    if row.first_position_off is not None:
        return str(row.first_position_off)
    if row.differing:
        return "close"
    return "same" if row.attention_scaling == reference.attention_scaling else "scores"


# --------------------------------------------------------------------- two tables


@dataclass(frozen=True, kw_only=True)
class ComparedTable(Result):
    """One table."""

    name: str = quantity("The file, as it was named.")
    rows: int = quantity("Number of its rows.", minimum=1)
    columns: int = quantity("Number of its columns.", minimum=1)
    dtype: str = quantity("The coarsest type that holds all of its numbers.")


@dataclass(frozen=True, kw_only=True)
class TableDifference(Result):
    """That two tables differ."""

    what: str = quantity("Name of the part, always table.", default="table", schema={"const": "table"})
    a: tuple[int, int] = quantity("Rows and columns of A.", schema=_SHAPE)
    b: tuple[int, int] = quantity("Rows and columns of B.", schema=_SHAPE)
    effect: str = quantity("What the difference is, in one sentence.")
    first_position: int | None = quantity(
        "First row that differs; null where none of those that both have does, and where widths differ.", minimum=0
    )
    layers: tuple[str, ...] = quantity("Always empty: tables are of no type of layer.", default=(), schema=_EMPTY)


@dataclass(frozen=True, kw_only=True)
class TableDiffBody(Body):
    """Two tables of positions against each other; its kind is diff, too."""

    kind = "diff"
    draws = False
    a: ComparedTable = quantity("The first table, A.")
    b: ComparedTable = quantity("The second table, B.")
    agree: bool = quantity(
        "Whether they have one shape and numbers that are equal within the rounding of the coarser type."
    )
    differences: tuple[TableDifference, ...] = quantity("What differs: the tables, or nothing.", most=1)
    unknown: tuple[str, ...] = quantity("Always empty: nothing about a table is unknown.", default=(), schema=_EMPTY)
    layer_types: tuple[str, ...] = quantity("Always empty: tables are of no type of layer.", default=(), schema=_EMPTY)
    table: TableDiff = quantity("How B is found in A.")


def answer_tables(a: str, b: str, found: TableDiff, *, notes: tuple[str, ...] = (), check: bool = False) -> Answer:
    """Turn the comparison of two tables into an answer; `check` makes a difference fail the run.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.table_diff import compare_tables
    >>> answer_tables("a.npy", "b.npy", compare_tables(np.eye(4), 2 * np.eye(4))).verdict.code
    'explained'
    """
    first, second = (
        ComparedTable(name=name, rows=shape[0], columns=shape[1], dtype=dtype)
        for name, shape, dtype in ((a, found.shape_a, found.dtypes[0]), (b, found.shape_b, found.dtypes[1]))
    )
    difference = TableDifference(
        a=found.shape_a, b=found.shape_b, effect=found.findings[0], first_position=found.first_row
    )
    return Answer(
        body=TableDiffBody(
            a=first, b=second, agree=found.agree, differences=() if found.agree else (difference,), table=found
        ),
        verdict=_judge_tables(found),
        table={"finding": list(found.findings)},
        facts=[
            (side, f"{one.name}: {count(one.rows, 'row')} of {one.columns}, {one.dtype}")
            for side, one in (("A", first), ("B", second))
        ],
        notes=notes,
        rows="all",
        failed=("table differs",) if check and not found.agree else (),
    )


def _judge_tables(found: TableDiff) -> Verdict:
    """Say whether two tables are the same, one explains the other, or neither."""
    if found.agree:
        return TABLE_VERDICTS.say("same", f"The same: {found.findings[0]}.")
    said = found.findings[:1] if found.explained and not found.in_place else found.findings
    return TABLE_VERDICTS.say("explained" if found.explained else "differs", f"Different: {'; '.join(said)}.")
