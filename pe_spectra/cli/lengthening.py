"""The command about longer contexts: what each way to one would do, and the configuration for it."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from pe_spectra.models.lengths.methods import ContextReport
    from pe_spectra.models.lengths.plans import Plan

#: Of --d where nothing sets it.
_WIDTH = 128


def context(
    run: Run,
    config: str | None,
    d: int | None,
    base: float | None,
    trained: int | None,
    target: int | None,
    stack: str | None,
    write: str | None,
) -> Outcome:
    """Linear, NTK, dynamic, YaRN, Llama 3 and larger bases: pairs that would have out-of-range phases (not
    covered in training), what is kept, and the bases that the literature proposes. With a CONFIG also which
    way is recommended, what training it needs, and the configuration, audited. Without CONFIG, --base and
    --trained: which base for this context.
    """
    if d is not None and d % 2:
        raise InputError("--d is odd", str(d), "an even width is accepted: pairs of channels are turned")
    if target is None:
        raise InputError("--target is missing", accepted="the number of positions that is wanted")
    if config is not None:
        _refuse_beside(d, base)
        return _lengthen(run, config, target, trained, stack, _read_place(run, write))
    for option, value in (("--write", write), ("--stack", stack)):
        if value is not None:
            raise InputError(f"{option} has no meaning without CONFIG", value or "''", "CONFIG --target N")
    return _compare(run, _WIDTH if d is None else d, _join_model(base, trained, target), target)


def _compare(run: Run, d: int, model: tuple[float, int] | None, target: int) -> Outcome:
    from pe_spectra.answers.lengthenings import answer_lengthenings
    from pe_spectra.models.lengths.methods import compare_methods, propose_bases

    if run.figure is not None and model is None:
        raise InputError("--figure has nothing to draw without a model", str(run.figure), "--base and --trained")
    with run.progress("looking for negative sums"):
        report = propose_bases(d, target) if model is None else compare_methods(d, *model, target)
        every_pair = run.format == "csv" and run.screen.full
        return run.finish(answer_lengthenings(report, every_pair=every_pair), _draw(report))


def _draw(report: ContextReport) -> Callable[[], Figure]:
    return plot("pe_spectra.plots.wavelengths.compose_context", report)


def _join_model(base: float | None, trained: int | None, target: int) -> tuple[float, int] | None:
    """The model to be lengthened; None where only the length is asked about."""
    if base is None and trained is None:
        return None
    if base is None or trained is None:
        accepted = "both of them for a model to be lengthened, none for the bases that suit --target"
        raise InputError(f"{'--base' if base is None else '--trained'} is missing", accepted=accepted)
    if target <= trained:
        accepted = "a longer context than the trained one is accepted"
        raise InputError("--target is not above --trained", f"{target} and {trained}", accepted)
    return base, trained


# --------------------------------------------------------------------- the model of a file


def _refuse_beside(d: int | None, base: float | None) -> None:
    """Refuse what a file states itself; --trained goes before it, as with audit."""
    for option, value in (("--d", d), ("--base", base)):
        if value is not None:
            raise InputError(f"{option} has no meaning beside CONFIG, which states it", f"{value:g}", "--trained is")


def _read_place(run: Run, write: str | None) -> Path | None:
    """Check where the new configuration goes, before any work."""
    if write is None:
        return None
    if not write.endswith(".json") or Path(write).name == ".json":
        raise InputError("--write is no name of a configuration", write or "''", "a file ending in .json is accepted")
    from pe_spectra.files.places import check_writable

    check_writable([Path(write)], label="--write")
    others = [path for path in (run.output, run.figure) if path is not None]
    check_writable([Path(write), *others], label="--write, --output and --figure" if others else "--write")
    return Path(write)


def _lengthen(
    run: Run, config: str, target: int, trained: int | None, stack: str | None, place: Path | None
) -> Outcome:
    from pe_spectra.answers.lengthened import answer_plan
    from pe_spectra.model_sources import read_model_keys
    from pe_spectra.models.lengths.plans import plan_lengthening
    from pe_spectra.models.stacks import find_stack
    from pe_spectra.models.stated.keys import KEY_NOT_READ

    reader = None if stack is None else find_stack(stack, "--stack")
    stated, keys, path = read_model_keys(config)
    if place is not None and path is not None and place.exists() and os.path.samefile(place, path):
        raise FileError(place, "is read by this command (--write); another file is accepted")
    # a plan for what is read would make what the file asks for in vain look settled
    unread = [one.message for one in stated.findings if (one.code, one.level) == (KEY_NOT_READ.code, "error")]
    if place is not None and unread:
        raise FileError(config, f"{unread[0]}; a file without this error is accepted by --write")
    with run.progress("looking for negative sums"):
        plan, report = plan_lengthening(stated, keys, target=target, trained=trained, stack=reader)
        plan = replace(plan, file=config, written=str(place) if place is not None else None)
        _check_plan(run, plan, report, place)
        answer = answer_plan(plan, report, every_pair=run.format == "csv" and run.screen.full)
        answer = replace(answer, notes=(*unread, *answer.notes))
        outcome = run.finish(answer, _draw(report) if report.methods else None, then=_propose(run, plan))
    if place is None or plan.configuration is None:
        return outcome
    messages = outcome.messages if run.quiet else (f"wrote {place}", *outcome.messages)
    return outcome._replace(files={**outcome.files, place: _encode(plan)}, messages=messages)


def _check_plan(run: Run, plan: Plan, report: ContextReport, place: Path | None) -> None:
    """Refuse to draw or to write what there is nothing of."""
    if run.figure is not None and not report.methods:
        raise InputError("--figure has nothing to draw", str(run.figure), plan.reason)
    if place is not None and plan.configuration is None:
        raise InputError("--write has nothing to write", str(place), plan.reason)


def _encode(plan: Plan) -> bytes:
    """Write an object as files of transformers are: indented, every key in its place."""
    keys = dict(plan.configuration.keys) if plan.configuration is not None else {}
    # what Python writes as Infinity was read as no number
    write = partial(json.dumps, keys, indent=2, default=lambda _: float("inf"))
    try:
        return f"{write(ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which only an escape can stand for
        return f"{write()}\n".encode()


def _propose(run: Run, plan: Plan) -> str:
    if plan.written is not None:
        return f"pe-spectra diff {shlex.quote(plan.file)} {shlex.quote(plan.written)}" if plan.file != "-" else ""
    if plan.configuration is None or plan.file.startswith("-"):
        return ""
    return run.propose(f"context {shlex.quote(plan.file)}", write="longer.json")
