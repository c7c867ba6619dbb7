"""config.json of Hugging Face models: what it states about the positional encoding.

The kind of encoding is found here; `rotary_keys` reads those with a rotation, `position_tables` those with a row for
each position, `position_schemes` what else a class was found to have. Which classes have linear biases, or are
recurrent: transformers 5.23.0, read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from pe_spectra.errors import FileError, NoModelError, UnusableError, shorten
from pe_spectra.models.rotation import NONE
from pe_spectra.models.stated.axial_models import MARKS, is_axial, read_axial
from pe_spectra.models.stated.class_ways import find_made, is_another, list_ways, note_others
from pe_spectra.models.stated.dual_chunk import CHUNKS, read_chunks
from pe_spectra.models.stated.keys import HEADS, LENGTHS, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_composite, find_known
from pe_spectra.models.stated.loading import report_shared
from pe_spectra.models.stated.needs import NOT_BUILT
from pe_spectra.models.stated.passed_keys import PART_DEFAULTED, keep_passed, list_unread, report_unpassed
from pe_spectra.models.stated.position_schemes import (
    NO_SCHEME,
    UNKNOWN_TYPE,
    asks_rotation,
    find_schemes,
    has_buckets,
    is_switched_off,
    opts_out,
    read_size,
    tell_how_known,
)
from pe_spectra.models.stated.position_tables import (
    NESTED_CONFIG,
    TYPE,
    KnownTable,
    find_table,
    read_table,
    settle_table,
)
from pe_spectra.models.stated.query_scales import read_query_scale
from pe_spectra.models.stated.rotary_keys import read_layers
from pe_spectra.models.stated.statement import NEWEST, Configuration, LayerStatement, SchemeName
from pe_spectra.models.stated.unusable import leave_out
from pe_spectra.wording import join

#: Where models of several parts keep the part that reads text, outermost first.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
#: Words in the keys of parts that write text.
_WRITING = ("decoder", "text", "vlm", "language")
#: Models of several parts are parts of others, though not often.
_DEEPEST = 4
_NOTHING: Mapping[str, Any] = MappingProxyType({})
#: Keys that a rotary or other encoding has of its own.
_LOOKED_FOR = "rope_theta, rope_parameters, alibi, relative_attention_num_buckets"
#: Keys that name a model, in files of transformers, timm and diffusers.
_OF_MODELS = ("model_type", "architectures", "architecture", "_class_name")
#: Linear biases, unless the file says no.
_ALIBI = ("bloom", "mpt")
_ABOUT_ALIBI = frozenset({"alibi", "attn_config"})
#: The number of T5's buckets of distance, each with a learned bias.
_BUCKETS = "relative_attention_num_buckets"
#: No encoding of positions: the order is in a recurrence.
_WITHOUT = ("falcon_mamba", "jamba", "kimi_linear", "mamba", "mamba2", "nemotron_h", "rwkv", "xlstm", "zamba")


def read_configuration(
    config: Mapping[str, Any], path: str, release: str = NEWEST, *, is_whole: bool = True
) -> Configuration:
    """Read what a config.json states about the positional encoding of its model.

    Parameters
    ----------
    config : the object of the file. path : the file, for messages. release : of transformers, whose classes read it.
    is_whole : whether a file is read as a whole where a number in it cannot be used (`leave_out`).

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no positional encoding that is known here.

    >>> config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}
    >>> read_configuration(config, "config.json").layers[0].head_dim
    16
    """
    if MARKS.keys() & config.keys() and is_axial(config):
        return read_axial(config, path)
    whole = Keys(config, path, release=release)
    try:
        found, model = _read_one(whole, _NOTHING), whole.find_text("model_type") or ""
    except UnusableError as error:
        if not is_whole:
            raise
        read = partial(read_configuration, path=path, release=release, is_whole=False)
        found, model = leave_out(error, config, read), ""  # which has its parts read already
    found = replace(found, keys=config, release=release, read_by=cache(partial(read_configuration, config, path)))
    if not find_composite(model, release):  # its class has one part
        return found
    report_shared(whole)
    others, unread = _read_others(whole, model, found)
    told = [f", beside {join([one.part for one in others])}"] if others else []
    told += [f"; of {join(unread)} no positional encoding is known here"] if unread else []
    findings = [
        replace(one, message=one.message + "".join(told[" beside it: " in one.message :]))
        if one.code == NESTED_CONFIG.code
        else one
        for one in whole.findings
    ]
    return replace(found, parts=tuple(others), findings=tuple(findings))


def _read_one(whole: Keys, given: Mapping[str, Any]) -> Configuration:
    """Read one part, of which its model gives some defaults; of one that has parts itself, that which writes text."""
    keys, known, scheme = _settle(whole, given)
    # on a grid it counts patches, not how far coordinates on an axis go
    length = None if known.axes > 1 and not known.one_axis else keys.find_integer(*LENGTHS)
    lacking = LENGTHS[0] if scheme == "rotary" and length is None and known.length is not None else ""
    own = find_schemes(keys, known.model) if known.has_schemes else ()
    layers: tuple[LayerStatement, ...] = ()
    resized: tuple[str, ...] = ()
    values: Mapping[str, int | float | str] = {}
    if scheme == "rotary":
        layers, length = read_layers(keys, known), known.length if length is None else length
    elif scheme in ("learned", "sinusoidal") and (find_table(known.model) or (scheme == "learned" and not own)):
        values, length, lacking = read_table(keys, known.model)
        resized = (find_table(known.model) or KnownTable()).resized
    elif scheme in _READERS:
        values = _READERS[scheme](keys, known.model)
    elif own:
        values = own[0].sizes
    if any(one.elsewhere or is_another(one, scheme) for one in own):
        note_others(keys, known.model, scheme, own)
    query_scale = None if known.query_scale is None else NONE
    if known.query_scale:
        query_scale = read_query_scale(keys, known.model, known.query_scale, length)
    found = Configuration(
        path=keys.path,
        where=keys.where.rstrip("."),
        model=known.model,
        scheme=scheme,
        length=length,
        length_key=lacking,
        layers=layers,
        **({} if scheme == "rotary" else find_made(keys, known, scheme, values, own)),
        list_ways=partial(list_ways, keys, known, scheme, own),
        dtype=keys.find_text("dtype", "torch_dtype") or whole.find_text("dtype", "torch_dtype"),
        query_scale=query_scale,
        resized=resized,
        dual_chunk=read_chunks(keys, length) if CHUNKS in keys.found else NONE,
        findings=tuple(keys.findings),
    )
    if scheme != "none" and find_composite(whole.find_text("model_type") or "", whole.release):
        report_unpassed(whole, keys, known, found, lambda more: _read_one(more, vars(known)))
    return found


def _read_others(whole: Keys, model: str, main: Configuration) -> tuple[list[Configuration], list[str]]:
    """Read the parts of a model beside the one that was read; besides, those whose encoding is not known here."""
    # a file may leave that part out, or have its keys on top
    inside = find_known(model, whole.release).parts if main.where == whole.where.rstrip(".") else ()
    read = ".".join([*filter(None, [main.where]), *inside, ""])
    found: list[Configuration] = []
    unread: list[str] = []
    for keys, given in _open_parts(whole, model):
        where, kind = keys.where.rstrip("."), keys.found["model_type"]
        if read.startswith(keys.where):
            inner, others = _read_others(keys, kind, main)
            found, unread = found + inner, unread + others
            continue
        try:
            one = _read_one(keys, given)
        except FileError:
            unread.append(where)
            continue
        if one.scheme != "none" and not isinstance(whole.found.get(where.rpartition(".")[2]), Mapping):
            message = f"the file says nothing of {where}, which the class of {model} builds by its defaults"
            keys.report(PART_DEFAULTED, message, model=model, part=where)
        inner, others = _read_others(keys, kind, one)
        found += [replace(one, part=one.where, findings=tuple(keys.findings))] if one.scheme != "none" else []
        found, unread = found + inner, unread + others
    return found, unread


def _open_parts(whole: Keys, model: str) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """The parts of a model, each with what the class of the model has there where its own class has not.

    What a file leaves out, each class was measured to make of its defaults, whatever else the file states.
    """
    parts = find_composite(model, whole.release) if whole.where.count(".") < _DEEPEST else {}
    for key, part in parts.items():
        stated, given = whole.found.get(key), part.given
        if not isinstance(stated, Mapping):
            stated, given = part.keys, part.silent
        named = stated.get("model_type")
        kind = named if part.by_file and isinstance(named, str) else part.model
        keys = Keys({**stated, "model_type": kind}, whole.path, f"{whole.where}{key}.", release=whole.release)
        yield keys, given if kind == part.model else _NOTHING


def _settle(whole: Keys, given: Mapping[str, Any]) -> tuple[Keys, KnownModel, SchemeName]:
    """The part that is audited, what is known of its class, and its scheme; a whole without one leads to a part."""
    keys, own = _find_text_part(whole)
    name = keys.find_text("model_type") or whole.find_text("model_type") or ""
    is_whole = keys.where == whole.where
    known = find_known(name, keys.release, silent=is_whole)
    known = replace(known, **(given if is_whole else own))
    scheme = _choose_scheme(keys, known)
    if scheme is not None:
        if name and not (known.is_known or tell_how_known(name) or find_table(name)):
            message = f"the type {shorten(repr(name))} is not known; its keys are read as most classes read them"
            keys.report(UNKNOWN_TYPE, message, model=name)
        return keys, known, scheme
    part = _find_part(keys, name)
    if part is not None:
        return _settle(*part)
    if not (how := tell_how_known(name)):
        is_other = keys.where == whole.where and not keys.has_any(*_OF_MODELS, *WIDTHS, "head_dim")
        raise (NoModelError if is_other else FileError)(keys.path, _explain_nothing(keys))
    where = keys.where.rstrip(".")
    message = f"no position scheme was found in the classes of {name} with these keys (transformers {NEWEST}, {how})"
    keys.report(NO_SCHEME, f"{where}: {message}" if where else message, model=name)
    return keys, known, "none"


def _find_part(keys: Keys, model: str) -> tuple[Keys, Mapping[str, Any]] | None:
    """The part of a model that has a scheme, what writes text first; without such, the first; None without parts."""
    parts = list(_open_parts(keys, model))
    parts.sort(key=lambda part: not any(word in part[0].where.removeprefix(keys.where) for word in _WRITING))
    chosen, given = next((part for part in parts if _has_scheme(*part)), parts[0] if parts else (None, _NOTHING))
    if chosen is None:
        return None
    where = chosen.where.rstrip(".")
    others = [f"{part.where.rstrip('.')} ({part.found['model_type']})" for part, _ in parts if part is not chosen]
    beside = f"; beside it: {', '.join(others)}" if others else ""
    keys.report(NESTED_CONFIG, f"the model has several parts; {where} is what is audited{beside}", part=where)
    return Keys(chosen.found, chosen.path, chosen.where, keys.findings, keys.release), given


def _has_scheme(part: Keys, given: Mapping[str, Any]) -> bool:
    """Whether a part, or one of its parts, has a scheme; its findings are dropped."""
    try:
        return _settle(Keys(part.found, part.path, part.where, release=part.release), given)[2] != "none"
    except FileError:
        return False


def _find_text_part(whole: Keys) -> tuple[Keys, Mapping[str, Any]]:
    """The part that reads text, else the whole, and its defaults there; the class of the whole names a silent one."""
    kind, stated, given = whole.find_text("model_type") or "", "", _NOTHING
    known = find_known(kind, whole.release)
    found = keep_passed(whole, kind) if find_composite(kind, whole.release) else whole
    for key in known.parts or _TEXT_PARTS:
        if not isinstance(found.found.get(key), dict):
            continue
        part, found = find_composite(kind, whole.release).get(key), found.find_object(key)
        stated = found.find_text("model_type") or ""
        kind = stated or (part.model if part else kind)
        given = part.given if part and kind == part.model else _NOTHING
        if not (stated or known.parts):
            found = found.hold({**found.found, "model_type": kind})
        found = keep_passed(found, kind)
    if found.where != whole.where:
        where = found.where.rstrip(".")
        message = f"the model has several parts; {where} is the one that reads text, and what is audited"
        others = [] if known.parts or find_composite(known.model, whole.release) else list_unread(whole, where)
        more = f"; not read, for what the model makes of it is not known here: {join(others)}" if others else ""
        whole.report(NESTED_CONFIG, f"{message}{more}", part=where)
        if known.unnamed_refused and not stated:
            message = f"{where} has no model_type, so the class of {known.model} in {whole.reader} refuses the file"
            whole.report(NOT_BUILT, message, key=f"{where}.model_type", model=known.model)
    return found, given


def _choose_scheme(keys: Keys, known: KnownModel) -> SchemeName | None:
    """The scheme that keys or the class of a model ask for; None where neither is known to."""
    model, kind = known.model, keys.find_text(TYPE)
    says_rotary = kind in ("rotary", "rope")
    if kind == "alibi" or ((model in _ALIBI or _ABOUT_ALIBI & keys.found.keys()) and _asks_alibi(keys, model)):
        return "alibi"
    if not known.is_known and has_buckets(model, _BUCKETS):
        return "t5"
    is_rotary = known.is_known and (known.only_if is None or not opts_out(keys, *known.only_if))
    own = () if is_rotary or (says_rotary and asks_rotation(keys)) else find_schemes(keys, model)
    # beside a table of words, which goes first, others are said
    if own and (find_table(model) is None or is_switched_off(keys, model, "learned")):
        return own[0].name
    if _BUCKETS in keys:
        return "t5"
    table = find_table(model) if known.only_if is not None or not known.is_known else None
    if table is not None and is_switched_off(keys, model, "learned"):
        table = None
    if table is not None and not (says_rotary and (known.is_known or asks_rotation(keys))):
        return "sinusoidal" if settle_table(keys, table).fixed else "learned"
    if model in _WITHOUT or (known.only_if is not None and opts_out(keys, *known.only_if)):
        return "none"
    if known.is_known or says_rotary or asks_rotation(keys):
        return "rotary"
    return "learned" if kind == "absolute" and not tell_how_known(model) else None


def _asks_alibi(keys: Keys, model: str) -> bool:
    answers = [one.find_truth("alibi") for one in (keys, keys.find_object("attn_config"))]
    return True in answers or (model in _ALIBI and False not in answers)


def _explain_nothing(keys: Keys) -> str:
    looked = _LOOKED_FOR
    if not keys.has_any(*WIDTHS, "head_dim"):
        looked = f"head_dim, {', '.join(WIDTHS)}; {looked}"
    model = keys.find_text("model_type")
    named = f", and model_type {shorten(repr(model))} is not known here" if model else ""
    return f"names no positional encoding{named}; looked for {looked}"


#: Parameters from the keys of a file, and from what its class has without them.
_READERS: Mapping[str, Callable[[Keys, str], dict[str, int | float | str]]] = {
    "alibi": lambda keys, model: {"heads": read_size(keys, HEADS, "heads", model)},
    "t5": lambda keys, model: {
        "buckets": keys.find_integer(_BUCKETS) or 32,
        "max_distance": keys.find_integer("relative_attention_max_distance") or 128,
        "heads": read_size(keys, HEADS, "heads", model),
    },
    "sinusoidal": lambda keys, model: {"d": read_size(keys, WIDTHS, "d", model)},
}
