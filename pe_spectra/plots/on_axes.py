"""Results on the axes of a figure of your own: labelled, and returned.

Unlike the figures of the command line these take the settings of Matplotlib as they are.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.errors import UndefinedError
from pe_spectra.plots.accuracies import draw_learning
from pe_spectra.plots.blur import draw_reconstruction
from pe_spectra.plots.comparison import draw_compared
from pe_spectra.plots.distances import draw_separations
from pe_spectra.plots.inspection import draw_first
from pe_spectra.plots.planes import draw_grid_kernel, draw_grid_weights, draw_local
from pe_spectra.plots.series_spectrum import draw_first_column
from pe_spectra.plots.spectrum import draw_spectra
from pe_spectra.plots.staircases import draw_distinct
from pe_spectra.plots.strips import draw_count
from pe_spectra.plots.style import SMALL_SIZE
from pe_spectra.plots.wavelengths import draw_audit, draw_ladder, draw_ways

if TYPE_CHECKING:
    from pe_spectra.spectrum.grid_spectrum import GridSpectrum
    from pe_spectra.spectrum.record import Spectrum

#: Of a picture in a notebook: inches, and dots to the inch.
_SMALL, _RESOLUTION = (4.5, 2.4), 96
#: Kind of result -> what draws one: the panel that the figure of its command has, the first of several.
DRAWINGS: dict[str, Callable[[Axes, Any], object]] = {
    "Comparison": draw_compared,
    "ContextReport": draw_ways,
    "Faithfulness": lambda axes, result: draw_separations(axes, [result]),
    "GridSpectrum": draw_grid_weights,
    "LayerAudit": draw_ladder,
    "LearningReport": draw_learning,
    "LocalSpectra": draw_local,
    "LowBinCount": draw_count,
    "ModelAudit": draw_audit,
    "Portrait": draw_first,
    "PrecisionReport": draw_distinct,
    "Reconstruction": draw_reconstruction,
    "SeriesReport": draw_first_column,
    "Spectrum": lambda axes, result: draw_spectra(axes, [result]),
}


def plot_result(result: object, ax: Axes | None = None) -> Axes:
    """Draw one result as the figure of its command does; of several panels the first.

    Parameters
    ----------
    result : of a kind that a command draws.
    ax : where to draw; default new axes.

    Raises
    ------
    UndefinedError : any other kind, or a result in which there is nothing to draw.

    >>> from pe_spectra import Sinusoidal, compute_spectrum, count_low_bin, reconstruct_positions
    >>> axes = plot_result(reconstruct_positions(compute_spectrum(Sinusoidal(d=64)), [5, 40]))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('location $t$ (positions)', 'function $r(t)$')
    >>> plot_result(count_low_bin(Sinusoidal(d=64))).get_title(loc="left")
    '23 of 32 below 2π/64'
    """
    name = type(result).__name__
    if name not in DRAWINGS:
        raise UndefinedError(f"no command draws {name} by itself")
    axes = _find_axes(ax)
    DRAWINGS[name](axes, result)
    _name_curves(axes)
    return axes


plot_grid_spectrum = plot_local_spectra = plot_low_bin = plot_reconstruction = plot_result


def plot_spectrum(
    *spectra: Spectrum, ax: Axes | None = None, reference: Spectrum | None = None, logarithmic: bool = False
) -> Axes:
    """Draw the weights of one or several spectra against frequency.

    Parameters
    ----------
    spectra : from :func:`pe_spectra.compute_spectrum`; those on different lattices are drawn per radian.
    ax : where to draw; default new axes.
    reference : one more, dashed in red, as Fig. 1 has that of the DFT encoding.
    logarithmic : draw base-10 logarithms, which are right also where a weight is below the smallest double.

    >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
    >>> axes = plot_spectrum(compute_spectrum(Sinusoidal(d=64)), reference=compute_spectrum(Dft(d=64)))
    >>> axes.get_xlabel(), [text.get_text() for text in axes.get_legend().get_texts()]
    ('frequency ω (rad/position)', ['sinusoidal d=64 rho=10000', 'dft d=64 (Eq. 22)'])
    """
    axes = _find_axes(ax)
    draw_spectra(axes, spectra, reference, logarithmic=logarithmic)
    _name_curves(axes)
    return axes


def plot_grid_kernel(plane: GridSpectrum, ax: Axes | None = None) -> Axes:
    """Draw how alike two places of a grid are, by their offset.

    >>> from pe_spectra import compute_grid_spectrum
    >>> plot_grid_kernel(compute_grid_spectrum("sincos2d:d=16,height=4,width=4")).get_ylabel()
    'vertical offset'
    """
    axes = _find_axes(ax)
    draw_grid_kernel(axes, plane)
    return axes


def draw_small(result: object) -> bytes:
    """Return the picture of a result in a notebook, as a .png; raises UndefinedError where there is none."""
    with matplotlib.rc_context({"font.size": SMALL_SIZE, "legend.fontsize": "x-small"}):
        figure, held = Figure(figsize=_SMALL, layout="constrained"), io.BytesIO()
        plot_result(result, figure.subplots())
        figure.savefig(held, format="png", dpi=_RESOLUTION)
    return held.getvalue()


def _find_axes(ax: Axes | None) -> Axes:
    """The axes that were given, else new ones: of pyplot where a program or notebook has loaded it."""
    if ax is not None:
        return ax
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = Figure(layout="constrained") if pyplot is None else pyplot.figure(layout="constrained")
    axes: Axes = figure.subplots()
    return axes


def _name_curves(axes: Axes) -> None:
    """Name the curves in a legend, the first one drawn last, where there are several."""
    named = [line for line in axes.lines[::-1] if not str(line.get_label()).startswith("_")]
    if len(named) > 1:
        axes.legend(handles=named)
