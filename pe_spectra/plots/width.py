"""The width of the blur in Fig. 2 against the bandwidth that was chosen for it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from pe_spectra.plots.axes import Spot, draw_curve, place_label, places_along
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import GREY, curve_style, fixed_style

F64 = NDArray[np.float64]

_WIDTH_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def plot_widths(axes: Axes, bandwidth: F64, fwhm: F64, width_10: F64, *, marked: float) -> None:
    """Draw both widths against the bandwidth, and mark one bandwidth.

    Parameters
    ----------
    bandwidth : (B,) bins, ascending.
    fwhm, width_10 : (B,) positions at half and at a tenth of the peak; nan, a gap, where none exists.
    marked : one of the bandwidths.

    >>> from matplotlib.figure import Figure
    >>> bandwidth = np.array([1.0, 4.0, 16.0])
    >>> axes = Figure().subplots()
    >>> plot_widths(axes, bandwidth, 12 / bandwidth, 33 / bandwidth, marked=4.0)
    >>> axes.get_xlabel()
    'bandwidth (bins of the lattice)'
    """
    seen = np.concatenate([fwhm, width_10])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(bandwidth[0] / 1.15, bandwidth[-1] * 1.15)
    axes.set_ylim(np.nanmin(seen) / 1.3, np.nanmax(seen) * 1.4)
    axes.axvline(marked, color=GREY, linewidth=0.6, zorder=0)
    _label_plainly(axes.xaxis, tuple(bandwidth[:: max(1, bandwidth.size // 4)]))
    _label_plainly(axes.yaxis, _WIDTH_TICKS)
    axes.set_xlabel("bandwidth (bins of the lattice)")
    axes.set_ylabel("width (positions)")
    curves = ((width_10, "at a tenth of the peak"), (fwhm, "at half of the peak"))
    for number, (curve, _) in enumerate(curves):
        draw_curve(axes, bandwidth, curve, curve_style(number))
    for number, (curve, name) in enumerate(curves):
        _mark_curve(axes, bandwidth, curve, name, marked, number)


@fixed_style()
def compose_widths(
    bandwidth: F64,
    fwhm: F64,
    width_10: F64,
    *,
    marked: float,
    title: str,
    small_print: tuple[str, ...],
) -> Figure:
    """Lay out the figure of `plot_widths`."""
    figure, (axes,) = lay_out(Layout(title=title, heights=(2.2,), small_print=small_print))
    plot_widths(axes, bandwidth, fwhm, width_10, marked=marked)
    return figure


def _label_plainly(axis: Axis, ticks: tuple[float, ...]) -> None:
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _mark_curve(axes: Axes, bandwidth: F64, curve: F64, name: str, marked: float, number: int) -> None:
    """Mark and write the width at one bandwidth; name the curve where there is room."""
    colour = curve_style(number)["color"]
    at = int(np.argmin(np.abs(bandwidth - marked)))
    axes.plot(bandwidth[at], curve[at], marker="o", markersize=4, color=colour)
    here = [Spot(x=marked, y=float(curve[at]), side=side) for side in ("above right", "below left")]
    place_label(axes, f"{curve[at]:.3g}", here, colour=colour)
    sides = ("above right",) if number == 0 else ("below left",)
    places = places_along(bandwidth, curve, sides)
    place_label(axes, name, places if number == 0 else places[::-1], colour=colour)
