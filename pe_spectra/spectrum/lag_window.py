"""The Blackman-Tukey spectrum of an encoding's own dot-product kernel.

Eq. (15) with its kernel reflected at 0 and pi is this spectrum exactly: averaging Gaussians around
frequencies and damping the lags of k(tau) = sum cos(w tau) with a Gaussian are one operation, seen
from either side of the Fourier transform. So it is defined for anything that has a kernel: a table,
a bias, a formula.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_LAGS
from pe_spectra.numbers import Choice
from pe_spectra.spectrum.density import BANDWIDTH, DEFAULT_BANDWIDTH, check_grid
from pe_spectra.spectrum.kernels import SOURCES, Kernel, check_length, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.lattice import GRID, compute_omega
from pe_spectra.spectrum.record import Spectrum

#: exp(-x**2/2) at this x is below 1e-17: lags beyond do not count.
_LAST_LAG = 8.9
AXES = ("vertical", "horizontal")
_AXIS = Choice(members=AXES)


def compute_lag_window_spectrum(
    encoding: Encoding,
    *,
    grid: int | None = None,
    bandwidth: float = DEFAULT_BANDWIDTH,
    length: int | None = None,
    axis: str | None = None,
    kernel: Kernel | None = None,
) -> Spectrum:
    """Return the lag-window (Blackman-Tukey) spectrum of an encoding's kernel.

    g_k is proportional to the sum over all integer lags of exp(-sigma**2 tau**2 / 2) k(tau) cos(omega_k tau),
    with sigma = bandwidth x 2 pi/N. For a list of frequencies it equals Eq. (15) with reflection, to rounding;
    unlike that one it loses the far tail in its rounding, may come out negative there (and where there are
    fewer lags than the window spans), and is reported unclipped (`log_weights` is then nan;
    `summary.negative_mass` says how much).

    Parameters
    ----------
    encoding : an encoding with a kernel, a bias, rows for lags, or a table.
    grid : lattice length N; default the encoding's own, or the number of positions.
    bandwidth : kernel width in bins.
    length : number of positions to average over, where the kernel is not a formula.
    axis : on a grid the direction of the lags, "vertical" or "horizontal" (default).
    kernel : the encoding's own at all lags that these positions have, where it was estimated already.

    Raises
    ------
    InputError : a parameter out of range, or an encoding without any of these.
    UndefinedError : a kernel that is zero.

    >>> from pe_spectra import Sinusoidal
    >>> float(round(compute_lag_window_spectrum(Sinusoidal(d=64)).weights.sum(), 12))
    1.0
    """
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    if encoding.shape is not None:
        direction = AXES[1] if axis is None else _AXIS.check(axis, "axis")
        line = _slice(estimate_grid_kernel(encoding) if kernel is None else kernel, direction)
        n = GRID.check(max(2, line.values.shape[1]) if grid is None else grid, "grid")
        return _transform(encoding, line, n, b, direction)
    if axis is not None:
        raise InputError("axis has no meaning for an encoding on a line", axis, "leave it out")
    size = check_length(encoding, length)
    n = check_grid(encoding, grid, size)
    lags = _count_lags(n, b) + 1
    return _transform(encoding, kernel or estimate_kernel(encoding, length=size, count=lags), n, b, None)


def _slice(kernel: Kernel, axis: str) -> Kernel:
    """The kernel of a grid along one of its axes: its spectrum is the sum of the plane's over the other axis."""
    height, width = kernel.values.shape[1] // 2, kernel.values.shape[2] // 2
    line = kernel.values[:, height, width:] if axis == AXES[1] else kernel.values[:, height:, width]
    return Kernel(values=line.copy(), source=kernel.source, length=kernel.length, toeplitz_share=kernel.toeplitz_share)


@np.errstate(under="ignore")
def _transform(encoding: Encoding, kernel: Kernel, n: int, b: float, axis: str | None) -> Spectrum:
    needed, held = _count_lags(n, b), kernel.values.shape[1] - 1
    by_head = np.stack([_normalise(np.fft.rfft(fold_window(one, n, b)).real, encoding) for one in kernel.values])
    weights = by_head[0] if len(by_head) == 1 else _normalise(np.median(by_head, axis=0), encoding)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_weights = np.log(weights)
    notes: tuple[str, ...] = () if kernel.source == "exact" else (f"{encoding.label}: {SOURCES[kernel.source]}",)
    if len(by_head) > 1:
        notes += (f"{encoding.label}: the median over {len(by_head)} heads (head_weights has each)",)
    if held < needed and weights.min() < -1e-12:
        few = f"{held} lags are fewer than the {needed} that the window spans, so some weights are negative"
        notes += (f"{encoding.label}: {few}; a larger --bandwidth spans fewer",)
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
        notes=notes,
        axis=axis,
        kernel_source=kernel.source,
        length=kernel.length,
        toeplitz_share=kernel.toeplitz_share,
        head_weights=by_head if len(by_head) > 1 else None,
    )


def _normalise(values: F64, encoding: Encoding) -> F64:
    total = float(np.sum(values))
    if not np.any(values):
        raise UndefinedError(f"{encoding.label}: all codes are zero, so there are no weights to normalise")
    if not total > 0:
        raise UndefinedError(f"{encoding.label}: weights have no positive sum; a larger bandwidth smooths more")
    weights: F64 = values / total
    return weights


def _count_lags(grid: int, bandwidth: float) -> int:
    """Lags that the window spans.

    Raises
    ------
    InputError : a bandwidth so small that more than 2**24 lags count.
    """
    count = math.ceil(_LAST_LAG / (bandwidth * 2 * math.pi / grid))
    if count > MAX_LAGS:
        raise InputError("bandwidth is too small for a lag window", f"{count} lags", f"at most {MAX_LAGS} lags")
    return count


def fold_window(kernel: F64, grid: int, bandwidth: float) -> F64:
    """Return k(tau) times the lag window, summed over shifts of tau by the lattice length; shape (N,).

    Up to scale it is the impulse response of Algorithm 1 with reflection.

    Parameters
    ----------
    kernel : (L,) at lags 0 .. L-1; lags beyond count as 0.

    >>> fold_window(np.ones(1), 4, 4.0)  # a kernel that is 0 beyond lag 0
    array([1., 0., 0., 0.])
    """
    sigma = bandwidth * 2 * math.pi / grid
    lags = np.arange(1, min(len(kernel), _count_lags(grid, bandwidth) + 1))
    damped = np.exp(-0.5 * (sigma * lags) ** 2) * kernel[lags]
    folded: F64 = np.zeros(grid)
    for side in (lags, -lags):
        folded += np.bincount(np.mod(side, grid), damped, grid)
    folded[0] += kernel[0]
    return folded


def compute_bare_kernel(encoding: Encoding, count: int) -> F64 | None:
    """Return k(tau)/k(0) for tau = 0 .. count-1 without any window, the mean over heads.

    None without a kernel of the lag, or where fewer lags are known.

    >>> from pe_spectra import Dft
    >>> compute_bare_kernel(Dft(d=4), 3).round(12) + 0.0
    array([1., 0., 0.])
    """
    if encoding.shape is not None:
        return None
    try:
        # over all rows of a table, as its spectrum is
        length = encoding.rows or max(encoding.default_length, count)
        kernel = estimate_kernel(encoding, length=length, count=count).values.mean(axis=0)
    except InputError:
        return None
    if len(kernel) < count or not kernel[0] > 0:
        return None
    normalised: F64 = kernel / kernel[0]
    return normalised
