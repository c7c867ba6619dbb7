"""Spectra of encodings at real positions: a periodogram that needs no lattice of positions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings import Encoding, HasContinuousTable
from pe_spectra.encodings.positions import as_times
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_DIRECT_WORK, MAX_HELD_ENTRIES, MAX_WIDTH
from pe_spectra.spectrum.density import BANDWIDTH, DEFAULT_BANDWIDTH, Spectrum

_BLOCK = 256
#: Median steps in all: beyond, float64 does not have the angles.
_LARGEST_SPAN = 1e12
#: exp(-x**2/2) at this x is below 1e-17: images farther away do not count.
_LAST_IMAGE = 8.9
#: Sums of Gaussians this many circles wide differ by less than rounding all around, so that wider ones are equal.
_WIDEST = 2.0


@np.errstate(under="ignore")
def compute_irregular_spectrum(
    encoding: Encoding, positions: ArrayLike, *, bandwidth: float = DEFAULT_BANDWIDTH
) -> Spectrum:
    """Return the smoothed periodogram of an encoding at real positions.

    P(omega) is the sum over columns of |sum_n e(t_n) exp(-i omega t_n)|**2, as in Lomb-Scargle without its
    correction for unequal sine and cosine power, smoothed with a Gaussian of `bandwidth` bins that is
    reflected at both ends, as often as it reaches them. The lattice has a point for each position:
    omega_k = 2 pi k/(N delta), k = 0 .. N // 2, with delta the median step.

    Parameters
    ----------
    encoding : one that takes real positions.
    positions : (N,) real, at least 2 different ones; sorted here.
    bandwidth : kernel width in bins.

    Raises
    ------
    InputError : an encoding of integer positions, too few positions, or too much work.
    UndefinedError : codes that are all zero.

    >>> from pe_spectra import Sinusoidal
    >>> spectrum = compute_irregular_spectrum(Sinusoidal(d=8), np.arange(0, 10, 0.25))
    >>> spectrum.estimator, spectrum.weights.shape
    ('nudft', (21,))
    """
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    if not isinstance(encoding, HasContinuousTable):
        raise InputError("this encoding takes no real positions", encoding.label, "--length gives it integers")
    times = np.unique(as_times(positions))
    n = len(times)
    if not 2 <= n <= MAX_WIDTH or n * encoding.d > MAX_HELD_ENTRIES or n * n * encoding.d > MAX_DIRECT_WORK:
        raise InputError("positions are too few or too many", f"{n} different ones", "2 to some thousands")
    delta = float(np.median(np.diff(times)))
    span = float(times[-1] - times[0])
    if not span / delta < _LARGEST_SPAN:
        raise InputError("positions are too uneven", f"{span:g} in all, median step {delta:g}", "steps alike in size")
    omega = np.arange(n // 2 + 1, dtype=np.float64) * (2 * np.pi / (n * delta))
    power = _transform(encoding.table_at(times), times - times[0], omega)
    smoothed = _smooth(power, n, b)
    total = float(np.sum(smoothed))
    if not total > 0:
        raise UndefinedError(f"{encoding.label}: all codes are zero, so there are no weights to normalise")
    weights = smoothed / total
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    note = f"{encoding.label}: smoothed periodogram at {n} real positions (no list of frequencies was used)"
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=b,
        boundary="reflect",
        estimator="nudft",
        omega=omega,
        weights=weights,
        log_weights=log_weights,
        log_multipliers=log_weights,
        notes=(note,),
        length=n,
    )


def _transform(table: F64, times: F64, omega: F64) -> F64:
    power = np.empty(len(omega))
    for start in range(0, len(omega), _BLOCK):
        angle = np.multiply.outer(omega[start : start + _BLOCK], times)
        power[start : start + _BLOCK] = np.sum((np.cos(angle) @ table) ** 2 + (np.sin(angle) @ table) ** 2, axis=1)
    return power


def _smooth(power: F64, grid: int, bandwidth: float) -> F64:
    """Convolve with a Gaussian of `bandwidth` bins, the axis reflected at 0 and at half the lattice."""
    circle = np.concatenate([power, power[grid - len(power) : 0 : -1]])
    turn = len(circle)
    width = min(bandwidth, _WIDEST * turn)
    # the axis reflected again and again: a Gaussian that goes around the circle meets itself
    reach = math.ceil(_LAST_IMAGE * width / turn)
    images = turn * np.arange(-reach - 1, reach + 1)
    kernel = np.sum(np.exp(-0.5 * (np.add.outer(images, np.arange(turn)) / width) ** 2), axis=0)
    smoothed: F64 = np.fft.irfft(np.fft.rfft(circle) * np.fft.rfft(kernel), len(circle))[: len(power)]
    # a sum of positive terms: what the transforms left below zero is rounding
    return np.maximum(smoothed, 0.0)
