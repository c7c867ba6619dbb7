"""The frequency weights of an encoding: Eq. (15), and Eq. (22) for encodings on the lattice itself."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from pe_spectra.encodings import Encoding, Frequencies, HasFrequencies, HasLatticeMasses
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, TWO_PI, to_words, two_product, two_sum
from pe_spectra.fourier import count_basis_functions
from pe_spectra.limits import MAX_BANDWIDTH, MAX_WIDTH, MIN_BANDWIDTH, MIN_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.spectrum.gaussian_sums import LogSum, is_direct, sum_gaussians
from pe_spectra.spectrum.summary import SpectrumSummary, summarise

GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)
BANDWIDTH = RealRange(minimum=MIN_BANDWIDTH, maximum=MAX_BANDWIDTH)
BOUNDARY = Choice(members=("none", "reflect"))
DEFAULT_BANDWIDTH = 4.0
#: Kernels wider than this share of the circle are summed as their own Fourier series.
_WIDE = 0.5
#: A frequency of more bandwidths than this is a pair of doubles: its rounding would change ln g by more than 1e-13.
_LOW_WORDS = 512.0
_CHUNK = 1 << 13


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The share of an encoding's frequencies at each DFT frequency.

    Attributes
    ----------
    encoding : what was analysed.
    grid : lattice length N; all arrays have N // 2 + 1 entries.
    bandwidth : kernel width in bins; None where no kernel enters (`estimator` "lattice").
    boundary : "none" as in the paper, or "reflect": the kernel reflected at 0 and pi.
    estimator : "kde" (Eq. 15), "lattice" (exact masses, Eq. 22), "lag-window" or "nudft".
    omega : DFT frequencies 2 pi k/N, rad/position.
    weights : g_k, sums to 1. A weight below the smallest double is 0; of a lag window it may be negative.
    log_weights : ln g_k, finite where `weights` underflows; -inf only where g_k is truly 0, nan where it is negative.
    log_multipliers : logarithm of what Algorithm 1 multiplies the coefficients at omega_k with.
    notes : what a reader must know about these numbers.
    axis : on a grid the direction of the lags, "vertical" or "horizontal"; None on a line.
    kernel_source : of a lag window: where its kernel comes from (:mod:`pe_spectra.spectrum.kernels`).
    length : positions that the kernel was averaged over; None where nothing was averaged.
    toeplitz_share : how much of the Gram matrix's energy is a function of the lag alone, 0 to 1.
    head_weights : (heads, N // 2 + 1) of an encoding with several heads, whose median `weights` is.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> spectrum = compute_spectrum(Dft(d=8))
    >>> spectrum.weights.tolist(), spectrum.estimator
    ([0.125, 0.25, 0.25, 0.25, 0.125], 'lattice')
    """

    encoding: Encoding
    grid: int
    bandwidth: float | None
    boundary: str
    estimator: str
    omega: F64
    weights: F64
    log_weights: F64
    log_multipliers: F64
    notes: tuple[str, ...] = ()
    axis: str | None = None
    kernel_source: str | None = None
    length: int | None = None
    toeplitz_share: float | None = None
    head_weights: F64 | None = None

    def __post_init__(self) -> None:
        for array in (self.omega, self.weights, self.log_weights, self.log_multipliers, self.head_weights):
            if array is not None:
                array.flags.writeable = False

    @property
    def multipliers(self) -> F64:
        """What Algorithm 1 multiplies the coefficients at omega_k with, shape (N // 2 + 1,)."""
        return np.exp(self.log_multipliers) if self.estimator == "lattice" else self.weights

    @cached_property
    def summary(self) -> SpectrumSummary:
        """One-number summaries of the weights."""
        highest = None
        if self.estimator in ("kde", "lattice") and isinstance(self.encoding, HasFrequencies):
            highest = float(self.encoding.frequencies().values.max())
        return summarise(self.omega, self.weights, self.log_weights, highest)


@np.errstate(under="ignore")  # a weight that underflows is 0 by design, and its logarithm is kept
def compute_density_spectrum(
    encoding: Encoding, *, grid: int | None = None, bandwidth: float = DEFAULT_BANDWIDTH, boundary: str = "none"
) -> Spectrum:
    """Return the frequency weights of an encoding on the DFT lattice.

    Implements Eq. (15): a Gaussian kernel density of the encoding's frequencies, sampled at the DFT
    frequencies and normalised over them. An encoding whose frequencies are those of the lattice
    itself needs no kernel: it shows its exact masses, Eq. (22).

    Parameters
    ----------
    encoding : an encoding with frequencies.
    grid : lattice length N, 2 to 1048576; default the encoding's own (d).
    bandwidth : kernel width in bins (sigma = bandwidth x 2 pi/N), 1e-6 to 1e6.
    boundary : "none", as printed, or "reflect".

    Raises
    ------
    InputError : a parameter out of range, or an encoding without frequencies.

    >>> from pe_spectra import Sinusoidal
    >>> spectrum = compute_density_spectrum(Sinusoidal(d=256))
    >>> spectrum.weights.shape, spectrum.summary.peak_bin
    ((129,), 1)
    """
    n = check_grid(encoding, grid)
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    BOUNDARY.check(boundary, "boundary")
    if not isinstance(encoding, HasFrequencies):
        raise InputError("this encoding has no list of frequencies", encoding.label, "its kernel has a spectrum")
    if isinstance(encoding, HasLatticeMasses) and n == encoding.default_grid:
        return _spectrum_on_lattice(encoding, encoding.lattice_masses(), n)
    return _normalise(encoding, n, b, boundary, _sum_kernels(encoding.frequencies(), n, b, boundary))


def compute_dft_weights(grid: int) -> F64:
    """Return the weights of the DFT encoding on its own lattice, shape (grid // 2 + 1,).

    Implements Eq. (22), first form: 1/d at both ends, 2/d between. It is the mass at each
    frequency and sums to 1; the second form printed in the paper does not.

    >>> compute_dft_weights(4)
    array([0.25, 0.5 , 0.25])
    """
    return count_basis_functions(GRID.check(grid, "grid")) / grid


def compute_omega(grid: int) -> F64:
    """Return the DFT frequencies 2 pi k/N, k = 0 .. N // 2, in rad/position.

    >>> (compute_omega(4) / np.pi).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.arange(grid // 2 + 1, dtype=np.float64) * (2 * np.pi / grid)


def check_grid(encoding: Encoding, grid: int | None, length: int | None = None) -> int:
    """Return the lattice length: `grid`, or the encoding's own; without a list of frequencies, `length`.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> check_grid(Sinusoidal(d=64), None), check_grid(read_encoding("alibi"), None, 80)
    (64, 80)
    """
    if grid is not None:
        return GRID.check(grid, "grid")
    return encoding.default_grid if length is None or isinstance(encoding, HasFrequencies) else max(2, length)


def _spectrum_on_lattice(encoding: Encoding, masses: F64, n: int) -> Spectrum:
    total = masses.sum()
    with np.errstate(divide="ignore"):
        log_weights = np.log(masses / total)
        # mass per basis function: the density, which is what Algorithm 1 must not distort
        log_multipliers = np.log(masses / count_basis_functions(n) / total)
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=None,
        boundary="none",
        estimator="lattice",
        omega=compute_omega(n),
        weights=masses / total,
        log_weights=log_weights,
        log_multipliers=log_multipliers,
        notes=_explain_lattice(encoding, masses),
    )


def _explain_lattice(encoding: Encoding, masses: F64) -> tuple[str, ...]:
    notes = [f"{encoding.name}: its frequencies are those of the lattice, so weights are exact and no bandwidth enters"]
    empty = np.flatnonzero(masses == 0)
    if len(empty):
        notes.append(f"{encoding.name}: no column has frequency k = {empty[0]}, so weight 0 and log_weights null")
    return tuple(notes)


def _sum_kernels(frequencies: Frequencies, n: int, bandwidth: float, boundary: str) -> LogSum:
    # ascending already where the frequencies are a ladder, so that nothing is copied to sort it
    step = -1 if frequencies.values[0] > frequencies.values[-1] else 1
    u, u_low = _to_bins(frequencies.values[::step], frequencies.low[::step], n, bandwidth)
    masses, count = frequencies.masses[::step], n // 2 + 1
    if boundary == "reflect":
        if bandwidth > _WIDE * n:
            return _sum_fourier_series(u, u_low, masses, n, bandwidth)
        u, u_low, masses = _add_images(u, u_low, masses, n, bandwidth)
    return sum_gaussians(u, u_low, masses, bandwidth, count)


def _to_bins(values: F64, low: F64, n: int, bandwidth: float) -> tuple[F64, F64]:
    """Return frequencies in bins as pairs; low words are 0 where a sum over very many pairs cannot show them."""
    scale, scale_low = to_words(CONTEXT.divide(Decimal(n), TWO_PI), 2)
    if is_direct(len(values), n // 2 + 1):
        return _scale(values, low, scale, scale_low)
    u = values * scale
    u_low = np.zeros_like(u)
    large = np.flatnonzero(u > _LOW_WORDS * bandwidth)
    for start in range(0, len(large), _CHUNK):
        part = large[start : start + _CHUNK]
        u[part], u_low[part] = _scale(values[part], low[part], scale, scale_low)
    return u, u_low


def _scale(values: F64, low: F64, scale: float, scale_low: float) -> tuple[F64, F64]:
    product, error = two_product(values, np.full_like(values, scale))
    return two_sum(product, error + (values * scale_low + low * scale))


def _add_images(u: F64, u_low: F64, masses: F64, n: int, bandwidth: float) -> tuple[F64, F64, F64]:
    """Reflect the sources at 0 and pi, repeatedly, as far as the kernel reaches."""
    reach = np.sqrt(0.25 * n * n + 74.0 * bandwidth * bandwidth)
    folded: F64 = np.fmod(u, n)  # exact
    turns = 1 + int(np.ceil(reach / n))
    periods = np.arange(-turns, turns + 1, dtype=np.float64) * n
    parts = []
    for sign in (1.0, -1.0):
        moved, error = two_sum(np.broadcast_to(sign * folded, (len(periods), len(u))), periods[:, None])
        moved, error = two_sum(moved, error + sign * u_low)
        parts.append((moved.ravel(), error.ravel()))
    images, low = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    kept = (images >= -reach) & (images <= n / 2 + reach)
    return images[kept], low[kept], np.tile(masses, 2 * len(periods))[kept]


def _sum_fourier_series(u: F64, u_low: F64, masses: F64, n: int, bandwidth: float) -> LogSum:
    # Poisson summation: a kernel wider than the circle is nearly its mean, and four lags are enough.
    k = np.arange(n // 2 + 1)
    total = np.full(len(k), masses.sum())
    for lag in range(1, 5):
        damping = np.exp(-2 * (np.pi * bandwidth * lag / n) ** 2)
        angle = 2 * np.pi * lag * (np.fmod(u, n) + u_low) / n
        total += 2 * damping * np.sum(masses * np.cos(angle)) * np.cos(2 * np.pi * np.mod(lag * k, n) / n)
    return LogSum(exponent=np.zeros(len(k)), exponent_low=None, factor=total)


def _normalise(encoding: Encoding, n: int, bandwidth: float, boundary: str, sums: LogSum) -> Spectrum:
    weights, log_weights = _divide_by_sum(sums)
    lost = int(np.count_nonzero(weights == 0.0))
    notes = (f"{lost} weights are below the smallest double and stand as 0; log_weights has them",) if lost else ()
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=bandwidth,
        boundary=boundary,
        estimator="kde",
        omega=compute_omega(n),
        weights=weights,
        log_weights=log_weights,
        log_multipliers=log_weights,
        notes=notes,
    )


def _divide_by_sum(sums: LogSum) -> tuple[F64, F64]:
    """Return G_k / R and its logarithm, R the sum of all G_k."""
    logs = np.log(sums.factor)
    logs += sums.exponent
    top = int(np.argmax(logs))
    if sums.exponent_low is None:
        weights = np.exp(sums.exponent - sums.exponent[top])
        weights *= sums.factor
        total = np.sum(weights)
        weights *= 1 / total
        logs -= sums.exponent[top] + np.log(total)
        return weights, logs
    exponent, low = two_sum(sums.exponent, np.full_like(logs, -sums.exponent[top]))
    low = low + (sums.exponent_low - sums.exponent_low[top])
    scaled = np.exp(exponent)
    values = sums.factor * (scaled + scaled * low)
    total = np.sum(values)
    return values / total, exponent + (low + np.log(sums.factor / total))
