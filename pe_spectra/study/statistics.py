"""What a few seeds allow to be said: paired differences, their intervals, exact tests, corrections, rank correlations.

Every draw comes from a generator of its own with a fixed seed, so that the same numbers give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

#: Up to so many pairs all signs are tried (4,096 of them); beyond, so many are drawn.
EXACT_PAIRS = 12
DRAWN_SIGNS = 99_999
#: Samples of a bootstrap, and orders that are drawn for the p of a correlation.
RESAMPLES = 9_999
#: Of all intervals.
CONFIDENCE = 0.95
#: Of all draws.
SEED = 20_140
#: Sums that differ by less than this part of their size are equal, and numbers by this part of the largest have one
#: rank: accuracies are shares of windows, and what is closer in a number of a table is rounding.
_TIE = 1e-9
_CHUNK = 1 << 20
_LEVEL = RealRange(minimum=0.5, maximum=0.9999)
_COUNT = IntegerRange(minimum=100, maximum=10**6)


@dataclass(frozen=True, kw_only=True)
class Interval(Result):
    """An estimate with its interval.

    >>> Interval(estimate=0.5, low=0.25, high=0.75).excludes_zero
    True
    """

    estimate: float = quantity("The number that the sample gives.")
    low: float | None = quantity("Lower end; null where the sample tells nothing of it.")
    high: float | None = quantity("Upper end; null likewise.")

    @property
    def excludes_zero(self) -> bool:
        """Whether both ends are on one side of 0; not where they are not known."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, kw_only=True)
class Spread(Result):
    """Mean and spread of one number over seeds.

    >>> measure_spread([0.5, 1.0]).mean, measure_spread([0.5]).deviation
    (0.75, None)
    """

    count: int = quantity("How many there are.", minimum=1)
    mean: float = quantity("Their mean.")
    deviation: float | None = quantity("Standard deviation of a sample (n - 1); null for a single one.", minimum=0)
    low: float = quantity("The smallest.")
    high: float = quantity("The largest.")


def measure_spread(values: ArrayLike) -> Spread:
    """Measure mean and spread of some numbers (n,).

    Raises
    ------
    InputError : none, or one that is not finite.

    >>> measure_spread([1.0, 3.0]).deviation == math.sqrt(2)
    True
    """
    given = _check(values, "values")
    deviation = None if len(given) == 1 else float(np.std(given, ddof=1))
    return Spread(
        count=len(given),
        mean=float(np.mean(given)),
        deviation=deviation,
        low=float(given.min()),
        high=float(given.max()),
    )


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Result):
    """A number of one arm minus that of another, pair by pair: of one seed, on the same windows."""

    pairs: int = quantity("Pairs of which both numbers are there.", minimum=1)
    missing: int = quantity("Seeds that only one of the two has; they are left out.", minimum=0)
    difference: float = quantity("Mean of the differences.")
    low: float | None = quantity("Lower end of its interval; null for a single pair.")
    high: float | None = quantity("Upper end; null for a single pair.")
    p: float = quantity("Two-sided p of the sign-flip test.", minimum=0, maximum=1)
    drawn: int | None = quantity("How many signs were drawn for it; null where all of them were tried.", minimum=1)


def compare_pairs(
    first: Mapping[int, float], second: Mapping[int, float], *, confidence: float = CONFIDENCE
) -> PairedDifference | None:
    """Compare two arms by the seeds that both have; None where they have none together.

    Parameters
    ----------
    first, second : a number for each seed.
    confidence : of the interval, 0.5 to 0.9999.

    >>> compare_pairs({0: 1.0, 1: 0.75, 2: 1.0}, {0: 0.5, 1: 0.5, 3: 0.5}).difference
    0.375
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    differences = _check([first[seed] - second[seed] for seed in shared], "differences")
    interval = bootstrap_mean(differences, confidence=confidence)
    p, drawn = compute_sign_flip_p(differences)
    return PairedDifference(
        pairs=len(shared),
        missing=len(first.keys() ^ second.keys()),
        difference=interval.estimate,
        low=interval.low,
        high=interval.high,
        p=p,
        drawn=drawn,
    )


def bootstrap_mean(values: ArrayLike, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Interval:
    """Compute the mean of some numbers (n,) and its interval, by drawing samples of n out of them.

    The ends are quantiles of the means of these samples, further out than the confidence says by what a t interval is
    wider than a normal one: Phi(-sqrt(n/(n - 1)) t) in place of (1 - confidence)/2, t the quantile of Student's t with
    n - 1 degrees of freedom. With few numbers they end at the smallest and the largest of these.

    Parameters
    ----------
    values : (n,); of a single one no interval is known.
    confidence : 0.5 to 0.9999.
    resamples : how many samples are drawn, 100 to 1,000,000.

    Raises
    ------
    InputError : none, one that is not finite, a confidence or a count out of range.

    Source: Hesterberg 2015, What Teachers Should Know About the Bootstrap: the expanded percentile interval.

    >>> bootstrap_mean([0.25, 0.25, 0.25])
    Interval(estimate=0.25, low=0.25, high=0.25)
    """
    from scipy.special import ndtr, stdtrit

    given = _check(values, "values")
    confidence = _LEVEL.check(confidence, "confidence")
    resamples = _COUNT.check(resamples, "resamples")
    count = len(given)
    mean = float(np.mean(given))
    if count == 1:
        return Interval(estimate=mean, low=None, high=None)
    if np.ptp(given) == 0:
        return Interval(estimate=float(given[0]), low=float(given[0]), high=float(given[0]))
    tail = float(ndtr(-math.sqrt(count / (count - 1)) * stdtrit(count - 1, 0.5 + confidence / 2)))
    generator = np.random.default_rng([SEED, count])
    rows = max(1, _CHUNK // count)
    means = [
        given[generator.integers(0, count, size=(min(rows, resamples - start), count))].mean(axis=1)
        for start in range(0, resamples, rows)
    ]
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(estimate=mean, low=float(low), high=float(high))


def compute_sign_flip_p(differences: ArrayLike) -> tuple[float, int | None]:
    """Compute the two-sided p of paired differences (n,), and how many signs were drawn for it.

    If the two arms are alike, each difference has either sign with the same probability. p is the share of all 2^n
    choices of signs with which the sum is as far from 0 as it is, or farther; from 13 pairs on, of 99,999 choices that
    are drawn and the one that was found. n pairs give no p below 2/2^n.

    Returns
    -------
    p, and the number of choices that were drawn; None where all were tried.

    Raises
    ------
    InputError : no difference, or one that is not finite.

    Source: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010 for the drawn one.

    >>> compute_sign_flip_p([0.25, 0.5, 0.125])
    (0.25, None)
    """
    given = _check(differences, "differences")
    count, size = len(given), float(np.sum(np.abs(given)))
    least = abs(float(np.sum(given))) - _TIE * size
    if count <= EXACT_PAIRS:
        sums = np.zeros(1)
        for one in given:
            sums = np.concatenate([sums + one, sums - one])
        return float(np.mean(np.abs(sums) >= least)), None
    generator = np.random.default_rng([SEED, count])
    as_far = 0
    rows = max(1, _CHUNK // count)
    for start in range(0, DRAWN_SIGNS, rows):
        signs = generator.integers(0, 2, size=(min(rows, DRAWN_SIGNS - start), count)) * 2 - 1
        as_far += int(np.sum(np.abs(signs @ given) >= least))
    return (as_far + 1) / (DRAWN_SIGNS + 1), DRAWN_SIGNS


def correct_by_holm(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Correct the p of several comparisons, so that all those below a level are true with its confidence.

    The k-th smallest of m is multiplied by m - k + 1; none falls below one that was smaller, or rises above 1. A
    comparison without a p is none, and stays without.

    Raises
    ------
    InputError : a p out of range.

    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.

    >>> correct_by_holm([0.03, 0.01, None, 0.5])
    (0.06, 0.03, None, 0.5)
    """
    for one in ps:
        if one is not None and not 0 <= one <= 1:
            raise InputError("p is out of range", repr(one), "a number from 0 to 1 is accepted")
    order = sorted((one, place) for place, one in enumerate(ps) if one is not None)
    found: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (one, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * one))
        found[place] = largest
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class RankCorrelation(Result):
    """How far two numbers rise together, by their ranks."""

    count: int = quantity("Pairs of which both numbers are there.", minimum=0)
    rho: float | None = quantity(
        "Spearman's correlation; null of fewer than three pairs, or where one of the numbers is the same in all.",
        minimum=-1,
        maximum=1,
    )
    low: float | None = quantity(
        "Lower end of its interval; null of fewer than five pairs, or where all ranks agree or are reversed.",
        minimum=-1,
        maximum=1,
    )
    high: float | None = quantity("Upper end; null likewise.", minimum=-1, maximum=1)
    p: float | None = quantity("Two-sided p of the permutation test; null without rho.", minimum=0, maximum=1)


def correlate_ranks(
    first: Sequence[float | None], second: Sequence[float | None], *, confidence: float = CONFIDENCE
) -> RankCorrelation:
    """Compute Spearman's rank correlation, equal numbers having the mean of their ranks, with its interval.

    The interval is tanh(artanh(rho) +- z sqrt((1 + rho^2/2)/(n - 3))). p is the share of 9,999 orders of one of the
    numbers that are drawn, and the one that was found, with a correlation as far from 0. Both hold where the pairs are
    independent of each other: none may stand twice in another guise.

    Parameters
    ----------
    first, second : (n,); pairs of which one is None are left out.
    confidence : 0.5 to 0.9999.

    Raises
    ------
    InputError : numbers of different lengths, or not finite.

    Source: Bonett & Wright 2000, Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations.

    >>> correlate_ranks([1, 2, 3, 4], [1, 2, 4, 3]).rho
    0.8
    """
    from scipy.special import ndtri

    if len(first) != len(second):
        raise InputError("numbers to be correlated differ in length", f"{len(first)}, {len(second)}", "pairs")
    level = _LEVEL.check(confidence, "confidence")
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    count = len(pairs)
    nothing = RankCorrelation(count=count, rho=None, low=None, high=None, p=None)
    if count < 3:
        return nothing
    one, other = (rank(_check([pair[side] for pair in pairs], "numbers")) for side in (0, 1))
    one, other = one - one.mean(), other - other.mean()
    size = math.sqrt(float(one @ one) * float(other @ other))
    if not size:
        return nothing
    rho = min(1.0, max(-1.0, float(one @ other) / size))
    as_far = np.sum(np.abs(other[draw_orders(count)] @ one) >= (abs(rho) - _TIE) * size)
    p = (int(as_far) + 1) / (RESAMPLES + 1)
    if count < 5 or abs(rho) > 1 - _TIE:
        return RankCorrelation(count=count, rho=rho, low=None, high=None, p=p)
    half = float(ndtri(0.5 + level / 2)) * math.sqrt((1 + rho * rho / 2) / (count - 3))
    low, high = math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)
    return RankCorrelation(count=count, rho=rho, low=low, high=high, p=p)


@lru_cache(maxsize=64)
def draw_orders(count: int) -> I64:
    """Draw orders of so many numbers, (9999, count), the same ones every time.

    >>> sorted(draw_orders(4)[0].tolist())
    [0, 1, 2, 3]
    """
    generator = np.random.default_rng([SEED, count])
    return generator.permuted(np.tile(np.arange(count), (RESAMPLES, 1)), axis=1)


def rank(values: ArrayLike) -> F64:
    """Give the rank of each number, from 1 on; those that are equal but for rounding have the mean of their ranks.

    >>> rank([0.3, 0.1, 0.1 + 0.2]).tolist()
    [2.5, 1.0, 2.5]
    """
    given = np.asarray(values, dtype=float)
    order = np.argsort(given, kind="stable")
    groups = np.concatenate([[0], np.cumsum(np.diff(given[order]) > _TIE * np.abs(given).max())])
    counts = np.bincount(groups)
    found = np.empty(len(given))
    found[order] = (np.cumsum(counts) - (counts - 1) / 2)[groups]
    return found


def _check(values: ArrayLike, name: str) -> F64:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise InputError(f"{name} are not usable", str(given.tolist()), "one finite number or more, in a list")
    return given
