"""The program: one run from the arguments to the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pe_spectra.cli.terminal import escape, silence_stdout, write_answer, write_error, write_message
from pe_spectra.errors import PeSpectraError, shorten
from pe_spectra.limits import THREAD_VARIABLES

if TYPE_CHECKING:
    from pe_spectra.cli.run import Outcome

NAME = "pe-spectra"
#: Its own options, which print a text and no more.
TEXTS: Mapping[str, str] = {"version": "print the version", "cite": "print BibTeX"}
_INTERRUPTED = 130


def run(arguments: list[str]) -> int:
    """Run one command and deliver what it leaves; return the exit code."""
    # a sum that is split among threads ends in other digits, and an answer must not depend on how many
    # processors there are; nothing has loaded these libraries yet
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    is_completion = "_PE_SPECTRA_COMPLETE" in os.environ
    if len(arguments) == 1 and arguments[0][:2] == "--" and arguments[0][2:] in TEXTS and not is_completion:
        print_text(arguments[0][2:])  # before Typer, which alone takes longer to load than this takes in all
        return 0
    try:
        if is_completion:
            # Typer would load Rich at every Tab press to strip markup that our help does not have, and Rich would
            # wrap the descriptions; a module that stands as None counts as not installed
            vars(sys)["modules"]["rich"] = None
        from pe_spectra.cli.declared import build_command

        outcome = build_command().main(args=arguments, prog_name=NAME, standalone_mode=False)
        if outcome == _INTERRUPTED:
            raise KeyboardInterrupt  # Typer turns Ctrl-C into this code, without a word
        return int(outcome or 0) if outcome is None or isinstance(outcome, int) else _deliver(outcome)
    except (BrokenPipeError, SystemExit) as end:
        # Typer answers a reader of the help that has gone with exit code 1
        if isinstance(end, SystemExit) and not isinstance(end.__context__, BrokenPipeError):
            raise
        silence_stdout()
        return 0


def print_text(name: str) -> None:
    """Print the version or the citation, whichever was asked for."""
    if name == "cite":
        from pe_spectra.citation import BIBTEX

        write_answer(BIBTEX)
    else:
        from pe_spectra._version import __version__

        write_answer(f"{NAME} {__version__}\n")


def _deliver(outcome: Outcome) -> int:
    has_reader = True
    if outcome.files:
        from pe_spectra.files.writer import write_files

        def answer() -> None:
            nonlocal has_reader
            has_reader = not outcome.parts or write_answer(outcome.parts)

        # either the answer is printed and all files are there, or none of both
        write_files(outcome.files, create_parents=outcome.makes_folders, before_renaming=answer)
    elif outcome.parts:
        has_reader = write_answer(outcome.parts)
    if not has_reader:
        return 0
    for message in outcome.messages:
        write_message(escape(message))
    return outcome.exit_code


def fail(error: Exception) -> int:
    """Say in one line what went wrong; return the exit code."""
    if isinstance(error, OSError):
        silence_stdout()
    if os.environ.get("PE_SPECTRA_DEBUG"):
        import traceback

        lines = "".join(traceback.format_exception(error)).rstrip().split("\n")
        write_message("\n".join(map(escape, lines)))
    write_error(_describe(error))
    for note in getattr(error, "__notes__", ()):
        write_message(escape(note))
    return 2


def _describe(error: Exception) -> str:
    if isinstance(error, PeSpectraError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this; smaller --d, --grid or --length are accepted"
    if isinstance(error, OSError):
        return f"{shorten(str(error.filename or 'the system'))}: {(error.strerror or 'failed').lower()}"
    # what Typer itself refuses has a message of its own; anything else is a fault of ours
    say = getattr(error, "format_message", None)
    if callable(say):
        return " ".join(str(say()).split()) + "; see --help"
    return f"internal fault, {type(error).__name__}: {error}; please report it (PE_SPECTRA_DEBUG=1)"
