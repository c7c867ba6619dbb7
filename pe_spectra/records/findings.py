"""Findings in answers: their JSON, the reasoning behind a code, and those that a check forbids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from pe_spectra.findings import LEVELS, Explanation, Finding, Kind
from pe_spectra.records.answer import Answer, Document, Verdict

#: Ranks of the levels of verdicts, the gravest highest.
RANKS: dict[str, int] = {level: rank for rank, level in enumerate(("ok", *LEVELS))}


def describe_finding(finding: Finding) -> Document:
    """Return a finding as JSON has it.

    >>> from pe_spectra.findings import Finding
    >>> describe_finding(Finding(level="note", code="aliasing", message="Every pair turns."))
    {'level': 'note', 'code': 'aliasing', 'message': 'Every pair turns.', 'data': {}}
    """
    return {
        "level": finding.level,
        "code": finding.code,
        "message": finding.message,
        "data": simplify(finding.data),
    }


def simplify(value: object) -> object:
    """Turn the numbers behind a finding into what JSON has; what is not finite becomes None.

    >>> simplify((1.0, math.nan, "row"))
    [1.0, None, 'row']
    """
    if isinstance(value, Mapping | MappingProxyType):
        return {str(key): simplify(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return simplify(value.tolist())
    if isinstance(value, list | tuple):
        return [simplify(item) for item in value]
    if isinstance(value, np.generic):
        return simplify(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def answer_explanation(code: str, explanations: Mapping[str, Kind | Explanation]) -> Answer:
    """Turn the reasoning behind a finding into an answer.

    >>> from pe_spectra.inspection import KINDS
    >>> answer_explanation("zero-rows", KINDS).kind
    'explanation'
    """
    found = explanations[code]
    return Answer(
        kind="explanation",
        verdict=Verdict(level="ok", code=code, text=found.reasoning),
        body={
            "parameters": {},
            "explained": code,
            "reasoning": found.reasoning,
            "formula": found.formula,
            "references": list(found.references),
        },
        columns={
            "part": ["formula", *("reference" for _ in found.references)],
            "text": [found.formula, *found.references],
        },
    )


def find_failures(findings: Iterable[Finding], level: str) -> tuple[str, ...]:
    """Return the findings of `level` or above, for --fail-on.

    >>> from pe_spectra.findings import Finding
    >>> found = [Finding(level=level, code=f"a-{level}", message="") for level in ("note", "error")]
    >>> find_failures(found, "warning")
    ('finding of level error: a-error',)
    """
    return tuple(f"finding of level {f.level}: {f.code}" for f in findings if RANKS[f.level] >= RANKS[level])
