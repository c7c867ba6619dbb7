"""Figures drawn, or compared with what is committed, as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

VERDICTS = Verdicts(
    {"figures-written": "ok", "figures-agree": "ok", "figures-missing": "error", "figures-differ": "error"}
)
_ANY_TEXT = {"type": "string"}
#: So many of the figures whose numbers have changed are named.
_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Mismatch(Result):
    """One thing in which a file of numbers differs from what is computed.

    >>> found = Mismatch(figure="fig1_spectrum", column="weight", row=3, expected="0.1", got="0.2", reason="differs")
    >>> found.expected, found.got
    ('0.1', '0.2')
    """

    figure: str = quantity("Name of the figure, without ending.")
    column: str | None = quantity(
        "Name of the column; null where the whole file is meant.", default=None, schema={"type": ["string", "null"]}
    )
    row: int | None = quantity(
        "Line of the file, the header being line 1; null where the whole column or file is meant.",
        default=None,
        minimum=1,
    )
    expected: str = quantity("What was computed, as text; empty where there is nothing.", default="", schema=_ANY_TEXT)
    got: str = quantity("What the file has, as text; empty where there is nothing.", default="", schema=_ANY_TEXT)
    reason: str = quantity("What is wrong, in words.")


@dataclass(frozen=True, kw_only=True)
class FiguresBody(Body):
    """The files that `figures` wrote."""

    kind = "figures"
    draws = False
    output: str = quantity("Folder of the figures.", asked=True)
    files: tuple[str, ...] = quantity("Names of the files in that folder.", least=1, unique=True)


@dataclass(frozen=True, kw_only=True)
class FiguresCheckBody(Body):
    """The numbers of the figures in a folder against those computed now."""

    kind = "figures-check"
    draws = False
    output: str = quantity("Folder of the figures.", asked=True)
    rows: tuple[Mismatch, ...] = quantity("The differences; none where all numbers agree.")


def answer_drawn(
    titles: Mapping[str, str],
    files: Sequence[str],
    directory: str,
    before: Mapping[str, bool],
) -> Answer:
    """Say which figures were drawn, and whether their numbers are those that stood there before.

    Parameters
    ----------
    titles : name of each figure -> what it shows. files : all names of files.
    before : name of each figure whose numbers stood there before -> whether they are the same.

    >>> answer_drawn({"fig1_spectrum": "Fig. 1"}, ["fig1_spectrum.png"], "figures", {}).verdict.text
    'Drew 1 figure in figures.'
    """
    return Answer(
        body=FiguresBody(output=directory, files=tuple(files)),
        verdict=VERDICTS.say("figures-written", f"Drew {count(len(titles), 'figure')} in {directory}."),
        table={"file": list(files)},
        facts=(
            *titles.items(),
            ("files", f"{len(files)}: of each figure .png, .svg and its numbers as .csv; manifest.json"),
            ("numbers", _compare(before)),
        ),
        rows="none",
    )


def _compare(before: Mapping[str, bool]) -> str:
    """Say how the numbers that stood there before compare with those computed now."""
    changed = [name for name, is_same in before.items() if not is_same]
    if not before:
        return "there were none here before"
    if changed:
        return f"those of {join(changed, _MOST_NAMED)} are not those that were here"
    return f"all {len(before)} figures that were here before match a fresh computation"


def answer_checked(directory: str, differences: Sequence[Mismatch], number: int) -> Answer:
    """Say whether the committed numbers, those of so many figures, are those computed now.

    >>> answer_checked("figures", (), 8).verdict.text
    'All 8 figures match a fresh computation.'
    """
    return Answer(
        body=FiguresCheckBody(output=directory, rows=tuple(differences)),
        verdict=_judge(differences, directory, number),
        results=differences,
        rows="all",
        failed=("figures --check: differences were found",) if differences else (),
    )


def _judge(differences: Sequence[Mismatch], directory: str, number: int) -> Verdict:
    if not differences:
        return VERDICTS.say("figures-agree", f"All {number} figures match a fresh computation.")
    first = _say(differences[0])
    if all(one.column is None and one.row is None for one in differences):
        draws = f"pe-spectra figures --output {directory} draws the figures"
        return VERDICTS.say("figures-missing", f"{first} in {directory}; {draws}.")
    places = count(len(differences), "place")  # a column, or a file that is not there
    return VERDICTS.say("figures-differ", f"The figures in {directory} differ in {places}, first {first}.")


def _say(difference: Mismatch) -> str:
    where = [difference.figure]
    where += [f"column {difference.column}"] if difference.column is not None else []
    where += [f"row {difference.row}"] if difference.row is not None else []
    values = f"expected {difference.expected}, got {difference.got}; " if difference.expected else ""
    return f"{', '.join(where)}: {values}{difference.reason}"
