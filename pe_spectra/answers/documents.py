"""The JSON Schema of every document of the program, and the page of quantities: made from the declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pe_spectra.answers.answer import SCHEMA, Answer, Body, Verdict
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.quantities import Quantity, Result, find_hint, is_result, list_types

Schema = dict[str, Any]

_PLAIN = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
#: Modules of this room whose bodies are the documents, in the order of the commands.
_MODULES = (
    "spectra",
    "reconstructions",
    "injectivity",
    "counts",
    "comparisons",
    "portraits",
    "series_answers",
    "roundings",
    "drawn",
    "differences",
    "against",
    "catalogues",
    "grades",
    "explanations",
    "audits",
    "agreements",
    "scheme_differences",
    "frozen_checks",
    "captures",
    "known_stacks",
    "lengthenings",
    "learning",
    "rechecks",
    "detections",
    "experiments",
    "sweeps",
    "benches",
)

_FIGURE: Schema = {
    "type": ["string", "null"],
    "minLength": 1,
    "description": "Path of the figure that was written, as it was given; null where none was drawn.",
}
_NO_FIGURE: Schema = {
    "type": "null",
    "description": "Always null: this kind of answer draws nothing of its own.",
}


def list_bodies() -> tuple[type[Body], ...]:
    """Return the kinds of documents, in the order of the commands.

    >>> "low-bin-count" in {body.kind for body in list_bodies()}
    True
    """
    found = []
    for module in _import_modules():
        members = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        found += [one for one in members if issubclass(one, Body)]
    return tuple(found)


def answer_result(result: Result) -> Answer | None:
    """Answer about a result by the function whose first parameter takes its kind; None for a part of a result.

    >>> from pe_spectra import Dft, count_low_bin
    >>> answer_result(count_low_bin(Dft(d=8))).kind
    'low-bin-count'
    """
    for module in _import_modules():
        for name, member in vars(module).items():
            if name.startswith("answer_") and getattr(member, "__module__", "") == module.__name__:
                first = next(iter(get_type_hints(member).values()))
                if type(result) in list_types(first):
                    answer: Answer = member((result,) if get_origin(first) is Sequence else result)
                    return answer
    return None


def _import_modules() -> tuple[ModuleType, ...]:
    return tuple(import_module(f"pe_spectra.answers.{name}") for name in _MODULES)


def build_schema() -> Schema:
    """Return the JSON Schema of the program's documents.

    >>> build_schema()["$id"]
    'pe-spectra/1'
    """
    definitions: dict[str, Schema] = {"encoding": dict(Encoding.json_schema)}
    _refer_to(Verdict, definitions)
    for body in list_bodies():
        definitions[_name_kind(body)] = _describe_document(body, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": SCHEMA,
        "description": "Every document that the program prints with --json. Numbers are finite; what does not exist is "
        "null, and `notes` says why.",
        "oneOf": [{"$ref": f"#/$defs/{_name_kind(body)}"} for body in list_bodies()],
        "$defs": definitions,
    }


def _describe_document(body: type[Body], definitions: dict[str, Schema]) -> Schema:
    """The fields that all documents have around those of one kind."""
    own = describe_result(body, definitions)
    around = {
        "schema": {"const": SCHEMA, "description": "Name and version of this schema."},
        "kind": {"const": body.kind, "description": "Which of the documents of this schema it is."},
        "version": {
            "type": "string",
            "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+",
            "description": "Version of the program that wrote the document.",
        },
        "verdict": {"$ref": "#/$defs/verdict", "description": "The answer in one sentence."},
        "parameters": _describe_object("Nothing can be asked."),
        "figure": _FIGURE if body.draws else _NO_FIGURE,
        "notes": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "uniqueItems": True,
            "description": "Known problems of the numbers, and why a value is null.",
        },
    }
    required = [*(name for name in around if name not in own["properties"]), *own["required"]]
    return {**own, "properties": {**around, **own["properties"]}, "required": required}


# --------------------------------------------------------------------- what a declaration is in JSON Schema


def describe_result(kind: type[Result], definitions: dict[str, Schema], fields: tuple[str, ...] = ()) -> Schema:
    """Return the schema of one kind of result; those of its members go into `definitions`, by their names.

    Where fields are named, no others are in it.

    >>> from pe_spectra.findings import Finding
    >>> describe_result(Finding, {})["required"]
    ['level', 'code', 'message', 'data']
    """
    found = {False: _describe_object(_describe_kind(kind)), True: _describe_object("What was asked.")}
    for name, declared in kind.quantities().items():
        if declared.key is None or (fields and name not in fields):
            continue
        hint = find_hint(kind, name)
        into = found[declared.asked]
        if declared.inline:
            (member,) = filter(is_result, list_types(hint))
            inner = describe_result(member, definitions, declared.keys)
            into["properties"] |= inner["properties"]
            into["required"] += inner["required"]
            continue
        key = declared.key or name
        can_be_null = declared.defined is not None or (declared.only is None and _can_be_null(hint))
        described = _describe_value(hint, declared, definitions, can_be_null)
        into["properties"][key] = {**described, "description": _describe(declared)}
        into["required"] += [key] if declared.only is None else []
    if found[True]["properties"]:
        found[False]["properties"]["parameters"] = found[True]
        found[False]["required"].append("parameters")
    return {**found[False], **kind.schema_rules}


def _describe_object(text: str) -> Schema:
    """The schema of an object that has no members yet."""
    return {"description": text, "type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _describe_value(hint: Any, declared: Quantity, definitions: dict[str, Schema], can_be_null: bool) -> Schema:
    """The schema of one value, by its annotation and its declaration."""
    if declared.schema is not None:
        return dict(declared.schema)
    described = [_describe_option(one, declared, definitions) for one in _split_union(hint) if one is not NoneType]
    if not can_be_null:
        return described[0] if len(described) == 1 else {"anyOf": described}
    if len(described) == 1 and isinstance(described[0].get("type"), str):
        return {**described[0], "type": [described[0]["type"], "null"]}
    if len(described) == 1 and "enum" in described[0]:
        return {"enum": [*declared.words, *([] if None in declared.words else [None])]}
    return {"anyOf": [*described, {"type": "null"}]}


def _describe_option(hint: Any, declared: Quantity, definitions: dict[str, Schema]) -> Schema:
    """The schema of one kind of value, null apart."""
    origin = get_origin(hint)
    if is_result(hint):
        return _refer_to(hint, definitions)
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
    if get_origin(inner) is tuple and get_args(inner)[-1] is ...:
        one = get_args(inner)[0]
        items: Schema = {"type": "array", "items": _describe_value(one, declared, definitions, _can_be_null(one))}
    else:
        items = _describe_value(inner, declared, definitions, _can_be_null(inner))
    if is_fixed:
        return {"type": "array", "items": items, "minItems": len(members), "maxItems": len(members)}
    return {"type": "array", "items": items, **_count_members(declared)}


def _count_members(declared: Quantity) -> Schema:
    counts = {"minItems": declared.least or None, "maxItems": declared.most}
    found: Schema = {key: value for key, value in counts.items() if value is not None}
    return {**found, "uniqueItems": True} if declared.unique else found


def _refer_to(kind: type[Result], definitions: dict[str, Schema]) -> Schema:
    """A reference to the schema of a kind of result, which is put among the definitions."""
    name = _name_kind(kind)
    if name not in definitions:
        definitions[name] = {}  # so that a kind that holds itself ends
        definitions[name] = describe_result(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _name_kind(kind: type) -> str:
    """The name of a kind of result among the definitions."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind.__name__).lower()


def _describe_kind(kind: type) -> str:
    """The first sentence of the docstring; the name where docstrings are stripped."""
    return (kind.__doc__ or kind.__name__).strip().partition("\n")[0]


def _describe(declared: Quantity) -> str:
    return f"{declared.text} [{declared.unit}]" if declared.unit else declared.text


def _can_be_null(hint: Any) -> bool:
    return NoneType in _split_union(hint)


def _split_union(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
