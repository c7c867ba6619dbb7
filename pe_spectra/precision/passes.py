"""One pass over all positions, or lags: every pipeline that shares its first steps, gathered from the same rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from pe_spectra.exact import F64, I64, NDArray
from pe_spectra.ordering import list_distinct
from pe_spectra.precision.dtypes import Carried, NumberType, Steps, add, round_to
from pe_spectra.precision.hashed_rows import (
    MAX_HELD_WORK,
    Gathering,
    Nearest,
    Places,
    find_nearest_held,
    find_nearest_of_ladder,
    list_blocks,
)
from pe_spectra.precision.phase_bounds import bound_cast
from pe_spectra.precision.rounding_report import Stage, Staircase
from pe_spectra.precision.waves import Front, draw_embedding
from pe_spectra.records import NamedTuple, dataclass

#: Points of a staircase.
_MOST_COUNTS = 400


class Pipeline(NamedTuple):
    """The stages of one pipeline, in order, and its staircases; dtype and recipe are left open."""

    stages: tuple[Stage, ...]
    stairs: tuple[Staircase, ...]


class _Ending(NamedTuple):
    """The last two steps: the type of the code, and of its sum with a token's embedding; None before the sum."""

    code: NumberType
    sum: NumberType | None


@dataclass(kw_only=True, eq=False)
class Pass(ABC):
    """All stages of the pipelines that share positions, frequencies, phases and sines.

    Parameters
    ----------
    steps : what they share; members : the pipelines.
    moving : (columns,) whether a column changes before any cast.
    spread : standard deviation of the token's embedding; None where codes are added to nothing.
    """

    steps: Steps
    members: Sequence[Steps]
    places: Places
    moving: NDArray[np.bool_]
    spread: float | None
    _tables: dict[_Ending, Gathering] = field(init=False)

    @property
    def columns(self) -> int:
        """How many columns a code has."""
        return len(self.moving)

    def measure(self) -> dict[Steps, Pipeline]:
        """Stream all rows once, then find equal and nearest ones."""
        sums = [_Ending(one.code, one.sum) for one in self.members if self.spread is not None]
        endings = dict.fromkeys([*(_Ending(one.code, None) for one in self.members), *sums])
        self._tables = {ending: self._gather(ending) for ending in endings}
        for numbers in list_blocks(self.places.rows, self.columns):
            sines = self._look_at(numbers)
            codes = {code: self._round_codes(sines, code) for code in {ending.code for ending in endings}}
            for ending, gathering in self._tables.items():
                gathering.add(numbers, self._finish(codes[ending.code], ending))
        equal = dict[_Ending, I64]()
        for ending in reversed(endings):  # sums first: where they are all different, so are codes, and then sines
            follow = [one for one in equal if ending == _Ending(one.code, None)]
            equal[ending] = self._tables[ending].find_first_equal(equal[follow[0]] if follow else None)
        early = self._settle_early(max(equal.values(), key=np.sum))  # the largest is that of rows that all differ
        twins, late = dict[_Ending, I64](), dict[_Ending, Stage]()
        for ending in endings:
            twins[ending], late[ending] = self._settle(ending, equal.pop(ending))
        measured = {}
        for one in self.members:
            code, total = _Ending(one.code, None), _Ending(one.code, one.sum)
            stages, stairs = [*early, late[code]], [self._trace(twins[code])]
            if self.spread is not None:
                stages.append(late[total])
                if not np.array_equal(twins[code], twins[total]):
                    stairs.append(self._count(twins[total], "sum"))
            measured[one] = Pipeline(tuple(stages), tuple(stairs))
        return measured

    @abstractmethod
    def _compute_sines(self, rows: I64) -> Carried:
        """What the pipelines have in common of some rows, rounded."""

    @abstractmethod
    def _settle_early(self, known: I64) -> list[Stage]:
        """The stages before a code, of whose rows the first equal ones are known."""

    def _find_nearest(self, ending: _Ending) -> Nearest | None:
        """The closest two of rows that are all different; None where that is too much work."""
        size = self.places.rows
        is_small = size > 1 and size * size * self.columns <= MAX_HELD_WORK << 2
        return find_nearest_held(self._tables[ending].evaluate, size) if is_small else None

    def _look_at(self, numbers: I64) -> Carried:
        return self._compute_sines(numbers)

    def _round_codes(self, sines: Carried, code: NumberType) -> Carried:
        return round_to(sines, code)

    @property
    def _error(self) -> float | None:
        """The largest error of the phases."""
        return None

    def _gather(self, ending: _Ending) -> Gathering:
        def evaluate(rows: I64) -> Carried:
            return self._finish(self._round_codes(self._compute_sines(rows), ending.code), ending)

        return Gathering(rows=self.places.rows, columns=self.columns, evaluate=evaluate)

    def _finish(self, codes: Carried, ending: _Ending) -> Carried:
        if ending.sum is None or self.spread is None:
            return codes
        return add(codes, draw_embedding(self.columns, self.spread, ending.sum), ending.sum)

    def _settle(self, ending: _Ending, equal: I64) -> tuple[I64, Stage]:
        """Describe the equal rows of a table of codes, or the closest two where all are different."""
        gathering = self._tables[ending]
        name, kind = ("code", ending.code) if ending.sum is None else ("sum", ending.sum)
        lost = self._count_lost(gathering)
        twins, stage = self._settle_rows(name, kind, gathering.not_finite, lost, equal)
        if stage.first_collision is not None:
            return twins, replace(stage, min_separation=0.0, closest_pair=stage.first_collision, ulp_margin=0.0)
        nearest = None if stage.not_finite else self._find_nearest(ending)
        if nearest is None:
            return twins, stage
        distance, rows = nearest
        s, t = sorted(int(self.places.values[row]) for row in rows)
        ulp = kind.measure_ulp(float(np.abs(gathering.evaluate(np.array(rows))).max()))
        return twins, replace(stage, min_separation=distance, closest_pair=(s, t), ulp_margin=distance / ulp)

    def _settle_rows(self, name: str, kind: NumberType, odd: I64, lost: int, equal: I64) -> tuple[I64, Stage]:
        twins = self.places.find_twins(equal)
        return twins, self._describe(name, kind, twins, odd, error=self._error, constant=lost)

    def _count_lost(self, gathering: Gathering) -> int:
        """Count the columns that have gone constant, and were not before."""
        return int(np.count_nonzero(self.moving[gathering.constant])) if len(self.places.values) > 1 else 0

    def _describe_positions(self, cast: Carried, error: float | None) -> Stage:
        rows = np.arange(self.places.rows)
        twins, odd = self.places.find_twins(rows), rows[~np.isfinite(cast)]
        return self._describe("positions", self.steps.positions, twins, odd, error=error, constant=None)

    def _describe(
        self, name: str, kind: NumberType, twins: I64, odd: I64, *, error: float | None, constant: int | None
    ) -> Stage:
        return Stage(
            dtype="",
            recipe="",
            stage=name,
            type=kind.name,
            distinct=int(np.count_nonzero(twins == np.arange(len(twins)))),
            total=len(twins),
            first_collision=self.places.find_collision(twins),
            max_phase_error=error,
            constant_channels=constant,
            not_finite=int(np.isin(self.places.groups, odd).sum()) if len(odd) else 0,
            merged=self.places.find_collision(twins, self.places.keys),
        )

    def _trace(self, twins: I64) -> Staircase:
        """Return the staircase of codes."""
        return self._count(twins, "code")

    def _count(self, twins: I64, stage: str) -> Staircase:
        """Count the distinct vectors among the first positions, evenly on a logarithmic axis."""
        size = len(twins)
        counts = list_distinct(np.rint(np.geomspace(1, size, _MOST_COUNTS)).astype(np.int64))
        distinct = np.cumsum(twins == np.arange(size))[counts - 1]
        return Staircase(dtype="", recipe="", stage=stage, counts=counts, distinct=distinct, errors=None)


@dataclass(kw_only=True, eq=False)
class TablePass(Pass):
    """Given or computed codes: cast, and added to a token's embedding.

    Parameters
    ----------
    evaluate : computes exact codes in float64, by the number of their row.
    positions : as cast, where that is their first stage.
    """

    evaluate: Callable[[I64], F64]
    positions: Carried | None

    def _compute_sines(self, rows: I64) -> Carried:
        return round_to(self.evaluate(rows), self.steps.sines)

    def _settle_early(self, _: I64) -> list[Stage]:
        return [] if self.positions is None else [self._describe_positions(self.positions, None)]


@dataclass(kw_only=True, eq=False)
class LadderPass(Pass):
    """Sines and cosines of positions times frequencies, from the cast of the positions on.

    The largest phase errors are kept of each frequency, and of each row at the first and last position that it has.

    Parameters
    ----------
    exact : (S,) where the positions are, each larger than the one before.
    """

    front: Front
    exact: F64
    _of_frequencies: F64 = field(init=False)
    _at_first: F64 = field(init=False)
    _at_last: F64 = field(init=False)
    _phases: Gathering = field(init=False)
    _sines: Gathering = field(init=False)

    def __post_init__(self) -> None:
        rows, count = self.places.rows, len(self.front.waves.high)
        self._of_frequencies, self._at_first = np.zeros(count), np.zeros(rows)
        self._at_last = self._at_first if self.front.cast.are_apart else np.zeros(rows)
        self._sines = Gathering(rows=rows, columns=self.columns, evaluate=self._compute_sines)
        self._phases = Gathering(rows=rows, columns=count, evaluate=self.front.compute_phases, is_hashed=False)

    def _compute_sines(self, rows: I64) -> Carried:
        return self.front.compute_sines(self.front.compute_phases(rows))

    def _look_at(self, numbers: I64) -> Carried:
        phases = self.front.compute_phases(numbers)
        self._phases.add(numbers, phases)
        first, last = self.front.measure_errors(numbers, phases)
        for errors, largest in ((first, self._at_first), (last, self._at_last))[: 1 if last is first else 2]:
            largest[numbers] = errors.max(axis=1)
            np.maximum(self._of_frequencies, errors.max(axis=0), out=self._of_frequencies)
        sines = self.front.compute_sines(phases)
        self._sines.add(numbers, sines)
        return sines

    def _round_codes(self, sines: Carried, code: NumberType) -> Carried:
        return self.front.round_codes(sines, code)

    def _gather(self, ending: _Ending) -> Gathering:
        gathering = super()._gather(ending)
        gathering.wants_nearest = self.places.rows == len(self.exact) > 1 and self._is_in_a_row
        return gathering

    @cached_property
    def _error(self) -> float | None:
        worst = int(np.argmax(np.maximum(self._at_first, self._at_last)))
        error = self.front.refine_error(worst)
        return error if math.isfinite(error) else None

    def _settle_early(self, known: I64) -> list[Stage]:
        front, waves = self.front, self.front.waves
        positions = self._describe_positions(front.cast.positions, front.measure_position_error())
        lost = np.flatnonzero((front.frequencies == 0) & (waves.high != 0))
        frequencies = replace(
            positions,
            stage="frequencies",
            type=self.steps.frequencies.name,
            max_phase_error=front.measure_cast_error(),
            constant_channels=waves.count_columns(lost),
        )
        if not front.frequencies.any():  # else sines of binary fractions agree where those do: pi is irrational
            places, twins = self.places, np.zeros(len(self.places.values), dtype=np.int64)
            pairs = [places.find_collision(twins, keys) for keys in (None, places.keys)]
            frequencies = replace(frequencies, distinct=1, first_collision=pairs[0], merged=pairs[1])
        steady = self._phases.constant if len(self.places.values) > 1 else self._phases.constant[:0]
        constant = waves.count_columns(steady[waves.high[steady] != 0])
        gone, equal = self._count_lost(self._sines), self._sines.find_first_equal(known)
        _, sines = self._settle_rows("sines", self.steps.sines, self._sines.not_finite, gone, equal)
        equal = self._phases.find_first_equal(equal)
        _, phases = self._settle_rows("phases", self.steps.phases, self._phases.not_finite, constant, equal)
        return [positions, frequencies, phases, sines]

    @cached_property
    def _is_in_a_row(self) -> bool:
        """Whether row numbers differ by the lag of their positions."""
        return bool((np.diff(self.exact) == 1).all())

    @cached_property
    def _bounds(self) -> F64:
        return self.front.waves.bound_distances(self.places.rows - 1)

    def _find_nearest(self, ending: _Ending) -> Nearest | None:
        gathering = self._tables[ending]
        if not self._is_in_a_row:
            return super()._find_nearest(ending)
        if gathering.pair is None:
            return None
        known, error = (gathering.nearest, gathering.pair), self._bound_error(ending)
        return find_nearest_of_ladder(gathering.evaluate, gathering.rows, self.columns, self._bounds, error, known)

    def _bound_error(self, ending: _Ending) -> float:
        """By how much a rounded row is away from its exact code, in norm, at most."""
        largest = float(np.abs(self.front.waves.factors).max())
        entry = 3 * bound_cast(largest, self.steps.sines) + 2 * bound_cast(largest, ending.code)
        if ending.sum is not None and self.spread is not None:
            spread = float(np.abs(draw_embedding(self.columns, self.spread, ending.sum)).max())
            entry += 2 * bound_cast(spread + largest, ending.sum)
        turned = largest * float(np.sqrt(np.sum(self._of_frequencies**2)))
        return turned + math.sqrt(self.columns) * entry

    def _trace(self, twins: I64) -> Staircase:
        """Add the largest phase error among the first positions: at the ends of what was cast to one, and at each."""
        stair = super()._trace(twins)
        front, offset = self.front, self.front.waves.offset
        ends, errors = front.cast.first, self._at_first
        if not front.cast.are_apart:
            both = np.concatenate([ends, front.cast.last]), np.concatenate([errors, self._at_last])
            ends, errors = (one[np.argsort(both[0], kind="stable")] for one in both)
        last = self.exact[stair.counts - 1] + offset
        before = np.searchsorted(ends, last, side="right") - 1
        own = _accumulate(front.measure_at(self.places.groups[stair.counts - 1], last))
        return replace(stair, errors=np.maximum(_accumulate(errors)[before], own))


def _accumulate(errors: F64) -> F64:
    """The largest so far; infinite from the first that is no number."""
    largest: F64 = np.maximum.accumulate(np.nan_to_num(errors, nan=math.inf, posinf=math.inf))
    return largest
