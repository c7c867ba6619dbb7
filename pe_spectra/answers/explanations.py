"""The reasoning behind a finding, as an answer."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.answers.answer import Answer, Body, Verdict
from pe_spectra.findings import Kind
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN


@dataclass(frozen=True, kw_only=True)
class ExplanationBody(Body):
    """The reasoning behind a finding."""

    kind = "explanation"
    draws = False
    explained: str = quantity("Code of the finding.", pattern=CODE_PATTERN)
    reasoning: str = quantity("Why it is looked for, and why it matters.")
    formula: str = quantity("What is computed, with its thresholds.")
    references: tuple[str, ...] = quantity("Where it comes from.", unique=True)


def answer_explanation(code: str, kinds: Mapping[str, Kind]) -> Answer:
    """Turn the reasoning behind a finding into an answer.

    >>> from pe_spectra.models.checks.kinds import KINDS
    >>> answer_explanation("aliasing", KINDS).verdict.code
    'aliasing'
    """
    found = kinds[code]
    return Answer(
        body=ExplanationBody(
            explained=code, reasoning=found.reasoning, formula=found.formula, references=found.references
        ),
        verdict=Verdict(level="ok", code=code, text=found.reasoning),
        table={
            "part": ["formula", *("reference" for _ in found.references)],
            "text": [found.formula, *found.references],
        },
    )
