"""Fig. 2: what Algorithm 1 leaves of a function that is one at a single location.

One panel for each encoding and bandwidth, the curves of a panel labelled with their location, and the
width of the blur marked once, with the bandwidth that it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.panels import ReconstructionPanel, entitle_panels, read_panel
from pe_spectra.plots.axes import Spot, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    curve_style,
    escape_sentence,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.reconstruction import Reconstruction

F64 = NDArray[np.float64]

#: More panels than this stand in two columns across the page.
_ONE_COLUMN = 3
#: No figure holds more panels; the small print says how many there would be.
MOST_PANELS = 24
#: Panels share one scale unless the lowest peak is below this share of the highest.
_VISIBLE = 0.15
#: Half of the width in positions that a peak of one point has at most; such a peak does not wrap.
_ONE_POINT = 1.0
#: White above the highest peak, for its label, as a share of the peak.
_HEADROOM = 1.25


@dataclass(frozen=True, kw_only=True)
class KernelPanel:
    """The kernel without a window, and what the window makes of it.

    Parameters
    ----------
    kernel : k(0), k(1), .. (L,).
    response : impulse response of Algorithm 1 (N,), at t = 0..N-1 on the circle.
    bandwidth : kernel width in bins, where one entered.
    """

    kernel: F64
    response: F64
    bandwidth: float | None


def plot_reconstruction(axes: Axes, result: Reconstruction) -> None:
    """Draw the reconstructed functions of one result over location, labelled, with their width.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, compute_spectrum, reconstruct_positions
    >>> result = reconstruct_positions(compute_spectrum(Dft(d=8)), [3])
    >>> axes = Figure().subplots()
    >>> plot_reconstruction(axes, result)
    >>> [float(limit) for limit in axes.get_xlim()]
    [0.0, 7.0]
    """
    panel = read_panel(result)
    draw_panel(axes, panel, top=panel.top)


@fixed_style()
def compose_reconstruction(*results: Reconstruction, kernel: F64 | None = None) -> Figure:
    """The figure of `pe-spectra reconstruct`: one panel for each result, in order.

    Parameters
    ----------
    results : reconstructions of one position at least; the original encoding first.
    kernel : the encoding's own kernel k(0), k(1), .. (L,), drawn last, without a window.

    Raises
    ------
    ValueError : no result.
    """
    if not results:
        raise ValueError("a figure of reconstructions needs one at least")
    first = results[0]
    blur = None
    if kernel is not None:
        bandwidth = first.spectrum.bandwidth
        blur = KernelPanel(kernel=kernel, response=first.impulse_response, bandwidth=bandwidth)
    return compose_panels(
        [read_panel(result) for result in results[:MOST_PANELS]],
        title=entitle_panels([read_panel(result) for result in results]),
        small_print=_describe(results),
        blur=blur,
    )


@fixed_style()
def compose_panels(
    panels: Sequence[ReconstructionPanel],
    *,
    title: str,
    small_print: tuple[str, ...],
    blur: KernelPanel | None = None,
) -> Figure:
    """Lay out given panels: below each other, or in two columns when there are many.

    The width of a panel that has no room for it is said in the small print.
    """
    if any(_wraps(panel) for panel in panels):
        small_print = (*small_print, "locations are circular: after the last comes 0")
    figure, left_out = _draw_panels(panels, title, small_print, blur)
    if left_out:
        figure, _ = _draw_panels(panels, title, (*small_print, *left_out), blur)
    return figure


def _draw_panels(
    panels: Sequence[ReconstructionPanel], title: str, small_print: tuple[str, ...], blur: KernelPanel | None
) -> tuple[Figure, list[str]]:
    """Draw panels; also return the widths for which they had no room."""
    cells = len(panels) + (blur is not None)
    columns = 1 if cells <= _ONE_COLUMN else 2
    layout = Layout(
        title=escape_sentence(title),
        heights=(1.15,) * -(-cells // columns),
        small_print=tuple(map(escape_sentence, small_print)),
        width=COLUMN_WIDTH if columns == 1 else PAGE_WIDTH,
        columns=columns,
        left=0.6,
        top=0.27,
        gap=0.68,
    )
    figure, axes = lay_out(layout)
    left_out = []
    for place, panel, top in zip(axes, panels, _share_scale(panels), strict=False):
        if not draw_panel(place, panel, top=top):
            name = panel.heading.rpartition(", bandwidth ")[0] or panel.heading
            left_out.append(f"{name}: {_describe_width(panel, ' ')}")
    if blur is not None:
        draw_kernel(axes[len(panels)], blur)
    for place in axes[cells:]:
        place.remove()
    return figure, left_out


def draw_panel(axes: Axes, panel: ReconstructionPanel, *, top: float) -> bool:
    """Draw one panel on a scale that holds a peak of height `top`; return whether its width found room."""
    location = np.arange(panel.values.shape[1], dtype=float)
    for number, values in enumerate(panel.values):
        draw_curve(axes, location, values, curve_style(number))
    lowest = min(float(panel.values.min()), 0.0)
    axes.set_xlim(0, location[-1])
    axes.set_ylim(min(1.1 * lowest, -0.03 * top), _HEADROOM * top)
    label_integers(axes.xaxis)
    axes.set_xlabel("location $t$ (positions)")
    axes.set_ylabel("function $r(t)$")
    head_panel(axes, escape_sentence(panel.heading))
    _name_positions(axes, panel)
    return _mark_width(axes, panel)


def draw_kernel(axes: Axes, panel: KernelPanel) -> None:
    """Draw the kernel without a window over the lag, beside the impulse response; both 1 at 0."""
    bare, windowed = curve_style(0), curve_style(1)
    kernel, response = panel.kernel / panel.kernel[0], panel.response / panel.response[0]
    reach = min(kernel.size, response.size // 2 + 1)
    lag = np.arange(reach, dtype=float)
    draw_curve(axes, lag, kernel[:reach], bare)
    draw_curve(axes, lag, response[:reach], windowed)
    lowest = min(float(kernel[:reach].min()), float(response[:reach].min()), 0.0)
    axes.set_xlim(0, max(reach - 1, 1))
    axes.set_ylim(1.1 * lowest - 0.03, 1.08)
    label_integers(axes.xaxis)
    axes.set_xlabel("lag (positions)")
    axes.set_ylabel("share of lag 0")
    head_panel(axes, "kernel of the encoding, and what is left of it")
    window = "" if panel.bandwidth is None else f", bandwidth {panel.bandwidth:g}"
    for curve, text, style in (
        (kernel, "no window", bare),
        (response, f"Algorithm 1{window}", windowed),
    ):
        index = np.unique(np.linspace(0, reach - 1, 40).astype(np.intp))
        sides = ("above right", "below left", "above", "below")
        places = [Spot(x=float(i), y=float(curve[i]), side=side) for side in sides for i in index]
        place_label(axes, text, places, colour=style["color"])


def _name_positions(axes: Axes, panel: ReconstructionPanel) -> None:
    """Write s = .. beside each peak that has room for it."""
    for number, (s, values) in enumerate(zip(panel.positions, panel.values, strict=True)):
        peak = int(np.argmax(values))
        sides = ("above", "above right", "right", "above left", "left")
        places = [Spot(x=peak, y=float(values[peak]), side=side) for side in sides]
        place_label(axes, f"s\u2009=\u2009{s}", places, colour=curve_style(number)["color"])


def _mark_width(axes: Axes, panel: ReconstructionPanel) -> bool:
    """Mark widths at the peak that has most room to its right; return False where they cannot be written there."""
    if panel.fwhm is None:
        return True
    last, length = max(panel.positions), panel.values.shape[1]
    values = panel.values[panel.positions.index(last)]
    _draw_bracket(axes, last, panel.fwhm, float(values.max()) / 2, length)
    if panel.width_10 is not None:
        _draw_bracket(axes, last, panel.width_10, float(values.max()) / 10, length)
    level, top = float(values.max()) / 2, axes.get_ylim()[1]
    rooms = np.linspace(last + panel.fwhm / 2, length, 40)
    sides = ((level, "right"), (level, "above right"), (top, "below right"))
    places = [Spot(x=x, y=y, side=side) for y, side in sides for x in rooms]
    rooms = np.linspace(max(0.0, last - panel.fwhm / 2), 0, 40)
    places += [Spot(x=x, y=y, side="below left") for y in np.linspace(top, level, 6) for x in rooms]
    return place_label(axes, _describe_width(panel, "\n"), places, colour=GREY) is not None


def _draw_bracket(axes: Axes, middle: int, width: float, level: float, length: int) -> None:
    """Draw a bar across a peak; on the circle it may leave at one end and come back at the other."""
    for turn in (-length, 0, length):
        left, right = max(middle + turn - width / 2, 0.0), min(middle + turn + width / 2, length - 1.0)
        if left < right:
            axes.hlines(level, left, right, color=GREY, linewidth=2.2, zorder=1)


def _describe(results: Sequence[Reconstruction]) -> tuple[str, ...]:
    """The parameters in words."""
    spectra = [result.spectrum for result in results]
    parts = ["Algorithm 1, rescaled to the norm of the function"]
    if len(set(_share_scale([read_panel(result) for result in results[:MOST_PANELS]]))) > 1:
        parts.append("each panel on its own scale")
    bandwidths = sorted({s.bandwidth for s in spectra if s.bandwidth is not None})
    if bandwidths:
        parts.append(f"bandwidth {', '.join(f'{b:g}' for b in bandwidths)} bins")
    boundaries = dict.fromkeys(s.boundary for s in spectra if s.bandwidth is not None)
    if boundaries:
        parts.append(f"boundary {', '.join(boundaries)}")
    parts.append(f"lattice N\u00a0=\u00a0{', '.join(str(n) for n in dict.fromkeys(s.grid for s in spectra))}")
    if len(results) > MOST_PANELS:
        parts.append(f"{MOST_PANELS} of {len(results)} panels drawn")
    return (", ".join(parts),)


def _describe_width(panel: ReconstructionPanel, between: str) -> str:
    """Name the widths at half and at a tenth of the peak, and the bandwidth, that there are."""
    widths = ((panel.fwhm, "wide at half"), (panel.width_10, "at a tenth"))
    parts = [f"{width:.3g} {what}" for width, what in widths if width is not None]
    if panel.bandwidth is not None:
        parts.append(f"bandwidth {panel.bandwidth:g}")
    return f",{between}".join(parts)


def _wraps(panel: ReconstructionPanel) -> bool:
    """Whether a peak, as wide as is said of it, leaves at one end and comes back at the other."""
    half, last = (panel.width_10 or panel.fwhm or 0.0) / 2, panel.values.shape[1] - 1
    return any(s - half < 0 or s + half > last for s in panel.positions if half > _ONE_POINT)


def _share_scale(panels: Sequence[ReconstructionPanel]) -> list[float]:
    """One scale for all panels, unless some peak could not be seen on it."""
    peaks = [panel.top for panel in panels]
    return [max(peaks)] * len(peaks) if min(peaks) >= _VISIBLE * max(peaks) else peaks
