"""The schema that the declarations make is the one that the program prints, and kind by kind the one kept by hand."""

import gzip
import json

import jsonschema
import pytest

from pe_spectra.answers.documents import build_schema
from pe_spectra.models.stated.statement import MEASURED_SCHEMES, SIZES
from pe_spectra.vocabulary import DTYPES
from tests.models.stack_configurations import AXIAL
from tests.pages.schema import write_schema
from tests.program.test_frozen_answers import ADDED
from tests.reference.answers.freeze import FROZEN

#: As it was kept by hand in release 0.1.0.
WRITTEN = json.loads(gzip.decompress((FROZEN.parent / "schema.json.gz").read_bytes()))
MADE = build_schema()
#: Kinds of documents that came since then.
SINCE = {
    "learning-body",
    "recheck-body",
    "experiment-body",
    "sweep-body",
    "detection-body",
    "against-body",
    "scheme-diff-body",
    "stacks-body",
    "bench-body",
    "freeze-body",
    "check-body",
    "capture-body",
    "series-body",
}
NAMES = [name for one in MADE["oneOf"] if (name := one["$ref"].rpartition("/")[2]) not in SINCE]


def resolve(node, definitions):
    """A schema without references, descriptions and other ways to say the same."""
    if isinstance(node, list):
        return [resolve(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return resolve(definitions[node["$ref"].rpartition("/")[2]], definitions)
    found = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            found[key] = {name: resolve(member, definitions) for name, member in value.items()}
        elif key != "description" or not isinstance(value, str):
            found[key] = resolve(value, definitions)
    return simplify(found)


#: Words of closed lists that came since then; keys are told in `ADDED` of the frozen answers.
NEW = {
    "narrow-frequencies",
    "distinct-by-rounding",
    "grid_height",
    "grid_width",
    "other_schemes",  # of diff: what differs beside the part that is audited, and what is wrong with one side alone
    "errors",
    *MEASURED_SCHEMES,
    *SIZES,
    "window_sides",  # of layers that see what comes after a query
    "plan",  # of context with a configuration
    "reader",  # of audit, where one is asked for
    "in_time",  # of spectra and portraits, where the time from one position to the next is known
    "period_seconds",
    *AXIAL,  # formats of files
    *(name for name in DTYPES if name.endswith("-saturating")),
    *ADDED,
}
#: Where more is a value than was: what was one still is.
WIDENED = {"$.properties.sorted_by"}  # --sort takes every column, those of periods too
#: What no longer holds of answers to options that came since.
LIFTED = {
    "$.properties.models.minItems",  # audit --models-only may pass over every file
    # below 0 where a factor below 0 turns a pair back
    "$.properties.models.items.properties.layer_types.items.properties.frequencies.items.properties.frequency.minimum",
}


def simplify(node):
    """One way to say that a value may be null, in place of three; and no words that change nothing."""
    options = node.get("anyOf")
    if options and {"type": "null"} in options:
        others = [one for one in options if one != {"type": "null"}]
        node = {**{key: value for key, value in node.items() if key != "anyOf"}, "nullable": True}
        node |= others[0] if len(others) == 1 else {"anyOf": others}
    if isinstance(node.get("type"), list):
        kinds = sorted(one for one in node["type"] if one != "null")
        nullable = {"nullable": True} if "null" in node["type"] else {}
        node = {**node, "type": kinds[0] if len(kinds) == 1 else kinds, **nullable}
    if None in node.get("enum", ()):
        node = {**node, "enum": [one for one in node["enum"] if one is not None], "nullable": True}
    if "pattern" in node:
        node.pop("minLength", None)
    if "required" in node and isinstance(node["required"], list):
        node["required"] = sorted(node["required"])
    return node


def list_differences(written, made, path="$"):
    """Where the schemas differ, but for keys and words that came since."""
    if path in WIDENED:
        validator = jsonschema.Draft202012Validator(made)
        yield from (f"{path}: no longer {word!r}" for word in written["enum"] if not validator.is_valid(word))
    elif isinstance(written, dict) and isinstance(made, dict):
        for key in sorted({*written, *made} - (NEW - {*written})):
            if f"{path}.{key}" in LIFTED:
                continue
            if key not in written or key not in made:
                yield f"{path}.{key}: {'only written' if key in written else 'only made'}"
            else:
                yield from list_differences(written[key], made[key], f"{path}.{key}")
    elif isinstance(written, list) and all(isinstance(one, dict) for one in written) and len(written) == len(made):
        for place, (one, other) in enumerate(zip(written, made, strict=True)):
            yield from list_differences(one, other, f"{path}[{place}]")
    elif isinstance(written, list) and isinstance(made, list):
        old = [one for one in made if one in written or not (isinstance(one, str) and one in NEW)]
        if written != old:
            yield f"{path}: {written!r} is {made!r}"
    elif written != made:
        yield f"{path}: {written!r} is {made!r}"


@pytest.mark.parametrize("name", NAMES)
def test_a_kind_is_made_as_it_was_written(name):
    made = MADE["$defs"][name]
    kind = made["properties"]["kind"]["const"]  # of one kind there may be two: spectrum, spectra
    written = WRITTEN["$defs"].get(name.removesuffix("-body"), WRITTEN["$defs"][kind])
    written, made = resolve(written, WRITTEN["$defs"]), resolve(made, MADE["$defs"])
    assert list(list_differences(written, made)) == []


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(MADE)


def test_the_program_prints_what_is_declared(cli):
    """From a file of the package, which `python -m tests.pages.schema` writes anew."""
    assert cli("schema").out == write_schema()
