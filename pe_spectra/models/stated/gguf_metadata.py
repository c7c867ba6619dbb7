"""GGUF files: what their keys and small tensors state about the positional encoding, as llama.cpp reads it.

Source: ggml-org/llama.cpp, src/llama-model.cpp (load_hparams, llama_model_rope_type), src/llama-context.cpp,
src/llama-arch.cpp; gguf-py/gguf/constants.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pe_spectra.encodings.rope_scaling import compute_yarn_attention
from pe_spectra.errors import FileError, shorten
from pe_spectra.findings import Kind
from pe_spectra.limits import MAX_WIDTH
from pe_spectra.models.stated.gguf_divisors import apply_tensors
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.statement import (
    CHUNKED,
    DEFAULT_BASE,
    FULL,
    SLIDING,
    UNTURNED,
    Configuration,
    KeyValue,
    LayerStatement,
    RotaryBlock,
    SchemeName,
)

# What llama.cpp does by the name of an architecture, and no key of a file says; read as of 2026.

#: Pairs are channels (2i, 2i + 1), ROPE_TYPE_NORM. The converter permutes rows of q and k to that.
INTERLEAVED = frozenset((
    "llama", "llada", "llama4", "deci", "baichuan", "internlm2", "minicpm", "xverse", "command-r", "cohere2",
    "cohere2moe", "olmo", "arctic", "deepseek", "deepseek2", "deepseek2-ocr", "deepseek32", "plm",
    "chatglm", "glm4", "granite", "granitemoe", "granitehybrid", "chameleon", "bailingmoe", "neo-bert", "smollm3",
    "arcee", "ernie4_5", "ernie4_5-moe", "mistral3", "eagle3", "mistral4", "llama-embed", "maincoder", "glm-dsa",
    "nanbeige",
))  # fmt: skip
#: Pairs are channels (i, i + D/2), ROPE_TYPE_NEOX, MROPE and IMROPE.
HALF = frozenset((
    "falcon", "falcon-h1", "grok", "dbrx", "jina-bert-v3", "modern-bert", "nomic-bert", "nomic-bert-moe",
    "eurobert", "stablelm", "bitnet", "qwen", "qwen2", "dream", "qwen2moe", "qwen3", "qwen3moe", "llada-moe",
    "rnd1", "olmo2", "olmoe", "phi2", "phi3", "phimoe", "plamo", "plamo2", "plamo3", "gemma", "gemma2", "gemma3",
    "gemma3n", "gemma4", "gemma4-assistant", "gemma-embedding", "starcoder2", "openelm", "gptneox", "codeshell",
    "orion", "nemotron", "exaone", "exaone4", "exaone-moe", "minicpm3", "bailingmoe2", "dots1", "hunyuan-moe",
    "jais2", "gpt-oss", "hunyuan-dense", "hunyuan_vl", "lfm2", "lfm2moe", "smallthinker", "seed_oss", "grovemoe",
    "apertus", "minimax-m2", "cogvlm", "pangu-embedded", "afmoe", "laguna", "qwen3next", "mimo2", "step35",
    "mellum", "glm4moe", "qwen2vl", "paddleocr", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe",
))  # fmt: skip
#: Biases that grow with the distance; Baichuan only with 40 layers.
ALIBI = frozenset(("bloom", "mpt", "refact", "jina-bert-v2", "jais"))
#: A table with a row for each position is added.
LEARNED = frozenset(("gpt2", "starcoder", "bert"))
T5 = frozenset(("t5", "t5encoder"))
#: No position enters.
NONE = frozenset((
    "mamba", "mamba2", "jamba", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7", "nemotron_h", "nemotron_h_moe",
    "kimi-linear", "wavtokenizer-dec",
))  # fmt: skip

#: Some layers see a window only; others carry the key and see everything (Phi-3, Mistral, Qwen2).
WITH_WINDOWS = frozenset((
    "gemma2", "gemma3", "gemma3n", "gemma4", "gemma-embedding", "cohere2", "gpt-oss", "exaone4", "exaone-moe",
    "smallthinker", "afmoe", "llama4", "olmo2", "plamo3", "mimo2", "step35", "mellum", "laguna", "modern-bert",
))  # fmt: skip
#: The window where no key gives it.
WINDOWS = {"gemma2": 4096, "llama4": 8192}
#: Of these, sliding layers have base 10000 where no key says another, and no scaling.
LOCAL_10000 = frozenset(("gemma3", "gemma3n", "gemma4", "gemma-embedding", "modern-bert", "laguna", "plamo3"))
#: Of these, sliding layers have the base of the others, and no scaling.
LOCAL_UNSCALED = frozenset(("olmo2", "mellum"))
#: Of these, layers that see everything are not turned.
UNTURNED_FULL = frozenset(("cohere2", "exaone4", "exaone-moe", "smallthinker", "afmoe", "llama4"))
#: Every fourth layer is not turned.
UNTURNED_FOURTH = frozenset(("smollm3",))
#: `rope.scaling.finetuned` says whether anything is turned.
SWITCHED = frozenset(("granite", "granitemoe", "granitehybrid"))
#: beta_fast where no key gives another.
BETA_FAST = {"grok": 8.0}

_POSITIONS = "position_embd.weight"
_KINDS = ("none", "linear", "yarn", "longrope")
_UNKNOWN_ARCHITECTURE = Kind(
    code="unknown-architecture",
    levels=("warning",),
    phrase="the architecture is not known",
    reasoning="The keys of a GGUF file do not say how channels are paired; llama.cpp knows it by architecture. For one "
    "that is not known here the layout is a guess.",
    formula="general.architecture is not in the list of llama_model_rope_type",
    references=("ggml-org/llama.cpp, src/llama-model.cpp",),
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
    scheme = _choose_scheme(name, keys, shapes or {})
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


def _choose_scheme(name: str, keys: Keys, shapes: Mapping[str, tuple[int, ...]]) -> SchemeName:
    bias = keys.find_number("attention.max_alibi_bias", zero=True)
    is_large_baichuan = name == "baichuan" and keys.find_integer("block_count") == 40
    if is_large_baichuan or (name in ALIBI and bias != 0) or (bias or 0) > 0:
        return "alibi"
    if name in T5:
        return "t5"
    if name in NONE or (name in SWITCHED and keys.find_truth("rope.scaling.finetuned") is False):
        return "none"
    rotates = name in INTERLEAVED or name in HALF
    if name in (*LEARNED, *ALIBI) or (_POSITIONS in shapes and not rotates):
        return "learned"
    if rotates:
        return "rotary"
    if not keys.has_any("rope.freq_base", "rope.dimension_count", "rope.scaling.type"):
        shown = shorten(repr(name))
        raise FileError(keys.path, f"general.architecture is not known here ({shown}), and no key speaks of rotation")
    message = f"architecture {shorten(name)} is not known here: that its pairs are channels (i, i + D/2) is a guess"
    keys.report(_UNKNOWN_ARCHITECTURE, message, name=name)
    return "rotary"


def _read_values(scheme: SchemeName, keys: Keys, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int | float | str]:
    if scheme == "alibi":
        return {"heads": _read_heads(keys)}
    if scheme == "t5":
        buckets = keys.find_integer("attention.relative_buckets_count") or 32
        return {"buckets": buckets, "max_distance": 128, "heads": _read_heads(keys)}
    if scheme == "learned":
        shape = shapes.get(_POSITIONS, ())
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
    plain = LayerStatement(head_dim=0, layout="interleaved" if name in INTERLEAVED else "half")
    plain = _set_width(plain, keys, whole, "rope.dimension_count")
    window = _read_window(name, keys) if name in WITH_WINDOWS else None
    block = _read_block(name, keys, length)
    full = apply_tensors(replace(plain, older=block), tensors, keys, length)
    still = replace(full, name=UNTURNED, turns=False, older=None, window=None)
    if name in UNTURNED_FOURTH:
        return full, still
    if window is None:
        return (full,)
    sliding = replace(full, name=CHUNKED if name == "llama4" else SLIDING, window=window)
    first = still if name in UNTURNED_FULL else replace(full, name=FULL)
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
    return (WINDOWS.get(name) if window is None else window) or None


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
        values["original_max_position_embeddings"] = float(original)
    fast = keys.find_number("rope.scaling.yarn_beta_fast") or BETA_FAST.get(name)
    slow = keys.find_number("rope.scaling.yarn_beta_slow")
    values.update({key: value for key, value in (("beta_fast", fast), ("beta_slow", slow)) if value is not None})
    mscales: tuple[float, ...] = ()
    if scale := keys.find_number("rope.scaling.yarn_log_multiplier", zero=True):
        # what converters write for latent attention has the 0.1 of the formula in it
        scale = round(scale / 0.1, 6) if "attention.kv_lora_rank" in keys else scale
        mscales = (scale if name == "deepseek2" else 1.0, scale)
        values.update(zip(("mscale", "mscale_all_dim"), mscales, strict=True))
    extra = keys.find_number("rope.scaling.attn_factor") or 1.0
    if extra != 1:
        values["attention_factor"] = float(compute_yarn_attention(factor, *mscales)) * extra
    return values


def _read_sliding_layer(name: str, keys: Keys, layer: LayerStatement, block: RotaryBlock) -> LayerStatement:
    """Give sliding layers, which are like the full ones so far, their own width, base and scaling."""
    layer = _set_width(layer, keys, "attention.key_length_swa", "rope.dimension_count_swa")
    base, key = keys.find_number("rope.freq_base_swa"), f"{keys.where}rope.freq_base_swa"
    unscaled = name in LOCAL_10000 or name in LOCAL_UNSCALED
    if base is None and not unscaled:
        return layer
    if base is None:
        base, key = DEFAULT_BASE if name in LOCAL_10000 else block.base, block.base_key
    stated = layer.older if layer.older is not None and not unscaled else RotaryBlock(where=block.where)
    return replace(layer, older=replace(stated, base=base, base_key=key))
