"""The statements of the paper, and of three other texts, with what we compute for each.

claims.toml holds what was said and the verdict that we recorded; the judges in this package compute
the values and the verdict anew. A claim without a judge is "not tested", and must be recorded so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, get_args

from pe_spectra.claims import articles, paper_dft, paper_low_pass, paper_reconstruction
from pe_spectra.claims.judging import Finding, Judge, Verdict

__all__ = [
    "JUDGES",
    "VERDICTS",
    "GradedClaim",
    "Verdict",
    "find_disagreements",
    "grade_claims",
    "read_sources",
]

VERDICTS: tuple[str, ...] = get_args(Verdict)

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {**paper_low_pass.JUDGES, **paper_reconstruction.JUDGES, **paper_dft.JUDGES, **articles.JUDGES}
)


@dataclass(frozen=True, kw_only=True)
class GradedClaim:
    """One statement, and what came out.

    Attributes
    ----------
    id : short name, unique.
    source : label of the text; :func:`read_sources` has the full citation.
    section : where in the text.
    statement : what it says, in our words.
    printed : the value or word as printed.
    computed : what we compute, as text; empty for what is not tested.
    verdict : "ok", "partly", "wrong" or "not tested", from the computed numbers.
    expected_verdict : the verdict recorded in claims.toml.
    why : one sentence.
    command : the command that shows it.

    >>> claim = _grade(_load()["claims"][0])
    >>> claim.section, claim.verdict, claim.expected_verdict
    ('Sec. 2.2.1, Eq. 1', 'partly', 'partly')
    """

    id: str
    source: str
    section: str
    statement: str
    printed: str
    computed: str
    verdict: Verdict
    expected_verdict: str
    why: str
    command: str


@cache
def _load() -> dict[str, Any]:
    text = resources.files("pe_spectra.claims").joinpath("claims.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def read_sources() -> dict[str, str]:
    """Return the full citation of each source by its label.

    >>> "arXiv:2405.09061" in read_sources()["Ide, Labaien & Chen, arXiv:2405.09061"]
    True
    """
    return dict(_load()["sources"])


def grade_claims(progress: Callable[[int, int], None] | None = None) -> tuple[GradedClaim, ...]:
    """Compute every claim anew, in the order of claims.toml.

    Parameters
    ----------
    progress : called with (number done, number of all) after each claim.

    >>> def stop(done: int, total: int) -> None:
    ...     raise RuntimeError(f"{done} of {total}")
    >>> grade_claims(progress=stop)
    Traceback (most recent call last):
        ...
    RuntimeError: 1 of 63
    """
    records: list[dict[str, str]] = _load()["claims"]
    graded = []
    for done, record in enumerate(records, start=1):
        graded.append(_grade(record))
        if progress is not None:
            progress(done, len(records))
    return tuple(graded)


def find_disagreements(graded: Iterable[GradedClaim]) -> tuple[GradedClaim, ...]:
    """Return the claims whose computed verdict is not the recorded one.

    >>> claim = _grade(_load()["claims"][0])
    >>> find_disagreements([claim])  # none: it is judged as recorded
    ()
    """
    return tuple(claim for claim in graded if claim.verdict != claim.expected_verdict)


def _grade(record: Mapping[str, str]) -> GradedClaim:
    judge = JUDGES.get(record["id"])
    found = Finding(computed="", verdict="not tested") if judge is None else judge()
    texts = {name: value for name, value in record.items() if name != "verdict"}
    return GradedClaim(**texts, computed=found.computed, verdict=found.verdict, expected_verdict=record["verdict"])
