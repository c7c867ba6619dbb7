"""Answers of the program read again: JSON documents and CSV."""

import csv
import io
import json


def read_json(done, code=0):
    """The document of a run that ended with this code."""
    assert done.code == code, done.err
    return json.loads(done.out)


def read_csv(text):
    """The rows of an answer by the names of their columns."""
    return list(csv.DictReader(io.StringIO(text)))
