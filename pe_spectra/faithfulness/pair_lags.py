"""Distances that depend on the lag alone, over all lags at once, and a smallest one that none can undercut.

For pairs of sine and cosine D(tau)**2 = sum of 4 sin(w tau/2)**2 = 2 (k(0) - k(tau)). All kernel
values come from one product of two short tables of cosines and sines (tau = a + b B, angle
addition), with an error that is bounded; every lag that could hold the minimum within that bound is
computed again without cancellation. For the closest lag alone most are ruled out by a few frequencies: each
adds a square to D(tau)**2, so that a sum over some is a lower bound.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64, find_largest, sin_cos, sum_cosines, two_product
from pe_spectra.faithfulness.closest_pair import ClosestPair
from pe_spectra.records import dataclass

#: Up to this many terms every lag is computed without cancellation, not only those near the minimum.
_EXACT_CURVE = 1 << 21
#: Terms up to which all lags near the minimum are computed to the end; beyond, most are given up on the way.
_NEAR_TERMS = 1 << 22
#: Terms that are held at a time.
_HELD = 1 << 18
#: Lags whose distances are summed exactly in the end.
_FINALISTS = 64
_EPS = float(np.finfo(float).eps)
_EPS_OF_SINGLE = 2.0**-23
#: Frequencies are known at least to this share of themselves, and angles reduced as well.
_ANGLE = 2.0**-100
#: Lags that are looked at first, and lags that are worth it.
_FIRST, _LEAST = 8, 2048
#: Standard deviations of a sum of cosines that known distances lie above its mean.
_DEVIATIONS = 3.6
#: Terms of lags that are completed; more of them cost as much as all lags by one product.
_LOW_TERMS = 1 << 20
#: Lags of a block, so that it stays in cache.
_BLOCK = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class PairWords:
    """Frequencies as (3, M) words; the first `count` have sine and cosine, another is a sine with a phase."""

    words: F64
    count: int
    amplitude: float
    phase: float

    @property
    def complete(self) -> F64:
        """The words of the complete pairs."""
        return self.words[:, : self.count]

    @property
    def rounding(self) -> float:
        """What a distance over complete pairs lacks: of sines, and of sums of their squares in the order of NumPy."""
        return (2 + (22 + math.log2(self.count + 1)) / 4) * _EPS


def _decide(
    pairs: PairWords, near: I64, paired: F64, exact: F64, lone: _LoneSine | None = None, sines: F64 | None = None
) -> ClosestPair:
    """The smallest of distances that are right to a few units in the last place, and its bound.

    near : lags that may be the closest; paired : distances over complete pairs; exact : over all columns; sines : where
    they are known, of half the angles of complete pairs at each lag.
    """
    best = float(exact.min())
    tied = np.flatnonzero(exact <= best * (1 + 4 * _EPS))
    if lone:
        pair = min(lone.find_pair(int(near[i]), float(paired[i]), best) for i in tied)
    else:
        pair = (0, int(near[tied[0]]))
    close = np.flatnonzero(exact <= best * (1 + 2 * pairs.rounding))
    # a unit in the last place of every sine, one of root and factor, the sum; and what the frequencies lack
    share = (2 if pairs.amplitude == 1 else 3) * _EPS
    if lone is None and len(close) <= _FINALISTS:
        # of those that rounding could have put in another order, the smallest without a rounded sum
        sines = _find_sines(pairs.complete, near[close]) if sines is None else sines[close]
        best = min(map(_sum_exactly, sines))
    else:
        share += pairs.rounding
    lag = pair[1] - pair[0]
    angle = 2 * math.sqrt(pairs.count) * find_largest(pairs.complete[0]) * lag * _ANGLE
    own = lone.bound_error(lag) if lone else 0.0
    error = pairs.amplitude * (share * best + angle + own)
    return ClosestPair(distance=pairs.amplitude * best, pair=pair, error=error)


def _find_sines(words: F64, lags: np.ndarray) -> F64:
    """Sines of half the angles at each lag, (L, M), to one unit in the last place."""
    return sin_cos(words / 2, lags)[0]


def _sum_exactly(sines: F64) -> float:
    """D(tau) over complete pairs from the sines at one lag, their squares summed without rounding."""
    return 2 * math.sqrt(math.fsum(np.concatenate(two_product(sines, sines)).tolist()))


class PairLags:
    """The kernel at lags 0 .. length-1, and the smallest distances of as many positions.

    Attributes
    ----------
    kernel : (length,) sum of cos(w tau), a lone sine counting one half; without the amplitude.
    """

    def __init__(self, pairs: PairWords, length: int) -> None:
        self._pairs, self._words, self._length, count = pairs, pairs.complete, length, pairs.count
        self._kernel = sum_cosines(self._words, np.ones(count), np.arange(length))
        # of entries of both tables, and of sums of `count` products in any order; of its square
        self._slack = 4 * _EPS * (count + 1) * (count + 18)
        self.kernel: F64 = self._kernel
        self._waves: tuple[F64, F64] | None = None
        if pairs.words.shape[1] > count:
            sine, cosine = (wave[:, 0] for wave in sin_cos(pairs.words[:, count:] / 2, np.arange(2 * length - 1)))
            self._waves = sine[:length], np.abs(math.cos(pairs.phase) * cosine - math.sin(pairs.phase) * sine)
            self.kernel = self._kernel + 0.5 * (1 - 2 * sine[:length] ** 2)

    def find_closest(self) -> ClosestPair:
        """The closest two of the positions 0 .. length-1."""
        return self._search(few=False)[0]

    def trace(self) -> tuple[ClosestPair, F64]:
        """The same, and the smallest distance at each lag, (length - 1,).

        Right to a few units in the last place near the minimum and where there are few terms; elsewhere
        its square is right to the error of the kernel.
        """
        few = self._words.shape[1] * self._length <= _EXACT_CURVE
        closest, squared, near, exact = self._search(few=few)
        by_lag: F64 = np.sqrt(np.maximum(squared, 0.0))
        by_lag[near - 1] = exact
        return closest, self._pairs.amplitude * by_lag

    def _search(self, *, few: bool) -> tuple[ClosestPair, F64, I64, F64]:
        lone = _LoneSine(*self._waves, self._pairs.phase, self._length) if self._waves else None
        squared = 2 * (self._words.shape[1] - self._kernel[1:])
        if lone:
            squared += lone.smallest**2
        near = np.flatnonzero(few | (squared <= squared.min() + self._slack)) + 1
        if not few and len(near) * self._words.shape[1] > _NEAR_TERMS:
            near = self._give_up(near, squared, lone)
        paired = compute_distances(self._words, near)
        exact = np.hypot(paired, lone.smallest[near - 1]) if lone else paired
        return _decide(self._pairs, near, paired, exact, lone), squared, near, exact

    def _give_up(self, near: I64, squared: F64, lone: _LoneSine | None) -> I64:
        """Leave out lags whose distance, summed over some frequencies, is larger than that of another over all."""
        largest_first = self._words[:, np.argsort(-self._words[0], kind="stable")]
        some = near[np.argsort(squared[near - 1], kind="stable")[:_FINALISTS]]
        full = np.square(compute_distances(self._words, some))
        sums = np.zeros(len(near)) if lone is None else lone.smallest[near - 1] ** 2
        best = float((full if lone is None else full + lone.smallest[some - 1] ** 2).min())
        margin = 1 + 8 * _EPS * (self._words.shape[1] + 8)
        start, width = 0, 8
        while start < self._words.shape[1]:
            sums += np.square(compute_distances(largest_first[:, start : start + width], near))
            kept = sums <= best * margin
            near, sums = near[kept], sums[kept]
            start, width = start + width, 2 * width
        return near


class _LoneSine:
    """The sine without a cosine of odd d: its difference 2 sin(w tau/2) cos(w (s + tau/2) + phase) depends on s.

    Parameters
    ----------
    sine, size : sin(w x/2) and abs(cos(w x/2 + phase)) at x = 0, 1, ..

    Attributes
    ----------
    smallest : (S - 1,) the smallest such difference over all s, at each lag 1 .. S-1.
    """

    def __init__(self, sine: F64, size: F64, phase: float, length: int) -> None:
        # s + tau/2 runs over the half integers x/2, x = tau, tau + 2, .., 2 (S - 1) - tau: as tau
        # grows by 2, the range loses one place at each end, so running minima from inside suffice
        self._size = size[: 2 * length - 1]
        ends = np.minimum(self._size[:length], self._size[::-1][:length])
        for parity in (0, 1):
            ends[parity::2] = np.minimum.accumulate(ends[parity::2][::-1])[::-1]
        self._sine, self._length, self._phase = np.abs(sine[:length]), length, phase
        self.smallest: F64 = 2 * self._sine[1:] * ends[1:]

    def find_pair(self, lag: int, paired: float, best: float) -> tuple[int, int]:
        """Return the first pair at this lag whose distance is `best`, given that of the complete pairs."""
        sizes = self._size[lag : 2 * self._length - 1 - lag : 2]
        distances = np.hypot(paired, 2 * self._sine[lag] * sizes)
        s = int(np.flatnonzero(distances <= best * (1 + 4 * _EPS))[0])
        return s, s + lag

    def bound_error(self, lag: int) -> float:
        """By how much the difference may be wrong at this lag: its cosine is right to a few units in the last of 1."""
        return float(2 * self._sine[lag] * (8 + abs(self._phase)) * _EPS)


def compute_distances(words: F64, lags: np.ndarray) -> F64:
    """Return D(tau) over complete pairs, shape (L,), right to a few units in the last place.

    Parameters
    ----------
    words : (3, M), the frequencies in rad/position; lags : (L,) integers of magnitude at most 2**53.

    >>> import numpy as np
    >>> from pe_spectra.exact import ladder_words
    >>> compute_distances(ladder_words(1.0, 2), np.array([0, 1])).round(12).tolist()  # 2 sin 1/2
    [0.0, 0.958851077208]
    """
    distances = np.empty(len(lags))
    rows = max(1, _HELD // max(1, words.shape[1]))
    for start in range(0, len(lags), rows):
        distances[start : start + rows] = _sum_squares(_find_sines(words, lags[start : start + rows]))
    return distances


def _sum_squares(sines: F64) -> F64:
    distances: F64 = 2 * np.sqrt(np.sum(sines * sines, axis=1))
    return distances


# --------------------------------------------------------------------- the closest lag alone


def find_closest_lag(pairs: PairWords, length: int) -> ClosestPair:
    """Find the closest two of the positions 0 .. length-1, as :meth:`PairLags.find_closest` does.

    >>> from pe_spectra import Sinusoidal
    >>> words = Sinusoidal(d=8, rho=3.0).words()
    >>> find_closest_lag(PairWords(words=words, count=4, amplitude=1.0, phase=0.0), 800).pair
    (0, 446)
    """
    words = pairs.complete
    known = _measure_first(words) * (1 + 1e-9)
    some = _count_needed(known)
    if pairs.words.shape[1] > pairs.count or length < _LEAST or 2 * some > pairs.count:
        return PairLags(pairs, length).find_closest()
    largest = words[:, np.argpartition(-words[0], some)[:some]]
    near = _list_low(largest, length, some - 0.5 * known - _bound_first_look(largest, length))
    if len(near) * pairs.count > _LOW_TERMS:
        return PairLags(pairs, length).find_closest()
    near = _complete(words, near)
    sines = _find_sines(words, near)
    exact = _sum_squares(sines)
    return _decide(pairs, near, exact, exact, sines=sines)


def _measure_first(words: F64) -> float:
    """The smallest squared distance of the first lags, right to 1e-12."""
    lags = np.arange(1.0, _FIRST + 1)
    return float(np.min(np.sum(4 * np.sin(np.multiply.outer(lags, words[0] / 2)) ** 2, axis=1)))


def _count_needed(known: float) -> int:
    """How many frequencies leave few lags below a known squared distance, their angles being as if at random."""
    # some - known / 2 = deviations sqrt(some / 2)
    root = 0.5 * (_DEVIATIONS / math.sqrt(2) + math.sqrt(_DEVIATIONS**2 / 2 + 2 * known))
    return math.ceil(root**2)


def _bound_first_look(words: F64, length: int) -> float:
    """By how much the sums of the next function may be off at most."""
    # In units of 2**-23: angles of at most pi are rounded by 2 at most, sines by 2, so that the two products of a
    # frequency are off by 12, and their sum over all frequencies by count**2 more. Turns are rounded in float64.
    count: int = words.shape[1]
    return 4 * _EPS_OF_SINGLE * (count + 1) * (count + 20) + 4 * _EPS * length * float(np.abs(words[0]).sum())


def _list_low(words: F64, length: int, least: float) -> I64:
    """Lags 1 .. length-1 at which the sum of cosines is at least so large; by angle addition, tau = a + b B."""
    step = math.isqrt(length - 1) + 1
    both = np.concatenate([np.arange(step), step * np.arange(-(-length // step))])
    turns = np.multiply.outer(both.astype(float), words[0] / (2 * np.pi))
    turns -= np.rint(turns)
    turns *= 2 * np.pi
    angles = turns.astype(np.float32)
    sine, cosine = np.sin(angles), np.cos(angles)
    fine = np.concatenate([cosine[:step], -sine[:step]], axis=1).T
    coarse = np.concatenate([cosine[step:], sine[step:]], axis=1)
    rows, found = max(1, _BLOCK // step), []
    for start in range(0, len(coarse), rows):
        high = np.flatnonzero(coarse[start : start + rows] @ fine >= np.float32(least))
        found.append(high + start * step)
    lags = np.concatenate(found)
    return lags[(lags > 0) & (lags < length)]


def _complete(words: F64, near: I64) -> I64:
    """Keep the lags whose distance over all frequencies may be the smallest, angles rounded."""
    squared = np.sum(4 * np.sin(np.multiply.outer(near.astype(float), words[0] / 2)) ** 2, axis=1)
    # angles to two roundings, and the sum
    slack = 8 * _EPS * float(near[-1]) * float(np.abs(words[0]).sum()) + 8 * _EPS * words.shape[1] * (
        words.shape[1] + 8
    )
    kept: I64 = near[squared <= squared.min() + 2 * slack]
    return kept
