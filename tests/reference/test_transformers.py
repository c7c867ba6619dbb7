"""What we read from configurations against what releases of transformers read, frozen in tests/reference/transformers.

generate.py of that folder loaded each configuration once with the real library, built its model and
kept the rotary buffers. They are float32, which leaves some 2e-6 of a frequency.
"""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.errors import FileError
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.configuration import read_configuration
from tests.in_one import in_one
from tests.places import REFERENCE

FILE = REFERENCE / "transformers" / "configurations.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
#: The stack that stands for each release.
RELEASES = {"5.24.0": "transformers-5", "4.57.6": "transformers-4"}
#: What we read otherwise on purpose.
EXCEPTIONS = {
    ("gpt-oss, rope_scaling null", "4.57.6"): "4.57 takes null for no scaling; null is not set here, as in 5",
    ("Gemma 3, type", "4.57.6"): "4.57 refuses type in this class; that 5 does not read it is an error already",
    ("OLMo 3, type", "4.57.6"): "as for Gemma 3",
    ("Phi-3, original in the block only", "4.57.6"): "4.57 refuses any key but type and the two lists",
}
RESULTS = [
    pytest.param(case, result, release, id=f"{case['name']} {result.get('layer_type', 'refused')} {release}")
    for case in CASES
    for result in case["results"]
    for release in result["releases"]
    if release in RELEASES and (case["name"], release) not in EXCEPTIONS
]


def turn(case, layer_type, release):
    """The rotation of one layer type; None where the stack or the reader refuses the file."""
    try:
        stated = read_configuration(case["config"], "config.json")
    except FileError:
        return None
    layers = {layer.name: layer for layer in stated.layers if layer.turns}
    layer = layers.get(layer_type) or next(iter(layers.values()))
    found = STACKS[RELEASES[release]].read(stated, layer, case.get("seq_len"))
    return None if isinstance(found, Refusal) else found


@in_one("case, result, release", RESULTS)
def test_frequencies_are_those_of_the_release(case, result, release):
    found = turn(case, result.get("layer_type"), release)
    if "error" in result:
        assert found is None
        return
    expected = np.array(result["inv_freq"])
    assert found is not None
    assert_allclose(found.frequencies, expected, rtol=2e-6, atol=0)
    assert found.attention_scaling == pytest.approx(result["attention_scaling"], rel=2e-6)


def test_cases_cover_what_is_read():
    names = " ".join(case["name"] for case in CASES)
    for word in ("linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "Gemma 3", "DeepSeek V4", "share"):
        assert word.lower() in names.lower(), word
    assert len(RESULTS) > 100
