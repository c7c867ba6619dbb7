"""GGUF files: what their keys and small tensors state about the positional encoding, as llama.cpp reads it.

The tensor rope_freqs.weight has Llama 3's scaling, or 1e30 for each pair that does not turn (Gemma 4);
rope_factors_long.weight and rope_factors_short.weight are the lists of LongRoPE.
Source: ggml-org/llama.cpp, src/llama-model.cpp (load_hparams, get_rope_factors), src/llama-context.cpp,
src/llama-arch.cpp; gguf-py/gguf/constants.py; convert_hf_to_gguf.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import compute_yarn_attention, scale_llama3
from pe_spectra.errors import FileError
from pe_spectra.findings import Kind
from pe_spectra.limits import MAX_WIDTH
from pe_spectra.models.stated import architectures
from pe_spectra.models.stated.converted_models import find_architecture
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.statement import (
    CHUNKED,
    DEFAULT_BASE,
    FULL,
    ORIGINAL,
    SLIDING,
    UNTURNED,
    Configuration,
    KeyValue,
    LayerStatement,
    RotaryBlock,
    SchemeName,
)

DIVISORS, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
#: A divisor from here on stands for a pair that does not turn.
STILL = 1e20
#: Divisors were computed in float32 when the file was made.
_TOLERANCE = 1e-5
#: llama3 as it was published: the length before it, and the turns between which it blends (Llama 3, Llama 4).
_LLAMA3_LENGTH, _LLAMA3_ENDS = 8192, ((1.0, 4.0), (1.0, 1.0))
_KINDS = ("none", "linear", "yarn", "longrope")
_SCALING_IN_TENSOR = Kind(
    code="scaling-in-tensor",
    levels=("note",),
    phrase="the scaling is in a tensor, not among the keys",
    reasoning="A GGUF file of a Llama 3 model names no scaling among its keys: the divisor of each pair is in the "
    "tensor rope_freqs.weight. A reader of the keys alone takes the plain ladder.",
    formula="the divisors of rope_freqs.weight are those of llama3 scaling within float32",
    references=("ggml-org/llama.cpp, convert_hf_to_gguf.py",),
)


def read_gguf_configuration(
    metadata: Mapping[str, Any],
    tensors: Mapping[str, tuple[float, ...]],
    path: str,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Configuration:
    """Read what a GGUF file states about the positional encoding of its model.

    Parameters
    ----------
    metadata : the keys of its header.
    tensors : the numbers of rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight.
    path : the file, for messages.
    shapes : shapes of tensors by name, slowest axis first; of position_embd.weight the rows are taken.

    Raises
    ------
    FileError : a key of the wrong type or out of range, tensors of the wrong length, or no architecture.

    >>> keys = {"general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 4}
    >>> read_gguf_configuration(keys, {}, "model.gguf").layers[0].layout
    'interleaved'
    """
    name = _read_architecture(metadata, path)
    where = f"{name}."
    keys = Keys({key.removeprefix(where): metadata[key] for key in metadata if key.startswith(where)}, path, where)
    scheme = architectures.choose_scheme(name, keys, shapes or {})
    length = keys.find_integer("context_length")
    layers = _read_layers(name, keys, tensors, length) if scheme == "rotary" else ()
    return Configuration(
        path=path,
        format="gguf",
        model=name,
        scheme=scheme,
        length=length,
        layers=layers,
        values=_read_values(scheme, keys, shapes or {}),
        findings=tuple(keys.findings),
    )


def _read_architecture(metadata: Mapping[str, Any], path: str) -> str:
    keys = Keys(metadata, path)
    name = keys.find_text("general.architecture")
    part = metadata.get("split.no")
    if name is None and isinstance(part, int) and part > 0:
        raise FileError(path, f"is part {part + 1} of a model in several files; the first has the keys")
    if name is None:
        raise FileError(path, "lacks a key; looked for general.architecture")
    if name == "clip":
        keys.refuse("general.architecture", "a model of text is accepted, this is a projector of pictures")
    return name


def _read_values(scheme: SchemeName, keys: Keys, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int | float | str]:
    if scheme == "alibi":
        return {"heads": _read_heads(keys)}
    if scheme == "t5":
        buckets = keys.find_integer("attention.relative_buckets_count") or 32
        return {"buckets": buckets, "max_distance": 128, "heads": _read_heads(keys)}
    if scheme == "learned":
        shape = shapes.get(architectures.POSITIONS, ())
        rows = shape[0] if len(shape) == 2 else keys.read_integer("context_length")
        return {"rows": rows, "d": keys.read_integer("embedding_length"), "unused": 0}
    return {}


def _read_heads(keys: Keys) -> int:
    """Heads of a layer; of the first that has any where there is a number for each layer."""
    key, stated = "attention.head_count", keys.found.get("attention.head_count")
    if isinstance(stated, list):
        counts = [one for one in stated if isinstance(one, int) and not isinstance(one, bool) and one > 0]
        if len(counts) < len([one for one in stated if one != 0]) or not counts:
            keys.refuse(key, "an integer from 1, or a list of them, is accepted")
        return int(counts[0])
    return keys.read_integer(key)


def _read_layers(
    name: str, keys: Keys, tensors: Mapping[str, tuple[float, ...]], length: int | None
) -> tuple[LayerStatement, ...]:
    # in latent attention the part that is turned stands on its own
    whole = "rope.dimension_count" if "attention.kv_lora_rank" in keys else "attention.key_length"
    plain = LayerStatement(head_dim=0, layout=architectures.find_layout(name))
    plain = _set_width(plain, keys, whole, "rope.dimension_count")
    windows = architectures.find_windows(name)
    window = _read_window(name, keys) if windows else None
    block = _read_block(name, keys, length)
    full = _apply_tensors(replace(plain, older=block), tensors, keys, length)
    still = replace(full, name=UNTURNED, turns=False, older=None, window=None)
    if name in architectures.UNTURNED_FOURTH:
        return full, still
    if window is None:
        return (full,)
    if windows.get("every"):
        return (replace(full, window=window),)
    sliding = replace(full, name=CHUNKED if windows["kind"] == "chunked" else SLIDING, window=window)
    if windows["kind"] == "symmetric":
        sliding = replace(sliding, window=window // 2 + 1, sides=(window // 2, window // 2))
    first = still if architectures.leaves_full(name) else replace(full, name=FULL)
    return first, _read_sliding_layer(name, keys, sliding, block)


def _set_width(layer: LayerStatement, keys: Keys, whole: str, part: str) -> LayerStatement:
    """Set the width of a head and the share of it that is turned; without keys they stay, or all of it is turned."""
    width = keys.find_integer(whole) or layer.head_dim
    if not width:
        length, heads = keys.read_integer("embedding_length"), _read_heads(keys)
        if length % heads:
            keys.refuse("embedding_length", f"a multiple of the {heads} heads, or {whole}, is accepted")
        width = length // heads
    turned = keys.find_integer(part)
    if turned is None:
        turned = min(width, int(layer.head_dim * layer.share)) if layer.head_dim else width
    elif turned > width or turned % 2:
        keys.refuse(part, f"an even number up to the width of a head, {width}, is accepted")
    if turned % 2 or width > MAX_WIDTH:
        what = f"the width of a head cannot be used ({width})"
        raise FileError(keys.path, f"{what}; an even number up to {MAX_WIDTH} is accepted")
    share = turned / width
    return replace(layer, head_dim=width, share=share if int(width * share) == turned else math.nextafter(share, 2))


def _read_window(name: str, keys: Keys) -> int | None:
    """The longest lag of layers that slide; None where 0 says that none does."""
    stated = keys.found.get("attention.sliding_window")
    if isinstance(stated, list):
        sizes = [one for one in stated if isinstance(one, int) and not isinstance(one, bool)]
        return max(sizes, default=0) or None
    window = keys.find_integer("attention.sliding_window", least=0)
    return (architectures.WINDOWS.get(name) if window is None else window) or None


def _read_block(name: str, keys: Keys, length: int | None) -> RotaryBlock:
    """Read base and scaling, without the tensors."""
    base = keys.find_number("rope.freq_base")
    key = f"{keys.where}rope.freq_base" if base is not None else ""
    block = RotaryBlock(where=f"{keys.where}rope", base=base, base_key=key)
    kind = keys.find_text("rope.scaling.type") or "linear"
    if kind not in _KINDS:
        keys.refuse("rope.scaling.type", f"{', '.join(_KINDS)} are accepted")
    factor = keys.find_number("rope.scaling.factor", "rope.scale_linear", zero=True) or 1.0
    if kind == "yarn":
        return replace(block, kind="yarn", values=_read_yarn(name, keys, factor, length))
    alpha = keys.find_number("rope.scaling.alpha", zero=True)
    if alpha and name.startswith("hunyuan"):  # enlarges the base once, whatever the length
        return replace(block, kind="dynamic", values={"alpha": alpha})
    if kind == "linear" and factor != 1:
        return replace(block, kind="linear", values={"factor": factor})
    return block


def _read_yarn(name: str, keys: Keys, factor: float, length: int | None) -> dict[str, KeyValue]:
    extent = keys.find_number("rope.scaling.yarn_ext_factor", zero=True)
    if extent not in (None, 1.0):
        keys.refuse("rope.scaling.yarn_ext_factor", "1 is accepted")
    values: dict[str, KeyValue] = {"factor": factor}
    original = keys.find_integer("rope.scaling.original_context_length") or length
    if original is not None:
        values[ORIGINAL] = float(original)
    fast, slow = (keys.find_number(f"rope.scaling.yarn_beta_{end}") for end in ("fast", "slow"))
    read = find_architecture(name)
    if read.get("reads_betas") or name in architectures.BETA_FAST:
        betas = {"beta_fast": fast or architectures.BETA_FAST.get(name), "beta_slow": slow}
        values.update({key: value for key, value in betas.items() if value is not None})
    mscales: tuple[float, ...] = ()
    scale = keys.find_number("rope.scaling.yarn_log_multiplier", zero=True)
    if scale and "mscale" in read:
        # what converters write for latent attention has the 0.1 of the formula in it
        scale = round(scale / 0.1, 6) if "attention.kv_lora_rank" in keys else scale
        mscales = (scale if read["mscale"] == "equal" else 1.0, scale)
        values.update(zip(("mscale", "mscale_all_dim"), mscales, strict=True))
    extra = keys.find_number("rope.scaling.attn_factor") or 1.0
    if extra != 1:
        values["attention_factor"] = float(compute_yarn_attention(factor, *mscales)) * extra
    return values


def _read_sliding_layer(name: str, keys: Keys, layer: LayerStatement, block: RotaryBlock) -> LayerStatement:
    """Give sliding layers, which are like the full ones so far, their own width, base and scaling."""
    layer = _set_width(layer, keys, "attention.key_length_swa", "rope.dimension_count_swa")
    base, key = keys.find_number("rope.freq_base_swa"), f"{keys.where}rope.freq_base_swa"
    unscaled = architectures.leaves_sliding_unscaled(name)
    if base is None and not unscaled:
        return layer
    if base is None:
        base, key = (DEFAULT_BASE, "") if name in architectures.LOCAL_10000 else (block.base, block.base_key)
    stated = layer.older if layer.older is not None and not unscaled else RotaryBlock(where=block.where)
    return replace(layer, older=replace(stated, base=base, base_key=key))


# --------------------------------------------------------------------- tensors


def _apply_tensors(
    layer: LayerStatement, tensors: Mapping[str, tuple[float, ...]], keys: Keys, length: int | None
) -> LayerStatement:
    """Read the tensors as a scaling of the layer, whose keys are in `older`; what is found is reported.

    The values of the block then have `divisors` too: the numbers as they are in the file. A tensor must have a number
    above 0 for each pair, and longrope both of its tensors.
    """
    pairs = int(layer.head_dim * layer.share) // 2
    for name, numbers in tensors.items():
        if len(numbers) != pairs or not all(0 < number < math.inf for number in numbers):
            accepted = f"{pairs} numbers above 0, one for each pair, are accepted"
            raise FileError(keys.path, f"tensor {name} cannot be used ({len(numbers)} numbers); {accepted}")
    original = keys.find_integer("rope.scaling.original_context_length") or length
    if DIVISORS in tensors:
        return _apply_divisors(layer, tensors[DIVISORS], keys, original)
    if LONG in tensors and SHORT in tensors:
        factor = keys.find_number("rope.scaling.attn_factor") or 1.0
        return _scale(layer, "longrope", _list_divisors(tensors[SHORT], tensors[LONG], original, factor))
    if LONG in tensors or SHORT in tensors:
        raise FileError(keys.path, f"has one of the tensors {SHORT} and {LONG}; both are needed")
    if keys.find_text("rope.scaling.type") == "longrope":
        keys.refuse("rope.scaling.type", f"longrope with the tensors {SHORT} and {LONG} is accepted")
    return layer


def _scale(layer: LayerStatement, kind: str, values: Mapping[str, KeyValue]) -> LayerStatement:
    return replace(layer, older=replace(layer.block, kind=kind, values=values))


def _list_divisors(
    short: tuple[float, ...], long: tuple[float, ...], original: int | None, attention_factor: float
) -> dict[str, KeyValue]:
    stated = {} if original is None else {ORIGINAL: float(original)}
    return {"short_factor": short, "long_factor": long, **stated, "attention_factor": attention_factor}


def _apply_divisors(
    layer: LayerStatement, divisors: tuple[float, ...], keys: Keys, original: int | None
) -> LayerStatement:
    block = layer.block
    still, pairs = sum(divisor >= STILL for divisor in divisors), len(divisors)
    is_plain = block.kind == "default"
    if set(divisors) == {1.0}:
        return layer
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
    if not is_plain:
        return _scale(layer, block.kind, {**block.values, "divisors": divisors})
    return _scale(layer, "longrope", {**_list_divisors(divisors, divisors, original, 1.0), "divisors": divisors})


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
                return {**keys, ORIGINAL: float(length)}
    return None
