"""Trials that train nothing: what their keys give, the same in every process; and the program with these."""

import random
import time
from pkgutil import resolve_name

from pe_spectra import cli
from pe_spectra.experiment import runs, trial
from pe_spectra.experiment.trial import TrialResult


def run_trial(trial, design):
    """A result that follows from the trial alone, after a moment."""
    draw = random.Random(trial.key)
    time.sleep(draw.uniform(0, 0.01))
    return TrialResult(
        task=trial.task,
        arm=trial.arm,
        norm=trial.norm,
        length=trial.length,
        seed=trial.seed,
        spec="" if trial.arm == "none" else f"{trial.arm}:d={design.width}",
        entry="none" if trial.arm == "none" else "token",
        rms_norm=None if trial.arm == "none" else draw.uniform(0.5, 6),
        weights=5000,
        rate=1e-3,
        validation=tuple(draw.uniform(0.5, 1) for _ in design.rates),
        passes=design.passes,
        accuracy=draw.uniform(0.5, 1),
        precision=None if trial.task == "bag" else draw.uniform(0.5, 1),
        recall=draw.uniform(0.5, 1),
        f1=0.5,
        loss=draw.expovariate(1),
        seconds=0.01,
    )


def pretend(patch=setattr):
    """Let the program run these trials, also where nothing can be trained."""
    # by the name that other processes know it by
    patch(trial, "run_trial", resolve_name("tests.experiment.fake_trials:run_trial"))
    patch(runs, "check_extra", lambda: None)


if __name__ == "__main__":
    pretend()
    cli.run_process()
