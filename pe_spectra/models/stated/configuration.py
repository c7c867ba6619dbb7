"""config.json of Hugging Face models: what it states about the positional encoding.

The kind of encoding is found here, and everything about encodings without a rotation; `rotary_keys` reads those with
one. Which other models have which: transformers 5.23.0, models/*/configuration_*.py and modeling_*.py, read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pe_spectra.errors import FileError, shorten
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import HEADS, KEY_NOT_READ, LENGTHS, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_known, split_names
from pe_spectra.models.stated.rotary_keys import NOT_BUILT, asks_rotation, read_layers
from pe_spectra.models.stated.statement import TRANSFORMERS, Configuration, LayerStatement, SchemeName

#: Where models of several parts keep the part that reads text, outermost first.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
#: Keys that a rotary or other encoding has of its own.
_LOOKED_FOR = "rope_theta, rope_parameters, alibi, relative_attention_num_buckets"
_TYPE = "position_embedding_type"
#: What asks for a table, for classes that do not read the key.
_OF_TABLES = ("absolute", "learned", "learned_absolute")
_OF_DISTANCES = ("relative_key", "relative_key_query")


class LearnedTable(NamedTuple):
    """A learned table of positions.

    >>> LEARNED["opt"]
    LearnedTable(key='max_position_embeddings', extra=2, first=2)
    """

    key: str = "max_position_embeddings"  #: has its number of rows
    extra: int = 0  #: rows beyond that
    first: int = 0  #: the row of position 0


#: Linear biases, unless the file says no.
_ALIBI = ("bloom", "mpt")
#: Learned biases by bucket of distance. mpnet takes 128 for the largest distance whatever the file says.
_T5 = split_names("t5 mt5 umt5 longt5 pop2piano switch_transformers udop pix2struct_text_model mpnet")
_TABLES: tuple[tuple[str, LearnedTable], ...] = (
    (
        (
            "albert align_text_model bert bert-generation big_bird bigbird_pegasus blenderbot blenderbot-small "
            "blip_2_qformer blip_text_model bros chinese_clip_text_model clip_text_model clipseg_text_model cohere_asr "
            "convbert distilbert electra ernie flaubert flava_text_model fnet git gpt_neo groupvit_text_model "
            "instructblip_qformer layoutlm layoutlmv2 lxmert megatron-bert mobilebert perceiver rembert roc_bert "
            "siglip2_text_model siglip_text_model splinter squeezebert tapas tvp vilt visual_bert xclip_text_model xlm"
        ),
        LearnedTable(),
    ),
    (
        "decision_transformer gpt2 gpt_bigcode imagegpt openai-gpt",
        LearnedTable(key="n_positions"),
    ),
    # rows are counted from pad_token_id + 1, which is 2; the first two are not used
    (
        (
            "altclip_text_model bridgetower_text_model camembert clap_text_model data2vec-text esm ibert layoutlmv3 "
            "lilt longformer luke markuplm mpnet roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl xmod"
        ),
        LearnedTable(first=2),
    ),
    (
        "bart biogpt mbart mra mvp nystromformer opt plbart pp_formulanet_text trocr yoso",
        LearnedTable(extra=2, first=2),
    ),
    ("prophetnet", LearnedTable(first=1)),
    ("led", LearnedTable(key="max_decoder_position_embeddings")),
    ("whisper", LearnedTable(key="max_target_positions")),
)
#: Learned tables, one row for each position.
LEARNED: Mapping[str, LearnedTable] = MappingProxyType(
    {name: table for names, table in _TABLES for name in names.split()}
)
_ALL_KINDS = (
    "albert altclip_text_model bert blip_2_qformer blip_text_model bridgetower_text_model bros camembert "
    "data2vec-text electra ernie git instructblip_qformer lilt megatron-bert roberta roberta-prelayernorm roc_bert "
    "xlm-roberta xlm-roberta-xl xmod"
)
#: Of these, classes that in transformers 4.57.6 add their table only where position_embedding_type is absolute.
BY_TYPE = split_names(
    _ALL_KINDS,
    "align_text_model chinese_clip_text_model clap_text_model flava_text_model mra nystromformer splinter vilt yoso",
)
#: Classes that there have a table of distances in each attention where it is relative_key or relative_key_query.
WITH_DISTANCES = split_names(_ALL_KINDS, "bert-generation")
#: Fixed tables of sines and cosines. whisper's encoder has one too.
_SINUSOIDAL = split_names(
    "autoformer canary_decoder ctrl fastspeech2_conformer fsmt informer kosmos_2_5_text_model kosmos_2_text_model",
    "m2m_100 marian musicgen_decoder musicgen_melody_decoder nllb-moe pegasus pegasus_x seamless_m4t seamless_m4t_v2",
    "speech_to_text speecht5 time_series_transformer xglm",
)
#: No encoding of positions: the order is in a recurrence.
_WITHOUT = split_names("falcon_mamba jamba kimi_linear mamba mamba2 nemotron_h rwkv xlstm zamba")
#: Encoders beside the decoder that is audited: the key with their positions, its default, and what they have.
_ENCODERS: Mapping[str, tuple[str, int, str]] = MappingProxyType(
    {
        "whisper": ("max_source_positions", 1500, "fixed sinusoids"),
        "led": ("max_encoder_position_embeddings", 16384, "a learned table"),
    }
)
NESTED_CONFIG = Kind(
    code="nested-config",
    levels=("note",),
    phrase="the model has several parts, of which one is audited",
    reasoning="A model of several parts, for instance one that also sees images, keeps the keys of the part that reads "
    "text in an object of their own. Keys of the same name on top belong to the whole and are not read. The encoder of "
    "Whisper and that of LED have an encoding of their own beside the decoder's.",
    formula="thinker_config, text_config, language_config and llm_config are followed, the outermost first; model_type "
    "whisper or led: the decoder is audited",
    references=(TRANSFORMERS,),
)


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
    by_class = scheme == "rotary" and length is None and known.length is not None
    layers: tuple[LayerStatement, ...] = ()
    values: dict[str, int | float | str] = {}
    if scheme == "rotary":
        layers, length = read_layers(keys, known), known.length if length is None else length
    elif scheme == "learned":
        values, length = _read_table(keys, known.model)
    elif scheme in _READERS:
        values = _READERS[scheme](keys)
    return Configuration(
        path=path,
        model=known.model,
        scheme=scheme,
        length=length,
        length_by_class=by_class,
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
    model, kind = known.model, keys.find_text(_TYPE)
    says_rotary = kind in ("rotary", "rope")
    if _asks_alibi(keys, model):
        return "alibi"
    if "relative_attention_num_buckets" in keys or model in _T5:
        return "t5"
    if model in LEARNED and not (says_rotary and (model == "esm" or asks_rotation(keys))):
        return "learned"
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
    if True in answers or keys.find_text(_TYPE) == "alibi":
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


def _read_table(keys: Keys, model: str) -> tuple[dict[str, int | float | str], int | None]:
    """The shape of a learned table, and the longest context that the other keys speak of."""
    table = LEARNED.get(model, LearnedTable())
    lengths = [keys.find_integer(key) for key in LENGTHS if key != table.key]
    length = max((one for one in lengths if one is not None), default=None)
    rows = keys.find_integer(table.key, *LENGTHS)
    values: dict[str, int | float | str] = {"d": keys.read_integer(*WIDTHS), "unused": table.first}
    if rows is not None:
        values["rows"] = rows + table.extra
        length = length if length is not None else rows + table.extra - table.first
    _check_table_type(keys, model, None if rows is None else rows + table.extra)
    _note_encoder(keys, model)
    return values, length


def _check_table_type(keys: Keys, model: str, rows: int | None) -> None:
    """Say where position_embedding_type asks for something else than the table that transformers 5 adds.

    An error where transformers 4 had a table of distances instead, 2 rows - 1 of them, which transformers 5 does not
    load (huggingface/transformers, pull request 41170); else a warning.
    """
    kind = keys.find_text(_TYPE)
    if kind in (None, "absolute") or (model not in BY_TYPE and kind in _OF_TABLES):
        return
    if model == "esm":
        keys.refuse(_TYPE, "absolute and rotary are accepted for esm, which has no positions with any other")
    relative = kind in _OF_DISTANCES and model in WITH_DISTANCES
    table = "its table of positions" if rows is None else f"its table of {rows:,} rows"
    message = f"{keys.where}{_TYPE} {shorten(repr(kind))} is not read by the class of {model}"
    if relative:
        distances = "distances" if rows is None else f"{2 * rows - 1:,} distances"
        instead = "instead of the table" if model in BY_TYPE else "beside the table"
        message += (
            f" in transformers 5, which adds {table}; in transformers 4 each attention has a table of {distances} "
            f"{instead}, which is lost: use transformers 4"
        )
    elif model in BY_TYPE:
        message += (
            f" in transformers 5, which adds {table}; transformers 4 adds it for absolute only, so there no "
            "table is added; write absolute if it was trained"
        )
    else:
        message += f", which adds {table} all the same; write absolute if it was trained"
    data = {"key": f"{keys.where}{_TYPE}", "model": model, "distances": 2 * rows - 1 if relative and rows else None}
    keys.report(KEY_NOT_READ, message, level="error" if relative else "warning", **data)


def _note_encoder(keys: Keys, model: str) -> None:
    """Say where an encoder has an encoding of its own beside the table of the decoder."""
    if model not in _ENCODERS:
        return
    key, default, what = _ENCODERS[model]
    positions = keys.find_integer(key) or default
    message = (
        f"the model has several parts; the decoder is what is audited, and the encoder has {what} of its own for "
        f"{positions:,} positions ({key})"
    )
    keys.report(NESTED_CONFIG, message, part="decoder", encoder_positions=positions)
