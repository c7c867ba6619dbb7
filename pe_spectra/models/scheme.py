"""The positional encoding that a model's config.json asks for, as a name and parameters of the catalogue.

Both generations of keys of Hugging Face transformers are read: `rope_parameters` (5) and `rope_theta`
with `rope_scaling` (4), also inside `text_config`, and older spellings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pe_spectra.errors import FileError, shorten

#: What rope_type is called here. `default` is no scaling.
_SCALINGS = {
    "default": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
    # positions of several axes share the ladder that text has
    "mrope": "none",
    "proportional": "proportional",
}
#: Keys of a scaling that are copied, and the parameters that they are here.
_COPIED = {
    "factor": "factor",
    "original_max_position_embeddings": "original",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "attention_factor": "attention_factor",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "low_freq_factor": "low_freq_factor",
    "high_freq_factor": "high_freq_factor",
    "short_factor": "short_factor",
    "long_factor": "long_factor",
}
#: Parameters that belong to a scaling; others that a file carries along are not its own.
_OWN = {
    "linear": ("factor",),
    "dynamic": ("factor", "original"),
    "yarn": ("factor", "original", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"),
    "llama3": ("factor", "original", "low_freq_factor", "high_freq_factor"),
    "longrope": ("factor", "original", "attention_factor", "short_factor", "long_factor"),
    "proportional": ("factor",),
}
_INTEGERS = ("original",)
#: Keys for which transformers takes 0 for "not set".
_UNSET_BY_ZERO = ("mscale", "mscale_all_dim")
_BASES = ("rope_theta", "rotary_emb_base", "rope_base")
_SHARES = ("partial_rotary_factor", "rotary_pct", "rotary_percentage")
_WIDTHS = ("hidden_size", "n_embd", "d_model", "dim")
_HEADS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads")
_LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx", "max_sequence_length")
_ALIBI = ("bloom", "mpt")
#: Models that turn by position without saying so in their configuration.
_ROTARY = (
    *("llama", "falcon", "RefinedWeb", "RefinedWebModel", "mistral", "mixtral", "gemma", "gemma2", "qwen2", "codegen"),
    *("cohere", "glm", "internlm", "phi3"),
)
#: Models whose pairs are channels (2i, 2i + 1); a key rope_interleave overrides it. Others have (i, i + D/2).
#: Source: the modeling files of transformers, each model's way to turn by complex numbers or every second channel.
_INTERLEAVED = (
    *("gptj", "codegen", "cohere", "cohere2", "chatglm", "glm", "glm4", "glm4v_text", "glm4_moe_lite", "helium"),
    *("ernie4_5", "ernie4_5_moe", "moonshine", "llama4", "llama4_text", "deepseek_v2", "deepseek_v3", "kimi_k2"),
    *("longcat_flash",),
)
_DEFAULT_BASE = 10000.0


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """An encoding of the catalogue as a configuration asks for it.

    Attributes
    ----------
    name : its name in the catalogue.
    values : parameters by name.
    notes : what was assumed, each a sentence.
    """

    name: str
    values: dict[str, Any]
    notes: tuple[str, ...] = ()


def read_scheme(config: Mapping[str, Any], path: str) -> Scheme:
    """Return the positional encoding that a configuration asks for.

    Parameters
    ----------
    config : the object of config.json.
    path : the file, for messages.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no positional encoding that is known here.

    >>> read_scheme({"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 500000.0}, "config.json").values
    {'d': 16, 'base': 500000.0}
    """
    inner = config.get("text_config")
    if isinstance(inner, dict):
        config = {**{k: v for k, v in config.items() if k == "model_type"}, **inner}
    reader = _Reader(config, path)
    kind = str(config.get("model_type", ""))
    if _asks_alibi(config, kind):
        return Scheme(name="alibi", values={"heads": reader.read_integer(_HEADS)})
    if _has(config, "relative_attention_num_buckets"):
        return _read_t5(reader)
    if _has(config, *_BASES, "rope_parameters", "rope_scaling", "rotary_dim", *_SHARES):
        return _read_rotary(reader)
    if config.get("position_embedding_type") == "rotary" or kind in _ROTARY:
        return _read_rotary(reader)
    if _has(config, *_WIDTHS) and not _has(config, *_HEADS):
        reader.read_integer(_HEADS)
    looked = "rope_theta, rope_parameters, alibi, relative_attention_num_buckets"
    if not _has(config, *_WIDTHS, "head_dim"):
        looked = f"head_dim, {', '.join(_WIDTHS)}; {looked}"
    raise FileError(path, f"names no positional encoding without a table; looked for {looked}")


def _has(mapping: Mapping[str, Any], *keys: str) -> bool:
    # null is "not set": files list keys of their model's class that it does not use
    return any(mapping.get(key) is not None for key in keys)


def _asks_alibi(config: Mapping[str, Any], kind: str) -> bool:
    nested = config.get("attn_config")
    answers = [config.get("alibi"), nested.get("alibi") if isinstance(nested, dict) else None]
    if any(answer is True for answer in answers) or config.get("position_embedding_type") == "alibi":
        return True
    return kind in _ALIBI and not any(answer is False for answer in answers)


def _read_t5(reader: _Reader) -> Scheme:
    values: dict[str, Any] = {"buckets": reader.read_integer(("relative_attention_num_buckets",))}
    if _has(reader.config, "relative_attention_max_distance"):
        values["max_distance"] = reader.read_integer(("relative_attention_max_distance",))
    values["heads"] = reader.read_integer(_HEADS)
    return Scheme(name="t5", values=values, notes=("the values of its buckets are in the weights, not here",))


def _read_rotary(reader: _Reader) -> Scheme:
    parameters, notes = reader.find_rope_parameters()
    values: dict[str, Any] = {"d": reader.read_head_width()}
    base = reader.find_number(parameters, ("rope_theta",)) or reader.find_number(reader.config, _BASES)
    if base is None:
        notes += (f"no base is given, so {_DEFAULT_BASE:g} is taken",)
    else:
        values["base"] = base
    share = _read_share(reader, parameters, values["d"])
    if share is not None and share != 1:
        values["share"] = share
    if _asks_interleaved(reader):
        values["layout"] = "interleaved"
    kind = str(parameters.get("rope_type") or parameters.get("type") or "default")
    if kind not in _SCALINGS:
        reader.fail("rope_type", kind, f"{', '.join(_SCALINGS)} are read here")
    if _SCALINGS[kind] != "none":
        found, remarks = _read_scaling(reader, parameters, _SCALINGS[kind])
        values.update(scaling=_SCALINGS[kind], **found)
        notes += remarks
    return Scheme(name="rope", values=values, notes=notes)


def _read_share(reader: _Reader, parameters: Mapping[str, Any], width: int) -> float | None:
    if _has(reader.config, "qk_rope_head_dim"):
        return None  # the channels that are turned are a part of their own, turned as a whole
    share = reader.find_number(parameters, _SHARES) or reader.find_number(reader.config, _SHARES)
    if share is None and _has(reader.config, "rotary_dim"):
        return reader.read_integer(("rotary_dim",)) / width
    return share


def _asks_interleaved(reader: _Reader) -> bool:
    asked = reader.config.get("rope_interleave")
    if asked is None:
        return reader.config.get("model_type") in _INTERLEAVED
    if not isinstance(asked, bool):
        reader.fail("rope_interleave", asked, "true or false is accepted")
    return asked is True


def _read_scaling(
    reader: _Reader, parameters: Mapping[str, Any], scaling: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    found = _copy_scaling(reader, parameters, scaling)
    notes: tuple[str, ...] = ()
    longest = reader.find_number(reader.config, _LENGTHS)
    if "original" in _OWN[scaling] and "original" not in found:
        original = reader.find_number(reader.config, ("original_max_position_embeddings",))
        if original is not None:
            found["original"] = int(original)
    if scaling == "yarn" and "factor" not in found:
        found["factor"], notes = _derive_factor(reader, longest, found.get("original"))
    if scaling == "llama3" and "original" not in found:
        # max_position_embeddings is the length after scaling
        notes = ("no original_max_position_embeddings is given, so 8192 is taken, as published for llama3",)
    elif "original" in _OWN[scaling] and "original" not in found and longest is not None:
        found["original"] = int(longest)
    if scaling in ("dynamic", "longrope") and longest is not None:
        found["served"] = int(longest)
        if scaling == "longrope" and "factor" not in found:
            found["factor"] = max(1.0, longest / found["original"])
    return found, notes


def _copy_scaling(reader: _Reader, parameters: Mapping[str, Any], scaling: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, name in _COPIED.items():
        value = parameters.get(key)
        unset = key in _UNSET_BY_ZERO and value == 0 and not isinstance(value, bool)
        if name not in _OWN[scaling] or value is None or unset:
            continue
        if key.endswith(("short_factor", "long_factor")):
            found[name] = reader.read_list(parameters, key)
        else:
            number = reader.find_number(parameters, (key,))
            if name in _INTEGERS and number is not None and not number.is_integer():
                reader.fail(key, parameters[key], "an integer from 1 is accepted")
            found[name] = int(number) if name in _INTEGERS and number is not None else number
    if scaling == "yarn" and isinstance(parameters.get("truncate"), bool):
        found["truncate"] = "yes" if parameters["truncate"] else "no"
    return found


def _derive_factor(reader: _Reader, longest: float | None, original: int | None) -> tuple[float, tuple[str, ...]]:
    if longest is None or original is None or longest < original:
        accepted = "max_position_embeddings from original_max_position_embeddings on stand for it"
        raise FileError(reader.path, f"factor is not set; it, or {accepted}")
    factor = longest / original
    ratio = "max_position_embeddings / original_max_position_embeddings"
    return factor, (f"no factor is given, so {ratio} = {factor:g} is taken",)


class _Reader:
    """Reads keys of a configuration strictly: true is no number, and neither is text."""

    def __init__(self, config: Mapping[str, Any], path: str) -> None:
        self.config, self.path = config, path

    def fail(self, key: str, value: object, accepted: str) -> None:
        """Refuse a key.

        Raises
        ------
        FileError : always.
        """
        raise FileError(self.path, f"{key} cannot be used ({shorten(repr(value))}); {accepted}")

    def read_integer(self, keys: tuple[str, ...]) -> int:
        """Read the first of the keys that is there, a positive integer."""
        for key in keys:
            value = self.config.get(key)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 40:
                    self.fail(key, value, "an integer from 1 is accepted")
                return int(value)
        raise FileError(self.path, f"lacks a key; looked for {', '.join(keys)}")

    def find_number(self, mapping: Mapping[str, Any], keys: tuple[str, ...]) -> float | None:
        """Read the first of the keys that is there, a positive finite number; None where none is."""
        for key in keys:
            value = mapping.get(key)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                    self.fail(key, value, "a number above 0 is accepted")
                return float(value)
        return None

    def read_list(self, mapping: Mapping[str, Any], key: str) -> tuple[float, ...]:
        """Read a list of positive finite numbers."""
        values = mapping[key]
        if not isinstance(values, list) or not values:
            self.fail(key, values, "a list of numbers is accepted")
        return tuple(self.find_number({key: value}, (key,)) or 0.0 for value in values)

    def read_head_width(self) -> int:
        """Width of a head, or of what of it is turned: qk_rope_head_dim, head_dim, or hidden size over heads."""
        for key in ("qk_rope_head_dim", "head_dim"):
            if self.config.get(key) is not None:
                return self.read_integer((key,))
        width, heads = self.read_integer(_WIDTHS), self.read_integer(_HEADS)
        if width % heads:
            self.fail("hidden_size", width, f"a multiple of the {heads} heads, or head_dim, is accepted")
        return width // heads

    def find_rope_parameters(self) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The parameters of rotation, of the first layer type where they are nested, and what was chosen."""
        found = self.config.get("rope_parameters") or self.config.get("rope_scaling") or {}
        if not isinstance(found, dict):
            self.fail("rope_scaling", found, "an object is accepted")
        nested = [name for name, value in found.items() if isinstance(value, dict)]
        if nested and not _has(found, "rope_type", "rope_theta"):
            others = f"; others: {', '.join(nested[1:])}" if nested[1:] else ""
            return found[nested[0]], (f"the parameters of {shorten(nested[0])} layers are used{others}",)
        return found, ()
