"""The claims: what we compute is what we recorded, and a wrong record is found."""

import dataclasses
import shlex
from functools import partial

import pytest

from pe_spectra import claims
from pe_spectra.claims import GradedClaim, find_disagreements, grade_claims, read_sources
from pe_spectra.claims.judging import conclude, describe_deviation
from pe_spectra.vocabulary import GRADES

SUBCOMMANDS = {"spectrum", "reconstruct", "faithfulness", "count-low-bin", "figures", "claims"}

#: Numbers that the computed text of a claim must hold; from the reading notes, not the program.
ANCHORS = {
    "eq16-crossing": ["103.04", "244.62"],
    "lowest-bin-almost-half": ["76 of 128", "133 of 256", "59.4", "52.0", "40.6", "48.0"],
    "eq15-skewed": ["74.2 %", "0.1089", "bin 1"],
    "fig2-width-30": ["32.6", "11.9"],
    "original-not-reconstructed": ["1.14867", "0.34027"],
    "fig2-information-loss": ["10^-105.32"],
    "original-lacks-faithfulness": ["2.67120", "1.14867"],
    "short-range-ignored": ["2.6712"],
    "theorem-1": ["44 pairs", "(0, 256)"],
    "dft-smooth-surrogate": ["1.41421"],
    "dft-perfect-reconstruction": ["0.0442", "0.99902"],
    "fig1-uniform": ["0.5 ", "0.5499"],
    "eq22-second-form": ["1.015625", "2.007812"],
    "table1-f1": ["0.97066", "6 of 6", "5 of 6"],
    "article-ramp": ["4097"],
    "article-wavelengths": ["2154.43", "9646.62"],
    "reference-linear-plus": ["16 with it"],
    "reference-unique": ["3.71427"],
    "reference-t5-buckets": ["113"],
    "series-hour-weekday": ["168", "192"],
    "series-global-timestamp": ["192 different"],
    "series-d-waves": ["256 waves", "128 frequencies"],
}


@pytest.fixture(scope="module")
def graded() -> tuple[GradedClaim, ...]:
    return grade_claims()


def test_every_computed_verdict_is_the_recorded_one(graded):
    assert {c.id: c.verdict for c in graded} == {c.id: c.expected_verdict for c in graded}
    assert find_disagreements(graded) == ()


def test_ids_are_unique_and_every_judge_has_its_claim(graded):
    ids = [claim.id for claim in graded]
    assert len(set(ids)) == len(ids)
    assert set(claims.JUDGES) <= set(ids)


def test_what_has_no_judge_is_not_tested_and_nothing_else(graded):
    for claim in graded:
        assert (claim.verdict == "not tested") == (claim.id not in claims.JUDGES), claim.id
        assert bool(claim.computed) == (claim.verdict != "not tested"), claim.id


def test_judges_of_different_texts_do_not_hide_each_other():
    modules = (claims.paper_original, claims.paper_dft, claims.articles)
    assert len(claims.JUDGES) == sum(len(claims._list_judges(module)) for module in modules)


def test_the_numbers_are_those_of_the_reading_notes(graded):
    computed = {claim.id: claim.computed for claim in graded}
    missing = [
        f"{name}: {anchor!r} is not in {computed[name]!r}"
        for name, anchors in ANCHORS.items()
        for anchor in anchors
        if anchor not in computed[name]
    ]
    assert missing == []


def test_all_verdicts_occur_and_no_others(graded):
    assert {claim.verdict for claim in graded} == set(GRADES)
    assert {claim.expected_verdict for claim in graded} <= set(GRADES)


def test_texts_are_filled_and_sources_are_cited(graded):
    sources = read_sources()
    assert {claim.source for claim in graded} == set(sources)
    for claim in graded:
        for field in ("id", "source", "section", "statement", "printed", "why", "command"):
            text = getattr(claim, field)
            assert text, (claim.id, field)
            assert text == text.strip(), (claim.id, field)
            assert "\n" not in text, (claim.id, field)
        assert claim.why.endswith("."), claim.id
        assert "nan" not in claim.computed.split(), claim.id


def test_commands_can_be_typed(graded):
    for claim in graded:
        words = shlex.split(claim.command)
        assert words[0] == "pe-spectra", claim.id
        assert words[1] in SUBCOMMANDS, claim.id


def test_a_wrong_record_is_found(graded):
    wrong = dataclasses.replace(graded[0], expected_verdict="wrong")
    assert graded[0].verdict != "wrong"
    assert find_disagreements((wrong, *graded[1:])) == (wrong,)


def test_a_wrong_record_in_the_file_is_found(monkeypatch):
    document = claims._load()
    records = [dict(record) for record in document["claims"]]
    changed = next(record for record in records if record["id"] == "eq16-crossing")
    changed["verdict"] = "partly"
    monkeypatch.setattr(claims, "_load", lambda: {"claims": [changed]})
    found = find_disagreements(grade_claims())
    assert [(claim.id, claim.verdict, claim.expected_verdict) for claim in found] == [("eq16-crossing", "ok", "partly")]


def test_a_verdict_recorded_without_a_judge_is_found(monkeypatch):
    record = dict(claims._load()["claims"][0], id="nobody-computes-this", verdict="ok")
    monkeypatch.setattr(claims, "_load", lambda: {"claims": [record]})
    assert [claim.verdict for claim in find_disagreements(grade_claims())] == ["not tested"]


def test_other_numbers_give_another_verdict(monkeypatch):
    """The verdict follows the numbers: another number of positions turns Theorem 1's."""
    from pe_spectra.claims import paper_dft

    measure = paper_dft.measure_faithfulness
    for positions, verdict in ((200, "ok"), (300, "wrong")):
        fixed = partial(_measure_at, measure, positions)
        monkeypatch.setattr(paper_dft, "measure_faithfulness", fixed)
        assert claims.JUDGES["theorem-1"]().verdict == verdict


def _measure_at(measure, positions, encoding, **given):
    return measure(encoding, **{**given, "length": positions})


def test_progress_counts_every_claim(graded):
    calls: list[tuple[int, int]] = []
    assert grade_claims(lambda done, total: calls.append((done, total))) == graded
    assert calls == [(n, len(graded)) for n in range(1, len(graded) + 1)]


def test_a_claim_cannot_be_changed(graded):
    with pytest.raises(dataclasses.FrozenInstanceError):
        graded[0].verdict = "ok"


@pytest.mark.parametrize(
    ("holds", "partly", "verdict"),
    [(True, False, "ok"), (True, True, "ok"), (False, True, "partly"), (False, False, "wrong")],
)
def test_conclude(holds, partly, verdict):
    assert conclude("x", holds=holds, partly=partly).verdict == verdict


def test_rounding_is_written_as_a_bound():
    assert describe_deviation(3e-16) == "below 1e-12"
    assert describe_deviation(2e-12) == "2e-12"
