"""The spectrum of an encoding as a record: frequencies, weights, and how they were estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pe_spectra.encodings import Encoding, Frequencies, HasFrequencies
from pe_spectra.exact import F64
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.spectrum.lattice import compute_dft_weights
from pe_spectra.spectrum.summary import LOW_BINS, SpectrumSummary, summarise
from pe_spectra.vocabulary import AXES, BOUNDARIES, ESTIMATORS, KERNEL_SOURCES

#: The share of the axis above an encoding's largest frequency from which on that is worth a word.
EMPTY_BAND = 0.05
#: A window that spans more than half of the lattice, at a bandwidth below this, adds lags up: none is seen alone.
_LEAST_UNFOLDED = 8.9 / np.pi


def _is_windowed(spectrum: Spectrum) -> bool:
    return spectrum.estimator == "lag-window"


def _has_heads(spectrum: Spectrum) -> bool:
    return spectrum.head_weights is not None


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
        """The encoding, and on a grid the direction."""
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
        "Length N of the DFT lattice: unless asked otherwise d for ladders, the number of positions for what has no "
        "list of frequencies (at least 2), the side of a grid.",
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
        """The bins, 0 .. K - 1."""
        return range(len(self.omega))

    omega: F64 = quantity(
        "DFT frequencies 2 pi k/N for k = 0 .. N // 2; at real positions 2 pi k/(N step), where N is their number and "
        "step the median one: with steps below 1 they exceed pi.",
        unit="rad/position",
        minimum=0,
        least=2,
    )
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
        """Weights of the DFT encoding, shape (N // 2 + 1,); None at real positions, which have no lattice."""
        return None if self.estimator == "nudft" else compute_dft_weights(self.grid)

    #: Logarithm of what Algorithm 1 multiplies the coefficients at omega_k with.
    log_multipliers: F64

    @derived("One-number summaries of the weights.", column=None)
    def summary(self) -> SpectrumSummary:
        """One-number summaries of the weights."""
        highest = None if self.frequencies is None else float(self.frequencies.values.max())
        return summarise(self.omega, self.weights, self.log_weights, highest)

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
    #: The list of frequencies that was counted, where one was.
    counted: Frequencies | None = None
    #: What a reader must know about these numbers.
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.omega, self.weights, self.log_weights, self.log_multipliers, self.head_weights):
            if array is not None:
                array.flags.writeable = False

    @property
    def multipliers(self) -> F64:
        """What Algorithm 1 multiplies the coefficients at omega_k with, shape (N // 2 + 1,)."""
        return np.exp(self.log_multipliers) if self.estimator == "lattice" else self.weights

    @cached_property
    def frequencies(self) -> Frequencies | None:
        """The encoding's list of frequencies, where the weights were found from it."""
        if self.counted is not None:
            return self.counted
        if self.estimator in ("kde", "lattice") and isinstance(self.encoding, HasFrequencies):
            return self.encoding.frequencies()
        return None

    @cached_property
    def form(self) -> str:
        """How the weights are spread over the bins, in a word: "signed", "flat", "blurred", "crowded" or "uneven".

        Signed: not a distribution (:attr:`~pe_spectra.spectrum.summary.SpectrumSummary.is_distribution`).
        Flat: more than 95 % of the bins are effective (entropy). Blurred: flat by the kernel alone, for it
        covers a twentieth of the axis and more where the encoding has no frequency, or a quarter of the bins
        by a lag window. Crowded: the first ten bins hold a tenth of the weight and twice their even share at
        least; with fewer than twenty bins that says nothing.

        >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
        >>> compute_spectrum(Dft(d=256)).form, compute_spectrum(Sinusoidal(d=256)).form
        ('flat', 'crowded')
        >>> compute_spectrum(Sinusoidal(d=256), bandwidth=1000).form
        'blurred'
        """
        bins = len(self.omega)
        if not self.summary.is_distribution:
            return "signed"
        if self.summary.effective_bins_entropy > 0.95 * bins:
            wide = self.estimator == "lag-window" and (self.bandwidth or 0.0) >= bins / 4
            empty = (self.summary.empty_upper_band or 0.0) >= EMPTY_BAND
            return "blurred" if self.bandwidth is not None and (wide or empty) else "flat"
        even = LOW_BINS / bins
        crowded = bins >= 2 * LOW_BINS and self.summary.low_bin_mass >= max(0.1, 2 * even)
        return "crowded" if crowded else "uneven"


def explain_signs(spectrum: Spectrum) -> str:
    """Say of "signed" weights why they are not a distribution, in a sentence without its full stop.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> explain_signs(compute_spectrum(table, bandwidth=0.25)).partition(":")[0]  # four lags are too few
    'Not a distribution (negative weights sum to -0.19)'
    """
    curve = np.fft.irfft(spectrum.weights, spectrum.grid)
    lag = int(np.argmax(curve[: len(spectrum.omega)]))
    if lag and (spectrum.bandwidth or 0.0) >= _LEAST_UNFOLDED:
        why = f"the similarity is larger at lag {lag} than at lag 0"
    else:
        why = "the similarity, as far as its lags are known, is not one of frequencies"
    negative = f"negative weights sum to -{spectrum.summary.negative_mass:.3g}"
    return f"Not a distribution ({negative}): {why}; shares and a mean frequency mean nothing"
