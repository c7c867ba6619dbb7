"""What we read from drawn configurations against what transformers computed of them, by the tables of its classes.

draw.py of tests/reference/transformers drew each configuration by rule, for every rotary class of a release, built the
real modules and kept their frequencies (float32), or the error that they raise. What is read otherwise is counted.
"""

import gzip
import json

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.configuration import read_configuration
from tests.places import REFERENCE

FOLDER = REFERENCE / "transformers"
CASES = json.loads(gzip.decompress((FOLDER / "drawn-5.24.0.json.gz").read_bytes()))["cases"]
#: The share of the configurations that must come out as the real modules have it.
LEAST = 0.995


def turn(keys, length):
    """Frequencies and attention factor by layer type, and whether an error is reported; None where it is refused."""
    try:
        stated = read_configuration(keys, "config.json")
    except FileError:
        return None, True
    found = {}
    for layer in stated.layers if stated.scheme == "rotary" else ():
        if layer.turns:
            rotation = STACKS["transformers-5"].read(stated, layer, length or 2)
            if isinstance(rotation, Refusal):
                return None, True
            found[layer.name] = rotation
    return found, any(finding.level == "error" for finding in stated.findings)


def pick(values):
    """Those of the frequencies that draw.py keeps."""
    last = len(values) - 1
    return values[sorted({0, min(1, last), last // 4, last // 2, 3 * last // 4, last})]


def is_same(rotation, expected):
    count, values, factor = expected
    return (
        len(rotation.frequencies) == count
        and np.allclose(pick(rotation.frequencies), values, rtol=3e-6, atol=0)
        and rotation.attention_scaling == pytest.approx(factor, rel=3e-6)
    )


def judge(keys, length, result):
    """Whether the answer is that of the real modules."""
    found, is_error = turn(keys, length)
    if "error" in result:
        return is_error
    if found is None or bool(found) != bool(result):
        return False
    first = next(iter(found.values()), None)
    return all(is_same(found.get(name, first), expected) for name, expected in result.items())
