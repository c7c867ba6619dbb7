"""The keys of rotation in a config.json, of both generations, one statement for each type of layer.

Newer files keep everything in `rope_parameters`, flat or nested by layer type; older ones have
`rope_theta` beside `rope_scaling`, under several spellings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from pe_spectra.errors import shorten
from pe_spectra.findings import Finding
from pe_spectra.models.stated.key_names import (
    BASES,
    HEADS,
    LISTS,
    LOCAL_BASES,
    NUMBERS,
    SHARES,
    UNSET_BY_ZERO,
    WIDTHS,
    check_block_spelling,
    check_heads,
    check_ignored,
    check_sections,
    check_spelling,
)
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import READS_SHARE, KnownModel, find_known
from pe_spectra.models.stated.layer_types import FULL, SLIDING, LayerType, list_layer_types
from pe_spectra.models.stated.statement import DEFAULT_BASE, KeyValue, LayerStatement, RotaryBlock

#: Older files of these models scale the layers that reach everywhere, and leave the sliding ones as they are.
_SCALE_FULL_ONLY = ("olmo3",)


def asks_rotation(keys: Keys) -> bool:
    """Whether a key speaks of rotation."""
    return keys.has_any(*BASES, *LOCAL_BASES, *SHARES, "rope_parameters", "rope_scaling", "rotary_dim")


def read_rotary(keys: Keys, known: KnownModel, model: str) -> tuple[tuple[LayerStatement, ...], tuple[Finding, ...]]:
    """Read what is stated about the rotation in each type of layer.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no width of a head.
    """
    findings = [*check_spelling(keys), *check_heads(keys), *check_ignored(keys, known, model)]
    newer, older = _read_newer(keys, known, findings), _read_older(keys, known, model, findings)
    if known.scaling and not keys.has_any("rope_parameters", "rope_scaling"):
        newer = {"": _read_block(Keys(known.scaling, keys.path, f"the default of {model}."), findings)}
    original = keys.find_integer("original_max_position_embeddings")
    newer, older = _add_original(newer, original, findings), _add_original(older, original, findings)
    types = tuple(
        one._replace(turns=one.turns and not _is_null(keys, one.name)) for one in list_layer_types(keys, known)
    )
    if [one.name for one in types] == ["all"] and any({*newer, *older}):
        types = tuple(types[0]._replace(name=name) for name in dict.fromkeys((*newer, *older)) if name)
    findings += _check_types(keys, newer, types)
    layers = []
    for one in types:
        width = _read_head_width(keys, known, one.name)
        layers.append(
            LayerStatement(
                name=one.name,
                head_dim=width,
                share=_read_share(keys, known, one.name, width),
                share_ignored=find_known(model) is not None and model not in READS_SHARE and not known.width_key,
                layout=_read_layout(keys, known, model),
                newer=_choose_block(newer, one) if one.turns else None,
                older=_choose_block(older, one) if one.turns else None,
                default_base=_choose_default(known, one.name),
                window=one.window,
                beside=keys.find_integer("qk_nope_head_dim", least=0) or 0,
                turns=one.turns,
            )
        )
    findings += check_sections(keys, layers[0])
    return tuple(layers), tuple(findings)


def _is_null(keys: Keys, name: str) -> bool:
    """Whether rope_parameters says of a layer type that it is not turned."""
    found = keys.find_object("rope_parameters")
    return found is not None and name in found.found and found.found[name] is None


def _choose_block(blocks: Mapping[str, RotaryBlock], layer: LayerType) -> RotaryBlock | None:
    return blocks.get(layer.name, blocks.get(""))


def _check_types(keys: Keys, newer: Mapping[str, RotaryBlock], types: Iterable[LayerType]) -> list[Finding]:
    """Where rope_parameters is nested by layer type, every type that is turned should be in it."""
    missing = [one.name for one in types if one.turns and newer and "" not in newer and one.name not in newer]
    if not missing:
        return []
    message = (
        f"{keys.where}rope_parameters has {', '.join(newer)}, but nothing for {', '.join(missing)}, so the default of "
        "the class is taken for it; state it, or null where it is not turned"
    )
    return [Finding(level="warning", code="layer-type-missing", message=message, data={"missing": missing})]


def _choose_default(known: KnownModel, name: str) -> float:
    return known.local_base if known.local_base is not None and name == SLIDING else known.default_base


def _read_head_width(keys: Keys, known: KnownModel, name: str) -> int:
    if known.full_head_dim is not None and name == FULL:
        return keys.find_integer("global_head_dim") or known.full_head_dim
    stated = keys.find_integer("qk_rope_head_dim", "head_dim", "attention_head_dim", known.head_key) or known.head_dim
    if stated is not None:
        return stated
    width, heads = keys.read_integer(*WIDTHS), keys.read_integer(*HEADS)
    if width % heads:
        keys.refuse(keys.find_key(WIDTHS) or WIDTHS[0], f"a multiple of the {heads} heads, or head_dim, is accepted")
    return width // heads


def _read_layout(keys: Keys, known: KnownModel, model: str) -> Literal["half", "interleaved"]:
    asked = keys.find_truth("rope_interleave", "rope_interleaved", "rotary_emb_interleaved")
    if asked is None or (find_known(model) is not None and not known.obeys_interleave):
        return known.layout
    return "interleaved" if asked else "half"


def _read_share(keys: Keys, known: KnownModel, name: str, width: int) -> float:
    if "qk_rope_head_dim" in keys:
        return 1.0  # the channels that are turned are a part of their own, turned as a whole
    block = keys.find_object("rope_parameters")
    nested = block.find_object(name) if block is not None and isinstance(block.found.get(name), dict) else None
    for place in (nested, block, keys.find_object("rope_scaling"), keys):
        if place is not None and (share := place.find_number(*SHARES)) is not None:
            return share
    own = known.local_share if known.local_share is not None and name == SLIDING else known.share
    whole = keys.find_integer(known.width_key or "rotary_dim") or known.rotary_width
    return own if whole is None else whole / width


def _read_newer(keys: Keys, known: KnownModel, findings: list[Finding]) -> dict[str, RotaryBlock]:
    found = keys.find_object("rope_parameters")
    if found is None:
        return {}
    nested = [name for name, value in found.found.items() if isinstance(value, dict)]
    if nested and not found.has_any("rope_type", "type", "rope_theta"):
        places = {name: found.find_object(name) for name in nested}
        return {name: _read_block(place, findings) for name, place in places.items() if place is not None}
    if known.local_base is not None:
        message = (
            f"{keys.where}rope_parameters is flat, but the class of this model reads an object for each layer type, so "
            "nothing in it is read and the defaults of the class are taken"
        )
        findings.append(
            Finding(level="error", code="layer-type-missing", message=message, data={"missing": [FULL, SLIDING]})
        )
        return {}
    return {"": _read_block(found, findings)}


def _read_older(keys: Keys, known: KnownModel, model: str, findings: list[Finding]) -> dict[str, RotaryBlock]:
    base, key = _find_base(keys, known, model)
    scaling = keys.find_object("rope_scaling")
    local = keys.find_number(*LOCAL_BASES)
    if base is None and scaling is None and local is None:
        return {}
    block = RotaryBlock(where="") if scaling is None else _read_block(scaling, findings)
    block = replace(block, base_beside=base)
    if block.base is None:
        block = replace(block, base=base, base_key=key)
    splits = known.local_base is not None or model in _SCALE_FULL_ONLY
    if local is None and not splits:
        return {"": block}
    own = keys.find_key(LOCAL_BASES) or ("" if known.local_base is not None else key)
    return {
        FULL: block,
        SLIDING: RotaryBlock(where="", base=local, base_key=own, base_beside=base if local is None else local),
    }


def _add_original(
    blocks: dict[str, RotaryBlock], original: int | None, findings: list[Finding]
) -> dict[str, RotaryBlock]:
    """Some files keep the original length beside the block; there it goes before one inside, but for nested blocks."""
    key = "original_max_position_embeddings"
    if original is None:
        return blocks
    found = {}
    for name, block in blocks.items():
        inside = block.find(key)
        if name or block.kind in ("default", "dynamic"):
            found[name] = block
            continue
        if inside is not None and inside != original:
            message = f"{key} is {original} beside {block.where} and {inside:g} in it; the one beside it is read"
            data = {"beside": original, "inside": inside}
            findings.append(Finding(level="warning", code="original-length-twice", message=message, data=data))
        found[name] = replace(block, values={**block.values, key: float(original)}, original_beside=True)
    return found


def _find_base(keys: Keys, known: KnownModel, model: str) -> tuple[float | None, str]:
    is_known = find_known(model) is not None
    key = keys.find_key((known.base_key,) if is_known else BASES)
    nested = keys.find_object("attn_config")
    if key is None and nested is not None and nested.find_truth("rope"):
        return nested.find_number("rope_theta"), f"{nested.where}rope_theta"
    ratio = keys.find_number("rope_ratio")
    if key is None and ratio is not None:
        return DEFAULT_BASE * ratio, "rope_ratio"
    return (keys.find_number(key), key) if key is not None else (None, "")


def _read_block(block: Keys, findings: list[Finding]) -> RotaryBlock:
    where = block.where.rstrip(".")
    kind = block.find_text("rope_type", "type") or "default"
    older = block.find_text("type")
    if older is not None and older != kind:
        message = f"{where} has rope_type {shorten(repr(kind))} and type {shorten(repr(older))}; rope_type is read"
        findings.append(
            Finding(level="warning", code="rope-type-twice", message=message, data={"rope_type": kind, "type": older})
        )
    values: dict[str, KeyValue] = {}
    for key in NUMBERS:
        number = block.find_number(key, zero=key in UNSET_BY_ZERO)
        if number is not None and not (number == 0 and key in UNSET_BY_ZERO):
            values[key] = number
    original = values.get("original_max_position_embeddings")
    if isinstance(original, float) and not original.is_integer():
        block.refuse("original_max_position_embeddings", "an integer from 1 is accepted")
    values.update({key: numbers for key in LISTS if (numbers := block.find_numbers(key)) is not None})
    if (truncate := block.find_truth("truncate")) is not None:
        values["truncate"] = truncate
    findings.extend(check_block_spelling(block))
    base = block.find_number("rope_theta")
    key = f"{where}.rope_theta" if base is not None else ""
    return RotaryBlock(
        where=where,
        kind=kind,
        base=base,
        base_key=key,
        values=values,
        original_inside=original if isinstance(original, float) else None,
        type_inside=older,
    )
