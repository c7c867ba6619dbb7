"""The text that names an encoding (a SPEC), read into a frozen description. Pure: no disk, no NumPy.

Read in this order: `name` or `name:key=value,..` is an encoding of the catalogue; else `file` or
`file::tensor` names a table in a file, and keys may follow a question mark; anything else is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.numbers import IntegerRange
from pe_spectra.records import dataclass

_NAME = r"[a-z][a-z0-9-]*"
_KEY = r"[a-z][a-z0-9_]*"
_QUOTED = r"'(?:[^']|'')*'"
#: Bare or quoted parts joined by +, up to a comma or the end.
_PART = r"(?:'(?:[^']|'')*'|[^,='+]*)"
_VALUE = rf"(?P<value>{_PART}(?:\+{_PART})*)(?P<more>,|)"
_ROW = IntegerRange(minimum=0, maximum=MAX_HELD_ENTRIES)
FILE_EXTENSIONS = (".npy", ".npz", ".csv", ".tsv", ".safetensors", ".json", ".gguf", ".pt", ".pth", ".bin", ".pkl")


@dataclass(frozen=True, kw_only=True)
class NamedSpec:
    """An encoding of the catalogue and the parameters given, as text; `raw` has their quotes as typed."""

    text: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    raw: tuple[tuple[str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class FileSpec:
    """A file, the tensor in it if one was named, and the keys after its question mark."""

    text: str
    path: str
    tensor: str | None
    parameters: tuple[tuple[str, str], ...] = ()


def parse_spec(text: str, label: str = "--encoding") -> NamedSpec | FileSpec:
    """Read one SPEC.

    Raises
    ------
    InputError : neither a name with parameters nor a file; a key twice, without value, or a quote left open.

    >>> parse_spec("sinusoidal:d=64,rho=1e4").parameters
    (('d', '64'), ('rho', '1e4'))
    """
    name, colon, rest = text.partition(":")
    if re.fullmatch(_NAME, name) and (not colon or _begins_with_key(rest)):
        raw = _parse_parameters(rest, f"{label} {name}") if colon else ()
        return NamedSpec(text=text, name=name, parameters=_unquote(raw), raw=raw)
    place, keys = _split_keys(text)
    path, separator, tensor = place.rpartition("::") if "::" in place else (place, "", "")
    if separator and not (path and tensor):
        raise InputError(f"{label} names no file or no tensor", text, "FILE::TENSOR is accepted")
    if path.endswith(FILE_EXTENSIONS) or "/" in path or path.startswith((".", "~")):
        parameters = _unquote(_parse_parameters(keys, f"{label} {place}")) if keys else ()
        return FileSpec(text=text, path=path, tensor=tensor if separator else None, parameters=parameters)
    hint = ""
    if place.lower().endswith(FILE_EXTENSIONS):
        hint = "; FILE::TENSOR has :: behind a file's ending" if separator else f"; ./{place} names a file"
    raise InputError(f"{label} is not known", text or "''", f"NAME, NAME:key=value,.. or a file is accepted{hint}")


def split_list(raw: str) -> list[str]:
    """Split a value as it was typed at the + between its members, and take the quotes off each.

    >>> split_list("'rope:d=64,base=5e5'+sinusoidal")
    ['rope:d=64,base=5e5', 'sinusoidal']
    """
    return [_take_quotes_off(part) for part in re.findall(_PART, raw) if part]


def parse_rows(text: str, name: str) -> dict[str, int]:
    """Read a range of rows, `A:B`, end excluded; either end may be open.

    Raises
    ------
    InputError : no such range.

    >>> parse_rows("2:", "rows")
    {'first': 2}
    """
    start, colon, stop = text.partition(":")
    if not colon or not (start or stop):
        raise InputError(f"{name} is no range of rows", text, "A:B, A: or :B is accepted, end excluded")
    bounds: dict[str, int] = {"first": _ROW.parse(start, name)} if start else {}
    return {**bounds, "last": _ROW.parse(stop, name)} if stop else bounds


def _split_keys(text: str) -> tuple[str, str]:
    place, mark, keys = text.rpartition("?")
    return (place, keys) if mark and _begins_with_key(keys) else (text, "")


def _begins_with_key(rest: str) -> bool:
    key, equals, _ = rest.partition("=")
    return bool(equals and re.fullmatch(_KEY, key))


def _parse_parameters(rest: str, label: str) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    more = True
    while more:
        key, equals, rest = rest.partition("=")
        if not equals or not re.fullmatch(_KEY, key):
            raise InputError(f"{label}: not a key with a value", key or "''", "key=value,key=value is accepted")
        match = re.match(_VALUE, rest, re.DOTALL)
        value, rest, more = (match["value"], rest[match.end() :], match["more"] == ",") if match else ("", rest, False)
        if rest and not more:
            raise _explain_value(f"{label}: ", key, value + rest)
        if key in found:
            raise InputError(f"{label}: key {key} is given twice", value, "each key once")
        if not _take_quotes_off(value):
            raise InputError(f"{label}: key {key} has no value", "''", f"{key}=VALUE is accepted")
        found[key] = value
    return tuple(found.items())


def _explain_value(start: str, key: str, typed: str) -> InputError:
    """Say what is wrong with a value behind which neither a comma nor the end comes."""
    bare = re.sub(_QUOTED, "", typed)
    if "'" in bare or "=" not in bare:
        what = "a quote is left open" if "'" in typed else f"value of {key} is not readable"
        return InputError(start + what, typed, "values without , = ' or in quotes, '...'")
    what = f"value of {key} is not readable"
    if "+" in typed:
        accepted = "of values joined by +, each with a , or = needs quotes of its own, '...'+'...'"
    else:
        accepted = "values without , = ' or in quotes, '...'"
    # a shell takes single quotes off what is not in double ones
    return InputError(start + what, typed, f"{accepted}; in a shell, the whole SPEC in double quotes")


def _unquote(raw: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((key, _take_quotes_off(value)) for key, value in raw)


def _take_quotes_off(value: str) -> str:
    """Read a value: one quoted text is what it quotes, a list joined by + stays as it was written."""
    if value.startswith("'") and re.fullmatch(_QUOTED, value):
        return value[1:-1].replace("''", "'")
    return value


def find_stated(specs: Iterable[str], option: str, label: str = "--encoding") -> str | None:
    """Find what the first SPEC that gives a parameter gives it; None where none does.

    >>> find_stated(["dft", "calendar:step=30min"], "step"), find_stated(["calendar"], "step")
    ('30min', None)
    """
    parsed = (parse_spec(text, label) for text in specs)
    given = (dict(spec.parameters).get(option) for spec in parsed if isinstance(spec, NamedSpec))
    return next((text for text in given if text), None)
