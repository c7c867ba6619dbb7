"""The command about configurations of models: what positional encoding each really gives, and its known problems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import read_level, read_model_length
from pe_spectra.cli.run import Outcome, Progress, Run, explain_code, fail_files
from pe_spectra.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pe_spectra.models.audit import ModelAudit
    from pe_spectra.vocabulary import Level


def complete_code(incomplete: str) -> list[str]:
    """Complete the code of a finding; only this loads the checks."""
    from pe_spectra.models.checks import KINDS

    return [code for code in KINDS if code.startswith(incomplete)]


def add_commands(app: typer.Typer) -> None:
    """Register the command."""
    register(
        app,
        "audit",
        draws=True,
        examples=(
            "pe-spectra audit config.json",
            "pe-spectra audit config.json --served 131072 --fail-on warning",
            "pe-spectra audit --explain unseen-phases",
        ),
    )(audit)


def audit(
    run: Run,
    configs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG]...",
            help="config.json, params.json, a .gguf file, a model's folder, org/model in the local cache, or -",
        ),
    ] = None,
    trained: Annotated[
        str | None, typer.Option("--trained", metavar="N", help="training context length  [the file's]")
    ] = None,
    served: Annotated[
        str | None, typer.Option("--served", metavar="N", help="inference context length  [the file's]")
    ] = None,
    fail_on: options.FailOn = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="CODE",
            autocompletion=complete_code,
            help="the reasoning behind a finding",
        ),
    ] = None,
) -> Outcome:
    """What positional encoding a model's configuration really gives, and what is wrong with it.

    The frequency of every pair, how many periods each completes in training and at inference, and
    findings, each with its numbers and what to do. No weights and no framework are needed.
    """
    if explain is not None:
        from pe_spectra.models.checks import KINDS

        return explain_code(run, explain, KINDS, configs or [])
    if not configs:
        raise InputError("CONFIG is missing", accepted="a config.json, a model's folder, or - for standard input")
    level = read_level(fail_on)
    lengths = {
        "trained": read_model_length(trained, "--trained"),
        "served": read_model_length(served, "--served"),
    }
    if run.figure is not None and len(configs) > 1:
        raise InputError("--figure draws one configuration", f"{len(configs)} are named", "one CONFIG is accepted")
    with Progress("auditing", quiet=run.quiet) as progress:
        files = _audit_all(configs, lengths, progress)
        errors = tuple(one.error for one in files if one.error)
        # a file that was asked for holds all of the answer, or is not written
        if len(errors) == len(files) or (errors and run.output is not None):
            return fail_files(errors)
        return _answer(run, files, lengths, level, errors)


def _answer(
    run: Run,
    files: Sequence[ModelAudit],
    lengths: dict[str, int | None],
    level: Level | None,
    errors: tuple[str, ...],
) -> Outcome:
    from pe_spectra.answers.audits import answer_audits

    # a pipe has the rows of CSV, in the order of the files
    is_watched = run.format == "table" and run.screen.watched
    rows = _choose_rows(run, files)
    answer = answer_audits(files, **lengths, fail_on=level, rows=rows, worst_first=is_watched)
    if run.figure is not None and not _count_pairs(files[0]):
        what = files[0].scheme or "none"
        raise InputError("--figure has no rotary frequencies to draw", what, "pe-spectra inspect draws other encodings")
    return run.finish(answer, lambda: _draw(files[0]), errors=errors)


def _choose_rows(run: Run, files: Sequence[ModelAudit]) -> Literal["layers", "pairs", "all pairs"]:
    """In CSV one shape for all numbers of files, so that a glob that matches one file is no trap."""
    if run.format == "csv":
        return "all pairs" if run.screen.full else "layers"
    return "pairs" if len(files) == 1 and _count_pairs(files[0]) else "layers"


def _audit_all(configs: Sequence[str], lengths: dict[str, int | None], progress: Progress) -> list[ModelAudit]:
    from pe_spectra.model_sources import read_model
    from pe_spectra.models.audit import ModelAudit
    from pe_spectra.models.checks import audit_configuration

    files: list[ModelAudit] = []
    for text in configs:
        progress.step(len(files), len(configs))
        try:
            files.append(replace(audit_configuration(read_model(text), **lengths), file=text))
        except (FileError, InputError) as error:
            if len(configs) == 1:
                raise
            message = str(error)
            files.append(ModelAudit(file=text, error=message if text in message else f"{text}: {message}"))
    return files


def _count_pairs(one: ModelAudit) -> int:
    return sum(len(layer.frequencies) for layer in one.layers)


def _draw(one: ModelAudit) -> Figure:
    from pe_spectra.plots.audit_figure import compose_audit

    return compose_audit(one)
