"""The claims: what we compute is what we recorded, and a wrong record is found."""

import csv
import dataclasses
import io
import json
import re
from functools import partial
from importlib import import_module
from types import ModuleType

import pytest

from pe_spectra import claims
from pe_spectra.claims import GradedClaim, find_disagreements, grade_claims, read_sources
from pe_spectra.claims.judging import MEANINGS, RULE, Judgement, conclude, describe_deviation
from pe_spectra.cli.options import OPTIONS
from pe_spectra.vocabulary import GRADES, WEIGHTS


def cells(rows, column):
    """A column of numbers; the first two columns of a kernel or of frequencies have the lag, or the index."""
    return [float(row[column]) for row in rows]


def bound(deviation):
    return "below 1e-12" if abs(deviation) < 1e-12 else "not exact"


def find_ends(row):
    """The smallest and the largest singular value of a table."""
    return [f"{end(row['singular_values']):.12f}" for end in (min, max)]


#: What the command of a claim prints, its rows or its JSON, made into words that the computed text must have.
SHOWN = {
    "eq1-dimensions": lambda r: [f"{r['metrics']['columns']:.0f} entries"],
    "dft-number-of-terms": lambda r: [f"rank {r[0]['rank']}"],
    "dft-orthogonality": lambda r: [" to ".join(find_ends(r["rows"][0]))],
    "dft-invertible": lambda r: [bound(error) for error in cells(r, "relative_error")],
    "dft-odd-length": lambda r: [
        " to ".join(find_ends(r["rows"][0])),
        bound(r["rows"][0]["reconstruction"]["relative_error"]),
    ],
    "one-hot-no-continuity": lambda r: [
        f"{r['rows'][0]['separation_by_lag'][lag - 1]:.5f} at lag {lag}" for lag in (1, 79)
    ],
    "eq15-normalised": lambda r: [f"sum {r['summary']['low_bin_mass']:.12f}"],
    "eq15-skewed": lambda r: [f"{100 * sum(cells(r, 'weight')[:10]):.1f} %", f"weight {max(cells(r, 'weight')):.4f}"],
    "fig1-uniform": lambda r: [
        f"{cells(r, 'reference')[128]:.8f} at pi, {cells(r, 'reference')[64]:.7f} at pi/2",
        f"{cells(r, 'weight')[128]:.6f} at pi, {cells(r, 'weight')[64]:.6f} at pi/2",
    ],
    "smallest-frequencies": lambda r: ["{:.0f} and {:.7f}".format(*cells(r, "omega"))],
    "eq16-crossing": lambda r: [f"{float(row['crossing']):.3f} for d = {row['d']}" for row in r],
    "lowest-bin-almost-half": lambda r: [
        "; ".join(f"{row['inside']} of {row['total']} ({100 * float(row['share_inside']):.1f} %)" for row in r),
        f"outside: {', '.join(row['outside'] for row in r)}",
    ],
    "strong-low-pass": lambda r: [
        f"weight {max(cells(r, 'weight')):.4f}",
        f"{cells(r, 'weight')[43]:.6f} from a third of the axis on (bin 43)",
        f"{cells(r, 'weight')[86]:.1e} from two thirds on (bin 86)",
    ],
    "short-range-ignored": lambda r: [
        f"{r['rows'][0]['separation_by_lag'][lag - 1]:.4f} at lag {lag}" for lag in (1, 10)
    ],
    "original-not-reconstructed": lambda r: [
        f"error {float(r[0]['relative_error']):.5f}, peak {float(r[0]['peak_value']):.5f}",
        f"cosine {float(r[0]['cosine']):.5f}",
    ],
    "l2-norm-kept": lambda r: [
        f"{float(r[0]['peak_value']):.8f} / {float(r[0]['cosine']):.8f}",
        f"{float(r[0]['relative_error']):.5f}, without rescaling {float(r[0]['relative_error_unscaled']):.5f}",
    ],
    "fig2-parameters": lambda r: [f"tenth is {cells(r, 'width_10')[0]:.1f}"],
    "fig2-width-30": lambda r: [
        "width {1:.1f} at a tenth of the peak".format(*cells(r, "width_10")),
        "{1:.1f} at half".format(*cells(r, "fwhm")),
        "{0:.1f} at bandwidth 1, {2:.1f} at bandwidth 16, {4:.1f} for rho = 100".format(*cells(r, "width_10")),
    ],
    "fig2-long-range": lambda r: [
        f"{float(r[0]['fwhm']):.1f} of S = 80 positions at half of the peak, {float(r[0]['width_10']):.1f} at a tenth"
    ],
    "fig2-information-loss": lambda r: [
        f"{cells(r, 'weight')[1]:.4f} at bin 1 to {cells(r, 'weight')[128]:.1e} at bin 128",
        f"bin 73 ({cells(r, 'weight')[73]:.1e})",
    ],
    "original-lacks-faithfulness": lambda r: [
        f"injective: {r[0]['injective']}, smallest separation {float(r[0]['min_separation']):.5f}",
        f"Algorithm 1 {float(r[0]['relative_error']):.5f}",
    ],
    "faithfulness-leads-to-dft": lambda r: [
        f"separation {float(r[0]['min_separation']):.5f} on {r[0]['length']} positions, rank {r[0]['rank']}",
        f"DFT encoding has rank {r[1]['rank']}",
    ],
    "dft-smooth-surrogate": lambda r: [
        f"positions {cells(r, 'min_separation')[0]:.5f}, over",
        f"of all {cells(r, 'relative_separation')[0]:.8f}",
        f"squared speed in s at the positions {cells(r, 'fisher_information_mean')[0]:.5f}",
    ],
    "eq19-index": lambda r: [
        "printed result is {0:.6f}, phi_2K {0:.6f}, phi_K {1:.6f}".format(float(r[1]["c254"]), float(r[1]["c127"]))
    ],
    "theorem-1": lambda r: [
        f"{r[0]['collisions']} pairs",
        f"({r[0]['closest_pair'].replace(' ', ', ')})",
        f"S = {r[0]['length']}: {r[0]['injective']}",
    ],
    "proof-diagonal": lambda r: [f"{cells(r, 'head0')[0]:.6f} at s = t"],
    "proof-off-diagonal": lambda r: [
        bound(max(map(abs, cells(r, "head0")[1:256]))),
        f"at s - t = 256: {cells(r, 'head0')[256]:.6f}",
    ],
    "eq22-first-form": lambda r: [
        "{:.8f} at both ends, {:.8f} between".format(*r["weights"]),
        f"sum {r['summary']['low_bin_mass']:.6f}",
    ],
    "eq22-end-index": lambda r: [f"k runs to {r[-1]['k']}, where omega is {cells(r, 'omega')[-1]:.6f}"],
    "dft-flat-except-ends": lambda r: [
        f"{cells(r, 'weight')[1]:.8f}",
        bound(max(cells(r, "weight")[1:-1]) - min(cells(r, "weight")[1:-1])),
        f"ends {cells(r, 'weight')[0]:.8f}, {cells(r, 'weight')[-1]:.8f}",
    ],
    "dft-unbiased": lambda r: [
        f"mean square {r['panels'][0]['multipliers'][0]:.8f}",
        bound(max(r["panels"][0]["multipliers"]) - min(r["panels"][0]["multipliers"])),
    ],
    "dft-perfect-reconstruction": lambda r: [bound(error) for error in cells(r, "relative_error")],
    "article-difference-tracks-distance": lambda r: [
        "ramp {:.4f}, sinusoid {:.4f}, DFT".format(*cells(r[:0:-1], "distance_lag_spearman"))
    ],
    "article-ramp": lambda r: [
        f"{row['distinct']} in {name}"
        for row, name in zip(r[1::3], ("double", "single precision", "half precision"), strict=True)
    ],
    "article-wavelengths": lambda r: [
        f"frequencies {cells(r, 'frequency')[0]:g} to {cells(r, 'frequency')[-1]:.9f}",
        f"each {cells(r, 'frequency')[1]:.6f} of",
    ],
    "article-linear-offset": lambda r: [f"R**2 {cells(r, 'shift_linearity_worst')[0]:.10f}"],
    "article-clip": lambda r: [f"{r[0]['rank']} distinct vectors for 21 lags"],
    "reference-periods": lambda r: [
        f"i = 0 .. {r[-1]['index']} of frequencies {cells(r, 'frequency')[0]:g} to {cells(r, 'frequency')[-1]:.9f}",
        bound(max(abs(w * 1e4 ** (i / 256) - 1) for i, w in enumerate(cells(r, "frequency")))),
    ],
    "reference-linear-plus": lambda r: [f"norm {r['norm median']:g} "],
    "reference-bounded": lambda r: [
        f"smallest {min(min(cells(r, f'c{i}')) for i in range(512)):.10f}",
        f"largest {max(max(cells(r, f'c{i}')) for i in range(512)):.10f}",
    ],
    "reference-unique": lambda r: [f"injective: {r[0]['injective']}", f"{float(r[0]['min_separation']):.5f}"],
    "series-d-waves": lambda r: [f"{r[0]['d']} waves, {r[0]['total']} frequencies"],
    "series-growing-wavelength": lambda r: [
        f"{float(r[0]['min_separation']):.5f} of {r[0]['length']} positions",
    ],
    "series-hour-weekday": lambda r: [f"{192 - int(r[0]['collisions'])} different pairs"],
    "series-global-timestamp": lambda r: [f"{r['rows'][0]['collisions']['distinct']} different triples"],
}

#: A number in a text: no part of a word, no exponent of a formula.
NUMBER = re.compile(r"(?<![\w.*])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


def read(out):
    """What a command printed: JSON, CSV, the rows below its facts, or its facts where it has no rows."""
    if out.startswith("{"):
        return json.loads(out)
    block = out.rstrip("\n").split("\n\n")[-1]
    if "\t" in block or "," in block.split("\n")[0]:
        return list(csv.DictReader(io.StringIO(block), delimiter="\t" if "\t" in block else ","))
    facts = (line.split(": ", 1) for line in block.splitlines())
    return {label: float(text) for label, text in facts if NUMBER.fullmatch(text)}


def is_printed(number, values):
    """Whether one of the values is this number, to its digits."""
    digits = len(number.partition("e")[0].partition(".")[2])
    form = f".{digits}{'e' if 'e' in number else 'f'}"
    return any(f"{value:{form}}" == number for value in values)


#: Numbers that the computed text of a claim must hold; from the reading notes, not the program.
ANCHORS = {
    "eq16-crossing": ["103.04", "244.62"],
    "lowest-bin-almost-half": ["76 of 128", "133 of 256", "59.4", "52.0", "52, 123"],
    "eq15-skewed": ["74.2 %", "0.1089", "bin 1"],
    "fig2-width-30": ["32.6", "11.9", "20.7"],
    "original-not-reconstructed": ["1.14867", "0.34027"],
    "fig2-information-loss": ["0.1089", "5.2e-107"],
    "original-lacks-faithfulness": ["2.67120", "1.14867"],
    "short-range-ignored": ["2.6712", "9.1149"],
    "theorem-1": ["44 pairs", "(0, 256)"],
    "dft-smooth-surrogate": ["1.41421"],
    "dft-perfect-reconstruction": ["0.0442"],
    "fig1-uniform": ["0.00390625", "0.0078125", "0.004389"],
    "eq22-second-form": ["1.015625", "2.007812"],
    "table1-f1": ["0.97066", "6 of 6", "5 of 6"],
    "article-ramp": ["4097"],
    "article-wavelengths": ["0.000464159"],
    "reference-linear-plus": ["norm 16 "],
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


#: Judged by the study; tests/claims/test_training.py.
OF_TRAINING = {name for name, judge in claims.find_judges().items() if judge.__module__.endswith("paper_training")}


def test_ids_are_unique_and_every_judge_has_its_claim(graded):
    ids = [claim.id for claim in graded]
    assert len(set(ids)) == len(ids)
    assert set(claims.find_judges()) <= set(ids)


def test_what_has_no_judge_is_not_tested_and_nothing_else(graded):
    for claim in graded:
        # whether a study is there, and says anything, is no matter of these
        if claim.id not in OF_TRAINING:
            assert (claim.verdict == "not tested") == (claim.id not in claims.find_judges()), claim.id
        assert bool(claim.computed) == (claim.verdict != "not tested"), claim.id


def test_judges_of_different_texts_do_not_hide_each_other():
    modules = [import_module(f"pe_spectra.claims.{name}") for name in claims._MODULES]
    assert len(claims.find_judges()) == sum(len(claims._list_judges(module)) for module in modules)


def test_the_numbers_are_those_of_the_reading_notes(graded):
    computed = {claim.id: claim.computed for claim in graded}
    missing = [
        f"{name}: {anchor!r} is not in {computed[name]!r}"
        for name, anchors in ANCHORS.items()
        for anchor in anchors
        if anchor not in computed[name]
    ]
    assert missing == []


def test_what_does_not_hold_as_it_stands_has_a_weight_and_nothing_else(graded):
    for claim in graded:
        assert (claim.weight is not None) == (claim.verdict in ("partly", "wrong")), claim.id
    assert {claim.weight for claim in graded} == {None, *WEIGHTS} == {None, *MEANINGS}
    # what it says is said to be so
    for claim in graded:
        if claim.weight == "strengthens":
            assert re.search("stronger|more than|as the text wants", claim.why), claim.id


def test_statements_that_are_alike_are_judged_alike(graded):
    """One rule: number types and what is left open are not held against a text, code is judged as it is printed."""
    found = {claim.id: (claim.verdict, claim.weight) for claim in graded}
    assert found["article-ramp"] == found["reference-unique"] == found["article-wavelengths"] == ("ok", None)
    assert found["series-d-waves"] == found["reference-periods"] == ("partly", "nit-pick")
    assert found["reference-rotary"] == ("partly", "nit-pick")
    assert found["series-growing-wavelength"] == ("partly", "strengthens")
    assert found["lowest-bin-almost-half"] == ("wrong", "strengthens")
    computed = {claim.id: claim.computed for claim in graded}
    assert "4097 in half precision" in computed["article-ramp"]
    assert computed["reference-rotary"].endswith("without a list of positions the code stops")
    assert "100000 positions, which is beyond the longest wavelength" in computed["series-growing-wavelength"]


def test_table_1_is_not_said_to_be_of_so_many_runs(graded):
    """It has single numbers; of how many runs, the paper does not say."""
    (claim,) = [claim for claim in graded if claim.id == "table1-consistent"]
    assert re.search(r"\brun", f"{claim.why} {claim.statement}") is None
    assert "single numbers" in claim.why


def test_the_rule_is_shown_with_the_claims(cli):
    for line in ("claims --source series", "claims theorem-1"):
        out = cli(line).out
        assert [f"rule: {text}" in out for text in RULE] == [True] * len(RULE)
    assert f"weight: nit-pick: {MEANINGS['nit-pick']}" in cli("claims eq19-index").out
    assert "weight: " not in cli("claims proof-diagonal").out


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


@pytest.mark.few(9, keep=["eq22-end-index", "systematic-improvement"])
@pytest.mark.parametrize("name", claims.list_claims())
def test_the_command_of_a_claim_shows_its_number(name, graded, cli):
    """It prints every number that is computed, to its digits; where none does, it shows this claim, and how."""
    (claim,) = [one for one in graded if one.id == name]
    program, _, line = claim.command.partition(" ")
    assert program == "pe-spectra"
    assert (name in SHOWN) == (line != f"claims {name}")
    done = cli(line, PE_SPECTRA_NO_FIGURE="1")
    assert done.code == 0, done.err
    if name not in SHOWN:
        assert f"computed: {claim.computed}\n" in done.out or not claim.computed
        assert [row for row in done.out.splitlines() if row.startswith("how: ")] == [f"how: {row}" for row in claim.how]
        return
    words = SHOWN[name](read(done.out))
    assert [word for word in words if word not in claim.computed] == []
    bounds = claim.computed.count("below 1e-12")
    assert len({word for word in words if word == "below 1e-12"}) == bounds
    values = {float(number) for number in NUMBER.findall(f"{done.out} {done.err}")}
    given = NUMBER.findall(f"{line} {claim.statement} {claim.printed}")
    numbers = NUMBER.findall(claim.computed.replace("below 1e-12", ""))
    assert [number for number in numbers if number not in given and not is_printed(number, values)] == []


def test_how_a_claim_is_computed_is_all_of_it(graded):
    """The lines that are shown, run beside nothing but what their module imports, judge as the judge does."""
    for claim in graded:
        assert bool(claim.how) == (claim.verdict != "not tested"), claim.id
        if claim.how:
            judge = claims.find_judges()[claim.id]
            imported = {
                name: value
                for name, value in judge.__globals__.items()
                if isinstance(value, ModuleType | type)
                or getattr(value, "__module__", judge.__module__) != judge.__module__
            }
            exec("\n".join(("from __future__ import annotations", *claim.how)), imported)
            assert imported[judge.__name__]() == Judgement(computed=claim.computed, verdict=claim.verdict)


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
        assert claims.find_judges()["theorem-1"]().verdict == verdict


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
