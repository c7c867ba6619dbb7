"""Several comparisons as one answer: a file against each of the others, or each of them in two implementations."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pe_spectra.answers.agreements import TableDiffBody
from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts, gather_notes
from pe_spectra.answers.differences import DiffBody
from pe_spectra.answers.scheme_differences import SchemeDiffBody
from pe_spectra.models.comparison.divergence import Diff, Unknown
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN, LEVELS, RANKS
from pe_spectra.wording import count, join

VERDICTS = Verdicts(
    {
        "none-differs": "ok",
        "undecided": "note",
        "some-differ": "warning",
        "some-break": "error",
    }
)
#: Codes of single comparisons: a part is unknown, all frequencies are, a phase breaks.
_AS_KNOWN, _UNDECIDED, _BREAKS = "same-as-known", "undecided", "breaks"


@dataclass(frozen=True, kw_only=True)
class Compared(Result):
    """One comparison of several."""

    file: str = quantity("The file that is compared, as it was named.")
    level: str = quantity("How much its verdict should worry a reader.", words=LEVELS)
    verdict: str = quantity("Code of its verdict, as the comparison alone has it.", pattern=CODE_PATTERN)
    text: str = quantity("Its verdict in one sentence.", column=None)
    agree: bool | None = quantity(
        "Whether all parts are the same; null while a part is unknown and none differs.", default=None, column=None
    )
    cause: str | None = quantity(
        "The likely causes, else what the first difference does; null where nothing differs.", default=None
    )
    first_position: int | None = quantity(
        "First position where a phase is off by more than pi/8, of tables the first row that differs; null where none.",
        default=None,
        minimum=0,
    )
    differences: tuple[str, ...] = quantity("Names of the parts that differ.", default=(), column=None)
    unknown: tuple[str, ...] = quantity("Names of the parts that cannot be compared.", default=(), column=None)


@dataclass(frozen=True, kw_only=True)
class AgainstBody(Body):
    """One file against several, or several files each in two implementations."""

    kind = "diffs"
    draws = False
    against: tuple[str, ...] = quantity("What each file is compared with: A, or the two implementations.", least=1)
    rows: tuple[Compared, ...] = quantity("One entry for each file that was named, in that order.", least=1)


def summarise_comparison(file: str, found: Answer) -> Compared:
    """Summarise the answer of one comparison as a row.

    >>> import numpy as np
    >>> from pe_spectra.answers.agreements import answer_tables
    >>> from pe_spectra.models.comparison.table_diff import compare_tables
    >>> summarise_comparison("b.npy", answer_tables("a", "b.npy", compare_tables(np.eye(2), np.eye(2)))).verdict
    'same'
    """
    body = found.body
    if isinstance(body, DiffBody):
        diff: Diff | TableDiffBody | SchemeDiffBody = body.diff
        causes = [one.text for one in body.diff.causes]
    elif isinstance(body, TableDiffBody | SchemeDiffBody):
        diff, causes = body, []
    else:
        raise TypeError(f"{body.kind} compares no two sides")
    firsts = [one.first_position for one in diff.differences if one.first_position is not None]
    return Compared(
        file=file,
        level=found.verdict.level,
        verdict=found.verdict.code,
        text=found.verdict.text,
        agree=diff.agree,
        cause="; ".join(causes or [one.effect for one in diff.differences][:1]) or None,
        first_position=min(firsts, default=None),
        differences=tuple(dict.fromkeys(one.what for one in diff.differences)),
        unknown=tuple(dict.fromkeys(one.what for one in diff.unknown if isinstance(one, Unknown))),
    )


def answer_against(found: Sequence[tuple[str, Answer]], *, against: Sequence[str] = ("A",), again: str = "") -> Answer:
    """Turn several comparisons into an answer.

    Parameters
    ----------
    found : the answer of each comparison, with the name of its file. against : A, or the two implementations.
    again : the command that compares one of them, up to its name; empty where it cannot be repeated.

    >>> import numpy as np
    >>> from pe_spectra.answers.agreements import answer_tables
    >>> from pe_spectra.models.comparison.table_diff import compare_tables
    >>> same = answer_tables("a", "b.npy", compare_tables(np.eye(2), np.eye(2)))
    >>> answer_against([("b.npy", same)]).verdict.text
    'Of 1 file against A: 1 the same.'
    """
    rows = [summarise_comparison(file, one) for file, one in found]
    worst = max(rows, key=lambda row: RANKS[row.level])
    return Answer(
        body=AgainstBody(against=tuple(against), rows=tuple(rows)),
        verdict=_judge(rows, against),
        results=rows,
        notes=gather_notes([(file, note) for file, one in found for note in one.notes], [row.file for row in rows]),
        shown=("file", "verdict", "cause", "first_position"),
        narrow=("file", "cause"),
        next_command=f"{again} {shlex.quote(worst.file)}" if again and worst.agree is False else "",
        failed=[f"{file}: {text}" for file, one in found for text in one.failed],
    )


def _judge(rows: Sequence[Compared], against: Sequence[str]) -> Verdict:
    """Count the files by what is found of them, and name the first to break."""
    groups = {
        "the same": [row for row in rows if row.agree],
        "the same as far as is known": [row for row in rows if row.verdict == _AS_KNOWN],
        "not decided": [row for row in rows if row.verdict == _UNDECIDED],
        "different": [row for row in rows if row.agree is False and row.verdict != _BREAKS],
        "breaking": [row for row in rows if row.verdict == _BREAKS],
    }
    said = [f"{len(found)} {what}" for what, found in groups.items() if found]
    breaking = sorted(groups["breaking"], key=lambda row: row.first_position or 0)
    if breaking:
        first = breaking[0]
        said[-1] += f" ({first.file} from position {first.first_position:,} on)"
    codes = {"breaking": "some-break", "different": "some-differ", "not decided": "undecided"}
    code = next((code for what, code in codes.items() if groups[what]), "none-differs")
    how = "against" if len(against) == 1 else "as read by"
    return VERDICTS.say(code, f"Of {count(len(rows), 'file')} {how} {join(list(against))}: {join(said)}.")
