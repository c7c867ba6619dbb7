"""The paper's statements about training follow from the study: nothing without it, and what its runs show with it."""

from dataclasses import replace
from types import ModuleType

import pytest

from pe_spectra import claims
from pe_spectra.claims.judging import Judgement, list_code
from pe_spectra.experiment.design import FULL
from pe_spectra.experiment.runs import open_runs, write_row
from tests.study.made_study import list_study, pretend_study, pretend_trial

IDS = ("systematic-improvement", "short-range-cause")


def pretend_gains(monkeypatch, path, gains, *, seeds=10, matched=99, tasks=("lag", "period", "order", "where", "bag")):
    """A study in which DFT is better than sinusoidal by so much at each norm, for a task; so many seeds at one norm."""
    trials = list_study(("sinusoidal", "dft"), tasks=tasks, seeds=seeds)
    results = [pretend_trial(one) for one in trials if one.norm == "own" or one.seed < matched]
    changed = [
        replace(one, accuracy=0.7 + 0.001 * one.seed + (gains(one.task, one.norm) if one.arm == "dft" else 0.0))
        for one in results
    ]
    with open_runs(path, FULL) as ledger:
        ledger.append_all({one.key: write_row(one) for one in changed})
    pretend_study(monkeypatch, path)
    return {name: claims.find_judges()[name]() for name in IDS}


def test_without_a_study_they_are_not_tested_by_rule(monkeypatch):
    pretend_study(monkeypatch, None)
    for name in IDS:
        assert claims.find_judges()[name]() == Judgement(computed="", verdict="not tested")
        (graded,) = claims.grade_claims(claim=name)
        assert (graded.verdict, graded.computed, graded.how) == ("not tested", "", ())


@pytest.mark.parametrize(
    ("gains", "verdicts"),
    [
        (lambda _task, _norm: 0.1, ("ok", "ok")),
        (lambda _task, norm: 0.1 if norm == "matched" else -0.1, ("wrong", "partly")),
        (lambda _task, _norm: -0.1, ("wrong", "wrong")),
        (lambda task, _norm: 0.1 if task == "where" else -0.1, ("partly", "wrong")),
        (lambda task, _norm: 0.1 if task == "bag" else 0.0, ("not tested", "not tested")),
    ],
)
def test_verdicts_follow_the_runs(monkeypatch, tmp_path, gains, verdicts):
    found = pretend_gains(monkeypatch, tmp_path / "study.csv", gains)
    assert tuple(found[name].verdict for name in IDS) == verdicts


def test_few_seeds_test_nothing(monkeypatch, tmp_path):
    # of four comparisons with eight seeds the least corrected p is 4/128; with seven it is above 0.05
    for seeds, verdict in ((8, "ok"), (7, "not tested")):
        found = pretend_gains(monkeypatch, tmp_path / f"{seeds}.csv", lambda *_: 0.1, seeds=seeds)
        assert found["systematic-improvement"].verdict == verdict
        # nor is anything said where one of the norms alone has too few
        found = pretend_gains(monkeypatch, tmp_path / f"{seeds}-at-one-norm.csv", lambda *_: 0.1, matched=seeds)
        assert found["systematic-improvement"].verdict == verdict


def test_numbers_and_limits_are_said(monkeypatch, tmp_path):
    found = pretend_gains(monkeypatch, tmp_path / "study.csv", lambda _task, norm: 0.1 if norm == "matched" else -0.1)
    assert found["systematic-improvement"].computed == (
        "DFT against sinusoidal at their own norms more accurate in 0 of 4 comparisons, less accurate in 4; "
        "at one norm more accurate in 4 of 4 comparisons, less accurate in 0 "
        "(at least 10 seeds each, corrected p below 0.05; synthetic tasks, a small transformer)"
    )
    assert "in 0 of 3 comparisons, less accurate in 3; at one norm" in found["short-range-cause"].computed
    (graded,) = claims.grade_claims(claim="systematic-improvement")
    assert graded.how[-1].strip().startswith("return conclude(")


def test_the_lines_that_are_shown_judge_as_the_judge_does(monkeypatch, tmp_path):
    pretend_gains(monkeypatch, tmp_path / "study.csv", lambda *_: 0.1)
    for name in IDS:
        judge = claims.find_judges()[name]
        imported = {
            key: value
            for key, value in judge.__globals__.items()
            if isinstance(value, ModuleType | type)
            or getattr(value, "__module__", judge.__module__) != judge.__module__
        }
        exec("\n".join(("from __future__ import annotations", *list_code(judge))), imported)
        assert imported[judge.__name__]() == judge()
