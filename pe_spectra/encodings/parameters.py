"""What an encoding can be told: its parameters, and the numbers that a file gives it."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, replace
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.limits import MAX_RHO, MAX_WIDTH, MIN_RHO, MIN_WIDTH
from pe_spectra.numbers import Accepts, Choice, IntegerRange, RealRange, YesNo
from pe_spectra.records import dataclass

_DECLARED = "parameter"


class Spelled(Protocol):
    """What a SPEC names, as an encoding."""

    @property
    def spec(self) -> str:
        """The SPEC."""


Value: TypeAlias = "int | float | str | tuple[int | float | str, ...] | GivenArray | tuple[Spelled, ...] | None"

#: JSON Schema of an encoding.
SCHEMA: Mapping[str, object] = {
    "description": "An encoding of the catalogue with all of its parameters.",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$", "description": "Name in the catalogue."},
        "parameters": {
            "type": "object",
            "properties": {
                "d": {"type": "integer", "minimum": 1, "description": "Width of the encoding, in columns."},
                "rho": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": "Base of the geometric ladder of frequencies.",
                },
                "layout": {"type": "string", "minLength": 1, "description": "Order of the columns."},
            },
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
            "additionalProperties": {
                "type": ["number", "string", "array"],
                "items": {"type": ["number", "string"]},
            },
            "description": "Its parameters by name, those that have a meaning and a value; which there are is the "
            "encoding's own, see `encodings NAME`.",
        },
    },
    "required": ["name", "parameters"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of an encoding: what a SPEC may set, and what it accepts.

    Attributes
    ----------
    default : what stands unless it is set: of a choice its first member unless said; None for "not set", which
        `meaning` explains.
    name : what a SPEC calls it, where it cannot be the field.
    only_with : other parameters and their values with which alone this one has a meaning.
    multiple : what an integer must be a multiple of: 2 for a sine and cosine each.
    keyword : the field of the class that holds it.

    >>> from pe_spectra.numbers import IntegerRange
    >>> heads = Parameter(default=8, accepts=IntegerRange(minimum=1, maximum=1024), meaning="heads")
    >>> heads.check(12, "alibi: heads"), heads.accepts.accepted
    (12, 'an integer from 1 to 1024 is accepted')
    """

    accepts: Accepts[Value]
    meaning: str
    default: Value = None
    name: str = ""
    only_with: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    multiple: int = 1
    keyword: str = ""

    def __post_init__(self) -> None:
        if self.default is None and isinstance(self.accepts, Choice):
            object.__setattr__(self, "default", self.accepts.members[0])

    def check(self, value: object, name: str) -> Value:
        """Return a value given in Python, or refuse it; the default is always accepted."""
        if value is None and self.default is None:
            return None
        found = self.accepts.check(value, name)
        if isinstance(found, int) and found % self.multiple:
            if self.multiple == 2:
                raise InputError(f"{name} is odd", str(found), f"an even {self.name} is accepted")
            raise InputError(
                f"{name} is no multiple of {self.multiple}", str(found), f"a multiple of {self.multiple} is accepted"
            )
        return found


#: What several encodings have, each in its own words.
WIDTH = Parameter(
    default=256,
    accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
    meaning="width of a position vector, and length of the lattice in the paper",
)
RHO = Parameter(
    default=10000.0,
    accepts=RealRange(minimum=MIN_RHO, maximum=MAX_RHO),
    meaning="base of the geometric ladder; the slowest wavelength is nearly 2 pi rho positions",
)
SEED = Parameter(
    default=0,
    accepts=IntegerRange(minimum=0, maximum=2**32 - 1),
    meaning="seed of the values that are drawn, as before training",
)
YES_NO = YesNo()


def parameter(like: Parameter | None = None, **more: Any) -> Any:
    """Declare a field of an encoding as one of its parameters; what can be said of it stands at :class:`Parameter`.

    `like` is a parameter that several encodings have; what else is given stands in place of what it says.

    >>> from pe_spectra.numbers import IntegerRange
    >>> parameter(default=8, accepts=IntegerRange(minimum=1, maximum=1024), meaning="number of heads").default
    8
    """
    declared = Parameter(**more) if like is None else replace(like, **more)
    return field(default=declared.default, metadata={_DECLARED: declared})


def list_declared(cls: type) -> tuple[Parameter, ...]:
    """List the parameters that a class itself declares, in the order of its fields; before it is made a dataclass.

    >>> class Learned:
    ...     values: object = parameter(name="table", accepts=FileOfNumbers(), meaning="the rows")
    >>> [(found.name, found.keyword) for found in list_declared(Learned)]
    [('table', 'values')]
    """
    return tuple(
        replace(declared, name=declared.name or keyword, keyword=keyword)
        for keyword, value in vars(cls).items()
        if isinstance(value, Field) and (declared := value.metadata.get(_DECLARED)) is not None
    )


class ByName(ABCMeta):
    """Lets a constructor take a parameter by its name in a SPEC, where the field has another: `Learned(table=..)`."""

    accepts: tuple[Parameter, ...]

    def __call__(cls, /, *given: Any, **named: Any) -> Any:
        for one in cls.accepts:
            if one.name in named and one.name != one.keyword:
                if one.keyword in named:
                    raise InputError(f"{one.name} and {one.keyword} are one parameter", accepted="either of them")
                named[one.keyword] = named.pop(one.name)
        return super().__call__(*given, **named)


@final
class GivenArray:
    """Numbers that a file or a caller gives: float64, read-only, the same if all their numbers are.

    Attributes
    ----------
    values : any number of axes; a table has (rows, columns).
    origin : what to call them in messages and titles.
    spec : the text that names them on the command line; empty if there is none.
    dtype : the type they were stored in, as in float16.

    >>> table = GivenArray([[1, 2], [3, 4]])
    >>> table, table == GivenArray([[1.0, 2.0], [3.0, 4.0]]), table.values.flags.writeable
    (GivenArray(array, 2 x 2), True, False)
    """

    __slots__ = ("_digest", "dtype", "origin", "spec", "values")

    def __init__(self, values: ArrayLike, *, origin: str = "array", spec: str = "", dtype: str = "float64") -> None:
        from hashlib import blake2b  # loads OpenSSL, which a formula does not need

        array = np.asarray(values, dtype=np.float64, order="C")
        # a caller could still change an array of its own; one that is read-only is not copied
        self.values: F64 = array.copy() if array.flags.writeable else array
        self.values.flags.writeable = False
        self.origin, self.spec, self.dtype = origin, spec, dtype
        shape = repr(self.values.shape).encode()
        self._digest = blake2b(self.values.data if self.values.size else b"", key=shape[:64]).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenArray) and (self._digest, self.origin) == (other._digest, other.origin)

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"GivenArray({self.origin}, {' x '.join(map(str, self.values.shape))})"


@dataclass(frozen=True, kw_only=True)
class FileOfNumbers(Accepts[GivenArray]):
    """A file with an array, typed as FILE or FILE::TENSOR; in Python a :class:`GivenArray` or an array.

    Attributes
    ----------
    axes : how many axes the array may have.
    what : what its numbers are, for messages.
    """

    axes: tuple[int, ...] = (2,)
    what: str = "a table"

    @property
    def accepted(self) -> str:
        return f"a file with {self.what} is accepted (FILE or FILE::TENSOR)"

    def parse(self, text: str, name: str) -> GivenArray:
        """Refuse: the text is read where files are."""
        raise InputError(f"{name} names a file", text, "files are read by pe_spectra.sources")

    def check(self, value: object, name: str) -> GivenArray:
        if not isinstance(value, GivenArray | np.ndarray):
            raise InputError(f"{name} is no array", repr(type(value).__name__), self.accepted)
        given = value if isinstance(value, GivenArray) else GivenArray(value)
        shape = given.values.shape
        if len(shape) not in self.axes or not given.values.size:
            axes = " or ".join(str(n) for n in self.axes)
            raise InputError(f"{name} has shape {shape}", accepted=f"{self.what} of {axes} axes, none empty")
        if not np.isfinite(given.values).all():
            raise InputError(f"{name} is not finite", accepted="finite numbers")
        return given


def format_value(value: Value) -> str:
    """Write a parameter so that it can be typed again.

    >>> format_value(10000.0), format_value(5e5), format_value("interleaved"), format_value((1, 2.5))
    ('10000', '500000', 'interleaved', '1+2.5')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple):
        return "+".join(
            format_value(item) if isinstance(item, int | float | str) else _quote(item.spec) for item in value
        )
    if isinstance(value, GivenArray):
        return _quote(value.spec or value.origin)
    return value if isinstance(value, str) else repr(value)


def simplify_value(value: Value) -> object:
    """Turn a parameter into what JSON has: numbers, texts and lists.

    >>> simplify_value(GivenArray([[1.0]], origin="table.npy")), simplify_value(("hour", "day"))
    ('table.npy', ['hour', 'day'])
    """
    if isinstance(value, tuple):
        return [item if isinstance(item, int | float | str) else item.spec for item in value]
    return value.origin if isinstance(value, GivenArray) else value


def _quote(text: str) -> str:
    return f"'{text.replace(chr(39), 2 * chr(39))}'" if any(c in text for c in ",='+") else text
