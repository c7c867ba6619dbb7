"""What the class of a model refuses to be made of: values of keys, of blocks and of lists that nothing else reads.

Which values each class refuses is measured: tests/reference/transformers/fields.py gives each class of a release one
at a time, and `pe_spectra.models.measured` has what was refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pe_spectra.errors import shorten
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import HEADS, SHARES, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_composite, find_looked_at
from pe_spectra.models.stated.statement import NEWEST, ORIGINAL, TRANSFORMERS, WITH_ORIGINAL
from pe_spectra.wording import count

VALUE_REFUSED = Kind(
    code="value-refused",
    levels=("error",),
    phrase="the model's class refuses a value",
    reasoning="Each class checks the types of its keys when it is made, and its rotary modules and attention compute "
    "with what they are given: null where a number is needed, a text, a type of layer that there is not. The file "
    "cannot be loaded, whether the key decides the rotation or not. Classes differ, so what each refuses is "
    "measured.",
    formula="a key of a type, or null, that the class of this model_type refused when it was given; a rope_type that "
    "it has not; rope_theta or a number of the scaling that is null; a block that the class does not use and that "
    "lacks a key of its scaling; layer_types of other names, or not as many as num_hidden_layers; head_dim null "
    "under a scaling that divides nothing for it; heads that do not divide the width, or that the heads of keys do "
    "not divide; a width that other parts of the model do not have; a part that is no object; a scaling without the "
    "length before it where the class needs that",
    references=(TRANSFORMERS,),
)
NOT_BUILT = Kind(
    code="not-built",
    levels=("error",),
    phrase="the model's class refuses the file",
    reasoning="Each class checks its configuration when it is made. What it raises an error for cannot be loaded, "
    "whatever the other keys are. What each class of a release refuses is measured by building it.",
    formula="a rotary block lacks a key, or a type of layer, that the class of this model_type needs, or has a "
    "rope_type that it refuses although it turns nothing by it; layers slide without sliding_window, which it needs",
    references=(TRANSFORMERS,),
)
#: Heads of at most so many channels may be odd.
TINY = 4
#: What the tables call values by their type.
TYPES = {type(None): "null", bool: "true", list: "list", dict: "list", str: "text", float: "real", int: "integer"}
#: What is wrong with a key: its name, and the verb with what follows.
_Refused = tuple[str, str]


def report_refused(keys: Keys, known: KnownModel, *, is_turned: bool = True) -> None:
    """Report each value that the class of a model refuses, whether it turns anything by these keys or not.

    Parameters
    ----------
    is_turned : whether it does; one that turns nothing without a switch was asked with it, and without.

    >>> keys = Keys({"head_dim": None, "rope_scaling": {"rope_type": None}}, "config.json")
    >>> report_refused(keys, KnownModel(model="mistral", part_model="mistral", is_known=True))
    >>> [found.data["key"] for found in keys.findings]
    ['rope_scaling.rope_type']
    """
    table = keys.refusals
    own = table["classes"].get(known.part_model, {})
    if not is_turned:
        own = own.get("unturned", {})
        known = KnownModel(
            model=known.model, reads_blocks=False, divides=known.divides, hidden=known.hidden, heads=known.heads
        )
    found = [*_find_names(keys, known)] if known.refuses_type or known.needs_block else []
    if own:
        found += _find_values(keys, own, table["keys"])
        if isinstance(keys.found.get("layer_types"), list):
            found += _find_layers(keys, own)
        if own.keys() & {"fewer", "fits", "groups", "window_needs"}:
            found += _find_numbers(keys, known, own)
        if own.get("odd") or own.get("odd_head") or known.divides:
            found += _find_widths(keys, known, own)
        if keys.found.keys() & {"rope_parameters", "rope_scaling", "head_dim"}:
            found += _find_in_blocks(keys, known, own)
    if known.model in table["shared"] and not keys.where:
        found += _find_shared(keys, table["shared"][known.model])
    for key, why in dict.fromkeys(found):
        _report(keys, key, why, known.model)


def load_refusals(keys: Keys, known: KnownModel) -> Mapping[str, Any]:
    """Return what was measured of the values that a class refuses; empty where it was not asked.

    >>> load_refusals(Keys({}, "config.json"), KnownModel(part_model="modernbert"))["only_labels"]
    True
    """
    found: Mapping[str, Any] = keys.refusals["classes"].get(known.part_model, {})
    return found


def report_shared(whole: Keys) -> None:
    """Report of a model of several parts one that is no object, and a width that others must have, or divide.

    >>> whole = {"model_type": "granite_docling", "text_config": {"hidden_size": 512}}
    >>> report_shared(keys := Keys(whole, "config.json"))
    >>> keys.findings[0].data["key"]
    'text_config.hidden_size'
    """
    model = str(whole.found.get("model_type"))
    # of an older release it is not measured what its classes make of a part that is no object
    parts = find_composite(model) if whole.release == NEWEST else {}
    for key, value in [(key, whole.found[key]) for key in parts if key in whole.found]:
        if not (value is None or isinstance(value, Mapping)):
            _report(whole, key, f"{tell_value(value)}, no object", model)
    shared = whole.refusals["shared"].get(model)
    for key, why in _find_shared(whole, shared) if shared else ():
        _report(whole, key, why, model)


def _find_shared(whole: Keys, shared: Mapping[str, Any]) -> Iterator[_Refused]:
    """The width of a model where other keys must be equal to it, or divide it, and are not or do not."""
    width, own = _tell_width(whole, shared["width"], shared["value"])
    for place in shared.get("equal", ()):
        other, told = _tell_width(whole, place, shared["value"])
        if other != width:
            yield shared["width"], f"is {own}, and {place} is {told}"
    for place in shared.get("divides", ()):
        other, told = _tell_width(whole, place, shared["value"])
        if other and width % other:
            yield shared["width"], f"is {own}, no multiple of {place}, which is {told}"


def _tell_width(whole: Keys, place: str, usual: int) -> tuple[int, str]:
    """The width at a path of keys, or that of the class, and how a message tells it."""
    found = find_at(whole.found, *place.split("."))
    return (found, str(found)) if isinstance(found, int) else (usual, f"{usual} by default")


def _find_names(keys: Keys, known: KnownModel) -> Iterator[_Refused]:
    """A block that names its scaling by the older key alone, where the class refuses that."""
    block = keys.find_object("rope_scaling")
    if known.refuses_type and "rope_type" not in block.found and "type" in block.found:
        yield "rope_scaling", "has type in place of rope_type"
    if known.needs_block and "rope_scaling" not in keys:
        yield "rope_scaling", "is not set"


def _report(keys: Keys, key: str, why: str, model: str) -> None:
    place = key if key.startswith(keys.where) else f"{keys.where}{key}"
    keys.report_refused(VALUE_REFUSED, place, why, model)


def tell_value(value: object) -> str:
    """Say what a value of a key is.

    >>> tell_value(None), tell_value("x")
    ('is null', "is 'x'")
    """
    return "is null" if value is None else f"is {shorten(repr(value))}"


def _find_values(keys: Keys, own: Mapping[str, Any], letters: Mapping[str, str]) -> Iterator[_Refused]:
    """Keys of a type that the class refuses, and those that it is not built without."""
    layers = keys.found.get("num_hidden_layers")
    needed = [key for key in own.get("needed", ()) if key not in keys.found]
    for key in needed:
        if not (key == "layer_types" and isinstance(layers, int) and layers < 1):  # it is looked at for each layer
            yield key, "is not set"
    for letter, key in letters.items():
        if key not in keys.found:
            continue
        value = keys.found[key]
        is_listed = key == "layer_types" and isinstance(value, list)  # of which more is said
        is_listed = is_listed or (key == "rope_scaling" and (not value or isinstance(value, Mapping)))
        is_closed = letter in own.get("closed", "")
        kinds = TYPES.get(type(value), ""), "negative" if type(value) is int and value < 0 else ""
        is_refused = any(letter in own.get(kind, "") for kind in kinds) and not is_listed
        if not (is_closed or is_refused):
            continue
        is_inside = key == ORIGINAL or (key == "rope_theta" and not own.get("beside"))
        if is_inside and keys.has_any("rope_parameters", "rope_scaling"):
            continue  # of what a block has itself this is said there
        yield key, "is computed by the class and cannot be set" if is_closed else tell_value(value)


def _find_layers(keys: Keys, own: Mapping[str, Any]) -> Iterator[_Refused]:
    """Types of layers that there are not, or of another number than the layers."""
    listed, layers = keys.found["layer_types"], keys.found.get("num_hidden_layers", own.get("layers"))
    if layers is None or any(name in listed for name in own.get("written", ())):
        return  # of a class that counts none, or as the class writes them, with more than one for a layer
    types = own.get("types") or keys.refusals["layer_types"]
    other = next((name for name in listed if name not in types), "")
    if own.get("names") and other != "":
        yield "layer_types", f"has {shorten(repr(other))}, which is no type of layer"
    elif isinstance(layers, int) and (
        (own.get("count") and layers != len(listed)) or (own.get("each") and layers > len(listed))
    ):
        yield "layer_types", f"has {count(len(listed), 'type')} for {count(layers, 'layer')}"


def _find_numbers(keys: Keys, known: KnownModel, own: Mapping[str, Any]) -> Iterator[_Refused]:
    """Fewer layers than the class has something for, a head of another width than that over the heads, and groups.

    Each head of keys serves a group of heads where these are a multiple of it. Besides, a window without the key that
    says which layers have it, where the class has nothing to go by.
    """
    layers, head = keys.found.get("num_hidden_layers"), keys.found.get("head_dim")
    if own.get("fewer") and isinstance(layers, int) and layers < own["layers"]:
        yield "num_hidden_layers", f"is {layers}, below the {own['layers']} of the class, which has keys of each"
    if own.get("fits") and isinstance(head, int):
        width, heads = keys.find_integer(known.hidden_key or WIDTHS[0]), keys.find_integer(*HEADS)
        whole = (width or known.hidden or 0) / (heads or known.heads or 1)
        if head != whole:
            yield "head_dim", f"is {head}, where the width over the heads is {whole:g}"
    asked = own.get("window_needs", "")
    if asked and "sliding_window" in keys and not keys.has_any("layer_types", asked):
        yield asked, "is not set, which decides where layers slide"
    heads, key = keys.find_integer(*HEADS) or known.heads or 0, "num_key_value_heads"
    groups = keys.found.get(key, own.get("groups"))
    if own.get("groups") and type(groups) is int and groups > 0 and heads % groups:
        yield key, f"is {groups}{'' if key in keys else ' by default'}, and {heads} heads are no multiple of it"


def _find_widths(keys: Keys, known: KnownModel, own: Mapping[str, Any]) -> Iterator[_Refused]:
    """Heads that do not divide the width, of which the file states one, and heads of an odd width.

    Where a head is turned as a whole, that it is odd is said of the rotation.
    """
    head = keys.found.get("head_dim")
    if known.axes > 1 and own.get("odd_head") and isinstance(head, int) and head % 2 and head > TINY:
        yield "head_dim", f"is odd, {head}"
    stated = [keys.find_key(names) for names in (WIDTHS, HEADS)]
    width = keys.found[stated[0]] if stated[0] else known.hidden
    heads = keys.found[stated[1]] if stated[1] else known.heads
    if stated == [None, None] or not isinstance(width, int) or not isinstance(heads, int):
        return
    if heads == 0 and known.divides and stated[1]:
        yield stated[1], "is 0"
    if min(width, heads) < 1:
        return
    if width % heads and known.divides:
        yield WIDTHS[0], f"is {width}, no multiple of the {heads} heads"
    elif head is None and known.head_dim is None and own.get("odd") and width // heads % 2 and width // heads > TINY:
        yield WIDTHS[0], f"is {width}, so each of {heads} heads has an odd width"


def _find_in_blocks(keys: Keys, known: KnownModel, own: Mapping[str, Any]) -> Iterator[_Refused]:
    """Blocks that the class refuses, whether a layer has them or not, and a width of heads that a scaling needs."""
    if "rope_scaling" in keys.found and keys.found["rope_scaling"] in own.get("empty", ()):
        yield "rope_scaling", tell_value(keys.found["rope_scaling"])
    if not keys.has_any("rope_parameters", "rope_scaling"):
        is_scaled = "own" in own.get("without_head", ()) and known.keeps_block(keys.found)
        if keys.found.get("head_dim", 1) is None and is_scaled:
            yield "head_dim", "is null under the scaling of the class"
        return
    place = find_looked_at(keys.found, is_last=bool(own.get("last_block")))
    whole = keys.found.get(place)
    if not isinstance(whole, Mapping):
        return
    if place in known.needs_original:
        yield from _find_without_original(whole, f"{keys.where}{place}")
    is_nested = (whole and whole.keys() <= {*keys.refusals["layer_types"]}) or has_blocks(whole)
    is_flat = keys.refusals["untyped"]  # where a block needs a type none is by type of layer
    if is_flat or not is_nested:
        block, is_read = Keys(whole, keys.path, f"{keys.where}{place}."), is_flat or not known.ignores_flat
        is_read = is_read and known.reads_blocks and not has_no_base(keys, known)
        yield from _find_in_block(keys, block, own, is_read=is_read, is_scaled=is_read and not known.base_only)
    elif known.reads_blocks and known.is_layered:
        for name, found in whole.items():
            yield from _find_in_entry(keys, f"{keys.where}{place}.{name}", name, found, own)


def has_no_base(keys: Keys, known: KnownModel) -> bool:
    """Whether a class that turns where its block has a base finds none there: null, or blocks by type of layer.

    >>> has_no_base(Keys({"rope_theta": None}, "config.json"), KnownModel(turns_by_base=True))
    True
    """
    block = keys.found.get("rope_scaling") or keys.found.get("rope_parameters") or {}
    if not known.turns_by_base or not isinstance(block, Mapping):
        return False
    is_nested = not block.keys().isdisjoint(keys.find_texts("layer_types") or known.layers)
    return block.get("rope_theta", None if is_nested else keys.found.get("rope_theta", 1.0)) is None


def _find_without_original(whole: Mapping[str, Any], where: str) -> Iterator[_Refused]:
    """Blocks with a scaling that lacks the length before it."""
    nested = {f"{where}.{name}": block for name, block in whole.items() if isinstance(block, Mapping)}
    for place, block in (nested or {where: whole}).items():
        if block.get("rope_type", block.get("type")) in WITH_ORIGINAL and ORIGINAL not in block:
            yield f"{place}.{ORIGINAL}", "is not set"


def _find_in_entry(keys: Keys, where: str, name: str, found: object, own: Mapping[str, Any]) -> Iterator[_Refused]:
    """What is refused of a block of one type of layer; of one that the class has no layer of this is not known."""
    if name not in own.get("used", (name,)) or name not in own.get("labels", (name,)):
        return
    types, listed = keys.refusals["layer_types"], keys.found.get("layer_types")
    if isinstance(found, Mapping):
        # no module is made for a type of layer that no layer has
        is_read = not isinstance(listed, list) or name in listed or name not in types
        block = Keys(found, keys.path, f"{where}.")
        yield from _find_in_block(keys, block, own, is_read=is_read, is_scaled=is_read)
        if name in own.get("bases", ()) and not {"rope_theta"} & {*found, *keys.found}:
            yield f"{where}.rope_theta", "is not set"
    elif name in types and type(found) in map(type, own.get("no_blocks", ())):
        yield where, "is null" if found is None else f"is {shorten(repr(found))}, no block"


def _find_in_block(
    keys: Keys, block: Keys, own: Mapping[str, Any], *, is_read: bool, is_scaled: bool
) -> Iterator[_Refused]:
    """A block that is checked, whether the class computes with it, and with its scaling, or not."""
    found, where, table = block.found, block.where, keys.refusals
    name = "type" if "type" in found and "rope_type" not in found else "rope_type"
    kind = found.get(name, None if table["untyped"] else "default")
    if keys.found.get("head_dim", 1) is None and kind in own.get("without_head", ()):
        yield "head_dim", f"is null under {kind} scaling"
    if not is_scaled:
        lacking = own.get("lacking", {})
        needed = table["lacking"] if lacking is True else lacking
        # a base on top of the file goes into rope_scaling before its keys are looked for
        is_moved = where.endswith("rope_scaling.") and not own.get("base_inside")
        for key in needed.get(kind, ()) if isinstance(kind, str) else ():
            if key not in found and not (key == "rope_theta" and key in keys.found and is_moved):
                yield f"{where}{key}", "is not set"
    if not is_read:
        return
    if kind in own.get("no_types", ()):
        yield f"{where}{name}", f"is {shorten(repr(kind))}" if kind else "names no scaling"
        return
    has_base = "rope_theta" in table["null"]["linear"]  # that of an older release's block is not read
    if has_base and found.get("rope_theta", keys.found.get("rope_theta", 1.0)) is None:
        yield f"{where}rope_theta", "is null"
    for key in own.get("own_keys", {}).get(kind, ()) if isinstance(kind, str) else ():
        if key not in found:
            yield f"{where}{key}", "is not set"
    for key in table["null"].get(str(kind), SHARES[:1] if own.get("no_share") else ()):
        if key in found and found[key] is None:
            yield f"{where}{key}", "is null"


def has_blocks(found: Mapping[str, Any]) -> bool:
    """Whether an object has objects in it, as blocks by type of layer.

    >>> has_blocks({"full_attention": {}}), has_blocks({"rope_theta": 1e4})
    (True, False)
    """
    return any(isinstance(value, Mapping) for value in found.values())


def find_at(found: Mapping[str, Any], key: str, *inside: str) -> object:
    """Return the value behind keys, each in the object of the one before; None where there is none.

    >>> find_at({"text_config": {"head_dim": 64}}, "text_config", "head_dim")
    64
    """
    value = found.get(key)
    return value if not inside else find_at(value, *inside) if isinstance(value, Mapping) else None
