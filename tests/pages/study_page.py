"""What docs/experiment.md tells of the study: its tables, made of the committed runs, and the numbers of its sentences.

Run this file to write the tables anew: .venv/bin/python -m tests.pages.study_page
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from pe_spectra.answers.learning import (
    CONTROL,
    PROPOSED,
    REFERENCE,
    ArmComparison,
    LearningReport,
    NumberCorrelation,
)
from pe_spectra.experiment.committed import report_study
from pe_spectra.experiment.runs import read_runs
from pe_spectra.study import plan
from pe_spectra.study.lines import list_accuracies
from pe_spectra.vocabulary import NORMS, TASKS
from pe_spectra.wording import join
from tests.pages.docs_numbers import name_number
from tests.places import ROOT

PAGE = ROOT / "docs" / "experiment.md"
#: A part of the study that was trained on another machine, too.
ELSEWHERE = ROOT / "tests" / "experiment" / "study_elsewhere.csv"
OWN, MATCHED = NORMS
LONGER = max(plan.STUDY_LENGTHS)
#: Tasks that no network without positions can learn.
NEEDING = tuple(task for task in TASKS if task not in (CONTROL, "faint", "anomaly"))


@cache
def report() -> LearningReport:
    return report_study()


def find_arm(task: str, length: int, arm: str = PROPOSED, norm: str = OWN) -> ArmComparison:
    (found,) = [o for o in report().arms if (o.task, o.length, o.arm, o.norm) == (task, length, arm, norm)]
    return found


def read_norms() -> tuple[float, ...]:
    """The norm of the proposed arm's own vectors, and that of the reference."""
    found = (find_arm("where", LONGER, arm).rms_norm for arm in (PROPOSED, REFERENCE))
    return tuple(round(norm, 9) for norm in found if norm is not None)


def read_accuracies(task: str, *arms: tuple[str, str]) -> tuple[str, ...]:
    """Mean accuracies of arms, each at a norm, on a task in the longer windows."""
    return tuple(f"{find_arm(task, LONGER, arm, norm).accuracy:.2f}" for arm, norm in arms)


def count_shown(norm: str) -> tuple[int, int, int]:
    """How often the proposed arm is better, is worse, and how many comparisons there are but for the control."""
    found = [one for one in report().arms if (one.arm, one.norm) == (PROPOSED, norm) and one.task != CONTROL]
    signs = [one.difference > 0 for one in found if one.differs and one.difference is not None]
    return sum(signs), len(signs) - sum(signs), len(found)


def average_norms() -> tuple[str, ...]:
    """Mean accuracy of the arms that were trained at two norms, on tasks that need positions: own, then matched."""
    both = {one.arm for one in report().arms if one.norm == MATCHED}
    there = [one for one in report().arms if one.length == LONGER and one.arm in both and one.task in NEEDING]
    sides = ([one.accuracy for one in there if one.norm == norm] for norm in NORMS)
    return tuple(f"{sum(side) / len(side):.2f}" for side in sides)


def list_silent() -> str:
    """The numbers that go with accuracy on no task but the control, as a sentence begins with them."""
    numbers = report().numbers
    heard = {one.number for one in numbers if one.is_told and one.task != CONTROL}
    return join([f"`{name}`" for name in dict.fromkeys(one.number for one in numbers) if name not in heard])


def describe_control() -> tuple[object, ...]:
    """What the control shows: differences, of how many comparisons, the one, ends of all intervals, lowest accuracy."""
    found = [one for one in report().arms if one.task == CONTROL and one.difference is not None]
    (shown,) = [one.difference for one in found if one.differs]
    ends = [end for one in found for end in (one.low, one.high) if end is not None]
    return (
        name_number(1),
        len(found),
        f"{shown:+.3f}",
        *(f"{end:+.3f}" for end in (min(ends), max(ends))),
        f"{min(one.accuracy for one in found):.3f}",
    )


def count_correlated() -> str:
    """The fewest and the most encodings of a correlation whose number is defined for all that have a vector."""
    counts = sorted({one.arms for one in report().numbers if one.number == "min_separation"})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))


def compare_machines() -> tuple[int, int]:
    """How many networks were trained elsewhere, too, and of how many the accuracies differ by at most a hundredth."""
    here = {(*group, seed): accuracy for group, found in list_accuracies().items() for seed, accuracy in found.items()}
    there = {(o.task, o.length, o.arm, o.norm, o.seed): o.accuracy for o in read_runs(ELSEWHERE).results}
    return len(there), sum(abs(here[key] - accuracy) <= 0.01 for key, accuracy in there.items())


# -------------------------------------------------------------------------------- tables


def write_comparisons() -> str:
    """A line for each task and length: the proposed arm against the reference, at both norms."""
    head = ("task", "positions", REFERENCE, PROPOSED, "difference", f"{PROPOSED}, norm matched", "difference")
    lines = []
    for task in TASKS:
        for length in sorted({one.length for one in report().arms}):
            sides = [find_arm(task, length, norm=norm) for norm in NORMS]
            cells = [cell for one in sides for cell in (f"{one.accuracy:.3f}", write_difference(one))]
            reference = find_arm(task, length, REFERENCE)
            lines.append((f"`{task}`", str(length), f"{reference.accuracy:.3f}", *cells))
    return write_table(head, lines)


def write_difference(one: ArmComparison) -> str:
    # 0.0 for what rounds to nothing from below
    difference, low, high = (round(number or 0.0, 3) + 0.0 for number in (one.difference, one.low, one.high))
    text = f"{difference:+.3f} ({low:+.3f} to {high:+.3f})"
    return f"**{text}**" if one.differs else text


def write_numbers() -> str:
    """A line for each number: with which tasks' accuracy it goes, in how many of the lengths and norms."""
    numbers = report().numbers
    tasks = [task for task in TASKS if any(one.is_told and one.task == task for one in numbers)]
    lines = [
        (
            f"`{name}`",
            *(write_cell([one for one in numbers if (one.number, one.task) == (name, task)]) for task in tasks),
        )
        for name in dict.fromkeys(one.number for one in numbers)
    ]
    return write_table(("number", *(f"`{task}`" for task in tasks)), lines)


def write_cell(found: Sequence[NumberCorrelation]) -> str:
    told = sorted(one.rho for one in found if one.is_told)
    if not told:
        return ""
    ends = dict.fromkeys(f"{rho:+.2f}" for rho in (told[0], told[-1]))
    return f"{' to '.join(ends)} ({len(told)} of {sum(one.p is not None for one in found)})"


def write_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = (head, ["---"] * len(head), *lines)
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


TABLES: dict[str, Callable[[], str]] = {"comparisons": write_comparisons, "numbers": write_numbers}


def update(page: str) -> str:
    """Write the tables between their marks anew."""
    for name, make in TABLES.items():
        between = re.compile(rf"(<!-- study {name} -->\n).*?(<!-- /study -->)", re.DOTALL)
        page = between.sub(rf"\g<1>{make()}\g<2>", page)
    return page


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
