"""What storing rounds off the numbers of a table: by their type, or by the few numbers that they were rounded to."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.ordering import find_median
from pe_spectra.precision.dtypes import STORED_TYPES, NumberType, find_stored_type, round_to
from pe_spectra.records import dataclass

#: Numbers in which levels are looked for, and columns by which what is rounded off is measured.
_SAMPLED, _FEW_COLUMNS = 1 << 18, 64
#: Numbers that a level has on average, and that two neighbours have each, so that none between them was left out.
_USED = 8
#: Most levels are so many times as far apart as the numbers of a type; or they are those of the type.
_WIDER = 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Rounding:
    """How the numbers of a table were rounded.

    Attributes
    ----------
    kind : the type that they are stored in.
    levels : (L,) the different numbers of a table that has few, in order, as a copy of integers of 8 bits has them;
        empty where there are many.
    cells : (L,) how wide the intervals are that were rounded to each.

    >>> found = find_rounding(np.rint(np.sin(np.arange(900.0)) * 4).reshape(-1, 3) / 4)
    >>> found.levels.tolist(), found.cells.tolist()[:2]
    ([-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0], [0.25, 0.25])
    """

    kind: NumberType
    levels: F64
    cells: F64

    def measure(self, table: F64) -> F64:
        """Estimate for each row (S,) the sum of squares that rounding leaves in it: a twelfth of squared intervals.

        >>> found = find_rounding(np.full((2, 8), 1.5))
        >>> bool(np.isclose(found.measure(np.full((2, 8), 1.5))[0], 8 * 2.0**-14 / 12))
        True
        """
        few = table[:, :: -(-table.shape[1] // _FEW_COLUMNS)]
        widths = _measure_units(few, self.kind)
        if len(self.levels):
            widths = np.maximum(widths, self.cells[find_nearest(self.levels, few)])
        energies: F64 = np.square(widths).mean(axis=1) * table.shape[1] / 12
        return energies

    def agree(self, table: F64, codes: F64, around: F64, *, by_levels: bool = False) -> F64:
        """Say of each number of a table whether a code, known up to `around`, is rounded to it: 1 or 0, (S, d).

        >>> found = find_rounding(np.array([[0.5, 0.25]]), "bfloat16")
        >>> found.agree(np.array([[0.5, 0.25]]), np.array([[0.501, 0.26]]), np.zeros((1, 2))).tolist()
        [[1.0, 0.0]]
        """
        if by_levels:
            # levels are numbers of a type, which they were rounded to themselves
            around = around + self.kind.roundoff * np.abs(codes)
        low, high = (self._round(codes + sign * around, by_levels) for sign in (-1.0, 1.0))
        inside: F64 = ((low <= table) & (table <= high)).astype(np.float64)
        return inside

    def _round(self, values: F64, by_levels: bool) -> F64:
        return (
            self.levels[find_nearest(self.levels, values)]
            if by_levels
            else round_to(values, self.kind).astype(np.float64)
        )


def find_rounding(table: F64, dtype: str = "float64") -> Rounding:
    """Find how the numbers of a table were rounded: to a type, and to few numbers, each of them used often.

    Numbers are levels where the table has eight of each on average, farther apart than those of the type. Between two
    levels that have eight numbers each none was left out; the interval beyond one that has fewer is taken to be the
    smallest.

    Parameters
    ----------
    table : (S, d); dtype : type that it is stored in (a coarser one is noticed).

    >>> find_rounding(np.random.default_rng(0).normal(size=(64, 8))).levels.tolist()
    []
    """
    kind = STORED_TYPES[find_stored_type(dtype, table)]
    few = table[:: max(1, math.ceil(table.size / _SAMPLED))]
    levels, uses = np.unique(few + 0.0, return_counts=True)
    nothing = Rounding(kind=kind, levels=np.empty(0), cells=np.empty(0))
    if len(levels) < 2 or _USED * len(levels) > few.size:
        return nothing
    gaps = np.diff(levels)
    gaps = np.where(np.minimum(uses[1:], uses[:-1]) >= _USED, gaps, gaps.min())
    # at the ends the interval is as wide as the one inside
    padded = np.pad(gaps, 1, mode="edge")
    cells = (padded[1:] + padded[:-1]) / 2
    if float(find_median(cells / _measure_units(levels, kind))) < _WIDER:
        return nothing
    return Rounding(kind=kind, levels=levels, cells=cells)


def _measure_units(values: F64, kind: NumberType) -> F64:
    """Distance of the numbers of a type at each value."""
    exponents = np.maximum(np.frexp(values)[1] - 1, kind.exponent)
    units: F64 = np.ldexp(1.0, exponents - kind.digits + 1)
    return units


def find_nearest(levels: F64, values: F64) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """Return for each value the index of the level that is nearest to it.

    >>> find_nearest(np.array([0.0, 1.0, 4.0]), np.array([-3.0, 0.4, 0.6, 9.0])).tolist()
    [0, 0, 1, 2]
    """
    return np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
