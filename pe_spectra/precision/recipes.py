"""In which type each step of an implementation computes: the recipes that are common, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pe_spectra.numbers import Choice
from pe_spectra.precision.dtypes import DTYPES, NumberType

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


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The type of each step, by name; `dtype` stands for the type that is looked at.

    The sum of code and token embedding is in that type, whatever the steps before it are in.

    Attributes
    ----------
    when : how it is done, as a part of a sentence: when ..

    >>> [(recipe.name, recipe.positions) for recipe in RECIPES.values()][1:3]
    [('fp32-then-cast', 'float32'), ('bf16-positions', 'dtype')]
    """

    name: str
    when: str
    positions: str
    frequencies: str
    phases: str
    sines: str
    code: str

    def resolve(self, dtype: str) -> Steps:
        """Return the types of the steps where `dtype` is looked at."""
        named = (self.positions, self.frequencies, self.phases, self.sines, self.code, ASKED)
        return Steps(*(DTYPES[dtype if name == ASKED else name] for name in named))

    @property
    def casts_positions_alone(self) -> bool:
        """Whether positions may be cast, but nothing else before the code: all that a table without steps has."""
        return ASKED not in (self.frequencies, self.phases, self.sines)


_SINGLE = "float32"
#: Every recipe, from the one that keeps most to the one that keeps least.
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe(
                name="fp32",
                when="when kept in float32",
                positions=_SINGLE,
                frequencies=_SINGLE,
                phases=_SINGLE,
                sines=_SINGLE,
                code=_SINGLE,
            ),
            Recipe(
                name="fp32-then-cast",
                when="when computed in float32 and cast at the end",
                positions=_SINGLE,
                frequencies=_SINGLE,
                phases=_SINGLE,
                sines=_SINGLE,
                code=ASKED,
            ),
            Recipe(
                name="bf16-positions",
                when="when positions are cast first",
                positions=ASKED,
                frequencies=_SINGLE,
                phases=_SINGLE,
                sines=_SINGLE,
                code=ASKED,
            ),
            Recipe(
                name="all-bf16",
                when="when every step is in it",
                positions=ASKED,
                frequencies=ASKED,
                phases=ASKED,
                sines=ASKED,
                code=ASKED,
            ),
        )
    }
)
RECIPE = Choice(members=tuple(RECIPES))
