"""The number types that models compute and store in, rounding to nearest in each of them, once, and recipes of types.

Numbers of a type are carried in float32, or in float64 where they need it, so that they can be computed
with: every number of a narrow type is one of float32. A cast from float64 that goes through float32 rounds
twice (1 + 2**-8 + 2**-40 would become 1 in bfloat16), so the bits of whatever is given are rounded as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, NDArray, list_blocks
from pe_spectra.numbers import Choice
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.vocabulary import RECIPE_TITLES
from pe_spectra.vocabulary import RECIPES as RECIPE_NAMES

#: Numbers of a type, carried in float32 or float64.
Carried = NDArray[np.float32] | NDArray[np.float64]

_INF, _NAN = math.inf, math.nan


@dataclass(frozen=True, kw_only=True)
class NumberType:
    """A binary floating-point type.

    Attributes
    ----------
    digits : bits of the significand, the leading one included.
    exponent : of two, of the smallest normal number.
    largest : the largest finite number.
    overflow : what a larger number is rounded to: infinity, or NaN in a type without infinities; where casts
        saturate, the largest.
    """

    name: str
    digits: int
    exponent: int
    largest: float
    overflow: float = _INF

    @property
    def is_double(self) -> bool:
        """Whether its numbers need float64 as their carrier."""
        return self.digits > 24

    @property
    def saturates(self) -> bool:
        """Whether what is beyond its largest number becomes that."""
        return self.overflow == self.largest

    @property
    def step(self) -> float:
        """The distance of its smallest numbers, those next to 0."""
        return math.ldexp(1.0, self.exponent - self.digits + 1)

    @property
    def roundoff(self) -> float:
        """The largest relative error of rounding to nearest, for normal numbers: half an ulp of 1."""
        return math.ldexp(1.0, -self.digits)

    def holds(self, values: F64) -> bool:
        """Whether every number of an array is one of this type; a few rows rule most arrays out.

        >>> DTYPES["float16"].holds(np.array([0.5, 65504.0])), DTYPES["float16"].holds(np.array([0.1]))
        (True, False)
        """
        if self.is_double:
            return True
        few = slice(None, None, max(1, len(values) // 64))
        parts = (values[rows] for rows in (few, *list_blocks(len(values), math.prod(values.shape[1:]))))
        return all(bool((round_to(part, self) == part).all()) for part in parts)

    def bound_roundings(self, magnitudes: F64) -> F64:
        """Return what rounding to nearest takes off any number up to a magnitude, at most; casts that saturate cut off.

        Parameters
        ----------
        magnitudes : (M,) at least 0, finite.

        >>> DTYPES["float8_e4m3fn"].bound_roundings(np.array([0.0, 16.0])).tolist()
        [0.0, 0.5]
        >>> DTYPES["float8_e4m3fn-saturating"].bound_roundings(np.array([1000.0])).tolist()
        [552.0]
        """
        rounded = self._measure_ulps(np.nextafter(magnitudes, 0.0)) / 2
        cut: F64 = np.maximum(rounded, magnitudes - self.largest) if self.saturates else rounded
        return np.where(magnitudes > 0, cut, 0.0)

    def measure_ulp(self, magnitude: float) -> float:
        """Return the unit in the last place at a magnitude: the distance of its numbers from there upwards.

        >>> DTYPES["bfloat16"].measure_ulp(1.0), DTYPES["bfloat16"].measure_ulp(0.75)
        (0.0078125, 0.00390625)
        """
        return float(self._measure_ulps(np.array(magnitude)))

    def _measure_ulps(self, magnitudes: F64) -> F64:
        _, exponents = np.frexp(magnitudes)  # magnitude = m 2**exponent with 1/2 <= m < 1
        found = np.ldexp(1.0, np.maximum(exponents - 1, self.exponent) - self.digits + 1)
        return np.where(magnitudes == 0, self.step, found)


#: Stands in a recipe for the type that is looked at.
ASKED = "dtype"
_KINDS = (
    NumberType(name="bfloat16", digits=8, exponent=-126, largest=(2 - 2.0**-7) * 2.0**127),
    NumberType(name="float16", digits=11, exponent=-14, largest=65504.0),
    NumberType(name="float32", digits=24, exponent=-126, largest=(2 - 2.0**-23) * 2.0**127),
    NumberType(name="float64", digits=53, exponent=-1022, largest=(2 - 2.0**-52) * 2.0**1023),
    NumberType(name="float8_e4m3fn", digits=4, exponent=-6, largest=448.0, overflow=_NAN),
    NumberType(name="float8_e5m2", digits=3, exponent=-14, largest=57344.0),
    NumberType(name="float8_e4m3fnuz", digits=4, exponent=-7, largest=240.0, overflow=_NAN),
    NumberType(name="float8_e5m2fnuz", digits=3, exponent=-15, largest=57344.0, overflow=_NAN),
)
#: Ends the name of a type whose casts saturate.
SATURATING = "-saturating"
#: Every type that is known. Above their largest number, types without infinities give NaN, as ml_dtypes has it. Casts
#: that saturate, as those of hardware often do, give that largest number instead (OCP 8-bit Floating Point, 5.2.1).
DTYPES: Mapping[str, NumberType] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *_KINDS,
            *(replace(one, name=one.name + SATURATING, overflow=one.largest) for one in _KINDS if one.digits <= 4),
        )
    }
)
DTYPE = Choice(members=tuple(DTYPES))
#: Types that arrays are stored in, the coarsest first.
STORED_TYPES: Mapping[str, NumberType] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            NumberType(name="float4_e2m1fn", digits=2, exponent=0, largest=6.0, overflow=6.0),
            *sorted(_KINDS, key=lambda kind: kind.digits),
        )
    }
)
#: Those that numbers are looked for in that were stored in a wider one: in fewer bits small integers are numbers, too.
_COPIED_FROM = ("bfloat16", "float16", "float32")


def find_stored_type(dtype: str, *arrays: F64) -> str:
    """Return the coarsest of bfloat16, float16 and float32 that holds every number exactly, else the type given.

    A table that is stored in float32 may be a copy of one in float16.

    Parameters
    ----------
    dtype : the type that the numbers are stored in: the answer where it is as coarse, and where the numbers say
        nothing, as zeros and ones, which are in every type. What is none of `STORED_TYPES` stands for float64.
    arrays : any shapes.

    >>> find_stored_type("float64", np.array([[0.5, 1.25]])), find_stored_type("float32", np.array([0.0, 1.0]))
    ('bfloat16', 'float32')
    """
    stored = dtype if dtype in STORED_TYPES else "float64"
    parts = (one[rows] for one in arrays for rows in list_blocks(len(one), math.prod(one.shape[1:])))
    if not any(bool(((np.abs(part) != 1) & (part != 0)).any()) for part in parts):
        return stored
    coarser = (DTYPES[name] for name in _COPIED_FROM if DTYPES[name].digits < STORED_TYPES[stored].digits)
    return next((kind.name for kind in coarser if all(map(kind.holds, arrays))), stored)


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def round_to(values: Carried, kind: NumberType) -> Carried:
    """Round numbers to nearest, ties to even, in a type; right also for its subnormal numbers.

    Parameters
    ----------
    values : float32 or float64, any shape.

    Returns
    -------
    The same shape in the type's carrier, float64 for float64 and float32 for all others. Zeros have no sign,
    and there is one NaN, so that two numbers are equal if and only if their bytes are.

    >>> round_to(np.array([256.0, 257.0, 258.0]), DTYPES["bfloat16"]).tolist()
    [256.0, 256.0, 258.0]
    """
    if kind.is_double:
        return _normalise(values.astype(np.float64, copy=False))
    if kind.digits == 24:
        return _normalise(values.astype(np.float32, copy=False))
    word: Any
    word, digits = (np.uint32, 24) if values.dtype == np.float32 else (np.uint64, 53)
    bits = np.ascontiguousarray(values).view(word)
    shift = word(digits - kind.digits)
    raised = bits >> shift  # the last bit that is kept, and half a unit less one: ties go to even
    raised &= word(1)
    raised += word((1 << (digits - 1 - kind.digits)) - 1)
    raised += bits
    raised &= ~word((1 << (digits - kind.digits)) - 1)
    rounded = raised.view(values.dtype)
    return _mend(values, rounded, kind, digits).astype(np.float32, copy=False)


def _mend(values: Carried, rounded: Carried, kind: NumberType, digits: int) -> Carried:
    """Put right, in place, what is no normal number of the type; `digits` has the significand of the values."""
    size, carrier = np.abs(values), values.dtype.type
    small = np.flatnonzero(size < carrier(math.ldexp(1.0, kind.exponent)))
    if len(small):
        # the addition rounds to a multiple of the step, once, and takes the sign of zeros
        shift = carrier(1.5 * 2.0 ** (digits - 1) * kind.step)
        rounded.reshape(-1)[small] = (values.reshape(-1)[small] + shift) - shift
    # few blocks hold numbers that are too large, or NaN
    if not size.max(initial=0) <= carrier(kind.largest):
        over = np.abs(rounded) > carrier(kind.largest)
        np.copyto(rounded, np.copysign(carrier(kind.overflow), values), where=over)
        rounded[np.isnan(values) | np.isnan(rounded)] = _NAN
    return rounded


def _normalise(values: Carried) -> Carried:
    """Give zeros no sign, and all NaNs the same bytes."""
    result = values + values.dtype.type(0)
    if np.isnan(result.max(initial=-_INF)):
        result[np.isnan(result)] = _NAN
    return result


def multiply(a: Carried, b: Carried, kind: NumberType) -> Carried:
    """Return a b rounded to a type, as its hardware has it.

    Exactly once where a and b are numbers of the type: two significands of at most 11 bits have a product of
    at most 22, which float32 holds; products of float32 and float64 are rounded by the machine. Numbers of a
    wider type are multiplied there, and the product is then cast.

    >>> three = np.array([3.0], dtype=np.float32)
    >>> multiply(three, np.array([171.0], dtype=np.float32), DTYPES["bfloat16"]).tolist()  # 513
    [512.0]
    """
    return _compute(np.multiply, a, b, kind)


def add(a: Carried, b: Carried, kind: NumberType) -> Carried:
    """Return a + b rounded to a type, as its hardware has it.

    The sum of two numbers of a type of p digits that is rounded to 2 p + 2 digits before is the same as one
    rounded once (Figueroa 1995); 24 digits of float32 are that many for all narrow types, of at most 11.
    Numbers of a wider type are added there, and the sum is then cast.

    >>> add(np.array([256.0], dtype=np.float32), np.array([1.0], dtype=np.float32), DTYPES["bfloat16"]).tolist()
    [256.0]
    """
    return _compute(np.add, a, b, kind)


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _compute(operation: np.ufunc, a: Carried, b: Carried, kind: NumberType) -> Carried:
    wide = np.float64 if kind.is_double or np.float64 in (a.dtype, b.dtype) else np.float32
    return round_to(operation(a.astype(wide, copy=False), b.astype(wide, copy=False)), kind)


# --------------------------------------------------------------------- recipes: the type of each step


class Steps(NamedTuple):
    """The type of each step: positions, frequencies, their products, sines and cosines, the code, the sum."""

    positions: NumberType
    frequencies: NumberType
    phases: NumberType
    sines: NumberType
    code: NumberType
    sum: NumberType


_SINGLE = "float32"
_TYPES = (ASKED, _SINGLE)


@dataclass(frozen=True, kw_only=True)
class Recipe(Result):
    """The type of each step; dtype stands for the type that is looked at.

    The sum of code and token embedding is in that type, whatever the steps before it are in.

    >>> [(recipe.title, recipe.positions) for recipe in RECIPES.values()][2:4]
    [('fp32-then-cast', 'float32'), ('narrow-positions', 'dtype')]
    """

    name: str = quantity("Name of the recipe.", words=RECIPE_NAMES)
    #: How it is done, as a part of a sentence: when ..
    when: str
    positions: str = quantity("The type that positions are cast to.", words=_TYPES)
    frequencies: str = quantity("The type that frequencies are cast to.", words=_TYPES)
    phases: str = quantity("The type of their products.", words=_TYPES)
    sines: str = quantity("The type of sines and cosines.", words=_TYPES)
    code: str = quantity("The type that the code is kept in.", words=_TYPES)

    @property
    def title(self) -> str:
        """What people call it: JSON and CSV keep the names of release 0.1.0."""
        return RECIPE_TITLES.get(self.name, self.name)

    def resolve(self, dtype: str) -> Steps:
        """Return the types of the steps where `dtype` is looked at."""
        named = (self.positions, self.frequencies, self.phases, self.sines, self.code, ASKED)
        return Steps(*(DTYPES[dtype if name == ASKED else name] for name in named))

    @property
    def casts_positions_alone(self) -> bool:
        """Whether positions may be cast, but nothing else before the code: all that a table without steps has."""
        return ASKED not in (self.frequencies, self.phases, self.sines)


def _tell(name: str, when: str, first: str, middle: str, last: str) -> Recipe:
    """A recipe by the types of the positions, of the steps in the middle, and of the code."""
    return Recipe(name=name, when=when, positions=first, frequencies=middle, phases=middle, sines=middle, code=last)


#: Every recipe, from the one that keeps most to the one that keeps least.
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            _tell("fp32", "when the code is kept in float32", _SINGLE, _SINGLE, _SINGLE),
            Recipe(
                name="narrow-frequencies",
                when="when frequencies are rounded first",
                positions=_SINGLE,
                frequencies=ASKED,
                phases=_SINGLE,
                sines=_SINGLE,
                code=_SINGLE,
            ),
            _tell("fp32-then-cast", "when computed in float32 and cast at the end", _SINGLE, _SINGLE, ASKED),
            _tell("bf16-positions", "when positions are cast first", ASKED, _SINGLE, ASKED),
            _tell("all-bf16", "when every step is in it", ASKED, ASKED, ASKED),
        )
    }
)


def find_recipe(name: str) -> Recipe:
    """Return a recipe by its title, or by its name in JSON.

    Raises
    ------
    InputError : neither.

    >>> find_recipe("narrow-positions") is find_recipe("bf16-positions")
    True
    """
    for recipe in RECIPES.values():
        if name in (recipe.name, recipe.title):
            return recipe
    raise InputError("recipe is not known", name or "''", f"accepted: {', '.join(RECIPE_TITLES.values())}")
