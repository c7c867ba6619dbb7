"""Can a position be read off its code by one linear map, between the positions seen and beyond them?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.metrics.measures import (
    TIE,
    Measure,
    Metrics,
    check_table,
    find_excess,
    metric,
    narrow,
    or_reason,
    rescale,
    take_first_off,
    triangulate,
)
from pe_spectra.records import dataclass
from pe_spectra.wording import count

#: Position s is held out in fold s mod 5.
FOLDS = 5
#: Ridges that cross-validation may choose, as shares of the largest eigenvalue; largest first.
RIDGES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
FEWEST_POSITIONS = 10
_BEYOND_RANGE = "the error of the probe is beyond the range of float64"
_EPS = float(np.finfo(float).eps)
_PROBE = "Wang & Chen 2020, arXiv:2010.04903; Golub, Heath & Wahba 1979"
_BEYOND = "ours, after Press et al. 2022, arXiv:2108.12409"
_error = partial(metric, unit="positions", better="lower", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Probe(Metrics):
    """How well a ridge regression reads positions off codes that it was not fitted on.

    R**2 is 0 or less where the code says nothing.
    """

    probe_rmse: float | None = _error("error of ridge regression of s on e(s), five interleaved folds", source=_PROBE)
    probe_r2: float | None = metric(
        "R**2 of ridge regression of s on e(s), five interleaved folds", better="higher", maximum=1, source=_PROBE
    )


@dataclass(frozen=True, kw_only=True)
class Extrapolation(Metrics):
    """What happens beyond the length that was fitted; a separation of 0 is a repeated code."""

    extrapolation_rmse: float | None = _error(
        "error of the probe fitted on 0 .. S-1 at the positions after them", source=_BEYOND
    )
    extrapolation_separation: float | None = metric(
        "smallest distance between two position vectors, those after S-1 included",
        better="higher",
        minimum=0,
        degree=1,
        source=_BEYOND,
    )


def _measure_position_probe(table: ArrayLike) -> Probe:
    """Read s off e(s) by ridge regression with an intercept, in five interleaved folds.

    Position s is held out in fold s mod 5; each fold chooses its ridge among 1, 1e-2 .. 1e-10 of the largest
    eigenvalue by generalised cross-validation on the positions that it fits. The neighbours of a
    held-out position are fitted: this asks for order, not for extrapolation. One-hot codes fail it.
    """
    values = check_table(table)
    length = len(values)
    if length < FEWEST_POSITIONS:
        return Probe.explain(f"{count(length, 'position')}, too few for five folds")
    if too_much := find_excess("the position probe", values):
        return Probe.explain(too_much)
    codes = _narrow_alike(rescale(take_first_off(values))[0])
    wanted: F64 = np.arange(length, dtype=np.float64) - (length - 1) / 2
    errors = np.empty(length)
    with np.errstate(over="ignore", invalid="ignore"):
        for held_out, fit in _fit_folds(codes, wanted):
            errors[held_out] = fit.predict(codes[held_out]) - wanted[held_out]
    rmse = _root_mean_square(errors)
    if rmse is None:
        return Probe.explain(_BEYOND_RANGE)
    share = rmse / math.sqrt((length * length - 1) / 12)  # the positions lie so far from their mean
    return Probe.tell({"probe_rmse": rmse, "probe_r2": 1 - share * share})


def _measure_extrapolation(table: ArrayLike, beyond: ArrayLike) -> Extrapolation:
    """Fit the probe on positions 0 .. S-1 and ask it about S .. S+B-1; find the closest two of all codes."""
    first, second = check_table(table), check_table(beyond, "table beyond the length")
    if first.shape[1] != second.shape[1]:
        raise InputError("widths of the two tables differ", f"{first.shape[1]} and {second.shape[1]}", "one width")
    values = np.concatenate([first, second])
    error: float | str
    if len(first) < FEWEST_POSITIONS:
        error = f"{len(first)} positions are too few to fit a probe"
    else:
        error = find_excess("the position probe", values) or or_reason(_miss_beyond(values, len(first)), _BEYOND_RANGE)
    smallest = find_excess("the smallest separation", values, len(values) ** 2 * values.shape[1]) or or_reason(
        find_closest_pair(values).distance, "the smallest separation is beyond the range of float64"
    )
    return Extrapolation.tell({"extrapolation_rmse": error, "extrapolation_separation": smallest})


MEASURES = (
    Measure(kind=Probe, function=_measure_position_probe, needs=("table",)),
    Measure(kind=Extrapolation, function=_measure_extrapolation, needs=("table", "beyond")),
)


def _miss_beyond(values: F64, length: int) -> float | None:
    """Error of the probe that is fitted on the first `length` rows, on those after them."""
    with np.errstate(over="ignore", invalid="ignore"):
        codes = take_first_off(values)
        # the scale is that of the rows that are fitted: those beyond may be of another size altogether
        codes = codes / rescale(codes[:length])[1]
        missed = _fit_ridge(codes[:length], np.arange(length, dtype=float)).predict(codes[length:])
    return _root_mean_square(missed - np.arange(length, len(values)))


def _root_mean_square(errors: F64) -> float | None:
    """None beyond the range of float64."""
    peak = float(np.max(np.abs(errors)))
    if not math.isfinite(peak):
        return None
    return peak * float(np.sqrt(np.mean((errors / peak) ** 2))) if peak > 0 else 0.0


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


def _fit_ridge(codes: F64, wanted: F64) -> RidgeFit:
    """Fit `wanted` (n,) on `codes` (n, m) with an intercept that no ridge weighs on.

    The ridge is the one of `RIDGES` with the smallest generalised cross-validation error, the largest of those that
    tie.
    """
    return _fit([_Rows.read(codes, wanted)])


def _narrow_alike(table: F64) -> F64:
    """Turn the rows as `narrow` does, equal rows to equal rows."""
    if table.shape[1] <= table.shape[0]:
        return table
    kept, numbers = np.unique(table, axis=0, return_inverse=True)
    turned: F64 = narrow(kept)[numbers.reshape(-1)]
    return turned


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """Rows of (1, code, position) or fewer with the same products; smallest and largest code in each column."""

    values: F64
    count: int
    low: F64
    high: F64

    @classmethod
    def read(cls, codes: F64, wanted: F64) -> _Rows:
        rows = np.column_stack([np.ones(len(codes)), codes, wanted])
        values = triangulate(rows) if len(rows) > rows.shape[1] else rows
        return cls(values=values, count=len(codes), low=codes.min(axis=0), high=codes.max(axis=0))


def _fit_folds(codes: F64, wanted: F64) -> Iterator[tuple[slice, RidgeFit]]:
    # each fold is reduced once, for the four fits that it is part of
    slices = [slice(fold, None, FOLDS) for fold in range(FOLDS)]
    parts = [_Rows.read(codes[one], wanted[one]) for one in slices]
    for fold, held_out in enumerate(slices):
        yield held_out, _fit(parts[:fold] + parts[fold + 1 :])


def _fit(parts: list[_Rows]) -> RidgeFit:
    count = sum(part.count for part in parts)
    rows = np.concatenate([part.values for part in parts])
    means = rows[:, 0] @ rows[:, 1:] / count
    centred = rows[:, 1:] - np.outer(rows[:, 0], means)
    # what rounding leaves of a constant column must not become the leading direction
    low, high = np.min([part.low for part in parts], axis=0), np.max([part.high for part in parts], axis=0)
    centred[:, :-1][:, low == high] = 0.0
    if len(centred) > 2 * centred.shape[1]:
        centred = triangulate(centred)
    return RidgeFit(weights=_solve(centred[:, :-1], centred[:, -1], count), mean=means[:-1], intercept=float(means[-1]))


def _solve(codes: F64, wanted: F64, count: int) -> F64:
    """Ridge weights for centred codes and positions of `count` rows.

    From singular values: squares of theirs, the eigenvalues of a Gram matrix, are right to half as many digits.
    """
    left, values, right = np.linalg.svd(codes, full_matrices=False)
    unit = float(values[0])
    if unit <= 0:
        return np.zeros(codes.shape[1])
    # codes less their mean have one direction fewer than rows
    left, values, right = left[:, : count - 1], values[: count - 1] / unit, right[: count - 1]
    moment, square = left.T @ wanted, float(wanted @ wanted)
    rest = wanted - left @ moment
    best, chosen = np.inf, np.zeros(len(values))
    for ridge in RIDGES:
        shrunk = 1 / (values * values + ridge)
        freedom = (count - 1 - len(values) + float(np.sum(ridge * shrunk))) / count
        residual = float(rest @ rest) + float(np.sum((ridge * shrunk * moment) ** 2))
        score = max(residual, _EPS * square) / freedom**2
        if score < best * (1 - TIE):
            best, chosen = score, values * shrunk * moment
    weights: F64 = right.T @ chosen / unit
    return weights
