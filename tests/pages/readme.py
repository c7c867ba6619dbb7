"""What README.md and the tour of commands show of a terminal, and the errata: run this file to bring them up to date.

.venv/bin/python tests/pages/readme.py
"""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pytest

from pe_spectra.claims import GradedClaim, grade_claims
from pe_spectra.claims.judging import MEANINGS, RULE
from pe_spectra.cli import main
from pe_spectra.vocabulary import WEIGHTS

ROOT = Path(__file__).parents[2]
README, TOUR, ERRATA_PAGE = ROOT / "README.md", ROOT / "docs" / "commands.md", ROOT / "docs" / "errata.md"
CONSOLE = re.compile(r"```console\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
ERRATA = re.compile(r"<!-- errata -->\n(?P<errata>.*?)<!-- /errata -->", re.DOTALL)
COLUMNS = 80
#: Headings of the errata, by what their statements have in common.
TITLES = {"substantive": "Of substance", "strengthens": "In the paper's favour", "nit-pick": "Nit-picks"}


#: Without colours or figures.
VARIABLES = {
    "NO_COLOR": "1",
    "COLUMNS": str(COLUMNS),
    "LINES": "24",
    "TERM": "xterm",
    "PYTHONUTF8": "1",
    "PE_SPECTRA_NO_FIGURE": "1",
}


@contextmanager
def open_terminal() -> Iterator[tuple[int, list[bytes]]]:
    """A terminal of 80 columns: where to write, to be closed by who has written, and afterwards what it shows."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    shown: list[bytes] = []

    def read() -> None:
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # nobody writes any more
                return
            if not chunk:
                return
            shown.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield follower, shown
    finally:
        reader.join()
        os.close(leader)


def run_on_terminal(command: str, folder: Path = ROOT) -> str:
    """Run a command in a folder on a terminal, in a process of its own; return what stdout shows."""
    with open_terminal() as (follower, shown):
        code = subprocess.call(
            [sys.executable, "-m", "pe_spectra", *command.split()[1:]],
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | VARIABLES,
        )
        os.close(follower)
    return _read_shown(command, code, shown)


def run_within(command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same within this process, which has loaded already what the command needs."""
    with open_terminal() as (follower, shown), monkeypatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        patch.chdir(ROOT)
        patch.setattr(sys, "argv", command.split())
        with open(follower, "w", encoding="utf-8", buffering=1) as stdout:
            patch.setattr(sys, "stdout", stdout)
            code = main()
    return _read_shown(command, code, shown)


def _read_shown(command: str, code: int, shown: list[bytes]) -> str:
    if code != 0:
        raise RuntimeError(f"{command} ended with {code}")
    return b"".join(shown).decode().replace("\r\n", "\n")


def write_errata(claims: tuple[GradedClaim, ...]) -> str:
    """List what the paper gets wrong, or only partly right, by its weight, under the rule of the judgement."""
    paper = [claim for claim in claims if "2405.09061" in claim.source]
    lines = ["How every statement is judged, of the paper and of the articles alike:\n\n", *(f"* {r}\n" for r in RULE)]
    for weight in WEIGHTS:
        lines.append(f"\n## {TITLES[weight]}\n\n{MEANINGS[weight].capitalize()}.\n\n")
        for verdict in ("wrong", "partly"):
            for claim in paper:
                if (claim.verdict, claim.weight) == (verdict, weight):
                    where = f"**{claim.section}**, {verdict}"
                    lines.append(f"* {where}: {claim.statement} {claim.why} ({claim.computed}.)\n")
    return "".join(lines)


def update(text: str) -> str:
    """Return a page with its outputs and errata made anew; a block that ends in `...` keeps its length."""

    def show(match: re.Match[str]) -> str:
        output = run_on_terminal(match["command"])
        if match["output"].endswith("...\n"):
            kept = max(1, match["output"].count("\n") - 1)
            output = "".join(line + "\n" for line in output.split("\n")[:kept]) + "...\n"
        return f"```console\n$ {match['command']}\n{output}```"

    text = CONSOLE.sub(show, text)
    errata = write_errata(grade_claims())
    return ERRATA.sub(lambda _: f"<!-- errata -->\n{errata}<!-- /errata -->", text)


if __name__ == "__main__":
    for page in (README, TOUR, ERRATA_PAGE):
        page.write_text(update(page.read_text(encoding="utf-8")), encoding="utf-8")
