"""The commands that train networks: experiment run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import quote
from pe_spectra.records import NamedTuple
from pe_spectra.study.plan import STUDY_ARMS, STUDY_LENGTHS, STUDY_SEEDS, STUDY_TASKS
from pe_spectra.vocabulary import NORMS, QUICK_ARMS, QUICK_TASKS

if TYPE_CHECKING:
    from pe_spectra.answers.experiments import ArmMeans
    from pe_spectra.experiment.design import Design, Trial
    from pe_spectra.experiment.pools import Pool
    from pe_spectra.experiment.trial import TrialResult
    from pe_spectra.files.ledger import Ledger


class _Plan(NamedTuple):
    """What is compared unless options say otherwise."""

    tasks: tuple[str, ...]
    arms: tuple[str, ...]
    seeds: int
    lengths: tuple[int, ...]


_FULL = _Plan(STUDY_TASKS, STUDY_ARMS, STUDY_SEEDS, STUDY_LENGTHS)
_QUICK = _Plan(QUICK_TASKS, QUICK_ARMS, 3, (32,))


def experiment_run(
    run: Run,
    tasks: Sequence[str] | None,
    arms: Sequence[str] | None,
    norms: Sequence[str] | None,
    seeds: int | None,
    lengths: Sequence[int] | None,
    workers: str | None,
    quick: bool,
    output: str | None,
    resume: bool,
    no_resume: bool,
) -> Outcome:
    """Every task x arm x norm x length x seed is a trial, and a line of FILE as soon as it is done:
    what was interrupted goes on where it was. The answer is a table of mean accuracies; --figure draws all.
    """
    place = _read_place(output, resume=resume, no_resume=no_resume)
    from pe_spectra.experiment.design import FULL, QUICK, list_trials
    from pe_spectra.experiment.pools import read_workers
    from pe_spectra.experiment.runs import open_runs, select_results

    plan, design = (_QUICK, QUICK) if quick else (_FULL, FULL)
    asked = (tuple(tasks or plan.tasks), tuple(arms or plan.arms), seeds or plan.seeds, tuple(lengths or plan.lengths))
    chosen = _Plan(*asked)
    trials = list_trials(chosen.tasks, chosen.arms, norms or NORMS, chosen.lengths, range(chosen.seeds), design)
    with _open_pool(read_workers(workers)) as pool, open_runs(place, design, resume=not no_resume) as ledger:
        missing = [trial for trial in trials if trial.key not in ledger.done]
        _train(run, pool, design, missing, ledger, len(trials))
        results = select_results(ledger.rows, trials)
        counts = len(trials), len(missing), len(ledger.rows) - len(trials)
    from pe_spectra.answers.experiments import answer_experiment
    from pe_spectra.experiment.comparing import compare_runs

    means = _average(results, chosen.tasks)
    answer = answer_experiment(
        means, output=str(place), tasks=chosen.tasks, seeds=chosen.seeds, quick=quick, counts=counts
    )
    report = compare_runs(results, scale=design.scale, with_numbers=False)
    return run.finish(answer, plot("pe_spectra.plots.accuracies.compose_learning", report))


def _read_place(output: str | None, *, resume: bool, no_resume: bool) -> Path:
    """Check where the results go, before any work."""
    if resume and no_resume:
        raise InputError("--resume and --no-resume exclude each other", accepted="one of them is accepted")
    if not output or Path(output).suffix.lower() != ".csv":
        what = "--output is missing" if output is None else "--output is no name of a file of results"
        raise InputError(what, "" if output is None else quote(output), "a file ending in .csv is accepted")
    place = Path(output)
    if resume and not place.exists():
        raise FileError(place, "is not there, so there is nothing to go on with (--resume)")
    return place


def _open_pool(workers: int | str) -> AbstractContextManager[Pool]:
    """Open the workers; those of a scheduler have libraries of their own."""
    from pe_spectra.experiment.pools import open_pool
    from pe_spectra.experiment.runs import check_extra

    if isinstance(workers, int):
        check_extra()
    return open_pool(workers)


def _train(run: Run, pool: Pool, design: Design, missing: Sequence[Trial], ledger: Ledger, total: int) -> None:
    """Run the trials that are missing, and write down each when it is done."""
    from pe_spectra.experiment.pools import run_all
    from pe_spectra.experiment.runs import write_row
    from pe_spectra.experiment.trial import run_trial

    with run.progress("training", is_long=True) as tell:
        done = total - len(missing)
        tell(done, total)

        def keep(trial: Trial, result: TrialResult) -> None:
            nonlocal done
            ledger.append(trial.key, write_row(result))
            done += 1
            tell(done, total)

        run_all(pool, partial(run_trial, design=design), missing, keep, name=lambda trial: trial.key)


def _average(results: Sequence[TrialResult], tasks: Sequence[str]) -> list[ArmMeans]:
    """Mean accuracies of each arm, norm and length, in the order of the trials."""
    from pe_spectra.answers.experiments import ArmMeans

    groups: dict[tuple[int, str, str], list[TrialResult]] = {}
    for result in results:
        groups.setdefault((result.length, result.arm, result.norm), []).append(result)
    means = []
    for (length, arm, norm), group in groups.items():
        found = {task: [one.accuracy for one in group if one.task == task] for task in tasks}
        accuracy = {task: math.fsum(values) / len(values) if values else None for task, values in found.items()}
        seeds, rms_norm = len({one.seed for one in group}), group[0].rms_norm
        means.append(ArmMeans(arm=arm, norm=norm, length=length, seeds=seeds, rms_norm=rms_norm, accuracy=accuracy))
    return means
