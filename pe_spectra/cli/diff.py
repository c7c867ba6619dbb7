"""The command that compares two models, a model with its port, or one file in several implementations."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import Choice
from pe_spectra.vocabulary import STACKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pe_spectra.answers.differences import ComparedSide, Setting
    from pe_spectra.model_sources import Side
    from pe_spectra.models.comparison.table_diff import TableDiff
    from pe_spectra.models.stacks import Stack
    from pe_spectra.models.stated.statement import Configuration

#: Positions that are looked at where neither side states a length.
_LENGTH = 32768


def diff(
    run: Run,
    sides: Sequence[str] | None,
    stack: str | None,
    all_stacks: bool,
    trained: int | None,
    served: int | None,
    check: bool,
    strict: bool,
) -> Outcome:
    """What a port must get right, part by part: base, scaling, width, layout, attention, offset, type.

    A and B are configurations, or what a port really computes: a dump of its frequencies or of its
    cosines and sines. Rows are the parts that differ; with --full the pairs. Tables of positions are
    compared row by row; on either side a SPEC may stand for the table of a formula.
    """  # fmt: skip
    named = _check_sides(sides or [], stack, all_stacks)
    stacks = _read_stacks(stack) if stack is not None else ()
    _check_options(all_stacks, trained, check, strict)
    from pe_spectra.cli.formula_sides import compare_formulas, find_formulas
    from pe_spectra.model_sources import read_side

    formulas = find_formulas(named, {"--stack": stack, "--all-stacks": all_stacks or None, "--trained": trained})
    if formulas:
        return compare_formulas(run, named, formulas, served, check)
    found = [read_side(text, name) for text, name in zip(named, ("A", "B"), strict=False)]
    given = (("--stack", stack), ("--trained", trained), ("--served", served))
    again = _name_next(named, *(word for name, value in given if value is not None for word in (name, str(value))))
    if all_stacks:
        return _tabulate(run, found[0], served, again)
    if len(found) == 2 and any(side.configuration is None and side.dump is None for side in found):
        return _compare_tables(run, found[0], found[1], check)
    setting, notes = _choose_setting(found, trained, served)
    setting = replace(
        setting, full=run.screen.full, listed=not run.screen.watched, check=check, strict=strict, again=again
    )
    return _compare(run, found, stacks, setting, notes)


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
    if len(sides) != wanted:
        given = " ".join(side or "''" for side in sides) or "none"
        what = "one model with --stack or --all-stacks" if wanted == 1 else "A and B, or one model with --stack"
        raise InputError(f"diff takes {what}", given, "see --help")
    if list(sides) == ["-", "-"]:
        raise InputError("standard input is read once", "- -", "a file for A or for B")
    return sides


def _read_stacks(text: str) -> tuple[Stack, Stack]:
    """Read --stack; one name is compared with transformers 5."""
    from pe_spectra.models.stacks import find_stack

    named = Choice(members=STACKS)
    names = [one if {*one} & {*"=@"} else named.parse(one, "--stack") for one in text.split(",")]
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


def _compare(run: Run, sides: Sequence[Side], stacks: Sequence[Stack], setting: Setting, notes: list[str]) -> Outcome:
    """Compare the rotations of two sides, or of one side in two implementations."""
    from pe_spectra.answers.differences import answer_differences
    from pe_spectra.models.comparison.rotations import compare_rotations
    from pe_spectra.models.comparison.wave_tables import remark_rotations, shows_rotations

    if stacks:
        a, b = (_turn(sides[0], setting.served, stack) for stack in stacks)
    else:
        a, b = (_turn(side, setting.served, length=setting.length) for side in sides)
    stated = any(side.configuration is not None for side in sides)
    needed = setting.length if stated and not stacks else setting.served
    found = compare_rotations(a.rotations, b.rotations, length=setting.length, windows=setting.windows, served=needed)
    tables = None if stacks else _compare_waves(sides[0], sides[1])
    if tables is not None and not shows_rotations(tables, found):
        return _answer_tables(run, sides[0], sides[1], tables, setting.check, remark_rotations(found))
    said = [f"{letter}: {note}" for letter, side in (("A", a), ("B", b)) for note in side.notes]
    said += [f"entry by entry: {'; '.join(tables.findings)}"] if tables is not None else []
    gathered = tuple(dict.fromkeys((*said, *notes)))
    return run.finish(answer_differences(a, b, found, setting, notes=gathered, equal=_state_equal(sides, tables)))


def _state_equal(sides: Sequence[Side], tables: TableDiff | None) -> str:
    """Say how it is known that all numbers of two sides are equal; empty where it is not."""
    if tables is not None and tables.agree and tables.max_difference == 0:
        return tables.findings[0]
    return "A and B are one file" if len(sides) == 2 and sides[0].shown == sides[1].shown else ""


def _compare_waves(a: Side, b: Side) -> TableDiff | None:
    """Compare as tables two arrays that each hold cosines and sines side by side; None for others."""
    from pe_spectra.models.comparison.wave_tables import compare_waves

    if a.dump is None or b.dump is None or a.table is None or b.table is None:
        return None
    return compare_waves(a.table, b.table, a.dump, b.dump)


def _compare_tables(run: Run, a: Side, b: Side, check: bool) -> Outcome:
    from pe_spectra.models.comparison.table_diff import compare_tables

    if a.table is None or b.table is None:
        table = a if a.reason else b
        raise FileError(table.shown, f"shows no rotation to compare: {table.reason}")
    return _answer_tables(run, a, b, compare_tables(a.table, b.table, stored=(a.dtype, b.dtype)), check)


def _answer_tables(run: Run, a: Side, b: Side, found: TableDiff, check: bool, *more: str) -> Outcome:
    from pe_spectra.answers.agreements import answer_tables

    # what the rotation of a cache is called says nothing of it as a table
    said = [(letter, note, side.dump) for letter, side in (("A", a), ("B", b)) for note in side.notes]
    notes = [f"{letter}: {note}" for letter, note, dump in said if dump is None or note not in dump.notes]
    return run.finish(answer_tables(a.shown, b.shown, found, notes=(*notes, *more), check=check))


def _tabulate(run: Run, side: Side, served: int | None, again: str) -> Outcome:
    from pe_spectra.answers.agreements import answer_conformance
    from pe_spectra.models.stacks.conformance import find_length_served, tabulate_conformance, tabulate_scalings

    configuration = _need_rotation(side)
    rows = tabulate_conformance(configuration, served)
    if all(row.refusal is not None for row in rows):
        reason = (rows[0].refusal or "").removeprefix(f"{configuration.path}: ")
        raise FileError(side.shown, f"no implementation takes it: {reason}")
    length = served or find_length_served(configuration)
    examples = tabulate_scalings(configuration, served)
    return run.finish(answer_conformance(side.shown, rows, examples, length=length, full=run.screen.full, again=again))


def _need_rotation(side: Side) -> Configuration:
    if side.configuration is None:
        raise FileError(side.shown, "holds an array; the configuration of a model is accepted here")
    if side.configuration.scheme != "rotary":
        raise FileError(side.shown, f"has no rotary encoding, but {side.configuration.scheme}; diff compares rotations")
    return side.configuration


def _turn(side: Side, served: int | None, stack: Stack | None = None, length: int = 0) -> ComparedSide:
    """The rotations of one side: of a dump its own, of a model those of its library or of a stack.

    Of two caches, one after the other, it is the one for the length.
    """
    from pe_spectra.answers.differences import ComparedSide
    from pe_spectra.models.rotation import Rotation
    from pe_spectra.models.scheme import turn_layer
    from pe_spectra.models.stated.keys import KEY_NOT_READ

    if side.dump is not None and stack is None:
        later = side.dump.later if length > (side.dump.rows or length) else None
        return ComparedSide(name=side.shown, rotations=(later or side.dump,), notes=side.notes)
    configuration = _need_rotation(side)
    read = turn_layer if stack is None else stack.read
    found: list[Rotation] = []
    for layer in configuration.layers:
        one = read(configuration, layer, served)
        if not isinstance(one, Rotation):
            who = "" if stack is None else f"{stack.name} refuses it: "
            raise FileError(side.shown, f"{who}{one.reason.removeprefix(f'{configuration.path}: ')}")
        if layer.turns:
            # the type of weights is not the type in which cosines and sines are held
            found.append(replace(one, dtype=None))
    if not found:
        raise FileError(side.shown, "turns no layer (no_rope_layers); diff compares rotations")
    said = (f"{one.name}: {note}" if len(found) > 1 else note for one in found for note in one.notes)
    unread = (finding.message for finding in configuration.findings if finding.code == KEY_NOT_READ.code)
    notes = tuple(dict.fromkeys((*side.notes, *unread, *said)))
    name = side.shown if stack is None else stack.title
    return ComparedSide(name=name, rotations=tuple(found), notes=notes)


def _choose_setting(sides: Sequence[Side], trained: int | None, served: int | None) -> tuple[Setting, list[str]]:
    """The positions that are looked at: those that are asked for, that a file states, or that a cache has."""
    from pe_spectra.answers.differences import Setting
    from pe_spectra.models.stacks.conformance import find_length_served

    stated = [find_length_served(side.configuration) for side in sides if side.configuration is not None]
    dumps = [side.dump.later or side.dump for side in sides if side.dump is not None]
    rows = [dump.rows for dump in dumps if dump.rows is not None]
    known = [one for one in stated if one > 1] or rows
    length = served or max(known, default=trained or _LENGTH)
    notes = ["A and B are one file"] if len(sides) == 2 and sides[0].shown == sides[1].shown else []
    if not (served or trained or known):
        notes += [f"no side states a length, so {_LENGTH:,} positions are looked at; --served sets another"]
    return Setting(length=length, trained=trained, served=served, windows=_find_windows(sides)), notes


def _find_windows(sides: Sequence[Side]) -> Mapping[str, int]:
    """Positions that layers see at once, of each layer type that attends within a window wherever a file states it."""
    found: dict[str, int] = {}
    layers = [side.configuration.layers for side in sides if side.configuration is not None]
    for name in {layer.name for one in layers for layer in one}:
        windows = [layer.window for one in layers for layer in one if layer.name == name or len(one) == 1]
        known = [window for window in windows if window is not None]
        if known and len(known) == len(windows):
            found[name] = max(known)
    return found
