"""The command that compares two models, a model with its port, or one file in several implementations."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import read_model_length
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pe_spectra.model_sources import Side
    from pe_spectra.models.statement import Configuration
    from pe_spectra.records.diff import Named, Setting

#: Names for completion, which must not import NumPy; a test keeps them equal to the stacks.
STACK_NAMES = ("transformers-5", "transformers-4", "vllm", "llama.cpp", "keras-hub", "meta", "yarn-paper")
#: Positions that are looked at where neither side states a length.
_LENGTH = 32768


def add_commands(app: typer.Typer) -> None:
    """Register the command."""
    register(
        app,
        "diff",
        examples=(
            "pe-spectra diff hf/config.json port/inv_freq.npy",
            "pe-spectra diff config.json --stack transformers-5,vllm",
            "pe-spectra diff --all-stacks config.json",
        ),
    )(diff)


def complete_stacks(incomplete: str) -> list[str]:
    """Complete the last name of --stack."""
    before, comma, last = incomplete.rpartition(",")
    chosen = before.split(",")
    return [f"{before}{comma}{name}" for name in STACK_NAMES if name.startswith(last) and name not in chosen]


def diff(
    run: Run,
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A [B]", help="config.json, params.json, GGUF, a folder, org/model; inv_freq or cos and sin; tables"
        ),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            metavar="X,Y",
            autocompletion=complete_stacks,
            help="A as two implementations read it",
        ),
    ] = None,
    all_stacks: Annotated[
        bool, typer.Option("--all-stacks", help="A as every implementation reads it, and one example of each scaling")
    ] = False,
    trained: options.Trained = None,
    served: options.Served = None,
    check: Annotated[bool, typer.Option("--check", help="exit 1 when something differs")] = False,
) -> Outcome:
    """What a port must get right, part by part: base, scaling, width, layout, attention, offset, type.

    A and B are configurations, or what a port really computes: a dump of its frequencies or of its
    cosines and sines. Rows are the parts that differ; with --full the pairs.
    """  # fmt: skip
    lengths = read_model_length(trained, "--trained"), read_model_length(served, "--served")
    named = _check_sides(sides or [], stack, all_stacks)
    stacks = _read_stacks(stack) if stack is not None else ()
    if all_stacks and check:
        raise InputError("--check has no meaning with --all-stacks", accepted="two names for --stack")
    if all_stacks and trained is not None:
        raise InputError("--trained has no meaning with --all-stacks", str(trained), "--served is accepted")
    from pe_spectra.model_sources import read_side

    found = [read_side(text, name) for text, name in zip(named, ("A", "B"), strict=False)]
    if all_stacks:
        return _tabulate(run, found[0], lengths[1], _name_next(named, "--stack"))
    again = _name_next(named, *(("--stack", stack) if stack else ()), *_repeat(trained, served), "--full")
    if stacks:
        return _compare_stacks(run, found[0], stacks, lengths, check, again)
    notes = ("A and B are one file",) if named[0] == named[1] else ()
    return _compare(run, (found[0], found[1]), lengths, check, again, notes)


def _check_sides(sides: Sequence[str], stack: str | None, every: bool) -> Sequence[str]:
    """Refuse a number of names that does not fit the other options."""
    if stack is not None and every:
        raise InputError("--stack and --all-stacks exclude each other", stack or "''", "one of them")
    wanted = 1 if stack is not None or every else 2
    if len(sides) != wanted:
        given = " ".join(side or "''" for side in sides) or "none"
        what = "one model with --stack or --all-stacks" if wanted == 1 else "A and B, or one model with --stack"
        raise InputError(f"diff takes {what}", given, "see --help")
    if list(sides) == ["-", "-"]:
        raise InputError("standard input is read once", "- -", "a file for A or for B")
    return sides


def _read_stacks(text: str) -> tuple[str, str]:
    """Read --stack; one name is compared with transformers 5."""
    names = [Choice(members=STACK_NAMES).parse(name, "--stack") for name in text.split(",")]
    if len(names) == 1:
        names = [STACK_NAMES[0], *names]
    if len(names) > 2 or names[0] == names[1]:
        what = "--stack takes two implementations, or one that is compared with transformers-5"
        raise InputError(what, text, f"of {', '.join(STACK_NAMES)}")
    return names[0], names[1]


def _repeat(trained: str | None, served: str | None) -> tuple[str, ...]:
    """The lengths as they were given."""
    given = (("--trained", trained), ("--served", served))
    return tuple(word for name, value in given if value is not None for word in (name, value))


def _name_next(sides: Sequence[str], *words: str) -> str:
    """The command over the same files with other options; empty where they cannot be named again."""
    if any(side.startswith("-") or not side.isprintable() for side in sides):
        return ""
    return shlex.join(["pe-spectra", "diff", *sides, *words])


def _compare(
    run: Run,
    sides: tuple[Side, Side],
    lengths: tuple[int | None, int | None],
    check: bool,
    again: str,
    said: tuple[str, ...],
) -> Outcome:
    a, b = sides
    notes = (*said, *(f"{letter}: {note}" for letter, side in zip("AB", sides, strict=True) for note in side.notes))
    if a.table is not None or b.table is not None:
        return _compare_tables(run, a, b, check, notes)
    from pe_spectra.models.diff import compare_rotations
    from pe_spectra.records.diff import answer_diff

    setting, assumed = _choose_lengths(sides, lengths)
    first, second = _turn(a, setting.served), _turn(b, setting.served)
    keys = _name_base(a), _name_base(b)
    found = compare_rotations(
        first.rotations, second.rotations, length=setting.length, base_keys=keys, windows=setting.windows
    )
    read = [
        f"{letter}: {note}"
        for letter, side, named in (("A", a, first), ("B", b, second))
        if side.dump is None
        for rotation in named.rotations
        for note in rotation.notes
    ]
    notes = tuple(dict.fromkeys((*notes, *read, *assumed)))
    return run.finish(answer_diff(first, second, found, setting, full=run.screen.full, notes=notes, again=again)(check))


def _compare_stacks(
    run: Run,
    side: Side,
    stacks: tuple[str, str],
    lengths: tuple[int | None, int | None],
    check: bool,
    again: str,
) -> Outcome:
    from pe_spectra.models.diff import compare_rotations
    from pe_spectra.records.diff import answer_diff

    setting, assumed = _choose_lengths((side,), lengths)
    a, b = (_turn(side, setting.served, name) for name in stacks)
    found = compare_rotations(a.rotations, b.rotations, length=setting.length, windows=setting.windows)
    said = [f"{letter}: {note}" for letter, one in (("A", a), ("B", b)) for r in one.rotations for note in r.notes]
    notes = tuple(dict.fromkeys((*side.notes, *said, *assumed)))
    return run.finish(answer_diff(a, b, found, setting, full=run.screen.full, notes=notes, again=again)(check))
