"""What finite precision left, as results: stages, staircases, and which recipe is worst and which best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.codes import is_sampled
from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import Recipe
from pe_spectra.quantities import ReadOnly, Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import DOMAINS, DTYPES, RECIPES, STAGES
from pe_spectra.wording import count

#: Where positions collide, the likeliest in practice first; where all are distinct, the narrowest first.
_LIKELIEST = ("bf16-positions", "all-bf16", "fp32-then-cast", "narrow-frequencies", "fp32")
_NARROWEST = ("all-bf16", "bf16-positions", "fp32-then-cast", "narrow-frequencies", "fp32")
#: From the one that rounds least: where several merge the same two, the first of them is the cause.
_MILDEST = ("fp32", "narrow-frequencies", "fp32-then-cast", "bf16-positions", "all-bf16")
#: Half a turn: no two angles are farther apart, so an error known to be above it leaves any angle possible.
HALF_TURN = math.pi


@dataclass(frozen=True, kw_only=True)
class Stage(Result):
    """One stage of one recipe in one type.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.staircase import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["narrow-positions"])
    >>> (report.rows[0].stage, report.rows[0].distinct, report.rows[0].first_collision)
    ('positions', 279, (256, 257))
    """

    dtype: str = quantity("The type that is looked at.", words=DTYPES)
    recipe: str = quantity("Name of the recipe.", words=RECIPES)
    stage: str = quantity("After which step.", words=STAGES)
    type: str = quantity("The type of this stage's numbers.", words=DTYPES, key="stage_type")
    distinct: int = quantity("Positions, or lags, that are still distinguished: distinct rows.", minimum=1)
    total: int = quantity("All positions, or lags.", minimum=1)
    first_collision: tuple[int, int] | None = quantity(
        "The first position that equals an earlier one, after that one; null where none does. Here and below, real "
        "positions have numbers, from 0."
    )
    max_phase_error: float | None = quantity(
        "Largest error, of any channel at any position, of the angle computed so far; null where there are no angles, "
        "or one is not finite.",
        unit="rad",
        minimum=0,
    )
    phase_error_bound: float | None = quantity(
        "What that error is at most, from the types of the steps and the last position alone; null where it is.",
        unit="rad",
        minimum=0,
        default=None,
    )
    constant_channels: int | None = quantity(
        "Channels that have one value at all positions and should not; null of positions.", minimum=0
    )
    not_finite: int = quantity("Positions, or lags, with an infinity or NaN.", minimum=0)
    min_separation: float | None = quantity(
        "Smallest distance of two rounded position vectors; null of stages before the code, and beyond the budget.",
        minimum=0,
        default=None,
    )
    closest_pair: tuple[int, int] | None = quantity(
        "The positions, or lags, with that distance; null where it is.", default=None
    )
    ulp_margin: float | None = quantity(
        "That distance in units in the last place of the stage's type, at the largest entry of the two vectors by "
        "magnitude: two that differ in the last bit of one such entry have 1; null where it is.",
        minimum=0,
        default=None,
    )
    #: The first position that equals an earlier one from which exact arithmetic distinguishes it, after that one.
    merged: tuple[int, int] | None = None

    @property
    def merges(self) -> bool:
        """Whether rounding merges what exact arithmetic distinguishes, or leaves numbers that are not finite."""
        return self.not_finite > 0 or self.merged is not None

    @property
    def misplaces(self) -> bool:
        """Whether an angle is off by more than half a turn: vectors may be distinct, and those of other positions."""
        return self.max_phase_error is not None and self.max_phase_error > HALF_TURN

    @property
    def loses(self) -> bool:
        """Whether rounding merges vectors, leaves numbers that are not finite, or misplaces an angle."""
        return self.merges or self.misplaces


@dataclass(frozen=True, kw_only=True, eq=False)
class Staircase(ReadOnly):
    """How one pipeline fares as positions grow, for a figure.

    Attributes
    ----------
    stage : `code`, or `sum`.
    counts : (K,) numbers of positions, from 1 to S.
    distinct : (K,) how many vectors are distinct after that stage among the first so many positions.
    errors : (K,) the largest phase error in rad among them; None of sums, and where there are no angles.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.staircase import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["narrow-positions"])
    >>> int(report.stairs[0].distinct[-1])
    279
    """

    dtype: str
    recipe: str
    stage: str
    counts: I64
    distinct: I64
    errors: F64 | None


@dataclass(frozen=True, kw_only=True, eq=False)
class PrecisionReport(Result):
    """What finite precision leaves of positions from the first one on, or of lags.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.staircase import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    >>> report.exact_distinct, report.rows[-1].distinct
    (300, 300)
    """

    encoding: Encoding = quantity("What was rounded.", column=None)
    length: int = quantity("Number of positions.", minimum=1, asked=True)
    start_position: int = quantity(
        "The first of them; 0 of lags, and of real positions, which are numbered from 0.", minimum=0, asked=True
    )
    dtypes: tuple[str, ...] = quantity("The number types that were looked at.", words=DTYPES, least=1, asked=True)
    recipes: tuple[Recipe, ...] = quantity("Which steps are in which type.", least=1, asked=True)
    embedding: float = quantity("Standard deviation of the token's embedding, in the stage `sum`.", above=0, asked=True)
    domain: str = quantity("What has a position vector.", words=DOMAINS, column=None)
    exact_distinct: int | None = quantity(
        "Distinct position vectors in exact arithmetic; null where no theorem applies.", minimum=1, column=None
    )
    rows: tuple[Stage, ...] = quantity("The stages of each recipe in each type, in order.", least=1)
    #: For each recipe in each type, how its codes fare as positions grow, and its sums where they fare worse.
    stairs: tuple[Staircase, ...]
    notes: tuple[str, ...]

    @property
    def repeats(self) -> bool:
        """Whether vectors are one already in exact arithmetic, as those of a code with a period."""
        return self.exact_distinct is not None and self.exact_distinct < self.codes[0].total

    @property
    def codes(self) -> tuple[Stage, ...]:
        """The stage `code` of each recipe in each type: what the model adds, or rotates with."""
        return tuple(row for row in self.rows if row.stage == "code")

    @property
    def ends(self) -> tuple[Stage, ...]:
        """The last stage of each recipe in each type: `sum`, or `code` where it is added to nothing.

        Each stage is computed from the one before it alone: what that merges, the last has merged. A sum that saturates
        is finite where its code is infinite; `not_finite` counts it here all the same.
        """
        sums = [row for row in self.rows if row.stage == "sum"]
        pairs = zip(self.codes, sums or self.codes, strict=True)
        return tuple(replace(end, not_finite=max(code.not_finite, end.not_finite)) for code, end in pairs)

    def find_stair(self, row: Stage) -> Staircase:
        """Return the staircase of a stage `code` or `sum`."""
        own = [one for one in self.stairs if (one.dtype, one.recipe) == (row.dtype, row.recipe)]
        return next((one for one in own if one.stage == row.stage), own[0])

    def find_vectors(self, row: Stage) -> tuple[Stage, Stage]:
        """Return the code, and the last stage, of the recipe and type that a row belongs to."""
        pairs = zip(self.codes, self.ends, strict=True)
        return next(pair for pair in pairs if (pair[0].dtype, pair[0].recipe) == (row.dtype, row.recipe))

    def find_loss(self, row: Stage) -> Stage:
        """Return the first stage, of the recipe and type of a stage that loses, at which that is lost."""
        own = [one for one in self.rows if (one.dtype, one.recipe) == (row.dtype, row.recipe)]
        if row.merged is not None:
            return next(one for one in own if one.merged == row.merged)
        if row.not_finite:
            return next(one for one in own if one.not_finite == row.not_finite)
        return next(one for one in own if one.misplaces)

    def name_position(self, s: int) -> str:
        """Write a position, or lag; of real positions the position itself in place of its number."""
        return self.encoding.describe_position(s) if is_sampled(self.encoding) else str(s)

    def count_places(self) -> str:
        """Say how many positions or lags there are, and from which on."""
        beginning = f" from {self.start_position} on" if self.start_position else ""
        return count(self.codes[0].total, self.domain.removesuffix("s")) + beginning

    def worst_recipe(self, dtype: str) -> Stage | None:
        """Return the stage, of a recipe in this type, that loses what exact arithmetic has; None for none.

        Where vectors merge, or are not finite, an angle that is misplaced is the lesser loss. The likeliest recipe
        in practice chooses the two positions that its last stage merges. Of the mildest that merges the same two its
        code is returned where that loses the same already, else its last stage.
        """
        lost = [row for row in self.ends if row.dtype == dtype and row.merges]
        if not lost:
            codes = [row for row in self.codes if row.dtype == dtype and row.misplaces]
            return max(codes, key=lambda row: row.max_phase_error or 0.0, default=None)
        merged = min(lost, key=lambda row: _rank(row, _LIKELIEST)).merged
        same = [self._find_cause(row) for row in lost if row.merged == merged]
        # of a stage in the type itself another recipe says more than that the code is kept in float32
        milder = [row for row in same if row.recipe != "fp32" or row.type != dtype]
        return min(milder or same, key=lambda row: _rank(row, _MILDEST))

    def _find_cause(self, row: Stage) -> Stage:
        code, end = self.find_vectors(row)
        return code if (code.merged, code.not_finite) == (end.merged, end.not_finite) else end

    def best_recipe(self, dtype: str) -> Stage | None:
        """Return the last stage of the narrowest recipe that loses nothing in this type; None for none."""
        kept = [row for row in self.ends if row.dtype == dtype and not row.loses]
        return min(kept, key=lambda row: _rank(row, _NARROWEST)) if kept else None

    def list_worst(self) -> list[Stage]:
        """Return the stage of the worst recipe of each type in which any loses, those that only misplace last."""
        found = [row for row in map(self.worst_recipe, self.dtypes) if row is not None]
        return sorted(found, key=lambda row: not row.merges)

    def find_recipe(self, row: Stage) -> Recipe:
        """Return the recipe that a row belongs to."""
        return next(recipe for recipe in self.recipes if recipe.name == row.recipe)


def _rank(row: Stage, order: Sequence[str]) -> int:
    return order.index(row.recipe) if row.recipe in order else len(order)
