"""config.json of Hugging Face models: what it states about the positional encoding.

The kind of encoding is found here; `rotary_keys` reads the keys of rotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.findings import Finding
from pe_spectra.models.stated.key_names import HEADS, LENGTHS, WIDTHS
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import (
    ALIBI,
    LEARNED,
    SINUSOIDAL,
    T5,
    WITHOUT,
    KnownModel,
    LearnedTable,
    find_known,
)
from pe_spectra.models.stated.rotary_keys import asks_rotation, read_rotary
from pe_spectra.models.stated.statement import Configuration, SchemeName
from pe_spectra.models.stated.table_keys import NESTED_CONFIG, check_table_type, note_encoder

#: Where models of several parts keep the part that reads text, outermost first.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
#: Keys that a rotary or other encoding has of its own.
_LOOKED_FOR = "rope_theta, rope_parameters, alibi, relative_attention_num_buckets"


def read_configuration(config: Mapping[str, Any], path: str) -> Configuration:
    """Read what a config.json states about the positional encoding of its model.

    Parameters
    ----------
    config : the object of the file. path : the file, for messages.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no positional encoding that is known here.

    >>> config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}
    >>> read_configuration(config, "config.json").layers[0].head_dim
    16
    """
    keys, findings = _find_text_part(Keys(config, path))
    model = keys.find_text("model_type") or Keys(config, path).find_text("model_type") or ""
    dtype = keys.find_text("dtype", "torch_dtype") or Keys(config, path).find_text("dtype", "torch_dtype")
    scheme = _choose_scheme(keys, model)
    stated = Configuration(path=path, model=model, scheme=scheme, dtype=dtype, findings=findings)
    stated = replace(stated, length=keys.find_integer(*LENGTHS))
    if scheme == "rotary":
        known = find_known(model) or KnownModel()
        layers, found = read_rotary(keys, known, model)
        if stated.length is None and known.length is not None:
            stated = replace(stated, length=known.length, length_by_class=True)
        return replace(stated, layers=layers, findings=(*findings, *found))
    if scheme == "learned":
        values, length = _read_table(keys, LEARNED.get(model, LearnedTable()))
        rows = values.get("rows")
        beside = (*check_table_type(keys, model, rows), *note_encoder(keys, model))
        return replace(stated, values=values, length=length, findings=(*findings, *beside))
    return replace(stated, values=_READERS[scheme](keys) if scheme in _READERS else {})


def _find_text_part(keys: Keys) -> tuple[Keys, tuple[Finding, ...]]:
    found = keys
    for part in _TEXT_PARTS:
        if isinstance(found.found.get(part), dict):
            found = found.find_object(part) or found
    if found is keys:
        return keys, ()
    where = found.where.rstrip(".")
    message = f"the model has several parts; {where} is the one that reads text, and what is audited"
    return found, (NESTED_CONFIG.find(message, part=where),)


def _choose_scheme(keys: Keys, model: str) -> SchemeName:
    if _asks_alibi(keys, model):
        return "alibi"
    if "relative_attention_num_buckets" in keys or model in T5:
        return "t5"
    kind = keys.find_text("position_embedding_type")
    turned = kind in ("rotary", "rope") and (model == "esm" or asks_rotation(keys))
    if model in LEARNED and not turned:
        return "learned"
    if model in SINUSOIDAL:
        return "sinusoidal"
    if model in WITHOUT:
        return "none"
    if _opts_out(keys, model):
        return "none"
    if asks_rotation(keys) or kind in ("rotary", "rope") or find_known(model) is not None:
        return "rotary"
    if kind == "absolute":
        return "learned"
    raise FileError(keys.path, _explain_nothing(keys))


def _opts_out(keys: Keys, model: str) -> bool:
    """Whether a model that can be rotary is not: its class turns only where a key has a certain value."""
    known = find_known(model)
    if known is None or known.only_if is None:
        return False
    key, value = known.only_if
    asked = keys.found.get(key)
    # false is what a class takes for a switch that is not set
    return value is not False if asked is None else asked != value


def _asks_alibi(keys: Keys, model: str) -> bool:
    nested = keys.find_object("attn_config")
    answers = [one.find_truth("alibi") for one in (keys, nested) if one is not None]
    if True in answers or keys.find_text("position_embedding_type") == "alibi":
        return True
    return model in ALIBI and ALIBI[model] is None and False not in answers


def _explain_nothing(keys: Keys) -> str:
    looked = _LOOKED_FOR
    if not keys.has_any(*WIDTHS, "head_dim"):
        looked = f"head_dim, {', '.join(WIDTHS)}; {looked}"
    model = keys.find_text("model_type")
    named = f", and model_type {shorten(repr(model))} is not known here" if model else ""
    return f"names no positional encoding{named}; looked for {looked}"


def _read_alibi(keys: Keys) -> dict[str, int | float | str]:
    return {"heads": keys.read_integer(*HEADS)}


def _read_t5(keys: Keys) -> dict[str, int | float | str]:
    return {
        "buckets": keys.find_integer("relative_attention_num_buckets") or 32,
        "max_distance": keys.find_integer("relative_attention_max_distance") or 128,
        "heads": keys.read_integer(*HEADS),
    }


def _read_width(keys: Keys) -> dict[str, int | float | str]:
    return {"d": keys.read_integer(*WIDTHS)}


def _read_table(keys: Keys, table: LearnedTable) -> tuple[dict[str, int], int | None]:
    """The shape of the table, and the longest context that the other keys speak of."""
    stated = [keys.find_integer(key) for key in LENGTHS if key != table.key]
    length = max((one for one in stated if one is not None), default=None)
    rows = keys.find_integer(table.key, *LENGTHS)
    values = {"d": keys.read_integer(*WIDTHS), "unused": table.first}
    if rows is None:
        return values, length
    values["rows"] = rows + table.extra
    return values, length if length is not None else rows + table.extra - table.first


_READERS = {"alibi": _read_alibi, "t5": _read_t5, "sinusoidal": _read_width}
