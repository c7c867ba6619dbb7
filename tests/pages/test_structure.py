"""The house: one name for one thing, no circles, and no heavier than it was made."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.pages.trees import MODULES, PACKAGE, list_nodes, parse

#: What every package may have.
_OF_EVERY_ROOM = {"__init__", "__main__"}


def name_module(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_module(path) for path in MODULES}


def list_imports(path: Path) -> set[str]:
    """The modules of the package that a module imports when it is loaded, but for annotations only."""
    found = set()
    for node in parse(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found & NAMES - {name_module(path)}


def find_circles() -> list[list[str]]:
    """The groups of modules that import each other, by Tarjan's algorithm."""
    graph = {name_module(path): sorted(list_imports(path)) for path in MODULES}
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                circles.append(sorted(group))

    for name in graph:
        if name not in number:
            visit(name)
    return circles


def test_no_file_name_stands_in_two_rooms() -> None:
    places = defaultdict(list)
    for path in MODULES:
        if path.stem not in _OF_EVERY_ROOM:
            places[path.stem].append(path.relative_to(PACKAGE).as_posix())
    assert {stem: found for stem, found in places.items() if len(found) > 1} == {}


def test_no_class_name_stands_twice() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in list_nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_modules_import_each_other() -> None:
    assert find_circles() == []
