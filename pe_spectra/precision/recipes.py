"""In which type each step of an implementation computes: the recipes that are common, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pe_spectra.errors import InputError
from pe_spectra.precision.dtypes import DTYPES, NumberType
from pe_spectra.quantities import Result, quantity
from pe_spectra.vocabulary import RECIPE_TITLES
from pe_spectra.vocabulary import RECIPES as NAMES

#: Stands in a recipe for the type that is looked at.
ASKED = "dtype"


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

    >>> [(recipe.title, recipe.positions) for recipe in RECIPES.values()][1:3]
    [('fp32-then-cast', 'float32'), ('narrow-positions', 'dtype')]
    """

    name: str = quantity("Name of the recipe.", words=NAMES)
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
            _tell("fp32", "when kept in float32", _SINGLE, _SINGLE, _SINGLE),
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
