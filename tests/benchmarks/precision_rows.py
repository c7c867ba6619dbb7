"""Distinct rows in narrow types: row F6."""

from __future__ import annotations

import numpy as np

from pe_spectra import Sinusoidal
from pe_spectra.precision.staircase import measure_precision
from tests.benchmarks.measuring import Measured, compare, trace_peak

_D, _LENGTH = 256, 1_000_000
#: Rows of one block of the references, which hold no more of a table than the candidate does.
_BLOCK = 4096
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


def measure_narrow(dtype: str) -> Measured:
    """Both on an eighth of the positions: each takes time in proportion."""
    some = _LENGTH // 8
    return compare(lambda: count_distinct(some, dtype), lambda: _evaluate(some), rounds=3)


def measure_unique() -> Measured:
    """Against NumPy's distinct rows of the same table in float16, which it must hold whole."""
    table = Sinusoidal(d=_D).table(_SOME).astype(np.float16)
    return compare(lambda: np.unique(table, axis=0), lambda: count_distinct(_SOME, "float16"), rounds=3)


def measure_peak() -> Measured:
    return trace_peak(lambda: count_distinct(_LENGTH))
