"""Two rotations against each other, part by part: what a port must get right.

Queries and keys are turned alike, so a score depends on the lag tau of two positions by
cos(w tau): frequencies that differ by dw put it off by tau dw, which grows until nothing is left.
A port breaks where a phase is off by more than pi/8. `sides` has what both turn by; here is how they
use it (layout, attention scaling, offset, signs, types), and what one side does not say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_CONTEXT
from pe_spectra.models.comparison.divergence import (
    OTHER_LAYERS,
    PARTS,
    Cause,
    Diff,
    Difference,
    Unknown,
    compare_frequencies,
)
from pe_spectra.models.comparison.sides import Sides
from pe_spectra.models.comparison.silence import list_unknown, name_cosine_dtype
from pe_spectra.models.rotation import Rotation, is_dump
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.models.dumps.dump import Dump

#: Axes of the first pairs that are shown.
_SHOWN_AXES = 6
#: Parameters by which a side states its factor on scores.
_OF_SCORES = ("attention_factor", "mscale", "mscale_all_dim")
#: Parts that are a word or a formula of each side, and what another one does.
_EFFECTS = {
    "coordinates": "the angle between neighbours is another one, and follows the number of patches where it has a span",
    "indexer_layout": "the indexer pairs other channels, so it selects other keys; transformers takes what its class "
    "has",
    "query_scale": "queries, and so scores, have another factor that goes by their position",
    "dual_chunk": "queries meet keys of other chunks at other distances, where attention is in chunks",
}
#: Scores stay where q and k turn alike, and nothing else does.
_SCORES_STAY = "so scores stay, but turned keys of one cannot be used with the other"


def compare_rotations(
    a: Sequence[Rotation],
    b: Sequence[Rotation],
    *,
    length: int,
    windows: Mapping[str, int] = MappingProxyType({}),
    served: int | None = None,
) -> Diff:
    """Compare what two sides turn queries and keys by.

    Parameters
    ----------
    a, b : one rotation for each layer type. A side with one is compared with each type of the other.
    length : positions 0 .. length - 1 are looked at; the length that is served.
    windows : positions that layers see at once that attend within a window, by layer type.
    served : positions that a cache must have; None where nobody says how many are served.

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
        layer = compare_frequencies(name, one, other, min(length, windows.get(name, length)))
        compared.append(Sides(a=one, b=other, layer=layer))
    of_one = len(a) == 1 or len(b) == 1
    compared, remarks, unknown = _leave_other_layers(compared) if of_one else (compared, [], [])
    found = [one for sides in compared for one in (*_list_differences(sides), *_compare_rows(sides, served, length))]
    merged = _merge([*found, *missing])
    unclear = tuple(dict.fromkeys([*(one for sides in compared for one in list_unknown(sides)), *unknown]))
    remarks += dict.fromkeys(remark for sides in compared for remark in sides.list_remarks())
    causes = [cause for sides in compared for cause in [_find_cause(sides, a, b)] if cause is not None]
    return Diff(
        causes=_gather(causes),
        agree=False if merged else None if unclear else True,
        differences=merged,
        layer_types=tuple(sides.layer for sides in compared),
        unknown=unclear,
        length=length,
        remarks=tuple(remarks),
    )


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
    for name in {**ours, **theirs}:
        a_has, b_has = (name if name in side else None for side in (ours, theirs))
        if a_has is None or b_has is None:
            there, here = ("A", "B") if a_has else ("B", "A")
            effect = f"{there} has {name} layers of their own and {here} has not"
            missing.append(Difference(what="layer_types", a=a_has, b=b_has, effect=effect, layers=(name,)))
    return both, missing


def _leave_other_layers(compared: list[Sides]) -> tuple[list[Sides], list[str], list[Unknown]]:
    """Leave out the layer types that a dump of one does not show; return what to remark, and what is unknown."""
    matched = [sides for sides in compared if sides.layer.agree]
    if len(compared) < 2 or not matched or not compared[0].dumps:
        return compared, [], []
    dump = next(iter(compared[0].dumps))
    others = [sides.layer.name for sides in compared if not sides.layer.agree]
    names = ", ".join(sides.layer.name for sides in matched)
    why = f"{dump} is a dump of one layer type"
    unknown = [Unknown(what=f"{name} layers", a=None, b=None, why=why) for name in others]
    return matched, [f"{dump} has the frequencies of {names} layers"], unknown


def _find_cause(sides: Sides, a: Sequence[Rotation], b: Sequence[Rotation]) -> Cause | None:
    """Name the likely cause why frequencies differ: first, that layers have what others of the other side have."""
    if sides.layer.agree is False:
        for here, there, ours, theirs in (("A", "B", a, sides.b), ("B", "A", b, sides.a)):
            others = [one for one in ours if one.name != sides.layer.name and len(ours) > 1]
            part = sides.layer.name.rpartition(".")[0]
            alike = [one.name for one in others if one.name.rpartition(".")[0] == part and not _differ(one, theirs)]
            if alike and not is_dump(theirs):
                text = f"{sides.layer.name} layers of {there} have what {alike[0]} layers of {here} have"
                return Cause(code=OTHER_LAYERS, text=text, layers=(sides.layer.name,))
    return sides.find_cause()


def _differ(a: Rotation, b: Rotation) -> bool:
    return compare_frequencies("all", a, b, 1).agree is not True


def _gather(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Make one of the causes that several layer types have alike."""
    found: dict[str, Cause] = {}
    for one in causes:
        earlier = found.get(one.text)
        found[one.text] = replace(earlier, layers=earlier.layers + one.layers) if earlier else one
    return tuple(found.values())


def _merge(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Make one of the differences that several layer types have alike, with the pair of the first of them."""
    found: dict[tuple[object, ...], Difference] = {}
    for one in differences:
        values = () if one.what == "frequencies" else (repr(one.a), repr(one.b))
        key = (one.what, *values, one.effect, one.first_position)
        earlier = found.get(key)
        found[key] = replace(earlier, layers=earlier.layers + one.layers) if earlier else one
    return tuple(sorted(found.values(), key=lambda one: PARTS.index(one.what)))


# --------------------------------------------------------------------- the parts beside frequencies


def _list_differences(sides: Sides) -> Iterator[Difference]:
    """List the parts that differ."""
    yield from sides.list_frequency_differences()
    a, b = sides.a, sides.b
    if a.layout and b.layout and a.layout != b.layout and (a.rotary_dim or 4) > 2:
        half = f"(i, i + {a.rotary_dim // 2})" if a.rotary_dim else "(i, i + D/2)"
        one, other = ({"half": half, "interleaved": "(2i, 2i + 1)"}[layout] for layout in (a.layout, b.layout))
        yield sides.make(
            "layout", a.layout, b.layout, f"permute the rows of q and k: pairs are {one} in A, {other} in B"
        )
    yield from _compare_repeats(sides)
    yield from _compare_axes(sides)
    if a.attention_scaling is not None and b.attention_scaling is not None:
        allowed = _bound_attention(a) + _bound_attention(b)
        if abs(a.attention_scaling - b.attention_scaling) > allowed * abs(a.attention_scaling):
            ratio = b.attention_scaling / a.attention_scaling
            effect = f"scores in B are {ratio * ratio:.6g} times those in A, the square of {ratio:.6g}"
            effect += _recognise_factor(sides, allowed)
            yield sides.make("attention_scaling", a.attention_scaling, b.attention_scaling, effect)
    for part, effect in _EFFECTS.items():
        one, other = getattr(a, part), getattr(b, part)
        if one and other and one != other:
            yield sides.make(part, one, other, effect)
    if a.offset is not None and b.offset is not None and a.offset != b.offset:
        shift = f"positions of B are shifted by {b.offset - a.offset:+d} against A"
        yield sides.make("offset", a.offset, b.offset, f"{shift}; q and k shift alike, {_SCORES_STAY}")
    if sides.caches:
        yield from _compare_signs(sides, *sides.caches)
    else:
        for letter, side in sides.dumps.items():
            if side.backward:
                shown = ["sines negated" if letter == one else None for one in "AB"]
                yield sides.make("layout", shown[0], shown[1], _state_opposite(letter))
    yield from _compare_types(sides)


def _compare_repeats(sides: Sides) -> Iterator[Difference]:
    """List another order in which what two modules gave has each pair twice."""
    one, other = (side.repeats if is_dump(side) else None for side in (sides.a, sides.b))
    if one and other and one != other:
        orders = {"half": "half a row later", "interleaved": "beside itself"}
        shown = f"each value stands again {orders[one]} in rows of A, {orders[other]} in rows of B"
        yield sides.make("layout", one, other, f"{shown}; code for the one pairs other channels with the other")


def _compare_axes(sides: Sides) -> Iterator[Difference]:
    """List other axes of positions where both sides have several."""
    a, b = sides.a, sides.b
    if a.axes and b.axes and a.axes != b.axes and len(a.axes) == len(b.axes):
        off = [pair for pair, (one, other) in enumerate(zip(a.axes, b.axes, strict=True)) if one != other]
        pairs = f"{count(len(off), 'pair')} of {len(a.axes)}, the first is {off[0]},"
        effect = f"{pairs} turn by another axis of the position"
        if 2 * len(a.axes) == a.rotary_dim:  # one ladder, as in models of text that see pictures, too
            effect += "; positions of text alone have one on all axes"
        yield sides.make("axes", _write_axes(a.axes), _write_axes(b.axes), effect)


def _write_axes(axes: Sequence[int]) -> str:
    """How many pairs each axis turns, and the axes of the first pairs."""
    sizes = "+".join(str(axes.count(axis)) for axis in range(max(axes) + 1))
    return f"{sizes}: {', '.join(map(str, axes[:_SHOWN_AXES]))}, .."


def _recognise_factor(sides: Sides, allowed: float) -> str:
    """Say that an attention scaling is left out, or there twice, as a clause; empty where neither, or as stated."""
    a, b = (side.attention_scaling or 1.0 for side in (sides.a, sides.b))
    faulty = [("B", a, b), ("A", b, a)]
    if [*sides.dumps] == ["A"]:  # the fault is in what was computed
        faulty.reverse()
    for letter, right, found in faulty:
        side = sides.a if letter == "A" else sides.b
        if not is_dump(side) and any(side.options.get(name) is not None for name in _OF_SCORES):
            continue
        # a product of floats has no end at which Python raises an error, as a power has
        for other, words in ((1.0, "dropped"), (right * right, "there twice"), (1 / right, "inverted")):
            if abs(found - other) <= 2 * allowed * found:
                return f": it is {words} in {letter}"
    return ""


def _bound_attention(rotation: Rotation) -> float:
    if not is_dump(rotation):
        return 1e-12
    from pe_spectra.models.dumps.storing import ROUNDOFF

    unit = ROUNDOFF.get(rotation.dtype or "")
    return 1e-12 if unit is None or rotation.dtype == "float64" else unit + 2e-7


def _compare_signs(sides: Sides, a: Dump, b: Dump) -> Iterator[Difference]:
    """List the signs of sines and cosines that differ between two caches."""
    if a.backward != b.backward:
        shown = ["sines negated" if side.backward else "sines as they are" for side in (a, b)]
        yield sides.make("layout", shown[0], shown[1], _state_opposite("A" if a.backward else "B"))
    if a.half_turn != b.half_turn:
        ahead = f"every phase of {'A' if a.half_turn else 'B'} is half a period ahead"
        yield sides.make("offset", a.offset, b.offset, f"{ahead}; q and k turn alike, {_SCORES_STAY}")


def _state_opposite(letter: str) -> str:
    said = "right only where its rotation takes them so, or swaps each pair of channels"
    return f"all sines of {letter} have the opposite sign: {said}"


def _compare_rows(sides: Sides, served: int | None, length: int) -> Iterator[Difference]:
    """List a cache whose rows are not those of their positions up to the length, or that ends before what is served."""
    for letter, side in sides.dumps.items():
        if side.strayed is not None and side.strayed.first < length:
            shown = [f"right up to {side.strayed.first - 1}" if one == letter else None for one in "AB"]
            effect = f"{side.strayed.say(letter)}: phases are off by up to {side.phase_error or 0:.2g} rad"
            yield sides.make("rows", shown[0], shown[1], effect, side.first_row_off)
        if served is not None and side.rows is not None and side.rows < min(served, sides.layer.length):
            effect = (
                f"{letter} ends after {side.rows:,} rows, and {served:,} positions are served; --served {side.rows} "
                "looks at those alone"
            )
            rows = [side.rows if one == letter else None for one in "AB"]
            yield sides.make("rows", rows[0], rows[1], effect)


def _compare_types(sides: Sides) -> Iterator[Difference]:
    """List what differs of the types that frequencies, angles, and cosines and sines were computed in."""
    layer = sides.layer
    rounded = [side.frequency_dtype if is_dump(side) else None for side in (sides.a, sides.b)]
    if sides.rounded:
        letter, name = sides.rounded
        off = f"a phase is off by {layer.max_phase_error or 0.0:.2g} rad at {layer.length - 1:,}"
        shown = [name or "not rounded" for name in rounded]
        effect = f"frequencies of {letter} are rounded to {name}: {off}"
        yield sides.make("dtype", shown[0], shown[1], effect, layer.first_position_off)
        return
    for letter, side in sides.dumps.items():
        if side.imprecise and side.strayed is None:
            error = f"{side.phase_error or 0:.2g} rad"
            shown = [f"phases off by {error}" if one == letter else "even phases" for one in "AB"]
            effect = f"phases of {letter} are off by up to {error}, more than storing explains"
            off = f"phases are off by up to {error}"
            if side.angles_rounded:
                effect = f"the angles of {letter} were computed in too few digits: {off}"
            if side.position_dtype is not None:
                from pe_spectra.precision.dtypes import DTYPES

                first = 2 ** DTYPES[side.position_dtype].digits
                merged = f"{first:,} and {first + 1:,} are one"
                effect = f"positions of {letter} were rounded to {side.position_dtype}, so that {merged}: {off}"
            yield sides.make("dtype", shown[0], shown[1], effect, side.first_row_off)
    stored = name_cosine_dtype(sides.a), name_cosine_dtype(sides.b)
    if stored[0] and stored[1] and stored[0] != stored[1]:
        from pe_spectra.models.dumps.storing import ROUNDOFF

        units = [ROUNDOFF.get(name, math.nan) for name in (stored[0], stored[1])]
        effect = f"cosines and sines are rounded by up to {units[0]:.1g} in A and {units[1]:.1g} in B"
        yield sides.make("dtype", stored[0], stored[1], effect)
