"""One stage of a pipeline as it is found: equal rows, constant channels, phase errors, the smallest separation."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import NumberType
from pe_spectra.precision.hashed_rows import Evaluate, Gathering
from pe_spectra.precision.rounding_report import Stage


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Positions or lags, and the rows that belong to them: those that were cast to one number share a row.

    Attributes
    ----------
    values : (S,) positions or lags.
    groups : (S,) for each the number of its row, in order of appearance.
    keys : (S,) equal where codes are in exact arithmetic; None where all are different, as far as is known.
    """

    values: I64
    groups: I64
    keys: I64 | None = None

    @cached_property
    def first(self) -> I64:
        """The place at which each row appears first."""
        return np.unique(self.groups, return_index=True)[1].astype(np.int64)

    def find_twins(self, leaders: I64) -> I64:
        """Return for each place the first place whose row is equal, given the first equal row of each row."""
        twins: I64 = self.first[leaders[self.groups]]
        return twins

    def find_collision(self, twins: I64, keys: I64 | None = None) -> tuple[int, int] | None:
        """Return the first place that equals an earlier one, after that one; with keys, one that differs in them."""
        names = np.arange(len(twins)) if keys is None else keys
        later = np.flatnonzero(names[twins] != names)
        if not len(later):
            return None
        t = int(later[0])
        return int(self.values[twins[t]]), int(self.values[t])

    def count(self, rows: I64) -> int:
        """Return how many places have one of these rows."""
        return int(np.isin(self.groups, rows).sum())


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a stage has in common for all recipes that share it."""

    kind: NumberType
    distinct: int
    first_collision: tuple[int, int] | None
    max_phase_error: float | None
    constant_channels: int | None
    not_finite: int
    min_separation: float | None = None
    closest_pair: tuple[int, int] | None = None
    ulp_margin: float | None = None

    def name(self, dtype: str, recipe: str, stage: str, total: int) -> Stage:
        """Return the stage of one recipe."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "kind"}
        return Stage(dtype=dtype, recipe=recipe, stage=stage, type=self.kind.name, total=total, **found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Settled:
    """A gathered table with its equal rows found: the places that are equal, and the stage without its separation."""

    twins: I64
    found: Found


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
class MeasuredStage:
    """The stages of one pipeline by name, in order, and its curves."""

    stages: dict[str, Found]
    curves: Curves


@dataclass(frozen=True, kw_only=True)
class Addition:
    """Whether codes are added to a token, and of which standard deviation its embedding is."""

    is_made: bool
    spread: float


def settle(gathering: Gathering, places: Places, kind: NumberType, *, error: float | None, constant: int) -> Settled:
    """Find the equal rows of a table that has streamed past.

    >>> from pe_spectra.precision.dtypes import DTYPES
    >>> table = np.array([[1.0], [2.0], [1.0]], dtype=np.float32)
    >>> seen = Gathering(rows=3, columns=1, evaluate=lambda rows: table[rows])
    >>> seen.add(np.arange(3), table)
    >>> places = Places(values=np.arange(3), groups=np.arange(3))
    >>> found = settle(seen, places, DTYPES["float32"], error=None, constant=0).found
    >>> found.distinct, found.first_collision
    (2, (0, 2))
    """
    leaders = gathering.find_first_equal()
    twins = places.find_twins(leaders)
    found = Found(
        kind=kind,
        distinct=int(np.count_nonzero(leaders == np.arange(len(leaders)))),
        first_collision=places.find_collision(twins),
        max_phase_error=error,
        constant_channels=constant,
        not_finite=places.count(gathering.not_finite),
    )
    return Settled(twins=twins, found=found)


def measure_margin(evaluate: Evaluate, rows: tuple[int, int], distance: float, kind: NumberType) -> float:
    """Return a distance of two rows in units in the last place at their largest entry.

    >>> from pe_spectra.precision.dtypes import DTYPES
    >>> table = np.array([[1.0], [1.5]], dtype=np.float32)
    >>> measure_margin(lambda rows: table[rows], (0, 1), 0.5, DTYPES["bfloat16"])  # 2**-7 each
    64.0
    """
    largest = float(np.abs(evaluate(np.array(rows))).max())
    return distance / kind.measure_ulp(largest)


def count_staircase(twins: I64, most: int = 400) -> tuple[I64, I64]:
    """Return numbers of positions, evenly on a logarithmic axis, and the distinct codes among the first so many.

    >>> counts, distinct = count_staircase(np.array([0, 1, 1, 3]))
    >>> counts.tolist(), distinct.tolist()
    ([1, 2, 3, 4], [1, 2, 2, 3])
    """
    size = len(twins)
    counts = np.unique(np.rint(np.geomspace(1, size, most)).astype(np.int64))
    distinct = np.cumsum(twins == np.arange(size))[counts - 1]
    return counts, distinct


def finite_or_none(value: float) -> float | None:
    """Return a number, or None for an infinity or NaN.

    >>> finite_or_none(0.5), finite_or_none(float("inf"))
    (0.5, None)
    """
    return value if math.isfinite(value) else None
