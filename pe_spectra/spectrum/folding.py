"""Whether the rows of a table are the places of a grid, written one row of the grid after the other.

Every offset on a grid is one lag of the line that it is written as, but one lag is two offsets: a step
within a row of the grid, and a step that wraps. Where the wrap matters, dot products are a function of
the offset and not of the lag: the two Toeplitz shares tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pe_spectra.encodings.parameters import Value
from pe_spectra.exact import F64
from pe_spectra.spectrum.gram import compute_gram_kernel, measure_toeplitz_share

#: A grid explains at least this much more of the centred Gram matrix than a line, as a share of what it explains.
_GAIN = 0.03
#: A peak of the kernel at the width of the grid is above its neighbours by so many standard errors of noise.
_ERRORS = 5.0
#: Rows that differ by no more of their largest number are one constant and its rounding.
_CONSTANT = 1e-14
#: Sides of grids that are looked for: smaller ones have too few wraps to tell, larger ones are no patches.
_SIDES = (3, 128)


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What speaks for a grid of `side` x `side` places.

    Attributes
    ----------
    gain : (share of the grid - share of the line) / share of the grid, 0 to 1, of the centred Gram matrix.
    peak : by how many standard errors the kernel at lag `side` stands above both of its neighbours.
    """

    side: int
    gain: float
    peak: float

    @property
    def is_grid(self) -> bool:
        """Whether both speak for a grid."""
        return self.gain > _GAIN and self.peak > _ERRORS

    @property
    def is_line(self) -> bool:
        """Whether a line explains as much as a grid."""
        return self.gain <= _GAIN and self.peak <= _ERRORS


def measure_fold(codes: F64, side: int) -> Fold:
    """Measure what speaks for a grid of `side` x `side` places.

    Parameters
    ----------
    codes : (side**2, d).

    >>> import numpy as np
    >>> places = np.stack(np.divmod(np.arange(64), 8))
    >>> angles = np.concatenate([0.3 * places, places])
    >>> measure_fold(np.concatenate([np.cos(angles), np.sin(angles)]).T, 8).is_grid
    True
    """
    largest = max(float(codes.max(initial=0.0)), -float(codes.min(initial=0.0)))
    # scaled, so that no square leaves the range of float64; one copy, for the table may be large
    centred = codes / (largest if largest > 0 else 1.0)
    centred -= centred.mean(axis=0)
    if not max(float(centred.max(initial=0.0)), -float(centred.min(initial=0.0))) > _CONSTANT:
        return Fold(side=side, gain=0.0, peak=0.0)
    plane, line = measure_toeplitz_share(centred, (side, side)), measure_toeplitz_share(centred)
    if plane is None or line is None:
        return Fold(side=side, gain=0.0, peak=0.0)
    kernel = compute_gram_kernel(centred, side + 2)
    error = kernel[0] / math.sqrt(centred.size)
    peak = (kernel[side] - max(kernel[side - 1], kernel[side + 1])) / error
    return Fold(side=side, gain=(plane - line) / plane, peak=float(peak))


def settle_grid(table: F64, values: Mapping[str, Value]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Find the grid that a table's rows fill, where none is named.

    Parameters
    ----------
    table : (rows, d), as a file has it.
    values : what was given: first, last, prefix, grid.

    Returns
    -------
    The values with what was found, and a sentence about it. A grid that nothing but the number of rows
    speaks for is named in the sentence only.

    >>> import numpy as np
    >>> settle_grid(np.eye(6), {"grid": "2x3"})
    ({'grid': '2x3'}, ())
    """
    found = dict(values)
    if "grid" in values:
        return found, ()
    first, last, prefix = (values.get(name) for name in ("first", "last", "prefix"))
    start = (first if isinstance(first, int) else 0) + (prefix if isinstance(prefix, int) else 0)
    codes = table[start : last if isinstance(last, int) else None]
    for skipped in (0,) if prefix is not None else (0, 1):
        count = len(codes) - skipped
        side = math.isqrt(max(count, 0))
        if side * side != count or not _SIDES[0] <= side <= _SIDES[1]:
            continue
        fold = measure_fold(codes[skipped:], side)
        grid = f"{side}x{side}"
        if fold.is_grid or (prefix is not None and not fold.is_line):
            found["grid"] = grid
            if skipped:
                found["prefix"] = skipped
            leaving = "" if not skipped else " after one special row (prefix=1)"
            return found, (
                f"{count} rows{leaving} are read as a grid of {side} x {side} (grid={grid}; grid=none reads a line)",
            )
        if fold.peak > _ERRORS:
            return found, (
                f"{count} rows could be a grid of {side} x {side}, but are read as a line; grid={grid} says so",
            )
    return found, ()
