"""What was published with a method: the code of Llama's makers, and the paper of YaRN."""

from __future__ import annotations

from pe_spectra.encodings.rope_scaling import Scaled, scale_linear, scale_llama3, scale_nothing, scale_yarn_paper
from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    SCALING_KEYS,
    Description,
    choose_block,
    start_description,
)
from pe_spectra.models.stacks.stack import Stack, turn_by_formula
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.wording import write_number

#: Says that no key states the factor, which other stacks know by the width of the model.
_BY_WIDTH = "factor-by-width"
#: Constants of models/llama3/model.py.
_LLAMA3 = {"factor": 8.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
#: Those of models/llama4, where params.json has no others.
_LLAMA4 = {"factor": 16.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 1.0}


def _turn_meta(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that Meta's own code for Llama computes with the base of the file."""
    block, _ = choose_block(layer)
    if block.kind not in ("default", "llama3"):
        raise InputError("rope_type is not known to llama-models", block.kind, "default, llama3 are")
    if layer.share != 1:
        raise InputError("the share of a head is not known to llama-models", write_number(layer.share), "1 is")
    found = start_description(configuration, layer, block, "llama3" if block.kind == "llama3" else "none", served)
    scaled = _scale_as_llama(found, layer.find_width())
    if layer.layout == "half":
        found.notes.append("its weights have the rows of q and k in pairs: those of transformers must be permuted")
    return turn_by_formula(layer, found, scaled, dtype="float32", layout="interleaved")


def _scale_as_llama(found: Description, width: int) -> Scaled:
    if found.block.kind == "default":
        return scale_nothing(found.values["base"], width)
    fourth = found.configuration.model.startswith("llama4")
    taken = dict(_LLAMA4 if fourth else _LLAMA3)
    read = ("factor", "high_freq_factor") if fourth else ()
    for name, fixed in tuple(taken.items()):
        key = SCALING_KEYS[name]
        stated = found.block.find(key)
        if stated is not None and name in read:
            taken[name] = stated
        elif stated is not None and stated != fixed:
            found.notes.append(_say_fixed(found.configuration, key, stated, fixed))
    original = int(taken.pop("original"))
    found.values |= {**taken, "original": original}
    return scale_llama3(found.values["base"], width, original=original, **taken)


def _say_fixed(configuration: Configuration, key: str, stated: float, fixed: float) -> str:
    if key == "factor" and any(finding.code == _BY_WIDTH for finding in configuration.findings):
        return f"the factor is {write_number(fixed)} in the code, whatever the width of the model"
    return f"{key} {write_number(stated)} is not read: {write_number(fixed)} is fixed in the code"


def _turn_yarn_paper(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that the formulas of YaRN's paper give."""
    block, notes = choose_block(layer)
    if block.kind not in ("default", "linear", "yarn"):
        raise InputError("rope_type has no formula in YaRN's paper", block.kind, "default, linear, yarn have one")
    name = {"default": "none", "linear": "linear", "yarn": "yarn-paper"}[block.kind]
    found = start_description(configuration, layer, block, name, served)
    found.notes += notes
    scaled = _scale_as_paper(found, layer.find_width())
    return turn_by_formula(layer, found, scaled, dtype=None, layout=layer.layout)


def _scale_as_paper(found: Description, width: int) -> Scaled:
    base = found.values["base"]
    if found.block.kind == "default":
        return scale_nothing(base, width)
    found.need_keys("the paper", "factor")
    if found.block.kind == "linear":
        return scale_linear(base, width, factor=found.values["factor"])
    found.copy_keys("beta_fast", "beta_slow")
    found.values["original"] = found.find_original()
    unread = ("attention_factor", "mscale", "mscale_all_dim", "truncate")
    if stated := [key for key in unread if key in found.block.values]:
        found.notes.append(f"{', '.join(stated)}: not in the paper")
    keys = ("factor", "original", "beta_fast", "beta_slow")
    return scale_yarn_paper(base, width, **{key: found.values[key] for key in keys if key in found.values})


META = Stack(
    name="meta",
    title="Meta's llama-models, as of July 2025",
    source="meta-llama/llama-models a9c89c47, models/llama3/model.py, models/llama4/model.py",
    turn=_turn_meta,
)
YARN_PAPER = Stack(
    name="yarn-paper",
    title="YaRN as its paper has it",
    source="Peng et al. 2023, arXiv:2309.00071, Eq. 17 to 22",
    turn=_turn_yarn_paper,
)
