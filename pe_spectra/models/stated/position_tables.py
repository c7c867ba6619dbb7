"""Tables of positions: how many rows the class of a model adds for what its configuration says.

What each class of transformers takes is measured: tests/reference/transformers/tables.py builds it and changes one key
at a time, and runs it once to see which row the first position reads; `pe_spectra.models.measured` has what it found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.models.stated.class_sinusoids import Sinusoids
from pe_spectra.models.stated.keys import KEY_NOT_READ, LENGTHS, MOST, WIDTHS, Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.passed_keys import NESTED_CONFIG
from pe_spectra.models.stated.position_schemes import read_size
from pe_spectra.models.stated.statement import NEWEST, POSITION_TYPE
from pe_spectra.records import NamedTuple

#: What asks for a table, for classes that do not read the key.
_OF_TABLES = ("absolute", "learned", "learned_absolute")
_OF_DISTANCES = ("relative_key", "relative_key_query")


class KnownTable(NamedTuple):
    """A table of positions that the class of a model adds, one row for each.

    >>> find_table("opt").keys, find_table("opt").extra, find_table("vit").picture
    (('max_position_embeddings',), 2, 'image_size')
    """

    at: str = ""  #: where it is in the model
    keys: tuple[str, ...] = LENGTHS  #: the first that is set has its number of rows
    default: int | None = None  #: that number where none is
    extra: int = 0  #: rows beyond that
    first: int | None = None  #: the row of position 0; None: after the extra rows
    after_padding: bool = False  #: it is the row after pad_token_id
    padding: int | None = None  #: that row where the file has none
    #: the key with its width, and its default; two such pairs where it is their product
    columns: tuple[Any, ...] | int | None = None
    fixed: bool = False  #: sines and cosines by formula, which training leaves as they are
    grows: bool = False  #: and which are made for more positions when these are asked for
    picture: str = ""  #: for patches of a picture: the key that has its size
    patch: str | int | tuple[int, int] = ""  #: the key of a patch's size, or that size
    series: tuple[str, ...] = ()  #: for patches of a series: the keys of its length, of a patch's and of their stride
    defaults: tuple[Any, ...] = (None, None)  #: these sizes where the file has none
    one_more: tuple[str, bool] | None = None  #: the switch with which one row more stands before the first position
    trained_if: tuple[str, str] | None = None  #: the word with which a table that is fixed else is trained
    #: always, asked or never: whether the class resamples it for pictures of another size, and by which filter
    resized: tuple[str, ...] = ()


#: Classes that are not built with a table from a configuration alone; transformers 5.24.0, read.
_READ: Mapping[str, KnownTable] = MappingProxyType(
    {
        "blip_2_qformer": KnownTable(keys=("max_position_embeddings",), default=512),
        "layoutlmv2": KnownTable(keys=("max_position_embeddings",), default=512),
        "prophetnet": KnownTable(keys=("max_position_embeddings",), default=512, first=1),
    }
)
_ALL_KINDS = (
    "albert", "altclip_text_model", "bert", "blip_2_qformer", "blip_text_model", "bridgetower_text_model", "bros",
    "camembert", "data2vec-text", "electra", "ernie", "git", "instructblip_qformer", "lilt", "megatron-bert",
    "roberta", "roberta-prelayernorm", "roc_bert", "xlm-roberta", "xlm-roberta-xl", "xmod",
)  # fmt: skip
#: Classes that in transformers 4.57.6 add their table only where position_embedding_type is absolute.
BY_TYPE = frozenset((
    *_ALL_KINDS, "align_text_model", "chinese_clip_text_model", "clap_text_model", "flava_text_model", "mra",
    "nystromformer", "splinter", "vilt", "yoso",
))  # fmt: skip
#: Classes that there have a table of distances in each attention where it is relative_key or relative_key_query.
WITH_DISTANCES = frozenset((*_ALL_KINDS, "bert-generation"))


@cache
def _load_tables() -> Mapping[str, tuple[KnownTable, ...]]:
    found: Mapping[str, list[dict[str, Any]]] = load_table(f"{NEWEST}-tables")["tables"]
    return {
        name: tuple(_make(one) for one in tables if {"keys", "series"} & one.keys() or _is_trained_grid(one))
        for name, tables in found.items()
    }


def _is_trained_grid(found: Mapping[str, Any]) -> bool:
    return "picture" in found and not found.get("fixed")


def _make(found: Mapping[str, Any]) -> KnownTable:
    values: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in found.items()}
    return KnownTable(**({"keys": values["series"][:1]} if "series" in values else {}), **values)


def list_tables(model: str) -> tuple[KnownTable, ...]:
    """Return the tables that the class of a model adds, whose rows follow from keys; without a class, none.

    >>> [table.keys for table in list_tables("whisper")]
    [('max_source_positions',), ('max_target_positions',)]
    """
    return _load_tables().get(model) or ((_READ[model],) if model in _READ else ())


@cache
def find_table(model: str) -> KnownTable | None:
    """Return the table of a model that is audited: of words before pictures, by a usual key, and the decoder's.

    >>> find_table("whisper").at, find_table("llama") is None
    ('decoder.embed_positions.weight', True)
    """

    def rank(table: KnownTable) -> tuple[bool, ...]:
        # of tables that are alike the first is listed, which stands for the decoder of text beside one of speech
        is_usual = not table.picture and bool({*LENGTHS} & {*table.keys})
        return not is_usual, "decoder" not in table.at, bool(table.picture)

    return min(list_tables(model), key=rank, default=None)


def settle_table(keys: Keys, table: KnownTable) -> KnownTable:
    """Return a table as the switches of a file leave it: trained or not, with a row before the first position or not.

    >>> settle_table(Keys({"positional_encoding_type": "random"}, "config.json"), find_table("patchtst")).fixed
    False
    """
    trained, more = (asked and keys.found.get(asked[0]) == asked[1] for asked in (table.trained_if, table.one_more))
    return table._replace(fixed=table.fixed and not trained, extra=table.extra + bool(more))


def read_table(keys: Keys, model: str) -> tuple[Mapping[str, int], int | None, str]:
    """Read the shape of a table, the context that is stated, and the key that it lacks, "" where it has it.

    Raises
    ------
    FileError : a key of the wrong type or out of range.

    >>> read_table(Keys({"model_type": "vit", "image_size": 384}, "config.json"), "vit")[0]["rows"]
    577
    """
    table = settle_table(keys, find_table(model) or KnownTable())
    values, rows, is_stated = _read_shape(keys, table, model)
    length = rows if table.grows else None  # where the first row stands takes no position away
    if "rows" in values:
        length = values["rows"] - values["unused"]
        if length < 1:
            key = "pad_token_id" if table.after_padding and "pad_token_id" in keys else table.keys[0]
            keys.refuse(key, f"of {values['rows']:,} rows one is left for the first position where it is accepted")
    if not table.picture:
        lengths = [keys.find_integer(key) for key in LENGTHS if key not in table.keys]
        length = max((one for one in lengths if one is not None), default=length)
    if not table.fixed and rows is not None:
        _check_type(keys, model, rows + table.extra)
    _note_encoder(keys, model, table)
    return values, length, (table.picture or table.keys[0]) if not is_stated and rows is not None else ""


def read_other_tables(keys: Keys, model: str) -> Iterator[tuple[KnownTable, Mapping[str, int]]]:
    """Give the tables that the class of a model adds beside the one that is audited, each with its shape.

    One with keys that its class cannot take is left out.

    >>> [(table.at, values["rows"]) for table, values in read_other_tables(Keys({}, "config.json"), "whisper")]
    [('encoder.embed_positions.weight', 1500)]
    """
    audited = find_table(model)
    for one in list_tables(model):
        with suppress(FileError):
            if one is not audited:
                table = settle_table(keys, one)
                yield table, _read_shape(keys, table, model)[0]


def _read_shape(keys: Keys, table: KnownTable, model: str) -> tuple[dict[str, int], int | None, bool]:
    """The shape of a table, its rows for positions where their number is known, and whether the file states that."""
    grid, stated = _read_grid(keys, table) if table.picture else (None, keys.find_integer(*table.keys))
    rows = grid[0] * grid[1] if grid else stated if stated is not None else table.default
    rows = _count_patches(keys, table) if table.series else rows
    values = {"d": _read_width(keys, table, model)}
    if not table.grows:
        values["unused"] = _count_unused(keys, table)
        values |= {} if rows is None else {"rows": rows + table.extra}
    values |= {"grid_height": grid[0], "grid_width": grid[1]} if grid else {}
    return values, rows, stated is not None


def _read_width(keys: Keys, table: KnownTable, model: str) -> int:
    if not isinstance(table.columns, tuple):
        return table.columns if table.columns is not None else read_size(keys, WIDTHS, "d", model)
    key, size, *other = table.columns
    width = keys.find_integer(key, *(() if other else WIDTHS)) or size
    return int(width * (keys.find_integer(other[0]) or other[1]) if other else width)


def _count_unused(keys: Keys, table: KnownTable) -> int:
    if not table.after_padding:
        return table.extra if table.first is None else table.first
    padding = keys.find_integer("pad_token_id", least=0)
    return ((table.padding or 0) if padding is None else padding) + 1


def _read_grid(keys: Keys, table: KnownTable) -> tuple[tuple[int, int], int | None]:
    """The patches down and across, and the size of the picture where the file has it."""
    asked = _find_size(keys, table.picture)
    whole = asked or _pair(table.defaults[0])
    patch = (_find_size(keys, table.patch) if isinstance(table.patch, str) else None) or _pair(table.defaults[1])
    if not all(one >= other for one, other in zip(whole, patch, strict=True)):
        keys.refuse(table.picture, f"a size from that of a patch, {max(patch)}, is accepted")
    return (whole[0] // patch[0], whole[1] // patch[1]), None if asked is None else asked[0]


def _count_patches(keys: Keys, table: KnownTable) -> int:
    """The patches that are cut from a series, which is longer than one."""
    found = (keys.find_integer(key) for key in table.series)
    length, patch, stride = (
        default if size is None else size for size, default in zip(found, table.defaults, strict=True)
    )
    if length <= patch:
        keys.refuse(table.series[0], f"a length above that of a patch, {patch}, is accepted")
    return int((length - patch) // stride + 1)


def _find_size(keys: Keys, key: str) -> tuple[int, int] | None:
    """Read a height and a width, one integer where they are equal; None where the key is not set."""
    if (value := keys.found.get(key)) is None:
        return None
    sizes = value if isinstance(value, list) else [value, value]
    if len(sizes) != 2 or not all(isinstance(one, int) and one is not True and 1 <= one <= MOST for one in sizes):
        keys.refuse(key, "an integer from 1 or a list of two is accepted")
    return sizes[0], sizes[1]


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _check_type(keys: Keys, model: str, rows: int) -> None:
    """Say where position_embedding_type asks for something else than the table that transformers 5 adds.

    An error where transformers 4 had a table of distances instead, 2 rows - 1 of them, which transformers 5 does not
    load (huggingface/transformers, pull request 41170); else a warning.
    """
    kind = keys.find_text(POSITION_TYPE)
    if kind in (None, "absolute") or (model not in BY_TYPE and kind in _OF_TABLES):
        return
    if model == "esm":
        keys.refuse(POSITION_TYPE, "absolute and rotary are accepted for esm, which has no positions with any other")
    relative = kind in _OF_DISTANCES and model in WITH_DISTANCES
    table = f"its table of {rows:,} rows"
    message = f"{keys.where}{POSITION_TYPE} {shorten(repr(kind))} is not read by the class of {model}"
    if relative:
        instead = "instead of the table" if model in BY_TYPE else "beside the table"
        message += (
            f" in transformers 5, which adds {table}; in transformers 4 each attention has a table of {2 * rows - 1:,} "
            f"distances {instead}, which is lost: use transformers 4"
        )
    elif model in BY_TYPE:
        message += (
            f" in transformers 5, which adds {table}; transformers 4 adds it for absolute only, so there no "
            "table is added; write absolute if it was trained"
        )
    else:
        message += f", which adds {table} all the same; write absolute if it was trained"
    data = {"key": f"{keys.where}{POSITION_TYPE}", "model": model, "distances": 2 * rows - 1 if relative else None}
    keys.report(KEY_NOT_READ, message, level="error" if relative else "warning", **data)


def _note_encoder(keys: Keys, model: str, audited: KnownTable) -> None:
    """Say where an encoder has a table of its own beside that of the decoder, or another decoder one."""
    others = [one for one in list_tables(model) if "coder" in one.at and one.keys != audited.keys]
    if "coder" not in audited.at or not others or others[0].picture:
        return
    sines = [Sinusoids(keys, model, one.at, _read_width(keys, one, model)) for one in others if one.fixed]
    for one in sines:
        one.report()
    positions = keys.find_integer(*others[0].keys) or others[0].default
    what = "fixed sinusoids" if others[0].fixed else "a learned table"
    made = sines[0].formula if others[0].fixed else {}
    named = f", {made['name']} of width {made['d']:,}" if made else ""
    part, other = (one.at.partition(".")[0] for one in (audited, others[0]))
    message = (
        f"the model has several parts; the {part} is what is audited, and the {other} has {what} of its own for "
        f"{positions:,} positions ({others[0].keys[0]}{named})"
    )
    if "decoder" in others[0].at:
        keys.report(NESTED_CONFIG, message, part=part, decoder_positions=positions)
    else:
        keys.report(NESTED_CONFIG, message, part=part, encoder_positions=positions)
