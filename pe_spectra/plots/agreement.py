"""Two ways to one spectrum: the same curve, and below it what is left of their difference."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.plots.axes import Spot, draw_curve, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.spectrum import mark_frequencies
from pe_spectra.plots.style import BLUE, LineStyle, curve_style, fixed_style

F64 = NDArray[np.float64]

_SECOND: LineStyle = {"color": BLUE, "linestyle": "none"}


def plot_agreement(axes: Axes, omega: F64, first: F64, second: F64, *, names: tuple[str, str]) -> None:
    """Draw one spectrum as a line and the other as circles over it.

    Parameters
    ----------
    omega : (K,) rad/position, 0 to pi.
    first, second : (K,) weights.
    names : what they are.

    >>> from matplotlib.figure import Figure
    >>> omega = np.linspace(0, np.pi, 5)
    >>> axes = Figure().subplots()
    >>> plot_agreement(axes, omega, np.full(5, 0.2), np.full(5, 0.2), names=("Eq. 15", "lag window"))
    >>> axes.get_ylabel()
    'weight $g$ (share of 1)'
    """
    draw_curve(axes, omega, first, curve_style(0))
    marks = {"marker": "o", "markersize": 3.2, "markerfacecolor": "none", "markeredgewidth": 0.7}
    draw_curve(axes, omega, second, _SECOND, **marks)
    axes.set_ylim(min(0.0, float(second.min())), 1.12 * float(first.max()))
    axes.set_ylabel("weight $g$ (share of 1)")
    mark_frequencies(axes)
    low, high = axes.get_ylim()
    for row, (text, style) in enumerate(zip(names, (curve_style(0), _SECOND), strict=True)):
        levels = np.linspace(high, low, 30)[row * 2 :]
        places = [Spot(x=math.pi, y=float(y), side="below left") for y in levels]
        place_label(axes, text, places, colour=style["color"])


def plot_difference(axes: Axes, omega: F64, difference: F64) -> None:
    """Draw a difference that is rounding, in units of 1e-16.

    >>> from matplotlib.figure import Figure
    >>> omega = np.linspace(0, np.pi, 5)
    >>> axes = Figure().subplots()
    >>> plot_difference(axes, omega, np.array([0.0, 2e-16, 0.0, -1e-16, 0.0]))
    >>> [round(float(limit), 2) for limit in axes.get_ylim()]  # in 1e-16
    [-2.3, 2.3]
    """
    scaled = difference / 1e-16
    draw_curve(axes, omega, scaled, {"color": BLUE, "linestyle": "-"}, linewidth=0.8)
    axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    reach = 1.15 * float(np.abs(scaled).max()) or 1.0
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("difference ($10^{-16}$)")
    mark_frequencies(axes)


@fixed_style()
def compose_agreement(
    omega: F64,
    first: F64,
    second: F64,
    difference: F64,
    *,
    names: tuple[str, str],
    title: str,
    small_print: tuple[str, ...],
) -> Figure:
    """Lay out the figure of both."""
    figure, (upper, lower) = lay_out(Layout(title=title, heights=(1.6, 0.9), small_print=small_print))
    plot_agreement(upper, omega, first, second, names=names)
    plot_difference(lower, omega, difference)
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    return figure
