"""Encodings side by side: kernel and spectrum of each on axes that all of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETDOWN, CARETUP
from numpy.typing import NDArray

from pe_spectra.answers.comparisons import describe_cells, entitle_comparison, list_numbers
from pe_spectra.plots.axes import draw_curve, label_powers_of_ten
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out, line_pitch
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    GREY,
    LABEL_SIZE,
    PAGE_WIDTH,
    SMALL_SIZE,
    TICK_SIZE,
    LineStyle,
    escape_text,
    fixed_style,
    shorten_text,
    wrap_text,
)

if TYPE_CHECKING:
    from pe_spectra.compare import Comparison

F64 = NDArray[np.float64]

#: Cells side by side, and the width of the sheet in inches, for up to so many encodings.
_ARRANGEMENTS = ((1, 1, COLUMN_WIDTH), (4, 2, PAGE_WIDTH), (10**9, 3, PAGE_WIDTH))
#: Inches: a panel, white at its left and right, its tick labels, white between rows.
_PANEL, _LEFT, _RIGHT, _TICKS, _WHITE = 0.54, 0.33, 0.06, 0.22, 0.06
#: Inches of a heading above encodings that are listed separately.
_HEADING = 0.30
#: Kernels beyond these values are cut.
KERNEL_RANGE = (-1.05, 1.5)
#: Powers of ten of the axis of spectra, at most.
_MOST_DECADES = 5
_GUIDE = "Left: kernel k(τ)/k(0) against the lag. Right: weight per rad/position (log) against the frequency."
#: Units of time, the longest first, in seconds.
_TIMES = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


@dataclass(frozen=True, kw_only=True)
class _Pages(Layout):
    """A layout with more white above some rows: a heading stands there."""

    headed: tuple[int, ...] = ()

    @property
    def gaps(self) -> tuple[float, ...]:
        """White below each row but the last."""
        return tuple(gap + _HEADING * (row + 1 in self.headed) for row, gap in enumerate(super().gaps))


@fixed_style()
def compose_comparison(compared: Sequence[Comparison], sorted_by: str | None = None) -> Figure:
    """The figure of `pe-spectra compare`: a cell for each encoding, in the order given.

    Encodings whose values are drawn at random stand behind all others, under a heading of their own.

    Parameters
    ----------
    compared : one encoding at least.
    sorted_by : name of a metric that each cell shows too.

    Raises
    ------
    ValueError : no encoding.
    """
    if not compared:
        raise ValueError("a figure of comparisons needs one at least")
    drawn = [one for one in compared if one.encoding.is_random]
    sections = [part for part in ([one for one in compared if not one.encoding.is_random], drawn) if part]
    across, width = next((cells, wide) for most, cells, wide in _ARRANGEMENTS if len(compared) <= most)
    rows = [math.ceil(len(part) / across) for part in sections]
    guide = wrap_text(_GUIDE, TICK_SIZE, width - 2 * MARGIN)
    words = line_pitch(TICK_SIZE) + len(list_numbers(compared[0], sorted_by)) * line_pitch(SMALL_SIZE) + 0.05
    layout = _Pages(
        title=entitle_comparison(compared, sorted_by),
        heights=(_PANEL,) * sum(rows),
        small_print=(describe_cells(compared, sorted_by, _name_cut(compared), escape_text),),
        left=_LEFT,
        right=_RIGHT,
        top=len(guide) * line_pitch(TICK_SIZE) + 0.06 + (_HEADING if drawn else 0.0) + words,
        gap=_TICKS + _WHITE + words,
        bottom=0.42,
        width=width,
        columns=2 * across,
        headed=(rows[0],) if len(sections) > 1 else (),
    )
    figure, panels = lay_out(layout)
    first = 0
    for part, count in zip(sections, rows, strict=True):
        cells = panels[2 * across * first : 2 * across * (first + count)]
        _draw_section(cells, part, across, sorted_by, _find_limits(compared))
        if drawn:
            _head_section(cells[0], part, words)
        first += count
    _write_guide(figure, guide, panels[0], words + (_HEADING if drawn else 0.0))
    return figure


def plot_kernel(axes: Axes, one: Comparison) -> None:
    """Draw k(tau)/k(0) against the lag, or say that there is none.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, compare_encodings
    >>> one, = compare_encodings([Dft(d=8)], length=8)
    >>> axes = Figure().subplots()
    >>> plot_kernel(axes, one)
    >>> float(axes.lines[-1].get_ydata()[0])
    1.0
    """
    if one.kernel is None:
        _say(axes, "no kernel")
        return
    last = one.kernel.size - 1
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    style: LineStyle = {"color": BLACK, "linestyle": "-"}
    marker = "o" if last < 3 else ""
    draw_curve(
        axes,
        np.arange(one.kernel.size, dtype=np.float64),
        one.kernel,
        style,
        linewidth=1.0,
        marker=marker,
        markersize=2.5,
    )
    axes.set_xlim(0, max(1, last))
    axes.set_xticks([0, max(1, last)])
    axes.set_ylim(-0.05, 1.08)


def plot_density(axes: Axes, one: Comparison) -> None:
    """Draw the base-10 logarithm of the weights per radian, or say that there are none.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, compare_encodings
    >>> one, = compare_encodings([Dft(d=8)], length=8)
    >>> axes = Figure().subplots()
    >>> plot_density(axes, one)
    >>> [round(float(tick), 4) for tick in axes.get_xticks()]  # 0 and pi
    [0.0, 3.1416]
    """
    if one.spectrum is None:
        _say(axes, "no spectrum")
        return
    style: LineStyle = {"color": BLUE, "linestyle": "-"}
    draw_curve(axes, one.spectrum.omega, _find_density(one), style, linewidth=1.0)
    axes.set_xlim(0, math.pi)
    axes.set_xticks([0, math.pi], ["0", "π"])
    label_powers_of_ten(axes.yaxis)


def _draw_section(
    cells: Sequence[Axes],
    part: Sequence[Comparison],
    across: int,
    sorted_by: str | None,
    limits: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    for place in range(len(cells) // 2):
        kernel, density = cells[2 * place : 2 * place + 2]
        if place >= len(part):
            kernel.remove()
            density.remove()
            continue
        plot_kernel(kernel, part[place])
        plot_density(density, part[place])
        if part[place].kernel is not None:
            _mark_periods(kernel, part[place])
            kernel.set_ylim(*limits[0])
            _mark_beyond(kernel, part[place])
            kernel.set_yticks([tick for tick in (-1, 0, 1) if limits[0][0] <= tick])
        if part[place].spectrum is not None:
            density.set_ylim(*limits[1])
            density.set_yticks(np.arange(math.ceil(limits[1][0]), limits[1][1] - 0.5, 2))
        for axes in (kernel, density):
            axes.tick_params(length=2, pad=2)
            _anchor_ticks(axes)
        _write_words(kernel, density, part[place], list_numbers(part[place], sorted_by))
        if place + across >= len(part):  # nothing below
            kernel.set_xlabel(_label_lags(part[place]), fontsize=TICK_SIZE, labelpad=0)
            density.set_xlabel("ω (rad/position)", fontsize=TICK_SIZE, labelpad=0)


def _label_lags(one: Comparison) -> str:
    """Name lags by the time between positions, where periods of the data say it."""
    for match in one.periods:
        step = float(f"{match.seconds / match.lag:.9g}")
        name, size = next(((name, size) for name, size in _TIMES if (step / size).is_integer()), _TIMES[-1])
        return f"lag (steps of {step / size:g} {name})"
    return "lag (positions)"


def _mark_periods(axes: Axes, one: Comparison) -> None:
    """Mark the lags of the periods that were asked for."""
    last = axes.get_xlim()[1]
    for match in one.periods:
        if match.lag <= last:
            axes.axvline(match.lag, color=GREY, linewidth=0.5, linestyle=(0, (1, 1.5)), zorder=0)


def _mark_beyond(axes: Axes, one: Comparison) -> None:
    """Mark where a kernel leaves its panel farthest, at the edge that it crosses."""
    for end, lag in find_beyond(one):
        tip = CARETUP if end > 0 else CARETDOWN
        axes.plot([lag], [end], marker=tip, markersize=4, color=BLACK, linestyle="none", clip_on=False, zorder=5)


def _anchor_ticks(axes: Axes) -> None:
    """Keep the labels at both ends of the axis within the panel's width."""
    labels = axes.get_xticklabels()
    if len(labels) == 2:
        labels[0].set_horizontalalignment("left")
        labels[1].set_horizontalalignment("right")


def _write_words(kernel: Axes, density: Axes, one: Comparison, numbers: Sequence[str]) -> None:
    """Name the encoding above its cell, and write its numbers."""
    figure = kernel.figure
    left, right = (axes.get_window_extent() for axes in (kernel, density))
    width = (right.x1 - left.x0) / figure.dpi
    name = escape_text(one.encoding.label, longest=120)
    lines = [(shorten_text(name, TICK_SIZE, width), TICK_SIZE, BLACK)]
    lines += [(shorten_text(line, SMALL_SIZE, width), SMALL_SIZE, GREY) for line in numbers]
    up = 3.0
    for text, size, colour in reversed(lines):
        kernel.annotate(
            text, (0, 1), (0, up), xycoords="axes fraction", textcoords="offset points", fontsize=size, color=colour
        )
        up += line_pitch(size) * 72


def _head_section(axes: Axes, part: Sequence[Comparison], words: float) -> None:
    """Write above the first cell of a section what all of it has in common."""
    count = len(part)
    kind = "drawn at random, one seed each" if part[0].encoding.is_random else "from a formula or from training"
    text = f"Values {kind} ({count})"
    axes.annotate(
        text,
        (0, 1),
        (0, words * 72 + 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=LABEL_SIZE,
        fontweight="bold",
    )


def _write_guide(figure: Figure, lines: Sequence[str], axes: Axes, above: float) -> None:
    """Say once, above all cells, what stands in each."""
    width, height = figure.get_size_inches()
    bottom = axes.get_position().y1 * height + above + 0.06
    for number, line in enumerate(reversed(lines)):
        middle = bottom + (number + 0.5) * line_pitch(TICK_SIZE)
        figure.text(MARGIN / width, middle / height, line, fontsize=TICK_SIZE, color=GREY, va="center_baseline")


def _say(axes: Axes, text: str) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.text(0.5, 0.5, text, ha="center", va="center", fontsize=SMALL_SIZE, color=GREY, transform=axes.transAxes)


def _find_density(one: Comparison) -> F64:
    """Base-10 logarithms of the weights in positions per radian; nan where they are not positive."""
    if one.spectrum is None:
        return np.empty(0)
    width = math.log(2 * math.pi / one.spectrum.grid)
    density: F64 = (one.spectrum.log_weights - width) / math.log(10)
    return density


def _find_limits(compared: Sequence[Comparison]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of both kinds of axes that hold what all cells show, as far as it can be read."""
    kernels = np.concatenate([one.kernel for one in compared if one.kernel is not None] or [np.zeros(1)])
    low = max(KERNEL_RANGE[0], min(-0.08, 1.1 * float(np.nanmin(kernels))))
    high = min(KERNEL_RANGE[1], max(1.08, 1.08 * float(np.nanmax(kernels))))
    logarithms = np.concatenate([_find_density(one) for one in compared])
    seen = logarithms[np.isfinite(logarithms)]
    top = math.ceil(float(seen.max()) + 0.05) if seen.size else 1
    bottom = math.floor(float(seen.min())) if seen.size else 0
    return (low, high), (max(min(bottom, top - 2), top - _MOST_DECADES) - 0.05, top + 0.05)


def find_beyond(one: Comparison) -> list[tuple[float, int]]:
    """Return the ends of `KERNEL_RANGE` that a kernel lies beyond, each with the lag where it is farthest.

    >>> from pe_spectra import Dft, compare_encodings
    >>> one, = compare_encodings([Dft(d=8)], length=8)
    >>> find_beyond(one)
    []
    """
    if one.kernel is None or not np.isfinite(one.kernel).any():
        return []
    lags = (int(np.nanargmin(one.kernel)), int(np.nanargmax(one.kernel)))
    return [(end, lag) for end, lag in zip(KERNEL_RANGE, lags, strict=True) if abs(one.kernel[lag]) > abs(end)]


def _name_cut(compared: Sequence[Comparison]) -> list[str]:
    """Say which kernels leave their panels, and how far they go."""
    return [
        f"{escape_text(one.encoding.label)} to {one.kernel[lag]:.3g}".replace(" -", " −")
        for one in compared
        if one.kernel is not None
        for _, lag in find_beyond(one)
    ]
