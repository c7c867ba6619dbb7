"""The import contracts of pyproject.toml: kept as they are, and broken by a fault against each of them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.places import ROOT

#: Words of a contract's name; the file that a line is added to; the line.
FAULTS = [
    ("One way", "spectrum/low_bin.py", "from pe_spectra.faithfulness import Faithfulness"),
    ("One way", "errors.py", "from pe_spectra.numbers import IntegerRange"),
    ("One way", "figures/recipes.py", "from pe_spectra.cli.run import Run"),
    ("One way", "plots/blur.py", "from pe_spectra.figures import build_figures"),
    ("One way", "misplaced.py", '"""A module without a place in the layers."""'),
    ("The mathematics", "exact.py", "def draw():\n    import matplotlib.figure"),
    ("The mathematics", "encodings/absolute.py", "from pe_spectra.files.writer import write_files"),
    ("The mathematics", "faithfulness/report.py", "from typer import echo"),
    ("Typer and Rich", "answers/answer.py", "import typer"),
    ("Typer and Rich", "plots/style.py", "from typer import style"),
    ("Matplotlib", "cli/render.py", "from matplotlib.figure import Figure"),
    ("Jinja2", "cli/markup.py", "def fill():\n    from jinja2 import Template"),
    ("What is captured", "capturing/foreign_tensors.py", "def take():\n    import torch"),
    ("JAX and Optax", "answers/answer.py", "import jax.numpy as jnp"),
    ("JAX and Optax", "cli/run.py", "def train():\n    from optax import adamw"),
    ("Dask", "experiment/design.py", "from distributed import Client"),
    ("Only the command line", "figures/recipes.py", "from pe_spectra.experiment.design import FULL"),
    ("The mathematics", "study/lines.py", "from pe_spectra.files.ledger import read_ledger"),
    ("Only the command line", "library.py", "from pe_spectra.experiment import design"),
    ("Nobody", "cli/options.py", "import click"),
    ("Nobody", "files/reading.py", "from pickle import load"),
    ("Nobody", "answers/grades.py", "import pandas as pd"),
]


def check_contracts(root):
    """Run the program over the package in `root`; give its exit code and what it says."""
    # the test tools of an environment that is not activated are not on the path
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["lint-imports", "--no-cache"],
        cwd=root,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(root), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def list_broken(said):
    """Names of the contracts that are reported as broken."""
    return [line.partition(" BROKEN")[0] for line in said.splitlines() if " BROKEN" in line]


def list_contracts():
    """Names of the contracts in pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


def test_contracts_are_kept():
    code, said = check_contracts(ROOT)
    assert code == 0, said
    assert list_broken(said) == []
    assert f"{len(list_contracts())} kept, 0 broken" in said


def test_every_contract_has_a_fault():
    tried = {contract for contract, _, _ in FAULTS}
    for name in list_contracts():
        assert any(name.startswith(words) for words in tried), name


@pytest.mark.few(2)
@pytest.mark.parametrize(("contract", "name", "line"), FAULTS)
def test_a_fault_breaks_its_contract(contract, name, line, tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "pe_spectra", tmp_path / "pe_spectra", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "pe_spectra" / name).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    code, said = check_contracts(tmp_path)
    assert code == 1, said
    assert any(broken.startswith(contract) for broken in list_broken(said)), said
