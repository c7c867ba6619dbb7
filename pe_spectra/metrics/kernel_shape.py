"""The shape of a kernel k(tau): how wide its main lobe is, and what rises beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.faithfulness.separation import Sidelobe, find_sidelobe
from pe_spectra.metrics.tables import check_kernel


def measure_half_width(kernel: ArrayLike) -> float | None:
    """First lag at which k(tau)/k(0) is 1/2, in positions, above 0 and at most L - 1.

    One-sided: from the peak to its half, linear between whole lags.

    Parameters
    ----------
    kernel : (L,) at lags 0, 1, .., of any scale.

    Returns
    -------
    None where the kernel never falls that low, or k(0) is not positive.

    Source: half width at half maximum, standard in signal processing.

    >>> measure_half_width([4.0, 3.0, 1.0])
    1.5
    """
    values = check_kernel(kernel)
    if values[0] <= 0:
        return None
    with np.errstate(over="ignore"):
        below = np.flatnonzero(values / values[0] <= 0.5)
    if not len(below):
        return None
    lag = int(below[0])
    # k(0) may be so small beside the two values that they leave float64 as its multiples
    unit = float(np.max(np.abs(values[lag - 1 : lag + 1])))
    before, half, after = float(values[lag - 1]) / unit, 0.5 * (float(values[0]) / unit), float(values[lag]) / unit
    return lag - 1 + (before - half) / (before - after)


def measure_sidelobe(kernel: ArrayLike) -> Sidelobe | None:
    """Largest local maximum of k(tau)/k(0) beyond the first local minimum, and its lag in positions.

    The value is the sidelobe ratio: at most 1 for a dot product of codes of one norm; near 1 means
    that positions so far apart look alike. Values closer than 1e-9 of k(0) count as equal, so that
    the rounding of a flat kernel has no maxima; the smallest lag among equals is taken.

    Parameters
    ----------
    kernel : (L,) at lags 0, 1, .., of any scale.

    Returns
    -------
    None where there is no such maximum, or k(0) is not positive.

    Source: sidelobe level, standard in array processing.

    >>> measure_sidelobe([4.0, 1.0, 2.0, 0.0])
    Sidelobe(lag=2, value=0.5)
    """
    values = check_kernel(kernel)
    if values[0] <= 0:
        return None
    return find_sidelobe(values / values[0])
