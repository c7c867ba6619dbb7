"""Results on the axes of a figure of your own: each function labels them and returns them.

Unlike the figures of the command line these take the settings of Matplotlib as they are.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.plots.blur import draw_reconstruction
from pe_spectra.plots.planes import draw_grid_kernel, draw_grid_weights, draw_local
from pe_spectra.plots.spectrum import draw_spectra
from pe_spectra.plots.strips import draw_low_bin

if TYPE_CHECKING:
    from pe_spectra.reconstruction import Reconstruction
    from pe_spectra.spectrum import GridSpectrum, LocalSpectra, LowBinCount, Spectrum


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
    if len(axes.lines) > 1:
        axes.legend(handles=[line for line in axes.lines[::-1] if not str(line.get_label()).startswith("_")])
    return axes


def plot_reconstruction(result: Reconstruction, ax: Axes | None = None) -> Axes:
    """Draw the functions that Algorithm 1 leaves of single positions, with the width of the blur.

    >>> from pe_spectra import Sinusoidal, compute_spectrum, reconstruct_positions
    >>> axes = plot_reconstruction(reconstruct_positions(compute_spectrum(Sinusoidal(d=64)), [5, 40]))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('location $t$ (positions)', 'function $r(t)$')
    """
    axes = _find_axes(ax)
    draw_reconstruction(axes, result)
    return axes


def plot_grid_spectrum(plane: GridSpectrum, ax: Axes | None = None) -> Axes:
    """Draw the weight of each pair of frequencies of an encoding on a grid.

    >>> from pe_spectra import compute_grid_spectrum
    >>> axes = plot_grid_spectrum(compute_grid_spectrum("sincos2d:d=16,height=4,width=4"))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('horizontal ω (rad/position)', 'vertical ω (rad/position)')
    """
    axes = _find_axes(ax)
    draw_grid_weights(axes, plane)
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


def plot_local_spectra(spectra: LocalSpectra, ax: Axes | None = None) -> Axes:
    """Draw the spectra of short stretches of positions as a map.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.spectrum import compute_local_spectra
    >>> plot_local_spectra(compute_local_spectra(Sinusoidal(d=8), length=128)).get_ylabel()
    'ω (rad/position)'
    """
    axes = _find_axes(ax)
    draw_local(axes, spectra)
    return axes


def plot_low_bin(result: LowBinCount, ax: Axes | None = None) -> Axes:
    """Draw each frequency as a stroke, those below the first DFT frequency in red and taller, and that edge.

    >>> from pe_spectra import Sinusoidal, count_low_bin
    >>> axes = plot_low_bin(count_low_bin(Sinusoidal(d=64)))
    >>> axes.get_xlabel(), axes.get_title(loc="left")
    ('frequency ω (rad/position)', '23 of 32 below 2π/64')
    """
    axes = _find_axes(ax)
    draw_low_bin(axes, result)
    edge = result.length or result.encoding.default_grid
    axes.set_title(f"{result.inside} of {result.total} below 2π/{edge}", loc="left")
    return axes


def _find_axes(ax: Axes | None) -> Axes:
    """The axes that were given, else new ones: of pyplot where a program or notebook has loaded it."""
    if ax is not None:
        return ax
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = Figure(layout="constrained") if pyplot is None else pyplot.figure(layout="constrained")
    axes: Axes = figure.subplots()
    return axes
