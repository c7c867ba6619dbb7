"""Every declared number is asked for by a test: a new key or column without one is a failure here."""

import ast
import importlib
import pkgutil
from functools import cache

import pe_spectra
from pe_spectra.quantities import Result
from tests.in_one import in_one
from tests.places import ROOT


@cache
def list_words():
    """The attributes, strings and keywords of all modules of tests."""
    words = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words |= {node.attr} if isinstance(node, ast.Attribute) else set()
            words |= {node.arg} if isinstance(node, ast.keyword) else set()
            words |= {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
    return words


def list_kinds(kind=Result):
    for one in kind.__subclasses__():
        if one.__module__.startswith("pe_spectra."):
            yield one
        yield from list_kinds(one)


def load_package():
    for module in pkgutil.walk_packages(pe_spectra.__path__, "pe_spectra."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


load_package()


@in_one("kind", sorted(set(list_kinds()), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_every_number_is_asked_for(kind):
    missing = [
        name
        for name, declared in kind.quantities().items()
        if not declared.inline and not {name, declared.key or name, declared.column or name} & list_words()
    ]
    assert missing == []
