"""Variables that look like ours and set nothing."""

from __future__ import annotations

import os
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

import typer

from pe_spectra.cli.run import NO_FIGURE
from pe_spectra.errors import shorten

_PREFIX = "PE_SPECTRA_"
#: What the program reads that belongs to no option.
_OTHERS = ("PE_SPECTRA_DEBUG", NO_FIGURE)


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
