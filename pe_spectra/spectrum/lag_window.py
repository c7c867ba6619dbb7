"""The spectrum of any encoding, by the estimate that what it offers allows; the lag window, which is for all of them.

Eq. (15) with its kernel reflected at 0 and pi is the Blackman-Tukey spectrum of the dot-product kernel exactly:
averaging Gaussians around frequencies and damping the lags of k(tau) = sum cos(w tau) with a Gaussian are
one operation, seen from either side of the Fourier transform. So it is defined for anything that has a kernel: a table,
a bias, a formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pe_spectra.encodings import Encoding, HasFrequencies
from pe_spectra.encodings.codes import check_encoding, is_sampled
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.fourier import GRID, compute_omega
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_LAGS
from pe_spectra.numbers import Choice
from pe_spectra.spectrum.density import (
    BANDWIDTH,
    BOUNDARY,
    DEFAULT_BANDWIDTH,
    check_grid,
    compute_density_spectra,
    normalise,
)
from pe_spectra.spectrum.evenness import FINEST, Finest, needs_finest
from pe_spectra.spectrum.kernels import Kernel, check_length, describe_kernel, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import AXES

#: exp(-x**2/2) at this x is below 1e-17: lags beyond do not count.
_LAST_LAG = 8.9
#: On a grid a side has few places: four bins would be a fourth of the axis and more.
GRID_BANDWIDTH = 1.0
_AXIS = Choice(members=AXES)


def compute_spectrum(
    encoding: Encoding,
    *,
    grid: int | None = None,
    bandwidth: float | None = None,
    boundary: str = "none",
    length: int | None = None,
    axis: str | None = None,
    kernel: Kernel | None = None,
) -> Spectrum:
    """Return the frequency weights of an encoding.

    Eq. (15) where it has a list of frequencies, Eq. (22) where they lie on the lattice, else the
    lag-window spectrum of its kernel, which is Eq. (15) with reflection for whatever has one.

    Parameters
    ----------
    encoding : any encoding.
    grid : lattice length N, 2 to 1048576; default the encoding's own (d for ladders), else `length`.
    bandwidth : kernel width in bins (sigma = bandwidth x 2 pi/N), 1e-6 to 1e6; default 4, on a grid 1.
    boundary : "none", as printed, or "reflect"; a lag window always reflects.
    length : number of positions to average over, where the kernel is not a formula.
    axis : on a grid the direction of the lags, "vertical" or "horizontal" (default).
    kernel : of a lag window, where it was estimated already at all lags that these positions have.

    Raises
    ------
    InputError : a parameter out of range, or what is no encoding.
    UndefinedError : an encoding whose codes are all zero.

    >>> from pe_spectra import Sinusoidal
    >>> spectrum = compute_spectrum(Sinusoidal(d=256))
    >>> spectrum.weights.shape, spectrum.summary.peak_bin
    ((129,), 1)
    """
    check_encoding(encoding)
    if bandwidth is None:
        bandwidth = DEFAULT_BANDWIDTH if encoding.shape is None else GRID_BANDWIDTH
    if issubclass(type(encoding), HasFrequencies) and encoding.shape is None:
        return compute_density_spectra([encoding], grid=grid, bandwidth=bandwidth, boundary=boundary)[0]
    BOUNDARY.check(boundary, "boundary")
    if is_sampled(encoding):
        from pe_spectra.spectrum.periodograms import compute_irregular_spectrum

        found = compute_irregular_spectrum(encoding.encoding, encoding.positions, bandwidth=bandwidth)
        return replace(found, encoding=encoding)
    return compute_lag_window_spectrum(
        encoding, grid=grid, bandwidth=bandwidth, length=length, axis=axis, kernel=kernel
    )


def compute_spectra(
    encodings: Sequence[Encoding],
    *,
    grid: int | None = None,
    bandwidth: float | None = None,
    boundary: str = "none",
    length: int | None = None,
) -> list[Spectrum]:
    """Return the spectra of several encodings, each as :func:`compute_spectrum` does; of grids the horizontal ones.

    Eq. (15) of encodings of as many frequencies is summed together, which takes less time than one by one.

    Parameters
    ----------
    encodings : any encodings. grid, bandwidth, boundary, length : as there, the same for all.

    Raises
    ------
    InputError : a parameter out of range, or what is no encoding.
    UndefinedError : an encoding whose codes are all zero.

    >>> from pe_spectra import Dft, Sinusoidal
    >>> [one.summary.peak_bin for one in compute_spectra([Sinusoidal(d=256), Dft(d=256), Sinusoidal(d=64)])]
    [1, 1, 1]
    """
    for encoding in encodings:
        check_encoding(encoding)
    dense = [i for i, one in enumerate(encodings) if issubclass(type(one), HasFrequencies) and one.shape is None]
    width = DEFAULT_BANDWIDTH if bandwidth is None else bandwidth
    sums = compute_density_spectra([encodings[i] for i in dense], grid=grid, bandwidth=width, boundary=boundary)
    found = dict(zip(dense, sums, strict=True))
    return [
        found.get(place) or compute_spectrum(encoding, grid=grid, bandwidth=bandwidth, boundary=boundary, length=length)
        for place, encoding in enumerate(encodings)
    ]


def list_axes(encoding: Encoding) -> tuple[str | None, ...]:
    """Return the directions along which an encoding has a spectrum: one for a line, two for a grid.

    >>> from pe_spectra import read_encoding
    >>> list_axes(read_encoding("sinusoidal")), list_axes(read_encoding("sincos2d:d=16"))
    ((None,), ('vertical', 'horizontal'))
    """
    return (None,) if encoding.shape is None else AXES


def choose_lattice(encodings: Sequence[Encoding], length: int | None = None) -> int:
    """Return the length of one lattice on which the spectra of several encodings stand side by side.

    It is `length`, else the longest of their own, but no longer than what has fewest positions has of them.

    >>> from pe_spectra import Dft, read_encoding
    >>> choose_lattice([Dft(d=64), Dft(d=16)]), choose_lattice([Dft(d=64), read_encoding("ramp:length=30")])
    (64, 30)
    """
    if length is not None:
        return max(2, length)
    own = [check_grid(e, None) if e.shape is None else max(2, *e.shape) for e in encodings]
    ends = [e.rows for e in encodings if e.shape is None and e.rows is not None]
    return max(2, min([max(own), *ends]))


def choose_bandwidth(encodings: Sequence[Encoding], grid: int) -> float:
    """Return the bandwidth, in bins of one lattice, at which encodings are put side by side.

    It is 4 bins; of grids alone as wide as 1 bin of the lattice of their longest side, in rad/position.

    >>> from pe_spectra import read_encoding
    >>> table, image = read_encoding("sinusoidal"), read_encoding("sincos2d:d=16,height=4,width=8")
    >>> choose_bandwidth([table, image], 128), choose_bandwidth([image], 128)
    (4.0, 16.0)
    """
    sides = [max(2, *encoding.shape) for encoding in encodings if encoding.shape is not None]
    return GRID_BANDWIDTH * grid / max(sides) if sides and len(sides) == len(encodings) else DEFAULT_BANDWIDTH


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
        return _sharpen(_transform(encoding, line, n, b, direction), line)
    if axis is not None:
        raise InputError("axis has no meaning for an encoding on a line", axis, "leave it out")
    size = check_length(encoding, length)
    n = check_grid(encoding, grid, size)
    lags = _count_lags(n, b) + 1
    found = kernel or estimate_kernel(encoding, length=size, count=lags)
    spectrum = _transform(encoding, found, n, b, None)
    enough = _count_lags(n, FINEST) + 1
    if kernel is None and lags < enough and needs_finest(spectrum.weights, spectrum.boundary):
        most = max(lags, min(enough, MAX_HELD_ENTRIES // (2 * len(found.values))))
        found = estimate_kernel(encoding, length=size, count=most)
    return _sharpen(spectrum, found)


def _sharpen(spectrum: Spectrum, kernel: Kernel) -> Spectrum:
    """Add the weights at half a bin where it is asked for them, or as finely as lags allow: one tells nothing."""
    lags = kernel.values.shape[1]
    if lags < 2 or not needs_finest(spectrum.weights, spectrum.boundary):
        return spectrum
    b = FINEST * max(1.0, spectrum.grid / lags)
    by_head = _weigh_by_head(spectrum.encoding, kernel, spectrum.grid, b)
    return replace(spectrum, finest=Finest(bandwidth=b, find=partial(np.median, by_head, axis=0)))


def _weigh_by_head(encoding: Encoding, kernel: Kernel, n: int, b: float) -> F64:
    """The weights of each head, (H, N // 2 + 1), each of sum 1."""
    return np.stack([normalise(np.fft.rfft(_fold_window(one, n, b)).real, encoding)[0] for one in kernel.values])


def _slice(kernel: Kernel, axis: str) -> Kernel:
    """The kernel of a grid along one of its axes: its spectrum is the sum of the plane's over the other axis."""
    height, width = kernel.values.shape[1] // 2, kernel.values.shape[2] // 2
    line = kernel.values[:, height, width:] if axis == AXES[1] else kernel.values[:, height:, width]
    return replace(kernel, values=line)


@np.errstate(under="ignore")
def _transform(encoding: Encoding, kernel: Kernel, n: int, b: float, axis: str | None) -> Spectrum:
    needed, held = _count_lags(n, b), kernel.values.shape[1] - 1
    by_head = _weigh_by_head(encoding, kernel, n, b)
    weights, log_weights = normalise(np.median(by_head, axis=0), encoding)
    said = describe_kernel(encoding, kernel.source, kernel.length)
    notes: tuple[str, ...] = () if kernel.source == "exact" else (f"{encoding.label}: {said}",)
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
        notes=notes,
        axis=axis,
        kernel_source=kernel.source,
        length=kernel.length,
        toeplitz_share=kernel.toeplitz_share,
        head_weights=by_head if len(by_head) > 1 else None,
    )


def _count_lags(grid: int, bandwidth: float) -> int:
    """Lags that the window spans."""
    count = math.ceil(_LAST_LAG / (bandwidth * 2 * math.pi / grid))
    if count > MAX_LAGS:
        raise InputError("bandwidth is too small for a lag window", f"{count} lags", f"at most {MAX_LAGS} lags")
    return count


def _fold_window(kernel: F64, grid: int, bandwidth: float) -> F64:
    """k(tau) times the lag window, summed over shifts of tau by the lattice length: Algorithm 1's curve, to scale.

    `kernel` is (L,) at lags 0 .. L-1; lags beyond count as 0. The sum is (N,).
    """
    sigma = bandwidth * 2 * math.pi / grid
    lags = np.arange(1, min(len(kernel), _count_lags(grid, bandwidth) + 1))
    damped = np.exp(-0.5 * (sigma * lags) ** 2) * kernel[lags]
    folded: F64 = np.zeros(grid)
    for side in (lags, -lags):
        folded += np.bincount(np.mod(side, grid), damped, grid)
    folded[0] += kernel[0]
    return folded


def compute_bare_kernel(encoding: Encoding, count: int) -> Kernel | None:
    """Return k(tau)/k(0) for tau = 0 .. count-1 without any window, the mean over heads, as values (1, count).

    None without a kernel of the lag, or where fewer lags are known.

    >>> from pe_spectra import Dft
    >>> compute_bare_kernel(Dft(d=4), 3).values.round(12) + 0.0
    array([[1., 0., 0.]])
    """
    if encoding.shape is not None:
        return None
    try:
        # over all rows of a table, as its spectrum is
        length = encoding.rows or max(encoding.default_length, count)
        kernel = estimate_kernel(encoding, length=length, count=count)
    except InputError:
        return None
    mean = kernel.values.mean(axis=0)
    if len(mean) < count or not mean[0] > 0:
        return None
    return replace(kernel, values=mean[None] / mean[0])
