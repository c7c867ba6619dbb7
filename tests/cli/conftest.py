"""Tables with planted truth in the working directory of `cli`."""

import json
import shutil

import numpy as np
import pytest

from pe_spectra import claims
from tests.cli.ports import SCALED
from tests.making import make_ladder
from tests.places import MODELS
from tests.planted import make_grid, make_noise, make_trained, plant_cls, plant_copies, plant_padding, plant_tail
from tests.program.command_line_files import READINGS


@pytest.fixture
def tables(tmp_path):
    """Tables with planted truth in the working directory of `cli`."""
    table = make_trained(256, 32)
    planted = {
        "table": table,
        "cls": plant_cls(make_trained(128, 64)),
        "copies": plant_copies(table),
        "padding": plant_padding(make_trained(512, 64)),
        "tail": plant_tail(make_trained(512, 64), 400),
        "noise": make_noise(64, 32),
        "patches": plant_cls(np.concatenate([np.ones((1, 32)), make_grid(14, 14, 32)])),
        "wide": make_grid(2, 8, 16),
    }
    for name, values in planted.items():
        np.save(tmp_path / f"{name}.npy", values)
    return planted


#: Llama-3.1-8B: base 500000, llama3 scaling by 8 from 8192, no scaling in Llama-3-8B.
THREE, THREE_ONE, GEMMA = "llama-3-8b.json", "llama-3.1-8b.json", "gemma-3-4b-it.json"
GOOD = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0}


@pytest.fixture
def diff_files(tmp_path, monkeypatch):
    """A working directory with three models, as every test here runs in one."""
    for name in (THREE, THREE_ONE, GEMMA, "phi-3.5-mini-instruct.json", "bert-base-uncased.json"):
        shutil.copy(MODELS / name, tmp_path / name)
    (tmp_path / "good.json").write_text(json.dumps({**GOOD, "max_position_embeddings": 8192}))
    (tmp_path / "deep.json").write_text('{"a":' * 1000)
    np.save(tmp_path / "inv.npy", SCALED)
    np.save(tmp_path / "default.npy", make_ladder(1e4).astype(np.float32))
    return tmp_path


@pytest.fixture
def example_files(tmp_path):
    """The files that examples in the help name."""
    for folder in ("hf", "port"):
        (tmp_path / folder).mkdir()
    for place in ("config.json", "hf/config.json"):
        shutil.copy(MODELS / THREE_ONE, tmp_path / place)
    np.save(tmp_path / "port/inv_freq.npy", make_ladder(1e4))
    (tmp_path / "readings.csv").write_bytes(READINGS)


@pytest.fixture
def ask_diff(cli):
    """Run diff and give its document."""

    def run(line):
        done = cli(f"diff {line} --json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


@pytest.fixture
def quick_claims(monkeypatch):
    """Grading takes seconds: these tests are about what is around it."""
    words = {name: name for name in ("source", "section", "statement", "printed", "computed", "why", "command")}
    graded = tuple(
        claims.GradedClaim(id=f"claim-{n}", verdict=verdict, expected_verdict="ok", **words)
        for n, verdict in enumerate(("ok", "partly"))
    )
    monkeypatch.setattr(claims, "grade_claims", lambda *_, claim, **__: graded if claim is None else graded[:1])
