"""Every public function shows what it gives: an example in its docstring, which the tests run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

from pe_spectra.encodings import Encoding
from pe_spectra.figures import RECIPES
from pe_spectra.names import ENCODING_CLASSES
from tests.in_one import in_one
from tests.pages.trees import MODULES, PACKAGE, parse


def name_module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def list_public(path: Path) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes of a file whose names have no underscore in front."""
    nodes = parse(path).body
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]


def is_exported(name: str, module: ModuleType) -> bool:
    """Whether a package above the module, or the module itself, lists the name in `__all__`."""
    steps = module.__name__.split(".")
    above = [importlib.import_module(".".join(steps[:count])) for count in range(1, len(steps) + 1)]
    member = vars(module)[name]
    return any(name in getattr(one, "__all__", ()) and getattr(one, name) is member for one in above)


def is_named(cls: type[Encoding]) -> bool:
    """Whether a class stands in the catalogue."""
    return cls.__name__ in {name for _, name in ENCODING_CLASSES.values()}


@cache
def needs_extra(name: str) -> bool:
    """Whether a module trains networks, itself or by what it imports from its room: the plain tests have no JAX."""
    module = importlib.import_module(name)
    if not name.startswith("pe_spectra.experiment."):
        return False
    used = {getattr(member, "__module__", None) or "" for member in vars(module).values()} - {name}
    return "import jax" in inspect.getsource(module) or any(needs_extra(one) for one in used if "." in one)


def explain_absence(name: str, module: ModuleType) -> str:
    """Why a member needs no example; empty where it needs one. Rules, not names."""
    member = vars(module)[name]
    room = module.__name__.split(".")[1] if "." in module.__name__ else ""
    if room == "cli":
        return "the examples of the command line are the commands of README.md and docs/, which tests run"
    if inspect.isclass(member) and not is_exported(name, module):
        return "a class that no package exports is shown by the function that returns it"
    if inspect.isclass(member) and issubclass(member, Encoding) and is_named(member):
        return "the numbers of an encoding are its reference values, which a test asks for by its name"
    if member in {function for recipe in RECIPES for function in (recipe.compute, recipe.draw)}:
        return "the numbers of a recipe are the .csv that figures --check compares, and it takes seconds"
    if room == "pytest_plugin":
        return "its examples are test runs of their own, in tests/checking"
    if needs_extra(module.__name__):
        return "it needs JAX, which the plain tests do not have; tests/experiment shows it"
    if room == "plots" and not name.startswith("plot_") and not is_exported(name, module):
        return "a part of a drawing, which the example of what is drawn with it and the figures show"
    return ""


@in_one("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_public_function_has_an_example(path: Path) -> None:
    module = importlib.import_module(name_module(path)) if path.name != "__main__.py" else None
    without = [
        node.name
        for node in list_public(path)
        if module is not None
        and not doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
        and not explain_absence(node.name, module)
    ]
    assert without == [], "give each a doctest: two to five lines with a number that a reader can check"


def test_no_example_is_left_out() -> None:
    """An example that is not run may be wrong: none is skipped, and none passes whatever comes out."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert "doctest: +SKIP" not in text, path
        assert "doctest: +ELLIPSIS" not in text, path


def test_most_functions_have_examples() -> None:
    """The rules that excuse do not excuse the rooms in which numbers are made."""
    rooms = ("exact", "fourier", "encodings", "spectrum", "reconstruction", "faithfulness", "precision", "metrics")
    for path in MODULES:
        module = name_module(path)
        if module.split(".")[1:2] and module.split(".")[1] in rooms:
            imported = importlib.import_module(module)
            excused = [node for node in list_public(path) if explain_absence(node.name, imported)]
            assert all(isinstance(node, ast.ClassDef) for node in excused), path
