"""The ways in which the class of a model has positions: which is audited, what that one computes, and those beside it.

`position_tables` has those with a row for each position, `position_schemes` what else a class was found to have. Which
classes have linear biases, or are recurrent: transformers 5.23.0, read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pe_spectra.errors import shorten
from pe_spectra.models.stated.class_sinusoids import Sinusoids
from pe_spectra.models.stated.keys import HEADS, LENGTHS, WIDTHS, Keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.loading import load_refusals, report_refused
from pe_spectra.models.stated.needs import report_needs
from pe_spectra.models.stated.position_schemes import (
    NO_SCHEME,
    SEVERAL_SCHEMES,
    UNKNOWN_TYPE,
    FoundScheme,
    asks_rotation,
    find_schemes,
    has_buckets,
    is_switched_off,
    opts_out,
    read_size,
    tell_how_known,
)
from pe_spectra.models.stated.position_tables import (
    KnownTable,
    find_table,
    read_other_tables,
    read_table,
    settle_table,
)
from pe_spectra.models.stated.statement import ALIBI_KEYS, BUCKETS, NEWEST, POSITION_TYPE, Configuration, SchemeName

#: What keys name as one scheme, and a table as another.
_SAME: Mapping[str, str] = MappingProxyType({"t5": "bucketed-bias"})
#: Linear biases, unless the file says no.
_ALIBI = ("bloom", "mpt")
#: No encoding of positions: the order is in a recurrence.
_WITHOUT = ("falcon_mamba", "jamba", "kimi_linear", "mamba", "mamba2", "nemotron_h", "rwkv", "xlstm", "zamba")
#: Parameters from the keys of a file, and from what its class has without them.
_READERS: Mapping[str, Callable[[Keys, str], dict[str, int | float | str]]] = {
    "alibi": lambda keys, model: {"heads": read_size(keys, HEADS, "heads", model)},
    "t5": lambda keys, model: {
        "buckets": keys.find_integer(BUCKETS) or 32,
        "max_distance": keys.find_integer("relative_attention_max_distance") or 128,
        "heads": read_size(keys, HEADS, "heads", model),
    },
    "sinusoidal": lambda keys, model: {"d": read_size(keys, WIDTHS, "d", model)},
}


def choose_scheme(keys: Keys, known: KnownModel) -> SchemeName | None:
    """The scheme that keys or the class of a model ask for; None where neither is known to.

    >>> from pe_spectra.models.stated.known_models import find_known
    >>> [choose_scheme(Keys({}, "config.json"), find_known(name)) for name in ("bloom", "gpt2", "llama", "no-such")]
    ['alibi', 'learned', 'rotary', None]
    """
    model, kind = known.model, keys.find_text(POSITION_TYPE)
    says_rotary = kind in ("rotary", "rope")
    if kind == "alibi" or ((model in _ALIBI or keys.found.keys() & {*ALIBI_KEYS}) and _asks_alibi(keys, model)):
        return "alibi"
    if not known.is_known and has_buckets(model, BUCKETS):
        return "t5"
    is_rotary = known.is_known and (known.only_if is None or not opts_out(keys, *known.only_if))
    own = () if is_rotary or (says_rotary and asks_rotation(keys)) else find_schemes(keys, model)
    # beside a table of words, which goes first, others are said
    if own and (find_table(model) is None or is_switched_off(keys, model, "learned")):
        return own[0].name
    if BUCKETS in keys:
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


def report_unknown(keys: Keys, model: str) -> None:
    """Report a model_type of which nothing is known.

    >>> report_unknown(keys := Keys({}, "config.json"), "no-such-model")
    >>> keys.findings[0].code
    'unknown-type'
    """
    if not (tell_how_known(model) or find_table(model)):
        message = f"the type {shorten(repr(model))} is not known; its keys are read as most classes read them"
        keys.report(UNKNOWN_TYPE, message, model=model)


def report_none(keys: Keys, model: str) -> bool:
    """Report that the classes of a model have no encoding with these keys; give whether that is known of them.

    >>> report_none(Keys({}, "config.json"), "resnet"), report_none(Keys({}, "config.json"), "no-such-model")
    (True, False)
    """
    where, how = keys.where.rstrip("."), tell_how_known(model)
    message = f"no position scheme was found in the classes of {model} with these keys (transformers {NEWEST}, {how})"
    if how:
        keys.report(NO_SCHEME, f"{where}: {message}" if where else message, model=model)
    return bool(how)


def read_ways(
    keys: Keys, known: KnownModel, scheme: SchemeName, own: Sequence[FoundScheme], length: int | None
) -> dict[str, Any]:
    """Return what a configuration has of a scheme without a rotation, by its fields; what stands beside it is reported.

    Parameters
    ----------
    own : what the class was found to have, the audited one first. length : that is stated; None for none.

    >>> read_ways(Keys({}, "config.json"), KnownModel(model="bloom"), "alibi", (), None)["values"]
    {'heads': 8}
    """
    model, found = known.model, find_table(known.model)
    values: Mapping[str, int | float | str] = {}
    read: dict[str, Any] = {}
    if scheme in ("learned", "sinusoidal") and (found or (scheme == "learned" and not own)):
        values, length, lacking = read_table(keys, model)
        read = {"length": length, "length_key": lacking, "resized": (found or KnownTable()).resized}
    elif scheme in _READERS:
        values = _READERS[scheme](keys, model)
    elif own:
        values = own[0].sizes
    if any(one.elsewhere or _is_another(one, scheme) for one in own):
        _note_others(keys, model, scheme, own)
    return read if scheme == "rotary" else read | _find_made(keys, known, scheme, values, own)


def _is_another(found: FoundScheme, scheme: SchemeName) -> bool:
    """Whether what a class was found to have is not the scheme that is audited."""
    return found.name not in (scheme, _SAME.get(scheme))


def _find_made(
    keys: Keys, known: KnownModel, scheme: SchemeName, values: Mapping[str, Any], own: Sequence[FoundScheme]
) -> dict[str, Any]:
    """Return the encoding of the catalogue that a class was measured to have, empty without one, beside the parameters.

    What a class refuses is reported, and with which keys one of sinusoids fails.
    """
    model = known.model
    if known.is_known:
        report_refused(keys, known, is_turned=False)
        # a release that checks blocks when it reads a file finds then that there is no length; else none is looked for
        if load_refusals(keys, known).get("unturned", {}).get("lacking"):
            looking = replace(known, needs=(), refused=known.built_with_length)
            report_needs(keys, looking.take_length() if LENGTHS[0] in keys else looking, is_built=False)
    found = next((one for one in own if one.name == scheme), None)
    if scheme == "sinusoidal":
        table = find_table(model)
        at = table.at if table is not None else found.at if found is not None else ""
        sines = Sinusoids(keys, model, at, values["d"])
        sines.report()
        grows = sines.grows if table is None else table.grows
        return {"values": {**values, **sines.read_rows()}, **_tell(sines), "grows": grows}
    return {"values": values, "formula": {} if found is None else found.formula}


def list_ways(keys: Keys, known: KnownModel, scheme: SchemeName, own: Sequence[FoundScheme]) -> Iterator[Configuration]:
    """Give the ways in which the class of a model has positions beside the one that is audited.

    >>> ways = list_ways(Keys({}, "config.json"), KnownModel(model="whisper"), "learned", ())
    >>> [(one.where, one.scheme) for one in ways]
    [('encoder.embed_positions.weight', 'sinusoidal')]
    """
    for one in own:
        if _is_another(one, scheme):
            yield Configuration(path=keys.path, scheme=one.name, where=one.at, values=one.sizes, formula=one.formula)
    if scheme == "rotary" and known.only_if is not None:
        return  # its tables are what it has where it does not turn
    for table, values in read_other_tables(keys, known.model):
        made = _tell(Sinusoids(keys, known.model, table.at, values["d"])) if table.fixed else {}
        name: SchemeName = "sinusoidal" if table.fixed else "learned"
        yield Configuration(path=keys.path, scheme=name, where=table.at, values=values, **made)


def _note_others(keys: Keys, model: str, scheme: SchemeName, own: Sequence[FoundScheme]) -> None:
    """Name what a class has beside the scheme that is audited, and what others of its architectures have."""
    others = [one for one in own if _is_another(one, scheme)]
    named = ", ".join(
        [f"{one.name} ({one.at})" for one in others] + [f"{one.name} ({one.elsewhere})" for one in own if one.elsewhere]
    )
    message = f"the class of {model} has positions in more than one way; {scheme} is what is audited, beside it: "
    keys.report(SEVERAL_SCHEMES, message + named, schemes=[one.name for one in others])


def _tell(sines: Sinusoids) -> dict[str, Any]:
    return {"formula": sines.formula, "untold": sines.untold}
