"""Separation against lag, and the Gram matrix: how an encoding distinguishes positions (Def. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.injectivity import describe_separations, entitle_separations
from pe_spectra.exact import F64
from pe_spectra.plots.axes import Spot, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.heatmap import MAP_RIGHT, ColourScale, describe_cells, draw_map, find_extent
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out
from pe_spectra.plots.stretches import fit_panel
from pe_spectra.plots.style import COLUMN_WIDTH, GREY, SMALL_SIZE, LineStyle, curve_style, escape_text, fixed_style

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

#: Inches: a panel of curves, a map, and the white left of a map.
_HEIGHT, _MAP_HEIGHT, _MAP_LEFT = 2.0, 1.92, 0.68
#: Lags, or separations, that span more than this stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
#: The mark of a closest pair.
_CIRCLE: dict[str, Any] = {
    "marker": "o", "markersize": 5, "markerfacecolor": "none", "markeredgewidth": 1.0, "linestyle": "none",
}  # fmt: skip
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
#: Encodings whose Gram matrix is drawn, at most; inches above it, and from the sheet's edge to its upward label.
_MOST_MAPS, _MAP_GAP, _AXIS_LABEL = 2, 0.74, 0.20


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

    @classmethod
    def of(cls, result: Faithfulness) -> SeparationCurve:
        """What is drawn of a result: all lags, or the smallest distance of each stretch of lags."""
        lags, distances, curve = None, None, result.separation_by_lag
        if curve is not None and curve.size:
            lags, distances = np.arange(1, curve.size + 1, dtype=float), curve
        elif result.envelope is not None:
            lags, distances = result.envelope[0].astype(float), result.envelope[1]
        closest = None
        if result.closest_pair is not None and result.min_separation is not None:
            closest = (*result.closest_pair, result.min_separation)
        return cls(label=result.encoding.label, length=result.length, lags=lags, distances=distances, closest=closest)

    @property
    def is_drawn(self) -> bool:
        """Whether there is anything to draw."""
        return self.lags is not None or self.closest is not None


def plot_separation(axes: Axes, *results: Faithfulness) -> None:
    """Draw the smallest separation at each lag, and mark the closest pair of each encoding.

    An encoding without `separation_by_lag` is named in the axes as not drawn.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, measure_faithfulness
    >>> found = measure_faithfulness(Dft(d=8), length=8)
    >>> axes = Figure().subplots()
    >>> plot_separation(axes, found)
    >>> axes.get_ylabel()
    'separation ‖e(s) − e(t)‖'
    """
    _draw_curves(axes, [SeparationCurve.of(result) for result in results])


def plot_gram(axes: Axes, result: Faithfulness) -> None:
    """Draw the dot products of the first codes, over the largest squared norm, both positions from 0 on.

    Raises
    ------
    ValueError : a result without a Gram matrix.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, measure_faithfulness
    >>> found = measure_faithfulness(Dft(d=8), length=8)
    >>> axes = Figure().subplots()
    >>> plot_gram(axes, found)
    >>> axes.get_ylabel()
    's (position)'
    """
    if result.gram is None:
        raise ValueError("there is no Gram matrix to draw")
    _draw_matrix(axes, result.gram, result.encoding.label)


@fixed_style()
def compose_faithfulness(*results: Faithfulness) -> Figure:
    """The figure of `pe-spectra faithfulness`: separation against lag for each encoding, and Gram matrices.

    Those of the first codes of the first two encodings that have a table.

    Raises
    ------
    ValueError : no result.
    """
    if not results:
        raise ValueError("a figure of separations needs one result at least")
    mapped = [result for result in results if result.gram is not None][:_MOST_MAPS]
    curves = [SeparationCurve.of(result) for result in results]
    parts = part_curves(curves)
    layout = Layout(
        title=entitle_separations(results, [escape_text(result.encoding.label) for result in results]),
        heights=(*[_HEIGHT] * len(parts), *[_MAP_HEIGHT] * len(mapped)),
        left=_MAP_LEFT,
        gap=_MAP_GAP,
        key=tuple(
            (escape_text(curve.label), curve_style(number)) for number, curve in enumerate(curves) if curve.is_drawn
        ),
        small_print=(describe_separations(results, len(parts)), *_describe_maps(results, mapped)),
        top=0.27 if any(curve.lags is None for curve in curves) else 0.10,
    )
    figure, panels = lay_out(layout)
    for axes, part in zip(panels, parts, strict=False):
        _draw_curves(axes, [curves[number] for number in part], part)
    for panel, result in zip(panels[len(parts) :], mapped, strict=True):
        fit_panel(panel)
        panel.yaxis.set_label_coords((_AXIS_LABEL - _MAP_LEFT) / _MAP_HEIGHT, 0.5)
        plot_gram(panel, result)
    return figure


def _describe_maps(results: Sequence[Faithfulness], mapped: Sequence[Faithfulness]) -> tuple[str, ...]:
    """Say what the maps show: of how many codes, and of which encodings."""
    if not mapped:
        return ()
    sizes = [len(result.gram) for result in mapped if result.gram is not None]
    counts = ", ".join(str(count) for count in dict.fromkeys(sizes))
    name = "map" if len(mapped) == 1 else "maps"
    if any(size < result.length for size, result in zip(sizes, mapped, strict=True)):
        spans = [f"0 to {size - 1} of {result.length}" for size, result in zip(sizes, mapped, strict=True)]
        parts = [f"{name}: positions {', '.join(dict.fromkeys(spans))}; dot products over the largest squared norm"]
    else:
        parts = [f"{name}: dot products of the first {counts} codes, over the largest squared norm"]
    if len(mapped) < len(results):
        parts.append(f"of {' and '.join(escape_text(result.encoding.label) for result in mapped)}")
    cells = describe_cells((max(sizes), max(sizes)), COLUMN_WIDTH - _MAP_LEFT - MAP_RIGHT, _MAP_HEIGHT)
    return ("; ".join([*parts, *_describe_colours(mapped), *([cells] if cells else [])]),)


def _describe_colours(mapped: Sequence[Faithfulness]) -> list[str]:
    """Say where colours end before the values do."""
    parts = []
    for result in mapped:
        scale = None if result.gram is None else find_gram_scale(result.gram)
        if scale is not None:
            whose = f" of {escape_text(result.encoding.label)}" if len(mapped) > 1 else ""
            parts.append(
                f"colours{whose} end at {scale.high:.3g}, which 90 % of the squared norms do not exceed (arrow)"
            )
    return parts


def _draw_curves(axes: Axes, curves: Sequence[SeparationCurve], numbers: Sequence[int] | None = None) -> None:
    """Draw distances by lag, mark each closest pair, and name what has no curve; `numbers` choose the styles."""
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


def _draw_matrix(axes: Axes, gram: F64, label: str) -> None:
    """Draw dot products over the largest squared norm, both positions from 0 on."""
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
    figure, (axes,) = lay_out(Layout(title=title, heights=(_HEIGHT,), key=key, small_print=small_print, top=0.10))
    _draw_curves(axes, curves)
    return figure


@fixed_style()
def compose_matrix(gram: F64, label: str, *, title: str, small_print: tuple[str, ...]) -> Figure:
    """Draw a Gram matrix as a figure of its own."""
    layout = Layout(
        title=title, heights=(_MAP_HEIGHT,), left=_MAP_LEFT, right=MAP_RIGHT, small_print=small_print, top=0.30
    )
    figure, (axes,) = lay_out(layout)
    _draw_matrix(axes, gram, label)
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
        axes.plot([t - s], [distance], color=style["color"], clip_on=False, zorder=5, **_CIRCLE)


def _name_closest(axes: Axes, curve: SeparationCurve, style: LineStyle) -> None:
    """Write the closest pair beside its mark, or failing that wherever there is room."""
    if curve.closest is None:
        return
    s, t, distance = curve.closest
    text = f"closest: {s} and {t}, distance {distance:.5g}"
    sides = ("right", "below right", "above right", "left", "below left", "above left", "above", "below")
    places = [Spot(x=t - s, y=distance, side=side) for side in sides]
    places += _list_places(axes, (t - s, distance))
    place_label(axes, text, places, colour=style["color"])


def _list_places(axes: Axes, mark: tuple[float, float]) -> list[Spot]:
    """Places all over a panel, those nearest to a mark first."""
    across, up = np.meshgrid(np.linspace(0, 1, _COLUMNS), np.linspace(0, 1, _ROWS))
    points = axes.transAxes.transform(np.column_stack([across.ravel(), up.ravel()]))
    away = np.hypot(*(points - axes.transData.transform(mark)).T)
    nearest = axes.transData.inverted().transform(points[np.argsort(away, kind="stable")])
    return [Spot(x=float(x), y=float(y), side=side) for x, y in nearest for side in ("left", "right")]


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
    words = "one position: nothing to compare"
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=SMALL_SIZE)


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
