"""Fig. 2: what Algorithm 1 leaves of a function that is one at a single location.

One panel for each encoding and bandwidth, the curves of a panel labelled with their location, and the
width of the blur marked once, with the bandwidth that it belongs to. A figure of its own is that width
against the bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.reconstructions import answer_reconstructions
from pe_spectra.exact import F64
from pe_spectra.plots.axes import beside, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    curve_style,
    escape_sentence,
    escape_text,
    fixed_style,
)
from pe_spectra.wording import shorten

if TYPE_CHECKING:
    from pe_spectra.reconstruction import Reconstruction

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
_WIDTH_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def draw_reconstruction(axes: Axes, result: Reconstruction, top: float | None = None) -> bool:
    """Draw reconstructed functions, the scale holding a peak of height `top`; say whether the width found room."""
    location, top = np.arange(result.spectrum.grid, dtype=float), _find_top(result) if top is None else top
    for number, one in enumerate(result.positions):
        draw_curve(axes, location, one.values, curve_style(number))
    lowest = min(0.0, *(float(one.values.min()) for one in result.positions))
    axes.set(xlim=(0, location[-1]), ylim=(min(1.1 * lowest, -0.03 * top), _HEADROOM * top))
    axes.set(xlabel="location $t$ (positions)", ylabel="function $r(t)$")
    label_integers(axes.xaxis)
    at = "" if result.bandwidth is None else f", bandwidth {result.bandwidth:g}"
    head_panel(axes, escape_sentence(f"{shorten(result.spectrum.encoding.label)}{at}"))
    for number, one in enumerate(result.positions):
        sides = ("above", "above right", "right", "above left", "left")
        places = beside(int(np.argmax(one.values)), float(one.values.max()), sides)
        place_label(axes, f"s\u2009=\u2009{one.s}", places, colour=curve_style(number)["color"])
    return _mark_width(axes, result)


@fixed_style()
def compose_reconstruction(*results: Reconstruction, kernel: F64 | None = None) -> Figure:
    """The figure of `pe-spectra reconstruct`: one panel for each result, in order, in two columns when there are many.

    The width of a panel that has no room for it is said in the small print.

    Parameters
    ----------
    results : reconstructions of one position at least; the original encoding first.
    kernel : the encoding's own kernel k(0), k(1), .. (L,), drawn last, without a window.
    """
    figure, left_out = _draw_panels(results, kernel, ())
    return _draw_panels(results, kernel, left_out)[0] if left_out else figure


@fixed_style()
def compose_widths(results: Sequence[Reconstruction], *, marked: float) -> Figure:
    """Draw both widths of the first position of each result against its bandwidth, and mark one bandwidth.

    Parameters
    ----------
    results : of one encoding, by bandwidth, ascending. A width that does not exist leaves a gap.
    marked : one of the bandwidths, in bins.
    """
    title = "The width of the blur in Fig. 2 falls as the bandwidth grows"
    name, boundary = escape_text(results[0].spectrum.encoding.label), results[0].spectrum.boundary
    note = f"{name}, Algorithm 1, boundary {boundary}; vertical line: bandwidth of the paper"
    figure, (axes,) = lay_out(Layout(title=title, heights=(2.2,), small_print=(note,)))
    bandwidth = np.array([result.spectrum.bandwidth for result in results], dtype=float)
    widths = np.array([[one.positions[0].width_10, one.positions[0].fwhm] for one in results], dtype=float).T
    axes.set(xscale="log", yscale="log")
    ticks = bandwidth[:: max(1, bandwidth.size // 4)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(_WIDTH_TICKS, [f"{tick:g}" for tick in _WIDTH_TICKS])
    axes.minorticks_off()
    axes.set(xlim=(bandwidth[0] / 1.15, bandwidth[-1] * 1.15), ylim=(np.nanmin(widths) / 1.3, np.nanmax(widths) * 1.4))
    axes.axvline(marked, color=GREY, linewidth=0.6, zorder=0)
    axes.set(xlabel="bandwidth (bins of the lattice)", ylabel="width (positions)")
    for number, curve in enumerate(widths):
        draw_curve(axes, bandwidth, curve, curve_style(number))
    at = int(np.argmin(np.abs(bandwidth - marked)))
    named = (("at a tenth of the peak", "above right", 1), ("at half of the peak", "below left", -1))
    for number, (curve, (name, side, way)) in enumerate(zip(widths, named, strict=True)):
        colour = curve_style(number)["color"]
        axes.plot(bandwidth[at], curve[at], marker="o", markersize=4, color=colour)
        place_label(axes, f"{curve[at]:.3g}", beside(marked, curve[at], ("above right", "below left")), colour=colour)
        place_label(axes, name, beside(bandwidth, curve, (side,))[::way], colour=colour)
    return figure


def _draw_panels(
    results: Sequence[Reconstruction], kernel: F64 | None, left_out: Sequence[str]
) -> tuple[Figure, list[str]]:
    """Draw all panels; also return the widths for which they had no room."""
    panels = results[:MOST_PANELS]
    scales = _share_scale(panels)
    cells = len(panels) + (kernel is not None)
    columns = 1 if cells <= _ONE_COLUMN else 2
    circular = ["locations are circular: after the last comes 0"] if any(map(_wraps, panels)) else []
    layout = Layout(
        title=escape_sentence(answer_reconstructions(results).title),
        heights=(1.15,) * -(-cells // columns),
        small_print=tuple(map(escape_sentence, (_describe(results, scales), *circular, *left_out))),
        width=COLUMN_WIDTH if columns == 1 else PAGE_WIDTH,
        columns=columns,
        cells=cells,
        left=0.6,
        top=0.27,
        gap=0.68,
    )
    figure, axes = lay_out(layout)
    missing = []
    for place, panel, top in zip(axes, panels, scales, strict=False):
        if not draw_reconstruction(place, panel, top):
            missing.append(f"{shorten(panel.spectrum.encoding.label)}: {_describe_width(panel, ' ')}")
    if kernel is not None:
        _draw_kernel(axes[len(panels)], kernel, results[0])
    return figure, missing


def _draw_kernel(axes: Axes, kernel: F64, result: Reconstruction) -> None:
    """Draw the kernel without a window over the lag, and the impulse response that the window makes of it."""
    response, bandwidth = result.impulse_response, result.spectrum.bandwidth
    reach = min(kernel.size, response.size // 2 + 1)
    lag = np.arange(reach, dtype=float)
    window = "" if bandwidth is None else f", bandwidth {bandwidth:g}"
    curves = {"no window": (kernel / kernel[0])[:reach], f"Algorithm 1{window}": (response / response[0])[:reach]}
    for number, curve in enumerate(curves.values()):
        draw_curve(axes, lag, curve, curve_style(number))
    lowest = min(0.0, *(float(curve.min()) for curve in curves.values()))
    axes.set(xlim=(0, max(reach - 1, 1)), ylim=(1.1 * lowest - 0.03, 1.08))
    axes.set(xlabel="lag (positions)", ylabel="share of lag 0")
    label_integers(axes.xaxis)
    head_panel(axes, "kernel of the encoding, and what is left of it")
    for number, (text, curve) in enumerate(curves.items()):
        places = beside(lag, curve, ("above right", "below left", "above", "below"))
        place_label(axes, text, places, colour=curve_style(number)["color"])


def _find_widths(result: Reconstruction) -> tuple[float | None, float | None]:
    """Full width at half and at a tenth of the peak; none where it is not at its position."""
    first = result.positions[0]
    return (None, None) if first.shift else (first.fwhm, first.width_10)


def _mark_width(axes: Axes, result: Reconstruction) -> bool:
    """Mark widths at the peak that has most room to its right; return False where they cannot be written there."""
    fwhm, tenth = _find_widths(result)
    if fwhm is None:
        return True
    rightmost, length = max(result.positions, key=lambda one: one.s), result.spectrum.grid
    last, peak = rightmost.s, float(rightmost.values.max())
    _draw_bracket(axes, last, fwhm, peak / 2, length)
    if tenth is not None:
        _draw_bracket(axes, last, tenth, peak / 10, length)
    level, top = peak / 2, axes.get_ylim()[1]
    rooms = np.linspace(last + fwhm / 2, length, 40)
    places = beside(rooms, np.full(40, level), ("right", "above right"))
    places += beside(rooms, np.full(40, top), ("below right",))
    rooms = np.linspace(max(0.0, last - fwhm / 2), 0, 40)
    for height in np.linspace(top, level, 6):
        places += beside(rooms, np.full(40, height), ("below left",))
    return place_label(axes, _describe_width(result, "\n"), places, colour=GREY) is not None


def _draw_bracket(axes: Axes, middle: int, width: float, level: float, length: int) -> None:
    """Draw a bar across a peak; on the circle it may leave at one end and come back at the other."""
    for turn in (-length, 0, length):
        left, right = max(middle + turn - width / 2, 0.0), min(middle + turn + width / 2, length - 1.0)
        if left < right:
            axes.hlines(level, left, right, color=GREY, linewidth=2.2, zorder=1)


def _describe(results: Sequence[Reconstruction], scales: Sequence[float]) -> str:
    """The parameters in words."""
    spectra = [result.spectrum for result in results]
    parts = ["Algorithm 1, rescaled to the norm of the function"]
    if len(set(scales)) > 1:
        parts.append("each panel on its own scale")
    bandwidths = sorted({s.bandwidth for s in spectra if s.bandwidth is not None})
    if bandwidths:
        parts.append(f"bandwidth {', '.join(f'{b:g}' for b in bandwidths)} bins")
        boundaries = dict.fromkeys(s.boundary for s in spectra if s.bandwidth is not None)
        parts.append(f"boundary {', '.join(boundaries)}")
    parts.append(f"lattice N\u00a0=\u00a0{', '.join(str(n) for n in dict.fromkeys(s.grid for s in spectra))}")
    if len(results) > MOST_PANELS:
        parts.append(f"{MOST_PANELS} of {len(results)} panels drawn")
    return ", ".join(parts)


def _describe_width(result: Reconstruction, between: str) -> str:
    """Name the widths at half and at a tenth of the peak, and the bandwidth, that there are."""
    widths = zip(_find_widths(result), ("wide at half", "at a tenth"), strict=True)
    parts = [f"{width:.3g} {what}" for width, what in widths if width is not None]
    if result.bandwidth is not None:
        parts.append(f"bandwidth {result.bandwidth:g}")
    return f",{between}".join(parts)


def _wraps(result: Reconstruction) -> bool:
    """Whether a peak, as wide as is said of it, leaves at one end and comes back at the other."""
    fwhm, tenth = _find_widths(result)
    half, last = (tenth or fwhm or 0.0) / 2, result.spectrum.grid - 1
    return any(one.s - half < 0 or one.s + half > last for one in result.positions if half > _ONE_POINT)


def _find_top(result: Reconstruction) -> float:
    return max(float(one.values.max()) for one in result.positions)


def _share_scale(results: Sequence[Reconstruction]) -> list[float]:
    """One scale for all panels, unless some peak could not be seen on it."""
    peaks = list(map(_find_top, results))
    return [max(peaks)] * len(peaks) if min(peaks) >= _VISIBLE * max(peaks) else peaks
