"""What two configurations state of positions that are not turned, and of those beside the part that is audited.

Which schemes they have, and which of their numbers differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pe_spectra.models.comparison.divergence import Diff, Difference, Unknown
from pe_spectra.models.stacks import Refusal, turn_layer
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

_VALUE: Mapping[str, object] = MappingProxyType({"type": ["number", "string", "null"]})
_EMPTY: Mapping[str, object] = MappingProxyType({"type": "array", "items": {"type": "null"}, "maxItems": 0})
#: Schemes of which nothing is learned.
_BY_FORMULA = ("alibi", "sinusoidal", "sine-2d", "none")
#: Encodings that differ in where the ladder of their frequencies ends.
_LADDERS = {"sinusoidal", "tensor2tensor"}
#: What it is that differs, of sines and cosines.
_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "encoding": ", whose ladders of frequencies end elsewhere",
        "layout": ", the order of their columns",
        "offset": ", the number of the first position",
        "scale": ", a factor on all entries",
    }
)


@dataclass(frozen=True, kw_only=True)
class SchemeDifference(Result):
    """One number or word in which two schemes differ."""

    what: str = quantity(
        "Name of the part: scheme, encoding, or a parameter of it; beside what is audited with its place before it."
    )
    a: int | float | str | None = quantity("It in A; null where A does not say.", schema=_VALUE)
    b: int | float | str | None = quantity("It in B; null where B does not say.", schema=_VALUE)
    effect: str = quantity("What the difference is, in one sentence.", column=None)
    first_position: int | None = quantity(
        "Always null: no positions are looked at.", default=None, schema={"type": "null"}
    )
    layers: tuple[str, ...] = quantity("Always empty: all layers have one scheme.", default=(), schema=_EMPTY)


def compare_schemes(a: Configuration, b: Configuration) -> tuple[SchemeDifference, ...]:
    """Compare what two files state of positions that are not turned; nothing where all of it is equal.

    Of two schemes of different kinds that alone is told. What lies beside goes behind, as `compare_beside` has it.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> a, b = (read_configuration({"model_type": "swin", "window_size": m}, "config.json") for m in (7, 12))
    >>> [(one.what, one.a, one.b) for one in compare_schemes(a, b)]
    [('window', 7, 12)]
    """
    found = [*_compare(a, b, "")]
    told = {(one.what, one.a, one.b) for one in found}
    beside = (one for one in compare_beside(a, b) if (one.what.rpartition(" ")[2], one.a, one.b) not in told)
    return (*found, *beside)


def compare_beside(a: Configuration, b: Configuration, *, turned: bool = True) -> tuple[SchemeDifference, ...]:
    """Compare what two files state beside the part that is audited: other parts, other ways of a class, errors.

    A part that only one of them has is no difference: one is then a model of text alone. A way is, in one class.

    Parameters
    ----------
    turned : whether parts that are turned are compared, too.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "clip", "text_config": {}}
    >>> sizes = ({**keys, "vision_config": {"image_size": size}} for size in (224, 336))
    >>> a, b = (read_configuration(config, "config.json") for config in sizes)
    >>> [(one.what, one.a, one.b) for one in compare_beside(a, b)][0]
    ('vision_config rows', 50, 101)
    """
    ours, theirs = (dict(one.list_beside()) for one in (a, b))
    found: list[SchemeDifference] = []
    for place in ours:
        one, other = ours[place], theirs.get(place)
        if other is not None and (turned or not one.scheme == other.scheme == "rotary"):
            found += _compare(one, other, place)
    for letter, has, lacks in (("A", ours, theirs), ("B", theirs, ours)) if a.model == b.model else ():
        for place, one in has.items():
            if place not in lacks and not one.part:
                names = (one.scheme, None) if letter == "A" else (None, one.scheme)
                said = f"{place}: {letter} alone has positions there, {one.scheme}"
                found.append(SchemeDifference(what=f"{place} scheme", a=names[0], b=names[1], effect=said))
    return (*found, *_compare_errors(a, b))


def list_alone(a: Configuration, b: Configuration) -> tuple[str, ...]:
    """Say which parts with positions only one of two files states; they are not compared.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> list_alone(*(read_configuration({"model_type": model}, "config.json") for model in ("llava", "llama")))
    ('A alone states vision_config, which is not compared',)
    """
    from pe_spectra.models.comparison.unread_parts import states_part

    names = [{part.part: part for part in one.parts} for one in (a, b)]
    return tuple(
        f"{letter} alone states {name}, which is not compared"
        for letter, has, lacks in zip("AB", names, reversed(names), strict=True)
        for name in has
        if name not in lacks and not states_part(b if letter == "A" else a, name)
    )


def list_untold(configuration: Configuration) -> tuple[str, ...]:
    """Say of which sinusoids beside the part that is audited it is not known how they are computed.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "seamless_m4t", "t2u_pad_token_id": None}
    >>> list_untold(read_configuration(config, "config.json"))
    ('t2u_model.model.decoder.embed_positions.weights: with this t2u_pad_token_id its class fails',)
    """
    return tuple(f"{place}: {one.untold}" for place, one in configuration.list_beside() if one.untold)


def add_beside(found: Diff, a: Configuration, b: Configuration) -> Diff:
    """Add to a comparison of rotations what two files state of their windows, and of positions beside them.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "clip", "text_config": {}}
    >>> sizes = ({**keys, "vision_config": {"image_size": size}} for size in (224, 336))
    >>> found = Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1)
    >>> added = add_beside(found, *(read_configuration(config, "config.json") for config in sizes))
    >>> added.agree, added.differences[0].effect
    (False, 'vision_config: rows is 50 in A and 101 in B')
    """
    from pe_spectra.models.comparison.unread_parts import list_unread

    beside = compare_beside(a, b, turned=False)
    names = ["errors" if one.what == "errors" else "other_schemes" for one in beside]
    more = [*_compare_windows(a, b), *_compare_places(a, b)]
    more += [
        Difference(what=name, a=one.a, b=one.b, effect=one.effect) for name, one in zip(names, beside, strict=True)
    ]
    said = ((letter, why) for letter, one in (("A", a), ("B", b)) for why in list_untold(one))
    unknown = [Unknown(what="other_schemes", a=None, b=None, why=f"{letter}: {why}") for letter, why in said]
    unknown += list_unread(a, b)
    return replace(_add(found, more, unknown), remarks=(*found.remarks, *list_alone(a, b)))


def add_windows(found: Diff, a: Configuration, b: Configuration) -> Diff:
    """Add to a comparison of rotations how many positions layers see at once on either side.

    >>> layer = LayerStatement(head_dim=64, doubted=4096)
    >>> a, b = (Configuration(path="", scheme="rotary", layers=(one,)) for one in (layer, replace(layer, doubted=None)))
    >>> found = Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1)
    >>> add_windows(found, a, b).unknown[0].why
    'whether A keeps to a window of 4,096 was not measured'
    """
    return _add(found, [*_compare_windows(a, b)], [*_list_doubted(a, b)])


def _add(found: Diff, more: Sequence[Difference], unknown: Sequence[Unknown]) -> Diff:
    return replace(
        found,
        agree=False if more else None if unknown and found.agree else found.agree,
        differences=(*found.differences, *more),
        unknown=(*found.unknown, *unknown),
    )


def _list_doubted(a: Configuration, b: Configuration) -> Iterator[Unknown]:
    """Say of which side it is not known how many positions its layers see at once; alike they contradict nothing."""
    for one, other in zip(a.layers, b.layers, strict=False):
        doubts = {letter: layer.doubted for letter, layer in zip("AB", (one, other), strict=True) if layer.doubted}
        windows = one.window, other.window
        if len(doubts) == 1:
            ((letter, window),) = doubts.items()
            why = f"whether {letter} keeps to a window of {window:,} was not measured"
            yield Unknown(what="window", a=windows[0], b=windows[1], why=why)


def is_learned(configuration: Configuration) -> bool:
    """Whether something of a scheme is in the weights, which its configuration does not tell.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> [is_learned(read_configuration({"model_type": model}, "config.json")) for model in ("bloom", "t5")]
    [False, True]
    """
    return configuration.scheme not in _BY_FORMULA


def _compare_errors(a: Configuration, b: Configuration) -> Iterator[SchemeDifference]:
    """What is wrong with one of two files alone: it does not load or run as the other does."""
    ours, theirs = (dict(_list_errors(one)) for one in (a, b))
    for message in {**ours, **theirs}:
        codes = ours.get(message), theirs.get(message)
        if codes[0] != codes[1]:
            said = f"{'B' if codes[0] is None else 'A'} alone: {message}"
            yield SchemeDifference(what="errors", a=codes[0], b=codes[1], effect=said)


def _list_errors(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Each error by its message, without where a file keeps the part, which another may keep elsewhere."""
    for part in (configuration, *configuration.parts):
        for found in part.findings:
            if found.level == "error":
                yield found.message.replace(f"{part.where}.", "") if part.where else found.message, found.code


def _compare_windows(a: Configuration, b: Configuration) -> Iterator[Difference]:
    """Compare how many positions layers see at once; a side with one type of layer is compared with each type."""
    # a window as long as the context is none
    ours, theirs = (
        {
            layer.name: (layer.window, layer.sides) if (layer.window or 0) < (one.length or math.inf) else (None, None)
            for layer in one.layers
            if layer.doubted is None
        }
        for one in (a, b)
    )
    is_each = min(len(ours), len(theirs)) > 1
    for name in {**ours, **theirs} if is_each else max((ours, theirs), key=lambda one: (len(one), "all" not in one)):
        seen = [next(iter(one.values())) if len(one) == 1 else one.get(name) for one in (ours, theirs)]
        a_sees, b_sees = seen  # types that one side lacks are differences of their own
        if a_sees is not None and b_sees is not None and a_sees != b_sees:
            said = ["all" if size is None else f"{size:,}" for size, _ in (a_sees, b_sees)]
            effect = f"a layer sees {said[0]} positions at once in A and {said[1]} in B"
            if a_sees[1] or b_sees[1]:
                effect = f"a query sees {_say_sides('A', *a_sees)} and {_say_sides('B', *b_sees)}"
            yield Difference(what="window", a=a_sees[0], b=b_sees[0], effect=effect, layers=(name,))


def _say_sides(letter: str, size: int | None, sides: tuple[int, int] | None) -> str:
    if size is None:
        return f"all positions in {letter}"
    before, after = sides or (size - 1, 0)
    return f"{before:,} before it and {after or 'none'} after it in {letter}"


def _compare_places(a: Configuration, b: Configuration) -> Iterator[Difference]:
    """Compare which layers are of which type, or are turned at all, where both files have as many."""
    is_each = min(len(a.layers), len(b.layers)) > 1
    ours, theirs = (
        dict(sorted((place, _name(layer, is_each)) for layer in one.layers for place in layer.places)) for one in (a, b)
    )
    names = [{layer.name for layer in one.layers} for one in (a, b)]
    if ours.keys() != theirs.keys() or (is_each and names[0] != names[1]):  # types of one side are told already
        return
    off = [place for place, name in ours.items() if theirs[place] != name]
    if off:
        first = off[0]
        said = f"layer {first} the first: {ours[first]} in A, {theirs[first]} in B"
        effect = f"{len(off)} of {count(len(ours), 'layer')} {'is' if len(off) == 1 else 'are'} of another type, {said}"
        yield Difference(what="layer_types", a=ours[first], b=theirs[first], effect=effect)


def _name(layer: LayerStatement, is_each: bool) -> str:
    """What a layer is called beside others: its type, or where one side has one type, whether it is turned."""
    turned = "turned" if layer.turns else "not turned"
    return f"{layer.name}, {turned}" if is_each else turned


def _compare(a: Configuration, b: Configuration, place: str) -> Iterator[SchemeDifference]:
    one, other = (_describe(configuration) for configuration in (a, b))
    names = ["scheme"] if one["scheme"] != other["scheme"] else dict.fromkeys((*one, *other))
    encodings = one.get("encoding"), other.get("encoding")
    if encodings[0] != encodings[1]:  # which have parameters of their own
        told = {"encoding", *(one.keys() & other.keys()), *({*a.values, *b.values} if None in encodings else ())}
        names = [name for name in names if name in told]
    elif a.scheme == b.scheme == "sinusoidal":  # keys that move the rows of one class say nothing of another
        alone = ({*a.values} ^ {*b.values}) - {"rows", "unused"}
        names = [name for name in names if name not in alone]
    for name in names:
        values = one.get(name), other.get(name)
        if values[0] != values[1]:
            what = f"{place} {name}".strip()
            effect = (f"{place}: " if place else "") + _say(name, *values)
            yield SchemeDifference(what=what, a=values[0], b=values[1], effect=effect)


def _describe(configuration: Configuration) -> dict[str, int | float | str]:
    from pe_spectra.models.scheme import find_formula

    name, parameters = find_formula(configuration)
    turned = {key: value for layer in configuration.layers for key, value in _describe_layer(configuration, layer)}
    return {
        "scheme": configuration.scheme,
        **({"encoding": name} if name else {}),
        **configuration.values,
        **parameters,
        **turned,
    }


def _describe_layer(configuration: Configuration, layer: LayerStatement) -> Iterator[tuple[str, int | float | str]]:
    """What a type of layers is turned by, as numbers and words."""
    found = turn_layer(configuration, layer) if layer.turns else None
    said: dict[str, Any] = {"rotation": "none"}
    if isinstance(found, Refusal):
        said = {"rotation": found.reason}
    elif found is not None:
        said = {**found.parameters, "layout": found.layout, "coordinates": found.coordinates, "axes": found.axes}
        said |= {} if found.frequencies is None else {"frequencies": ", ".join(f"{w:.6g}" for w in found.frequencies)}
    for name, value in said.items():
        if value is not None:
            yield f"{layer.name}.{name}", value if isinstance(value, int | float) else str(value)


def _say(name: str, a: object, b: object) -> str:
    written = ["not stated" if value is None else str(value) for value in (a, b)]
    meaning = _MEANINGS.get(name, "") if name != "encoding" or {a, b} <= _LADDERS else ""
    return f"{name.replace('_', ' ')} is {written[0]} in A and {written[1]} in B{meaning}"
