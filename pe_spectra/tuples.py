"""Named tuples: the `NamedTuple` of the module typing, made in a third of its time.

That one compiles the annotation of each field, which nobody asks for; an audit makes 28 such classes. All else is that
of `collections.namedtuple`.
"""

from __future__ import annotations

from collections import namedtuple

__all__ = ["NamedTuple"]

TYPE_CHECKING = False  # as type checkers read it; the command line starts before the module typing
if TYPE_CHECKING:  # to a type checker it is the one that it stands for
    from typing import NamedTuple
else:

    class _Making(type):
        """Makes the class of a tuple of what is declared like that of any other object."""

        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.pop("__annotations__", {})
            usual = {field: namespace.pop(field) for field in fields if field in namespace}
            if [*fields][len(fields) - len(usual) :] != [*usual]:
                raise TypeError(f"{name}: a field without a default stands behind one that has one")
            made = namedtuple(name, fields, defaults=usual.values(), module=namespace.pop("__module__"))
            made.__annotations__ = fields
            for key, value in namespace.items():
                if key in _KEPT or key in fields:
                    raise TypeError(f"{name}: {key} of a named tuple is no other")
                setattr(made, key, value)
            return made

    #: What makes a named tuple one.
    _KEPT = frozenset(
        ("__new__", "__init__", "__slots__", "_fields", "_field_defaults", "_make", "_replace", "_asdict")
    )

    class NamedTuple(metaclass=_Making):
        """A tuple whose members have names, declared as a class with annotations.

        Raises
        ------
        TypeError : a field without a default behind one that has one, or a body that says how such a tuple is made.

        >>> class Place(NamedTuple):
        ...     row: int
        ...     column: int = 0
        >>> Place(3), Place(3) == (3, 0), Place(3)._replace(column=2).column
        (Place(row=3, column=0), True, 2)
        """
