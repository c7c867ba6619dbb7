"""What networks learned with each encoding, against the sinusoidal one and against our numbers, as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import NORMS, TASKS
from pe_spectra.wording import count, join

VERDICTS = Verdicts(
    {"differences-shown": "ok", "no-difference-shown": "ok", "too-few-seeds": "note", "no-reference": "note"}
)
#: The arm that others are compared with, the one whose paper says that it learns better, and the task that no
#: position helps with.
REFERENCE, PROPOSED, CONTROL = "sinusoidal", "dft", "bag"
#: Corrected p below which two arms are said to differ.
LEVEL = 0.05
#: Mean accuracy from which on nothing is left to be won.
CEILING = 0.99
_WHERE: Mapping[str, str] = dict(zip(NORMS, ("at their own norms", "at the same norm"), strict=True))
#: What stands behind the name of an arm at the norm of the sinusoid.
MATCHED = " (matched)"
_SHOWN = ("task", "length", "arm", "norm", "runs", "accuracy", "deviation", "difference", "low", "high", "p_corrected")
_SHOWN_NUMBERS = ("task", "length", "norm", "number", "arms", "rho", "low", "high", "p_corrected")
_DIGITS = 3
#: So many numbers are named for a task.
_MOST_NAMED = 3
_ARM = "The encoding, a SPEC without the sizes of the network; or none."
_POINTS: Mapping[str, object] = {"type": "array", "items": {"type": "number"}}


@dataclass(frozen=True, kw_only=True)
class ArmComparison(Result):
    """What networks with one encoding came to on one task, beside the reference: sinusoidal, at its own norm."""

    task: str = quantity("What the networks were taught.", words=TASKS)
    length: int = quantity("Positions of a window.", minimum=1)
    arm: str = quantity(_ARM)
    norm: str = quantity("Its own vectors, or scaled to the root mean square norm of the sinusoid.", words=NORMS)
    runs: int = quantity("Networks, one for each seed.", minimum=1)
    accuracy: float = quantity("Mean share of test windows judged rightly.", minimum=0, maximum=1)
    deviation: float | None = quantity("Standard deviation over seeds; null for one.", minimum=0)
    lowest: float = quantity("Of the least accurate network.", minimum=0, maximum=1)
    highest: float = quantity("Of the most accurate network.", minimum=0, maximum=1)
    f1: float | None = quantity("Mean F1 of the runs that have one; null where none has.", minimum=0, maximum=1)
    rms_norm: float | None = quantity(
        "Root mean square norm of the vectors added to tokens, before training; null for what is not added.", minimum=0
    )
    pairs: int = quantity("Seeds that it shares with the reference; 0 of the reference itself.", minimum=0)
    missing: int = quantity("Seeds that only one of the two has; they are left out of the difference.", minimum=0)
    difference: float | None = quantity(
        "Mean difference of accuracy from the reference, pair by pair; null without pairs.", minimum=-1, maximum=1
    )
    low: float | None = quantity("Lower end of its interval of 95 %; null of fewer than two pairs.")
    high: float | None = quantity("Upper end; null likewise.")
    p: float | None = quantity("Of the sign-flip test, two-sided; null without pairs.", minimum=0, maximum=1)
    p_corrected: float | None = quantity(
        "p corrected by Holm's method over the arms of one task, length and norm; null likewise.", minimum=0, maximum=1
    )
    seeds: tuple[int, ...] = quantity("The seeds, ascending.", column=None, least=1, unique=True, minimum=0)
    accuracies: tuple[float, ...] = quantity("Accuracy of each of them.", column=None, least=1, minimum=0, maximum=1)

    @property
    def name(self) -> str:
        """The arm, and whether its norm was matched."""
        return f"{self.arm}{MATCHED}" if self.norm == NORMS[1] else self.arm

    @property
    def differs(self) -> bool:
        """Whether a difference from the reference is shown."""
        return self.p_corrected is not None and self.p_corrected < LEVEL


@dataclass(frozen=True, kw_only=True)
class NumberCorrelation(Result):
    """How far accuracy rises with one of our numbers over the arms of a task, by ranks."""

    task: str = quantity("What the networks were taught.", words=TASKS)
    length: int = quantity("Positions of a window.", minimum=1)
    norm: str = quantity(
        "Of which vectors: every arm with its own, or all at the root mean square norm of the sinusoid.", words=NORMS
    )
    number: str = quantity("The number, as `compare` calls it where it has it.")
    meaning: str = quantity("What it is.", column=None)
    arms: int = quantity("Arms that have it.", minimum=0)
    rho: float | None = quantity(
        "Spearman's rank correlation of it with mean accuracy; null of fewer than three arms, or where one of the two "
        "is the same for all.",
        minimum=-1,
        maximum=1,
    )
    low: float | None = quantity("Lower end of its interval of 95 %; null of fewer than five arms, or of rank order.")
    high: float | None = quantity("Upper end; null likewise.")
    p: float | None = quantity("Of the permutation test, two-sided; null without rho.", minimum=0, maximum=1)
    p_corrected: float | None = quantity(
        "p corrected by Holm's method over the numbers of one task, length and norm; null likewise.",
        minimum=0,
        maximum=1,
    )
    names: tuple[str, ...] = quantity("Those arms.", column=None)
    values: tuple[float, ...] = quantity("The number of each of them.", column=None, schema=_POINTS)
    accuracies: tuple[float, ...] = quantity("Mean accuracy of each of them.", column=None, schema=_POINTS)

    @property
    def is_told(self) -> bool:
        """Whether a relation is shown."""
        return self.p_corrected is not None and self.p_corrected < LEVEL


@dataclass(frozen=True, kw_only=True)
class LearningReport(Result):
    """An experiment: every arm beside the reference, and every number beside accuracy."""

    arms: tuple[ArmComparison, ...] = quantity("One for each task, length, arm and norm.", key="rows", least=1)
    numbers: tuple[NumberCorrelation, ...] = quantity("One for each task, length, norm and number.", column=None)
    planned: int | None = quantity(
        "How many networks the study is to have; null of a file that is not the study.", default=None, minimum=1
    )
    missing: tuple[str, ...] = quantity(
        "What of the plan is not there, in words, for each length of windows.", default=(), column=None
    )
    notes: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """Networks that were trained."""
        return sum(one.runs for one in self.arms)


@dataclass(frozen=True, kw_only=True)
class LearningBody(Body):
    """Accuracy by arm, and what goes with it."""

    kind = "learning"
    file: str = quantity("The file of results.", asked=True)
    runs: int = quantity("Networks in it.", minimum=1)
    report: LearningReport = quantity("Arms and numbers.", inline=True)


def answer_learning(report: LearningReport, *, file: str = "results", by_number: bool = False) -> Answer:
    """Turn a report on an experiment into an answer.

    Parameters
    ----------
    file : the file of results, as it was named.
    by_number : whether our numbers are the rows, in place of the arms.

    >>> arm = ArmComparison(
    ...     task="lag", length=32, arm="none", norm="own", runs=1, accuracy=0.5, deviation=None, lowest=0.5,
    ...     highest=0.5, f1=None, rms_norm=None, pairs=0, missing=0, difference=None, low=None, high=None, p=None,
    ...     p_corrected=None, seeds=(0,), accuracies=(0.5,),
    ... )
    >>> answer_learning(LearningReport(arms=(arm,), numbers=())).verdict.code
    'no-reference'
    """
    return Answer(
        body=LearningBody(file=file, runs=report.runs, report=report),
        verdict=judge_learning(report),
        results=report.numbers if by_number else report.arms,
        facts=_list_facts(report),
        details=() if not by_number else [(one.number, one.meaning) for one in _list_first(report.numbers)],
        notes=(*report.notes, *_list_notes(report)),
        shown=_SHOWN_NUMBERS if by_number else _SHOWN,
        digits=_DIGITS,
        narrow=("arm",),
    )


def judge_learning(report: LearningReport) -> Verdict:
    """Say whether arms differ from the reference: of the arm that was proposed where it is there, else of all.

    >>> judge_learning(LearningReport(arms=(), numbers=())).text
    'No arm was compared with sinusoidal: the file has no run of it, or of no other arm.'
    """
    compared = [one for one in report.arms if one.p_corrected is not None and one.task != CONTROL]
    if not compared:
        text = f"No arm was compared with {REFERENCE}: the file has no run of it, or of no other arm."
        return VERDICTS.say("no-reference", text)
    proposed = [one for one in compared if one.arm == PROPOSED]
    chosen = proposed or compared
    fewest, most = min(one.pairs for one in chosen), max(one.pairs for one in chosen)
    seeds = count(most, "seed") if fewest == most else f"{fewest} to {most} seeds"
    if not _can_show(chosen, report):
        arm = PROPOSED if proposed else "an arm"
        text = f"{seeds} are too few to show that {arm} differs from {REFERENCE}: no corrected p can be below {LEVEL}."
        return VERDICTS.say("too-few-seeds", text if most > 1 else text.replace("are", "is", 1))
    parts: list[str] = []
    for norm, where in _WHERE.items():
        here = [one for one in chosen if one.norm == norm]
        if here and not _can_show(here, report):
            parts.append(f"{where} the seeds are too few to tell")
        elif here:
            better = sum(one.differs and (one.difference or 0) > 0 for one in here)
            worse = sum(one.differs and (one.difference or 0) < 0 for one in here)
            said = f"more accurate in {better} of {count(len(here), 'comparison')}, less accurate in {worse}"
            parts.append(f"{where} {said}")
    who = PROPOSED if proposed else count(len({one.arm for one in compared}), "arm")
    shown = any(one.differs for one in chosen)
    text = f"{who} against {REFERENCE}: {'; '.join(parts)} ({seeds}, corrected p below {LEVEL})."
    return VERDICTS.say("differences-shown" if shown else "no-difference-shown", text[:1].upper() + text[1:])


def _can_show(compared: Sequence[ArmComparison], report: LearningReport) -> bool:
    """Whether any of these comparisons has seeds enough for a corrected p below the level."""
    return min(_find_least(one, report.arms) for one in compared) < LEVEL


def _find_least(one: ArmComparison, arms: Sequence[ArmComparison]) -> float:
    """The smallest corrected p that a comparison can have: all differences of one sign, and the smallest of all."""
    family = sum(o.p is not None and (o.task, o.length, o.norm) == (one.task, one.length, one.norm) for o in arms)
    return 2.0 ** (1 - one.pairs) * family


def _name_task(one: ArmComparison | NumberCorrelation, report: LearningReport) -> str:
    """Name a task, with the length of windows where there are several."""
    return one.task if len({each.length for each in report.arms}) == 1 else f"{one.task} at {one.length}"


def _list_first(numbers: Sequence[NumberCorrelation]) -> list[NumberCorrelation]:
    """One of each number, for what it means."""
    return list({one.number: one for one in numbers}.values())


def _list_facts(report: LearningReport) -> list[tuple[str, str]]:
    lengths = join([str(length) for length in sorted({one.length for one in report.arms})])
    arms = len({one.arm for one in report.arms})
    planned = "" if report.planned is None else f" of {report.planned:,} planned"
    facts = [("runs", f"{report.runs:,}{planned}: {count(arms, 'arm')}, windows of {lengths} positions")]
    control = [one for one in report.arms if one.task == CONTROL and one.difference is not None]
    if control:
        shown = sum(one.differs for one in control)
        span = [one.difference for one in control if one.difference is not None]
        text = f"{shown} of {count(len(control), 'comparison')} shown to differ"
        text += f"; all differences from {min(span):+.3f} to {max(span):+.3f}"
        ends = [end for one in control for end in (one.low, one.high) if end is not None]
        within = f", their intervals from {min(ends):+.3f} to {max(ends):+.3f}" if ends else ""
        facts.append((f"control ({CONTROL})", f"{text}{within}; position does not help there"))
    without = [f"{_name_task(one, report)} {one.accuracy:.3f}" for one in report.arms if one.arm == "none"]
    facts.append(("without an encoding", ", ".join(without)))
    for place in dict.fromkeys(_name_task(one, report) for one in report.numbers):
        here = [one for one in report.numbers if _name_task(one, report) == place and one.is_told]
        said = [
            f"{_list_told(told)} {where}"
            for norm, where in _WHERE.items()
            if (told := [o for o in here if o.norm == norm])
        ]
        facts.append((f"goes with accuracy: {place}", "; ".join(said) or "none of the numbers"))
    heard = {one.number for one in report.numbers if one.is_told and one.task != CONTROL}
    silent = [one.number for one in _list_first(report.numbers) if one.number not in heard]
    return [*facts, ("goes with accuracy on no task", join(silent))]


def _list_told(numbers: Sequence[NumberCorrelation]) -> str:
    """Name the numbers that go with accuracy, the closest first."""
    told = sorted(numbers, key=lambda one: -abs(one.rho or 0))
    spans = ["" if one.low is None else f" ({one.low:+.2f} to {one.high:+.2f})" for one in told]
    said = [f"{one.number} {one.rho:+.2f}{span}" for one, span in zip(told, spans, strict=True)]
    return join(said, _MOST_NAMED)


def _list_notes(report: LearningReport) -> list[str]:
    notes = [f"the study is not complete: {one}" for one in report.missing]
    compared = [one for one in report.arms if one.p is not None]
    if compared:
        fewest = min(one.pairs for one in compared)
        notes.append(
            f"the sign-flip test of {count(fewest, 'pair')} gives no p below {min(1.0, 2.0 ** (1 - fewest)):.3g}"
        )
    if missing := sum(one.missing for one in compared):
        notes.append(f"{count(missing, 'run')} without a partner of the same seed left out of differences")
    if any(one.pairs == 1 for one in compared):
        notes.append("one pair has no interval")
    if won := [_name_task(one, report) for one in report.arms if one.arm == REFERENCE and one.accuracy >= CEILING]:
        notes.append(f"{REFERENCE} itself is at {CEILING} or more, so that nothing can be better: {join(won)}")
    if shown := sum(one.p is not None for one in report.numbers):
        notes.append(
            f"a number goes with accuracy where its p, corrected by Holm's method within task, length and norm, is "
            f"below {LEVEL}; intervals of {count(shown, 'correlation')} are not corrected"
        )
    return notes
