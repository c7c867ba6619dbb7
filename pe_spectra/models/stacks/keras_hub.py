"""keras-hub: its three rotary layers with the keys of a file, and what its converter from transformers leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from types import MappingProxyType

from pe_spectra.encodings.rope_ladders import blend_frequencies, clip_to_unit, compute_ladder, divide_frequencies
from pe_spectra.encodings.rope_scaling import Scaled, compute_ntk_exponent, compute_yarn_range
from pe_spectra.exact import CONTEXT
from pe_spectra.models.stacks.description import Description
from pe_spectra.models.stacks.kept_windows import keep_windows
from pe_spectra.models.stacks.stack import LINEAR, Reading, Stack
from pe_spectra.models.stated.statement import NO_BLOCK, ORIGINAL, LayerStatement, RotaryBlock

_ONE, _TENTH = Decimal(1), Decimal("0.1")
#: The default of the layer where a file has no original length.
_YARN_LENGTH = 4096
#: The least width of a ramp.
_NO_WIDTH = Decimal("0.001")
#: What the converter reads of rope_scaling for each model_type that it knows and was run for; it reads nothing but
#: rope_theta of rope_parameters. {kind} is the scaling.
_READS = MappingProxyType(
    dict.fromkeys(("mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"), "reads no scaling")
    | {"llama": "refuses {kind}", "gpt_oss": "reads the factor alone, as yarn from 4096 positions without truncate"}
)
#: The scalings that it passes on whole.
_PASSES: Mapping[str, str] = MappingProxyType({"llama": "llama3"})


# --------------------------------------------------------------------- the layers


def _choose_stated(layer: LayerStatement) -> tuple[RotaryBlock, tuple[str, ...]]:
    """Take what the file states, without what transformers' classes fill in."""
    newer = layer.newer
    if newer is not None and newer.where.startswith("the default of"):
        newer = None
    block = (newer or layer.older or NO_BLOCK).fill_base(layer.older)
    inside = block.original_inside
    return (block if inside is None else replace(block, values={**block.values, ORIGINAL: inside})), ()


def _scale_by_power(found: Description, width: int) -> Scaled:
    """Divide all frequencies by s**(D/(D-2)): what is called dynamic there is linear, and has no length."""
    divisor = CONTEXT.power(Decimal(found.values["factor"]), compute_ntk_exponent(width))
    return Scaled(divide_frequencies(compute_ladder(found.values["base"], width), divisor))


def _scale_clipped(found: Description, width: int, *, within: int = 1) -> Scaled:
    """Scale by yarn whose ramp ends at index D/within - 1 at the latest; the attention factor is below 1 for s < 1."""
    values = found.values
    base, factor = values["base"], Decimal(values["factor"])
    betas = {key: values[key] for key in ("beta_fast", "beta_slow") if key in values}
    low, high = compute_yarn_range(base, width, values["original"], **betas, truncate=values["truncate"] == "yes")
    high = min(high, Decimal(width // within - 1))
    span = max(CONTEXT.subtract(high, low), _NO_WIDTH)
    ramp = [clip_to_unit(CONTEXT.divide(CONTEXT.subtract(Decimal(i), low), span)) for i in range(width // 2)]
    attention = CONTEXT.add(CONTEXT.multiply(_TENTH, CONTEXT.ln(factor)), _ONE)
    return Scaled(blend_frequencies(compute_ladder(base, width), factor, ramp), attention)


def _read_yarn(found: Description) -> None:
    found.values.setdefault("original", _YARN_LENGTH)
    found.values["truncate"] = "no" if found.block.values.get("truncate") is False else "yes"
    if unread := found.list_unread("attention_factor", "mscale", "mscale_all_dim"):
        found.notes.append(f"{unread}: not read, the attention factor is 0.1 ln s + 1")


def _read_yarn_of_summer(found: Description) -> None:
    _read_yarn(found)
    asked = found.block.values.get("truncate") is True
    if asked:
        found.notes.append(f"truncate also holds every position beyond {found.values['original']} there")
    elif "truncate" not in found.block.values:
        found.notes.append("truncate is off unless it is asked for")
    found.values["truncate"] = "yes" if asked else "no"


# --------------------------------------------------------------------- the converter


def _note_conversion(found: Description) -> None:
    model, kind, block = found.configuration.model, found.block.kind, found.block
    if found.values["layout"] != "half":
        found.values["layout"] = "half"
        found.notes.append("the layers turn halves: the rows of q and k must be permuted")
    if model and model not in _READS:
        found.notes.append(f"its converter from transformers was not run for {model}: this is what its layers give")
    elif block.where.startswith("rope_parameters") and kind != "default":
        found.notes.append("the converter from transformers reads rope_theta from rope_parameters, and no scaling")
    elif kind not in ("default", _PASSES.get(model)) and model:
        found.notes.append(f"the converter from transformers {_READS[model].format(kind=kind)} for {model}")


KERAS_HUB = Stack(
    name="keras-hub",
    title="keras-hub 0.32.0, its rotary layers",
    package="keras-hub",
    version="0.32.0",
    date="2026-11-27",
    how="measured",
    source="keras-hub 0.32.0, keras_hub/src/layers/modeling/rotary_embedding.py, "
    "models/llama/llama_rotary_embedding.py, models/phi3/phi3_rotary_embedding.py, utils/transformers/",
    reader="keras-hub",
    kinds=("default", "linear", "dynamic", "yarn", "llama3", "longrope", "su"),
    choose=_choose_stated,
    slides=keep_windows("keras-hub", "0.32.0"),
    readings={
        "linear": LINEAR,
        "dynamic": Reading(
            needs=("factor",),
            formula=_scale_by_power,
            notes=("dynamic divides every frequency by s^(D/(D-2)), at every length",),
        ),
        "yarn": Reading(
            needs=("factor",),
            takes=("original", "beta_fast", "beta_slow"),
            then=(_read_yarn,),
            formula=_scale_clipped,
        ),
        "llama3": Reading(needs=("factor", "low_freq_factor", "high_freq_factor", "original")),
        "longrope": Reading(
            needs=("short_factor", "long_factor"),
            then=(Description.take_longrope_lengths,),
            notes=("the list is chosen by the position of the last token, at every step",),
        ),
    },
    finish=(_note_conversion,),
)
KERAS_HUB_SUMMER = replace(
    KERAS_HUB,
    title="keras-hub 0.31.0, its rotary layers",
    version="0.31.0",
    slides=keep_windows("keras-hub", "0.31.0"),
    source=KERAS_HUB.source.replace("0.32.0", "0.31.0"),
    readings={
        **KERAS_HUB.readings,
        "yarn": KERAS_HUB.readings["yarn"]._replace(
            then=(_read_yarn_of_summer,), formula=partial(_scale_clipped, within=2)
        ),
        "longrope": KERAS_HUB.readings["longrope"]._replace(
            notes=("the list is chosen by the length of the input, which is 1 where tokens come one at a time",)
        ),
    },
)
