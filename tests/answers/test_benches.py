"""Ratios of processor time as an answer: the verdict, the rows and what is not measured."""

import platform

import numpy as np
import pytest

from pe_spectra.answers.benches import answer_bench
from pe_spectra.benchmarks import SHORT_ROWS, RatioRow, Ratios, measure_rows
from pe_spectra.benchmarks.measuring import compare_calls


def make_row(target, ratios, *, at_most=True):
    measure = (lambda: ratios) if isinstance(ratios, str) else lambda: Ratios(ratios=ratios)
    return RatioRow(name="X", what="this", over="that", target=target, measure=measure, at_most=at_most)


def answer_rows(*rows):
    return answer_bench(tuple(measure_rows(rows)))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_ratios_is_what_the_rows_have(seed):
    draw = np.random.default_rng(seed)
    drawn = [
        make_row(float(draw.uniform(0.1, 2)), tuple(draw.uniform(0.1, 2, 5).tolist()), at_most=bool(draw.integers(2)))
        for _ in range(draw.integers(1, 6))
    ]
    answer = answer_rows(*drawn)
    for row, found in zip(drawn, answer.body.rows, strict=True):
        ratios = np.array(row.measure().ratios)
        assert (found.name, found.what, found.over, found.target) == ("X", "this", "that", row.target)
        assert found.median == np.median(ratios)
        assert [found.low, found.high] == pytest.approx(np.quantile(ratios, [0.1, 0.9]))
        better = found.target >= found.median if found.bound == "<=" else found.target <= found.median
        assert (found.bound == "<=") == row.at_most
        assert found.reached == better
    reached = sum(one.reached for one in answer.body.rows)
    noun = "ratio" if len(drawn) == 1 else "ratios"
    said = f"{reached} of {len(drawn)} {noun} {'is' if reached == 1 else 'are'} as stated or better on this machine."
    assert answer.verdict.text == said
    assert answer.body.reached == reached
    assert answer.verdict.code == ("targets-reached" if reached == len(drawn) else "targets-missed")


def test_a_slow_row_is_missed_and_fails_nothing():
    slow = RatioRow(
        name="X", what="slow", over="fast", target=2, measure=lambda: compare_calls(lambda: sum(range(20000)), int)
    )
    answer = answer_rows(slow, make_row(2.0, (1.0,)))
    assert [one.reached for one in answer.body.rows] == [False, True]
    assert answer.verdict.text.startswith("1 of 2 ratios is")
    assert answer.failed == ()


def test_what_cannot_be_measured_is_left_out_and_said():
    answer = answer_rows(make_row(2.0, "skipped: no clock"), make_row(2.0, (1.0,)))
    assert len(answer.body.rows) == 1
    assert answer.notes == ("X, this over that: skipped: no clock",)


def test_the_machine_is_told():
    body = answer_rows(make_row(2.0, (1.0,))).body
    assert (body.python, body.numpy) == (platform.python_version(), np.__version__)
    assert body.scipy.count(".") >= 1
    assert platform.machine() in body.machine
    assert body.processors is None or body.processors >= 1


def test_progress_is_told_of_each_row():
    told = []
    list(measure_rows([make_row(2.0, (1.0,))] * 3, lambda *where: told.append(where)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_every_row_of_the_command_is_a_ratio_with_its_own_title():
    titles = [(row.name, row.title) for row in SHORT_ROWS]
    assert len(set(titles)) == len(titles)
    assert all(row.over and row.target > 0 for row in SHORT_ROWS)
