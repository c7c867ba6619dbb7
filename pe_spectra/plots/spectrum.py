"""Fig. 1: the share of an encoding's frequencies at each Fourier frequency (Eq. 15, Eq. 22).

Two panels: the weights themselves, as in the paper, and their base-10 logarithms, because they span
from 0.1 to 5e-107 already at the paper's parameters and leave the range of float64 beyond. What an average
over all positions hides is a third one (:mod:`pe_spectra.plots.stretches`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from pe_spectra.answers.captions import describe_spectra, entitle_spectra, limit_decades, name_spectra
from pe_spectra.plots.axes import (
    BAND_OPACITY,
    Spot,
    draw_band,
    draw_curve,
    label_powers_of_ten,
    label_scaled,
    place_label,
    places_along,
)
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.stretches import LEFT, describe_local, fit_panel, plot_local
from pe_spectra.plots.style import (
    REFERENCE_STYLE,
    LineStyle,
    curve_style,
    escape_sentence,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.spectrum import LocalSpectra, Spectrum

F64 = NDArray[np.float64]

OMEGA_LABEL = "frequency ω (rad/position)"
#: The logarithmic panel shows at least so many powers of ten.
_LEAST_DECADES = 2.0
#: From so many powers of ten on their exponents are too long for ticks.
_LONG_EXPONENTS = 1e5
#: Of a band whose lower edge lies below a logarithmic axis: it fills the panel, and the curves must stay readable.
_SUNK_OPACITY = 0.06
#: Inches of both panels, of the third, and of white above that.
_PANEL, _LOCAL_PANEL, _LOCAL_GAP = 1.45, 1.25, 0.68


@dataclass(frozen=True, kw_only=True)
class SpectrumCurve:
    """One curve of both panels.

    Parameters
    ----------
    label : name of the curve, ready to be drawn.
    omega : frequencies (K,), rad/position, ascending from 0.
    weights : shares (K,), or densities in positions per radian.
    log10_weights : their base-10 logarithms (K,), of their own because weights may underflow.
    style : colour and line style.
    band : smallest and largest of several heads, (K,) each, in the units of `weights`.
    """

    label: str
    omega: F64
    weights: F64
    log10_weights: F64
    style: LineStyle
    band: tuple[F64, F64] | None = None


def plot_spectrum(axes: Axes, *spectra: Spectrum, reference: Spectrum | None = None) -> None:
    """Draw the weights of spectra against frequency, the reference (Eq. 22) dashed in red.

    Spectra on different lattices are drawn per radian: divided by their bin width 2 pi / N.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, compute_spectrum
    >>> spectrum = compute_spectrum(Dft(d=8))
    >>> axes = Figure().subplots()
    >>> plot_spectrum(axes, spectrum)
    >>> axes.get_xlabel().split()[-1]
    '(rad/position)'
    """
    curves = _collect_curves(spectra, reference)
    draw_weights(axes, curves, per_radian=_differ_in_lattice(spectra, reference), last=find_last(spectra))


def plot_log_spectrum(
    axes: Axes, *spectra: Spectrum, reference: Spectrum | None = None, decades: float | None = None
) -> None:
    """Draw what `plot_spectrum` draws on a logarithmic axis of `decades` at most, from the logarithms of the weights.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Dft, compute_spectrum
    >>> spectrum = compute_spectrum(Dft(d=8))
    >>> axes = Figure().subplots()
    >>> plot_log_spectrum(axes, spectrum)
    >>> axes.get_ylabel()
    'weight $g$ (log scale)'
    """
    curves = _collect_curves(spectra, reference)
    per_radian = _differ_in_lattice(spectra, reference)
    limits = [limit for limit in (decades, limit_decades(spectra)) if limit is not None]
    most = min(limits, default=None)
    draw_log_weights(axes, curves, per_radian=per_radian, last=find_last(spectra), decades=most)


@fixed_style()
def compose_spectrum(
    *spectra: Spectrum, reference: Spectrum | None = None, local: LocalSpectra | None = None
) -> Figure:
    """The figure of `pe-spectra spectrum`: spectra over each other, `reference` in red.

    Several heads are a light band around the line of their median; weights that are not positive leave gaps
    on the logarithmic axis. `local` adds a map of the spectra of short stretches.

    Raises ValueError without a spectrum.
    """
    if not spectra:
        raise ValueError("a figure of spectra needs one at least")
    return compose_curves(
        _collect_curves(spectra, reference),
        title=escape_sentence(entitle_spectra(spectra)),
        small_print=tuple(map(escape_sentence, describe_spectra(spectra))),
        per_radian=_differ_in_lattice(spectra, reference),
        last=find_last(spectra),
        decades=limit_decades(spectra),
        local=local,
    )


@fixed_style()
def compose_curves(
    curves: Sequence[SpectrumCurve],
    *,
    title: str,
    small_print: tuple[str, ...],
    per_radian: bool = False,
    last: float = math.pi,
    decades: float | None = None,
    local: LocalSpectra | None = None,
) -> Figure:
    """Lay out the panels for given curves: named beside them where there is room, else in a key."""
    heights: tuple[float, ...] = (_PANEL, _PANEL)
    if local is not None:
        heights, small_print = (*heights, _LOCAL_PANEL), (*small_print, describe_local(local, _LOCAL_PANEL))
    for direct in (True, False):
        layout = Layout(
            title=title,
            heights=heights,
            small_print=small_print,
            key=() if direct else tuple((curve.label, curve.style) for curve in curves),
            left=LEFT,
            last_gap=None if local is None else _LOCAL_GAP,
        )
        figure, (upper, lower, *rest) = lay_out(layout)
        draw_weights(upper, curves, per_radian=per_radian, last=last)
        draw_log_weights(lower, curves, per_radian=per_radian, last=last, decades=decades)
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
        if not direct or _name_curves(upper, curves):
            break
    for axes in rest:
        if local is not None:
            fit_panel(axes)
            plot_local(axes, local)
    return figure


def draw_weights(
    axes: Axes, curves: Sequence[SpectrumCurve], *, per_radian: bool = False, last: float = math.pi
) -> None:
    """Draw weights on a linear axis from zero, or from the smallest where that is negative."""
    for curve in reversed(curves):
        if curve.band is not None:
            draw_band(axes, curve.omega, *curve.band, curve.style["color"])
        draw_curve(axes, curve.omega, curve.weights, curve.style, label=curve.label)
    drawn = np.concatenate([part for curve in curves for part in (curve.weights, *(curve.band or ()))])
    largest = max(float(np.max(drawn, initial=0.0, where=np.isfinite(drawn))), np.finfo(float).tiny)
    smallest = min(float(np.min(drawn, initial=0.0, where=np.isfinite(drawn))), 0.0)
    if smallest < -1e-3 * largest:
        axes.axhline(0, color="black", linewidth=0.5, zorder=0)
    axes.set_ylim(smallest * 1.08, largest * 1.08)
    label_scaled(axes.yaxis, largest, "weight per rad/position" if per_radian else "weight $g$ (share of 1)")
    mark_frequencies(axes, last)


def draw_log_weights(
    axes: Axes,
    curves: Sequence[SpectrumCurve],
    *,
    per_radian: bool = False,
    last: float = math.pi,
    decades: float | None = None,
) -> None:
    """Draw base-10 logarithms of weights on an axis labelled with powers of ten, of `decades` at most."""
    bands = [None if curve.band is None else tuple(map(_take_logarithm, curve.band)) for curve in curves]
    drawn = np.concatenate([curve.log10_weights for curve in curves] + [part for band in bands for part in band or ()])
    seen = drawn[np.isfinite(drawn)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (-1.0, 0.0)
    span = min(max(high - low, _LEAST_DECADES), math.inf if decades is None else decades)
    bottom = high - 1.06 * span
    for curve, band in reversed(list(zip(curves, bands, strict=True))):
        if band is not None:
            _draw_log_band(axes, curve.omega, band, bottom, curve.style["color"])
        draw_curve(axes, curve.omega, curve.log10_weights, curve.style, label=curve.label)
    axes.set_ylim(bottom, high + 0.06 * span)
    _label_logarithms(axes, span, per_radian)
    mark_frequencies(axes, last)


def _draw_log_band(axes: Axes, omega: F64, band: tuple[F64, ...], bottom: float, colour: str) -> None:
    """Fill a band down to the lower of its edges, and more lightly where that lies below the axis, as zero does."""
    sunk = ~(band[0] > bottom)
    touched = sunk | np.append(sunk[1:], False) | np.append(False, sunk[:-1])  # the band changes between two points
    for seen, opacity in ((~sunk, BAND_OPACITY), (touched, _SUNK_OPACITY)):
        high = np.where(seen, band[1], np.nan)
        draw_band(axes, omega, np.maximum(band[0], bottom), high, colour, opacity=opacity)


def _label_logarithms(axes: Axes, span: float, per_radian: bool) -> None:
    """Label powers of ten; where their exponents have no room, the logarithms themselves."""
    label_powers_of_ten(axes.yaxis)
    if span >= _LONG_EXPONENTS:
        name = "per rad/position" if per_radian else "weight"
        label_scaled(axes.yaxis, span, rf"$\log_{{10}}$ {name}")
    else:
        axes.set_ylabel("weight per rad/position" if per_radian else "weight $g$ (log scale)")


def mark_frequencies(axes: Axes, last: float = math.pi) -> None:
    """Label the axis of frequencies from 0 to pi, or to another end where positions are not whole numbers."""
    axes.set_xlim(0, last)
    axes.set_xlabel(OMEGA_LABEL)
    if last == math.pi:
        axes.set_xticks([0, 1, 2, math.pi], ["0", "1", "2", "π"])
        return
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))


def find_last(spectra: Sequence[Spectrum]) -> float:
    """Return where the axis of frequencies ends: at pi, or at the last one of real positions."""
    ends = [float(s.omega[-1]) if s.estimator == "nudft" else math.pi for s in spectra]
    return max(ends, default=math.pi)


def _take_logarithm(values: F64) -> F64:
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms: F64 = np.log10(np.maximum(values, 0.0))
    return logarithms


def _name_curves(axes: Axes, curves: Sequence[SpectrumCurve]) -> bool:
    """Write each name beside its curve; False as soon as one finds no room."""
    if len(curves) > 2:
        return False
    end = axes.get_xlim()[1]
    for curve in curves:
        places = places_along(curve.omega, curve.weights, ("right", "above right", "above left"))
        top = Spot(x=end, y=axes.get_ylim()[1], side="below left")
        if not place_label(axes, curve.label, [*places, top], colour=curve.style["color"]):
            return False
    return True


def _collect_curves(spectra: Sequence[Spectrum], reference: Spectrum | None) -> tuple[SpectrumCurve, ...]:
    per_radian = _differ_in_lattice(spectra, reference)
    labels = map(escape_sentence, name_spectra(spectra))
    curves = [
        _read_curve(spectrum, label, curve_style(number), per_radian)
        for number, (spectrum, label) in enumerate(zip(spectra, labels, strict=True))
    ]
    if reference is not None and reference.encoding not in [spectrum.encoding for spectrum in spectra]:
        name = f"{escape_text(reference.encoding.label)} (Eq. 22)"
        curves.append(_read_curve(reference, name, REFERENCE_STYLE, per_radian))
    return tuple(curves)


def _read_curve(spectrum: Spectrum, label: str, style: LineStyle, per_radian: bool) -> SpectrumCurve:
    width = float(spectrum.omega[1]) if per_radian else 1.0
    heads = spectrum.head_weights
    return SpectrumCurve(
        label=label,
        omega=spectrum.omega,
        weights=spectrum.weights / width,
        log10_weights=(spectrum.log_weights - math.log(width)) / math.log(10),
        style=style,
        band=None if heads is None else (heads.min(axis=0) / width, heads.max(axis=0) / width),
    )


def _differ_in_lattice(spectra: Sequence[Spectrum], reference: Spectrum | None) -> bool:
    drawn = [*spectra] if reference is None else [*spectra, reference]
    return len({float(spectrum.omega[1]) for spectrum in drawn}) > 1
