"""The frequency weights of an encoding that has a list of frequencies: Eq. (15)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import cast

import numpy as np

from pe_spectra.encodings import Encoding, Frequencies, HasFrequencies
from pe_spectra.encodings.pairs import OnLattice
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, TWO_PI, divide_into_words, two_product, two_sum
from pe_spectra.fourier import GRID, compute_omega
from pe_spectra.limits import MAX_BANDWIDTH, MIN_BANDWIDTH
from pe_spectra.numbers import Choice, RealRange
from pe_spectra.spectrum.evenness import FINEST, Finest
from pe_spectra.spectrum.gaussian_pairs import LogSum, is_direct, sum_stacked_gaussians
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import BOUNDARIES

BANDWIDTH = RealRange(minimum=MIN_BANDWIDTH, maximum=MAX_BANDWIDTH)
BOUNDARY = Choice(members=BOUNDARIES)
DEFAULT_BANDWIDTH = 4.0
#: Kernels wider than this share of the circle are summed as their own Fourier series.
_WIDE = 0.5
#: A frequency of more bandwidths than this is a pair of doubles: its rounding would change ln g by more than 1e-13.
_LOW_WORDS = 256.0
_CHUNK = 1 << 14
#: Encodings whose kernels are summed at a time.
_SETS = 256


def compute_density_spectrum(
    encoding: Encoding,
    *,
    grid: int | None = None,
    bandwidth: float = DEFAULT_BANDWIDTH,
    boundary: str = "none",
    always_blur: bool = False,
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
    always_blur : whether the kernel enters also where the frequencies are those of the lattice.

    Raises
    ------
    InputError : a parameter out of range, or an encoding without frequencies.

    >>> from pe_spectra import Sinusoidal
    >>> spectrum = compute_density_spectrum(Sinusoidal(d=256))
    >>> spectrum.weights.shape, spectrum.summary.peak_bin
    ((129,), 1)
    """
    (found,) = compute_density_spectra(
        [encoding], grid=grid, bandwidth=bandwidth, boundary=boundary, always_blur=always_blur
    )
    return found


@np.errstate(under="ignore")  # a weight that underflows is 0 by design, and its logarithm is kept
def compute_density_spectra(
    encodings: Sequence[Encoding],
    *,
    grid: int | None = None,
    bandwidth: float = DEFAULT_BANDWIDTH,
    boundary: str = "none",
    always_blur: bool = False,
) -> list[Spectrum]:
    """Return the frequency weights of several encodings, each as :func:`compute_density_spectrum` does.

    Those of as many frequencies on one lattice are summed together, which takes less time.

    >>> from pe_spectra import Sinusoidal
    >>> [one.summary.peak_bin for one in compute_density_spectra([Sinusoidal(d=64), Sinusoidal(d=64, rho=2.0)])]
    [1, 7]
    """
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    BOUNDARY.check(boundary, "boundary")
    found: dict[int, Spectrum] = {}
    together: dict[tuple[int, int], dict[int, Frequencies]] = {}
    for place, encoding in enumerate(encodings):
        n = check_grid(encoding, grid)
        if isinstance(encoding, OnLattice) and n == encoding.default_grid and not always_blur:
            found[place] = _spectrum_on_lattice(encoding, n)
        # by its class: to ask an encoding takes Python 3.11 as long as a twentieth of its spectrum
        elif issubclass(type(encoding), HasFrequencies):
            frequencies = cast("HasFrequencies", encoding).frequencies()
            together.setdefault((n, len(frequencies.values)), {})[place] = frequencies
        else:
            raise InputError("this encoding has no list of frequencies", encoding.label, "its kernel has a spectrum")
    for (n, _), members in together.items():
        weighed = _weigh_together(list(members.values()), n, b, boundary)
        for (place, frequencies), (weights, logs) in zip(members.items(), weighed, strict=True):
            found[place] = _describe(encodings[place], frequencies, weights, logs, n, b, boundary)
    return [found[place] for place in range(len(encodings))]


def check_grid(encoding: Encoding, grid: int | None, length: int | None = None) -> int:
    """Return the lattice length: `grid`, or the encoding's own; without a list of frequencies, `length`.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> check_grid(Sinusoidal(d=64), None), check_grid(read_encoding("alibi"), None, 80)
    (64, 80)
    """
    if grid is not None:
        return GRID.check(grid, "grid")
    return encoding.default_grid if length is None or isinstance(encoding, HasFrequencies) else max(2, length)


def normalise(values: F64, encoding: Encoding) -> tuple[F64, F64]:
    """Return weights that sum to 1 and their logarithms, nan of negative ones.

    Raises
    ------
    UndefinedError : values whose sum is not positive.

    >>> from pe_spectra import Dft
    >>> normalise(np.array([1.0, 3.0]), Dft(d=4))[0]
    array([0.25, 0.75])
    """
    if not np.any(values):
        raise UndefinedError(f"{encoding.label}: all vectors are zero, so there are no weights to normalise")
    total = float(np.sum(values))
    if not total > 0:
        raise UndefinedError(f"{encoding.label}: weights have no positive sum; a larger bandwidth smooths more")
    weights = values / total
    with np.errstate(invalid="ignore", divide="ignore"):
        return weights, np.log(weights)


def _spectrum_on_lattice(encoding: OnLattice, n: int) -> Spectrum:
    masses = encoding.lattice_masses()
    weights, log_weights = normalise(masses, encoding)
    notes = [f"{encoding.name}: its frequencies are those of the lattice, so weights are exact and no bandwidth enters"]
    empty = np.flatnonzero(masses == 0)
    if len(empty):
        notes.append(f"{encoding.name}: no column has frequency k = {empty[0]}, so weight 0 and log_weights null")
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=None,
        boundary="none",
        estimator="lattice",
        omega=compute_omega(n),
        weights=weights,
        log_weights=log_weights,
        frequencies=encoding.frequencies(),
        notes=tuple(notes),
    )


def _weigh_together(
    frequencies: Sequence[Frequencies], n: int, bandwidth: float, boundary: str
) -> Iterator[tuple[F64, F64]]:
    """The weights of several encodings of as many frequencies, and their logarithms."""
    count = n // 2 + 1
    if boundary != "none" or not is_direct(len(frequencies[0].values), count):
        yield from (_divide_by_sum(sum_kernels(one, n, bandwidth, boundary)) for one in frequencies)
        return
    for start in range(0, len(frequencies), _SETS):
        part = frequencies[start : start + _SETS]
        values, low, masses = np.array([(one.values, one.low, one.masses) for one in part]).swapaxes(0, 1)
        sums = sum_stacked_gaussians(*_scale(values, low, n), masses, bandwidth, count)
        yield from zip(*_divide_by_sum(sums), strict=True)


def sum_kernels(frequencies: Frequencies, n: int, bandwidth: float, boundary: str) -> LogSum:
    """Sum the kernels of all frequencies at the n // 2 + 1 points of the lattice, before Eq. (15) divides by their sum.

    >>> from pe_spectra import Dft
    >>> sums = sum_kernels(Dft(d=8).frequencies(), 8, 4.0, "none")
    >>> (np.exp(sums.exponent) * sums.factor).round(2).tolist()
    [3.41, 3.71, 3.82, 3.71, 3.41]
    """
    # ascending already where the frequencies are a ladder, so that nothing is copied to sort it
    step = -1 if frequencies.values[0] > frequencies.values[-1] else 1
    values, low = frequencies.values[::step], frequencies.low[::step]
    masses, count = frequencies.masses[::step], n // 2 + 1
    is_long = not is_direct(len(values), count)
    u, u_low = _scale_many(values, low, n, bandwidth) if is_long else _scale(values, low, n)
    if boundary == "reflect":
        if bandwidth > _WIDE * n:
            return _sum_fourier_series(u, u_low, masses, n, bandwidth)
        u, u_low, masses = _add_images(u, u_low, masses, n, bandwidth)
    from pe_spectra.spectrum.gaussian_sums import sum_gaussians

    return sum_gaussians(u, u_low, masses, bandwidth, count)


def _scale_many(values: F64, low: F64, n: int, bandwidth: float) -> tuple[F64, F64]:
    """Return frequencies in bins as pairs; low words are 0 where a sum over very many pairs cannot show them."""
    u = values * divide_into_words(Decimal(n), TWO_PI)[0]
    u_low, is_high = np.zeros_like(u), u > _LOW_WORDS * bandwidth
    first = int(is_high.argmax())
    for start in range(first if is_high[first] else len(u), len(u), _CHUNK):
        part = slice(start, start + _CHUNK)
        u_low[part] = _scale(values[part], low[part], n)[1]
    return u, u_low


def _scale(values: F64, low: F64, n: int) -> tuple[F64, F64]:
    """Return frequencies in bins as pairs, right to 2**-104 of themselves: many turns may be folded away later."""
    scale, scale_low = divide_into_words(Decimal(n), TWO_PI)
    product, error = two_product(values, np.float64(scale))
    error += values * scale_low + low * scale
    return product, error


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


def _describe(
    encoding: Encoding,
    frequencies: Frequencies,
    weights: F64,
    log_weights: F64,
    n: int,
    bandwidth: float,
    boundary: str,
) -> Spectrum:
    finest = Finest(bandwidth=FINEST, find=partial(_weigh_finest, frequencies, n))
    lost = len(weights) - int(np.count_nonzero(weights))
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
        finest=finest,
        frequencies=frequencies,
        notes=notes,
    )


def _weigh_finest(frequencies: Frequencies, n: int) -> F64:
    return _divide_by_sum(sum_kernels(frequencies, n, FINEST, "reflect"))[0]


def _divide_by_sum(sums: LogSum) -> tuple[F64, F64]:
    """Return G_k / R and its logarithm, R the sum of all G_k, in the shape of the sums."""
    logs = np.log(sums.factor)
    logs += sums.exponent
    if sums.exponent_low is None:
        top = sums.exponent[np.argmax(logs)]
        weights, total = sums.normalise(top)
        logs -= top + math.log(total)
        return weights, logs
    highest = logs.argmax(axis=-1)
    where = highest if logs.ndim == 1 else (np.arange(len(logs)), highest)
    exponent, low = two_sum(sums.exponent, -sums.exponent[where][..., None])
    low += sums.exponent_low - sums.exponent_low[where][..., None]
    scaled = np.exp(exponent)
    values = sums.factor * (scaled + scaled * low)
    total = values.sum(axis=-1, keepdims=True)
    return values / total, exponent + (low + np.log(sums.factor / total))
