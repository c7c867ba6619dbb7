"""The answer about graded claims: its order, its sentence, and what a failed check changes."""

import pytest

from pe_spectra.answers.catalogues import CLAIM_VERDICTS, answer_claims
from pe_spectra.claims import GradedClaim
from pe_spectra.vocabulary import GRADES

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
    assert answer.verdict.text == "Of 5 statements 1 hold, 1 partly hold, 2 are wrong and 1 cannot be tested here."


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
    assert set(CLAIM_VERDICTS) == {"claims-differ", "claims-graded"}


def test_the_recorded_grade_stands_in_no_row():
    answer = answer_claims(make_claims("ok"))
    assert "expected_verdict" not in answer.columns
    assert "expected_verdict" not in answer.to_document(None)["rows"][0]
