"""Separation against lag, and the Gram matrix: how an encoding tells positions apart (Def. 1 and its surroundings)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.plots.axes import Place, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells, draw_map, find_extent
from pe_spectra.plots.local import fit_panel
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    LineStyle,
    curve_style,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

F64 = NDArray[np.float64]

#: Lags, or separations, that span more than this stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
#: Points of a curve; of one with so many lags that it may swing to and fro across the panel.
_LINE, _THIN_LINE, _MANY_LAGS = 1.2, 0.6, 200
#: Encodings whose Gram matrix is drawn, at most; inches of its panel, left of it, and above it.
_MOST_MAPS, _MAP, _LEFT, _MAP_GAP = 2, 1.92, 0.68, 0.74
#: Inches from the edge of the sheet to the label of the upward axis.
_AXIS_LABEL = 0.20
#: Dot products, over the largest squared norm, that are 0 up to rounding.
_NOTHING = 1e-12


def plot_separation(axes: Axes, *results: Faithfulness) -> None:
    """Draw the smallest separation at each lag, and mark the closest pair of each encoding.

    An encoding without `separation_by_lag` is named in the axes as not drawn.
    """
    axes.set_xlabel("lag |s − t| (positions)")
    axes.set_ylabel("separation ‖e(s) − e(t)‖")
    _set_scales(axes, results)
    for number, result in enumerate(results):
        _draw_result(axes, result, curve_style(number))
    for number, result in enumerate(results):
        _name_closest(axes, result, curve_style(number))
    _name_absent(axes, results)


def plot_gram(axes: Axes, result: Faithfulness) -> None:
    """Draw the dot products of the first codes, over the largest squared norm, both positions from 0 on.

    Raises
    ------
    ValueError : a result without a Gram matrix.
    """
    if result.gram is None:
        raise ValueError("there is no Gram matrix to draw")
    places = np.arange(len(result.gram), dtype=float)
    signed = bool((result.gram < -_NOTHING).any())
    extent = find_extent(places, places)
    draw_map(axes, result.gram, extent=extent, label="dot product / largest", diverging=signed)
    axes.set_xlabel("t (position)")
    axes.set_ylabel("s (position)")
    for axis in (axes.xaxis, axes.yaxis):
        label_integers(axis)
    head_panel(axes, f"Gram matrix of {escape_text(result.encoding.label)}", beyond=MAP_RIGHT - MARGIN, pad=6)


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
    layout = Layout(
        title=_entitle(results),
        heights=(2.0, *[_MAP] * len(mapped)),
        left=_LEFT,
        gap=_MAP_GAP,
        key=tuple((escape_text(result.encoding.label), curve_style(number)) for number, result in enumerate(results)),
        small_print=(_describe(results), *_describe_maps(results, mapped)),
        top=0.27 if not all(_has_curve(result) for result in results) else 0.10,
    )
    figure, (axes, *maps) = lay_out(layout)
    plot_separation(axes, *results)
    for panel, result in zip(maps, mapped, strict=True):
        fit_panel(panel)
        panel.yaxis.set_label_coords((_AXIS_LABEL - _LEFT) / _MAP, 0.5)
        plot_gram(panel, result)
    return figure


def _draw_result(axes: Axes, result: Faithfulness, style: LineStyle) -> None:
    curve = _read_curve(result)
    if curve is not None:
        width = _LINE if len(curve[0]) <= _MANY_LAGS else _THIN_LINE
        draw_curve(axes, *curve, style, linewidth=width, marker="." if len(curve[0]) == 1 else "")
    if result.closest_pair is not None and result.min_separation is not None:
        s, t = result.closest_pair
        axes.plot(
            [t - s],
            [result.min_separation],
            marker="o",
            markersize=5,
            markerfacecolor="none",
            markeredgewidth=1.0,
            color=style["color"],
            linestyle="none",
            clip_on=False,
            zorder=5,
        )


def _name_closest(axes: Axes, result: Faithfulness, style: LineStyle) -> None:
    """Write the closest pair beside its mark, or failing that wherever there is room."""
    if result.closest_pair is None or result.min_separation is None:
        return
    s, t = result.closest_pair
    distance = f"{result.min_separation:.5g}"
    text = f"closest: {s} and {t}, distance {distance}"
    sides = ("right", "below right", "above right", "left", "below left", "above left", "above")
    places = [Place(x=t - s, y=result.min_separation, side=side) for side in sides]
    for x, side in zip(axes.get_xlim(), ("right", "left"), strict=True):
        rows = np.linspace(*axes.get_ylim(), 40)
        places += [Place(x=x, y=float(y), side=side) for y in rows]
    place_label(axes, text, places, colour=style["color"])


def _read_curve(result: Faithfulness) -> tuple[F64, F64] | None:
    """Lags and distances to draw: all of them, or the smallest of each stretch of lags; None where there is none."""
    curve = result.separation_by_lag
    if curve is not None and curve.size:
        return np.arange(1, curve.size + 1, dtype=float), curve
    if result.envelope is not None:
        return result.envelope[0].astype(float), result.envelope[1]
    return None


def _has_curve(result: Faithfulness) -> bool:
    return _read_curve(result) is not None


def _name_absent(axes: Axes, results: Sequence[Faithfulness]) -> None:
    """Say above the curves which encodings have none."""
    absent = [result for result in results if not _has_curve(result)]
    if absent:
        names = ", ".join(escape_text(result.encoding.label) for result in absent)
        head_panel(axes, f"no curve by lag: {names}")


def _set_scales(axes: Axes, results: Sequence[Faithfulness]) -> None:
    curves = [curve[1] for r in results if (curve := _read_curve(r)) is not None]
    seen = np.concatenate([*curves, [r.min_separation for r in results if r.min_separation is not None]])
    last = max((r.length - 1 for r in results), default=1)
    if last > _LINEAR_SPAN:
        axes.set_xscale("log")
        axes.set_xlim(0.9, last * 1.1)
    else:
        axes.set_xlim(0, max(last + 0.5, 1.5))
        label_integers(axes.xaxis)
    largest = float(seen.max()) if seen.size else 1.0
    smallest = float(seen.min()) if seen.size else 0.0
    if 0 < smallest * _LINEAR_SPAN < largest:
        axes.set_yscale("log")
        axes.set_ylim(smallest / 2, largest * 2)
    else:
        axes.set_ylim(0, largest * 1.12 if largest > 0 else 1.0)


def _entitle(results: Sequence[Faithfulness]) -> str:
    if len(results) > 1:
        return "How far apart two codes are, by their lag"
    result = results[0]
    if result.min_separation is None or result.closest_pair is None:
        return "How far apart the codes of two positions are"
    s, t = result.closest_pair
    if result.min_separation == 0:
        return f"Positions {s} and {t} have the same code"
    lag = "neighbours" if t - s == 1 else f"positions {t - s} apart"
    return f"The closest codes are those of {lag}, at distance {result.min_separation:.5g}"


def _describe(results: Sequence[Faithfulness]) -> str:
    lengths = ", ".join(str(length) for length in dict.fromkeys(r.length for r in results))
    thinned = any(r.separation_by_lag is None and r.envelope is not None for r in results)
    where = "in each stretch of lags" if thinned else "at each lag"
    return f"smallest Euclidean distance {where}, {lengths} positions; circle: closest pair"


def _describe_maps(results: Sequence[Faithfulness], mapped: Sequence[Faithfulness]) -> tuple[str, ...]:
    """Say what the maps show: of how many codes, and of which encodings."""
    if not mapped:
        return ()
    counts = ", ".join(str(count) for count in dict.fromkeys(len(r.gram) for r in mapped if r.gram is not None))
    name = "map" if len(mapped) == 1 else "maps"
    parts = [f"{name}: dot products of the first {counts} codes, over the largest squared norm"]
    if len(mapped) < len([result for result in results if result.gram is not None]):
        parts.append(f"of the first {len(mapped)} encodings")
    sizes = [len(result.gram) for result in mapped if result.gram is not None]
    cells = describe_cells((max(sizes), max(sizes)), COLUMN_WIDTH - _LEFT - MAP_RIGHT, _MAP)
    return ("; ".join([*parts, cells] if cells else parts),)
