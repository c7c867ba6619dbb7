"""config.json of Hugging Face models: what it states about the positional encoding.

The part that is audited is found here, and those beside it. `rotary_keys` reads what has a rotation; of what may have
another kind of encoding `class_ways` finds out which, and reads it. That and what else few files ask for is loaded for
those that do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pe_spectra.errors import FileError, NoModelError, UnusableError, shorten
from pe_spectra.models.rotation import NONE
from pe_spectra.models.stated.keys import LENGTHS, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_composite, find_known, load_table
from pe_spectra.models.stated.loading import NOT_BUILT, report_shared
from pe_spectra.models.stated.rotary_keys import read_layers
from pe_spectra.models.stated.statement import (
    ALIBI_KEYS,
    BUCKETS,
    CHUNKS,
    MARKS,
    NEWEST,
    POSITION_TYPE,
    Configuration,
    LayerStatement,
    SchemeName,
)
from pe_spectra.wording import join

if TYPE_CHECKING:
    from pe_spectra.models.stated.position_schemes import FoundScheme

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
#: Keys by which a file may ask for another encoding than a class has that always turns.
_ASKING = (BUCKETS, POSITION_TYPE, *ALIBI_KEYS)


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
    if "model_type" not in config and any(isinstance(config.get(key), str) for key in MARKS):
        from pe_spectra.models.stated.axial_models import read_axial

        return read_axial(config, path)
    whole = Keys(config, path, release=release)
    try:
        found, model = _read_one(whole, _NOTHING), whole.find_text("model_type") or ""
    except UnusableError as error:
        if not is_whole:
            raise
        from pe_spectra.models.stated.unusable import leave_out

        read = partial(read_configuration, path=path, release=release, is_whole=False)
        found, model = leave_out(error, config, read), ""  # which has its parts read already
    found = replace(found, keys=config, release=release, read_by=cache(partial(read_configuration, config, path)))
    if not find_composite(model, release):  # its class has one part
        return found
    from pe_spectra.models.stated.passed_keys import NESTED_CONFIG

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
    own: Sequence[FoundScheme] = ()
    if known.has_schemes:
        from pe_spectra.models.stated.position_schemes import find_schemes

        own = find_schemes(keys, known.model)
    layers: tuple[LayerStatement, ...] = ()
    read: dict[str, Any] = {"length": length}
    if scheme == "rotary":
        layers = read_layers(keys, known)
        if length is None and known.length is not None:
            read = {"length": known.length, "length_key": LENGTHS[0]}
    if scheme != "rotary" or own:
        from pe_spectra.models.stated.class_ways import read_ways

        read |= read_ways(keys, known, scheme, own, length)
    query_scale = None if known.query_scale is None else NONE
    if known.query_scale:
        from pe_spectra.models.stated.query_scales import read_query_scale

        query_scale = read_query_scale(keys, known.model, known.query_scale, read["length"])
    dual_chunk = NONE
    if CHUNKS in keys.found:
        from pe_spectra.models.stated.dual_chunk import read_chunks

        dual_chunk = read_chunks(keys, read["length"])
    found = Configuration(
        path=keys.path,
        where=keys.where.rstrip("."),
        model=known.model,
        scheme=scheme,
        layers=layers,
        **read,
        list_ways=partial(_list_ways, keys, known, scheme, own),
        dtype=keys.find_text("dtype", "torch_dtype") or whole.find_text("dtype", "torch_dtype"),
        query_scale=query_scale,
        dual_chunk=dual_chunk,
        findings=tuple(keys.findings),
    )
    if scheme != "none" and find_composite(whole.find_text("model_type") or "", whole.release):
        from pe_spectra.models.stated.passed_keys import report_unpassed

        report_unpassed(whole, keys, known, found, lambda more: _read_one(more, vars(known)))
    return found


def _list_ways(
    keys: Keys, known: KnownModel, scheme: SchemeName, own: Sequence[FoundScheme]
) -> Iterator[Configuration]:
    """The ways in which a class has positions beside the audited one; most that turn have no other."""
    if scheme != "rotary" or own or known.model in load_table(f"{NEWEST}-tables")["tables"]:
        from pe_spectra.models.stated.class_ways import list_ways

        yield from list_ways(keys, known, scheme, own)


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
            from pe_spectra.models.stated.passed_keys import PART_DEFAULTED

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
    if known.is_known and known.only_if is None and not keys.has_any(*_ASKING):
        return keys, known, "rotary"
    from pe_spectra.models.stated.class_ways import choose_scheme, report_none, report_unknown

    scheme = choose_scheme(keys, known)
    if scheme is not None:
        if name and not known.is_known:
            report_unknown(keys, name)
        return keys, known, scheme
    part = _find_part(keys, name)
    if part is not None:
        return _settle(*part)
    if not report_none(keys, name):
        is_other = keys.where == whole.where and not keys.has_any(*_OF_MODELS, *WIDTHS, "head_dim")
        raise (NoModelError if is_other else FileError)(keys.path, _explain_nothing(keys))
    return keys, known, "none"


def _find_part(keys: Keys, model: str) -> tuple[Keys, Mapping[str, Any]] | None:
    """The part of a model that has a scheme, what writes text first; without such, the first; None without parts."""
    parts = list(_open_parts(keys, model))
    parts.sort(key=lambda part: not any(word in part[0].where.removeprefix(keys.where) for word in _WRITING))
    chosen, given = next((part for part in parts if _has_scheme(*part)), parts[0] if parts else (None, _NOTHING))
    if chosen is None:
        return None
    from pe_spectra.models.stated.passed_keys import NESTED_CONFIG

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
    known, composite = find_known(kind, whole.release), find_composite(kind, whole.release)
    if not composite and not any(isinstance(whole.found.get(key), dict) for key in known.parts or _TEXT_PARTS):
        return whole, given
    from pe_spectra.models.stated.passed_keys import NESTED_CONFIG, keep_passed, list_unread

    found = keep_passed(whole, kind) if composite else whole
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


def _explain_nothing(keys: Keys) -> str:
    looked = _LOOKED_FOR
    if not keys.has_any(*WIDTHS, "head_dim"):
        looked = f"head_dim, {', '.join(WIDTHS)}; {looked}"
    model = keys.find_text("model_type")
    named = f", and model_type {shorten(repr(model))} is not known here" if model else ""
    return f"names no positional encoding{named}; looked for {looked}"
