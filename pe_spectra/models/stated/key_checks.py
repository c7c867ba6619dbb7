"""Checks of the keys of a file: their spelling, which model's class reads them, and whether those about heads agree."""

from __future__ import annotations

from difflib import get_close_matches

from pe_spectra.errors import shorten
from pe_spectra.models.stated.keys import (
    ALIKE,
    BASES,
    HEAD_WIDTH,
    HEADS,
    KEY_NOT_READ,
    LISTS,
    LOCAL_BASES,
    NUMBERS,
    SCALING_IN_CODE,
    SHARES,
    UNKNOWN_KEY,
    Keys,
)
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.vocabulary import Level
from pe_spectra.wording import write_number

#: Keys of a block that are read elsewhere, or that change no angle.
_OTHERS = (
    "type", "rope_type", "rope_theta", "partial_rotary_factor", "truncate", "mrope_section", "mrope_interleaved",
    "max_position_embeddings", "finetuned", "short_mscale", "long_mscale", "llama_4_scaling_beta",
    "apply_yarn_scaling", "interleaved",
)  # fmt: skip
#: Parts of words that a misspelt key about rotation still has; looking for neighbours of every key takes long.
_SOUNDS = ("rop", "rot", "theta", "partial", "scaling", "base")
#: Keys about rotation that may stand beside a block.
_ON_TOP = (
    *BASES, *LOCAL_BASES, *SHARES, "rope_scaling", "rope_parameters", "rotary_dim", "rope_interleave",
    "rope_interleaved", "no_rope_layers", "no_rope_layer_interval", "qk_rope_head_dim", "rope_ratio", "rotary",
    "rotary_emb_interleaved", "rotary_emb_scale_base", "use_rope", "rope", "mrope_section", "rotary_compress",
    "qk_nope_head_dim", "use_mrope", "indexer_rope_interleave", "original_max_position_embeddings",
    "partial_rotary_factors", "compress_rope_theta",
)  # fmt: skip


def check_block_spelling(block: Keys) -> None:
    """Report the keys of a rotary block that no scaling takes.

    >>> keys = Keys({"rope_typ": "yarn"}, "config.json")
    >>> check_block_spelling(keys)
    >>> [found.level for found in keys.findings]
    ['warning']
    """
    known = (*NUMBERS, *LISTS, *_OTHERS)
    for key in block.found:
        if key not in known:
            _report_key(block, key, known)


def check_keys(keys: Keys, known: KnownModel) -> None:
    """Report keys of a rotary model that are misspelt, not read, or contradict each other.

    >>> keys = Keys({"rope_thetta": 5e5, "num_attention_heads": 32, "num_key_value_heads": 5}, "config.json")
    >>> check_keys(keys, KnownModel())
    >>> [found.code for found in keys.findings]
    ['unknown-key', 'head-width']
    """
    _check_spelling(keys)
    _check_heads(keys)
    if known.is_known:
        _check_ignored(keys, known)
    if known.model == "qwen" and keys.find_truth("use_dynamic_ntk"):
        _report_code(keys, known.model)


def _check_spelling(keys: Keys) -> None:
    """Report keys beside the block that are spelled nearly as a known one, or that only sound like one."""
    for key in keys.found:
        if key in _ON_TOP or key not in keys or not any(part in key.lower() for part in _SOUNDS):
            continue
        near = get_close_matches(key, _ON_TOP, n=1, cutoff=ALIKE)
        if near or any(word in key.lower() for word in ("rope", "rotary")):
            _report_key(keys, key, _ON_TOP, certain=bool(near))


def _report_key(keys: Keys, key: str, known: tuple[str, ...], *, certain: bool = True) -> None:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    meant = f"; {near[0]} is the nearest that is known" if near else ""
    name = f"{keys.where}{key}"
    message = f"{shorten(name)} is a key that is not known here, so it changes nothing in this answer{meant}"
    keys.report(UNKNOWN_KEY, message, level="warning" if certain else "note", key=name, nearest=near[:1])


def _check_heads(keys: Keys) -> None:
    """Report heads that cannot share those of keys and values."""
    heads, pairs = keys.find_integer(*HEADS), keys.find_integer("num_key_value_heads", "n_head_kv", "num_kv_heads")
    if heads is not None and pairs is not None and heads % pairs:
        message = f"{heads} heads cannot share {pairs} heads of keys and values evenly"
        keys.report(HEAD_WIDTH, message, heads=heads, key_value_heads=pairs)


def _check_ignored(keys: Keys, known: KnownModel) -> None:
    """Report keys that are spelled right, but that the class of this model does not read."""
    stated_base = _find_stated_base(keys, known)
    taken = stated_base or known.default_base
    others = [key for key in BASES if key in keys and known.base_key != key]
    ignored = [(f"{keys.where}{key}", key, "") for key in others if keys.found[key] != taken]
    asked = keys.found.get("rope_interleave")
    if isinstance(asked, bool) and not known.obeys_interleave and asked != (known.layout == "interleaved"):
        ignored.append((f"{keys.where}rope_interleave", "rope_interleave", f"; its layout is {known.layout}"))
    nested = keys.find_object("attn_config")
    stated = None if nested.find_truth("rope") else nested.find_number("rope_theta")
    if stated is not None and stated != taken:
        key = f"{nested.where}rope_theta"
        ignored.append((f"{key} {write_number(stated)}", key, ""))
    for shown, key, meant in ignored:
        reads = f"it reads {known.base_key}" if known.base_key else "it reads no such key"
        takes = meant or f", which takes base {write_number(taken)}; {reads}"
        message = f"{shown} is not read by the class of {known.model}{takes}"
        level: Level = "warning" if meant or stated_base else "error"
        keys.report(KEY_NOT_READ, message, level=level, key=key, model=known.model)


def _find_stated_base(keys: Keys, known: KnownModel) -> float | None:
    """The base that the class reads of the file; None where none is stated for it."""
    inside, own = keys.find_object("rope_parameters").find_number("rope_theta"), known.base_key
    is_list = isinstance(keys.found.get(own), list)
    return keys.find_number(own) if inside is None and own and not is_list else inside


def _report_code(keys: Keys, model: str) -> None:
    """Say where the code that a checkpoint brings along scales by itself, whatever the rotary keys are."""
    trained = keys.find_integer("seq_length")
    beyond = f" beyond seq_length {trained:,}" if trained is not None else ""
    message = (
        f"{keys.where}use_dynamic_ntk: the code of {model} enlarges the base with the length{beyond}, in steps of a "
        "factor of 2; this answer is for the length before"
    )
    keys.report(SCALING_IN_CODE, message, key="use_dynamic_ntk")
