"""How three libraries turn a query, frozen by tests/reference/libraries/generate.py, against their stacks."""

from pathlib import Path

import pytest

from pe_spectra.models.stacks import STACKS, Refusal
from tests.models.stack_configurations import LIBRARIES
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import are_same, read_drawn

FOLDER = Path(__file__).parent / "libraries"


def load(name):
    return thaw(FOLDER, name, STACKS[name].version)


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_drawn_configuration_is_read_as_its_arguments_are(name):
    frozen, stack = load(name), STACKS[name]
    assert (stack.how, stack.date, stack.version) == ("measured", frozen["date"], frozen["version"])
    assert len(frozen["cases"]) >= 190
    differing = []
    for case in frozen["cases"]:
        config = case["config"]
        found = read_drawn(stack, config)
        if "refused" in case or isinstance(found, Refusal):
            same = "refused" in case and isinstance(found, Refusal)
        else:
            distance = 1 if found.layout == "interleaved" else found.rotary_dim // 2
            same = are_same(found, case, 4e-6) and [distance] == case["distance"] and found.attention_scaling == 1
        if not same:
            differing.append((config["model_type"], config["rope_parameters"], found))
    assert differing == []


def test_torchtune_has_a_builder_for_each_layout():
    """Of the families that were measured, two turn halves: the same file, another pairing."""
    layouts = {
        case["config"]["model_type"]: case["distance"] == [1]
        for case in load("torchtune")["cases"]
        if "distance" in case
    }
    assert {model for model, is_pairs in layouts.items() if not is_pairs} == {"phi3", "qwen2"}
    assert len(layouts) == 6
