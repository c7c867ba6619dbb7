"""What llama.cpp does by the name of an architecture, and no key of a GGUF file says.

Of architectures that were run it is measured (`converted_models`). The lists here are of others, read as of 2026 in
ggml-org/llama.cpp, src/llama-model.cpp (load_hparams, llama_model_rope_type).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pe_spectra.errors import FileError, shorten
from pe_spectra.findings import Kind
from pe_spectra.models.stated.converted_models import LLAMA_CPP_VERSION, find_architecture
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import read_measured
from pe_spectra.models.stated.statement import FULL, SLIDING, SchemeName

#: Pairs are channels (2i, 2i + 1), ROPE_TYPE_NORM. The converter permutes rows of q and k to that.
INTERLEAVED = frozenset((
    "deci", "deepseek2-ocr", "plm", "granitehybrid", "chameleon", "neo-bert", "eagle3", "llama-embed", "maincoder",
))  # fmt: skip
#: Pairs are channels (i, i + D/2), ROPE_TYPE_NEOX, MROPE and IMROPE.
HALF = frozenset((
    "falcon-h1", "grok", "dbrx", "jina-bert-v3", "modern-bert", "nomic-bert", "nomic-bert-moe", "eurobert", "qwen",
    "dream", "llada-moe", "rnd1", "phimoe", "plamo", "plamo2", "plamo3", "gemma3n", "gemma4", "gemma4-assistant",
    "gemma-embedding", "openelm", "codeshell", "exaone-moe", "minicpm3", "bailingmoe2", "hunyuan-moe", "jais2",
    "hunyuan_vl", "lfm2", "lfm2moe", "smallthinker", "grovemoe", "apertus", "minimax-m2", "cogvlm", "pangu-embedded",
    "afmoe", "laguna", "qwen3next", "mimo2", "step35", "mellum", "qwen2vl", "paddleocr", "qwen3vl", "qwen3vlmoe",
    "qwen35", "qwen35moe",
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

#: The window where no key gives it.
WINDOWS = {"gemma2": 4096, "llama4": 8192}
#: Of those with windows, sliding layers have base 10000 where no key says another, and no scaling.
LOCAL_10000 = frozenset(("gemma3", "gemma3n", "gemma4", "gemma-embedding", "modern-bert", "plamo3"))
#: Of these, sliding layers have the base of the others, and no scaling.
LOCAL_UNSCALED = frozenset(("mellum", "laguna"))
#: Of these, layers that see everything are not turned.
UNTURNED_FULL = frozenset(("exaone4", "exaone-moe", "smallthinker", "afmoe"))
#: Every fourth layer is not turned.
UNTURNED_FOURTH = frozenset(("smollm3",))
#: `rope.scaling.finetuned` says whether anything is turned.
SWITCHED = frozenset(("granite", "granitemoe", "granitehybrid"))
#: Reads the keys of yarn's betas, too: beta_fast where none gives another.
BETA_FAST = {"grok": 8.0}

#: The tensor of a learned table.
POSITIONS = "position_embd.weight"
UNKNOWN_ARCHITECTURE = Kind(
    code="unknown-architecture",
    levels=("warning",),
    phrase="the architecture is not known",
    reasoning="The keys of a GGUF file do not say how channels are paired; llama.cpp knows it by architecture. For one "
    "that is not known here the layout is a guess.",
    formula="general.architecture is not in the list of llama_model_rope_type",
    references=("ggml-org/llama.cpp, src/llama-model.cpp",),
)


def find_layout(name: str) -> Literal["half", "interleaved"]:
    """Return which channels are a pair; half of an architecture that is not known.

    >>> find_layout("llama"), find_layout("qwen2")
    ('interleaved', 'half')
    """
    found: Literal["half", "interleaved"] | None = find_architecture(name).get("layout")
    return found or ("interleaved" if name in INTERLEAVED else "half")


def find_windows(name: str) -> Mapping[str, Any]:
    """Return what kind of windows an architecture has: `kind`, and `every` where all layers have one; else empty.

    A `standard` one ends at the query, a `chunked` one begins at a multiple of its length, and of a `symmetric` one
    half is behind the query. Others carry the key and see everything (Phi-3, Mistral, Qwen2). Read from the source by
    tests/reference/llama_cpp/windows.py.

    >>> dict(find_windows("gemma3")), dict(find_windows("qwen2"))
    ({'kind': 'standard'}, {})
    """
    known: Mapping[str, Mapping[str, Any]] = read_measured("stack-windows")["llama.cpp"][LLAMA_CPP_VERSION][
        "architectures"
    ]
    return known.get(name, {})


def leaves_full(name: str) -> bool:
    """Tell whether layers that see everything are not turned.

    >>> leaves_full("cohere2"), leaves_full("gemma3")
    (True, False)
    """
    return name in UNTURNED_FULL or "unturned" in find_architecture(name, FULL)


def leaves_sliding_unscaled(name: str) -> bool:
    """Tell whether layers that see a window have no scaling where others have one.

    >>> leaves_sliding_unscaled("olmo2"), leaves_sliding_unscaled("gpt-oss")
    (True, False)
    """
    whole, sliding = (find_architecture(name, layer).get("reads") for layer in (FULL, SLIDING))
    return name in LOCAL_10000 or name in LOCAL_UNSCALED or (bool(whole) and not sliding)


def choose_scheme(name: str, keys: Keys, shapes: Mapping[str, tuple[int, ...]]) -> SchemeName:
    """Return the kind of positional encoding that llama.cpp gives an architecture; of one that is not known a guess.

    Parameters
    ----------
    keys : of the architecture. shapes : of tensors by name.

    Raises
    ------
    FileError : it is not known, and no key speaks of rotation.

    >>> choose_scheme("llama", Keys({}, "model.gguf"), {})
    'rotary'
    """
    bias = keys.find_number("attention.max_alibi_bias", zero=True)
    is_large_baichuan = name == "baichuan" and keys.find_integer("block_count") == 40
    if is_large_baichuan or (name in ALIBI and bias != 0) or (bias or 0) > 0:
        return "alibi"
    if name in T5:
        return "t5"
    if name in NONE or (name in SWITCHED and keys.find_truth("rope.scaling.finetuned") is False):
        return "none"
    rotates = name in INTERLEAVED or name in HALF or bool(find_architecture(name))
    if name in (*LEARNED, *ALIBI) or (POSITIONS in shapes and not rotates):
        return "learned"
    if rotates:
        return "rotary"
    if not keys.has_any("rope.freq_base", "rope.dimension_count", "rope.scaling.type"):
        shown = shorten(repr(name))
        raise FileError(keys.path, f"general.architecture is not known here ({shown}), and no key speaks of rotation")
    message = f"architecture {shorten(name)} is not known here: that its pairs are channels (i, i + D/2) is a guess"
    keys.report(UNKNOWN_ARCHITECTURE, message, name=name)
    return "rotary"
