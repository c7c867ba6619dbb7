"""One-number summaries of frequency weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.quantities import Result, quantity

#: How many of the lowest bins `low_bin_mass` adds up; all where there are fewer.
LOW_BINS = 10
#: Negative weights of a larger sum are no distribution: any sum over some of the bins may be wrong by as much.
#: Untrained biases stay below by default (t5 0.04; erpe, tupe, fire and swin 0.02; kernels with a formula 0); a
#: similarity that is larger at another lag than at lag 0 has 0.1 and more.
MOST_NEGATIVE = 0.05
#: Summaries that leave their ranges by more than this are not rounded.
_ROUNDING = 1e-9


def _is_distribution(summary: SpectrumSummary) -> bool:
    return summary.is_distribution


@dataclass(frozen=True, kw_only=True)
class SpectrumSummary(Result):
    """One-number summaries of weights g over the K bins of the lattice.

    Where the weights are not a distribution, five of them are null in every answer; here the sums are kept.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> found = compute_spectrum(Dft(d=8)).summary  # 1/8, 1/4, 1/4, 1/4, 1/8
    >>> found.peak_bin, round(found.effective_bins_participation, 3), round(found.centroid / np.pi, 12)
    (1, 4.571, 0.5)
    """

    low_bin_mass: float = quantity(
        "Sum of the first ten weights, g_0 + .. + g_9, or of all where there are fewer; null where the weights are "
        "not a distribution.",
        defined=_is_distribution,
    )
    peak_bin: int = quantity(
        "Index k of the largest weight, the first among equals.",
        unit="bin",
        minimum=0,
    )
    centroid: float = quantity(
        "Sum of g_k omega_k, the mean frequency; null where the weights are not a distribution.",
        unit="rad/position",
        defined=_is_distribution,
    )
    effective_bins_entropy: float = quantity(
        "exp(-sum g_k ln g_k), from 1 (one bin) to K (flat); null where the weights are not a distribution.",
        unit="bins",
        above=0,
        defined=_is_distribution,
    )
    effective_bins_participation: float = quantity(
        "1 / sum g_k**2, from 1 to K, never above effective_bins_entropy; null where the weights are not a "
        "distribution.",
        unit="bins",
        above=0,
        defined=_is_distribution,
    )
    flatness: float = quantity(
        "Geometric over arithmetic mean of the weights, from 0 to 1; 1 is flat, 0 where a weight is not positive, "
        "null where the weights are not a distribution.",
        minimum=0,
        maximum=1.000001,
        defined=_is_distribution,
    )
    empty_upper_band: float | None = quantity(
        "Share of the axis from 0 to pi above the encoding's largest frequency, 1 - max(w)/pi, not below 0; null "
        "where it has no list of frequencies.",
        minimum=0,
        maximum=1,
    )
    negative_mass: float = quantity(
        "Sum of |g_k| over negative g_k; 0 for Eq. 15, whose terms are all positive.",
        minimum=0,
    )
    #: K, the number of bins.
    bins: int

    @property
    def is_distribution(self) -> bool:
        """Whether the weights can be read as shares: no more than rounding is negative, in sum and in what follows."""
        return (
            self.negative_mass <= MOST_NEGATIVE
            and self.centroid >= -_ROUNDING
            and self.effective_bins_entropy <= self.bins * (1 + _ROUNDING)
        )


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
        bins=len(weights),
    )
