"""The keys of rotation in a config.json, of both generations, one statement for each type of layer.

Newer files keep everything in `rope_parameters`, flat or nested by layer type; older ones have
`rope_theta` beside `rope_scaling`, under several spellings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pe_spectra.errors import FileError
from pe_spectra.models.stated.keys import HEADS, LENGTHS, SHARES, WIDTHS, Keys, check_keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.loading import TINY, has_blocks, has_no_base, load_refusals, report_refused
from pe_spectra.models.stated.rotary_blocks import LAYER_TYPE_MISSING, Blocks, read_blocks
from pe_spectra.models.stated.statement import (
    BY_CLASS,
    CHUNKED,
    COMPRESSED,
    FULL,
    LAYOUTS,
    MAIN,
    SLIDING,
    UNTURNED,
    WITH_WINDOW,
    LayerStatement,
)

#: Layers without attention, or with one that is not turned.
_WITHOUT = ("linear_attention", "conv", "short_conv", "mamba", "mamba2", "recurrent", "rwkv", "moe", "mlp",
            "gated_deltanet", "lightning_attention", "kda")  # fmt: skip
#: Layers where a file does not say how many: enough for any published pattern to repeat; more than any model has.
_MANY, _MOST = 48, 4096


def read_layers(keys: Keys, known: KnownModel) -> tuple[LayerStatement, ...]:
    """Read what is stated about the rotation in each type of layer, and report what is wrong with it.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no width of a head.

    >>> keys = Keys({"head_dim": 64, "rope_theta": 5e5}, "config.json")
    >>> [layer.head_dim for layer in read_layers(keys, KnownModel())], keys.findings
    ([64], [])
    """
    known = known.take_length() if known.built_with_length and LENGTHS[0] in keys else known
    if not keys.found.keys().isdisjoint(("rope_parameters", "rope_scaling", "layer_types")):
        from pe_spectra.models.stated.unread_blocks import drop_unread

        keys = drop_unread(keys, known)
    report_refused(keys, known)
    check_keys(keys, known)
    if known.shared:
        from pe_spectra.models.stated.needs import report_unshared

        report_unshared(keys, known, _name_layers(keys, known))
    newer, older = read_blocks(keys, known)
    stated = {} if known.turns_null else keys.find_object("rope_parameters").found
    still = [name for name, value in stated.items() if value is None]
    still += ["all"] if known.by_type and known.needs and {*known.needs} <= {*still} else []  # its one type of layer
    listed, is_turned = _list_layer_types(keys, known), not (known.turns_by_base and has_no_base(keys, known))
    still += [one.name for one in listed if not is_turned]
    types = tuple(replace(one, turns=False) if one.turns and one.name in still else one for one in listed)
    if known.needs or known.needs_window or not (known.reads_blocks and any(one.turns for one in types)):
        from pe_spectra.models.stated.needs import report_needs

        report_needs(keys, known, is_built=known.reads_blocks and any(one.turns for one in types))
    names = [name for name in dict.fromkeys((*newer, *older)) if name]
    if [one.name for one in types] == ["all"] and names:
        types = tuple(replace(types[0], name=name) for name in names)
    if newer and "" not in newer:
        _check_types(keys, newer, types)
    layers = tuple(_read_layer(keys, known, one, newer, older) for one in types)
    is_grid = known.axes > 1 and not known.one_axis
    places = (keys, keys.find_object("rope_parameters"), keys.find_object("rope_scaling"))
    has_axes = known.sections or known.axis_sections or any("mrope_section" in place for place in places)
    if is_grid or has_axes:
        from pe_spectra.models.stated.position_axes import add_axes, report_grid

        if is_grid:
            report_grid(keys, known, layers)
        layers = add_axes(keys, known, layers) if has_axes else layers
    return layers


def _read_layer(keys: Keys, known: KnownModel, one: LayerStatement, newer: Blocks, older: Blocks) -> LayerStatement:
    """Read what is stated of a type of layers whose name, window and places are known, and whether it is turned."""
    width, width_key = _read_head_width(keys, known, one.name)
    share, share_key = _read_share(keys, known, one.name, width)
    if known.share > 1 and share > 1:  # a head is told for a part of what is turned
        width, share = int(width * share), 1.0
    is_odd = known.is_known and one.turns and width % 2 and share == 1 and width > TINY and " / " not in width_key
    is_refused = is_odd and load_refusals(keys, known).get("odd_head")
    refused = known.refused + (known.refused_without_head if " / " in width_key else ())
    return replace(
        one,
        unusable=f"{width_key} is odd ({width}); an even number is accepted" if is_refused else "",
        head_dim=width,
        share=share,
        share_beside=_read_share_beside(keys, known) if "" in newer else None,
        share_ignored=known.is_known and not known.reads_share and not known.width_key,
        strided=known.strided,
        blocks_ignored=not known.reads_blocks,
        refused=(*(refused if known.is_known else ()), *(() if known.takes_axial else ("axial",))),
        layout=_read_layout(keys, known),
        indexer_layout=_read_indexer(keys) if "indexer_rope_interleave" in keys.found else None,
        newer=newer.get(one.name, newer.get("")) if one.turns else None,
        older=older.get(one.name, older.get("")) if one.turns else None,
        default_base=_choose_default(known, one.name),
        whole=_read_whole(keys, known, one.name) if known.proportional else None,
        beside=0 if known.part_key else keys.find_integer("qk_nope_head_dim", least=0) or 0,
        width_key=width_key,
        share_key=share_key,
    )


def _read_whole(keys: Keys, known: KnownModel, name: str) -> int | None:
    """The width of the head that proportional takes a share of, where other scalings go by another."""
    *named, usual = known.proportional.get(name, (None,))
    return (keys.find_integer(*named) if named else None) or usual


def _check_types(keys: Keys, newer: Blocks, types: tuple[LayerStatement, ...]) -> None:
    """Where rope_parameters is nested by layer type, every type that is turned should be in it."""
    missing = [one.name for one in types if one.turns and one.name not in newer]
    if missing:
        message = (
            f"{keys.where}rope_parameters has {', '.join(newer)}, but nothing for {', '.join(missing)}, so the default "
            "of the class is taken for it; state it, or null where it is not turned"
        )
        keys.report(LAYER_TYPE_MISSING, message, missing=missing)


def _list_layer_types(keys: Keys, known: KnownModel) -> tuple[LayerStatement, ...]:
    """The types of layers that a file states, or that the class of its model has, in order of appearance.

    Of each its name ("all" where there is one), places and window, and whether it is turned.
    """
    if known.compressed_base is not None:
        main = LayerStatement(name=MAIN, head_dim=0, window=keys.find_integer("sliding_window") or known.window)
        return main, LayerStatement(name=COMPRESSED, head_dim=0)
    names = _name_layers(keys, known)
    stated = keys.find_object("rope_parameters").found if known.unturned and known.is_layered else {}
    still = (*_WITHOUT, *(name for name in known.unturned if not isinstance(stated.get(name), Mapping)))
    found: dict[str, LayerStatement] = {}
    flags = _list_flags(keys, known, len(names))
    turned = [flag and name not in still for name, flag in zip(names, flags, strict=True)]
    for name, turns in zip(names, turned, strict=True):
        if name not in found:
            window, sides = _find_window(keys, known, name)
            found[name] = LayerStatement(name=name, head_dim=0, window=window, sides=sides, turns=turns)
        elif found[name].turns != turns:
            found.setdefault(UNTURNED, replace(found[name], name=UNTURNED, turns=False))
            found[name] = replace(found[name], turns=True)
    places: dict[str, list[int]] = {name: [] for name in found}
    for place, (name, turns) in enumerate(zip(names, turned, strict=True)):
        places[name if found[name].turns == turns else UNTURNED].append(place)
    return tuple(replace(one, places=tuple(places[name])) for name, one in found.items())


def _name_layers(keys: Keys, known: KnownModel) -> tuple[str, ...]:
    if stated := keys.find_texts("layer_types"):
        return stated
    count = min(keys.find_integer("num_hidden_layers", "n_layer", "num_layers") or _MANY, _MOST)
    if known.window_from is not None and (keys.find_truth("use_sliding_window") or not known.switched):
        asked = keys.find_integer("max_window_layers", least=0)
        first = known.window_from if asked is None else asked
        slide = range(0, min(first, count), 2) if known.slides_before else range(first, count)
        return tuple(SLIDING if i in slide else FULL for i in range(count)) if slide else ("all",) * count
    pattern = known.layers
    if known.period_key and (period := keys.find_integer(known.period_key)) is not None and FULL in pattern:
        others = tuple(name for name in pattern if name != FULL)[:1] * (min(period, _MOST) - 1)
        pattern = (FULL, *others) if pattern[0] == FULL else (*others, FULL)
    pattern = pattern if pattern not in ((), (FULL,)) else ("all",)
    names = tuple(pattern[i % len(pattern)] for i in range(count))
    return (*names[:-1], FULL) if known.last_full else names


def _list_flags(keys: Keys, known: KnownModel, count: int) -> tuple[bool, ...]:
    """Whether each layer is turned, by the keys that count layers."""
    stated = keys.found.get("no_rope_layers")
    if isinstance(stated, list) and stated:  # 1 is turned, 0 is not
        if not all(flag in (0, 1) for flag in stated):
            keys.refuse("no_rope_layers", "a list of 0 (not turned) and 1 (turned) is accepted")
        return tuple(bool(stated[i % len(stated)]) for i in range(count))
    key = "no_rope_layer_interval"
    every = (keys.find_integer(key) if key in keys.found else None) or known.nope_every
    return tuple(every is None or (i + 1) % every != 0 for i in range(count))


def _find_window(keys: Keys, known: KnownModel, name: str) -> tuple[int | None, tuple[int, int] | None]:
    """The longest lag + 1 that a type of layers sees, and the sides of a query where it sees what comes after it."""
    is_off = not known.reads_window or (known.switched and not keys.find_truth("use_sliding_window"))
    sees_all = name == "all" and (known.window_from is not None or known.layers == (FULL,))
    if is_off or sees_all or name in (FULL, *_WITHOUT):
        return None, None
    sliding = ("sliding_window", "local_attention", "attention_window_size")
    stated = ("attention_chunk_size",) if name == CHUNKED else sliding
    is_stated = any(key in keys.found for key in stated)  # null is "no window"
    size = keys.find_integer(*stated) if is_stated else known.window
    return known.see(size, keys.find_key(stated), keys.found) if size and known.sees else (size, None)


def _choose_default(known: KnownModel, name: str) -> float:
    if known.compressed_base is not None and name == COMPRESSED:
        return known.compressed_base
    return known.local_base if known.local_base is not None and name in WITH_WINDOW else known.default_base


def _read_head_width(keys: Keys, known: KnownModel, name: str) -> tuple[int, str]:
    """The width of a head, and the key or keys that it comes from."""
    if known.full_head_dim is not None and name == FULL:
        return keys.find_integer("global_head_dim") or known.full_head_dim, "global_head_dim"
    if name in known.type_keys and (own_width := keys.find_integer(known.type_keys[name])) is not None:
        return own_width, known.type_keys[name]
    looked = known.head_keys if known.is_known else ("qk_rope_head_dim", "head_dim", "attention_head_dim")
    key = keys.find_key(looked)
    stated = known.head_dim if key is None else keys.find_integer(key)
    if known.null_head and keys.found.get("head_dim", looked) is None:
        stated = None
    elif key is None and known.beside is not None:
        return sum(one or 0 for one in _read_parts(keys, known)), f"{known.part_key} + qk_nope_head_dim"
    if stated is not None:
        return stated // known.axes // known.axis_step * known.axis_step, key or (looked or ("head_dim",))[0]
    found: list[tuple[int, str]] = []
    # a file that says one of the two alone lacks the other; one that says neither has those of its class
    is_silent = bool(keys.where or known.hidden_key or known.heads_key) or not keys.has_any(*WIDTHS, *HEADS)
    for own, names, default in ((known.hidden_key, WIDTHS, known.hidden), (known.heads_key, HEADS, known.heads)):
        looked = (own,) if own else names  # a class with another name for it reads no other
        key = keys.find_key(looked)
        if key is None and default is not None and is_silent:
            found.append((default, own or names[0]))
        else:
            found.append((keys.read_integer(*looked), key or ""))
    (width, width_key), (heads, heads_key) = found
    if width % heads and (known.divides or not known.is_known):
        keys.refuse(width_key, f"a multiple of the {heads} heads, or head_dim, is accepted")
    if width // heads % 2 and not known.is_known:
        odd = f"{width_key} / {heads_key} is odd ({width // heads}); an even number of channels is accepted"
        raise FileError(keys.path, odd)
    turned = width // heads // known.axes // known.axis_step * known.axis_step
    return max(turned, known.least_width), f"{width_key} / {heads_key}"


def _read_layout(keys: Keys, known: KnownModel) -> Literal["half", "interleaved"]:
    asks = not known.is_known or known.obeys_interleave
    asked = keys.find_truth("rope_interleave", "rope_interleaved", "rotary_emb_interleaved") if asks else None
    return known.layout if asked is None else "interleaved" if asked else "half"


def _read_indexer(keys: Keys) -> str | None:
    asked = keys.find_truth("indexer_rope_interleave")
    return None if asked is None else LAYOUTS[asked]


def _read_share(keys: Keys, known: KnownModel, name: str, width: int) -> tuple[float, str]:
    """The share of a head that is turned, and the key or keys that it comes from."""
    if (not known.is_known and "qk_rope_head_dim" in keys) or known.axes > 1:
        return 1.0, ""  # the channels that are turned are a part of their own, turned as a whole
    for place in _list_blocks(keys, known, name):
        key = place.find_key(SHARES[:1] if known.is_known else SHARES)
        if key is not None and (share := place.find_number(key)) is not None:
            return share, f"{place.where}{key}"
    on_top = not (known.share_fixed or known.share_beside) or _has_beside(keys, known)
    if on_top and (not known.is_known or (known.share_key and (known.reads_blocks or known.reads_share))):
        key = keys.find_key((known.share_key,) if known.is_known else SHARES)
        if key is not None and (share := keys.find_number(key)) is not None:
            return share, f"{keys.where}{key}"
    if known.null_share is not None and keys.found.get(known.share_key, known.share) is None:
        return known.null_share, f"{keys.where}{known.share_key}"
    if known.by_type:  # one share for each layer: the first of this type counts
        shares = keys.find_numbers("partial_rotary_factors") or ()
        for one, share in zip(keys.find_texts("layer_types"), shares, strict=False):
            if one == name:
                return share, "partial_rotary_factors"
    newer = keys.find_object("rope_parameters") if name in known.block_shares else keys
    if newer is not keys and has_blocks(newer.found) and known.part_key not in keys:
        plain, scaled = known.block_shares[name]
        others = known.block_shares if known.joint_shares else (name,)
        is_plain = all(newer.find_object(one).find_text("rope_type") in (None, "default") for one in others)
        return plain if is_plain else scaled, known.share_key
    if known.older_share is not None and keys.find_object("rope_scaling").found:
        return known.older_share, known.share_key or SHARES[0]
    if known.part_key:
        part, other = _read_parts(keys, known)
        if part != known.share * (known.head_dim or 0) or other != known.beside:
            return part / (width if other is None else part + other), f"{known.part_key} / head width"
    width_key = known.width_key or ("" if known.is_known else "rotary_dim")
    is_unset = known.unset_rotary and not keys.found.get(width_key, True)
    looked, usual = (WIDTHS, known.hidden) if is_unset else ((width_key,), known.rotary_width)
    whole = (keys.find_integer(*looked) if width_key else None) or usual
    return (known.share, known.share_key) if whole is None else (whole / width, f"{width_key} / head width")


def _read_parts(keys: Keys, known: KnownModel) -> tuple[int, int | None]:
    """The width of the part of a head that is turned, and of the other part where a class adds the two."""
    part = keys.find_integer(known.part_key) or round(known.share * (known.head_dim or 0))
    if known.beside is None:
        return part, None
    return part, keys.find_integer("qk_nope_head_dim", least=0) or known.beside


def _read_share_beside(keys: Keys, known: KnownModel) -> float | None:
    """The share beside rope_parameters that has one as well, which goes before it; older releases read this one."""
    inside = keys.find_object("rope_parameters").has_any(*SHARES)
    return keys.find_number(known.share_key) if inside and "qk_rope_head_dim" not in keys else None


def _has_beside(keys: Keys, known: KnownModel) -> bool:
    """Whether the file has a block beside which a share is read; one that is passed over for being flat is none."""
    flat = () if known.ignores_flat else ("rope_parameters",)
    return any(
        name in keys and (name == "rope_scaling" or name in flat or has_blocks(keys.find_object(name).found))
        for name in known.share_beside
    )


def _list_blocks(keys: Keys, known: KnownModel, name: str) -> tuple[Keys, ...]:
    """The blocks that may have the share of one type of layer, the first that has it goes before."""
    if not known.reads_blocks or known.share_fixed:
        return ()
    newer, older = keys.find_object("rope_parameters"), keys.find_object("rope_scaling")
    if known.scaling and not keys.has_any("rope_parameters", "rope_scaling"):
        newer = Keys(known.scaling, keys.path, f"{BY_CLASS} {known.model}.")
    if newer.found and not has_blocks(newer.found) and known.is_known and (known.ignores_flat or not known.flat_share):
        newer = Keys({}, keys.path)  # flat, and not read
    if not known.flat_share:
        older = Keys({}, keys.path)
    nested = newer.find_object(name) if isinstance(newer.found.get(name), Mapping) else newer
    return (older,) if older.found and known.is_known and not known.is_layered else (nested, newer, older)
