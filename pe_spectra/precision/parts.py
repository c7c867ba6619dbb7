"""What one pass over all positions is asked for, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import NumberType
from pe_spectra.precision.stages import Found


class Head(NamedTuple):
    """The last two steps: the types of the code and of its sum with a token's embedding."""

    code: NumberType
    sum: NumberType


class Curves(NamedTuple):
    """Numbers of positions, distinct codes and the largest phase error among so many; the first two merged."""

    counts: I64
    distinct: I64
    errors: F64 | None
    merged: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """The stages of one pipeline by name, in order, and its curves."""

    stages: dict[str, Found]
    curves: Curves


@dataclass(frozen=True, kw_only=True)
class Addition:
    """Whether codes are added to a token, and of which standard deviation its embedding is."""

    is_made: bool
    spread: float
