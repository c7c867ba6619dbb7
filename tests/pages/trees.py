"""The modules of the package, and what they say, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pe_spectra

PACKAGE = Path(pe_spectra.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def parse(path: Path) -> ast.Module:
    """The tree of a module; nobody may change it."""
    return ast.parse(read_text(path))


@cache
def read_text(path: Path) -> str:
    """The text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the tree of a module, as `ast.walk` comes to them; nobody may change one."""
    return tuple(ast.walk(parse(path)))
