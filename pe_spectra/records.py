"""Records: `dataclass` and `NamedTuple` of the standard library, made in a part of their time.

That one writes and compiles six methods for each frozen class; of 52 classes, as a spectrum needed, this was
a third of what a command took beside its libraries. Here they are compiled once for all classes, and look at the fields
when they are called. All else is the standard library's, `field`, `fields`, `replace`, defaults, `__post_init__`, but
for the search for fields, which there takes three times as long.
A named tuple is made without compiling the annotation of each of its fields, which is half of what it takes.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, replace
from dataclasses import dataclass as _declare
from functools import cache
from itertools import pairwise
from operator import attrgetter
from reprlib import recursive_repr
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, get_origin, get_type_hints

__all__ = ["NamedTuple", "dataclass", "find_annotation"]

if TYPE_CHECKING:  # to a type checker they are those that they stand for
    from dataclasses import dataclass
    from typing import NamedTuple
else:

    class _MadeOfNames(type):
        """Makes named tuples of classes, as `typing.NamedTuple` does; annotations stay texts."""

        def __new__(cls, name, bases, namespace):
            fields = namespace.get("__annotations__", {})
            have = [field in namespace for field in fields]
            if len(bases) > 1 or not have or have != sorted(have):
                raise TypeError(f"{name}: a named tuple has fields, those with defaults last, and no other base")
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            made.__new__.__annotations__ = fields
            for key, value in namespace.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_MadeOfNames, "NamedTuple", (), {})

    def dataclass(*, frozen=False, kw_only=False, eq=True):
        """Make records of a class, as `dataclasses.dataclass` does with the same arguments.

        Raises
        ------
        TypeError : records that can be changed, and are compared; `dataclasses.dataclass` makes those.

        >>> @dataclass(frozen=True, kw_only=True)
        ... class Edge:
        ...     value: float
        ...     unit: str = "rad"
        >>> Edge(value=0.5), Edge(value=0.5) == Edge(value=0.5, unit="rad")
        (Edge(value=0.5, unit='rad'), True)
        """
        if eq and not frozen:
            raise TypeError("records that are not frozen are not compared")
        return lambda cls: _make_record(cls, frozen=frozen, kw_only=kw_only, eq=eq)


#: By this the standard library tells fields of records from those of their class.
_MARK = "_field_type"


@_declare(init=False, repr=False, eq=False)
class _Marked:
    """What the standard library tells fields by."""

    value: int = 0
    kind: ClassVar[int] = 0


_OF_RECORD, _OF_CLASS = map(attrgetter(_MARK), vars(_Marked)["__dataclass_fields__"].values())


def find_annotation(cls: type[Any], name: str) -> Any:
    """Work out the annotation of one field; those of all its class take as long as some modules do to load.

    >>> class Edge:
    ...     value: "int | None"
    >>> find_annotation(Edge, "value")
    int | None
    """
    owner = next(one for one in cls.__mro__ if name in vars(one).get("__annotations__", ()))
    alone = SimpleNamespace(__annotations__={name: owner.__annotations__[name]})
    return get_type_hints(alone, vars(sys.modules[owner.__module__]))[name]


def _make_record(cls: type[Any], *, frozen: bool, kw_only: bool, eq: bool) -> type[Any]:
    cls.__doc__ = cls.__doc__ or cls.__name__  # the standard library gives one to each, too
    _find_fields(cls, frozen, kw_only)
    found = fields(cls)
    own = {name for name, value in vars(cls).items() if value is not None}  # with __eq__ alone, __hash__ is None
    methods: dict[str, Any] = {"__repr__": _write, "__replace__": replace}  # which Python 3.13's copy.replace asks
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if "__init__" not in own:
        methods |= {"__init__": _take(cls, found), "__signature__": _Signature()}
    if eq:
        methods |= _compare_by([one.name for one in found if one.compare])
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _find_fields(cls: type[Any], frozen: bool, kw_only: bool) -> None:
    """Find the fields of a class, its own and those of the classes that it is built on, as the standard library does.

    That one looks for three words in each annotation that is a text, of which `InitVar` and `KW_ONLY` are not known
    here, and compiles two methods of what it is told is frozen.

    Raises
    ------
    TypeError : of a record that can be changed and one that cannot, one is built on the other; a field without a type.
    ValueError : a default that can be changed.
    """
    found: dict[str, Any] = {}
    for base in cls.__mro__[-1:0:-1]:
        if "__dataclass_fields__" in vars(base):
            if vars(base)["__dataclass_params__"].frozen is not frozen:
                raise TypeError("frozen and other records are not built on each other")
            found |= vars(base)["__dataclass_fields__"]
    declared = cls.__annotations__
    if untyped := [name for name, given in vars(cls).items() if isinstance(given, Field) and name not in declared]:
        raise TypeError(f"{untyped[0]!r} is a field but has no type annotation")
    for name, annotation in declared.items():
        given = getattr(cls, name, MISSING)
        found[name] = _make_field(name, annotation, given, kw_only)
        if isinstance(given, Field):
            if given.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, given.default)
    told = {"__dataclass_fields__": found, "__dataclass_params__": _make_parameters(frozen, kw_only)}
    for name, one in told.items():
        setattr(cls, name, one)
    type.__setattr__(cls, "__match_args__", tuple(one.name for one in fields(cls) if one.init and not one.kw_only))


def _make_field(name: str, annotation: Any, given: Any, kw_only: bool) -> Any:
    one: Any = given if isinstance(given, Field) else field(default=given)
    is_of_class = "ClassVar" in annotation if isinstance(annotation, str) else get_origin(annotation) is ClassVar
    one.name, one.type = name, annotation
    setattr(one, _MARK, _OF_CLASS if is_of_class else _OF_RECORD)
    if not is_of_class:
        one.kw_only = kw_only if one.kw_only is MISSING else one.kw_only
        if type(one.default).__hash__ is None:
            raise ValueError(f"mutable default {type(one.default)} for field {name} is not allowed")
    return one


@cache
def _make_parameters(frozen: bool, kw_only: bool) -> Any:
    made: Any = _declare(init=False, repr=False, eq=False, kw_only=kw_only)(type("Empty", (), {"__doc__": "-"}))
    made.__dataclass_params__.frozen = frozen
    return made.__dataclass_params__


def _take(cls: type[Any], found: Sequence[Field[Any]]) -> Callable[..., None]:
    """Make the method that takes the fields."""
    taken = [one for one in found if one.init]
    usual = {one.name: one.default for one in taken}
    factories = [(one.name, one.default_factory) for one in found if one.default_factory is not MISSING]
    placed = [one for one in taken if not one.kw_only]
    for before, one in pairwise(placed):
        if _has_default(before) and not _has_default(one):
            raise TypeError(f"{cls.__name__}: field {one.name!r} without a default follows one with a default")
    required = usual.keys() - {one.name for one in taken if _has_default(one)}
    goes_on = hasattr(cls, "__post_init__")

    def init(self: Any, /, *placed: Any, **given: Any) -> None:
        if placed or not required <= given.keys() <= usual.keys():
            given = _bind(type(self), placed, given)
        held = self.__dict__
        held.update(usual)
        held.update(given)
        for name, make in factories:
            if name not in given:
                held[name] = make()
        if goes_on:
            self.__post_init__()

    return init


def _has_default(one: Field[Any]) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING


def _bind(cls: type[Any], placed: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Name the values that are given by place; who makes many of a record names them, which is quicker.

    Raises
    ------
    TypeError : a value is missing, or one is given that has no field.
    """
    try:
        return dict(cls.__signature__.bind(*placed, **given).arguments)
    except TypeError as error:
        raise TypeError(f"{cls.__name__}: {error}") from None


class _Signature:
    """What `inspect.signature` tells of a record: its fields, worked out when it is asked for."""

    def __get__(self, _: object, cls: type[Any]) -> Any:
        from inspect import Parameter, Signature

        taken = [one for one in fields(cls) if one.init]
        kinds = {one.name: Parameter.KEYWORD_ONLY if one.kw_only else Parameter.POSITIONAL_OR_KEYWORD for one in taken}
        usual = {one.name: _show_default(one) if _has_default(one) else Parameter.empty for one in taken}
        return Signature(
            [Parameter(one.name, kinds[one.name], default=usual[one.name], annotation=one.type) for one in taken],
            return_annotation=None,
        )


def _show_default(one: Field[Any]) -> Any:
    return one.default_factory if one.default is MISSING else one.default


def _compare_by(names: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Make the methods that compare two records of a class by these fields, and give their hash."""
    # of two names or more it gives a tuple, as is compared
    read: Callable[[Any], Any] = (
        attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)
    )

    def equals(self: Any, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def get_hash(self: Any) -> int:
        return hash(read(self))

    return {"__eq__": equals, "__hash__": get_hash}


@recursive_repr()
def _write(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_to_set(_: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
