"""Graded statements of the paper and of other texts, as answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pe_spectra.answers.answer import Answer, Body, Verdicts
from pe_spectra.claims import GradedClaim
from pe_spectra.claims.judging import MEANINGS, RULE
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import WEIGHTS
from pe_spectra.wording import count, join

VERDICTS = Verdicts({"claims-graded": "note", "claims-differ": "warning"})
_PHRASES = {"ok": "hold", "partly": "partly hold", "wrong": "are wrong", "not tested": "cannot be tested here"}
_GRADED = {"ok": "holds", "partly": "partly holds", "wrong": "is wrong", "not tested": "cannot be tested here"}
_ORDER = ("wrong", "partly", "ok", "not tested")
#: What is said of how many have each weight: of one, of more.
_WEIGHED = {
    "substantive": ("1 is substantive", "{} are substantive"),
    "nit-pick": ("1 is a nit-pick", "{} are nit-picks"),
    "strengthens": ("in 1 the truth strengthens the text's point", "in {} the truth strengthens the text's point"),
}


@dataclass(frozen=True, kw_only=True)
class ClaimsBody(Body):
    """Statements of the paper and of other texts, graded."""

    kind = "claims"
    draws = False
    rows: tuple[GradedClaim, ...] = quantity("The statements, those that are wrong first.", least=1)


def answer_claims(claims: Sequence[GradedClaim], failed: tuple[str, ...] = ()) -> Answer:
    """Turn graded claims into an answer, what is wrong first.

    `failed` lists those whose verdict is not the recorded one.

    >>> texts = dict.fromkeys(("id", "source", "section", "statement", "printed", "computed", "why", "command"), "")
    >>> answer_claims([GradedClaim(**texts, verdict="ok", expected_verdict="ok")]).verdict.text
    'Of 1 statement 1 holds.'
    """
    ordered = tuple(sorted(claims, key=lambda claim: (_ORDER.index(claim.verdict), _rank(claim))))
    counts, statements = Counter[str](claim.verdict for claim in ordered), count(len(ordered), "statement")
    grades = join([f"{n} {(_GRADED if n == 1 else _PHRASES)[word]}" for word in _PHRASES if (n := counts[word])])
    return Answer(
        body=ClaimsBody(rows=ordered),
        verdict=VERDICTS.say(
            "claims-differ" if failed else "claims-graded", f"Of {statements} {grades}{_weigh(ordered)}."
        ),
        results=ordered,
        details=[("rule", line) for line in RULE],
        shown=("section", "statement", "verdict", "weight", "computed"),
        next_command="pe-spectra figures",
        failed=failed,
    )


def _weigh(claims: Sequence[GradedClaim]) -> str:
    """How much those matter that do not hold as they stand."""
    weights = Counter[str](claim.weight for claim in claims if claim.weight is not None)
    said = [(one if n == 1 else more).format(n) for word, (one, more) in _WEIGHED.items() if (n := weights[word])]
    return f"; of those that do not hold as they stand {join(said)}" if said else ""


def _rank(claim: GradedClaim) -> int:
    """What matters most first."""
    return 0 if claim.weight is None else WEIGHTS.index(claim.weight)


def answer_claim(claims: Sequence[GradedClaim], failed: tuple[str, ...] = ()) -> Answer:
    """Turn the one graded claim that was asked for into an answer that has all of it.

    >>> texts = dict.fromkeys(("source", "section", "statement", "printed", "computed", "command"), "")
    >>> answer_claim([GradedClaim(**texts, id="a", why="So.", verdict="ok", expected_verdict="ok")]).verdict.text
    'a holds. So.'
    """
    (claim,) = claims
    is_alone = claim.command.endswith(f"claims {claim.id}")  # no other command shows it, so this one says how
    return replace(
        answer_claims(claims, failed),
        verdict=VERDICTS.say(
            "claims-differ" if failed else "claims-graded", f"{claim.id} {_GRADED[claim.verdict]}. {claim.why}"
        ),
        facts=(
            ("statement", claim.statement),
            ("printed", claim.printed),
            ("computed", claim.computed),
            ("weight", "" if claim.weight is None else f"{claim.weight}: {MEANINGS[claim.weight]}"),
            ("from", f"{claim.source}, {claim.section}"),
            *([("how", line) for line in claim.how] if is_alone else [("shown by", claim.command)]),
        ),
        rows="none",
        next_command="pe-spectra claims",
    )
