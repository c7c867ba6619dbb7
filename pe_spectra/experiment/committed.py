"""The study that is in the package, compared as any other file of results is, and held against its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pe_spectra.answers.learning import LearningReport
from pe_spectra.errors import FileError
from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.experiment.design import Trial, list_trials
from pe_spectra.experiment.runs import Runs, read_study
from pe_spectra.study import plan
from pe_spectra.wording import count, join


def list_planned() -> tuple[Trial, ...]:
    """List the trials that the study is to have.

    >>> planned = list_planned()
    >>> {trial.length for trial in planned} == set(plan.STUDY_LENGTHS), len({trial.seed for trial in planned})
    (True, 10)
    """
    seeds = range(plan.STUDY_SEEDS)
    return list_trials(plan.STUDY_TASKS, plan.STUDY_ARMS, plan.STUDY_NORMS, plan.STUDY_LENGTHS, seeds)


def report_runs(
    runs: Runs,
    origin: str,
    *,
    with_numbers: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> LearningReport:
    """Compare the results of a file, as `compare_runs` does, at the scale that its settings have.

    Parameters
    ----------
    origin : the file, as it was named.
    with_numbers, progress : as `compare_runs` takes them.

    Raises
    ------
    FileError : no result, settings without a scale, or a table that an arm names and that cannot be read.
    """
    scale = runs.settings.get("scale")
    if not runs.results or not isinstance(scale, int):
        raise FileError(origin, "has no result yet" if isinstance(scale, int) else "does not say its setting scale")
    return compare_runs(runs.results, scale=scale, with_numbers=with_numbers, progress=progress)


def report_study(*, with_numbers: bool = True, progress: Callable[[int, int], None] | None = None) -> LearningReport:
    """Compare the results of the study, and say what of its plan is missing.

    Raises
    ------
    InputError : this version has no study.
    FileError : as :func:`report_runs`.
    """
    runs = read_study()
    report = report_runs(runs, "the study", with_numbers=with_numbers, progress=progress)
    planned = list_planned()
    missing = describe_missing(planned, {one.key for one in runs.results})
    return replace(report, planned=len(planned), missing=missing)


def describe_missing(planned: Sequence[Trial], done: Iterable[str]) -> tuple[str, ...]:
    """Say what of a plan is not done, for each length of windows: how many networks, and of which seeds.

    Parameters
    ----------
    planned : all trials. done : keys of those that are done; others may stand among them.

    >>> planned = list_trials(["lag"], ["none", "dft"], ["own"], [32], range(4))
    >>> describe_missing(planned, [trial.key for trial in planned if trial.seed < 2])
    ('of windows of 32 positions 4 of 8 networks missing, of seeds 2 and 3',)
    """
    there = set(done)
    said = []
    for length in dict.fromkeys(trial.length for trial in planned):
        asked = [trial for trial in planned if trial.length == length]
        missing = [trial for trial in asked if trial.key not in there]
        if missing:
            seeds = sorted({trial.seed for trial in missing})
            of = f"of {'seed' if len(seeds) == 1 else 'seeds'} {join([str(seed) for seed in seeds])}"
            number = f"{len(missing):,} of {count(len(asked), 'network')} missing"
            said.append(f"of windows of {length} positions {number}, {of}")
    return tuple(said)
