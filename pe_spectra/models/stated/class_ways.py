"""The ways in which the class of a model has positions: what the audited one computes, and those beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pe_spectra.models.stated.class_sinusoids import Sinusoids
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import KnownModel
from pe_spectra.models.stated.loading import load_refusals, report_refused
from pe_spectra.models.stated.needs import report_needs, take_with_length
from pe_spectra.models.stated.position_schemes import SEVERAL_SCHEMES, FoundScheme
from pe_spectra.models.stated.position_tables import find_table, read_other_tables
from pe_spectra.models.stated.statement import Configuration, SchemeName

#: What keys name as one scheme, and a table as another.
_SAME: Mapping[str, str] = MappingProxyType({"t5": "bucketed-bias"})


def is_another(found: FoundScheme, scheme: SchemeName) -> bool:
    """Whether what a class was found to have is not the scheme that is audited.

    >>> from pe_spectra.models.stated.position_schemes import find_schemes
    >>> found = find_schemes(Keys({}, "config.json"), "wavlm")
    >>> [(one.name, is_another(one, "bucketed-bias")) for one in found]
    [('bucketed-bias', False), ('convolutional', True)]
    """
    return found.name not in (scheme, _SAME.get(scheme))


def find_made(
    keys: Keys, known: KnownModel, scheme: SchemeName, values: Mapping[str, Any], own: Sequence[FoundScheme]
) -> dict[str, Any]:
    """Return the encoding of the catalogue that a class was measured to have, empty without one, beside the parameters.

    What a class refuses is reported, and with which keys one of sinusoids fails.

    >>> find_made(Keys({}, "config.json"), KnownModel(model="bloom"), "alibi", {"heads": 8}, ())
    {'values': {'heads': 8}, 'formula': {}}
    """
    model = known.model
    if known.is_known:
        report_refused(keys, known, is_turned=False)
        # a release that checks blocks when it reads a file finds then that there is no length; else none is looked for
        if load_refusals(keys, known).get("unturned", {}).get("lacking"):
            looking = replace(known, needs=(), refused=known.built_with_length)
            report_needs(keys, take_with_length(keys, looking), is_built=False)
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
        if is_another(one, scheme):
            yield Configuration(path=keys.path, scheme=one.name, where=one.at, values=one.sizes, formula=one.formula)
    if scheme == "rotary" and known.only_if is not None:
        return  # its tables are what it has where it does not turn
    for table, values in read_other_tables(keys, known.model):
        made = _tell(Sinusoids(keys, known.model, table.at, values["d"])) if table.fixed else {}
        name: SchemeName = "sinusoidal" if table.fixed else "learned"
        yield Configuration(path=keys.path, scheme=name, where=table.at, values=values, **made)


def note_others(keys: Keys, model: str, scheme: SchemeName, own: Sequence[FoundScheme]) -> None:
    """Name what a class has beside the scheme that is audited, and what others of its architectures have.

    >>> from pe_spectra.models.stated.position_schemes import find_schemes
    >>> keys = Keys({}, "config.json")
    >>> note_others(keys, "wavlm", "bucketed-bias", find_schemes(keys, "wavlm"))
    >>> keys.findings[0].data["schemes"]
    ['convolutional']
    """
    others = [one for one in own if is_another(one, scheme)]
    named = ", ".join(
        [f"{one.name} ({one.at})" for one in others] + [f"{one.name} ({one.elsewhere})" for one in own if one.elsewhere]
    )
    message = f"the class of {model} has positions in more than one way; {scheme} is what is audited, beside it: "
    keys.report(SEVERAL_SCHEMES, message + named, schemes=[one.name for one in others])


def _tell(sines: Sinusoids) -> dict[str, Any]:
    return {"formula": sines.formula, "untold": sines.untold}
