"""Named tuples are what those of the module typing are, but for the time that it takes to make a class."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import sys
import typing
from pathlib import Path

import pytest

import pe_spectra
from pe_spectra import tuples


class Place(tuples.NamedTuple):
    """A place."""

    row: int
    column: int | None = 3

    @property
    def far(self):
        return self.row > 5


class Other(typing.NamedTuple):
    """A place."""

    row: int
    column: int | None = 3

    @property
    def far(self):
        return self.row > 5


@pytest.mark.parametrize("cls", [Place, Other])
def test_named_tuples_behave_alike(cls):
    one = cls(7)
    assert (one.row, one.column, one.far) == (7, 3, True)
    assert one == (7, 3) == cls(column=3, row=7)
    assert one._replace(column=None)._asdict() == {"row": 7, "column": None}
    assert (cls._fields, cls._field_defaults, cls.__match_args__) == (("row", "column"), {"column": 3}, cls._fields)
    assert repr(one) == f"{cls.__name__}(row=7, column=3)"
    assert (cls.__doc__, cls.__module__, cls.__qualname__) == ("A place.", __name__, cls.__name__)
    assert [*inspect.signature(cls).parameters] == ["row", "column"]
    assert typing.get_type_hints(cls) == {"row": int, "column": int | None}
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert not hasattr(one, "__dict__")
    for given in ((), (1, 2, 3)):
        with pytest.raises(TypeError):
            cls(*given)
    with pytest.raises(AttributeError):
        one.row = 2


def declare(annotations, members):
    """Make a class as the statement `class` does."""
    body = {"__annotations__": annotations, "__module__": __name__, "__qualname__": "A", **members}
    return type(tuples.NamedTuple)("A", (tuples.NamedTuple,), body)


def test_what_no_named_tuple_can_be_is_refused():
    with pytest.raises(TypeError, match="A: a field without a default"):
        declare({"a": "int", "b": "int"}, {"a": 1})
    with pytest.raises(TypeError, match="A: _replace "):
        declare({"a": "int"}, {"_replace": 1})


def test_no_annotation_is_compiled(monkeypatch):
    """What typing makes of each, and nobody asks for, is most of the time that a class of its kind takes."""
    made = []
    monkeypatch.setattr(typing, "ForwardRef", lambda *given, **_: made.append(given))
    declare({"a": "int"}, {})
    assert made == []


def test_all_of_ours_are_of_this_kind():
    root = Path(pe_spectra.__file__).parent
    for path in root.rglob("*.py"):
        taken = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module == "typing"
        ]
        names = {one.name for node in taken for one in node.names}
        assert "NamedTuple" not in names or path == Path(sys.modules[tuples.__name__].__file__), path
