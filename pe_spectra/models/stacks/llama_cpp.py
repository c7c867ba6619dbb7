"""llama.cpp: what its converter writes into a GGUF file, and what ggml then computes."""

from __future__ import annotations

from typing import Literal

from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    Description,
    start_description,
)
from pe_spectra.models.stacks.gguf import turn_gguf_layer
from pe_spectra.models.stacks.stack import Stack, turn_by_rope
from pe_spectra.models.stated.statement import Configuration, LayerStatement
from pe_spectra.wording import write_number

_SCALINGS = {
    "linear": "linear",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
    "proportional": "proportional",
    "dynamic": "dynamic",
}
#: Models whose architecture has LLAMA_ROPE_TYPE_NORM, pairs (2i, 2i + 1), by model_type; others have (i, i + D/2).
_NORMAL = frozenset((
    "llama", "llama4", "llama4_text", "mllama_text_model", "mistral", "mixtral", "ministral", "ministral3",
    "mistral3", "mistral4", "cohere", "cohere2", "cohere2_moe", "olmo", "deepseek", "deepseek_v2", "deepseek_v3",
    "deepseek_v32", "kimi_k2", "granite", "granitemoe", "granitemoeshared", "granitemoehybrid", "chameleon",
    "baichuan", "internlm", "internlm2", "internlm3", "minicpm", "xverse", "arctic", "chatglm", "glm", "glm4",
    "glm_moe_dsa", "smollm3", "arcee", "ernie4_5", "ernie4_5_moe", "llada", "nanbeige", "bailing_moe", "yi",
    "aquila",
))  # fmt: skip
#: Llama 3's original length, which the converter takes unless the key stands outside of the scaling.
_LLAMA3_LENGTH = 8192


def _turn_llama_cpp(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that llama.cpp computes from the converted model; `served` is its context (n_ctx)."""
    if configuration.format == "gguf":
        return turn_gguf_layer(configuration, layer, served)
    block = layer.read_newer()
    found = start_description(configuration, layer, block, _SCALINGS.get(block.kind, "none"), served)
    _fill(found)
    _choose_layout(found, layer)
    return turn_by_rope(layer, found, dtype="float32")


def _fill(found: Description) -> None:
    kind = found.block.kind
    step = _STEPS.get(_SCALINGS.get(kind, "none"))
    if step is not None:
        step(found)
    elif kind not in ("default", "mrope"):
        found.notes.append(f"rope_type {kind} is not known to the converter, which warns and writes no scaling")


def _choose_layout(found: Description, layer: LayerStatement) -> None:
    model = found.configuration.model
    layout: Literal["half", "interleaved"] = layer.layout
    if model in _NORMAL:
        layout = "interleaved"
    if layout != layer.layout:
        found.notes.append("the converter permutes the rows of q and k to match the layout, so scores are the same")
    if not model:
        found.notes.append("no model_type is stated, so the layout of the file is taken")
    found.values["layout"] = layout


def _fill_linear(found: Description) -> None:
    found.copy_keys("factor")
    if "factor" not in found.values:
        _scale_nothing(found, "linear has no factor, so none is written")


def _fill_dynamic(found: Description) -> None:
    if found.configuration.model.startswith("hunyuan") and found.copy_alpha():
        return
    _scale_nothing(found, "dynamic is not converted, and nothing is said: the frequencies stay as they are")


def _fill_yarn(found: Description) -> None:
    found.copy_keys("factor", "beta_fast", "beta_slow")
    if "factor" not in found.values:
        _scale_nothing(found, "yarn has no factor, so the converter warns and writes no scaling")
        return
    found.need_keys("llama.cpp", "original")
    found.step_at_end("beta_slow", "beta_fast", at="beta_fast")
    if found.block.values.get("truncate") is False:
        found.notes.append("truncate is not read: ggml rounds the ends of the ramp to whole pairs")
    if "attention_factor" in found.block.values:
        found.notes.append("attention_factor is written and not used: 0.1 ln s + 1 takes its place")
    divisor = found.block.find("mscale_all_dim")
    if divisor and found.configuration.model.startswith(("deepseek", "kimi")):
        found.values |= {"mscale": divisor, "mscale_all_dim": divisor}
        found.notes.append("mscale is not read: it is taken to equal mscale_all_dim, so the attention factor is 1")
    elif divisor and found.configuration.model.startswith(("ministral3", "mistral4")):
        found.values |= {"mscale": 1.0, "mscale_all_dim": divisor}
    elif divisor or "mscale" in found.block.values:
        found.notes.append("mscale and mscale_all_dim are not read for this model")


def _fill_llama3(found: Description) -> None:
    found.copy_keys("factor", "low_freq_factor", "high_freq_factor")
    found.step_at_end("low_freq_factor", "high_freq_factor", at="high_freq_factor")
    stated = found.block.find("original_max_position_embeddings")
    if stated is not None and stated != _LLAMA3_LENGTH:
        found.notes.append(
            f"original_max_position_embeddings {write_number(stated)} is not read within the scaling; "
            f"{_LLAMA3_LENGTH} is taken"
        )
    found.values["original"] = _LLAMA3_LENGTH
    found.notes.append("the scaling is a divisor for each pair in the tensor rope_freqs.weight, in float32")


def _fill_longrope(found: Description) -> None:
    found.need_keys("llama.cpp", "short_factor", "long_factor", "original")
    found.take_longrope_lengths()  # sqrt(1 + ln s/ln L), which the converter writes
    found.notes.append("the list is chosen once, by the length of the context (n_ctx)")


def _fill_proportional(found: Description) -> None:
    if "factor" in found.block.values:
        found.notes.append("factor is not read")
    found.notes.append("pairs that are not turned are divided by 1e30 in the tensor rope_freqs.weight")


def _scale_nothing(found: Description, why: str) -> None:
    found.values.pop("scaling", None)
    found.notes.append(why)


_STEPS = {
    "linear": _fill_linear,
    "dynamic": _fill_dynamic,
    "yarn": _fill_yarn,
    "llama3": _fill_llama3,
    "longrope": _fill_longrope,
    "proportional": _fill_proportional,
}

LLAMA_CPP = Stack(
    name="llama.cpp",
    title="llama.cpp with its converter, as of 2026",
    source="ggml-org/llama.cpp, conversion/base.py, conversion/llama.py (0274f0fc), conversion/phi.py (051139f5), "
    "src/llama-context.cpp, src/llama-model.cpp, ggml/src/ggml-cpu/ops.cpp",
    turn=_turn_llama_cpp,
    reads_gguf=True,
)
