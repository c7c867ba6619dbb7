"""The smallest distance between two codes, by lag and without a table of codes.

For pairs of sine and cosine the distance depends on the lag alone, D(tau)**2 = sum of
4 sin(w tau/2)**2 = 2 (k(0) - k(tau)). All kernel values come from one matrix product of two short
tables of cosines and sines (tau = a + b B, angle addition); the few lags that may hold the minimum
are then computed again without cancellation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasFrequencies, HasKernel, HasLadder, HasTable
from pe_spectra.encodings.learned import Learned
from pe_spectra.exact import F64, sin_cos, sum_cosines
from pe_spectra.faithfulness.closest_pair import (
    ClosestPair,
    find_closest_pair,
    make_room,
    measure_pairs,
    scale_down,
    scale_up,
)
from pe_spectra.limits import MAX_PAIR_WORK, MAX_RANK_WORK
from pe_spectra.spectrum import compute_gram_kernel

#: Up to this many terms every lag is computed without cancellation, not only those near the minimum.
_EXACT_CURVE = 1 << 21
#: Differences of a normalised kernel below this are none.
_FLAT = 1e-9
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True)
class Sidelobe:
    """The largest local maximum of k(tau)/k(0) beyond the main lobe, and its lag."""

    lag: int
    value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """The smallest distance between the codes of 0 .. S-1, and what was seen on the way.

    Attributes
    ----------
    smallest : distance; None for a single position.
    pair : [s, t], the first in order among those equal within the error bound.
    by_lag : (S - 1,) smallest distance of two codes at lag 1 .. S-1.
    sidelobe : None where the normalised kernel has no local maximum beyond its main lobe.
    """

    smallest: float | None
    pair: tuple[int, int] | None
    by_lag: F64 | None
    sidelobe: Sidelobe | None


def measure_separation(encoding: Encoding, length: int, equal: tuple[int, int] | None = None) -> Separation | None:
    """Measure the smallest separation of positions 0 .. length-1; None where no method applies.

    `equal` are positions that are known to have one code: tables are then not searched for the closest pair.
    """
    if length == 1:
        return Separation(smallest=None, pair=None, by_lag=np.empty(0), sidelobe=None)
    if isinstance(encoding, Dft):
        return _separate_dft(encoding, length)
    is_given = isinstance(encoding, Learned)
    words = _find_words(encoding)
    if words is not None:
        return _separate_pairs(*words, length)
    if isinstance(encoding, HasTable) and length * length * encoding.d <= MAX_PAIR_WORK:
        table = encoding.table(length)
        return separate_rows(table, 0.0 if is_given else 4 * _EPS * float(np.abs(table).max()), equal)
    return None


def _find_words(encoding: Encoding) -> tuple[F64, int, float, float] | None:
    """Frequencies as words, how many have sine and cosine, their amplitude, and the phase of the last column.

    None for what is no such list; the phase, as a sine, matters where the last column is a sine alone.

    For those whose similarity is amplitude**2 times the sum of cos(w tau), so that distances are
    functions of the lag; a few lags tell whether the kernel is that sum.
    """
    if not (isinstance(encoding, HasFrequencies) and isinstance(encoding, HasKernel)):
        return None
    found = encoding.frequencies()
    if isinstance(encoding, HasLadder):
        return encoding.words(), encoding.ladder.width // 2, found.amplitude, float(found.phases[-1]) + math.pi / 2
    if not (found.masses == 1).all():
        return None
    words = np.stack([found.values, found.low, np.zeros_like(found.low)])
    lags = np.array([0, 1, 2, 5, 17, 1000])
    summed = found.amplitude**2 * sum_cosines(words, found.masses, lags)
    is_sum = np.abs(encoding.kernel(lags)[0] - summed).max() <= 1e-12 * summed[0]
    return (words, words.shape[1], found.amplitude, 0.0) if is_sum else None


def compute_distances(words: F64, lags: np.ndarray) -> F64:
    """Return D(tau) over complete pairs, shape (L,), right to a few units in the last place."""
    half = sin_cos(words / 2, lags)[0]
    distances: F64 = 2 * np.sqrt(np.sum(half * half, axis=1))
    return distances


def _separate_dft(encoding: Dft, length: int) -> Separation:
    # The codes of d positions in a row are orthonormal: every distance is 0 or sqrt 2.
    lags = np.arange(1, length)
    by_lag = np.where(lags % encoding.d == 0, 0.0, math.sqrt(2.0))
    pair = (0, encoding.d) if length > encoding.d else (0, 1)
    # as for every kernel, a maximum is one that has fallen again: lag d is inside the range
    sidelobe = Sidelobe(lag=encoding.d, value=1.0) if length - 1 > encoding.d else None
    return Separation(smallest=float(by_lag.min()), pair=pair, by_lag=by_lag, sidelobe=sidelobe)


def _separate_pairs(words: F64, count: int, amplitude: float, phase: float, length: int) -> Separation:
    # `count` complete pairs; odd d has one more sine
    lone = _LoneSine(words[:, count:], phase, length) if words.shape[1] > count else None
    kernel = sum_cosines(words[:, :count], np.ones(count), np.arange(length))
    squared = 2 * (count - kernel[1:])
    if lone:
        squared += lone.smallest**2
        kernel = kernel + 0.5 * lone.kernel
    by_lag: F64 = np.sqrt(np.maximum(squared, 0.0))
    # rounding of the product of two tables, of the tables themselves, and of the difference
    slack = 16 * _EPS * count * (4 + math.log2(count + 1))
    few = count * length <= _EXACT_CURVE
    near = np.flatnonzero(few | (squared <= squared.min() + slack)) + 1
    paired = compute_distances(words[:, :count], near)
    exact = np.hypot(paired, lone.smallest[near - 1]) if lone else paired
    by_lag[near - 1] = exact
    best = float(exact.min())
    tied = np.flatnonzero(exact <= best * (1 + 4 * _EPS))
    if lone:
        pair = min(lone.find_pair(int(near[i]), float(paired[i]), best) for i in tied)
    else:
        pair = (0, int(near[tied[0]]))
    sidelobe = find_sidelobe(kernel / kernel[0])
    return Separation(smallest=amplitude * best, pair=pair, by_lag=amplitude * by_lag, sidelobe=sidelobe)


class _LoneSine:
    """The sine without a cosine of odd d: its difference 2 sin(w tau/2) cos(w (s + tau/2) + phase) depends on s.

    Attributes
    ----------
    smallest : (S - 1,) the smallest such difference over all s, at each lag 1 .. S-1.
    kernel : (S,) cos(w tau).
    """

    def __init__(self, word: F64, phase: float, length: int) -> None:
        # s + tau/2 runs over the half integers x/2, x = tau, tau + 2, .., 2 (S - 1) - tau: as tau
        # grows by 2, the range loses one place at each end, so running minima from inside suffice
        sine, cosine = sin_cos(word / 2, np.arange(2 * length - 1))
        self._size = np.abs(math.cos(phase) * cosine[:, 0] - math.sin(phase) * sine[:, 0])
        ends = np.minimum(self._size[:length], self._size[::-1][:length])
        for parity in (0, 1):
            ends[parity::2] = np.minimum.accumulate(ends[parity::2][::-1])[::-1]
        self._sine, self._length = np.abs(sine[:length, 0]), length
        self.smallest: F64 = 2 * self._sine[1:] * ends[1:]
        self.kernel: F64 = 1 - 2 * self._sine**2

    def find_pair(self, lag: int, paired: float, best: float) -> tuple[int, int]:
        """Return the first pair at this lag whose distance is `best`, given that of the complete pairs."""
        sizes = self._size[lag : 2 * self._length - 1 - lag : 2]
        distances = np.hypot(paired, 2 * self._sine[lag] * sizes)
        s = int(np.flatnonzero(distances <= best * (1 + 4 * _EPS))[0])
        return s, s + lag


def find_sidelobe(normalised: F64) -> Sidelobe | None:
    """Return the largest local maximum beyond the first local minimum of k(tau)/k(0), tau = 0, 1, ..

    Values closer than 1e-9 are equal here, so that the rounding of a flat kernel has no maxima.
    """
    steps = np.rint(normalised / _FLAT)
    rises = np.flatnonzero(np.diff(steps) > 0)
    if not len(rises):
        return None
    start = int(rises[0])
    tail = steps[start:]
    inner = np.flatnonzero((tail[1:-1] >= tail[:-2]) & (tail[1:-1] >= tail[2:])) + 1
    if not len(inner):
        return None
    lag = start + int(inner[np.argmax(tail[inner])])
    return Sidelobe(lag=lag, value=float(normalised[lag]))


def separate_rows(table: F64, error: float = 0.0, equal: tuple[int, int] | None = None) -> Separation:
    """Measure the separation of rows, shape (S, d), S at least 2, whose entries may be wrong by `error`.

    All pairs, unless two are known to be `equal`; the curve over the lag within a smaller budget.
    """
    closest = find_closest_pair(table, error) if equal is None else ClosestPair(distance=0.0, pair=equal)
    by_lag = trace_lags(table)
    scaled, _ = scale_down(table)
    kernel = compute_gram_kernel(scaled)
    sidelobe = find_sidelobe(kernel / kernel[0]) if kernel[0] > 0 else None
    return Separation(smallest=closest.distance, pair=closest.pair, by_lag=by_lag, sidelobe=sidelobe)


def trace_lags(table: F64) -> F64 | None:
    """Return the smallest distance at each lag, (S - 1,); None beyond the budget or where one is not representable."""
    if len(table) ** 2 * table.shape[1] > MAX_RANK_WORK:
        return None
    roomy, exponent = make_room(table)
    scaled, _ = scale_down(table)
    centred, _ = scale_down(scaled - scaled.mean(axis=0))
    squares = np.einsum("ij,ij->i", centred, centred)
    # of sums of d products, in any order: only pairs this near the smallest can be it
    slack = 8 * _EPS * (table.shape[1] + 6) * float(squares.max())
    values: list[float | None] = []
    for lag in range(1, len(table)):
        squared = squares[:-lag] + squares[lag:] - 2 * np.einsum("ij,ij->i", centred[:-lag], centred[lag:])
        near = np.flatnonzero(squared <= squared.min() + slack)
        values.append(scale_up(float(measure_pairs(roomy, near, near + lag).min()), exponent))
    return None if None in values else np.array(values)
