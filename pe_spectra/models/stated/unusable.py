"""Values of a config.json that their key cannot have: a length of 0, a base below 0, true for a factor.

transformers loads many such files. What does not depend on such a value is read without it; layers that do have what
they state with it, too, for implementations that compute with any number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pe_spectra.errors import FileError, UnusableError
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import BASES, LISTS, LOCAL_BASES, NUMBERS
from pe_spectra.models.stated.loading import NOT_BUILT, VALUE_REFUSED, find_at
from pe_spectra.models.stated.statement import TRANSFORMERS, Configuration, LayerStatement, Written

UNUSABLE_VALUE = Kind(
    code="unusable-value",
    levels=("error",),
    phrase="a value that its key cannot have",
    reasoning="transformers loads files with values that mean nothing: a length of -8, no layers, true for a factor, a "
    "base below 1. Where the rotation does not depend on such a value the file is read without it; where its rotary "
    "modules compute frequencies with it, these are given; where there are none, or infinite ones, layers have no "
    "rotation.",
    formula="a value where another is accepted; the file is read with two numbers in its place, and what comes out "
    "alike does not depend on it; or numbers beyond all that is published: a base below 1, a share above 1 or below "
    "1/64, a factor beyond 0.001 .. 10**6, others of a scaling beyond 10**-6 .. 10**6",
    references=(TRANSFORMERS,),
)
#: What is read in place of such a value, a small number and a large one: where answers are alike it does not matter.
_INSTEAD = (8, 96)
#: Files have few such keys; of more the first alone is told.
_MOST = 8
#: What JSON has for values; what else Python writes is none of them.
_VALUES = (int, float, str, list, dict)
_Path = tuple[str, ...]


def leave_out(
    error: UnusableError, config: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Configuration]
) -> Configuration:
    """Return what a file states without the values that cannot be used; layers that depend on one say so.

    Parameters
    ----------
    error : of the first of them. config : the object of the file. read : raises where there is another.

    Raises
    ------
    UnusableError : the answer as a whole depends on a value, or a layer on one that is no number.

    >>> def read(keys):
    ...     if keys.get("max_position_embeddings") == 0:
    ...         raise UnusableError("a.json", "it cannot be used (0)", "max_position_embeddings")
    ...     return Configuration(path="a.json", scheme="rotary", length=keys.get("max_position_embeddings"))
    >>> config = {"max_position_embeddings": 0}
    >>> try:
    ...     read(config)
    ... except UnusableError as error:
    ...     print(leave_out(error, config, read).findings[0].message)
    it cannot be used (0); no rotation depends on it, and the file is read without it
    """
    left, errors, found = config, {_find(config, error): error}, None
    while found is None:
        path = [*errors][-1]
        value = find_at(config, *path)
        if len(errors) > _MOST or not isinstance(value, _VALUES) or value in (math.inf, -math.inf):
            raise error
        left = _put(left, path)
        try:
            found = read(left)
        except UnusableError as another:
            path = _find(config, another)
            if path in errors:  # it is another value, which the file has not in that place
                raise error from None
            errors[path] = another
        except FileError:
            raise error from None
    for path, one in errors.items():
        value = find_at(config, *path)
        try:
            mine, theirs = (read(_put(left, path, _replace(path, value, other))) for other in _INSTEAD)
        except FileError:
            raise error from None
        if any(_list_numbers(mine) != _list_numbers(one) for one in (theirs, found)):
            raise error
        kept = (said for said in found.findings if said in mine.findings or said.data.get("key") != one.place)
        # what is said of a key that is not set, is not said of one that is
        found = _mark(replace(found, findings=tuple(kept)), one, value, mine, theirs)
    if any(said.code in (VALUE_REFUSED.code, NOT_BUILT.code) for said in found.findings):
        raise error  # with such a number a class may not come to what it refuses
    if not any(layer.unusable for _, layer in _list_layers(found)):
        return found
    written = _read_written(config, [*errors], read)
    # nothing follows of what is no number
    is_lost = any(not _is_number(find_at(config, *path)) for path in errors)
    if not written and is_lost:
        raise error
    return _change_layers(found, lambda key, one: replace(one, written=written.get(key)) if one.unusable else one)


def _read_written(
    config: Mapping[str, Any], paths: list[_Path], read: Callable[[Mapping[str, Any]], Configuration]
) -> dict[tuple[str, str], LayerStatement]:
    """What is read of the layers with such values as they are written; nothing where they cannot be."""
    for path in paths:
        config = _put(config, path, _replace(path, find_at(config, *path)))
    try:
        return dict(_list_layers(read(config)))
    except (FileError, ArithmeticError, TypeError, ValueError):  # a width, or what is no number
        return {}


def _replace(path: _Path, value: object, other: int | None = None) -> object:
    """Another number in the place of a value, without one itself as it is written; a list where the key has one."""
    is_list = isinstance(value, list) and len(value) > 1 and path[-1] not in NUMBERS
    if path[-1] in LISTS or is_list:
        listed = value if isinstance(value, list) and value else [None]
        return [_write(one) if other is None else float(other) for one in listed]
    return _write(value) if other is None else other


def _is_number(value: object) -> bool:
    return all(isinstance(one, int | float) for one in (value if isinstance(value, list) else [value]))


def _write(value: object) -> Written:
    try:
        return Written(value if isinstance(value, int | float) else math.nan)
    except OverflowError:  # an integer of more than 308 digits, which is no number of a file
        return Written(math.inf)


def _mark(
    found: Configuration, error: UnusableError, value: object, one: Configuration, other: Configuration
) -> Configuration:
    """Mark the layers of every part that depend on a value, by what was read with two others in its place."""
    changed, seen = _list_changed(one, other), dict(_list_layers(other))
    slid = {key for key, layer in _list_layers(one) if key in seen and layer.window != seen[key].window}
    found = _change_layers(found, lambda key, one: replace(one, window=None, sides=None) if key in slid else one)
    if any(layer.turns and key in changed for key, layer in _list_layers(found)):
        reason = error.reason + _tell_ladder(error.place.rpartition(".")[2], value)
        found = _change_layers(
            found, lambda key, one: replace(one, unusable=one.unusable or reason) if key in changed else one
        )
    else:
        message = f"{error.reason}; no rotation depends on it, and the file is read without it"
        found = replace(found, findings=(*found.findings, UNUSABLE_VALUE.find(message, key=error.place)))
    return found if one.length == other.length else replace(found, length=None, length_key="")


def _list_changed(one: Configuration, other: Configuration) -> set[tuple[str, str]]:
    """The layers, each with its part, that are turned otherwise in one reading than in another."""
    mine, theirs = (
        {key: replace(layer, places=(), window=None, sides=None) for key, layer in _list_layers(whole)}
        for whole in (one, other)
    )
    return {key for key in mine if mine[key] != theirs.get(key)}


def _list_numbers(whole: Configuration) -> list[tuple[Mapping[str, Any], ...]]:
    """What every part states that no layers have."""
    return [(part.values, part.formula) for part in (whole, *whole.parts)]


def _list_layers(whole: Configuration) -> list[tuple[tuple[str, str], LayerStatement]]:
    """The types of layers of every part, by part and name."""
    return [((part.where, layer.name), layer) for part in (whole, *whole.parts) for layer in part.layers]


def _change_layers(
    found: Configuration, change: Callable[[tuple[str, str], LayerStatement], LayerStatement]
) -> Configuration:
    """Change the types of layers of every part, each by part and name."""

    def list_changed(part: Configuration) -> tuple[LayerStatement, ...]:
        return tuple(change((part.where, one.name), one) for one in part.layers)

    parts = tuple(replace(part, layers=list_changed(part)) for part in found.parts)
    return replace(found, layers=list_changed(found), parts=parts)


def _tell_ladder(key: str, value: object) -> str:
    """What frequencies a ladder of such a base would have."""
    if key not in (*BASES, *LOCAL_BASES) or isinstance(value, list) or not isinstance(value, int | float):
        return ""
    named = "infinite" if value == 0 else "1" if value == 1 else "no real number" if value < 0 else ""
    return f": every frequency after the first would be {named}" if named else ""


def _find(config: Mapping[str, Any], error: UnusableError) -> _Path:
    """The keys that lead to a value in a file, where those of a part may stand on top of it."""
    path = tuple(error.place.split("."))
    while path and find_at(config, *path) is None:
        path = path[1:]
    if not path:
        raise error
    return path


def _put(found: Mapping[str, Any], path: _Path, *value: object) -> Mapping[str, Any]:
    """The same with another value behind keys, or without one."""
    left = {key: one for key, one in found.items() if key != path[0]}
    if len(path) > 1:
        return {**left, path[0]: _put(found[path[0]], path[1:], *value)}
    return {**left, path[0]: value[0]} if value else left
