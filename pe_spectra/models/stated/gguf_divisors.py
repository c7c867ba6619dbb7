"""The tensors of a GGUF file that divide frequencies, read as the scaling that made them.

rope_freqs.weight has Llama 3's scaling, or 1e30 for each pair that does not turn (Gemma 4);
rope_factors_long.weight and rope_factors_short.weight are the lists of LongRoPE.
Source: ggml-org/llama.cpp, convert_hf_to_gguf.py; src/llama-model.cpp, get_rope_factors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.statement import NO_BLOCK, KeyValue, LayerStatement

DIVISORS, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
#: A divisor from here on stands for a pair that does not turn.
STILL = 1e20
#: Divisors were computed in float32 when the file was made.
_TOLERANCE = 1e-5
#: llama3 as it was published: the length before it, and the turns between which it blends (Llama 3, Llama 4).
_LLAMA3_LENGTH, _LLAMA3_ENDS = 8192, ((1.0, 4.0), (1.0, 1.0))
_SCALING_IN_TENSOR = Kind(
    code="scaling-in-tensor",
    levels=("note",),
    phrase="the scaling is in a tensor, not among the keys",
    reasoning="A GGUF file of a Llama 3 model names no scaling among its keys: the divisor of each pair is in the "
    "tensor rope_freqs.weight. A reader of the keys alone takes the plain ladder.",
    formula="the divisors of rope_freqs.weight are those of llama3 scaling within float32",
    references=("ggml-org/llama.cpp, convert_hf_to_gguf.py",),
)


def apply_tensors(
    layer: LayerStatement, tensors: Mapping[str, tuple[float, ...]], keys: Keys, length: int | None
) -> LayerStatement:
    """Read the tensors as a scaling of the layer, whose keys are in `older`; what is found is reported.

    The values of the block then have `divisors` too: the numbers as they are in the file.

    Parameters
    ----------
    tensors : numbers by name. keys : of the architecture. length : the stated context length; None where none is.

    Raises
    ------
    FileError : a tensor that does not have a number above 0 for each pair, or longrope without its tensors.

    >>> layer = LayerStatement(head_dim=4, default_base=1e4)
    >>> found = apply_tensors(layer, {DIVISORS: (1.0, 8.0)}, Keys({}, "a.gguf"), 4096)
    >>> found.older.values["divisors"]
    (1.0, 8.0)
    """
    pairs = int(layer.head_dim * layer.share) // 2
    for name, numbers in tensors.items():
        if len(numbers) != pairs or not all(0 < number < math.inf for number in numbers):
            accepted = f"{pairs} numbers above 0, one for each pair, are accepted"
            raise FileError(keys.path, f"tensor {name} cannot be used ({len(numbers)} numbers); {accepted}")
    original = keys.find_integer("rope.scaling.original_context_length") or length
    if DIVISORS in tensors:
        divisors = tensors[DIVISORS]
        return layer if set(divisors) == {1.0} else _apply_divisors(layer, divisors, keys, original)
    if LONG in tensors and SHORT in tensors:
        factor = keys.find_number("rope.scaling.attn_factor") or 1.0
        return _scale(layer, "longrope", _list_divisors(tensors[SHORT], tensors[LONG], original, factor))
    if LONG in tensors or SHORT in tensors:
        raise FileError(keys.path, f"has one of the tensors {SHORT} and {LONG}; both are needed")
    if keys.find_text("rope.scaling.type") == "longrope":
        keys.refuse("rope.scaling.type", f"longrope with the tensors {SHORT} and {LONG} is accepted")
    return layer


def _scale(layer: LayerStatement, kind: str, values: Mapping[str, KeyValue]) -> LayerStatement:
    return replace(layer, older=replace(layer.older or NO_BLOCK, kind=kind, values=values))


def _list_divisors(
    short: tuple[float, ...], long: tuple[float, ...], original: int | None, attention_factor: float
) -> dict[str, KeyValue]:
    stated = {} if original is None else {"original_max_position_embeddings": float(original)}
    return {"short_factor": short, "long_factor": long, **stated, "attention_factor": attention_factor}


def _apply_divisors(
    layer: LayerStatement, divisors: tuple[float, ...], keys: Keys, original: int | None
) -> LayerStatement:
    block = layer.older or NO_BLOCK
    still, pairs = sum(divisor >= STILL for divisor in divisors), len(divisors)
    is_plain = block.kind == "default"
    if is_plain and still and set(divisors[: pairs - still]) <= {1.0}:
        message = f"{DIVISORS} keeps {still} of {pairs} pairs from turning"
        keys.report(_SCALING_IN_TENSOR, message, scaling="proportional", still=still)
        return replace(_scale(layer, "proportional", {"divisors": divisors}), share=(pairs - still) / pairs)
    base = layer.default_base if block.base is None else block.base
    found = _recognise_llama3(divisors, base, original) if is_plain else None
    if found is not None:
        message = f"the scaling is in the tensor {DIVISORS}: llama3 with factor {found['factor']:g}"
        keys.report(_SCALING_IN_TENSOR, message, scaling="llama3", factor=found["factor"])
        return _scale(layer, "llama3", {**found, "divisors": divisors})
    message = f"{DIVISORS} divides frequencies by {min(divisors):g} to {max(divisors):g}, which is no known scaling"
    keys.report(_SCALING_IN_TENSOR, message, scaling="divisors", least=min(divisors), most=max(divisors))
    kind, values = "longrope", _list_divisors(divisors, divisors, original, 1.0)
    if not is_plain:
        kind, values = block.kind, dict(block.values)
    return _scale(layer, kind, {**values, "divisors": divisors})


def _recognise_llama3(divisors: tuple[float, ...], base: float, original: int | None) -> dict[str, float] | None:
    """Find the constants of llama3 that give these divisors; None where no published ones do."""
    width, factor = 2 * len(divisors), round(max(divisors), 4)
    ladder = compute_ladder(base, width)
    for length in dict.fromkeys((_LLAMA3_LENGTH, original or _LLAMA3_LENGTH)):
        for low, high in _LLAMA3_ENDS:
            keys = {"low_freq_factor": low, "high_freq_factor": high, "factor": factor}
            scaled = scale_llama3(base, width, original=length, **keys).frequencies
            found = (float(before / after) for before, after in zip(ladder, scaled, strict=True))
            if all(abs(one / divisor - 1) <= _TOLERANCE for one, divisor in zip(found, divisors, strict=True)):
                return {**keys, "original_max_position_embeddings": float(length)}
    return None
