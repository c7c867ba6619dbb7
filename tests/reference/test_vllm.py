"""What the rotary modules of vLLM compute, frozen by tests/reference/vllm/generate.py, against its stack."""

from pathlib import Path

import pytest

from pe_spectra.models.stacks import Refusal, list_releases
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import are_same, read_drawn, scales_alike

FOLDER = Path(__file__).parent / "vllm"
STACKS = {stack.version: stack for stack in list_releases() if stack.name == "vllm"}


def load(version):
    return thaw(FOLDER, "vllm", version)


def test_every_release_is_frozen():
    assert {path.name for path in FOLDER.glob("*.gz")} == {f"vllm-{version}.json.gz" for version in STACKS}
    assert all(stack.how == "measured" and stack.date == load(version)["date"] for version, stack in STACKS.items())


@pytest.mark.parametrize("version", STACKS)
def test_every_drawn_configuration_is_read_as_the_release_does(version):
    cases = load(version)["cases"]
    assert len(cases) >= 190
    differing = []
    for number, case in enumerate(cases):
        found = read_drawn(STACKS[version], case["config"])
        if "refused" in case or isinstance(found, Refusal):
            assert ("refused" in case) is isinstance(found, Refusal), (number, found, case)
            assert type(case["config"]["rope_parameters"]["factor"]) is int
        elif not (are_same(found, case, 4e-6) and scales_alike(found, case)):
            differing.append((number, case["config"]["rope_parameters"], found.attention_scaling, case["attention"]))
    assert differing == []


def test_the_releases_differ():
    """What changed between them: dynamic scaling, and the keys of yarn's attention factor."""
    older, newer = (load(version)["cases"] for version in reversed(STACKS))
    changed = [a["config"]["rope_parameters"] for a, b in zip(older, newer, strict=True) if a != b]
    assert {block["rope_type"] for block in changed} == {"dynamic", "yarn"}
    assert all(
        {*block} & {"attention_factor", "mscale", "mscale_all_dim"} for block in changed if block["rope_type"] == "yarn"
    )
