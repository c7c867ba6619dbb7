"""Does similarity fall, and distance grow, with the lag, and depend on it alone? Shares of pairs and of variances."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.metrics.measures import (
    TIE,
    Measure,
    Metrics,
    centre,
    check_kernel,
    check_table,
    count_product_work,
    find_excess,
    metric,
    metric_of_order,
    or_reason,
    rescale,
)
from pe_spectra.records import dataclass
from pe_spectra.spectrum.gram import compute_gram_kernel

#: Entries of the Gram matrix that are put in order; beyond, its rows are sampled evenly.
_MOST_ENTRIES = 1 << 20
_FEWEST_ANCHORS = 16
#: Entries that are put in order at a time.
_BLOCK = 1 << 17
#: Entries in a row that are compared each with each before they are merged.
_STRETCH = 16
#: Columns of a product of two tables that are held at a time.
_COLUMNS = 1 << 10


@dataclass(frozen=True, kw_only=True)
class TableOrder(Metrics):
    """How the similarities and distances of a table's rows follow their lags."""

    table_monotonicity: float | None = metric_of_order(
        "share of triples, t between s and u, with <e_s, e_t> > <e_s, e_u>, ties one half"
    )
    translation_invariance: float | None = metric_of_order("1 - Var(along diagonals)/Var(all) of the Gram matrix")
    distance_lag_spearman: float | None = metric(
        "rank correlation of the lag with the root mean squared distance at that lag",
        better="higher",
        minimum=-1,
        maximum=1,
        source="Spearman 1904; use on mean distances: ours",
    )


def measure_table_order(table: ArrayLike) -> TableOrder:
    """Measure how similarities and distances of positions 0 .. S-1, the rows of (S, d), follow their lags.

    >>> measure_table_order([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]).table_monotonicity
    1.0
    """
    values = check_table(table)
    few = "fewer than three positions"
    even, work = "all entries of the Gram matrix are equal", count_product_work(values)
    same = few if len(values) < 3 else "the mean distance is the same at every lag"
    return TableOrder.tell(
        {
            "table_monotonicity": or_reason(_measure_table_monotonicity(values), few),
            "translation_invariance": find_excess("translation invariance", values, work)
            or or_reason(_measure_translation_invariance(values), even),
            "distance_lag_spearman": or_reason(_measure_distance_lag_spearman(values), same),
        }
    )


MEASURES = (Measure(kind=TableOrder, function=measure_table_order, needs=("table",)),)


def measure_kernel_monotonicity(kernel: ArrayLike) -> float | None:
    """Share of pairs of lags t1 < t2 with k(t1) > k(t2), ties one half; 0 to 1, without a unit.

    1 is a kernel that falls at every step, 1/2 a constant one; it is (1 - Kendall's tau-a of value
    and lag) / 2. Values closer than 1e-9 of the largest are ties. The kernel of a bias b is exp(b): where
    it falls below that, its lags tie, though b itself goes on falling.

    Parameters
    ----------
    kernel : (L,) at lags 0, 1, ..; of any scale and sign.

    Returns
    -------
    None for fewer than two lags. O(L log L).

    Source: monotonicity as a property: Wang et al., ICLR 2021; this indicator is our own (Kendall 1938).

    >>> measure_kernel_monotonicity([3.0, 1.0, 2.0])
    0.6666666666666666
    """
    values = check_kernel(kernel)
    length = len(values)
    if length < 2:
        return None
    rows, _ = rescale(values[None, :])
    descending, ties = _count_descents(rows, TIE * float(np.max(np.abs(rows))))
    pairs = length * (length - 1) // 2
    return (float(descending[0]) + 0.5 * float(ties[0])) / pairs


def _measure_table_monotonicity(table: F64) -> float | None:
    """Share of triples s, t, u with t between s and u and <e_s, e_t> > <e_s, e_u>, ties one half; 0 to 1.

    The kernel's share, taken about each position in both directions and not over mean values: a table
    whose average decays but whose rows do not scores low. Dot products closer than 1e-9 of the
    largest squared norm are ties. Beyond 2**20 dot products, s runs over evenly spaced positions (at
    least 16), t and u over all. None for fewer than three positions.
    """
    values, _ = rescale(table)
    length = len(values)
    if length < 3:
        return None
    tie = TIE * float(np.max(np.sum(values * values, axis=1)))
    count = min(length, max(_FEWEST_ANCHORS, _MOST_ENTRIES // length))
    anchors = np.rint(np.linspace(0, length - 1, count)).astype(np.int64)
    inside = half = pairs = 0
    for start in range(0, len(anchors), max(1, _BLOCK // length)):
        part = anchors[start : start + max(1, _BLOCK // length)]
        for rows, lengths in _split_sides(values[part] @ values.T, part):
            descending, ties = _count_descents(rows, tie)
            inside, half = inside + int(descending.sum()), half + int(ties.sum())
            pairs += int(np.sum(lengths * (lengths - 1) // 2))
    return (inside + 0.5 * half) / pairs


def _split_sides(gram: F64, anchors: I64) -> list[tuple[F64, I64]]:
    """Rows of similarities by growing distance to the right and to the left of each anchor, filled with inf."""
    length = gram.shape[1]
    sides = []
    for step, lengths in ((1, length - 1 - anchors), (-1, anchors)):
        distance = np.arange(1, int(lengths.max()) + 1)
        places = np.clip(anchors[:, None] + step * distance, 0, length - 1)
        rows = np.take_along_axis(gram, places, axis=1)
        sides.append((np.where(distance <= lengths[:, None], rows, np.inf), lengths))
    return sides


def _count_descents(rows: F64, tie: float = 0.0) -> tuple[I64, I64]:
    """Count in each row the pairs i < j with x_i > x_j + tie, and with |x_i - x_j| <= tie; each of shape (R,).

    By merging: O(L log L) for each row. An inf at the end of a row fills it and is not counted.
    """
    count, length = rows.shape
    size = max(_STRETCH, 1 << (length - 1).bit_length())
    merged = np.full((count, size), np.inf)
    merged[:, :length] = rows
    # short stretches pair by pair, since sorting has a cost for each
    short = merged.reshape(count, -1, _STRETCH)
    descending = np.zeros(count, dtype=np.int64)
    for apart in range(1, _STRETCH):
        descending += np.sum(short[:, :, :-apart] > short[:, :, apart:] + tie, axis=(1, 2))
    merged = np.sort(short, axis=2).reshape(count, size)
    width = _STRETCH
    while width < size:
        halves = merged.reshape(count, -1, 2 * width)
        left, right = halves[:, :, :width], halves[:, :, width:]
        descending += width * width * halves.shape[1] - np.sum(_count_up_to(left, right + tie), axis=1)
        merged = np.sort(halves, axis=2, kind="stable").reshape(count, size)
        width *= 2
    # each value is within its own bound and, in rising order, so are all before it
    finite = np.sum(np.isfinite(merged), axis=1)
    ties: I64 = _count_up_to(merged, merged + tie) - (size - finite) * size - finite * (finite + 1) // 2
    return descending, ties


def _count_up_to(values: F64, bounds: F64) -> I64:
    """Pairs of a value and a bound at or above it; both rising along the last axis, which is summed over."""
    order = np.argsort(np.concatenate([values, bounds], axis=-1), axis=-1, kind="stable")
    # before a bound stand the values up to it, and the smaller bounds
    bounds_before = bounds.shape[-1] * (bounds.shape[-1] - 1) // 2
    total: I64 = (order >= values.shape[-1]) @ np.arange(order.shape[-1]) - bounds_before
    return total


def _correlate(first: F64, second: F64) -> float | None:
    a, b = first - first.mean(), second - second.mean()
    size = float(np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b)))
    return float(np.clip(np.sum(a * b) / size, -1.0, 1.0)) if size > 0 else None


def _measure_distance_lag_spearman(table: F64) -> float | None:
    """Spearman correlation of lag and distance, in O(S d log S); -1 to 1, without a unit.

    The distance at lag tau = 1 .. S-1 is the root of the mean of ||e_s - e_(s + tau)||**2 over s. 1: codes
    part ever further. Squared distances closer than 1e-9 of the largest are ties: each takes the mean of the
    ranks that it could have. None for fewer than three positions, or where all those distances are equal.
    """
    if len(table) < 3:
        return None
    squared = _compute_squared_distances(table)
    return _correlate(np.arange(1.0, len(table)), _rank(squared, TIE * float(squared.max())))


def _compute_squared_distances(table: F64) -> F64:
    """Mean of ||e_s - e_(s + tau)||**2 over s, at lags tau = 1 .. S-1, in units of a power of two; shape (S - 1,)."""
    # taking the mean code off changes no distance, and leaves less to cancel
    centred = centre(table)
    norms = np.sum(centred * centred, axis=1)
    running = np.concatenate([[0.0], np.cumsum(norms)])
    lags = np.arange(1, len(table))
    ends = running[len(table) - lags] + (running[-1] - running[lags])
    squared: F64 = ends / (len(table) - lags) - 2 * compute_gram_kernel(centred)[1:]
    return np.maximum(squared, 0.0)


def _rank(values: F64, tie: float = 0.0) -> F64:
    """Mean of the first and the last rank that a value could have among those within `tie` of it."""
    rising = np.sort(values)
    below = np.searchsorted(rising, values - tie, side="left")
    up_to = np.searchsorted(rising, values + tie, side="right")
    ranks: F64 = (below + 1 + up_to) / 2
    return ranks


def _measure_translation_invariance(table: F64) -> float | None:
    """1 - Var(along diagonals) / Var(all) of the Gram matrix G_st = <e_s, e_t>; 0 to 1, without a unit.

    Var(all) is the variance of all S**2 entries, Var(along diagonals) the mean square of what is left
    when each diagonal's own mean is taken off. 1: a dot product depends on the lag alone. It is the correlation
    ratio of Fisher 1925. None where all entries of G are equal.

    Not to be confused with the Toeplitz share (:func:`pe_spectra.spectrum.kernels.measure_toeplitz_share`), the
    share of the *energy* (sum of squares) of G that its diagonal means hold: that one counts the grand
    mean as well, so it is high for any codes with a large common part; this one asks what explains
    the differences.

    No S x S matrix is formed, and no sum of squares is taken from another. With the mean code m,
    z_s = e_s - m and a_s = <m, z_s>, G_st less its mean is a_s + a_t + <z_s, z_t>: over all pairs its squares
    sum to 2 S ||a||**2 + ||Z'Z||**2, and the means of <z_s, z_t> along diagonals come by FFT.
    """
    # a constant column adds the same to each dot product
    varying = table[:, (table != table[0]).any(axis=0)]
    if not varying.size:
        return None
    # to a largest entry near 1: then the largest change is above 2**-54, and `centre` keeps the scale
    varying = np.ldexp(varying, -math.frexp(float(np.max(np.abs(varying))))[1])
    centred = centre(varying)
    # the mean code is the first less what is left of it, and rounds if it is written down
    along = centred @ varying[0] - centred @ centred[0]
    length = len(table)
    spread = 2 * length * float(along @ along) + _sum_gram_squares(centred)
    pairs = np.arange(length, 0, -1.0)
    ends = np.cumsum(along)[::-1] + np.cumsum(along[::-1])[::-1]
    means = compute_gram_kernel(centred) + ends / pairs
    entries = 2 * pairs
    entries[0] = length
    return min(1.0, float(np.sum(entries * means**2)) / spread)


def _sum_gram_squares(table: F64) -> float:
    # ||E E^T|| = ||E^T E|| in the Frobenius norm: take the smaller one, some rows at a time
    tall = table if len(table) >= table.shape[1] else table.T
    total = 0.0
    for start in range(0, tall.shape[1], _COLUMNS):
        product = tall[:, start : start + _COLUMNS].T @ tall
        total += float(np.sum(product * product))
    return total
