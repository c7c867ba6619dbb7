"""Maps: a value at each place of a plane as a colour, with its scale beside it.

Sequential maps are viridis (Smith and van der Walt, 2015). The diverging map runs from blue through white
to vermilion along straight lines of the Oklab space (Ottosson, 2020), so that equal steps of the value look
like equal steps; its blue end is the darker one, which tells the signs apart in grey where they are strong.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.patches import Polygon
from matplotlib.ticker import MaxNLocator

from pe_spectra.exact import F64, NDArray
from pe_spectra.plots.axes import find_range, scale_ticks, write_number
from pe_spectra.plots.style import GREY, LABEL_SIZE, TICK_SIZE, VERMILION
from pe_spectra.records import NamedTuple

#: Left, right, bottom and top edge of a map in data coordinates.
Extent = tuple[float, float, float, float]

#: Cells of a map across and up, at most; and cells to an inch, that none is lost between two dots.
MOST_CELLS, CELLS_PER_INCH = (600, 400), 180
#: Inches right of a panel that its colour bar needs: `Layout.right` at least.
MAP_RIGHT = 0.80
#: Inches between a panel and its colour bar, and the width of that.
_BAR_GAP, _BAR = 0.07, 0.10
#: Inches of the arrow at an end of the bar that values lie beyond.
_ARROW = 0.08
#: Maps whose values differ by less, as a share of the largest, show one value.
_NEARLY_ONE = 0.02
#: Inches from the panel to the label of the bar.
_BAR_LABEL = 0.58
#: Colours end at this quantile of the sizes where the largest is this many times as large.
QUANTILE, FAR = 0.995, 1.5
#: A logarithmic map shows so many powers of ten below its largest value.
MOST_DECADES = 6.0
#: Where a value is no number.
MISSING = "#B0B0B0"
#: Evenly spaced along two straight lines of the Oklab space: dark blue to white, and on to vermilion.
_DIVERGING = ("#08306b", "#446291", "#7f95b6", "#bcc8da", "#ffffff", "#f9d8c8", "#f0b192", "#e4895a", VERMILION)
_STEPS = 128
_PICTURE: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
#: Colours of a map, by whether it is diverging: blue through white to vermilion, else viridis.
COLOURS = {
    is_diverging: colours.with_extremes(bad=MISSING)
    for is_diverging, colours in (
        (True, LinearSegmentedColormap.from_list("blue-white-vermilion", _DIVERGING, N=2 * _STEPS - 1)),
        (False, matplotlib.colormaps["viridis"]),
    )
}


class Logarithms(Normalize):
    """Colours of base-10 logarithms of what the labels of their bar say."""


class ColourScale(NamedTuple):
    """The values at both ends of a colour bar (of a logarithmic map: logarithms), and whether values lie below it."""

    low: float
    high: float
    clipped: bool = False


def draw_map(
    axes: Axes,
    values: F64,
    *,
    extent: Extent,
    label: str,
    diverging: bool = False,
    logarithmic: bool = False,
    scale: ColourScale | None = None,
) -> AxesImage:
    """Draw a map that fills the panel, and its labelled colour bar at the right of it.

    The first row of `values` is at the bottom (``axes.invert_yaxis()`` afterwards puts it on top). More cells
    than the panel can show are drawn as means of blocks (`fit_map`; `describe_cells` says so in words).
    The panel needs `MAP_RIGHT` inches of white at its right.

    Parameters
    ----------
    values : (rows, columns); what is not finite is grey.
    extent : left, right, bottom, top edge in data coordinates (`find_extent`).
    label : what the colours mean, with unit; ready to be drawn.
    diverging : centred at zero, with a colour for either sign.
    logarithmic : colours by base-10 logarithm, of `MOST_DECADES` at most; what is not positive is the lowest.
    scale : both ends of the colours, where several maps share them or few values are far; default those of
        `values`. The bar has an arrow at an end that values lie beyond.

    Returns
    -------
    The image; its array holds what is drawn (base-10 logarithms of a logarithmic map), its label what colours mean.
    """
    thinned = fit_map(axes, values)
    drawn = _take_logarithms(thinned) if logarithmic else np.where(np.isfinite(thinned), thinned, np.nan)
    ends = scale or find_scale(drawn, diverging=diverging, logarithmic=logarithmic)
    image = axes.imshow(
        np.ma.masked_invalid(np.maximum(drawn, ends.low) if logarithmic else drawn),
        extent=extent,
        cmap=COLOURS[diverging],
        norm=(Logarithms if logarithmic else Normalize)(ends.low, ends.high),
        label=label,
        **_PICTURE,
    )
    _draw_bar(axes, image, ends, label, logarithmic)
    return image


def find_scale(values: F64, *, diverging: bool = False, logarithmic: bool = False) -> ColourScale:
    """Return the ends of the colours for finite values (of a logarithmic map: for logarithms)."""
    low, high = find_range(values)
    if diverging:
        reach = max(abs(low), abs(high)) or 1.0
        return ColourScale(-reach, reach)
    if logarithmic:
        below = bool(np.isneginf(values).any())
        low, high = math.floor(low), math.ceil(high)
        floor = max(low, high - MOST_DECADES)
        return ColourScale(min(floor, high - 1.0), high, clipped=below or low < floor)
    if not high - low > 1e-9 * max(abs(low), abs(high)):  # all the same: its rounding is no picture
        reach = 0.5 * abs(high) or 1.0
        low, high = (low - reach if low < 0 else min(0.0, low)), high + reach
    return ColourScale(low, high)


def find_extent(across: F64, up: F64) -> Extent:
    """Return the outer edges of cells around evenly spaced centres, ascending; a lone cell is 1 wide."""
    left, right = _find_edges(across)
    bottom, top = _find_edges(up)
    return left, right, bottom, top


def fit_map(axes: Axes, values: F64) -> F64:
    """Return the means of blocks of values, where a panel has fewer cells than they are."""
    box, dpi = axes.get_window_extent(), axes.figure.dpi
    return _thin_map(values, _limit_cells(box.width / dpi, box.height / dpi))


def _limit_cells(width: float, height: float) -> tuple[int, int]:
    """Return how many cells (rows, columns) a panel of `width` x `height` inches can show."""
    columns = min(MOST_CELLS[0], max(1, int(width * CELLS_PER_INCH)))
    return min(MOST_CELLS[1], max(1, int(height * CELLS_PER_INCH))), columns


def _thin_map(values: F64, most: tuple[int, int]) -> F64:
    """Return the means of blocks, of at most `most` (rows, columns); values that are not finite do not count."""
    if values.shape[0] <= most[0] and values.shape[1] <= most[1]:
        return values
    edges = _split(values.shape[0], most[0])
    across = _split(values.shape[1], most[1])[:-1]
    means = np.empty((edges.size - 1, across.size))
    for row, (start, stop) in enumerate(itertools.pairwise(edges)):  # no second array of the size of a large table
        part = values[start:stop]
        finite = np.isfinite(part)
        sums = np.add.reduceat(np.where(finite, part, 0.0).sum(axis=0), across)
        with np.errstate(invalid="ignore"):
            means[row] = sums / np.add.reduceat(finite.sum(axis=0, dtype=np.float64), across)
    return means


def describe_cells(shape: tuple[int, int], width: float, height: float) -> str:
    """Say how many values a cell stands for, on a panel of `width` x `height` inches; "" if one."""
    most = _limit_cells(width, height)
    rows, columns = (_find_block(size, limit) for size, limit in zip(shape, most, strict=True))
    return "" if rows == columns == 1 else f"a cell is the mean of {rows} × {columns} values"


def _find_edges(centres: F64) -> tuple[float, float]:
    half = (float(centres[-1]) - float(centres[0])) / (2 * (centres.size - 1)) if centres.size > 1 else 0.5
    return float(centres[0]) - half, float(centres[-1]) + half


def _find_block(size: int, most: int) -> int:
    return max(1, math.ceil(size / most))


def _split(size: int, most: int) -> NDArray[np.intp]:
    """Edges of blocks as even as may be."""
    cells = math.ceil(size / _find_block(size, most))
    return np.linspace(0, size, cells + 1).astype(np.intp)


def _take_logarithms(values: F64) -> F64:
    positive = np.isfinite(values) & (values > 0)
    logarithms = np.full(values.shape, -np.inf)
    np.log10(values, out=logarithms, where=positive)
    logarithms[~np.isfinite(values)] = np.nan
    return logarithms


def _draw_bar(axes: Axes, image: AxesImage, ends: ColourScale, label: str, logarithmic: bool) -> None:
    """Draw the colour bar as a picture of its own, at the height of the panel; arrows where values lie beyond it."""
    wide, high = np.array(axes.get_window_extent().size) / axes.figure.dpi
    below, above = (False, False) if logarithmic else _find_beyond(image, ends)
    tall = high - _ARROW * (below + above)
    bar = axes.inset_axes((1 + _BAR_GAP / wide, _ARROW * below / high, _BAR / wide, tall / high))
    steps = np.linspace(ends.low, ends.high, 2 * _STEPS)[:, None]
    bar.imshow(steps, extent=(0, 1, ends.low, ends.high), cmap=image.cmap, vmin=ends.low, vmax=ends.high, **_PICTURE)
    for panel in (axes, bar):
        panel.spines[:].set(visible=True, linewidth=0.4, color=GREY)  # white is a value here
        panel.tick_params(length=2.5)
    bar.set_xticks([])
    bar.yaxis.tick_right()
    bar.tick_params(labelsize=TICK_SIZE)
    for edge, way, is_beyond in ((0, -1, below), (1, 1, above)):
        if is_beyond:
            corners = [(0, edge), (1, edge), (0.5, edge + way * _ARROW / tall)]
            colour = image.cmap(float(edge))
            arrow = Polygon(corners, facecolor=colour, edgecolor=GREY, linewidth=0.4, transform=bar.transAxes)
            bar.add_patch(arrow).set_clip_on(False)
    text = label + _label_bar(bar, ends, tall, logarithmic)
    across = (_BAR_LABEL - _BAR_GAP) / _BAR
    bar.text(across, 0.5, text, rotation=90, va="center", fontsize=LABEL_SIZE, transform=bar.transAxes)


def _find_beyond(image: AxesImage, ends: ColourScale) -> tuple[bool, bool]:
    """Whether a map has values below its colours, and above them."""
    seen: F64 = np.ma.masked_invalid(np.ma.asarray(image.get_array())).compressed()
    return bool((seen < ends.low).any()), bool((seen > ends.high).any())


def _label_bar(bar: Axes, ends: ColourScale, tall: float, logarithmic: bool) -> str:
    """Set the ticks of a colour bar; returns the power of ten that its numbers are in, to stand behind its label."""
    bins = max(3, min(6, int(tall / 0.2)))
    bar.yaxis.set_major_locator(MaxNLocator(nbins=bins, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2))
    if logarithmic:
        step = math.ceil((ends.high - ends.low) / bins)
        bar.set_yticks(np.arange(math.ceil(ends.low), ends.high + 0.5, step))
        lowest = ends.low if ends.clipped else -math.inf
        bar.yaxis.set_major_formatter(lambda value, _: _write_power(value, lowest))
        return ""
    largest = max(abs(ends.low), abs(ends.high))
    if ends.high - ends.low <= _NEARLY_ONE * largest:
        # one value all over: ticks beside it would need more digits than there is room for
        middle = (ends.low + ends.high) / 2
        bar.set_yticks([middle], [f"{middle:.3g}"])
        return ""
    bar.yaxis.set_major_formatter(lambda value, _: write_number(value))
    return scale_ticks(bar.yaxis, largest, range(-2 if ends.low >= 0 else -1, 4))  # a sign takes room, too


def _write_power(value: float, lowest: float) -> str:
    """A power of ten; with a sign where its colour stands for all that is below as well."""
    sign = "≤ " if value <= lowest + 1e-9 else ""
    return f"{sign}$10^{{{value:.0f}}}$"
