"""Faults of ports: of each kind the cause is named, and no kind is ever called the same."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import save_file

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


@pytest.mark.parametrize("name", FAULTS)
def test_the_cause_of_a_fault_is_named(name, cli, tmp_path):
    for seed in SEEDS:
        text, named = diff(cli, tmp_path, name, seed)
        first = text.splitlines()[0]
        assert not first.startswith("The same"), first
        assert re.search(named, text, re.IGNORECASE), text
