"""llama.cpp: what its converter writes into a GGUF file, and what ggml then computes from that file.

Source of the second: ggml-org/llama.cpp, ggml/src/ggml-cpu/ops.cpp (rope_yarn, ggml_rope_cache_init) and ggml.c
(ggml_rope_yarn_corr_dims); src/llama-context.cpp for the attention factor.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from pe_spectra.encodings.rope_scaling import Scaled, scale_linear, scale_longrope, scale_nothing, scale_ntk, scale_yarn
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError, InputError
from pe_spectra.exact import CONTEXT
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC, SAME_FORMULA, Rotation
from pe_spectra.models.stacks.description import KINDS, SCALING_KEYS, Description, spell_option
from pe_spectra.models.stacks.stack import Reading, Stack, make_rotation
from pe_spectra.models.stated.architectures import find_windows
from pe_spectra.models.stated.converted_models import (
    LLAMA_CPP_BUILD,
    LLAMA_CPP_COMMIT,
    LLAMA_CPP_VERSION,
    find_readings,
)
from pe_spectra.models.stated.gguf_metadata import STILL
from pe_spectra.models.stated.statement import Configuration, Kept, LayerStatement
from pe_spectra.wording import write_number

#: Models that were not run whose architecture has LLAMA_ROPE_TYPE_NORM, pairs (2i, 2i + 1); others have (i, i + D/2).
_NORMAL = frozenset(("mllama_text_model", "mistral3", "chameleon", "internlm", "yi", "aquila"))
#: Llama 3's original length, which the converter takes where none is stated.
_LLAMA3_LENGTH = 8192
#: What yarn's ramp has where no key is read.
_BETAS = {"beta_fast": 32.0, "beta_slow": 1.0}
#: The scalings that were tried for each model.
PROBED = ("linear", "dynamic", "yarn", "llama3", "longrope")
#: The parameters of scalings by the keys of a block.
_NAMES = {**{key: name for name, key in SCALING_KEYS.items()}, "alpha": "factor"}
#: What ggml computes by itself; dynamic is what Hunyuan's alpha stands for.
_FUNCTIONS: Mapping[str, Callable[..., Scaled]] = {
    "linear": scale_linear,
    "dynamic": scale_ntk,
    "yarn": scale_yarn,
    "longrope": scale_longrope,
}


# --------------------------------------------------------------------- what the converter writes


def _restate(configuration: Configuration, layer: LayerStatement) -> tuple[Configuration, LayerStatement]:
    """Leave out a block that no file has and nobody fills in, and do not turn what the library does not."""
    reads = find_readings(configuration.model, layer.name)
    if reads.get("unfilled") and layer.newer is not None and layer.newer.is_of_class:
        layer = replace(layer, newer=None)
    return configuration, replace(layer, turns=False) if reads.get("unturned") else layer


def _slides(configuration: Configuration) -> Kept:
    """A GGUF file is stated as the library reads it; of config.json it goes by the architecture that is written."""
    if configuration.format == "gguf":
        return 0
    name = find_readings(configuration.model).get("architecture")
    return None if name is None else 0 if find_windows(name) else "all"


def _find_readings(found: Description) -> Mapping[str, Any]:
    return find_readings(found.configuration.model, found.layer.name)


def _choose_layout(found: Description) -> None:
    model, stated = found.configuration.model, found.layer.layout
    layout = _find_readings(found).get("layout", "interleaved" if model in _NORMAL else stated)
    if layout != stated:
        found.notes.append("the converter permutes the rows of q and k to match the layout, so scores are the same")
    if not model:
        found.notes.append("no model_type is stated, so the layout of the file is taken")
    elif not _find_readings(found):
        found.notes.append(f"the converter was not run for {model}: what its code says of others is taken")
    found.values["layout"] = layout


def _read_model(found: Description) -> None:
    """Take base and share as they are read for the model."""
    model, reads = found.configuration.model, _find_readings(found)
    base, share = reads.get("base"), found.values["share"]
    if reads.get("shares_base"):
        others = (one for one in found.configuration.layers if one.name != found.layer.name)
        base = next((one.block.base or one.default_base for one in others), base)
    if base is not None and base != found.values["base"]:
        found.values["base"] = float(base)
        why = (
            "these layers have the base of others" if "shares_base" in reads else f"rope_theta is not read for {model}"
        )
        found.notes.append(f"{why}: the base is {write_number(base)}")
    if reads.get("ignores_share") and share != 1 and found.block.kind != "proportional":  # which no model here has
        found.values["share"] = 1.0
        found.notes.append(f"the share {write_number(share)} is not read for {model}: all channels are turned")


def _refuse_unread(found: Description, reads: Mapping[str, Any], kind: str) -> None:
    """Refuse what the converter or the library does for the model; keys that lack are filled in of the newer form."""
    model, block = found.configuration.model, found.block
    if kind in reads.get("refuses", {}):
        raise InputError(
            f"{block.where or 'the file'}: rope_type {kind} is refused for {model}",
            "",
            reads["refuses"][kind],
            "refused",
        )
    key = reads.get("needs", {}).get(kind)
    if key is not None and block.where == "rope_scaling" and key not in block.values:
        raise InputError(f"{block.where}.{key} is not set", "", f"the converter needs it for {model}", "key-missing")
    only = reads.get("only", {}).get(kind)
    stated = [found.values["base"], found.configuration.length]
    if only is not None and stated not in only:
        accepted = " or ".join(f"{base:g} with {length}" for base, length in only)
        what = f"{block.where}: base and length are refused for {kind}"
        raise InputError(what, " with ".join(map(str, stated)), f"{accepted} are accepted", "refused")


def _drop_unread(found: Description) -> None:
    """Scale nothing where converter or library do not read the scaling for the model, or refuse."""
    model, kind, scaling = found.configuration.model, found.block.kind, found.values["scaling"]
    reads = _find_readings(found)
    read = {"su": "longrope"}.get(kind, kind)
    as_what = reads.get("reads", {}).get(read, "") if "reads" in reads else read
    _refuse_unread(found, reads, read)
    plain = {name: found.values[name] for name in ("d", "share", "layout", "base")}
    if scaling != "none" and read in PROBED and not as_what:
        found.values = plain
        found.leave_unscaled(f"{kind} is not written for {model}: the frequencies stay as they are")
    elif as_what == "linear" != kind and (factor := found.block.find("factor")) is not None:
        found.values = {**plain, "scaling": "linear", "factor": factor}
        found.notes.append(f"{kind} is written as linear for {model}")
    elif as_what in ("factors", "short"):
        found.values |= {
            "attention_factor": 1.0,
            **({"served": found.values["original"]} if as_what == "short" else {}),
        }
        lists = "short_factor serves every length, and " if as_what == "short" else ""
        found.notes.append(f"{lists}no attention factor is written for {model}")


def _read_linear(found: Description) -> None:
    if "factor" not in found.values:
        found.leave_unscaled("linear has no factor, so none is written")


def _read_dynamic(found: Description) -> None:
    alpha = _find_readings(found).get("alpha")
    if alpha is None and not found.configuration.model.startswith("hunyuan"):
        found.leave_unscaled("dynamic is not converted, and nothing is said: the frequencies stay as they are")
    elif not found.copy_alpha():
        found.values |= {"scaling": "ntk", "factor": float(alpha or 1)}
        found.notes.append(f"alpha is not set, so {write_number(alpha or 1)} is taken; factor is not read")


def _read_yarn(found: Description) -> None:
    if "factor" not in found.values:
        found.leave_unscaled("yarn has no factor, so the converter warns and writes no scaling")
        return
    found.need_keys("original")
    reads = _find_readings(found)
    if not reads.get("reads_betas"):
        unread = [
            key for key in ("beta_fast", "beta_slow") if found.values.pop(key, getattr(Rope, key)) != getattr(Rope, key)
        ]
        if unread:
            found.notes.append(f"{' and '.join(unread)}: written and not read for this model, 32 and 1 are taken")
    found.step_at_end("beta_slow", "beta_fast")
    if found.block.values.get("truncate") is False:
        found.notes.append("truncate is not read: ggml rounds the ends of the ramp to whole pairs")
    if "attention_factor" in found.block.values:
        found.notes.append("attention_factor is written and not used: 0.1 ln s + 1 takes its place")
    divisor = found.block.find("mscale_all_dim")
    if divisor and reads.get("mscale") == "equal":
        found.values |= {"mscale": divisor, "mscale_all_dim": divisor}
        found.notes.append("mscale is not read: it is taken to equal mscale_all_dim, so the attention factor is 1")
    elif divisor and reads.get("mscale") == "one":
        found.values |= {"mscale": 1.0, "mscale_all_dim": divisor}
    elif divisor or "mscale" in found.block.values:
        found.notes.append("mscale and mscale_all_dim are not read for this model")


def _read_llama3(found: Description) -> None:
    found.step_at_end("low_freq_factor", "high_freq_factor")
    found.values.setdefault("original", _LLAMA3_LENGTH)


def _read_proportional(found: Description) -> None:
    if "factor" in found.block.values:
        found.notes.append("factor is not read")


# --------------------------------------------------------------------- what ggml computes


def turn_gguf_layer(configuration: Configuration, layer: LayerStatement, served: int | None = None) -> Rotation:
    """Compute the rotation in one type of layer of a GGUF file.

    Raises
    ------
    FileError : a scaling that does not work out (an odd width, a length that is not stated).

    >>> from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
    >>> keys = {"general.architecture": "llama", "llama.attention.head_count": 1, "llama.embedding_length": 4}
    >>> stated = read_gguf_configuration(keys, {}, "a.gguf")
    >>> turn_gguf_layer(stated, stated.layers[0]).frequencies.tolist()
    [1.0, 0.01]
    """
    block = layer.block
    options: dict[str, Any] = {
        name: spell_option(name, block.values[key]) for key, name in _NAMES.items() if key in block.values
    }
    if block.kind == "longrope":
        options["served"] = served or configuration.length or options.get("original")
    base = layer.default_base if block.base is None else block.base
    try:
        scaled = _scale(layer, base, options) if layer.turns else Scaled(())
    except InputError as error:
        raise FileError(configuration.path, str(error)) from error
    if not all(math.isfinite(theta) for theta in scaled.frequencies):
        raise FileError(configuration.path, f"has frequencies beyond {sys.float_info.max:g}")
    scaling = {"default": "none", "dynamic": "ntk"}.get(block.kind, block.kind)
    parameters = {"base": base if layer.turns else None, "scaling": scaling, **options, "share": layer.share}
    # divisors were converted in float32
    bound = FLOAT32_ARITHMETIC if "divisors" in block.values or block.kind == "longrope" else 0.0
    key = block.find_base_key()
    rotation = make_rotation(layer, parameters, *scaled, dtype="float32", error_bound=bound, base_key=key)
    return replace(rotation, rope=_find_rope(rotation) if layer.turns else None)


def _find_rope(rotation: Rotation) -> Rope | None:
    """Find the catalogue's encoding with these frequencies; None where it has none, as for the divisors of a tensor."""
    known = {parameter.keyword for parameter in Rope.accepts}
    try:
        rope = Rope(**{key: value for key, value in rotation.parameters.items() if key in known})
    except InputError:
        return None
    values, near = rope.frequencies().values, max(SAME_FORMULA, rotation.error_bound)
    found = rotation.frequencies
    if found is None or values.shape != found.shape or not np.allclose(values, found, rtol=near, atol=0):
        return None
    return rope


def _scale(layer: LayerStatement, base: float, options: Mapping[str, Any]) -> Scaled:
    """Scale as ggml does, then divide by the numbers of a tensor; llama3 is in the tensor alone."""
    block, divisors = layer.block, layer.block.values.get("divisors")
    function = _FUNCTIONS.get(block.kind) if block.kind != "longrope" or divisors is None else None
    if block.kind == "yarn":
        # max(0.001, high - low): with the ends in the wrong order ggml has a step at the first
        fast = options.get("beta_fast", 32.0)
        options = {**options, "beta_slow": min(options.get("beta_slow", 1.0), fast)}
    if function in (scale_yarn, scale_longrope) and "original" not in options:
        raise InputError("context_length is not stated", accepted=f"{block.kind} depends on it")
    width = int(layer.head_dim * layer.share) if block.kind != "proportional" else layer.head_dim
    scaled = scale_nothing(base, width) if function is None else function(base, width, **options)
    return scaled._replace(frequencies=_divide(scaled.frequencies, divisors)) if isinstance(divisors, tuple) else scaled


def _divide(frequencies: Sequence[Decimal], divisors: tuple[float, ...]) -> tuple[Decimal, ...]:
    """Divide each frequency by its number in the tensor; a huge one stands for 0."""
    return tuple(
        Decimal(0) if by >= STILL else CONTEXT.divide(theta, Decimal(by))
        for theta, by in zip(frequencies, divisors, strict=True)
    )


LLAMA_CPP = Stack(
    name="llama.cpp",
    package="llama-cpp-python",
    title=f"llama.cpp {LLAMA_CPP_BUILD} ({LLAMA_CPP_COMMIT}) with its converter, "
    f"as in llama-cpp-python {LLAMA_CPP_VERSION}",
    version=LLAMA_CPP_VERSION,
    commit=LLAMA_CPP_COMMIT,
    build=LLAMA_CPP_BUILD,
    date="2026-11-28",
    how="measured",
    source=f"ggml-org/llama.cpp {LLAMA_CPP_COMMIT}, conversion/, src/llama-context.cpp, src/llama-model.cpp, "
    "ggml/src/ggml-cpu/ops.cpp",
    reader="llama.cpp",
    kinds=KINDS,
    unknown="rope_type {kind} is not known to the converter, which warns and writes no scaling",
    choose=lambda layer: (layer.block.fill_base(layer.older), ()),
    restate=_restate,
    slides=_slides,
    begin=(_read_model,),
    readings={
        "linear": Reading(takes=("factor",), then=(_read_linear,)),
        "dynamic": Reading(then=(_read_dynamic,)),
        "yarn": Reading(takes=("factor", "beta_fast", "beta_slow"), then=(_read_yarn,)),
        "llama3": Reading(
            takes=("factor", "low_freq_factor", "high_freq_factor", "original"),
            then=(_read_llama3,),
            notes=("the scaling is a divisor for each pair in the tensor rope_freqs.weight, in float32",),
        ),
        "longrope": Reading(
            needs=("short_factor", "long_factor", "original"),
            then=(Description.take_longrope_lengths,),  # sqrt(1 + ln s/ln L), which the converter writes
            notes=("the list is chosen once, by the length that is allocated (n_ctx), not by what is served of it",),
            by_allocation=True,
        ),
        "proportional": Reading(
            then=(_read_proportional,),
            notes=("pairs that are not turned are divided by 1e30 in the tensor rope_freqs.weight",),
        ),
    },
    finish=(_choose_layout, _drop_unread),
    dtype="float32",
    read_gguf=turn_gguf_layer,
)
