"""What came of training: experiment report, its check, and experiment data, which trains on a data set of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.errors import InputError
from pe_spectra.vocabulary import DATA_ARMS, NORMS, QUICK_ARMS

#: Networks of each kind on a data set.
_SEEDS, _QUICK_SEEDS = 10, 3


def experiment_report(run: Run, results: str | None, by_number: bool) -> Outcome:
    """Each arm beside the sinusoidal one, seed by seed, with intervals and corrected p; and which of our
    numbers (norm, separations, kernel, spectrum, probes) go along with accuracy, by ranks.
    """
    from pe_spectra.answers.learning import answer_learning
    from pe_spectra.experiment.committed import report_runs, report_study
    from pe_spectra.experiment.runs import read_runs

    with run.progress("measuring tables") as tell:
        if results is None:
            report = report_study(progress=tell)
        else:
            report = report_runs(read_runs(Path(results), label="RESULTS"), results, progress=tell)
    answer = answer_learning(report, file=results or "the study", by_number=by_number)
    figure = plot(f"pe_spectra.plots.accuracies.compose_{'numbers' if by_number else 'learning'}", report)
    return run.finish(answer, figure)


def experiment_check(run: Run, results: str | None, runs: int, seed: int) -> Outcome:
    """Every line is held against itself and its arm, every number of the report is computed a second time
    by its definition, and networks drawn by --seed are trained again. Exit 1 when something differs.
    """
    from pe_spectra.answers.rechecks import answer_rechecks
    from pe_spectra.experiment import rechecking
    from pe_spectra.experiment.committed import report_runs, report_study
    from pe_spectra.experiment.runs import check_extra, describe_here, read_runs, read_study

    if runs:
        check_extra()
    found = read_study() if results is None else read_runs(Path(results), label="RESULTS")
    design = rechecking.read_design(found)
    file = results or "the study"
    with run.progress("computing again") as tell:
        report = report_study(progress=tell) if results is None else report_runs(found, file, progress=tell)
        wrong = rechecking.check_lines(found, design)
        numbers, differing = rechecking.check_report(found, report)
    is_same_place = rechecking.is_same_place(found, describe_here())
    with run.progress("training again", is_long=True) as tell:
        drawn = rechecking.draw_results(found.results, runs, seed)
        networks = rechecking.train_again(drawn, found.results, design, is_equal=is_same_place, progress=tell)
    tolerance = (
        "accuracies must be equal: versions and class of machine are those of the file"
        if is_same_place
        else "versions or class of machine are not those of the file: accuracies must lie within those of all seeds of "
        f"their kind, or {rechecking.BEYOND_SEEDS} beyond"
    )
    answer = answer_rechecks(
        [*wrong, *differing, *networks],
        file=file,
        counts=(len(found.results), numbers),
        is_same_place=is_same_place,
        tolerance=tolerance,
    )
    return run.finish(answer)


def experiment_data(
    run: Run,
    data: str | None,
    label: str | None,
    arms: Sequence[str] | None,
    norms: Sequence[str] | None,
    seeds: int | None,
    length: int | None,
    stride: int | None,
    quick: bool,
) -> Outcome:
    """Windows are split by time without leakage and scaled by training rows alone; precision, recall and F1
    of single windows, with seeds and spreads, stand beside those of a random and an untrained judge.
    A window of ETT is to be told where the mean of OT over the next window is above that over its own.
    """
    if data is None:
        raise InputError("--data is missing", accepted="smd:FOLDER, table:FILE.csv and others are accepted")
    from pe_spectra.answers.detections import answer_detections
    from pe_spectra.experiment.data_trials import learn_dataset
    from pe_spectra.experiment.design import FULL, QUICK
    from pe_spectra.experiment.runs import check_extra
    from pe_spectra.experiment.windows import cut_windows
    from pe_spectra.files.datasets.data_forms import read_dataset

    check_extra()
    windows = cut_windows(read_dataset(data, column=label), length=length, stride=stride)
    with run.progress("training", is_long=True) as tell:
        report = learn_dataset(
            windows,
            arms=arms or (QUICK_ARMS if quick else DATA_ARMS),
            norms=norms or NORMS,
            seeds=range(seeds or (_QUICK_SEEDS if quick else _SEEDS)),
            design=QUICK if quick else FULL,
            progress=tell,
        )
    return run.finish(answer_detections(report))
