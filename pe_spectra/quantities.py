"""A number is declared once: a field of a result says what it is, and every face of it follows.

A result is a frozen dataclass derived from :class:`Result` whose fields are declared with
:func:`quantity`, and whose computed numbers with :func:`derived`. JSON documents (`to_dict`), the
columns of tables and CSV (`to_columns`), the JSON Schema (:mod:`pe_spectra.answers.documents`), the reference page
of quantities, docstrings and every other face read these declarations and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, TypeVar, cast, get_args, get_type_hints

import numpy as np

from pe_spectra.faces import Cell, Cells, is_column, make_dataframe, simplify, write_markdown, write_short
from pe_spectra.records import dataclass, find_annotation

Document = dict[str, object]
#: JSON Schema of texts, which may be empty.
LIST_OF_TEXTS = {"type": "array", "items": {"type": "string"}}
#: Where a field of a dataclass keeps its declaration.
DECLARED = "quantity"
#: Keys of a mapping that a short description writes out.
_MOST_KEYS = 4
_HINTS: dict[tuple[type, str], Any] = {}
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What one key of an answer is.

    Attributes
    ----------
    text : what it is, in a sentence; where it can be null, also when.
    unit : of its numbers; empty for words and pure numbers.
    minimum, above, maximum : smallest value, value that it exceeds, largest value.
    words : the closed list that it is one of.
    pattern : of a text, as a regular expression.
    least, most, unique : members of a list: how few, how many, whether each is there once.
    axes : of an array; its entries are numbers, and where `gaps` is set also null.
    key : its name in JSON, where that is not the field's; None for a number that only tables have.
    column : its name in tables and CSV, where that is not its key; None for no column.
    write : what a table shows of a value.
    only : whether a result has it at all: of one that does not, JSON leaves the key out.
    defined : whether a result has a value that means something; else null stands in every face.
    inline : whether its own keys stand in place of it.
    keys : of what is inline, the fields whose keys stand there; empty for all.
    asked : whether it stands under `parameters`, among what was asked, and in no column.
    schema : JSON Schema of values that no annotation describes.
    """

    text: str
    unit: str = ""
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    words: tuple[str | None, ...] = ()
    pattern: str = ""
    least: int = 0
    most: int | None = None
    unique: bool = False
    axes: int = 1
    gaps: bool = False
    key: str | None = ""
    column: str | None = ""
    write: Callable[[Any], Cell] | None = None
    only: Callable[[Any], bool] | None = None
    defined: Callable[[Any], bool] | None = None
    inline: bool = False
    keys: tuple[str, ...] = ()
    asked: bool = False
    schema: Mapping[str, object] | None = None


def quantity(text: str, *, default: Any = MISSING, default_factory: Any = MISSING, **more: Any) -> Any:
    """Declare a field of a result; what else can be said of it stands at :class:`Quantity`.

    >>> quantity("Frequencies below the edge.", minimum=0).metadata["quantity"].minimum
    0
    """
    declared = {DECLARED: Quantity(text=text, **more)}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=declared)
    return field(metadata=declared) if default is MISSING else field(default=default, metadata=declared)


class Derived(cached_property[_Value]):
    """A number that a result computes from its fields, declared as they are; computed once, for they never change."""

    def __init__(self, function: Callable[[Any], _Value], declared: Quantity) -> None:
        super().__init__(function)
        self.quantity = declared
        self.__doc__ = declared.text

    def find_hint(self) -> Any:
        """Return the annotation of what it returns."""
        return get_type_hints(self.func)["return"]


def derived(text: str, **more: Any) -> Callable[[Callable[[Any], _Value]], Derived[_Value]]:
    """Declare a computed number of a result; what else can be said of it stands at :class:`Quantity`.

    >>> derived("inside over total.", maximum=1)(lambda count: 0.5).quantity.maximum
    1
    """
    return lambda function: Derived(function, Quantity(text=text, **more))


class ReadOnly:
    """A frozen record whose arrays nobody changes; one that was given stays its owner's to change.

    >>> from pe_spectra.spectrum import Kernel
    >>> kernel = Kernel(values=np.ones((1, 3)), source="exact")
    >>> kernel.values.flags.writeable, repr(kernel).startswith("Kernel(values=array(1, 3), ")
    (False, True)
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__repr__" not in vars(cls):  # else a dataclass writes out whole arrays
            type.__setattr__(cls, "__repr__", cls.__repr__)

    def __repr__(self) -> str:
        """Write the record in at most ten lines: plain values as they are, of arrays and members how many."""
        return _write_record(self, [one.name for one in fields(cast("Any", self)) if one.repr])

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)


class Result(ReadOnly):
    """What a function of the package returns: a frozen record of declared numbers.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Count(Result):
    ...     inside: int = quantity("Frequencies below the edge.", minimum=0)
    ...     total: int = quantity("All frequencies.", minimum=1)
    ...
    ...     @derived("inside over total.", minimum=0, maximum=1)
    ...     def share_inside(self) -> float:
    ...         return self.inside / self.total
    >>> Count(inside=1, total=4).to_dict()
    {'inside': 1, 'total': 4, 'share_inside': 0.25}
    """

    #: Keys of a JSON Schema that hold for the whole record, besides those of its members.
    schema_rules: ClassVar[Mapping[str, object]] = {}
    _declared: ClassVar[Mapping[str, Quantity]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        own = {name: found for name, value in vars(cls).items() if (found := _read_declaration(value)) is not None}
        cls._declared = {**cls._declared, **own}
        if cls.__doc__ and own:  # without it under python -OO
            cls.__doc__ = _list_attributes(cls.__doc__, own)

    @classmethod
    def quantities(cls) -> Mapping[str, Quantity]:
        """Return what is declared, by attribute, in order."""
        return cls._declared

    def to_dict(self, fields: Sequence[str] = ()) -> Document:
        """Return the declared numbers by key, as JSON has them: what is not finite is None.

        Where fields are named, only theirs.
        """
        return {key: simplify(value) for key, value in self.to_values(fields).items()}

    def to_values(self, fields: Sequence[str] = ()) -> Document:
        """Return the declared values by the keys that they have in JSON, arrays and other results as they are."""
        document: Document = {}
        asked: Document = {}
        for name, declared in self._declared.items():
            if declared.key is None or (fields and name not in fields):
                continue
            if declared.only is not None and not declared.only(self):
                continue
            value = _read(self, name, declared)
            is_inline = declared.inline and isinstance(value, Result)
            said = value.to_values(declared.keys) if is_inline else {declared.key or name: value}
            (asked if declared.asked else document).update(said)
        return {"parameters": asked, **document} if asked else document

    def to_columns(self) -> dict[str, Sequence[Cell]]:
        """Return the declared numbers as the columns of a table.

        A result with arrays has a row for each of their entries, one with members a row for each of
        these; what it has once stands in every row. Any other result is one row. A mapping is a column for
        each of its keys.
        """
        return {name: list(cells) for name, cells in tabulate([self]).items()}

    def to_dataframe(self) -> Any:
        """Return the columns as a DataFrame.

        Raises
        ------
        PeSpectraError : pandas is not installed.
        """
        return make_dataframe(self.to_columns())

    def to_markdown(self, digits: int = 6) -> str:
        """Return the columns as a table in Markdown, numbers with so many significant digits."""
        return write_markdown(self.to_columns(), digits)

    def to_latex(self, digits: int = 6) -> str:
        """Return the columns as a LaTeX tabular with the rules of booktabs."""
        from pe_spectra.latex import define_lacked, write_latex

        return define_lacked(write_latex(self.to_columns(), digits))

    @cached_property
    def verdict(self) -> Any:
        """What the program says of it first: a sentence, with a level and a code.

        Raises
        ------
        AttributeError : a part of a result, of which nothing is said by itself.
        """
        return _call_library("judge", self)

    @cached_property
    def findings(self) -> tuple[Any, ...]:
        """What a reader should know of it, each with its numbers; none where nothing is looked for."""
        return ()

    def plot(self, ax: Any = None) -> Any:
        """Draw it on axes of Matplotlib, default new ones, as the figure of its command does; return them, labelled.

        Of several panels it is the first.

        Raises
        ------
        UndefinedError : a result that no command draws, or one without anything to draw.
        """
        return import_module("pe_spectra.plots.on_axes").plot_result(self, ax)

    def _repr_html_(self) -> str:
        """Write the verdict, a small picture and the first rows, as notebooks show a result."""
        written: str = _call_library("write_page", self)
        return written

    def __repr__(self) -> str:
        """Write the record in at most ten lines, as what is declared of it."""
        derived_ones = {name for name in self._declared if isinstance(getattr(type(self), name, None), Derived)}
        shown = [name for name, one in self._declared.items() if name not in derived_ones or one.column is not None]
        return _write_record(self, shown)


def _write_record(record: object, names: Sequence[str]) -> str:
    return write_short(type(record).__name__, [f"{name}={_summarise(getattr(record, name))}" for name in names])


def _call_library(name: str, result: Result) -> Any:
    """Ask the room at the top, which knows answers and figures; by name, for this room knows none above it."""
    return getattr(import_module("pe_spectra.library"), name)(result)


def _summarise(value: Any) -> str:
    """A value in a few words."""
    if hasattr(value, "shape") and hasattr(value, "tolist"):
        return f"array{value.shape}"
    if isinstance(value, tuple) and value and isinstance(value[0], ReadOnly):
        return f"{len(value)} x {type(value[0]).__name__}"
    if isinstance(value, ReadOnly):
        return f"{type(value).__name__}(..)"
    if isinstance(value, Mapping) and len(value) > _MOST_KEYS:
        return f"{len(value)} values by name"
    return str(value.label) if hasattr(value, "label") else repr(value)


def tabulate(results: Sequence[Result]) -> dict[str, Sequence[Cell]]:
    """Put the rows of results of one kind below each other, by column.

    >>> tabulate([])
    {}
    """
    columns: dict[str, list[tuple[Any, int]]] = {}
    for result in results:
        parts = dict(_list_columns(type(result), result))
        rows = max((len(part) for part in parts.values() if is_column(part)), default=1)
        for name, part in parts.items():
            columns.setdefault(name, []).append((part, rows))
    return {name: Cells(parts=parts) for name, parts in columns.items()}


def _list_columns(kind: type[Result], result: Result | None) -> Iterator[tuple[str, Any]]:
    """Each column of one result: one value, or many where the result has many rows; of none, nothing in each."""
    for name, declared in kind.quantities().items():
        if declared.column is None or declared.asked:
            continue
        value = None if result is None else _read(result, name, declared)
        if declared.write is not None:
            yield declared.column or declared.key or name, None if result is None else declared.write(value)
        elif isinstance(value, Result):
            yield from _list_columns(type(value), value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Result):
            yield from tabulate(value).items()
        elif value is None and (member := _find_member(kind, name)) is not None:
            yield from _list_columns(member, None)
        elif isinstance(value, Mapping):
            yield from ((str(key), one) for key, one in value.items())
        else:
            yield declared.column or declared.key or name, value


def _read(result: Result, name: str, declared: Quantity) -> Any:
    return None if declared.defined is not None and not declared.defined(result) else getattr(result, name)


def list_column_names(kind: type[Result]) -> Iterator[str]:
    """Go through the names of the columns that a result of this kind has.

    >>> from pe_spectra.findings import Finding
    >>> list(list_column_names(Finding))
    ['level', 'code', 'message']
    """
    yield from (column for column, _ in _list_columns(kind, None))


def _find_member(kind: type[Result], name: str) -> type[Result] | None:
    """The kind of result that a field may hold, by its annotation; None for anything else."""
    return next(filter(is_result, list_types(find_hint(kind, name))), None)


def is_result(hint: Any) -> bool:
    """Whether a part of an annotation is a kind of result.

    >>> is_result(Result), is_result(int)
    (True, False)
    """
    return isinstance(hint, type) and issubclass(hint, Result)


def find_hint(kind: type[Result], name: str) -> Any:
    """Return the annotation of a field, or of what a derived number returns.

    >>> from pe_spectra.findings import Finding
    >>> find_hint(Finding, "code")
    <class 'str'>
    """
    if (kind, name) not in _HINTS:
        member = getattr(kind, name, None)
        _HINTS[kind, name] = member.find_hint() if isinstance(member, Derived) else find_annotation(kind, name)
    return _HINTS[kind, name]


def list_types(hint: Any) -> Iterator[Any]:
    """Go through an annotation and all that it is made of.

    >>> list(list_types(tuple[int, ...]))
    [tuple[int, ...], <class 'int'>, Ellipsis]
    """
    yield hint
    for inner in get_args(hint):
        yield from list_types(inner)


def _read_declaration(value: object) -> Quantity | None:
    if isinstance(value, Derived):
        return value.quantity
    return value.metadata.get(DECLARED) if isinstance(value, Field) else None


def _list_attributes(doc: str, declared: Mapping[str, Quantity]) -> str:
    """Write the list of attributes into a docstring, before its examples."""
    lines = [f"{name} : {one.text}{f' [{one.unit}]' if one.unit else ''}" for name, one in declared.items()]
    words, mark, examples = doc.partition(">>> ")
    listed = "\n    ".join(["", "", "Attributes", "----------", *lines, "", ""])
    return f"{words.rstrip()}{listed}{mark}{examples}"
