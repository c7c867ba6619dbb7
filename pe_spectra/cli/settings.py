"""Defaults from elsewhere. Settings files: flat keys for any command that has the option, [command] tables for one."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from pe_spectra.cli.run import NO_FIGURE
from pe_spectra.errors import FileError, shorten

_PREFIX = "PE_SPECTRA_"
#: What the program reads that belongs to no option.
_OTHERS = ("PE_SPECTRA_DEBUG", NO_FIGURE)
#: Options whose values are numbers; all others take text or are flags.
_NUMBERS = {"d", "rho", "s", "grid", "bandwidth", "length", "limit"}


def load_settings(ctx: typer.Context, path: str | None) -> str | None:
    """Read a settings file into the defaults of this command (an eager callback of --settings).

    Raises
    ------
    FileError : the file cannot be read, has an unknown key, or a value of the wrong type.
    """
    if path is None or ctx.resilient_parsing:
        return path
    from pe_spectra.files.toml import read_toml

    tables = read_toml(Path(path), label="--settings")
    program: Any = ctx.find_root().command
    commands = {name: _options(ctx, program.get_command(ctx, name)) for name in program.list_commands(ctx)}
    every = {option for options in commands.values() for option in options}
    mine = commands[ctx.info_name or ""]
    defaults: dict[str, Any] = {}
    for key, value in tables.items():
        if key in commands:
            if not isinstance(value, dict):
                raise FileError(path, f"key {key} has the wrong type ({shorten(repr(value))}); a table is accepted")
            for inner, inner_value in value.items():
                checked = _check(path, inner, inner_value, commands[key], f"{key}.{inner}")
                if key == ctx.info_name:
                    defaults[inner] = checked
        else:
            checked = _check(path, key, value, every, key, every | set(commands))
            if key in mine:
                defaults.setdefault(key, checked)
    ctx.default_map = dict(_fit(path, name, value, ctx) for name, value in defaults.items())
    return path


def _options(ctx: typer.Context, command: Any) -> set[str]:
    named = [p for p in command.get_params(ctx) if p.param_type_name == "option"]
    names = {max(p.opts, key=len).lstrip("-") for p in named}
    return names - {"help", "settings"}


def _fit(path: str, key: str, value: Any, ctx: typer.Context) -> tuple[str, Any]:
    """Give the parameter behind a key, and the value as Typer expects it: a list, one text, or a flag."""
    option: Any = next(p for p in ctx.command.params if f"--{key}" in p.opts)
    is_flag = bool(getattr(option, "is_flag", False))
    if is_flag != isinstance(value, bool) or value == [] or (isinstance(value, list) and not option.multiple):
        accepted = "true or false is accepted" if is_flag else "a value is accepted"
        raise FileError(path, f"key {key} has the wrong type ({shorten(repr(value))}); {accepted}")
    return str(option.name), [value] if option.multiple and not isinstance(value, list) else value


def _check(path: str, key: str, value: Any, known: set[str], shown: str, suggested: set[str] | None = None) -> Any:
    if key not in known:
        nearest = get_close_matches(key, sorted(suggested or known), n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else f"; accepted: {', '.join(sorted(known))}"
        raise FileError(path, f"key {shorten(shown)} is not known{hint}")
    # a moment may stand without quotes, as TOML has it: start = 2016-07-01T00:00:00
    values = [item.isoformat() if isinstance(item, date) else item for item in _as_list(value)]
    for item in values:
        is_number = isinstance(item, int | float) and not isinstance(item, bool)
        if not isinstance(item, str | int | float | bool) or (
            key in _NUMBERS and not is_number and not _is_list(key, item)
        ):
            accepted = "a number" if key in _NUMBERS else "a text, a number, true or false"
            raise FileError(path, f"key {shown} has the wrong type ({shorten(repr(item))}); {accepted} is accepted")
    texts = [item if isinstance(item, bool) else str(item) for item in values]
    return texts if isinstance(value, list) else texts[0]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_list(key: str, item: object) -> bool:
    # the options that list values also take them as one text: s = "0:80:5"
    return key in {"s", "bandwidth"} and isinstance(item, str)


# ----------------------------------------------------------------------------------- variables


def note_unknown_variables(ctx: typer.Context) -> tuple[str, ...]:
    """Return a note on each variable of this command, or of no command, that belongs to no option.

    No error, for shells share their variables; those of the other commands are left to them.
    """
    program: Any = ctx.find_root().command
    known = {*_OTHERS, *(str(p.envvar) for command in program.commands.values() for p in command.params if p.envvar)}
    prefixes = {name: f"{_PREFIX}{name}_".replace("-", "_").upper() for name in program.commands}
    mine = prefixes.pop(ctx.info_name or "", "")
    foreign = tuple(prefixes.values())
    notes = []
    for name in sorted(os.environ):
        if name.startswith(_PREFIX) and name not in known and not name.startswith(foreign) and os.environ[name]:
            nearest = _find_nearest(name, mine if mine and name.startswith(mine) else _PREFIX, known)
            hint = f"; did you mean {nearest}?" if nearest else ""
            notes.append(f"note: {shorten(name)} is not known and sets nothing{hint}")
    return tuple(notes)


def _find_nearest(name: str, prefix: str, known: Collection[str]) -> str:
    """Return the known variable nearest to a name behind the prefix that both have; empty for none.

    >>> _find_nearest("PE_SPECTRA_SPECTRM_D", "PE_SPECTRA_", ["PE_SPECTRA_SPECTRUM_D", "PE_SPECTRA_DEBUG"])
    'PE_SPECTRA_SPECTRUM_D'
    """
    rests = sorted(other.removeprefix(prefix) for other in known if other.startswith(prefix))
    nearest = get_close_matches(name.removeprefix(prefix), rests, n=1)
    return prefix + nearest[0] if nearest else ""
