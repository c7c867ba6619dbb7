"""Keys about tables of positions: the kind of encoding that is asked for, and an encoder with one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.errors import shorten
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.stated.key_names import KEY_NOT_READ
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_schemes import BY_TYPE, WITH_DISTANCES
from pe_spectra.models.stated.statement import TRANSFORMERS

_KEY = "position_embedding_type"
_OF_DISTANCES = ("relative_key", "relative_key_query")
#: What asks for a table, for classes that do not read the key.
_OF_TABLES = ("absolute", "learned", "learned_absolute")
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


def check_table_type(keys: Keys, model: str, rows: int | None) -> list[Finding]:
    """Say where position_embedding_type asks for something else than the table that transformers 5 adds.

    Parameters
    ----------
    model : model_type of a class with a learned table. rows : of that table; None where no key says.

    Returns
    -------
    At most one finding. An error where transformers 4 had a table of distances instead, 2 rows - 1 of them, which
    transformers 5 does not load (huggingface/transformers, pull request 41170); else a warning.

    Raises
    ------
    FileError : esm, which alone still reads the key, without a table and without a rotation.

    >>> asked = Keys({"position_embedding_type": "relative_key"}, "config.json")
    >>> [found.level for found in check_table_type(asked, "bert", 512)]
    ['error']
    """
    kind = keys.find_text(_KEY)
    if kind in (None, "absolute") or (model not in BY_TYPE and kind in _OF_TABLES):
        return []
    if model == "esm":
        keys.refuse(_KEY, "absolute and rotary are accepted for esm, which has no positions with any other")
    relative = kind in _OF_DISTANCES and model in WITH_DISTANCES
    table = "its table of positions" if rows is None else f"its table of {rows:,} rows"
    message = f"{keys.where}{_KEY} {shorten(repr(kind))} is not read by the class of {model}"
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
    data = {"key": f"{keys.where}{_KEY}", "model": model, "distances": 2 * rows - 1 if relative and rows else None}
    return [KEY_NOT_READ.find(message, level="error" if relative else "warning", **data)]


def note_encoder(keys: Keys, model: str) -> list[Finding]:
    """Say where an encoder has an encoding of its own beside the table of the decoder.

    >>> found = note_encoder(Keys({"max_source_positions": 1500}, "config.json"), "whisper")
    >>> found[0].data["encoder_positions"]
    1500
    """
    if model not in _ENCODERS:
        return []
    key, default, what = _ENCODERS[model]
    positions = keys.find_integer(key) or default
    message = (
        f"the model has several parts; the decoder is what is audited, and the encoder has {what} of its own for "
        f"{positions:,} positions ({key})"
    )
    return [NESTED_CONFIG.find(message, part="decoder", encoder_positions=positions)]
