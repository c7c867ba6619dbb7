"""What the program prints of itself, which takes nothing of Typer."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.cli.terminal import write_answer

NAME = "pe-spectra"
#: Its own options, which print a text and no more.
TEXTS: Mapping[str, str] = {"version": "print the version", "cite": "print BibTeX"}


def print_text(name: str) -> None:
    """Print the version or the citation, whichever was asked for."""
    if name == "cite":
        from pe_spectra.citation import BIBTEX

        write_answer(BIBTEX)
    else:
        from pe_spectra._version import __version__

        write_answer(f"{NAME} {__version__}\n")
