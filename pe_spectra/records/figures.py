"""Figures written, or compared with what is committed, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.figures import Difference
from pe_spectra.records.answer import Answer, Verdict


def answer_written(names: Sequence[str], directory: str, *, next_command: str = "") -> Answer:
    """Say which files were written.

    >>> answer_written(["fig1_spectrum.png"], "figures").verdict.text
    'Wrote 1 files to figures: the figures, the numbers drawn in each, and their manifest.'
    """
    text = f"Wrote {len(names)} files to {directory}: the figures, the numbers drawn in each, and their manifest."
    return Answer(
        kind="figures",
        verdict=Verdict(level="ok", code="figures-written", text=text),
        body={"parameters": {"output": directory}, "files": list(names)},
        columns={"file": list(names)},
        brief=len(names),
        next_command=next_command,
    )


def answer_checked(differences: Sequence[Difference], directory: str) -> Answer:
    """Say whether the committed numbers are those computed now.

    >>> answer_checked((), "figures").verdict.text
    'The numbers of the figures in figures are those computed now.'
    """
    names = ("figure", "column", "row", "expected", "got", "reason")
    columns = {name: [getattr(difference, name) for difference in differences] for name in names}
    if not differences:
        text = f"The numbers of the figures in {directory} are those computed now."
        verdict = Verdict(level="ok", code="figures-agree", text=text)
    elif all(difference.column is None and difference.row is None for difference in differences):
        text = f"{_say(differences[0])} in {directory}; pe-spectra figures --output {directory} writes the figures."
        verdict = Verdict(level="error", code="figures-missing", text=text)
    else:
        text = f"{len(differences)} column(s) of the figures in {directory} differ, first {_say(differences[0])}."
        verdict = Verdict(level="error", code="figures-differ", text=text)
    return Answer(
        kind="figures-check",
        verdict=verdict,
        body={
            "parameters": {"output": directory},
            "rows": [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        },
        columns=columns,
        brief=len(differences),
        failed=("figures --check: differences were found",) if differences else (),
    )


def _say(difference: Difference) -> str:
    where = [difference.figure]
    where += [f"column {difference.column}"] if difference.column is not None else []
    where += [f"row {difference.row}"] if difference.row is not None else []
    values = f"expected {difference.expected}, got {difference.got}; " if difference.expected else ""
    return f"{', '.join(where)}: {values}{difference.reason}"
