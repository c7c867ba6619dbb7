"""Records as values of JSON and back, by their annotations: a field that is added tomorrow is written without a change.

Arrays are lists with a pair for each number, hexadecimal and decimal: the first is exact wherever it is read, the
second is for people. Both are the same number, and reading refuses a pair that is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from types import MappingProxyType, NoneType
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.quantities import Quantity, Result, find_hint, is_result, list_types

_KINDS: Mapping[type, tuple[type, ...]] = {float: (float, int), int: (int,), str: (str,), bool: (bool,)}
_NAMES = {float: "a number", int: "an integer", str: "a text", bool: "true or false"}
_EXAMPLE = '["0x1.8p-1", 0.75]'


def encode(value: Any) -> Any:
    """Turn a value into what JSON has.

    >>> encode({"w": np.array([0.75]), "rows": (3, None)})
    {'w': [['0x1.8000000000000p-1', 0.75]], 'rows': [3, None]}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return [[one.hex(), one] for one in value.tolist()] if value.ndim == 1 else encode(value.tolist())
    if isinstance(value, Result):
        return encode_fields(value, list(type(value).quantities()))
    if isinstance(value, Mapping):
        return {str(key): encode(one) for key, one in value.items()}
    if hasattr(value, "_asdict"):
        return encode(value._asdict())
    return [encode(one) for one in value]


def encode_fields(record: object, names: Sequence[str]) -> dict[str, Any]:
    """Encode the fields of a record that are named, by their names.

    >>> from pe_spectra.models.rotation import Rotation
    >>> encode_fields(Rotation(layout="half"), ["layout", "offset"])
    {'layout': 'half', 'offset': None}
    """
    return {name: encode(getattr(record, name)) for name in names}


def decode(hint: Any, value: Any, where: str) -> Any:
    """Read a value by the annotation that it was written by.

    Parameters
    ----------
    where : its place in the file, for messages.

    Raises
    ------
    InputError : a value of another kind, an array whose two numbers differ, or a key that is not known.

    >>> decode(tuple[int, ...] | None, [0, 1], "axes")
    (0, 1)
    >>> decode(int, "x", "offset")
    Traceback (most recent call last):
    ...
    pe_spectra.errors.InputError: offset is no such value (x); an integer is accepted
    """
    options = get_args(hint) if get_origin(hint) not in (tuple, Mapping) and NoneType in get_args(hint) else (hint,)
    if value is None and NoneType in options:
        return None
    (hint,) = [one for one in options if one is not NoneType] or [NoneType]
    origin = get_origin(hint)
    if _is_array(hint):
        return _decode_array(value, where)
    if is_result(hint):
        return decode_record(hint, value, where)
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        found = _decode_members(get_type_hints(hint), _take(Mapping, value, where), where)
        _refuse_lacking([name for name in hint._fields if name not in found], where)
        return hint(**found)
    if origin is tuple:
        members = _take(list, value, where)
        inner = get_args(hint)
        return tuple(decode(inner[0] if inner else Any, one, f"{where}[{i}]") for i, one in enumerate(members))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = get_args(hint)[1]
        return MappingProxyType({k: decode(inner, v, f"{where}.{k}") for k, v in _take(Mapping, value, where).items()})
    return _decode_plain(hint, value, where)


def decode_record(kind: type[Any], value: Any, where: str, names: Sequence[str] = ()) -> Any:
    """Read the fields of a record; those that are missing have their defaults.

    Parameters
    ----------
    names : the fields that may be there; of a result those that are declared.

    >>> from pe_spectra.models.rotation import Rotation
    >>> decode_record(Rotation, {"layout": "half"}, "all").layout
    'half'
    """
    found = decode_fields(kind, value, where, names)
    needed = (one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING)
    _refuse_lacking([name for name in needed if name not in found], where)
    return kind(**found)


def _refuse_lacking(names: Sequence[str], where: str) -> None:
    if names:
        raise InputError(f"{where} lacks a key", names[0], f"a file with {', '.join(names)} is accepted")


def decode_fields(kind: type[Any], value: Any, where: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """Read the fields of a record, by their names; see :func:`decode_record`.

    >>> from pe_spectra.models.rotation import Rotation
    >>> decode_fields(Rotation, {"layout": "half"}, "all")
    {'layout': 'half'}
    """
    known = names or list(kind.quantities())
    hints = {name: find_hint(kind, name) for name in known}
    found = _decode_members(hints, _take(Mapping, value, where), where)
    for name, declared in kind.quantities().items():
        if found.get(name) is not None:
            _check_declared(declared, found[name], f"{where}.{name}")
    return found


def _check_declared(declared: Quantity, value: Any, where: str) -> None:
    """Refuse a word that is not in the closed list, or a number out of the range, that is declared."""
    if declared.words and value not in declared.words:
        raise InputError(f"{where} is no such word", str(value), f"of {', '.join(filter(None, declared.words))}")
    least, above = declared.minimum, declared.above
    for one in value if isinstance(value, tuple) else (value,):
        is_number = isinstance(one, int | float)
        if is_number and ((least is not None and one < least) or (above is not None and one <= above)):
            accepted = f"{'above' if least is None else 'from'} {above if least is None else least:g} on is accepted"
            raise InputError(f"{where} is out of range", str(one), accepted)


def _decode_members(hints: Mapping[str, Any], value: Mapping[str, Any], where: str) -> dict[str, Any]:
    for name in value:
        if name not in hints:
            known = "this version knows " + ", ".join(hints)
            raise InputError(f"{where} has a key that is not known", name, known)
    return {name: decode(hints[name], one, f"{where}.{name}") for name, one in value.items()}


def _decode_array(value: Any, where: str) -> F64:
    pairs = _take(list, value, where)
    found = np.empty(len(pairs))
    for place, pair in enumerate(pairs):
        try:
            exact, shown = pair
            number = float.fromhex(exact)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{where}[{place}] is no number", str(pair), f"{_EXAMPLE} is accepted") from error
        if not isinstance(shown, float | int) or shown != number:
            raise InputError(f"{where}[{place}] has two numbers that differ", str(pair), f"{number!r} is the first")
        found[place] = number
    found.flags.writeable = False
    return found


def _decode_plain(hint: Any, value: Any, where: str) -> Any:
    """Read a number, a word or a list of them; of an annotation that says no more, as it stands."""
    kinds = _KINDS.get(hint, ())
    if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and hint is not bool)):
        raise InputError(f"{where} is no such value", str(value), f"{_NAMES[hint]} is accepted")
    if hint is float:
        return float(value)
    return tuple(_decode_plain(None, one, where) for one in value) if isinstance(value, list) else value


def _take(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(
            f"{where} is no such value", str(value), f"{'a list' if kind is list else 'an object'} is accepted"
        )
    return value


def _is_array(hint: Any) -> bool:
    return any(getattr(one, "__name__", "") == "ndarray" for one in list_types(hint))


def list_fields(kind: type[Any]) -> list[str]:
    """List the fields of a record, those of the classes that it is made from first.

    >>> from pe_spectra.models.dumps.dump import Dump
    >>> "rows" in list_fields(Dump)
    True
    """
    return [one.name for one in fields(cast("Any", kind))]
