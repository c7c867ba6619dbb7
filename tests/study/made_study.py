"""A study that was not trained: every network of a plan, with accuracies that follow from its arm, norm and task."""

import math
import random
from functools import cache
from pathlib import Path

from pe_spectra.experiment.arms import build_arm
from pe_spectra.experiment.design import FULL, list_trials
from pe_spectra.experiment.runs import open_runs, write_row
from pe_spectra.experiment.scores import Scores
from pe_spectra.experiment.streams import draw_encoding_seed
from pe_spectra.experiment.trial import TrialResult
from pe_spectra.study import lines

#: As many arms as the study is to have at least.
MANY_ARMS = (
    *("none", "sinusoidal", "dft", "learned", "tape", "rope", "alibi", "t5", "shaw", "erpe", "ramp", "one-hot"),
    *("fourier-features", "dfstrans", "rnn", "time2vec", "sinusoidal:rho=100", "sinusoidal:rho=1e6", "calendar"),
    *("tree", "sincos2d", "mtan", "kerple", "fire", "tensor2tensor"),
)
FEW_ARMS = ("none", "sinusoidal", "dft", "learned", "alibi")


@cache
def find_arm(arm, norm, length, seed):
    """Where an arm enters, with what SPEC and norm; it is built once for each seed."""
    built = build_arm(arm, length=length, norm=norm, seed=draw_encoding_seed(seed))
    return built.spec, built.entry, built.rms_norm


def pretend_trial(trial, design=FULL):
    """A result whose scores fit together, as if a network had been trained."""
    spec, entry, norm = find_arm(trial.arm, trial.norm, trial.length, trial.seed)
    draw = random.Random(trial.key)
    half = design.test // 2
    gain = 0.0 if trial.arm == "none" or trial.task == "bag" else 0.08 + 0.15 * math.log1p(norm or 1.0)
    level = 0.5 + (0.4 if trial.task == "bag" else gain)
    accuracy = min(1.0, max(0.5, level + draw.gauss(0, 0.03)))
    right = [round(half * min(1.0, accuracy + sign * 0.01)) for sign in (1, -1)]
    scores = Scores(
        true_positives=right[0],
        false_positives=half - right[1],
        false_negatives=half - right[0],
        true_negatives=right[1],
    )
    validation = tuple(draw.randrange(512, 1025) / 1024 for _ in design.rates)
    more = {"passes": design.passes} if "passes" in TrialResult.quantities() else {}
    return TrialResult(
        **vars(trial),
        **more,
        spec=spec,
        entry=entry,
        rms_norm=norm,
        weights=70_000,
        rate=design.rates[validation.index(max(validation))],
        validation=validation,
        loss=0.5,
        seconds=20.0,
        **{name: getattr(scores, name) for name in ("accuracy", "precision", "recall", "f1")},
    )


def write_study(path, trials, design=FULL):
    """Write the results of these trials as `experiment run` does."""
    results = [pretend_trial(trial, design) for trial in trials]
    with open_runs(Path(path), design) as ledger:
        ledger.append_all({one.key: write_row(one) for one in results})
    return results


def list_study(arms=FEW_ARMS, tasks=("lag", "bag"), norms=("own", "matched"), lengths=(32,), seeds=10):
    return list_trials(tasks, arms, norms, lengths, range(seeds))


def pretend_study(monkeypatch, path):
    """Let this file be the study of the package, or none where it is None."""
    monkeypatch.setattr(lines, "find_study", lambda: path)
