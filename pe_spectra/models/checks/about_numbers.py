"""Findings about numbers: attention factors, ends of ramps, precision, and files that give no rotation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pe_spectra.encodings.rope_scaling import compute_longrope_attention, compute_yarn_attention
from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.making import make, write_length
from pe_spectra.models.dumps.rounding import ROUNDOFF
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.statement import Configuration
from pe_spectra.models.wording import write_number, write_rounded

#: Attention factors that differ by less agree.
_NEAR = 0.01
#: The largest number of the types that weights are stored in, where float32 has more digits.
_LARGEST = {"bfloat16": 3.4e38, "float16": 65504.0}
_LISTS = ("short_factor", "long_factor")
#: The ends of a ramp by its scaling, in turns within the original length: below, above; as they are where not set.
_ENDS = {
    "yarn": (("beta_slow", 1.0), ("beta_fast", 32.0)),
    "llama3": (("low_freq_factor", 1.0), ("high_freq_factor", 4.0)),
}


def check_attention(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare an attention factor that a file gives with the one that its scaling would compute.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> scaling = {"type": "yarn", "factor": 4.0, "attention_factor": 2.0}
    >>> config = {"rope_scaling": scaling, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_attention(stated, layer)]
    ['attention-factor']
    """
    block = layer.block
    given = block.find("attention_factor") if block is not None else None
    if block is None or given is None or layer.rotation is None or block.attention_by_class:
        return
    options = layer.rotation.options
    factor, original = options.get("factor"), options.get("original")
    if not isinstance(factor, int | float):
        return
    if layer.rotation.scaling == "yarn":
        computed = float(compute_yarn_attention(factor, block.find("mscale"), block.find("mscale_all_dim")))
    elif layer.rotation.scaling == "longrope" and isinstance(original, int):
        computed = float(compute_longrope_attention(factor, original))
    else:
        return
    if abs(given / computed - 1) > _NEAR:
        message = (
            f"{block.where}.attention_factor is {given:g}, while factor {write_number(factor)} gives {computed:.6g}; "
            f"attention scores are {write_rounded((given / computed) ** 2, 4)} times what the formula means; leave it "
            "out unless trained so"
        )
        yield make("warning", "attention-factor", message, layer, given=given, computed=computed)


def check_order(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a ramp ends before it begins, which readers compute all the same.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> scaling = {"type": "yarn", "factor": 4.0, "beta_fast": 1, "beta_slow": 32}
    >>> config = {"rope_scaling": scaling, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_order(stated, layer)]
    ['scaling-order']
    """
    block, rotation = layer.block, layer.rotation
    if block is None or rotation is None or rotation.scaling not in _ENDS:
        return
    (low_name, low), (high_name, high) = (
        (name, block.find(name) or default) for name, default in _ENDS[rotation.scaling]
    )
    if low <= high:
        return
    backwards = rotation.scaling == "yarn" and configuration.format == "config.json"
    effect = (
        "the ramp runs backwards: pairs that turn often are slowed, and those that hardly turn are not"
        if backwards
        else "there is no ramp: pairs are slowed by the whole factor or not at all"
    )
    message = (
        f"{block.where}.{high_name} {write_number(high)} is below {low_name} {write_number(low)}, so {effect}; "
        "exchange the two, unless the model was trained so"
    )
    yield make("error", "scaling-order", message, layer, **{low_name: low, high_name: high})


def check_small_factor(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a factor is below 1, which readers compute all the same.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"rope_scaling": {"type": "linear", "factor": 0.5}, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_small_factor(stated, layer)]
    ['factor-below-one']
    """
    block, rotation = layer.block, layer.rotation
    factor = rotation.options.get("factor") if rotation is not None else None
    if block is None or not isinstance(factor, int | float) or factor >= 1:
        return
    key = next((key for key in ("factor", "alpha") if block.find(key) == factor), None)
    what = f"{block.where}.{key}" if key else "max_position_embeddings over original_max_position_embeddings"
    advice = f"was {write_number(1 / factor)} meant?" if key else "check the two lengths"
    message = f"{what} is {write_number(factor)}, below 1, while a scaling lengthens a context by its factor: {advice}"
    yield make("warning", "factor-below-one", message, layer, factor=factor)


def check_precision(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say what the angles of the fastest pair would lose in the type that the weights have.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"torch_dtype": "bfloat16", "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_precision(stated, layer)]
    ['precision']
    """
    kind = (configuration.dtype or "").removeprefix("torch.")
    if kind not in _LARGEST or not layer.frequencies.size or layer.served_length is None:
        return
    last = layer.served_length - 1
    fastest = float(layer.frequencies.max())
    merged = int(1 / ROUNDOFF[kind])  # from here on the spacing of the type is above 1
    if last <= merged:
        return
    error, in_float32 = (_measure_half_spacing(name, last * fastest) for name in (kind, "float32"))
    beyond = f"; positions above {_LARGEST[kind]:g} overflow" if last > _LARGEST[kind] else ""
    message = (
        f"computed in {kind}, as the weights are stored, angles at position {write_length(last)} would be off by up to "
        f"{write_rounded(error)} rad and positions above {merged} merge{beyond}; keep angles in float32 (up to "
        f"{write_rounded(in_float32, 2)} rad)"
    )
    data = {"dtype": kind, "phase_error": error, "phase_error_float32": in_float32, "merged_above": merged}
    yield make("note", "precision", message, layer, **data)


def _measure_half_spacing(name: str, number: float) -> float:
    """Half the distance of neighbouring numbers of a type at a number: what rounding to it leaves at most."""
    return math.ldexp(ROUNDOFF[name], math.frexp(number)[1] - 1)


def report_refusal(configuration: Configuration, layer: LayerAudit, refusal: Refusal) -> Finding:
    """Turn a refusal of the answering stack into a finding, under the code of its cause.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "rope_scaling": {"type": "magic", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> (layer,), ((_, refusal),) = build_layers(stated)
    >>> report_refusal(stated, layer, refusal).code
    'unknown-scaling'
    """
    block = layer.block
    code = "refused"
    if "older name" in refusal.reason:
        code = "older-name"
    elif "rope_type" in refusal.reason:
        code = "unknown-scaling"
    elif "is not set" in refusal.reason or "is not stated" in refusal.reason:
        code = "key-missing"
    elif any(key in refusal.reason for key in _LISTS):
        code = "list-length"
    data = {} if block is None else {"where": block.where, "rope_type": block.kind}
    reason = refusal.reason.removeprefix(f"{configuration.path}: ")
    if layer.rotation is None:
        message = f"no rotation is computed here: {reason}"
    else:
        message = f"{STACKS['transformers-5'].title} refuses the file: {reason}; what transformers 4 reads is given"
    return make("error", code, message, layer, **data)
