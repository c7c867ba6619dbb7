"""Keys on top of the file of a model of several parts, of which its class passes on few or none to its parts.

Which it passes on, and which it has itself, is measured: tests/reference/transformers/composites.py changes each key on
top and looks at the parts of each class of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pe_spectra.models.stated.keys import BASES, KEY_NOT_READ, LENGTHS, SHARES, Keys
from pe_spectra.models.stated.known_models import KnownModel, choose_table, find_composite, load_table
from pe_spectra.models.stated.statement import NEWEST, LayerStatement
from pe_spectra.vocabulary import Level

#: Objects with keys of a rotation, which are no parts.
_BLOCKS = ("rope_parameters", "rope_scaling", "attn_config")
#: What keys of positions have in their names.
_WORDS = ("rope", "rotary", "theta", "position", "head_dim", "alibi")
#: Types of blocks that scale nothing.
_UNSCALED = (None, "default", "mrope")


def keep_passed(keys: Keys, model: str) -> Keys:
    """Return the keys of a model_type without those that its class, if it is one of parts, passes on to none of them.

    >>> keep_passed(Keys({"rope_theta": 5e5}, "config.json"), "llava").found
    {}
    >>> keep_passed(Keys({"rope_theta": 5e5, "head_dim": 64}, "config.json"), "qwen2_vl").found
    {'rope_theta': 500000.0}
    """
    unread = _find_unpassed(keys, model)
    left = {key: value for key, value in keys.found.items() if key not in unread}
    return Keys(left, keys.path, keys.where, keys.findings, keys.release) if unread else keys


def _find_unpassed(keys: Keys, model: str) -> dict[str, Any]:
    """The keys that the class of a whole passes on to no part; none of a class that has an encoding itself."""
    parts = find_composite(model, keys.release)
    if not parts or _has_encoding(model, keys.release):
        return {}
    kept = {"model_type"}
    for key, part in parts.items():
        kept.update(part.passed if isinstance(keys.found.get(key), Mapping) else part.silent_passed)
    return {
        key: value
        for key, value in keys.found.items()
        if key not in kept and value is not None and (key in _BLOCKS or not isinstance(value, Mapping))
    }


def _has_encoding(model: str, release: str) -> bool:
    """Whether the class of a whole has an encoding that is none of its parts'."""
    schemes = load_table(f"{NEWEST}-schemes")["types"].get(model, {}).get("has")
    tables = load_table(f"{NEWEST}-tables")["tables"]
    return model in choose_table(model, release)["classes"] or bool(schemes) or model in tables


def report_unpassed(
    whole: Keys, part: Keys, known: KnownModel, layers: Sequence[LayerStatement], length: int | None
) -> None:
    """Report keys of positions in a whole, and in wholes between it and a part, that do not come to the part.

    Nothing is said where the part has the same from its own keys or from its class.

    Parameters
    ----------
    part : what was read, of a class that is `known`; its layers and its length are what came of it.

    >>> whole = Keys({"model_type": "llava", "rope_theta": 5e5}, "config.json")
    >>> report_unpassed(whole, Keys({}, "config.json", "text_config."), KnownModel(), [], None)
    >>> whole.findings[0].message.partition(",")[0]
    'rope_theta is not passed on to text_config by the class of llava in transformers 5'
    """
    inside = "" if set(known.parts) <= set(part.where.split(".")) else ".".join(known.parts)
    target = f"{part.where}{inside}".rstrip(".") or "a part"
    for level, model in _open_levels(whole, part.where.removeprefix(whole.where).split(".")[:-1]):
        own = choose_table(model, level.release)["own_keys"].get(model, ())
        for key, value in _find_unpassed(level, model).items():
            if key in own or not any(word in key for word in _WORDS) or _is_taken(key, value, part, layers, length):
                continue
            message = (
                f"{level.where}{key} is not passed on to {target} by the class of {model} in {level.reader}, so it "
                "does nothing; write it there"
            )
            rank: Level = "warning" if key in LENGTHS or key in part else "error"
            level.report(KEY_NOT_READ, message, level=rank, key=f"{level.where}{key}", model=model)


def _open_levels(whole: Keys, names: Sequence[str]) -> Iterator[tuple[Keys, str]]:
    """A whole and the objects in it that the names lead to, each with its model_type."""
    model = whole.find_text("model_type") or ""
    yield whole, model
    for name in names:
        inner = find_composite(model, whole.release).get(name)
        whole = whole.find_object(name)
        model = whole.find_text("model_type") or (inner.model if inner else "")
        yield whole, model


def _is_taken(key: str, value: object, part: Keys, layers: Sequence[LayerStatement], length: int | None) -> bool:
    """Whether a part has from elsewhere what a key says, or the key says nothing."""
    if value in ([], {}, "") or part.found.get(key) == value:
        return True
    if key in LENGTHS:
        return value == length
    bases = [layer.default_base if layer.block.base is None else layer.block.base for layer in layers]
    if key in ("rope_parameters", "rope_scaling") and isinstance(value, Mapping):
        is_plain = value.get("rope_type", value.get("type")) in _UNSCALED
        return is_plain and (value.get("rope_theta") is None or value["rope_theta"] in bases)
    taken = bases if key in BASES else [layer.share if key in SHARES else layer.head_dim for layer in layers]
    return key in (*BASES, *SHARES, "head_dim") and value in taken
