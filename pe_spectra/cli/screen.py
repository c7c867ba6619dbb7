"""What an answer is written for: a terminal of some width, or a pipe."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass

from pe_spectra.cli.streams import is_terminal, is_unicode

_WIDEST = 110
_NARROWEST = 20


@dataclass(frozen=True, kw_only=True)
class Screen:
    """Whether a person watches, how many columns there are, and what may be shown."""

    terminal: bool
    width: int
    colour: bool
    unicode: bool
    full: bool


def look_at_screen(colour: str, *, full: bool, to_file: bool) -> Screen:
    """Describe where the answer goes.

    Parameters
    ----------
    colour : auto, always or never.
    full : whether all rows were asked for.
    to_file : the answer goes to a file instead of standard output.
    """
    terminal = is_terminal(sys.stdout) and not to_file
    return Screen(
        terminal=terminal,
        width=_measure_width(),
        colour=colour == "always" or (colour == "auto" and terminal and not os.environ.get("NO_COLOR")),
        unicode=to_file or is_unicode(sys.stdout),
        full=full,
    )


def _measure_width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((100, 24)).columns))
