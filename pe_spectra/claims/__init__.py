"""The statements of the paper, and of three other texts, with what we compute for each.

claims.json has the sources, and of each statement that arithmetic can judge what its text gives (`printed`) and the
verdict that we recorded; the judges in this package compute the values and the verdict anew, by the one rule in
`judging`, where it also says what `weight` means, which those have that are "partly" or "wrong". `command` prints every
number that was computed; where no command but `pe-spectra claims ID` does, it is left out, and that one shows the lines
that compute them. A claim without a judge is "not tested", for it needs training or data, and must be recorded so; one
about training has a judge that finds it so where the study of this version decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from pe_spectra.claims.judging import MEANINGS, Judgement, list_code
from pe_spectra.errors import InputError
from pe_spectra.numbers import Choice, suggest
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CLAIM_SOURCES, CODE_PATTERN, GRADES, WEIGHTS, Grade, Weight

__all__ = ["GradedClaim", "find_disagreements", "find_judges", "grade_claims", "list_claims", "read_sources"]

_ANY_TEXT = {"type": "string"}
#: Where judges stand.
_MODULES = ("paper_original", "paper_faithfulness", "paper_dft", "paper_training", "articles")


def _list_judges(module: ModuleType) -> dict[str, Callable[[], Judgement]]:
    """The judges of one module by the ids of their claims: its functions that take nothing and judge."""
    functions = {name: member for name, member in vars(module).items() if callable(member)}
    return {
        name[1:].replace("_", "-"): function
        for name, function in functions.items()
        if getattr(function, "__annotations__", {}) == {"return": Judgement.__name__}
    }


@cache
def find_judges() -> Mapping[str, Callable[[], Judgement]]:
    """Return what computes each claim, by its id; this loads all that they ask.

    >>> find_judges()["theorem-1"]().verdict
    'partly'
    """
    return MappingProxyType({claim: judge for name in _MODULES for claim, judge in _import_judges(name).items()})


@cache
def _import_judges(name: str) -> dict[str, Callable[[], Judgement]]:
    return _list_judges(import_module(f"{__name__}.{name}"))


@dataclass(frozen=True, kw_only=True)
class GradedClaim(Result):
    """One statement, and what came out.

    >>> claim = _grade(_load()["claims"][0])
    >>> claim.section, claim.verdict, claim.expected_verdict
    ('Sec. 2.2.1, Eq. 1', 'partly', 'partly')
    """

    id: str = quantity("Short name of the statement, unique.", pattern=CODE_PATTERN)
    source: str = quantity("The text that makes it; `read_sources` has the full citation.")
    section: str = quantity("Where in the text.")
    statement: str = quantity("What it says, in our words.")
    printed: str = quantity("The value or word as printed.", schema=_ANY_TEXT)
    computed: str = quantity("What we compute for it; empty for what is not tested.", schema=_ANY_TEXT)
    verdict: Grade = quantity("The grade that follows from what was computed.", words=GRADES)
    weight: Weight | None = quantity(
        "How much it matters where a statement does not hold as it stands, else null: "
        f"{'; '.join(f'{word}, {meaning}' for word, meaning in MEANINGS.items())}.",
        default=None,
        words=(*WEIGHTS, None),
    )
    why: str = quantity("The reason for the grade, in one sentence.")
    command: str = quantity(
        "The command that prints what was computed; where none does, the one that shows this claim, and how.",
        schema=_ANY_TEXT,
    )
    how: tuple[str, ...] = quantity(
        "The lines of code that compute the values and the grade; empty for what is not tested.",
        default=(),
        column=None,
    )
    expected_verdict: Grade = quantity("The grade recorded in claims.json.", words=GRADES, key=None, column=None)


@cache
def _load() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("claims.json").read_bytes())
    return found


def read_sources() -> dict[str, str]:
    """Return the full citation of each source by its label.

    >>> "arXiv:2405.09061" in read_sources()["Ide, Labaien & Chen, arXiv:2405.09061"]
    True
    """
    return dict(_load()["sources"])


def list_claims(source: str | None = None) -> tuple[str, ...]:
    """Return the ids of the claims; of one text, where `source` is its short name: paper, article, reference, series.

    Raises
    ------
    InputError : no such text.

    >>> len(list_claims()), list_claims("series")[:2]
    (63, ('series-d-waves', 'series-growing-wavelength'))
    """
    label = source and CLAIM_SOURCES[Choice(members=tuple(CLAIM_SOURCES)).parse(source, "source")]
    return tuple(record["id"] for record in _load()["claims"] if label in (None, record["source"]))


def grade_claims(
    progress: Callable[[int, int], None] | None = None, *, claim: str | None = None, source: str | None = None
) -> tuple[GradedClaim, ...]:
    """Compute claims anew, in the order of claims.json.

    Parameters
    ----------
    progress : called with (number done, number of all) after each claim.
    claim : the id of the only one. source : the short name of the only text, as :func:`list_claims` takes it.

    Raises
    ------
    InputError : no such claim in the text asked for, or no such text; the message has the nearest claim.

    >>> [(one.id, one.verdict) for one in grade_claims(claim="theorem-1")]
    [('theorem-1', 'partly')]
    """
    chosen = list_claims(source)
    if claim is not None:
        if claim not in chosen:
            part = "" if source is None else f" --source {source}"
            accepted = f"{suggest(claim, chosen)}an ID that pe-spectra claims{part} lists is accepted"
            raise InputError(f"ID is no claim{part and f' of{part}'}", claim, accepted)
        chosen = (claim,)
    records = [record for record in _load()["claims"] if record["id"] in chosen]
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


def _grade(record: Mapping[str, Any]) -> GradedClaim:
    # a module that is not looked at is not loaded
    judge = next((judges[record["id"]] for judges in map(_import_judges, _MODULES) if record["id"] in judges), None)
    found = Judgement(computed="", verdict="not tested") if judge is None else judge()
    how = () if judge is None or found.verdict == "not tested" else list_code(judge)
    texts: dict[str, Any] = {"command": f"pe-spectra claims {record['id']}"}  # unless another command shows it
    texts |= {name: value for name, value in record.items() if name != "verdict"}
    grades = {"verdict": found.verdict, "expected_verdict": record["verdict"]}
    return GradedClaim(**texts, **grades, computed=found.computed, how=how)
