"""How the house is kept: one home for each equation, words for everything public, nothing too long."""

import ast
import importlib
import inspect
import re
from collections import defaultdict
from functools import cache

import pytest

import pe_spectra
from tests.in_one import in_one
from tests.pages.trees import MODULES, PACKAGE, list_nodes, parse, read_text

EQUATION_PAGE = PACKAGE.parent / "docs" / "equations.md"

EQUATIONS = [f"Eq. {n}" for n in (2, 3, *range(10, 23))] + ["Algorithm 1", "Definition 1"]
_ONE = r"(?:Eq\. \([0-9]+\)|Algorithm [0-9]+|Definition [0-9]+)"
_IMPLEMENTS = re.compile(rf"Implements ({_ONE}(?:(?:, | and |, and ){_ONE})*)")

#: Code lines of a function without its docstring, lines of a module without examples, statements of a command.
LONGEST_FUNCTION, LONGEST_MODULE, LONGEST_COMMAND = 40, 320, 20


def list_modules():
    return MODULES


@cache
def list_documented(path):
    """Every module, class and function of a file, with its docstring."""
    nodes = (node for node in list_nodes(path) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    return [(node, ast.get_docstring(node) or "") for node in nodes]


def read_equations(docstring):
    """What a docstring says that it implements, as `Eq. 15`.

    >>> sorted(read_equations("Implements Eq. (2) and Eq. (3): columns. See Eq. (4)."))
    ['Eq. 2', 'Eq. 3']
    """
    text = " ".join(docstring.split())
    return {
        re.sub(r"[()]", "", one) for found in _IMPLEMENTS.finditer(text) for one in re.findall(_ONE, found.group(1))
    }


@pytest.fixture(scope="module")
def homes():
    """Equation -> the modules that implement it."""
    found = defaultdict(set)
    for path in list_modules():
        for _, docstring in list_documented(path):
            for equation in read_equations(docstring):
                found[equation].add(path.relative_to(PACKAGE).as_posix())
    return found


def list_index_rows():
    text = EQUATION_PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- equations -->") == text.count("<!-- /equations -->") == 1
    table = text.partition("<!-- equations -->")[2].partition("<!-- /equations -->")[0]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [(row[0], row[1]) for row in rows if len(row) > 1 and row[0] in EQUATIONS]


# ----------------------------------------------------------------------------------- equations


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_equation_has_one_home(homes, equation):
    assert len(homes[equation]) == 1, sorted(homes[equation])


def test_algorithm_1_is_in_reconstruction(homes):
    assert homes["Algorithm 1"] == {"reconstruction.py"}


def test_nothing_else_claims_to_be_an_equation(homes):
    assert set(homes) == set(EQUATIONS)


def test_the_index_of_the_readme_has_every_equation_once():
    assert sorted(equation for equation, _ in list_index_rows()) == sorted(EQUATIONS)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_the_index_of_the_readme_is_true(equation):
    (name,) = [name for found, name in list_index_rows() if found == equation]
    module, _, member = name.rpartition(".")
    found = getattr(importlib.import_module(module), member)
    assert equation in read_equations(inspect.getdoc(found) or ""), name


# ----------------------------------------------------------------------------------- words


@in_one(
    # modules are there or not by what other tests have loaded
    "name",
    sorted(name for name in dir(pe_spectra) if name[0].isalpha() and not inspect.ismodule(getattr(pe_spectra, name))),
)
def test_everything_exported_has_its_docstring(name):
    member = getattr(pe_spectra, name)
    if inspect.isclass(member) or inspect.isfunction(member):
        assert len(member.__doc__ or "") > 20
        # what dataclasses write themselves is no docstring
        assert not (member.__doc__ or "").startswith(f"{member.__name__}(")
        assert "pe_spectra" in (member.__module__ or "")


def test_everything_exported_is_in_the_list_of_names():
    source = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"import \w+ as _?(\w+)", source)) - {"_version__", "names"}
    homes = vars(pe_spectra)["_HOMES"]
    assert imported | {"__version__"} == set(homes)
    assert {name for name in dir(pe_spectra) if not name.startswith("__")} == set(homes) - {"__version__"}
    with pytest.raises(AttributeError):
        _ = pe_spectra.nothing_of_that_name


def test_every_public_function_and_class_has_a_docstring():
    missing = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in list_modules()
        for node in parse(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_" and not ast.get_docstring(node)
    ]
    assert missing == []


def test_every_module_but_empty_ones_has_a_docstring():
    missing = [
        str(path.relative_to(PACKAGE))
        for path in list_modules()
        if parse(path).body and not ast.get_docstring(parse(path))
    ]
    assert [name for name in missing if name != "_version.py"] == []


@pytest.mark.parametrize(
    "word", ["TODO", "FIXME", "XXX", "NotImplementedError", "# noqa", "type: ignore", "import click"]
)
def test_words_that_do_not_stand_in_the_package(word):
    assert [str(path) for path in list_modules() if word in read_text(path)] == []


def test_no_check_is_an_assert_and_nothing_prints():
    for path in list_modules():
        for node in list_nodes(path):
            assert not isinstance(node, ast.Assert), path
            is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            assert not is_print, path


# ----------------------------------------------------------------------------------- lengths


def count_code_lines(path, function):
    """Lines of a function's body with code on them: no docstring, comments or blank lines."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    lines = read_text(path).splitlines()[body[0].lineno - 1 : function.end_lineno]
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


def list_functions():
    for path in list_modules():
        for node in list_nodes(path):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def test_no_function_is_too_long():
    lengths = {f"{path.name}:{node.name}": count_code_lines(path, node) for path, node in list_functions()}
    assert len(lengths) > 100
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def list_examples(docstring):
    """The lines of a docstring that are an example: what is typed, what it gives, and a blank line before it.

    >>> list_examples(chr(10).join(["Add.", "", ">>> 1 + 1", "2", "", "Words."]))
    ['', '>>> 1 + 1', '2']
    """
    found, inside = [], False
    lines = docstring.splitlines()
    for place, line in enumerate(lines):
        begins = line.lstrip().startswith(">>> ")
        if begins and not inside and place and not lines[place - 1].strip():
            found.append(lines[place - 1])
        inside = begins or (inside and bool(line.strip()))
        if inside:
            found.append(line)
    return found


def count_lines(path):
    """Lines of a module but those of examples, which show what it does and add nothing to follow."""
    count = len(read_text(path).splitlines())
    for _, docstring in list_documented(path):
        examples = list_examples(docstring)
        # a docstring of one line has its closing quotes on a line of their own for the sake of its example
        count -= len(examples) + (len(docstring.splitlines()) - len(examples) == 1)
    return count


def test_no_module_is_too_long():
    lengths = {str(path): count_lines(path) for path in list_modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_command_is_too_long():
    commands = [
        node
        for path, node in list_functions()
        if path.parent.name == "cli" and isinstance(node.returns, ast.Name) and node.returns.id == "Outcome"
    ]
    bodies = {node.name: node.body[1:] for node in commands if ast.get_docstring(node)}
    assert {"spectrum", "reconstruct", "faithfulness", "count_low_bin", "figures", "claims"} <= set(bodies)
    counts = {
        name: sum(isinstance(inner, ast.stmt) for statement in body for inner in ast.walk(statement))
        for name, body in bodies.items()
    }
    assert {name: count for name, count in counts.items() if count > LONGEST_COMMAND} == {}
