"""The answers about figures: what was drawn, and whether committed numbers are those computed now."""

import pytest

from pe_spectra.answers.drawn import Mismatch, answer_checked, answer_drawn

TITLES = {f"fig{n}": f"Figure {n}" for n in range(1, 9)}
FILES = [f"{name}{suffix}" for name in TITLES for suffix in (".png", ".svg", ".csv")] + ["manifest.json"]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ({}, "there were none here before"),
        (dict.fromkeys(TITLES, True), "all 8 figures that were here before match a fresh computation"),
        ({"fig1": True, "fig2": False}, "those of fig2 are not those that were here"),
        (
            dict.fromkeys(TITLES, False),
            "those of fig1, fig2, fig3, fig4 and 4 more are not those that were here",
        ),
    ],
)
def test_numbers_that_stood_there_are_compared(before, words):
    answer = answer_drawn(TITLES, FILES, "figures", before)
    assert dict(answer.facts)["numbers"] == words
    assert answer.verdict.text == "Drew 8 figures in figures."


def test_what_was_drawn_is_said_in_a_few_lines_and_all_files_are_there():
    answer = answer_drawn(TITLES, FILES, "figures", {})
    assert answer.rows == "none"
    assert list(answer.columns["file"]) == FILES == answer.to_document(None)["files"]
    assert list(TITLES.items()) == list(answer.facts[:8])


def test_a_check_names_the_first_difference():
    found = [
        Mismatch(figure="fig1", column="weight", row=7, expected="0.5", got="0.6", reason="differs"),
        Mismatch(figure="fig2", reason="fig2.csv: no such file"),
    ]
    answer = answer_checked("f", found, 8)
    assert answer.verdict.text == (
        "The figures in f differ in 2 places, first fig1, column weight, row 7: expected 0.5, got 0.6; differs."
    )
    assert answer.failed
    missing = answer_checked("f", found[1:], 8).verdict
    assert (missing.code, missing.level) == ("figures-missing", "error")
    assert missing.text.startswith("fig2: fig2.csv: no such file in f; pe-spectra figures --output f ")
    same = answer_checked("f", [], 8)
    assert (same.verdict.text, same.failed) == ("All 8 figures match a fresh computation.", ())
