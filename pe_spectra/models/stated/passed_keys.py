"""Keys on top of the file of a model of several parts, of which its class passes on few or none to its parts.

Which it passes on, which it has itself, and which scalings it refuses there, is measured: composites.py of
tests/reference/transformers changes each key on top and looks at the parts of each class of a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pe_spectra.errors import FileError
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import KEY_NOT_READ, UNKNOWN_KEY, Keys
from pe_spectra.models.stated.known_models import (
    KnownModel,
    choose_table,
    find_composite,
    load_schemes,
    load_table,
)
from pe_spectra.models.stated.loading import VALUE_REFUSED
from pe_spectra.models.stated.statement import NEWEST, TRANSFORMERS, Configuration, LayerStatement
from pe_spectra.vocabulary import Level
from pe_spectra.wording import join

NESTED_CONFIG = Kind(
    code="nested-config",
    levels=("note",),
    phrase="the model has several parts",
    reasoning="A model of several parts, for instance one that also sees images, keeps the keys of the part that reads "
    "text in an object of their own. Keys of the same name on top belong to the whole and are not read. The others are "
    "audited by themselves where their encoding is known. Some encoders, as that of Whisper, have an encoding of their "
    "own beside the decoder's.",
    formula="vlm_config, thinker_config, text_config, language_config and llm_config are followed, outermost first; of "
    "a class with tables of different keys in encoder and decoder the decoder is audited",
    references=(TRANSFORMERS,),
)
PART_DEFAULTED = Kind(
    code="part-defaulted",
    levels=("note",),
    phrase="a part is not in the file",
    reasoning="The file leaves out a part of its model, for instance what sees images. The class builds that part all "
    "the same, of its defaults, and so it is audited and compared.",
    formula="the key of the part is not set; each class of several parts was asked without each of them, and none is "
    "made without the part",
    references=(TRANSFORMERS,),
)


def keep_passed(keys: Keys, model: str) -> Keys:
    """Return the keys of a model_type without those that its class, if it is one of parts, passes on to none of them.

    >>> keep_passed(Keys({"rope_theta": 5e5}, "config.json"), "llava").found
    {}
    >>> keep_passed(Keys({"rope_theta": 5e5, "head_dim": 64}, "config.json"), "qwen2_vl").found
    {'rope_theta': 500000.0}
    """
    unread = _find_unpassed(keys, model)
    return keys.leave_out(*unread) if unread else keys


def list_unread(whole: Keys, where: str) -> list[str]:
    """The objects of a file that name a model and do not lead to the part that is read.

    >>> list_unread(Keys({"text_config": {}, "tower": {"model_type": "vit"}}, "config.json"), "text_config")
    ['tower']
    """
    objects = ((key, one) for key, one in whole.found.items() if isinstance(one, Mapping))
    named = [key for key, one in objects if isinstance(one.get("model_type"), str)]
    return [key for key in named if key not in where.split(".")]


def _find_unpassed(keys: Keys, model: str) -> dict[str, Any]:
    """The keys that the class of a whole passes on to no part; none of a class that has an encoding itself."""
    parts = find_composite(model, keys.release)
    if not parts or _has_encoding(model, keys.release):
        return {}
    kept = {"model_type", *parts}
    for key, part in parts.items():
        kept.update(part.passed if isinstance(keys.found.get(key), Mapping) else part.silent_passed)
    return {key: value for key, value in keys.found.items() if key not in kept and value is not None}


def _has_encoding(model: str, release: str) -> bool:
    """Whether the class of a whole has an encoding that is none of its parts'."""
    tables = load_table(f"{NEWEST}-tables")["tables"]
    return model in choose_table(model, release)["classes"] or bool(load_schemes(model).get("has")) or model in tables


def report_unpassed(
    whole: Keys, part: Keys, known: KnownModel, found: Configuration, read: Callable[[Keys], Configuration]
) -> None:
    """Report keys in a whole, and in wholes between it and a part, that the part would read and does not get.

    Nothing is said of a key that would change nothing, since the part has the same or does not read it, nor of one
    that the class of the whole has itself.

    Parameters
    ----------
    part, known, found : the part that was read, what is known of its class, and what came of it.
    read : reads keys as those of the same part.

    >>> whole, part = Keys({"model_type": "llava", "n_ctx": 8}, "config.json"), Keys({}, "config.json")
    >>> before, after = (Configuration(path="", scheme="rotary", length=length) for length in (4, 8))
    >>> report_unpassed(whole, part, KnownModel(parts=("text_config",)), before, lambda keys: after)
    >>> whole.findings[0].message.partition(" by ")[0]
    'n_ctx is not passed on to text_config'
    """
    names = part.where.split(".")[:-1]
    target = ".".join([*names, *(name for name in known.parts if name not in names)])
    kind, where = known.part_model or known.model, f"{target}." if target else ""
    part = Keys({**part.found, "model_type": kind}, part.path, where, release=part.release)
    target = target or "a part"
    for level, model in _open_levels(whole, names[whole.where.count(".") :]):
        own = choose_table(model, level.release)["above"].get(model, {}).get("own", ())
        unread = {key: value for key, value in _find_unpassed(level, model).items() if key not in own}
        for key in [key for key in ("rope_parameters", "rope_scaling") if _is_refused(level, model, unread.get(key))]:
            del unread[key]
            why, advice = f"asks for a scaling beside {target}", f"; move it into {target}"
            level.report_refused(VALUE_REFUSED, f"{level.where}{key}", why, model, advice)
        for rank, names in _find_counting(unread, lambda more: _compare(part, more, found, read)):
            told = join([f"{level.where}{name}" for name in names])
            verb, ending, them = ("is", "s", "it") if len(names) == 1 else ("are", "", "them")
            message = (
                f"{told} {verb} not passed on to {target} by the class of {model} in {level.reader}, "
                f"and change{ending} nothing there; move {them} into {target}"
            )
            level.report(KEY_NOT_READ, message, level=rank, key=f"{level.where}{names[0]}", model=model)


def _find_counting(
    unread: Mapping[str, Any], weigh: Callable[[Mapping[str, Any]], Level | None]
) -> Iterator[tuple[Level, list[str]]]:
    """Each smallest set of keys that changes something, and how grave it is; a switch may count with another alone.

    >>> def weigh(keys: Mapping[str, Any]) -> Level | None:
    ...     return "error" if "base" in keys else "warning" if {"switch", "from_layer"} <= keys.keys() else None
    >>> list(_find_counting({"switch": True, "other": 1, "base": 2, "from_layer": 3}, weigh))
    [('error', ['base']), ('warning', ['switch', 'from_layer'])]
    """
    left = dict(unread)
    while left and (rank := weigh(left)) is not None:  # of most files none changes anything
        smallest = left
        for key in reversed(left):
            fewer = {name: value for name, value in smallest.items() if name != key}
            if fewer and (found := weigh(fewer)) is not None:
                smallest, rank = fewer, found
        yield rank, list(smallest)
        left = {key: value for key, value in left.items() if key not in smallest}


def _is_refused(level: Keys, model: str, block: object) -> bool:
    """Whether a block on top has a scaling that the class of a whole refuses there."""
    table = choose_table(model, level.release)
    is_stated = any(isinstance(level.found.get(key), Mapping) for key in find_composite(model, level.release))
    kinds = table["above"].get(model, {}).get("stated" if is_stated else "refused", table["refused_above"])
    return isinstance(block, Mapping) and block.get("rope_type", block.get("type")) in kinds


def _open_levels(whole: Keys, names: Sequence[str]) -> Iterator[tuple[Keys, str]]:
    """A whole and the objects in it that the names lead to, each with its model_type."""
    model = whole.find_text("model_type") or ""
    yield whole, model
    for name in names:
        inner = find_composite(model, whole.release).get(name)
        whole = whole.find_object(name)
        model = whole.find_text("model_type") or (inner.model if inner else "")
        yield whole, model


def _compare(
    part: Keys, more: Mapping[str, Any], found: Configuration, read: Callable[[Keys], Configuration]
) -> Level | None:
    """How grave it is that a part does not get some keys; None where it comes to the same with them.

    An error where it would turn otherwise and states none of them itself.
    """
    try:
        other = read(Keys({**part.found, **more}, part.path, part.where, release=part.release))
    except FileError:
        return "warning"
    if _simplify(other) == _simplify(found):
        # a key that is misspelt would be told of in the part
        return (
            "warning" if any((one.code, one.level) == (UNKNOWN_KEY.code, "warning") for one in other.findings) else None
        )
    is_turned = list(map(_simplify_layer, other.layers)) != list(map(_simplify_layer, found.layers))
    return "error" if is_turned and not any(key in part for key in more) else "warning"


def _simplify(found: Configuration) -> tuple[object, ...]:
    """What a configuration comes to, whichever keys say it."""
    layers = list(map(_simplify_layer, found.layers))
    return found.scheme, found.length, found.values, found.formula, found.query_scale, layers


def _simplify_layer(layer: LayerStatement) -> tuple[object, ...]:
    kind = "default" if layer.block.kind in ("mrope", "axial") else layer.block.kind
    base = layer.default_base if layer.block.base is None else layer.block.base
    same = replace(layer, places=(), newer=None, older=None, default_base=base, width_key="", share_key="")
    if layer.share_ignored and kind == "default":
        same = replace(same, share=1.0, share_beside=None)
    return same, kind, layer.block.values
