"""Hugging Face transformers 4: its last release, and an early one that read fewer keys.

Neither knows `rope_parameters`, only `rope_theta` and `rope_scaling`: from a file in the newer form alone
they take the default base and no scaling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    NO_BLOCK,
    Description,
    start_description,
)
from pe_spectra.models.stacks.stack import Stack, turn_by_rope
from pe_spectra.models.stacks.transformers import (
    Step,
    copy_yarn,
    fill_dynamic,
    fill_linear,
    follow,
    list_unknown,
    name_scaling,
)
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.statement import Configuration, LayerStatement, RotaryBlock
from pe_spectra.wording import write_number

_LAST, _EARLY = "transformers 4.57.6", "transformers 4.49.0"
_UNKNOWN = ("proportional",)
_ORIGINAL = "original_max_position_embeddings"
#: Where a block comes from that the class has and the file has not.
_BY_CLASS = "the default of"
#: Models whose own code changes the list of longrope with the length in 4.49.
_WITH_LENGTH = ("phi3", "phi4")


def _turn_four(
    steps: Mapping[str, Step], title: str, configuration: Configuration, layer: LayerStatement, served: int | None
) -> Rotation:
    """Return the rotation that a release of transformers 4 computes; `steps` fill in the parameters of each scaling."""
    block, layer = _choose_block(layer), _choose_share(configuration, layer)
    scaling = name_scaling(block, title, (*_UNKNOWN, *list_unknown(configuration.model)))
    found = start_description(configuration, layer, block, scaling, served)
    if layer.newer is not None and layer.older is None and block is not layer.newer:
        found.notes.append(f"{layer.newer.where or 'rope_parameters'} is not read: {title} does not know it")
    follow(steps, found)
    return turn_by_rope(layer, found, dtype=configuration.dtype)


def _choose_block(layer: LayerStatement) -> RotaryBlock:
    newer, older = layer.newer, layer.older
    if newer is None or not newer.where.startswith(_BY_CLASS) or (older is not None and older.where):
        return _read_as_written(older) if older is not None else NO_BLOCK
    # no file has this block: it is the default of the class, in 4 as in 5
    return newer if older is None or older.base is None else replace(newer, base=older.base, base_key=older.base_key)


def _read_as_written(block: RotaryBlock) -> RotaryBlock:
    """Take base and longrope's original length from beside the block only, others' from inside; type goes first."""
    values = dict(block.values)
    if block.original_beside and block.kind in ("yarn", "llama3"):
        values.pop(_ORIGINAL, None)
        if block.original_inside is not None:
            values[_ORIGINAL] = block.original_inside
    if block.kind in ("longrope", "su") and not block.original_beside:
        values.pop(_ORIGINAL, None)
    inside = block.where and block.base_key.startswith(f"{block.where}.")
    base = block.base_beside if inside or block.base is None else block.base
    return replace(block, base=base, kind=block.type_inside or block.kind, values=values)


def _choose_share(configuration: Configuration, layer: LayerStatement) -> LayerStatement:
    """Take the share beside rope_parameters, or that of the class where the one that is stated is in it."""
    if layer.share_beside is not None:
        return replace(layer, share=layer.share_beside)
    if layer.newer is None or layer.older is not None:
        return layer
    known = find_known(configuration.model)
    return replace(layer, share=known.share) if known is not None else layer


def _fill_yarn(found: Description) -> None:
    found.need_keys(_LAST, "factor")
    copy_yarn(found)
    if found.block.values.get("truncate") is False:
        found.values["truncate"] = "no"


def _fill_yarn_early(found: Description) -> None:
    found.need_keys(_EARLY, "factor")
    found.copy_keys("beta_fast", "beta_slow", "attention_factor")
    length = found.find_length()
    found.values["original"] = length
    stated = found.block.find("original_max_position_embeddings")
    if stated is not None and stated != length:
        found.notes.append(
            f"original_max_position_embeddings {write_number(stated)} is not read: the ramp is placed by "
            f"max_position_embeddings, {length}"
        )
    unread = [key for key in ("mscale", "mscale_all_dim", "truncate") if key in found.block.values]
    if unread:
        found.notes.append(f"not read: {', '.join(unread)}")


def _fill_llama3(found: Description) -> None:
    found.need_keys("transformers 4", "factor", "low_freq_factor", "high_freq_factor", "original")


def _fill_longrope(found: Description) -> None:
    found.need_keys("transformers 4", "short_factor", "long_factor")
    found.copy_keys("attention_factor")
    length, original = found.find_length(), found.find_original()
    found.values |= {"original": original, "served": found.find_served() or length}
    if _ORIGINAL in found.block.values:  # beside rope_scaling, as in the files of Phi-3
        found.values["factor"] = max(1.0, length / original)
    elif "attention_factor" not in found.values:
        found.need_keys("transformers 4", "factor")


def _fill_longrope_early(found: Description) -> None:
    _fill_longrope(found)
    if not found.configuration.model.startswith(_WITH_LENGTH):
        found.values["served"] = found.values["original"]
        found.notes.append("short_factor serves every length: only Phi-3 changes the list")


_STEPS: Mapping[str, Step] = {
    "linear": fill_linear,
    "dynamic": fill_dynamic,
    "yarn": _fill_yarn,
    "llama3": _fill_llama3,
    "longrope": _fill_longrope,
}
_STEPS_EARLY = {**_STEPS, "yarn": _fill_yarn_early, "longrope": _fill_longrope_early}
_FILE = "src/transformers/modeling_rope_utils.py"

FOUR = Stack(
    name="transformers-4",
    title=_LAST,
    source=f"huggingface/transformers 4.57.6, {_FILE}",
    turn=partial(_turn_four, _STEPS, _LAST),
)
FOUR_EARLY = Stack(
    name="transformers-4.49",
    title=_EARLY,
    source=f"huggingface/transformers 4.49.0, {_FILE}",
    turn=partial(_turn_four, _STEPS_EARLY, _EARLY),
)
