"""Distinct rows in narrow types: row F6, and what its limits are.

The answer has the distinct rows, the phase errors and the constant channels of four stages, and the closest rows of
two. `do_parts` does for that what no way around these numbers could leave out: 1.5 times the sines and cosines, which
cannot come from recurrences, as the phases are rounded to float32 before and the sines after. So the target is 1.1
times 1.5. `np.unique`, which is given the rounded table, takes 1.3 times the sines and cosines, 0.9 of these parts, and
1.1 times less is 0.8. Of each position it must hold 84 bytes: its number, its place, its row, its error and four hashes
of 8, its cast of 4, and hashes sorted and the answer of 8 while equal rows are found: 80 MiB for a million of them,
times 1.1.
"""

from __future__ import annotations

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.encodings.equal_rows import choose_columns
from pe_spectra.precision.staircase import measure_precision
from tests.benchmarks.measuring import trace_peak

_D, _LENGTH = 256, 1_000_000
#: Rows of one block of the references, which hold no more of a table than the candidate does.
_BLOCK = 4096
#: Rows of one block of what is taken in parts, as of the candidate.
_PART = 256
#: Rows that `np.unique` is given: sorting takes a little more than proportionally longer, in its favour here.
_SOME = 1 << 16


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
    columns and a look for what is not finite in four tables, and the distances of neighbours in two.
    """
    w, token = Sinusoidal(d=_D).frequencies().values, np.ones(_D, dtype=np.float32)
    columns, factors = choose_columns(_D), np.arange(1, 33, dtype=np.uint64)
    for start in range(0, length, _PART):
        rows = np.arange(start, min(start + _PART, length), dtype=float)
        phases = np.multiply.outer(rows.astype(np.float32), w.astype(np.float32))
        angles = phases.astype(float)
        errors = np.abs(angles - np.multiply.outer(rows, w))
        errors.max(axis=0), errors.max(axis=1)
        sines = np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
        codes = _round(sines)
        sums = _round(codes + token)
        for table in (phases, sines, codes, sums):
            words = table.take(columns % table.shape[1], axis=1).view(np.uint32).astype(np.uint64)
            np.einsum("ij,j->i", words, factors)
            table.sum()
        for table in (codes, sums):
            steps = np.diff(table, axis=0)
            np.einsum("ij,ij->i", steps, steps)


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
    table = Sinusoidal(d=_D).table(_SOME).astype(np.float16)
    return compare_calls(lambda: np.unique(table, axis=0), lambda: count_distinct(_SOME, "float16"), rounds=3)


def measure_peak() -> Ratios:
    return trace_peak(lambda: count_distinct(_LENGTH))
