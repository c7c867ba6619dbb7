"""Encodings side by side: kernel and spectrum of each on axes that all of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETDOWN, CARETUP

from pe_spectra.answers.comparisons import answer_comparison, describe_lattice
from pe_spectra.exact import F64
from pe_spectra.metrics import METRICS
from pe_spectra.plots.axes import (
    anchor_ticks,
    draw_curve,
    find_range,
    label_powers_of_ten,
    measure_above,
    write_above,
    write_instead,
)
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out, write_lines
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    GREY,
    LABEL_SIZE,
    PAGE_WIDTH,
    TICK_SIZE,
    escape_sentence,
    escape_text,
    fixed_style,
    line_pitch,
    wrap_text,
)

if TYPE_CHECKING:
    from pe_spectra.metrics.compare import Comparison

#: Cells side by side, and the width of the sheet in inches, for up to so many encodings.
_ARRANGEMENTS = ((1, 1, COLUMN_WIDTH), (4, 2, PAGE_WIDTH), (10**9, 3, PAGE_WIDTH))
#: Inches: a panel, white at its left and right, its tick labels, white between rows.
_PANEL, _LEFT, _RIGHT, _TICKS, _WHITE = 0.54, 0.33, 0.06, 0.22, 0.06
#: What each cell shows, with their short names there.
_DRAWN = {"kernel_half_width": "half width", "relative_separation": "relative separation"}
#: Kernels beyond their panels that are named, at most.
_MOST_CUT = 4
#: Inches of a heading above encodings that are listed separately.
_HEADING = 0.30
#: Kernels beyond these values are cut.
KERNEL_RANGE = (-1.05, 1.5)
#: Powers of ten of the axis of spectra, at most.
_MOST_DECADES = 5
_GUIDE = "Left: kernel k(τ)/k(0) against the lag. Right: weight per rad/position (log) against the frequency."
#: Units of time, the longest first, in seconds.
_TIMES = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


@fixed_style()
def compose_comparison(compared: Sequence[Comparison], sorted_by: str | None = None) -> Figure:
    """The figure of `pe-spectra compare`: a cell for each encoding, in the order given.

    Encodings whose values are drawn at random stand behind all others, under a heading of their own.

    Parameters
    ----------
    compared : one encoding at least.
    sorted_by : the column that they were sorted by; each cell shows it too if it is a metric.
    """
    drawn = [one for one in compared if one.encoding.is_random]
    sections = [part for part in ([one for one in compared if not one.encoding.is_random], drawn) if part]
    across, width = next((cells, wide) for most, cells, wide in _ARRANGEMENTS if len(compared) <= most)
    rows = [math.ceil(len(part) / across) for part in sections]
    guide = wrap_text(_GUIDE, TICK_SIZE, width - 2 * MARGIN)
    words = measure_above(len(_list_lines(sorted_by)))
    gap = _TICKS + _WHITE + words
    layout = Layout(
        title=escape_sentence(answer_comparison(compared, sorted_by).title),
        heights=(_PANEL,) * sum(rows),
        small_print=(_describe(compared, sorted_by),),
        left=_LEFT,
        right=_RIGHT,
        top=len(guide) * line_pitch(TICK_SIZE) + 0.06 + (_HEADING if drawn else 0.0) + words,
        gaps=tuple(gap + _HEADING * (row == rows[0]) for row in range(1, sum(rows))),
        bottom=0.42,
        width=width,
        columns=2 * across,
    )
    figure, panels = lay_out(layout)
    limits = _find_limits(compared)
    for part, count in zip(sections, rows, strict=True):
        cells, panels = panels[: 2 * across * count], panels[2 * across * count :]
        if drawn:
            _head_section(cells[0], part, words)
        if part is sections[0]:
            top = cells[0].get_position().y1 * figure.get_figheight() + layout.top
            write_lines(figure, guide, top, TICK_SIZE, GREY)
        for place, (kernel, density, one) in enumerate(zip(cells[::2], cells[1::2], part, strict=False)):
            _draw_kernel(kernel, one, limits[0])
            _draw_density(density, one, limits[1])
            _write_words(kernel, density, one, _list_numbers(one, sorted_by))
            if place + across >= len(part):  # nothing below
                kernel.set_xlabel(_label_lags(one), fontsize=TICK_SIZE, labelpad=0)
                density.set_xlabel("ω (rad/position)", fontsize=TICK_SIZE, labelpad=0)
        for axes in cells[2 * len(part) :]:
            axes.remove()
    return figure


def draw_compared(axes: Axes, one: Comparison) -> None:
    """Draw the kernel of one encoding, with its labels."""
    _draw_kernel(axes, one, _find_limits([one])[0])
    axes.set(xlabel=_label_lags(one), ylabel="kernel k(τ)/k(0)")


def _draw_kernel(axes: Axes, one: Comparison, limits: tuple[float, float]) -> None:
    """Draw k(tau)/k(0) against the lag, or say that there is none.

    Lags of the periods that were asked for are dotted; a triangle marks where a kernel leaves its panel farthest.
    """
    if one.kernel is None:
        axes.spines[:].set_visible(False)
        write_instead(axes, "no kernel")
        return
    lags, last = np.arange(one.kernel.size, dtype=np.float64), max(1, one.kernel.size - 1)
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    dots = {"marker": "o" if lags.size < 4 else "", "markersize": 2.5}
    draw_curve(axes, lags, one.kernel, {"color": BLACK, "linestyle": "-"}, linewidth=1.0, **dots)
    ticks = [tick for tick in (-1, 0, 1) if limits[0] <= tick]
    axes.set(xlim=(0, last), ylim=limits, xticks=[0, last], yticks=ticks)
    for match in one.periods:
        if match.lag <= last:
            axes.axvline(match.lag, color=GREY, linewidth=0.5, linestyle=(0, (1, 1.5)), zorder=0)
    for end, lag in _find_beyond(one):
        tip = CARETUP if end > 0 else CARETDOWN
        axes.plot(lag, end, marker=tip, markersize=4, color=BLACK, clip_on=False, zorder=5)


def _draw_density(axes: Axes, one: Comparison, limits: tuple[float, float]) -> None:
    """Draw the base-10 logarithm of the weights per radian, or say that there are none."""
    if one.spectrum is None:
        axes.spines[:].set_visible(False)
        write_instead(axes, "no spectrum")
        return
    draw_curve(axes, one.spectrum.omega, _find_density(one), {"color": BLUE, "linestyle": "-"}, linewidth=1.0)
    axes.set(xlim=(0, math.pi), ylim=limits, xticks=[0, math.pi], xticklabels=["0", "π"])
    label_powers_of_ten(axes.yaxis)
    axes.set_yticks(np.arange(math.ceil(limits[0]), limits[1] - 0.5, 2))


def _label_lags(one: Comparison) -> str:
    """Name lags by the time between positions, where periods of the data say it."""
    for match in one.periods:
        step = float(f"{match.seconds / match.lag:.9g}")
        name, size = next(((name, size) for name, size in _TIMES if (step / size).is_integer()), _TIMES[-1])
        return f"lag (steps of {step / size:g} {name})"
    return "lag (positions)"


def _write_words(kernel: Axes, density: Axes, one: Comparison, numbers: Sequence[str]) -> None:
    """Name the encoding above its cell, and write its numbers; set its ticks close, for there is little room."""
    for axes in (kernel, density):
        axes.tick_params(length=2, pad=2)
        anchor_ticks(axes)
    write_above(kernel, escape_text(one.encoding.label, longest=120), numbers, last=density)


def _head_section(axes: Axes, part: Sequence[Comparison], words: float) -> None:
    """Write above the first cell of a section what all of it has in common."""
    kind = "drawn at random, one seed each" if part[0].encoding.is_random else "from a formula or from training"
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    text = f"Values {kind} ({len(part)})"
    axes.annotate(text, (0, 1), (0, words * 72 + 5), fontsize=LABEL_SIZE, fontweight="bold", **place)


def _find_density(one: Comparison) -> F64:
    """Base-10 logarithms of the weights in positions per radian; nan where they are not positive."""
    if one.spectrum is None:
        return np.empty(0)
    width = math.log(2 * math.pi / one.spectrum.grid)
    density: F64 = (one.spectrum.log_weights - width) / math.log(10)
    return density


def _find_limits(compared: Sequence[Comparison]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of both kinds of axes that hold what all cells show, as far as it can be read."""
    least, most = find_range(np.zeros(1), *(one.kernel for one in compared if one.kernel is not None))
    kernels = max(KERNEL_RANGE[0], min(-0.08, 1.1 * least)), min(KERNEL_RANGE[1], max(1.08, 1.08 * most))
    low, high = find_range(*map(_find_density, compared), otherwise=(0.0, 0.5))
    top = math.ceil(high + 0.05)
    return kernels, (max(min(math.floor(low), top - 2), top - _MOST_DECADES) - 0.05, top + 0.05)


def _find_beyond(one: Comparison) -> list[tuple[float, int]]:
    """Return the ends of `KERNEL_RANGE` that a kernel lies beyond, each with the lag where it is farthest."""
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
        for _, lag in _find_beyond(one)
    ]


def _list_numbers(one: Comparison, sorted_by: str | None) -> tuple[str, ...]:
    """What each cell says of an encoding, line by line: what is sorted by has a line of its own."""
    return tuple(
        ", ".join(f"{_name_metric(name)} {_write_metric(name, one)}" for name in line)
        for line in _list_lines(sorted_by)
    )


def _describe(compared: Sequence[Comparison], sorted_by: str | None) -> str:
    """Define the metrics that cells show, and say what is marked in them, and what is left out."""
    parts = []
    for name in (name for line in _list_lines(sorted_by) for name in line):
        unit = f" ({METRICS[name].unit})" if METRICS[name].unit else ""
        # as above the cells
        parts.append(f"{_name_metric(name)}: {METRICS[name].text.replace('(tau)', '(τ)')}{unit}")
    lengths = sorted({one.length for one in compared})
    parts.append(f"{lengths[0] if len(lengths) == 1 else f'{lengths[0]} to {lengths[-1]}'} positions")
    if lattice := describe_lattice(compared):
        parts.append(f"one lattice for all spectra: {lattice}")
    names = dict.fromkeys(escape_text(m.name) for one in compared for m in one.periods if m.lag < one.length)
    if names:
        parts.append(f"dotted: {', '.join(names)}")
    if any(one.encoding.shape is not None for one in compared):
        parts.append("on a grid the lags are those along a row")
    if any(one.encoding.kernel_count > 1 for one in compared):
        parts.append("of several heads the mean kernel and the median spectrum")
    if any(one.spectrum is not None and (one.spectrum.weights <= 0).any() for one in compared):
        parts.append("gaps: estimates that are zero or negative")
    cut = _name_cut(compared)
    if cut:
        rest = f", and {len(cut) - _MOST_CUT} more" if len(cut) > _MOST_CUT else ""
        parts.append(f"triangles: kernels that leave their panel, {', '.join(cut[:_MOST_CUT])}{rest}")
    return "; ".join(parts) + "."


def _list_lines(sorted_by: str | None) -> tuple[tuple[str, ...], ...]:
    own = sorted_by if sorted_by in METRICS and sorted_by not in _DRAWN else None
    return (tuple(_DRAWN),) if own is None else ((own,), tuple(_DRAWN))


def _name_metric(metric: str) -> str:
    return _DRAWN.get(metric, metric.replace("_", " "))


def _write_metric(metric: str, one: Comparison) -> str:
    value = one.values.get(metric)
    if value is not None:
        return f"{value:.3g}".replace("-", "−")
    is_wide = metric == "kernel_half_width" and one.kernel is not None and one.kernel.min() > 0.5
    return f"> {len(one.kernel) - 1}" if is_wide and one.kernel is not None else "none"
