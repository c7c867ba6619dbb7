"""Two sides of `diff`, or one file in two implementations: at which lengths they are compared, and the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pe_spectra.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pe_spectra.answers.answer import Answer
    from pe_spectra.answers.differences import ComparedSide, Setting
    from pe_spectra.model_sources import Side
    from pe_spectra.models.comparison.table_diff import TableDiff
    from pe_spectra.models.stacks import Stack
    from pe_spectra.models.stated.statement import Configuration, LayerStatement

    Reader = Callable[[str, str], Side]


def answer_sides(named: Sequence[str], stacks: Sequence[Stack], asked: Setting, read: Reader) -> Answer:
    """Compare what two texts name, or one in two implementations.

    Parameters
    ----------
    named : A and B, or A alone. stacks : the two that read A alone; else none.
    asked : what was asked for; its length is for sides none of which states one. read : reads one side.

    Raises
    ------
    InputError : an option that has no meaning for what is named. FileError : a file that cannot be compared.

    >>> from pe_spectra.answers.differences import Setting
    >>> from pe_spectra.model_sources import read_side
    >>> answer_sides(["dft:d=8", "dft:d=8"], (), Setting(length=64), read_side).verdict.code
    'same'
    """
    from pe_spectra.cli.formula_sides import compare_formulas, find_formulas

    formulas = find_formulas(
        named,
        {
            "--stack": ",".join(one.name for one in stacks) or None,
            "--trained": asked.trained,
            "--allocated": asked.allocated,
        },
    )
    if formulas:
        return compare_formulas(named, formulas, asked.served, asked.check)
    sides = [read(text, name) for text, name in zip(named, ("A", "B"), strict=False)]
    if len(sides) == 2 and any(side.configuration is None and side.dump is None for side in sides):
        return _compare_tables(sides[0], sides[1], asked.check)
    stated = [one.configuration for one in sides if one.configuration is not None]
    if len(sides) == 2 and sum(one.scheme != "rotary" for one in stated) == 2:
        _refuse_untold(sides)
        return _compare_schemes(sides[0], sides[1], asked)
    setting, notes = _choose_setting(sides, stacks, asked)
    return _compare(sides, stacks, setting, notes)


def find_rotations(side: Side) -> Configuration:
    """Return what the file of a model states of its rotations.

    Raises
    ------
    FileError : an array, or a model without a rotary encoding.

    >>> from pe_spectra.model_sources import Side
    >>> find_rotations(Side(shown="a.npy"))
    Traceback (most recent call last):
    ...
    pe_spectra.errors.FileError: a.npy: holds an array; the configuration of a model is accepted here
    """
    configuration = _find_stated(side)
    if configuration.scheme != "rotary":
        beside = "diff compares rotations with rotations, and other schemes with each other"
        raise FileError(side.shown, f"has no rotary encoding, but {configuration.scheme}; {beside}")
    return configuration


def _refuse_untold(sides: Sequence[Side]) -> None:
    """Refuse the first side whose sinusoids are in an order that is not known: it cannot be called the same."""
    for side in sides:
        if side.configuration is not None and side.configuration.untold:
            raise FileError(side.shown, f"has sinusoids that cannot be compared: {side.configuration.untold}")


def _find_stated(side: Side) -> Configuration:
    if side.configuration is None:
        raise FileError(side.shown, "holds an array; the configuration of a model is accepted here")
    return side.configuration


# --------------------------------------------------------------------- rotations


def _compare(sides: Sequence[Side], stacks: Sequence[Stack], setting: Setting, notes: list[str]) -> Answer:
    """Compare the rotations of two sides, or of one side in two implementations."""
    from pe_spectra.answers.differences import answer_differences
    from pe_spectra.models.comparison.rotations import compare_rotations
    from pe_spectra.models.comparison.scheme_diff import add_beside, add_windows
    from pe_spectra.models.stacks.allocation import say_chosen, say_unused

    if stacks:
        a, b = (_turn(sides[0], setting, stack=stack) for stack in stacks)
    else:
        a, b = (_turn(side, setting, beside=beside) for side, beside in zip(sides, reversed(sides), strict=True))
    stated = any(side.configuration is not None for side in sides)
    needed = setting.length if stated and not stacks else setting.served
    found = compare_rotations(a.rotations, b.rotations, length=setting.length, windows=setting.windows, served=needed)
    stating = _list_stated(sides, stacks)
    if len(stating) == 2:
        found = (add_windows if stacks else add_beside)(found, *stating)
    tables = None if stacks else _compare_waves(sides[0], sides[1])
    if tables is not None:
        from pe_spectra.models.comparison.wave_tables import remark_rotations, shows_rotations

        if not shows_rotations(tables, found):
            return _answer_tables(sides[0], sides[1], tables, setting.check, remark_rotations(found))
    said = [f"{letter}: {note}" for letter, side in (("A", a), ("B", b)) for note in side.notes]
    said += [f"entry by entry: {'; '.join(tables.findings)}"] if tables is not None else []
    said += notes
    if setting.allocated is not None:
        choosing = list(_list_choosing(sides, stacks))
        said.append(say_chosen(choosing, setting.allocated) if choosing else say_unused("side"))
    gathered = tuple(dict.fromkeys(said))
    return answer_differences(a, b, found, setting, notes=gathered, equal=_state_equal(sides, tables))


def _state_equal(sides: Sequence[Side], tables: TableDiff | None) -> str:
    """Say how it is known that all numbers of two sides are equal; empty where it is not."""
    if tables is not None and tables.agree and tables.max_difference == 0:
        return tables.findings[0]
    return "A and B are one file" if len(sides) == 2 and sides[0].shown == sides[1].shown else ""


def _compare_waves(a: Side, b: Side) -> TableDiff | None:
    """Compare as tables two arrays that each hold cosines and sines side by side; None for others."""
    if a.dump is None or b.dump is None or a.table is None or b.table is None:
        return None
    from pe_spectra.models.comparison.wave_tables import compare_waves

    return compare_waves(a.table, b.table, a.dump, b.dump)


def _turn(side: Side, setting: Setting, *, beside: Side | None = None, stack: Stack | None = None) -> ComparedSide:
    """The rotations of one side: of a dump its own, of a model those of its library or of a stack.

    Of two caches, one after the other, it is the one for the length that is allocated; of a model of several parts the
    one that reads text, and those that the other side has too.
    """
    from pe_spectra.answers.differences import ComparedSide
    from pe_spectra.models.rotation import Rotation
    from pe_spectra.models.stacks import ANSWERING, turn_layer
    from pe_spectra.models.stated.keys import KEY_NOT_READ

    if side.dump is not None and stack is None:
        length = setting.allocated or setting.length
        dumps = [
            one.later if one.later and length > (one.rows or length) else one for one in side.kinds or (side.dump,)
        ]
        return ComparedSide(name=side.shown, rotations=tuple(dumps), notes=side.notes)
    configuration = find_rotations(side)
    read, by = (turn_layer, ANSWERING[configuration.format]()) if stack is None else (stack.read, stack)
    found: list[Rotation] = []
    for part, layer in _list_layers(configuration, beside):
        one = read(part, layer, by.choose_length(layer, setting.served, setting.allocated))
        if not isinstance(one, Rotation):
            who = "" if stack is None else f"{stack.name} refuses it: "
            raise FileError(side.shown, f"{who}{one.reason.removeprefix(f'{configuration.path}: ')}")
        if layer.turns:
            # the type of weights is not the type in which cosines and sines are held
            found.append(replace(one, name=part.name_layer(layer), dtype=None))
    if not found:
        raise FileError(side.shown, "turns no layer (no_rope_layers); diff compares rotations")
    said = (f"{one.name}: {note}" if len(found) > 1 else note for one in found for note in one.notes)
    unread = (finding.message for finding in configuration.findings if finding.code == KEY_NOT_READ.code)
    notes = tuple(dict.fromkeys((*side.notes, *unread, *said)))
    name = side.shown if stack is None else stack.title
    return ComparedSide(name=name, rotations=tuple(found), notes=notes)


def _list_layers(configuration: Configuration, beside: Side | None) -> Iterator[tuple[Configuration, LayerStatement]]:
    """Give the layers of the part that reads text, and of those that another side has under the same name."""
    for part in (configuration, *configuration.parts):
        if not part.part or (beside is not None and _has_part(beside, part.part)):
            yield from ((part, layer) for layer in part.layers)


def _has_part(side: Side, name: str) -> bool:
    stated = () if side.configuration is None else side.configuration.parts
    shown = (f"{kind.name}." for kind in side.kinds)
    return any(one.part == name and one.layers for one in stated) or any(kind.startswith(f"{name}.") for kind in shown)


# --------------------------------------------------------------------- other schemes


def _compare_schemes(a: Side, b: Side, asked: Setting) -> Answer:
    """Compare two configurations neither of which has a rotation."""
    from pe_spectra.answers.scheme_differences import answer_schemes

    lengths = {"--trained": asked.trained, "--served": asked.served, "--allocated": asked.allocated}
    for option, value in lengths.items():
        if value is not None:
            raise InputError(f"{option} has no meaning without a rotation", str(value), "leave it out")
    return answer_schemes(_find_stated(a), _find_stated(b), (a.shown, b.shown), check=asked.check)


# --------------------------------------------------------------------- tables


def _compare_tables(a: Side, b: Side, check: bool) -> Answer:
    from pe_spectra.models.comparison.table_diff import compare_tables

    if a.table is None or b.table is None:
        table = a if a.reason else b
        raise FileError(table.shown, f"shows no rotation to compare: {table.reason}")
    return _answer_tables(a, b, compare_tables(a.table, b.table, stored=(a.dtype, b.dtype)), check)


def _answer_tables(a: Side, b: Side, found: TableDiff, check: bool, *more: str) -> Answer:
    from pe_spectra.answers.agreements import answer_tables

    # what the rotation of a cache is called says nothing of it as a table
    said = [(letter, note, side.dump) for letter, side in (("A", a), ("B", b)) for note in side.notes]
    notes = [f"{letter}: {note}" for letter, note, dump in said if dump is None or note not in dump.notes]
    return answer_tables(a.shown, b.shown, found, notes=(*notes, *more), check=check)


# --------------------------------------------------------------------- lengths


def _choose_setting(sides: Sequence[Side], stacks: Sequence[Stack], asked: Setting) -> tuple[Setting, list[str]]:
    """The positions that are looked at: those that are asked for, that a file states, or that a cache has."""
    from pe_spectra.models.stacks.allocation import check_allocated
    from pe_spectra.models.stacks.conformance import find_length_served

    stated = [find_length_served(side.configuration) for side in sides if side.configuration is not None]
    dumps = [side.dump.later or side.dump for side in sides if side.dump is not None]
    rows = [dump.rows for dump in dumps if dump.rows is not None]
    known = [one for one in stated if one > 1] or rows
    length = asked.served or max(known, default=asked.trained or asked.length)
    notes = ["A and B are one file"] if len(sides) == 2 and sides[0].shown == sides[1].shown else []
    if not (asked.served or asked.trained or known):
        notes += [f"no side states a length, so {length:,} positions are looked at; --served sets another"]
    check_allocated(asked.allocated, length, asked.served)
    return replace(asked, length=length, windows=_find_windows(_list_stated(sides, stacks))), notes


def _list_choosing(sides: Sequence[Side], stacks: Sequence[Stack]) -> Iterator[str]:
    """Name what chooses by the length that is allocated: implementations, and an array with a cache for long ones."""
    from pe_spectra.models.stacks import ANSWERING

    for letter, side in zip("AB", sides, strict=False):
        if side.configuration is not None:
            read_by = stacks or (ANSWERING[side.configuration.format](),)
            layers = side.configuration.layers
            yield from (stack.title for stack in read_by if any(map(stack.goes_by_allocation, layers)))
        elif side.dump is not None and side.dump.later is not None:
            yield letter


def _list_stated(sides: Sequence[Side], stacks: Sequence[Stack]) -> list[Configuration]:
    """What each file states, or of one file what each implementation reads of its windows."""
    stated = [side.configuration for side in sides if side.configuration is not None]
    return [stack.show_windows(one) for one in stated for stack in stacks] if stacks else stated


def _find_windows(stated: Sequence[Configuration]) -> Mapping[str, int]:
    """Positions that layers see at once, of each layer type that attends within a window wherever a file states it."""
    found: dict[str, int] = {}
    layers = [
        {part.name_layer(layer): layer.window for part in (one, *one.parts) for layer in part.layers} for one in stated
    ]
    for name in {name for one in layers for name in one}:
        windows = [one.get(name, *one.values()) for one in layers if len(one) == 1]
        windows += [one[name] for one in layers if len(one) > 1 and name in one]
        known = [window for window in windows if window is not None]
        if known and len(known) == len(windows):
            found[name] = max(known)
    return found
