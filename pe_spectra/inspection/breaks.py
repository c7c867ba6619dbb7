"""Evidence for a break between two rows: what the rows on both sides do not predict of the step there.

The steps e(s + 1) - e(s) of all columns are taken for one autoregressive process. A break adds a
vector to one step; the likelihood-ratio statistic for it is the matched filter of the whitened steps,
which is what is left of the step after the best linear interpolation from both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64
from pe_spectra.inspection.series import MAD_SCALE, Mask, bridge, find_medians, measure_spread

#: Past steps that predict the next one; fewer in short tables.
_ORDER, _STEPS_PER_COEFFICIENT = 12, 12
#: Added to the variance: what is predicted better than this is taken for exact.
_RIDGE = 1e-4
#: Columns that are looked at, and fewer from this many numbers on.
_SAMPLED_COLUMNS, _FEWEST_COLUMNS, _SAMPLED_NUMBERS = 256, 32, 1 << 22
#: Places on either side that a place is compared with: vectors, norms.
_AROUND, _AROUND_NORMS = 12, 32
#: A break of the vectors: robust deviations, lead over the next one, length of the step over those around.
_VECTOR_DEVIATIONS, _VECTOR_LEAD, _VECTOR_STEP = 4.2, 1.7, 1.45
#: A break of the level: deviations and lead of both together, and of norms and vectors alone.
_BOTH_DEVIATIONS, _BOTH_LEAD, _NORM_DEVIATIONS, _SUPPORT = 4.6, 1.0, 3.3, 0.0
#: Its size as a factor, in the interpolated norms and in the medians of 24 rows.
_NORM_FACTOR, _MEDIAN_FACTOR, _MEDIAN_ROWS = 1.2, 1.15, 24
#: A change at once and one that lasts agree within this factor; a walk's do not.
_AGREEMENT = 1.9
_MOST = 3
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """How strongly each pair s | s + 1 looks like a break, in robust standard deviations.

    Attributes
    ----------
    vectors : (S - 1,) of ln ||M(s)|| over its median around, M from the columns.
    norms : (S - 1,) of |M(s)| from ln ||e(s)||; changes : (S - 1,) that M itself.
    both : root of the sum of squares of the two.
    """

    vectors: F64
    norms: F64
    changes: F64
    both: F64

    def find_vector_breaks(self, usable: Mask, step_ratios: F64) -> list[int]:
        """Find the places where other rows begin; `step_ratios` : ln of each step over those around."""
        found = _find_largest(self.vectors, usable, deviations=_VECTOR_DEVIATIONS, lead=_VECTOR_LEAD)
        return [place for place in found if step_ratios[place] > math.log(_VECTOR_STEP)]

    def find_norm_breaks(self, usable: Mask, norms: F64) -> list[tuple[int, float]]:
        """Find the places where the norm changes at once by 1.2 and more, with the factor of the medians of 24 rows."""
        found = []
        logs = np.log(np.maximum(norms, _TINY))
        for place in _find_largest(self.both, usable, deviations=_BOTH_DEVIATIONS, lead=_BOTH_LEAD):
            change = float(self.changes[place])
            split = place + 1
            before, after = logs[max(split - _MEDIAN_ROWS, 0) : split], logs[split : split + _MEDIAN_ROWS]
            medians = float(np.median(after) - np.median(before))
            if (
                self.norms[place] > _NORM_DEVIATIONS
                and self.vectors[place] > _SUPPORT
                and abs(change) > math.log(_NORM_FACTOR)
                and medians * math.copysign(1.0, change) > math.log(_MEDIAN_FACTOR)
                and 1 / _AGREEMENT < change / medians < _AGREEMENT
            ):
                found.append((place, math.exp(medians)))
        return found

    def refine_place(self, place: int, reach: int = 2) -> int:
        """Return the likeliest place of a break within `reach` of one that is roughly known."""
        first = max(place - reach, 0)
        near = self.both[first : place + reach + 1]
        return first + int(np.argmax(near)) if len(near) and near.max() > _NORM_DEVIATIONS else place


def measure_evidence(table: F64, norms: F64, regular: Mask) -> Evidence:
    """Measure the evidence for a break between each two rows.

    Parameters
    ----------
    table : (S, d); norms : (S,); regular : (S,) rows to trust, at least 16; others are bridged.

    >>> table = np.sin(np.arange(64.0)[:, None] * np.linspace(0.1, 0.5, 8))
    >>> type(measure_evidence(table, np.linalg.norm(table, axis=1), np.ones(64, dtype=bool))).__name__
    'Evidence'
    """
    inside = np.flatnonzero(regular)
    part = slice(int(inside[0]), int(inside[-1]) + 1)
    logs = np.log(np.maximum(norms[part], _TINY))[:, None]
    good = regular[part] & (norms[part] > 0)
    vectors, changes, strength = (np.zeros(len(table) - 1) for _ in range(3))
    pairs = slice(part.start, part.stop - 1)
    lengths = np.linalg.norm(_interpolate_steps(bridge(_sample_columns(table[part]), regular[part])), axis=1)
    lengths = np.log(np.maximum(lengths, _TINY))
    lengths -= find_medians(lengths, _AROUND)
    vectors[pairs] = lengths / max(measure_spread(lengths), 1e-3)
    if good.sum() > 1:
        changes[pairs] = _interpolate_steps(bridge(logs, good))[:, 0]
    sizes = np.abs(changes[pairs])
    usual = MAD_SCALE * np.maximum(find_medians(sizes, _AROUND_NORMS), np.median(sizes))
    strength[pairs] = sizes / np.maximum(usual, 1e-6)
    return Evidence(vectors=vectors, norms=strength, changes=changes, both=np.hypot(strength, np.maximum(vectors, 0.0)))


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
    limit = 2 * float(np.median(size))
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


def _find_largest(scores: F64, valid: Mask, *, deviations: float, lead: float) -> list[int]:
    """Find the few places whose score, in robust standard deviations, stands out of all others.

    Of the peaks (12 places from one another, places that are not valid too) the first m <= 3 are kept,
    m the largest for which the m-th exceeds `deviations`, and the next one by `lead`. The largest of
    n independent normal numbers leads by 1 / sqrt(2 ln n) on average, exponentially distributed
    (Embrechts, Klueppelberg & Mikosch 1997, Modelling Extremal Events, sect. 4.2).
    """
    if not len(scores):
        return []
    around = sliding_window_view(np.pad(scores, _ORDER, constant_values=-np.inf), 2 * _ORDER + 1).max(axis=1)
    rest = np.where(valid & (scores >= around), scores, -np.inf)
    peaks = [int(place) for place in np.argsort(-rest, kind="stable")[: _MOST + 1] if np.isfinite(rest[place])]
    heights = [float(rest[place]) for place in peaks] + [0.0]
    kept = [m for m in range(1, min(len(peaks), _MOST) + 1) if heights[m - 1] > max(deviations, heights[m] + lead)]
    return peaks[: max(kept, default=0)]
