"""How finely a position can be read off its code under noise: Fisher information."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64
from pe_spectra.metrics.tables import check_table, tame


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """Fisher information J(p) = ||de/dp||**2 about a position, for noise of variance 1 on each column.

    For noise of standard deviation s, divide the information by s**2 and multiply the bounds by s.

    Attributes
    ----------
    fisher_information_mean, fisher_information_min : over positions, per position squared, at least 0;
        None where it is not 0, but below the range of float64.
    cramer_rao_bound_mean : 1/sqrt(mean J), positions: no unbiased estimate has a smaller standard
        deviation; None where the information is 0. Known also where J itself is below the range.
    cramer_rao_bound_worst : 1/sqrt(min J), the same at the worst position.
    is_exact : from frequencies; otherwise from central differences.

    >>> found = measure_ladder_resolution([4.0], [1.0])  # J = w**2
    >>> found.fisher_information_mean, found.cramer_rao_bound_mean, found.is_exact
    (16.0, 0.25, True)
    """

    fisher_information_mean: float | None
    fisher_information_min: float | None
    cramer_rao_bound_mean: float | None
    cramer_rao_bound_worst: float | None
    is_exact: bool

    def explain(self, name: str) -> str:
        """Say why the attribute `name` is None.

        >>> measure_table_resolution([[0.0], [1e-200], [2e-200]]).explain("fisher_information_mean")
        'below the range of float64'
        """
        information = self.fisher_information_mean if name.endswith("_mean") else self.fisher_information_min
        return "the information is 0" if information == 0 else "below the range of float64"


def measure_ladder_resolution(frequencies: ArrayLike, masses: ArrayLike, amplitude: float = 1.0) -> Resolution:
    """Fisher information of sines and cosines: J = amplitude**2 sum of mass w**2, exact.

    A pair (mass 1) has the same J at each position. A lone column (mass 1/2) counts with its mean over
    positions; the minimum is then that mean, too.

    Parameters
    ----------
    frequencies : (M,) rad/position; masses : (M,); amplitude : what every sine and cosine is multiplied with.

    Source: standard statistics (Cramer 1946, Rao 1945); for the sinusoidal encoding the sum of w**2.

    >>> measure_ladder_resolution([1.0, 0.5], [1.0, 1.0]).fisher_information_mean
    1.25
    """
    w, mass = np.asarray(frequencies, dtype=float), np.asarray(masses, dtype=float)
    w, factor = tame(w)
    with np.errstate(under="ignore"):
        squared = float(np.sum(mass * w * w))
    root = math.sqrt(squared) if amplitude else 0.0
    return _summarise((squared, squared), (root, root), abs(float(amplitude)) * factor, exact=True)


def measure_table_resolution(table: ArrayLike) -> Resolution | None:
    """Fisher information of a table by central differences: J(s) = ||(e(s + 1) - e(s - 1)) / 2||**2, s = 1 .. S-2.

    A column of frequency w is seen as sin w: fast columns count less than they should, and those
    that alternate count nothing. Where the frequencies are known, use :func:`measure_ladder_resolution`.

    Parameters
    ----------
    table : (S, d), positions 0 .. S-1 in its rows.

    Returns
    -------
    None for fewer than three positions, or where J is beyond the range of float64.

    Source: standard statistics (Cramer 1946, Rao 1945).

    >>> measure_table_resolution([[0.0], [2.0], [4.0]]).cramer_rao_bound_mean
    0.5
    """
    values, factor = tame(check_table(table))
    if len(values) < 3:
        return None
    with np.errstate(under="ignore"):
        squared = _difference(values)
    mean, least = float(np.mean(squared)), float(np.min(squared))
    roots = math.sqrt(mean), math.sqrt(least) if least > 0 else _find_least_change(values, squared)
    return _summarise((mean, least), roots, factor, exact=False) if math.isfinite(mean * factor * factor) else None


def _difference(table: F64) -> F64:
    rows = max(1, (1 << 20) // table.shape[1])
    squared = np.empty(len(table) - 2)
    for start in range(0, len(squared), rows):
        stop = min(start + rows, len(squared))
        change = (table[start + 2 : stop + 2] - table[start:stop]) / 2
        squared[start:stop] = np.sum(change * change, axis=1)
    return squared


def _find_least_change(table: F64, squared: F64) -> float:
    """Return the smallest ||(e(s + 1) - e(s - 1)) / 2|| among those whose square is 0 or underflows."""
    least = math.inf
    for row in np.flatnonzero(squared == 0):
        change = np.abs(table[row + 2] - table[row]) / 2
        peak = float(change.max())
        if peak == 0:
            return 0.0
        least = min(least, peak * float(np.linalg.norm(change / peak)))
    return least


def _summarise(squares: tuple[float, float], roots: tuple[float, float], unit: float, *, exact: bool) -> Resolution:
    """Put together mean and least J, given as J / unit**2 and its square root (which does not underflow)."""
    information = [
        None if root > 0 and not square * unit * unit else square * unit * unit
        for square, root in zip(squares, roots, strict=True)
    ]
    bounds = [(1 / root / unit if unit > 0 else math.inf) if root > 0 else None for root in roots]
    return Resolution(
        fisher_information_mean=information[0],
        fisher_information_min=information[1],
        cramer_rao_bound_mean=bounds[0],
        cramer_rao_bound_worst=bounds[1],
        is_exact=exact,
    )
