"""Fig. 1: the share of an encoding's frequencies at each Fourier frequency (Eq. 15, Eq. 22).

Two panels: the weights themselves, as in the paper, and their base-10 logarithms, because they span
from 0.1 to 5e-107 already at the paper's parameters and leave the range of float64 beyond. What an average
over all positions hides is a third one (:func:`pe_spectra.plots.planes.draw_local`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pe_spectra.answers.captions import describe_spectra, entitle_spectra, limit_decades, name_spectra
from pe_spectra.exact import F64
from pe_spectra.plots.axes import (
    BAND_OPACITY,
    CYCLES_HEIGHT,
    add_cycles,
    beside,
    draw_band,
    draw_curve,
    find_range,
    label_powers_of_ten,
    place_label,
    scale_ticks,
)
from pe_spectra.plots.heatmap import MAP_RIGHT
from pe_spectra.plots.planes import LOCAL_LEFT, describe_local, draw_local
from pe_spectra.plots.sheet import RIGHT, Layout, lay_out, widen_panel
from pe_spectra.plots.style import (
    BLUE,
    REFERENCE_STYLE,
    LineStyle,
    curve_style,
    escape_sentence,
    escape_text,
    fixed_style,
)
from pe_spectra.records import NamedTuple

if TYPE_CHECKING:
    from pe_spectra.spectrum.periodograms import LocalSpectra
    from pe_spectra.spectrum.record import Spectrum

OMEGA_LABEL = "frequency ω (rad/position)"
#: The logarithmic panel shows at least so many powers of ten.
_LEAST_DECADES = 2.0
#: From so many powers of ten on their exponents are too long for ticks.
_LONG_EXPONENTS = 1e5
#: Exponents of numbers that ticks write out.
_PLAIN = range(-4, 5)
#: Of a band whose lower edge lies below a logarithmic axis: it fills the panel, and the curves must stay readable.
_SUNK_OPACITY = 0.06
#: Inches of both panels, of the third, and of white between those, and above that.
_PANEL, _LOCAL_PANEL, _GAP, _LOCAL_GAP = 1.45, 1.25, 0.24, 0.68


class _Curve(NamedTuple):
    """A spectrum as it is drawn: per radian where lattices differ; `band` is the range over several heads."""

    label: str
    style: LineStyle
    omega: F64
    weights: F64
    logarithms: F64
    band: tuple[F64, F64] | None


def draw_spectra(
    axes: Axes,
    spectra: Sequence[Spectrum],
    reference: Spectrum | None = None,
    *,
    logarithmic: bool = False,
    decades: float = math.inf,
) -> None:
    """Draw the weights of spectra against frequency, or their base-10 logarithms over `decades` at most.

    The reference (Eq. 22) is dashed in red. Spectra on different lattices are drawn per radian: divided by
    their bin width 2 pi / N.
    """
    curves, per_radian = _list_curves(spectra, reference), _differ_in_lattice(spectra, reference)
    if logarithmic:
        limit = limit_decades(spectra)
        _draw_logarithms(axes, curves, per_radian, decades if limit is None else min(limit, decades))
    else:
        _draw_weights(axes, curves, per_radian)
    ends = [float(s.omega[-1]) if s.estimator == "nudft" else math.pi for s in spectra]
    _mark_frequencies(axes, max(ends, default=math.pi))


@fixed_style()
def compose_spectrum(
    *spectra: Spectrum, reference: Spectrum | None = None, local: LocalSpectra | None = None
) -> Figure:
    """The figure of `pe-spectra spectrum`: spectra over each other, `reference` in red.

    Curves are named beside them where there is room, else in a key. Several heads are a light band around the
    line of their median; weights that are not positive leave gaps on the logarithmic axis. `local` adds a map
    of the spectra of short stretches.
    """
    curves = _list_curves(spectra, reference)
    notes = () if local is None else (describe_local(local, _LOCAL_PANEL),)
    step = find_step(spectra)
    for direct in (True, False):
        layout = Layout(
            title=escape_sentence(entitle_spectra(spectra)),
            heights=(_PANEL, _PANEL) if local is None else (_PANEL, _PANEL, _LOCAL_PANEL),
            small_print=(*map(escape_sentence, describe_spectra(spectra)), *notes),
            key=() if direct else tuple((curve.label, curve.style) for curve in curves),
            left=LOCAL_LEFT,
            gaps=() if local is None else (_GAP, _LOCAL_GAP),
            top=0.10 + CYCLES_HEIGHT * bool(step),
        )
        figure, (upper, lower, *rest) = lay_out(layout)
        draw_spectra(upper, spectra, reference)
        draw_spectra(lower, spectra, reference, logarithmic=True)
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
        if step:
            add_cycles(upper, step)
        if not direct or _name_curves(upper, curves):
            break
    if local is not None:
        widen_panel(rest[0], RIGHT - MAP_RIGHT)
        draw_local(rest[0], local)
    return figure


def find_step(spectra: Sequence[Spectrum]) -> str:
    """Find the time from one position to the next, where it is known of some and differs among none; else empty.

    >>> from pe_spectra import Sinusoidal, compute_spectrum, read_encoding
    >>> find_step([compute_spectrum(one) for one in (Sinusoidal(), read_encoding("periods:step=30min"))])
    '30min'
    """
    steps = {one.encoding.time_step for one in spectra if one.encoding.time_step}
    return steps.pop() if len(steps) == 1 and all(one.axis is None for one in spectra) else ""


@fixed_style()
def compose_agreement(density: Spectrum, window: Spectrum) -> Figure:
    """Two ways to one spectrum, Eq. 15 and the lag window, on one axis; below it what is left of their difference."""
    rounding = density.weights - window.weights
    layout = Layout(
        title="Eq. 15 with reflection is the lag-window spectrum of the dot-product kernel",
        heights=(1.6, 0.9),
        small_print=(
            escape_sentence(f"{density.encoding.label}, {describe_spectra([density])[0]}"),
            f"largest difference: {np.abs(rounding).max():.1g}, which is rounding",
        ),
    )
    figure, (upper, lower) = lay_out(layout)
    line, circles = curve_style(0), LineStyle(color=BLUE, linestyle="none")
    draw_curve(upper, density.omega, density.weights, line)
    marks = {"marker": "o", "markersize": 3.2, "markerfacecolor": "none", "markeredgewidth": 0.7}
    draw_curve(upper, density.omega, window.weights, circles, **marks)
    limits = (min(0.0, float(window.weights.min())), 1.12 * float(density.weights.max()))
    upper.set(ylim=limits, ylabel="weight $g$ (share of 1)")
    draw_curve(lower, density.omega, rounding / 1e-16, {"color": BLUE, "linestyle": "-"}, linewidth=0.8)
    lower.axhline(0, color="black", linewidth=0.5, zorder=0)
    reach = 1.15 * float(np.abs(rounding).max()) / 1e-16 or 1.0
    lower.set(ylim=(-reach, reach), ylabel="difference ($10^{-16}$)")
    for axes in (upper, lower):
        _mark_frequencies(axes, math.pi)
    levels = np.linspace(*upper.get_ylim()[::-1], 30)
    names = (("line: Eq. 15, reflected at 0 and π", line), ("circles: lag window on the kernel", circles))
    for row, (text, style) in enumerate(names):
        places = beside(np.full(30 - 2 * row, math.pi), levels[2 * row :], ("below left",))
        place_label(upper, text, places, colour=style["color"])
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    return figure


def _draw_weights(axes: Axes, curves: Sequence[_Curve], per_radian: bool) -> None:
    """Draw weights on a linear axis from zero, or from the smallest where that is negative."""
    for curve in reversed(curves):
        if curve.band is not None:
            draw_band(axes, curve.omega, *curve.band, curve.style["color"])
        draw_curve(axes, curve.omega, curve.weights, curve.style, label=curve.label)
    drawn = [part for curve in curves for part in (curve.weights, *(curve.band or ()))]
    smallest, largest = find_range(np.array([0.0, np.finfo(float).tiny]), *drawn)
    if smallest < -1e-3 * largest:
        axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_ylim(smallest * 1.08, largest * 1.08)
    label = "weight per rad/position" if per_radian else "weight $g$ (share of 1)"
    axes.set_ylabel(label + scale_ticks(axes.yaxis, largest, _PLAIN))


def _draw_logarithms(axes: Axes, curves: Sequence[_Curve], per_radian: bool, decades: float) -> None:
    """Draw base-10 logarithms of weights on an axis labelled with powers of ten."""
    bands = [None if curve.band is None else tuple(map(_take_logarithm, curve.band)) for curve in curves]
    drawn = [curve.logarithms for curve in curves] + [part for band in bands for part in band or ()]
    low, high = find_range(*drawn, otherwise=(-1.0, 0.0))
    span = min(max(high - low, _LEAST_DECADES), decades)
    bottom = high - 1.06 * span
    for curve, band in reversed(list(zip(curves, bands, strict=True))):
        if band is not None:
            _draw_log_band(axes, curve.omega, band, bottom, curve.style["color"])
        draw_curve(axes, curve.omega, curve.logarithms, curve.style, label=curve.label)
    axes.set_ylim(bottom, high + 0.06 * span)
    if span < _LONG_EXPONENTS:
        label_powers_of_ten(axes.yaxis)
        axes.set_ylabel("weight per rad/position" if per_radian else "weight $g$ (log scale)")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        label = rf"$\log_{{10}}$ {'per rad/position' if per_radian else 'weight'}"
        axes.set_ylabel(label + scale_ticks(axes.yaxis, span, _PLAIN))


def _draw_log_band(axes: Axes, omega: F64, band: tuple[F64, ...], bottom: float, colour: str) -> None:
    """Fill a band down to the lower of its edges, and more lightly where that lies below the axis, as zero does."""
    sunk = ~(band[0] > bottom)
    touched = sunk | np.append(sunk[1:], False) | np.append(False, sunk[:-1])  # the band changes between two points
    for seen, opacity in ((~sunk, BAND_OPACITY), (touched, _SUNK_OPACITY)):
        high = np.where(seen, band[1], np.nan)
        draw_band(axes, omega, np.maximum(band[0], bottom), high, colour, opacity=opacity)


def _mark_frequencies(axes: Axes, last: float) -> None:
    """Label the axis of frequencies from 0 to pi, or to another end where positions are not whole numbers."""
    axes.set(xlim=(0, last), xlabel=OMEGA_LABEL)
    if last == math.pi:
        axes.set_xticks([0, 1, 2, math.pi], ["0", "1", "2", "π"])
        return
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")


def _take_logarithm(values: F64) -> F64:
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms: F64 = np.log10(np.maximum(values, 0.0))
    return logarithms


def _name_curves(axes: Axes, curves: Sequence[_Curve]) -> bool:
    """Write each name beside its curve; False as soon as one finds no room."""
    corner = (axes.get_xlim()[1], axes.get_ylim()[1], "below left")
    for curve in curves:
        places = [*beside(curve.omega, curve.weights, ("right", "above right", "above left")), corner]
        if len(curves) > 2 or not place_label(axes, curve.label, places, colour=curve.style["color"]):
            return False
    return True


def _list_curves(spectra: Sequence[Spectrum], reference: Spectrum | None) -> list[_Curve]:
    """What is drawn of each spectrum, the reference last unless it is one of them."""
    named = [
        (spectrum, escape_sentence(name), curve_style(number))
        for number, (spectrum, name) in enumerate(zip(spectra, name_spectra(spectra), strict=True))
    ]
    if reference is not None and reference.encoding not in [spectrum.encoding for spectrum in spectra]:
        named.append((reference, f"{escape_text(reference.encoding.label)} (Eq. 22)", REFERENCE_STYLE))
    per_radian, curves = _differ_in_lattice(spectra, reference), []
    for spectrum, label, style in named:
        width = float(spectrum.omega[1]) if per_radian else 1.0
        logarithms = (spectrum.log_weights - math.log(width)) / math.log(10)
        heads = spectrum.head_weights
        band = None if heads is None else (heads.min(axis=0) / width, heads.max(axis=0) / width)
        curves.append(_Curve(label, style, spectrum.omega, spectrum.weights / width, logarithms, band))
    return curves


def _differ_in_lattice(spectra: Sequence[Spectrum], reference: Spectrum | None) -> bool:
    drawn = [*spectra] if reference is None else [*spectra, reference]
    return len({float(spectrum.omega[1]) for spectrum in drawn}) > 1
