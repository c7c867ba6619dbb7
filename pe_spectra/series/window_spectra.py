"""What a window of a series shows of a kernel, and of periods, at its own frequencies."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.series.proposing import SharedPeriod


def weigh_window(kernel: F64) -> F64:
    """Return the spectrum of a kernel in a window: the mean periodogram of its columns, without their means.

    Weights of sum 1 at the frequencies k/W cycles per step, k = 1 .. W // 2, of W lags.

    >>> weigh_window(np.cos(2 * np.pi * np.arange(8) / 4)).round(9).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    window = len(kernel)
    lags = np.arange(window)
    folded = (window - lags) * kernel
    folded[1:] += lags[1:] * kernel[:0:-1]
    power = np.maximum(np.fft.rfft(folded).real, 0.0)[1:]
    if window % 2 == 0:
        power[-1] /= 2
    total = float(np.sum(power))
    # what rounding leaves of a kernel that is the same at all lags is no spectrum
    found: F64 = power / total if total > 1e-9 * window * window else np.zeros(len(power))
    return found


def weigh_periods(periods: list[SharedPeriod], window: int) -> F64 | None:
    """Return the same of periods: what a window shows of their sinusoids; None without any.

    >>> weigh_periods([], 8) is None
    True
    """
    waves = [(steps, power) for one in periods for steps, power in one.waves]
    if not waves:
        return None
    lags = np.arange(window)
    return weigh_window(np.sum([power * np.cos(2 * math.pi * lags / steps) for steps, power in waves], axis=0))
