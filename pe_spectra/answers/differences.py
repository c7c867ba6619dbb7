"""Two rotations against each other as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.faces import Cell
from pe_spectra.models.comparison.divergence import BREAKS, OTHER_LAYERS, Diff, Difference, LayerDiff, Unknown
from pe_spectra.models.rotation import Rotation
from pe_spectra.quantities import Result, quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.wording import conjugate, count, join

VERDICTS = Verdicts({"same": "ok", "same-as-known": "ok", "undecided": "note", "differs": "warning", "breaks": "error"})
#: The parts that frequencies are made of.
_OF_FREQUENCIES = ("base", "scaling", "frequencies")
#: Columns of the parts; the last two are shown on a terminal where they say anything.
_PARTS = ("what", "a", "b", "effect", "first_position", "layers")
#: Parts that a dump of frequencies, or a configuration, does not hold.
_SILENT = ("layout", "attention_scaling", "offset", "dtype")


@dataclass(frozen=True, kw_only=True)
class ComparedSide(Result):
    """One side of a comparison."""

    name: str = quantity("The file as it was named, or the implementation with the version that was read.")
    rotations: tuple[Rotation, ...] = quantity("What it turns the layers of each type by.", key="layer_types")
    notes: tuple[str, ...] = quantity("What was assumed when it was read.", default=(), key=None)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What was asked for, and how it is shown.

    Attributes
    ----------
    length : number of positions to look at.
    trained, served, allocated : the context lengths that were given.
    windows : positions that layers see at once that attend within a window, by layer type.
    full : whether rows are the pairs of all layer types in place of the parts that differ.
    listed : whether parts that a side does not say are rows of their own too, in place of one line for all.
    check : whether a difference fails the run. strict : whether a part that is not known does, too.
    again : the command that gave the answer; empty where it cannot be repeated.
    """

    length: int
    trained: int | None = None
    served: int | None = None
    allocated: int | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    full: bool = False
    listed: bool = False
    check: bool = False
    strict: bool = False
    again: str = ""


@dataclass(frozen=True, kw_only=True)
class DiffBody(Body):
    """Two rotations against each other, part by part."""

    kind = "diff"
    draws = False
    length: int = quantity("Number of positions that were looked at.", minimum=1, asked=True)
    trained: int | None = quantity(
        "Training context length that was given, in positions; null where none was.", minimum=1, asked=True
    )
    served: int | None = quantity(
        "Inference context length that was given, in positions; null where the file's is used.", minimum=1, asked=True
    )
    allocated: int | None = quantity(
        "Allocated context length that was given, in positions; null where none was.", minimum=1, asked=True
    )
    a: ComparedSide = quantity("The first side, A.")
    b: ComparedSide = quantity("The second side, B.")
    diff: Diff = quantity("What differs.", inline=True)


def answer_differences(
    a: ComparedSide, b: ComparedSide, diff: Diff, setting: Setting, *, notes: tuple[str, ...] = (), equal: str = ""
) -> Answer:
    """Turn a comparison of rotations into an answer.

    Parameters
    ----------
    notes : are added to its own. equal : how it is known that all numbers of both are equal; empty where it is not.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> sides = [ComparedSide(name=name, rotations=(one,)) for name, one in (("a", a), ("b", b))]
    >>> answer_differences(*sides, compare_rotations([a], [b], length=10), Setting(length=10)).verdict.code
    'breaks'
    """
    pairs = [pair for layer in diff.layer_types for pair in layer.pairs]
    columns = tabulate(pairs) if setting.full else _list_parts(diff, listed=setting.listed)
    return Answer(
        body=DiffBody(
            length=diff.length,
            trained=setting.trained,
            served=setting.served,
            allocated=setting.allocated,
            a=a,
            b=b,
            diff=diff,
        ),
        verdict=judge_rotations(diff, equal),
        table=columns,
        facts=_list_facts(a, b, diff, setting),
        notes=(*diff.remarks, *_state_open(diff, setting), *notes),
        shown=() if setting.full else _choose_columns(columns),
        next_command=f"{setting.again} --full" if setting.again and diff.differences and not setting.full else "",
        failed=_list_failures(diff, setting),
    )


# --------------------------------------------------------------------- verdicts


def judge_rotations(diff: Diff, equal: str = "") -> Verdict:
    """Say in a sentence what a comparison of rotations comes to: the likely cause first, and from where on it breaks.

    Parameters
    ----------
    equal : how it is known that all numbers of both sides are equal; empty where it is not.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> judge_rotations(compare_rotations([a], [b], length=10)).code
    'breaks'
    """
    if diff.agree is False:
        breaking = [one for one in diff.differences if one.first_position is not None]
        if breaking:
            return VERDICTS.say("breaks", f"{_say_cause(diff)}: breaks from position {_say_break(diff, breaking)}.")
        return VERDICTS.say("differs", f"{_state_difference(diff)}.")
    known = [layer for layer in diff.layer_types if layer.agree]
    if not known:
        return VERDICTS.say("undecided", f"Not decided: {_say_unknown(diff.unknown[0])} ({diff.unknown[0].why}).")
    how = _say_agreement(known, diff)
    if diff.agree:
        return VERDICTS.say("same", f"The same: {how}, and so does every other part.")
    if equal:  # what neither side says is read from the same numbers
        return VERDICTS.say("same-as-known", f"The same: {equal}.")
    parts = ", ".join(dict.fromkeys(one.what.replace("_", " ") for one in diff.unknown))
    return VERDICTS.say("same-as-known", f"The same, as far as is known: {how}; unknown: {parts}.")


def _say_cause(diff: Diff) -> str:
    """The likely cause, with the layers where it explains some alone, as a sentence begins; Different without one.

    Rows that are not those of their positions, and digits that were lost, are their own cause.
    """
    every = {layer.name for layer in diff.layer_types}
    said = [
        one.text
        if every <= set(one.layers) or one.code == OTHER_LAYERS
        else f"in {join(list(one.layers))} layers {one.text}"
        for one in diff.causes
    ]
    others = [one.effect.partition(": ")[0] for one in diff.differences if _tells_cause(one)]
    text = "; ".join(said or others)
    return f"{text[0].upper()}{text[1:]}" if text else "Different"


def _tells_cause(one: Difference) -> bool:
    """Whether it says which rows of a cache stray, or what was rounded, and behind a colon what that does."""
    return one.what in ("rows", "dtype") and one.first_position is not None and ": " in one.effect


def _say_agreement(known: Sequence[LayerDiff], diff: Diff) -> str:
    """How many pairs agree, where that is one number, and in which layers, where of others it is not known."""
    where = "" if len(known) == len(diff.layer_types) else f" in {join([one.name for one in known])} layers"
    numbers = {len(layer.pairs) for layer in known if layer.pairs}
    if not numbers:
        return f"nothing is turned{where}"
    pairs = numbers.pop() if len(numbers) == 1 else 0
    if pairs == 1:
        return f"the frequency of the only pair agrees{where}"
    many = {0: "all", 2: "both"}.get(pairs, f"all {pairs}")
    return f"the frequencies of {many} pairs agree{where}"


def _say_break(diff: Diff, breaking: Sequence[Difference]) -> str:
    """The first position from which on sides break, in which layers, and how."""
    first = min(breaking, key=lambda one: one.first_position or 0)
    begin = f"{first.first_position:,} on"
    layer = next((one for one in diff.layer_types if one.name in first.layers), None)
    if layer is None or layer.breaking_pair is None or layer.first_position_off != first.first_position:
        symptom = first.effect.partition(": ")[2] if _tells_cause(first) and not diff.causes else first.effect
        return f"{begin} ({symptom})"
    begin += f" in {layer.name} layers" if len(diff.layer_types) > 1 else ""
    pair, width = f"pair {layer.breaking_pair}", _find_width(diff, layer)
    slowed = layer.pairs[layer.breaking_pair]
    if slowed.frequency_a is None or slowed.frequency_b is None:
        # at one position the fastest pair is the furthest off
        fastest = ", the fastest of them," if layer.breaking_pair else ""
        return f"{begin} ({width}; {pair}{fastest} is off by more than pi/8)"
    return f"{begin} ({pair} is off by more than pi/8)" + (f"; {width}" if width else "")


def _find_width(diff: Diff, layer: LayerDiff) -> str:
    """What is turned on one side only, in words; empty where nothing is."""
    found = (one.effect for one in diff.differences if one.what == "rotary_dim" and layer.name in one.layers)
    return next(found, "")


def _state_difference(diff: Diff) -> str:
    whats = list(dict.fromkeys(one.what for one in diff.differences))
    names = [what.replace("_", " ") for what in whats]
    first = diff.differences[0]
    if not set(whats) & {*_OF_FREQUENCIES, "rotary_dim", "layer_types"} and all(one.agree for one in diff.layer_types):
        if diff.causes and first.what == "dtype":
            besides = f"; {_say_differ(names[1:])}, too" if names[1:] else ""
            return f"{_say_cause(diff)}: {first.effect.partition(': ')[2]}{besides}"
        return f"Same frequencies; {_say_differ(names)}: {first.effect}"
    errors = [layer.max_phase_error for layer in diff.layer_types if layer.max_phase_error is not None]
    if first.what not in _OF_FREQUENCIES or not errors:
        return f"Different: {first.effect}"
    within = f"no phase is off by more than pi/8 within {count(diff.length, 'position')}"
    widths = dict.fromkeys(one.effect for one in diff.differences if one.what == "rotary_dim")
    said = f" ({'; '.join(widths)})" if widths else ""
    most = f"at most {max(errors):.2g} rad" if max(errors) <= BREAKS else "whole periods taken off"
    return f"{_say_cause(diff)}: {_say_differ(names)}{said}, but {within} ({most})"


def _say_differ(names: Sequence[str]) -> str:
    """That parts differ, by their names."""
    return f"{join(list(names))} {conjugate(names, 'differs', 'differ')}"


def _say_unknown(one: Unknown) -> str:
    return f"{one.what} {conjugate([one.what], 'is', 'are')} unknown"


def _list_failures(diff: Diff, setting: Setting) -> tuple[str, ...]:
    """What fails a check: every part that differs, and where it is strict every part that is not known."""
    found = [_say_differ([one.what]) for one in diff.differences] if setting.check else []
    found += [_say_unknown(one) for one in diff.unknown] if setting.strict else []
    return tuple(dict.fromkeys(found))


def _state_open(diff: Diff, setting: Setting) -> tuple[str, ...]:
    """Say what a check that nothing fails has not seen."""
    if not setting.check or setting.strict or diff.agree is not None:
        return ()
    names = ", ".join(dict.fromkeys(one.what for one in diff.unknown))
    return (f"the check fails only where something is known to differ; unknown: {names}",)


# --------------------------------------------------------------------- rows and facts


def _list_parts(diff: Diff, *, listed: bool) -> Mapping[str, Sequence[Cell]]:
    every = {layer.name for layer in diff.layer_types}
    rows: list[tuple[Cell, ...]] = []
    for one in diff.differences:
        layers = "all" if every <= set(one.layers) else ", ".join(one.layers)
        rows.append((one.what, _write_value(one.a), _write_value(one.b), one.effect, one.first_position, layers))
    differing = {one.what for one in diff.differences}
    for unknown in diff.unknown:
        # of a part that differs, what a side does not say besides would drown the answer
        if unknown.what not in differing and (listed or not _is_silence(unknown)):
            a, b = _write_value(unknown.a, "unknown"), _write_value(unknown.b, "unknown")
            rows.append((unknown.what, a, b, unknown.why, None, "all"))
    return {name: [row[place] for row in rows] for place, name in enumerate(_PARTS)}


def _choose_columns(columns: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    empty = {"first_position": None, "layers": "all"}
    return tuple(name for name in _PARTS if name not in empty or set(columns[name]) - {empty[name]})


def _write_value(value: object, missing: str = "none") -> str:
    """One side's value of a part."""
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return f"pair {value['pair']}: {_write_value(value['frequency'])}"
    return str(value)


def _is_silence(unknown: Unknown) -> bool:
    """Whether a side does not say a part that its kind of file does not hold, which is no news."""
    return unknown.what in _SILENT and unknown.why.count("does not say") == unknown.why.count(";") + 1


def _list_facts(a: ComparedSide, b: ComparedSide, diff: Diff, setting: Setting) -> list[tuple[str, str]]:
    facts = [("A", a.name), ("B", b.name)]
    for layer in diff.layer_types:
        if layer.max_phase_error is not None:
            where = "" if layer.name == "all" else f"{layer.name}: "
            facts.append(("phases", f"{where}{_state_phases(layer, layer.max_phase_error, setting.trained)}"))
    if setting.full:
        facts += [(one.what, one.effect) for one in diff.differences]
    elif not setting.listed:
        facts += _state_silence(a, b, diff)
    return facts


def _state_phases(layer: LayerDiff, largest: float, trained: int | None) -> str:
    first, within = layer.first_position_off, f"within {count(layer.length, 'position')}"
    if first is None:
        return f"off by {largest:.3g} rad at most {within}" if largest else f"equal {within}"
    text = f"off by more than pi/8 from position {first:,} on, by up to {largest:.3g} rad {within}"
    if trained is None:
        return text
    return f"{text}; {'within' if first < trained else 'beyond'} the training context length, {trained:,}"


def _state_silence(a: ComparedSide, b: ComparedSide, diff: Diff) -> list[tuple[str, str]]:
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
