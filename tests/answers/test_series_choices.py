"""What is said of a choice is what was measured and what the rules give."""

import numpy as np
import pytest

from pe_spectra.answers.series_answers import answer_series
from pe_spectra.answers.series_choices import explain_choice, judge_choice, list_choice_facts, note_choice
from pe_spectra.series.deciding import RULES, choose_encoding, find_rule
from pe_spectra.series.series_report import describe_series
from pe_spectra.sources import read_encoding
from tests.series.recorded import add_waves
from tests.series.test_periods import describe_kind


def choose(kind, *specs, **more):
    found = describe_kind(kind, np.datetime64("2024-01-01"))
    candidates = [read_encoding(spec) for spec in specs]
    return found, choose_encoding(found, d=64, candidates=candidates, **more)


@pytest.mark.parametrize("kind", ["30 min", "1 min, two", "1 min", "none", "uneven", "gap, two", "1 d, yearly"])
def test_what_is_said_of_a_choice_is_what_was_found(kind):
    report, choice = choose(kind)
    text = answer_series(report, choice).verdict.text
    groups = {
        word: [one.candidate for one in choice.ranked if one.advice == word] for word in ("use", "second", "avoid")
    }
    use, *_ = groups["use"]
    head, _, rest = text.partition(", for ")
    assert head.startswith("Use ")
    assert all(one.name in head for one in groups["use"])
    assert ("no rule tells them apart" in head) == (len(groups["use"]) > 1)
    why = find_rule(use, groups["second"][0]).why(use, groups["second"][0])
    assert (why if len(groups["use"]) == 1 else why.replace("its ", "their ", 1)) in rest
    assert f"second: {groups['second'][0].name}" in rest
    assert ("avoid" in rest) == bool(groups["avoid"])
    facts = dict(answer_series(report, choice).facts)
    assert facts["window"] == f"{choice.demand.window:,} samples, {choice.demand.reason}; width 64"
    for one in groups["avoid"]:
        rule = next(rule for rule in RULES if rule.forbids(one))
        said = facts[f"avoid: {one.name}"]
        assert said.endswith(f"({rule.code})")
        if rule.code == "distinct":
            assert f"in a window of more than {one.repeats:,}" in said
        else:
            assert f"in {one.trained_worse} of {one.trained_of} comparisons" in said
    for change in choice.changes:
        assert all(name in facts[f"without {change.rule}"] for name in change.names)
    assert facts[f"{use.name}: use"] == use.spec
    if use.overlap is not None:
        assert facts[f"{use.name}: spectrum"] == f"overlaps with that of the periods by {100 * use.overlap:.1f} %"
    assert ("beyond it" in facts) == any(not one.inside for one in choice.demand.wanted)


def test_a_norm_is_told_with_its_factor():
    facts = dict(list_choice_facts(choose("30 min", "sinusoidal:d=64,scale=0.1", window=50)[1]))
    name = "sinusoidal:d=64,scale=0.1"
    assert facts[f"{name}: norm"] == "0.5657, multiply it by 10, to that of the sinusoid"
    facts = dict(list_choice_facts(choose("30 min", "sinusoidal:d=64", window=50)[1]))
    assert facts["sinusoidal:d=64: norm"] == "5.657, that of the sinusoid"


def test_ties_and_nothing_that_suits_have_their_verdicts():
    tied = judge_choice(choose("30 min", "sinusoidal:d=64", "rope:d=64", window=100)[1])
    assert tied.code == "tied"
    assert tied.text == "Use sinusoidal:d=64 or rope:d=64 (no rule tells them apart)."
    none = judge_choice(choose("30 min", "dft:d=64", window=100)[1])
    assert (none.level, none.code) == ("warning", "none-suits")
    assert none.text == (
        "Of 1 candidate none suits the series: dft:d=64 (gives positions one vector in a window of more than 64)."
    )
    alone = judge_choice(choose("30 min", "sinusoidal:d=64", window=100)[1])
    assert (alone.level, alone.text) == ("ok", "Use sinusoidal:d=64.")


def choose_columns(**columns):
    rng, steps = np.random.default_rng(3), np.arange(2000.0)
    noisy = {name: add_waves(steps, *waves) + 0.3 * rng.standard_normal(2000) for name, waves in columns.items()}
    specs = ("sinusoidal:d=64", "periods:steps=24+50.3", "periods:steps=3.1+17.93")
    candidates = [read_encoding(spec) for spec in specs]
    return choose_encoding(describe_series(noisy, steps), d=64, window=128, candidates=candidates)


def test_columns_that_agree_and_such_that_decide_otherwise_are_named():
    agreed = choose_columns(a=[(24, 1)], b=[(50.3, 1)], noise=[])
    assert "alone" not in judge_choice(agreed).text
    assert dict(list_choice_facts(agreed))["columns"] == (
        "periods:steps=24+50.3 for a (100.0 % of the variance of its periods shown) and b (100.0 % of the variance of "
        "its periods shown); no period to show: noise"
    )
    parted = choose_columns(a=[(24, 1), (50.3, 1)], quick=[(3.1, 1)], more=[(24, 1)])
    said = "quick alone would use periods:steps=3.1+17.93"
    assert f"; {said}" in judge_choice(parted).text
    shown = "with periods:steps=24+50.3 0.0 % of the variance of its periods shown"
    assert dict(list_choice_facts(parted))["columns"].endswith(f"; {said}, {shown}")
    assert "columns" not in dict(list_choice_facts(choose_columns(a=[(24, 1)])))


def test_what_is_left_out_is_noted_once_for_each_reason():
    _, choice = choose("30 min", "shaw", "t5", "sinusoidal:d=64", window=50)
    (note,) = note_choice(choice)
    assert note.startswith("left out: shaw")
    assert note.endswith("its numbers are learned, and before training nothing can be said of them")


def test_every_rule_is_explained():
    explained = dict(explain_choice())
    assert all(explained[rule.code] == rule.text for rule in RULES)
