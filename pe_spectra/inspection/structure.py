"""Which rows were trained at all: a table of noise, an untrained tail, special rows in front.

Fresh initialisation is recognised by what training always breaks: independent rows of zero mean have
cosines that scatter about 0 with standard deviation 1/sqrt(d).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.outliers import breaks_off
from pe_spectra.inspection.rows import RowSignals, compute_cosine, compute_cosines, compute_mean_row
from pe_spectra.inspection.series import Mask, measure_spread
from pe_spectra.ordering import find_median, list_distinct
from pe_spectra.records import dataclass

Kind = Literal["noise", "zero"]
#: Special rows in front that are looked for: CLS, BOS, padding.
MAX_PREFIX = 4
#: Columns that the test for noise looks at, and rows.
_SAMPLED_COLUMNS, _SAMPLED_ROWS = 128, 4096
#: Below this mean cosine of neighbours a table is not smooth enough to tell its tail from noise.
_SMOOTH = 0.15
#: A row is unlike its neighbours when its cosine is lower than usual by this much.
_COSINE_GAP = 0.3
#: and farther from the first regular row than that is from the next, 1 - cosine by this factor.
_ABRUPT = 1.85
#: What so many of all pairs are is usual, however far from most: cosines of few columns lie at both ends.
_COMMON = 0.1
#: Steps that those at the end are compared with; a break is this factor longer, and so many robust deviations, and
#: longer than all but so many.
_COMPARED, _LONGER, _DEVIATIONS, _ALONE = 64, 1.5, 7.0, 2
#: What no cosine is below.
_NEVER = -2.0
#: Rows that predict one in front of them.
_PREDICTING = 4


@dataclass(frozen=True, kw_only=True)
class Tail:
    """Rows at the end that were never trained.

    Attributes
    ----------
    start : first row of the tail.
    kind : zero (all entries 0) or noise.
    cosine, cosine_before : mean cosine of neighbours in the tail and before it.
    deviation : standard deviation of the tail's entries.
    """

    start: int
    kind: Kind
    cosine: float
    cosine_before: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Independent rows.

    Attributes
    ----------
    deviation : standard deviation of the entries about the mean row.
    has_mean : whether that row is not what noise around 0 leaves, by six standard errors of its energy.
    """

    deviation: float
    has_mean: bool


def find_noise(table: F64, signals: RowSignals, regular: Mask, first: int = 0) -> Noise | None:
    """Measure the noise that a table is by the three tests of `NO_STRUCTURE`; None where it is more than that.

    What is common to all rows is no noise. A table that is too small to tell (fewer than some 1300 numbers) is none.

    Parameters
    ----------
    table : (S, d), of which `regular` rows are looked at; first : row from which on it is measured.

    >>> from pe_spectra.inspection.rows import measure_rows
    >>> table, every = np.random.default_rng(0).normal(size=(64, 32)), np.ones(64, dtype=bool)
    >>> find_noise(table, measure_rows(table, table.mean(axis=0)), every).has_mean
    False
    """
    rows = np.flatnonzero(regular)[:_SAMPLED_ROWS]
    pairs = regular[:-1] & regular[1:]
    if len(rows) < 8 or not pairs.any():
        return None
    columns = list_distinct(np.linspace(0, table.shape[1] - 1, _SAMPLED_COLUMNS).astype(int))
    sample = table[np.ix_(rows, columns)]
    sample = sample - sample.mean(axis=0)
    bins = (len(rows) - 1) // 2
    power = np.abs(np.fft.rfft(sample, axis=0)[1 : bins + 1]) ** 2
    power = power[:, power.mean(axis=0) > 0]
    width = power.shape[1]
    if bins * width < 768:
        return None
    cosine = float(signals.centred_cosines[pairs].mean()) + 1 / (len(rows) - 1)
    if abs(cosine) > 5 / math.sqrt(table.shape[1] * pairs.sum()):
        return None
    power /= power.mean(axis=0)
    scatter = float((power**2).mean())
    pooled = float(power.mean(axis=1).std()) * math.sqrt(width)
    flat = pooled < 1 + 5 / math.sqrt(2 * bins)
    if not (flat and abs(scatter - 2 * bins / (bins + 1)) < 5 * math.sqrt(20 / (bins * width))):
        return None
    size, width = len(table) - first, table.shape[1]
    mean = compute_mean_row(table[first:])
    energy = float(np.sum((table[first:] - mean) ** 2)) / (size - 1)
    # S mean**2 of a column has expectation s**2 and variance 2 s**4
    has_mean = size * float(mean @ mean) > energy * (1 + 6 * math.sqrt(2 / width))
    return Noise(deviation=math.sqrt(energy / width), has_mean=has_mean)


def find_tail(table: F64, signals: RowSignals, start: int) -> Tail | None:
    """Find the row from which on the table is as it was drawn, by the formula of `UNTRAINED_TAIL`, or None.

    Parameters
    ----------
    start : first row that is looked at (special rows in front are left out).

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.inspection.rows import measure_rows
    >>> table = 0.1 * Sinusoidal(d=32).table(256)
    >>> table[128:] = np.random.default_rng(0).normal(scale=0.02, size=(128, 32))
    >>> find_tail(table, measure_rows(table, table.mean(axis=0)), 0).start
    128
    """
    size, width = table.shape
    cosines = signals.cosines[start:]
    count = len(cosines)
    if count < 16:
        return None
    before = np.arange(8, count)  # pairs before the tail
    sums, squares = np.cumsum(cosines), np.cumsum(cosines**2)
    mean = sums[before - 1] / before
    variance = np.maximum(squares[before - 1] / before - mean**2, 1e-4 / width)
    rest, rest_squares = sums[-1] - sums[before - 1], squares[-1] - squares[before - 1]
    likelihood = -before / 2 * (np.log(variance) + 1) + (count - before) / 2 * math.log(width)
    likelihood -= width * rest_squares / 2
    best = int(np.argmax(likelihood))
    pairs = count - int(before[best])
    level, usual, scatter = rest[best] / pairs, mean[best], math.sqrt(max(rest_squares[best], 0.0) / pairs)
    error = 1 / math.sqrt(width * pairs)
    both = math.hypot(error, math.sqrt(variance[best] / int(before[best])))
    clear = usual - level > (6 * both if pairs > 1 else max(0.5, 10 * math.sqrt(variance[best])))
    if (
        usual < _SMOOTH
        or abs(level) > 4 * error
        or scatter > (1 + 3 / math.sqrt(pairs)) / math.sqrt(width)
        or not clear
    ):
        return None
    first = size - pairs
    is_noise = bool(signals.norms[first:].any())
    if is_noise and pairs <= MAX_PREFIX:
        return None  # so few may be tokens of their own as well
    return Tail(
        start=first,
        kind="noise" if is_noise else "zero",
        cosine=float(level),
        cosine_before=float(usual),
        deviation=float(table[first:].std()),
    )


def count_special_rows(table: F64, odd: Mask) -> int:
    """Count the rows in front, at most 4, that do not belong to the sequence (CLS, BOS, padding).

    They are found by the formulas of `SPECIAL_FIRST_ROW` and `PADDING_OFFSET`; `odd` are rows that are zero or
    have an outlying norm.

    >>> from pe_spectra import Sinusoidal
    >>> table = np.concatenate([np.zeros((2, 8)), Sinusoidal(d=8).table(60)])
    >>> count_special_rows(table, np.arange(62) < 2)
    2
    """
    size = len(table)
    if size < 16:
        return 0
    usual = []
    for lag in range(1, MAX_PREFIX + 1):
        rows = _choose_rows(odd, (0, lag))
        usual.append(_describe_cosines(table[rows], table[rows + lag], 8.0))
    middle, least = usual[0]
    fit_predictor = cache(lambda lag: _fit_predictor(table, odd, lag))

    def departs(row: int, count: int) -> bool:
        weights, lowest = fit_predictor(count - row)
        return compute_cosine(table[row], weights @ table[count : count + len(weights)], of_zero=1.0) < lowest

    for count in range(MAX_PREFIX, 0, -1):
        next_cosine = compute_cosine(table[count], table[count + 1], of_zero=1.0)
        if odd[count] or not next_cosine >= least:
            continue
        steps = np.linalg.norm(np.diff(table[count - 1 : count + 10], axis=0), axis=1)
        if middle >= _COSINE_GAP and not breaks_off(steps):
            continue
        # where the rows behind change quickly too, a first row only leads the change
        lowest = [min(one, 1 - _ABRUPT * (1 - next_cosine)) for _, one in usual]
        cosines = [compute_cosine(row, table[count], of_zero=1.0) for row in table[:count]]
        if all(odd[row] or not cosines[row] >= lowest[count - row - 1] or departs(row, count) for row in range(count)):
            return count
    return 0


def count_last_rows(table: F64, steps: F64, odd: Mask) -> int:
    """Count the rows at the end, at most 4, that do not belong to the sequence.

    They are found as those in front, or lie behind a step that is longer than those of the last 64 rows by a factor of
    1.5 and seven robust deviations, and than all but two of them, and breaks off from the eight before it.

    Parameters
    ----------
    table : (S, d); steps : (S - 1,) between its rows; odd : (S,) as in `count_special_rows`.

    >>> from pe_spectra import Sinusoidal
    >>> table = Sinusoidal(d=8).table(60)
    >>> table[58:] *= [[-3.0], [2.0]]
    >>> count_last_rows(table, np.linalg.norm(np.diff(table, axis=0), axis=1), np.zeros(60, dtype=bool))
    2
    """
    count = count_special_rows(table[::-1], odd[::-1])
    if count or len(table) < 16:
        return count
    back = steps[::-1]
    logs = np.log(np.maximum(back[: MAX_PREFIX + _COMPARED], 1e-300))
    middle = float(find_median(logs[MAX_PREFIX:]))
    limit = middle + max(math.log(_LONGER), _DEVIATIONS * measure_spread(logs[MAX_PREFIX:], middle))
    # a row that stands alone, and a seam, make two long steps at most: more of them are a habit, as of a sawtooth
    limit = max(limit, float(np.sort(logs[MAX_PREFIX:])[-_ALONE - 1]))
    broken = (n for n in range(MAX_PREFIX, 0, -1) if logs[n - 1] > limit and breaks_off(back[n - 1 :]))
    return next(broken, 0)


def _choose_rows(odd: Mask, lags: Sequence[int]) -> I64:
    """Return at most some 256 rows s behind the first 4 with no odd one among s + lag."""
    rows = np.arange(MAX_PREFIX, len(odd) - max(lags))
    rows = rows[~np.any([odd[rows + lag] for lag in lags], axis=0)]
    chosen: I64 = rows[:: max(1, len(rows) // 256)]
    return chosen


def _fit_predictor(table: F64, odd: Mask, lag: int) -> tuple[F64, float]:
    """Fit e(s) = sum_j a_j e(s + lag + j), j = 0 .. 3, to all columns; the weights, and the lowest usual cosine."""
    rows = _choose_rows(odd, range(lag + _PREDICTING))
    if len(rows) < 8:
        return np.ones(1), _NEVER
    columns = list_distinct(np.linspace(0, table.shape[1] - 1, _SAMPLED_COLUMNS).astype(int))
    sample = table[:, columns]
    target = sample[rows]
    behind = [sample[rows + lag + j] for j in range(_PREDICTING)]
    gram = np.array([[float(np.einsum("ij,ij->", a, b)) for a in behind] for b in behind])
    right = np.array([float(np.einsum("ij,ij->", a, target)) for a in behind])
    weights = np.linalg.solve(gram + (1e-6 * float(np.trace(gram)) + 1e-300) * np.eye(_PREDICTING), right)
    predicted = sum(weight * table[rows + lag + j] for j, weight in enumerate(weights))
    return weights, _describe_cosines(table[rows], np.asarray(predicted), 5.0)[1]


def _describe_cosines(first: F64, second: F64, deviations: float) -> tuple[float, float]:
    """Median of the cosines of some rows and others, and the value below which one is unlike the rest."""
    if len(first) < 8:
        return _NEVER, _NEVER
    cosines = compute_cosines(first, second)
    middle = float(find_median(cosines))
    lowest = middle - max(_COSINE_GAP, deviations * measure_spread(cosines, middle))
    return middle, min(lowest, float(np.quantile(cosines, _COMMON)) - _COSINE_GAP)
