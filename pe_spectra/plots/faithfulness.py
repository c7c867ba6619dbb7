"""Separation against lag: how far apart an encoding puts two positions (Def. 1 and its surroundings)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.plots.axes import Place, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    LineStyle,
    curve_style,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

#: Lags, or separations, that span more than this stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
#: Points of a curve; of one with so many lags that it may swing to and fro across the panel.
_LINE, _THIN_LINE, _MANY_LAGS = 1.2, 0.6, 200


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


@fixed_style()
def compose_faithfulness(*results: Faithfulness) -> Figure:
    """The figure of `pe-spectra faithfulness`: separation against lag for each encoding.

    Raises
    ------
    ValueError : no result.
    """
    if not results:
        raise ValueError("a figure of separations needs one result at least")
    layout = Layout(
        title=_entitle(results),
        heights=(2.0,),
        key=tuple((escape_text(result.encoding.label), curve_style(number)) for number, result in enumerate(results)),
        small_print=(_describe(results),),
        top=0.27 if not all(_has_curve(result) for result in results) else 0.10,
    )
    figure, (axes,) = lay_out(layout)
    plot_separation(axes, *results)
    return figure


def _draw_result(axes: Axes, result: Faithfulness, style: LineStyle) -> None:
    curve = result.separation_by_lag
    if curve is not None and curve.size:
        lag = np.arange(1, curve.size + 1, dtype=float)
        width = _LINE if curve.size <= _MANY_LAGS else _THIN_LINE
        draw_curve(axes, lag, curve, style, linewidth=width, marker="." if curve.size == 1 else "")
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


def _has_curve(result: Faithfulness) -> bool:
    return result.separation_by_lag is not None and result.separation_by_lag.size > 0


def _name_absent(axes: Axes, results: Sequence[Faithfulness]) -> None:
    """Say above the curves which encodings have none."""
    absent = [result for result in results if not _has_curve(result)]
    if absent:
        names = ", ".join(escape_text(result.encoding.label) for result in absent)
        head_panel(axes, f"no curve by lag: {names}")


def _set_scales(axes: Axes, results: Sequence[Faithfulness]) -> None:
    curves = [r.separation_by_lag for r in results if r.separation_by_lag is not None]
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
    return f"smallest Euclidean distance at each lag, {lengths} positions; circle: closest pair"
