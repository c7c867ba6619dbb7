"""What the committed study says to the paper's statements about training; without one they are not tested.

The study is of synthetic tasks and one small transformer, and its computed text says so: it can show that a statement
does not hold everywhere, and in what it holds, not that it holds on the paper's own data.
"""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.claims.judging import Judgement, conclude
from pe_spectra.study.lines import Group, list_accuracies
from pe_spectra.study.statistics import PairedDifference, compare_pairs, correct_by_holm

#: Tasks that need the order; those of them that plant a difference at one short distance.
ORDERED = ("where", "lag", "period", "order", "trend-change", "anomaly")
SHORT_RANGE = ("lag", "period", "order")
#: Corrected p below which a difference is shown.
LEVEL = 0.05


def _compare_dft(norm: str, tasks: Sequence[str]) -> list[PairedDifference]:
    accuracies = list_accuracies()
    pairs = [
        compare_pairs(runs, accuracies.get(Group(group.task, group.length, "sinusoidal", "own"), {}))
        for group, runs in accuracies.items()
        if (group.arm, group.norm) == ("dft", norm) and group.task in tasks
    ]
    return [one for one in pairs if one is not None]


def _count_shown(found: Sequence[PairedDifference]) -> tuple[int, int]:
    # how many of these comparisons are shown to be better, and how many worse
    shown = [p is not None and p < LEVEL for p in correct_by_holm([one.p for one in found])]
    better = sum(is_shown and one.difference > 0 for is_shown, one in zip(shown, found, strict=True))
    return better, sum(shown) - better


def _has_seeds(found: Sequence[PairedDifference]) -> bool:
    # n pairs give no p below 2/2**n, times the number of comparisons where all are corrected
    return bool(found) and all(2.0 ** (1 - one.pairs) * len(found) < LEVEL for one in found)


def _describe(norms: str, found: Sequence[PairedDifference]) -> str:
    better, worse = _count_shown(found)
    return f"{norms} more accurate in {better} of {len(found)} comparisons, less accurate in {worse}"


def _say_limits(found: Sequence[PairedDifference]) -> str:
    pairs = min(one.pairs for one in found)
    return f"(at least {pairs} seeds each, corrected p below {LEVEL}; synthetic tasks, a small transformer)"


def _systematic_improvement() -> Judgement:
    own, matched = _compare_dft("own", ORDERED), _compare_dft("matched", ORDERED)
    if not (_has_seeds(own) and _has_seeds(matched)):
        return Judgement(computed="", verdict="not tested")
    better, worse = _count_shown(own)
    text = f"DFT against sinusoidal {_describe('at their own norms', own)}; {_describe('at one norm', matched)}"
    if not better + worse:
        return Judgement(computed="", verdict="not tested")
    return conclude(f"{text} {_say_limits([*own, *matched])}", holds=better == len(own), partly=better > 0)


def _short_range_cause() -> Judgement:
    # the norm is the other property in which the two encodings differ: at one norm, what is left is the spectrum
    own, matched = _compare_dft("own", SHORT_RANGE), _compare_dft("matched", SHORT_RANGE)
    if not (_has_seeds(own) and _has_seeds(matched)):
        return Judgement(computed="", verdict="not tested")
    (better, worse), (alike_better, alike_worse) = _count_shown(own), _count_shown(matched)
    if not better + worse + alike_better + alike_worse:
        return Judgement(computed="", verdict="not tested")
    text = (
        "on differences planted at short distances DFT against sinusoidal "
        f"{_describe('at their own norms', own)}; {_describe('at one norm', matched)}"
    )
    holds = better == len(own) and alike_better == len(matched)
    return conclude(f"{text} {_say_limits([*own, *matched])}", holds=holds, partly=better + alike_better > 0)
