"""Separations, closest pairs, equal rows and Gram diagonals against brute force and SciPy: rows F and L."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.benchmarks.ratio_row import RatioRow
from pe_spectra.encodings import Sinusoidal
from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.exact import F64
from pe_spectra.faithfulness.closest_pair import ClosestPair, find_closest_pair
from pe_spectra.faithfulness.pair_lags import find_closest_lag
from pe_spectra.faithfulness.separation import find_pair_words
from pe_spectra.spectrum.gram import compute_gram_kernel

#: Of the ladder: its width, and two lengths.
D, LONG, SHORT = 512, 1_000_000, 8192
#: Of tables of any numbers: rows, fewer rows, columns; and of those whose Gram matrix is taken.
ROWS, FEWER_ROWS, COLUMNS = 8192, 1000, 512
GRAM_ROWS, GRAM_COLUMNS = 4096, 384
BLOCK = 512


def separate_ladder(length: int) -> ClosestPair:
    """Return the smallest separation and its pair; the curve over all lags is not asked for.

    >>> separate_ladder(8).pair
    (0, 1)
    """
    words = find_pair_words(Sinusoidal(d=D))
    if words is None:
        raise RuntimeError("a ladder has a separation")
    return find_closest_lag(words, length)


@cache
def prepare_table(rows: int, columns: int) -> F64:
    """Return smooth curves and noise, as training leaves them.

    >>> prepare_table(6, 3).shape
    (6, 3)
    """
    generator = np.random.default_rng(rows)
    places = np.arange(rows)[:, None] / rows
    waves = np.cos(2 * np.pi * generator.uniform(0.5, 40, columns) * places + generator.uniform(0, 6, columns))
    table: F64 = waves + 0.2 * generator.normal(size=(rows, columns)) + generator.normal(size=columns)
    return table


def average_traces(table: F64) -> F64:
    """Return the mean of each diagonal of the Gram matrix, which is made whole.

    >>> average_traces(np.eye(2)).tolist()
    [1.0, 0.0]
    """
    gram = table @ table.T
    return np.array([np.trace(gram, offset=lag) / (len(gram) - lag) for lag in range(len(gram))])


@cache
def _halve(rows: int) -> Any:
    return prepare_table(rows, COLUMNS).astype(np.float32)


def multiply_half(rows: int) -> None:
    """Take the blocks on and above the diagonal of the product of a table with itself, in float32.

    >>> multiply_half(4)
    """
    table, out = _halve(rows), np.empty((BLOCK, BLOCK), dtype=np.float32)
    for a in range(0, rows, BLOCK):
        left = table[a : a + BLOCK]
        for b in range(a, rows, BLOCK):
            right = table[b : b + BLOCK]
            np.matmul(left, right.T, out=out[: len(left), : len(right)])


def measure_closest_pair(rows: int) -> Ratios:
    """Return the search for the closest pair over half of the product of the table with itself.

    >>> measure_closest_pair(8).median > 0
    True
    """
    table = prepare_table(rows, COLUMNS)
    return compare_calls(lambda: find_closest_pair(table), lambda: multiply_half(rows), rounds=5)


def _square_distances(lags: Any) -> F64:
    """All distances of some lags, squared, as the definition has it."""
    w = Sinusoidal(d=D).frequencies().values
    squares: F64 = 4 * np.sum(np.sin(np.multiply.outer(lags, w / 2)) ** 2, axis=1)
    return squares


def _measure_brute() -> Ratios:
    """Brute force runs over 4096 of the lags and is scaled to all of them."""
    some = np.arange(1, 4097)
    return compare_calls(
        lambda: _square_distances(some), lambda: separate_ladder(LONG), rounds=5, factor=LONG / len(some)
    )


def _measure_passes() -> Ratios:
    """Against one pass over as many floats."""
    floats, out = np.random.default_rng(1).normal(size=LONG), np.empty(LONG)
    return compare_calls(lambda: separate_ladder(LONG), lambda: np.multiply(floats, 2.0, out=out), rounds=5)


def _measure_pdist_of_ladder() -> Ratios:
    """Against SciPy on 512 of the 8192 rows, scaled to all pairs of rows."""
    from scipy.spatial.distance import pdist

    rows = Sinusoidal(d=D).table(512)
    factor = SHORT * (SHORT - 1) / (512 * 511)
    return compare_calls(lambda: pdist(rows), lambda: separate_ladder(SHORT), rounds=5, factor=factor)


def _measure_pdist() -> Ratios:
    """Against SciPy on 1000 of the 8192 rows, scaled to all pairs."""
    from scipy.spatial.distance import pdist

    some, table = prepare_table(ROWS, COLUMNS)[:FEWER_ROWS], prepare_table(ROWS, COLUMNS)
    factor = ROWS * (ROWS - 1) / (FEWER_ROWS * (FEWER_ROWS - 1))
    return compare_calls(lambda: pdist(some), lambda: find_closest_pair(table), rounds=5, factor=factor)


def _measure_equal_rows() -> Ratios:
    table = prepare_table(ROWS, COLUMNS).copy()
    table[ROWS // 2] = table[0]
    return compare_calls(lambda: number_equal_rows(table), lambda: np.unique(table, axis=0), rounds=5)


def _measure_diagonals() -> Ratios:
    table = prepare_table(GRAM_ROWS, GRAM_COLUMNS)
    return compare_calls(lambda: average_traces(table), lambda: compute_gram_kernel(table), rounds=5)


def _measure_diagonals_in_products() -> Ratios:
    table = prepare_table(GRAM_ROWS, GRAM_COLUMNS)
    return compare_calls(lambda: compute_gram_kernel(table), lambda: table.T @ table)


TABLE_ROWS = (
    RatioRow(
        name="F1",
        what="brute force",
        over="smallest separation, S = 1e6, d = 512",
        target=500,
        at_most=False,
        measure=_measure_brute,
        gate=True,
        margin=3,
    ),
    RatioRow(
        name="F1",
        what="smallest separation, S = 1e6",
        over="one pass over S floats",
        target=15,
        measure=_measure_passes,
        gate=True,
    ),
    RatioRow(
        name="F2",
        what="scipy pdist",
        over="smallest separation, S = 8192",
        target=10000,
        at_most=False,
        measure=_measure_pdist_of_ladder,
        gate=True,
    ),
    RatioRow(
        name="F3",
        what="scipy pdist",
        over="closest pair, 8192 x 512",
        target=10,
        at_most=False,
        measure=_measure_pdist,
        gate=True,
    ),
    RatioRow(
        name="F4",
        what="closest pair of 1000 x 512",
        over="half float32 product",
        target=2,
        measure=lambda: measure_closest_pair(FEWER_ROWS),
        gate=True,
        margin=4,
    ),
    RatioRow(
        name="F5",
        what="equal rows of 8192 x 512",
        over="np.unique",
        target=1 / 30,
        measure=_measure_equal_rows,
        gate=True,
        # it waits for memory where the sort computes: with neighbours that use the memory it takes twice as long
        margin=16,
    ),
    RatioRow(
        name="L1",
        what="Gram matrix and traces",
        over="Gram diagonals, 4096 x 384",
        target=8,
        at_most=False,
        measure=_measure_diagonals,
        gate=True,
    ),
    RatioRow(
        name="L1",
        what="Gram diagonals of 4096 x 384",
        over="T.T @ T",
        target=2,
        measure=_measure_diagonals_in_products,
        gate=True,
        margin=3,
    ),
)
