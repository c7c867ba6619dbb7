"""What an encoding is: the views that diagnostics ask for.

An encoding offers those views that it truly has. A diagnostic asks for the one it needs with
`isinstance(encoding, HasTable)`, takes the exact one where it exists, and says which it used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION
from pe_spectra.numbers import Choice, IntegerRange, RealRange


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of an encoding: what a SPEC may set, and what it accepts."""

    name: str
    default: int | float | str
    accepts: IntegerRange | RealRange | Choice
    meaning: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Frequencies:
    """The angular frequencies of an encoding.

    Attributes
    ----------
    values : (M,) rad/position, largest part.
    low : (M,) the rest: `values + low` is right to about 31 digits.
    masses : (M,) 1 for a sine and cosine pair, 1/2 for a lone column.
    phases : (M,) rad; the phase of a lone column as a cosine, 0 for a pair.
    """

    values: F64
    low: F64
    masses: F64
    phases: F64

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False


class Ladder(NamedTuple):
    """A geometric ladder of frequencies base**(-l/width), l = 0, 2, .. (Eq. 3)."""

    base: float
    width: int


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """Why :meth:`HasExactKey.exact_key` is exact: equal keys if and only if equal codes."""

    kind: str
    text: str


class Encoding(ABC):
    """A positional encoding. Subclasses are final, frozen and keyword-only.

    To add one: a frozen dataclass in its family's file with the class attributes below and the
    views it has, and its name in that file's tuple.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    pitfalls: ClassVar[str]
    accepts: ClassVar[tuple[Parameter, ...]]

    @property
    @abstractmethod
    def default_grid(self) -> int:
        """Length of the lattice on which the encoding is analysed unless told otherwise."""

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The parameters by name, in the order of the catalogue."""
        return {parameter.name: getattr(self, parameter.name) for parameter in self.accepts}

    @property
    def label(self) -> str:
        """Name and parameters that differ in kind from their default, for titles and tables."""
        shown = [
            f"{p.name}={format_value(getattr(self, p.name))}"
            for p in self.accepts
            if not isinstance(p.accepts, Choice) or getattr(self, p.name) != p.default
        ]
        return " ".join([self.name, *shown])

    @property
    def spec(self) -> str:
        """The SPEC that names this encoding on the command line."""
        keys = [f"{p.name}={format_value(getattr(self, p.name))}" for p in self.accepts]
        return f"{self.name}:{','.join(keys)}"

    def __post_init__(self) -> None:
        for parameter in self.accepts:
            value = parameter.accepts.check(getattr(self, parameter.name), f"{self.name}: {parameter.name}")
            object.__setattr__(self, parameter.name, value)  # a plain int, float or str, whatever was given


@runtime_checkable
class HasTable(Protocol):
    """An encoding that gives every position a vector."""

    d: int

    def table(self, positions: int | ArrayLike) -> F64:
        """Return the codes, shape (S, d)."""


@runtime_checkable
class HasFrequencies(Protocol):
    """An encoding that is a list of sines and cosines."""

    def frequencies(self) -> Frequencies:
        """Return the angular frequencies."""

    def turns(self, index: int) -> Fraction | Decimal:
        """Return frequency `index` over 2 pi: exactly, or to 55 digits where it is irrational."""


@runtime_checkable
class HasLadder(Protocol):
    """An encoding whose frequencies are a geometric ladder."""

    @property
    def ladder(self) -> Ladder:
        """Return base and width of the ladder."""

    def words(self) -> F64:
        """Return the frequencies as (3, M) words whose sum is right to 48 digits."""


@runtime_checkable
class HasKernel(Protocol):
    """An encoding whose similarity depends on the lag alone."""

    def kernel(self, lags: ArrayLike) -> F64:
        """Return the dot product of two codes that are `lags` apart, shape (heads, L)."""


@runtime_checkable
class HasLatticeMasses(Protocol):
    """An encoding whose frequencies all lie on the DFT lattice of its own length."""

    def lattice_masses(self) -> F64:
        """Return how many columns lie at each DFT frequency, shape (grid // 2 + 1,)."""


@runtime_checkable
class HasExactKey(Protocol):
    """An encoding for which equality of codes is decided without comparing computed floats."""

    def exact_key(self, positions: I64) -> I64:
        """Return integers, shape (S,): equal if and only if the codes are equal."""

    @property
    def theorem(self) -> Theorem:
        """Return why the key is exact."""


def format_value(value: int | float | str) -> str:
    """Write a parameter so that it can be typed again.

    >>> format_value(10000.0), format_value(5e5), format_value("interleaved")
    ('10000', '500000', 'interleaved')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def as_positions(positions: int | ArrayLike, width: int) -> I64:
    """Read positions: S for 0 .. S-1, or integers from 0 to 2**53; shape (S,).

    Raises
    ------
    InputError : a position that is no such integer, or a table that would be too large to hold.
    """
    if isinstance(positions, int | np.integer):
        _check_size(max(int(positions), 0), width)
        return np.arange(positions, dtype=np.int64)
    array = as_integers(positions, "positions")
    if array.size and (array.min() < 0 or array.max() > MAX_POSITION):
        raise InputError("a position is out of range", accepted=f"0 to {MAX_POSITION} is accepted")
    _check_size(array.size, width)
    return array


def as_lags(lags: ArrayLike) -> I64:
    """Read lags: integers of magnitude at most 2**53; shape (L,).

    Raises
    ------
    InputError : a lag that is no such integer.
    """
    array = as_integers(lags, "lags")
    if array.size and max(-int(array.min()), int(array.max())) > MAX_POSITION:
        raise InputError("a lag is out of range", accepted=f"-{MAX_POSITION} to {MAX_POSITION} is accepted")
    return array


def as_integers(values: ArrayLike, name: str) -> I64:
    """Read a sequence of integers, shape (n,).

    Raises
    ------
    InputError : not integers, or more than one axis.
    """
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise InputError(f"{name} have {array.ndim} axes", str(array.shape), "a sequence of integers is accepted")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{name} are not integers", str(array.dtype), "a sequence of integers is accepted")
    return array.astype(np.int64)


def _check_size(count: int, width: int) -> None:
    if count * width > MAX_HELD_ENTRIES:
        raise InputError("the table is too large to hold", f"{count} x {width}", f"at most {MAX_HELD_ENTRIES} numbers")


def find_encoding_class(name: str, classes: Sequence[type[Encoding]]) -> type[Encoding] | None:
    """Return the class of that name, or None."""
    return next((cls for cls in classes if cls.name == name), None)
