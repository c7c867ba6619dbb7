"""What networks learned: accuracy by arm with every seed a dot, and against each of our numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.learning import ArmComparison, LearningReport, NumberCorrelation, judge_learning
from pe_spectra.metrics import METRICS
from pe_spectra.plots.axes import find_range, head_panel, write_number
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    TICK_SIZE,
    VERMILION,
    LineStyle,
    curve_style,
    escape_sentence,
    escape_text,
    fixed_style,
    shorten_text,
)
from pe_spectra.vocabulary import NORMS

#: Inches of one arm, of the names at the left of a panel, and of a panel of a number.
_ROW, _NAMES, _SQUARE = 0.17, 1.30, 1.25
#: Of the two norms: colour, and how far its dots stand above or below the middle of the row.
_STYLES: dict[str, tuple[str, float]] = {NORMS[0]: (BLUE, -0.17), NORMS[1]: (VERMILION, 0.17)}
_KEY: tuple[tuple[str, LineStyle], ...] = (
    ("own norm", {"color": BLUE, "linestyle": "-"}),
    ("norm of the sinusoid", {"color": VERMILION, "linestyle": "-"}),
)
_DOT = 2.6
#: Accuracy of a judge who does not look.
_CHANCE = 0.5
#: From this quotient of the largest and the smallest on an axis is logarithmic.
_WIDE = 30.0
#: Colours before line styles change, and with them the marks.
_COLOURS = 6


@fixed_style()
def compose_learning(report: LearningReport) -> Figure:
    """The figure of `pe-spectra experiment report`: a panel for each task and length, a row for each arm."""
    places = _list_places(report.arms)
    across = min(2, len(places))
    rows = -(-len(places) // across)
    heights = tuple(
        _ROW * max(len(_list_arms(report, place)) for place in places[row * across : (row + 1) * across]) + 0.1
        for row in range(rows)
    )
    layout = Layout(
        title=escape_sentence(judge_learning(report).text.removesuffix(".")),
        heights=heights,
        key=_KEY if any(one.norm == NORMS[1] for one in report.arms) else _KEY[:1],
        small_print=(
            "A dot is a network (one seed), a stroke the mean over seeds. Dotted: chance.",
            "Accuracy: the share of test windows judged rightly.",
        ),
        left=_NAMES,
        top=0.26,
        gap=0.52,
        width=COLUMN_WIDTH if across == 1 else PAGE_WIDTH,
        columns=across,
        cells=len(places),
    )
    figure, panels = lay_out(layout)
    for axes, place in zip(panels, places, strict=True):
        _draw_arms(axes, report, place)
    for axes in panels[::across]:
        axes.set_ylabel("encoding")
    return figure


def draw_learning(axes: Axes, report: LearningReport) -> None:
    """Draw the first task of a report, with its labels."""
    _draw_arms(axes, report, _list_places(report.arms)[0])
    axes.set_ylabel("encoding")


@fixed_style()
def compose_numbers(report: LearningReport) -> Figure:
    """The figure of `pe-spectra experiment report --by-number`: accuracy against each number, tasks by colour."""
    names = list(dict.fromkeys(one.number for one in report.numbers))
    tasks = list(dict.fromkeys(one.task for one in report.numbers))
    across = min(3, len(names))
    dashed = " Marks of tasks with a broken line are open." if len(tasks) > _COLOURS else ""
    layout = Layout(
        title="Mean accuracy of an arm against each of our numbers",
        heights=(_SQUARE,) * -(-len(names) // across),
        key=tuple((task, _find_style(place)) for place, task in enumerate(tasks)),
        small_print=(
            f"A mark is an arm at one norm, on one task.{dashed}",
            "What goes along with accuracy need not be its cause.",
        ),
        left=0.50,
        right=0.10,
        top=0.12,
        gap=0.50,
        width=(COLUMN_WIDTH, 0.75 * PAGE_WIDTH, PAGE_WIDTH)[across - 1],
        columns=across,
        cells=len(names),
    )
    figure, panels = lay_out(layout)
    low, high = _find_limits([one.accuracies for one in report.numbers])
    for place, (axes, name) in enumerate(zip(panels, names, strict=True)):
        _draw_number(axes, [one for one in report.numbers if one.number == name], tasks)
        axes.set_ylim(low, high)
        if place % across == 0:
            axes.set_ylabel("accuracy")
    return figure


def _find_style(place: int) -> LineStyle:
    """Colour of a task; of those beyond the colours the line is broken, and marks are open."""
    return {"color": curve_style(place)["color"], "linestyle": "-" if place < _COLOURS else (0, (2, 1.5))}


def _list_places(arms: Sequence[ArmComparison]) -> list[tuple[str, int]]:
    return list(dict.fromkeys((one.task, one.length) for one in arms))


def _list_arms(report: LearningReport, place: tuple[str, int]) -> list[str]:
    return list(dict.fromkeys(one.arm for one in report.arms if (one.task, one.length) == place))


def _find_limits(accuracies: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Limits of accuracy that hold all of it, and chance."""
    low, high = find_range(np.array([_CHANCE, 1.0]), *(np.asarray(part, dtype=float) for part in accuracies))
    return low - 0.03, high + 0.03


def _draw_arms(axes: Axes, report: LearningReport, place: tuple[str, int]) -> None:
    """Draw the seeds of every arm as dots, the mean as a stroke."""
    names = _list_arms(report, place)
    axes.axvline(_CHANCE, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0)
    for one in report.arms:
        if (one.task, one.length) != place:
            continue
        colour, beside = _STYLES[one.norm]
        row = names.index(one.arm) + beside
        shade: dict[str, Any] = {"color": colour, "linestyle": "none", "markeredgewidth": 0.5}
        axes.plot(one.accuracies, [row] * one.runs, marker="o", markersize=_DOT, markerfacecolor="none", **shade)
        axes.plot([one.accuracy] * 2, [row - 0.2, row + 0.2], color=colour, linewidth=1.6, solid_capstyle="butt")
    axes.set(xlim=_find_limits([one.accuracies for one in report.arms]), ylim=(len(names) - 0.4, -0.6))
    labels = [shorten_text(escape_text(name), TICK_SIZE, _NAMES - 0.4) for name in names]
    axes.set_yticks(range(len(names)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("accuracy (share of test windows)", labelpad=1)
    several = len({length for _, length in _list_places(report.arms)}) > 1
    head_panel(axes, f"{place[0]}, {place[1]} positions" if several else place[0])


def _draw_number(axes: Axes, rows: Sequence[NumberCorrelation], tasks: Sequence[str]) -> None:
    """Draw accuracy against one number, a colour for each task."""
    known = np.concatenate([np.asarray(one.values, dtype=float) for one in rows])
    if known.min() > 0 and known.max() > _WIDE * known.min():
        axes.set_xscale("log")
    axes.axhline(_CHANCE, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0)
    for one in rows:
        place = tasks.index(one.task)
        colour = curve_style(place)["color"]
        face = colour if place < _COLOURS else "none"
        axes.plot(
            one.values,
            one.accuracies,
            linestyle="none",
            marker="o",
            markersize=_DOT,
            color=colour,
            markerfacecolor=face,
            markeredgewidth=0.6,
        )
    name = rows[0].number
    unit = METRICS[name].unit if name in METRICS else ""
    axes.set_xlabel(f"{name.replace('_', ' ')} ({unit or 'no unit'})", fontsize=TICK_SIZE, labelpad=1)
    low, high = axes.get_xlim()
    axes.set_xticks(_choose_ticks(low, high, is_log=axes.get_xscale() == "log"))
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: write_number(value))


def _choose_ticks(low: float, high: float, *, is_log: bool) -> list[float]:
    """Three round numbers within an axis, so that those of panels side by side do not touch."""
    if is_log:
        exponents = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        powers = [float(10.0**one) for one in exponents if low <= 10.0**one <= high]
        finer = [scale * 10.0**one for one in exponents for scale in (1.0, 3.0) if low <= scale * 10.0**one <= high]
        return powers[:: max(1, -(-len(powers) // 3))] if len(finer) > 4 else finer
    size = high - low
    steps = [scale * 10.0 ** (np.floor(np.log10(size)) - 1) for scale in (1, 2, 5, 10, 20, 50)]
    step = next(one for one in steps if size / one <= 3.5)
    return [float(f"{one * step:.12g}") + 0.0 for one in np.arange(np.ceil(low / step), np.floor(high / step) + 1)]
