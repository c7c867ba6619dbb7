"""The commands about models: what a configuration really gives, and what each way to lengthen its context would do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pe_spectra.cli.run import Outcome, Progress, Run, explain_code, plot
from pe_spectra.cli.subject import MODEL_LENGTH, read, read_level
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import IntegerRange, RealRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pe_spectra.models.audit import ModelAudit
    from pe_spectra.vocabulary import Level

#: Widest head; as for the encoding `rope`.
_WIDTHS = IntegerRange(minimum=4, maximum=1 << 14)
_BASES = RealRange(minimum=2, maximum=1e18)
#: The shortest is longer than the wavelength of the fastest pair, 2 pi.
_LENGTHS = IntegerRange(minimum=8, maximum=1 << 30)


def audit(
    run: Run,
    configs: Sequence[str] | None,
    trained: str | None,
    served: str | None,
    fail_on: str | None,
    explain: str | None,
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
        "trained": read(trained, "--trained", MODEL_LENGTH.parse),
        "served": read(served, "--served", MODEL_LENGTH.parse),
    }
    if run.figure is not None and len(configs) > 1:
        raise InputError("--figure draws one configuration", f"{len(configs)} are named", "one CONFIG is accepted")
    with Progress("auditing", quiet=run.quiet) as progress:
        files = _audit_all(configs, lengths, progress)
        errors = tuple(one.error for one in files if one.error)
        # a file that was asked for holds all of the answer, or is not written
        if len(errors) == len(files) or (errors and run.output is not None):
            return Outcome(messages=tuple(f"error: {text}" for text in errors), exit_code=2)
        return _answer(run, files, lengths, level, errors)


def _answer(
    run: Run,
    files: Sequence[ModelAudit],
    lengths: dict[str, int | None],
    level: Level | None,
    errors: tuple[str, ...],
) -> Outcome:
    from pe_spectra.answers.audits import answer_audits

    rows = _choose_rows(run, files)
    answer = answer_audits(files, **lengths, fail_on=level, rows=rows, worst_first=run.watched)
    if run.figure is not None and not _count_pairs(files[0]):
        what = files[0].scheme or "none"
        raise InputError("--figure has no rotary frequencies to draw", what, "pe-spectra inspect draws other encodings")
    return run.finish(answer, plot("pe_spectra.plots.wavelengths.compose_audit", files[0]), errors=errors)


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


def context(run: Run, d: str, base: str | None, trained: str | None, target: str | None) -> Outcome:
    """What each way to lengthen a context would do to a rotary model, side by side.

    Linear, NTK, dynamic, YaRN, Llama 3 and larger bases: pairs that would have out-of-range phases (not
    covered in training), what is kept, and the bases that the literature proposes. Without --base and --trained: which
    base for this context.
    """
    from pe_spectra.answers.lengthenings import answer_lengthenings
    from pe_spectra.models.lengths.methods import compare_methods, propose_bases

    width = _read_width(d)
    wanted = _LENGTHS.parse(_need(target, "--target", "the number of positions that is wanted"), "--target")
    model = _read_model(base, trained, wanted)
    if run.figure is not None and model is None:
        raise InputError("--figure has nothing to draw without a model", str(run.figure), "--base and --trained")
    with Progress("looking for negative sums", quiet=run.quiet):
        report = propose_bases(width, wanted) if model is None else compare_methods(width, *model, wanted)
        every_pair = run.format == "csv" and run.screen.full
        return run.finish(
            answer_lengthenings(report, every_pair=every_pair),
            plot("pe_spectra.plots.wavelengths.compose_context", report),
        )


def _read_width(text: str) -> int:
    d = _WIDTHS.parse(text, "--d")
    if d % 2:
        raise InputError("--d is odd", text, "an even width is accepted: pairs of channels are turned")
    return d


def _read_model(base: str | None, trained: str | None, target: int) -> tuple[float, int] | None:
    """Read the model to be lengthened; None where only the length is asked about."""
    if base is None and trained is None:
        return None
    both = "both of them for a model to be lengthened, none for the bases that suit --target"
    rho = _BASES.parse(_need(base, "--base", both), "--base")
    length = _LENGTHS.parse(_need(trained, "--trained", both), "--trained")
    if target <= length:
        accepted = "a longer context than the trained one is accepted"
        raise InputError("--target is not above --trained", f"{target} and {length}", accepted)
    return rho, length


def _need(text: str | None, name: str, accepted: str) -> str:
    if text is None:
        raise InputError(f"{name} is missing", accepted=accepted)
    return text
