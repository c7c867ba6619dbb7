"""The recipes by which releases are measured: one for each stack, of scripts that there are."""

import pathlib
import re
import sys

import pytest

from pe_spectra.models.stacks import list_releases
from pe_spectra.models.stated.statement import NEWEST
from tests.reference import measure

SCRIPTS = re.compile(r"python (?:-m )?(tests[./][\w./]*)")


def list_scripts(stack):
    """The scripts that the lines of a stack run, as paths in the repository."""
    found = [match.group(1) for line in measure.RECIPES[stack] if (match := SCRIPTS.search(line))]
    return [name if name.endswith(".py") else name.replace(".", "/") + ".py" for name in found]


def test_every_measured_stack_has_a_recipe():
    measured = {one.name for one in list_releases() if one.how == "measured"}
    assert {"transformers" if name == "transformers-5" else name for name in measured} == {*measure.RECIPES}


@pytest.mark.parametrize("stack", measure.RECIPES)
def test_a_recipe_installs_the_release_and_runs_scripts_that_there_are(stack):
    lines = measure.list_lines(stack, "1.2.3", pathlib.Path("a folder"))
    assert lines[0] == f"{sys.executable} -m venv 'a folder'"
    assert any("=={version}" in line and line.startswith("pip ") for line in measure.RECIPES[stack])
    assert list_scripts(stack)
    assert all((measure.ROOT / script).is_file() for script in list_scripts(stack))


def test_the_recipe_of_transformers_runs_every_script_that_measures():
    folder = measure.HERE / "transformers"
    # generate.py freezes what several releases read of chosen files, and has no part in the tables
    programs = {path.name for path in folder.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    assert programs - {"generate.py"} == {pathlib.Path(script).name for script in list_scripts("transformers")}
    assert {*list_scripts("transformers-4")} < {*list_scripts("transformers")}


def test_every_table_of_the_newest_transformers_is_written_or_added_to_by_its_recipe():
    tables = {path.name for path in (measure.ROOT / measure.MEASURED).glob(f"transformers-{NEWEST}*")}
    lines = " ".join(measure.RECIPES["transformers"]).replace("{version}", NEWEST)
    written = (measure.ROOT / script for script in list_scripts("transformers"))
    written = " ".join(path.read_text(encoding="utf-8") for path in written).replace("VERSION", NEWEST)
    assert {name for name in tables if name not in lines and name not in written} == set()


def test_a_line_that_fails_ends_the_run_and_says_how_to_go_on(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(measure, "RECIPES", {"some": ["false", f"touch {tmp_path}/{{version}}"]})
    monkeypatch.setattr(sys, "executable", "echo")  # in place of an environment that is made
    given = ["some", "1.0", "--environment", str(tmp_path)]
    assert measure.main(given) == 1
    assert f"line 2 failed; to go on: --environment {tmp_path} --from 2" in capfd.readouterr().err
    assert not (tmp_path / "1.0").exists()
    assert measure.main([*given, "--from", "3"]) == 0
    assert (tmp_path / "1.0").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "VERSION is None"),
        (["vllm"], "VERSION is None"),
        (["vllm", "newest; rm"], "VERSION is newest; rm"),
        (["vllm", "1.0", "--from", "2"], "--from needs --environment"),
        (["vllm", "1.0", "--from", "9", "--environment", "x"], "vllm has no line 9; lines 1 to 7"),
        (["tensor", "1.0"], "invalid choice: 'tensor'"),
    ],
)
def test_what_cannot_be_measured_is_refused(given, words, capsys):
    with pytest.raises(SystemExit) as raised:
        measure.main(given)
    assert raised.value.code == 2
    assert words in capsys.readouterr().err


def test_the_lines_of_every_stack_are_listed(capsys):
    assert measure.main(["--list"]) == 0
    shown = capsys.readouterr().out
    assert "vllm\n    " in shown
    assert "pip download --no-deps vllm==VERSION -d FOLDER/wheel" in shown
