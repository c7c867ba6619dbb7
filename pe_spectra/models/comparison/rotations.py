"""Two rotations against each other, part by part: what a port must get right.

Queries and keys are turned alike, so a score depends on the lag tau of two positions by
cos(w tau): frequencies that differ by dw put it off by tau dw, which grows until nothing is left.
A port breaks where a phase is off by more than pi/8. `parts` has the parts, `effects` the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_CONTEXT
from pe_spectra.models.comparison.differences import (
    BREAKS,
    Diff,
    Difference,
    LayerDiff,
    PairDifference,
    Unknown,
    count_positions,
    find_first_position,
)
from pe_spectra.models.comparison.parts import Parts, compare_frequencies
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import limit_length

__all__ = [
    "BREAKS",
    "Diff",
    "Difference",
    "LayerDiff",
    "PairDifference",
    "Unknown",
    "compare_rotations",
    "find_first_position",
    "state_verdict",
]
#: The order in which differences are listed.
_ORDER = (
    "base",
    "scaling",
    "frequencies",
    "rotary_dim",
    "layout",
    "attention_scaling",
    "offset",
    "dtype",
    "layer_types",
)
#: The parts that frequencies are made of.
_OF_FREQUENCIES = ("base", "scaling", "frequencies")


def compare_rotations(
    a: Sequence[Rotation],
    b: Sequence[Rotation],
    *,
    length: int,
    base_keys: tuple[str, str] = ("", ""),
    windows: Mapping[str, int] = MappingProxyType({}),
) -> Diff:
    """Compare what two sides turn queries and keys by.

    Parameters
    ----------
    a, b : one rotation for each layer type. A side with one is compared with each type of the other.
    length : positions 0 .. length - 1 are looked at; the length that is served.
    base_keys : the keys of the files that the bases come from, for sentences; empty where unknown.
    windows : positions that layers see at once that attend within a window, by layer type.

    Raises
    ------
    InputError : a side without a rotation, or a length out of range.

    >>> import numpy as np
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Rotation(frequencies=np.array([w]), layout="half") for w in (1.0, 1.5))
    >>> found = compare_rotations([a], [b], length=10)
    >>> found.agree, found.layer_types[0].first_position_off  # half a radian is more than pi/8
    (False, 1)
    """
    if not a or not b:
        raise InputError("there is nothing to compare", f"{len(a)} and {len(b)} rotations", "one or more on each side")
    if not 1 <= length <= MAX_CONTEXT:
        raise InputError("length is out of range", str(length), f"1 to {MAX_CONTEXT} is accepted")
    pairs, missing = _pair_layers(a, b)
    compared = []
    for name, one, other in pairs:
        reach = limit_length(length, windows.get(name))
        layer = compare_frequencies(name, one, other, reach)
        compared.append(Parts(a=one, b=other, layer=layer, base_keys=base_keys))
    return _gather(compared, missing, _name_partial_dump(a, b), length)


def state_verdict(diff: Diff) -> tuple[str, str]:
    """Return the code of the answer and the answer.

    Codes: same, same-as-known, undecided, breaks (a phase is off by more than pi/8), differs.

    >>> import numpy as np
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> state_verdict(compare_rotations([a], [b], length=10))
    ('breaks', 'Different: breaks from position 1 on (pair 0 is off by more than pi/8).')
    """
    if diff.agree is False:
        breaking = [one for one in diff.differences if one.first_position is not None]
        if breaking:
            return "breaks", _state_break(diff, min(breaking, key=lambda one: one.first_position or 0))
        return "differs", _state_difference(diff)
    known = [layer for layer in diff.layer_types if layer.agree]
    if not known:
        return "undecided", f"Not decided: {diff.unknown[0].what} is unknown ({diff.unknown[0].why})."
    count = len(known[0].pairs)
    same = (
        f"the frequencies of {'both' if count == 2 else f'all {count}'} pairs agree" if count else "nothing is turned"
    )
    if diff.agree:
        return "same", f"The same: {same}, and so does every other part."
    names = ", ".join(dict.fromkeys(one.what.replace("_", " ") for one in diff.unknown))
    return "same-as-known", f"The same, as far as is known: {same}; unknown: {names}."


def _state_break(diff: Diff, first: Difference) -> str:
    layer = next((one for one in diff.layer_types if one.name in first.layers), None)
    start = f"Different: breaks from position {first.first_position:,} on"
    if layer is None or layer.breaking_pair is None or layer.first_position_off != first.first_position:
        return f"{start} ({first.effect})."
    where = f" in {layer.name} layers" if len(diff.layer_types) > 1 else ""
    pair, width = f"pair {layer.breaking_pair}", _find_width(diff, layer)
    breaking = layer.pairs[layer.breaking_pair]
    if breaking.frequency_a is None or breaking.frequency_b is None:
        # at one position the fastest pair is the furthest off
        fastest = ", the fastest of them," if layer.breaking_pair else ""
        return f"{start}{where} ({width}; {pair}{fastest} is off by more than pi/8)."
    unit = _find_unit(diff)
    return f"{start}{where} ({pair} is off by more than pi/8{unit}){f'; {width}' if width else ''}."


def _find_width(diff: Diff, layer: LayerDiff) -> str:
    """What is turned on one side only, in words; empty where nothing is."""
    found = (one.effect for one in diff.differences if one.what == "rotary_dim" and layer.name in one.layers)
    return next(found, "")


def _find_unit(diff: Diff) -> str:
    """The last clause of an effect, where it says that frequencies look like those of another unit; else empty."""
    found = (one.effect.rpartition("; ") for one in diff.differences if one.what in _OF_FREQUENCIES)
    return next((f"; {last}" for _, _, last in found if last.endswith("?")), "")


def _state_difference(diff: Diff) -> str:
    whats = list(dict.fromkeys(one.what for one in diff.differences))
    names = [what.replace("_", " ") for what in whats]
    first = diff.differences[0]
    if not set(whats) & {*_OF_FREQUENCIES, "rotary_dim", "layer_types"} and all(one.agree for one in diff.layer_types):
        parts = f"{', '.join(names[:-1])} and {names[-1]} differ" if len(names) > 1 else f"{names[0]} differs"
        return f"Same frequencies; {parts}: {first.effect}."
    errors = [layer.max_phase_error for layer in diff.layer_types if layer.max_phase_error is not None]
    if first.what not in _OF_FREQUENCIES or not errors:
        return f"Different: {first.effect}."
    within = f"no phase is off by more than pi/8 within {count_positions(diff.length)}"
    verb = "differ" if len(names) > 1 or names == ["frequencies"] else "differs"
    widths = dict.fromkeys(one.effect for one in diff.differences if one.what == "rotary_dim")
    said = f" ({'; '.join(widths)})" if widths else ""
    return f"Different: {' and '.join(names)} {verb}{said}, but {within} (at most {max(errors):.2g} rad)."


# --------------------------------------------------------------------- layers


def _pair_layers(
    a: Sequence[Rotation], b: Sequence[Rotation]
) -> tuple[list[tuple[str, Rotation, Rotation]], list[Difference]]:
    if len(b) == 1:
        return [(one.name if len(a) > 1 or one.name != "all" else b[0].name, one, b[0]) for one in a], []
    if len(a) == 1:
        return [(other.name, a[0], other) for other in b], []
    ours, theirs = ({one.name: one for one in side} for side in (a, b))
    both = [(name, ours[name], theirs[name]) for name in ours if name in theirs]
    missing = []
    for name in [*(name for name in ours if name not in theirs), *(name for name in theirs if name not in ours)]:
        there, here = ("A", "B") if name in ours else ("B", "A")
        sides = (name, None) if name in ours else (None, name)
        effect = f"{there} has {name} layers of their own and {here} has not"
        missing.append(Difference(what="layer_types", a=sides[0], b=sides[1], effect=effect, layers=(name,)))
    return both, missing


def _name_partial_dump(a: Sequence[Rotation], b: Sequence[Rotation]) -> str:
    """Name the side that is one dump where the other has several layer types."""
    if len(a) > 1 and len(b) == 1 and isinstance(b[0], Dump):
        return "B"
    return "A" if len(b) > 1 and len(a) == 1 and isinstance(a[0], Dump) else ""


def _gather(compared: list[Parts], missing: list[Difference], dump: str, length: int) -> Diff:
    remarks, unknown = [], []
    # a dump of one layer type says nothing of the others
    matched = [parts for parts in compared if parts.layer.agree] if dump else []
    if matched:
        others = [parts.layer.name for parts in compared if not parts.layer.agree]
        names = ", ".join(parts.layer.name for parts in matched)
        remarks.append(f"{dump} has the frequencies of {names} layers")
        unknown = [Unknown(f"{name} layers", None, None, f"{dump} is a dump of one layer type") for name in others]
        compared = matched
    merged = _merge([*(one for parts in compared for one in parts.list_differences()), *missing])
    unclear = tuple(dict.fromkeys([*(one for parts in compared for one in parts.list_unknown()), *unknown]))
    remarks += dict.fromkeys(remark for parts in compared for remark in parts.list_remarks())
    return Diff(
        agree=False if merged else None if unclear else True,
        differences=merged,
        layer_types=tuple(parts.layer for parts in compared),
        unknown=unclear,
        length=length,
        remarks=tuple(remarks),
    )


def _merge(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Make one of the differences that several layer types have alike."""
    found: dict[tuple[object, ...], Difference] = {}
    for one in differences:
        key = (one.what, repr(one.a), repr(one.b), one.effect, one.first_position)
        earlier = found.get(key)
        found[key] = replace(earlier, layers=earlier.layers + one.layers) if earlier else one
    return tuple(sorted(found.values(), key=lambda one: _ORDER.index(one.what)))
