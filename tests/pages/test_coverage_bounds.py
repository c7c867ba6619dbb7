"""The judge of coverage reports says no where a line or branch of a room that must be whole was not run."""

import importlib.util
import json
import sys

import pytest

from tests.places import ROOT

SCRIPT = ROOT / ".ci" / "coverage_bounds.py"


@pytest.fixture
def bounds():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("coverage_bounds", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(bounds, *, others=(1000, 1000), branches=True, without="", **gaps):
    """A report of every file that the rooms name, and of one more with so many branches run, of so many."""
    patterns = {pattern for patterns in bounds.WHOLE.values() for pattern in patterns}
    files = {pattern.replace("*", "one"): (8, 8) for pattern in patterns if pattern != without}
    files["encodings/rotary.py"] = others
    return {
        "meta": {"branch_coverage": branches},
        "files": {
            f"/somewhere/pe_spectra/{name}": {
                "summary": {"covered_branches": run, "num_branches": every},
                "missing_lines": gaps.get("lines", []) if name == "spec.py" else [],
                "missing_branches": gaps.get("ways", []) if name == "spec.py" else [],
            }
            for name, (run, every) in files.items()
        },
    }


def run(bounds, monkeypatch, tmp_path, found):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["coverage_bounds.py", str(path)])
    return bounds.main()


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({}, 0, []),
        ({"others": (970, 1000)}, 0, []),  # the rooms are whole: more than 97 % of all
        ({"others": (900, 1000)}, 1, ["1012 of 1112 branches of the package were run; more than 97 % are wanted"]),
        ({"lines": [12]}, 1, ["pe_spectra/spec.py:12: not run"]),
        (
            {"ways": [[10, 12], [20, -7]]},
            1,
            ["spec.py:10: never went on to line 12", "spec.py:20: never went on to the"],
        ),
        # the line that was not run says it all
        ({"lines": [12], "ways": [[12, 13], [12, -1]]}, 1, ["pe_spectra/spec.py:12: not run"]),
        ({"without": "files/writer.py"}, 1, ["pe_spectra/files/writer.py: is not in the report"]),
    ],
)
def test_judges_by_its_bounds(bounds, monkeypatch, tmp_path, capsys, changes, code, words):
    assert run(bounds, monkeypatch, tmp_path, report(bounds, **changes)) == code
    out, err = capsys.readouterr()
    assert len(err.splitlines()) == len(words)
    assert all(word in err for word in words)
    assert out.splitlines()[-1].startswith("all ")
    assert "parsers " in out


def test_refuses_a_report_without_branches(bounds, monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="was made without branches"):
        run(bounds, monkeypatch, tmp_path, report(bounds, branches=False))


def test_every_file_of_the_rooms_is_there(bounds):
    """A file that is renamed would leave its room in silence."""
    package = SCRIPT.parents[1] / "pe_spectra"
    for patterns in bounds.WHOLE.values():
        for pattern in patterns:
            assert list(package.glob(pattern)), pattern
