"""Fig. 1: the share of an encoding's frequencies at each Fourier frequency (Eq. 15, Eq. 22).

Two panels: the weights themselves, as in the paper, and their base-10 logarithms, because they span
from 0.1 to 5e-107 already at the paper's parameters and leave the range of float64 beyond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.plots.axes import (
    Place,
    draw_curve,
    label_powers_of_ten,
    place_label,
    places_along,
)
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    REFERENCE_STYLE,
    LineStyle,
    curve_style,
    escape_text,
    fixed_style,
)
from pe_spectra.spectrum.summary import LOW_BINS, classify_shape

if TYPE_CHECKING:
    from pe_spectra.spectrum import Spectrum

F64 = NDArray[np.float64]

OMEGA_LABEL = "frequency ω (rad/position)"
#: The logarithmic panel shows at least so many powers of ten.
_LEAST_DECADES = 2.0


@dataclass(frozen=True, kw_only=True)
class SpectrumCurve:
    """One curve of both panels.

    Parameters
    ----------
    label : name of the curve, ready to be drawn.
    omega : frequencies (K,), rad/position, from 0 to pi.
    weights : shares (K,), or densities in positions per radian.
    log10_weights : their base-10 logarithms (K,), of their own because weights may underflow.
    style : colour and line style.
    """

    label: str
    omega: F64
    weights: F64
    log10_weights: F64
    style: LineStyle


def plot_spectrum(axes: Axes, *spectra: Spectrum, reference: Spectrum | None = None) -> None:
    """Draw the weights of spectra against frequency, the reference (Eq. 22) dashed in red.

    Spectra on different lattices are drawn per radian: divided by their bin width 2 pi / N.
    """
    curves = _collect_curves(spectra, reference)
    draw_weights(axes, curves, per_radian=_differ_in_lattice(spectra, reference))


def plot_log_spectrum(axes: Axes, *spectra: Spectrum, reference: Spectrum | None = None) -> None:
    """Draw what `plot_spectrum` draws on a logarithmic axis, from the logarithms of the weights."""
    curves = _collect_curves(spectra, reference)
    draw_log_weights(axes, curves, per_radian=_differ_in_lattice(spectra, reference))


@fixed_style()
def compose_spectrum(*spectra: Spectrum, reference: Spectrum | None = None) -> Figure:
    """The figure of `pe-spectra spectrum`: spectra over each other, `reference` in red.

    Raises ValueError without a spectrum.
    """
    if not spectra:
        raise ValueError("a figure of spectra needs one at least")
    return compose_curves(
        _collect_curves(spectra, reference),
        title=_entitle(spectra),
        small_print=_describe(spectra),
        per_radian=_differ_in_lattice(spectra, reference),
    )


@fixed_style()
def compose_curves(
    curves: Sequence[SpectrumCurve],
    *,
    title: str,
    small_print: tuple[str, ...],
    per_radian: bool = False,
) -> Figure:
    """Lay out both panels for given curves: named beside them where there is room, else in a key."""
    for direct in (True, False):
        key = () if direct else tuple((curve.label, curve.style) for curve in curves)
        layout = Layout(title=title, heights=(1.45, 1.45), small_print=small_print, key=key, left=0.76)
        figure, (upper, lower) = lay_out(layout)
        draw_weights(upper, curves, per_radian=per_radian)
        draw_log_weights(lower, curves, per_radian=per_radian)
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
        if not direct or _name_curves(upper, curves):
            break
    return figure


def draw_weights(axes: Axes, curves: Sequence[SpectrumCurve], *, per_radian: bool = False) -> None:
    """Draw weights on a linear axis from zero."""
    for curve in reversed(curves):
        draw_curve(axes, curve.omega, curve.weights, curve.style)
    drawn = np.concatenate([curve.weights for curve in curves])
    largest = max(float(np.max(drawn, initial=0.0, where=np.isfinite(drawn))), np.finfo(float).tiny)
    smallest = min(float(np.min(drawn, initial=0.0, where=np.isfinite(drawn))), 0.0)
    axes.set_ylim(smallest * 1.08, largest * 1.08)
    axes.set_ylabel("weight (per rad/position)" if per_radian else "weight $g$ (share of 1)")
    mark_frequencies(axes)


def draw_log_weights(axes: Axes, curves: Sequence[SpectrumCurve], *, per_radian: bool = False) -> None:
    """Draw base-10 logarithms of weights on an axis labelled with powers of ten."""
    for curve in reversed(curves):
        draw_curve(axes, curve.omega, curve.log10_weights, curve.style)
    drawn = np.concatenate([curve.log10_weights for curve in curves])
    seen = drawn[np.isfinite(drawn)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (-1.0, 0.0)
    span = max(high - low, _LEAST_DECADES)
    axes.set_ylim(high - 1.06 * span, high + 0.06 * span)
    axes.set_ylabel("per rad/position (log)" if per_radian else "weight $g$ (log scale)")
    label_powers_of_ten(axes.yaxis)
    mark_frequencies(axes)


def mark_frequencies(axes: Axes) -> None:
    """Label the axis of frequencies from 0 to pi."""
    axes.set_xlim(0, math.pi)
    axes.set_xticks([0, 1, 2, math.pi], ["0", "1", "2", "π"])
    axes.set_xlabel(OMEGA_LABEL)


def _name_curves(axes: Axes, curves: Sequence[SpectrumCurve]) -> bool:
    """Write each name beside its curve; False as soon as one finds no room."""
    if len(curves) > 2:
        return False
    for curve in curves:
        places = places_along(curve.omega, curve.weights, ("right", "above right", "above left"))
        top = Place(x=math.pi, y=axes.get_ylim()[1], side="below left")
        if not place_label(axes, curve.label, [*places, top], colour=curve.style["color"]):
            return False
    return True


def _collect_curves(spectra: Sequence[Spectrum], reference: Spectrum | None) -> tuple[SpectrumCurve, ...]:
    per_radian = _differ_in_lattice(spectra, reference)
    labels = _name_spectra(spectra)
    curves = [
        _read_curve(spectrum, label, curve_style(number), per_radian)
        for number, (spectrum, label) in enumerate(zip(spectra, labels, strict=True))
    ]
    if reference is not None and reference.encoding not in [spectrum.encoding for spectrum in spectra]:
        name = f"{escape_text(reference.encoding.label)} (Eq. 22)"
        curves.append(_read_curve(reference, name, REFERENCE_STYLE, per_radian))
    return tuple(curves)


def _read_curve(spectrum: Spectrum, label: str, style: LineStyle, per_radian: bool) -> SpectrumCurve:
    width = 2 * math.pi / spectrum.grid if per_radian else 1.0
    return SpectrumCurve(
        label=label,
        omega=spectrum.omega,
        weights=spectrum.weights / width,
        log10_weights=(spectrum.log_weights - math.log(width)) / math.log(10),
        style=style,
    )


def _differ_in_lattice(spectra: Sequence[Spectrum], reference: Spectrum | None) -> bool:
    drawn = [*spectra] if reference is None else [*spectra, reference]
    return len({spectrum.grid for spectrum in drawn}) > 1


def _name_spectra(spectra: Sequence[Spectrum]) -> list[str]:
    """Name each spectrum by its encoding, and by whatever else tells it from the others."""
    bandwidths = {spectrum.bandwidth for spectrum in spectra}
    boundaries = {spectrum.boundary for spectrum in spectra}
    names = []
    for spectrum in spectra:
        name = escape_text(spectrum.encoding.label)
        if len(bandwidths) > 1 and spectrum.bandwidth is not None:
            name += f", bandwidth {spectrum.bandwidth:g}"
        if len(boundaries) > 1:
            name += f", boundary {spectrum.boundary}"
        names.append(name)
    return names


def _entitle(spectra: Sequence[Spectrum]) -> str:
    if len(spectra) > 1 and len({spectrum.encoding for spectrum in spectra}) == 1:
        return "The weights depend on the bandwidth that is chosen"
    if len(spectra) > 1:
        return "Where the frequencies of each encoding lie, from 0 to π"
    spectrum = spectra[0]
    bins = spectrum.omega.size
    shape = classify_shape(spectrum.summary, bins)
    if shape == "flat":
        return f"All {bins} frequencies weigh nearly the same"
    if shape == "uneven":
        return f"The mean frequency is {spectrum.summary.centroid:.3g} rad per position"
    share = f"{100 * spectrum.summary.low_bin_mass:.1f} %"
    return f"{share} of the weight lies in the first {LOW_BINS} of {bins} frequencies"


_ESTIMATORS = {
    "kde": "Eq. 15",
    "lattice": "shares of the lattice frequencies, not smoothed",
    "lag-window": "lag-window spectrum of the kernel",
}


def _describe(spectra: Sequence[Spectrum]) -> tuple[str, ...]:
    """The parameters that the spectra have in common, in words."""
    parts = _agreed([_ESTIMATORS[spectrum.estimator] for spectrum in spectra])
    parts += _agreed([_describe_bandwidth(spectrum) for spectrum in spectra])
    parts += _agreed([f"boundary {spectrum.boundary}" for spectrum in spectra])
    parts += _agreed([f"lattice N\u00a0=\u00a0{spectrum.grid}" for spectrum in spectra])
    return (", ".join(parts),)


def _agreed(texts: Sequence[str]) -> list[str]:
    """The text that all have in common, if it says anything."""
    return [texts[0]] if len(set(texts)) == 1 and texts[0] else []


def _describe_bandwidth(spectrum: Spectrum) -> str:
    if spectrum.bandwidth is None:
        return ""
    sigma = spectrum.bandwidth * 2 * math.pi / spectrum.grid
    return f"bandwidth\u00a0{spectrum.bandwidth:g}\u00a0bins (σ\u00a0=\u00a0{sigma:.3g} rad/position)"
