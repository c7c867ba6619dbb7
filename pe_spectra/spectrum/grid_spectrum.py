"""The spectrum of an encoding whose positions fill a grid: a plane of frequencies, one for each direction."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.exact import F64
from pe_spectra.fourier import compute_omega, count_basis_functions
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.density import BANDWIDTH, normalise
from pe_spectra.spectrum.kernels import Kernel, describe_kernel, estimate_grid_kernel
from pe_spectra.spectrum.lag_window import GRID_BANDWIDTH

#: JSON Schema of rows and columns.
_SIDES = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1, "maxItems": 2}


@dataclass(frozen=True, kw_only=True, eq=False)
class GridSpectrum(Result):
    """The share of an encoding's energy at each pair of frequencies of its grid.

    Vertical frequencies below 0 are left out: there the weight is that of the opposite pair.

    >>> from pe_spectra import compute_grid_spectrum, read_encoding
    >>> plane = compute_grid_spectrum(read_encoding("sincos2d:d=16,height=4,width=4"))
    >>> plane.shape, plane.weights.shape, round(float(plane.weights.sum()), 12)
    ((4, 4), (3, 4), 1.0)
    """

    encoding: Encoding = quantity("The encoding that was analysed.")
    shape: tuple[int, int] = quantity(
        "Rows H and columns W of the grid that the positions fill; the lattice has at least 2 of each.", schema=_SIDES
    )
    bandwidth: float = quantity("Kernel width along either side.", unit="bins", above=0)
    omega_vertical: F64 = quantity(
        "Frequencies down the grid, one for each of the H // 2 + 1 rows of weights.",
        unit="rad/position",
        least=2,
        column=None,
    )
    omega_horizontal: F64 = quantity(
        "Frequencies along its rows, one for each of the W columns of weights, in order from -pi.",
        unit="rad/position",
        least=2,
        column=None,
    )
    weights: F64 = quantity(
        "Share of the encoding at each pair (vertical, horizontal) of frequencies; they sum to 1.",
        axes=2,
        least=1,
        column=None,
    )
    kernel: F64 = quantity(
        "Mean similarity by offset over that at offset 0, which is in the middle of (2 H - 1, 2 W - 1).",
        axes=2,
        key=None,
        column=None,
    )
    toeplitz_share: float | None = quantity(
        "Share of the Gram matrix's energy that is a function of the offset alone; null where the kernel is not that "
        "of a table.",
        minimum=0,
        maximum=1.000001,
    )
    #: What a reader must know about these numbers.
    notes: tuple[str, ...] = ()

    @derived("Vertical frequency of a pair.", unit="rad/position", key=None, column="omega_vertical")
    def vertical(self) -> F64:
        return np.repeat(self.omega_vertical, self.omega_horizontal.size)

    @derived("Horizontal frequency of a pair.", unit="rad/position", key=None, column="omega_horizontal")
    def horizontal(self) -> F64:
        return np.tile(self.omega_horizontal, self.omega_vertical.size)

    @derived("Weight of a pair.", key=None, column="weight")
    def pair_weights(self) -> F64:
        return self.weights.ravel()

    @property
    def negative_mass(self) -> float:
        """Sum of the sizes of negative weights."""
        return float(-self.weights[self.weights < 0].sum())

    @cached_property
    def means(self) -> tuple[float, float]:
        """Mean vertical and horizontal frequency, rad/position: those of the spectrum along either axis.

        >>> from pe_spectra import compute_grid_spectrum, read_encoding
        >>> plane = compute_grid_spectrum(read_encoding("sincos2d:d=16,height=4,width=4"))
        >>> [round(mean, 6) for mean in plane.means]
        [0.998541, 0.998541]
        """
        height, width = self.shape[0], self.omega_horizontal.size
        vertical = self.weights.sum(axis=1)
        # the plane holds one of each pair of opposite frequencies: a row that is no pair of itself stands for two
        both = count_basis_functions(max(2, height)) @ self.weights
        middle, k = width // 2, np.arange(width // 2 + 1)
        horizontal = (both[(middle + k) % width] + both[middle - k]) / 2
        down = vertical @ self.omega_vertical / vertical.sum()
        return float(down), float(horizontal @ (2 * np.pi / width * k) / horizontal.sum())


@np.errstate(under="ignore")
def compute_grid_spectrum(
    encoding: Encoding, *, bandwidth: float | None = None, kernel: Kernel | None = None
) -> GridSpectrum:
    """Return the lag-window spectrum of an encoding on a grid, in two dimensions.

    The kernel by offset (dy, dx), its mean over heads, is damped with a Gaussian of `bandwidth` bins
    along either axis and transformed on a lattice of the grid's own size. Summed over all frequencies of
    one direction, below 0 too, it is the spectrum that :func:`pe_spectra.compute_spectrum` gives for the
    other (of an encoding with one head).

    Parameters
    ----------
    bandwidth : kernel width in bins; default 1.
    kernel : the encoding's own, where it was estimated already.

    Raises
    ------
    InputError : an encoding without a grid, or a bandwidth out of range.
    UndefinedError : vectors that are all zero.

    >>> from pe_spectra.encodings import find_encoding
    >>> compute_grid_spectrum(find_encoding("sincos2d")(d=16, height=6, width=8)).weights.shape
    (4, 8)
    """
    b = BANDWIDTH.check(GRID_BANDWIDTH if bandwidth is None else bandwidth, "bandwidth")
    kernel = kernel or estimate_grid_kernel(encoding)
    plane = np.mean(kernel.values, axis=0)
    height, width = (side // 2 + 1 for side in plane.shape)
    sides = max(2, height), max(2, width)
    folded = _fold(_fold(plane, sides[0], b).T, sides[1], b).T
    values = np.fft.fftshift(np.fft.fft2(folded).real[: sides[0] // 2 + 1], axes=1)
    return GridSpectrum(
        encoding=encoding,
        shape=(height, width),
        bandwidth=b,
        omega_vertical=compute_omega(sides[0]),
        omega_horizontal=(np.arange(sides[1]) - sides[1] // 2) * (2 * np.pi / sides[1]),
        weights=normalise(values, encoding)[0],
        kernel=plane / plane[height - 1, width - 1],
        toeplitz_share=kernel.toeplitz_share,
        notes=(f"{encoding.label}: {describe_kernel(encoding, kernel.source, kernel.length)}",),
    )


def _fold(plane: F64, side: int, bandwidth: float) -> F64:
    """Damp the lags along the first axis, and sum them over shifts by the lattice length; (side, ..)."""
    reach = len(plane) // 2
    lags = np.arange(-reach, reach + 1)
    damped = plane * np.exp(-0.5 * (bandwidth * 2 * np.pi / side * lags) ** 2)[:, None]
    folded = np.zeros((side, plane.shape[1]))
    np.add.at(folded, np.mod(lags, side), damped)
    return folded
