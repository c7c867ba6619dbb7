"""Answers of the program read again: JSON documents and CSV."""

import csv
import io
import json
from functools import cache

import jsonschema

from pe_spectra.answers.documents import build_schema


def read_json(done, code=0):
    """The document of a run that ended with this code."""
    assert done.code == code, done.err
    return json.loads(done.out)


def read_csv(text):
    """The rows of an answer by the names of their columns."""
    return list(csv.DictReader(io.StringIO(text)))


@cache
def read_schema():
    """The JSON Schema that the package makes, as the program prints it."""
    return json.loads(json.dumps(build_schema()))


@cache
def _make_validator(kind):
    """What validates the documents of one kind; the bodies of others refuse them by their `kind` alone."""
    schema = read_schema()
    bodies = [one["$ref"] for one in schema["oneOf"]]
    names = {body: schema["$defs"][body.removeprefix("#/$defs/")]["properties"]["kind"]["const"] for body in bodies}
    own = [{"$ref": body} for body, name in names.items() if name == kind]
    return jsonschema.Draft202012Validator({**schema, "oneOf": own or schema["oneOf"]})


def is_valid(document):
    """Say whether a document is one of those that the schema describes."""
    return _make_validator(document.get("kind")).is_valid(document)


def find_fault(document):
    """What is wrong with a document by the schema, in words; None if nothing is."""
    error = jsonschema.exceptions.best_match(_make_validator(document.get("kind")).iter_errors(document))
    return None if error is None else f"{error.json_path}: {error.message[:300]}"
