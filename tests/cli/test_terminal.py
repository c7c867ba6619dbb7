"""What a terminal of some width shows: tables that stay tables, and lines that are continued."""

import shlex
from itertools import pairwise

import pytest

from pe_spectra.answers.answer import Answer, Body, Drawing, Verdict
from pe_spectra.cli.render import render
from pe_spectra.cli.terminal import Screen, _fold_message, _list_escapes, fold, measure


class Nothing(Body):
    """No fields of its own."""

    kind = "nothing"


def show(width=80, height=24, full=False, **answer):
    sizes = {"width": width, "text_width": min(width, 110), "height": height}
    screen = Screen(watched=True, hinted=False, **sizes, colour=False, unicode=True, full=full)
    verdict = Verdict(level="ok", code="fine", text="All is well.")
    return "".join(render(Answer(body=Nothing(), verdict=verdict, **answer), "table", screen, None)).splitlines()


COLUMNS = {"name": ["a", "b"], "kind": ["x", "x"], "first_value": [1.25, 2.5], "second_value": [1, 10], "last": [0, 7]}


def test_a_table_that_fits_is_as_it_is():
    assert show(table=COLUMNS) == [
        "All is well.",
        "",
        "name  kind  first_value  second_value  last",
        "a     x            1.25             1     0",
        "b     x             2.5            10     7",
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["each row: kind x", "name  first_value  second_value  last"]),
        (30, ["each row: kind x", "      first_  second_", "name   value    value  last"]),
        (24, ["each row: kind x", "      first_  second_", "name   value    value"]),
    ],
)
def test_a_table_that_does_not_fit_stays_a_table(width, lines):
    shown = show(width, table=COLUMNS)
    assert shown[2 : 2 + len(lines)] == lines
    left = ["columns that do not fit:", "  last (--full, --format", "  csv)"] if width == 24 else []
    assert shown[2 + len(lines) + 2 :] == left


@pytest.mark.parametrize(("width", "is_whole"), [(110, False), (200, True)])
def test_a_wide_screen_is_for_tables_and_texts_stay_narrow(width, is_whole):
    table = {f"the_name_of_column_{letter}": [1.5, 2.5] for letter in "abcdefgh"}
    shown = show(width, table=table, facts=[("said", "word " * 60)], last="word " * 60)
    assert ("  ".join(table) in shown) == is_whole
    texts = [line for line in shown if "word" in line]
    assert max(map(measure, texts)) <= 110
    assert len(texts) == 6


def test_all_columns_are_seen_when_asked_for():
    shown = show(24, full=True, table=COLUMNS)
    assert shown[-3:] == ["name  last", "a        0", "b        7"]
    assert not [line for line in shown if line.startswith("columns that")]


def test_rows_fit_the_screen_unless_the_answer_says_how_many():
    columns = {"n": list(range(40))}
    assert len(show(table=columns)) == 2 + 1 + 12 + 1
    assert len(show(table=columns, height=14)) < 14
    assert show(table=columns, height=14)[-1].endswith(" more rows: --full")
    assert len(show(table=columns, height=14, rows="all")) == 2 + 1 + 40
    assert show(table=columns, rows="none")[2:] == ["40 rows: --full"]
    assert show(table={"n": list(range(12))}, height=8)[3:] == ["0", "1", "2", "9 more rows: --full"]


def test_rows_give_way_then_the_curve_then_the_last_facts():
    drawing = Drawing(title="curve", values=[1.0, 0.5], ticks=())
    facts = [("one", "1"), ("two", "2"), ("three", "3")]
    answer = {"table": {"n": list(range(6))}, "facts": facts, "drawing": drawing}
    heights = (30, 21, 20, 13, 12, 7)
    found = [show(height=height, **answer) for height in heights]
    assert all(len(lines) < height for lines, height in zip(found, heights, strict=True))
    assert ["curve" in lines for lines in found] == [True, True, False, False, False, False]
    assert [sum(line.startswith(("one", "two", "three")) for line in lines) for lines in found] == [3, 3, 3, 3, 2, 0]
    assert [lines[-1] for lines in found[1:]] == [
        "2 more rows: --full",
        "1 detail: --full",
        "1 detail and 2 more rows: --full",
        "2 details and 2 more rows: --full",
        "4 details and 4 more rows: --full",
    ]
    assert show(height=7, full=True, **answer) == found[0]


def test_where_no_rows_are_shown_facts_give_way_to_the_curve():
    drawing = Drawing(title="curve", values=[1.0, 0.5], ticks=())
    facts = [("one", "1"), ("two", "2"), ("three", "3")]
    shown = show(height=13, facts=facts, drawing=drawing, rows="none", table={"n": [1]})
    assert "curve" in shown
    assert shown[-2:] == ["one  1", "2 details and 1 row: --full"]
    assert len(show(height=4, facts=facts, rows="none", table={"n": [1]})) == 6


def test_a_sentence_with_a_stroke_is_no_path():
    columns = {"meaning": ["the share of cosines and/or sines, of all channels that are turned"], "n": [1]}
    assert show(width=30, table=columns)[2:] == [
        "meaning                      n",
        "the share of cosines and/or  1",
        "sines, of all channels that",
        "are turned",
    ]


#: What a comparison says: two values, and a sentence about them.
PROSE = {
    "what": ["scaling"],
    "a": ["dynamic x4 (served 8192 positions)"],
    "b": ["dynamic x4 (served not set at all)"],
    "effect": ["each pair is divided by a number of its own, which rope_theta and max_position give"],
    "last": [7],
}


def test_sentences_are_narrowed_before_a_column_is_left_out():
    shown = show(width=60, table=PROSE)[2:]
    assert shown[0].split() == [*PROSE]
    assert max(map(measure, shown)) <= 60


def test_of_sentences_the_longest_has_most_room():
    heading = show(width=60, table=PROSE)[2]
    starts = [heading.index(f" {name}") for name in ("a", "b", "effect", "last")]
    a, b, effect = (after - before for before, after in pairwise(starts))
    assert effect > 1.2 * max(a, b)


def test_a_sentence_that_needs_little_is_whole():
    shown = show(width=80, table={"a": ["a name of 27 characters now"], "b": ["word " * 40]})[2:]
    assert "a name of 27 characters now" in shown[1]


def test_the_words_of_a_sentence_are_not_broken():
    shown = show(width=44, table={**PROSE, "name": ["a"]})
    assert any("rope_theta" in line for line in shown)


def test_details_are_shown_when_asked_for():
    answer = {"facts": [("rank", "4")], "details": [("rank", "of the table")]}
    assert show(**answer) == ["All is well.", "", "rank  4", "1 detail: --full"]
    assert show(full=True, **answer)[-1] == "rank  of the table"


def test_facts_of_a_group_for_each_row_are_left_to_the_rows():
    facts = [("a: rank", "4"), ("b: rank", "5"), ("edge", "open")]
    assert show(table=COLUMNS, facts=facts)[2] == "edge  open"
    assert show(table=COLUMNS, facts=facts, full=True)[2:6] == ["a", "  rank  4", "", "b"]


def test_wide_characters_count_twice():
    assert measure("位置") == 4
    assert fold("位置 位置", 5) == ["位置", "位置"]
    assert fold("位置位置", 5, "  ") == ["位置", "  位", "  置"]


@pytest.mark.parametrize("width", [24, 30, 60, 200])
@pytest.mark.parametrize("names", [["a", "b c", "d"], ["it's a", "'", "x y 'z'"], ["longer than a line " * 4, "b"]])
def test_a_proposed_command_is_one_for_the_shell(width, names):
    words = ["pe-spectra", "spectrum", "-e", *names, "--length", "80", "--boundary", "reflect"]
    told = _fold_message(f"next: {shlex.join(words)}", width)
    assert shlex.split(told.removeprefix("next: ").replace("\\\n", "")) == words
    if "longer" not in told:
        assert max(map(len, told.splitlines())) <= width


def test_what_is_printable_needs_no_escape_but_a_backslash():
    assert [code for code in _list_escapes() if chr(code).isprintable()] == [ord("\\")]
