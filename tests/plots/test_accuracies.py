"""The figures of an experiment: every seed a dot, and the numbers of the report at their places."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose

from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.plots.accuracies import _choose_ticks, compose_learning, compose_numbers
from pe_spectra.plots.axes import MOST_POINTS
from pe_spectra.vocabulary import TASKS
from tests.experiment.made_runs import ARMS, make_run
from tests.plots.figures import make_report


@pytest.mark.slow
def test_every_seed_is_a_dot_and_every_arm_has_a_mean() -> None:
    report = make_report()
    figure = compose_learning(report)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["lag", "period", "bag"]
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == [arm for arm, _ in ARMS]
    for axes, task in zip(figure.axes, ("lag", "period", "bag"), strict=True):
        arms = [one for one in report.arms if one.task == task]
        dots = [line for line in axes.lines if line.get_marker() == "o"]
        places = [place for line in dots for place in zip(line.get_xdata(), line.get_ydata(), strict=True)]
        means = [tuple(stroke.mean(axis=0)) for drawn in axes.collections for stroke in drawn.get_segments()]
        in_order = sorted(arms, key=lambda one: one.norm != "own")  # those at their own norms first
        assert len(means) == len(arms)
        for one, (mean, height) in zip(in_order, means, strict=True):
            seeds, places = places[: one.runs], places[one.runs :]
            assert [x for x, _ in seeds] == list(one.accuracies)
            assert one.runs == 4
            # in the row of its arm, the two norms apart, and no seed upon another
            rows = [y - names.index(one.arm) for _, y in seeds]
            assert all(-0.5 < y < 0 if one.norm == "own" else 0 < y < 0.5 for y in rows)
            assert len(set(rows)) == one.runs
            assert_allclose(np.mean(rows), -0.17 if one.norm == "own" else 0.17)
            assert_allclose((mean, height), (one.accuracy, names.index(one.arm) + np.mean(rows)))
        assert places == []
        low, high = axes.get_xlim()
        assert low < 0.5 < 1.0 < high


@pytest.mark.slow
def test_no_dot_is_left_out_of_many() -> None:
    runs = [make_run("lag", "dft", "own", seed, 0.5 + 0.5 * (seed % 97) / 97) for seed in range(MOST_POINTS + 1)]
    figure = compose_learning(compare_runs(runs, scale=6, with_numbers=False))
    (dots,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(dots.get_xdata()) == len(runs)


def test_norms_have_their_colours_and_a_key() -> None:
    figure = compose_learning(make_report())
    words = [text.get_text() for text in figure.texts]
    assert {"own norm (upper dots, open)", "norm of the sinusoid (lower dots, filled)"} <= set(words)
    axes = figure.axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert len({line.get_color() for line in dots}) == 2
    # told apart without colours, too
    assert len({line.get_markerfacecolor() for line in dots}) == 2
    alone = compare_runs([make_run("lag", "dft", "own", 0, 0.5)], scale=6, with_numbers=False)
    assert not any("norm of the" in text.get_text() for text in compose_learning(alone).texts)


def test_lengths_are_named_where_there_are_several() -> None:
    runs = [make_run("lag", "dft", "own", 0, 0.5, length=length) for length in (32, 64)]
    figure = compose_learning(compare_runs(runs, scale=6, with_numbers=False))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["lag", "lag"]
    assert [axes.get_xlabel().rpartition(", ")[2] for axes in figure.axes] == ["32 positions", "64 positions"]


def test_numbers_stand_at_their_places() -> None:
    report = make_report()
    figure = compose_numbers(report)
    names = list(dict.fromkeys(one.number for one in report.numbers))
    tasks = ["lag", "period", "bag"]
    there = {(one.number, one.task) for one in report.numbers}
    kinds = [(name, task) for name in names for task in tasks if (name, task) in there]
    panels = dict(zip(kinds, figure.axes, strict=True))
    assert [panels[names[0], task].get_title(loc="left") for task in tasks] == tasks
    # the words of a row are at the first of its panels that is there
    first = [next(panels[kind] for kind in kinds if kind[0] == name) for name in names]
    labels = [axes.get_xlabel().partition(" (")[0] for axes in first]
    assert labels == [name.replace("_", " ") for name in names]
    assert {axes.get_ylabel() for axes in first} == {"accuracy"}
    assert "kernel half width (positions)" in [axes.get_xlabel() for axes in first]
    for (name, task), axes in panels.items():
        rows = [one for one in report.numbers if (one.number, one.task) == (name, task)]
        own, matched = [], []
        for drawn in (each for each in axes.lines if each.get_marker() == "o"):
            place = own if drawn.get_markerfacecolor() == "none" else matched
            place += list(zip(drawn.get_xdata(), drawn.get_ydata(), strict=True))
        for norm, marks in (("own", own), ("matched", matched)):
            expected = [
                pair for one in rows if one.norm == norm for pair in zip(one.values, one.accuracies, strict=True)
            ]
            assert marks == expected
        told = [one for one in rows if one.rho is not None]
        assert [text.get_text() for text in axes.texts] == [f"{one.rho:+.2f}" for one in told]
        assert [text.get_weight() == "bold" for text in axes.texts] == [one.is_told for one in told]
        # no mark is behind them
        bottom, top = axes.get_ylim()
        assert not rows or (1.0 - bottom) / (top - bottom) < 0.56
        assert axes.get_visible() == bool(rows)


def test_lengths_of_numbers_have_marks_of_their_own() -> None:
    runs = [make_run("lag", arm, "own", 0, 0.5, length=n) for arm in ("dft", "tape", "alibi") for n in (32, 48)]
    figure = compose_numbers(compare_runs(runs, scale=6))
    marks = {line.get_marker() for line in figure.axes[0].lines}
    assert marks >= {"o", "s"}
    assert "squares: longer windows" in " ".join(text.get_text() for text in figure.texts)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.03, 0.71), (9.0, 17.3), (0.9999, 1.0001), (-1e-7, 3e-7)])
def test_ticks_are_few_and_within(low: float, high: float) -> None:
    ticks = _choose_ticks(low, high, is_log=False)
    assert 1 <= len(ticks) <= 4
    assert all(low - 1e-12 <= tick <= high + 1e-12 for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(0.13, 7.0), (1e-4, 20.0), (0.5, 40.0), (1e-12, 1e12)])
def test_ticks_of_logarithmic_axes(low: float, high: float) -> None:
    ticks = _choose_ticks(low, high, is_log=True)
    assert 1 <= len(ticks) <= 4
    assert all(low <= tick <= high for tick in ticks)
    mantissas = [tick / 10.0 ** np.floor(np.log10(tick) + 1e-9) for tick in ticks]
    assert set(np.round(mantissas, 9)) <= {1.0, 3.0}


def test_long_names_of_tasks_are_whole_beside_seven_others() -> None:
    runs = [make_run(task, "dft", "own", 0, 0.5) for task in TASKS]
    figure = compose_learning(compare_runs(runs, scale=6, with_numbers=False))
    assert [axes.get_title(loc="left").replace("\n", "") for axes in figure.axes] == list(TASKS)
    for axes in figure.axes:
        words = axes.get_title(loc="left")
        (head,) = [part for part in axes.get_children() if isinstance(part, Text) and part.get_text() == words]
        assert head.get_window_extent().width <= axes.get_window_extent().width
