"""Hugging Face transformers, the generic code that nearly all of its models call: 5 and the last 4.

Release 4 does not know `rope_parameters`, only `rope_theta` and `rope_scaling`: from a file in the newer
form alone it takes the default base and no scaling.
"""

from __future__ import annotations

from dataclasses import replace

from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import MAX_HEAD_WIDTH
from pe_spectra.models.stacks.description import KINDS, Description
from pe_spectra.models.stacks.stack import LINEAR, Reading, Stack
from pe_spectra.models.stated.keys import LISTS
from pe_spectra.models.stated.known_models import find_known, load_table
from pe_spectra.models.stated.loading import NOT_BUILT, VALUE_REFUSED
from pe_spectra.models.stated.statement import (
    FULL,
    NEWEST,
    NO_BLOCK,
    OLDER,
    ORIGINAL,
    Configuration,
    Kept,
    LayerStatement,
    RotaryBlock,
)
from pe_spectra.wording import write_number

_FIVE, _LAST = f"transformers {NEWEST}", f"transformers {OLDER}"
#: Models whose own code enlarges the base once and for all where the file has alpha.
_WITH_ALPHA = ("hunyuan",)
#: The model of transformers' own that had rope_type su; others with it bring their own code along.
_WITH_SU = "phi3"
#: What says that a class refuses a file.
_REFUSING = (NOT_BUILT.code, VALUE_REFUSED.code)
_FILE = "src/transformers/modeling_rope_utils.py"


# --------------------------------------------------------------------- both major releases


def _slides(configuration: Configuration) -> Kept:
    """A file is stated as its classes read it; whether they keep to what other formats state was not measured."""
    return 0 if configuration.format == "config.json" else None


def _read_dynamic(found: Description) -> None:
    """Count from max_position_embeddings, whatever the original length."""
    if found.configuration.model.startswith(_WITH_ALPHA) and found.copy_alpha():
        return
    found.need_keys("factor")
    length = found.find_length()
    stated = found.block.find(ORIGINAL)
    if stated is not None and stated != length:
        found.notes.append(
            f"{ORIGINAL} {write_number(stated)} is not read: dynamic counts from max_position_embeddings, {length}"
        )
    served, width = found.find_served() or length, int(found.layer.head_dim * found.layer.share)
    found.values |= {"original": length, "served": served}
    if width % 2 and width > 2 and served > length:  # rounded up, and the base grows by exponents over width
        excess = served / length - 1
        found.values["factor"] = ((1 + found.values["factor"] * excess) ** ((width - 1) / (width - 2)) - 1) / excess
        found.notes.append(f"the base grows as by factor {write_number(found.values['factor'])}")


def _read_unset(found: Description) -> None:
    for key in ("mscale", "mscale_all_dim", "beta_fast", "beta_slow"):  # 0 is "not set"
        if not found.values.get(key, 1):
            del found.values[key]
    found.take_original()


def _read_truncate(found: Description) -> None:
    """Read truncate, for which null is no."""
    found.copy_truncate()
    if "truncate" in found.block.nulls:
        found.values["truncate"] = "no"


def _take_lengths(found: Description) -> float:
    """Take the original length and the one that is served; return the factor of longrope that the stated one gives.

    A list of one number serves every pair.
    """
    pairs = int(min(found.values["d"] * found.values["share"], MAX_HEAD_WIDTH)) // 2
    for key in LISTS:
        if len(found.values[key]) == 1:
            found.values[key] *= pairs
            found.notes.append(f"{key} has one number, which serves all {pairs} pairs")
    length, original = found.find_length(), found.take_original()
    found.values["served"] = found.find_served() or length
    return max(1.0, length / original)


#: Scalings of which one has no width of channels, and one refuses an odd one.
_WITHOUT_ODD = ("proportional", "yarn")
#: Of the bases that can still be raised to a power a little above 1.
_LARGEST = 1e150


def _round_up(found: Description) -> None:
    """Turn D + 1 channels where a share leaves an odd D, with exponents over D: base**((D + 1)/D) over D + 1.

    Of an odd head a share that leaves an even D is the same as one of a head with a channel more.
    """
    head, share, base = (found.values[name] for name in ("d", "share", "base"))
    width = int(head * share)
    if head % 2 and width % 2 == 0 and 0 < width < head and found.values["scaling"] != "proportional":
        found.values |= {"d": head + 1, "share": width / (head + 1)}
    if width % 2 == 0 or base > _LARGEST or found.values["scaling"] in _WITHOUT_ODD or not _is_share(found.layer):
        return
    wide = max(head + head % 2, width + 1)
    found.values |= {"d": wide, "share": (width + 1) / wide, "base": base ** ((width + 1) / width)}
    found.notes.append(
        f"int({found.layer.width_key} x {found.layer.share_key}) is odd, {width}: {width + 1} channels are turned, by "
        f"base {write_number(base)} with exponents over {width}"
    )


def _is_share(layer: LayerStatement) -> bool:
    return " / " not in layer.share_key


_DYNAMIC = Reading(then=(_read_dynamic,))
_OF_YARN = ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")


# --------------------------------------------------------------------- transformers 5


def _ignore_share(found: Description) -> None:
    share = found.layer.share
    if found.layer.share_ignored and share != 1 and found.values["scaling"] == "none":
        found.values["share"] = 1.0
        found.notes.append(
            f"the share {write_number(share)} is not read: its class turns all channels of a plain ladder"
        )


def _refuse_su(found: Description) -> None:
    inside = found.block.original_inside is not None or not found.block.original_beside
    if found.block.kind == "su" and found.configuration.model == _WITH_SU and not inside:
        # its class renames su only after the original length has been looked for inside of the block
        accepted = f"longrope is read; {_FIVE} raises a KeyError for su"
        raise InputError(f"{found.block.where}: rope_type is an older name", "su", accepted, "older-name")


def _read_factor(found: Description) -> None:
    """Take the factor of yarn from the lengths where it is null."""
    if "factor" in found.values:
        return
    length = found.configuration.length
    if "factor" not in found.block.nulls or length is None:
        found.need_keys("factor")
        return
    factor = length / found.values["original"]
    found.take("factor", factor, f"max_position_embeddings / {ORIGINAL}")
    found.notes.append(f"factor is null, so max_position_embeddings / {ORIGINAL} = {write_number(factor)} is taken")


def _read_truncate_of_five(found: Description) -> None:
    known = find_known(found.configuration.model)  # a flat block is taken apart by the class of such a model
    is_nested = "rope_parameters." in found.block.where or known.is_layered or known.takes_flat
    if not is_nested:
        _read_truncate(found)
    elif found.block.values.get("truncate") is False:
        found.notes.append(f"{found.block.where}.truncate is not read: {_FIVE} looks for it beside the layer types")


def _note_original(found: Description) -> None:
    if ORIGINAL not in found.block.values:
        found.notes.append(
            f"{ORIGINAL} is not set, so max_position_embeddings is taken, "
            f"{found.values['original']}; it was 8192 in training where the model is Llama 3"
        )


def _read_longrope_of_five(found: Description) -> None:
    _refuse_su(found)
    ratio = _take_lengths(found)
    if find_known(found.configuration.model, NEWEST).short_only:
        found.values["served"] = found.values["original"]
        found.notes.append("short_factor serves every length: the class of the model does not hand the length on")
    found.values.setdefault("factor", ratio)


def _turn_part(found: Description) -> None:
    """Take exponents over a whole head, of which the class turns the width that other scalings have."""
    turned, base = int(found.layer.head_dim * found.layer.share), found.values["base"]
    whole = found.layer.whole or found.layer.head_dim
    if whole % 2 and whole > 2:  # the pairs of a channel less, with exponents over all
        found.values["base"] = base ** ((whole - 1) / whole)
        found.notes.append(f"a head has {whole} channels: base {write_number(base)} has exponents over {whole}")
    if whole % 2 or found.layer.whole is not None:
        even = max(2, whole - whole % 2)
        found.values |= {"d": even, "share": min(turned, even) / even}


FIVE = Stack(
    name="transformers-5",
    title=_FIVE,
    package="transformers",
    version=NEWEST,
    date="2026-11-24",
    how="measured",
    source=f"huggingface/{_FIVE}, {_FILE}",
    reader=_FIVE,
    kinds=KINDS,
    has_classes=True,
    takes_any=True,
    slides=_slides,
    begin=(_ignore_share, _round_up),
    readings={
        "linear": LINEAR,
        "dynamic": _DYNAMIC,
        "yarn": Reading(takes=("factor", *_OF_YARN), then=(_read_unset, _read_factor, _read_truncate_of_five)),
        "llama3": Reading(
            needs=("factor", "low_freq_factor", "high_freq_factor"), then=(Description.take_original, _note_original)
        ),
        "longrope": Reading(
            needs=("short_factor", "long_factor"), takes=("factor", "attention_factor"), then=(_read_longrope_of_five,)
        ),
        "proportional": Reading(takes=("factor",), then=(_turn_part,)),
    },
)


# --------------------------------------------------------------------- transformers 4


def _restate(configuration: Configuration, layer: LayerStatement) -> tuple[Configuration, LayerStatement]:
    """Read the file again as the classes of that release do, and find the part and the type of layer in it."""
    if configuration.read_by is None:
        return configuration, layer
    model = configuration.model
    if find_known(model).is_known and not find_known(model, OLDER).is_known:
        raise FileError(configuration.path, f"{_LAST} has no class of {model} that turns queries")
    whole = configuration.read_by(OLDER)
    found = next((one for one in (whole, *whole.parts) if one.where == configuration.where), whole)
    refused = next((one.message for one in found.findings if one.code in _REFUSING), "")
    if refused:
        raise FileError(configuration.path, refused)
    named = {one.name: one for one in found.layers}
    if not named:
        raise FileError(configuration.path, f"the class of {found.model} in {_LAST} turns nothing")
    again = named.get(layer.name) or named.get(FULL) or next(iter(named.values()))
    newer = layer.newer if again.newer is None and not (layer.newer and layer.newer.is_of_class) else again.newer
    return found, replace(again, name=layer.name, newer=newer)


def _choose_older(layer: LayerStatement) -> tuple[RotaryBlock, tuple[str, ...]]:
    newer, older = layer.newer, layer.older
    if newer is not None and newer.is_of_class and (older is None or not older.where):
        # no file has this block: it is the default of the class, in 4 as in 5
        if older is None or older.base is None:
            return newer, ()
        return replace(newer, base=older.base, base_key=older.base_key), ()
    if older is not None:
        return _read_as_written(older), ()
    where = newer.where or "rope_parameters" if newer is not None else ""
    return NO_BLOCK, (f"{where} is not read: {_LAST} does not know it",) if where else ()


def _read_as_written(block: RotaryBlock) -> RotaryBlock:
    """Take base and longrope's original length from beside the block only, others' from inside; type goes first."""
    values = dict(block.values)
    if block.original_beside and block.kind in ("yarn", "llama3"):
        values.pop(ORIGINAL, None)
        if block.original_inside is not None:
            values[ORIGINAL] = block.original_inside
    if block.kind in ("longrope", "su") and not block.original_beside:
        values.pop(ORIGINAL, None)
    inside = block.where and block.base_key.startswith(f"{block.where}.")
    base = block.base_beside if inside or block.base is None else block.base
    key = block.base_key.removeprefix(f"{block.where}.") if inside else block.base_key
    return replace(block, base=base, base_key=key, kind=block.type_inside or block.kind, values=values)


def _note_unmeasured(found: Description) -> None:
    model = found.configuration.model
    if model in load_table(OLDER)["unmeasured"]:
        found.notes.append(f"the class of {model} was not measured in {_LAST}: it is read as in {NEWEST}")


def _choose_share(found: Description) -> None:
    """Take the share beside rope_parameters where one is in it as well."""
    if found.layer.share_beside is not None:
        found.values["share"] = found.layer.share_beside


def _read_longrope(found: Description) -> None:
    ratio = _take_lengths(found)
    if ORIGINAL in found.block.values:  # beside rope_scaling, as in the files of Phi-3
        found.values["factor"] = ratio
    elif "attention_factor" not in found.values:
        found.need_keys("factor")


FOUR = Stack(
    name="transformers-4",
    title=_LAST,
    package="transformers",
    version=OLDER,
    date="2026-11-28",
    how="measured",
    source=f"huggingface/{_LAST}, {_FILE}",
    reader=_LAST,
    kinds=KINDS[:-1],
    has_classes=True,
    reads_by=OLDER,
    takes_any=True,
    slides=_slides,
    choose=_choose_older,
    restate=_restate,
    begin=(_note_unmeasured, _choose_share, _round_up),
    readings={
        "linear": LINEAR,
        "dynamic": _DYNAMIC,
        "yarn": Reading(needs=("factor",), takes=_OF_YARN, then=(_read_unset, _read_truncate)),
        "llama3": Reading(needs=("factor", "low_freq_factor", "high_freq_factor", "original")),
        "longrope": Reading(needs=("short_factor", "long_factor"), takes=("attention_factor",), then=(_read_longrope,)),
    },
)
