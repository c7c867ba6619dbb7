"""What the panels have in common: curves, ticks, and labels where there is room for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator
from matplotlib.transforms import Bbox

from pe_spectra.domains import name_cycles
from pe_spectra.exact import F64
from pe_spectra.plots.style import BLACK, GREY, SMALL_SIZE, TICK_SIZE, LineStyle, line_pitch, measure_text, shorten_text

#: Where a label may stand: x and y of a point of the data, and "above", "below right", .. of it.
Place = tuple[float, float, str]

#: Points of one curve in a file: more of them cannot be told apart in print.
MOST_POINTS = 4000
#: Of the fill between two curves.
BAND_OPACITY = 0.2
#: Points of what stands above a panel.
HEADING_SIZE = TICK_SIZE
#: Inches of a piece of line before a word.
_SAMPLE = 0.25
#: White in points between a label and what it belongs to; across, where it also stands above or below.
_OFFSET, _ASIDE = 5.0, 2.5
#: Lengths of time that an axis is labelled with: how soon they are left out, seconds, and how they are written.
_TIMES = (
    *((1, 1e-9, "1 ns"), (2, 1e-8, "10 ns"), (3, 1e-7, "100 ns"), (1, 1e-6, "1 µs"), (2, 1e-5, "10 µs")),
    *((3, 1e-4, "100 µs"), (1, 1e-3, "1 ms"), (2, 1e-2, "10 ms"), (3, 1e-1, "100 ms"), (1, 1.0, "1 s")),
    *((2, 10.0, "10 s"), (1, 60.0, "1 min"), (2, 600.0, "10 min"), (1, 3600.0, "1 h"), (2, 21600.0, "6 h")),
    *(
        (1, 86400.0, "1 d"),
        (2, 604800.0, "7 d"),
        (3, 2592000.0, "30 d"),
        (1, 31556952.0, "1 year"),
        (2, 3.1556952e8, "10 years"),
    ),
    *((3, 3.1556952e9, "100 years"), (3, 3.1556952e10, "1000 years")),
)
#: So many of them at most, and at least: else powers of ten stand there.
_MOST_TIMES, _LEAST_TIMES = 7, 2
#: White in pixels that a label keeps from everything else.
_CLEARANCE = 1.5


def _thin_curve(x: F64, y: F64, *, logarithmic: bool = False) -> tuple[F64, F64]:
    """Draw a long curve with fewer points, keeping the smallest and largest value of each piece.

    Curves of at most `MOST_POINTS` points, and their ends, stay as they are. Pieces are equally wide as drawn:
    of an axis with logarithms (`logarithmic`; x ascends from above 0) those at its left end hold a point each.
    """
    if x.size <= MOST_POINTS:
        return x, y
    edges = np.linspace(0, x.size, MOST_POINTS // 2 + 1).astype(np.intp)
    if logarithmic:
        edges = np.unique([0, *np.searchsorted(x, np.geomspace(x[0], x[-1], edges.size)[1:-1]), x.size])
    kept = {0, x.size - 1}
    for start, stop in itertools.pairwise(edges):
        piece = y[start:stop]
        if np.isfinite(piece).any():
            kept.update((int(start + np.nanargmin(piece)), int(start + np.nanargmax(piece))))
    index = np.array(sorted(kept))
    return x[index], y[index]


def draw_curve(axes: Axes, x: F64, y: F64, style: LineStyle, **more: object) -> Line2D:
    """Draw one curve; values that are not finite leave a gap."""
    logarithmic = axes.get_xscale() == "log"
    drawn_x, drawn_y = _thin_curve(x, np.where(np.isfinite(y), y, np.nan), logarithmic=logarithmic)
    line = Line2D(drawn_x, drawn_y)
    line.set(**style, **more)
    axes.add_line(line)
    return line


def draw_band(axes: Axes, x: F64, low: F64, high: F64, colour: str, *, opacity: float = BAND_OPACITY) -> None:
    """Fill lightly between two curves; values that are not finite leave a gap.

    Of more than `MOST_POINTS` points each piece keeps its extremes.
    """
    if x.size > MOST_POINTS:
        starts = np.linspace(0, x.size, MOST_POINTS // 2 + 1).astype(np.intp)[:-1]
        x, low, high = x[starts], np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)
    seen = np.isfinite(low) & np.isfinite(high)
    axes.fill_between(x, low, high, where=seen, color=colour, alpha=opacity, linewidth=0, zorder=1)


def label_powers_of_ten(axis: Axis) -> None:
    """Label an axis that carries base-10 logarithms with the powers of ten that they stand for."""
    axis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    axis.set_major_formatter(_write_power_tick)


def has_powers_of_ten(axis: Axis) -> bool:
    """Whether an axis carries base-10 logarithms of what its labels say.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> label_powers_of_ten(axes.xaxis)
    >>> has_powers_of_ten(axes.xaxis), has_powers_of_ten(axes.yaxis)
    (True, False)
    """
    return getattr(axis.get_major_formatter(), "func", None) is _write_power_tick


class _Names(FixedFormatter):
    """Labels of an axis on which places are names."""


def label_names(axis: Axis, names: Sequence[str]) -> None:
    """Label the places 0, 1, 2, .. of an axis by names."""
    axis.set_major_locator(FixedLocator(range(len(names))))
    axis.set_major_formatter(_Names(names))


def read_name(axis: Axis, value: float) -> str | None:
    """The name nearest to a place on an axis of names; None on an axis of numbers.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> label_names(axes.yaxis, ["dft", "learned"])
    >>> read_name(axes.yaxis, 0.9), read_name(axes.xaxis, 0.9)
    ('learned', None)
    """
    names = axis.get_major_formatter()
    return str(names.seq[min(max(round(value), 0), len(names.seq) - 1)]) if isinstance(names, _Names) else None


def _write_power_tick(value: float, _: float) -> str:
    return _write_power(value)


def add_cycles(axes: Axes, step: str, *, place: float = 1.0) -> None:
    """Add an axis to a panel of frequencies in rad/position: cycles a day, or hertz where these are many.

    `place` is its height in the panel: 1 at the top, below 0 under the labels of the axis of frequencies.
    """
    unit, cycles = name_cycles(step)
    turn = 2 * math.pi / cycles
    above = axes.secondary_xaxis(
        place, functions=(lambda omega: np.asarray(omega) / turn, lambda many: np.asarray(many) * turn)
    )
    if place >= 1:
        above.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
        above.xaxis.set_label_position("top")
    above.set_xlabel(f"frequency ({unit})")
    above.xaxis.set_major_locator(MaxNLocator(nbins=6))
    above.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")


#: Inches that it takes.
CYCLES_HEIGHT = 0.36


def label_times(axis: Axis) -> None:
    """Label an axis that carries base-10 logarithms of seconds with lengths of time that people say."""
    low, high = sorted(axis.get_view_interval())
    inside = [(rank, seconds, name) for rank, seconds, name in _TIMES if low <= math.log10(seconds) <= high]
    fit = [rank for rank in (3, 2, 1) if sum(one[0] <= rank for one in inside) <= _MOST_TIMES]
    shown = [one for one in inside if one[0] <= (fit or [1])[0]]
    if len(shown) < _LEAST_TIMES:
        label_powers_of_ten(axis)
        return
    axis.set_ticks([math.log10(seconds) for _, seconds, _ in shown], [name for _, _, name in shown])


def label_integers(*axes: Axis) -> None:
    """Label each axis that carries positions or lags: whole numbers, written out."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        axis.set_major_formatter(lambda value, _: f"{value:.0f}".replace("-", "−"))


def find_range(*values: F64, otherwise: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """Return the smallest and the largest of the finite values."""
    seen = np.concatenate([one.ravel() for one in values])
    seen = seen[np.isfinite(seen)]
    return (float(seen.min()), float(seen.max())) if seen.size else otherwise


def scale_ticks(axis: Axis, largest: float, plain: range) -> str:
    """Write ticks in a power of ten, which is returned to stand behind the label; none for exponents in `plain`.

    Matplotlib would write that power at the end of the axis, where it touches what stands above.
    """
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    if exponent in plain:
        return ""
    half = exponent // 2  # in two steps: one may leave the range of float64
    axis.set_major_formatter(lambda value, _: write_number(value / 10.0**half / 10.0 ** (exponent - half)))
    return f", $10^{{{exponent}}}$"


def write_number(value: float) -> str:
    """Write a number on a tick; its sign is a minus, not a hyphen."""
    return f"{value:.4g}".replace("-", "−")


def _write_power(exponent: float) -> str:
    short = f"{exponent:.0f}" if abs(exponent) < 1e5 else f"{exponent:.0e}".replace("e+", "e")
    return f"$10^{{{short}}}$"


def head_panel(axes: Axes, text: str, *, beyond: float = 0.0, pad: float = 4.0) -> None:
    """Say `pad` points above a panel what it shows, from its left end; cut to its width and `beyond` inches more."""
    width = axes.get_window_extent().width / axes.figure.dpi + beyond
    axes.set_title(shorten_text(text, HEADING_SIZE, width), loc="left", fontsize=HEADING_SIZE, pad=pad)


def beside(x: float | F64, y: float | F64, sides: Sequence[str], *, most: int = 40) -> list[Place]:
    """Return places on each side of a point, or of `most` points along a curve from its left end to its right."""
    points = np.column_stack([np.atleast_1d(x), np.atleast_1d(y)])
    points = points[np.unique(np.linspace(0, len(points) - 1, most).astype(np.intp))]
    return [(across, up, side) for side in sides for across, up in points[np.isfinite(points[:, 1])].tolist()]


def place_label(
    axes: Axes, text: str, places: Sequence[Place], *, colour: str = BLACK, on_curves: bool = False
) -> Annotation | None:
    """Write a label at the first of `places` where it touches no curve, no mark, no other label and no edge.

    Set the limits of the axes before. Returns None, and writes nothing, where no place is free. With `on_curves`
    only other labels and edges are in its way.
    """
    lines = [] if on_curves else axes.lines
    curves = [line.get_transform().transform_path(line.get_path()) for line in lines]
    taken = [label.get_window_extent() for label in axes.texts] + [box for line in lines for box in _list_marks(line)]
    label = axes.annotate(text, (0, 0), (0, 0), textcoords="offset points", color=colour, fontsize=SMALL_SIZE)
    label.set_annotation_clip(False)  # else a label of a point outside has no size, and seems to fit anywhere
    for x, y, side in places:
        right, above = ("right" in side) - ("left" in side), ("above" in side) - ("below" in side)
        label.xy = (x, y)
        label.set_position((right * (_ASIDE if above else _OFFSET), above * _OFFSET))
        label.set(ha=("center", "left", "right")[right], va=("center", "bottom", "top")[above])
        box = label.get_window_extent().padded(_CLEARANCE)
        if not _holds(axes.bbox, box) or any(box.overlaps(other) for other in taken):
            continue
        if not any(path.intersects_bbox(box, filled=False) for path in curves):
            return label
    label.remove()
    return None


def _list_marks(line: Line2D) -> list[Bbox]:
    """The pixels of the marks of a line that is nothing but marks; those of curves are their curve's."""
    if line.get_marker() in (None, "None", "") or line.get_linestyle() != "None":
        return []
    pixels = np.asarray(line.get_transform().transform(line.get_xydata()))
    half = line.figure.dpi / 72 * (line.get_markersize() + line.get_markeredgewidth()) / 2
    return [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in pixels]


def _holds(outer: Bbox, inner: Bbox) -> bool:
    inside_x = outer.x0 <= inner.x0 and inner.x1 <= outer.x1
    return bool(inside_x and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)


def measure_above(lines: int) -> float:
    """Inches that a name above a panel takes, and so many smaller lines below it."""
    return line_pitch(TICK_SIZE) + lines * line_pitch(SMALL_SIZE) + 0.05


def write_above(axes: Axes, name: str, lines: Sequence[str], *, last: Axes | None = None, colour: str = GREY) -> None:
    """Write a name and smaller lines above a panel, each cut to its width, or at the right end of the panel `last`."""
    width = ((last or axes).get_window_extent().x1 - axes.get_window_extent().x0) / axes.figure.dpi
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    up = 3.0
    for text, size, ink in (*((line, SMALL_SIZE, colour) for line in lines[::-1]), (name, TICK_SIZE, BLACK)):
        axes.annotate(shorten_text(text, size, width), (0, 1), (0, up), fontsize=size, color=ink, **place)
        up += line_pitch(size) * 72


def write_instead(axes: Axes, text: str) -> None:
    """Say in an empty panel why it is: scales without a curve would look like a fault."""
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, text, ha="center", va="center", fontsize=SMALL_SIZE, color=GREY, transform=axes.transAxes)


def anchor_ticks(axes: Axes) -> None:
    """Keep the labels at both ends of the axis across within the panel's width."""
    labels = axes.get_xticklabels()
    if len(labels) > 1:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")


def write_beside(
    axes: Axes, words: Sequence[tuple[float, str, str]], samples: Mapping[str, LineStyle] | None = None
) -> None:
    """Write words at the right of a panel at their heights (as on a logarithmic axis), moved apart where they touch.

    `samples` are the lines that words name: a piece of each stands before its word, for colours come twice.
    """
    if not words:
        return
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high = math.log10(low), math.log10(high)
    box = axes.get_window_extent()
    pitch = 1.25 * SMALL_SIZE / 72 / (box.height / axes.figure.dpi)
    piece = _SAMPLE * axes.figure.dpi / box.width
    ordered = sorted(((level - low) / (high - low), text, colour) for level, text, colour in words)
    heights = _move_apart([height for height, _, _ in ordered], pitch)
    for height, (_, text, colour) in zip(heights, ordered, strict=True):
        left = 1.02
        if samples is not None:
            line = Line2D([left, left + piece], [height, height], linewidth=1.0, transform=axes.transAxes)
            line.set(**samples[text])
            axes.figure.add_artist(line)
            left += piece + 0.02
        axes.text(left, height, text, color=colour, fontsize=SMALL_SIZE, va="center", transform=axes.transAxes)


def measure_beside(axes: Axes) -> float:
    """Measure how many inches the words at the right of a panel go beyond it; 0 without any.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> write_beside(axes, [(0.5, "18.4", "black")])
    >>> 0.1 < measure_beside(axes) < 0.5
    True
    """
    width = axes.get_window_extent().width / axes.figure.dpi
    beside = [text for text in axes.texts if text.get_transform() is axes.transAxes and text.get_position()[0] > 1]
    widths = (measure_text(text.get_text(), SMALL_SIZE) for text in beside)
    ends = ((text.get_position()[0] - 1) * width + long for text, long in zip(beside, widths, strict=True))
    return float(max(ends, default=0.0))


def _move_apart(heights: Sequence[float], pitch: float) -> list[float]:
    """Move ascending heights as little as possible, so that each is `pitch` above the one before; 0 to 0.96."""
    groups: list[tuple[float, int]] = []  # mean of heights less their order times pitch, and how many
    for order, height in enumerate(heights):
        mean, count = height - order * pitch, 1
        while groups and groups[-1][0] > mean:
            before, many = groups.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        groups.append((mean, count))
    top = 0.96 - pitch * (len(heights) - 1)
    levels = [min(max(mean, 0.0), top) for mean, count in groups for _ in range(count)]
    return [level + order * pitch for order, level in enumerate(levels)]
