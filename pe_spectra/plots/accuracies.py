"""What networks learned: accuracy by arm with every seed a dot, and against each of our numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pe_spectra.answers.learning import ArmComparison, LearningReport, NumberCorrelation, judge_learning
from pe_spectra.metrics import METRICS
from pe_spectra.plots.axes import HEADING_SIZE, find_range, head_panel, label_names, write_number
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    SMALL_SIZE,
    TICK_SIZE,
    VERMILION,
    LineStyle,
    escape_sentence,
    escape_text,
    fixed_style,
    measure_text,
    shorten_text,
)
from pe_spectra.vocabulary import NORMS

#: Inches of one arm, of the names at the left, of the height of a panel of a number, and left of such panels.
_ROW, _NAMES, _SQUARE, _LEFT = 0.17, 1.42, 0.68, 0.55
#: Inches of white between two tasks, and from a panel to the label left of the names.
_BESIDE, _LABEL = 0.09, -1.3
#: Of the two norms: colour, how far its dots stand above or below the middle of the row, and how they are filled.
_STYLES: dict[str, tuple[str, float, str]] = {NORMS[0]: (BLUE, -0.17, "none"), NORMS[1]: (VERMILION, 0.17, VERMILION)}
_KEY: tuple[tuple[str, LineStyle], ...] = (
    ("own norm (upper dots, open)", {"color": BLUE, "linestyle": "-"}),
    ("norm of the sinusoid (lower dots, filled)", {"color": VERMILION, "linestyle": "-"}),
)
_DOT = 2.4
#: Rows over which the dots of one norm spread, seed by seed: those of equal accuracy stand below each other.
_SPREAD = 0.26
#: Of the height of a panel of a number, what correlations have above the marks.
_WORDS = 0.46
#: Accuracy of a judge who does not look.
_CHANCE = 0.5
#: From this quotient of the largest and the smallest on an axis is logarithmic.
_WIDE = 30.0


@fixed_style()
def compose_learning(report: LearningReport) -> Figure:
    """The figure of `pe-spectra experiment report`: a row for each arm, a column for each task."""
    lengths = sorted({one.length for one in report.arms})
    tasks = list(dict.fromkeys(one.task for one in report.arms))
    names = [_list_names(one for one in report.arms if one.length == length) for length in lengths]
    layout = Layout(
        title=escape_sentence(judge_learning(report).text.removesuffix(".")),
        heights=tuple(_ROW * len(rows) + 0.1 for rows in names),
        key=_KEY if any(one.norm == NORMS[1] for one in report.arms) else _KEY[:1],
        small_print=(
            *report.missing,
            "A dot is a network (one seed), a stroke the mean over seeds. Dotted: chance.",
            "Accuracy: the share of test windows judged rightly.",
        ),
        left=_BESIDE,
        right=_BESIDE,
        top=0.38,
        gap=0.74,
        width=COLUMN_WIDTH if len(tasks) == 1 else PAGE_WIDTH,
        columns=len(tasks),
    )
    figure, panels = lay_out(layout)
    _make_room(figure, panels, len(tasks), _NAMES)
    limits = _find_limits([one.accuracies for one in report.arms])
    for place, axes in enumerate(panels):
        row, column = divmod(place, len(tasks))
        here = [one for one in report.arms if (one.task, one.length) == (tasks[column], lengths[row])]
        _draw_arms(axes, here, names[row], limits)
        _head_task(axes, tasks[column])
        if column:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel("encoding")
            axes.yaxis.set_label_coords(_LABEL / (axes.get_position().width * figure.get_figwidth()), 0.5)
    for row, length in enumerate(lengths):
        words = "accuracy (share of test windows)" + (f", {length} positions" if len(lengths) > 1 else "")
        _name_row(panels[row * len(tasks) : (row + 1) * len(tasks)], words)
    return figure


def _head_task(axes: Axes, task: str) -> None:
    """Name a task above its panel, in two lines where it is too long for one."""
    width = axes.get_window_extent().width / axes.figure.dpi
    words = task if measure_text(task, HEADING_SIZE) <= width else task.replace("-", "-\n")
    axes.set_title(words, loc="left", fontsize=HEADING_SIZE, pad=4.0)


def _make_room(figure: Figure, panels: Sequence[Axes], across: int, room: float) -> None:
    """Push the panels of each row together at the right, so that the words at their left stand once."""
    width = figure.get_figwidth()
    pitch = (width - room - _BESIDE) / across
    for place, axes in enumerate(panels):
        box, left = axes.get_position(), room + place % across * pitch
        axes.set_position((left / width, box.y0, (pitch - _BESIDE) / width, box.height))


def draw_learning(axes: Axes, report: LearningReport) -> None:
    """Draw the first task of a report, with its labels."""
    first = [one for one in report.arms if (one.task, one.length) == (report.arms[0].task, report.arms[0].length)]
    _draw_arms(axes, first, _list_names(first), _find_limits([one.accuracies for one in first]))
    axes.set_xlabel("accuracy (share of test windows)", labelpad=1)
    axes.set_ylabel("encoding")
    head_panel(axes, first[0].task)


@fixed_style()
def compose_numbers(report: LearningReport) -> Figure:
    """The figure of `pe-spectra experiment report --by-number`: a row for each number, a column for each task."""
    names = list(dict.fromkeys(one.number for one in report.numbers))
    tasks = list(dict.fromkeys(one.task for one in report.numbers))
    lengths = sorted({one.length for one in report.numbers})
    several = f" Circles: {lengths[0]} positions; squares: longer windows." if len(lengths) > 1 else ""
    layout = Layout(
        title="Mean accuracy of an arm against each of our numbers",
        heights=(_SQUARE,) * len(names),
        small_print=(
            *report.missing,
            f"A mark is an arm, open at its own norm, filled at that of the sinusoid. Dotted: chance.{several}",
            "Above: rank correlations, at own norms left, at that of the sinusoid right; bold where one is shown.",
            "What goes along with accuracy need not be its cause.",
        ),
        left=_BESIDE,
        right=_BESIDE,
        top=0.26,
        gap=0.38,
        width=COLUMN_WIDTH if len(tasks) == 1 else PAGE_WIDTH,
        columns=len(tasks),
    )
    figure, panels = lay_out(layout)
    _make_room(figure, panels, len(tasks), _LEFT)
    limits = _find_limits([one.accuracies for one in report.numbers])
    for row, name in enumerate(names):
        here = [one for one in report.numbers if one.number == name]
        line = []
        for axes, task in zip(panels[row * len(tasks) : (row + 1) * len(tasks)], tasks, strict=True):
            there = [one for one in here if one.task == task]
            if not there:
                axes.remove()
                continue
            _draw_number(axes, there, here, limits, lengths[0])
            line.append(axes)
            if name == next(one.number for one in report.numbers if one.task == task):
                head_panel(axes, task)
        _label_row(line, name)
    return figure


def _label_row(line: Sequence[Axes], name: str) -> None:
    """Write what a number is, and the accuracies at the first of its panels."""
    for axes in line:
        axes.set_yticks([_CHANCE, 1.0], ["0.5", "1"] if axes is line[0] else ["", ""])
    first = line[0]
    first.set_ylabel("accuracy")
    width = first.get_window_extent().width / first.figure.dpi
    first.yaxis.set_label_coords(-0.36 / width, (1 - _WORDS) / 2)
    unit = METRICS[name].unit if name in METRICS else ""
    _name_row(line, f"{name.replace('_', ' ')} ({unit or 'no unit'})")


def _name_row(line: Sequence[Axes], words: str) -> None:
    """Write what stands along the axes of a row once, below its middle."""
    first, last = line[0].get_position(), line[-1].get_position()
    line[0].set_xlabel(words, labelpad=1, x=((first.x0 + last.x1) / 2 - first.x0) / first.width)


def _list_names(arms: Iterable[ArmComparison]) -> list[str]:
    """Names of arms: those that are said of first as they come, each once."""
    return list(dict.fromkeys(one.arm for one in arms))


def _find_limits(accuracies: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Limits of accuracy that hold all of it, and chance."""
    low, high = find_range(np.array([_CHANCE, 1.0]), *(np.asarray(part, dtype=float) for part in accuracies))
    return low - 0.03, high + 0.03


def _draw_arms(axes: Axes, arms: Sequence[ArmComparison], names: Sequence[str], limits: tuple[float, float]) -> None:
    """Draw the seeds of every arm of one task as dots, the mean as a stroke."""
    axes.axvline(_CHANCE, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0)
    for row in range(0, len(names), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=GREY, alpha=0.09, linewidth=0, zorder=-1)
    for norm, (colour, beside, face) in _STYLES.items():
        there = [one for one in arms if one.norm == norm]
        if not there:
            continue
        rows = np.array([names.index(one.arm) + beside for one in there])
        spread = [_SPREAD * (np.linspace(-0.5, 0.5, one.runs) if one.runs > 1 else np.zeros(1)) for one in there]
        heights = np.concatenate([row + seeds for row, seeds in zip(rows, spread, strict=True)])
        accuracies = np.concatenate([one.accuracies for one in there])
        dots = Line2D(accuracies, heights, color=colour, linestyle="none", marker="o", markersize=_DOT)
        dots.set(markerfacecolor=face, markeredgewidth=0.5)
        axes.add_line(dots)  # no curve, of which some points would do: every seed stays
        axes.vlines([one.accuracy for one in there], rows - 0.2, rows + 0.2, colors=colour, linewidth=1.2, label="mean")
    axes.set(xlim=limits, ylim=(len(names) - 0.4, -0.6))
    labels = [shorten_text(escape_text(name), TICK_SIZE, _NAMES - 0.4) for name in names]
    label_names(axes.yaxis, labels)
    axes.set_xticks([_CHANCE, 0.75, 1.0], ["0.5", "0.75", "1"])
    axes.tick_params(axis="y", length=0)


def _draw_number(
    axes: Axes,
    rows: Sequence[NumberCorrelation],
    all_tasks: Sequence[NumberCorrelation],
    limits: tuple[float, float],
    shortest: int,
) -> None:
    """Draw accuracy on one task against one number; tasks that have the number share its axis."""
    known = np.concatenate([np.asarray(one.values, dtype=float) for one in all_tasks])
    if known.min() > 0 and known.max() > _WIDE * known.min():
        axes.set_xscale("log")
        low, high = known.min() / 1.4, known.max() * 1.4
    else:
        low, high = find_range(known)
        room = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
        low, high = low - room, high + room
    axes.set(xlim=(low, high), ylim=(limits[0], limits[0] + (limits[1] - limits[0]) / (1 - _WORDS)))
    is_log = axes.get_xscale() == "log"
    ticks = _choose_ticks(low, high, is_log=is_log)
    axes.set_xticks(_spread_powers(ticks, low, high) if is_log else ticks)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: write_number(value))
    axes.axhline(_CHANCE, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0)
    lengths = sorted({one.length for one in rows})
    for one in rows:
        colour, _, face = _STYLES[one.norm]
        is_short, is_own = one.length == shortest, one.norm == NORMS[0]
        axes.plot(
            one.values,
            one.accuracies,
            linestyle="none",
            marker="o" if is_short else "s",
            # an arm that has this norm by itself is at both: the open mark stays to be seen around the other
            markersize=_DOT if is_own else 0.6 * _DOT,
            color=colour,
            markerfacecolor=face,
            markeredgewidth=0.5,
        )
        if one.rho is not None:
            where = (0.46 if is_own else 1.0, 0.83 - 0.21 * lengths.index(one.length))
            axes.text(
                *where,
                f"{one.rho:+.2f}",
                transform=axes.transAxes,
                ha="right",
                fontsize=SMALL_SIZE,
                color=BLACK if one.is_told else GREY,
                weight="bold" if one.is_told else "normal",
            )


def _spread_powers(ticks: Sequence[float], low: float, high: float) -> Sequence[float]:
    """One or two of the ticks of a logarithmic axis, so that none touches another or one of the panel beside it."""
    edge = 0.15 * math.log(high / low)
    inner = [one for one in ticks if edge < math.log(one / low) < math.log(high / low) - edge] or ticks[:1]
    return [inner[0], inner[-1]] if math.log(inner[-1] / inner[0]) > 3 * edge else inner[-1:]


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
