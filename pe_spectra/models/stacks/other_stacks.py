"""vLLM, the code of Llama's makers, and the paper of YaRN."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import Scaled, enlarge_base
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT
from pe_spectra.models.stacks.description import SCALING_KEYS, Description
from pe_spectra.models.stacks.kept_windows import keep_windows, refuse_mixed
from pe_spectra.models.stacks.stack import LINEAR, Reading, Stack
from pe_spectra.models.stated.meta_release import LLAMA3, LLAMA4, LLAMA_LENGTH
from pe_spectra.wording import write_number

_ONE = Decimal(1)


# --------------------------------------------------------------------- vLLM: one table for the whole run

#: Models whose class asks for deepseek_yarn, which reads mscale.
_DEEPSEEK = ("deepseek", "kimi", "longcat", "glm_moe_dsa", "glm4_moe_lite")


def _scale_dynamic_fixed(found: Description, width: int) -> Scaled:
    """Enlarge the base once and for all: b' = b (s**2 - s + 1)**(D/(D-2)), which is dynamic NTK at l = s L.

    Source: vllm-project/vllm, dynamic_ntk_scaling_rope.py before pull request 41277; issue 41236.
    """
    s = Decimal(found.values["factor"])
    growth = CONTEXT.add(CONTEXT.subtract(CONTEXT.multiply(s, s), s), _ONE)
    return Scaled(compute_ladder(enlarge_base(found.values["base"], width, growth), width))


def _scale_ntk_mixed(found: Description, width: int) -> Scaled:
    """Divide pair i by s**((2 (i + 1)/D)**m), the slowest by s; m is the key mixed_b, and 1 without it.

    Source: vllm-project/vllm, ntk_scaling_rope.py, after Su 2023, kexue.fm/archives/9706.
    """
    s, mixed = Decimal(found.values["factor"]), Decimal(found.block.find("mixed_b") or 1)
    shares = (CONTEXT.divide(Decimal(2 * i), Decimal(width)) for i in range(1, width // 2 + 1))
    divisors = (CONTEXT.power(s, CONTEXT.power(share, mixed)) for share in shares)
    return Scaled(tuple(map(CONTEXT.divide, compute_ladder(found.values["base"], width), divisors)))


def _read_dynamic(found: Description) -> None:
    if found.copy_alpha():
        return
    found.need_keys("factor")
    found.values["original"] = found.find_length()
    s = found.values["factor"]
    found.notes.append(
        f"the length that is served changes nothing: the base grows by s^2 - s + 1 = {write_number(s * s - s + 1)} for "
        "every one (issue 41236)"
    )


def _scale_dynamic_trained(found: Description, width: int) -> Scaled:
    """Enlarge the base by (s L / T - (s - 1))**(D/(D-2)), T the key max_trained_positions; without it not at all.

    Source: vllm-project/vllm 0.33.0, dynamic_ntk_scaling_rope.py, where L is the length that the file states.
    """
    trained = found.block.find("max_trained_positions")
    base, s = found.values["base"], Decimal(found.values["factor"])
    length = Decimal(found.values["original"])
    growth = CONTEXT.divide(CONTEXT.multiply(s, length), length if trained is None else Decimal(trained))
    return Scaled(compute_ladder(enlarge_base(base, width, CONTEXT.subtract(growth, CONTEXT.subtract(s, _ONE))), width))


def _read_dynamic_trained(found: Description) -> None:
    if found.copy_alpha():
        return
    found.need_keys("factor")
    found.values["original"] = found.find_length()
    trained = found.block.find("max_trained_positions")
    words = "the length that is served changes nothing: the base grows once, from max_trained_positions"
    found.notes.append("without max_trained_positions dynamic scales nothing" if trained is None else words)


def _read_yarn_of_spring(found: Description) -> None:
    if found.block.values.get("attention_factor") is not None:
        found.notes.append("attention_factor is not read: its key is attn_factor, a factor on 0.1 ln s + 1")
    if found.configuration.model.startswith(_DEEPSEEK):
        _read_deepseek(found)
        return
    found.copy_truncate()
    if found.list_unread("mscale", "mscale_all_dim"):
        found.notes.append("mscale and mscale_all_dim are not read for this model")


def _read_yarn_of_vllm(found: Description) -> None:
    if found.configuration.model.startswith(_DEEPSEEK):
        _read_deepseek(found)
        return
    found.copy_truncate()
    found.copy_keys("attention_factor")
    factors = [found.block.find(key) for key in ("mscale", "mscale_all_dim")]
    if all(factors):  # each of them alone, and 0, is "not set"
        found.copy_keys("mscale", "mscale_all_dim")


def _read_deepseek(found: Description) -> None:
    # deepseek_yarn: mscale is 1 and mscale_all_dim 0 where they are not set
    mscale = found.block.find("mscale")
    divisor = found.block.find("mscale_all_dim")
    if divisor:
        found.values |= {"mscale": 1.0 if mscale is None else mscale, "mscale_all_dim": divisor}
    elif mscale is not None:
        found.values["attention_factor"] = 0.1 * mscale * math.log(max(1.0, found.values["factor"])) + 1


def _refuse_integer(found: Description) -> None:
    if "factor" in found.block.integers:
        accepted = f"{write_number(found.values['factor'])}.0 is read; an integer raises a TypeError"
        raise InputError(f"{found.block.where}: factor is an integer", write_number(found.values["factor"]), accepted)


def _refuse_turns(found: Description) -> None:
    if found.layer.layout == "interleaved":
        accepted = "rope_type longrope needs it"
        raise InputError("longrope is computed for the layout half alone", found.layer.layout, accepted)


#: Models whose files ask for the chunks (tests/reference/vllm/chunks.py).
_CHUNKED = frozenset(
    {"hyperclovax", "interns1_pro", "iquest_loopcoder", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next"}
)

VLLM_SPRING = Stack(
    name="vllm",
    title="vLLM 0.19.1",
    package="vllm",
    version="0.19.1",
    date="2026-11-30",
    how="measured",
    source="vllm 0.19.1, vllm/model_executor/layers/rotary_embedding/",
    chunked=_CHUNKED | {"ouro"},
    slides=keep_windows("vllm", "0.19.1"),
    begin=(refuse_mixed("vllm", "0.19.1"),),
    reader="vLLM",
    # older spellings are translated by patch_legacy_rope_type
    kinds=("default", "mrope", "linear", "dynamic", "ntk", "yarn", "llama3", "longrope", "su", "proportional"),
    readings={
        "linear": Reading(needs=("factor",), then=(_refuse_integer,)),
        "ntk": Reading(needs=("factor",), formula=_scale_ntk_mixed),
        "dynamic": Reading(then=(_read_dynamic,), formula=_scale_dynamic_fixed),
        "yarn": Reading(
            needs=("factor",),
            takes=("beta_fast", "beta_slow"),
            then=(Description.take_original, _read_yarn_of_spring),
        ),
        "llama3": Reading(
            needs=("factor", "low_freq_factor", "high_freq_factor"),
            then=(lambda found: found.step_at_end("low_freq_factor", "high_freq_factor"), Description.take_original),
        ),
        "longrope": Reading(
            needs=("short_factor", "long_factor"),
            then=(Description.take_longrope_lengths, _refuse_turns),
            notes=(
                "the list is chosen once, by the length that is allocated (max_model_len), not by what is served of it",
            ),
            by_allocation=True,
        ),
    },
)


VLLM = replace(
    VLLM_SPRING,
    title="vLLM 0.33.0",
    version="0.33.0",
    source="vllm 0.33.0, vllm/model_executor/layers/rotary_embedding/",
    chunked=_CHUNKED | {"k2_horizon"},
    slides=keep_windows("vllm", "0.33.0"),
    begin=(refuse_mixed("vllm", "0.33.0"),),
    readings={
        **VLLM_SPRING.readings,
        "dynamic": Reading(then=(_read_dynamic_trained,), formula=_scale_dynamic_trained),
        "yarn": Reading(
            needs=("factor",), takes=("beta_fast", "beta_slow"), then=(Description.take_original, _read_yarn_of_vllm)
        ),
    },
)


# --------------------------------------------------------------------- what was published with a method

#: Says that no key states the factor, which other stacks know by the width of the model.
_BY_WIDTH = "factor-by-width"
#: The constants of Llama 4 for which params.json may have others.
_READ_BY_LLAMA4 = ("factor", "high_freq_factor")


def _take_constants(found: Description) -> None:
    fourth = found.configuration.model.startswith("llama4")
    by_width = any(finding.code == _BY_WIDTH for finding in found.configuration.findings)
    for name, fixed in {**(LLAMA4 if fourth else LLAMA3), "original": LLAMA_LENGTH}.items():
        stated = found.block.find(SCALING_KEYS[name])
        if stated is not None and fourth and name in _READ_BY_LLAMA4:
            found.values[name] = stated
        elif name == "factor" and by_width and stated != fixed:
            found.values[name] = fixed
            found.notes.append(f"the factor is {write_number(fixed)} in the code, whatever the width of the model")
        else:
            found.fix(name, fixed)


def _read_yarn_of_paper(found: Description) -> None:
    found.values["scaling"] = "yarn-paper"
    if unread := found.list_unread("attention_factor", "mscale", "mscale_all_dim", "truncate"):
        found.notes.append(f"{unread}: not in the paper")


META = Stack(
    name="meta",
    title="Meta's llama-models, as of July 2025",
    date="2025-07",
    source="meta-llama/llama-models a9c89c47, models/llama3/model.py, models/llama4/model.py",
    reader="llama-models",
    kinds=("default", "llama3"),
    slides=lambda configuration: 0 if configuration.format == "params.json" else None,
    begin=(Description.turn_whole_heads,),
    readings={"llama3": Reading(then=(_take_constants,))},
    finish=(Description.turn_pairs,),
    dtype="float32",
)
YARN_PAPER = Stack(
    name="yarn-paper",
    title="YaRN as its paper has it",
    source="Peng et al. 2023, arXiv:2309.00071, Eq. 17 to 22",
    reader="the paper of YaRN",
    kinds=("default", "linear", "yarn"),
    readings={
        "linear": LINEAR,
        "yarn": Reading(
            needs=("factor",), takes=("beta_fast", "beta_slow"), then=(Description.take_original, _read_yarn_of_paper)
        ),
    },
    dtype=None,
)
