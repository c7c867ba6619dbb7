"""What the rotary layers of keras-hub compute, frozen by tests/reference/keras_hub/generate.py, against its stack."""

from pathlib import Path

import pytest

from pe_spectra.models.stacks import Refusal, list_releases
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import are_same, read_drawn, scales_alike

FOLDER = Path(__file__).parent / "keras_hub"
STACKS = {stack.version: stack for stack in list_releases() if stack.name == "keras-hub"}
NOTE = "converter from transformers"


def load(version):
    return thaw(FOLDER, "keras-hub", version)


def read(version, case):
    return read_drawn(STACKS[version], case["config"])


def test_every_release_is_frozen():
    assert {path.name for path in FOLDER.glob("*.gz")} == {f"keras-hub-{version}.json.gz" for version in STACKS}
    assert all(stack.how == "measured" and stack.date == load(version)["date"] for version, stack in STACKS.items())


@pytest.mark.parametrize("version", STACKS)
def test_every_drawn_configuration_is_read_as_the_layers_do(version):
    cases = load(version)["cases"]
    assert len(cases) >= 190
    differing = []
    for number, case in enumerate(cases):
        found = read(version, case)
        assert not isinstance(found, Refusal), found.reason
        if not (are_same(found, case, 1e-5) and scales_alike(found, case) and found.layout == "half"):
            differing.append((number, case["config"], found.attention_scaling, case["attention"]))
    assert differing == []


@pytest.mark.parametrize("version", STACKS)
def test_a_note_says_where_the_converter_builds_something_else(version):
    """Of each model that it knows, exactly where its model turns otherwise than the layers by the keys of the file."""
    cases = [case for case in load(version)["cases"] if case["config"]["model_type"] != "phi3"]
    assert {case["config"]["model_type"] for case in cases} >= {"llama", "mistral", "qwen2", "gpt_oss"}
    wrong = []
    for case in cases:
        is_noted = any(NOTE in note for note in read(version, case).notes)
        is_refused = any("refuses" in note for note in read(version, case).notes)
        converted = case["converted"]
        by_chance = converted == "the same" and case["config"]["model_type"] == "gpt_oss"  # yarn with its own numbers
        if (not by_chance and is_noted != (converted != "the same")) or is_refused != ("refused" in converted):
            wrong.append((case["config"], converted))
    assert wrong == []


def test_the_releases_differ():
    """What changed between them: yarn alone, by the ends of its ramp."""
    newer, older = (load(version)["cases"] for version in STACKS)
    changed = [a["config"] for a, b in zip(older, newer, strict=True) if a["frequencies"] != b["frequencies"]]
    blocks = [config.get("rope_parameters") or config["rope_scaling"] for config in changed]
    assert {block["rope_type"] for block in blocks} == {"yarn"}
    assert sum("truncate" not in block for block in blocks) >= 20
    assert any("truncate" in block for block in blocks)  # where the ramp ends beyond the last pair
