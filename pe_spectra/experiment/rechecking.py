"""Everything that a file of results says, looked at again: its lines, its report, and networks drawn from it.

A line is held against itself: its scores are those of one table of four counts, its rate is the first of the best on
validation windows, its SPEC and norm are those of its arm. The numbers of the report are computed a second time as
they are defined, slowly. Networks are trained again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from pe_spectra.answers.learning import REFERENCE, ArmComparison, LearningReport, NumberCorrelation
from pe_spectra.answers.rechecks import Recheck
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.experiment.arms import build_arm
from pe_spectra.experiment.design import FULL, Design, Trial
from pe_spectra.experiment.runs import Runs
from pe_spectra.experiment.streams import draw_encoding_seed
from pe_spectra.experiment.trial import TrialResult
from pe_spectra.sources import build_encodings
from pe_spectra.study.lines import Group
from pe_spectra.study.statistics import CONFIDENCE, EXACT_PAIRS, RESAMPLES, SEED, compute_sign_flip_p, draw_orders
from pe_spectra.vocabulary import NORMS

#: Two roads to one number differ by rounding alone.
TOLERANCE = 1e-9
#: Elsewhere an accuracy may lie beyond those of all seeds of its kind by so much.
BEYOND_SEEDS = 0.05
#: What must be the same for accuracies to be equal.
_PLACE = ("numpy", "jax", "jaxlib", "optax", "machine")


def read_design(runs: Runs) -> Design:
    """Return the design of a file of results.

    Raises
    ------
    InputError : one of another version of tasks and training, which is not here any more.
    """
    settings: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in runs.settings.items()}
    version = settings.get("version")
    if version != FULL.version:
        raise InputError(
            "results are of another version of the experiment", str(version), f"{FULL.version} is accepted"
        )
    try:
        return Design(**settings)
    except TypeError as error:
        raise InputError("results have settings that are not known", str(error), "those of this version") from error


def is_same_place(runs: Runs, here: Mapping[str, str]) -> bool:
    """Whether versions and class of machine are those of the file.

    >>> runs = Runs(settings={}, about={"jax": "0.4.30"}, results=())
    >>> is_same_place(runs, {"jax": "0.4.30"}), is_same_place(runs, {"jax": "0.5.0"})
    (True, False)
    """
    return all(runs.about.get(name) == here.get(name) for name in _PLACE)


# --------------------------------------------------------------------- lines


def check_lines(runs: Runs, design: Design) -> list[Recheck]:
    """Return what a line contradicts: itself, or the arm that it names.

    Raises
    ------
    InputError, FileError : an arm that cannot be built.
    """
    return [
        Recheck(part="line", key=one.key, number=name, there=str(there), again=str(again), agrees=False)
        for one in runs.results
        for name, there, again in _list_expected(one, design)
        if not _agree(there, again)
    ]


def _list_expected(one: TrialResult, design: Design) -> Iterator[tuple[str, Any, Any]]:
    """Each number that follows from others: its name, what the line has, what follows."""
    arm = build_arm(
        one.arm,
        length=one.length,
        width=design.width,
        heads=design.heads,
        norm=one.norm,
        seed=draw_encoding_seed(one.seed),
    )
    yield "spec", _complete(one.spec), arm.spec
    yield "entry", one.entry, arm.entry
    yield "rms_norm", one.rms_norm, arm.rms_norm
    yield "rate", one.rate, design.rates[one.validation.index(max(one.validation))]
    positives = design.test // 2
    negatives = design.test - positives
    found = round((one.recall or 0.0) * positives)
    wrong = negatives + found - round(one.accuracy * design.test)
    yield "recall", one.recall, found / positives
    yield "accuracy", one.accuracy, (found + negatives - wrong) / design.test
    yield "precision", one.precision, found / (found + wrong) if found + wrong else None
    yield "f1", one.f1, 2 * found / (positives + found + wrong)


@cache
def _complete(spec: str) -> str:
    """A SPEC with the parameters that its encoding has had since it was written, at their defaults."""
    try:
        return build_encodings([spec], {}, "spec")[0].spec if spec else spec
    except InputError:  # of a line that was changed
        return spec


def _agree(there: Any, again: Any) -> bool:
    if isinstance(there, float) and isinstance(again, float):
        return math.isclose(there, again, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(there == again)


# --------------------------------------------------------------------- the report


def check_report(runs: Runs, report: LearningReport) -> tuple[int, list[Recheck]]:
    """Compute the numbers of a report by their definitions; return how many there are, and those that differ.

    Numbers of encodings themselves (norms, kernels, spectra) are those that `compare` gives; here their ranks are
    correlated anew.
    """
    accuracies: dict[Group, dict[int, float]] = {}
    for one in runs.results:
        accuracies.setdefault(Group(one.task, one.length, one.arm, one.norm), {})[one.seed] = one.accuracy
    looked_at = [*_recompute_arms(report.arms, accuracies), *_recompute_numbers(report.numbers, accuracies)]
    wrong = [
        Recheck(part="report", key=key, number=name, there=_write(there), again=_write(again), agrees=False)
        for key, name, there, again in looked_at
        if not _agree(there, again)
    ]
    return len(looked_at), wrong


def _write(value: Any) -> str:
    return "" if value is None else repr(value)


def _recompute_arms(
    arms: Sequence[ArmComparison], accuracies: Mapping[Group, Mapping[int, float]]
) -> Iterator[tuple[str, str, Any, Any]]:
    raw = {_find_group(one): _recompute_difference(_find_group(one), accuracies) for one in arms}
    for one in arms:
        kind = _find_group(one)
        values = list(accuracies[kind].values())
        mean = sum(values) / len(values)
        expected: dict[str, Any] = {
            "runs": len(values),
            "accuracy": mean,
            "lowest": min(values),
            "highest": max(values),
        }
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None
        expected |= {"deviation": spread, **raw[kind]}
        family = [found["p"] for other, found in raw.items() if (*other[:2], other.norm) == (*kind[:2], kind.norm)]
        expected["p_corrected"] = _correct(raw[kind]["p"], [p for p in family if p is not None])
        for name, again in expected.items():
            yield f"{kind.task}|{kind.arm}|{kind.norm}|{kind.length}", name, getattr(one, name), again


def _find_group(one: ArmComparison) -> Group:
    return Group(one.task, one.length, one.arm, one.norm)


def _recompute_difference(kind: Group, accuracies: Mapping[Group, Mapping[int, float]]) -> dict[str, Any]:
    """Difference from the reference, its interval and its p; that of all signs is counted, one by one."""
    reference = accuracies.get(kind._replace(arm=REFERENCE, norm=NORMS[0]), {})
    mine = accuracies[kind]
    seeds = [] if kind.arm == REFERENCE else [seed for seed in sorted(mine) if seed in reference]
    nothing = dict.fromkeys(("difference", "low", "high", "p"))
    if not seeds:
        return {"pairs": 0, **nothing}
    differences = [mine[seed] - reference[seed] for seed in seeds]
    mean = sum(differences) / len(differences)
    low, high = _find_ends(differences)
    found = {"pairs": len(seeds), "difference": mean, "low": low, "high": high}
    if len(seeds) > EXACT_PAIRS:
        return found | {"p": compute_sign_flip_p(differences)[0]}
    sums = [abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _list_signs(len(seeds))]
    least = abs(math.fsum(differences)) - TOLERANCE * sum(map(abs, differences))
    return found | {"p": sum(one >= least for one in sums) / len(sums)}


def _find_ends(differences: Sequence[float]) -> tuple[float | None, float | None]:
    """The ends of the interval: of all means in order, those at the two shares, between two of them in proportion."""
    from scipy.special import ndtr, stdtrit

    number = len(differences)
    if number == 1:
        return None, None
    drawn = np.random.default_rng([SEED, number]).integers(0, number, size=(RESAMPLES, number))
    means = sorted(float(sum(differences[place] for place in row)) / number for row in drawn.tolist())
    share = float(ndtr(-math.sqrt(number / (number - 1)) * stdtrit(number - 1, 0.5 + CONFIDENCE / 2)))
    ends = []
    for one in (share, 1 - share):
        below, rest = divmod(one * (RESAMPLES - 1), 1)
        first, second = means[int(below)], means[min(int(below) + 1, RESAMPLES - 1)]
        ends.append(first + rest * (second - first))
    return ends[0], ends[1]


def _list_signs(number: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((1, -1), repeat=number)


def _correct(p: float | None, family: Sequence[float]) -> float | None:
    """Holm's p: of all that are not larger, the largest of each times how many are not smaller than it."""
    if p is None:
        return None
    ordered = sorted(family)
    return max(min(1.0, (len(ordered) - place) * one) for place, one in enumerate(ordered) if one <= p)


def _recompute_numbers(
    numbers: Sequence[NumberCorrelation], accuracies: Mapping[Group, Mapping[int, float]]
) -> Iterator[tuple[str, str, Any, Any]]:
    means = {
        (kind.task, kind.length, kind.arm + (" (matched)" if kind.norm == NORMS[1] else "")): sum(group.values())
        / len(group)
        for kind, group in accuracies.items()
    }
    families: dict[tuple[str, int, str], list[float]] = {}
    for one in numbers:
        if one.p is not None:
            families.setdefault((one.task, one.length, one.norm), []).append(one.p)
    for one in numbers:
        key = f"{one.task}|{one.number}|{one.norm}|{one.length}"
        expected = [means[one.task, one.length, name] for name in one.names]
        for name, there, mean in zip(one.names, one.accuracies, expected, strict=True):
            yield f"{key}|{name}", "accuracy", there, mean
        correlated = _correlate(np.array(one.values, dtype=float), np.array(expected))
        correlated["p_corrected"] = _correct(correlated["p"], families.get((one.task, one.length, one.norm), []))
        for name, again in correlated.items():
            yield key, name, getattr(one, name), again


def _correlate(first: F64, second: F64) -> dict[str, float | None]:
    """Pearson's correlation of ranks, each of which is counted, its interval, and p by distances of ranks."""
    found: dict[str, float | None] = dict.fromkeys(("rho", "low", "high", "p"))
    ranks = [_count_ranks(side) for side in (first, second)]
    if len(first) < 3 or any(np.ptp(side) == 0 for side in ranks):
        return found
    rho = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    found["rho"] = rho
    if len(first) >= 5 and abs(rho) < 1 - TOLERANCE:
        half = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * math.sqrt((1 + rho**2 / 2) / (len(first) - 3))
        found |= {"low": math.tanh(math.atanh(rho) - half), "high": math.tanh(math.atanh(rho) + half)}
    # with sums of squares as they are, correlations are the smaller the larger the distance
    distances = ((ranks[0] - ranks[1][draw_orders(len(first))]) ** 2).sum(axis=1)
    size = float(np.prod([np.std(side) for side in ranks])) * 2 * len(first)
    middle = sum(float(((side - side.mean()) ** 2).sum()) for side in ranks)
    as_far = int(np.sum(np.abs(middle - distances) / size >= abs(rho) - TOLERANCE))
    return found | {"p": (as_far + 1) / (RESAMPLES + 1)}


def _count_ranks(values: F64) -> F64:
    """Of each number how many are smaller, and half of those that are equal but for rounding."""
    near = TOLERANCE * np.abs(values).max()
    apart = values[:, None] - values
    ranks: F64 = np.sum(apart > near, axis=1) + (np.sum(np.abs(apart) <= near, axis=1) + 1) / 2
    return ranks


# --------------------------------------------------------------------- networks


def draw_results(results: Sequence[TrialResult], number: int, seed: int) -> list[TrialResult]:
    """Draw some results, each at most once.

    >>> draw_results([], 3, 0)
    []
    """
    ordered = sorted(results, key=lambda one: one.key)
    places = np.random.default_rng(seed).permutation(len(ordered))[:number]
    return [ordered[place] for place in places]


def _name_kind(one: TrialResult) -> str:
    return one.key.rpartition("|")[0]


def train_again(
    drawn: Sequence[TrialResult],
    results: Sequence[TrialResult],
    design: Design,
    *,
    is_equal: bool,
    progress: Callable[[int, int], None] | None = None,
) -> list[Recheck]:
    """Train networks again and compare their accuracies.

    Parameters
    ----------
    drawn : which. results : all, for the span of the seeds of a kind.
    is_equal : whether accuracies must be equal; else they must lie within that span, widened by `BEYOND_SEEDS`.

    Raises
    ------
    PeSpectraError : JAX or Optax is not installed.
    """
    from pe_spectra.experiment import trial

    found = []
    for done, one in enumerate(drawn):
        if progress is not None:
            progress(done, len(drawn))
        asked: Any = {name: getattr(one, name) for name in ("task", "arm", "norm", "length", "seed")}
        again = trial.run_trial(Trial(**asked), design).accuracy
        kind = [other.accuracy for other in results if _name_kind(other) == _name_kind(one)]
        is_near = min(kind) - BEYOND_SEEDS <= again <= max(kind) + BEYOND_SEEDS
        agrees = again == one.accuracy if is_equal else is_near
        found.append(
            Recheck(
                part="network",
                key=one.key,
                number="accuracy",
                there=repr(one.accuracy),
                again=repr(again),
                agrees=agrees,
            )
        )
    return found
