"""Distinct rows in narrow types: row F6, and what its limits are.

The answer has the distinct rows, the phase errors and the constant channels of four stages, and the closest rows of
two. `do_parts` does for that what no way around these numbers could leave out: 0.7 times the sines and cosines of
float64, which take less where only their rounding to float32 is asked for. `np.unique`, which is given the rounded
table, takes 1.9 to 2.4 times those sines and cosines for a million positions (1.3 for 65,536, whose table stays in
cache). Of each position it must hold 76 bytes: its number, its place, its row, its error and three hashes of 8, its
cast of 4, and hashes sorted and the answer of 8 while equal rows are found; with the blocks that is 75 MiB for a
million of them, times 1.1.
"""

from __future__ import annotations

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.encodings.equal_rows import choose_columns
from pe_spectra.precision.rounded_sines import RoundedSines
from pe_spectra.precision.staircase import measure_precision
from tests.benchmarks.measuring import trace_peak

_D, _LENGTH = 256, 1_000_000
#: Rows of one block of the references, which hold no more of a table than the candidate does.
_BLOCK = 4096
#: Rows of one block of what is taken in parts, as of the candidate.
_PART = 512


def count_distinct(length: int, dtype: str = "bfloat16") -> int:
    """Rows that differ when positions, frequencies and sines are float32 and the code is cast."""
    report = measure_precision(Sinusoidal(d=_D), length=length, dtypes=[dtype], recipes=["fp32-then-cast"])
    return report.codes[0].distinct


def _evaluate(length: int) -> None:
    """The sine and the cosine of every entry, block by block, and nothing else."""
    w = Sinusoidal(d=_D).frequencies().values
    for start in range(0, length, _BLOCK):
        phases = np.multiply.outer(np.arange(start, min(start + _BLOCK, length), dtype=float), w)
        np.sin(phases)
        np.cos(phases)


def do_parts(length: int) -> None:
    """What every number of the answer needs of a block, each by the fewest operations of NumPy, and nothing else.

    Phases in float32 and their errors, sines and cosines, two roundings (of codes and their sums), a hash of 32
    columns of three tables, for rows of phases are equal only where those of sines are, a look for what is not finite
    in four, and the distances of neighbours in two.
    """
    w, token = Sinusoidal(d=_D).frequencies().values, np.ones(_D, dtype=np.float32)
    columns, factors = choose_columns(_D), np.arange(1, 33, dtype=np.uint64)
    rounded_sines, sines = RoundedSines(_D // 2), np.empty((_PART, _D), dtype=np.float32)
    for start in range(0, length, _PART):
        rows = np.arange(start, min(start + _PART, length), dtype=float)
        phases = np.multiply.outer(rows.astype(np.float32), w.astype(np.float32))
        angles = phases.astype(float)
        errors = np.abs(angles - np.multiply.outer(rows, w))
        errors.max(axis=0), errors.max(axis=1)
        sines = sines[: len(rows)]
        rounded_sines.compute(angles, sines[:, : _D // 2], sines[:, _D // 2 :])
        codes = _round(sines)
        sums = _round(codes + token)
        for table in (sines, codes, sums):
            words = table.take(columns, axis=1).view(np.uint32).astype(np.uint64)
            np.einsum("ij,j->i", words, factors)
        for table in (phases, sines, codes, sums):
            table.max(), table.min()
        for table in (codes, sums):
            steps = np.diff(table, axis=0)
            steps[:, None] @ steps[:, :, None]


def _round(values: np.ndarray) -> np.ndarray:
    bits = values.view(np.uint32)
    raised = bits >> np.uint32(16)
    raised &= np.uint32(1)
    raised += np.uint32(0x7FFF)
    raised += bits
    raised &= np.uint32(0xFFFF0000)
    return raised.view(np.float32)


def measure_parts() -> Ratios:
    some = _LENGTH // 8
    return compare_calls(lambda: do_parts(some), lambda: _evaluate(some), rounds=3)


def measure_narrow(dtype: str) -> Ratios:
    """Both on an eighth of the positions: each takes time in proportion."""
    some = _LENGTH // 8
    return compare_calls(lambda: count_distinct(some, dtype), lambda: _evaluate(some), rounds=3)


def measure_unique() -> Ratios:
    """Against NumPy's distinct rows of the same table in float16, which it must hold whole."""
    encoding, table = Sinusoidal(d=_D), np.empty((_LENGTH, _D), dtype=np.float16)
    for start in range(0, _LENGTH, _BLOCK):
        positions = np.arange(start, min(start + _BLOCK, _LENGTH))
        table[positions] = encoding.table(positions)
    return compare_calls(lambda: np.unique(table, axis=0), lambda: count_distinct(_LENGTH, "float16"), rounds=2)


def measure_peak() -> Ratios:
    return trace_peak(lambda: count_distinct(_LENGTH))
