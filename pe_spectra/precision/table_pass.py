"""One pass over all positions, or lags, of an encoding without steps of its own: its codes are cast, and added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import Carried, Steps, add, round_to
from pe_spectra.precision.hashed_rows import Gathering, find_nearest_held, list_blocks
from pe_spectra.precision.stages import (
    Addition,
    Curves,
    Found,
    MeasuredStage,
    Places,
    Settled,
    count_staircase,
    measure_margin,
    settle,
)
from pe_spectra.precision.waves import draw_embedding


@dataclass(kw_only=True, eq=False)
class TablePass:
    """The stages of given or computed codes: cast, and added to a token's embedding.

    Parameters
    ----------
    evaluate : computes exact codes in float64, by the number of their row.
    steady : the columns that are constant before any cast.
    has_positions : whether the first stage casts positions.
    """

    steps: Steps
    evaluate: Callable[[I64], F64]
    columns: int
    places: Places
    steady: I64
    addition: Addition
    positions: Carried | None
    most: int

    def measure(self) -> MeasuredStage:
        """Stream all rows once, then find equal and nearest ones."""
        rows = int(self.places.groups.max()) + 1
        code = Gathering(rows=rows, columns=self.columns, evaluate=self._compute_codes)
        tables = {"code": code}
        if self.addition.is_made:
            tables["sum"] = Gathering(rows=rows, columns=self.columns, evaluate=self._compute_sums)
        for numbers in list_blocks(rows, self.columns):
            block = self._compute_codes(numbers)
            code.add(numbers, block)
            if "sum" in tables:
                tables["sum"].add(numbers, self._add(block))
        settled = {name: self._settle(gathering, name) for name, gathering in tables.items()}
        early = {} if self.positions is None else {"positions": self._describe_positions(self.positions)}
        counts, distinct = count_staircase(settled["code"].twins)
        stages = {**early, **{name: one.found for name, one in settled.items()}}
        return MeasuredStage(
            stages=stages,
            curves=Curves(counts, distinct, None, self.places.find_collision(settled["code"].twins, self.places.keys)),
        )

    def _compute_codes(self, rows: I64) -> Carried:
        return round_to(round_to(self.evaluate(rows), self.steps.sines), self.steps.code)

    def _compute_sums(self, rows: I64) -> Carried:
        return self._add(self._compute_codes(rows))

    def _add(self, block: Carried) -> Carried:
        return add(block, draw_embedding(self.columns, self.addition.spread, self.steps.sum), self.steps.sum)

    def _describe_positions(self, positions: Carried) -> Found:
        rows = np.arange(len(positions))
        return Found(
            kind=self.steps.positions,
            distinct=len(rows),
            first_collision=self.places.find_collision(self.places.find_twins(rows)),
            max_phase_error=None,
            constant_channels=None,
            not_finite=self.places.count(rows[~np.isfinite(positions)]),
        )

    def _settle(self, gathering: Gathering, name: str) -> Settled:
        kind = self.steps.code if name == "code" else self.steps.sum
        size = len(self.places.values)
        lost = 0 if size == 1 else len(np.setdiff1d(gathering.constant, self.steady))
        settled = settle(gathering, self.places, kind, error=None, constant=lost)
        found = settled.found
        if found.first_collision is not None:
            found = replace(found, min_separation=0.0, closest_pair=found.first_collision, ulp_margin=0.0)
        elif size > 1 and size * size * self.columns <= self.most and not found.not_finite:
            distance, (s, t) = find_nearest_held(gathering.evaluate, size)
            ends = sorted((int(self.places.values[s]), int(self.places.values[t])))
            margin = measure_margin(gathering.evaluate, (s, t), distance, kind)
            found = replace(found, min_separation=distance, closest_pair=(ends[0], ends[1]), ulp_margin=margin)
        return Settled(twins=settled.twins, found=found)
