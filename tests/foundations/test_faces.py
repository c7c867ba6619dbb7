"""Tables in Markdown, LaTeX and HTML: cells from outside never become markup."""

import numpy as np
import pytest

from pe_spectra import faces
from pe_spectra.faces import Cells, are_numbers, write_cell, write_html, write_markdown
from pe_spectra.latex import write_latex

HOSTILE = {"name": ["a|b", "x_1 & 50 % {#}", "<script>\\n", "~^$"], "n": [1, None, 2.5, 3]}


def test_markdown_keeps_its_columns():
    lines = write_markdown(HOSTILE).splitlines()
    assert lines[1] == "|:--|--:|"
    assert all(line.replace("\\|", "").count("|") == 3 for line in lines)


def test_latex_escapes_what_it_would_read():
    text = write_latex(HOSTILE)
    assert r"x\_1 \& 50 \% \{\#\}" in text
    assert r"\textasciitilde{}\textasciicircum{}\$" in text
    assert r"\textbackslash{}n" in text
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\n")


def test_html_holds_names_as_text():
    text = write_html(HOSTILE)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_html_says_how_many_rows_it_left_out():
    assert write_html(HOSTILE, most=3).endswith("<p>1 more row</p>")
    assert write_html(HOSTILE, most=1).endswith("<p>3 more rows</p>")
    assert "more" not in write_html(HOSTILE, most=4)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "-"),
        (False, "no"),
        (123456789.0, "123456789"),
        (1e300, "1e+300"),
        (0.1 + 0.2, "0.3"),
        (2**70, str(2**70)),
        ("", ""),
    ],
)
def test_cells(cell, text):
    assert write_cell(cell, 6) == text


@pytest.mark.parametrize("part", [1, 2, 1 << 10])
def test_cells_are_a_list_that_is_made_when_it_is_read(part, monkeypatch):
    monkeypatch.setattr(faces, "PART", part)
    cells = Cells([(np.arange(3), 3), (np.array([0.5, np.nan]), 2), (Cells([(["a"], 1), (None, 2)]), 3), ("b", 2)])
    whole = [0, 1, 2, 0.5, None, "a", None, None, "b", "b"]
    assert list(cells) == whole
    assert len(cells) == len(whole)
    assert [cells[place] for place in (0, 4, -1)] == [0, None, "b"]
    cuts = (slice(2), slice(None, -2), slice(1, 4), slice(None), slice(3, None), slice(-3, 5), slice(5, 2, -1))
    for cut in (*cuts, slice(1, 99, 3), slice(None, None, -1), slice(-99, 2)):
        assert cells[cut] == whole[cut]
    assert cells.list_types() == {int, float, type(None), str}


def test_columns_of_numbers_are_known_without_reading_them():
    assert are_numbers(Cells([(np.ones(3), 3), (range(2), 2), (1, 1)]))
    for other in (np.array([1.0, np.inf]), [True], ["1"], None, Cells([([None], 1)])):
        assert not are_numbers(Cells([(np.ones(3), 3), (other, 1)]))
