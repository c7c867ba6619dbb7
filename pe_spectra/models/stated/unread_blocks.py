"""Blocks of rotary keys that the class of a model does not read at all."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.models.stated.keys import KEY_NOT_READ, Keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.needs import NOT_BUILT
from pe_spectra.models.stated.rotary_blocks import LAYER_TYPE_MISSING


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


def drop_unread(keys: Keys, known: KnownModel) -> Keys:
    """Report a block that the class of a model does not read, and return the keys without it.

    >>> keys = Keys({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, "config.json")
    >>> known = KnownModel(model="cohere2_moe", reads_older=False)
    >>> drop_unread(keys, known).found, [found.level for found in keys.findings]
    ({}, ['error'])
    """
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
    is_nested = any(isinstance(block, Mapping) for block in stated.values())
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
    left = {key: value for key, value in keys.found.items() if key not in unread}
    return Keys(left, keys.path, keys.where, keys.findings, keys.release) if unread else keys
