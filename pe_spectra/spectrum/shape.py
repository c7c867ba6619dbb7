"""What the weights of a spectrum look like, in one word; and why weights of both signs are no distribution."""

from __future__ import annotations

import numpy as np

from pe_spectra.spectrum.record import Spectrum
from pe_spectra.spectrum.summary import LOW_BINS

#: The share of the axis above an encoding's largest frequency from which on that is worth a word.
EMPTY_BAND = 0.05
#: A window that spans more than half of the lattice, at a bandwidth below this, adds lags up: none is seen alone.
_LEAST_UNFOLDED = 8.9 / np.pi


def classify_shape(spectrum: Spectrum) -> str:
    """Say in a word how weights are spread over the bins: "signed", "flat", "blurred", "crowded" or "uneven".

    Signed: no distribution (:attr:`~pe_spectra.spectrum.summary.SpectrumSummary.is_distribution`).
    Flat: more than 95 % of the bins are effective (entropy). Blurred: flat by the kernel alone, for it
    covers a twentieth of the axis and more where the encoding has no frequency, or a quarter of the bins
    by a lag window. Crowded: the first ten bins hold a tenth of the weight and twice their even share at
    least; with fewer than twenty bins that says nothing.

    >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
    >>> classify_shape(compute_spectrum(Dft(d=256))), classify_shape(compute_spectrum(Sinusoidal(d=256)))
    ('flat', 'crowded')
    >>> classify_shape(compute_spectrum(Sinusoidal(d=256), bandwidth=1000))
    'blurred'
    """
    summary, bins = spectrum.summary, len(spectrum.omega)
    if not summary.is_distribution:
        return "signed"
    if summary.effective_bins_entropy > 0.95 * bins:
        wide = spectrum.estimator == "lag-window" and (spectrum.bandwidth or 0.0) >= bins / 4
        empty = (summary.empty_upper_band or 0.0) >= EMPTY_BAND
        return "blurred" if spectrum.bandwidth is not None and (wide or empty) else "flat"
    even = LOW_BINS / bins
    crowded = bins >= 2 * LOW_BINS and summary.low_bin_mass >= max(0.1, 2 * even)
    return "crowded" if crowded else "uneven"


def explain_signs(spectrum: Spectrum) -> str:
    """Say of "signed" weights why they are not a distribution, in a sentence without its full stop.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> explain_signs(compute_spectrum(table, bandwidth=0.25)).partition(":")[0]  # four lags are too few
    'Weights of both signs (negative ones sum to 0.19)'
    """
    curve = np.fft.irfft(spectrum.weights, spectrum.grid)
    lag = int(np.argmax(curve[: len(spectrum.omega)]))
    if lag and (spectrum.bandwidth or 0.0) >= _LEAST_UNFOLDED:
        why = f"the similarity is larger at lag {lag} than at lag 0"
    else:
        why = "the similarity, as far as its lags are known, is not one of frequencies"
    negative = f"negative ones sum to {spectrum.summary.negative_mass:.3g}"
    what = "share, mean frequency or effective number of bins"
    return f"Weights of both signs ({negative}): {why}, so no {what} is a statement about it"
