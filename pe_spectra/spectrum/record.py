"""The spectrum of an encoding as a record: frequencies, weights, and how they were estimated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import attrgetter

import numpy as np

from pe_spectra.encodings import Encoding, Frequencies
from pe_spectra.exact import F64
from pe_spectra.fourier import compute_dft_weights, count_basis_functions
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.evenness import LEAST_EVEN, LOW_BINS, Finest, compare_ends, is_crowded, needs_finest
from pe_spectra.spectrum.gaussian_pairs import is_direct
from pe_spectra.spectrum.in_time import IN_TIME, count_in_time
from pe_spectra.vocabulary import AXES, BOUNDARIES, ESTIMATORS, KERNEL_SOURCES

#: Negative weights of a larger sum are no distribution: any sum over some of the bins may be wrong by as much.
#: Untrained biases stay below by default (t5 0.04; erpe, tupe, fire and swin 0.02; kernels with a formula 0); a
#: similarity that is larger at another lag than at lag 0 has 0.1 and more.
MOST_NEGATIVE = 0.05
#: Summaries that leave their ranges by more than this are not rounded.
_ROUNDING = 1e-9
_is_distribution = attrgetter("is_distribution")
#: The share of the axis above an encoding's largest frequency from which on that is worth a word.
EMPTY_BAND = 0.05


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
    mean_frequency: float | None = quantity(
        "Mean of the encoding's own frequencies by mass, sum of m_i w_i over sum of m_i with m_i = 1 for a sine and "
        "cosine and 1/2 for a lone column: of no bandwidth or lattice; null where it has no list of frequencies.",
        unit="rad/position",
        minimum=0,
    )
    centroid: float = quantity(
        "Sum of g_k omega_k, the mean frequency of the weights, which a bandwidth blurs and, near 0, raises; null "
        "where the weights are not a distribution.",
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
        "Geometric over arithmetic mean of the weights per basis function (on the lattice those of 0 and pi have one, "
        "all others two; Eq. 15 and a lag window sample a density, which is just that), from 0 to 1; 1 is flat, 0 "
        "where a weight is not positive, null where the weights are not a distribution.",
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


def _is_windowed(spectrum: Spectrum) -> bool:
    return spectrum.estimator == "lag-window"


def _has_heads(spectrum: Spectrum) -> bool:
    return spectrum.head_weights is not None


def _has_step(spectrum: Spectrum) -> bool:
    return bool(spectrum.in_time)


#: Of Eq. (15) and on the lattice every weight is a share; a lag window may make negative ones.
WEIGHTS_ARE_SHARES: Mapping[str, object] = {
    "if": {"properties": {"estimator": {"enum": ["kde", "lattice"]}}},
    "then": {"properties": {"weights": {"items": {"minimum": 0, "maximum": 1}}}},
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum(Result):
    """The share of an encoding's frequencies at each DFT frequency.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> spectrum = compute_spectrum(Dft(d=8))
    >>> spectrum.weights.tolist(), spectrum.estimator
    ([0.125, 0.25, 0.25, 0.25, 0.125], 'lattice')
    """

    schema_rules = WEIGHTS_ARE_SHARES

    encoding: Encoding = quantity("The encoding that was analysed.", column=None)

    @derived("The encoding that was analysed, and on a grid the direction.", key=None, column="encoding")
    def label(self) -> str:
        return self.encoding.label if self.axis is None else f"{self.encoding.label}, {self.axis}"

    axis: str | None = quantity(
        "Of a lag window: the direction of its lags on a grid, `vertical` (down its columns) or `horizontal` (along "
        "its rows); null on a line. It is the two-dimensional spectrum summed over the other direction.",
        words=AXES,
        defined=lambda spectrum: spectrum.axis is not None,
        only=_is_windowed,
        column=None,
        default=None,
    )
    grid: int = quantity(
        "Length N of the DFT lattice: of one encoding, unless asked otherwise, d for ladders, the number of positions "
        "for what has no list of frequencies (at least 2), the side of a grid.",
        unit="positions",
        minimum=2,
    )
    bandwidth: float | None = quantity(
        "Kernel width of Eq. 15 in bins of 2 pi/N rad/position; null where the weights are exact and no kernel "
        "enters. Unless asked otherwise 4, and 1 along the sides of a grid, which have few places.",
        unit="bins",
        above=0,
    )
    boundary: str = quantity(
        "What happens to the kernel at 0 and pi: `none`, cut off as in the paper, or `reflect`, as a lag window "
        "always does.",
        words=BOUNDARIES,
        column=None,
    )
    estimator: str = quantity(
        "How the weights were found: `kde` (kernel density, Eq. 15), `lattice` (exact masses, Eq. 22), `lag-window` "
        "(sum over all lags tau of exp(-sigma**2 tau**2 / 2) k(tau) cos(omega_k tau), to scale), `nudft` (at real "
        "positions t_n: sum over columns of |sum over n of e(t_n) exp(-i omega t_n)|**2, smoothed with a Gaussian "
        "that is reflected at both ends).",
        words=ESTIMATORS,
        column=None,
    )

    @derived("Number of the bin.", key=None)
    def k(self) -> range:
        return range(len(self.omega))

    omega: F64 = quantity(
        "DFT frequencies 2 pi k/N for k = 0 .. N // 2; at real positions 2 pi k/(N step), where N is their number and "
        "step the median one: with steps below 1 they exceed pi.",
        unit="rad/position",
        minimum=0,
        least=2,
    )

    @derived("`cycles_per_day`: the same, where the time of a step is known.", only=_has_step, schema=IN_TIME)
    def in_time(self) -> Mapping[str, F64]:
        step = self.encoding.time_step
        return count_in_time(step, self.omega) if step and self.axis is None else {}

    weights: F64 = quantity(
        "Share g_k of the encoding's frequencies at omega_k, Eq. 15; they sum to 1. The lone last sine of odd d "
        "counts one half. Those of a lag window may be negative.",
        least=2,
        column="weight",
    )
    log_weights: F64 = quantity(
        "Natural logarithms of the weights, right also where a weight is below the smallest double; null where it is "
        "exactly 0 or negative.",
        least=2,
        gaps=True,
        column="log_weight",
    )

    @derived("Weight of the DFT encoding at the same frequency, Eq. 22.", key=None)
    def reference(self) -> F64 | None:
        return None if self.estimator == "nudft" else compute_dft_weights(self.grid)

    @derived("One-number summaries of the weights.", column=None)
    def summary(self) -> SpectrumSummary:
        positive, mean_log = self.weights > 0, np.mean(self.log_multipliers)
        entropy = -np.sum(self.weights[positive] * self.log_weights[positive])
        highest = None if self.frequencies is None else float(self.frequencies.values.max())
        if (known := self.frequencies) is None:
            from pe_spectra.encodings.sampled import list_frequencies

            known = list_frequencies(self.encoding)
        flatness = np.exp(mean_log - np.log(np.mean(self.multipliers))) if np.isfinite(mean_log) else 0.0
        return SpectrumSummary(
            low_bin_mass=float(np.sum(self.weights[:LOW_BINS])),
            peak_bin=int(np.argmax(self.weights)),
            mean_frequency=None if known is None else known.mean,
            centroid=float(np.sum(self.weights * self.omega)),
            effective_bins_entropy=float(np.exp(entropy)),
            effective_bins_participation=float(1.0 / np.sum(self.weights**2)),
            flatness=float(flatness),
            empty_upper_band=None if highest is None else max(0.0, 1.0 - highest / np.pi),
            negative_mass=float(np.sum(np.abs(self.weights[self.weights < 0]))),
            bins=len(self.weights),
        )

    kernel_source: str | None = quantity(
        "Of a lag window: where its kernel k(tau) comes from: `exact` (a formula of the lag), `exp-bias` (exp(b - max "
        "b) of the bias b, the even part of a bidirectional one), `bias-map` (mean of exp(b) over all pairs at each "
        "lag), `lag-rows` (mean dot product of the vectors of lags, by their distance) or `gram-diagonals` (mean dot "
        "product of the position vectors at each lag).",
        words=KERNEL_SOURCES,
        only=_is_windowed,
        column=None,
        default=None,
    )
    length: int | None = quantity(
        "Of a lag window: how many positions its kernel was averaged over; null where nothing was averaged.",
        unit="positions",
        minimum=1,
        only=_is_windowed,
        defined=lambda spectrum: spectrum.length is not None,
        column=None,
        default=None,
    )
    toeplitz_share: float | None = quantity(
        "Of a lag window: with T the mean of the Gram matrix G along its diagonals (on a grid: by offset), "
        "||T||**2 / ||G||**2 in Frobenius norms: how much of the similarities is a function of the lag alone; null "
        "where the kernel was not averaged over a table, and for a table of zeros.",
        minimum=0,
        maximum=1.000001,
        only=_is_windowed,
        defined=lambda spectrum: spectrum.toeplitz_share is not None,
        column=None,
        default=None,
    )
    head_weights: F64 | None = quantity(
        "Of an encoding with several heads: the weights of each; `weights` are their median.",
        least=2,
        axes=2,
        only=_has_heads,
        column=None,
        default=None,
    )
    #: The same at the finest that the lattice shows, for where the kernel alone may have made them even or crowded;
    #: None where lags are too few, or it is not asked for.
    finest: Finest | None = None
    #: The encoding's list of frequencies, where the weights were found from it.
    frequencies: Frequencies | None = None
    #: What a reader must know about these numbers.
    notes: tuple[str, ...] = ()

    @property
    def multipliers(self) -> F64:
        """What Algorithm 1 multiplies the coefficients at omega_k with, shape (N // 2 + 1,)."""
        # on the lattice the mass per basis function: the density, which is what Algorithm 1 must not distort
        return self.weights / count_basis_functions(self.grid) if self.estimator == "lattice" else self.weights

    @property
    def log_multipliers(self) -> F64:
        """The logarithms of the multipliers, right also where one is below the smallest double."""
        if self.estimator != "lattice":
            return self.log_weights
        with np.errstate(divide="ignore"):
            return np.log(self.multipliers)

    @property
    def rounding(self) -> float:
        """By how much a weight may be off, however small: rounding of the largest; 0 of Eq. 15 and on the lattice."""
        return 1e-13 * float(self.weights.max()) if self.estimator in ("lag-window", "nudft") else 0.0

    @property
    def log_errors(self) -> F64:
        """By how much each of `log_weights` may be off beside that, as tests hold Eq. 15 to, shape (N // 2 + 1,)."""
        sources = 1 if self.frequencies is None else len(self.frequencies.values)
        return np.maximum(1.0, np.abs(self.log_weights)) * (1e-15 if is_direct(sources, len(self.omega)) else 1e-12)

    @property
    def evenness(self) -> float:
        """The smallest weight per basis function over the largest, at the finest; 0 where that was not asked."""
        if self.estimator == "lattice":
            return compare_ends(self.multipliers)
        finest = self.finest
        return 0.0 if finest is None or not needs_finest(self.weights, self.boundary) else compare_ends(finest.weights)

    @cached_property
    def form(self) -> str:
        """How the weights are spread over the bins, in a word.

        "signed": not a distribution (:attr:`~pe_spectra.spectrum.summary.SpectrumSummary.is_distribution`).
        "flat": per basis function the smallest weight is two thirds of the largest and more, also at the finest
        that the lattice shows; "blurred": only at this bandwidth. "crowded": the first ten bins hold a tenth of the
        weight and twice their even share at least, also at the finest; "smeared": only at this bandwidth. With fewer
        than twenty bins that says nothing, and the weights are "uneven", as all others are.

        >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
        >>> compute_spectrum(Dft(d=256)).form, compute_spectrum(Sinusoidal(d=256)).form
        ('flat', 'crowded')
        >>> compute_spectrum(Sinusoidal(d=256), bandwidth=1000).form
        'blurred'
        """
        if not self.summary.is_distribution:
            return "signed"
        if self.evenness >= LEAST_EVEN:
            return "flat"
        if self.estimator != "lattice" and compare_ends(self.weights) >= LEAST_EVEN:
            return "blurred"
        if not is_crowded(self.weights):
            return "uneven"
        return "crowded" if self.finest is None or is_crowded(self.finest.weights) else "smeared"
