"""Two rotations against each other, part by part: what a port must get right.

Queries and keys are turned alike, so a score depends on the lag tau of two positions by
cos(w tau): frequencies that differ by dw put it off by tau dw, which grows until nothing is left.
A port breaks where a phase is off by more than pi/8. `frequencies` and `conventions` have the parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_CONTEXT
from pe_spectra.models.comparison.conventions import list_convention_differences, list_unknown
from pe_spectra.models.comparison.divergence import PARTS, Diff, Difference, LayerDiff, PairDifference, Unknown
from pe_spectra.models.comparison.frequencies import (
    Sides,
    compare_frequencies,
    list_frequency_differences,
    list_remarks,
)
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import limit_length


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
        compared.append(Sides(a=one, b=other, layer=layer, base_keys=base_keys))
    return _gather(compared, missing, _name_partial_dump(a, b), length)


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


def _gather(compared: list[Sides], missing: list[Difference], dump: str, length: int) -> Diff:
    remarks, unknown = [], []
    # a dump of one layer type says nothing of the others
    matched = [sides for sides in compared if sides.layer.agree] if dump else []
    if matched:
        others = [sides.layer.name for sides in compared if not sides.layer.agree]
        names = ", ".join(sides.layer.name for sides in matched)
        remarks.append(f"{dump} has the frequencies of {names} layers")
        unknown = [
            Unknown(what=f"{name} layers", a=None, b=None, why=f"{dump} is a dump of one layer type") for name in others
        ]
        compared = matched
    layers = tuple(sides.layer for sides in compared)
    merged = _merge([*(one for sides in compared for one in _list_differences(sides)), *missing])
    unclear = tuple(dict.fromkeys([*(one for sides in compared for one in list_unknown(sides)), *unknown]))
    remarks += dict.fromkeys(remark for sides in compared for remark in list_remarks(sides))
    return Diff(
        agree=False if merged else None if unclear else True,
        differences=tuple(_show_pair(one, layers) for one in merged),
        layer_types=layers,
        unknown=unclear,
        length=length,
        remarks=tuple(remarks),
    )


def _list_differences(sides: Sides) -> Iterator[Difference]:
    yield from list_frequency_differences(sides)
    yield from list_convention_differences(sides)


def _merge(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Make one of the differences that several layer types have alike."""
    found: dict[tuple[object, ...], Difference] = {}
    for one in differences:
        key = (one.what, repr(one.a), repr(one.b), one.effect, one.first_position)
        earlier = found.get(key)
        found[key] = replace(earlier, layers=earlier.layers + one.layers) if earlier else one
    return tuple(sorted(found.values(), key=lambda one: PARTS.index(one.what)))


def _show_pair(one: Difference, layers: Sequence[LayerDiff]) -> Difference:
    """Show of frequencies those of the pair that is furthest off, in the first layer type that differs."""
    layer = next((layer for layer in layers if layer.name in one.layers), None)
    if one.what != "frequencies" or layer is None or not layer.pairs:
        return one
    worst = max(layer.pairs, key=lambda pair: (pair.pair == layer.breaking_pair, _measure_distance(pair)))
    a, b = ({"pair": worst.pair, "frequency": value} for value in (worst.frequency_a, worst.frequency_b))
    return replace(one, a=a, b=b)


def _measure_distance(pair: PairDifference) -> float:
    return abs((pair.frequency_a or 0.0) - (pair.frequency_b or 0.0))
