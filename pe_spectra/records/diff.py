"""Two rotations against each other as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pe_spectra.models.comparison.differences import Difference, LayerDiff, PairDifference, Unknown, count_positions
from pe_spectra.models.comparison.rotations import Diff, state_verdict
from pe_spectra.models.rotation import Rotation
from pe_spectra.records.answer import Answer, Cell, Document, Verdict
from pe_spectra.records.findings import simplify

#: Levels of the codes that the verdict has.
_LEVELS = {"same": "ok", "same-as-known": "ok", "undecided": "note", "differs": "warning", "breaks": "error"}
#: Columns of the parts; the last two are shown on a terminal where they say anything.
_PARTS = ("what", "a", "b", "effect", "first_position", "layers")
#: Parts that a dump of frequencies, or a configuration, does not hold.
_SILENT = ("layout", "attention_scaling", "offset", "dtype")
_PAIRS = ("layer", "pair", "frequency_a", "frequency_b", "ratio")


@dataclass(frozen=True, kw_only=True)
class Named:
    """One side of a comparison.

    Attributes
    ----------
    name : the file, or the implementation that reads it.
    rotations : one for each layer type.
    notes : what was assumed when it was read. base_key : the key its base comes from; empty where unknown.
    """

    name: str
    rotations: Sequence[Rotation]
    notes: tuple[str, ...] = ()
    base_key: str = ""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What was asked for.

    Attributes
    ----------
    length : positions 0 .. length - 1 are looked at.
    trained, served : lengths that were given; None where not.
    windows : positions that layers see at once that attend within a window, by layer type.
    full : whether rows are the pairs of all layer types in place of the parts that differ.
    listed : whether parts that a side does not say are rows of their own too, in place of one line for all.
    check : whether a difference fails the run.
    again : the command that gave the answer; empty where it cannot be repeated.
    """

    length: int
    trained: int | None = None
    served: int | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    full: bool = False
    listed: bool = False
    check: bool = False
    again: str = ""


def answer_diff(a: Named, b: Named, diff: Diff, setting: Setting, *, notes: tuple[str, ...] = ()) -> Answer:
    """Turn a comparison into an answer; `notes` are added to its own.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> sides = [Named(name=name, rotations=(one,)) for name, one in (("a", a), ("b", b))]
    >>> answer_diff(*sides, compare_rotations([a], [b], length=10), Setting(length=10)).verdict.code
    'breaks'
    """
    code, text = state_verdict(diff)
    unknown = [{"what": one.what, "a": simplify(one.a), "b": simplify(one.b), "why": one.why} for one in diff.unknown]
    columns = _list_pairs(diff.layer_types) if setting.full else _list_parts(diff, listed=setting.listed)
    rows = len(next(iter(columns.values())))
    return Answer(
        kind="diff",
        verdict=Verdict(level=_LEVELS.get(code, "note"), code=code, text=text),
        body={
            "parameters": {"length": diff.length, "trained": setting.trained, "served": setting.served},
            "a": _describe_side(a),
            "b": _describe_side(b),
            "agree": diff.agree,
            "differences": [_describe_difference(one, diff) for one in diff.differences],
            "unknown": unknown,
            "layer_types": [_describe_layer(layer) for layer in diff.layer_types],
        },
        columns=columns,
        facts=_list_facts(a, b, diff, setting),
        notes=(*diff.remarks, *_state_open(diff, setting), *notes),
        shown=() if setting.full else _choose_columns(columns),
        brief=rows,
        next_command=f"{setting.again} --full" if setting.again and diff.differences and not setting.full else "",
        failed=tuple(dict.fromkeys(f"{one.what} differs" for one in diff.differences)) if setting.check else (),
    )


def _state_open(diff: Diff, setting: Setting) -> tuple[str, ...]:
    """Say what a check that nothing fails has not seen."""
    if not setting.check or diff.agree is not None:
        return ()
    names = ", ".join(dict.fromkeys(one.what for one in diff.unknown))
    return (f"the check fails only where something is known to differ; unknown: {names}",)


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


def _describe_difference(one: Difference, diff: Diff) -> Document:
    a, b = _find_values(one, diff)
    return {
        "what": one.what,
        "a": simplify(a),
        "b": simplify(b),
        "effect": one.effect,
        "first_position": one.first_position,
        "layers": list(one.layers),
    }


def _describe_layer(layer: LayerDiff) -> Document:
    return {
        "name": layer.name,
        "agree": layer.agree,
        "length": layer.length,
        "pairs": [pair._asdict() for pair in layer.pairs],
        "max_phase_error": layer.max_phase_error,
        "first_position_off": layer.first_position_off,
        "breaking_pair": layer.breaking_pair,
    }


def _find_values(one: Difference, diff: Diff) -> tuple[object, object]:
    """Both values of a part; of frequencies those of the pair that is furthest off."""
    layer = next((layer for layer in diff.layer_types if layer.name in one.layers), None)
    if one.what != "frequencies" or layer is None or not layer.pairs:
        return one.a, one.b
    breaking = [pair for pair in layer.pairs if pair.pair == layer.breaking_pair]
    worst = breaking[0] if breaking else max(layer.pairs, key=_measure_distance)
    return {"pair": worst.pair, "frequency": worst.frequency_a}, {"pair": worst.pair, "frequency": worst.frequency_b}


def _measure_distance(pair: PairDifference) -> float:
    return abs((pair.frequency_a or 0.0) - (pair.frequency_b or 0.0))


def _list_parts(diff: Diff, *, listed: bool) -> Mapping[str, Sequence[Cell]]:
    every = {layer.name for layer in diff.layer_types}
    rows: list[tuple[Cell, ...]] = []
    for one in diff.differences:
        a, b = _find_values(one, diff)
        layers = "all" if every <= set(one.layers) else ", ".join(one.layers)
        rows.append((one.what, write_value(a), write_value(b), one.effect, one.first_position, layers))
    differing = {one.what for one in diff.differences}
    for unknown in diff.unknown:
        # of a part that differs, what a side does not say besides would drown the answer
        if unknown.what not in differing and (listed or not _is_silence(unknown)):
            a, b = write_value(unknown.a, "unknown"), write_value(unknown.b, "unknown")
            rows.append((unknown.what, a, b, unknown.why, None, "all"))
    return {name: [row[place] for row in rows] for place, name in enumerate(_PARTS)}


def _is_silence(unknown: Unknown) -> bool:
    """Tell whether a side does not say a part that its kind of file does not hold, which is no news."""
    return unknown.what in _SILENT and unknown.why.count("does not say") == unknown.why.count(";") + 1


def _state_silence(a: Named, b: Named, diff: Diff) -> list[tuple[str, str]]:
    """Gather what is not said: first of the side that says less, then what else the other does not say."""
    differing = {one.what for one in diff.differences}
    left = [one for one in diff.unknown if one.what not in differing and _is_silence(one)]
    silent = [(a, [one for one in left if one.a is None]), (b, [one for one in left if one.b is None])]
    silent.sort(key=lambda pair: len(pair[1]), reverse=True)
    lines: list[tuple[str, str]] = []
    told: set[str] = set()
    for side, parts in silent:
        names = [name for name in dict.fromkeys(one.what.replace("_", " ") for one in parts) if name not in told]
        told.update(names)
        if names:
            lines.append(("unknown", f"not said by {side.name}: {', '.join(names)}"))
    return lines


def _choose_columns(columns: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    empty = {"first_position": None, "layers": "all"}
    return tuple(name for name in _PARTS if name not in empty or set(columns[name]) - {empty[name]})


def write_value(value: object, missing: str = "none") -> str:
    """Write one side's value of a part for a table.

    >>> write_value(500000.0), write_value(None), write_value({"pair": 3, "frequency": 0.125})
    ('500000', 'none', 'pair 3: 0.125')
    """
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return f"pair {value['pair']}: {write_value(value['frequency'])}"
    return str(value)


def _list_pairs(layers: Sequence[LayerDiff]) -> Mapping[str, Sequence[Cell]]:
    rows: list[tuple[Cell, ...]] = [
        (layer.name, pair.pair, pair.frequency_a, pair.frequency_b, pair.ratio)
        for layer in layers
        for pair in layer.pairs
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(_PAIRS)}


def _list_facts(a: Named, b: Named, diff: Diff, setting: Setting) -> tuple[tuple[str, str], ...]:
    facts = [("A", a.name), ("B", b.name)]
    for layer in diff.layer_types:
        if layer.max_phase_error is not None:
            where = "" if layer.name == "all" else f"{layer.name}: "
            facts.append(("phases", f"{where}{_state_phases(layer, setting.trained)}"))
    if setting.full:
        facts += [(one.what, one.effect) for one in diff.differences]
    elif not setting.listed:
        facts += _state_silence(a, b, diff)
    return tuple(facts)


def _state_phases(layer: LayerDiff, trained: int | None) -> str:
    first = layer.first_position_off
    within = f"within {count_positions(layer.length)}"
    if first is None:
        return (
            f"off by {layer.max_phase_error:.3g} rad at most {within}" if layer.max_phase_error else f"equal {within}"
        )
    text = f"off by more than pi/8 from position {first:,} on, by up to {layer.max_phase_error:.3g} rad {within}"
    if trained is None:
        return text
    return f"{text}; {'within' if first < trained else 'beyond'} the {trained:,} that were trained"
