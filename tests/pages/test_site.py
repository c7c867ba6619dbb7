"""The site: every page is in its menu, the reference has every public name, the gallery the example that runs."""

import importlib.util
import re
from pathlib import Path

import pytest

import pe_spectra
from pe_spectra.cli.commands import Declaration

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


@pytest.mark.parametrize(
    ("examples", "shown"),
    [
        (("pe-spectra count-low-bin --d 8", "pe-spectra --version"), "$ pe-spectra count-low-bin --d 8\n3 of 4 "),
        (("pe-spectra audit no.json", "pe-spectra count-low-bin --d 8"), "$ pe-spectra count-low-bin --d 8\n3 of 4 "),
        (("pe-spectra audit no.json",), "$ pe-spectra audit no.json\n```"),
    ],
)
def test_the_gallery_shows_the_first_example_that_runs(site, tmp_path, examples, shown):
    declared = Declaration(summary="", module="", examples=examples)
    assert "\n".join(site._show("count-low-bin", declared, tmp_path)).startswith(f"```console\n{shown}")
