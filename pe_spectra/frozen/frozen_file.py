"""The frozen file: JSON that people can read, sorted by name, with a version that says which programs read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pe_spectra._version import __version__
from pe_spectra.errors import shorten
from pe_spectra.files.json_toml import parse_object
from pe_spectra.files.reading import RefusedError, open_regular
from pe_spectra.limits import MAX_FROZEN_BYTES
from pe_spectra.records import dataclass

#: Name and version of the form of the file.
FORM = "pe-spectra/frozen/1"
#: The keys of the file.
_KEYS = ("form", "version", "accepted", "entries")
#: Longest list that stands on one line.
_LINE = 110


@dataclass(frozen=True, kw_only=True)
class FrozenFile:
    """What a frozen file holds.

    Attributes
    ----------
    entries : what was frozen, by name, as values of JSON. accepted : the codes of findings that may come, with reasons.
    version : of the program that froze it.
    """

    entries: Mapping[str, Any]
    accepted: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    version: str = __version__


def write_frozen(frozen: FrozenFile) -> str:
    """Write a frozen file; names are sorted, so that the order in which things were named does not matter.

    >>> print(write_frozen(FrozenFile(entries={}, version="0.1.0")), end="")
    {
      "form": "pe-spectra/frozen/1",
      "version": "0.1.0",
      "accepted": {},
      "entries": {}
    }
    """
    accepted, entries = (dict(sorted(one.items())) for one in (frozen.accepted, frozen.entries))
    document = dict(zip(_KEYS, (FORM, frozen.version, accepted, entries), strict=True))
    return "".join(_write(document, "")) + "\n"


def _write(value: Any, indent: str) -> Iterator[str]:
    """Write objects a key a line, and lists on one line where they fit it."""
    line = "" if isinstance(value, dict) and value else json.dumps(value, ensure_ascii=False)
    if line and (len(line) <= _LINE or not isinstance(value, list)):
        yield line
        return
    is_object = isinstance(value, dict)
    members = [(f"{json.dumps(key, ensure_ascii=False)}: ", one) for key, one in value.items()] if is_object else []
    members = members or [("", one) for one in value]
    yield "{\n" if is_object else "[\n"
    for place, (key, one) in enumerate(members):
        yield f"{indent}  {key}"
        yield from _write(one, f"{indent}  ")
        yield ",\n" if place + 1 < len(members) else "\n"
    yield f"{indent}}}" if is_object else f"{indent}]"


def read_frozen(path: Path, label: str) -> FrozenFile:
    """Read a frozen file; what an entry holds is looked at where it is not what is there now.

    Parameters
    ----------
    path : as it was given. label : the option that named it, for messages.

    Raises
    ------
    FileError : it cannot be read, is no frozen file, or one of another form.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "ref.json").write_text(write_frozen(FrozenFile(entries={"a": {}})))
    ...     dict(read_frozen(Path(folder) / "ref.json", "--against").entries)
    {'a': {}}
    """
    with open_regular(path, label=label) as file:
        found = parse_object(file.read_at(0, MAX_FROZEN_BYTES + 1), MAX_FROZEN_BYTES)
        form = found.get("form")
        if form != FORM:
            what = "is no frozen file" if form is None else f"is of the form {shorten(str(form))}"
            raise RefusedError(f"{what}; one of the form {FORM}, which freeze writes, is accepted")
        unknown = [key for key in found if key not in _KEYS]
        if unknown:
            raise RefusedError(f"has the key {shorten(unknown[0])}, which is not known; accepted: {', '.join(_KEYS)}")
        version, accepted, entries = found.get("version"), found.get("accepted", {}), found.get("entries")
        if not isinstance(version, str) or not isinstance(entries, dict) or not entries or not _are_texts(accepted):
            raise RefusedError("lacks a version, entries, or reasons of what is accepted; freeze writes them")
    return FrozenFile(entries=entries, accepted=accepted, version=version)


def _are_texts(accepted: Any) -> bool:
    return isinstance(accepted, dict) and all(isinstance(one, str) and one for one in accepted.values())
