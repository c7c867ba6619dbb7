"""Separation against lag, and the Gram matrix: how an encoding tells positions apart (Def. 1 and its surroundings)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.injectivity import entitle_separations
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells
from pe_spectra.plots.local import fit_panel
from pe_spectra.plots.separation import (
    HEIGHT,
    MAP_HEIGHT,
    MAP_LEFT,
    SeparationCurve,
    find_gram_scale,
    part_curves,
    plot_curves,
    plot_matrix,
)
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    curve_style,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

#: Encodings whose Gram matrix is drawn, at most; inches above it, and from the sheet's edge to its upward label.
_MOST_MAPS, _MAP_GAP, _AXIS_LABEL = 2, 0.74, 0.20


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
    plot_curves(axes, [_read_curve(result) for result in results])


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
    plot_matrix(axes, result.gram, result.encoding.label)


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
    curves = [_read_curve(result) for result in results]
    parts = part_curves(curves)
    layout = Layout(
        title=entitle_separations(results, [escape_text(result.encoding.label) for result in results]),
        heights=(*[HEIGHT] * len(parts), *[MAP_HEIGHT] * len(mapped)),
        left=MAP_LEFT,
        gap=_MAP_GAP,
        key=tuple(
            (escape_text(curve.label), curve_style(number)) for number, curve in enumerate(curves) if _is_drawn(curve)
        ),
        small_print=(_describe(results, len(parts)), *_describe_maps(results, mapped)),
        top=0.27 if any(curve.lags is None for curve in curves) else 0.10,
    )
    figure, panels = lay_out(layout)
    for axes, part in zip(panels, parts, strict=False):
        plot_curves(axes, [curves[number] for number in part], part)
    for panel, result in zip(panels[len(parts) :], mapped, strict=True):
        fit_panel(panel)
        panel.yaxis.set_label_coords((_AXIS_LABEL - MAP_LEFT) / MAP_HEIGHT, 0.5)
        plot_gram(panel, result)
    return figure


def _read_curve(result: Faithfulness) -> SeparationCurve:
    """What is drawn of a result: all lags, or the smallest distance of each stretch of lags."""
    lags, distances, curve = None, None, result.separation_by_lag
    if curve is not None and curve.size:
        lags, distances = np.arange(1, curve.size + 1, dtype=float), curve
    elif result.envelope is not None:
        lags, distances = result.envelope[0].astype(float), result.envelope[1]
    closest = None
    if result.closest_pair is not None and result.min_separation is not None:
        closest = (*result.closest_pair, result.min_separation)
    return SeparationCurve(
        label=result.encoding.label, length=result.length, lags=lags, distances=distances, closest=closest
    )


def _is_drawn(curve: SeparationCurve) -> bool:
    return curve.lags is not None or curve.closest is not None


def _describe(results: Sequence[Faithfulness], panels: int) -> str:
    lengths = ", ".join(str(length) for length in dict.fromkeys(r.length for r in results))
    if not any(_is_drawn(_read_curve(result)) for result in results):
        return f"{lengths} position{'' if lengths == '1' else 's'}"
    thinned = any(r.separation_by_lag is None and r.envelope is not None for r in results)
    where = "in each stretch of lags" if thinned else "at each lag"
    scales = "; two panels, for the distances differ more than tenfold" if panels > 1 else ""
    return f"smallest Euclidean distance {where}, {lengths} positions; circle: closest pair{scales}"


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
    cells = describe_cells((max(sizes), max(sizes)), COLUMN_WIDTH - MAP_LEFT - MAP_RIGHT, MAP_HEIGHT)
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
