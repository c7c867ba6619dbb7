"""The findings of audits as annotations, each at the line of the key that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pe_spectra.answers.annotations import UNUSABLE, Annotation, Annotations
from pe_spectra.files.json_keys import Region
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.models.stated.passed_keys import NESTED_CONFIG

#: What in a sentence may be a key: no plain word, for such a word may mean something else.
_KEY = re.compile(r"[A-Za-z]\w*(?:\.\w+)+|[A-Za-z][A-Za-z0-9]*_\w+")


def annotate_audits(
    models: Sequence[ModelAudit],
    kinds: Mapping[str, Kind],
    locate: Callable[[str, bool], tuple[Path | None, Mapping[str, Region]]],
) -> Annotations:
    """Give each finding about models its place: the first key of the file that it names, else one usual for its kind.

    Parameters
    ----------
    models : audits, each with the name of its file. kinds : every kind of finding, by its code.
    locate : from such a name, and whether the file was read, to its path and the regions of its keys, as
        :func:`pe_spectra.model_sources.locate_keys` finds them.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.checks.kinds import KINDS
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> found = annotate_audits([audit], KINDS, lambda file, _: (Path(file), {})).found
    >>> found[0].finding.code, found[0].kind.phrase
    ('base-too-small', 'the base is too small for this length')
    """
    found = [
        Annotation(finding=UNUSABLE.find(audit.error), kind=UNUSABLE, path=locate(audit.file, False)[0], region=None)
        for audit in models
        if audit.error is not None
    ]
    for audit in models:
        path, regions = locate(audit.file, True) if audit.findings else (None, {})
        parts = [str(one.data["part"]) for one in audit.findings if one.code == NESTED_CONFIG.code]
        for finding in audit.findings:
            kind = kinds[finding.code]
            region = choose_region(finding, regions, *parts, usual=kind.keys) if regions else None
            found.append(Annotation(finding=finding, kind=kind, path=path, region=region))
    return Annotations(found=tuple(found))


def choose_region(
    finding: Finding, regions: Mapping[str, Region], part: str = "", *, usual: Sequence[str] = ()
) -> Region:
    """Return the region of the first key that a finding names, that in its part of the file first.

    Parameters
    ----------
    regions : of the keys, as :func:`pe_spectra.files.json_keys.find_key_regions` gives them; without such a key it is
        the first.
    part : the keys that lead to the part of a model that is audited; empty where it is the whole.
    usual : where it stands if it names no key of the file.

    >>> here, there = Region(line=2, column=3, end=9), Region(line=7, column=5, end=11)
    >>> finding = Finding(level="note", code="some-code", message="rope_theta is small", data={"layer_type": "b"})
    >>> choose_region(finding, {"a.rope_theta": here, "b.rope_theta": there}).line
    7
    """
    kind = str(finding.data.get("layer_type"))
    # a part of its own has keys of its own, those of another part are not meant
    own = [path for path in regions if path.startswith(f"{kind}.")] or list(regions)
    for name in (*_list_names(finding), *usual):
        places = [path for path in own if f".{path}".endswith(f".{name}")]
        if places:
            return regions[min(places, key=lambda path: (not path.startswith(part), path != name))]
    return regions.get(kind) or next(iter(regions.values()))


def _list_names(finding: Finding) -> Iterator[str]:
    """What a finding may name: a key among its numbers, then those of its sentence, then the block that it is about."""
    key, block = finding.data.get("key"), finding.data.get("where")
    yield from [key] if isinstance(key, str) else ()
    layers, _, said = finding.message.partition(": ")
    if not layers.isidentifier():  # where it is, the sentence begins with the layers that it is about
        layers, said = "", finding.message
    yield from _KEY.findall(said)
    yield from _KEY.findall(layers)
    yield from [block] if isinstance(block, str) and block else ()
