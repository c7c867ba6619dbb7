"""The norms of a grid's places as a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from pe_spectra.exact import F64
from pe_spectra.plots.axes import label_integers
from pe_spectra.plots.heatmap import FAR, QUANTILE, ColourScale, draw_map, find_extent
from pe_spectra.plots.style import VERMILION
from pe_spectra.precision.dtypes import STORED_TYPES
from pe_spectra.wording import count

#: Rows before a grid whose norms are named.
_MOST_BEFORE = 1


def draw_grid_norms(
    axes: Axes, norms: F64, shape: tuple[int, int], *, first: int, marked: Sequence[int], dtype: str = "float64"
) -> str:
    """Draw the norm of each place of a grid as a map, and ring some; norms of rows before the grid stand in words.

    Parameters
    ----------
    norms : (R,) of rows `first`, .. , the last H W of which fill the grid.
    marked : some of these rows; those before the grid are not ringed. dtype : type that the table was stored in; norms
        that differ by no more than its rounding are drawn in one colour.
    """
    height, width = shape
    before = norms.size - height * width
    values = norms[before:].reshape(shape)
    extent = find_extent(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    high = float(np.quantile(values, QUANTILE))
    scale = ColourScale(float(values.min()), high) if values.max() > FAR * high else None
    # each number is off by the roundoff of its type at most, and so is the norm of a row of them
    equal = 0 < float(np.ptp(values)) <= 2 * STORED_TYPES[dtype].roundoff * float(values.max())
    draw_map(
        axes,
        np.full_like(values, np.median(values)) if equal else values,
        extent=extent,
        label="norm ‖e(s)‖",
        scale=scale,
    )
    axes.invert_yaxis()
    axes.set(xlabel="place across", ylabel="place down")
    label_integers(axes.xaxis, axes.yaxis)
    down, across = np.divmod(np.unique([row for row in marked if row >= first + before]) - first - before, width)
    if down.size:
        (rings,) = axes.plot(across, down, "o", color=VERMILION, clip_on=False, zorder=5)
        halo = [withStroke(linewidth=2.5, foreground="white")]
        rings.set(markersize=5, markerfacecolor="none", markeredgecolor=VERMILION, path_effects=halo)
    words = [f"row {first + row}: {norms[row]:.3g}" for row in range(min(before, _MOST_BEFORE))]
    words += [count(before - _MOST_BEFORE, "more row")] if before > _MOST_BEFORE else []
    words += [f"equal within {dtype}"] if equal else []
    return f"Norm of each place ({', '.join(words)})" if words else "Norm of each place"
