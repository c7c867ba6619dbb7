"""What the panels have in common: curves, ticks, and labels where there is room for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from pe_spectra.plots.style import BLACK, SMALL_SIZE, TICK_SIZE, LineStyle, shorten_text

F64 = NDArray[np.float64]

#: Points of one curve in a file: more of them cannot be told apart in print.
MOST_POINTS = 4000
#: Of the fill between two curves.
BAND_OPACITY = 0.2
#: Points of what stands above a panel.
HEADING_SIZE = TICK_SIZE
#: White in points between a label and what it belongs to; across, where it also stands above or below.
_OFFSET, _ASIDE = 5.0, 2.5
#: White in pixels that a label keeps from everything else.
_CLEARANCE = 1.5


def thin_curve(x: F64, y: F64, *, logarithmic: bool = False) -> tuple[F64, F64]:
    """Draw a long curve with fewer points, keeping the smallest and largest value of each piece.

    Curves of at most `MOST_POINTS` points, and their ends, stay as they are. Pieces are equally wide as drawn:
    of an axis with logarithms (`logarithmic`; x ascends from above 0) those at its left end hold a point each.

    >>> x = np.arange(1.0, 100_001.0)
    >>> [int(thin_curve(x, np.sin(x), logarithmic=scale)[0][9]) for scale in (False, True)]
    [212, 10]
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
    drawn_x, drawn_y = thin_curve(x, np.where(np.isfinite(y), y, np.nan), logarithmic=logarithmic)
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
    axis.set_major_formatter(FuncFormatter(lambda value, _: _write_power(value)))


def label_integers(axis: Axis) -> None:
    """Label an axis that carries positions or lags: whole numbers, written out."""
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))


def label_scaled(axis: Axis, largest: float, label: str) -> None:
    """Label an axis; very small and very large numbers are written in a power of ten that the label names.

    Matplotlib would write that power at the end of the axis, where it touches what stands above.
    """
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    if -4 <= exponent <= 4:
        axis.set_label_text(label)
        return
    half = exponent // 2  # in two steps: one may leave the range of float64
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / 10.0**half / 10.0 ** (exponent - half):.3g}"))
    axis.set_label_text(f"{label}, $10^{{{exponent}}}$")


def _write_power(exponent: float) -> str:
    short = f"{exponent:.0f}" if abs(exponent) < 1e5 else f"{exponent:.0e}".replace("e+", "e")
    return f"$10^{{{short}}}$"


def head_panel(axes: Axes, text: str, *, beyond: float = 0.0, pad: float = 4.0) -> None:
    """Say `pad` points above a panel what it shows, from its left end; cut to its width and `beyond` inches more."""
    width = axes.get_window_extent().width / axes.figure.dpi + beyond
    axes.set_title(shorten_text(text, HEADING_SIZE, width), loc="left", fontsize=HEADING_SIZE, pad=pad)


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where a label may stand: beside a point of the data, on one of its sides.

    `side` is "above", "below", "right" or "left" of the point (x, y) in data coordinates, or "at" it.
    """

    x: float
    y: float
    side: str


#: Horizontal and vertical alignment, and direction of the offset, of each side.
_SIDES = {
    "above": ("center", "bottom", 0, 1),
    "below": ("center", "top", 0, -1),
    "right": ("left", "center", 1, 0),
    "left": ("right", "center", -1, 0),
    "above right": ("left", "bottom", 1, 1),
    "above left": ("right", "bottom", -1, 1),
    "below right": ("left", "top", 1, -1),
    "below left": ("right", "top", -1, -1),
}


def place_label(axes: Axes, text: str, places: Sequence[Spot], *, colour: str = BLACK) -> Annotation | None:
    """Write a label at the first of `places` where it touches no curve, no mark, no other label and no edge.

    Set the limits of the axes before. Returns None, and writes nothing, where no place is free.
    """
    if not places:
        return None
    curves = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    taken = [label.get_window_extent() for label in axes.texts] + _list_marks(axes)
    trial = _write_label(axes, text, places[0], colour)
    width, height = trial.get_window_extent().size
    trial.remove()
    for place in places:
        box = _predict_box(axes, place, width, height).padded(_CLEARANCE)
        if not _holds(axes.bbox, box) or any(box.overlaps(other) for other in taken):
            continue
        if not any(path.intersects_bbox(box, filled=False) for path in curves):
            return _write_label(axes, text, place, colour)
    return None


def _list_marks(axes: Axes) -> list[Bbox]:
    """The pixels of the marks of lines that are nothing but marks; those of curves are their curve's."""
    scale, boxes = axes.figure.dpi / 72, []
    for line in axes.lines:
        if line.get_marker() not in (None, "None", "") and line.get_linestyle() == "None":
            half = scale * (line.get_markersize() + line.get_markeredgewidth()) / 2
            for x, y in line.get_transform().transform(line.get_xydata()):
                boxes.append(Bbox.from_extents(x - half, y - half, x + half, y + half))
    return boxes


def _predict_box(axes: Axes, place: Spot, width: float, height: float) -> Bbox:
    """The pixels that a label of this size would cover."""
    _, _, right, above = _SIDES[place.side]
    across, up = _find_offset(place)
    x, y = axes.transData.transform((place.x, place.y))
    scale = axes.figure.dpi / 72
    left = x + across * scale + width * (right - 1) / 2
    bottom = y + up * scale + height * (above - 1) / 2
    return Bbox.from_bounds(left, bottom, width, height)


def _write_label(axes: Axes, text: str, place: Spot, colour: str) -> Annotation:
    across, up, _, _ = _SIDES[place.side]
    return axes.annotate(
        text,
        (place.x, place.y),
        _find_offset(place),
        textcoords="offset points",
        ha=across,
        va=up,
        color=colour,
        fontsize=SMALL_SIZE,
        annotation_clip=False,  # else a label of a point outside has no size, and seems to fit anywhere
    )


def _find_offset(place: Spot) -> tuple[float, float]:
    """Points from the place to the nearest point of the label."""
    _, _, right, above = _SIDES[place.side]
    return right * (_ASIDE if above else _OFFSET), above * _OFFSET


def _holds(outer: Bbox, inner: Bbox) -> bool:
    inside_x = outer.x0 <= inner.x0 and inner.x1 <= outer.x1
    return bool(inside_x and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)


def places_along(x: F64, y: F64, sides: Sequence[str], *, count: int = 40) -> list[Spot]:
    """Places beside a curve, from its left end to its right."""
    index = np.unique(np.linspace(0, x.size - 1, count).astype(np.intp))
    seen = index[np.isfinite(y[index])]
    return [Spot(x=float(x[i]), y=float(y[i]), side=side) for side in sides for i in seen]
