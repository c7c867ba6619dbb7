"""Networks that tell the windows of a data set apart: every arm on the same windows, beside judges that never learned.

Scores are the paper's: precision, recall and F1 of single windows, nothing adjusted to stretches of anomalies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.answers.detections import DetectionReport, DetectorScores
from pe_spectra.answers.learning import REFERENCE
from pe_spectra.errors import InputError
from pe_spectra.experiment.arms import NONE, build_arm
from pe_spectra.experiment.design import Design, Trial, list_trials
from pe_spectra.experiment.network import draw_weights
from pe_spectra.experiment.scores import RandomScores, Scores, expect_random_scores, measure_scores
from pe_spectra.experiment.streams import draw_encoding_seed, start_stream
from pe_spectra.experiment.training import judge_windows
from pe_spectra.experiment.trial import learn_windows
from pe_spectra.experiment.windows import WindowPart, WindowSet
from pe_spectra.study.statistics import PairedDifference, compare_pairs, correct_by_holm, measure_spread
from pe_spectra.vocabulary import NORMS

#: The planted task of this form; it stands for the data set in the list of trials.
_TASK = "anomaly"


def learn_dataset(
    windows: WindowSet,
    *,
    arms: Sequence[str],
    norms: Sequence[str],
    seeds: Sequence[int],
    design: Design,
    progress: Callable[[int, int], None] | None = None,
) -> DetectionReport:
    """Train a network on a data set for every arm, norm and seed, and score it on the test windows.

    Classes are weighed so that both count alike in training. Of more windows of a part than the design has, as many
    are taken, evenly spaced in time. Seeds differ in first weights and the order of batches, not in windows.

    Parameters
    ----------
    windows : of two classes, as `cut_windows` gives them; the second one is looked for.
    arms, norms, seeds : as `list_trials` takes them.
    design : what is the same for all arms.
    progress : is told how many of how many networks are trained.

    Raises
    ------
    InputError : another number of classes, an arm that cannot be one, or fewer windows than a batch has.
    PeSpectraError : JAX or Optax is not installed.
    """
    if len(windows.classes) != 2:
        said = f"{len(windows.classes)} ({', '.join(windows.classes[:6])})"
        raise InputError("the data set has not two classes", said, "two classes are accepted")
    trials = list_trials([_TASK], arms, norms, [windows.length], seeds, design)
    counts = (design.windows, design.validation, design.test)
    parts = [
        _thin(part, most)
        for part, most in zip((windows.training, windows.validation, windows.test), counts, strict=True)
    ]
    data = replace(windows, training=parts[0], validation=parts[1], test=parts[2])
    importance = (float(windows.weights[0]), float(windows.weights[1]))
    groups: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for done, trial in enumerate(trials):
        if progress is not None:
            progress(done, len(trials))
        group = groups.setdefault((trial.arm, trial.norm), {})
        group[trial.seed] = _learn(trial, data, design, importance)
    rows = _correct([_gather(arm, norm, runs, groups) for (arm, norm), runs in groups.items()])
    return DetectionReport(
        source=windows.origin,
        length=windows.length,
        stride=windows.stride,
        gap=windows.gap,
        positive=windows.classes[1],
        training=len(parts[0].labels),
        validation=len(parts[1].labels),
        test=len(parts[2].labels),
        training_share=float(np.mean(parts[0].labels)),
        test_share=float(np.mean(parts[2].labels)),
        rows=(*rows, *list_baselines(data, seeds, design)),
        notes=(*windows.notes, *_note_thinned(windows, parts)),
    )


def _learn(trial: Trial, data: WindowSet, design: Design, importance: tuple[float, float]) -> Mapping[str, Any]:
    arm = build_arm(
        trial.arm,
        length=trial.length,
        width=design.width,
        heads=design.heads,
        norm=trial.norm,
        seed=draw_encoding_seed(trial.seed),
    )
    return learn_windows(data, arm, design, trial.seed, importance)


def _thin(part: WindowPart, most: int) -> WindowPart:
    """Take so many windows, evenly spaced; all where there are no more."""
    total = len(part.labels)
    if total <= most:
        return part
    places = np.arange(most) * total // most
    return WindowPart(**{name: values[places] for name, values in vars(part).items()})


def _note_thinned(windows: WindowSet, parts: Sequence[WindowPart]) -> list[str]:
    all_parts = {"training": windows.training, "validation": windows.validation, "test": windows.test}
    return [
        f"of {len(whole.labels):,} windows of {name} {len(part.labels):,} are taken, evenly spaced"
        for (name, whole), part in zip(all_parts.items(), parts, strict=True)
        if len(whole.labels) > len(part.labels)
    ]


def _gather(
    arm: str,
    norm: str,
    runs: Mapping[int, Mapping[str, Any]],
    groups: Mapping[tuple[str, str], Mapping[int, Mapping[str, Any]]],
) -> DetectorScores:
    """Means over the seeds of one arm, and its differences from the reference."""
    reference = groups.get((REFERENCE, NORMS[0]), {})
    found: PairedDifference | None = None
    if arm != REFERENCE:
        found = compare_pairs(*({seed: one["f1"] for seed, one in side.items()} for side in (runs, reference)))
    spread = measure_spread([one["f1"] for one in runs.values()])
    precisions = [one["precision"] for one in runs.values() if one["precision"] is not None]
    norms = [one["rms_norm"] for one in runs.values() if one["rms_norm"] is not None]
    return DetectorScores(
        arm=arm,
        norm=norm,
        runs=len(runs),
        rms_norm=_average(norms),
        precision=_average(precisions),
        recall=math.fsum(one["recall"] for one in runs.values()) / len(runs),
        f1=spread.mean,
        f1_deviation=spread.deviation,
        f1_lowest=spread.low,
        f1_highest=spread.high,
        accuracy=math.fsum(one["accuracy"] for one in runs.values()) / len(runs),
        difference=found.difference if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        p=found.p if found else None,
        p_corrected=None,
    )


def _average(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _correct(rows: Sequence[DetectorScores]) -> list[DetectorScores]:
    """Correct the p of the arms of each norm for their number."""
    corrected: dict[int, float | None] = {}
    for norm in NORMS:
        family = [one for one in rows if one.norm == norm]
        corrected |= {id(one): p for one, p in zip(family, correct_by_holm([one.p for one in family]), strict=True)}
    return [replace(one, p_corrected=corrected[id(one)]) for one in rows]


# --------------------------------------------------------------------- what no training made


def list_baselines(windows: WindowSet, seeds: Sequence[int], design: Design) -> list[DetectorScores]:
    """Score judges that never learned on the test windows: by chance, always yes, and the network untrained.

    Raises
    ------
    PeSpectraError : JAX or Optax is not installed.
    """
    labels = windows.test.labels
    positives, total = int(np.sum(labels == 1)), len(labels)
    rate = float(np.mean(windows.training.labels == 1))
    arm = build_arm(NONE, length=windows.length, width=design.width, heads=design.heads)
    channels = windows.test.values.shape[2]
    scored = []
    for seed in seeds:
        weights = draw_weights(design, channels, arm, start_stream(seed, "weights"))
        scored.append(measure_scores(labels, judge_windows(weights, windows.test, arm, design) > 0))
    return [
        _write_expected("random", expect_random_scores(positives, total, rate)),
        _write_expected("always", expect_random_scores(positives, total, 1.0)),
        _write_untrained(scored),
    ]


def _write_expected(name: str, expected: RandomScores) -> DetectorScores:
    f1, recall = expected.f1 or 0.0, expected.recall or 0.0
    return DetectorScores(
        **_describe_baseline(name, runs=0),
        precision=expected.precision,
        recall=recall,
        f1=f1,
        f1_deviation=None,
        f1_lowest=f1,
        f1_highest=f1,
        accuracy=expected.accuracy,
    )


def _write_untrained(scored: Sequence[Scores]) -> DetectorScores:
    spread = measure_spread([one.f1 or 0.0 for one in scored])
    return DetectorScores(
        **_describe_baseline("untrained", runs=len(scored)),
        precision=_average([one.precision for one in scored if one.precision is not None]),
        recall=math.fsum(one.recall or 0.0 for one in scored) / len(scored),
        f1=spread.mean,
        f1_deviation=spread.deviation,
        f1_lowest=spread.low,
        f1_highest=spread.high,
        accuracy=math.fsum(one.accuracy for one in scored) / len(scored),
    )


def _describe_baseline(name: str, runs: int) -> dict[str, Any]:
    """What a baseline has not."""
    nothing = dict.fromkeys(("norm", "rms_norm", "difference", "low", "high", "p", "p_corrected"))
    return {"arm": name, "runs": runs, **nothing}
