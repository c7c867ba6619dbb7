"""What the class of a model passes over: blocks that it does not read at all, or not by type of layer, and odd values.

In transformers 5 a block is one of blocks by type of layer where a key in it is one of the types that the class tells
of its layers (`labels` of the table of refusals); other keys beside such are then not read.
"""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.errors import shorten
from pe_spectra.models.stated.keys import KEY_NOT_READ, SHARES, Keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.loading import NOT_BUILT, TYPES, has_blocks, load_refusals
from pe_spectra.models.stated.needs import list_labels
from pe_spectra.models.stated.rotary_blocks import LAYER_TYPE_MISSING

#: How a class that looks at types of layers was found to refuse them.
_LOOKING = ("names", "count", "each")


def _report_both(keys: Keys, known: KnownModel, passed: str) -> None:
    """Report rope_scaling beside rope_parameters, of which the class reads one, or refuses the file."""
    is_refused = known.both == "refused"
    effect = "refuses the file" if is_refused else f"reads nothing of {passed}"
    message = (
        f"{keys.where}rope_parameters stands beside rope_scaling, so the class of {known.model} in {keys.reader} "
        f"{effect}; keep one of them"
    )
    kind = NOT_BUILT if is_refused else KEY_NOT_READ
    keys.report(kind, message, level="error", key=f"{keys.where}{passed}", model=known.model)


def _drop_passed_over(keys: Keys, known: KnownModel) -> Keys:
    """Report types of layers that are no texts, and rope_scaling that is no object, where the class takes them.

    It was measured to be made of such a value; nothing in it can be read, so the keys are returned without it.
    """
    table, own = keys.refusals, load_refusals(keys, known)
    letters = {key: letter for letter, key in table["keys"].items()}
    types, scaling = keys.found.get("layer_types"), keys.found.get("rope_scaling")
    is_list = isinstance(types, list) and all(isinstance(one, str) for one in types)
    odd = {} if types is None or is_list else {"layer_types": "a list of texts"}
    odd |= {"rope_scaling": "an object"} if scaling and not isinstance(scaling, Mapping) else {}
    for key, accepted in odd.items() if known.part_model in table["classes"] else ():
        value = keys.found[key]
        kind = "real" if type(value) is int else TYPES.get(type(value), "")
        is_refused = letters.get(key, "") in own.get(kind, "")
        if key == "layer_types" and isinstance(value, list):
            is_refused = not own.keys().isdisjoint(_LOOKING)
        if key in letters and not is_refused:
            from pe_spectra.models.stated.unusable import UNUSABLE_VALUE

            message = (
                f"{keys.where}{key} cannot be used ({shorten(repr(value))}); {accepted} is accepted; no rotation "
                "depends on it, and the file is read without it"
            )
            keys.report(UNUSABLE_VALUE, message, key=f"{keys.where}{key}")
            keys = keys.leave_out(key)
    return keys


def drop_unread(keys: Keys, known: KnownModel) -> Keys:
    """Report a block that the class of a model does not read, and return the keys without it.

    >>> keys = Keys({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, "config.json")
    >>> known = KnownModel(model="cohere2_moe", reads_older=False)
    >>> drop_unread(keys, known).found, [found.level for found in keys.findings]
    ({}, ['error'])
    """
    keys = _drop_passed_over(keys, known) if known.is_known else keys
    is_empty = keys.found.get("rope_parameters") == {} and known.ignores_flat and not known.needs
    if is_empty and "rope_scaling" not in keys:  # as if it were not there
        keys = keys.leave_out("rope_parameters")
    if labels := list_labels(keys, known):
        keys = _settle_nesting(keys, known, labels)
    unread = set()
    if not known.reads_older and keys.found.get("rope_scaling"):
        unread.add("rope_scaling")
        block = keys.find_object("rope_scaling")
        if block.find_text("rope_type", "type") not in (None, "default") or block.find_number("rope_theta") is not None:
            message = (
                f"{keys.where}rope_scaling is not read by the class of {known.model} in {keys.reader}, so nothing in "
                "it is taken; write rope_parameters"
            )
            keys.report(KEY_NOT_READ, message, level="error", key=f"{keys.where}rope_scaling", model=known.model)
    stated = keys.find_object("rope_parameters").found
    is_nested = has_blocks(stated)
    if known.both and (is_nested or (stated and known.both == "refused")) and "rope_scaling" in keys:
        passed = "rope_scaling" if known.both == "newer" else "rope_parameters"
        unread.add(passed)
        _report_both(keys, known, passed)
        stated = {} if passed == "rope_parameters" else stated
    missing = [name for name in known.whole_blocks if not isinstance(stated.get(name), Mapping)]
    if missing and stated and (is_nested or not stated.keys().isdisjoint(known.whole_blocks)):
        unread.add("rope_parameters")
        message = (
            f"{keys.where}rope_parameters has nothing for {', '.join(missing)}, so the class of {known.model} in "
            f"{keys.reader} reads none of its blocks and the defaults of the class are taken"
        )
        keys.report(LAYER_TYPE_MISSING, message, level="error", missing=missing)
    return keys.leave_out(*unread) if unread else keys


def _is_nested(keys: Keys, name: str, labels: tuple[str, ...]) -> bool:
    block = keys.found.get(name)
    return isinstance(block, Mapping) and not block.keys().isdisjoint(labels)


def _settle_nesting(keys: Keys, known: KnownModel, labels: tuple[str, ...]) -> Keys:
    """Return the keys with blocks by type where the class looks for them, and report those that it does not take."""
    names = [name for name in ("rope_scaling", "rope_parameters") if name in keys]
    names = names if known.reads_older else [name for name in names if name != "rope_scaling"]
    nested = [name for name in names if _is_nested(keys, name, labels)]
    adds = known.is_layered and not known.refuses_older and not known.both  # rope_scaling to a block by type
    if not known.is_layered and nested and nested[0] == names[0]:
        is_flat = "rope_type" in keys.found[nested[0]] and not known.takes_axial  # no other key is looked for
        return keys if is_flat else _drop_nested(keys, known, nested[0], labels)
    if adds and len(names) > 1 and "rope_parameters" not in nested:
        message = (
            f"{keys.where}rope_parameters has no block for a type of layer to which the class of {known.model} in "
            f"{keys.reader} adds rope_scaling, so it refuses the file"
        )
        keys.report(NOT_BUILT, message, key=f"{keys.where}rope_parameters", model=known.model)
    if known.is_layered and not adds and "rope_scaling" in nested and known.both != "newer":
        keys = _move(keys, known, labels)
        nested = ["rope_parameters"]
    blocks = keys.found.get("rope_parameters") if known.by_type and not known.needs else None
    if isinstance(blocks, Mapping) and "rope_parameters" not in nested and has_blocks(blocks):
        message = (
            f"{keys.where}rope_parameters has nothing for {', '.join(labels)}, so the class of {known.model} in "
            f"{keys.reader} reads nothing of it and its defaults are taken"
        )
        keys.report(LAYER_TYPE_MISSING, message, level="error", missing=[*labels])
        keys = keys.leave_out("rope_parameters")
    if "rope_parameters" in keys and load_refusals(keys, known).get("only_labels"):
        _report_foreign(keys, known, labels)
    if known.is_layered and "rope_parameters" in nested:
        keys = _drop_beside(keys, known, labels)
    return keys


def _move(keys: Keys, known: KnownModel, labels: tuple[str, ...]) -> Keys:
    """Put blocks by type from rope_scaling in the place of rope_parameters, and report what they lack.

    A base on top fills them where the class has no defaults of its own for blocks that lack something; those of a class
    that has are in rope_parameters, and gone. A class that reads no base there but takes empty blocks has one.
    """
    lacks_base = bool(load_refusals(keys, known).get("empty"))
    is_filled = known.needs and (known.base_key or lacks_base)
    top = {"rope_theta": keys.found["rope_theta"]} if is_filled and "rope_theta" in keys else {}
    others = top if known.needs else {SHARES[0]: 1.0}
    blocks = {
        name: {**others, **block} if isinstance(block, Mapping) else block
        for name, block in keys.found["rope_scaling"].items()
    }
    for name in dict.fromkeys(labels):
        block = blocks.get(name, {} if not known.needs else None)
        has_default = known.needs and (known.base_key or not lacks_base)
        if isinstance(block, Mapping) and not has_default and block.get("rope_theta") is None:
            lacking = f"{keys.where}rope_scaling.{name}" + (".rope_theta" if block else "")
            keys.report_refused(NOT_BUILT, lacking, "is not set", known.model)
    left = keys.leave_out("rope_scaling", *(top if not known.base_key else ()))  # where it is read, once more
    return keys.hold({**left.found, "rope_parameters": blocks})


def _report_foreign(keys: Keys, known: KnownModel, labels: tuple[str, ...]) -> None:
    """Report a key beside the types of layers where the class takes no other."""
    block = keys.found["rope_parameters"]
    others = [key for key in block if key not in labels] if isinstance(block, Mapping) else []
    if others and any(value is None or isinstance(value, Mapping) for value in block.values()):
        message = (
            f"{keys.where}rope_parameters has {shorten(others[0])}, which is no type of layer of {known.model}, so its "
            f"class in {keys.reader} refuses the file"
        )
        keys.report(NOT_BUILT, message, key=f"{keys.where}rope_parameters.{others[0]}", model=known.model)


def _drop_nested(keys: Keys, known: KnownModel, name: str, labels: tuple[str, ...]) -> Keys:
    """Report blocks by type of layer of a class that reads one for all layers."""
    named = next(label for label in labels if label in keys.found[name])
    message = (
        f"{keys.where}{name} is nested by layer type, but the class of {known.model} reads it flat, so {keys.reader} "
        f"refuses the file; write the keys of {named} into {name} itself"
    )
    keys.report(NOT_BUILT, message, key=f"{keys.where}{name}.{named}", model=known.model)
    return keys.leave_out(name)


def _drop_beside(keys: Keys, known: KnownModel, labels: tuple[str, ...]) -> Keys:
    """Report keys of a rotary block that stand beside blocks by type of layer."""
    block = keys.found["rope_parameters"]
    others = {key: value for key, value in block.items() if key not in labels}
    beside = [key for key, value in others.items() if not (value is None or isinstance(value, Mapping))]
    for key in beside:
        message = (
            f"{keys.where}rope_parameters.{shorten(key)} stands beside blocks by layer type, and is not read by the "
            f"class of {known.model}"
        )
        keys.report(KEY_NOT_READ, message, key=f"{keys.where}rope_parameters.{key}", model=known.model)
    left = {key: value for key, value in block.items() if key not in beside}
    return keys.hold({**keys.found, "rope_parameters": left}) if beside else keys
