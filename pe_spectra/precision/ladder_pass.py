"""One pass over all positions of a ladder: every stage that shares its first steps, gathered from the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import Carried, NumberType, Steps, add
from pe_spectra.precision.hashed_rows import (
    Evaluate,
    Gathering,
    Nearest,
    bound_distances,
    find_nearest_of_ladder,
    list_blocks,
)
from pe_spectra.precision.stages import (
    Addition,
    Curves,
    Found,
    Head,
    MeasuredStage,
    Places,
    Settled,
    count_staircase,
    finite_or_none,
    measure_margin,
    settle,
)
from pe_spectra.precision.waves import Front, Waves, build_front, draw_embedding, round_codes

#: What is gathered, by the types of code and sum: None for the sines, (code, None) for the code alone.
_Key = tuple[NumberType, NumberType | None] | None


@dataclass(kw_only=True, eq=False)
class _Errors:
    """The largest phase errors of a pass: of each frequency, and of each row at both of its ends."""

    of_frequencies: F64
    at_first: F64
    at_last: F64

    def add(self, rows: I64, found: tuple[F64, F64]) -> None:
        first, last = found
        self.at_first[rows] = first.max(axis=1)
        self.at_last[rows] = self.at_first[rows] if last is first else last.max(axis=1)
        for part in (first,) if last is first else (first, last):
            np.maximum(self.of_frequencies, part.max(axis=0), out=self.of_frequencies)

    def find_worst(self) -> int:
        return int(np.argmax(np.maximum(self.at_first, self.at_last)))


@dataclass(kw_only=True, eq=False)
class LadderPass:
    """All stages of the recipes that share positions, frequencies, phases and sines.

    Parameters
    ----------
    heads : what follows the sines, each once.
    values : (S,) positions; `keys` : (S,) equal where their codes are in exact arithmetic.
    """

    waves: Waves
    steps: Steps
    heads: Sequence[Head]
    values: I64
    addition: Addition
    keys: I64 | None = None
    front: Front = field(init=False)
    places: Places = field(init=False)
    _bounds: F64 | None = None

    def measure(self) -> dict[Head, MeasuredStage]:
        """Stream all rows once, then find equal and nearest ones."""
        self.front, groups = build_front(self.waves, self.steps, self.values)
        self.places = Places(values=self.values, groups=groups, keys=self.keys)
        rows = len(self.front.positions)
        errors = _Errors(of_frequencies=np.zeros(len(self.waves.high)), at_first=np.zeros(rows), at_last=np.zeros(rows))
        phases = Gathering(rows=rows, columns=len(self.waves.high), evaluate=self.front.compute_phases)
        tables = self._list_tables(rows)
        for numbers in list_blocks(rows, self.waves.columns):
            block = self.front.compute_phases(numbers)
            phases.add(numbers, block)
            errors.add(numbers, self.front.measure_errors(numbers, block))
            sines = self.front.compute_sines(block)
            made: dict[NumberType, Carried] = {}
            for key, gathering in tables.items():
                gathering.add(numbers, self._finish(sines, key, made))
        return self._settle(phases, tables, errors)

    def _list_tables(self, rows: int) -> dict[_Key, Gathering]:
        wanted: list[_Key] = [None]
        for head in self.heads:
            wanted += [(head.code, None), *([(head.code, head.sum)] if self.addition.is_made else [])]
        is_whole = rows == len(self.values) > 1
        return {
            key: Gathering(
                rows=rows,
                columns=self.waves.columns,
                evaluate=self._make_evaluate(key),
                wants_nearest=is_whole and key is not None,
            )
            for key in dict.fromkeys(wanted)
        }

    def _make_evaluate(self, key: _Key) -> Evaluate:
        def evaluate(rows: I64) -> Carried:
            return self._finish(self.front.compute_sines(self.front.compute_phases(rows)), key, {})

        return evaluate

    def _finish(self, sines: Carried, key: _Key, made: dict[NumberType, Carried]) -> Carried:
        if key is None:
            return sines
        code, total = key
        if code not in made:
            made[code] = round_codes(sines, self.waves, self.steps._replace(code=code))
        if total is None:
            return made[code]
        return add(made[code], draw_embedding(self.waves.columns, self.addition.spread, total), total)

    def _settle(
        self,
        phases: Gathering,
        tables: dict[_Key, Gathering],
        errors: _Errors,
    ) -> dict[Head, MeasuredStage]:
        worst = finite_or_none(self.front.refine_error(errors.find_worst()))
        early = self._settle_early(phases, worst)
        sines = settle(tables[None], self.places, self.steps.sines, error=worst, constant=self._count(tables[None]))
        late = {key: self._settle_table(key, gathering, errors, worst) for key, gathering in tables.items() if key}
        result = {}
        for head in self.heads:
            code = late[head.code, None]
            stages = {**early, "sines": sines.found, "code": code.found}
            if self.addition.is_made:
                stages["sum"] = late[head.code, head.sum].found
            counts, distinct = count_staircase(code.twins)
            merged = self.places.find_collision(code.twins, self.keys)
            curves = Curves(counts, distinct, self._trace_errors(errors, counts), merged)
            result[head] = MeasuredStage(stages=stages, curves=curves)
        return result

    def _settle_early(self, phases: Gathering, worst: float | None) -> dict[str, Found]:
        places, front, high = self.places, self.front, self.waves.high
        rows = np.arange(len(front.positions))
        twins = places.find_twins(rows)
        positions = Found(
            kind=self.steps.positions,
            distinct=len(rows),
            first_collision=places.find_collision(twins),
            max_phase_error=front.measure_position_error(),
            constant_channels=None,
            not_finite=places.count(rows[~np.isfinite(front.positions)]),
        )
        lost = np.flatnonzero((front.frequencies == 0) & (high != 0))
        left = bool((front.frequencies != 0).any())
        frequencies = replace(
            positions,
            kind=self.steps.frequencies,
            # sines of binary fractions agree where the fractions do: pi is irrational
            distinct=len(rows) if left else 1,
            first_collision=positions.first_collision if left else places.find_collision(np.zeros_like(twins)),
            max_phase_error=front.measure_cast_error(),
            constant_channels=self.waves.count_columns(lost),
        )
        steady = phases.constant[high[phases.constant] != 0] if len(self.values) > 1 else phases.constant[:0]
        settled = settle(phases, places, self.steps.phases, error=worst, constant=self.waves.count_columns(steady))
        return {"positions": positions, "frequencies": frequencies, "phases": settled.found}

    def _count(self, gathering: Gathering) -> int:
        """Count the columns that have gone constant; those of frequency 0 always were."""
        if len(self.values) == 1:
            return 0
        moving = np.concatenate([self.waves.high[self.waves.sines], self.waves.high[self.waves.cosines]]) != 0
        return int(np.count_nonzero(moving[gathering.constant]))

    def _settle_table(
        self, key: tuple[NumberType, NumberType | None], gathering: Gathering, errors: _Errors, worst: float | None
    ) -> Settled:
        code, total = key
        kind = code if total is None else total
        settled = settle(gathering, self.places, kind, error=worst, constant=self._count(gathering))
        found = settled.found
        if found.first_collision is not None:
            found = replace(found, min_separation=0.0, closest_pair=found.first_collision, ulp_margin=0.0)
        elif gathering.pair is not None and not found.not_finite:
            nearest = self._find_nearest(gathering, self._bound_error(errors, code, total))
            if nearest is not None:
                found = self._add_nearest(found, gathering, nearest)
        return Settled(twins=settled.twins, found=found)

    def _add_nearest(self, found: Found, gathering: Gathering, nearest: Nearest) -> Found:
        distance, (s, t) = nearest
        ends = sorted((int(self.values[s]), int(self.values[t])))
        margin = measure_margin(gathering.evaluate, (s, t), distance, found.kind)
        return replace(found, min_separation=distance, closest_pair=(ends[0], ends[1]), ulp_margin=margin)

    def _find_nearest(self, gathering: Gathering, error: float) -> Nearest | None:
        rows, columns = gathering.rows, gathering.columns
        if gathering.pair is None:
            return None
        if self._bounds is None:
            self._bounds = bound_distances(self.waves, rows - 1)
        known = (gathering.nearest, gathering.pair)
        return find_nearest_of_ladder(gathering.evaluate, rows, columns, self._bounds, error, known)

    def _bound_error(self, errors: _Errors, code: NumberType, total: NumberType | None) -> float:
        """By how much a rounded row is away from its exact code, in norm, at most."""
        largest = float(np.abs(self.waves.factors).max())
        entry = 3 * (largest * self.steps.sines.roundoff + self.steps.sines.step)
        entry += 2 * (largest * code.roundoff + code.step)
        if total is not None:
            spread = float(np.abs(draw_embedding(self.waves.columns, self.addition.spread, total)).max())
            entry += 2 * ((spread + largest) * total.roundoff + total.step)
        turned = largest * float(np.sqrt(np.sum(errors.of_frequencies**2)))
        return turned + math.sqrt(self.waves.columns) * entry

    def _trace_errors(self, errors: _Errors, counts: I64) -> F64:
        """Largest phase error among the first positions: at the ends of what was cast to one number, and at each."""
        ends = np.concatenate([self.front.first, self.front.last]) - self.waves.offset
        found = np.concatenate([errors.at_first, errors.at_last])
        order = np.argsort(ends, kind="stable")
        so_far = np.maximum.accumulate(np.nan_to_num(found[order], nan=math.inf, posinf=math.inf))
        last = self.values[counts - 1]
        before = np.searchsorted(ends[order], last, side="right") - 1
        own = self.front.measure_at(self.places.groups[counts - 1], last + self.waves.offset)
        result: F64 = np.maximum(
            so_far[before], np.maximum.accumulate(np.nan_to_num(own, nan=math.inf, posinf=math.inf))
        )
        return result
