"""The spectrum of any encoding, by the estimate that what it offers allows."""

from __future__ import annotations

from dataclasses import replace

from pe_spectra.encodings import Encoding, HasFrequencies
from pe_spectra.encodings.codes import check_encoding
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.spectrum.density import BOUNDARY, DEFAULT_BANDWIDTH, compute_density_spectrum
from pe_spectra.spectrum.irregular import compute_irregular_spectrum
from pe_spectra.spectrum.kernels import Kernel
from pe_spectra.spectrum.lag_window import AXES, compute_lag_window_spectrum
from pe_spectra.spectrum.record import Spectrum

#: On a grid a side has few places: four bins would be a fourth of the axis and more.
GRID_BANDWIDTH = 1.0


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
    BOUNDARY.check(boundary, "boundary")
    if isinstance(encoding, Sampled):
        width = DEFAULT_BANDWIDTH if bandwidth is None else bandwidth
        found = compute_irregular_spectrum(encoding.encoding, encoding.positions, bandwidth=width)
        return replace(found, encoding=encoding)
    if isinstance(encoding, HasFrequencies) and encoding.shape is None:
        width = DEFAULT_BANDWIDTH if bandwidth is None else bandwidth
        return compute_density_spectrum(encoding, grid=grid, bandwidth=width, boundary=boundary)
    if bandwidth is None:
        bandwidth = DEFAULT_BANDWIDTH if encoding.shape is None else GRID_BANDWIDTH
    return compute_lag_window_spectrum(
        encoding, grid=grid, bandwidth=bandwidth, length=length, axis=axis, kernel=kernel
    )


def list_axes(encoding: Encoding) -> tuple[str | None, ...]:
    """Return the directions along which an encoding has a spectrum: one for a line, two for a grid.

    >>> from pe_spectra import read_encoding
    >>> list_axes(read_encoding("sinusoidal")), list_axes(read_encoding("sincos2d:d=16"))
    ((None,), ('vertical', 'horizontal'))
    """
    return (None,) if encoding.shape is None else AXES
