"""The blocks of rotary keys that a config.json has, of both generations, by type of layer ("" for all of them)."""

from __future__ import annotations

from dataclasses import replace

from pe_spectra.errors import shorten
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.stated.key_names import (
    BASES,
    KEY_NOT_READ,
    LISTS,
    LOCAL_BASES,
    NUMBERS,
    UNSET_BY_ZERO,
    check_block_spelling,
)
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import KnownModel, find_known
from pe_spectra.models.stated.layer_types import COMPRESSED, FULL, MAIN, SLIDING, list_stated_types
from pe_spectra.models.stated.statement import DEFAULT_BASE, TRANSFORMERS, KeyValue, RotaryBlock
from pe_spectra.wording import write_number

Blocks = dict[str, RotaryBlock]
_ORIGINAL = "original_max_position_embeddings"
#: Keys without meaning where no scaling is asked for.
_OF_SCALINGS = ("factor", "low_freq_factor", "high_freq_factor", *LISTS)
ORIGINAL_LENGTH_TWICE = Kind(
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
    "name of the scaling. Nothing is scaled, in silence.",
    formula="params.json: rope_scaling_factor is given and use_scaled_rope is not true; config.json: factor, "
    "low_freq_factor, short_factor or their like without rope_type",
    references=("meta-llama/llama-models, models/llama3/model.py", TRANSFORMERS),
)
ROPE_TYPE_TWICE = Kind(
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


def read_blocks(keys: Keys, known: KnownModel, model: str, findings: list[Finding]) -> tuple[Blocks, Blocks]:
    """Read the newer and the older generation of keys.

    Raises
    ------
    FileError : a key of the wrong type or out of range.

    >>> from pe_spectra.models.stated.known_models import KnownModel
    >>> keys = Keys({"rope_scaling": {"type": "linear", "factor": 2.0}}, "config.json")
    >>> newer, older = read_blocks(keys, KnownModel(), "llama", [])
    >>> [block.kind for block in older.values()]
    ['linear']
    """
    older = _read_older(keys, known, model, findings)
    newer = _read_newer(keys, known, model, older, findings)
    if known.scaling and not keys.has_any("rope_parameters", "rope_scaling"):
        newer = {"": _read_block(Keys(known.scaling, keys.path, f"the default of {model}."), findings)}
    newer, older = _add_original(keys, known, newer, findings), _add_original(keys, known, older, findings)
    if model == "phimoe":
        newer, older = _take_mscale(keys, newer), _take_mscale(keys, older)
    if known.compressed_base is not None:
        newer, older = _split_compressed(keys, newer), _split_compressed(keys, older)
    return newer, older


def _read_newer(keys: Keys, known: KnownModel, model: str, older: Blocks, findings: list[Finding]) -> Blocks:
    found = keys.find_object("rope_parameters")
    if found is None:
        return {}
    nested = [name for name, value in found.found.items() if isinstance(value, dict)]
    if nested and not found.has_any("rope_type", "type", "rope_theta"):
        if find_known(model) is not None and not known.is_layered:
            findings.append(_report_nested(found, nested, known, model, older))
            return {}
        places = {name: found.find_object(name) for name in nested}
        return {name: _read_block(place, findings) for name, place in places.items() if place is not None}
    if known.is_layered and known.compressed_base is None:
        findings.append(_report_flat(found, known, model))
        return {}
    return {"": _read_block(found, findings)}


def _report_nested(found: Keys, nested: list[str], known: KnownModel, model: str, older: Blocks) -> Finding:
    """transformers 5 looks for rope_theta among the names of the layer types, and takes a default in silence."""
    stated = next((block.base for block in older.values() if block.base is not None), None)
    base = known.default_base if stated is None else stated
    where = found.where.rstrip(".")
    message = (
        f"{where} is nested by layer type, but the class of {model} reads it flat: nothing in {found.where}"
        f"{shorten(nested[0])} is read, not even its rope_theta; base {write_number(base)} is taken in silence; write "
        f"its keys into {where} itself"
    )
    return KEY_NOT_READ.find(message, level="error", key=f"{found.where}{nested[0]}", model=model, base=base)


def _report_flat(found: Keys, known: KnownModel, model: str) -> Finding:
    where = found.where.rstrip(".")
    effect = (
        "and transformers 5 refuses the file; what is given is the default of the class"
        if known.refuses_flat
        else "so nothing in it is read and the defaults of the class are taken"
    )
    message = f"{where} is flat, but the class of {model} reads an object for each layer type, {effect}"
    return LAYER_TYPE_MISSING.find(message, level="error", missing=[FULL, SLIDING])


def _read_older(keys: Keys, known: KnownModel, model: str, findings: list[Finding]) -> Blocks:
    by_type = _read_base_list(keys)
    base, key = (None, "") if by_type else _find_base(keys, known, model)
    scaling = keys.find_object("rope_scaling")
    local = keys.find_number(*LOCAL_BASES)
    if base is None and scaling is None and local is None and not by_type:
        return {}
    block = RotaryBlock(where="") if scaling is None else _read_block(scaling, findings)
    if known.is_layered and known.compressed_base is None:
        block = _drop_type(block, scaling, model, findings)
    if by_type:
        full = by_type.get(FULL)
        by_type[FULL] = block if full is None else replace(block, base=full.base, base_key=full.base_key)
        return by_type
    block = replace(block, base_beside=base)
    if block.base is None:
        block = replace(block, base=base, base_key=key)
    if local is None and (not known.is_layered or known.compressed_base is not None):
        return {"": block}
    if known.local_base is not None:  # a base of its own, whatever the other layers have
        own, beside = keys.find_key(LOCAL_BASES) or "", local
    else:
        own, beside = keys.find_key(LOCAL_BASES) or key, base if local is None else local
    return {FULL: block, SLIDING: RotaryBlock(where="", base=local, base_key=own, base_beside=beside)}


def _read_base_list(keys: Keys) -> Blocks:
    """Read rope_theta where it is a list, one base for each layer; layers of one type must agree."""
    stated, names = keys.found.get("rope_theta"), list_stated_types(keys)
    if not isinstance(stated, list) or not names:
        return {}
    bases = keys.find_numbers("rope_theta") or ()
    found: Blocks = {}
    for name, base in zip(names, bases, strict=False):
        if found.setdefault(name, RotaryBlock(where="", base=base, base_key="rope_theta")).base != base:
            keys.refuse("rope_theta", f"one base for all layers of a type is accepted, {name} has several")
    return found


def _drop_type(block: RotaryBlock, scaling: Keys | None, model: str, findings: list[Finding]) -> RotaryBlock:
    """Classes with layer types have their own rope_type before rope_scaling is read, so `type` is not."""
    if scaling is None or "rope_type" in scaling or block.kind == "default":
        return block
    message = (
        f"{scaling.where}type {shorten(repr(block.kind))} is not read by the class of {model} in transformers 5, so "
        "its layers are not scaled, and transformers 4 may refuse the file; write rope_type"
    )
    findings.append(KEY_NOT_READ.find(message, level="error", key=f"{scaling.where}type", model=model))
    return replace(block, kind="default", type_inside=None)


def _add_original(keys: Keys, known: KnownModel, blocks: Blocks, findings: list[Finding]) -> Blocks:
    """Some files keep the original length beside the block; there it goes before one inside, but for nested blocks.

    A class may have one of its own, which then goes before one inside as well.
    """
    stated = keys.find_integer(_ORIGINAL)
    found = {}
    for name, block in blocks.items():
        original = stated
        if original is None and block.kind == "longrope":
            original = known.original
        if original is None or name or block.kind in ("default", "dynamic"):
            found[name] = block
            continue
        inside = block.find(_ORIGINAL)
        if inside is not None and inside != original:
            place = f"beside {block.where}" if stated is not None else "by default of the class"
            message = (
                f"{_ORIGINAL} is {original} {place} and {write_number(inside)} in {block.where}; {original} is read"
            )
            findings.append(ORIGINAL_LENGTH_TWICE.find(message, beside=original, inside=inside))
        found[name] = replace(block, values={**block.values, _ORIGINAL: float(original)}, original_beside=True)
    return found


def _take_mscale(keys: Keys, blocks: Blocks) -> Blocks:
    """The class of Phi-3.5-MoE multiplies by a number of the file, whatever the formula of longrope gives."""
    found = {}
    for name, block in blocks.items():
        place = keys.find_object(block.where) if block.where in ("rope_parameters", "rope_scaling") else None
        mscale = place.find_number("long_mscale") if place is not None and block.kind != "default" else None
        values = dict(block.values) if mscale is None else {**block.values, "attention_factor": mscale}
        found[name] = replace(block, values=values, attention_by_class=mscale is not None)
    return found


def _split_compressed(keys: Keys, blocks: Blocks) -> Blocks:
    """DeepSeek V4 scales its compressed layers only, has another base for them and no attention factor."""
    block = blocks.get("")
    if block is None:
        return blocks
    base = keys.find_number("compress_rope_theta")
    by_class = block.kind == "yarn" and "attention_factor" not in block.values
    return {
        MAIN: RotaryBlock(where="", base=block.base, base_key=block.base_key, base_beside=block.base_beside),
        COMPRESSED: replace(
            block,
            base=base,
            base_key="compress_rope_theta" if base is not None else "",
            base_beside=base,
            values={**block.values, "attention_factor": 1.0} if by_class else block.values,
            attention_by_class=by_class,
        ),
    }


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
        findings.append(ROPE_TYPE_TWICE.find(message, rope_type=kind, type=older))
    values = _read_values(block)
    original = values.get(_ORIGINAL)
    unused = [key for key in _OF_SCALINGS if key in values] if kind == "default" else []
    if unused:
        findings.append(_report_unused(block, unused))
    findings.extend(check_block_spelling(block))
    base = block.find_number("rope_theta")
    return RotaryBlock(
        where=where,
        kind=kind,
        base=base,
        base_key=f"{where}.rope_theta" if base is not None else "",
        values=values,
        original_inside=original if isinstance(original, float) else None,
        type_inside=older,
        nulls=frozenset(key for key, value in block.found.items() if value is None),
    )


def _read_values(block: Keys) -> dict[str, KeyValue]:
    values: dict[str, KeyValue] = {}
    for key in NUMBERS:
        number = block.find_number(key, zero=key in UNSET_BY_ZERO)
        if number is not None and not (number == 0 and key in UNSET_BY_ZERO):
            values[key] = number
    original = values.get(_ORIGINAL)
    if isinstance(original, float) and not original.is_integer():
        block.refuse(_ORIGINAL, "an integer from 1 is accepted")
    values.update({key: numbers for key in LISTS if (numbers := block.find_numbers(key)) is not None})
    if (truncate := block.find_truth("truncate")) is not None:
        values["truncate"] = truncate
    return values


def _report_unused(block: Keys, unused: list[str]) -> Finding:
    named = ", ".join(unused)
    stated = "rope_type is default" if block.has_any("rope_type", "type") else "no rope_type"
    message = (
        f"{block.where.rstrip('.')} has {named}, but {stated}, so nothing is scaled, in silence; state rope_type, or "
        f"delete {named}"
    )
    return SCALING_NOT_USED.find(message, keys=unused)
