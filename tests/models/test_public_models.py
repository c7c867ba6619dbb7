"""Configurations of public models, each audited as it is expected to be; and broken ones, each found out.

The files hold hyper-parameters as published, in the spelling of each release; EXPECTED.json beside them
says what they mean.
"""

import json

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from tests.places import MODELS

EXPECTED = json.loads((MODELS / "EXPECTED.json").read_text(encoding="utf-8"))
BROKEN = json.loads((MODELS / "broken" / "EXPECTED.json").read_text(encoding="utf-8"))
ROTARY = [name for name, expected in EXPECTED.items() if expected["scheme"] == "rotary"]
OTHERS = [name for name in EXPECTED if name not in ROTARY]
#: Pairs that never complete a period within the trained length, counted by hand in the literature's way.
NEVER_TURN = {
    "llama-2-7b.json": (18, 64),
    "llama-3-8b.json": (29, 64),
    "qwen2.5-7b-instruct.json": (24, 64),
    "gemma-7b.json": (28, 128),
    "llama-3.1-8b.json": (25, 64),
}


def audit(name, **lengths):
    return audit_configuration(read_model(str(MODELS / name)), **lengths)


def codes(found, *levels):
    return {finding.code: finding.level for finding in found.findings if finding.level in levels}


def test_every_file_is_expected():
    assert {path.name for path in MODELS.glob("*.json")} - {"EXPECTED.json"} == set(EXPECTED)
    assert {path.name for path in (MODELS / "broken").glob("*.json")} - {"EXPECTED.json"} == set(BROKEN)
    assert len(EXPECTED) >= 30


@pytest.mark.parametrize("name", ROTARY)
def test_rotary_model(name):
    found = audit(name)
    assert found.configuration.scheme == "rotary"
    expected = EXPECTED[name]["layers"]
    own = [layer for layer in found.layers if not layer.configuration.part]
    assert {layer.name for layer in own} == set(expected)
    for layer in own:
        assert_layer(layer, expected[layer.name])
    if "never_turn" in EXPECTED[name]:
        assert found.layers[0].never_turn == EXPECTED[name]["never_turn"]


def assert_layer(layer, expected):
    assert layer.scheme == expected["scheme"]
    if layer.scheme == "none":
        assert layer.rotation is None
        assert not layer.frequencies.size
        return
    rotation = layer.rotation
    for key in ("head_dim", "rotary_dim", "base", "scaling", "layout"):
        assert getattr(rotation, key) == expected[key], key
    assert layer.trained_length == expected["trained"]
    assert layer.reach == expected.get("window")
    assert layer.original_length == expected.get("original", expected["trained"])
    assert rotation.frequencies.shape == (expected["rotary_dim"] // 2,)
    assert np.all(np.isfinite(rotation.frequencies))
    assert np.all(np.diff(rotation.frequencies) <= 0)
    assert layer.encoding is not None


@pytest.mark.parametrize("name", OTHERS)
def test_model_that_does_not_turn(name):
    found, expected = audit(name), EXPECTED[name]
    assert found.configuration.scheme == expected["scheme"]
    for key in ("heads", "buckets", "max_distance", "d"):
        if key in expected:
            assert found.configuration.values[key] == expected[key]
    if expected["scheme"] == "learned":
        assert found.configuration.values["rows"] == expected["rows"]
    layer, *beside = found.layers
    assert [one.name for one in beside] == list(expected.get("parts", ()))
    assert layer.rotation is None
    assert not layer.frequencies.size


@pytest.mark.parametrize("name", EXPECTED)
def test_parts_beside_what_reads_text(name):
    """The files here have none of them, so they are what the class builds without."""
    found = audit(name)
    assert {one.part: one.scheme for one in found.parts} == EXPECTED[name].get("parts", {})
    assert codes(found, "note").keys() >= ({"part-defaulted"} if found.parts else set())


@pytest.mark.parametrize("name", EXPECTED)
def test_no_wolf_is_cried(name):
    """What was released as it was meant has no finding above a note, but for those that are listed."""
    assert set(codes(audit(name), "warning", "error")) == set(EXPECTED[name]["findings"])


@pytest.mark.parametrize("name", NEVER_TURN)
def test_pairs_that_never_turn(name):
    (layer,) = audit(name).layers
    assert (layer.never_turn, len(layer.frequencies)) == NEVER_TURN[name]
    assert layer.never_turn == np.count_nonzero(layer.trained_length * layer.frequencies < 2 * np.pi)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_configuration(name):
    expected = BROKEN[name]
    path = MODELS / "broken" / name
    if "refused" in expected:
        with pytest.raises(FileError) as caught:
            read_model(str(path))
        assert str(caught.value) == f"{path}: {expected['refused']}"
        return
    found = audit_configuration(read_model(str(path)))
    assert codes(found, "warning", "error") == expected["findings"]
    assert set(expected["notes"]) <= set(codes(found, "note"))
    for finding in found.findings:
        assert "\n" not in finding.message
        assert len(finding.message) > 30


@pytest.mark.parametrize("name", [name for name, expected in BROKEN.items() if "findings" in expected])
def test_findings_stand_with_the_gravest_first(name):
    levels = [finding.level for finding in audit(f"broken/{name}").findings]
    assert levels == sorted(levels, key=("error", "warning", "note").index)
