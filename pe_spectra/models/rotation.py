"""A rotation as an implementation computes it, whatever it was found from: a configuration or a dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pe_spectra.encodings.rotary import Rope
from pe_spectra.exact import F64
from pe_spectra.quantities import Result, quantity

#: Relative difference of frequencies that are the same formula: a few roundings in float64.
SAME_FORMULA = 1e-12


@dataclass(frozen=True, kw_only=True)
class Rotation(Result):
    """What queries and keys are turned by in the layers of one type; null where a part is not known.

    `rope` is the encoding of the catalogue that it was computed by; None where it is from a formula or numbers of its
    own.
    """

    rope: Rope | None = None
    name: str = quantity("Name of the type; all where there is one.", default="all")
    head_dim: int | None = quantity("Width of a head, in channels.", default=None, minimum=1)
    rotary_dim: int | None = quantity("Channels of it that are turned, D.", default=None, minimum=0)
    base: float | None = quantity("Base of the ladder before scaling.", default=None, above=0)
    scaling: str | None = quantity("Scaling by the catalogue's name, none for no scaling.", default=None)
    options: Mapping[str, object] = quantity(
        "Parameters of the scaling by the catalogue's names; empty without one.",
        default_factory=lambda: MappingProxyType({}),
        key="scaling_parameters",
        schema={
            "type": "object",
            "properties": {},
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
            "additionalProperties": True,
        },
    )
    frequencies: F64 | None = quantity(
        "Of each of the D/2 pairs, fastest first, after scaling; read-only.",
        unit="rad/position",
        default=None,
        key=None,
    )
    layout: str | None = quantity(
        "Which channels are a pair: i and i + D/2 (half), or 2i and 2i + 1 (interleaved).",
        default=None,
        words=("half", "interleaved", None),
    )
    attention_scaling: float | None = quantity(
        "Factor on every cosine and sine; scores have its square.", default=None, above=0
    )
    offset: int | None = quantity("Phase of the first position, in positions.", default=None)
    dtype: str | None = quantity("Type of cosines and sines, or of the numbers of a dump.", default=None)
    error_bound: float = quantity(
        "Largest relative error of the frequencies from rounding; 0 where they are exact to float64.",
        default=0.0,
        key=None,
    )
    notes: tuple[str, ...] = quantity("What was assumed when it was read, each a sentence.", default=())

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the catalogue's `rope` that say the same, but for those at their defaults."""
        parts = {
            "d": self.head_dim,
            "base": self.base,
            "layout": self.layout if self.layout != "half" else None,
            "scaling": self.scaling if self.scaling != "none" else None,
            **self.options,
        }
        return {name: value for name, value in parts.items() if value is not None}
