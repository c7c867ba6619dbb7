"""vLLM: its package of rotary embeddings, which makes one table for the whole run."""

from __future__ import annotations

import math
from decimal import Decimal

from pe_spectra.encodings.rope_ladders import compute_ladder, divide_frequencies
from pe_spectra.encodings.rope_scaling import Scaled, enlarge_base
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    Description,
    choose_block,
    start_description,
)
from pe_spectra.models.stacks.stack import Stack, turn_by_formula, turn_by_rope
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.wording import write_number

#: rope_type by the name in the catalogue; older spellings are translated by patch_legacy_rope_type.
_SCALINGS = {
    "default": "none",
    "mrope": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "ntk": "ntk",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
    "proportional": "proportional",
}
#: Models whose class asks for deepseek_yarn, which reads mscale.
_DEEPSEEK = ("deepseek", "kimi", "longcat", "glm_moe_dsa", "glm4_moe_lite")
_ONE, _TWO = Decimal(1), Decimal(2)


def _turn_vllm(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that vLLM computes; `served` is its max_model_len."""
    found = _describe(configuration, layer, served)
    scaled = _scale_own_way(layer, found)
    if scaled is None:
        return turn_by_rope(layer, found, dtype=configuration.dtype)
    return turn_by_formula(layer, found, scaled, dtype=configuration.dtype, layout=layer.layout)


def _describe(configuration: Configuration, layer: LayerStatement, served: int | None) -> Description:
    block, notes = choose_block(layer)
    if block.kind not in _SCALINGS:
        raise InputError("rope_type is not known to vLLM", block.kind, f"{', '.join(_SCALINGS)} are")
    found = start_description(configuration, layer, block, _SCALINGS[block.kind], served)
    found.notes += notes
    step = _STEPS.get(_SCALINGS[block.kind])
    if step is not None:
        step(found)
    if found.values.get("scaling") == "longrope" and layer.layout == "interleaved":
        raise InputError("longrope is computed for the layout half alone", layer.layout, "rope_type longrope needs it")
    return found


def _scale_own_way(layer: LayerStatement, found: Description) -> Scaled | None:
    width, values = layer.find_width(), found.values
    if values.get("scaling") == "dynamic":
        return scale_dynamic_fixed(values["base"], width, factor=values["factor"])
    if values.get("scaling") == "ntk" and found.block.kind == "ntk":
        return scale_ntk_shifted(values["base"], width, factor=values["factor"])
    return None


def scale_dynamic_fixed(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base once and for all: b' = b (s**2 - s + 1)**(D/(D-2)), which is dynamic NTK at l = s L.

    Source: vllm-project/vllm, dynamic_ntk_scaling_rope.py before pull request 41277; issue 41236.

    Raises
    ------
    InputError : D below 4.

    >>> [float(w) for w in scale_dynamic_fixed(10000.0, 4, factor=2.0).frequencies]  # 2**2 - 2 + 1 = 3
    [1.0, 0.0033333333333333335]
    """
    s = Decimal(factor)
    growth = CONTEXT.add(CONTEXT.subtract(CONTEXT.multiply(s, s), s), _ONE)
    return Scaled(compute_ladder(enlarge_base(base, width, growth), width))


def scale_ntk_shifted(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base to b s and divide by s**(2/D): pair i is divided by s**(2 (i + 1)/D), the slowest by s.

    Source: vllm-project/vllm, ntk_scaling_rope.py without mixed_b.

    >>> [round(float(w), 6) for w in scale_ntk_shifted(10000.0, 4, factor=4.0).frequencies]  # 1/2, and 0.01/4
    [0.5, 0.0025]
    """
    s = Decimal(factor)
    divisor = CONTEXT.power(s, CONTEXT.divide(_TWO, Decimal(width)))
    return Scaled(divide_frequencies(compute_ladder(CONTEXT.multiply(Decimal(base), s), width), divisor))


def _fill_factor(found: Description) -> None:
    found.need_keys("vLLM", "factor")


def _fill_dynamic(found: Description) -> None:
    if found.copy_alpha():
        return
    found.need_keys("vLLM", "factor")
    found.values["original"] = found.find_length()
    s = found.values["factor"]
    found.notes.append(
        f"the length that is served changes nothing: the base grows by s^2 - s + 1 = {write_number(s * s - s + 1)} for "
        "every one (issue 41236); since pull request 41277 a file without max_trained_positions is not scaled at all"
    )


def _fill_yarn(found: Description) -> None:
    found.need_keys("vLLM", "factor")
    found.copy_keys("beta_fast", "beta_slow")
    found.values["original"] = found.find_original()
    if found.block.values.get("attention_factor") is not None:
        found.notes.append("attention_factor is not read: its key is attn_factor, a factor on 0.1 ln s + 1")
    if found.configuration.model.startswith(_DEEPSEEK):
        _fill_deepseek(found)
    else:
        if found.block.values.get("truncate") is False:
            found.values["truncate"] = "no"
        if {"mscale", "mscale_all_dim"} & set(found.block.values):
            found.notes.append("mscale and mscale_all_dim are not read for this model")


def _fill_deepseek(found: Description) -> None:
    # deepseek_yarn: mscale is 1 and mscale_all_dim 0 where they are not set
    mscale = found.block.find("mscale")
    divisor = found.block.find("mscale_all_dim")
    if divisor:
        found.values |= {"mscale": 1.0 if mscale is None else mscale, "mscale_all_dim": divisor}
    elif mscale is not None:
        found.values["attention_factor"] = 0.1 * mscale * math.log(max(1.0, found.values["factor"])) + 1


def _fill_llama3(found: Description) -> None:
    found.need_keys("vLLM", "factor", "low_freq_factor", "high_freq_factor")
    found.step_at_end("low_freq_factor", "high_freq_factor", at="high_freq_factor")
    found.values["original"] = found.find_original()


def _fill_longrope(found: Description) -> None:
    found.need_keys("vLLM", "short_factor", "long_factor")
    found.take_longrope_lengths()
    found.notes.append("the list is chosen once, by the longest length that is served (max_model_len)")


_STEPS = {
    "linear": _fill_factor,
    "ntk": _fill_factor,
    "dynamic": _fill_dynamic,
    "yarn": _fill_yarn,
    "llama3": _fill_llama3,
    "longrope": _fill_longrope,
}

VLLM = Stack(
    name="vllm",
    title="vLLM, as of April 2026",
    source="vllm-project/vllm, vllm/model_executor/layers/rotary_embedding/ (commits 926c71f6 and 50feac95); "
    "truncate and proportional as read in later commits",
    turn=_turn_vllm,
)
