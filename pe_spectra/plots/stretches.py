"""Spectra of short stretches of positions as a map: what an average over all of them would hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from pe_spectra.answers.captions import name_briefly
from pe_spectra.plots.axes import head_panel, label_integers
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells, draw_map
from pe_spectra.plots.sheet import MARGIN
from pe_spectra.plots.style import COLUMN_WIDTH, escape_text

if TYPE_CHECKING:
    from pe_spectra.spectrum import LocalSpectra

F64 = NDArray[np.float64]

#: Inches left of the map: tick labels and axis label.
LEFT = 0.76
#: Mean frequencies closer than this share are said to be the same.
_SAME = 0.1
#: Shares that span more than this have colours by their logarithm.
_LINEAR_SPAN = 1000.0


def plot_local(axes: Axes, local: LocalSpectra) -> None:
    """Draw the spectrum of each stretch upwards at its middle position; a stretch of zeros is grey.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.spectrum import compute_local_spectra
    >>> local = compute_local_spectra(Sinusoidal(d=8), length=128)
    >>> axes = Figure().subplots()
    >>> plot_local(axes, local)
    >>> axes.get_xlabel()
    'position (middle of the stretch)'
    """
    weights = local.weights.T.copy()
    weights[:, ~np.any(local.weights > 0, axis=1)] = np.nan
    positive = weights[weights > 0]
    wide = bool(positive.size) and float(positive.max()) > _LINEAR_SPAN * float(positive.min())
    half = local.window / 2 if local.centres.size == 1 else float(local.centres[1] - local.centres[0]) / 2
    step = float(local.omega[1]) / 2
    extent = (float(local.centres[0]) - half, float(local.centres[-1]) + half, -step, float(local.omega[-1]) + step)
    draw_map(axes, weights, extent=extent, label="share of a stretch", logarithmic=wide)
    axes.set_xlabel("position (middle of the stretch)")
    axes.set_ylabel("ω (rad/position)")
    label_integers(axes.xaxis)
    axes.set_yticks([0, 1, 2, 3])
    head_panel(axes, entitle_local(local), beyond=MAP_RIGHT - MARGIN, pad=8)


def fit_panel(axes: Axes) -> None:
    """Make a panel narrower, so that the colour bar of a map fits at its right."""
    box, figure = axes.get_position(), axes.figure
    width = figure.bbox.width / figure.dpi
    axes.set_position((box.x0, box.y0, 1 - MAP_RIGHT / width - box.x0, box.height))


def entitle_local(local: LocalSpectra) -> str:
    """Say whether the mean frequency of the stretches changes along the positions."""
    seen = np.any(local.weights > 0, axis=1)
    name = escape_text(name_briefly(local.encoding))
    if not seen.any():
        return f"Stretches of {name}: all are zero"
    means = local.weights[seen] @ local.omega
    least, most = float(means.min()), float(means.max())
    if most - least <= _SAME * most:
        return f"Stretches of {name}: mean ω {np.mean(means):.3g} in all"
    return f"Stretches of {name}: mean ω {least:.3g} to {most:.3g}"


def describe_local(local: LocalSpectra, height: float) -> str:
    """Say what the map shows, on a panel of `height` inches."""
    count = local.centres.size
    stretches = "one stretch" if count == 1 else f"{count} overlapping stretches"
    text = f"map: spectra of {stretches} of {local.window} positions (Hann window), summed over columns"
    text += "; its mean ω is smoothed by that window, not by the bandwidth of the curves"
    if not (local.weights > 0).any(axis=1).all():
        text += "; grey: all codes are zero"
    cells = describe_cells((local.omega.size, local.centres.size), COLUMN_WIDTH - LEFT - MAP_RIGHT, height)
    return f"{text}; {cells}" if cells else text
