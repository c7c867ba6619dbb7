"""Where figures and answers are written, and what is refused before anything is."""

import json
import re
import shutil
from importlib import import_module

import pytest

from tests.cli.paper import DRAWING, PAPER
from tests.places import MODELS, ROOT

PNG, SVG, PDF = b"\x89PNG", b"<?xml", b"%PDF"


# ----------------------------------------------------------------------------------- places


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "start"), [("a.png", PNG), ("a.svg", SVG), ("a.PDF", PDF), ("b/a.png", PNG)])
def test_figure(cli, tmp_path, name, start):
    (tmp_path / "b").mkdir()
    done = cli(f"spectrum --d 4 --figure {name}")
    assert done.err == f"wrote {name}\n"
    assert (tmp_path / name).read_bytes().startswith(start)
    assert not (tmp_path / "figures").exists()


def test_no_figure(cli, tmp_path):
    for command in PAPER:
        cli(f"{command} --d 4 --no-figure")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_only_the_figures_of_the_paper_are_drawn_unasked(cli, tmp_path):
    for command in set(PAPER) - set(DRAWING):
        assert json.loads(cli(f"{command} --d 4 --json").out)["figure"] is None
    assert list(tmp_path.iterdir()) == []
    for command in set(PAPER) - set(DRAWING):
        assert cli(f"{command} --d 4 --figure {command}.png").err.splitlines()[-1] == f"wrote {command}.png"


def test_a_variable_turns_figures_off_that_nobody_asked_for(cli, tmp_path):
    off = {"PE_SPECTRA_NO_FIGURE": "1"}
    for command in DRAWING:
        assert "wrote" not in cli(f"{command} --d 4", **off).err
    assert list(tmp_path.iterdir()) == []
    assert cli("spectrum --d 4 --figure a.png", **off).err == "wrote a.png\n"
    assert "wrote figures/spectrum.png" in cli("spectrum --d 4", PE_SPECTRA_NO_FIGURE="").err


@pytest.mark.parametrize("name", ["", "-", "a", "a.jpg", "a.png/", "no/a.png", ".png/", "a\0.png", "x" * 300 + ".png"])
def test_refused_figures(refuse, name):
    assert "--figure" in refuse("spectrum --d 4 --figure", name)


def test_a_default_place_that_cannot_be_written_is_a_note(cli, tmp_path):
    (tmp_path / "figures").write_text("a file")
    done = cli("spectrum --d 4 --json")
    assert done.code == 0
    assert json.loads(done.out)["figure"] is None
    assert done.err.startswith("note: no figure is drawn: ")
    assert done.err.count("\n") == 1
    assert cli("spectrum --d 4 --json --quiet").err == ""


def test_output(cli, tmp_path):
    for name, form in (("a.json", "json"), ("a.csv", "csv"), ("a.txt", "table"), ("a.JSON", "json")):
        done = cli(f"spectrum --d 4 --no-figure --output {name}")
        assert (done.out, done.err) == ("", f"wrote {name}\n")
        assert (tmp_path / name).read_text() == cli(f"spectrum --d 4 --no-figure --format {form}").out
    cli("spectrum --d 4 --no-figure --output other.data --format csv")
    assert (tmp_path / "other.data").read_text() == cli("spectrum --d 4 --no-figure --format csv").out


def test_what_draws_is_there():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pe_spectra" / "cli").glob("*.py"))
    names = re.findall(r'plot\(\s*"(pe_spectra\.plots\.\w+)\.(\w+)"', sources)
    assert len(names) > 7
    for module, function in names:
        assert callable(getattr(import_module(module), function))


# ----------------------------------------------------------------------------------- who else does as well


def test_an_answer_to_a_file_is_whole_or_not_written(cli, tmp_path):
    shutil.copy(MODELS / "llama-3.1-8b.json", tmp_path / "a.json")
    done = cli("audit a.json none.json --output out.csv")
    assert (done.code, done.out, done.err) == (2, "", "error: none.json: no such file or folder\n")
    assert not (tmp_path / "out.csv").exists()
    assert cli("audit a.json none.json --format csv").out.startswith("file,")
