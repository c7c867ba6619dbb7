"""The site: every page is in its menu, the reference has every public name, the gallery examples that run."""

import importlib.util
import re
from pathlib import Path

import pytest

import pe_spectra
from pe_spectra.cli.commands import COMMANDS, Declaration

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / ".ci" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_menu():
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {str(path.relative_to(ROOT)) for folder in (ROOT, ROOT / "docs") for path in folder.glob("*.md")}
    assert sorted(menu) == sorted(pages | {"gallery.md", "reference.md"})


def test_the_reference_has_every_public_name_with_what_it_takes(site):
    page = "\n".join(site.write_reference())
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == [
        name for module in sorted(set(pe_spectra._HOMES.values())) for name in sorted(pe_spectra.__all__)
        if pe_spectra._HOMES[name] == module
    ]  # fmt: skip
    assert "compute_dft_weights(grid: int) -> F64\n\nReturn the weights of the DFT encoding" in page
    assert "\nPeSpectraError\n\nRoot of every error" in page


EXAMPLE, FAILING = "pe-spectra count-low-bin --d 8", "pe-spectra audit no.json"


def show(site, folder, name, *examples):
    return "\n".join(site._show(name, Declaration(summary="", module="", examples=examples), folder))


def test_the_gallery_shows_the_first_example(site, tmp_path):
    shown = show(site, tmp_path, "count-low-bin", EXAMPLE, FAILING)
    assert shown.startswith(f"```console\n$ {EXAMPLE}\n3 of 4 ")
    assert FAILING not in shown


def test_an_example_that_fails_fails_the_site(site, tmp_path):
    with pytest.raises(RuntimeError, match=re.escape(f"{FAILING} ended with 2")):
        show(site, tmp_path, "count-low-bin", FAILING, EXAMPLE)


def test_what_needs_something_that_is_not_installed_is_shown_without_an_answer(site, tmp_path, monkeypatch):
    assert set(site._NEEDED) <= set(COMMANDS)
    monkeypatch.setitem(site._NEEDED, "count-low-bin", "no_such_module")
    shown = show(site, tmp_path, "count-low-bin", EXAMPLE, FAILING)
    assert shown == f"```console\n$ {EXAMPLE}\n$ {FAILING}\n```\n"
    monkeypatch.setitem(site._NEEDED, "count-low-bin", "numpy")
    assert "\n3 of 4 " in show(site, tmp_path, "count-low-bin", EXAMPLE)
