"""What trials came to, as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import NORMS, TASKS
from pe_spectra.wording import count

VERDICTS = Verdicts({"trials-done": "ok"})
_SHARES = {
    "type": "object",
    "properties": {},
    "propertyNames": {"enum": list(TASKS)},
    "additionalProperties": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
}


@dataclass(frozen=True, kw_only=True)
class ArmMeans(Result):
    """What networks with one encoding came to, task by task.

    >>> row = ArmMeans(arm="dft", norm="own", length=32, seeds=3, rms_norm=1.0, accuracy={"lag": 0.5})
    >>> row.to_columns()["lag"]
    [0.5]
    """

    arm: str = quantity("The encoding, a SPEC without the sizes of the network; or none.")
    norm: str = quantity("Its own vectors, or scaled to the root mean square norm of the sinusoid.", words=NORMS)
    length: int = quantity("Positions of a window.", minimum=1)
    seeds: int = quantity("Networks that the means are of, of each task.", minimum=1)
    rms_norm: float | None = quantity(
        "Root mean square norm of the vectors added to tokens, before training; null for what is not added.", minimum=0
    )
    accuracy: Mapping[str, float | None] = quantity(
        "By task, the mean share of test windows that were judged rightly; a column for each.", schema=_SHARES
    )


@dataclass(frozen=True, kw_only=True)
class ExperimentBody(Body):
    """The means of trials, and where the trials themselves are."""

    kind = "experiment"
    draws = False
    output: str = quantity("The file with a line for each trial.", asked=True)
    tasks: tuple[str, ...] = quantity("What networks were taught.", words=TASKS, least=1, unique=True, asked=True)
    seeds: int = quantity("Networks of each kind.", minimum=1, asked=True)
    quick: bool = quantity("Whether it was the small form.", asked=True)
    trials: int = quantity("How many there are of what was asked for.", minimum=1)
    trained: int = quantity("How many of them were trained now; the others were in the file.", minimum=0)
    others: int = quantity("Lines of the file about trials that were not asked for.", minimum=0)
    rows: tuple[ArmMeans, ...] = quantity("One row for each arm, norm and length.", least=1)


def answer_experiment(
    means: Sequence[ArmMeans],
    *,
    output: str,
    tasks: Sequence[str],
    seeds: int,
    quick: bool,
    counts: tuple[int, int, int],
) -> Answer:
    """Turn the means of trials into an answer.

    Parameters
    ----------
    output : the file of the results.
    counts : all trials that were asked for, those that were trained now, and lines about others.

    >>> row = ArmMeans(arm="dft", norm="own", length=32, seeds=3, rms_norm=1.0, accuracy={"lag": 0.5})
    >>> answer_experiment(
    ...     [row], output="results.csv", tasks=["lag"], seeds=3, quick=True, counts=(3, 1, 0)
    ... ).verdict.text
    '3 trials are in results.csv, 1 of them trained now; mean accuracy is 0.5 for dft on lag.'
    """
    trials, trained, others = counts
    body = ExperimentBody(
        output=output,
        tasks=tuple(tasks),
        seeds=seeds,
        quick=quick,
        trials=trials,
        trained=trained,
        others=others,
        rows=tuple(means),
    )
    return Answer(
        body=body,
        verdict=_judge(means, output, trials, trained),
        results=means,
        facts=(("tasks", "mean accuracy on test windows, 0.5 by chance; each network alone is a line of the file"),),
        notes=(f"{output} has {count(others, 'line')} about other trials, too",) if others else (),
        digits=3,
        narrow=("arm",),
        rows="all",
    )


def _judge(means: Sequence[ArmMeans], output: str, trials: int, trained: int) -> Verdict:
    found = [
        (value, f"{one.arm}{' at the matched norm' if one.norm == 'matched' else ''} on {task}")
        for one in means
        for task, value in one.accuracy.items()
        if value is not None
    ]
    (low, lowest), (high, highest) = min(found), max(found)
    span = f"is {low:.3g} for {lowest}" if low == high else f"is from {low:.3g} ({lowest}) to {high:.3g} ({highest})"
    now = "all" if trained == trials else "none" if not trained else str(trained)
    there = f"{count(trials, 'trial')} {'is' if trials == 1 else 'are'} in {output}, {now} of them trained now"
    return VERDICTS.say("trials-done", f"{there}; mean accuracy {span}.")
