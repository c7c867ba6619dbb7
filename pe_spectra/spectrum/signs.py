"""Why weights that are not a distribution are none."""

from __future__ import annotations

import numpy as np

from pe_spectra.spectrum.record import Spectrum

#: A window that spans more than half of the lattice, at a bandwidth below this, adds lags up: none is seen alone.
_LEAST_UNFOLDED = 8.9 / np.pi


def explain_signs(spectrum: Spectrum) -> str:
    """Say of "signed" weights why they are not a distribution, in a sentence without its full stop.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> explain_signs(compute_spectrum(table, bandwidth=0.25)).partition(":")[0]  # four lags are too few
    'Not a distribution (negative weights sum to -0.19)'
    """
    curve = np.fft.irfft(spectrum.weights, spectrum.grid)
    lag = int(np.argmax(curve[: len(spectrum.omega)]))
    if lag and (spectrum.bandwidth or 0.0) >= _LEAST_UNFOLDED:
        why = f"the similarity is larger at lag {lag} than at lag 0"
    else:
        why = "the similarity, as far as its lags are known, is not one of frequencies"
    negative = f"negative weights sum to -{spectrum.summary.negative_mass:.3g}"
    return f"Not a distribution ({negative}): {why}; shares and a mean frequency mean nothing"
