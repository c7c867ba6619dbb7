"""Whether a table is one of the catalogue's formulas: the nearest of them, and how much of the table it explains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.encodings.pairs import Columns, list_orders
from pe_spectra.exact import F64, I64
from pe_spectra.inspection.candidates import (
    count_digits,
    list_candidates,
    list_free,
    multiply,
    vary,
)
from pe_spectra.inspection.first_positions import Phases, has_phases, list_ladders, list_located
from pe_spectra.inspection.formula_fits import (
    FormulaFit,
    bound_frequencies,
    bound_rounding,
    choose_rows,
    compare_codes,
    list_near,
    refine,
    settle_factor,
    shorten,
)
from pe_spectra.inspection.rounding import find_rounding
from pe_spectra.inspection.series import Mask
from pe_spectra.inspection.turning import Turning, list_fitted
from pe_spectra.ordering import list_distinct
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

#: Chance that a table without a formula is taken for one.
_CHANCE = 1e-3
#: A formula that leaves more than it explains is not what the table is made of.
_HALF = 0.5
#: Numbers on which candidates are tried, and the rows that these are, at least and at most.
_NUMBERS, _FEWEST, _MOST = 4096, 8, 64
#: How many are fitted and judged by all rows.
_JUDGED = 4
#: Numbers that the first position may have, as implementations count it; others are told by phases.
_FIRSTS = (0, 1, 2)
#: What the phases of a first position leave over what a ladder of any phases leaves, from which on others are tried.
_LEAVES = 1.25
#: Shares that differ by less are the same; share that rounding may leave.
_SAME, _NEARLY = 1e-9, 1e-3
#: Parts of what rounding may do to a parameter within which it is written with the fewest digits, in turn.
_PARTS = (1.0, 1 / 8, 1 / 64, 1 / 512, 0.0)
#: Where more of the numbers are a formula's, the others are those of a parameter that is a little off.
MOST_NUMBERS = 0.9
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class Formula(Result):
    """A formula of the catalogue, and how much of a table it explains.

    >>> from pe_spectra import Sinusoidal
    >>> found = find_formula(Sinusoidal(d=16, rho=500.0).table(64))
    >>> found.spec, found.exact
    ('sinusoidal:d=16,rho=500', True)
    """

    encoding: Encoding = field(repr=False)
    fit: FormulaFit = field(repr=False)
    spec: str = quantity("SPEC of the formula, without parameters at their default.")
    share: float = quantity(
        "Share of the variance about the mean row that the formula explains, with one factor on all columns.",
        minimum=0,
        maximum=1,
    )
    exact: bool = quantity(
        "Whether every number of the table is that of the formula, rounded to the stored type, or to the nearest of "
        "the few numbers that the table has."
    )
    numbers_share: float = quantity(
        "Share of the numbers that are those of the formula, rounded; 1 where it is exact.", minimum=0, maximum=1
    )
    levels: int | None = quantity(
        "How many different numbers the table has, where it is the formula rounded to the nearest of them; null where "
        "it is not, or where it is rounded to its type.",
        minimum=2,
    )
    rounding: float = quantity("Share that angles in float32 may leave of what the formula is.", key=None, minimum=0)
    dtype: str = quantity("The coarsest type that holds every number; empty for 0, 1 and -1 alone.", key=None)
    first_position: int = quantity("Position of the formula that the first row has.", minimum=0)
    reverse: bool = quantity("Whether the rows are in reverse order.", key="reversed")
    order: str = quantity("How the columns of the formula stand in the table, in words; empty for its own order.")
    factor: float = quantity("The table is so many times the formula.")
    alternatives: tuple[str, ...] = quantity(
        "SPECs of others that were found to give every number as well, from the same position in the same order.",
        default=(),
    )
    parameters_not_told: tuple[str, ...] = quantity(
        "Parameters that the table does not tell: with half and with twice their value it is explained as well.",
        default=(),
    )
    rows_left_out: int = quantity("Rows that this is not about: those that findings name as special.", minimum=0)


def find_formula(
    table: F64,
    *,
    dtype: str = "float64",
    grid: tuple[int, int] | None = None,
    first: int = 0,
    odd: Mask | None = None,
    exponent: int = 0,
) -> Formula | None:
    """Find the formula of the catalogue that explains most of a table; None where none explains enough.

    The share is that of the energy about the mean row, r**2 of all numbers, with one common factor: a constant row
    tells no position. A table that training made has no preferred basis, so its product with a formula is that of a
    table turned at random: r**2 of one candidate exceeds t with a chance of at most (1 - t)**((d - 1)/2), which a
    formula of one direction reaches (a cap of the sphere). Among M candidates it has to exceed
    1 - (0.001/M)**(2/(d - 1)), and one half. A table that a candidate gives number by number is told at any width.

    Parameters
    ----------
    table : (S, d), at least 3 rows that are positions; divided by two to the exponent, so that squares are numbers.
    dtype : the coarsest type that holds it; grid : (H, W) where the rows are one.
    first : a number that the first row may have beside 0, 1 and 2, as that of its row in a file.
    odd : (S,) rows that are passed over when a formula is judged.

    >>> from pe_spectra import Sinusoidal
    >>> find_formula(np.random.default_rng(0).standard_normal((64, 16))) is None
    True
    >>> table = Sinusoidal(d=16).table(64) + 0.1 * np.random.default_rng(0).standard_normal((64, 16))
    >>> found = find_formula(table)
    >>> found.spec, found.exact, round(found.share, 2)
    ('sinusoidal:d=16', False, 0.96)
    """
    size, width = table.shape
    if size < 3 or not np.ptp(table, axis=0).any():
        return None
    orders = list(list_orders(width))
    count = min(max(_NUMBERS // width, _FEWEST), _MOST)
    sample = _Sample(table, choose_rows(size, count), orders, dict.fromkeys((*_FIRSTS, first)))
    turning = Turning(table, orders)
    tried = [one for one in list_candidates(size, width, grid) if turning.allows(one)]
    fits = [sample.find_best(one) for one in tried]
    rows = np.arange(size) if odd is None else np.flatnonzero(~odd)
    told = _Told(table, rows, dtype, exponent)
    found = [told.describe(one) for one in _choose_best(fits) if one.share > 1 - told.nearly]
    if not any(one.exact for one in found):
        fits += [sample.find_best(one) for one in list_fitted(fits, turning)]
        ladders = list_ladders(table, rows, turning.list_near(fits))
        found += told.describe_located(ladders, max((one.share for one in fits), default=0.0))
        if not any(one.exact for one in found):
            found += [described for one in _choose_best(fits) for described in told.describe_fitted(one)]
        found = [one for one in found if one.exact or has_phases(ladders, one.fit, table, rows)]
    level = max(_HALF, _bound_chance(len(fits) * sample.count, width))
    kept = [one for one in found if (one.exact or one.share > level) and 0 < abs(one.factor) < math.inf]
    # the standard error of a variance of as many numbers as there are rows, twice
    least = (1 + 2 * math.sqrt(2 / size)) * min((1 - one.share for one in kept), default=0.0)
    most = max((one.numbers_share for one in kept), default=0.0)
    # where one gives most of the numbers, what others leave is not what was added
    fewest = most if most > MOST_NUMBERS else 0.0
    alike = [
        one for one in kept if one.exact or (1 - one.share <= max(least, one.rounding) and one.numbers_share >= fewest)
    ]
    best = min(alike, key=lambda one: _rank(one, size), default=None)
    return None if best is None else told.compare(best, alike, least)


def _choose_best(fits: list[FormulaFit]) -> list[FormulaFit]:
    """The few that explain most of the rows that were tried, and some of them."""
    return sorted((one for one in fits if one.share > _HALF), key=lambda one: -round(one.share, 2))[:_JUDGED]


def _rank(found: Formula, size: int) -> tuple[bool, bool, int, bool]:
    """Order by what is exact, then by what takes fewest digits and words; a factor goes with the table's own length."""
    is_longer = found.factor != 1 and found.encoding.given.get("length", size) != size
    digits = count_digits(found.encoding) + len(f"{found.factor:.6g}".strip("-0.")) * (found.factor != 1)
    return not found.exact, is_longer, digits, bool(found.order) or found.reverse


def _bound_chance(count: int, width: int) -> float:
    """Share that one of `count` candidates explains of a table without a formula, with a chance of 0.001."""
    return 1 - (_CHANCE / max(count, 1)) ** (2 / (width - 1)) if width > 1 else 1.0


class _Sample:
    """Some rows of a table, on which candidates are tried in every order of columns and from every first position."""

    def __init__(self, table: F64, rows: I64, orders: list[tuple[str, Columns]], firsts: Iterable[int]) -> None:
        self.size, self.rows, self.orders, self.firsts = len(table), rows, orders, tuple(firsts)
        part = table[rows] - table[rows].mean(axis=0)
        self.energy = float(np.einsum("ij,ij->", part, part))
        # (table, formula in an order) is (table in the order undone, formula)
        self.turned = np.stack([part[:, _undo(columns, table.shape[1])].ravel() for _, columns in orders])

    @property
    def count(self) -> int:
        """How many ways one encoding is tried."""
        return 2 * len(self.firsts) * len(self.orders)

    def find_best(self, encoding: Encoding) -> FormulaFit:
        """Find the order of columns, the direction and the first position by which an encoding explains most."""
        best = FormulaFit(encoding=encoding)
        last = self.size + max(self.firsts) if encoding.rows is None else encoding.rows
        firsts = [first for first in self.firsts if self.size + first <= last]
        places = list_distinct(np.concatenate([self.rows + first for first in firsts]))
        every = encoding.table(places) if isinstance(encoding, HasTable) else np.empty((0, 0))
        for first in firsts:
            forward = every[np.searchsorted(places, self.rows + first)]
            for reverse in (False, True):
                # the rows are the same from both ends
                codes = forward[::-1] if reverse else forward
                codes = codes - codes.mean(axis=0)
                scale = self.energy * float(np.einsum("ij,ij->", codes, codes))
                shares = (self.turned @ codes.ravel()) ** 2 / scale if scale > _TINY else np.zeros(len(self.orders))
                place = int(np.argmax(shares > shares.max() * (1 - _SAME)))
                if shares[place] > best.share * (1 + _SAME):
                    order, columns = self.orders[place]
                    best = FormulaFit(encoding, first, reverse, order, columns, share=float(shares[place]))
        return best


def _undo(columns: Columns, width: int) -> I64:
    return np.argsort(np.arange(width)[columns])


# --------------------------------------------------------------------- the best of them


class _Told:
    """Some rows of a table, of which candidates are told."""

    def __init__(self, table: F64, rows: I64, dtype: str, exponent: int) -> None:
        self.table, self.rows, self.exponent = table, rows, exponent
        self.used, self.rounding = table[rows], find_rounding(table, dtype)
        self.dtype = dtype if ((table != 0) & (np.abs(table) != 1)).any() else ""
        energy = float(np.square(self.used - self.used.mean(axis=0)).sum())
        rounded = float(self.rounding.measure(self.used).sum())
        # rounding is twice as large at most: no interval is wider than twice those of its number and a neighbour
        self.nearly = max(_NEARLY, 4 * rounded / max(energy, _TINY))

    def describe(self, fit: FormulaFit) -> Formula:
        """Measure how much of the rows a candidate explains, and whether it gives each number."""
        size, encoding, first = len(self.table), fit.encoding, fit.first
        codes = fit.read(self.rows, size)
        share, factor, error = compare_codes(self.used, codes)
        bound = encoding.bound_error(codes)
        settled = settle_factor(self.used, codes, factor, error, bound, self.rounding, self.exponent)
        factor = settled.factor
        rounding = bound_rounding(fit, self.rows, size, codes)
        if first and "offset" in encoding.given:
            encoding, first = vary(encoding, {"offset": first}) or encoding, 0
        if factor != 1 and "scale" in encoding.given and (scaled := vary(encoding, {"scale": factor})):
            encoding, factor = scaled, 1.0
        return Formula(
            encoding=encoding,
            fit=fit,
            spec=encoding.write_spec(brief=True),
            share=share,
            exact=settled.share == 1,
            numbers_share=settled.share,
            levels=len(self.rounding.levels) if settled.by_levels else None,
            rounding=rounding,
            dtype=self.dtype,
            first_position=first,
            reverse=fit.reverse,
            order=fit.order.format(a="the formula", b="the table"),
            factor=factor,
            rows_left_out=size - len(self.rows),
        )

    def describe_located(self, ladders: Sequence[Phases], share: float) -> list[Formula]:
        """Describe what begins at the position that phases tell, where that may explain more than is explained."""
        if not ladders or 1 - share <= _LEAVES * (1 - ladders[0].share) + _SAME:
            return []
        described: list[Formula] = []
        for fit in list_located(ladders, self.table, self.rows)[:_JUDGED]:
            described.append(self.describe(fit))
            if not described[-1].exact:
                described += self.describe_fitted(fit)
            if described[-1].exact:
                break
        return described

    def describe_fitted(self, fit: FormulaFit) -> list[Formula]:
        """Fit the parameters, and write them with as few digits as the table may allow, and with more."""
        refined = refine(self.table, fit, self.rounding)
        least = float(bound_frequencies(refined.fit.encoding).max(initial=0.0))
        tried = [(1.0, least), *((part, 0.0) for part in _PARTS)]
        described: list[Formula] = []
        for one in dict.fromkeys(shorten(refined, *slack) for slack in tried):
            described.append(self.describe(replace(refined.fit, encoding=one)))
            if described[-1].exact:
                return described
        best = max(described, key=lambda one: one.numbers_share)
        if best.numbers_share > MOST_NUMBERS:
            # most numbers are right: those written with one digit more are tried one by one
            for one in list_near(refined, best.fit.encoding):
                described.append(self.describe(replace(refined.fit, encoding=one)))
                if described[-1].exact:
                    break
        return described

    def compare(self, best: Formula, others: Sequence[Formula], least: float) -> Formula:
        """Add what rounding cannot tell from the best: others that are exact, and parameters."""

        def place(one: Formula) -> tuple[object, ...]:
            return one.order, one.reverse, one.first_position, one.factor

        alike = [one.spec for one in others if one.exact and best.exact and place(one) == place(best)]
        not_told = []
        for name in list_free(best.fit.encoding):
            moved = [one for factor in (0.5, 2.0) if (one := multiply(best.fit.encoding, {name: factor}))]
            told = [self.describe(replace(best.fit, encoding=one)) for one in moved]
            if told and all(one.exact if best.exact else 1 - one.share <= least for one in told):
                not_told.append(name)
        names = dict.fromkeys(one for one in alike if one != best.spec)
        return replace(best, alternatives=tuple(names), parameters_not_told=tuple(not_told))
