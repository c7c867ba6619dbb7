"""Tables: Gram diagonals (rows L2 to L4), and the closest pair of rows (F3), but for those of `pe-spectra bench`."""

from __future__ import annotations

import importlib
import math

import numpy as np

from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.benchmarks.table_ratios import (
    BLOCK,
    COLUMNS,
    GRAM_COLUMNS,
    GRAM_ROWS,
    ROWS,
    average_traces,
    multiply_half,
    prepare_table,
)
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.spectrum import compute_gram_kernel
from tests.benchmarks.measuring import trace_peak

_LONG = 65536
_FEW = 192


def measure_long_diagonals() -> Ratios:
    """The explicit way on 4096 rows, scaled to 65536: its time is proportional to their square."""
    some, table = prepare_table(GRAM_ROWS, GRAM_COLUMNS), prepare_table(_LONG, GRAM_COLUMNS)
    factor = (_LONG / GRAM_ROWS) ** 2
    return compare_calls(lambda: average_traces(some), lambda: compute_gram_kernel(table), rounds=5, factor=factor)


def measure_peak_of_long_diagonals() -> Ratios:
    table = prepare_table(_LONG, GRAM_COLUMNS)
    return trace_peak(lambda: compute_gram_kernel(table))


def measure_error() -> Ratios:
    """Largest error over k(0), at the last 600 lags of 65536, where few pairs magnify rounding, and 60 others."""
    table = prepare_table(_LONG, 8)
    found = compute_gram_kernel(table)
    lags = [*range(0, _LONG - 600, _LONG // 60), *range(_LONG - 600, _LONG)]
    exact = [math.fsum((table[lag:] * table[: _LONG - lag]).ravel()) / (_LONG - lag) for lag in lags]
    return Ratios(ratios=(float(np.abs(found[lags] - exact).max() / exact[0]),))


def measure_few_lags() -> Ratios:
    table = prepare_table(_LONG, GRAM_COLUMNS)
    return compare_calls(lambda: compute_gram_kernel(table, _FEW), lambda: compute_gram_kernel(table), rounds=5)


def measure_peak_of_few_lags() -> Ratios:
    table = prepare_table(_LONG, GRAM_COLUMNS)
    return trace_peak(lambda: compute_gram_kernel(table, _FEW))


def compare_in_parts(rows: int) -> None:
    """What no search by products can leave out: rows less their mean in float32 and their squares, and of each block.

    The half product, two additions that make distances of it, and its largest: three passes over what was multiplied.
    """
    table, out = prepare_table(rows, COLUMNS), np.empty((BLOCK, BLOCK), dtype=np.float32)
    centred = table - table.sum(axis=0) / rows
    halves = (-0.5 * np.einsum("ij,ij->i", centred, centred)).astype(np.float32)
    narrow = centred.astype(np.float32)
    for a in range(0, rows, BLOCK):
        left = slice(a, a + BLOCK)
        for b in range(a, rows, BLOCK):
            right = slice(b, b + BLOCK)
            found = out[: len(narrow[left]), : len(narrow[right])]
            np.matmul(narrow[left], narrow[right].T, out=found)
            found += halves[right]
            found += halves[left, None]
            found.max()


def measure_parts_of_closest_pair() -> Ratios:
    """The limit of row F3 over half of the product, whose target is 1.1 times this."""
    return compare_calls(lambda: compare_in_parts(ROWS), lambda: multiply_half(ROWS), rounds=5)


def measure_closest_pair_over_parts() -> Ratios:
    """The same in turns, so that neither a quick product nor a neighbour decides what the search adds to its limit."""
    table = prepare_table(ROWS, COLUMNS)
    return compare_calls(lambda: find_closest_pair(table), lambda: compare_in_parts(ROWS))


def measure_scikit_learn() -> Ratios | str:
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    table = prepare_table(ROWS, COLUMNS)
    brute = neighbors.NearestNeighbors(n_neighbors=1, algorithm="brute").fit(table)
    return compare_calls(brute.kneighbors, lambda: find_closest_pair(table), rounds=3)


def measure_peak_of_closest_pair() -> Ratios:
    table = prepare_table(ROWS, COLUMNS)
    return trace_peak(lambda: find_closest_pair(table))
