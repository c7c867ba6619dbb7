"""A rotation as an implementation computes it, whatever it was found from: a configuration or a dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pe_spectra.exact import F64

#: Relative difference of frequencies that are the same formula: a few roundings in float64.
SAME_FORMULA = 1e-12


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """What queries and keys are turned by in the layers of one type. None where a part is not known.

    Attributes
    ----------
    name : the layer type; "all" where there is one.
    head_dim : width of a head.
    rotary_dim : D, the channels that are turned.
    base : base of the ladder before scaling.
    scaling : the name that the catalogue has for the scaling ("none", "yarn", ..).
    options : the parameters of that scaling, by the names of the catalogue (factor, original, ..).
    frequencies : rad/position of each of the D/2 pairs, fastest first, after scaling. Read-only.
    layout : half, pairs (i, i + D/2), or interleaved, pairs (2i, 2i + 1).
    attention_scaling : the factor on every cosine and sine (scores have its square).
    offset : the phase that the first position has, in positions: 0 in most implementations.
    dtype : the type that cosines and sines, or the frequencies of a dump, are stored in.
    error_bound : largest relative error that `frequencies` may have from rounding (0: exact to float64).
    notes : what was assumed, each a sentence.
    """

    name: str = "all"
    head_dim: int | None = None
    rotary_dim: int | None = None
    base: float | None = None
    scaling: str | None = None
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    frequencies: F64 | None = None
    layout: str | None = None
    attention_scaling: float | None = None
    offset: int | None = None
    dtype: str | None = None
    error_bound: float = 0.0
    notes: tuple[str, ...] = ()
