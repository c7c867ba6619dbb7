"""What the rotary modules of vLLM compute, frozen by tests/reference/vllm/generate.py, against its stack."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.models.stacks import RELEASES, Refusal
from pe_spectra.models.stated.configuration import read_configuration

FOLDER = Path(__file__).parent / "vllm"
STACKS = {stack.version: stack for stack in RELEASES if stack.name == "vllm"}


def load(version):
    return json.loads(gzip.decompress((FOLDER / f"vllm-{version}.json.gz").read_bytes()))


def test_every_release_is_frozen():
    assert {path.name for path in FOLDER.glob("*.gz")} == {f"vllm-{version}.json.gz" for version in STACKS}
    assert all(stack.how == "measured" and stack.date == load(version)["date"] for version, stack in STACKS.items())


@pytest.mark.parametrize("version", STACKS)
def test_every_drawn_configuration_is_read_as_the_release_does(version):
    cases = load(version)["cases"]
    assert len(cases) >= 190
    differing = []
    for number, case in enumerate(cases):
        stated = read_configuration(json.loads(json.dumps(case["config"])), "config.json")
        found = STACKS[version].read(stated, stated.layers[0], None)
        assert not isinstance(found, Refusal), found.reason
        same = len(found.frequencies) == len(case["frequencies"])
        same = same and np.allclose(found.frequencies, case["frequencies"], rtol=4e-6, atol=0)
        if not same or abs(found.attention_scaling / case["attention"] - 1) > 1e-6:
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
