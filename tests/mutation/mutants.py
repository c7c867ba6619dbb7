"""The planted faults as data: read from mutants.toml, checked, and drawn at random."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("mutants.toml")
#: Where a file of the package belongs, by the beginning of its path; whatever is not named is the core.
_ROOMS = {
    "loaders": ("pe_spectra/files/",),
    "parsers": (
        "pe_spectra/numbers.py",
        "pe_spectra/spec.py",
        "pe_spectra/domains.py",
        "pe_spectra/cli/",
        "pe_spectra/models/stated/",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault.

    Attributes
    ----------
    id : a short name.
    file : the file that it is planted in, from the root of the repository.
    kind : what sort of mistake it is, as in "sign" or "off by one".
    old, new : the text that stands there once, and what it becomes.
    why : what would be wrong for a user.
    tests : what must fail: files or single tests, as pytest names them.
    """

    id: str
    file: str
    kind: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        """The part of the package: core, loaders or parsers."""
        return next((room for room, starts in _ROOMS.items() if self.file.startswith(starts)), "core")

    def plant(self, source: str) -> str:
        """Return the text of the file with the fault in it.

        Raises
        ------
        ValueError : the old text does not stand there exactly once, the new one is the same, or does not compile.
        """
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.id}: its old text stands {found} times in {self.file}, not once")
        changed = source.replace(self.old, self.new)
        if changed == source:
            raise ValueError(f"{self.id}: it changes nothing")
        try:
            compile(changed, self.file, "exec")
        except SyntaxError as error:
            raise ValueError(f"{self.id}: it does not compile: {error}") from error
        return changed


def read_mutants(path: Path = LIST) -> tuple[Mutant, ...]:
    """Read the list."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return tuple(Mutant(**{**table, "tests": tuple(table["tests"])}) for table in tables)


def draw_mutants(mutants: Sequence[Mutant], count: int, seed: str) -> tuple[Mutant, ...]:
    """Draw some at random, the same ones for the same seed, in the order of the list."""
    drawn = random.Random(seed).sample(range(len(mutants)), min(count, len(mutants)))
    return tuple(mutants[place] for place in sorted(drawn))
