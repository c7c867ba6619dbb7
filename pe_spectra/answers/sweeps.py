"""What a sweep left behind, as an answer."""

from __future__ import annotations

from pe_spectra.answers.answer import Answer, Body, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

VERDICTS = Verdicts({"sweep-done": "ok", "points-refused": "warning"})


@dataclass(frozen=True, kw_only=True)
class Sweep(Result):
    """The points of a grid, and what came of them.

    >>> Sweep(command="spectrum", output="sweep.csv", points=4, computed=4, refused=0, lines=8, reason=None).lines
    8
    """

    command: str = quantity("The command that answered at each point.", asked=True)
    output: str = quantity("The file with the rows of all answers.", asked=True)
    points: int = quantity("How many the grid has.", minimum=1)
    computed: int = quantity("How many of them were computed now; the others were in the file.", minimum=0)
    refused: int = quantity("Points that the command refuses, each a line with its error.", minimum=0)
    lines: int = quantity("Lines of the file about these points, one for each row of an answer.", minimum=1)
    reason: str | None = quantity(
        "What was said of the first point that was refused; null where none was.", column=None
    )


@dataclass(frozen=True, kw_only=True)
class SweepBody(Body):
    """A command, answered at every point of a grid."""

    kind = "sweep"
    draws = False
    sweep: Sweep = quantity("What came of it.", inline=True)


def answer_sweep(sweep: Sweep) -> Answer:
    """Turn what a sweep left behind into an answer.

    >>> found = Sweep(command="spectrum", output="a.csv", points=4, computed=1, refused=0, lines=8, reason=None)
    >>> answer_sweep(found).verdict.text
    '4 points of spectrum are in a.csv, 1 of them computed now.'
    """
    now = "all" if sweep.computed == sweep.points else "none" if not sweep.computed else str(sweep.computed)
    points = f"{count(sweep.points, 'point')} of {sweep.command} {'is' if sweep.points == 1 else 'are'}"
    refused = f"; {sweep.refused} {'is' if sweep.refused == 1 else 'are'} refused" if sweep.refused else ""
    text = f"{points} in {sweep.output}, {now} of them computed now{refused}."
    return Answer(
        body=SweepBody(sweep=sweep),
        verdict=VERDICTS.say("points-refused" if sweep.refused else "sweep-done", text),
        results=(sweep,),
        facts=(("lines", str(sweep.lines)), ("refused first", sweep.reason or "")),
        rows="none",
    )
