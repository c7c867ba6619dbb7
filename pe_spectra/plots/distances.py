"""Separation against lag, and the Gram matrix: how an encoding distinguishes positions (Def. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.injectivity import entitle_separations
from pe_spectra.exact import F64
from pe_spectra.plots.axes import Place, beside, draw_curve, head_panel, label_integers, place_label, write_instead
from pe_spectra.plots.heatmap import MAP_RIGHT, ColourScale, describe_cells, draw_map, find_extent
from pe_spectra.plots.sheet import MARGIN, RIGHT, Layout, lay_out, widen_panel
from pe_spectra.plots.style import COLUMN_WIDTH, LineStyle, curve_style, escape_sentence, escape_text, fixed_style

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

#: Inches: a panel of curves, a map, and the white left of a map and above it.
_HEIGHT, _MAP_HEIGHT, _MAP_LEFT, _MAP_GAP = 2.0, 1.92, 0.68, 0.74
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


@fixed_style()
def compose_faithfulness(*results: Faithfulness, maps: int = 2) -> Figure:
    """The figure of `pe-spectra faithfulness`: separation against lag for each encoding, and Gram matrices.

    Those, `maps` at most, of the first codes of the first encodings that have a table.
    """
    mapped = [result for result in results if result.gram is not None][:maps]
    names = [escape_text(result.encoding.label) for result in results]
    parts = _part_curves(results)
    layout = Layout(
        title=escape_sentence(entitle_separations(results)),
        heights=(*[_HEIGHT] * len(parts), *[_MAP_HEIGHT] * len(mapped)),
        left=_MAP_LEFT,
        gap=_MAP_GAP,
        key=tuple(
            (name, curve_style(number))
            for number, (name, result) in enumerate(zip(names, results, strict=True))
            if _is_drawn(result)
        ),
        small_print=(_describe_curves(results, len(parts)), *_describe_maps(results, mapped)),
        top=0.27 if any(_read_curve(result) is None for result in results) else 0.10,
    )
    figure, panels = lay_out(layout)
    for axes, part in zip(panels, parts, strict=False):
        draw_separations(axes, [results[number] for number in part], part)
    for panel, result in zip(panels[len(parts) :], mapped, strict=True):
        widen_panel(panel, RIGHT - MAP_RIGHT)
        _draw_gram(panel, result)
    return figure


@fixed_style()
def compose_gram(result: Faithfulness) -> Figure:
    """Draw the Gram matrix of a result whose dot products depend on the lag alone as a figure of its own."""
    gram = np.asarray(result.gram, dtype=float)
    least = Decimal(float(gram.min())).quantize(Decimal("0.01"), ROUND_FLOOR)  # what is said holds for all
    layout = Layout(
        title=f"Dot products of the first {len(gram)} position vectors never fall below {least} of the largest",
        heights=(_MAP_HEIGHT,),
        left=_MAP_LEFT,
        right=MAP_RIGHT,
        small_print=("Every diagonal has one value: the dot product depends on the lag alone.",),
        top=0.30,
    )
    figure, (axes,) = lay_out(layout)
    _draw_gram(axes, result)
    return figure


def _describe_maps(results: Sequence[Faithfulness], mapped: Sequence[Faithfulness]) -> tuple[str, ...]:
    """Say what the maps show: of how many positions, of which encodings, and where colours end before the values do."""
    grams = [(result, result.gram) for result in mapped if result.gram is not None]
    if not grams:
        return ()
    name = "map" if len(mapped) == 1 else "maps"
    sizes = [len(gram) for _, gram in grams]
    if any(len(gram) < result.length for result, gram in grams):
        spans = [f"0 to {len(gram) - 1} of {result.length}" for result, gram in grams]
        parts = [f"{name}: positions {', '.join(dict.fromkeys(spans))}; dot products over the largest squared norm"]
    else:
        counts = ", ".join(str(count) for count in dict.fromkeys(sizes))
        parts = [f"{name}: dot products of the first {counts} position vectors, over the largest squared norm"]
    if len(mapped) < len(results):
        parts.append(f"of {' and '.join(escape_text(result.encoding.label) for result in mapped)}")
    for result, gram in grams:
        scale = _find_gram_scale(gram)
        if scale is not None:
            whose = f" of {escape_text(result.encoding.label)}" if len(mapped) > 1 else ""
            parts.append(
                f"colours{whose} end at {scale.high:.3g}, which 90 % of the squared norms do not exceed (arrow)"
            )
    cells = describe_cells((max(sizes), max(sizes)), COLUMN_WIDTH - _MAP_LEFT - MAP_RIGHT, _MAP_HEIGHT)
    return ("; ".join([*parts, *([cells] if cells else [])]),)


def draw_separations(axes: Axes, results: Sequence[Faithfulness], numbers: Sequence[int] = (0,)) -> None:
    """Draw distances by lag, mark each closest pair, and name what has no curve; `numbers` choose the styles."""
    axes.set(xlabel="lag |s − t| (positions)", ylabel="separation ‖e(s) − e(t)‖")
    _set_scales(axes, results)
    for number, result in zip(numbers, results, strict=True):
        _draw_separation(axes, result, curve_style(number))
    for number, result in zip(numbers, results, strict=True):
        if result.closest_pair is not None:
            _name_closest(axes, result.closest_pair, result.min_separation or 0.0, curve_style(number)["color"])
    absent = [escape_text(result.encoding.label) for result in results if _read_curve(result) is None]
    if absent:
        head_panel(axes, f"no curve by lag: {', '.join(absent)}")
    if all(result.length == 1 for result in results):
        write_instead(axes, "one position: nothing to compare")


def _part_curves(results: Sequence[Faithfulness]) -> list[list[int]]:
    """Return the numbers of the curves of each panel: two where one linear axis would flatten some of them."""
    everything = [list(range(len(results)))]
    tops = [float(_list_distances([result]).max(initial=0.0)) for result in results]
    known = sorted(top for top in tops if top > 0)
    if not known or known[-1] <= _FAR_APART * known[0] or _spans_decades(_list_distances(results)):
        return everything
    _, limit = max((high / low, high) for low, high in pairwise(known))
    parts = [[number for number, top in enumerate(tops) if (top >= limit) == is_high] for is_high in (False, True)]
    return sorted(parts)


def _find_gram_scale(gram: F64) -> ColourScale | None:
    """Return ends of the colours that a few rows of large norm do not wash out; None where all values have a colour."""
    squares = gram.diagonal()
    usual = float(np.quantile(squares, _USUAL, method="higher"))
    if not 0 < _FAR_NORM * usual < float(squares.max()):
        return None
    return ColourScale(-usual if _is_signed(gram) else 0.0, usual)


def _draw_gram(axes: Axes, result: Faithfulness) -> None:
    """Draw the dot products of the first position vectors, over the largest squared norm, both positions from 0 on."""
    gram = np.empty((0, 0)) if result.gram is None else result.gram
    places = np.arange(len(gram), dtype=float)
    extent, scale = find_extent(places, places), _find_gram_scale(gram)
    draw_map(axes, gram, extent=extent, label="dot product / largest", diverging=_is_signed(gram), scale=scale)
    axes.set(xlabel="t (position)", ylabel="s (position)")
    label_integers(axes.xaxis, axes.yaxis)
    head_panel(axes, f"Gram matrix of {escape_text(result.encoding.label)}", beyond=MAP_RIGHT - MARGIN, pad=6)


def _is_signed(gram: F64) -> bool:
    return bool((gram < -_NOTHING).any())


def _read_curve(result: Faithfulness) -> tuple[F64, F64] | None:
    """Lags and the smallest distance at each: all lags, or the smallest distance of each stretch of lags."""
    curve = result.separation_by_lag
    if curve is not None and curve.size:
        return np.arange(1, curve.size + 1, dtype=float), curve
    return None if result.envelope is None else (result.envelope[0].astype(float), result.envelope[1])


def _draw_separation(axes: Axes, result: Faithfulness, style: LineStyle) -> None:
    curve = _read_curve(result)
    if curve is not None:
        width = _LINE if curve[0].size <= _MANY_LAGS else _THIN_LINE
        draw_curve(axes, *curve, style, linewidth=width, marker="." if curve[0].size == 1 else "")
    if result.closest_pair is not None:
        s, t = result.closest_pair
        (circle,) = axes.plot(t - s, result.min_separation or 0.0, "o", color=style["color"], clip_on=False, zorder=5)
        circle.set(markersize=5, markerfacecolor="none", markeredgewidth=1.0)


def _name_closest(axes: Axes, pair: tuple[int, int], distance: float, colour: str) -> None:
    """Write the closest pair beside its mark, or failing that wherever there is room, the nearest place first."""
    mark = (pair[1] - pair[0], distance)
    sides = ("right", "below right", "above right", "left", "below left", "above left", "above", "below")
    across, up = np.meshgrid(np.linspace(0, 1, _COLUMNS), np.linspace(0, 1, _ROWS))
    points = axes.transAxes.transform(np.column_stack([across.ravel(), up.ravel()]))
    away = np.hypot(*(points - axes.transData.transform(mark)).T)
    nearest = axes.transData.inverted().transform(points[np.argsort(away, kind="stable")])
    elsewhere: list[Place] = [(x, y, side) for x, y in nearest.tolist() for side in ("left", "right")]
    text = f"closest: {pair[0]} and {pair[1]}, distance {distance:.5g}"
    place_label(axes, text, [*beside(*mark, sides), *elsewhere], colour=colour)


def _set_scales(axes: Axes, results: Sequence[Faithfulness]) -> None:
    seen, last = _list_distances(results), max(result.length for result in results) - 1
    if last > _LINEAR_SPAN:
        axes.set(xscale="log", xlim=(0.9, last * 1.1))
    else:
        axes.set_xlim(0, max(last + 0.5, 1.5))
        label_integers(axes.xaxis)
    largest = float(seen.max(initial=0.0)) or 1.0
    if _spans_decades(seen):
        axes.set(yscale="log", ylim=(float(seen.min()) / 2, largest * 2))
    else:
        axes.set_ylim(0, largest * 1.12)


def _list_distances(results: Sequence[Faithfulness]) -> F64:
    drawn = [curve[1] for curve in map(_read_curve, results) if curve is not None]
    closest = [result.min_separation for result in results if result.closest_pair is not None]
    return np.concatenate([*drawn, np.array(closest, dtype=float)])


def _spans_decades(distances: F64) -> bool:
    """Whether they need a logarithmic axis."""
    return bool(distances.size) and 0 < float(distances.min()) * _LINEAR_SPAN < float(distances.max())


def _describe_curves(results: Sequence[Faithfulness], panels: int) -> str:
    """Say what is drawn in so many panels of separations."""
    lengths = ", ".join(str(length) for length in dict.fromkeys(r.length for r in results))
    if not any(map(_is_drawn, results)):
        return f"{lengths} position{'' if lengths == '1' else 's'}"
    thinned = any(r.separation_by_lag is None and r.envelope is not None for r in results)
    where = "in each stretch of lags" if thinned else "at each lag"
    scales = "; two panels, for the distances differ more than tenfold" if panels > 1 else ""
    return f"smallest Euclidean distance {where}, {lengths} positions; circle: closest pair{scales}"


def _is_drawn(result: Faithfulness) -> bool:
    """Whether there is a curve or a closest pair of it."""
    return _read_curve(result) is not None or result.closest_pair is not None
