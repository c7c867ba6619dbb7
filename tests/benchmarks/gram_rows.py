"""Tables: Gram diagonals (rows L1 to L4), the closest pair of rows and equal rows (F3 to F5)."""

from __future__ import annotations

import importlib
import math
from functools import cache

import numpy as np

from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.spectrum import compute_gram_kernel
from tests.benchmarks.measuring import Measured, compare, trace_peak

_SHORT, _LONG, _WIDTH = 4096, 65536, 384
_FEW = 192
_ROWS, _FEWER_ROWS, _COLUMNS = 8192, 1000, 512
_BLOCK = 512


@cache
def prepare(rows: int, columns: int) -> np.ndarray:
    """Smooth curves and noise, as training leaves them."""
    generator = np.random.default_rng(rows)
    places = np.arange(rows)[:, None] / rows
    waves = np.cos(2 * np.pi * generator.uniform(0.5, 40, columns) * places + generator.uniform(0, 6, columns))
    return waves + 0.2 * generator.normal(size=(rows, columns)) + generator.normal(size=columns)


def average_traces(table: np.ndarray) -> np.ndarray:
    """The Gram matrix and the mean of each of its diagonals."""
    gram = table @ table.T
    return np.array([np.trace(gram, offset=lag) / (len(gram) - lag) for lag in range(len(gram))])


def measure_diagonals() -> Measured:
    table = prepare(_SHORT, _WIDTH)
    return compare(lambda: average_traces(table), lambda: compute_gram_kernel(table), rounds=5)


def measure_diagonals_in_products() -> Measured:
    table = prepare(_SHORT, _WIDTH)
    return compare(lambda: compute_gram_kernel(table), lambda: table.T @ table)


def measure_long_diagonals() -> Measured:
    """The explicit way on 4096 rows, scaled to 65536: its time is proportional to their square."""
    some, table = prepare(_SHORT, _WIDTH), prepare(_LONG, _WIDTH)
    factor = (_LONG / _SHORT) ** 2
    return compare(lambda: average_traces(some), lambda: compute_gram_kernel(table), rounds=5, factor=factor)


def measure_peak_of_long_diagonals() -> Measured:
    table = prepare(_LONG, _WIDTH)
    return trace_peak(lambda: compute_gram_kernel(table))


def measure_error() -> Measured:
    """Largest error over k(0), at the last 600 lags of 65536, where few pairs magnify rounding, and 60 others."""
    table = prepare(_LONG, 8)
    found = compute_gram_kernel(table)
    lags = [*range(0, _LONG - 600, _LONG // 60), *range(_LONG - 600, _LONG)]
    exact = [math.fsum((table[lag:] * table[: _LONG - lag]).ravel()) / (_LONG - lag) for lag in lags]
    return Measured(ratios=(float(np.abs(found[lags] - exact).max() / exact[0]),))


def measure_few_lags() -> Measured:
    table = prepare(_LONG, _WIDTH)
    return compare(lambda: compute_gram_kernel(table, _FEW), lambda: compute_gram_kernel(table), rounds=5)


def measure_peak_of_few_lags() -> Measured:
    table = prepare(_LONG, _WIDTH)
    return trace_peak(lambda: compute_gram_kernel(table, _FEW))


@cache
def _halve(rows: int) -> np.ndarray:
    return prepare(rows, _COLUMNS).astype(np.float32)


def multiply_half(rows: int) -> None:
    """The blocks on and above the diagonal of the product of a table with itself, in float32."""
    table, out = _halve(rows), np.empty((_BLOCK, _BLOCK), dtype=np.float32)
    for a in range(0, rows, _BLOCK):
        left = table[a : a + _BLOCK]
        for b in range(a, rows, _BLOCK):
            right = table[b : b + _BLOCK]
            np.matmul(left, right.T, out=out[: len(left), : len(right)])


def compare_in_parts(rows: int) -> None:
    """What no search by products can leave out: rows less their mean in float32 and their squares, and of each block.

    The half product, two additions that make distances of it, and its largest: three passes over what was multiplied.
    """
    table, out = prepare(rows, _COLUMNS), np.empty((_BLOCK, _BLOCK), dtype=np.float32)
    centred = table - table.sum(axis=0) / rows
    halves = (-0.5 * np.einsum("ij,ij->i", centred, centred)).astype(np.float32)
    narrow = centred.astype(np.float32)
    for a in range(0, rows, _BLOCK):
        left = slice(a, a + _BLOCK)
        for b in range(a, rows, _BLOCK):
            right = slice(b, b + _BLOCK)
            found = out[: len(narrow[left]), : len(narrow[right])]
            np.matmul(narrow[left], narrow[right].T, out=found)
            found += halves[right]
            found += halves[left, None]
            found.max()


def measure_parts_of_closest_pair() -> Measured:
    """The limit of row F3, whose target is 1.1 times this."""
    return compare(lambda: compare_in_parts(_ROWS), lambda: multiply_half(_ROWS), rounds=5)


def measure_closest_pair(rows: int) -> Measured:
    table = prepare(rows, _COLUMNS)
    return compare(lambda: find_closest_pair(table), lambda: multiply_half(rows), rounds=5)


def measure_pdist() -> Measured:
    """Against scipy on 1000 of the 8192 rows, scaled to all pairs."""
    from scipy.spatial.distance import pdist

    some, table = prepare(_ROWS, _COLUMNS)[:_FEWER_ROWS], prepare(_ROWS, _COLUMNS)
    factor = _ROWS * (_ROWS - 1) / (_FEWER_ROWS * (_FEWER_ROWS - 1))
    return compare(lambda: pdist(some), lambda: find_closest_pair(table), rounds=5, factor=factor)


def measure_scikit_learn() -> Measured | str:
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    table = prepare(_ROWS, _COLUMNS)
    brute = neighbors.NearestNeighbors(n_neighbors=1, algorithm="brute").fit(table)
    return compare(brute.kneighbors, lambda: find_closest_pair(table), rounds=3)


def measure_peak_of_closest_pair() -> Measured:
    table = prepare(_ROWS, _COLUMNS)
    return trace_peak(lambda: find_closest_pair(table))


def measure_equal_rows() -> Measured:
    table = prepare(_ROWS, _COLUMNS).copy()
    table[_ROWS // 2] = table[0]
    return compare(lambda: number_equal_rows(table), lambda: np.unique(table, axis=0), rounds=5)
