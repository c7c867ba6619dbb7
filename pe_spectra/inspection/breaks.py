"""Evidence for a break between two rows: what the rows on both sides do not predict of the step there.

The steps e(s + 1) - e(s) of all columns are taken for one autoregressive process. A break adds a
vector to one step; the likelihood-ratio statistic for it is the matched filter of the whitened steps,
which is what is left of the step after the best linear interpolation from both sides.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64
from pe_spectra.inspection.series import Mask, bridge, find_medians, measure_spread
from pe_spectra.ordering import find_median

#: Past steps that predict the next one; fewer in short tables.
_ORDER, _STEPS_PER_COEFFICIENT = 12, 12
#: Added to the variance: what is predicted better than this is taken for exact.
_RIDGE = 1e-4
#: Columns that are looked at, and fewer from this many numbers on.
_SAMPLED_COLUMNS, _FEWEST_COLUMNS, _SAMPLED_NUMBERS = 256, 32, 1 << 22
#: Places on either side that a place is compared with.
_AROUND = 12
#: A break: a normal number as large in one place of so many, its lead over the next (in one table of 100 that
#: has no break), length of the step over those around.
_PLACES, _LEAD, _STEP = 1e-6, 1.3, 1.2
#: And the part of the step that is not predicted.
_PART = 0.25
_DEVIATIONS = -NormalDist().inv_cdf(_PLACES)
_MOST = 3
_TINY = 1e-300


def find_vector_breaks(table: F64, regular: Mask, usable: Mask, step_ratios: F64) -> list[int]:
    """Find the places s | s + 1 where other rows begin.

    There ln ||M(s)||, M of `_interpolate_steps`, stands out of the median around it (`_find_largest`), the step is 1.2
    times those around, and M is a quarter of it or more: curves without noise are predicted, but for the last digits.

    Parameters
    ----------
    table : (S, d); regular : (S,) rows to trust, at least 16; others are bridged; usable : (S - 1,) places that may be
        found; step_ratios : (S - 1,) ln of each step over those around.

    >>> table = np.sin(np.arange(64.0)[:, None] * np.linspace(0.1, 0.5, 8))
    >>> find_vector_breaks(table, np.ones(64, dtype=bool), np.ones(63, dtype=bool), np.zeros(63))
    []
    """
    inside = np.flatnonzero(regular)
    part = slice(int(inside[0]), int(inside[-1]) + 1)
    sample = bridge(_sample_columns(table[part]), regular[part])
    sizes = np.linalg.norm(_interpolate_steps(sample), axis=1)
    lengths = np.log(np.maximum(sizes, _TINY))
    lengths -= find_medians(lengths, _AROUND)
    scores, parts = np.zeros(len(table) - 1), np.zeros(len(table) - 1)
    scores[part.start : part.stop - 1] = lengths / max(measure_spread(lengths), 1e-3)
    parts[part.start : part.stop - 1] = sizes / np.maximum(np.linalg.norm(np.diff(sample, axis=0), axis=1), _TINY)
    is_long = (step_ratios > math.log(_STEP)) & (parts > _PART)
    return [place for place in _find_largest(scores, usable) if is_long[place]]


def _sample_columns(table: F64) -> F64:
    most = max(_FEWEST_COLUMNS, min(_SAMPLED_COLUMNS, _SAMPLED_NUMBERS // len(table)))
    if table.shape[1] <= most:
        return table
    return table[:, np.linspace(0, table.shape[1] - 1, most).astype(int)]


def _interpolate_steps(values: F64) -> F64:
    """Compute what both sides leave unexplained of each step: M(k) = sum_j h_j w(k + j) / sum_j h_j^2; (n - 1, c).

    h = (1, -a_1, .., -a_p) is the prediction-error filter of the steps x(k + 1) - x(k), pooled over columns
    (Yule-Walker), and w its output: M(k) estimates the vector that a break at k | k + 1 adds (Brockwell & Davis 1991,
    Time Series: Theory and Methods, ch. 5 and 8; Fox 1972, J. R. Statist. Soc. B 34, 350).
    """
    steps = np.diff(values, axis=0)
    steps -= steps.mean(axis=0)
    order = min(_ORDER, len(steps) // _STEPS_PER_COEFFICIENT)
    size = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    limit = 2 * float(find_median(size))
    # a break must not teach the filter to expect one
    tame = steps * np.minimum(1.0, limit / np.maximum(size, 1e-300))[:, None]
    products = [float(np.einsum("ij,ij->", tame[lag:], tame[: len(tame) - lag])) for lag in range(order + 1)]
    if order < 1 or products[0] <= 0:
        return steps
    lags = np.abs(np.arange(order)[:, None] - np.arange(order))
    matrix = np.array(products)[lags] + _RIDGE * products[0] * np.eye(order)
    errors = np.concatenate([[1.0], -np.linalg.solve(matrix, np.array(products[1:]))])
    padded = np.pad(steps, ((order, order), (0, 0)))
    white = sum(h * padded[order - j : len(padded) - j] for j, h in enumerate(errors))
    matched: F64 = sum(h * white[j : j + len(steps)] for j, h in enumerate(errors)) / float(errors @ errors)
    return matched


def _find_largest(scores: F64, valid: Mask) -> list[int]:
    """Find the few places whose score, in robust standard deviations, stands out of all others.

    Of the peaks (12 places from one another, places that are not valid too) the first m <= 3 are kept,
    m the largest for which the m-th exceeds 4.75, and the next one by 1.3. The largest of
    n independent normal numbers leads by 1 / sqrt(2 ln n) on average, exponentially distributed
    (Embrechts, Klueppelberg & Mikosch 1997, Modelling Extremal Events, sect. 4.2).
    """
    if not len(scores):
        return []
    around = sliding_window_view(np.pad(scores, _ORDER, constant_values=-np.inf), 2 * _ORDER + 1).max(axis=1)
    rest = np.where(valid & (scores >= around), scores, -np.inf)
    peaks = [int(place) for place in np.argsort(-rest, kind="stable")[: _MOST + 1] if np.isfinite(rest[place])]
    heights = [float(rest[place]) for place in peaks] + [0.0]
    kept = [m for m in range(1, min(len(peaks), _MOST) + 1) if heights[m - 1] > max(_DEVIATIONS, heights[m] + _LEAD)]
    return peaks[: max(kept, default=0)]
