"""JSON Schema of declared results: what :mod:`pe_spectra.quantities` says, in another language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pe_spectra.quantities import Quantity, Result, find_hint, list_types

Schema = dict[str, object]
_PLAIN = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}


def describe_result(kind: type[Result], definitions: dict[str, Schema], fields: tuple[str, ...] = ()) -> Schema:
    """Return the schema of one kind of result; those of its members go into `definitions`, by their names.

    Where fields are named, no others are in it.

    >>> from pe_spectra.findings import Finding
    >>> describe_result(Finding, {})["required"]
    ['level', 'code', 'message', 'data']
    """
    properties: Schema = {}
    required: list[str] = []
    for name, declared in kind.quantities().items():
        if declared.key is None or (fields and name not in fields):
            continue
        hint = find_hint(kind, name)
        if declared.only is not None:
            hint = _drop_none(hint)
        if declared.defined is not None:
            hint = hint | None
        if declared.inline:
            (member,) = (one for one in list_types(hint) if isinstance(one, type) and issubclass(one, Result))
            inner = describe_result(member, definitions, declared.keys)
            properties |= _take_object(inner["properties"])
            required += _take_list(inner["required"])
            continue
        key = declared.key or name
        properties[key] = {**describe_value(hint, declared, definitions), "description": _describe(declared)}
        required += [key] if declared.only is None else []
    return {
        "description": describe_kind(kind),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **kind.schema_rules,
    }


def describe_value(hint: Any, declared: Quantity, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of one value, by its annotation and its declaration.

    >>> describe_value(int | None, Quantity(text="Its length.", minimum=1), {})
    {'type': ['integer', 'null'], 'minimum': 1}
    """
    if declared.schema is not None:
        return dict(declared.schema)
    options = [one for one in _split_union(hint) if one is not NoneType]
    described = [_describe_option(one, declared, definitions) for one in options]
    if len(options) == len(_split_union(hint)):
        return described[0] if len(described) == 1 else {"anyOf": described}
    if len(described) == 1 and isinstance(described[0].get("type"), str):
        return {**described[0], "type": [described[0]["type"], "null"]}
    if len(described) == 1 and "enum" in described[0]:
        return {"enum": [*declared.words, *([] if None in declared.words else [None])]}
    return {"anyOf": [*described, {"type": "null"}]}


def _describe_option(hint: Any, declared: Quantity, definitions: dict[str, Schema]) -> Schema:
    """The schema of one kind of value, null apart."""
    origin = get_origin(hint)
    if isinstance(hint, type) and issubclass(hint, Result):
        return refer_to(hint, definitions)
    if hasattr(hint, "json_schema"):
        return {"$ref": f"#/$defs/{hint.schema_name}"}
    if getattr(origin, "__name__", "") == "ndarray":
        return _describe_array(hint, declared)
    if origin is tuple or origin in (list, range) or hint is range:
        return _describe_list(hint, declared, definitions)
    if declared.words:
        return {"enum": list(declared.words)}
    name = "str" if origin is Literal else getattr(hint, "__name__", "")
    return {"type": _PLAIN[name], **_bound(declared, name)}


def _bound(declared: Quantity, name: str) -> Schema:
    """The bounds of a plain value: of a number its range, of a text that it is not empty, or its pattern."""
    if name == "str":
        return {"minLength": 1, **({"pattern": declared.pattern} if declared.pattern else {})}
    if name == "bool":
        return {}
    bounds = {"minimum": declared.minimum, "exclusiveMinimum": declared.above, "maximum": declared.maximum}
    return {key: value for key, value in bounds.items() if value is not None}


def _describe_array(hint: Any, declared: Quantity) -> Schema:
    """The schema of an array of NumPy: lists within lists of numbers, as many as it has axes."""
    is_whole = "int" in str(hint)
    plain = "integer" if is_whole else "number"
    found: Schema = {
        "type": [plain, "null"] if declared.gaps else plain,
        **_bound(declared, "int" if is_whole else "float"),
    }
    for _ in range(declared.axes):
        found = {"type": "array", "items": found, **_count_members(declared)}
    return found


def _describe_list(hint: Any, declared: Quantity, definitions: dict[str, Schema]) -> Schema:
    """The schema of a tuple: of one length where its annotation says so, else of any."""
    members = get_args(hint) or (int, ...)
    is_fixed = get_origin(hint) is tuple and members[-1] is not ...
    inner = members[0]
    items = describe_value(inner, declared, definitions)
    if get_origin(inner) is tuple and get_args(inner)[-1] is ...:
        items = {"type": "array", "items": describe_value(get_args(inner)[0], declared, definitions)}
    if is_fixed:
        return {"type": "array", "items": items, "minItems": len(members), "maxItems": len(members)}
    return {"type": "array", "items": items, **_count_members(declared)}


def _count_members(declared: Quantity) -> Schema:
    counts = {"minItems": declared.least or None, "maxItems": declared.most}
    found: Schema = {key: value for key, value in counts.items() if value is not None}
    return {**found, "uniqueItems": True} if declared.unique else found


def refer_to(kind: type[Result], definitions: dict[str, Schema]) -> Schema:
    """Return a reference to the schema of a kind of result, which is put among the definitions.

    >>> from pe_spectra.findings import Finding
    >>> refer_to(Finding, {})
    {'$ref': '#/$defs/finding'}
    """
    name = name_kind(kind)
    if name not in definitions:
        definitions[name] = {}  # so that a kind that holds itself ends
        definitions[name] = describe_result(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


def name_kind(kind: type) -> str:
    """Return the name of a kind of result among the definitions.

    >>> from pe_spectra.findings import Finding
    >>> name_kind(Finding)
    'finding'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind.__name__).lower()


def describe_kind(kind: type) -> str:
    """Return the first sentence of a kind's docstring; its name where docstrings are stripped.

    >>> from pe_spectra.findings import Finding
    >>> describe_kind(Finding)
    'One thing that a reader should know.'
    """
    return (kind.__doc__ or kind.__name__).strip().partition("\n")[0]


def _describe(declared: Quantity) -> str:
    return f"{declared.text} [{declared.unit}]" if declared.unit else declared.text


def _drop_none(hint: Any) -> Any:
    """The annotation of a key that is left out where there is no value."""
    return reduce(or_, [one for one in _split_union(hint) if one is not NoneType])


def _split_union(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _take_object(part: object) -> Schema:
    return dict(part) if isinstance(part, Mapping) else {}


def _take_list(part: object) -> list[str]:
    return list(part) if isinstance(part, list) else []
