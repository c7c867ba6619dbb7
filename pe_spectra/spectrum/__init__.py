"""The spectrum of an encoding: Eq. (15), Eq. (16), Eq. (22), the lag window, and what sums them up.

Names are imported when they are first used: what counts a ladder, or prints a summary, loads no more than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pe_spectra.names import import_lazily, list_homes

if TYPE_CHECKING:
    from pe_spectra.fourier import compute_dft_weights as compute_dft_weights
    from pe_spectra.fourier import compute_omega as compute_omega
    from pe_spectra.spectrum.density import compute_density_spectrum as compute_density_spectrum
    from pe_spectra.spectrum.gram import compute_gram_kernel as compute_gram_kernel
    from pe_spectra.spectrum.gram import compute_grid_kernel as compute_grid_kernel
    from pe_spectra.spectrum.gram import measure_toeplitz_share as measure_toeplitz_share
    from pe_spectra.spectrum.grid_spectrum import GridSpectrum as GridSpectrum
    from pe_spectra.spectrum.grid_spectrum import compute_grid_spectrum as compute_grid_spectrum
    from pe_spectra.spectrum.kernels import Kernel as Kernel
    from pe_spectra.spectrum.kernels import estimate_grid_kernel as estimate_grid_kernel
    from pe_spectra.spectrum.kernels import estimate_kernel as estimate_kernel
    from pe_spectra.spectrum.lag_window import choose_bandwidth as choose_bandwidth
    from pe_spectra.spectrum.lag_window import choose_lattice as choose_lattice
    from pe_spectra.spectrum.lag_window import compute_bare_kernel as compute_bare_kernel
    from pe_spectra.spectrum.lag_window import compute_lag_window_spectrum as compute_lag_window_spectrum
    from pe_spectra.spectrum.lag_window import compute_spectra as compute_spectra
    from pe_spectra.spectrum.lag_window import compute_spectrum as compute_spectrum
    from pe_spectra.spectrum.lag_window import list_axes as list_axes
    from pe_spectra.spectrum.low_bin import LowBinCount as LowBinCount
    from pe_spectra.spectrum.low_bin import count_low_bin as count_low_bin
    from pe_spectra.spectrum.low_bin import count_low_frequencies as count_low_frequencies
    from pe_spectra.spectrum.periodograms import LocalSpectra as LocalSpectra
    from pe_spectra.spectrum.periodograms import compute_irregular_spectrum as compute_irregular_spectrum
    from pe_spectra.spectrum.periodograms import compute_local_spectra as compute_local_spectra
    from pe_spectra.spectrum.record import Spectrum as Spectrum
    from pe_spectra.spectrum.record import SpectrumSummary as SpectrumSummary

#: Module -> the names that it defines.
_NAMES = {
    "fourier": ("compute_dft_weights", "compute_omega"),
    "spectrum.density": ("compute_density_spectrum",),
    "spectrum.gram": ("compute_gram_kernel", "compute_grid_kernel", "measure_toeplitz_share"),
    "spectrum.grid_spectrum": ("GridSpectrum", "compute_grid_spectrum"),
    "spectrum.kernels": ("Kernel", "estimate_grid_kernel", "estimate_kernel"),
    "spectrum.lag_window": (
        *("choose_bandwidth", "choose_lattice", "compute_bare_kernel", "compute_lag_window_spectrum"),
        *("compute_spectra", "compute_spectrum", "list_axes"),
    ),
    "spectrum.low_bin": ("LowBinCount", "count_low_bin", "count_low_frequencies"),
    "spectrum.periodograms": ("LocalSpectra", "compute_irregular_spectrum", "compute_local_spectra"),
    "spectrum.record": ("Spectrum", "SpectrumSummary"),
}
_HOMES = list_homes(_NAMES)

__all__ = list(_HOMES)
__getattr__ = import_lazily(__name__, _HOMES)
