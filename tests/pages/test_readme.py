"""README and the tour of commands tell the truth: outputs, errata and examples are made by the program."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from pe_spectra.claims import grade_claims
from tests.pages import readme
from tests.places import ROOT

TEXT = readme.README.read_text(encoding="utf-8")
TOUR = readme.TOUR.read_text(encoding="utf-8")
BLOCKS = [block for text in (TEXT, TOUR) for block in readme.CONSOLE.finditer(text)]


@pytest.mark.few(12)
@pytest.mark.parametrize("block", BLOCKS, ids=[block["command"] for block in BLOCKS])
def test_every_output_is_what_the_command_prints(block: re.Match[str], monkeypatch: pytest.MonkeyPatch) -> None:
    output = readme.run_within(block["command"], monkeypatch)
    shown = block["output"]
    if shown.endswith("...\n"):
        assert output.startswith(shown.removesuffix("...\n"))
        assert shown != "...\n"
    else:
        assert output == shown


def test_a_process_of_its_own_prints_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    command = next(block["command"] for block in BLOCKS if "spectrum" in block["command"])
    assert readme.run_on_terminal(command) == readme.run_within(command, monkeypatch)


def test_the_errata_are_those_of_claims() -> None:
    match = readme.ERRATA.search(readme.ERRATA_PAGE.read_text(encoding="utf-8"))
    assert match is not None
    assert match["errata"] == readme.write_errata(grade_claims())


@pytest.mark.parametrize(
    "page",
    [readme.README, *(ROOT / "docs" / name for name in ("library.md", "capturing.md", "checking.md"))],
    ids=lambda page: page.name,
)
def test_the_examples_of_the_library_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failures, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 5
    assert failures == 0


@pytest.mark.parametrize("target", re.findall(r"\]\(([a-zA-Z_./0-9]+)\)", TEXT))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (readme.README.parent / target).exists()


def test_the_two_commands_stand_in_it() -> None:
    assert ".venv/bin/pip install -e . && .venv/bin/pe-spectra figures" in TEXT
    assert ".venv/bin/pip install -e '.[test]' && .venv/bin/python -m pytest" in TEXT


def test_ci_runs_the_command_of_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "pip install -e '.[test]'" in script
    assert "-m pytest" in script


def test_it_is_short() -> None:
    assert TEXT.count("\n") <= 250


def test_every_page_stands_in_its_list() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages <= set(re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", TEXT, re.MULTILINE))
