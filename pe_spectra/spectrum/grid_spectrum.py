"""The spectrum of an encoding whose positions fill a grid: a plane of frequencies, one for each direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.errors import UndefinedError
from pe_spectra.exact import F64
from pe_spectra.spectrum.density import BANDWIDTH
from pe_spectra.spectrum.estimate import GRID_BANDWIDTH
from pe_spectra.spectrum.kernels import SOURCES, estimate_grid_kernel
from pe_spectra.spectrum.lattice import compute_omega


@dataclass(frozen=True, kw_only=True, eq=False)
class GridSpectrum:
    """The share of an encoding's energy at each pair of frequencies.

    Attributes
    ----------
    encoding : what was analysed.
    shape : (H, W) of its grid, and of the lattice (at least 2 each).
    bandwidth : kernel width in bins of either axis.
    omega_vertical, omega_horizontal : (H // 2 + 1,) rad/position, and (W,) in order from -pi.
    weights : (H // 2 + 1, W), sums to 1; pairs (vertical, horizontal). Vertical frequencies below 0 are left
        out: there the weight is that of the opposite pair.
    kernel : (2 H - 1, 2 W - 1) mean similarity by offset over that at offset 0, which stands in the middle.
    toeplitz_share : how much of the Gram matrix's energy is a function of the offset alone; None for a bias.

    >>> from pe_spectra import compute_grid_spectrum, read_encoding
    >>> plane = compute_grid_spectrum(read_encoding("sincos2d:d=16,height=4,width=4"))
    >>> plane.shape, plane.weights.shape, round(float(plane.weights.sum()), 12)
    ((4, 4), (3, 4), 1.0)
    """

    encoding: Encoding
    shape: tuple[int, int]
    bandwidth: float
    omega_vertical: F64
    omega_horizontal: F64
    weights: F64
    kernel: F64
    toeplitz_share: float | None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.omega_vertical, self.omega_horizontal, self.weights, self.kernel):
            array.flags.writeable = False


@np.errstate(under="ignore")
def compute_grid_spectrum(encoding: Encoding, *, bandwidth: float | None = None) -> GridSpectrum:
    """Return the lag-window spectrum of an encoding on a grid, in two dimensions.

    The kernel by offset (dy, dx), its mean over heads, is damped with a Gaussian of `bandwidth` bins
    along either axis and transformed on a lattice of the grid's own size. Summed over all frequencies of
    one direction, below 0 too, it is the spectrum that :func:`pe_spectra.compute_spectrum` gives for the
    other (of an encoding with one head).

    Raises
    ------
    InputError : an encoding without a grid, or a bandwidth out of range.
    UndefinedError : codes that are all zero.

    >>> from pe_spectra.encodings import find_encoding
    >>> compute_grid_spectrum(find_encoding("sincos2d")(d=16, height=6, width=8)).weights.shape
    (4, 8)
    """
    b = BANDWIDTH.check(GRID_BANDWIDTH if bandwidth is None else bandwidth, "bandwidth")
    kernel = estimate_grid_kernel(encoding)
    plane = np.mean(kernel.values, axis=0)
    height, width = (side // 2 + 1 for side in plane.shape)
    if not plane[height - 1, width - 1] > 0:
        raise UndefinedError(f"{encoding.label}: all codes are zero, so there are no weights to normalise")
    sides = max(2, height), max(2, width)
    folded = _fold(_fold(plane, sides[0], b).T, sides[1], b).T
    values = np.fft.fftshift(np.fft.fft2(folded).real[: sides[0] // 2 + 1], axes=1)
    return GridSpectrum(
        encoding=encoding,
        shape=(height, width),
        bandwidth=b,
        omega_vertical=compute_omega(sides[0]),
        omega_horizontal=(np.arange(sides[1]) - sides[1] // 2) * (2 * np.pi / sides[1]),
        weights=values / np.sum(values),
        kernel=plane / plane[height - 1, width - 1],
        toeplitz_share=kernel.toeplitz_share,
        notes=(f"{encoding.label}: {SOURCES[kernel.source]}",),
    )


def _fold(plane: F64, side: int, bandwidth: float) -> F64:
    """Damp the lags along the first axis, and sum them over shifts by the lattice length; (side, ..)."""
    reach = len(plane) // 2
    lags = np.arange(-reach, reach + 1)
    damped = plane * np.exp(-0.5 * (bandwidth * 2 * np.pi / side * lags) ** 2)[:, None]
    folded = np.zeros((side, plane.shape[1]))
    np.add.at(folded, np.mod(lags, side), damped)
    return folded
