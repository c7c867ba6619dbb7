"""The answer about graded claims: its order, its sentence, and what a failed check changes."""

import dataclasses
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.answers.grades import VERDICTS, answer_claims
from pe_spectra.claims import GradedClaim
from pe_spectra.vocabulary import GRADES, WEIGHTS

TEXTS = ("source", "section", "statement", "printed", "computed", "why", "command")


def make_claims(*grades):
    words = {name: name for name in TEXTS}
    return [
        GradedClaim(id=f"claim-{n}", verdict=grade, expected_verdict="ok", **words) for n, grade in enumerate(grades)
    ]


def test_what_is_wrong_comes_first():
    answer = answer_claims(make_claims("ok", "not tested", "wrong", "partly", "wrong"))
    assert list(answer.columns["id"]) == ["claim-2", "claim-4", "claim-3", "claim-0", "claim-1"]
    document = answer.to_document(None)
    assert [row["id"] for row in document["rows"]] == list(answer.columns["id"])
    assert answer.verdict.text == "Of 5 statements 1 holds, 1 partly holds, 2 are wrong and 1 cannot be tested here."


@given(st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from((None, *WEIGHTS))), min_size=1))
def test_the_sentence_counts_grades_and_weights(drawn):
    claims = [
        dataclasses.replace(claim, weight=weight if claim.verdict in ("partly", "wrong") else None)
        for claim, (_, weight) in zip(make_claims(*(grade for grade, _ in drawn)), drawn, strict=True)
    ]
    answer = answer_claims(claims)
    grades, weights = (Counter(getattr(claim, name) for claim in claims) for name in ("verdict", "weight"))
    text = answer.verdict.text
    assert ("; of those that do not hold as they stand " in text) == any(weights[word] for word in WEIGHTS)
    for word, phrases in (
        ("substantive", ("{} is substantive", "{} are substantive")),
        ("nit-pick", ("{} is a nit-pick", "{} are nit-picks")),
        ("strengthens", ("in {} the truth strengthens", "in {} the truth strengthens")),
    ):
        assert (phrases[weights[word] != 1].format(weights[word]) in text) == (weights[word] > 0)
    for word, phrases in (
        ("ok", ("holds", "hold")),
        ("partly", ("partly holds", "partly hold")),
        ("wrong", ("is wrong", "are wrong")),
    ):
        phrase = rf"\b{grades[word]} {phrases[grades[word] != 1]}\b"
        assert (re.search(phrase, text) is not None) == (grades[word] > 0)
    places = [("wrong", "partly", "ok", "not tested").index(row.verdict) for row in answer.results]
    assert places == sorted(places)
    for one, other in pairwise(answer.results):
        if one.verdict == other.verdict and one.weight == "nit-pick":
            assert other.weight == "nit-pick"


@pytest.mark.parametrize("grade", GRADES)
def test_a_grade_that_no_claim_has_is_not_mentioned(grade):
    text = answer_claims(make_claims(grade)).verdict.text
    assert text.startswith("Of 1 statement 1 ")
    assert "0" not in text
    assert "," not in text


def test_a_check_that_fails_is_a_warning():
    claims = make_claims("partly")
    asked = answer_claims(claims, ("claim claim-0: recorded ok, computed partly",))
    assert (asked.verdict.level, asked.verdict.code) == ("warning", "claims-differ")
    assert answer_claims(claims).verdict.code == "claims-graded"
    assert asked.verdict.text == answer_claims(claims).verdict.text
    assert set(VERDICTS) == {"claims-differ", "claims-graded"}


def test_the_recorded_grade_stands_in_no_row():
    answer = answer_claims(make_claims("ok"))
    assert "expected_verdict" not in answer.columns
    assert "expected_verdict" not in answer.to_document(None)["rows"][0]
