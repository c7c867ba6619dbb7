"""Results of an experiment computed and trained again, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.answers.answer import Answer, Body, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

VERDICTS = Verdicts({"results-agree": "ok", "results-differ": "error"})
#: What is looked at again.
LOOKED_AT = ("line", "report", "network")
_ANY_TEXT = {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Recheck(Result):
    """One number that was computed again, or a network that was trained again.

    >>> Recheck(part="line", key="lag|dft|own|32|0", number="f1", there="0.5", again="0.6", agrees=False).agrees
    False
    """

    part: str = quantity("A line of the file, a row of its report, or a network.", words=LOOKED_AT)
    key: str = quantity("The trial, or the row: task, arm, norm and length, those that it has.")
    number: str = quantity("The name of the number.")
    there: str = quantity("What the file or the report has, as text.", schema=_ANY_TEXT)
    again: str = quantity("What comes out now, as text.", schema=_ANY_TEXT)
    agrees: bool = quantity("Whether the two agree.")


@dataclass(frozen=True, kw_only=True)
class RecheckBody(Body):
    """The numbers of an experiment, computed again by other means, and some of its networks, trained again."""

    kind = "experiment-check"
    draws = False
    file: str = quantity("The file of results.", asked=True)
    lines: int = quantity("Lines that were looked at.", minimum=1)
    numbers: int = quantity("Numbers of the report that were computed again.", minimum=0)
    networks: int = quantity("Networks that were trained again.", minimum=0)
    is_same_place: bool = quantity(
        "Whether versions and class of machine are those of the file, so that accuracies must be equal."
    )
    rows: tuple[Recheck, ...] = quantity("What does not agree, and every network that was trained again.")


def answer_rechecks(
    found: Sequence[Recheck], *, file: str, counts: tuple[int, int], is_same_place: bool, tolerance: str
) -> Answer:
    """Turn what was looked at again into an answer.

    Parameters
    ----------
    found : what does not agree, and the networks.
    counts : lines, and numbers of the report.
    tolerance : what is asked of networks, in words.

    >>> answer_rechecks([], file="a.csv", counts=(9, 40), is_same_place=True, tolerance="").verdict.text
    'All of 9 lines and 40 numbers of the report come out again.'
    """
    lines, numbers = counts
    networks = [one for one in found if one.part == "network"]
    wrong = [one for one in found if not one.agrees]
    trained = f" and {count(len(networks), 'network')}, trained again," if networks else ""
    text = f"All of {lines:,} lines and {numbers:,} numbers of the report{trained} come out again."
    if networks:
        text = text.replace(" and ", ", ", 1)
    failed: tuple[str, ...] = ()
    if wrong:
        one = wrong[0]
        said = f"{one.part} {one.key}, {one.number}: {one.there or 'nothing'} there, {one.again or 'nothing'} now"
        text = (
            f"{count(len(wrong), 'number')} of {file} {'does' if len(wrong) == 1 else 'do'} not come out, first {said}."
        )
        failed = (f"experiment check: {said}",)
    body = RecheckBody(
        file=file,
        lines=lines,
        numbers=numbers,
        networks=len(networks),
        is_same_place=is_same_place,
        rows=tuple(found),
    )
    return Answer(
        body=body,
        verdict=VERDICTS.say("results-differ" if wrong else "results-agree", text),
        results=tuple(found),
        facts=(("networks", tolerance if networks else "none (--runs 0)"),),
        rows="all",
        narrow=("key",),
        failed=failed,
    )
