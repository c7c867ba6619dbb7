"""How finely a table resolves positions: the directions that it uses, and its Fisher information under noise."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from pe_spectra.exact import F64, ArrayLike, NDArray
from pe_spectra.metrics.measures import (
    Measure,
    Metrics,
    centre,
    check_table,
    find_excess,
    metric,
    rescale,
    triangulate,
)
from pe_spectra.records import dataclass

_Exponents = NDArray[np.intc]
_STABLE, _ENTROPY = "Rudelson & Vershynin 2007", "Roy & Vetterli 2007"
_FISHER = "Cramer 1946, Rao 1945"
_information = partial(metric, unit="per position squared", better="higher", minimum=0, degree=2, source=_FISHER)
_bound = partial(metric, unit="positions", better="lower", minimum=0, degree=-1, source=_FISHER)


@dataclass(frozen=True, kw_only=True)
class Ranks(Metrics):
    """How many directions a table uses, by two rival definitions, as it is and with each column's mean taken off."""

    stable_rank: float | None = metric("sum s**2 / s_1**2 of the table", minimum=1, source=_STABLE)
    stable_rank_centred: float | None = metric(
        "sum s**2 / s_1**2 of the table less its column means", minimum=1, source=_STABLE
    )
    effective_rank_entropy: float | None = metric("exp(H(p)), p = s / sum s, of the table", minimum=1, source=_ENTROPY)
    effective_rank_entropy_centred: float | None = metric(
        "exp(H(p)), p = s / sum s, of the table less its column means", minimum=1, source=_ENTROPY
    )


def measure_ranks(table: ArrayLike) -> Ranks:
    """Measure stable rank and entropy effective rank, raw and centred.

    The first singular value of a table of sines and cosines is mostly the mean code: centred ranks
    say what is left to tell positions apart.

    Parameters
    ----------
    table : (S, d), codes of the positions in its rows.

    Returns
    -------
    Ranks without a unit; a rank is None where every singular value is 0 (centred: all rows equal),
    all are None where S d min(S, d) is above 2**34 or min(S, d)**3 above 2**32.

    Source: stable rank: Rudelson & Vershynin 2007; effective rank: Roy & Vetterli 2007.

    >>> ranks = measure_ranks(np.eye(4))
    >>> round(ranks.stable_rank, 6), round(ranks.effective_rank_entropy, 6), round(ranks.stable_rank_centred, 6)
    (4.0, 4.0, 3.0)
    """
    values = check_table(table)
    if too_much := find_excess("the rank", values):
        return Ranks.explain(too_much)
    raw = _describe_directions(rescale(values)[0], "every position vector is 0")
    centred = _describe_directions(centre(values), "all position vectors are equal")
    return Ranks.tell(raw | {f"{name}_centred": rank for name, rank in centred.items()})


def _compute_singular_values(table: F64) -> F64:
    """Singular values of a table, largest first, shape (min(S, d),); of its triangle, never of its Gram matrix."""
    upright = table if table.shape[0] >= table.shape[1] else table.T
    # a long table is brought to its triangle first; a nearly square one is decomposed as it is
    long = upright.shape[0] > 4 * upright.shape[1]
    values = np.linalg.svd(triangulate(upright) if long else upright, compute_uv=False)
    return np.asarray(values, dtype=np.float64)


def _describe_directions(table: F64, none: str) -> dict[str, float | str]:
    """Ranks by the sum of s**2 over the largest, and by exp(H(p)), p = s / sum s; `none` where all s are 0."""
    singular = _compute_singular_values(table)
    if singular[0] <= 0:
        return {"stable_rank": none, "effective_rank_entropy": none}
    shares = singular[singular > 0] / float(np.sum(singular))
    return {
        "stable_rank": float(np.sum((singular / singular[0]) ** 2)),
        "effective_rank_entropy": float(np.exp(-np.sum(shares * np.log(shares)))),
    }


@dataclass(frozen=True, kw_only=True)
class Resolution(Metrics):
    """Fisher information J(p) = ||de/dp||**2 about a position, for noise of variance 1 on each column.

    For noise of standard deviation s, divide the information by s**2 and multiply the bounds by s: no unbiased
    estimate has a smaller standard deviation. A bound is known also where J itself is beyond or below the range of
    float64. `is_exact`: from frequencies; otherwise from central differences.

    >>> found = measure_ladder_resolution([4.0], [1.0])  # J = w**2
    >>> found.fisher_information_mean, found.cramer_rao_bound_mean, found.is_exact
    (16.0, 0.25, True)
    """

    fisher_information_mean: float | None = _information("mean of ||de/dp||**2 over positions, for unit noise")
    fisher_information_min: float | None = _information("smallest ||de/dp||**2, for unit noise")
    cramer_rao_bound_mean: float | None = _bound("1/sqrt of the mean Fisher information, for unit noise")
    cramer_rao_bound_worst: float | None = _bound("1/sqrt of the smallest Fisher information, for unit noise")
    is_exact: bool = False


def _measure_resolution(table: ArrayLike, exact: Resolution | None = None) -> Resolution:
    """Return the exact information where it is known, else that of central differences."""
    return exact or _measure_table_resolution(table) or Resolution.explain("fewer than three positions")


MEASURES = (
    Measure(kind=Ranks, function=measure_ranks, needs=("vectors",)),
    Measure(kind=Resolution, function=_measure_resolution, needs=("table",), takes=("resolution",)),
)


def measure_ladder_resolution(
    frequencies: ArrayLike, masses: ArrayLike, amplitude: float = 1.0, *, least: ArrayLike | None = None
) -> Resolution:
    """Fisher information of sines and cosines: J = amplitude**2 sum of mass w**2, exact.

    A pair (mass 1) has the same J at each position. A lone column (mass 1/2) counts with its mean over
    positions.

    Parameters
    ----------
    frequencies : (M,) rad/position; masses : (M,); amplitude : what every sine and cosine is multiplied with.
    least : (M,) masses at the position where J is smallest; default `masses`, of which the minimum is then the mean.

    Source: standard statistics (Cramer 1946, Rao 1945); for the sinusoidal encoding the sum of w**2.

    >>> measure_ladder_resolution([1.0, 0.5], [1.0, 1.0]).fisher_information_mean
    1.25
    """
    found = [
        _weigh_squares(np.asarray(frequencies, dtype=float), mass, amplitude)
        for mass in (masses, least)
        if mass is not None
    ]
    return _summarise(found[0], found[-1], exact=True)


def _weigh_squares(frequencies: F64, masses: ArrayLike, amplitude: float) -> tuple[float, int]:
    mass = np.asarray(masses, dtype=float)
    w, factor = rescale(np.where(mass > 0, frequencies, 0.0))
    scale, exponent = math.frexp(amplitude)
    with np.errstate(under="ignore"):
        return float(np.sum(mass * w * w)) * scale * scale, exponent + math.frexp(factor)[1] - 1


def _measure_table_resolution(table: ArrayLike) -> Resolution | None:
    """Fisher information by central differences: J(s) = ||(e(s + 1) - e(s - 1)) / 2||**2, s = 1 .. S-2; None without s.

    A column of frequency w is seen as sin w: fast columns count less than they should, and those
    that alternate count nothing. Where the frequencies are known, :func:`measure_ladder_resolution` is used.
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
    found = {
        "fisher_information_mean": mean_information,
        "fisher_information_min": least_information,
        "cramer_rao_bound_mean": mean_bound,
        "cramer_rao_bound_worst": least_bound,
    }
    return Resolution.tell(found, is_exact=exact)


def _invert(squared: float, exponent: int) -> tuple[float | str, float | str]:
    """Return J = squared x 4**exponent and 1/sqrt(J), or in their place why float64 has no such number."""
    if squared == 0:
        return 0.0, "the information is 0"
    with np.errstate(over="ignore", under="ignore"):
        information, bound = float(np.ldexp(squared, 2 * exponent)), float(np.ldexp(1 / math.sqrt(squared), -exponent))
    side = "beyond" if bound < 1 else "below"
    return information if 0 < information < math.inf else f"{side} the range of float64", bound
