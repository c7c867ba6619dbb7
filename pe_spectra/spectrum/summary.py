"""One-number summaries of frequency weights. Their definitions stand in docs/quantities.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.exact import F64

if TYPE_CHECKING:
    from pe_spectra.spectrum.density import Spectrum

#: How many of the lowest bins `low_bin_mass` adds up; all where there are fewer.
LOW_BINS = 10
#: The share of the axis above an encoding's largest frequency from which on that is worth a word.
EMPTY_BAND = 0.05
#: Negative weights of a larger sum leave no shares: any sum over some of the bins may be wrong by as much. Untrained
#: biases stay below by default (t5 0.04; erpe, tupe, fire and swin 0.02; kernels with a formula 0); a similarity that
#: is larger at another lag than at lag 0 has 0.1 and more.
MOST_NEGATIVE = 0.05
#: A window that spans more than half of the lattice, at a bandwidth below this, adds lags up: none is seen alone.
_LEAST_UNFOLDED = 8.9 / np.pi
#: Summaries that leave their ranges by more than this are not rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class SpectrumSummary:
    """Summaries of weights g over K bins; with negative weights sums that may leave these ranges.

    Attributes
    ----------
    low_bin_mass : sum of the first ten weights, in [0, 1].
    peak_bin : index of the largest weight, the first among equals.
    centroid : sum of g omega, rad/position.
    effective_bins_entropy : exp(-sum g ln g), 1 to K.
    effective_bins_participation : 1 / sum g**2, 1 to K.
    flatness : geometric over arithmetic mean of g, 0 to 1; 1 is flat, 0 where a weight is not positive.
    empty_upper_band : share of the axis [0, pi] above the encoding's largest frequency, 0 to 1;
        None where the encoding has no list of frequencies.
    negative_mass : sum of |g| over negative g; 0 for Eq. (15).

    >>> from pe_spectra import Dft, compute_spectrum
    >>> found = compute_spectrum(Dft(d=8)).summary  # 1/8, 1/4, 1/4, 1/4, 1/8
    >>> found.peak_bin, round(found.effective_bins_participation, 3), round(found.centroid / np.pi, 12)
    (1, 4.571, 0.5)
    """

    low_bin_mass: float
    peak_bin: int
    centroid: float
    effective_bins_entropy: float
    effective_bins_participation: float
    flatness: float
    empty_upper_band: float | None
    negative_mass: float


def classify_shape(spectrum: Spectrum) -> str:
    """Say in a word how weights over the bins lie: "signed", "flat", "blurred", "crowded" (at the bottom) or "uneven".

    Signed: negative weights sum to more than 0.05, or make a mean or a count of bins that no shares have.
    Flat: more than 95 % of the bins are effective (entropy). Blurred: flat by the kernel alone, for it
    covers a twentieth of the axis and more where the encoding has no frequency, or a quarter of the bins
    by a lag window. Crowded: the first ten bins hold a tenth of the weight and twice their even share at
    least; with fewer than twenty bins that says nothing.

    >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
    >>> classify_shape(compute_spectrum(Dft(d=256))), classify_shape(compute_spectrum(Sinusoidal(d=256)))
    ('flat', 'crowded')
    >>> classify_shape(compute_spectrum(Sinusoidal(d=256), bandwidth=1000))
    'blurred'
    """
    summary, bins = spectrum.summary, len(spectrum.omega)
    if (
        summary.negative_mass > MOST_NEGATIVE
        or summary.centroid < -_ROUNDING
        or summary.effective_bins_entropy > bins * (1 + _ROUNDING)
    ):
        return "signed"
    if summary.effective_bins_entropy > 0.95 * bins:
        wide = spectrum.estimator == "lag-window" and (spectrum.bandwidth or 0.0) >= bins / 4
        empty = (summary.empty_upper_band or 0.0) >= EMPTY_BAND
        return "blurred" if spectrum.bandwidth is not None and (wide or empty) else "flat"
    even = LOW_BINS / bins
    crowded = bins >= 2 * LOW_BINS and summary.low_bin_mass >= max(0.1, 2 * even)
    return "crowded" if crowded else "uneven"


def explain_signs(spectrum: Spectrum) -> str:
    """Say of "signed" weights why they are no shares, in a sentence without its full stop.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> explain_signs(compute_spectrum(table, bandwidth=0.25)).partition(":")[0]  # four lags are too few
    'Weights of both signs (negative ones sum to 0.19)'
    """
    curve = np.fft.irfft(spectrum.weights, spectrum.grid)
    lag = int(np.argmax(curve[: len(spectrum.omega)]))
    if lag and (spectrum.bandwidth or 0.0) >= _LEAST_UNFOLDED:
        why = f"the similarity is larger at lag {lag} than at lag 0"
    else:
        why = "the similarity, as far as its lags are known, is not one of frequencies"
    negative = f"negative ones sum to {spectrum.summary.negative_mass:.3g}"
    what = "share, mean frequency or effective number of bins"
    return f"Weights of both signs ({negative}): {why}, so no {what} is a statement about it"


def summarise(omega: F64, weights: F64, log_weights: F64, highest: float | None) -> SpectrumSummary:
    """Summarise weights; all arrays of shape (K,), `highest` the largest frequency in rad/position.

    >>> g = np.array([0.5, 0.5])
    >>> found = summarise(np.array([0.0, np.pi]), g, np.log(g), 1.0)
    >>> round(found.effective_bins_entropy, 12), round(found.flatness, 12), round(found.empty_upper_band, 3)
    (2.0, 1.0, 0.682)
    """
    positive = weights > 0
    entropy = -np.sum(weights[positive] * log_weights[positive])
    mean_log = np.mean(log_weights)
    empty = None if highest is None else max(0.0, 1.0 - highest / np.pi)
    return SpectrumSummary(
        low_bin_mass=float(np.sum(weights[:LOW_BINS])),
        peak_bin=int(np.argmax(weights)),
        centroid=float(np.sum(weights * omega)),
        effective_bins_entropy=float(np.exp(entropy)),
        effective_bins_participation=float(1.0 / np.sum(weights**2)),
        flatness=float(np.exp(mean_log - np.log(np.mean(weights)))) if np.isfinite(mean_log) else 0.0,
        empty_upper_band=empty,
        negative_mass=float(np.sum(np.abs(weights[weights < 0]))),
    )
