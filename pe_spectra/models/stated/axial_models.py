"""Models that turn a part of each head by each axis: transformers of diffusers, architectures of timm.

What each class has is measured: tests/reference/diffusers/generate.py and tests/reference/timm/generate.py build it and
its rotary module, and `pe_spectra.models.measured` has what they found: which keys give the widths of the axes and the
base, where no key does the number, how channels are paired, what coordinates are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.findings import Kind
from pe_spectra.limits import MAX_HEAD_WIDTH
from pe_spectra.models.stated.keys import HEAD_WIDTH, Keys
from pe_spectra.models.stated.known_models import read_measured
from pe_spectra.models.stated.position_axes import list_axes, tell_span
from pe_spectra.models.stated.statement import MARKS, Configuration, LayerStatement, RotaryBlock
from pe_spectra.records import NamedTuple
from pe_spectra.wording import join, write_number

#: The releases that were measured.
DIFFUSERS, TIMM = "0.42.1", "1.0.31"
#: By the format of a file: the table, and what its classes are called.
_TABLES = {"diffusers": (f"diffusers-{DIFFUSERS}", "class"), "timm": (f"timm-{TIMM}", "architecture")}
_WIDTHS = f"even widths from 2 to {MAX_HEAD_WIDTH}"
_WITHIN = "half of each axis"
_SEVERAL_AXES = Kind(
    code="several-axes",
    levels=("note",),
    phrase="a part of each head is turned by each axis of a position",
    reasoning="Models of pictures and of videos give each axis of a patch's place a part of a head, with a ladder of "
    "its own. The same numbers in another order, or other widths of the parts, are another model of the same shapes. "
    "What is listed in place of types of layers are the axes.",
    formula="pair to axis, as measured in the rotary module that the class makes; where nothing else is said, "
    "coordinates are those that the module is given, or count patches from 0",
    references=(f"huggingface/diffusers {DIFFUSERS}, src/diffusers/models", f"huggingface/timm {TIMM}, timm/layers"),
)


class _KeyedValue(NamedTuple):
    """A number or a list, and the key that gives it; "" where it stands in the code."""

    value: Any
    key: str


def read_axial(config: Mapping[str, Any], path: str) -> Configuration:
    """Read what a file states about the axes of a model, one layer for each axis.

    Parameters
    ----------
    config : the object of the file, with one of `MARKS`. path : the file, for messages.

    Raises
    ------
    FileError : a class that is not known or has no rotary module, a key of the wrong type or out of range, or an axis
        of an odd width.

    >>> stated = read_axial({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56]}, "config.json")
    >>> [(layer.name, layer.head_dim * layer.share) for layer in stated.layers]
    [('axis-0', 16.0), ('axis-1', 56.0), ('axis-2', 56.0)]
    """
    marker = next(key for key in MARKS if isinstance(config.get(key), str))
    form = MARKS[marker]
    table, what = _TABLES[form]
    model, found = config[marker], read_measured(table)
    entry = found["classes"].get(model)
    if entry is None:
        why = f"is no {what} of {form} {found['version']} whose rotation was measured"
        if model in found.get("without", ()):
            why = (
                f"makes no rotary module in {form} {found['version']}; what else it has for positions is not known here"
            )
        elif model in found.get("learned", ()):
            why = f"turns by learned frequencies of both axes ({form} {found['version']}), which are in its weights"
        raise FileError(path, f"names no rotation: {shorten(model)} {why}")
    keys = Keys(config, path)
    layers = _read_sections(keys, entry) if "sections" in entry else _read_axes(keys, entry)
    _report_axes(keys, entry, layers)
    return Configuration(
        path=path,
        format=form,
        model=model,
        scheme="rotary",
        layers=layers,
        axes=tuple(entry["axes"]),
        findings=tuple(keys.findings),
    )


def _read_axes(keys: Keys, entry: Mapping[str, Any]) -> tuple[LayerStatement, ...]:
    """One statement for each axis, whose share of a head it turns."""
    head, widths = _read_widths(keys, entry)
    factors = _read_list(keys, entry["factors"]) if "factors" in entry else _KeyedValue((1.0,) * len(widths.value), "")
    base = _read_base(keys, entry)
    axes = list_axes([width // 2 for width in widths.value], "blocks", head.value // 2)
    if entry.get("order") == "turns":
        axes = tuple(pair % len(entry["axes"]) for pair in range(len(axes)))
    found = []
    for name, width, factor in zip(entry["axes"], widths.value, factors.value, strict=True):
        whole = width if entry["layout"] == _WITHIN else head.value
        block = RotaryBlock(
            where=factors.key if factor != 1 else "",
            kind="ntk" if factor != 1 else "default",
            base=base.value,
            base_key=base.key,
            values=MappingProxyType({"factor": factor} if factor != 1 else {}),
        )
        found.append(
            LayerStatement(
                name=name,
                head_dim=whole,
                share=_find_share(width, whole),
                layout="interleaved" if entry["layout"] == "interleaved" else "half",
                axes=axes if len(entry["axes"]) > 1 else None,
                coordinates=_tell_coordinates(entry),
                older=block,
                width_key=head.key,
                share_key=widths.key,
            )
        )
    return tuple(found)


def _read_sections(keys: Keys, entry: Mapping[str, Any]) -> tuple[LayerStatement, ...]:
    """One statement: a ladder of the whole head, of which axes take pairs in turns."""
    head, base, sections = _read_one(keys, entry["head"]), _read_base(keys, entry), _read_list(keys, entry["sections"])
    if head.value % 2 or head.value > MAX_HEAD_WIDTH:
        keys.refuse(head.key, f"{_WIDTHS} are accepted")
    axes = list_axes([int(one) for one in sections.value], "turns", head.value // 2)
    block = RotaryBlock(where="", base=base.value, base_key=base.key)
    return (LayerStatement(head_dim=head.value, axes=axes, older=block, width_key=head.key),)


def _read_widths(keys: Keys, entry: Mapping[str, Any]) -> tuple[_KeyedValue, _KeyedValue]:
    """The width of a head and those of the axes in it."""
    head = _read_one(keys, entry["head"]) if "head" in entry else None
    if "parts" in entry and head is not None:
        shares = [None if part is None else part[0] * (head.value // part[1]) for part in entry["parts"]]
        rest = head.value - sum(one or 0 for one in shares)
        widths = _KeyedValue([rest if one is None else one for one in shares], head.key)
    else:
        listed = _read_list(keys, entry["widths"])
        widths = _KeyedValue([int(one) if one.is_integer() else one for one in map(float, listed.value)], listed.key)
        _check_sum(keys, entry, head, widths)
    if any(width < 2 or width % 2 or width > MAX_HEAD_WIDTH for width in widths.value):
        shown = ", ".join(map(write_number, widths.value))
        keys.refuse(widths.key, f"{_WIDTHS} are accepted for axes, not {shown}")
    total = sum(widths.value)
    whole = head if head is not None and head.value >= total else _KeyedValue(total, widths.key)
    if whole.value > MAX_HEAD_WIDTH:
        keys.refuse(whole.key, f"{_WIDTHS} are accepted")
    return whole, widths


def _tell_coordinates(entry: Mapping[str, Any]) -> str | None:
    """Say what coordinates are; None where a pipeline hands them to the module."""
    if "span" in entry or "resized" in entry:
        return f"span {' x '.join(map(write_number, entry.get('resized', [entry.get('span')])))}"
    return None if entry["axes"][0].startswith("axis-") else "counted"


def _check_sum(keys: Keys, entry: Mapping[str, Any], head: _KeyedValue | None, widths: _KeyedValue) -> None:
    """Report widths that do not add up to a head, where those of the class do."""
    total = sum(widths.value)
    if head is None or total == head.value or sum(entry["widths"][1]) != entry["head"][1]:
        return
    message = f"{widths.key} adds up to {total} channels, but a head has {head.value} ({head.key})"
    keys.report(HEAD_WIDTH, message, widths=widths.value, head=head.value)


def _find_share(width: int, head: int) -> float:
    """The share of a head that is a width again when it is taken of it and rounded down."""
    share = width / head
    return share if int(head * share) == width else (width + 0.5) / head


def _read_base(keys: Keys, entry: Mapping[str, Any]) -> _KeyedValue:
    if not isinstance(entry["base"], list):
        return _KeyedValue(float(entry["base"]), "")
    key, default = entry["base"]
    stated = keys.find_number(key)
    return _KeyedValue(default, "") if stated is None else _KeyedValue(stated, key)


def _read_one(keys: Keys, law: Sequence[Any]) -> _KeyedValue:
    """A width, or a width over the number of heads."""
    key, default, *count = law
    value = keys.find_integer(key) or default
    if not count:
        return _KeyedValue(value, key)
    heads = keys.find_integer(count[0]) or count[1]
    if value < heads:
        keys.refuse(key, f"a number from that of the heads, {heads}, is accepted")
    return _KeyedValue(value // heads, f"{key} / {count[0]}")


def _read_list(keys: Keys, law: Sequence[Any]) -> _KeyedValue:
    """A list with a number for each axis."""
    key, default = law
    values = keys.find_numbers(key)
    if values is not None and len(values) != len(default):
        keys.refuse(key, f"a list of {len(default)} numbers, one for each axis, is accepted")
    return _KeyedValue(default if values is None else values, key)


def _report_axes(keys: Keys, entry: Mapping[str, Any], layers: Sequence[LayerStatement]) -> None:
    """Say which pairs each axis turns, and what coordinates are where they count no patches."""
    axes = layers[0].axes
    if axes is None:
        return
    names = entry["axes"]
    if entry.get("order") == "turns" or "sections" in entry:
        shown = [f"{name} {axes.count(axis)}" for axis, name in enumerate(names)]
        place = f"axes take the pairs of a head in turns: {join(shown)} of {len(axes)}"
    else:
        ends = [(axes.index(axis), axes.index(axis) + int(layer.head_dim * layer.share) // 2 - 1, layer.name)
                for axis, layer in enumerate(layers)]  # fmt: skip
        place = f"of the pairs of a head {join([f'{name} turns {first} to {last}' for first, last, name in ends])}"
    place += "; an axis pairs the halves of its own part" if entry["layout"] == _WITHIN else ""
    if "span" in entry:
        place += f"; {tell_span(entry['span'])}"
    if "resized" in entry:
        sizes = " x ".join(map(write_number, entry["resized"]))
        place += f"; coordinates are scaled: every picture has those of {sizes} patches"
    keys.report(_SEVERAL_AXES, place, axes=list(names), map=list(axes), span=entry.get("span"))
