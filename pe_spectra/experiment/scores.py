"""How well windows were judged, in the form of the paper: precision, recall and F1 of the class that is looked for.

Windows are judged one by one. Nothing is adjusted to stretches of anomalies: with such an adjustment a random judge
reaches the scores that are published as the best (Kim et al. 2022, arXiv 2109.05257).
"""

from __future__ import annotations

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass

_SHARE = RealRange(minimum=0, maximum=1)


@dataclass(frozen=True, kw_only=True)
class Scores(Result):
    """What became of windows of which some have the class that is looked for, the positive ones.

    >>> scores = Scores(true_positives=3, false_positives=1, false_negatives=2, true_negatives=4)
    >>> scores.precision, scores.recall, round(scores.f1, 4), scores.accuracy
    (0.75, 0.6, 0.6667, 0.7)
    """

    true_positives: int = quantity("Positive windows judged positive.", minimum=0)
    false_positives: int = quantity("Other windows judged positive.", minimum=0)
    false_negatives: int = quantity("Positive windows judged otherwise.", minimum=0)
    true_negatives: int = quantity("Other windows judged otherwise.", minimum=0)

    @derived("Share of positive windows among those judged so; null where none was.", minimum=0, maximum=1)
    def precision(self) -> float | None:
        judged = self.true_positives + self.false_positives
        return self.true_positives / judged if judged else None

    @derived(
        "Share of windows judged positive among the positive ones; null where there is none.", minimum=0, maximum=1
    )
    def recall(self) -> float | None:
        positives = self.true_positives + self.false_negatives
        return self.true_positives / positives if positives else None

    @derived(
        "2 TP/(2 TP + FP + FN), the harmonic mean of precision and recall; 0 where no positive window was found, null "
        "where there is none and none was judged to be.",
        minimum=0,
        maximum=1,
    )
    def f1(self) -> float | None:
        total = 2 * self.true_positives + self.false_positives + self.false_negatives
        return 2 * self.true_positives / total if total else None

    @derived("Share of windows judged rightly.", minimum=0, maximum=1)
    def accuracy(self) -> float:
        right = self.true_positives + self.true_negatives
        return right / (right + self.false_positives + self.false_negatives)


def measure_scores(labels: ArrayLike, judged: ArrayLike, *, positive: int = 1) -> Scores:
    """Count how windows were judged.

    Parameters
    ----------
    labels, judged : (N,) numbers of classes, the true ones and those that a network gives.
    positive : the class that is looked for.

    Raises
    ------
    InputError : no windows, or not as many judged as there are.

    >>> measure_scores([1, 1, 0, 0], [1, 0, 0, 0]).f1 == 2 / 3
    True
    """
    true, given = np.asarray(labels), np.asarray(judged)
    if true.ndim != 1 or true.shape != given.shape or not true.size:
        raise InputError("labels and judged differ in length", f"{true.shape}, {given.shape}", "(N,) of both, N from 1")
    is_true, is_given = true == positive, given == positive
    return Scores(
        true_positives=int(np.sum(is_true & is_given)),
        false_positives=int(np.sum(~is_true & is_given)),
        false_negatives=int(np.sum(is_true & ~is_given)),
        true_negatives=int(np.sum(~is_true & ~is_given)),
    )


@dataclass(frozen=True, kw_only=True)
class RandomScores(Result):
    """What a judge scores in the mean who looks at no window, and says "positive" with one probability."""

    rate: float = quantity("Probability with which it says so.", minimum=0, maximum=1)
    precision: float | None = quantity(
        "The share of positive windows, whatever the rate; null where it never says so.", minimum=0, maximum=1
    )
    recall: float | None = quantity("The rate; null where there is no positive window.", minimum=0, maximum=1)
    f1: float | None = quantity(
        "Mean of F1 over all draws of which it is defined; null where there is none.", minimum=0, maximum=1
    )
    accuracy: float = quantity("Mean share judged rightly.", minimum=0, maximum=1)


def expect_random_scores(positives: int, total: int, rate: float) -> RandomScores:
    """Compute the expected scores of a random judge, exactly.

    Where m of N windows are judged positive, P of which are, the mean of TP is m P/N, and F1 = 2 TP/(m + P) is linear
    in it; m is binomial. A judge who always says "positive" (rate 1) has F1 = 2 p/(1 + p) for a share p of positive
    windows, which no random judge exceeds in the mean.

    Parameters
    ----------
    positives : windows with the class that is looked for.
    total : all windows, from 1 on.
    rate : probability of saying so.

    Raises
    ------
    InputError : a number out of range.

    >>> expect_random_scores(1, 4, 1.0).f1, expect_random_scores(1, 4, 0.5).precision
    (0.4, 0.25)
    """
    total = IntegerRange(minimum=1, maximum=2**24).check(total, "total")
    positives = IntegerRange(minimum=0, maximum=total).check(positives, "positives")
    rate = _SHARE.check(rate, "rate")
    share = positives / total
    judged = np.arange(total + 1)
    weights = _list_binomial(total, rate)
    f1: float | None
    if positives:
        f1 = float(np.sum(weights * 2 * judged * share / (judged + positives)))
    else:  # none is positive: F1 is 0 where any was judged so, and has no value where none was
        f1 = 0.0 if rate else None
    return RandomScores(
        rate=rate,
        precision=share if rate else None,
        recall=rate if positives else None,
        f1=f1,
        accuracy=rate * share + (1 - rate) * (1 - share),
    )


def _list_binomial(total: int, rate: float) -> F64:
    """Probabilities of 0 .. total hits, from logarithms of factorials."""
    from scipy.special import gammaln, xlog1py, xlogy

    hits = np.arange(total + 1)
    chosen = gammaln(total + 1) - gammaln(hits + 1) - gammaln(total - hits + 1)
    found: F64 = np.exp(chosen + xlogy(hits, rate) + xlog1py(total - hits, -rate))
    return found / np.sum(found)
