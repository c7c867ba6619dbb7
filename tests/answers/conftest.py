"""JSON read strictly and validated, and the files that the lines of the JSON tests name."""

import json
import shutil

import numpy as np
import pytest

from tests.answers.lines import MODEL_LINES
from tests.documents import find_fault
from tests.places import MODELS
from tests.planted import make_grid, make_trained, plant_cls, plant_copies, plant_padding, plant_seam_jump, plant_tail


@pytest.fixture
def tables(tmp_path):
    """Tables with planted truth, in the working directory of `cli`."""
    table = make_trained(256, 32)
    grid = plant_cls(np.concatenate([np.ones((1, 32)), make_grid(8, 8, 32)]))
    planted = {"table": table[:64], "grid": grid, "zeros": np.zeros((64, 4)), "copies": plant_copies(table)}
    planted |= {"padding": plant_padding(table), "seam": plant_seam_jump(table), "tail": plant_tail(table, 200)}
    for name, values in planted.items():
        np.save(tmp_path / f"{name}.npy", values)


@pytest.fixture
def models(tmp_path):
    """Configurations of models, dumps of a port, and tables, in the working directory of `cli`."""
    for line in MODEL_LINES:
        for name in line.split():
            if (MODELS / name).is_file():
                shutil.copy(MODELS / name, tmp_path)
    shutil.copy(MODELS / "broken" / "unseen-phases.json", tmp_path / "broken.json")
    shutil.copy(MODELS / "broken" / "longrope-list-too-short.json", tmp_path / "refused.json")
    small = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1}
    (tmp_path / "small.json").write_text(json.dumps(small), encoding="utf-8")
    params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 5e5, "use_scaled_rope": True}
    (tmp_path / "params.json").write_text(json.dumps(params), encoding="utf-8")
    frequencies = 500000.0 ** (-np.arange(64) / 64)
    np.save(tmp_path / "inv_freq.npy", frequencies.astype(np.float32))
    angles = np.outer(np.arange(64), frequencies)
    np.savez(tmp_path / "cache.npz", cos=np.cos(angles).astype(np.float32), sin=np.sin(angles).astype(np.float32))
    table = make_trained(64, 16)
    np.save(tmp_path / "table.npy", table)
    np.save(tmp_path / "shifted.npy", 2 * table[2:])
    np.save(tmp_path / "narrow.npy", table[:, :8])
    np.save(tmp_path / "noise.npy", table[:, ::-1] ** 2)


@pytest.fixture(scope="session")
def validate():
    def run(document):
        assert find_fault(document) is None

    return run


@pytest.fixture
def cli_on_terminal(cli, monkeypatch, tmp_path):
    """The program in a folder of tables, as it stands on a terminal."""
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    random = np.random.default_rng(5)
    for name in ("learned.npy", "my table.npy", "-dash.npy"):
        np.save(tmp_path / name, random.normal(size=(20, 8)))
    np.savez(tmp_path / "two.npz", a=random.normal(size=(9, 4)), b=random.normal(size=(12, 6)))
    (tmp_path / "my pos.csv").write_text("".join(f"{n / 7}\n" for n in range(30)))
    return cli


@pytest.fixture
def learned(tmp_path, trained_table, planted_table):
    np.save(tmp_path / "learned.npy", trained_table)
    np.save(tmp_path / "planted.npy", planted_table)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)


@pytest.fixture
def watch(cli, monkeypatch):
    """Run a command line as a terminal shows it."""
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    return lambda line: cli(f"{line} --color never", COLUMNS="110")
