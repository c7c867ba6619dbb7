"""The planted faults as data: read from mutants.toml, found in the source as it stands, and drawn at random.

A fault is known by the text that it changes, not by a file: the text stands exactly once in the whole package, or
once in the functions, classes and constants of one name (`within`). So code may move from file to file, and its
faults move with it. Whoever rewrites such a text sees at once which faults to carry over:
`python -m tests.mutation --locate` names those that are not found exactly once, with the tests that must kill them.
"""

from __future__ import annotations

import ast
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("mutants.toml")
#: Where a file of the package belongs, by the beginning of its path in it; whatever is not named is the core.
_ROOMS = {"loaders": ("files/",), "parsers": ("numbers.py", "spec.py", "domains.py", "cli/", "models/stated/")}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault.

    Attributes
    ----------
    id : a short name.
    kind : what sort of mistake it is, as in "sign" or "off by one".
    old, new : the text that stands once in the package, and what it becomes.
    why : what would be wrong for a user.
    tests : what must fail: files or single tests, as pytest names them.
    within : the function, class or constant that the text stands in, where it is not alone in the package; a method
        behind its class, as in "Rope.kernel".
    near : the file in which it was written, a hint for whoever looks for it.
    """

    id: str
    kind: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    within: str = ""
    near: str = ""

    def find(self, sources: Mapping[str, str]) -> list[Place]:
        """Return the places of the old text in the sources of a package, by their paths in it."""
        files = [file for file, text in sources.items() if self.old in text]
        places = [Place(file=file, start=start) for file in files for start in _find_all(sources[file], self.old)]
        if not self.within:
            return places
        return [place for place in places if self._is_within(sources[place.file], place.start)]

    def _is_within(self, source: str, start: int) -> bool:
        first = source.count("\n", 0, start) + 1
        last = source.count("\n", 0, start + len(self.old.rstrip())) + 1
        spans = _list_definitions(source).get(self.within, ())
        return any(begin <= first and last <= end for begin, end in spans)

    def locate(self, sources: Mapping[str, str]) -> Place:
        """Return the one place of the old text.

        Raises
        ------
        ValueError : it does not stand exactly once.
        """
        places = self.find(sources)
        if len(places) != 1:
            where = f" ({', '.join(sorted({place.file for place in places}))})" if places else ""
            within = f" within {self.within}" if self.within else " in the package"
            raise ValueError(f"{self.id}: its old text stands {len(places)} times{within}, not once{where}")
        return places[0]

    def plant(self, source: str, start: int) -> str:
        """Return the text of a file with the fault in it, where the old text begins at `start`.

        Raises
        ------
        ValueError : the new text is the same, or does not compile.
        """
        changed = source[:start] + self.new + source[start + len(self.old) :]
        if changed == source:
            raise ValueError(f"{self.id}: it changes nothing")
        try:
            compile(changed, self.id, "exec")
        except SyntaxError as error:
            raise ValueError(f"{self.id}: it does not compile: {error}") from error
        return changed


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a fault stands: the file, by its path in the package, and the character at which its text begins."""

    file: str
    start: int

    @property
    def room(self) -> str:
        """The part of the package: core, loaders or parsers."""
        return next((room for room, starts in _ROOMS.items() if self.file.startswith(starts)), "core")


def _find_all(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


@cache
def _list_definitions(source: str) -> dict[str, list[tuple[int, int]]]:
    """Return the first and last line of everything that is defined in a module, by its name with that of its class."""
    found: dict[str, list[tuple[int, int]]] = {}

    def walk(node: ast.AST, before: str) -> None:
        for child in ast.iter_child_nodes(node):
            names = []
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                names = [child.name]
            elif isinstance(child, ast.Assign | ast.AnnAssign) and isinstance(node, ast.Module | ast.ClassDef):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in names:
                first = min([child.lineno, *(one.lineno for one in getattr(child, "decorator_list", ()))])
                found.setdefault(before + name, []).append((first, child.end_lineno or child.lineno))
            walk(child, f"{before}{child.name}." if isinstance(child, ast.FunctionDef | ast.ClassDef) else before)

    walk(ast.parse(source), "")
    return found


def read_sources(package: Path) -> dict[str, str]:
    """Read every module of a package, by its path in it."""
    paths = sorted(package.rglob("*.py"))
    return {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def read_mutants(path: Path = LIST) -> tuple[Mutant, ...]:
    """Read the list."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return tuple(Mutant(**{**table, "tests": tuple(table["tests"])}) for table in tables)


def draw_mutants(mutants: Sequence[Mutant], count: int, seed: str) -> tuple[Mutant, ...]:
    """Draw some at random, the same ones for the same seed, in the order of the list."""
    drawn = random.Random(seed).sample(range(len(mutants)), min(count, len(mutants)))
    return tuple(mutants[place] for place in sorted(drawn))
