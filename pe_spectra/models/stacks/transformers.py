"""Hugging Face transformers 5: the generic code that nearly all of its models call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    Description,
    choose_block,
    start_description,
)
from pe_spectra.models.stacks.stack import SeenError, Stack, turn_by_rope
from pe_spectra.models.stated.statement import Configuration, LayerStatement, RotaryBlock
from pe_spectra.wording import write_number

_FIVE = "transformers 5.23.0"
#: What rope_type is called in the catalogue. mrope: positions of several axes share the ladder of text.
SCALINGS = {
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
#: Models whose own code enlarges the base once and for all where the file has alpha.
_WITH_ALPHA = ("hunyuan",)
#: The model of transformers' own that had rope_type su; others with it bring their own code along.
_WITH_SU = "phi3"
#: What its class accepts, in both major releases.
_OF_PHI3 = ("default", "longrope", "su")


#: Fills in the parameters of a scaling.
Step = Callable[[Description], None]


def _turn_five(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that transformers 5 computes."""
    block, notes = choose_block(layer)
    scaling = name_scaling(block, _FIVE, list_unknown(configuration.model))
    if layer.share_ignored and layer.share != 1 and scaling == "none":
        share = write_number(layer.share)
        notes = (*notes, f"the share {share} is not read: its class turns all channels of a plain ladder")
        layer = replace(layer, share=1.0)
    found = start_description(configuration, layer, block, scaling, served)
    found.notes += notes
    follow(_STEPS_OF_FIVE, found)
    return turn_by_rope(layer, found, dtype=configuration.dtype)


def list_unknown(model: str) -> tuple[str, ...]:
    """List what the class of a model refuses of the scalings that transformers has.

    >>> list_unknown("llama")
    ()
    """
    return tuple(kind for kind in SCALINGS if kind not in _OF_PHI3) if model == _WITH_SU else ()


def name_scaling(block: RotaryBlock, stack: str, unknown: tuple[str, ...] = ()) -> str:
    """Return what rope_type is called in the catalogue.

    Raises
    ------
    InputError : the stack does not know it.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"head_dim": 64, "rope_scaling": {"type": "su", "factor": 2.0}}, "config.json")
    >>> name_scaling(stated.layers[0].older, "transformers 5")
    'longrope'
    """
    known = [kind for kind in SCALINGS if kind not in unknown]
    if block.kind not in known:
        where = f"{block.where}: " if block.where else ""
        raise InputError(f"{where}rope_type is not known to {stack}", block.kind, f"{', '.join(known)} are")
    return SCALINGS[block.kind]


def follow(steps: Mapping[str, Step], found: Description) -> None:
    """Fill in the parameters of the scaling.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older, values={"scaling": "linear"})
    >>> follow({"linear": fill_linear}, found)
    >>> found.values["factor"]
    2.0
    """
    step = steps.get(found.values.get("scaling", "none"))
    if step is not None:
        step(found)


def fill_linear(found: Description) -> None:
    """Fill in what linear needs.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"head_dim": 64, "max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> fill_linear(found)
    >>> found.values
    {'factor': 2.0}
    """
    found.need_keys("transformers", "factor")


def _fill_proportional(found: Description) -> None:
    found.copy_keys("factor")


def fill_dynamic(found: Description) -> None:
    """Fill in what dynamic needs; it counts from max_position_embeddings, whatever the original length.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"head_dim": 64, "max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> fill_dynamic(found)
    >>> found.values
    {'factor': 2.0, 'original': 4096, 'served': 4096}
    """
    if found.configuration.model.startswith(_WITH_ALPHA) and found.copy_alpha():
        return
    found.need_keys("transformers", "factor")
    length = found.find_length()
    stated = found.block.find("original_max_position_embeddings")
    if stated is not None and stated != length:
        found.notes.append(
            f"original_max_position_embeddings {write_number(stated)} is not read: dynamic counts from "
            f"max_position_embeddings, {length}"
        )
    found.values |= {"original": length, "served": found.find_served() or length}


def copy_yarn(found: Description) -> None:
    """Copy the parameters of yarn that the two major releases read alike.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> scaling = {"type": "yarn", "factor": 2.0, "beta_fast": 16}
    >>> config = {"head_dim": 64, "max_position_embeddings": 4096, "rope_scaling": scaling}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> copy_yarn(found)
    >>> found.values
    {'factor': 2.0, 'beta_fast': 16.0, 'original': 4096}
    """
    found.copy_keys("factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")
    for key in ("mscale", "mscale_all_dim"):  # 0 is "not set"
        if not found.values.get(key, 1):
            del found.values[key]
    found.values["original"] = found.find_original()


def _fill_yarn_of_five(found: Description) -> None:
    copy_yarn(found)
    original, length = found.values["original"], found.configuration.length
    if "factor" not in found.values:
        if "factor" not in found.block.nulls or length is None:
            found.need_keys(_FIVE, "factor")
            return
        found.take("factor", length / original, "max_position_embeddings / original_max_position_embeddings")
        found.notes.append(
            "factor is null, so max_position_embeddings / original_max_position_embeddings = "
            f"{write_number(length / original)} is taken"
        )
    truncate = found.block.values.get("truncate")
    if truncate is False and "rope_parameters." in found.block.where:
        found.notes.append(f"{found.block.where}.truncate is not read: {_FIVE} looks for it beside the layer types")
    elif truncate is False:
        found.values["truncate"] = "no"


def _fill_llama3_of_five(found: Description) -> None:
    found.need_keys(_FIVE, "factor", "low_freq_factor", "high_freq_factor")
    found.values["original"] = found.find_original()
    if "original_max_position_embeddings" not in found.block.values:
        found.notes.append(
            "original_max_position_embeddings is not set, so max_position_embeddings is taken, "
            f"{found.values['original']}; it was 8192 in training where the model is Llama 3"
        )


def _fill_longrope_of_five(found: Description) -> None:
    inside = found.block.original_inside is not None or not found.block.original_beside
    if found.block.kind == "su" and found.configuration.model == _WITH_SU and not inside:
        # its class renames su only after the original length has been looked for inside of the block
        accepted = "longrope is read; transformers 5.23.0 raises a KeyError for su"
        raise SeenError(f"{found.block.where}: rope_type is an older name", "su", accepted)
    found.need_keys(_FIVE, "short_factor", "long_factor")
    found.copy_keys("factor", "attention_factor")
    original = found.find_original()
    found.values |= {"original": original, "served": found.find_served() or original}
    if found.configuration.model == "phimoe":
        found.values["served"] = original
        found.notes.append("short_factor serves every length: the class of Phi-3.5-MoE does not hand the length on")
    if "factor" not in found.values:
        found.values["factor"] = max(1.0, (found.configuration.length or original) / original)


_STEPS_OF_FIVE: Mapping[str, Step] = {
    "linear": fill_linear,
    "dynamic": fill_dynamic,
    "yarn": _fill_yarn_of_five,
    "llama3": _fill_llama3_of_five,
    "longrope": _fill_longrope_of_five,
    "proportional": _fill_proportional,
}

FIVE = Stack(
    name="transformers-5",
    title=_FIVE,
    source="huggingface/transformers 5.23.0, src/transformers/modeling_rope_utils.py",
    turn=_turn_five,
)
