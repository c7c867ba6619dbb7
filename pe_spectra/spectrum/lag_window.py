"""The Blackman-Tukey spectrum of an encoding's own dot-product kernel.

Eq. (15) with its kernel reflected at 0 and pi is this spectrum exactly: averaging Gaussians around
frequencies and damping the lags of k(tau) = sum cos(w tau) with a Gaussian are one operation, seen
from either side of the Fourier transform.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.encodings import Encoding, HasKernel
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_LAGS
from pe_spectra.spectrum.density import BANDWIDTH, DEFAULT_BANDWIDTH, Spectrum, check_grid, compute_omega

#: exp(-x**2/2) at this x is below 1e-17: lags beyond do not count.
_LAST_LAG = 8.9


@np.errstate(under="ignore")
def compute_lag_window_spectrum(
    encoding: Encoding, *, grid: int | None = None, bandwidth: float = DEFAULT_BANDWIDTH
) -> Spectrum:
    """Return the lag-window (Blackman-Tukey) spectrum of an encoding's kernel.

    g_k is proportional to the sum over all integer lags of exp(-sigma**2 tau**2 / 2) k(tau) cos(omega_k tau),
    with sigma = bandwidth x 2 pi/N. It equals Eq. (15) with reflection, to rounding; unlike that one
    it loses the far tail in its rounding, may come out negative there, and is reported unclipped
    (`log_weights` is then nan; `summary.negative_mass` says how much).

    Parameters
    ----------
    encoding : an encoding with a kernel of the lag.
    grid : lattice length N; default the encoding's own.
    bandwidth : kernel width in bins.

    Raises
    ------
    InputError : a parameter out of range, or an encoding whose similarity is not a function of the lag.

    >>> from pe_spectra import Sinusoidal
    >>> float(round(compute_lag_window_spectrum(Sinusoidal(d=64)).weights.sum(), 12))
    1.0
    """
    n = check_grid(encoding, grid)
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    if not isinstance(encoding, HasKernel):
        raise InputError("this encoding has no kernel of the lag", encoding.label, "sinusoidal, dft")
    windowed = compute_windowed_kernel(encoding, n, b)
    values = np.fft.rfft(windowed).real
    weights = values / np.sum(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_weights = np.log(weights)
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=b,
        boundary="reflect",
        estimator="lag-window",
        omega=compute_omega(n),
        weights=weights,
        log_weights=log_weights,
        log_multipliers=log_weights,
    )


def compute_windowed_kernel(encoding: HasKernel, grid: int, bandwidth: float) -> F64:
    """Return k(tau) times the lag window, summed over shifts of tau by the lattice length; shape (N,).

    Up to scale it is the impulse response of Algorithm 1 with reflection.

    Raises
    ------
    InputError : a bandwidth so small that more than 2**24 lags count.
    """
    sigma = bandwidth * 2 * math.pi / grid
    count = math.ceil(_LAST_LAG / sigma)
    if count > MAX_LAGS:
        raise InputError("bandwidth is too small for a lag window", f"{count} lags", f"at most {MAX_LAGS} lags")
    lags = np.arange(1, count + 1)
    damped = np.exp(-0.5 * (sigma * lags) ** 2) * encoding.kernel(lags)[0]
    folded: F64 = np.zeros(grid)
    for side in (lags, -lags):
        folded += np.bincount(np.mod(side, grid), damped, grid)
    folded[0] += encoding.kernel([0])[0, 0]
    return folded


def compute_bare_kernel(encoding: Encoding, count: int) -> F64 | None:
    """Return k(tau)/k(0) for tau = 0 .. count-1 without any window; None without a kernel of the lag."""
    if not isinstance(encoding, HasKernel):
        return None
    kernel = encoding.kernel(np.arange(count))[0]
    normalised: F64 = kernel / kernel[0]
    return normalised
