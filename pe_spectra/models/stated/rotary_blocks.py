"""The blocks of rotary keys that a config.json has, of both generations, by type of layer ("" for all of them)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pe_spectra.errors import shorten
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import (
    BASES,
    KEY_NOT_READ,
    LISTS,
    LOCAL_BASES,
    NUMBERS,
    UNSET_BY_ZERO,
    Keys,
    check_block_spelling,
)
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.statement import (
    BY_CLASS,
    COMPRESSED,
    DEFAULT_BASE,
    FULL,
    MAIN,
    NEWEST,
    NO_BLOCK,
    ORIGINAL,
    SLIDING,
    TRANSFORMERS,
    KeyValue,
    RotaryBlock,
    Written,
)
from pe_spectra.wording import write_number

Blocks = dict[str, RotaryBlock]
#: Scalings that no original length decides.
_WITHOUT_ORIGINAL = ("default", "linear", "dynamic", "proportional")
#: Keys without meaning where no scaling is asked for.
_OF_SCALINGS = ("factor", "low_freq_factor", "high_freq_factor", *LISTS)
_ORIGINAL_LENGTH_TWICE = Kind(
    code="original-length-twice",
    levels=("warning",),
    phrase="the length before scaling is given twice",
    reasoning="The length before scaling may stand beside the rotary block or in it. transformers 5 takes the one "
    "beside it, transformers 4.57 the one in it for yarn and llama3, so the two should agree.",
    formula="original_max_position_embeddings is given in both places with other values; beside the block the class of "
    "Phi-3 has 4096 where the file has none",
    references=(TRANSFORMERS,),
)
SCALING_NOT_USED = Kind(
    code="scaling-not-used",
    levels=("warning",),
    phrase="a scaling is given but not switched on",
    reasoning="A factor is given, but what turns scaling on is not: for Meta's code the switch, for transformers the "
    "name of the scaling. Scaling is silently left out.",
    formula="params.json: rope_scaling_factor is given and use_scaled_rope is not true; config.json: factor, "
    "low_freq_factor, short_factor or their like without rope_type",
    references=("meta-llama/llama-models, models/llama3/model.py", TRANSFORMERS),
)
_ROPE_TYPE_TWICE = Kind(
    code="rope-type-twice",
    levels=("warning",),
    phrase="the scaling has two names that differ",
    reasoning="Older files name the scaling under type, newer ones under rope_type. A file with both that differ is "
    "read otherwise by readers of either key.",
    formula="type != rope_type in one block; rope_type is read",
    references=(TRANSFORMERS,),
)
LAYER_TYPE_MISSING = Kind(
    code="layer-type-missing",
    levels=("warning", "error"),
    phrase="a layer type has no keys of its own",
    reasoning="rope_parameters may be nested by the type of a layer. A type that the model has and the file leaves out "
    "is turned by the default of its class, which nobody wrote down.",
    formula="a type of layer_types that is turned has no entry in rope_parameters (warning), or rope_parameters is "
    "flat and the class reads it by layer type (error)",
    references=(TRANSFORMERS,),
)


def read_blocks(keys: Keys, known: KnownModel) -> tuple[Blocks, Blocks]:
    """Read the newer and the older generation of keys.

    Raises
    ------
    FileError : a key of the wrong type or out of range.

    >>> keys = Keys({"rope_scaling": {"type": "linear", "factor": 2.0}}, "config.json")
    >>> newer, older = read_blocks(keys, KnownModel())
    >>> [block.kind for block in older.values()]
    ['linear']
    """
    older = _read_older(keys, known)
    newer = _read_newer(keys, known, older)
    if known.scaling and not keys.has_any("rope_parameters", "rope_scaling") and known.keeps_block(keys.found):
        newer = _read_default(keys, known)
    return _follow_class(keys, known, newer), _follow_class(keys, known, older)


def _read_default(keys: Keys, known: KnownModel) -> Blocks:
    """Read the block that the class has where the file has none, or its blocks."""
    block = Keys(known.scaling, keys.path, f"{BY_CLASS} {known.model}.", keys.findings)
    nested = [name for name, value in known.scaling.items() if isinstance(value, Mapping)]
    blocks = {name: _read_block(block.find_object(name)) for name in nested} or {"": _read_block(block)}
    base, key = _find_base(keys, known) if known.base_types else (None, "")
    changed = known.base_types if base is not None else ()
    return blocks | {name: replace(blocks[name], base=base, base_key=key) for name in changed}


def _follow_class(keys: Keys, known: KnownModel, blocks: Blocks) -> Blocks:
    """Add to the blocks of one generation what stands beside them, and what the class of the model does with them."""
    blocks = {name: _add_original(keys, known, name, block) for name, block in blocks.items()}
    if known.factor_key:
        blocks = {name: _take_factor(keys, known, block) for name, block in blocks.items()}
    if known.base_only:
        from pe_spectra.models.stated.needs import keep_base

        blocks = {name: keep_base(keys, known, block) for name, block in blocks.items()}
    return blocks if known.compressed_base is None or "" not in blocks else _split_compressed(keys, blocks[""])


def _read_newer(keys: Keys, known: KnownModel, older: Blocks) -> Blocks:
    if "rope_parameters" not in keys:
        return {}
    found = keys.find_object("rope_parameters")
    nested = [name for name, value in found.found.items() if isinstance(value, dict)]
    if nested and not found.has_any("rope_type", "type", "rope_theta"):
        if known.is_known and not known.is_layered:
            _report_nested(found, nested[0], known, older)
            return {}
        blocks = {name: _read_block(found.find_object(name)) for name in nested}
        return blocks if known.compressed_base is None else _fill_bases(keys, known, blocks)
    if known.ignores_flat:
        if not found.found or not found.found.keys() <= {*keys.refusals["layer_types"]}:
            _report_flat(found, known)  # else it is for types of layers, each of them null
        return {}
    return {"": _read_block(found)}


def _fill_bases(keys: Keys, known: KnownModel, blocks: Blocks) -> Blocks:
    """Each block without a base has the one on top, whatever another key has for its type of layer."""
    base, key = _find_base(keys, known)
    beside = known.default_base if base is None else base
    bare = {name: replace(block, base=beside, base_key=key) for name, block in blocks.items() if block.base is None}
    return blocks | bare


def _report_nested(found: Keys, nested: str, known: KnownModel, older: Blocks) -> None:
    """transformers 5 looks for rope_theta among the names of the layer types, and silently assumes a default."""
    base = next((block.base for block in older.values() if block.base is not None), known.default_base)
    effect = "so no layer is turned" if known.turns_by_base else f"base {write_number(base)} is silently assumed"
    where, key, assumed = found.where.rstrip("."), f"{found.where}{nested}", None if known.turns_by_base else base
    message = (
        f"{where} is nested by layer type, but the class of {known.model} reads it flat: nothing in {found.where}"
        f"{shorten(nested)} is read, not even its rope_theta; {effect}; write its keys into {where} itself"
    )
    found.report(KEY_NOT_READ, message, level="error", key=key, model=known.model, base=assumed)


def _report_flat(found: Keys, known: KnownModel) -> None:
    effect = (
        "and transformers 5 refuses the file; what is given is the default of the class"
        if known.refuses_flat
        else "so nothing in it is read and the defaults of the class are taken"
    )
    where = found.where.rstrip(".")
    message = f"{where} is flat, but the class of {known.model} reads an object for each layer type, {effect}"
    found.report(LAYER_TYPE_MISSING, message, level="error", missing=[FULL, SLIDING])


def _read_older(keys: Keys, known: KnownModel) -> Blocks:
    by_type = _read_base_list(keys) if isinstance(keys.found.get("rope_theta"), list) else {}
    base, key = (None, "") if by_type else _find_base(keys, known)
    if known.refuses_older and keys.find_object("rope_scaling").found:
        _report_flat(keys.find_object("rope_scaling"), known)
    scaling, has_scaling = keys.find_object("rope_scaling"), "rope_scaling" in keys
    locals_read = (known.local_key,) if known.is_known else LOCAL_BASES
    local = keys.find_number(*locals_read)
    if base is None and local is None and not has_scaling and not by_type:
        return {}
    block = _read_block(scaling) if has_scaling else NO_BLOCK
    if known.ignores_flat and keys.release == NEWEST:  # releases before 5 have no blocks by type of layer
        block = _drop_type(block, scaling, known, alone="rope_parameters" not in keys)
    if by_type:
        full = by_type.get(FULL)
        by_type[FULL] = block if full is None else replace(block, base=full.base, base_key=full.base_key)
        return by_type
    block = replace(block, base_beside=base)
    if block.base is None:
        block = replace(block, base=base, base_key=key)
    if local is None and not known.ignores_flat:
        return {"": block}
    if known.local_base is not None:  # a base of its own, whatever the other layers have
        key, base = "", None
    beside = base if local is None else local
    start = block if known.older_everywhere else RotaryBlock(where="")
    own = keys.find_key(locals_read) or key
    if known.older_everywhere and local is None and "rope_theta" in scaling:
        local, own = scaling.find_number("rope_theta"), f"{scaling.where}rope_theta"
    sliding = replace(start, base=local, base_key=own, base_beside=beside)
    return {FULL: block, SLIDING: sliding}


def _read_base_list(keys: Keys) -> Blocks:
    """Read rope_theta where it is a list, one base for each layer; layers of one type must agree."""
    names = keys.find_texts("layer_types")
    if not names:
        return {}
    found: Blocks = {}
    for name, base in zip(names, keys.find_numbers("rope_theta") or (), strict=False):
        if found.setdefault(name, RotaryBlock(where="", base=base, base_key="rope_theta")).base != base:
            keys.refuse("rope_theta", f"one base for all layers of a type is accepted, {name} has several")
    return found


def _drop_type(block: RotaryBlock, scaling: Keys, known: KnownModel, *, alone: bool) -> RotaryBlock:
    """Classes with layer types have their own rope_type before rope_scaling is read, so `type` is not."""
    if "rope_type" in scaling or block.kind == "default":
        return block
    effect = "its layers are not scaled" if alone else "the rope_type of rope_parameters stays"
    message = (
        f"{scaling.where}type {shorten(repr(block.kind))} is not read by the class of {known.model} in transformers 5, "
        f"so {effect}, and transformers 4 may refuse the file; write rope_type"
    )
    scaling.report(KEY_NOT_READ, message, level="error", key=f"{scaling.where}type", model=known.model)
    return replace(block, kind="default", untyped=True, type_inside=None)


def _add_original(keys: Keys, known: KnownModel, name: str, block: RotaryBlock) -> RotaryBlock:
    """Some files keep the original length beside the block; there it goes before one inside, but for nested blocks.

    A class may have one of its own, which then goes before one inside as well.
    """
    stated = keys.find_integer(ORIGINAL) if known.reads_original else None
    original = known.original if stated is None and block.kind == "longrope" else stated
    if original is None or name or block.kind in ("default", "dynamic"):
        return block
    inside = block.find(ORIGINAL)
    if inside is not None and inside != original:
        place = f"beside {block.where}" if stated is not None else "by default of the class"
        message = f"{ORIGINAL} is {original} {place} and {write_number(inside)} in {block.where}; {original} is read"
        keys.report(_ORIGINAL_LENGTH_TWICE, message, beside=original, inside=inside)
    return replace(block, values={**block.values, ORIGINAL: float(original)}, original_beside=True)


def _take_factor(keys: Keys, known: KnownModel, block: RotaryBlock) -> RotaryBlock:
    """The class multiplies by a number of the file, whatever the formula of longrope gives."""
    has_own = block.where in ("rope_parameters", "rope_scaling") and block.kind != "default"
    factor = keys.find_object(block.where).find_number(known.factor_key) if has_own else None
    if factor is None:
        return block
    return replace(block, values={**block.values, "attention_factor": factor}, attention_by_class=True)


def _split_compressed(keys: Keys, block: RotaryBlock) -> Blocks:
    """DeepSeek V4 scales its compressed layers only, has another base for them and no attention factor."""
    base = keys.find_number("compress_rope_theta")
    by_class = block.kind == "yarn" and "attention_factor" not in block.values
    compressed = replace(
        block,
        base=base,
        base_key="compress_rope_theta" if base is not None else "",
        base_beside=base,
        values={**block.values, "attention_factor": 1.0} if by_class else block.values,
        attention_by_class=by_class,
    )
    beside = block.base_beside
    main = RotaryBlock(where="", base=beside, base_key="" if beside is None else "rope_theta", base_beside=beside)
    return {MAIN: main, COMPRESSED: compressed}


def _find_base(keys: Keys, known: KnownModel) -> tuple[float | None, str]:
    place, _, own = known.base_key.rpartition(".")
    inside = keys.find_object(place) if place else keys
    key = inside.find_key((own,) if known.is_known else BASES)
    if key is not None:
        return inside.find_number(key), f"{place}.{key}" if place else key
    nested = keys.find_object("attn_config")
    if nested.find_truth("rope"):
        return nested.find_number("rope_theta"), f"{nested.where}rope_theta"
    ratio = keys.find_number("rope_ratio")
    return (None, "") if ratio is None else (DEFAULT_BASE * ratio, "rope_ratio")


def _read_block(block: Keys) -> RotaryBlock:
    where = block.where.rstrip(".")
    kind = block.find_text("rope_type", "type") or "default"
    older = block.find_text("type")
    if older is not None and older != kind:
        message = f"{where} has rope_type {shorten(repr(kind))} and type {shorten(repr(older))}; rope_type is read"
        block.report(_ROPE_TYPE_TWICE, message, rope_type=kind, type=older)
    values = _read_values(block, kind)
    unused = [key for key in _OF_SCALINGS if key in values]
    if kind == "default" and unused:
        stated = "rope_type is default" if block.has_any("rope_type", "type") else "no rope_type"
        named = ", ".join(unused)
        message = (
            f"{where} has {named}, but {stated}, so scaling is silently left out; state rope_type, or delete {named}"
        )
        block.report(SCALING_NOT_USED, message, keys=unused)
    check_block_spelling(block)
    base, original = block.find_number("rope_theta"), values.get(ORIGINAL)
    return RotaryBlock(
        where=where,
        kind=kind,
        base=base,
        base_key=f"{where}.rope_theta" if base is not None else "",
        values=values,
        untyped=not block.has_any("rope_type", "type"),
        original_inside=original if isinstance(original, float) else None,
        type_inside=older,
        nulls=frozenset(key for key, value in block.found.items() if value is None),
        integers=frozenset(key for key, value in block.found.items() if type(value) is int),
    )


def _read_values(block: Keys, kind: str) -> dict[str, KeyValue]:
    values: dict[str, KeyValue] = {}
    for key in NUMBERS:
        # 0 is "not set" where it is accepted
        if (number := block.find_number(key, zero=key in UNSET_BY_ZERO)) or isinstance(number, Written):
            values[key] = number
    if type(original := values.get(ORIGINAL)) is float and not original.is_integer():
        if kind not in _WITHOUT_ORIGINAL:
            block.refuse(ORIGINAL, "an integer from 1 is accepted")
        del values[ORIGINAL]
    values.update({key: numbers for key in LISTS if (numbers := block.find_numbers(key)) is not None})
    if (truncate := block.find_truth("truncate")) is not None:
        values["truncate"] = truncate
    return values
