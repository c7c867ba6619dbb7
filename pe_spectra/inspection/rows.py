"""The rows and columns of a table: norms, steps, cosines of neighbours; equal rows, columns that jump.

All row-by-row quantities come from one pass in blocks of rows, so that a table of 65,536 rows needs
little more memory than itself.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pe_spectra.encodings.equal_rows import hash_rows
from pe_spectra.exact import F64, list_blocks
from pe_spectra.inspection.series import Mask
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass

#: Below this norm squares may have lost digits.
_FAINT = 1e-140
#: A column jumps where its step is so many times those beside it, on either side; so many jumps are a habit.
_JUMP, _BESIDE, _HABIT = 5.0, 3, 3
#: Rows on each side over which two means are compared.
JUMP_WIDTH = 4
#: A jump of steps or norms is so many times the usual change around it, and so many times those right beside it.
JUMP_RATIO, BESIDE_RATIO = 1.5, 1.3


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSignals(ReadOnly):
    """What each row, and each pair of neighbouring rows, shows.

    Attributes
    ----------
    norms : (S,) Euclidean norms.
    steps : (S - 1,) ||e(s + 1) - e(s)||.
    cosines : (S - 1,) cosine of e(s) and e(s + 1); 0 where one of them is zero.
    centred_cosines : (S - 1,) the same after the mean row is taken away.
    jumps : (S - 1,) distance between the means of up to four rows on either side of s | s + 1.
    turns : (S - 2,) cosine of the steps to and from row s + 1; 0 where one of them is zero. Of independent rows
        -1/2, of a straight line 1.
    twists : (S - 3,) ||e(s + 3) - 3 e(s + 2) + 3 e(s + 1) - e(s)||.
    """

    norms: F64
    steps: F64
    cosines: F64
    centred_cosines: F64
    jumps: F64
    turns: F64
    twists: F64


def measure_rows(table: F64, mean: F64) -> RowSignals:
    """Measure norms, steps and cosines of neighbours.

    Parameters
    ----------
    table : (S, d); mean : (d,) the row that `centred_cosines` takes away.

    >>> signals = measure_rows(np.array([[3.0, 4.0], [0.0, 5.0]]), np.zeros(2))
    >>> signals.norms.tolist()
    [5.0, 5.0]
    """
    size = len(table)
    norms, steps = np.empty(size), np.empty(max(size - 1, 0))
    cosines, centred, jumps = np.empty_like(steps), np.empty_like(steps), np.empty_like(steps)
    turns, twists = np.empty(max(size - 2, 0)), np.empty(max(size - 3, 0))
    for rows in list_blocks(size, table.shape[1]):
        norms[rows] = _measure_norms(table[rows])
        pairs = slice(rows.start, min(rows.stop, size - 1))
        if pairs.start < pairs.stop:
            block = table[pairs.start : pairs.stop + 1]
            steps[pairs] = np.linalg.norm(np.diff(block, axis=0), axis=1)
            cosines[pairs] = compute_cosines(block[:-1], block[1:])
            block = block - mean
            centred[pairs] = compute_cosines(block[:-1], block[1:])
            jumps[pairs] = _measure_jumps(table, pairs.start, pairs.stop)
            around = np.diff(table[pairs.start : pairs.stop + 3], axis=0)
            inside = around[: pairs.stop - pairs.start + 1]
            turns[pairs.start : pairs.start + len(inside) - 1] = compute_cosines(inside[:-1], inside[1:])
            twisted = np.linalg.norm(np.diff(around, n=2, axis=0), axis=1)
            twists[pairs.start : pairs.start + len(twisted)] = twisted
    return RowSignals(
        norms=norms, steps=steps, cosines=cosines, centred_cosines=centred, jumps=jumps, turns=turns, twists=twists
    )


def compute_mean_row(table: F64) -> F64:
    """Compute the mean row, in which a column of one number has that number exactly; shape (d,).

    >>> compute_mean_row(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.5]])).tolist()
    [0.1, 2.5]
    """
    total = np.zeros(table.shape[1])
    for rows in list_blocks(*table.shape):
        total += (table[rows] - table[0]).sum(axis=0)
    mean: F64 = table[0] + total / len(table)
    return mean


def find_equal_rows(table: F64) -> tuple[tuple[int, ...], ...]:
    """Find groups of rows that are equal number by number (0 and -0 are equal), each in order.

    Rows are hashed as integers in one pass; rows with one hash are then compared.

    >>> find_equal_rows(np.array([[1.0], [2.0], [1.0]]))
    ((0, 2),)
    """
    size, width = table.shape
    hashes = np.empty(size, dtype=np.uint64)
    for rows in list_blocks(size, width):
        hashes[rows] = hash_rows(table[rows])
    _, places, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    groups: defaultdict[bytes, list[int]] = defaultdict(list)
    for row in np.flatnonzero(counts[places.reshape(-1)] > 1).tolist():
        groups[(table[row] + 0.0).tobytes()].append(row)
    return tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


def find_jumping_columns(table: F64) -> Mask:
    """Find columns that jump again and again, (d,): three steps are five times as long as the three on either side.

    So do sawtooths, staircases and digits. Of a column of noise, one step in some thousands is so long.

    >>> places = np.arange(64.0)
    >>> find_jumping_columns(np.stack([places, np.mod(places, 16), np.sin(places)], axis=1)).tolist()
    [False, True, False]
    """
    size, width = table.shape
    if size < 2 * _BESIDE + 2:
        return np.zeros(width, dtype=bool)
    found = np.zeros(width, dtype=bool)
    for columns in list_blocks(width, size):
        steps = np.abs(np.diff(table[:, columns], axis=0))
        # a stair that rounding makes is of one unit
        around = np.ones_like(steps) * np.min(steps, axis=0, where=steps > 0, initial=np.inf)
        for apart in range(1, _BESIDE + 1):
            np.maximum(around[apart:], steps[:-apart], out=around[apart:])
            np.maximum(around[:-apart], steps[apart:], out=around[:-apart])
        found[columns] = (steps > _JUMP * around).sum(axis=0) >= _HABIT
    return found


def compute_cosines(first: F64, second: F64) -> F64:
    """Return the cosine of each row and the other's of the same place, 0 where one of them is zero; (S,).

    >>> compute_cosines(np.eye(2), np.array([[3.0, 0.0], [0.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    size = np.sqrt(np.einsum("ij,ij->i", first, first)) * np.sqrt(np.einsum("ij,ij->i", second, second))
    products = np.einsum("ij,ij->i", first, second)
    cosines: F64 = np.divide(products, size, out=np.zeros_like(products), where=size > 0)
    return cosines


def compute_cosine(first: F64, second: F64, of_zero: float = 0.0) -> float:
    """Return the cosine of two rows, `of_zero` where one of them is zero; squares do not underflow.

    >>> compute_cosine(np.array([3e-200, 0.0]), np.array([1.0, 0.0])), compute_cosine(np.zeros(2), np.ones(2))
    (1.0, 0.0)
    """
    peaks = float(np.abs(first).max()), float(np.abs(second).max())
    if not all(peaks):
        return of_zero
    a, b = first / peaks[0], second / peaks[1]
    return float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))


def _measure_norms(block: F64) -> F64:
    with np.errstate(under="ignore"):
        norms: F64 = np.sqrt(np.einsum("ij,ij->i", block, block))
    for row in np.flatnonzero(norms < _FAINT):  # the squares of tiny numbers underflow: such a row is not zero
        peak = float(np.abs(block[row]).max())
        norms[row] = peak * float(np.linalg.norm(block[row] / peak)) if peak > 0 else 0.0
    return norms


def _measure_jumps(table: F64, first: int, last: int) -> F64:
    # means of fewer rows near the ends of the table
    low, high = max(first - JUMP_WIDTH + 1, 0), min(last + JUMP_WIDTH, len(table))
    sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table[low:high], axis=0)])
    pairs = np.arange(first, last)
    before = np.maximum(pairs - JUMP_WIDTH + 1, 0)
    after = np.minimum(pairs + JUMP_WIDTH + 1, len(table))
    left = (sums[pairs + 1 - low] - sums[before - low]) / (pairs + 1 - before)[:, None]
    right = (sums[after - low] - sums[pairs + 1 - low]) / (after - pairs - 1)[:, None]
    distances: F64 = np.linalg.norm(right - left, axis=1)
    return distances


def reduce_columns(centred: F64, count: int, *, rounds: int, seed: int) -> F64:
    """Return (S, count) principal columns, with the same Gram matrix as nearly as so few allow, by subspace iteration.

    References
    ----------
    Halko, Martinsson & Tropp 2011, SIAM Review 53, 217.

    >>> reduce_columns(np.ones((5, 1)) * np.arange(8.0), 1, rounds=2, seed=1).shape
    (5, 1)
    """
    sketch = np.random.Generator(np.random.PCG64(seed)).standard_normal((centred.shape[1], count))
    for _ in range(rounds):
        sketch = np.linalg.qr(centred.T @ (centred @ sketch))[0]
    reduced: F64 = centred @ sketch
    return reduced
