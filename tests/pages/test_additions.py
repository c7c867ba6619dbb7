"""Each addition of CONTRIBUTING.md, made to a copy of the tree: it works, and touches no more files than it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.pages.additions import ADDITIONS, add
from tests.places import ROOT

#: The most files that an addition may touch, with the tests of its values, and without what the program writes itself.
MOST = {"encoding": 3, "metric": 2, "finding": 1, "column": 1, "figure": 1}


class Tree:
    """A copy of package and tests, with one addition."""

    def __init__(self, place: Path, name: str) -> None:
        self.place = place
        # with byte code: a module's is that of its time and size, which the copy has as well
        ignored = shutil.ignore_patterns(".hypothesis", "packages", "transformers")
        for folder in ("pe_spectra", "tests", "figures"):
            shutil.copytree(ROOT / folder, place / folder, ignore=ignored)
        for file in ("conftest.py", "pyproject.toml", "CONTRIBUTING.md"):
            if (ROOT / file).exists():
                shutil.copy(ROOT / file, place)
        add(place, name)

    def run(self, *arguments: str) -> str:
        """Run a module of the copy; return what it prints."""
        environment = {**os.environ, "PYTHONPATH": str(self.place), "PE_SPECTRA_NO_FIGURE": "1", "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-m", *arguments], cwd=self.place, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def answer(self, line: str) -> dict:
        """The JSON document of a command line."""
        return json.loads(self.run("pe_spectra", *line.split(), "--json"))

    def test(self, *arguments: str) -> str:
        """Run tests of the copy."""
        return self.run("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *arguments)


@pytest.fixture
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Tree:
    return Tree(tmp_path / "tree", request.param)


def using(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("tree", [name], indirect=True, ids=[name])


@pytest.mark.parametrize("name", ADDITIONS)
def test_it_touches_no_more_files_than_it_may(name: str) -> None:
    files = {edit.file for edit in ADDITIONS[name]}
    assert len(files) <= MOST[name]
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| an? {name} \|.*\|$", text, re.MULTILINE)
    assert set(re.findall(r"`((?:pe_spectra|tests)/[^`]*)`", row)) == files


@using("encoding")
def test_an_encoding(tree: Tree) -> None:
    found = tree.answer("spectrum -e clock:period=168 --bandwidth 1")
    weights = np.exp(-((np.arange(85) - 1) ** 2) / 2)  # Eq. 15 with one frequency, at bin 1
    assert np.allclose(found["weights"], weights / weights.sum(), rtol=1e-11)
    assert "clock" in tree.run("pe_spectra", "encodings")
    # its own cases, and those tests that go through all parameters
    chosen = "clock or test_reference_values or bounds or default"
    assert "passed" in tree.test("tests/encodings/test_reference_values.py", "tests/laws", "-k", chosen)


@pytest.mark.slow
@using("metric")
def test_a_metric(tree: Tree) -> None:
    [row] = tree.answer("compare sinusoidal:d=2,rho=1 --length 16")["rows"]
    assert row["metrics"]["kernel_at_one"] == pytest.approx(np.cos(1), rel=1e-12)
    header = tree.run("pe_spectra", "compare", "dft:d=8", "--length", "8", "--format", "csv").splitlines()[0]
    assert "kernel_at_one" in header.split(",")
    assert "passed" in tree.test("tests/metrics/test_every_metric.py")
    assert "passed" in tree.test("tests/program/test_frozen_answers.py", "-k", "compare and zeros")


@using("finding")
def test_a_finding(tree: Tree) -> None:
    model = {"model_type": "llama", "head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 1 << 21}
    (tree.place / "config.json").write_text(json.dumps(model), encoding="utf-8")
    found = tree.answer("audit config.json")
    assert "very-long" in json.dumps(found)
    assert "10**6" in tree.run("pe_spectra", "audit", "--explain", "very-long")


@using("column")
def test_a_column(tree: Tree) -> None:
    [row] = tree.answer("count-low-bin --d 256")["rows"]
    assert row["share_outside"] == 52 / 128
    assert "share_outside" in tree.run("pe_spectra", "count-low-bin", "--format", "csv").splitlines()[0].split(",")


@pytest.mark.slow
@using("figure")
def test_a_figure(tree: Tree) -> None:
    tree.run("pe_spectra", "figures", "--output", "drawn")
    assert {"fig9_circle.png", "fig9_circle.svg", "fig9_circle.csv"} <= {
        p.name for p in (tree.place / "drawn").iterdir()
    }
    tree.run("pe_spectra", "figures", "--check", "--output", "drawn")
