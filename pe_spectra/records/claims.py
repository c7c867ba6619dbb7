"""Graded claims as an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pe_spectra.claims import GradedClaim
from pe_spectra.records.answer import Answer, Verdict, join

_WORDS = (("ok", "hold"), ("partly", "hold in part"), ("wrong", "are wrong"), ("not tested", "cannot be tested here"))
_ORDER = ("wrong", "partly", "ok", "not tested")
_FIELDS = ("id", "source", "section", "statement", "printed", "computed", "verdict", "why", "command")


def answer_claims(claims: Sequence[GradedClaim], failed: tuple[str, ...] = ()) -> Answer:
    """Turn graded claims into an answer, what is wrong first.

    `failed` lists those whose verdict is not the recorded one.

    >>> from pe_spectra.claims import GradedClaim
    >>> texts = dict.fromkeys(("id", "source", "section", "statement", "printed", "computed", "why", "command"), "")
    >>> answer_claims([GradedClaim(**texts, verdict="ok", expected_verdict="ok")]).verdict.text
    'Of 1 statements 1 hold.'
    """
    claims = sorted(claims, key=lambda claim: _ORDER.index(claim.verdict))
    counts = Counter(str(claim.verdict) for claim in claims)
    parts = [f"{counts[word]} {phrase}" for word, phrase in _WORDS if counts[word]]
    return Answer(
        kind="claims",
        verdict=Verdict(
            level="warning" if failed else "note",
            code="claims-differ" if failed else "claims-graded",
            text=f"Of {len(claims)} statements {join(parts)}.",
        ),
        body={"parameters": {}, "rows": [{name: getattr(claim, name) for name in _FIELDS} for claim in claims]},
        columns={name: [getattr(claim, name) for claim in claims] for name in _FIELDS},
        shown=("section", "statement", "verdict", "computed"),
        next_command="pe-spectra figures",
        failed=failed,
    )
