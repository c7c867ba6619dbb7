"""Findings at the lines of their keys."""

import json
from pathlib import Path

import pytest

from pe_spectra.answers.annotations import UNUSABLE
from pe_spectra.answers.audit_annotations import annotate_audits, choose_region
from pe_spectra.files.json_keys import find_key_regions
from pe_spectra.findings import Finding
from pe_spectra.model_sources import locate_keys, read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.models.model_audit import ModelAudit
from tests.places import MODELS

#: File below tests/models/broken -> finding and the key at whose line it stands.
PLACES = {
    "factor-mismatch": ("factor-mismatch", "rope_scaling.factor"),
    "misspelt-key-on-top": ("unknown-key", "rope_thetha"),
    "unknown-key-in-scaling": ("unknown-key", "rope_scaling.betafast"),
    "longrope-list-too-short": ("list-length", "rope_scaling.long_factor"),
    "llama3-original-missing": ("original-length-missing", "rope_scaling"),
    "dynamic-without-factor": ("key-missing", "rope_scaling"),
    "both-generations-contradict": ("keys-contradict", "rope_theta"),
    "head-dim-odd": ("refused", "head_dim"),
    "base-missing-131072": ("base-defaulted", ""),
}


def annotate(*files):
    return annotate_audits([audit_configuration(read_model(str(file))) for file in files], KINDS, locate_keys)


def say(message, layers="all"):
    return Finding(level="warning", code="base-too-small", message=message, data={"layer_type": layers})


@pytest.mark.parametrize("name", PLACES)
def test_a_finding_stands_at_its_key(name):
    path = MODELS / "broken" / f"{name}.json"
    code, key = PLACES[name]
    (found,) = [one for one in annotate(path).found if one.finding.code == code]
    assert found.kind is KINDS[code]
    assert found.path == path
    assert found.region == find_key_regions(path.read_text(encoding="utf-8"))[key]


@pytest.mark.parametrize(
    ("config", "code", "key"),
    [
        ({"model_type": "starcoder2", "rope_theta": 1e4}, "base-below-bound", "rope_theta"),
        ({"rope_parameters": {"rope_theta": 1e4}}, "base-below-bound", "rope_parameters.rope_theta"),
        ({"torch_dtype": "bfloat16"}, "precision", "torch_dtype"),
    ],
)
def test_a_sentence_that_names_no_key_stands_at_the_usual_one(tmp_path, config, code, key):
    path = tmp_path / "config.json"
    sizes = {"hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 8192}
    path.write_text(json.dumps({"model_type": "llama", **sizes, **config}, indent=1), encoding="utf-8")
    (found,) = [one for one in annotate(path).found if one.finding.code == code]
    assert found.region == find_key_regions(path.read_text(encoding="utf-8"))[key]


def test_a_finding_about_a_part_stands_in_that_part():
    regions = find_key_regions('{"vision_config": {\n"rope_theta": 1},\n"rope_theta": 2}')
    places = {"vision_config": 2, "all": 3}
    for part, line in places.items():
        data = {"layer_type": part} if part != "all" else {}
        finding = Finding(level="note", code="some", message="rope_theta is odd", data=data)
        assert choose_region(finding, regions).line == line


@pytest.mark.parametrize(
    ("message", "data", "line"),
    [
        ("a factor and a theta", {}, 1),  # plain words are no keys
        ("x_y is not there, but rope_theta is", {}, 3),
        ("rope_theta", {"key": "a b"}, 4),
        ("nothing is named", {"where": "scaling"}, 2),
        ("rope_theta", {"where": "scaling", "key": 7}, 3),
        ("scaling.factor, rope_theta", {"where": ""}, 2),
        ("theta_rope, rope_thet", {}, 1),
    ],
)
def test_the_first_key_that_is_named(message, data, line):
    regions = find_key_regions('{\n"scaling": {"factor": 1},\n"rope_theta": 1,\n"a b": 1, "theta": 2, "y": 0}')
    assert choose_region(Finding(level="note", code="some", message=message, data=data), regions).line == line


def test_files_that_could_not_be_used_come_first_with_the_reason():
    good = audit_configuration(read_model(str(MODELS / "broken" / "head-dim-odd.json")))
    found = annotate_audits([good, ModelAudit(file="no/a.json", error="is empty")], KINDS, locate_keys).found
    assert len(found) == 1 + len(good.findings)
    first = found[0]
    assert (first.kind, first.path, first.region) == (UNUSABLE, Path("no/a.json"), None)
    assert (first.finding.level, first.finding.message) == ("error", "is empty")


def test_keys_of_the_part_that_is_audited_go_before_those_of_another_and_of_the_whole():
    text = """{
  "model_type": "llava",
  "rope_theta": 10000.0,
  "vision_config": {"model_type": "pixtral", "rope_theta": 7.0},
  "text_config": {
    "model_type": "llama",
    "rope_theta": 0.001
  }
}"""
    regions = find_key_regions(text)
    finding = say("rope_theta is out of range (0.001)")
    assert choose_region(finding, regions, "text_config").line == 7
    vision = say("vision_config: none gives it; state max_position_embeddings", "vision_config")
    assert choose_region(vision, regions, "text_config").line == 4


def test_the_layers_that_a_sentence_is_about_are_no_key_where_it_names_another():
    regions = find_key_regions("""{
  "rope_parameters": {
    "full_attention": {
      "factor": 0.5
    }
  }
}""")
    message = "full_attention: rope_parameters.full_attention.factor is 0.5"
    assert choose_region(say(message, "full_attention"), regions).line == 4
    assert choose_region(say("full_attention: the base is small", "full_attention"), regions).line == 3
