"""The command that audits models: what a configuration really gives."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypedDict

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.errors import FileError, InputError, NoModelError
from pe_spectra.vocabulary import ANNOTATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pe_spectra.models.model_audit import ModelAudit
    from pe_spectra.models.stacks import Stack
    from pe_spectra.models.stated.statement import Configuration
    from pe_spectra.vocabulary import Level


class _Lengths(TypedDict):
    """The lengths that were asked for."""

    trained: int | None
    served: int | None
    allocated: int | None


def audit(
    run: Run,
    configs: Sequence[str] | None,
    trained: int | None,
    served: int | None,
    allocated: int | None,
    reader: str | None,
    models_only: bool,
    fail_on: Level | None,
    explain: str | None,
) -> Outcome:
    """The frequency of every pair, how many periods each completes in training and at inference, and
    findings, each with its numbers and what to do. No weights and no framework are needed. A folder
    without a configuration stands for all models below it. With --reader it is what the implementations
    of diff --stack make of the file. With --models-only a JSON file that states no model, as that of
    another program, is passed over with a note; one that cannot be read is an error all the same.
    """
    if explain is not None:
        from pe_spectra.cli.listings import explain_code
        from pe_spectra.models.checks.kinds import KINDS

        return explain_code(run, explain, KINDS, configs or [])
    if not configs:
        raise InputError("CONFIG is missing", accepted="a config.json, a model's folder, or - for standard input")
    named, configs = configs, _list_models(configs)
    lengths = _Lengths(trained=trained, served=served, allocated=allocated)
    readers = [None] if reader is None else _read_readers(reader)
    if run.figure is not None:
        _check_drawn(len(configs), len(readers))
    with run.progress("auditing") as progress:
        is_annotated = run.format in ANNOTATION_FORMATS
        files, passed = _audit_all(
            configs, readers, lengths, progress, raises=len(configs) == 1 and not is_annotated, models_only=models_only
        )
        errors = tuple(one.error for one in files if one.error)
        # a file that was asked for holds all of the answer, or is not written; for code hosts errors are part of it
        if errors and not is_annotated and (len(errors) == len(files) or run.output is not None):
            return Outcome(messages=tuple(f"error: {text}" for text in errors), exit_code=2)
        return _answer(run, files, lengths, fail_on, errors, passed, found_below=len(configs) > len(named))


def _answer(
    run: Run,
    files: Sequence[ModelAudit],
    lengths: _Lengths,
    fail_on: Level | None,
    errors: tuple[str, ...],
    passed: Sequence[str],
    *,
    found_below: bool,
) -> Outcome:
    from pe_spectra.answers.audits import answer_audits
    from pe_spectra.cli.installed import note_installed
    from pe_spectra.models.stacks import ANSWERING

    run = replace(run, notes=(*run.notes, *(f"note: passed over: {text}" for text in passed)))
    rows: Literal["layers", "pairs", "all pairs"] = "layers"
    if run.format == "csv":  # one shape for all numbers of files, so that a glob that matches one file is no trap
        rows = "all pairs" if run.screen.full else "layers"
    elif len(files) == 1 and _count_pairs(files[0]):
        rows = "pairs"
    answer = answer_audits(
        files, **lengths, fail_on=fail_on, rows=rows, worst_first=run.screen.watched, found_below=found_below
    )
    if run.figure is not None and not (files and _count_pairs(files[0])):
        what = (files and files[0].scheme) or "none"
        raise InputError("--figure has no rotary frequencies to draw", what, "pe-spectra inspect draws other encodings")
    # which is read as the newest transformers, unless others were asked for
    readers = [one.reader for one in files if one.reader is not None] or [ANSWERING["config.json"]()]
    if any(layer.configuration.format == "config.json" for one in files for layer in one.layers):
        answer = replace(answer, notes=(*answer.notes, *note_installed(readers)))
    if run.format in ANNOTATION_FORMATS:
        from pe_spectra.answers.audit_annotations import annotate_audits
        from pe_spectra.model_sources import locate_keys
        from pe_spectra.models.checks.kinds import KINDS

        answer = replace(answer, annotations=annotate_audits(files, KINDS, locate_keys))
    is_drawn = len(files) == 1 and _count_pairs(files[0])
    figure = plot("pe_spectra.plots.wavelengths.compose_audit", files[0]) if is_drawn else None
    return run.finish(answer, figure, errors=errors)


def _check_drawn(configs: int, readers: int) -> None:
    """Refuse to draw several files, or one as several read it."""
    for what, number, accepted in (("configuration", configs, "CONFIG"), ("reading", readers, "name for --reader")):
        if number > 1:
            raise InputError(f"--figure draws one {what}", f"{number} are named", f"one {accepted} is accepted")


def _list_models(configs: Sequence[str]) -> Sequence[str]:
    """The models that are named, those of folders one by one."""
    if not any(map(os.path.isdir, map(os.path.expanduser, configs))):
        return configs
    from pe_spectra.files.model_folders import list_models

    return [name for text in configs for name in list_models(text)]


def _read_readers(text: str) -> list[Stack]:
    """Read --reader."""
    from pe_spectra.models.stacks import find_stack

    found = [find_stack(name, "--reader") for name in text.split(",")]
    if len({one.release_name for one in found}) < len(found):
        raise InputError("--reader names one implementation twice", text, "each is named once")
    return found


def _audit_all(
    configs: Sequence[str],
    readers: Sequence[Stack | None],
    lengths: _Lengths,
    progress: Callable[[int, int], None],
    *,
    raises: bool,
    models_only: bool,
) -> tuple[list[ModelAudit], list[str]]:
    """Audit every file as every reader reads it, None the library that it is made for; or say why it cannot be used.

    With `models_only` a file that states no model is left out, and why it states none is told beside.
    """
    from pe_spectra.model_sources import read_model
    from pe_spectra.models.checks import audit_configuration
    from pe_spectra.models.model_audit import ModelAudit

    files, passed = list[ModelAudit](), list[str]()
    # who reads it alone reads it by the classes of its release where the newest cannot
    reads_by = readers[0].reads_by if len(readers) == 1 and readers[0] is not None else ""
    for number, text in enumerate(configs):
        progress(number, len(configs))
        stated: Configuration | None = None
        for reader in readers:
            try:
                stated = stated or read_model(text, reads_by=reads_by)
                files.append(replace(audit_configuration(stated, **lengths, reader=reader), file=text))
            except (FileError, InputError) as error:
                if models_only and isinstance(error, NoModelError):
                    passed.append(str(error))
                    break
                if raises:
                    raise
                message = str(error)
                said = message if text in message else f"{text}: {message}"
                files.append(ModelAudit(file=text, reader=reader if stated else None, error=said))
                if stated is None:  # whoever reads it
                    break
    return files, passed


def _count_pairs(one: ModelAudit) -> int:
    return sum(len(layer.frequencies) for layer in one.layers)
