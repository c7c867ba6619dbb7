"""The fixture in test runs of their own: what is frozen passes, what changed fails by name, and is written anew."""

import json
import subprocess
import sys

import pytest

from pe_spectra import __version__

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

#: What takes a third of a start, and these tests do not use.
WITHOUT = ("-p", "no:hypothesispytest")


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_rope.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*options, base="10000"):
        monkeypatch.setenv("BASE", base)
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *WITHOUT, *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
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
        "Failed: Not as frozen: turn: Another base (10000 in A, 500000 in B): breaks from position 4 on "
        "(pair 1 is off by more than pi/8)" in done.stdout
    )
    assert "base: 10000.0 was frozen, 500000.0 is there now; A has the default base; B has its own" in done.stdout
    assert "A is what was frozen, B what is there now; pytest --pe-spectra-update freezes it anew" in done.stdout
    assert run(*workers, "--pe-spectra-update", base="500000").returncode == 0
    assert run(*workers, base="500000").returncode == 0


def write(tmp_path, text):
    head = "import numpy as np\nimport pytest\n"
    (tmp_path / "tests" / "test_rope.py").write_text(head + text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_two_tests_with_one_file_keep_an_entry_each(run, tmp_path, workers):
    text = """
@pytest.mark.parametrize("spec", ["dft:d=8", "sinusoidal:d=8", "rope:d=8"])
def test_spec(pe_spectra_check, spec):
    pe_spectra_check(spec + MORE, "all.json")
"""
    for more in ("''", "(',layout=interleaved' if 'rope' in spec else '')"):
        write(tmp_path, text.replace("MORE", more))
        assert run(*workers, "--pe-spectra-update").returncode == 0
        assert run(*workers).returncode == 0
    (tmp_path / "tests" / "all.json").unlink()
    write(tmp_path, text.replace(' "sinusoidal:d=8", "rope:d=8"', "").replace("MORE", "''"))
    assert run("--pe-spectra-update").returncode == 0
    write(tmp_path, text.replace(', "rope:d=8"', "").replace("MORE", "''"))
    assert run(*workers, "--pe-spectra-update").returncode == 0
    assert run(*workers).returncode == 0


@pytest.mark.slow
def test_the_only_entry_is_written_anew_under_another_name(run, tmp_path):
    """What it was is then no longer accepted."""
    for spec, code in (("dft:d=8", 0), ("dft:d=16", 0), ("dft:d=8", 1)):
        write(tmp_path, f"def test_spec(pe_spectra_check):\n    pe_spectra_check({spec!r}, 'one.json')\n")
        assert run(*(("--pe-spectra-update",) if code == 0 else ())).returncode == code


def test_two_tests_that_freeze_something_else_under_one_name(run, tmp_path):
    text = """
@pytest.mark.parametrize("base", [1.0, 0.5])
def test_list(pe_spectra_check, base):
    pe_spectra_check(base ** np.arange(1, 4), "one.json")
"""
    write(tmp_path, text.replace("1.0", "0.25"))
    done = run("--pe-spectra-update")
    assert done.returncode == 1
    assert (
        "one.json has ndarray as tests/test_rope.py::test_list[0.25] has it; give each a file of its own" in done.stdout
    )


def test_a_failure_is_not_caught_with_other_errors(run, tmp_path):
    write(
        tmp_path,
        """
def test_caught(pe_spectra_check):
    try:
        pe_spectra_check("dft:d=8", "none.json")
    except Exception:
        pass
""",
    )
    assert run().returncode == 1


@pytest.mark.slow
def test_a_key_that_an_older_version_did_not_know_is_written_by_an_update(run, tmp_path):
    assert run("--pe-spectra-update").returncode == 0
    place = tmp_path / "tests" / "spec.json"
    place.write_text(place.read_text(encoding="utf-8").replace(__version__, "0.0.1"), encoding="utf-8")
    document = json.loads(place.read_text(encoding="utf-8"))
    (entry,) = document["entries"].values()
    entry["findings"] = [{"level": "note", "code": "aliasing", "layers": None, "message": "It is gone."}]
    place.write_text(json.dumps(document), encoding="utf-8")
    assert run("--pe-spectra-update").returncode == 0
    document = json.loads(place.read_text(encoding="utf-8"))
    assert (document["version"], "aliasing" in json.dumps(document["entries"])) == (__version__, False)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("tolerence=0.5", "the marker pe_spectra does not take tolerence; accepted: tolerance, accept, named"),
        ("0.5", "the marker pe_spectra does not take 0.5; accepted: tolerance, accept, named"),
        ("tolerance=2", "tolerance is out of range (2); a number from 0 to 0.99 is accepted"),
    ],
)
def test_a_marker_that_cannot_be_read(run, tmp_path, marker, said):
    text = "def test_spec(pe_spectra_check):\n    pe_spectra_check('dft:d=8', 'a.json')\n"
    write(tmp_path, f"@pytest.mark.pe_spectra({marker})\n{text}")
    done = run("--pe-spectra-update")
    assert done.returncode == 1
    assert said in done.stdout
    assert not (tmp_path / "tests" / "a.json").exists()


def test_a_tolerance_of_the_settings_that_is_no_number(run, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\npe_spectra_tolerance = wide\n", encoding="utf-8")
    done = run()
    assert done.returncode == 4
    assert "ERROR: pe_spectra_tolerance is no number (wide); one from 0 to 0.99 is accepted" in done.stderr


@pytest.mark.slow
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
