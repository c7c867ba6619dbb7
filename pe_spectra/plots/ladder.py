"""Rotary frequencies before and after a change: the ladder of wavelengths, and the kernel, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.lengthenings import entitle_lengthenings, entitle_way
from pe_spectra.models.lengths.ways import ContextReport, KernelSample
from pe_spectra.plots.axes import draw_band, draw_curve, label_powers_of_ten
from pe_spectra.plots.sheet import Layout, lay_out, line_pitch
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    GREY,
    PAGE_WIDTH,
    SMALL_SIZE,
    TICK_SIZE,
    VERMILION,
    LineStyle,
    fixed_style,
    shorten_text,
)

F64 = NDArray[np.float64]

#: Inches: a panel, white at its left and right, its tick labels, white between rows.
_PANEL, _LEFT, _RIGHT, _TICKS, _WHITE = 0.86, 0.52, 0.13, 0.24, 0.10
_ACROSS = 2
_BEFORE: LineStyle = {"color": GREY, "linestyle": (0, (4, 1.5))}
_AFTER: LineStyle = {"color": BLUE, "linestyle": "-"}
#: Beads, which are told from the line below them without colour, too.
_UNSEEN: LineStyle = {"color": VERMILION, "linestyle": (0, (0.9, 0.7))}
#: Between the beads, so that the line below them does not fill the gaps in grey.
_WHITE_BELOW: LineStyle = {"color": "white", "linestyle": "-"}
_KEY = (("before", _BEFORE), ("after", _AFTER), ("pairs with out-of-range phases", _UNSEEN))


@dataclass(frozen=True, kw_only=True)
class LadderCell:
    """One change of the frequencies.

    Attributes
    ----------
    label : what it is called. words : its numbers, one line.
    before, after : (D/2,), wavelengths in positions, fastest pair first.
    unseen : (D/2,), pairs with out-of-range phases, not covered in training.
    kernel_before, kernel_after : mean cosine over the pairs by lag.
    """

    label: str
    words: str
    before: F64
    after: F64
    unseen: NDArray[np.bool_]
    kernel_before: KernelSample
    kernel_after: KernelSample


def compose_context(report: ContextReport) -> Figure:
    """Draw each way to lengthen a context beside the unchanged model, in the order of the report.

    Raises
    ------
    ValueError : a report without a model.
    """
    if not report.methods or report.trained is None:
        raise ValueError("a figure of a context needs a model")
    before, *ways = report.methods
    cells = []
    for row in ways:
        label, words = entitle_way(row, report)
        cells.append(
            LadderCell(
                label=label,
                words=words,
                before=2 * math.pi / before.frequencies,
                after=2 * math.pi / row.frequencies,
                unseen=row.unseen,
                kernel_before=before.kernel,
                kernel_after=row.kernel,
            )
        )
    factor = report.target / report.trained
    return compose_ladders(
        cells,
        trained=report.trained,
        target=report.target,
        title=entitle_lengthenings(report),
        small_print=(f"d = {report.d}, base {report.base:,.6g}, factor {factor:.6g} where a way has one.",),
    )


@fixed_style()
def compose_ladders(
    cells: Sequence[LadderCell], *, trained: int, target: int, title: str, small_print: tuple[str, ...] = ()
) -> Figure:
    """Draw a cell for each change: its ladder of wavelengths at the left, its kernel at the right.

    Parameters
    ----------
    cells : one at least. trained, target : context lengths, which are drawn across the ladders.

    Raises
    ------
    ValueError : no cell.
    """
    if not cells:
        raise ValueError("a figure of ladders needs one at least")
    words = line_pitch(TICK_SIZE) + line_pitch(SMALL_SIZE) + 0.05
    guide = (
        f"Left: wavelength of each pair in positions, with the context lengths of training, {trained:,} "
        f"(dotted), and inference, {target:,} (solid). Right: mean of cos(lag θ) over the pairs; line and range of "
        "stretches of lags."
    )
    layout = Layout(
        title=title,
        heights=(_PANEL,) * math.ceil(len(cells) / _ACROSS),
        small_print=(guide, *small_print),
        key=_KEY if any(cell.unseen.any() for cell in cells) else _KEY[:2],
        left=_LEFT,
        right=_RIGHT,
        top=0.06 + words,
        gap=_TICKS + _WHITE + words,
        bottom=0.44,
        width=PAGE_WIDTH,
        columns=2 * _ACROSS,
    )
    figure, panels = lay_out(layout)
    limits = _find_limits(cells, target)
    for place in range(len(panels) // 2):
        ladder, kernel = panels[2 * place : 2 * place + 2]
        if place >= len(cells):
            ladder.remove()
            kernel.remove()
            continue
        plot_ladder(ladder, cells[place], trained, target)
        plot_kernel_change(kernel, cells[place])
        ladder.set_ylim(*limits[0])
        kernel.set_ylim(*limits[1])
        _write_words(ladder, kernel, cells[place])
        if place + _ACROSS >= len(cells):  # nothing below
            ladder.set_xlabel("pair", fontsize=TICK_SIZE, labelpad=1)
            kernel.set_xlabel("lag (positions)", fontsize=TICK_SIZE, labelpad=1)
    return figure


def plot_ladder(axes: Axes, cell: LadderCell, trained: int, target: int) -> None:
    """Draw base-10 logarithms of the wavelengths against the pair, with the two context lengths.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra.models.lengths.ways import sample_kernel
    >>> w = 10000.0 ** (-np.arange(8) / 8)
    >>> before, after = sample_kernel(w, 128), sample_kernel(w / 2, 128)
    >>> parts = {"label": "linear", "words": "", "before": 2 * np.pi / w, "after": 4 * np.pi / w}
    >>> cell = LadderCell(**parts, unseen=w < 0, kernel_before=before, kernel_after=after)
    >>> axes = Figure().subplots()
    >>> plot_ladder(axes, cell, 64, 128)
    >>> len(axes.lines[-1].get_xdata())
    8
    """
    pairs = np.arange(cell.before.size, dtype=np.float64)
    for length, dashes in ((trained, (0, (1, 1.5))), (target, "-")):
        axes.axhline(math.log10(length), color=GREY, linewidth=0.5, linestyle=dashes, zorder=0)
    draw_curve(axes, pairs, np.log10(cell.before), _BEFORE, linewidth=0.9)
    after = np.log10(cell.after)
    draw_curve(axes, pairs, after, _AFTER, linewidth=1.2)
    if cell.unseen.any():
        beads = np.where(cell.unseen, after, np.nan)
        draw_curve(axes, pairs, beads, _WHITE_BELOW, linewidth=2.6)
        draw_curve(axes, pairs, beads, _UNSEEN, linewidth=2.6)
    axes.set_xlim(0, max(1, cell.before.size - 1))
    axes.set_xticks([0, cell.before.size - 1])
    _anchor_ticks(axes)
    label_powers_of_ten(axes.yaxis)
    axes.set_ylabel("wavelength", fontsize=TICK_SIZE)


def plot_kernel_change(axes: Axes, cell: LadderCell) -> None:
    """Draw the mean cosine over the pairs against the base-10 logarithm of the lag, before and after.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra.models.lengths.ways import sample_kernel
    >>> w = 10000.0 ** (-np.arange(8) / 8)
    >>> before, after = sample_kernel(w, 128), sample_kernel(w / 2, 128)
    >>> parts = {"label": "linear", "words": "", "before": 2 * np.pi / w, "after": 4 * np.pi / w}
    >>> cell = LadderCell(**parts, unseen=w < 0, kernel_before=before, kernel_after=after)
    >>> axes = Figure().subplots()
    >>> plot_kernel_change(axes, cell)
    >>> len(axes.lines) > 1
    True
    """
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    for sample, style in ((cell.kernel_before, _BEFORE), (cell.kernel_after, _AFTER)):
        lags = np.log10(sample.lags)
        draw_band(axes, lags, sample.low, sample.high, style["color"])
        draw_curve(axes, lags, sample.mean, style, linewidth=0.9)
    axes.set_xlim(0, float(np.log10(cell.kernel_after.lags[-1])))
    axes.set_yticks([0, 1])
    label_powers_of_ten(axes.xaxis)
    axes.set_ylabel("mean cos", fontsize=TICK_SIZE)


def _find_limits(cells: Sequence[LadderCell], target: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of the logarithms of wavelengths, and of kernels, that hold what all cells show."""
    waves = np.log10(np.concatenate([part for cell in cells for part in (cell.before, cell.after)]))
    low = min(float(np.min(sample.low)) for cell in cells for sample in (cell.kernel_before, cell.kernel_after))
    top = max(float(waves.max()), math.log10(target))
    return (float(waves.min()) - 0.2, top + 0.2), (min(-0.1, 1.1 * low), 1.06)


def _anchor_ticks(axes: Axes) -> None:
    """Keep the labels at both ends of the axis within the panel's width."""
    labels = axes.get_xticklabels()
    labels[0].set_horizontalalignment("left")
    labels[-1].set_horizontalalignment("right")


def _write_words(ladder: Axes, kernel: Axes, cell: LadderCell) -> None:
    """Name the change above its cell, and write its numbers; set its ticks close, for there is little room."""
    left, right = (axes.get_window_extent() for axes in (ladder, kernel))
    for axes in (ladder, kernel):
        axes.tick_params(length=2, pad=2)
    width = (right.x1 - left.x0) / ladder.figure.dpi
    up = 3.0
    for text, size, colour in ((cell.words, SMALL_SIZE, GREY), (cell.label, TICK_SIZE, BLACK)):
        shown = shorten_text(text, size, width)
        ladder.annotate(
            shown, (0, 1), (0, up), xycoords="axes fraction", textcoords="offset points", fontsize=size, color=colour
        )
        up += line_pitch(size) * 72
