"""Hugging Face transformers, 5 and 4: the generic code that nearly all of its models call.

Two releases read one file differently: 5 knows `rope_parameters`, 4 only `rope_theta` and `rope_scaling`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    NO_BLOCK,
    Description,
    answer_early,
    choose_block,
    copy_alpha,
    find_length,
    find_original,
    find_served,
    start_description,
    turn_by_rope,
)
from pe_spectra.models.stacks.stack import Refusal, Stack
from pe_spectra.models.statement import Configuration, LayerStatement, RotaryBlock

_FIVE, _FOUR = "transformers 5.23.0", "transformers 4.49.0"
#: What rope_type is called in the catalogue. mrope: positions of several axes share the ladder of text.
_SCALINGS = {
    "default": "none",
    "mrope": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
    "proportional": "proportional",
}
_NOT_IN_FOUR = ("proportional",)
#: Models whose own code enlarges the base once and for all where the file has alpha.
_WITH_ALPHA = ("hunyuan",)
#: Models whose own code changes the list of longrope with the length in 4.49.
_WITH_LENGTH = ("phi3", "phi4")
#: Fills in the parameters of a scaling.
_Step = Callable[[Description], None]


def describe_rope(configuration: Configuration, layer: LayerStatement, served: int | None = None) -> dict[str, Any]:
    """Return the parameters of the catalogue's `rope` that transformers 5 makes of a layer's statements.

    Parameters
    ----------
    configuration, layer : what the file states.
    served : the length that is served, on which dynamic and longrope depend; None for the stated one.

    Returns
    -------
    parameters by name, for `Rope(**parameters)`: d and base always, the others where they are not the default.

    Raises
    ------
    InputError : the rope_type is not known, or a key that it needs is not there.
    """
    return _describe_for_five(configuration, layer, served).values


def read_five(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation | Refusal:
    """Return the rotation that transformers 5 computes."""
    early = answer_early(configuration, layer)
    if early is not None:
        return early
    try:
        found = _describe_for_five(configuration, layer, served)
    except InputError as error:
        return Refusal(reason=f"{configuration.path}: {error}")
    return turn_by_rope(layer, found, dtype=configuration.dtype)


def read_four(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation | Refusal:
    """Return the rotation that transformers 4 computes; it does not read rope_parameters."""
    early = answer_early(configuration, layer)
    if early is not None:
        return early
    block = layer.older or NO_BLOCK
    try:
        found = start_description(configuration, layer, block, _name_scaling(block, _FOUR, _NOT_IN_FOUR), served)
        if layer.newer is not None and layer.older is None:
            found.notes.append(f"{layer.newer.where or 'rope_parameters'} is not read: {_FOUR} does not know it")
            if layer.share != 1:
                found.notes.append(f"the share {layer.share:g} is taken to be its own too: the default of its class")
        _follow(_STEPS_OF_FOUR, found)
    except InputError as error:
        return Refusal(reason=f"{configuration.path}: {error}")
    return turn_by_rope(layer, found, dtype=configuration.dtype)


def _describe_for_five(configuration: Configuration, layer: LayerStatement, served: int | None) -> Description:
    block, notes = choose_block(layer)
    found = start_description(configuration, layer, block, _name_scaling(block, _FIVE), served)
    found.notes += notes
    _follow(_STEPS_OF_FIVE, found)
    return found


def _name_scaling(block: RotaryBlock, stack: str, unknown: tuple[str, ...] = ()) -> str:
    known = [kind for kind in _SCALINGS if kind not in unknown]
    if block.kind not in known:
        where = f"{block.where}: " if block.where else ""
        raise InputError(f"{where}rope_type is not known to {stack}", block.kind, f"{', '.join(known)} are")
    return _SCALINGS[block.kind]


def _follow(steps: Mapping[str, _Step], found: Description) -> None:
    step = steps.get(found.values.get("scaling", "none"))
    if step is not None:
        step(found)


def _fill_linear(found: Description) -> None:
    found.need_keys("transformers", "factor")


def _fill_proportional(found: Description) -> None:
    found.copy_keys("factor")


def _fill_dynamic(found: Description) -> None:
    if found.configuration.model.startswith(_WITH_ALPHA) and copy_alpha(found):
        return
    found.need_keys("transformers", "factor")
    length = find_length(found)
    stated = found.block.find("original_max_position_embeddings")
    if stated is not None and stated != length:
        found.notes.append(
            f"original_max_position_embeddings {stated:g} is not read: dynamic counts from max_position_embeddings, "
            f"{length}"
        )
    found.values |= {"original": length, "served": find_served(found) or length}


def _fill_yarn_of_five(found: Description) -> None:
    found.copy_keys("factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")
    for key in ("mscale", "mscale_all_dim"):  # 0 is "not set"
        if not found.values.get(key, 1):
            del found.values[key]
    original = find_original(found)
    found.values["original"] = original
    length = found.configuration.length
    if "factor" not in found.values:
        if length is None or length < original:
            accepted = "it, or max_position_embeddings from original_max_position_embeddings on, stands for it"
            raise InputError("factor is not set", accepted=accepted)
        ratio = length / original
        found.values["factor"] = ratio
        found.notes.append(
            f"factor is not set, so max_position_embeddings / original_max_position_embeddings = {ratio:g} is taken; "
            f"{_FIVE} does so for null and refuses a file without the key"
        )
    truncate = found.block.values.get("truncate")
    if truncate is False and "rope_parameters." in found.block.where:
        found.notes.append(f"{found.block.where}.truncate is not read: {_FIVE} looks for it beside the layer types")
    elif truncate is False:
        found.values["truncate"] = "no"


def _fill_yarn_of_four(found: Description) -> None:
    found.need_keys(_FOUR, "factor")
    found.copy_keys("beta_fast", "beta_slow", "attention_factor")
    length = find_length(found)
    found.values["original"] = length
    stated = found.block.find("original_max_position_embeddings")
    if stated is not None and stated != length:
        found.notes.append(
            f"original_max_position_embeddings {stated:g} is not read: the ramp is placed by max_position_embeddings, "
            f"{length} (4.57.1 reads it)"
        )
    for key in ("mscale", "mscale_all_dim", "truncate"):
        if key in found.block.values:
            found.notes.append(f"{key} is not read (4.57.1 reads it)")


def _fill_llama3_of_five(found: Description) -> None:
    found.need_keys(_FIVE, "factor", "low_freq_factor", "high_freq_factor")
    found.values["original"] = find_original(found)
    if "original_max_position_embeddings" not in found.block.values:
        found.notes.append(
            "original_max_position_embeddings is not set, so max_position_embeddings is taken, "
            f"{found.values['original']}; it was 8192 in training where the model is Llama 3"
        )


def _fill_llama3_of_four(found: Description) -> None:
    found.need_keys(_FOUR, "factor", "low_freq_factor", "high_freq_factor", "original")


def _fill_longrope_of_five(found: Description) -> None:
    found.need_keys(_FIVE, "short_factor", "long_factor")
    found.copy_keys("factor", "attention_factor")
    original = find_original(found)
    found.values |= {"original": original, "served": find_served(found) or original}
    if "factor" not in found.values:
        found.values["factor"] = max(1.0, (found.configuration.length or original) / original)


def _fill_longrope_of_four(found: Description) -> None:
    found.need_keys(_FOUR, "short_factor", "long_factor")
    found.copy_keys("attention_factor")
    length = find_length(found)
    original = find_original(found)
    found.values |= {"original": original, "served": find_served(found) or length}
    if not found.configuration.model.startswith(_WITH_LENGTH):
        found.values["served"] = original
        found.notes.append("short_factor serves every length: of 4.49 only Phi-3 changes it (4.57.1 does for all)")
    if "original_max_position_embeddings" in found.block.values:
        # where it stands beside rope_scaling, as in the files of Phi-3; within it 4.49 does not find it
        found.values["factor"] = max(1.0, length / original)
    else:
        found.need_keys(_FOUR, "factor")


_STEPS_OF_FIVE: Mapping[str, _Step] = {
    "linear": _fill_linear,
    "dynamic": _fill_dynamic,
    "yarn": _fill_yarn_of_five,
    "llama3": _fill_llama3_of_five,
    "longrope": _fill_longrope_of_five,
    "proportional": _fill_proportional,
}
_STEPS_OF_FOUR: Mapping[str, _Step] = {
    "linear": _fill_linear,
    "dynamic": _fill_dynamic,
    "yarn": _fill_yarn_of_four,
    "llama3": _fill_llama3_of_four,
    "longrope": _fill_longrope_of_four,
}

FIVE = Stack(
    name="transformers-5",
    title=_FIVE,
    source="huggingface/transformers 5.23.0, src/transformers/modeling_rope_utils.py",
    read=read_five,
)
FOUR = Stack(
    name="transformers-4",
    title=_FOUR,
    source="huggingface/transformers 4.49.0, src/transformers/modeling_rope_utils.py; differences to 4.57.1 noted",
    read=read_four,
)
