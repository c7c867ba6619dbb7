"""What an encoding is: the views that diagnostics ask for.

An encoding offers those views that it truly has. A diagnostic asks for the one it needs with
`isinstance(encoding, HasTable)`, takes the exact one where it exists, and says which it used.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from pe_spectra.encodings.parameters import (
    SCHEMA,
    ByName,
    Parameter,
    Value,
    format_value,
    list_declared,
    simplify_value,
)
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike, find_largest
from pe_spectra.limits import DEFAULT_LENGTH
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from fractions import Fraction

#: Parameters that stand in a label even at their default.
_ALWAYS_SHOWN = ("d", "rho", "base", "heads")


@dataclass(frozen=True, kw_only=True, eq=False)
class Frequencies(ReadOnly):
    """The angular frequencies of an encoding.

    Attributes
    ----------
    values : (M,) rad/position, largest part.
    low : (M,) the rest: `values + low` is right to about 31 digits.
    masses : (M,) 1 for a sine and cosine pair, 1/2 for a lone column.
    phases : (M,) rad; the phase of a lone column as a cosine, 0 for a pair.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> found = Sinusoidal(d=3, rho=8.0).frequencies()  # 1 and 1/4
    >>> found.masses.tolist(), found.mean  # (1 + 1/8) / 1.5
    ([1.0, 0.5], 0.75)
    """

    values: F64
    low: F64
    masses: F64
    phases: F64
    #: What every sine and cosine is multiplied with.
    amplitude: float = 1.0

    @property
    def mean(self) -> float:
        """Their mean by mass, sum of m_i w_i over sum of m_i, in rad/position."""
        return float(np.sum(self.values * (self.masses / np.sum(self.masses))))


class Theorem(NamedTuple):
    """Why :meth:`Encoding.exact_key` is exact: equal keys if and only if equal position vectors.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> Sinusoidal(d=8).theorem.text
    'sin s and cos s (frequency 1 rad) agree only where s - t is a multiple of 2 pi, and pi is irrational'
    """

    kind: str
    text: str


class Encoding(metaclass=ByName):
    """A positional encoding. Subclasses are final, frozen and keyword-only.

    To add one: a frozen dataclass in its family's file with the class attributes below and the
    views it has, and a line in the table of `pe_spectra.names`.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> Sinusoidal(d=64) == Sinusoidal(d=64, rho=10000.0), str(Sinusoidal(d=64))
    (True, "Sinusoidal(d=64, rho=10000.0, layout='interleaved', offset=0, scale=1.0)")
    """

    #: The JSON Schema of :meth:`to_dict`, and its name there.
    json_schema: ClassVar[Mapping[str, object]] = SCHEMA
    schema_name: ClassVar[str] = "encoding"

    name: ClassVar[str]
    #: absolute, rotary, relative, temporal, structural, learned or combined.
    family: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    pitfalls: ClassVar[str]
    #: Its parameters: those of its fields that are declared with `parameter`, in their order.
    accepts: ClassVar[tuple[Parameter, ...]] = ()
    #: Whether it is another encoding at given positions, and what its positions are called where they are counted.
    is_sampled: ClassVar[bool] = False
    rows_are: ClassVar[str] = "positions"
    #: Time from one position to the next, as `1h`, where that is known; else empty.
    time_step: str = ""

    def __init_subclass__(cls, *, keeps_theorem: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.accepts = tuple({p.keyword: p for p in (*cls.accepts, *list_declared(cls))}.values())
        if not keeps_theorem and "theorem" not in vars(cls):
            type.__setattr__(cls, "theorem", None)  # proved of its parents, and of what they compute

    @property
    def default_grid(self) -> int:
        """Length of the lattice on which the encoding is analysed unless told otherwise."""
        return max(2, self.default_length)

    @property
    def rows(self) -> int | None:
        """How many positions have a vector; None where there is no end."""
        return None

    @property
    def default_length(self) -> int:
        """How many positions are looked at unless told otherwise: all rows of a table, else 80 as in the paper."""
        return self.rows or DEFAULT_LENGTH

    @property
    def domain(self) -> str:
        """What a vector belongs to: "positions", or "lags" for an encoding of the distance of two of them."""
        return "positions"

    @property
    def kernel_count(self) -> int:
        """How many heads have a kernel of their own."""
        return 1

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of the grid that the positions fill in reading order; None for a line."""
        return None

    @property
    def is_random(self) -> bool:
        """Whether its values were drawn at random in place of learned ones."""
        return False

    @property
    def is_stored(self) -> bool:
        """Whether its codes are numbers that it holds, which nothing rounds."""
        return False

    @property
    def is_algebraic(self) -> bool:
        """Whether all entries are algebraic numbers: binary fractions, roots of unity, fractions."""
        return False

    @property
    def knows_dates(self) -> bool:
        """Whether vectors are those of moments of the calendar, so that two windows at other dates differ."""
        return False

    @property
    def turns_alone(self) -> bool:
        """Whether a rotary encoding turns pairs of channels by its table and does nothing else to queries and keys."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about how the encoding was read; of itself, that its values were drawn."""
        return (f"{self.label}: drawn at random, as before training",) if self.is_random else ()

    @property
    def theorem(self) -> Theorem | None:
        """Why `exact_key` is exact; None where nothing is proved, and the key is void.

        What was proved of a class holds of those made from it only if they say `keeps_theorem=True`.
        """
        return None

    def exact_key(self, positions: I64) -> I64:
        """Return integers, (S,), of positions or lags, which by the theorem are equal if and only if the vectors are.

        Unless a class says otherwise, positions themselves: no two vectors are equal.

        >>> import numpy as np
        >>> from pe_spectra.encodings import Dft
        >>> Dft(d=8).exact_key(np.array([1, 9, 10])).tolist()
        [1, 1, 2]
        """
        return positions

    def bound_error(self, table: F64) -> float | None:
        """Return by how much an entry of `table`, which it computed, may be wrong; None where no bound is known.

        For vectors that are a few roundings of sines and cosines, or sums of up to d products of such:
        16 + 2 d units of the last place of the largest.
        """
        return float((16 + 2 * table.shape[1]) * 2.0**-52 * find_largest(table))

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What was found out when it was read, and `notes`."""
        return (*self.__dict__.get("_remarks", ()), *self.notes)

    def remember(self, remarks: tuple[str, ...]) -> Self:
        """Keep sentences about how the encoding was read, from a file or a configuration; they compare as nothing."""
        self.__dict__["_remarks"] = remarks
        return self

    def keep_step(self, step: str) -> Self:
        """Keep what was said of the time from one position to the next; it compares as nothing."""
        self.__dict__["time_step"] = step
        return self

    def describe_position(self, s: int) -> str:
        """Write a position so that a person can read it: as a number, a date, a place on a grid."""
        return str(s)

    @property
    def given(self) -> dict[str, Value]:
        """The parameters, by keyword, that have a meaning with the others and a value, in the catalogue's order."""
        return {p.keyword: value for p, value in self._list_given()}

    @property
    def parameters(self) -> dict[str, object]:
        """The same by name, as JSON has them."""
        return {p.name: simplify_value(value) for p, value in self._list_given()}

    def to_dict(self) -> dict[str, object]:
        """Return name and parameters, as JSON has them.

        >>> from pe_spectra.encodings import Dft
        >>> Dft(d=8).to_dict()
        {'name': 'dft', 'parameters': {'d': 8}}
        """
        return {"name": self.name, "parameters": self.parameters}

    @property
    def called(self) -> str:
        """What messages call it."""
        return self.name

    @property
    def label(self) -> str:
        """Name and parameters that tell it from others of its kind, for titles and tables."""
        shown = [
            f"{p.name}={format_value(value)}"
            for p, value in self._list_given()
            if p.name in _ALWAYS_SHOWN or value != p.default
        ]
        return " ".join([self.name, *shown])

    @property
    def spec(self) -> str:
        """The SPEC that names this encoding on the command line, with all of its parameters."""
        return self.write_spec()

    def write_spec(self, *, brief: bool = False) -> str:
        """Write the SPEC, if `brief` without the parameters that have their defaults."""
        given = self._list_given()
        keys = [f"{p.name}={format_value(value)}" for p, value in given if not (brief and value == p.default)]
        return f"{self.name}:{','.join(keys)}" if keys else self.name

    def _list_given(self) -> list[tuple[Parameter, Value]]:
        applying = (p for p in self.accepts if not p.only_with or self._applies(p))
        return [(p, value) for p in applying if (value := getattr(self, p.keyword)) is not None]

    def _applies(self, parameter: Parameter) -> bool:
        return all(getattr(self, name) in values for name, values in parameter.only_with.items())

    def settle(self, field: str, held: int | None, default: int) -> None:
        """Set a size that was left open: to that of the values that a file gives, else to its default.

        Raises
        ------
        InputError : the size was set, and the given values have another.
        """
        typed = getattr(self, field)
        if held is not None and typed not in (None, held):
            name = next(p.name for p in self.accepts if p.keyword == field)
            what = f"{self.called}: {name} contradicts the given values"
            raise InputError(what, str(typed), f"{name}={held} is accepted")
        object.__setattr__(self, field, held or typed or default)

    def __post_init__(self) -> None:
        for parameter in self.accepts:
            given = getattr(self, parameter.keyword)
            if given is parameter.default:
                continue
            name = f"{self.name}: {parameter.name}"
            value = parameter.check(given, name)
            object.__setattr__(self, parameter.keyword, value)  # a plain int, float or str, whatever was given
            if parameter.only_with and value != parameter.default and not self._applies(parameter):
                raise InputError(f"{name} has no meaning here", format_value(value), self._explain(parameter))

    def _explain(self, parameter: Parameter) -> str:
        """Say with which others, by their names, a parameter has a meaning."""
        names = {p.keyword: p.name for p in self.accepts}
        parts = []
        for keyword, values in parameter.only_with.items():
            name = names.get(keyword, keyword)
            typed = " or ".join(format_value(v) for v in values if v is not None)
            parts.append(f"with {name}={typed}" if typed else f"without {name}")
        return f"it goes {' and '.join(parts)}"


@runtime_checkable
class HasTable(Protocol):
    """An encoding that gives every position a vector.

    >>> from pe_spectra.encodings import find_encoding
    >>> [isinstance(find_encoding(name)(), HasTable) for name in ("sinusoidal", "alibi")]
    [True, False]
    """

    d: int

    def table(self, positions: int | ArrayLike) -> F64:
        """Return the position vectors, shape (S, d)."""


@runtime_checkable
class HasContinuousTable(Protocol):
    """An encoding whose positions may be any real numbers.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> Sinusoidal(d=2).table_at([0.5]).round(3).tolist()  # sin 0.5, cos 0.5
    [[0.479, 0.878]]
    """

    d: int

    def table_at(self, times: F64) -> F64:
        """Return the vectors of real positions, shape (S, d)."""


@runtime_checkable
class HasFrequencies(Protocol):
    """An encoding that is a list of sines and cosines.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> Sinusoidal(d=4).frequencies().values.tolist()
    [1.0, 0.01]
    """

    def frequencies(self) -> Frequencies:
        """Return the angular frequencies."""

    def turns(self, index: int) -> Fraction | Decimal:
        """Return frequency `index` over 2 pi: exactly, or to 55 digits where it is irrational."""


@runtime_checkable
class HasKernel(Protocol):
    """An encoding whose similarity depends on the lag alone.

    >>> import numpy as np
    >>> from pe_spectra.encodings import find_encoding
    >>> find_encoding("rope")(d=4).kernel(np.arange(1)).tolist()
    [[2.0]]
    """

    def kernel(self, lags: ArrayLike) -> F64:
        """Return the dot product of two position vectors that are `lags` apart, shape (heads, L)."""


class _Directed(Protocol):
    """An encoding of the distance of query and key."""

    @property
    def causal(self) -> bool:
        """Whether only lags 0, 1, .. occur (a query sees keys before it); else negative ones too."""


@runtime_checkable
class HasBias(_Directed, Protocol):
    """An encoding that adds a number to the attention score, by the lag alone.

    >>> import numpy as np
    >>> from pe_spectra import read_encoding
    >>> read_encoding("alibi:heads=2").bias(np.array([0, 1, 2])).tolist()  # slopes 2**-4 and 2**-8
    [[0.0, -0.0625, -0.125], [0.0, -0.00390625, -0.0078125]]
    """

    def bias(self, lags: ArrayLike) -> F64:
        """Return what is added at `lags` (query minus key), shape (heads, L)."""


@runtime_checkable
class HasBiasMap(_Directed, Protocol):
    """An encoding that adds a number to the attention score by query and key, not by the lag alone.

    >>> from pe_spectra.encodings import find_encoding
    >>> [name for name in ("alibi", "fire", "tupe") if isinstance(find_encoding(name)(), HasBiasMap)]
    ['fire', 'tupe']
    """

    def bias_map(self, length: int) -> F64:
        """Return what is added, shape (heads, S, S): query by key."""


@runtime_checkable
class HasLagTable(_Directed, Protocol):
    """An encoding that gives every lag a vector.

    >>> from pe_spectra.encodings import find_encoding
    >>> [name for name in ("alibi", "shaw") if isinstance(find_encoding(name)(), HasLagTable)]
    ['shaw']
    """

    def lag_table(self, lags: ArrayLike) -> F64:
        """Return the vectors of the lags (query minus key), shape (L, d)."""
