"""A file of results turned into a report: each arm beside the reference, each of our numbers beside accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pe_spectra.answers.learning import REFERENCE, ArmComparison, LearningReport, NumberCorrelation
from pe_spectra.errors import InputError
from pe_spectra.experiment.trial import TrialResult
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.compare import Comparison, compare_encodings
from pe_spectra.records import NamedTuple
from pe_spectra.sources import build_encodings
from pe_spectra.study.statistics import (
    PairedDifference,
    compare_pairs,
    correct_by_holm,
    correlate_ranks,
    measure_spread,
)
from pe_spectra.vocabulary import NORMS, TASKS
from pe_spectra.wording import join

_Row = TypeVar("_Row", ArmComparison, NumberCorrelation)

#: Numbers of `compare` that no scale of the vectors changes.
_OF_SHAPE = (
    "relative_separation",
    "kernel_half_width",
    "sidelobe_ratio",
    "low_bin_mass",
    "effective_bins_entropy",
    "shift_linearity_mean",
    "probe_rmse",
)

#: Tasks with something at a lag of the scale, and how many scales long the period of a task is.
_OF_LAG, _PERIODS = ("lag", "period", "anomaly"), {"period": 1, "anomaly": 2}


class _Group(NamedTuple):
    """What all runs of a group have in common."""

    task: str
    length: int
    arm: str
    norm: str


class _Number(NamedTuple):
    """One of our numbers: what it is, and how it is read of an arm; None where it has none."""

    meaning: str
    read: Callable[[Comparison, TrialResult, int], float | None]


def compare_runs(
    results: Sequence[TrialResult],
    *,
    scale: int,
    with_numbers: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> LearningReport:
    """Compare every arm with the reference, and rank our numbers against accuracy.

    Arms are compared with `sinusoidal` at its own norm, which is the one that others are matched to, on the seeds that
    both have. Our numbers are those of the table of each arm before training, as `compare_encodings` gives them; the
    norm and the smallest separation are scaled as the table was.

    Parameters
    ----------
    results : one for each trial; of a key that stands twice the last.
    scale : distance in positions at which the tasks plant their differences.
    with_numbers : whether our numbers are measured, too.
    progress : is told how many of how many tables are measured.

    Raises
    ------
    InputError : no results.
    FileError : a table that an arm names and that cannot be read.

    >>> def train(arm, seed, accuracy):
    ...     return TrialResult(
    ...         task="lag", arm=arm, norm="own", length=32, seed=seed, spec=f"{arm}:d=64", entry="token", rms_norm=1.0,
    ...         weights=9, rate=1e-3, validation=(0.5,), passes=12, accuracy=accuracy, precision=None, recall=0.0,
    ...         f1=0.0, loss=0.7, seconds=3.0,
    ...     )
    >>> runs = [train("sinusoidal", 0, 0.75), train("dft", 0, 0.5), train("sinusoidal", 1, 1.0), train("dft", 1, 0.5)]
    >>> reference, other = compare_runs(runs, scale=6).arms
    >>> other.difference, other.p, reference.difference
    (-0.375, 0.5, None)
    """
    if not results:
        raise InputError("there are no results", accepted="one trained network or more")
    groups: dict[_Group, dict[int, TrialResult]] = {}
    for one in sorted(results, key=_order):
        groups.setdefault(_Group(one.task, one.length, one.arm, one.norm), {})[one.seed] = one
    arms = _correct([_compare(group, runs, groups) for group, runs in groups.items()])
    if not with_numbers:
        return LearningReport(arms=tuple(arms), numbers=())
    tables, notes = _measure_tables(results, progress)
    numbers = _correct(_correlate(arms, groups, tables, scale))
    return LearningReport(arms=tuple(arms), numbers=tuple(numbers), notes=notes)


def _order(one: TrialResult) -> tuple[int, int, bool, str, int, int]:
    """Tasks as they are listed, then lengths; the reference first, then arms by name, each with its own norm first."""
    return TASKS.index(one.task), one.length, one.arm != REFERENCE, one.arm, NORMS.index(one.norm), one.seed


def _compare(
    group: _Group, runs: Mapping[int, TrialResult], groups: Mapping[_Group, Mapping[int, TrialResult]]
) -> ArmComparison:
    reference = groups.get(group._replace(arm=REFERENCE, norm=NORMS[0]), {})
    found: PairedDifference | None = None
    if group.arm != REFERENCE:
        found = compare_pairs(*({seed: one.accuracy for seed, one in side.items()} for side in (runs, reference)))
    spread = measure_spread([one.accuracy for one in runs.values()])
    f1 = [one.f1 for one in runs.values() if one.f1 is not None]
    norms = [one.rms_norm for one in runs.values() if one.rms_norm is not None]
    return ArmComparison(
        **group._asdict(),
        runs=len(runs),
        accuracy=spread.mean,
        deviation=spread.deviation,
        lowest=spread.low,
        highest=spread.high,
        f1=math.fsum(f1) / len(f1) if f1 else None,
        # of a table that is drawn for each seed the mean
        rms_norm=math.fsum(norms) / len(norms) if norms else None,
        pairs=found.pairs if found else 0,
        missing=found.missing if found else 0,
        difference=found.difference if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        p=found.p if found else None,
        p_corrected=None,
        seeds=tuple(runs),
        accuracies=tuple(one.accuracy for one in runs.values()),
    )


def _correct(rows: Sequence[_Row]) -> list[_Row]:
    """Correct the p of each task, length and norm for their number."""
    families: dict[tuple[str, int, str], list[_Row]] = {}
    for one in rows:
        families.setdefault((one.task, one.length, one.norm), []).append(one)
    corrected: dict[int, float | None] = {}
    for family in families.values():
        for one, p in zip(family, correct_by_holm([one.p for one in family]), strict=True):
            corrected[id(one)] = p
    return [replace(one, p_corrected=corrected[id(one)]) for one in rows]


# --------------------------------------------------------------------- our numbers


def _scale_with_norm(one: Comparison, run: TrialResult, _scale: int) -> float | None:
    """The smallest separation of the vectors that are added: that of the table, as it was scaled."""
    own, separation = one.values["norm_rms"], one.values["min_separation"]
    if run.rms_norm is None or not own or separation is None:
        return None
    return separation * run.rms_norm / own


def _read_kernel(one: Comparison, run: TrialResult, scale: int) -> float | None:
    """k(scale)/k(0), on tasks that plant something at this lag."""
    if run.task not in _OF_LAG or one.kernel is None or scale >= len(one.kernel) or one.kernel[0] <= 0:
        return None
    return float(one.kernel[scale] / one.kernel[0])


def _read_contrast(one: Comparison, run: TrialResult, scale: int) -> float | None:
    """|k(scale + 1) - k(scale - 1)|/k(0), on the task that tells these lags apart."""
    if run.task != "lag" or one.kernel is None or scale + 1 >= len(one.kernel) or one.kernel[0] <= 0:
        return None
    return float(abs(one.kernel[scale + 1] - one.kernel[scale - 1]) / one.kernel[0])


def _read_weight(one: Comparison, run: TrialResult, scale: int) -> float | None:
    """The weight at the frequency of the task over the mean weight, on tasks that have one.

    Of the kernel at the lags of the window, as the periodogram has it: the blur of a spectrum of 16 or 32 positions is
    wider than what lies between this frequency and 0.
    """
    if run.task not in _PERIODS or one.kernel is None or one.kernel[0] <= 0:
        return None
    lags = np.arange(1, len(one.kernel))
    waves = (1 - lags / len(one.kernel)) * np.cos(2 * math.pi / (_PERIODS[run.task] * scale) * lags)
    return float(1 + 2 * waves @ one.kernel[1:] / one.kernel[0])


def _read_metric(name: str) -> Callable[[Comparison, TrialResult, int], float | None]:
    return lambda one, _run, _scale: one.values[name]


_NUMBERS: Mapping[str, _Number] = {
    "norm_rms": _Number("root mean squared norm of the vectors added", lambda _one, run, _scale: run.rms_norm),
    "min_separation": _Number("smallest distance between two of the vectors added", _scale_with_norm),
    **{name: _Number(METRICS[name].text, _read_metric(name)) for name in _OF_SHAPE},
    "kernel_at_lag": _Number("k(tau)/k(0) at the lag that the task is about", _read_kernel),
    "kernel_contrast": _Number("difference of k(tau)/k(0) at the two lags that the task tells apart", _read_contrast),
    "weight_at_period": _Number(
        "weight at the frequency that the task is about, over the mean of all weights", _read_weight
    ),
}


def _measure_tables(
    results: Sequence[TrialResult], progress: Callable[[int, int], None] | None
) -> tuple[dict[tuple[str, int], Comparison], tuple[str, ...]]:
    """Measure the table of each arm and length; of one that is drawn for each seed that of the smallest."""
    specs: dict[tuple[int, str], str] = {}
    for one in sorted(results, key=lambda one: one.seed):
        if one.spec:
            specs.setdefault((one.length, one.arm), one.spec)
    found: dict[tuple[str, int], Comparison] = {}
    for length in sorted({length for length, _ in specs}):
        arms = [arm for size, arm in specs if size == length]
        encodings = [build_encodings([specs[length, arm]], {}, "arm")[0] for arm in arms]
        compared = compare_encodings(encodings, length=length, progress=progress)
        found |= {(arm, length): one for arm, one in zip(arms, compared, strict=True)}
    drawn = sorted({arm for (arm, _), one in found.items() if one.encoding.is_random})
    of = f"numbers of {join(drawn, 20)} are those of what was drawn for the smallest seed"
    return found, (of,) if drawn else ()


def _choose(arms: Sequence[tuple[ArmComparison, TrialResult]], norm: str) -> list[tuple[ArmComparison, TrialResult]]:
    """Choose those at one norm: where it is that of the sinusoid, also those that have it by themselves."""
    scaled = [run.rms_norm for one, run in arms if norm == one.norm == NORMS[1] and run.rms_norm is not None]
    return [
        (one, run)
        for one, run in arms
        if one.norm == norm or (scaled and run.rms_norm is not None and math.isclose(run.rms_norm, scaled[0]))
    ]


def _correlate(
    arms: Sequence[ArmComparison],
    groups: Mapping[_Group, Mapping[int, TrialResult]],
    tables: Mapping[tuple[str, int], Comparison],
    scale: int,
) -> list[NumberCorrelation]:
    """Rank each number against mean accuracy over the arms of a task and length, once at each norm.

    So no arm stands twice in one correlation, and at the norm of the sinusoid the norm itself explains nothing.
    """
    found = []
    for task, length, norm in dict.fromkeys((one.task, one.length, one.norm) for one in arms):
        there = [one for one in arms if (one.task, one.length) == (task, length) and (one.arm, length) in tables]
        here = _choose(
            [(one, next(iter(groups[_Group(task, length, one.arm, one.norm)].values()))) for one in there], norm
        )
        for name, number in _NUMBERS.items():
            values = [(one, number.read(tables[one.arm, length], run, scale)) for one, run in here]
            known = [(one, value) for one, value in values if value is not None]
            if not known:
                continue
            accuracies = [one.accuracy for one, _ in known]
            told = correlate_ranks([value for _, value in known], accuracies)
            found.append(
                NumberCorrelation(
                    task=task,
                    length=length,
                    norm=norm,
                    number=name,
                    meaning=number.meaning,
                    arms=told.count,
                    rho=told.rho,
                    low=told.low,
                    high=told.high,
                    p=told.p,
                    p_corrected=None,
                    names=tuple(one.name for one, _ in known),
                    values=tuple(value for _, value in known),
                    accuracies=tuple(accuracies),
                )
            )
    return found
