"""Defaults from elsewhere. Settings files: flat keys for any command that has the option, [command] tables for one."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import typer

from pe_spectra.cli.run import NO_FIGURE
from pe_spectra.errors import FileError, PeSpectraError, shorten
from pe_spectra.numbers import find_nearest, suggest

_PREFIX = "PE_SPECTRA_"
#: What the program reads that belongs to no option.
_OTHERS = ("PE_SPECTRA_DEBUG", NO_FIGURE)
#: Options whose values are numbers; all others take text or are flags.
_NUMBERS = {"d", "rho", "s", "grid", "bandwidth", "length", "limit"}
#: Those that list numbers, and also take them as one text: s = "0:80:5".
_LISTS = {"s", "bandwidth"}


def load_settings(ctx: typer.Context, _: object, path: str | None) -> str | None:
    """Read a settings file into the defaults of this command (an eager callback of --settings).

    Raises
    ------
    FileError : the file cannot be read, has an unknown key, or a value of the wrong type.
    """
    if path is None or ctx.resilient_parsing:
        return path
    from pe_spectra.files.json_toml import read_toml

    tables = read_toml(Path(path), label="--settings")
    program: Any = ctx.find_root().command
    options = {name: _list_options(command) for name, command in program.every().items()}
    every = set().union(*options.values())
    of_all: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in _join_names(tables, program.families.keys() - options.keys()):
        # check is an option, and a command: what is no table is the option's
        if key not in options or (key in every and not isinstance(value, dict)):
            of_all[key] = _check(path, key, value, every, key, every | set(options))
            continue
        if not isinstance(value, dict):
            raise FileError(path, f"key {key} has the wrong type ({shorten(repr(value))}); a table is accepted")
        checked = {inner: _check(path, inner, one, options[key], f"{key}.{inner}") for inner, one in value.items()}
        own |= checked if key == ctx.command.name else {}
    mine = {key: value for key, value in of_all.items() if key in options[ctx.command.name or ""]}
    ctx.default_map = dict(_fit(path, key, value, ctx) for key, value in (mine | own).items())
    return path


def _join_names(tables: Mapping[str, Any], families: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Go through the keys and values of a file, those of [experiment.run] as of a table of that command."""
    for key, value in tables.items():
        if key in families and isinstance(value, dict):
            yield from ((f"{key} {name}", inner) for name, inner in value.items())
        else:
            yield key, value


def _list_options(command: Any) -> set[str]:
    named = [max(p.opts, key=len) for p in command.params if p.param_type_name == "option"]
    return {name.lstrip("-") for name in named} - {"settings"}


def _fit(path: str, key: str, value: Any, ctx: typer.Context) -> tuple[str, Any]:
    """Give the parameter behind a key, and the value as Typer expects it: a list, one text, or a flag."""
    option: Any = next(p for p in ctx.command.params if f"--{key}" in p.opts)
    is_flag = bool(getattr(option, "is_flag", False))
    if is_flag != isinstance(value, bool) or value == [] or (isinstance(value, list) and not option.multiple):
        accepted = "true or false is accepted" if is_flag else "a value is accepted"
        raise FileError(path, f"key {key} has the wrong type ({shorten(repr(value))}); {accepted}")
    return str(option.name), [value] if option.multiple and not isinstance(value, list) else value


def _check(path: str, key: str, value: Any, known: set[str], shown: str, suggested: set[str] | None = None) -> Any:
    """Give a value with its members as texts or flags."""
    if key not in known:
        hint = suggest(key, sorted(suggested or known)).rstrip() or f"accepted: {', '.join(sorted(known))}"
        raise FileError(path, f"key {shorten(shown)} is not known; {hint}")
    given = value if isinstance(value, list) else [value]
    # a moment may stand without quotes, as TOML has it: start = 2016-07-01T00:00:00
    values = [item.isoformat() if isinstance(item, date) else item for item in given]
    for item in values:
        is_number = isinstance(item, int | float) and not isinstance(item, bool)
        fits = is_number or key not in _NUMBERS or (key in _LISTS and isinstance(item, str))
        if not fits or not isinstance(item, str | int | float | bool):
            accepted = "a number" if key in _NUMBERS else "a text, a number, true or false"
            raise FileError(path, f"key {shown} has the wrong type ({shorten(repr(item))}); {accepted} is accepted")
    texts = [item if isinstance(item, bool) else str(item) for item in values]
    return texts if isinstance(value, list) else texts[0]


def note_unknown_variables(ctx: typer.Context) -> tuple[str, ...]:
    """Return a note on each variable of this command, or of no command, that belongs to no option.

    No error, for shells share their variables; those of the other commands are left to them. Each is told the nearest
    name that there is: of all commands, and where no command is named (PE_SPECTRA_RHO) of this one.
    """
    names = sorted(name for name, value in os.environ.items() if name.upper().startswith(_PREFIX) and value)
    if set(names) <= {*_OTHERS, *(p.envvar for p in ctx.command.params)}:
        return ()  # the other commands need not be made
    program: Any = ctx.find_root().command
    known = {*_OTHERS, *(str(p.envvar) for command in program.every().values() for p in command.params if p.envvar)}
    prefixes = {name: re.sub("[- ]", "_", f"{_PREFIX}{name}_").upper() for name in program.every()}
    mine = prefixes.pop(str(ctx.command.name))
    own = {name.removeprefix(mine): name for name in sorted(known) if name.startswith(mine)}
    every = own | {name.removeprefix(_PREFIX): name for name in sorted(known)}
    notes = []
    for name in names:
        meant = name.upper()
        if name not in known and not meant.startswith(tuple(prefixes.values())):
            prefix, among = (mine, own) if meant.startswith(mine) else (_PREFIX, every)
            near = find_nearest(meant.removeprefix(prefix), list(among))
            hint = f"did you mean {among[near]}?" if near else f"accepted: {mine}OPTION, the options are in --help"
            notes.append(f"note: {shorten(name)} is not known and sets nothing; {hint}")
    return tuple(notes)


def add_notes(error: PeSpectraError, notes: Iterable[str]) -> PeSpectraError:
    """Say on an error, too, which variables set nothing: what is missing may stand in one of them."""
    for note in notes:
        error.add_note(note)
    return error
