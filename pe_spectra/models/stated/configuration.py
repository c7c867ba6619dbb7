"""config.json of Hugging Face models: what it states about the positional encoding.

The kind of encoding is found here; `rotary_keys` reads those with a rotation, `position_tables` those with a row for
each position. Which classes are biased, sinusoidal without a table, or recurrent: transformers 5.23.0, read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.models.stated.keys import HEADS, LENGTHS, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_known, split_names
from pe_spectra.models.stated.position_tables import NESTED_CONFIG, TYPE, find_table, read_table
from pe_spectra.models.stated.rotary_keys import NOT_BUILT, asks_rotation, read_layers
from pe_spectra.models.stated.statement import Configuration, LayerStatement, SchemeName

#: Where models of several parts keep the part that reads text, outermost first.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
#: Keys that a rotary or other encoding has of its own.
_LOOKED_FOR = "rope_theta, rope_parameters, alibi, relative_attention_num_buckets"
#: Linear biases, unless the file says no.
_ALIBI = ("bloom", "mpt")
#: Learned biases by bucket of distance. mpnet takes 128 for the largest distance whatever the file says.
_T5 = split_names("t5 mt5 umt5 longt5 pop2piano switch_transformers udop pix2struct_text_model mpnet")
#: Sines and cosines that no table with a row for each stated position holds.
_SINUSOIDAL = split_names("autoformer fastspeech2_conformer fsmt informer pegasus_x speecht5 time_series_transformer")
#: No encoding of positions: the order is in a recurrence.
_WITHOUT = split_names("falcon_mamba jamba kimi_linear mamba mamba2 nemotron_h rwkv xlstm zamba")


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
    whole = Keys(config, path)
    keys = _find_text_part(whole)
    name = keys.find_text("model_type") or whole.find_text("model_type") or ""
    known = find_known(name, silent=keys is whole)
    dtype = keys.find_text("dtype", "torch_dtype") or whole.find_text("dtype", "torch_dtype")
    scheme = _choose_scheme(keys, known)
    length = keys.find_integer(*LENGTHS)
    lacking = LENGTHS[0] if scheme == "rotary" and length is None and known.length is not None else ""
    layers: tuple[LayerStatement, ...] = ()
    values: Mapping[str, int | float | str] = {}
    if scheme == "rotary":
        layers, length = read_layers(keys, known), known.length if length is None else length
    elif scheme == "learned" or (scheme == "sinusoidal" and find_table(known.model)):
        values, length, lacking = read_table(keys, known.model)
    elif scheme in _READERS:
        values = _READERS[scheme](keys)
    return Configuration(
        path=path,
        model=known.model,
        scheme=scheme,
        length=length,
        length_key=lacking,
        layers=layers,
        values=values,
        dtype=dtype,
        findings=tuple(keys.findings),
    )


def _find_text_part(keys: Keys) -> Keys:
    found = keys
    for part in find_known(keys.find_text("model_type") or "").parts or _TEXT_PARTS:
        if isinstance(found.found.get(part), dict):
            found = found.find_object(part)
    if found is not keys:
        where = found.where.rstrip(".")
        message = f"the model has several parts; {where} is the one that reads text, and what is audited"
        keys.report(NESTED_CONFIG, message, part=where)
        whole = keys.find_text("model_type") or ""
        if find_known(whole).unnamed_refused and "model_type" not in found:
            message = f"{where} has no model_type, so the class of {whole} in transformers 5 refuses the file"
            keys.report(NOT_BUILT, message, key=f"{where}.model_type", model=whole)
    return found


def _choose_scheme(keys: Keys, known: KnownModel) -> SchemeName:
    model, kind = known.model, keys.find_text(TYPE)
    says_rotary = kind in ("rotary", "rope")
    if _asks_alibi(keys, model):
        return "alibi"
    if "relative_attention_num_buckets" in keys or model in _T5:
        return "t5"
    table = find_table(model) if known.only_if is not None or not known.is_known else None
    if table is not None and not (says_rotary and (known.is_known or asks_rotation(keys))):
        return "sinusoidal" if table.fixed else "learned"
    if model in _SINUSOIDAL:
        return "sinusoidal"
    if model in _WITHOUT or (known.only_if is not None and _opts_out(keys, *known.only_if)):
        return "none"
    if asks_rotation(keys) or says_rotary or known.is_known:
        return "rotary"
    if kind == "absolute":
        return "learned"
    raise FileError(keys.path, _explain_nothing(keys))


def _opts_out(keys: Keys, key: str, value: str | bool) -> bool:
    """Whether a model that can be rotary is not: its class turns only where a key has a certain value."""
    asked = keys.found.get(key)
    # false is what a class takes for a switch that is not set
    return value is not False if asked is None else asked != value


def _asks_alibi(keys: Keys, model: str) -> bool:
    answers = [one.find_truth("alibi") for one in (keys, keys.find_object("attn_config"))]
    if True in answers or keys.find_text(TYPE) == "alibi":
        return True
    return model in _ALIBI and False not in answers


def _explain_nothing(keys: Keys) -> str:
    looked = _LOOKED_FOR
    if not keys.has_any(*WIDTHS, "head_dim"):
        looked = f"head_dim, {', '.join(WIDTHS)}; {looked}"
    model = keys.find_text("model_type")
    named = f", and model_type {shorten(repr(model))} is not known here" if model else ""
    return f"names no positional encoding{named}; looked for {looked}"


_READERS: Mapping[str, Callable[[Keys], dict[str, int | float | str]]] = {
    "alibi": lambda keys: {"heads": keys.read_integer(*HEADS)},
    "t5": lambda keys: {
        "buckets": keys.find_integer("relative_attention_num_buckets") or 32,
        "max_distance": keys.find_integer("relative_attention_max_distance") or 128,
        "heads": keys.read_integer(*HEADS),
    },
    "sinusoidal": lambda keys: {"d": keys.read_integer(*WIDTHS)},
}
