"""Separation against lag, and a Gram matrix: the panels of faithfulness, from numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.exact import F64
from pe_spectra.plots.axes import Place, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.heatmap import MAP_RIGHT, ColourScale, draw_map, find_extent
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out
from pe_spectra.plots.style import GREY, SMALL_SIZE, LineStyle, curve_style, escape_text, fixed_style

#: Inches: a panel of curves, a map, and the white left of a map.
HEIGHT, MAP_HEIGHT, MAP_LEFT = 2.0, 1.92, 0.68
#: Lags, or separations, that span more than this stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
#: Points of a curve; of one with so many lags that it may swing to and fro across the panel.
_LINE, _THIN_LINE, _MANY_LAGS = 1.2, 0.6, 200
#: Places across and up that are tried for a label.
_COLUMNS, _ROWS = 9, 40
#: Dot products, over the largest squared norm, that are 0 up to rounding.
_NOTHING = 1e-12
#: Curves whose largest distances differ by more than this stand in two panels.
_FAR_APART = 10.0
#: Colours of a Gram matrix end at this quantile of the squared norms where the largest is so many times as large.
_USUAL, _FAR_NORM = 0.9, 4.0


@dataclass(frozen=True, kw_only=True, eq=False)
class SeparationCurve:
    """How far apart the codes of an encoding are, by lag.

    Attributes
    ----------
    label : the encoding.
    length : number of positions.
    lags, distances : (K,) lags, and the smallest distance at each; None where there is no curve.
    closest : the closest two positions and their distance; None where there are none.
    """

    label: str
    length: int
    lags: F64 | None
    distances: F64 | None
    closest: tuple[int, int, float] | None


def plot_curves(axes: Axes, curves: Sequence[SeparationCurve], numbers: Sequence[int] | None = None) -> None:
    """Draw distances by lag, mark the closest pair of each encoding, and name those that have no curve.

    `numbers` choose the style of each curve (`curve_style`); default their order.

    >>> from matplotlib.figure import Figure
    >>> lags = np.array([1.0, 2.0, 3.0])
    >>> curve = SeparationCurve(label="ramp", length=4, lags=lags, distances=lags / 3, closest=(0, 1, 1 / 3))
    >>> axes = Figure().subplots()
    >>> plot_curves(axes, [curve])
    >>> axes.get_ylabel()
    'separation ‖e(s) − e(t)‖'
    """
    axes.set_xlabel("lag |s − t| (positions)")
    axes.set_ylabel("separation ‖e(s) − e(t)‖")
    _set_scales(axes, curves)
    styles = [curve_style(number) for number in numbers or range(len(curves))]
    for curve, style in zip(curves, styles, strict=True):
        _draw_curve(axes, curve, style)
    for curve, style in zip(curves, styles, strict=True):
        _name_closest(axes, curve, style)
    _name_absent(axes, curves)
    if curves and all(curve.length == 1 for curve in curves):
        _say_nothing(axes)


def part_curves(curves: Sequence[SeparationCurve]) -> list[list[int]]:
    """Return the numbers of the curves of each panel: two where one linear axis would flatten some of them.

    >>> from dataclasses import replace
    >>> near = SeparationCurve(label="near", length=9, lags=np.ones(1), distances=np.ones(1), closest=None)
    >>> part_curves([near, replace(near, distances=20 * np.ones(1)), near])
    [[0, 2], [1]]
    """
    everything = [list(range(len(curves)))]
    tops = [float(_list_distances([curve]).max(initial=0.0)) for curve in curves]
    known = sorted(top for top in tops if top > 0)
    if not known or known[-1] <= _FAR_APART * known[0] or _spans_decades(_list_distances(curves)):
        return everything
    _, limit = max((high / low, high) for low, high in pairwise(known))
    parts = [[number for number, top in enumerate(tops) if (top >= limit) == is_high] for is_high in (False, True)]
    return sorted(parts)


def find_gram_scale(gram: F64) -> ColourScale | None:
    """Return ends of the colours that a few rows of large norm do not wash out; None where all values have a colour.

    >>> codes = np.ones((20, 1))
    >>> codes[0] = 5.0
    >>> find_gram_scale(codes @ codes.T / 25)
    ColourScale(low=0.0, high=0.04, clipped=False)
    """
    squares = gram.diagonal()
    usual = float(np.quantile(squares, _USUAL, method="higher"))
    if not 0 < _FAR_NORM * usual < float(squares.max()):
        return None
    return ColourScale(low=-usual if _is_signed(gram) else 0.0, high=usual)


def plot_matrix(axes: Axes, gram: F64, label: str) -> None:
    """Draw dot products over the largest squared norm, both positions from 0 on.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_matrix(axes, np.eye(4), "one-hot")
    >>> len(axes.images)
    1
    """
    places = np.arange(len(gram), dtype=float)
    extent, scale = find_extent(places, places), find_gram_scale(gram)
    draw_map(axes, gram, extent=extent, label="dot product / largest", diverging=_is_signed(gram), scale=scale)
    axes.set_xlabel("t (position)")
    axes.set_ylabel("s (position)")
    for axis in (axes.xaxis, axes.yaxis):
        label_integers(axis)
    head_panel(axes, f"Gram matrix of {escape_text(label)}", beyond=MAP_RIGHT - MARGIN, pad=6)


@fixed_style()
def compose_separation(*curves: SeparationCurve, title: str, small_print: tuple[str, ...]) -> Figure:
    """Draw separation against lag as a figure of its own."""
    key = tuple((escape_text(curve.label), curve_style(number)) for number, curve in enumerate(curves))
    figure, (axes,) = lay_out(Layout(title=title, heights=(HEIGHT,), key=key, small_print=small_print, top=0.10))
    plot_curves(axes, curves)
    return figure


@fixed_style()
def compose_matrix(gram: F64, label: str, *, title: str, small_print: tuple[str, ...]) -> Figure:
    """Draw a Gram matrix as a figure of its own."""
    layout = Layout(
        title=title, heights=(MAP_HEIGHT,), left=MAP_LEFT, right=MAP_RIGHT, small_print=small_print, top=0.30
    )
    figure, (axes,) = lay_out(layout)
    plot_matrix(axes, gram, label)
    return figure


def _is_signed(gram: F64) -> bool:
    return bool((gram < -_NOTHING).any())


def _draw_curve(axes: Axes, curve: SeparationCurve, style: LineStyle) -> None:
    if curve.lags is not None and curve.distances is not None:
        width = _LINE if len(curve.lags) <= _MANY_LAGS else _THIN_LINE
        marker = "." if len(curve.lags) == 1 else ""
        draw_curve(axes, curve.lags, curve.distances, style, linewidth=width, marker=marker)
    if curve.closest is not None:
        s, t, distance = curve.closest
        axes.plot(
            [t - s],
            [distance],
            marker="o",
            markersize=5,
            markerfacecolor="none",
            markeredgewidth=1.0,
            color=style["color"],
            linestyle="none",
            clip_on=False,
            zorder=5,
        )


def _name_closest(axes: Axes, curve: SeparationCurve, style: LineStyle) -> None:
    """Write the closest pair beside its mark, or failing that wherever there is room."""
    if curve.closest is None:
        return
    s, t, distance = curve.closest
    text = f"closest: {s} and {t}, distance {distance:.5g}"
    sides = ("right", "below right", "above right", "left", "below left", "above left", "above", "below")
    places = [Place(x=t - s, y=distance, side=side) for side in sides]
    places += _list_places(axes, (t - s, distance))
    place_label(axes, text, places, colour=style["color"])


def _list_places(axes: Axes, mark: tuple[float, float]) -> list[Place]:
    """Places all over a panel, those nearest to a mark first."""
    across, up = np.meshgrid(np.linspace(0, 1, _COLUMNS), np.linspace(0, 1, _ROWS))
    points = axes.transAxes.transform(np.column_stack([across.ravel(), up.ravel()]))
    away = np.hypot(*(points - axes.transData.transform(mark)).T)
    nearest = axes.transData.inverted().transform(points[np.argsort(away, kind="stable")])
    return [Place(x=float(x), y=float(y), side=side) for x, y in nearest for side in ("left", "right")]


def _name_absent(axes: Axes, curves: Sequence[SeparationCurve]) -> None:
    """Say above the curves which encodings have none."""
    absent = [curve for curve in curves if curve.lags is None]
    if absent:
        names = ", ".join(escape_text(curve.label) for curve in absent)
        head_panel(axes, f"no curve by lag: {names}")


def _say_nothing(axes: Axes) -> None:
    """Say in an empty panel why it is: scales without a curve would look like a fault."""
    axes.set_xticks([])
    axes.set_yticks([])
    text = "one position: nothing to compare"
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=SMALL_SIZE)


def _set_scales(axes: Axes, curves: Sequence[SeparationCurve]) -> None:
    seen = _list_distances(curves)
    last = max((curve.length - 1 for curve in curves), default=1)
    if last > _LINEAR_SPAN:
        axes.set_xscale("log")
        axes.set_xlim(0.9, last * 1.1)
    else:
        axes.set_xlim(0, max(last + 0.5, 1.5))
        label_integers(axes.xaxis)
    largest = float(seen.max()) if seen.size else 1.0
    smallest = float(seen.min()) if seen.size else 0.0
    if _spans_decades(seen):
        axes.set_yscale("log")
        axes.set_ylim(smallest / 2, largest * 2)
    else:
        axes.set_ylim(0, largest * 1.12 if largest > 0 else 1.0)


def _list_distances(curves: Sequence[SeparationCurve]) -> F64:
    drawn = [curve.distances for curve in curves if curve.distances is not None]
    return np.concatenate([*drawn, [curve.closest[2] for curve in curves if curve.closest is not None]])


def _spans_decades(distances: F64) -> bool:
    """Whether they need a logarithmic axis."""
    return bool(distances.size) and 0 < float(distances.min()) * _LINEAR_SPAN < float(distances.max())
