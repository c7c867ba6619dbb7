"""Records are what the dataclasses of the standard library are, but for the time that it takes to make a class."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import statistics
import sys
import time
import typing
from typing import ClassVar

import numpy as np
import pytest

from pe_spectra import records
from pe_spectra.spectrum.gaussian_pairs import Sources


def declare(decorator, **more):
    """Make the same two classes with either decorator, one built on the other."""

    @decorator(frozen=True, kw_only=True, **more)
    class Edge:
        """An edge."""

        kind: ClassVar[str] = "edge"
        value: float
        unit: str = "rad"
        marks: list[int] = dataclasses.field(default_factory=list, compare=False)
        secret: int = dataclasses.field(default=3, repr=False, metadata={"a": 1})
        double: float = dataclasses.field(init=False)

        def __post_init__(self):
            object.__setattr__(self, "double", 2 * self.value)

    @decorator(frozen=True, kw_only=True, **more)
    class Wide(Edge):
        """A wide edge."""

        unit: str = "bins"
        width: int

    return Edge, Wide


BOTH = [declare(records.dataclass), declare(dataclasses.dataclass)]


def describe(name, cls):
    """What a field is, but for its place in memory."""
    found = cls.__dataclass_fields__[name]
    return [getattr(found, key) for key in ("name", "type", "default", "init", "repr", "compare", "kw_only")]


def test_fields_defaults_and_signatures_are_the_same():
    for mine, other in zip(*BOTH, strict=True):
        assert list(mine.__dataclass_fields__) == list(other.__dataclass_fields__)
        for name in mine.__dataclass_fields__:
            assert describe(name, mine) == describe(name, other)
        parts = [
            [(one.name, one.kind, one.annotation, one.default is one.empty) for one in found.parameters.values()]
            for found in map(inspect.signature, (mine, other))
        ]
        assert parts[0] == parts[1]
        assert mine.__doc__ == other.__doc__


@pytest.mark.parametrize("place", [0, 1])
def test_records_behave_alike(place):
    said = []
    for found in BOTH:
        cls = found[place]
        more = {"width": 2} if place else {}
        one, same = cls(value=1.5, marks=[1], **more), cls(value=1.5, marks=[2], secret=3, **more)
        third = dataclasses.replace(one, value=2.5)
        assert one == same
        assert hash(one) == hash(same)
        assert one != third
        assert {one: 1}[same] == 1
        assert copy.deepcopy(one) == one
        assert copy.copy(one).marks is one.marks
        assert cls(value=1, **more).marks is not cls(value=1, **more).marks
        said.append([repr(one), repr(third), dataclasses.asdict(third), list(vars(one).items()), hash(one)])
    assert said[0] == said[1]


@pytest.mark.parametrize("first", [records.dataclass, dataclasses.dataclass])
@pytest.mark.parametrize("second", [records.dataclass, dataclasses.dataclass])
def test_either_is_built_on_the_other(first, second):
    @first(frozen=True, kw_only=True)
    class Edge:
        value: float = 1

    @second(frozen=True, kw_only=True)
    class Wide(Edge):
        width: int

    wide = Wide(width=2)
    assert (wide.value, wide.width, wide) == (1, 2, dataclasses.replace(wide, value=1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        wide.value = 2
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Loose", (Wide,), {}))


def test_classes_are_told_apart():
    for edge, wide in BOTH:
        assert edge(value=1, unit="bins") != wide(value=1, width=1)
        assert edge(value=1).__eq__(1) is NotImplemented


@pytest.mark.parametrize("given", [{}, {"value": 1, "depth": 2}, {"value": 1, "double": 2}, {"value": 1, "kind": "a"}])
def test_what_is_missing_or_too_much_is_a_type_error(given):
    for edge, _ in BOTH:
        with pytest.raises(TypeError, match=f"'{next(reversed(given), 'value')}'"):
            edge(**given)
        with pytest.raises(TypeError):
            edge(1.5)


def test_nothing_is_set_or_deleted():
    for edge, _ in BOTH:
        one = edge(value=1)
        for name in ("value", "other"):
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(one, name, 2)
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
                delattr(one, name)


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_values_by_place(decorator):
    @decorator(frozen=True, eq=False)
    class Pair:
        first: int
        second: int = 2

    assert vars(Pair(1)) == {"first": 1, "second": 2} == vars(Pair(1, second=2))
    assert Pair(1) != Pair(1)
    for given in ((), (1, 2, 3)):
        with pytest.raises(TypeError):
            Pair(*given)


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_methods_of_the_class_itself_are_kept(decorator):
    methods = {"__repr__": lambda *_: "own", "__eq__": lambda *_: True}
    own = type("Own", (), {"__annotations__": {"first": int}, **methods})
    made = decorator(frozen=True, kw_only=True)(own)
    assert repr(made(first=1)) == "own"
    assert made(first=1) == made(first=2)
    assert hash(made(first=1)) == hash((1,))


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_a_record_that_holds_itself_is_written(decorator):
    @decorator(frozen=True, kw_only=True)
    class Node:
        inner: list

    node = Node(inner=[])
    node.inner.append(node)
    assert repr(node).endswith("Node(inner=[...])")


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_what_can_be_changed_is_not_compared(decorator):
    @decorator(kw_only=True, eq=False)
    class Search:
        size: int
        found: list = dataclasses.field(default_factory=list)
        best: float = dataclasses.field(init=False, default=1.0)

        def __post_init__(self):
            self.size += 1

    @decorator(kw_only=True, eq=False)
    class Wide(Search):
        width: int = 2

    one = Wide(size=1)
    one.width, one.best = 3, 0.5
    one.found.append(4)
    assert repr(one).endswith("Wide(size=2, found=[4], best=0.5, width=3)")
    assert (vars(one), one == Wide(size=1)) == ({"size": 2, "found": [4], "best": 0.5, "width": 3}, False)
    assert hash(one) != hash(Wide(size=1))
    del one.width
    assert one.width == 2
    with pytest.raises(TypeError):
        decorator(frozen=True)(type("Still", (Search,), {}))


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_fields_that_are_none_are_refused(decorator):
    for kind, error in (({"held": []}, ValueError), ({"bare": dataclasses.field()}, TypeError)):
        made = type("Odd", (), {"__annotations__": {"held": list}, **kind})
        with pytest.raises(error, match=r"mutable default|no type annotation"):
            decorator(frozen=True)(made)


def test_what_can_be_changed_and_is_compared_is_no_record():
    with pytest.raises(TypeError, match="not compared"):
        records.dataclass(frozen=False)
    with pytest.raises(TypeError, match="built on each other"):
        records.dataclass(eq=False)(type("Loose", (BOTH[0][0],), {}))


def test_records_are_pickled():
    from pe_spectra import Sinusoidal

    assert pickle.loads(pickle.dumps(Sinusoidal(d=8))) == Sinusoidal(d=8)


@pytest.mark.parametrize(("spec", "bandwidth"), [("sinusoidal:d=8", 1.0), ("alibi:heads=2", 4.0)])
def test_spectra_are_pickled_with_what_is_not_yet_computed(spec, bandwidth):
    from pe_spectra import compute_spectrum

    found = compute_spectrum(spec, bandwidth=bandwidth)
    again = pickle.loads(pickle.dumps(found))
    assert again.weights.tolist() == found.weights.tolist()
    assert again.summary == found.summary


def test_named_tuples_are_those_of_the_standard_library():
    found = []
    for base in (records.NamedTuple, typing.NamedTuple):

        class Edge(base):
            """An edge."""

            value: float
            unit: str | None = "rad"

            @property
            def double(self) -> float:
                return 2 * self.value

        edge = Edge(0.5)
        found.append(
            [edge, edge.double, repr(edge), edge._replace(unit=None), hash(edge), edge == (0.5, "rad")]
            + [getattr(Edge, name) for name in ("_fields", "_field_defaults", "__bases__", "__doc__", "__match_args__")]
            + [Edge.__qualname__, Edge.__module__, typing.get_type_hints(Edge)]
            + [(one.name, one.default) for one in inspect.signature(Edge).parameters.values()]
        )
        with pytest.raises(TypeError):
            Edge()
        with pytest.raises(AttributeError):
            edge.value = 1.0
    assert found[0] == found[1]


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_records_are_replaced_as_copy_does_it(decorator):
    """`copy.replace`, from Python 3.13 on, asks them to."""
    _, wide = declare(decorator)
    one = wide(value=1, width=2)
    if hasattr(one, "__replace__") or decorator is records.dataclass:
        assert one.__replace__(width=3) == wide(value=1, width=3)
    if hasattr(copy, "replace"):
        assert copy.replace(one, width=3) == wide(value=1, width=3)


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_fields_that_are_not_given_are_made(decorator):
    @decorator(eq=False)
    class Edge:
        marks: list[int] = dataclasses.field(default_factory=list, init=False)

    assert Edge().marks == []


@pytest.mark.parametrize("decorator", [records.dataclass, dataclasses.dataclass])
def test_a_field_without_a_default_comes_before_those_with_one(decorator):
    def make():
        @decorator(frozen=True)
        class Edge:
            value: int = 1
            unit: str

    with pytest.raises(TypeError, match="unit"):
        make()


@pytest.mark.parametrize("base", [records.NamedTuple, typing.NamedTuple])
def test_what_is_no_named_tuple_is_none(base):
    def make_late():
        class Late(base):
            value: int = 1
            unit: str

    def make_wide():
        class Wide(base, Sources):
            value: int

    for make in (make_late, make_wide):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(TypeError, match="fields"):
        type(records.NamedTuple)("Empty", (records.NamedTuple,), {"__module__": "m"})


def test_named_tuples_are_pickled():
    lengths = Sources(*np.zeros((3, 1)))
    assert repr(pickle.loads(pickle.dumps(lengths))) == repr(lengths)


def test_named_tuples_compile_no_annotation(monkeypatch):
    def refuse(*_):
        raise AssertionError("an annotation was compiled")

    monkeypatch.setattr(typing.ForwardRef, "__init__", refuse)

    class Edge(records.NamedTuple):
        value: float

    assert Edge(0.5) == (0.5,)


def test_classes_are_made_several_times_as_fast():
    def take(decorator):
        start = time.thread_time()
        for _ in range(20):
            declare(decorator)
        return time.thread_time() - start

    ratios = [take(dataclasses.dataclass) / take(records.dataclass) for _ in range(5)]
    assert statistics.median(ratios) > (3 if sys.version_info < (3, 13) else 1)
