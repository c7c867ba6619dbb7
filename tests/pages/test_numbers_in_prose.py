"""Every number in the prose of README.md, docs/ and CONTRIBUTING.md is computed, or has a reason why it cannot be."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.pages.docs_numbers import CONDITION_OF_64, ROOT, measure_condition
from tests.pages.docs_sentences import CONVENTIONS, SENTENCES, Sentence

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md")
}
#: What other tests compare with the program: blocks that are run, and tables that are made from it.
ELSEWHERE = re.compile(
    r"^```.*?^```|<!-- (combinations|corpus|errata|equations|quantities|study)(?: [a-z-]+)? -->.*?<!-- /\1 -->"
    r"|^\| code \| level \| what it means \|\n(?:\|[^\n]*\n)+",
    re.MULTILINE | re.DOTALL,
)
#: Numbers that are names or symbols, whatever the sentence says.
NAMES = (
    r"`[A-Za-z_.-]*[A-Za-z_][\w./-]*`",  # keys, files, encodings, options without a value
    r"`(?:pe-spectra|PE_SPECTRA|-)[^`\n]*`",  # command lines and options: test_docs_commands has them
    r"`[a-z][\w.]*[:=?][^`\n]*`|`[\w.]+::[^`\n]*`|`'[a-z_]+>=[^`\n]*'`",  # SPECs and keys of a file: the same
    r"\]\([^)]*\)",
    r"arXiv:\d{4}\.\d{5}",
    r"\b(?:18|20)\d\d\b(?= [a-z]|[,;)]|$)|(?<=[a-z] )1[789]\d\d\b|\b(?:19|20)\d\d\b",  # years of texts and releases
    r"\b[A-Za-z][\w+-]*\d[\w.]*",  # bfloat16, float8_e4m3fn, F1, L0
    r"\b(?:Eq|Fig|Sec)\. \(?\d+(?:\.\d+)*\)?(?:,? (?:and|to) \(?\d+\)?|, \d+)*",
    r"\b(?:Algorithm|Definition|lemma|chapter|transformers|Llama|Gemma|Python|License|Release|IEEE) \d+(?:\.\d+)*",
)
#: Whole numbers that formulas are made of (2 pi, S - 1, [1], lag 0): they have no digits that could drift.
SYMBOLS = {"0", "1", "2"}
NUMBER = re.compile(
    r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)*(?:e[+-]?\d+)?"
    r"|\b(?:(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y(?:-\w+)?|ieth)|five|six|seven|eight|nine|ten|\w+teen|eleven"
    r"|twelve|hundred|thousand)s?\b",
    re.IGNORECASE,
)


fill = cache(Sentence.fill)


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def find(words: str, page: str) -> list[range]:
    """Where words stand on a page, however its lines are broken."""
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    return [range(*match.span()) for match in re.finditer(pattern, PAGES[page])]


@pytest.mark.parametrize("sentence", SENTENCES, ids=[f"{one.page}: {one.text[:60]}" for one in SENTENCES])
def test_every_number_is_the_one_computed(sentence: Sentence) -> None:
    computed = fill(sentence)
    assert find(computed, sentence.page), f"{sentence.page} does not say: {computed}"


@pytest.mark.slow
def test_the_condition_number_is_the_one_of_many_digits() -> None:
    assert f"{measure_condition(64):.1e}".replace("e+", "e") == CONDITION_OF_64


@pytest.mark.parametrize(("page", "words", "why"), CONVENTIONS)
def test_every_convention_stands_on_its_page(page: str, words: str, why: str) -> None:
    assert find(words, page)
    assert why


def list_claimed(page: str) -> set[int]:
    words = [fill(one) for one in SENTENCES if one.page == page]
    words += [text for where, text, _ in CONVENTIONS if where == page]
    return {place for text in words for span in find(text, page) for place in span}


def list_unclaimed(page: str, text: str) -> list[str]:
    """The numbers in a page's prose that no sentence claims, each with its line."""
    prose = ELSEWHERE.sub(blank, text)
    for names in NAMES:
        prose = re.sub(names, blank, prose, flags=re.MULTILINE)
    claimed = list_claimed(page)
    return [
        f"{page}:{prose.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for match in NUMBER.finditer(prose)
        if match[0] not in SYMBOLS and match.start() not in claimed
    ]


@pytest.mark.parametrize("page", PAGES)
def test_no_number_is_without_a_computation(page: str) -> None:
    unclaimed = list_unclaimed(page, PAGES[page])
    assert not unclaimed, (
        "numbers that no test computes; add the sentence with {} for the number to SENTENCES in "
        f"tests/pages/docs_sentences.py, or drop the number: {', '.join(unclaimed)}"
    )


def test_a_new_number_is_noticed() -> None:
    added = PAGES["docs/scope.md"] + "\nIt has 17 kinds, and thirty-three of them repeat after 12.5 positions.\n"
    last = added.count("\n")
    found = list_unclaimed("docs/scope.md", added)
    assert found == [f"docs/scope.md:{last}: {number}" for number in ("17", "thirty-three", "12.5")]
