"""Numbers in a row, as norms and steps along a table: gaps, robust spread, medians around, peaks apart."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64, NDArray
from pe_spectra.ordering import find_median

Mask = NDArray[np.bool_]

#: From a median absolute deviation to the standard deviation of a normal distribution.
MAD_SCALE = 1.4826


def bridge(values: F64, good: Mask) -> F64:
    """Replace what is not good by straight lines between the good ones beside it; all stay where none is good.

    Parameters
    ----------
    values : (S,) or (S, d); good : (S,).

    >>> bridge(np.array([[0.0], [9.0], [2.0]]), np.array([True, False, True])).tolist()
    [[0.0], [1.0], [2.0]]
    """
    places, wrong = np.flatnonzero(good), np.flatnonzero(~good)
    if not len(wrong) or not len(places):
        return values
    bridged = values.copy()
    after = np.searchsorted(places, wrong)
    low, high = places[np.maximum(after - 1, 0)], places[np.minimum(after, len(places) - 1)]
    weights = np.where(high > low, (wrong - low) / np.maximum(high - low, 1), 0.0).reshape(-1, *[1] * (values.ndim - 1))
    bridged[wrong] = (1 - weights) * values[low] + weights * values[high]
    return bridged


def bridge_grid(values: F64, good: Mask, grid: tuple[int, int]) -> F64:
    """As `bridge`, on a grid: the mean of what both reading orders give, so that neither direction comes first.

    Parameters
    ----------
    values : (H W, d), line by line; good : (H W,).

    >>> table, good = np.array([[0.0], [1.0], [9.0], [5.0], [3.0], [4.0]]), np.arange(6) != 2
    >>> bridge_grid(table, good, (3, 2))[2:4].tolist()
    [[2.25], [5.0]]
    """
    order = np.arange(len(values)).reshape(grid).T.ravel()
    back = np.argsort(order)
    across, down = bridge(values, good), bridge(values[order], good[order])[back]
    return (across + down) / 2


def measure_spread(values: F64, middle: float = 0.0) -> float:
    """Return the robust standard deviation about `middle`: 1.4826 times the median absolute deviation.

    >>> measure_spread(np.array([1.0, 2.0, 3.0]), 2.0)
    1.4826
    """
    return MAD_SCALE * float(find_median(np.abs(values - middle)))


def find_medians(values: F64, reach: int, gap: int = -1) -> F64:
    """Return for each place the median of those around: farther than `gap` and at most `reach`; mirrored at the ends.

    >>> find_medians(np.array([1.0, 2.0, 9.0, 4.0]), 1).tolist()
    [2.0, 2.0, 4.0, 9.0]
    """
    reach = min(reach, len(values) - 1)
    windows = sliding_window_view(np.pad(values, reach, mode="reflect"), 2 * reach + 1)
    medians: F64 = find_median(windows[:, np.abs(np.arange(-reach, reach + 1)) > gap], axis=1)
    return medians


def pick_peaks(scores: F64, candidates: Mask, apart: int) -> list[int]:
    """List candidates, the largest score first, that are more than `apart` places from any before them.

    >>> pick_peaks(np.array([1.0, 3.0, 2.0, 0.0, 5.0]), np.ones(5, dtype=bool), 1)
    [4, 1]
    """
    peaks: list[int] = []
    for place in sorted(np.flatnonzero(candidates).tolist(), key=lambda p: -float(scores[p])):
        if all(abs(place - peak) > apart for peak in peaks):
            peaks.append(place)
    return peaks
