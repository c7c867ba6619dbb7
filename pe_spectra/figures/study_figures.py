"""The figures of the study, where there is one: accuracy by arm, and against each of our numbers (Fig. 9 and 10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pe_spectra.answers.learning import LearningReport
from pe_spectra.figures.recipes import Columns, FigureRecipe
from pe_spectra.study.lines import find_study
from pe_spectra.vocabulary import FIGURE_SUFFIXES


def _compute_study(_grid: int) -> LearningReport:
    """The report that both figures draw."""
    from pe_spectra.experiment.committed import report_study

    return report_study()


def _tabulate_arms(report: LearningReport) -> Columns:
    """A row for each network: what it was taught, with which arm, and its accuracy."""
    rows = [
        (one.task, one.length, one.arm, one.norm, seed, accuracy)
        for one in report.arms
        for seed, accuracy in zip(one.seeds, one.accuracies, strict=True)
    ]
    return _turn(("task", "length", "arm", "norm", "seed", "accuracy"), rows)


def _tabulate_numbers(report: LearningReport) -> Columns:
    """A row for each mark: an arm on a task, the number that it has there, and its mean accuracy."""
    rows = [
        (one.number, one.task, one.length, name, value, accuracy)
        for one in report.numbers
        for name, value, accuracy in zip(one.names, one.values, one.accuracies, strict=True)
    ]
    return _turn(("number", "task", "length", "arm", "value", "accuracy"), rows)


def _turn(names: Sequence[str], rows: Sequence[tuple[str | float, ...]]) -> Columns:
    """Columns of rows: words as they are, numbers as float64."""
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return {
        name: np.array(column, dtype=np.str_ if isinstance(column[0], str) else np.float64)
        for name, column in columns.items()
    }


#: Both figures.
STUDY_RECIPES: tuple[FigureRecipe, ...] = (
    FigureRecipe(
        name="fig9_learning",
        title="Accuracy of small networks by encoding, at its own norm and at that of the sinusoid, every seed a dot",
        parameters={"runs": "pe_spectra/study/results.csv"},
        compute=_compute_study,
        tabulate=_tabulate_arms,
        follows_grid=False,
        suffixes=FIGURE_SUFFIXES,
    ),
    FigureRecipe(
        name="fig10_predictors",
        title="Mean accuracy of small networks against each number that is computed of their encoding",
        parameters={"runs": "pe_spectra/study/results.csv"},
        compute=_compute_study,
        tabulate=_tabulate_numbers,
        follows_grid=False,
        suffixes=FIGURE_SUFFIXES,
    ),
)


def list_study_recipes() -> tuple[FigureRecipe, ...]:
    """Return the recipes of the study; none where this version has no study.

    >>> [recipe.name for recipe in list_study_recipes()] in ([], ["fig9_learning", "fig10_predictors"])
    True
    """
    return STUDY_RECIPES if find_study() is not None else ()
