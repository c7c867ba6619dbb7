"""The tensors of a GGUF file that divide frequencies, read as the scaling that made them.

rope_freqs.weight has Llama 3's scaling, or 1e30 for each pair that does not turn (Gemma 4);
rope_factors_long.weight and rope_factors_short.weight are the lists of LongRoPE.
Source: ggml-org/llama.cpp, convert_hf_to_gguf.py; src/llama-model.cpp, get_rope_factors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.statement import KeyValue, LayerStatement, RotaryBlock

DIVISORS, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
#: A divisor from here on stands for a pair that does not turn.
STILL = 1e20
#: Divisors were computed in float32 when the file was made.
_TOLERANCE = 1e-5
#: llama3 as it was published: the length before it, and the turns between which it blends (Llama 3, Llama 4).
_LLAMA3_LENGTH, _LLAMA3_ENDS = 8192, ((1.0, 4.0), (1.0, 1.0))
SCALING_IN_TENSOR = Kind(
    code="scaling-in-tensor",
    levels=("note",),
    phrase="the scaling is in a tensor, not among the keys",
    reasoning="A GGUF file of a Llama 3 model names no scaling among its keys: the divisor of each pair is in the "
    "tensor rope_freqs.weight. A reader of the keys alone takes the plain ladder.",
    formula="the divisors of rope_freqs.weight are those of llama3 scaling within float32",
    references=("ggml-org/llama.cpp, convert_hf_to_gguf.py",),
)


def apply_tensors(
    layer: LayerStatement,
    tensors: Mapping[str, tuple[float, ...]],
    findings: list[Finding],
    keys: Keys,
    length: int | None,
) -> LayerStatement:
    """Read the tensors as a scaling of the layer; what was found is added to `findings`.

    The values of the block then have `divisors` too: the numbers as they are in the file.

    Parameters
    ----------
    layer : with its keys in `older`. tensors : numbers by name. keys : the keys of the architecture.
    length : the stated context length; None where none is.

    Raises
    ------
    FileError : a tensor that does not have a number above 0 for each pair, or longrope without its tensors.

    >>> findings: list[Finding] = []
    >>> layer = LayerStatement(head_dim=4, default_base=1e4)
    >>> found = apply_tensors(layer, {DIVISORS: (1.0, 8.0)}, findings, Keys({}, "a.gguf"), 4096)
    >>> found.older.values["divisors"]
    (1.0, 8.0)
    """
    block = layer.older or RotaryBlock(where="")
    pairs = int(layer.head_dim * layer.share) // 2
    for name, numbers in tensors.items():
        if len(numbers) != pairs or not all(0 < number < math.inf for number in numbers):
            accepted = f"{pairs} numbers above 0, one for each pair, are accepted"
            raise FileError(keys.path, f"tensor {name} cannot be used ({len(numbers)} numbers); {accepted}")
    original = keys.find_integer("rope.scaling.original_context_length")
    if DIVISORS in tensors:
        return _apply_divisors(layer, block, tensors[DIVISORS], findings, original or length)
    if LONG in tensors and SHORT in tensors:
        values = _list_divisors(tensors[SHORT], tensors[LONG], original or length)
        values["attention_factor"] = keys.find_number("rope.scaling.attn_factor") or 1.0
        return replace(layer, older=replace(block, kind="longrope", values=values))
    if LONG in tensors or SHORT in tensors:
        raise FileError(keys.path, f"has one of the tensors {SHORT} and {LONG}; both are needed")
    if keys.find_text("rope.scaling.type") == "longrope":
        keys.refuse("rope.scaling.type", f"longrope with the tensors {SHORT} and {LONG} is accepted")
    return layer


def _list_divisors(short: tuple[float, ...], long: tuple[float, ...], original: int | None) -> dict[str, KeyValue]:
    values: dict[str, KeyValue] = {"short_factor": short, "long_factor": long}
    if original is not None:
        values["original_max_position_embeddings"] = float(original)
    return values


def _apply_divisors(
    layer: LayerStatement,
    block: RotaryBlock,
    divisors: tuple[float, ...],
    findings: list[Finding],
    original: int | None,
) -> LayerStatement:
    if set(divisors) == {1.0}:
        return layer
    still = sum(divisor >= STILL for divisor in divisors)
    if block.kind == "default" and still and set(divisors[: len(divisors) - still]) <= {1.0}:
        share = (len(divisors) - still) / len(divisors)
        message = f"{DIVISORS} keeps {still} of {len(divisors)} pairs from turning"
        findings.append(SCALING_IN_TENSOR.find(message, scaling="proportional", still=still))
        values: dict[str, KeyValue] = {"divisors": divisors}
        return replace(layer, share=share, older=replace(block, kind="proportional", values=values))
    base = layer.default_base if block.base is None else block.base
    found = _recognise_llama3(divisors, base, original) if block.kind == "default" else None
    if found is not None:
        message = f"the scaling is in the tensor {DIVISORS}: llama3 with factor {found['factor']:g}"
        findings.append(SCALING_IN_TENSOR.find(message, scaling="llama3", factor=found["factor"]))
        return replace(layer, older=replace(block, kind="llama3", values={**found, "divisors": divisors}))
    message = f"{DIVISORS} divides frequencies by {min(divisors):g} to {max(divisors):g}, which is no known scaling"
    findings.append(SCALING_IN_TENSOR.find(message, scaling="divisors", least=min(divisors), most=max(divisors)))
    if block.kind != "default":
        return replace(layer, older=replace(block, values={**block.values, "divisors": divisors}))
    values = _list_divisors(divisors, divisors, original)
    values |= {"attention_factor": 1.0, "divisors": divisors}
    return replace(layer, older=replace(block, kind="longrope", values=values))


def _recognise_llama3(divisors: Sequence[float], base: float, original: int | None) -> dict[str, float] | None:
    """Find the constants of llama3 that give these divisors; None where no published ones do."""
    factor = round(max(divisors), 4)
    for length in dict.fromkeys((_LLAMA3_LENGTH, original or _LLAMA3_LENGTH)):
        for low, high in _LLAMA3_ENDS:
            keys: dict[str, Any] = {"low_freq_factor": low, "high_freq_factor": high, "factor": factor}
            if _agree(divisors, base, length, keys):
                return {**keys, "original_max_position_embeddings": float(length)}
    return None


def _agree(divisors: Sequence[float], base: float, length: int, keys: Mapping[str, float]) -> bool:
    width = 2 * len(divisors)
    scaled = scale_llama3(base, width, original=length, **keys).frequencies
    for before, after, divisor in zip(compute_ladder(base, width), scaled, divisors, strict=True):
        if abs(float(before / after) / divisor - 1) > _TOLERANCE:
            return False
    return True
