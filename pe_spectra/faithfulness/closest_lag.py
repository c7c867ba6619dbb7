"""The closest lag of a ladder alone, without the kernel at all lags: most are ruled out by a few frequencies.

Every frequency adds a square to D(tau)**2, so that a sum over some of them is a lower bound. The few
lags whose bound is not above a distance that is known are completed.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64, two_product
from pe_spectra.faithfulness.pair_lags import Closest, PairDistances, PairLags, PairWords, compute_distances

_EPS = float(np.finfo(float).eps)
#: Lags that are looked at first, and lags that are worth it.
_FIRST, _LEAST = 32, 2048
#: Standard deviations of a sum of cosines that known distances lie above its mean.
_DEVIATIONS = 3.6
#: Terms of lags that are completed; more of them cost as much as all lags by one product.
_NEAR_TERMS = 1 << 20
#: Lags of a block, so that it stays in cache.
_BLOCK = 1 << 16


def find_closest_lag(pairs: PairWords, length: int) -> Closest:
    """Find the closest two of the positions 0 .. length-1, as :meth:`PairLags.find_closest` does.

    >>> from pe_spectra import Sinusoidal
    >>> words = Sinusoidal(d=8, rho=3.0).words()
    >>> find_closest_lag(PairWords(words=words, count=4, amplitude=1.0, phase=0.0), 800).pair
    (0, 446)
    """
    words = pairs.words[:, : pairs.count]
    known = _measure_first(words) * (1 + 1e-9)
    some = _count_needed(known)
    if pairs.words.shape[1] > pairs.count or length < _LEAST or 2 * some > pairs.count:
        return PairLags(pairs, length).find_closest(length)
    largest = words[:, np.argpartition(-words[0], some)[:some]]
    # of entries of both tables, two units in the last place, and of sums of `some` products
    slack = 4 * _EPS * (some + 1) * (some + 20)
    near = _list_low(largest, length, some - 0.5 * known - slack)
    if len(near) * pairs.count > _NEAR_TERMS:
        return PairLags(pairs, length).find_closest(length)
    near = _complete(words, near)
    exact = compute_distances(words, near)
    return PairDistances(pairs).decide(near, exact, exact)


def _measure_first(words: F64) -> float:
    """The smallest squared distance of the first lags, right to 1e-12."""
    lags = np.arange(1.0, _FIRST + 1)
    return float(np.min(np.sum(4 * np.sin(np.multiply.outer(lags, words[0] / 2)) ** 2, axis=1)))


def _count_needed(known: float) -> int:
    """How many frequencies leave few lags below a known squared distance, their angles being as if at random."""
    # some - known / 2 = deviations sqrt(some / 2)
    root = 0.5 * (_DEVIATIONS / math.sqrt(2) + math.sqrt(_DEVIATIONS**2 / 2 + 2 * known))
    return math.ceil(root**2)


def _list_low(words: F64, length: int, least: float) -> I64:
    """Lags 1 .. length-1 at which the sum of cosines is at least so large; by angle addition, tau = a + b B."""
    step = math.isqrt(length - 1) + 1
    fine_sine, fine_cosine = _turn(words, np.arange(step))
    coarse_sine, coarse_cosine = _turn(words, step * np.arange(-(-length // step)))
    fine = np.concatenate([fine_cosine, -fine_sine], axis=1).T
    coarse = np.concatenate([coarse_cosine, coarse_sine], axis=1)
    rows, found = max(1, _BLOCK // step), []
    for start in range(0, len(coarse), rows):
        high = np.flatnonzero(coarse[start : start + rows] @ fine >= least)
        found.append(high + start * step)
    lags = np.concatenate(found)
    return lags[(lags > 0) & (lags < length)]


def _turn(words: F64, s: I64) -> tuple[F64, F64]:
    """Sine and cosine of w s to two units in the last place of 1, each (S, M); integers s below 2**26."""
    shape = (len(s), words.shape[1])
    position = np.broadcast_to(s.astype(float)[:, None], shape)
    angle, rest = two_product(np.broadcast_to(words[0], shape), position)
    rest += words[1] * position
    sine, cosine = np.sin(angle), np.cos(angle)
    return sine + cosine * rest, cosine - sine * rest


def _complete(words: F64, near: I64) -> I64:
    """Keep the lags whose distance over all frequencies may be the smallest, angles rounded."""
    squared = np.sum(4 * np.sin(np.multiply.outer(near.astype(float), words[0] / 2)) ** 2, axis=1)
    # angles to two roundings, and the sum
    slack = 8 * _EPS * float(near[-1]) * float(np.abs(words[0]).sum()) + 8 * _EPS * words.shape[1] * (
        words.shape[1] + 8
    )
    kept: I64 = near[squared <= squared.min() + 2 * slack]
    return kept
