"""Can a position be read off its code by one linear map, between the positions seen and beyond them?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.metrics.tables import (
    MAX_PRODUCT_WORK,
    TIE,
    check_table,
    explain_budget,
    is_beyond_budget,
    narrow,
    tame,
)

#: Position s is held out in fold s mod 5.
FOLDS = 5
#: Ridges that cross-validation may choose, as shares of the largest eigenvalue; largest first.
RIDGES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
FEWEST_POSITIONS = 10
_EPS = float(np.finfo(float).eps)
#: Distances that are held at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Probe:
    """How well a ridge regression reads positions off codes that it was not fitted on.

    Attributes
    ----------
    rmse : root of the mean squared error, positions; None with a note.
    r2 : 1 - sum of squared errors over the sum of squared deviations of the positions from their mean;
        at most 1, 0 or less where the code says nothing.
    """

    rmse: float | None
    r2: float | None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Extrapolation:
    """What happens beyond the length that was fitted.

    Attributes
    ----------
    rmse : of a probe fitted on the first positions and asked about those beyond, positions.
    smallest_separation : smallest distance of two codes among all those positions; 0 is a repeated code.
    notes : why something is None.
    """

    rmse: float | None
    smallest_separation: float | None
    notes: tuple[str, ...] = ()


def measure_position_probe(table: ArrayLike) -> Probe:
    """Read s off e(s) by ridge regression with an intercept, in five interleaved folds.

    Position s is held out in fold s mod 5; each fold chooses its ridge among 1, 1e-2 .. 1e-10 of the largest
    eigenvalue by generalised cross-validation on the positions that it fits. The neighbours of a
    held-out position are fitted: this asks for order, not for extrapolation. One-hot codes fail it.

    Parameters
    ----------
    table : (S, d), positions 0 .. S-1 in its rows.

    Returns
    -------
    Error in positions, and R**2; None with a note below ten positions or beyond the budget of work.

    Source: position probes: Wang & Chen 2020 (arXiv:2010.04903); ridge by generalised
    cross-validation: Golub, Heath & Wahba 1979.

    >>> measure_position_probe(np.arange(20.0)[:, None]).r2 > 0.999999
    True
    """
    values, _ = tame(check_table(table))
    length = len(values)
    if length < FEWEST_POSITIONS:
        return Probe(rmse=None, r2=None, note=f"{length} positions are too few for five folds")
    if is_beyond_budget(values):
        return Probe(rmse=None, r2=None, note=explain_budget("the position probe", values))
    codes = narrow(values - values.mean(axis=0))
    wanted: F64 = np.arange(length, dtype=np.float64) - (length - 1) / 2
    errors = np.empty(length)
    for held_out, fit in _fit_folds(codes, wanted):
        errors[held_out] = fit.predict(codes[held_out]) - wanted[held_out]
    squares = float(np.sum(errors * errors))
    return Probe(rmse=(squares / length) ** 0.5, r2=1 - squares / float(np.sum(wanted * wanted)))


def measure_extrapolation(table: ArrayLike, beyond: ArrayLike) -> Extrapolation:
    """Fit the probe on positions 0 .. S-1 and ask it about S .. S+B-1; find the closest two of all codes.

    Parameters
    ----------
    table : (S, d), the positions up to the trained length; S at least 10.
    beyond : (B, d), the positions after them, without a gap; usually B = S.

    Returns
    -------
    Error of the probe beyond S, and the smallest distance within S + B; None with a note.

    Raises
    ------
    InputError : the two tables differ in width.

    Source: our own, after the question of Press et al. 2022 (arXiv:2108.12409).

    >>> ramp = np.arange(40.0)[:, None]
    >>> found = measure_extrapolation(ramp[:20], ramp[20:])
    >>> found.rmse < 1e-3, found.smallest_separation
    (True, 1.0)
    """
    first, second = check_table(table), check_table(beyond, "table beyond the length")
    if first.shape[1] != second.shape[1]:
        raise InputError("widths of the two tables differ", f"{first.shape[1]} and {second.shape[1]}", "one width")
    values, factor = tame(np.concatenate([first, second]))
    length = len(first)
    notes, error = [], None
    if length < FEWEST_POSITIONS:
        notes.append(f"{length} positions are too few to fit a probe")
    elif is_beyond_budget(values):
        notes.append(explain_budget("the position probe", values))
    else:
        codes = narrow(values - values[:length].mean(axis=0))
        fit = fit_ridge(codes[:length], np.arange(length, dtype=float))
        missed = fit.predict(codes[length:]) - np.arange(length, len(codes))
        error = float(np.sqrt(np.mean(missed * missed)))
    smallest = None
    if len(values) ** 2 * values.shape[1] > MAX_PRODUCT_WORK:
        notes.append(explain_budget("the smallest separation", values))
    else:
        found = find_closest_pair(values).distance
        smallest = None if found is None else found * factor
    return Extrapolation(rmse=error, smallest_separation=smallest, notes=tuple(notes))


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeFit:
    """An affine function of a code: weights (m,) on the code less `mean` (m,), and an intercept."""

    weights: F64
    mean: F64
    intercept: float

    def predict(self, codes: F64) -> F64:
        """Value of the function at each row, shape (rows,)."""
        values: F64 = (codes - self.mean) @ self.weights + self.intercept
        return values


def fit_ridge(codes: F64, wanted: F64) -> RidgeFit:
    """Fit `wanted` (n,) on `codes` (n, m) with an intercept that no ridge weighs on.

    The ridge is the one of `RIDGES` with the smallest generalised cross-validation error; the largest
    of those that tie. Source: Golub, Heath & Wahba 1979.

    >>> s = np.arange(8.0)
    >>> fit = fit_ridge(s[:, None], 3 * s + 1)
    >>> fit.predict(np.array([[2.0]])).round(6)  # 3 x 2 + 1
    array([7.])
    """
    mean, middle = codes.mean(axis=0), float(wanted.mean())
    centred, target = codes - mean, wanted - middle
    weights = _solve(centred.T @ centred, centred.T @ target, float(target @ target), len(codes))
    return RidgeFit(weights=weights, mean=mean, intercept=middle)


def _fit_folds(codes: F64, wanted: F64) -> Iterator[tuple[slice, RidgeFit]]:
    # what the other folds hold is the whole less one fold; about means of their own
    gram, moment = codes.T @ codes, codes.T @ wanted
    sums, total, square = codes.sum(axis=0), float(wanted.sum()), float(wanted @ wanted)
    for fold in range(FOLDS):
        held_out = slice(fold, None, FOLDS)
        part, target = codes[held_out], wanted[held_out]
        count = len(codes) - len(part)
        mean, middle = (sums - part.sum(axis=0)) / count, (total - float(target.sum())) / count
        weights = _solve(
            gram - part.T @ part - count * np.outer(mean, mean),
            moment - part.T @ target - count * middle * mean,
            square - float(target @ target) - count * middle * middle,
            count,
        )
        yield held_out, RidgeFit(weights=weights, mean=mean, intercept=middle)


def _solve(gram: F64, moment: F64, square: float, count: int) -> F64:
    """Ridge weights from centred moments: X'X, X'y, y'y and the number of rows."""
    values, vectors = np.linalg.eigh(gram)
    values, moment = np.maximum(values, 0.0), vectors.T @ moment
    unit = float(np.max(values))
    if unit <= 0:
        return np.zeros(len(gram))
    best, chosen = np.inf, np.zeros(len(gram))
    for ridge in RIDGES:
        shrunk = 1 / (values + ridge * unit)
        residual = square - float(np.sum(moment**2 * (values + 2 * ridge * unit) * shrunk**2))
        freedom = 1 - (1 + float(np.sum(values * shrunk))) / count
        if freedom <= 0:
            break
        score = max(residual, _EPS * square) / freedom**2
        if score < best * (1 - TIE):
            best, chosen = score, moment * shrunk
    weights: F64 = vectors @ chosen
    return weights
