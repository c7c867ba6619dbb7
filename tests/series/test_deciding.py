"""The choice is the one that the written rules give, and noise, units and origins do not change it."""

import functools
import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.series.deciding import RULES, choose_encoding, find_rule, rank_candidates
from pe_spectra.series.proposing import find_demand
from pe_spectra.series.series_report import describe_series
from pe_spectra.series.suitability import measure_candidate
from pe_spectra.sources import read_encoding
from tests.series.recorded import add_waves
from tests.series.test_periods import KINDS, make

START = np.datetime64("2020-01-01")


@functools.cache  # a report is frozen, and many tests choose for one series
def describe(kind, seed=1, unit=1.0, shift=0.0, scale=1.0):
    times, values, _ = make(kind, seed)
    return describe_series({"x": scale * values}, times * unit + shift, origin=START)


def is_before(one, other):
    """The rules as docs/choosing.md has them, one after another: True, False, or None for a tie."""
    if (one.distinct is False) != (other.distinct is False):
        return other.distinct is False
    counts = [(x.trained_better or 0, x.trained_worse or 0) for x in (one, other)]
    only_worse = [worse > 0 and better == 0 for better, worse in counts]
    if only_worse[0] != only_worse[1]:
        return only_worse[1]
    only_better = [better > 0 and worse == 0 for better, worse in counts]
    if only_better[0] != only_better[1]:
        return only_better[0]
    shown = []
    for x in (one, other):
        seen = [share for at, share in zip(x.at_each, x.shares, strict=True) if at.rise is not None and at.rise > 0.01]
        shown.append(sum(seen) / sum(x.shares) if x.shares else 0)
    for values in (shown, [x.relative_separation or 0.0 for x in (one, other)]):
        first, second = (float(f"{value:.1e}") for value in values)
        if first != second:
            return first > second
    return None


@pytest.mark.few(15)
@pytest.mark.parametrize("kind", KINDS)
def test_the_choice_is_the_one_of_the_written_rules(kind):
    choice = choose_encoding(describe(kind), d=64)
    ranked = [one.candidate for one in choice.ranked]
    for one, other in itertools.combinations(choice.ranked, 2):
        before = is_before(one.candidate, other.candidate)
        assert before in (True, None), (one.candidate.name, other.candidate.name)
        assert (before is None) == (one.rank == other.rank)
    for one in choice.ranked:
        worse = (one.candidate.trained_worse or 0) > 0 and not one.candidate.trained_better
        assert (one.advice == "avoid") == (one.candidate.distinct is False or worse)
        assert (one.advice == "use") == (one.rank == 1 and one.advice != "avoid")
        rule = find_rule(ranked[0], one.candidate)
        assert one.rule == (rule.code if rule else None)
    used = [one for one in choice.ranked if one.advice == "use"]
    assert used, "the short list has one that suits every series"
    assert set(choice.deciding) == {one.rule for one in choice.ranked} - {None}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["30 min", "1 min, two", "uneven, three", "gap, two", "trend", "none", "red noise"])
def test_the_choice_stays_under_noise_units_and_origin(kind):
    def name(choice):
        return [one.candidate.name for one in choice.ranked if one.advice in ("use", "second")]

    first = name(choose_encoding(describe(kind), d=64))
    for other in (describe(kind, scale=-1e-30), describe(kind, shift=1e6), *(describe(kind, seed) for seed in (2, 3))):
        assert name(choose_encoding(other, d=64)) == first
    # times of another unit, without dates: what is measured of encodings of positions is the same
    times, values, _ = make(kind)
    one, other = (choose_encoding(describe_series({"x": values}, unit * times), d=64) for unit in (1.0, 1e3))
    assert name(one) == name(other)


def choose(*specs, kind="30 min", **more):
    report = describe(kind)
    return choose_encoding(report, d=32, candidates=[read_encoding(spec) for spec in specs], **more)


def test_those_that_no_rule_tells_apart_have_one_rank():
    found = choose("sinusoidal:d=32", "sinusoidal:d=32,layout=concatenated", "periods:steps=49", window=49)
    assert [(one.rank, one.advice) for one in found.ranked] == [(1, "use"), (2, "second"), (2, "second")]
    tied = choose("sinusoidal:d=32", "sinusoidal:d=32,layout=concatenated", window=40)
    assert [(one.rank, one.advice, one.rule) for one in tied.ranked] == [(1, "use", None), (1, "use", None)]
    assert tied.deciding == ()


def test_no_norm_decides():
    found = choose("sinusoidal:d=32", "sinusoidal:d=32,scale=100", "sinusoidal:d=32,scale=0.001", window=100)
    assert [one.rank for one in found.ranked] == [1, 1, 1]
    factors = sorted(one.candidate.factor for one in found.ranked)
    np.testing.assert_allclose(factors, [0.01, 1, 1000])
    assert found.deciding == ()


def test_what_would_change_the_choice_is_what_the_other_rules_give():
    report = describe("30 min")
    choice = choose_encoding(report, d=64)
    for change in choice.changes:
        kept = [rule for rule in RULES if rule.code != change.rule]
        values = {
            one.candidate.name: tuple(round(rule.read(one.candidate), 7) for rule in kept) for one in choice.ranked
        }
        assert set(change.names) == {name for name, value in values.items() if value == min(values.values())}
    best = {one.candidate.name for one in choice.ranked if one.rank == 1}
    assert all(set(change.names) != best for change in choice.changes)


#: Periods of columns whose choices are alike, and of some that are not; of noise there are none.
COLUMNS = {
    "one": ((24, 1.0),),
    "two": ((24, 1.0), (50.3, 1.0)),
    "other": ((50.3, 1.0),),
    "quick": ((3.1, 0.7), (5.7, 0.5), (9.1, 0.5)),
    "noise": (),
}


def describe_columns(*names):
    rng, steps = np.random.default_rng(3), np.arange(2000.0)
    columns = {name: add_waves(steps, *COLUMNS[name]) + 0.3 * rng.standard_normal(2000) for name in names}
    return describe_series(columns, steps)


@pytest.mark.parametrize("names", list(itertools.combinations(COLUMNS, 3)))
def test_each_column_chooses_as_if_it_were_alone(names):
    report, window = describe_columns(*names), 128
    specs = ("sinusoidal:d=64", "periods:steps=24+50.3", "periods:steps=3.1+5.7+9.1", "rope:d=64", "alibi")
    candidates = [read_encoding(spec) for spec in specs]
    found = choose_encoding(report, d=64, window=window, candidates=candidates)
    best = {one.candidate.name for one in found.ranked if one.rank == 1}
    assert [one.column for one in found.by_column] == list(names)
    for one, column in zip(found.by_column, report.columns, strict=True):
        alone = choose_encoding(replace(report, columns=(column,)), d=64, window=window, candidates=candidates)
        if one.column == "noise":
            assert (one.wanted, one.seen, one.names, one.agrees) == ((), None, (), None)
            continue
        assert set(one.names) == {other.candidate.name for other in alone.ranked if other.rank == 1}
        assert len(one.wanted) == len(COLUMNS[one.column])
        assert one.agrees is bool(best & set(one.names))
        seen = {other.candidate.name: other.candidate.seen for other in alone.ranked}
        assert one.seen == pytest.approx(seen[found.ranked[0].candidate.name])
    # what is best for each is best for all
    shared = set.intersection(*(set(one.names) for one in found.by_column if one.names))
    assert best == shared or not shared


def test_nothing_suits_where_all_repeat():
    found = choose("dft:d=16", "periods:steps=48", window=100)
    assert {one.advice for one in found.ranked} == {"avoid"}
    assert found.by_column == ()


def test_what_cannot_answer_is_left_out_with_its_reason():
    found = choose("shaw", "sinusoidal:d=32", "one-hot:d=8", window=20)
    assert [one.candidate.name for one in found.ranked] == ["sinusoidal:d=32"]
    assert found.left_out[read_encoding("shaw").write_spec(brief=True)].startswith("its numbers are learned")
    assert found.left_out["one-hot:d=8"] == "it has 8 positions, fewer than the window"


def test_hourly_traffic_of_days_and_weeks():
    """The article's windows of eight days: hour and weekday alone do not name a position, with a timestamp they do."""
    times, values, _ = make("1 h")
    report = describe_series({"x": values}, times, origin=START)
    demand = find_demand(report, d=64, window=192)
    fields = "fields=hour+weekday,start=2020-01-01"
    alone = measure_candidate("fields", read_encoding(f"calendar:{fields}"), report, demand)
    stamped = measure_candidate("stamped", read_encoding(f"calendar:{fields},timestamp=yes"), report, demand)
    assert (alone.distinct, alone.repeats, alone.seen) == (False, 168, 1)
    assert stamped.distinct
    # beside a timestamp of 64 columns neither is seen
    assert not any(at.is_seen for at in stamped.at_each)
    ladder = measure_candidate("ladder", read_encoding("sinusoidal"), report, demand)
    assert all(at.rise < 0 for at in ladder.at_each)
    choice = rank_candidates([alone, stamped], demand, {})
    assert [one.candidate.name for one in choice.ranked] == ["stamped", "fields"]


def test_every_rule_says_what_decides():
    report, window = describe("30 min"), {"window": 100}
    cases = {
        "distinct": ("sinusoidal:d=32", "dft:d=32"),
        "trained": ("sinusoidal:d=32", "alibi"),
        "periods": ("periods:steps=49", "sinusoidal:d=256"),
        "separation": ("sinusoidal:d=32", "sinusoidal:d=32,rho=1e8"),
    }
    for code, specs in cases.items():
        more = window if code != "periods" else {"window": 49}
        encodings = [read_encoding(spec) for spec in specs]
        found = choose_encoding(report, d=32, candidates=encodings, **more)
        first, last = found.ranked[0].candidate, found.ranked[-1].candidate
        rule = find_rule(first, last)
        assert rule.code == found.ranked[-1].rule == code
        assert rule.why(first, last)
    assert {*cases, "norm"} == {rule.code for rule in RULES}


def test_distances_that_decide_are_written_so_that_they_differ():
    one = choose_encoding(describe("30 min"), d=64).ranked[0].candidate
    for own, its in ((0.14502, 0.14498), (0.9, 0.3)):
        first, near = (replace(one, name=f"{value}", relative_separation=value) for value in (own, its))
        told = map(float, re.findall(r"0\.[0-9]+", find_rule(first, near).why(first, near).partition(", those of ")[0]))
        assert next(told) > its


def test_less_than_two_digits_tell_is_no_reason():
    one = choose_encoding(describe("30 min"), d=64).ranked[0].candidate
    first, near = (replace(one, name=f"{value}", relative_separation=value) for value in (0.1414, 0.1412))
    assert find_rule(first, near) is None
    assert find_rule(first, replace(near, relative_separation=0.13)).code == "separation"
