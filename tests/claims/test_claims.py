"""The claims: what we compute is what we recorded, and a wrong record is found."""

import dataclasses
import json
import math
import re
from functools import partial

import pytest

from pe_spectra import claims
from pe_spectra.claims import GradedClaim, find_disagreements, grade_claims, read_sources
from pe_spectra.claims.judging import conclude, describe_deviation
from pe_spectra.cli.options import OPTIONS
from pe_spectra.vocabulary import GRADES


def blurs(document):
    """Every reconstruction, panel by panel."""
    return [found for panel in document["panels"] for found in panel["reconstructions"]]


def percent(share):
    return f"{100 * share:.1f} %"


def bound(deviation):
    return "below 1e-12" if abs(deviation) < 1e-12 else "not exact"


def count_decades(document):
    logs = document["log_weights"]
    return (max(logs) - min(logs)) / math.log(10)


#: What the command of a claim prints, made into words that the computed text must have: from its JSON, or from the
#: frequencies of an exported CSV.
SHOWN = {
    "dft-invertible": lambda r: [bound(found["relative_error"]) for found in blurs(r)],
    "dft-odd-length": lambda r: [f"d = {r['rows'][0]['rank']}"],
    "one-hot-no-continuity": lambda r: [f"{lag:.5f} at lag" for lag in r["rows"][0]["separation_by_lag"]],
    "eq15-symbol": lambda r: [f"{sum(r['weights'][:10]):.4f} with w_l"],
    "eq15-normalised": lambda r: [bound(math.fsum(r["weights"]) - 1)],
    "eq15-skewed": lambda r: [percent(sum(r["weights"][:10])), f"weight {max(r['weights']):.4f}"],
    "fig1-uniform": lambda r: [f"ends {r['weights'][0] / r['weights'][1]:.1f} of the middle"],
    "smallest-frequencies": lambda r: [f"{r['omega'][0]:.0f} and {r['omega'][1]:.7f}"],
    "eq16-crossing": lambda r: [f"{row['crossing']:.3f} for d = {row['d']}" for row in r["rows"]],
    "lowest-bin-almost-half": lambda r: [f"{row['inside']} of {row['total']}" for row in r["rows"]],
    "strong-low-pass": lambda r: [f"{100 * sum(r['weights'][:43]):.2f} %"],
    "short-range-ignored": lambda r: [
        f"{r['rows'][0]['separation_by_lag'][lag - 1]:.4f} at lag {lag}" for lag in (1, 10)
    ],
    "original-not-reconstructed": lambda r: [f"error {blurs(r)[0]['relative_error']:.5f}"],
    "fig2-parameters": lambda r: [f"tenth is {blurs(r)[0]['width_10']:.1f}"],
    "fig2-width-30": lambda r: [f"{found['width_10']:.1f}" for found in blurs(r)[:3]],
    "fig2-long-range": lambda r: [percent(blurs(r)[0][name] / 80) for name in ("fwhm", "width_10")],
    "fig2-information-loss": lambda r: [f"10^-{count_decades(r):.2f}"],
    "original-lacks-faithfulness": lambda r: [
        f"separation {r['rows'][0]['min_separation']:.5f}",
        f"{r['rows'][0]['reconstruction']['relative_error']:.5f}",
    ],
    "dft-smooth-surrogate": lambda r: [f"{r['rows'][0]['min_separation']:.5f} to"],
    "theorem-1": lambda r: [f"{r['rows'][0]['collisions']['count']} pairs", str(tuple(r["rows"][0]["closest_pair"]))],
    "eq22-first-form": lambda r: [f"sum {math.fsum(r['weights']):.6f}"],
    "eq22-end-index": lambda r: [f"k runs to {len(r['weights']) - 1}"],
    "dft-flat-except-ends": lambda r: [f"{weight:.8f}" for weight in r["weights"]],
    "dft-perfect-reconstruction": lambda r: [bound(found["relative_error"]) for found in blurs(r)],
    "article-ramp": lambda r: [f"{min(row['distinct'] for row in r['rows'] if row['stage'] == 'code')} in half"],
    "article-wavelengths": lambda w: [f"{1 / w[-1]:.2f} x 2 pi for d = 12", f"first {w[0] * 2:.0f} pi"],
    "reference-periods": lambda w: [f"{len(set(w))} different", f"{math.tau / w[0]:.5f} to {math.tau / w[-1]:.1f}"],
    "reference-unique": lambda r: [f"{r['rows'][0]['min_separation']:.5f}"],
    "reference-t5-buckets": lambda r: [f"starts at {re.search(r'distances from ([0-9]+)', str(r['notes']))[1]}"],
    "series-d-waves": lambda r: [f"{r['rows'][0]['total']} frequencies"],
    "series-growing-wavelength": lambda r: [f"{r['rows'][0]['min_separation']:.5f}"],
    "series-hour-weekday": lambda r: [f"{r['rows'][0]['collisions']['distinct']} different pairs"],
}

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


@pytest.mark.parametrize("name", claims.list_claims())
def test_the_command_of_a_claim_shows_its_number(name, graded, cli):
    """A command of its own prints what is computed; where none does, it is the one that shows this claim."""
    (claim,) = [one for one in graded if one.id == name]
    program, _, line = claim.command.partition(" ")
    assert program == "pe-spectra"
    assert (name in SHOWN) == (line != f"claims {name}")
    is_table = "--output -" in line
    done = cli(line if is_table else f"{line} --json{draw_nothing(line)}")
    assert done.code == 0, done.err
    if is_table:
        shown = [float(row.split(",")[1]) for row in done.out.splitlines()[1:]]
    else:
        shown = json.loads(done.out)
    if name in SHOWN:
        words = SHOWN[name](shown)
        assert words
        assert [word for word in words if word not in claim.computed] == []
    else:
        assert [row["computed"] for row in shown["rows"]] == [claim.computed]


def draw_nothing(line):
    return " --no-figure" if line.split()[0] in ("spectrum", "reconstruct") else ""


@pytest.mark.parametrize("source", claims.CLAIM_SOURCES)
def test_the_claims_of_one_text(source, graded, cli):
    label = claims.CLAIM_SOURCES[source]
    assert label in read_sources()
    rows = json.loads(cli(f"claims --source {source} --json").out)["rows"]
    assert sorted(row["id"] for row in rows) == sorted(claim.id for claim in graded if claim.source == label)
    assert {row["source"] for row in rows} == {label}


def test_ids_and_texts_are_completed():
    assert OPTIONS["claim"]._complete("fig2-w") == ["fig2-width-30"]
    assert OPTIONS["source"]._complete("") == list(claims.CLAIM_SOURCES)


def test_one_claim_is_shown_in_full(graded, cli):
    (claim,) = [one for one in graded if one.id == "fig2-width-30"]
    done = cli("claims fig2-width-30 --source paper --check")
    assert done.code == 0
    assert done.out.startswith(f"fig2-width-30 partly holds. {claim.why}\n")
    for text in (claim.statement, claim.printed, claim.computed, claim.section, claim.command):
        assert text in done.out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("claims fig2-width-3", "ID is no claim (fig2-width-3); did you mean fig2-width-30? an ID that"),
        ("claims theorem-1 --source series", "ID is no claim of --source series (theorem-1); an ID that"),
        ("claims --source papers", "--source is not known (papers); did you mean paper? accepted: paper, article,"),
    ],
)
def test_an_unknown_claim_is_refused(line, told, cli):
    done = cli(line)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {told}")


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
