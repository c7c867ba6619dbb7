"""The smallest distance of two rows of a rounded table, found among all pairs.

The exact distance of two codes of a ladder is a function of their lag; a rounded one differs from it by
at most twice the error of a row. So only lags whose exact distance is within that of the best so far need
be gone through, and most often that is lag 1 alone.
"""

from __future__ import annotations

import numpy as np

from pe_spectra.exact import F64, sum_cosines
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.precision.rows import Evaluate, list_blocks, measure_distances
from pe_spectra.precision.waves import Waves

#: Multiplications of all pairs of rows that are held.
MAX_HELD_WORK = 1 << 32
#: Numbers of the rows at all lags that are gone through, and how many multiplications each of them is worth.
_MAX_LAG_WORK, _WORTH = 1 << 29, 1 << 8
_EPS = 2.0**-52

Nearest = tuple[float, tuple[int, int]]


def find_nearest_held(evaluate: Evaluate, rows: int) -> Nearest:
    """Find the closest two of all rows by comparing every pair.

    >>> table = np.array([[0.0], [3.0], [1.0]], dtype=np.float32)
    >>> find_nearest_held(lambda rows: table[rows], 3)
    (1.0, (0, 2))
    """
    table = evaluate(np.arange(rows)).astype(np.float64)
    found = find_closest_pair(table)
    return (found.distance if found.distance is not None else np.inf), found.pair


def bound_distances(waves: Waves, lags: int) -> F64:
    """Return a lower bound of the exact distance of two codes at lag 1 .. lags, shape (lags,).

    Lone columns are left out, and the rounding of the sums of cosines is allowed for.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.waves import find_waves
    >>> bound_distances(find_waves(Sinusoidal(d=2)), 3).round(6)  # 2 sin 1/2, 2 sin 1, 2 sin 3/2
    array([0.958851, 1.682942, 1.99499 ])
    """
    paired = waves.is_paired
    if not paired.any():
        return np.zeros(lags)
    factor = float(waves.factors[0])
    words = np.stack([waves.high[paired], waves.low[paired], np.zeros(int(paired.sum()))])
    count = words.shape[1]
    kernel = sum_cosines(words, np.ones(count), np.arange(1, lags + 1))
    squared = 2 * (count - kernel) - 64 * _EPS * count * (4 + np.log2(count + 1))
    distances: F64 = factor * np.sqrt(np.maximum(squared, 0.0))
    return distances


def find_nearest_of_ladder(
    evaluate: Evaluate, rows: int, columns: int, bounds: F64, error: float, known: Nearest
) -> Nearest | None:
    """Find the closest two rows, given the closest neighbours; None where too many lags come into question.

    Parameters
    ----------
    bounds : lower bounds of the exact distance at lag 1, 2, ..
    error : by how much a row is away from its exact code at most.
    known : the smallest distance at lag 1, and its rows.

    >>> from pe_spectra import Sinusoidal
    >>> table = Sinusoidal(d=2).table(10).astype(np.float32)
    >>> bounds = 2 * np.abs(np.sin(np.arange(1, 10) / 2)) - 1e-6
    >>> known = (float(np.linalg.norm(table[1] - table[0])), (0, 1))
    >>> find_nearest_of_ladder(lambda rows: table[rows], 10, 2, bounds, 1e-6, known)[1]
    (0, 6)
    """
    best = known
    near = np.flatnonzero(bounds <= best[0] + 2 * error)
    near = near[near > 0]
    near = near[np.argsort(bounds[near], kind="stable")]
    work = int((rows - 1 - near).sum()) * columns
    if rows * rows * columns <= min(MAX_HELD_WORK, _WORTH * work):
        return find_nearest_held(evaluate, rows)
    if work > _MAX_LAG_WORK:
        return None
    for place in near:
        if bounds[place] > best[0] + 2 * error:
            break
        found = _measure_lag(evaluate, rows, columns, int(place) + 1)
        best = min(best, found)
    return best


def _measure_lag(evaluate: Evaluate, rows: int, columns: int, lag: int) -> Nearest:
    best: Nearest = (np.inf, (0, lag))
    for part in list_blocks(rows - lag, columns):
        distances = measure_distances(evaluate(part), evaluate(part + lag))
        place = int(np.argmin(distances))
        best = min(best, (float(distances[place]), (int(part[place]), int(part[place]) + lag)))
    return best
