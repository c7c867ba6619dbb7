"""Ladders among frequencies: which base all of them, most of them, or those in front allow.

A ladder is theta_i = b**(-i/P), i = 0 .. P - 1, P pairs. Its base is known within an interval that
every pair narrows; the shortest decimal number in it is taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64

#: Largest logarithm whose exponential is a number.
MAX_LOG = 709.0


def find_shortest(low: float, high: float) -> float:
    """Return a decimal number between two others, with few digits.

    >>> find_shortest(9999.3, 10000.4), find_shortest(0.2497, 0.2504)
    (10000.0, 0.25)
    """
    middle = (low + high) / 2
    for digits in range(16):
        candidate = float(f"{middle:.{digits}e}")
        if low <= candidate <= high:
            return candidate
    return middle


def shorten_power(log: float, bound: float) -> float:
    """Return the shortest decimal number within exp(log +- bound); infinity where it is none.

    >>> shorten_power(float(np.log(10000.0)), 1e-6)
    10000.0
    """
    return find_shortest(*(math.exp(one) if one < MAX_LOG else math.inf for one in (log - bound, log + bound)))


def fit_ladder(frequencies: F64, bounds: F64, pairs: int) -> tuple[float, float] | None:
    """Return base and divisor of a geometric ladder; None where it is none.

    >>> w = 10000.0 ** (-np.arange(8) / 8)
    >>> fit_ladder(w, np.full(8, 1e-7), 8), fit_ladder(w + 0.1, np.full(8, 1e-7), 8)
    ((10000.0, 1.0), None)
    """
    logs = np.log(frequencies)
    factor = 1.0
    if abs(logs[0]) > bounds[0]:
        factor = shorten_power(-logs[0], bounds[0])
        if not 0 < factor < math.inf:
            return None
    low, high = bound_log_base(logs + math.log(factor), bounds, pairs)
    if not high > 0 or low > high or high > 690:
        return None
    return find_shortest(math.exp(low), math.exp(high)), factor


def bound_log_base(logs: F64, bounds: F64, pairs: int) -> tuple[float, float]:
    """Return the interval of ln b that all pairs allow; empty where the first is above the second.

    >>> low, high = bound_log_base(np.log(10000.0 ** (-np.arange(8) / 8)), np.full(8, 1e-7), 8)
    >>> bool(low < np.log(10000.0) < high)
    True
    """
    index = np.arange(1, len(logs))
    # the divisor that was found is as uncertain as the first pair
    slack = bounds[1:] + bounds[0]
    return float(np.max((-logs[1:] - slack) * pairs / index)), float(np.min((-logs[1:] + slack) * pairs / index))


def count_kept(logs: F64, bounds: F64, pairs: int) -> int:
    """Count the pairs in front that are one ladder which begins at 1.

    >>> logs = np.log(10000.0 ** (-np.arange(8) / 8))
    >>> logs[5:] -= np.log(2)
    >>> count_kept(logs, np.full(8, 1e-7), 8)
    5
    """
    for count in range(3, pairs + 1):
        low, high = bound_log_base(logs[:count], bounds[:count], pairs)
        if low > high:
            return count - 1
    return pairs


def fit_most(logs: F64, bounds: F64, pairs: int) -> tuple[float | None, NDArray[np.bool_]]:
    """Return the base that most pairs allow, None where none, and which pairs these are.

    >>> logs = np.log(10000.0 ** (-np.arange(8) / 8))
    >>> logs[7] -= 1.0
    >>> base, fits = fit_most(logs, np.full(8, 1e-7), 8)
    >>> base, fits.tolist().index(False)
    (10000.0, 7)
    """
    index = np.arange(1, len(logs))
    lows, highs = ((-logs[1:] + side * bounds[1:]) * pairs / index for side in (-1, 1))
    # most intervals have a point in common that is the start of one of them
    starts, ends = np.sort(lows), np.sort(highs)
    open_there = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="left")
    point = starts[int(np.argmax(open_there))]
    inside = (lows <= point) & (point <= highs)
    fits = np.concatenate([[abs(logs[0]) <= bounds[0]], inside])
    if not inside.any():
        return None, fits
    low, high = float(lows[inside].max()), float(highs[inside].min())
    return (find_shortest(math.exp(low), math.exp(high)) if 0 < high < MAX_LOG else None), fits


def fit_line(at: F64, values: F64) -> tuple[float, float]:
    """Return slope and value at 0 of the least-squares line; both 0 where there is none.

    >>> [round(x, 12) for x in fit_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0]
    """
    centred = at - at.mean()
    spread = float(centred @ centred)
    if not spread > 0:
        return 0.0, 0.0
    slope = float(centred @ values) / spread
    return slope, float(values.mean()) - slope * float(at.mean())
