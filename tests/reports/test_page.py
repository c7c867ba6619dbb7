"""The page of a report: everything on it is text, cells keep their exact values, and it is never too long."""

import hashlib
import re
from base64 import b64decode

import pytest

from pe_spectra.reports.page import ROOM, Page, Section, Table, write_page
from tests.program.hostile_files import CONTENTS
from tests.reports.reading import Reading

#: An empty text is left out of the page.
HOSTILE = [text for text in CONTENTS.values() if text]


def make_page(text="x", columns=None, **more):
    rows = Table(title=text, columns=columns or {text: [text, None, True, 0.1234567891]})
    section = Section(
        command=text,
        name=text,
        purpose=text,
        level="ok",
        verdict=text,
        facts=[(text, text)],
        notes=[text],
        findings=[rows],
        rows=[rows],
        last=text,
        **more,
    )
    refused = Section(command=text, name=text, purpose=text, refused=text)
    return Page(title=text, command=text, sections=[section, refused], versions={text: text}, citation=text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_markup(text):
    plain, hostile = Reading(write_page(make_page())), Reading(write_page(make_page(text)))
    assert hostile.tags == plain.tags
    assert [list(attributes) for _, attributes in hostile.elements] == [list(found) for _, found in plain.elements]
    if text.strip() and not {"\r", "\0"} & {*text}:  # a reader of HTML makes a line feed of a return
        assert "".join(hostile.collect("h1")).strip() == text.strip()
        assert "".join(hostile.collect("caption")).count(text) == 2


def test_numbers_drawn_cannot_end_their_element():
    values = [{"across": "</script><b>", "up": "", "lines": []}]
    found = Reading(write_page(make_page(figure="<svg></svg>", values=values)))
    assert "b" not in {tag for tag, attributes in found.elements if not attributes}
    assert any("script" in inside and "u003c/script" in text for inside, text in found.texts)


def test_cells_keep_their_exact_value():
    found = Reading(write_page(make_page(columns={"x": [0.1234567891, 2.0, 3, None]})))
    exact = [attributes["value"] for tag, attributes in found.elements if tag == "data"]
    assert exact == ["0.1234567891"] * 2  # in both tables; 2.0 is shown as it is
    cells = [text.strip() for inside, text in found.texts if "td" in inside and text.strip()]
    assert cells == ["0.123457", "2", "3", "-"] * 2
    assert {attributes.get("class") for tag, attributes in found.elements if tag in ("th", "td")} == {"n"}


def test_a_page_says_what_it_has_no_room_for():
    text = write_page(make_page(columns={"k": range(10**6), "name": ["a" * 50] * 10**6}))
    assert 0.8 * ROOM < len(text) < 1.1 * ROOM
    kept = text.count("<tr>\n<td") // 2
    assert f"{10**6 - kept:,} more rows: the command below has all" in text


def test_a_row_that_is_longer_than_its_room_is_there():
    assert write_page(make_page(columns={"name": ["a" * ROOM] * 2})).count("<tr>\n<td") == 2


def test_nothing_is_asked_of_elsewhere():
    text = write_page(make_page())
    found = Reading(text)
    (policy,) = [a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (digest,) = re.findall("'sha256-([^']*)'", policy)
    assert b64decode(digest) == hashlib.sha256(script.encode()).digest()
    assert not [a for _, a in found.elements if {"src", "srcset", "style", "onclick"} & {*a}]
    assert all(a["href"].startswith("#") for _, a in found.elements if "href" in a)
    assert "url(" not in text
    assert "@import" not in text


def test_names_of_elements_are_unique_and_references_lead_to_them():
    found = Reading(write_page(make_page()))
    names = [a["id"] for _, a in found.elements if "id" in a]
    assert len({*names}) == len(names)
    led = [a["href"][1:] for _, a in found.elements if "href" in a]
    led += [a["aria-labelledby"] for _, a in found.elements if "aria-labelledby" in a]
    assert {*led} <= {*names}
