"""How finely a position can be read off its code under noise: Fisher information."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_spectra.exact import F64
from pe_spectra.metrics.tables import check_table, tame

_Exponents = NDArray[np.intc]


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """Fisher information J(p) = ||de/dp||**2 about a position, for noise of variance 1 on each column.

    For noise of standard deviation s, divide the information by s**2 and multiply the bounds by s.

    Attributes
    ----------
    fisher_information_mean, fisher_information_min : over positions, per position squared, at least 0;
        None where it is beyond the range of float64, or not 0, but below it.
    cramer_rao_bound_mean : 1/sqrt(mean J), positions: no unbiased estimate has a smaller standard
        deviation; None where the information is 0 or the bound is beyond the range. Known also where J itself
        is beyond or below the range.
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
        mean = self.fisher_information_mean, self.cramer_rao_bound_mean
        least = self.fisher_information_min, self.cramer_rao_bound_worst
        information, bound = mean if name.endswith("_mean") else least
        if information == 0:
            return "the information is 0"
        is_large = name.startswith("cramer") or (bound is not None and bound < 1)
        return f"{'beyond' if is_large else 'below'} the range of float64"


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
    w, factor = tame(np.where(mass > 0, w, 0.0))
    scale, exponent = math.frexp(amplitude)
    with np.errstate(under="ignore"):
        squared = float(np.sum(mass * w * w)) * scale * scale
    found = squared, exponent + math.frexp(factor)[1] - 1
    return _summarise(found, found, exact=True)


def measure_table_resolution(table: ArrayLike) -> Resolution | None:
    """Fisher information of a table by central differences: J(s) = ||(e(s + 1) - e(s - 1)) / 2||**2, s = 1 .. S-2.

    A column of frequency w is seen as sin w: fast columns count less than they should, and those
    that alternate count nothing. Where the frequencies are known, use :func:`measure_ladder_resolution`.

    Parameters
    ----------
    table : (S, d), positions 0 .. S-1 in its rows.

    Returns
    -------
    None for fewer than three positions.

    Source: standard statistics (Cramer 1946, Rao 1945).

    >>> measure_table_resolution([[0.0], [2.0], [4.0]]).cramer_rao_bound_mean
    0.5
    """
    values = check_table(table)
    if len(values) < 3:
        return None
    squared, exponents = _measure_changes(values)
    moving = squared > 0
    if not moving.any():
        return _summarise((0.0, 0), (0.0, 0), exact=False)
    most, least = int(exponents[moving].max()), int(exponents[moving].min())
    with np.errstate(over="ignore", under="ignore"):
        mean = float(np.mean(np.ldexp(squared, 2 * (exponents - most))))
        smallest = float(np.min(np.ldexp(squared, 2 * (exponents - least)))) if moving.all() else 0.0
    return _summarise((mean, most), (smallest, least), exact=False)


def _measure_changes(table: F64) -> tuple[F64, _Exponents]:
    """J at s = 1 .. S-2 as (squared, exponents): squared x 4**exponents, of which squared is 0 or in the range."""
    rows = max(1, (1 << 20) // table.shape[1])
    squared, exponents = np.empty(len(table) - 2), np.empty(len(table) - 2, dtype=np.intc)
    for start in range(0, len(squared), rows):
        stop = min(start + rows, len(squared))
        change, halvings = _subtract(table[start + 2 : stop + 2], table[start:stop])
        _, powers = np.frexp(np.max(np.abs(change), axis=1))
        change = np.ldexp(change, -powers[:, None])
        squared[start:stop] = np.sum(change * change, axis=1)
        exponents[start:stop] = powers + halvings
    return squared, exponents


def _subtract(after: F64, before: F64) -> tuple[F64, _Exponents]:
    """(after - before) / 2 as (change, exponents): change x 2**exponents row by row, as halves of the least are 0."""
    with np.errstate(over="ignore"):
        change = after - before
    is_large = ~np.isfinite(change).all(axis=1)
    change[is_large] = after[is_large] / 2 - before[is_large] / 2
    return change, np.where(is_large, 0, -1).astype(np.intc)


def _summarise(mean: tuple[float, int], least: tuple[float, int], *, exact: bool) -> Resolution:
    """Put together mean and least J, each given as (squared, exponent): squared x 4**exponent."""
    (mean_information, mean_bound), (least_information, least_bound) = _invert(*mean), _invert(*least)
    return Resolution(
        fisher_information_mean=mean_information,
        fisher_information_min=least_information,
        cramer_rao_bound_mean=mean_bound,
        cramer_rao_bound_worst=least_bound,
        is_exact=exact,
    )


def _invert(squared: float, exponent: int) -> tuple[float | None, float | None]:
    """Return J = squared x 4**exponent and 1/sqrt(J); None where float64 has no such number."""
    if squared == 0:
        return 0.0, None
    with np.errstate(over="ignore", under="ignore"):
        information, bound = float(np.ldexp(squared, 2 * exponent)), float(np.ldexp(1 / math.sqrt(squared), -exponent))
    return information if 0 < information < math.inf else None, bound if bound < math.inf else None
