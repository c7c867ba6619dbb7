"""The JSON Schema of every document of the program, and the page of quantities: made from the declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import get_origin, get_type_hints

from pe_spectra.answers.answer import SCHEMA, Answer, Body, Verdict
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.quantities import Result, list_types
from pe_spectra.schema import Schema, describe_result, name_kind, refer_to

#: Modules of this room whose bodies are the documents, in the order of the commands.
_MODULES = (
    "spectra",
    "reconstructions",
    "injectivity",
    "counts",
    "comparisons",
    "portraits",
    "roundings",
    "drawn",
    "differences",
    "table_differences",
    "grades",
    "catalogues",
    "audits",
    "agreements",
    "explanations",
    "lengthenings",
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


def find_answer(kind: type[Result]) -> Callable[..., Answer] | None:
    """Return the function that answers about results of a kind, by the annotation of its first parameter.

    >>> from pe_spectra.spectrum import LowBinCount
    >>> find_answer(LowBinCount).__name__
    'answer_counts'
    """
    for module in _import_modules():
        for name, member in vars(module).items():
            if name.startswith("answer_") and getattr(member, "__module__", "") == module.__name__:
                first = next(iter(get_type_hints(member).values()))
                if kind in list_types(first):
                    return _one_by_one(member) if get_origin(first) is Sequence else member
    return None


def _one_by_one(answer: Callable[..., Answer]) -> Callable[..., Answer]:
    """Let a function of several results take one."""

    @wraps(answer)
    def call(result: Result) -> Answer:
        return answer((result,))

    return call


def _import_modules() -> tuple[ModuleType, ...]:
    return tuple(import_module(f"pe_spectra.answers.{name}") for name in _MODULES)


def build_schema() -> Schema:
    """Return the JSON Schema of the program's documents.

    >>> build_schema()["$id"]
    'pe-spectra/1'
    """
    definitions: dict[str, Schema] = {"encoding": dict(Encoding.json_schema)}
    refer_to(Verdict, definitions)
    for body in list_bodies():
        definitions[name_kind(body)] = _describe_document(body, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": SCHEMA,
        "description": "Every document that the program prints with --json. Numbers are finite; what does not exist is "
        "null, and `notes` says why.",
        "oneOf": [{"$ref": f"#/$defs/{name_kind(body)}"} for body in list_bodies()],
        "$defs": definitions,
    }


def _describe_document(body: type[Body], definitions: dict[str, Schema]) -> Schema:
    """The fields that all documents have around those of one kind."""
    own = describe_result(body, definitions)
    inner, required = own["properties"], own["required"]
    properties = {
        "schema": {"const": SCHEMA, "description": "Name and version of this schema."},
        "kind": {"const": body.kind, "description": "Which of the documents of this schema it is."},
        "version": {
            "type": "string",
            "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+",
            "description": "Version of the program that wrote the document.",
        },
        "verdict": {"$ref": "#/$defs/verdict", "description": "The answer in one sentence."},
        **(inner if isinstance(inner, Mapping) else {}),
        "figure": _FIGURE if body.draws else _NO_FIGURE,
        "notes": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "uniqueItems": True,
            "description": "Known problems of the numbers, and why a value is null.",
        },
    }
    known = [name for name in properties if name not in (inner if isinstance(inner, Mapping) else {})]
    return {**own, "properties": properties, "required": [*known, *(required if isinstance(required, list) else [])]}
