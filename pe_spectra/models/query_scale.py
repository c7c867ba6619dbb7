"""A factor on queries that goes by their position, which scores have too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pe_spectra.wording import write_number

#: The formula by the name of a form: s the position, a the strength, n the length.
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "steps": "1 + {a} ln(1 + floor({s}/{n}))",
        "beyond": "1 + {a} ln(max({s}/{n}, 1))",
        "power": "(1 + {s}/{n})^{a}",
    }
)


class QueryScale(NamedTuple):
    """A factor on queries by their position.

    >>> scale = QueryScale("steps", strength=0.1, length=8192, offset=1)
    >>> scale.text, scale.begins, round(scale.compute(131071), 4)
    ('1 + 0.1 ln(1 + floor((s + 1)/8192))', 8191, 1.2833)
    """

    form: str  #: steps, beyond or power
    strength: float
    length: int  #: in positions
    offset: int = 0  #: added to the position
    layers: str = "all"  #: or unturned, for those without a rotation, or a layer type

    def compute(self, position: int) -> float:
        """The factor at a position >= 0."""
        ratio = (position + self.offset) / self.length
        if self.form == "steps":
            return 1 + self.strength * math.log1p(math.floor(ratio))
        if self.form == "beyond":
            return 1 + self.strength * math.log(max(ratio, 1.0))
        return math.pow(1 + ratio, self.strength)

    @property
    def begins(self) -> int:
        """The first position at which it is not 1."""
        place = {"steps": self.length, "beyond": self.length + 1}.get(self.form, 1)
        return max(0, place - self.offset)

    @property
    def text(self) -> str:
        """Its formula, s the position, and the layers that have it."""
        s = f"(s + {self.offset})" if self.offset else "s"
        formula = _TEXTS[self.form].format(a=write_number(self.strength), s=s, n=self.length)
        where = {"all": "", "unturned": " in layers without a rotation"}
        return formula + where.get(self.layers, f" in {self.layers} layers")
