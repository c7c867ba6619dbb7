"""The reasoning behind a finding, for the commands that make findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import InputError
from pe_spectra.findings import Kind
from pe_spectra.numbers import Choice


def explain_code(run: Run, text: str, explanations: Mapping[str, Kind], others: Sequence[str]) -> Outcome:
    """Answer --explain, which stands alone.

    Parameters
    ----------
    text : the code as it was given. explanations : the reasoning behind each code.
    others : what else was asked for.

    Raises
    ------
    InputError : a code that is not known, or something else beside it.
    """
    from pe_spectra.answers.explanations import answer_explanation

    if run.figure is not None:
        raise InputError("--figure has no meaning with --explain", str(run.figure), "leave it out")
    if others:
        raise InputError("--explain takes nothing beside it", others[0], "leave it out")
    code = Choice(members=tuple(explanations)).parse(text, "--explain")
    return run.finish(answer_explanation(code, explanations))
