"""The spectrum of an encoding: Eq. (15), Eq. (16), Eq. (22), and what sums them up."""

from __future__ import annotations

from pe_spectra.spectrum.density import Spectrum, compute_dft_weights, compute_omega, compute_spectrum
from pe_spectra.spectrum.lag_window import (
    compute_bare_kernel,
    compute_lag_window_spectrum,
    compute_windowed_kernel,
)
from pe_spectra.spectrum.low_bin import LowBinCount, count_low_bin
from pe_spectra.spectrum.summary import SpectrumSummary

__all__ = [
    "LowBinCount",
    "Spectrum",
    "SpectrumSummary",
    "compute_bare_kernel",
    "compute_dft_weights",
    "compute_lag_window_spectrum",
    "compute_omega",
    "compute_spectrum",
    "compute_windowed_kernel",
    "count_low_bin",
]
