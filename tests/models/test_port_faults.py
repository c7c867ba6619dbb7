"""Faults of ports: of each kind the cause is named, and no kind is ever called the same."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.models.fault_grid import CONFIGURATIONS, FREQUENCIES, KINDS, PHASES, judge, list_cases
from tests.models.port_faults import FAULTS, ROWS, SHORT

SEEDS = range(5)


def diff(cli, folder, name, seed):
    """The answer on one fault, or the line that refuses it."""
    draw, make, named = FAULTS[name]
    model = draw(np.random.default_rng([seed, len(name)]))
    (folder / "a.json").write_text(json.dumps(model.config))
    made = make(model)
    if "model_type" in made:
        (folder / "b.json").write_text(json.dumps(made))
        other = "b.json"
    elif len(made) == 1:
        save_file(made, folder / "b.safetensors")
        other = "b.safetensors"
    else:
        np.savez(folder / "b.npz", **made)
        other = "b.npz"
    served = f" --served {ROWS}" if name in SHORT else ""
    done = cli(f"diff a.json {other}{served} --quiet --format table")
    return done.out or done.err, named


@pytest.mark.few(25)
@pytest.mark.parametrize("name", FAULTS)
def test_the_cause_of_a_fault_is_named(name, cli, tmp_path):
    for seed in SEEDS:
        text, named = diff(cli, tmp_path, name, seed)
        first = text.splitlines()[0]
        assert not first.startswith("The same"), first
        assert re.search(named, text, re.IGNORECASE), text


def test_many_kinds_are_planted_into_many_configurations():
    planted = {(case.kind, case.configuration) for case in list_cases()}
    assert {kind for kind, _ in planted} == set(KINDS)
    assert (len(KINDS) >= 60, len(CONFIGURATIONS) >= 14, len(planted) >= 500) == (True, True, True)


def assess(cases):
    """Hold that nothing is called the same, and that what was planted is named first, of the side that has it."""
    judged = [(str(case), *judge(case)) for case in cases]
    assert judged
    assert [one for one in judged if one[1] != "right"] == []


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_of_lists_and_of_configurations_the_cause_and_its_side_are_named(configuration):
    forms = ("list", "two lists", "configuration")
    assess(one for one in list_cases() if one.configuration == configuration and one.form in forms)


@pytest.mark.few(3, keep=["positions in bfloat16", "reverse order"])
@pytest.mark.parametrize("kind", [one for one in (*FREQUENCIES, *PHASES) if one != "degrees"])  # these alias
def test_of_caches_the_cause_and_its_side_are_named(kind):
    assess(one for one in list_cases() if one.kind == kind and one.form.startswith(("cache", "phases")))
