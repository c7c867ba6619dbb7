"""The spectrum of an encoding: Eq. (15), Eq. (16), Eq. (22), the lag window, and what sums them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pe_spectra.fourier import compute_dft_weights, compute_omega
from pe_spectra.spectrum.density import compute_density_spectrum
from pe_spectra.spectrum.gram import compute_gram_kernel, compute_grid_kernel, measure_toeplitz_share
from pe_spectra.spectrum.grid_spectrum import GridSpectrum, compute_grid_spectrum
from pe_spectra.spectrum.kernels import Kernel, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.lag_window import (
    choose_bandwidth,
    choose_lattice,
    compute_bare_kernel,
    compute_lag_window_spectrum,
    compute_spectra,
    compute_spectrum,
    list_axes,
)
from pe_spectra.spectrum.low_bin import LowBinCount, count_low_bin, count_low_frequencies
from pe_spectra.spectrum.record import Spectrum, SpectrumSummary

if TYPE_CHECKING:  # of encodings at real positions and of means over windows: loaded when first used
    from pe_spectra.spectrum.periodograms import LocalSpectra, compute_irregular_spectrum, compute_local_spectra

__all__ = [
    "GridSpectrum",
    "Kernel",
    "LocalSpectra",
    "LowBinCount",
    "Spectrum",
    "SpectrumSummary",
    "choose_bandwidth",
    "choose_lattice",
    "compute_bare_kernel",
    "compute_density_spectrum",
    "compute_dft_weights",
    "compute_gram_kernel",
    "compute_grid_kernel",
    "compute_grid_spectrum",
    "compute_irregular_spectrum",
    "compute_lag_window_spectrum",
    "compute_local_spectra",
    "compute_omega",
    "compute_spectra",
    "compute_spectrum",
    "count_low_bin",
    "count_low_frequencies",
    "estimate_grid_kernel",
    "estimate_kernel",
    "list_axes",
    "measure_toeplitz_share",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pe_spectra.spectrum import periodograms

    return getattr(periodograms, name)
