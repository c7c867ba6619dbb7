"""Factors on queries by their position, against those of the real models (tests/reference/transformers)."""

import json
import math

import pytest

from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.query_scales import QueryScale
from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.documents import read_json
from tests.places import REFERENCE

CASES = json.loads((REFERENCE / "transformers" / f"query-scales-{NEWEST}.json").read_text(encoding="utf-8"))
#: Keys that a file needs besides.
SIZES = {"hidden_size": 2048, "num_attention_heads": 16, "head_dim": 128, "max_position_embeddings": 131072}
SCOUT = {"model_type": "llama4_text", "rope_theta": 5e5, **SIZES}
MINISTRAL = next(case["keys"] for case in CASES if case["keys"]["model_type"] == "ministral3") | SIZES


def read(keys):
    return read_configuration({**SIZES, **keys}, "config.json")


def find_reports(keys, level="note"):
    return [one for one in audit_configuration(read(keys)).findings if (one.code, one.level) == ("query-scale", level)]


def find_scale(keys):
    """The factor that is reported, with its numbers; None where there is none."""
    found = [one.data for one in read(keys).findings if (one.code, one.level) == ("query-scale", "note")]
    return QueryScale(*(found[0][name] for name in QueryScale._fields)) if found else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["keys"]["model_type"])
def test_factors_are_those_of_the_real_models(case):
    scale = find_scale(case["keys"])
    for position, factor in case["factors"].items():
        assert scale.compute(int(position)) / scale.compute(0) == pytest.approx(factor, abs=2e-6), position


def test_every_class_with_a_factor_has_frozen_ones():
    assert {case["keys"]["model_type"] for case in CASES} == {*load_table(NEWEST)["query_scales"]}
    assert all(len(case["factors"]) > 8 and max(case["factors"].values()) > 1.1 for case in CASES)


@pytest.mark.parametrize("form", ["steps", "beyond", "power"])
@pytest.mark.parametrize("offset", [0, 1])
def test_it_begins_where_the_factor_leaves_1(form, offset):
    scale = QueryScale(form, strength=0.3, length=100, offset=offset)
    first = next(position for position in range(500) if scale.compute(position) != 1)
    assert scale.begins == first
    assert scale._replace(strength=0.1).begins == first


def test_forms_against_their_formulas():
    at = 777
    assert QueryScale("steps", 0.2, 100, 1).compute(at) == 1 + 0.2 * math.log(1 + 7)
    assert QueryScale("beyond", 0.2, 100).compute(at) == pytest.approx(1 + 0.2 * math.log(7.77), rel=1e-15)
    assert QueryScale("power", 0.2, 100).compute(at) == pytest.approx(8.77**0.2, rel=1e-15)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (SCOUT, "1 + 0.1 ln(1 + floor((s + 1)/8192)) in layers without a rotation"),
        (SCOUT | {"floor_scale": 4096, "attn_scale": 0.2}, "1 + 0.2 ln(1 + floor((s + 1)/4096)) in layers"),
        (SCOUT | {"attn_temperature_tuning": False}, "none"),
        (SCOUT | {"attn_scale": 0.0}, "none"),
        (MINISTRAL, "1 + 0.1 ln(1 + floor(s/16384))"),
        (MINISTRAL | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, "none"),
        ({"model_type": "inkling_text"}, "none"),
        ({"model_type": "inkling_text", "log_scaling_n_floor": 4096}, "1 + 0.1 ln(max((s + 1)/4096, 1)) in hybrid"),
        ({"model_type": "llama", "rope_theta": 1e4}, "none"),
    ],
)
def test_what_keys_ask_for(keys, text):
    assert read(keys).query_scale.startswith(text)
    found = find_reports(keys)
    assert len(found) == (text != "none")
    if found:
        factor = find_scale(keys).compute(131071)
        assert found[0].data["factor"] == factor
        assert f"{factor:.4g} at 131,071" in found[0].message


def test_a_class_that_was_not_run_has_no_answer():
    absent = {*load_table(NEWEST)["scales_unknown"]}
    assert absent
    assert read({"model_type": "a-model-of-its-own", "rope_theta": 1e4}).query_scale is None
    name = min(absent & {*load_table(NEWEST)["classes"]})
    assert read({"model_type": name, "rope_theta": 1e4}).query_scale is None


@pytest.mark.parametrize("model", ["ministral3", "mistral4"])
def test_a_block_without_what_the_factor_needs_fails_at_the_first_pass(model):
    keys = {"model_type": model, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}
    (found,) = find_reports(keys, "error")
    assert found.data == {"key": "rope_parameters.llama_4_scaling_beta"}
    assert found.message.endswith("the first pass fails")
    keys["rope_parameters"]["llama_4_scaling_beta"] = 0.1
    assert find_reports(keys, "error") == []
    # without a block the class has its own, which is whole
    assert find_reports({"model_type": model}, "error") == []


@pytest.mark.parametrize("value", [None, 4, 1.0, "true", [True]])
def test_a_switch_of_another_type_is_refused(value):
    keys = SCOUT | {"attn_temperature_tuning": value}
    codes = {one.code: one for one in audit_configuration(read(keys)).findings if one.level == "error"}
    assert codes["value-refused"].data["key"] == "attn_temperature_tuning"
    sound = audit_configuration(read(SCOUT | {"attn_temperature_tuning": False})).findings
    assert [one for one in sound if one.level == "error"] == []


def test_an_older_release_is_not_said_to_refuse_what_the_newest_does():
    found = read_configuration(SCOUT | {"attn_temperature_tuning": 4}, "config.json", OLDER).findings
    assert "value-refused" not in [one.code for one in found]


def test_a_context_that_ends_before_it_begins():
    (found,) = find_reports(SCOUT | {"max_position_embeddings": 8191})
    assert found.message.endswith("1 before position 8,191, which 8,191 positions do not reach")
    assert found.data["factor"] == 1
    reached = audit_configuration(read(SCOUT | {"max_position_embeddings": 8192})).findings
    assert any("1.069 at 8,191" in one.message for one in reached)


def test_diff_compares_it(cli, tmp_path):
    off = SCOUT | {"attn_temperature_tuning": False}
    for name, keys in {"scout.json": SCOUT, "off.json": off, "mini.json": MINISTRAL}.items():
        (tmp_path / name).write_text(json.dumps(keys))
    (found,) = read_json(cli("diff scout.json off.json --json"))["differences"]
    assert (found["what"], found["b"]) == ("query_scale", "none")
    assert found["a"] == "1 + 0.1 ln(1 + floor((s + 1)/8192)) in layers without a rotation"
    assert read_json(cli("diff scout.json scout.json --json"))["agree"] is True
    # of another implementation it was not measured
    document = read_json(cli("diff mini.json --stack vllm --json"))
    assert "query_scale" in [one["what"] for one in document["unknown"]]
    assert document["agree"] is None
