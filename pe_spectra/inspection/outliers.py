"""Rows whose norm is far from the others', told from where curves and walks pass zero, begin, or end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from pe_spectra.exact import F64, I64, list_blocks
from pe_spectra.inspection.rows import BESIDE_RATIO, JUMP_RATIO, compute_cosine
from pe_spectra.inspection.series import Mask, measure_spread
from pe_spectra.ordering import find_median

#: An outlier's norm differs from the median by more than these factors, and by so many deviations.
FACTOR_ABOVE, _FACTOR_BELOW, _DEVIATIONS = 1.8, 2.5, 7.0
#: Steps behind a first one that say how long it may be; powers of the place that a curve from 0 may be.
FITTED_STEPS, _POWERS = 8, np.linspace(0.05, 1.0, 39)
#: A law that leaves so many times what another does fits about as well.
_AS_WELL = 2.0
#: Or, where neighbours have a cosine below this, a change of norm this many times those behind.
_ROUGH, _SUDDEN = 0.5, 6.0


def find_outliers(table: F64, norms: F64) -> tuple[I64, F64]:
    """Find rows whose norm is far from the others' by the formula of `OUTLIER_ROWS`, and by which factor.

    So curves that fade in and the first rows of a ramp are none. Small rows at an end of the table must
    break off from the others (`breaks_off`), too: a curve may start at zero; and others lie where a curve passes zero
    if steps of the usual length lead there (`_keep_unreached`).

    Returns
    -------
    indices (R,) and norm / median (R,); zero rows are left out.

    >>> table = np.ones((40, 4))
    >>> table[7] *= 9
    >>> rows, factors = find_outliers(table, np.linalg.norm(table, axis=1))
    >>> rows.tolist(), factors.round(6).tolist()
    ([7], [9.0])
    """
    alive = norms > 0
    if alive.sum() < 5:
        return np.empty(0, dtype=np.int64), np.empty(0)
    logs = np.log(np.where(alive, norms, 1.0))
    middle = float(find_median(logs[alive]))
    spread = measure_spread(logs[alive], middle)
    excess = logs - middle
    above = excess > max(np.log(FACTOR_ABOVE), _DEVIATIONS * spread)
    below = excess < -max(np.log(_FACTOR_BELOW), _DEVIATIONS * spread, _bound_shortness(spread, len(logs)))
    flagged = _keep_abrupt(np.where(alive, excess, np.nan), alive & (above | below))
    flagged = (flagged & above) | _keep_unreached(table, norms, _keep_broken(table, norms, flagged & below))
    found = np.array([row for run in _list_runs(flagged) for row in _list_odd(table, *run)], np.int64)
    return found, np.exp(excess[found])


def _list_odd(table: F64, first: int, last: int) -> Iterable[int]:
    """Of a run of flagged rows all where an end of it breaks off, else those that their neighbours do not continue.

    Of a run of a quarter of the table or more, none: it is a part of the table by its own right.
    """
    if 4 * (last - first) >= len(table):
        return ()
    odd = [row for row in range(first, last) if not continues(table, row)]
    return range(first, last) if odd and (odd[0] == first or odd[-1] == last - 1) else odd


def _bound_shortness(spread: float, count: int) -> float:
    """How much shorter than usual, in logarithms, one of `count` vectors of noise is in one table of 1000.

    Noise of m columns has lengths whose logarithms scatter by sqrt(1/2m), and is shorter by a factor of r with a
    probability of about r^m.
    """
    return 2 * spread**2 * math.log(1000 * count)


def _keep_unreached(table: F64, norms: F64, flagged: Mask) -> Mask:
    """Drop short rows inside the table that steps of the usual length lead to, and away from.

    Such rows are where a curve or a walk passes zero. They are kept where they are shorter than steps by more than
    chance makes vectors of as many columns as the lengths of steps scatter like.
    """
    kept, size = flagged.copy(), len(table)
    if not flagged.any():
        return kept
    steps = np.concatenate(
        [
            np.linalg.norm(np.diff(table[rows.start : rows.stop + 1], axis=0), axis=1)
            for rows in list_blocks(size, table.shape[1])
        ]
    )
    logs = np.log(np.where(steps > 0, steps, np.nan))
    usual = float(np.nanmedian(logs))
    spread = measure_spread(logs[steps > 0], usual)
    longest, shortest = max(math.log(JUMP_RATIO), _DEVIATIONS * spread), _bound_shortness(spread, size)
    for first, last in _list_runs(flagged):
        beside = logs[[first - 1, last - 1]] if first > 0 and last < size else np.full(1, np.inf)
        if not (beside > usual + longest).any() and math.log(float(norms[first:last].min())) > usual - shortest:
            kept[first:last] = False
    return kept


def _keep_abrupt(excess: F64, flagged: Mask) -> Mask:
    """Cut runs of flagged rows to the part between two abrupt changes (the table's ends count as one)."""
    kept = np.zeros_like(flagged)
    change = np.append(np.abs(np.diff(excess)), np.inf)  # between s and s + 1; beside a zero row NaN: abrupt
    abrupt = ~(change < np.log(JUMP_RATIO))
    for first, last in _list_runs(flagged):
        starts = [s for s in range(first, last) if s == 0 or abrupt[s - 1]]
        ends = [s for s in range(first, last) if abrupt[s]]
        if starts and ends:
            kept[starts[0] : ends[-1] + 1] = True
    return kept


def _list_runs(flagged: Mask) -> Iterator[tuple[int, int]]:
    """First row of each run of flagged rows, and the first behind it."""
    edges = np.flatnonzero(np.diff(flagged.astype(np.int8), prepend=0, append=0)).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def breaks_off(steps: F64) -> bool:
    """Say whether the first of some steps is far longer than the ones behind it let expect.

    A line ln ||step|| = a + b ln(1 + j), -3/2 <= b <= 0, or the steps (j + 1)**p - j**p of a power s**p, p <= 1,
    fitted to the steps j = 1 .. 8, says what the first one, j = 0, would be in a curve that starts fast; it must be
    exceeded by a factor of 1.3 and two robust deviations. Of a power that fits about as well the longer one counts.

    Parameters
    ----------
    steps : (n,) lengths; fewer than 5, or a step of length 0 behind the first, break off by being longer.

    >>> breaks_off(np.array([1.0, 0.5, 0.34, 0.25, 0.2])), breaks_off(np.array([3.0, 1.0, 1.0, 1.0, 1.0]))
    (False, True)
    >>> breaks_off(np.diff(np.sqrt(np.arange(9.0)))), breaks_off(np.diff(np.sqrt([0.0, 9, 10, 11, 12, 13, 14])))
    (False, True)
    """
    behind = steps[1 : 1 + FITTED_STEPS]
    if len(behind) < 4 or behind.min() <= 0 or steps[0] <= 0:
        return bool(len(behind) == 0 or steps[0] > 1.3 * float(find_median(behind)))
    places, logs = np.log(np.arange(2, 2 + len(behind))), np.log(behind)
    centred = places - places.mean()
    slope = float(np.clip(centred @ logs / (centred @ centred), -1.5, 0.0))
    left = logs - logs.mean() - slope * centred
    expected = float(logs.mean()) - slope * float(places.mean())
    # a root has no slope at 0: its first step is longer than any power of the place says
    ends = np.arange(1, len(behind) + 2)[:, None] ** _POWERS
    rests = logs[:, None] - np.log(np.diff(ends, axis=0))
    best = int(np.argmin(rests.std(axis=0)))
    margin = max(math.log(BESIDE_RATIO), 2 * float(left.std()))
    if float(rests[:, best].std()) < _AS_WELL * float(left.std()):
        expected = max(expected, float(rests[:, best].mean()))
    return math.log(float(steps[0])) > expected + margin


def _keep_broken(table: F64, norms: F64, flagged: Mask) -> Mask:
    """Drop runs of small rows at an end that the others continue: a curve may start at zero."""
    kept, size = flagged.copy(), len(table)
    for start, last in _list_runs(flagged):
        first = start if norms[:start].any() else 0
        if (first > 0) == (last < size):
            continue
        inwards = np.arange(last - 1, size) if first == 0 else np.arange(first, -1, -1)
        order = inwards[: FITTED_STEPS + 2]
        rows = table[order]
        changes = np.abs(np.diff(norms[order]))
        steps = np.linalg.norm(np.diff(rows, axis=0), axis=1)
        # in noise no step is a break, but a change of the norm may be
        rough = len(rows) > 2 and compute_cosine(rows[1], rows[2]) < _ROUGH
        sudden = rough and changes[0] > _SUDDEN * float(find_median(changes[1:]))
        if not sudden and not breaks_off(steps):
            kept[start:last] = False
    return kept


def continues(table: F64, row: int) -> bool:
    """Say whether a row lies on the straight line through its neighbours, within a tenth of their size.

    >>> continues(np.array([[1.0], [2.0], [3.0]]), 1), continues(np.array([[1.0], [9.0], [3.0]]), 1)
    (True, False)
    """
    size = len(table)
    if size < 3:
        return False
    if row == 0:
        first, second, expected = table[1], table[2], 2 * table[1] - table[2]
    elif row == size - 1:
        first, second, expected = table[-2], table[-3], 2 * table[-2] - table[-3]
    else:
        first, second = table[row - 1], table[row + 1]
        expected = (first + second) / 2
    size_of_both = max(float(np.linalg.norm(first)), float(np.linalg.norm(second)))
    return size_of_both > 0 and float(np.linalg.norm(table[row] - expected)) <= 0.1 * size_of_both
