"""The command that compares two models, a model with its port, or one file in several implementations."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import UNSTATED_LENGTH
from pe_spectra.vocabulary import STACKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pe_spectra.answers.answer import Answer
    from pe_spectra.answers.differences import Setting
    from pe_spectra.models.stacks import Stack


def diff(
    run: Run,
    sides: Sequence[str] | None,
    stack: str | None,
    all_stacks: bool,
    trained: int | None,
    served: int | None,
    allocated: int | None,
    check: bool,
    strict: bool,
) -> Outcome:
    """A and B are configurations, or what a port really computes: a dump of its frequencies or of its
    cosines and sines. Rows are the parts that differ; with --full the pairs. Of several files A is
    compared with each of the others, or with --stack each is read in two ways. Tables of positions are
    compared row by row; on either side a SPEC may stand for the table of a formula.
    """  # fmt: skip
    named = _check_sides(sides or [], stack, all_stacks)
    stacks = _read_stacks(stack) if stack is not None else ()
    _check_options(all_stacks, trained, check, strict)
    from pe_spectra.answers.differences import Setting
    from pe_spectra.cli.installed import note_installed
    from pe_spectra.cli.two_sides import answer_sides
    from pe_spectra.model_sources import read_side

    given = (("--stack", stack), ("--trained", trained), ("--served", served), ("--allocated", allocated))
    words = [word for name, value in given if value is not None for word in (name, str(value))]
    # of several files what is proposed ends with the name of one
    again = _name_next(named if len(named) <= 2 - bool(stack) else named[: 1 - bool(stack)], *words)
    asked = Setting(
        length=UNSTATED_LENGTH,
        trained=trained,
        served=served,
        allocated=allocated,
        full=run.screen.full,
        listed=not run.screen.watched,
        check=check,
        strict=strict,
        again=again,
    )
    if all_stacks:
        return _tabulate(run, named[0], asked)
    pairs = [[one] for one in named] if stacks else [[named[0], other] for other in named[1:]]
    if len(pairs) > 1:
        return _compare_each(run, pairs, stacks, asked)
    answer = answer_sides(named, stacks, asked, read_side)
    return run.finish(replace(answer, notes=(*answer.notes, *note_installed(stacks))))


def _compare_each(run: Run, pairs: Sequence[Sequence[str]], stacks: Sequence[Stack], asked: Setting) -> Outcome:
    """Compare one after another; all are answered, or the first that cannot be compared is the error."""
    from pe_spectra.answers.against import answer_against
    from pe_spectra.cli.installed import note_installed

    with run.progress("comparing") as progress:
        found = _answer_each(pairs, stacks, asked, progress)
    against = [one.title for one in stacks] or [pairs[0][0]]
    answer = answer_against(found, against=against, again=asked.again)
    return run.finish(replace(answer, notes=(*answer.notes, *note_installed(stacks))))


def _answer_each(
    pairs: Sequence[Sequence[str]], stacks: Sequence[Stack], asked: Setting, progress: Callable[[int, int], None]
) -> list[tuple[str, Answer]]:
    """Answer each comparison, with the name of its file."""
    from pe_spectra.cli.two_sides import answer_sides
    from pe_spectra.model_sources import read_side

    read = lru_cache(maxsize=2)(read_side)  # A, and the one that it is compared with
    found: list[tuple[str, Answer]] = []
    for named in pairs:
        progress(len(found), len(pairs))
        try:
            found.append((named[-1], answer_sides(named, stacks, asked, read)))
        except InputError as error:  # which says "B", or an option that has no meaning beside this one
            raise FileError(named[-1], str(error).removeprefix("B: ")) from error
    return found


def _check_options(all_stacks: bool, trained: int | None, check: bool, strict: bool) -> None:
    """Refuse what has no meaning with --all-stacks, or without --check."""
    if strict and not check:
        raise InputError("--strict has no meaning without --check", accepted="--check --strict")
    if not all_stacks:
        return
    if check:
        raise InputError("--check has no meaning with --all-stacks", accepted="two names for --stack")
    if trained is not None:
        raise InputError("--trained has no meaning with --all-stacks", str(trained), "--served is accepted")


def _check_sides(sides: Sequence[str], stack: str | None, every: bool) -> Sequence[str]:
    """Refuse a number of names that does not fit the other options."""
    if stack is not None and every:
        raise InputError("--stack and --all-stacks exclude each other", stack or "''", "one of them")
    wanted = 1 if stack is not None or every else 2
    if len(sides) < wanted or (every and len(sides) > 1):
        given = " ".join(side or "''" for side in sides) or "none"
        what = "one model with --stack or --all-stacks" if wanted == 1 else "A and B, or one model with --stack"
        raise InputError(f"diff takes {what}", given, "see --help")
    if sides.count("-") > 1:
        raise InputError("standard input is read once", "- -", "a file for A or for B")
    return sides


def _read_stacks(text: str) -> tuple[Stack, Stack]:
    """Read --stack; one name is compared with transformers 5."""
    from pe_spectra.models.stacks import find_stack

    names = text.split(",")
    found = [find_stack(name, "--stack") for name in (names if len(names) > 1 else [STACKS[0], *names])]
    if len(found) > 2 or found[0] is found[1]:
        what = "--stack takes two implementations, or one that is compared with transformers-5"
        raise InputError(what, text, f"of {', '.join(STACKS)}")
    return found[0], found[1]


def _name_next(sides: Sequence[str], *words: str) -> str:
    """The command over the same files with other options; empty where they cannot be named again."""
    if any(side.startswith("-") or not side.isprintable() for side in sides):
        return ""
    return shlex.join(["pe-spectra", "diff", *sides, *words])


def _tabulate(run: Run, text: str, asked: Setting) -> Outcome:
    from pe_spectra.answers.agreements import answer_conformance
    from pe_spectra.cli.formula_sides import find_formulas
    from pe_spectra.cli.two_sides import find_rotations
    from pe_spectra.model_sources import read_side
    from pe_spectra.models.stacks.allocation import check_allocated
    from pe_spectra.models.stacks.conformance import find_length_served, tabulate_conformance, tabulate_scalings

    find_formulas([text], {"--all-stacks": True})
    side = read_side(text, "A")
    configuration = find_rotations(side)
    length = asked.served or find_length_served(configuration)
    check_allocated(asked.allocated, length, asked.served)
    rows = tabulate_conformance(configuration, asked.served, asked.allocated)
    if all(row.refusal is not None for row in rows):
        reason = (rows[0].refusal or "").removeprefix(f"{configuration.path}: ")
        raise FileError(side.shown, f"no implementation takes it: {reason}")
    examples = tabulate_scalings(configuration, asked.served, asked.allocated)
    return run.finish(
        answer_conformance(side.shown, rows, examples, length=length, full=run.screen.full, again=asked.again)
    )
