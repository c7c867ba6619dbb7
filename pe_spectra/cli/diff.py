"""The command that compares two models, a model with its port, or one file in several implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import read_model_length
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pe_spectra.model_sources import Side
    from pe_spectra.models.statement import Configuration
    from pe_spectra.records.diff import Named

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
            autocompletion=options.complete(STACK_NAMES),
            help="A as two implementations read it",
        ),
    ] = None,
    all_stacks: Annotated[
        bool, typer.Option("--all-stacks", help="A as every implementation reads it, and one example of each scaling")
    ] = False,
    served: options.Served = None,
    check: Annotated[bool, typer.Option("--check", help="exit 1 when something differs")] = False,
) -> Outcome:
    """What a port must get right, part by part: base, scaling, width, layout, attention, offset, type.

    A and B are configurations, or what a port really computes: a dump of its frequencies or of its
    cosines and sines. Rows are the parts that differ; with --full the pairs.
    """  # fmt: skip
    length = read_model_length(served, "--served")
    named = _check_sides(sides or [], stack, all_stacks)
    stacks = _read_stacks(stack) if stack is not None else ()
    if all_stacks and check:
        raise InputError("--check has no meaning with --all-stacks", accepted="two names for --stack")
    from pe_spectra.model_sources import read_side

    found = [read_side(text, name) for text, name in zip(named, ("A", "B"), strict=False)]
    if all_stacks:
        return _tabulate(run, found[0], length)
    if stacks:
        return _compare_stacks(run, found[0], stacks, length, check)
    return _compare(run, found[0], found[1], length, check)


def _check_sides(sides: Sequence[str], stack: str | None, every: bool) -> Sequence[str]:
    """Refuse a number of names that does not fit the other options."""
    if stack is not None and every:
        raise InputError("--stack and --all-stacks exclude each other", stack, "one of them")
    wanted = 1 if stack is not None or every else 2
    if len(sides) != wanted:
        given = " ".join(sides) or "''"
        what = "one model with --stack or --all-stacks" if wanted == 1 else "A and B, or one model with --stack"
        raise InputError(f"diff takes {what}", given, "see --help")
    return sides


def _read_stacks(text: str) -> tuple[str, str]:
    """Read --stack; one name is compared with transformers 5."""
    names = [Choice(members=STACK_NAMES).parse(name, "--stack") for name in text.split(",")]
    if len(names) == 1:
        names = [STACK_NAMES[0], *names]
    if len(names) > 2 or names[0] == names[1]:
        raise InputError("--stack takes two implementations that differ", text, ", ".join(STACK_NAMES))
    return names[0], names[1]


def _compare(run: Run, a: Side, b: Side, served: int | None, check: bool) -> Outcome:
    if a.table is not None or b.table is not None:
        return _compare_tables(run, a, b, check)
    from pe_spectra.models.diff import compare_rotations
    from pe_spectra.records.diff import answer_diff

    length, notes = _choose_length((a, b), served)
    first, second = _turn(a, served), _turn(b, served)
    found = compare_rotations(
        first.rotations, second.rotations, length=length, base_keys=(_name_base(a), _name_base(b))
    )
    notes = (*a.notes, *b.notes, *notes)
    return run.finish(answer_diff(first, second, found, pairs=run.screen.full, notes=notes, check=check))


def _compare_stacks(run: Run, side: Side, stacks: tuple[str, str], served: int | None, check: bool) -> Outcome:
    from pe_spectra.models.diff import compare_rotations
    from pe_spectra.records.diff import answer_diff

    length, notes = _choose_length((side,), served)
    a, b = (_turn(side, served, name) for name in stacks)
    found = compare_rotations(a.rotations, b.rotations, length=length)
    said = tuple(dict.fromkeys(f"{one.name}: {note}" for one in (a, b) for r in one.rotations for note in r.notes))
    return run.finish(answer_diff(a, b, found, pairs=run.screen.full, notes=(*notes, *said), check=check))


def _compare_tables(run: Run, a: Side, b: Side, check: bool) -> Outcome:
    from pe_spectra.models.table_diff import compare_tables
    from pe_spectra.records.table_diff import answer_table_diff

    if a.table is None or b.table is None:
        other = a if a.table is not None else b
        raise FileError(
            other.shown, "shows no rotation; inv_freq, or cosines and sines of positions, are compared here"
        )
    found = compare_tables(a.table, b.table)
    return run.finish(answer_table_diff(a.shown, b.shown, found, notes=(*a.notes, *b.notes), check=check))


def _tabulate(run: Run, side: Side, served: int | None) -> Outcome:
    from pe_spectra.models.stacks.conformance import find_length_served, tabulate_conformance, tabulate_scalings
    from pe_spectra.records.diff import answer_conformance

    configuration = _need_rotation(side)
    rows = tabulate_conformance(configuration, served)
    length = served or find_length_served(configuration)
    examples = tabulate_scalings(configuration, served=served)
    return run.finish(answer_conformance(side.shown, rows, examples, length=length, full=run.screen.full))


def _need_rotation(side: Side) -> Configuration:
    if side.configuration is None:
        raise FileError(side.shown, "holds an array; the configuration of a model is accepted here")
    if side.configuration.scheme != "rotary":
        raise FileError(side.shown, f"has no rotary encoding, but {side.configuration.scheme}; diff compares rotations")
    return side.configuration


def _turn(side: Side, served: int | None, stack: str | None = None) -> Named:
    """The rotations of one side: of a dump its own, of a model those of its library or of a stack."""
    from pe_spectra.models.rotation import Rotation
    from pe_spectra.models.scheme import turn_layer
    from pe_spectra.models.stacks import STACKS
    from pe_spectra.records.diff import Named

    if side.dump is not None and stack is None:
        return Named(name=side.shown, rotations=(side.dump,))
    configuration = _need_rotation(side)
    read = turn_layer if stack is None else STACKS[stack].read
    found: list[Rotation] = []
    for layer in configuration.layers:
        one = read(configuration, layer, served)
        if not isinstance(one, Rotation):
            who = "" if stack is None else f"{stack} refuses it: "
            raise FileError(side.shown, f"{who}{one.reason.removeprefix(f'{configuration.path}: ')}")
        if layer.turns:
            found.append(one)
    return Named(name=side.shown if stack is None else STACKS[stack].title, rotations=tuple(found))


def _choose_length(sides: Sequence[Side], served: int | None) -> tuple[int, tuple[str, ...]]:
    """The positions that are looked at: those that are asked for, that a file states, or that a cache has."""
    from pe_spectra.models.stacks.conformance import find_length_served

    if served is not None:
        return served, ()
    stated = [find_length_served(side.configuration) for side in sides if side.configuration is not None]
    rows = [side.dump.rows for side in sides if side.dump is not None and side.dump.rows is not None]
    lengths = [one for one in stated if one > 1] or rows
    if lengths:
        return max(lengths), ()
    return _LENGTH, (f"no side states a length, so {_LENGTH:,} positions are looked at; --served sets another",)


def _name_base(side: Side) -> str:
    """The key that a base comes from."""
    if side.configuration is None or not side.configuration.layers:
        return ""
    block = side.configuration.layers[0].block
    return block.base_key if block is not None else ""
