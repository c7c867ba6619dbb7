"""The JSON Schema in the package: closed, complete, and strict."""

import json
import re

import jsonschema
import pytest

from pe_spectra.answers.answer import SCHEMA
from pe_spectra.encodings import ENCODINGS
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.compare import list_columns
from tests.answers.lines import draw_nothing, list_objects
from tests.documents import is_valid


def test_the_schema_says_which_it_is(schema):
    assert schema["$id"] == "pe-spectra/1" == SCHEMA
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


#: Which parameters there are is the encoding's own, which numbers stand behind a finding the finding's: a new one
#: needs no new schema.
OPEN = (
    "$.encoding.properties.parameters",
    "$.parameter-row.properties.only_with",
    "$.arm-means.properties.accuracy",
    "$.comparison.properties.undefined",
    "$.finding.properties.data",
    "$.new-configuration.properties.block",
    "$.row-finding.properties.data",
    "$.rotation.properties.scaling_parameters",
    "$.dump.properties.scaling_parameters",
    "$.layer-audit.properties.scaling_parameters",
)


def test_the_schema_leaves_nothing_open_and_describes_everything(schema):
    objects = list(list_objects(schema["$defs"]))
    assert len(objects) > 20
    for path, node in objects:
        own = path in OPEN
        assert (node["additionalProperties"] is False) != own, path
        named = "enum" if "undefined" in path or "accuracy" in path else "pattern"
        assert set(node["propertyNames"]) == {named} if own else True
        assert own or set(node["required"]) <= set(node["properties"]), path
        for name, member in node["properties"].items():
            text = member["description"]
            assert len(text) > 10, f"{path}.{name}"
            assert re.search(r"\.( \[[^\]]+\])?$", text), f"{path}.{name}"  # the unit stands last


@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_the_schema_takes_every_encoding(cls, schema):
    encoding = cls(init="normal") if cls.name == "learned" else cls()
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/encoding", "$defs": schema["$defs"]})
    validator.validate(json.loads(json.dumps(encoding.to_dict(), allow_nan=False)))


def test_the_schema_knows_every_metric(schema):
    metrics = schema["$defs"]["comparison"]["properties"]["metrics"]
    assert list(metrics["properties"]) == metrics["required"] == list(METRICS)
    words, names = schema["$defs"]["comparison-body"]["properties"]["sorted_by"]["anyOf"]
    assert words["enum"] == [*list_columns(), None]
    assert all(re.match(names["pattern"], name) for name in set(list_columns(["36h"])) - set(list_columns()))
    assert not any(re.match(names["pattern"], name) for name in [*list_columns(), "ratio_"])
    undefined = schema["$defs"]["comparison"]["properties"]["undefined"]
    assert undefined["propertyNames"]["enum"] == list(METRICS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("more",), 1),
        (("summary", "more"), 1),
        (("verdict", "level"), "bad"),
        (("weights", 0), "0.5"),
        (("weights", 0), None),
        (("kind",), "faithfulness"),
        (("schema",), "pe-spectra/2"),
        (("encoding", "name"), "Sinusoidal"),
        (("parameters", "boundary"), "mirror"),
        (("summary", "peak_bin"), 1.5),
    ],
)
def test_the_schema_refuses_what_is_wrong(cli, path, value):
    document = json.loads(cli("spectrum --d 8 --json --no-figure").out)
    assert is_valid(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not is_valid(document)


def test_documents_of_other_kinds_are_refused_by_their_kind(schema):
    """So that a document may be held against those of its kind alone."""
    bodies = [schema["$defs"][one["$ref"].removeprefix("#/$defs/")] for one in schema["oneOf"]]
    assert all("kind" in body["required"] and set(body["properties"]["kind"]) >= {"const"} for body in bodies)


#: A line of each kind without optional fields.
DEMANDING = (
    "spectrum --d 4",
    "spectrum --d 4 --bandwidth 1 2",
    "reconstruct --d 4",
    "faithfulness --d 4",
    "count-low-bin --d 4",
    "encodings",
    "stacks",
    "compare dft:d=4 --length 8",
    "inspect dft:d=4 --length 8",
    "inspect --explain seam",
    "precision sinusoidal:d=4 --length 8 --dtype bfloat16",
    "context --target 1024",
    "audit small.json",
    "diff small.json inv_freq.npy",
    "diff small.json --all-stacks",
    "diff table.npy table.npy",
)


@pytest.mark.few(5)
@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("line", DEMANDING)
def test_the_schema_demands_every_field(cli, line):
    document = json.loads(cli(f"{draw_nothing(line)} --json").out)
    for key in document:
        assert not is_valid({k: v for k, v in document.items() if k != key}), key
