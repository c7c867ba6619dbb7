"""What every implementation makes of one file, as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.models.stacks.conformance import REFERENCE, Row
from pe_spectra.records.answer import Answer, Cell, Document, Verdict

#: What a cell says of a stack, by its word; any other is the first position that is off.
_CELLS = {
    "same": f"the frequencies of {REFERENCE}",
    "scores": "these with another attention factor",
    "close": "no phase is off by more than pi/8",
    "pairs": "another number of pairs",
    "no": "refuses it",
    "yes": "takes it",
}


def answer_conformance(
    name: str, rows: Sequence[Row], examples: Sequence[Row], *, length: int, full: bool = False, again: str = ""
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
    described = [_describe_row(row, "file") for row in rows] + [_describe_row(row, "example") for row in examples]
    columns = _list_rows(described) if full else _list_stacks(rows, examples)
    return Answer(
        kind="conformance",
        verdict=_judge(name, rows),
        body={"parameters": {"length": length}, "a": {"name": name}, "rows": described},
        columns=columns,
        facts=(("file", f"{name}, {length:,} positions"), *(() if full else _explain(columns))),
        notes=_gather_notes(rows, examples if full else ()),
        brief=len(next(iter(columns.values()))),
        next_command=_suggest(rows, again),
    )


def _explain(columns: Mapping[str, Sequence[Cell]]) -> tuple[tuple[str, str], ...]:
    """Say what the columns are, and the words in them."""
    words = {str(cell) for name, cells in columns.items() if name != "stack" for cell in cells}
    said = [f"{word}: {meaning}" for word, meaning in _CELLS.items() if word in words]
    said += ["a number: off by more than pi/8 from that position on"] if words - _CELLS.keys() else []
    examples = "the other columns: each scaling with the head, the base and the length of the file"
    return ("examples", examples), ("cells", "; ".join(said))


def _judge(name: str, rows: Sequence[Row]) -> Verdict:
    names = list(dict.fromkeys(row.stack for row in rows))
    refused = [n for n in names if any(row.stack == n and row.refusal is not None for row in rows)]
    if REFERENCE in refused:
        reason = next(row.refusal for row in rows if row.stack == REFERENCE and row.refusal is not None)
        reason = (reason or "").removeprefix(f"{name}: ")
        text = f"{REFERENCE} refuses this file, so there is nothing to compare the others with: {reason}."
        return Verdict(level="warning", code="reference-refuses", text=text)
    wrong = [n for n in names if n not in refused and any(_is_other(row) for row in rows if row.stack == n)]
    alike = [n for n in names if n not in refused and n not in wrong]
    parts = [f"{len(alike)} of {len(names)} implementations give this file the same frequencies"]
    parts += [f"{', '.join(wrong)} {'give' if len(wrong) > 1 else 'gives'} others"] if wrong else []
    parts += [f"{', '.join(refused)} {'refuse' if len(refused) > 1 else 'refuses'} it"] if refused else []
    level, code = ("warning", "stacks-differ") if wrong or refused else ("ok", "stacks-agree")
    return Verdict(level=level, code=code, text=f"{'; '.join(parts)}.")


def _gather_notes(rows: Sequence[Row], examples: Sequence[Row]) -> tuple[str, ...]:
    """Say each note once, with the implementations that it is about."""
    several = len({row.layer for row in rows}) > 1
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for note in row.notes:
            found.setdefault((f"{row.layer}: " if several else "", note), []).append(row.stack)
    for row in examples:
        for note in row.notes:
            found.setdefault((f"example of {row.scaling}: ", note), []).append(row.stack)
    every = {row.stack for row in rows}
    return tuple(
        f"{where}{note}" if set(stacks) == every else f"{where}{', '.join(dict.fromkeys(stacks))}: {note}"
        for (where, note), stacks in found.items()
    )


def _is_other(row: Row) -> bool:
    """Whether the frequencies are others than in the reference, or another number of them."""
    return row.refusal is None and row.differing != 0


def _suggest(rows: Sequence[Row], again: str) -> str:
    other = next((row.stack for row in rows if _is_other(row)), None)
    return f"{again} --stack {REFERENCE},{other}" if again and other not in (None, REFERENCE) else ""


def _describe_row(row: Row, of: str) -> Document:
    return {
        "of": of,
        "scaling": row.scaling,
        "stack": row.stack,
        "layer_type": row.layer,
        "refusal": row.refusal,
        "smallest_ratio": row.ratio[0] if row.ratio is not None else None,
        "largest_ratio": row.ratio[1] if row.ratio is not None else None,
        "differing_pairs": row.differing,
        "attention_scaling": row.attention_scaling,
        "layout": row.layout,
        "max_phase_error": row.max_phase_error,
        "first_position_off": row.first_position_off,
        "notes": list(row.notes),
    }


def _list_rows(described: Sequence[Document]) -> Mapping[str, Sequence[Cell]]:
    names = [name for name in (described[0] if described else {}) if name != "notes"]
    table: dict[str, list[Cell]] = {name: [] for name in names}
    for one in described:
        for name in names:
            value = one[name]
            table[name].append(value if isinstance(value, str | int | float) else None)
    return table


def _list_stacks(rows: Sequence[Row], examples: Sequence[Row]) -> Mapping[str, Sequence[Cell]]:
    """One row for each stack, a column for each layer type of the file and for each example."""
    stacks = list(dict.fromkeys(row.stack for row in (*rows, *examples)))
    table: dict[str, list[Cell]] = {"stack": list(stacks)}
    for name, group in (*_group(rows, "file"), *_group(examples, "")):
        found = {row.stack: row for row in group}
        table[name] = [_write_cell(found[stack], found[REFERENCE]) for stack in stacks]
    return table


def _group(rows: Sequence[Row], name: str) -> list[tuple[str, list[Row]]]:
    """The rows of each layer type of the file, or of each example, by the name of its column."""
    keys = list(dict.fromkeys((row.scaling, row.layer) for row in rows))
    return [
        (
            key[0] if not name else f"file_{key[1]}" if len(keys) > 1 else name,
            [row for row in rows if (row.scaling, row.layer) == key],
        )
        for key in keys
    ]


def _write_cell(row: Row, reference: Row) -> str:
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
