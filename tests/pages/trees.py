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
    return ast.parse(path.read_text(encoding="utf-8"))
