"""The fixture in test runs of their own: what is frozen passes, what changed fails by name, and is written anew."""

import subprocess
import sys

import pytest

TEST = """
import os
import numpy as np
import pytest

BASE = float(os.environ.get("BASE", "10000"))

def turn(positions):
    angles = np.outer(positions, BASE ** -(np.arange(8) / 8))
    return np.cos(angles), np.sin(angles)

def test_function(pe_spectra_check):
    pe_spectra_check(turn, "rope.json")

def test_spec(pe_spectra_check):
    pe_spectra_check(f"rope:d=16,base={BASE:g}", "spec.json")

@pytest.mark.pe_spectra(tolerance=0.99)
def test_within(pe_spectra_check):
    pe_spectra_check(np.array([1.0, 0.5, 0.25]) * (1 + 1e-6 * (BASE > 1e4)), "near.json")
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_rope.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*options, base="10000"):
        monkeypatch.setenv("BASE", base)
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_freeze_pass_fail_and_freeze_again(run, tmp_path, workers):
    done = run(*workers)
    assert done.returncode == 1
    assert "rope.json; pytest --pe-spectra-update writes it" in done.stdout
    assert run(*workers, "--pe-spectra-update").returncode == 0
    assert sorted(path.name for path in (tmp_path / "tests").glob("*.json")) == ["near.json", "rope.json", "spec.json"]
    assert run(*workers).returncode == 0
    done = run(*workers, base="500000")
    assert done.returncode == 1
    assert "2 failed, 1 passed" in done.stdout
    assert (
        "AssertionError: Not as frozen: turn: A has the default base 10000 (500000 in B): breaks from position 4 on "
        "(pair 1 is off by more than pi/8)" in done.stdout
    )
    assert "base: 10000.0 was frozen, 500000.0 is there now; A has the default base; B has its own" in done.stdout
    assert "A is what was frozen, B what is there now; pytest --pe-spectra-update freezes it anew" in done.stdout
    assert run(*workers, "--pe-spectra-update", base="500000").returncode == 0
    assert run(*workers, base="500000").returncode == 0


def test_folder_and_tolerance_of_the_settings(run, tmp_path):
    settings = "[pytest]\npe_spectra_folder = frozen\npe_spectra_tolerance = 1e-3\n"
    (tmp_path / "pytest.ini").write_text(settings, encoding="utf-8")
    assert run("--pe-spectra-update").returncode == 0
    assert sorted(path.name for path in (tmp_path / "frozen").iterdir()) == ["near.json", "rope.json", "spec.json"]
    assert run(base="10000.0000001").returncode == 0


def test_the_marker_is_known(run):
    assert "@pytest.mark.pe_spectra(tolerance=.., accept={code: reason})" in run("--markers").stdout


def test_nothing_is_loaded_until_a_test_asks():
    program = (
        "import sys, pe_spectra.pytest_plugin; print(*sorted(n for n in sys.modules if n.startswith('pe_spectra')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pe_spectra", "pe_spectra._version", "pe_spectra.names", "pe_spectra.pytest_plugin"]
