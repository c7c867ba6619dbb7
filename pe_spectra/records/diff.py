"""Two rotations, or two tables, against each other as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pe_spectra.models.diff import Diff, state_verdict
from pe_spectra.models.differences import Difference, LayerDiff
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.conformance import Row
from pe_spectra.records.answer import Answer, Cell, Document, Verdict
from pe_spectra.records.findings import simplify

#: Levels of the codes that the verdict has.
_LEVELS = {"same": "ok", "same-as-known": "ok", "undecided": "note", "differs": "warning", "breaks": "error"}


@dataclass(frozen=True, kw_only=True)
class Named:
    """One side with its name: the file, or the implementation that reads it."""

    name: str
    rotations: Sequence[Rotation]


def answer_diff(
    a: Named, b: Named, diff: Diff, *, pairs: bool, notes: tuple[str, ...] = (), check: bool = False
) -> Answer:
    """Turn a comparison into an answer.

    Parameters
    ----------
    pairs : whether rows are the pairs of all layer types in place of the parts that differ.
    check : whether a difference fails the run.
    """
    code, text = state_verdict(diff)
    return Answer(
        kind="diff",
        verdict=Verdict(level=_LEVELS.get(code, "note"), code=code, text=text),
        body={
            "parameters": {"length": diff.length},
            "a": _describe_side(a),
            "b": _describe_side(b),
            "agree": diff.agree,
            "differences": [_describe_difference(one) for one in diff.differences],
            "unknown": [
                {"what": one.what, "a": simplify(one.a), "b": simplify(one.b), "why": one.why} for one in diff.unknown
            ],
            "layer_types": [_describe_layer(one) for one in diff.layer_types],
        },
        columns=_list_pairs(diff.layer_types) if pairs else _list_parts(diff),
        facts=_list_facts(a, b, diff, pairs),
        notes=(*diff.remarks, *notes),
        brief=len(diff.differences) + len(diff.unknown) + 1 if not pairs else 12,
        failed=_list_failures(diff) if check else (),
    )


def _list_failures(diff: Diff) -> tuple[str, ...]:
    return tuple(f"{one.what} differs" for one in diff.differences)


def _describe_side(side: Named) -> Document:
    return {
        "name": side.name,
        "layer_types": [
            {
                "name": one.name,
                "head_dim": one.head_dim,
                "rotary_dim": one.rotary_dim,
                "base": one.base,
                "scaling": one.scaling,
                "scaling_parameters": simplify(dict(one.options)),
                "layout": one.layout,
                "attention_scaling": one.attention_scaling,
                "offset": one.offset,
                "dtype": one.dtype,
                "notes": list(one.notes),
            }
            for one in side.rotations
        ],
    }


def _describe_difference(one: Difference) -> Document:
    return {
        "what": one.what,
        "a": simplify(one.a),
        "b": simplify(one.b),
        "effect": one.effect,
        "first_position": one.first_position,
        "layers": list(one.layers),
    }


def _describe_layer(layer: LayerDiff) -> Document:
    return {
        "name": layer.name,
        "agree": layer.agree,
        "pairs": [pair._asdict() for pair in layer.pairs],
        "max_phase_error": layer.max_phase_error,
        "first_position_off": layer.first_position_off,
        "breaking_pair": layer.breaking_pair,
    }


def _list_parts(diff: Diff) -> Mapping[str, Sequence[Cell]]:
    rows: list[tuple[Cell, ...]] = [
        (one.what, write_value(one.a), write_value(one.b), one.effect, one.first_position) for one in diff.differences
    ]
    rows += [
        (one.what, write_value(one.a, "unknown"), write_value(one.b, "unknown"), one.why, None) for one in diff.unknown
    ]
    names = ("what", "a", "b", "effect", "first_position")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def write_value(value: object, missing: str = "none") -> str:
    """Write one side's value of a part for a table.

    >>> write_value(500000.0), write_value(None), write_value({"scaling": "llama3", "factor": 8.0})
    ('500000', 'none', 'llama3 factor 8')
    """
    if value is None:
        return missing
    if isinstance(value, bool | int | str):
        return str(value)
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        parts = [write_value(item) if key == "scaling" else f"{key} {write_value(item)}" for key, item in value.items()]
        return " ".join(parts)
    if isinstance(value, list | tuple):
        return f"{len(value)} numbers" if len(value) > 4 else ", ".join(write_value(item) for item in value)
    return str(value)


def _list_pairs(layers: Sequence[LayerDiff]) -> Mapping[str, Sequence[Cell]]:
    rows: list[tuple[Cell, ...]] = [
        (layer.name, pair.pair, pair.frequency_a, pair.frequency_b, pair.ratio)
        for layer in layers
        for pair in layer.pairs
    ]
    names = ("layer", "pair", "frequency_a", "frequency_b", "ratio")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _list_facts(a: Named, b: Named, diff: Diff, pairs: bool) -> tuple[tuple[str, str], ...]:
    facts = [("A", a.name), ("B", b.name)]
    for layer in diff.layer_types:
        if layer.max_phase_error is not None:
            where = "" if layer.name == "all" else f"{layer.name}: "
            first = "never" if layer.first_position_off is None else f"from position {layer.first_position_off:,} on"
            text = f"{where}up to {layer.max_phase_error:.3g} rad at position {diff.length - 1:,}; above pi/8 {first}"
            facts.append(("phases", text))
    if pairs:
        facts += [(one.what, one.effect) for one in diff.differences]
    return tuple(facts)


def answer_conformance(
    name: str, rows: Sequence[Row], examples: Sequence[Row], *, length: int, full: bool = False
) -> Answer:
    """Turn the table of what every implementation makes of a file into an answer.

    Parameters
    ----------
    rows : the file in every stack. examples : one example of each scaling in every stack.
    full : whether there is a row for each stack, with its numbers, in place of one for each scaling.
    """
    described = [_describe_row(row, "file") for row in rows] + [_describe_row(row, "example") for row in examples]
    everything = [*rows, *examples]
    columns = _list_rows(described) if full else _list_scalings(rows, examples)
    reading = "off from N on: some phase is off by more than pi/8 from position N on; close: never within the context"
    return Answer(
        kind="conformance",
        verdict=_judge_conformance(rows),
        body={"parameters": {"length": length}, "a": {"name": name}, "rows": described},
        columns=columns,
        facts=(("file", f"{name}, {length:,} positions"), ("beside", "transformers-5"), ("cells", reading)),
        notes=tuple(dict.fromkeys(f"{row.stack}, {row.scaling}: {note}" for row in everything for note in row.notes)),
        brief=len(everything),
    )


def _judge_conformance(rows: Sequence[Row]) -> Verdict:
    names = list(dict.fromkeys(row.stack for row in rows))
    refused = [n for n in names if any(row.stack == n and row.refusal is not None for row in rows)]
    wrong = [n for n in names if n not in refused and any(row.stack == n and row.differing for row in rows)]
    alike = [n for n in names if n not in refused and n not in wrong]
    parts = [f"{len(alike)} of {len(names)} implementations give this file the same frequencies"]
    parts += [f"{', '.join(wrong)} {'give' if len(wrong) > 1 else 'gives'} others"] if wrong else []
    parts += [f"{', '.join(refused)} {'refuse' if len(refused) > 1 else 'refuses'} it"] if refused else []
    level, code = ("warning", "stacks-differ") if wrong or refused else ("ok", "stacks-agree")
    return Verdict(level=level, code=code, text=f"{'; '.join(parts)}.")


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


def _list_scalings(rows: Sequence[Row], examples: Sequence[Row]) -> Mapping[str, Sequence[Cell]]:
    """One row for the file (each layer type) and each example, a column for each stack."""
    stacks = list(dict.fromkeys(row.stack for row in (*rows, *examples)))
    table: dict[str, list[Cell]] = {name: [] for name in ("of", "scaling", *stacks)}
    for of, part in (("the file", rows), ("example", examples)):
        cells = {(row.scaling, row.layer, row.stack): _write_cell(row) for row in part}
        for scaling, layer in dict.fromkeys((row.scaling, row.layer) for row in part):
            table["of"].append(of if layer == "all" else layer)
            table["scaling"].append(scaling)
            for stack in stacks:
                table[stack].append(cells.get((scaling, layer, stack)))
    return table


def _write_cell(row: Row) -> str:
    if row.refusal is not None:
        return "refused"
    if row.first_position_off is not None:
        return f"off from {row.first_position_off:,} on"
    return "close" if row.differing else "same"
