"""Findings about numbers: attention factors, tables, precision, and files that give no rotation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pe_spectra.encodings.rope_scaling import compute_longrope_attention, compute_yarn_attention
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.about_scaling import OLDER_NAME
from pe_spectra.models.dumps.rounding import ROUNDOFF
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.statement import PENG, TRANSFORMERS, Configuration
from pe_spectra.wording import write_number, write_rounded

#: Attention factors that differ by less agree.
_NEAR = 0.01
#: The largest number of the types that weights are stored in, where float32 has more digits.
_LARGEST = {"bfloat16": 3.4e38, "float16": 65504.0}
_LISTS = ("short_factor", "long_factor")
ATTENTION_FACTOR = Kind(
    code="attention-factor",
    levels=("warning",),
    phrase="the attention factor is not the one of its formula",
    reasoning="The attention factor stands on every cosine and sine, so scores have its square. A file may give it, "
    "but then it should be the one that the model was trained with; usually that is the formula's.",
    formula="yarn: 0.1 ln s + 1, or the ratio of mscale and mscale_all_dim; longrope: sqrt(1 + ln s / ln L); a "
    "difference above 1 % is reported",
    references=(PENG, TRANSFORMERS),
)
PRECISION = Kind(
    code="precision",
    levels=("note",),
    phrase="angles in the type of the weights would lose digits",
    reasoning="bfloat16 has 8 significant bits, float16 11. Positions above 256 (2,048) are no longer distinct when "
    "they are cast, and an angle of thousands of radians loses whole turns. Healthy models compute angles in float32 "
    "and cast cosines and sines afterwards; a port that does not is wrong from there on.",
    formula="error up to 2**floor(log2 a) u at the angle a = (l - 1) max theta_i, half a unit in the last place: u = "
    "2**-8 for bfloat16, 2**-11 for float16, 2**-24 for float32",
    references=("Wang et al. 2024, arXiv:2411.13476 (bfloat16 breaks the relative property of RoPE)",),
)
POSITION_TABLE_SHORT = Kind(
    code="position-table-short",
    levels=("error",),
    phrase="the table has fewer rows than there are positions",
    reasoning="A learned table has one row for each position. Beyond the last there is none: readers fail, or clip the "
    "index and give all positions behind the last row.",
    formula="rows that are positions < the inference context length (what the file states, or --served)",
    references=("Devlin et al. 2019, arXiv:1810.04805",),
)
UNKNOWN_SCALING = Kind(
    code="unknown-scaling",
    levels=("error",),
    phrase="the scaling is not known",
    reasoning="A scaling that is not known is never replaced by another: no frequencies are given. Some readers fall "
    "back to none in silence, which gives other numbers than the model was trained with.",
    formula="rope_type is none of those that transformers 5 has",
    references=(TRANSFORMERS,),
)
LIST_LENGTH = Kind(
    code="list-length",
    levels=("error",),
    phrase="a list of the scaling has the wrong length",
    reasoning="LongRoPE divides each pair by a number of its own, so its lists have one number for each pair, half the "
    "rotary width.",
    formula="len(short_factor) = len(long_factor) = D/2",
    references=("Ding et al. 2024, arXiv:2402.13753", TRANSFORMERS),
)
KEY_MISSING = Kind(
    code="key-missing",
    levels=("error",),
    phrase="a key that the scaling needs is missing",
    reasoning="The scaling that the file names cannot be computed without this key. Readers refuse the file, or fail "
    "later with a less clear message.",
    formula="the keys that transformers 5 requires for each rope_type",
    references=(TRANSFORMERS,),
)
REFUSED = Kind(
    code="refused",
    levels=("error",),
    phrase="the values give no rotation",
    reasoning="No rotation is computed here for the values of the file: an odd rotary width, a share above 1, numbers "
    "beyond all that is published. Some releases load such a file all the same and turn by something that nobody "
    "meant.",
    formula="D = int(head_dim x partial_rotary_factor) is even and at most head_dim; 0.001 <= factor <= 10**6; 10**-6 "
    "<= beta_fast, beta_slow, low_freq_factor, high_freq_factor <= 10**6",
    references=(TRANSFORMERS,),
)


def _check_attention(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare an attention factor that a file gives with the one that its scaling would compute."""
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
        yield layer.find(ATTENTION_FACTOR, message, given=given, computed=computed)


def _check_precision(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say what the angles of the fastest pair would lose in the type that the weights have."""
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
        f"computed in {kind}, as the weights are stored, angles at position {last:,} would be off by up to "
        f"{write_rounded(error)} rad and positions above {merged} merge{beyond}; keep angles in float32 (up to "
        f"{write_rounded(in_float32, 2)} rad)"
    )
    numbers: dict[str, Any] = {
        "dtype": kind,
        "phase_error": error,
        "phase_error_float32": in_float32,
        "merged_above": merged,
    }
    yield layer.find(PRECISION, message, **numbers)


def _measure_half_spacing(name: str, number: float) -> float:
    """Half the distance of neighbouring numbers of a type at a number: what rounding to it leaves at most."""
    return math.ldexp(ROUNDOFF[name], math.frexp(number)[1] - 1)


def _check_table(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the rows of a table of positions with the length that is stated or served."""
    rows = configuration.values.get("rows")
    if configuration.scheme != "learned" or not isinstance(rows, int) or layer.served_length is None:
        return
    unused = int(configuration.values.get("unused", 0))
    if rows - unused >= layer.served_length:
        return
    kept = f" ({unused} of {rows} rows are no positions)" if unused else ""
    message = (
        f"the table of positions has {rows - unused:,} rows{kept}, fewer than the "
        f"{layer.served_length:,} positions that are asked for; there is no row beyond"
    )
    yield layer.find(POSITION_TABLE_SHORT, message, rows=rows, unused=unused, served=layer.served_length)


def report_refusal(configuration: Configuration, layer: LayerAudit, refusal: Refusal) -> Finding:
    """Turn a refusal of the answering stack into a finding, of the kind of its cause.

    >>> from pe_spectra.models.scheme import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "rope_scaling": {"type": "magic", "factor": 2.0}}
    >>> stated = read_configuration(config, "config.json")
    >>> (layer,), ((_, refusal),) = build_layers(stated)
    >>> report_refusal(stated, layer, refusal).code
    'unknown-scaling'
    """
    block, kind = layer.block, REFUSED
    if "older name" in refusal.reason:
        kind = OLDER_NAME
    elif "rope_type" in refusal.reason:
        kind = UNKNOWN_SCALING
    elif "is not set" in refusal.reason or "is not stated" in refusal.reason:
        kind = KEY_MISSING
    elif any(key in refusal.reason for key in _LISTS):
        kind = LIST_LENGTH
    data: dict[str, Any] = {} if block is None else {"where": block.where, "rope_type": block.kind}
    reason = refusal.reason.removeprefix(f"{configuration.path}: ")
    if layer.rotation is None:
        message = f"no rotation is computed here: {reason}"
    else:
        message = f"{STACKS['transformers-5'].title} refuses the file: {reason}; what transformers 4 reads is given"
    return layer.find(kind, message, level="error", **data)


CHECKS = (_check_attention, _check_table, _check_precision)
