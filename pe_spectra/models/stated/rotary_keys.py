"""The keys of rotation in a config.json, of both generations, one statement for each type of layer.

Newer files keep everything in `rope_parameters`, flat or nested by layer type; older ones have
`rope_theta` beside `rope_scaling`, under several spellings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pe_spectra.findings import Finding
from pe_spectra.models.stated.key_names import (
    BASES,
    HEADS,
    LOCAL_BASES,
    SHARES,
    WIDTHS,
    check_code,
    check_heads,
    check_ignored,
    check_sections,
    check_spelling,
)
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import READS_SHARE, KnownModel, find_known
from pe_spectra.models.stated.layer_types import (
    COMPRESSED,
    FULL,
    WITH_WINDOW,
    LayerType,
    list_layer_types,
    list_stated_types,
)
from pe_spectra.models.stated.rotary_blocks import LAYER_TYPE_MISSING, read_blocks
from pe_spectra.models.stated.statement import LayerStatement, RotaryBlock


def asks_rotation(keys: Keys) -> bool:
    """Whether a key speaks of rotation.

    >>> asks_rotation(Keys({"rope_theta": 1e4}, "config.json")), asks_rotation(Keys({}, "config.json"))
    (True, False)
    """
    nested = keys.find_object("attn_config")
    if nested is not None and nested.find_truth("rope"):
        return True
    return keys.has_any(*BASES, *LOCAL_BASES, *SHARES, "rope_parameters", "rope_scaling", "rotary_dim")


def read_rotary(keys: Keys, known: KnownModel, model: str) -> tuple[tuple[LayerStatement, ...], tuple[Finding, ...]]:
    """Read what is stated about the rotation in each type of layer.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no width of a head.

    >>> from pe_spectra.models.stated.known_models import KnownModel
    >>> keys = Keys({"head_dim": 64, "rope_theta": 5e5}, "config.json")
    >>> layers, findings = read_rotary(keys, KnownModel(), "llama")
    >>> layers[0].head_dim, findings
    (64, ())
    """
    findings = [*check_spelling(keys), *check_heads(keys), *check_ignored(keys, known, model), *check_code(keys, model)]
    newer, older = read_blocks(keys, known, model, findings)
    types = tuple(
        one._replace(turns=one.turns and not _is_null(keys, one.name)) for one in list_layer_types(keys, known)
    )
    if [one.name for one in types] == ["all"] and any({*newer, *older}):
        types = tuple(types[0]._replace(name=name) for name in dict.fromkeys((*newer, *older)) if name)
    findings += _check_types(keys, newer, types)
    layers = []
    for one in types:
        width, width_key = _read_head_width(keys, known, one.name)
        share, share_key = _read_share(keys, known, model, one.name, width)
        layers.append(
            LayerStatement(
                name=one.name,
                head_dim=width,
                share=share,
                share_beside=_read_share_beside(keys, known, newer),
                share_ignored=find_known(model) is not None and model not in READS_SHARE and not known.width_key,
                layout=_read_layout(keys, known, model),
                newer=_choose_block(newer, one) if one.turns else None,
                older=_choose_block(older, one) if one.turns else None,
                default_base=_choose_default(known, one.name),
                window=one.window,
                beside=_read_beside(keys, known, width),
                turns=one.turns,
                width_key=width_key,
                share_key=share_key,
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
    return [LAYER_TYPE_MISSING.find(message, missing=missing)]


def _choose_default(known: KnownModel, name: str) -> float:
    if known.compressed_base is not None and name == COMPRESSED:
        return known.compressed_base
    return known.local_base if known.local_base is not None and name in WITH_WINDOW else known.default_base


def _read_head_width(keys: Keys, known: KnownModel, name: str) -> tuple[int, str]:
    """The width of a head, and the key or keys that it comes from."""
    if known.full_head_dim is not None and name == FULL:
        return keys.find_integer("global_head_dim") or known.full_head_dim, "global_head_dim"
    key = keys.find_key(("qk_rope_head_dim", "head_dim", "attention_head_dim", known.head_key))
    stated = known.head_dim if key is None else keys.find_integer(key)
    if stated is not None:
        return stated, key or known.head_key
    width, heads = keys.read_integer(*WIDTHS), keys.read_integer(*HEADS)
    if width % heads:
        keys.refuse(keys.find_key(WIDTHS) or WIDTHS[0], f"a multiple of the {heads} heads, or head_dim, is accepted")
    return width // heads, f"{keys.find_key(WIDTHS)} / {keys.find_key(HEADS)}"


def _read_layout(keys: Keys, known: KnownModel, model: str) -> Literal["half", "interleaved"]:
    asked = keys.find_truth("rope_interleave", "rope_interleaved", "rotary_emb_interleaved")
    if asked is None or (find_known(model) is not None and not known.obeys_interleave):
        return known.layout
    return "interleaved" if asked else "half"


def _read_beside(keys: Keys, known: KnownModel, width: int) -> int:
    if known.compressed_base is not None:  # the turned part is the end of a head
        return max(0, (keys.find_integer("head_dim") or width) - width)
    return keys.find_integer("qk_nope_head_dim", least=0) or 0


def _read_share(keys: Keys, known: KnownModel, model: str, name: str, width: int) -> tuple[float, str]:
    """The share of a head that is turned, and the key or keys that it comes from."""
    if "qk_rope_head_dim" in keys:
        return 1.0, ""  # the channels that are turned are a part of their own, turned as a whole
    block = keys.find_object("rope_parameters")
    nested = block.find_object(name) if block is not None and isinstance(block.found.get(name), dict) else None
    for place in (nested, block, keys.find_object("rope_scaling"), keys):
        key = place.find_key(SHARES) if place is not None else None
        if place is not None and key is not None and (share := place.find_number(key)) is not None:
            return share, f"{place.where}{key}"
    if known.by_type and (share := _read_share_list(keys, name)) is not None:
        return share, "partial_rotary_factors"
    own = known.local_share if known.local_share is not None and name in WITH_WINDOW else known.share
    width_key = known.width_key or ("" if find_known(model) is not None else "rotary_dim")
    whole = (keys.find_integer(width_key) if width_key else None) or known.rotary_width
    return (own, known.share_key) if whole is None else (whole / width, f"{width_key} / head width")


def _read_share_list(keys: Keys, name: str) -> float | None:
    """Read partial_rotary_factors, one share for each layer: the first of this type counts."""
    shares = keys.find_numbers("partial_rotary_factors") or ()
    return next((share for one, share in zip(list_stated_types(keys), shares, strict=False) if one == name), None)


def _read_share_beside(keys: Keys, known: KnownModel, newer: Mapping[str, RotaryBlock]) -> float | None:
    """The share beside rope_parameters that has one as well, which goes before it; older releases read this one."""
    block = keys.find_object("rope_parameters")
    if block is None or "" not in newer or not block.has_any(*SHARES) or "qk_rope_head_dim" in keys:
        return None
    return keys.find_number(known.share_key)
