"""Graded claims as an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pe_spectra.answers.answer import Answer, Body, NoParameters, Verdicts
from pe_spectra.claims import GradedClaim
from pe_spectra.quantities import quantity
from pe_spectra.wording import count, join

VERDICTS = Verdicts(
    ("claims-graded", "note", "Of {statements} {grades}."),
    ("claims-differ", "warning", "Of {statements} {grades}."),
)
_PHRASES = {"ok": "hold", "partly": "partly hold", "wrong": "are wrong", "not tested": "cannot be tested here"}
_ORDER = ("wrong", "partly", "ok", "not tested")


@dataclass(frozen=True, kw_only=True)
class ClaimsBody(Body):
    """Statements of the paper and of other texts, graded."""

    kind = "claims"
    draws = False
    parameters: NoParameters = quantity("Nothing can be asked.", default_factory=NoParameters)
    rows: tuple[GradedClaim, ...] = quantity("The statements, those that are wrong first.", least=1)


def answer_claims(claims: Sequence[GradedClaim], failed: tuple[str, ...] = ()) -> Answer:
    """Turn graded claims into an answer, what is wrong first.

    `failed` lists those whose verdict is not the recorded one.

    >>> texts = dict.fromkeys(("id", "source", "section", "statement", "printed", "computed", "why", "command"), "")
    >>> answer_claims([GradedClaim(**texts, verdict="ok", expected_verdict="ok")]).verdict.text
    'Of 1 statement 1 hold.'
    """
    ordered = tuple(sorted(claims, key=lambda claim: _ORDER.index(claim.verdict)))
    counts = Counter[str](claim.verdict for claim in ordered)
    grades = join([f"{counts[word]} {phrase}" for word, phrase in _PHRASES.items() if counts[word]])
    return Answer(
        body=ClaimsBody(rows=ordered),
        verdict=VERDICTS.say(
            "claims-differ" if failed else "claims-graded", statements=count(len(ordered), "statement"), grades=grades
        ),
        results=ordered,
        shown=("section", "statement", "verdict", "computed"),
        next_command="pe-spectra figures",
        failed=failed,
    )
