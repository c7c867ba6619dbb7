"""How fast the package is beside other ways to the same numbers: ratios of processor time, never seconds.

The rows here need no more than the package does, and take about half a minute together. Those that need other libraries
or minutes stand in tests/benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pe_spectra.benchmarks.formula_ratios import FORMULA_ROWS
from pe_spectra.benchmarks.measuring import Ratios
from pe_spectra.benchmarks.ratio_row import RatioRow
from pe_spectra.benchmarks.start_ratios import START_ROWS
from pe_spectra.benchmarks.table_ratios import TABLE_ROWS

__all__ = ["SHORT_ROWS", "RatioRow", "Ratios", "measure_rows"]

#: Numbers of an array after which the C library keeps what is freed, as in a process that has been at work: else it
#: depends on what was done before whether an array of some rows is taken from the system anew at each call.
_SETTLING = 31 << 17
#: The rows that `bench` measures.
SHORT_ROWS: tuple[RatioRow, ...] = (*FORMULA_ROWS, *TABLE_ROWS, *START_ROWS)


def measure_rows(
    rows: Sequence[RatioRow] = SHORT_ROWS, progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[RatioRow, Ratios | str]]:
    """Measure rows one by one: each with its ratios, or why there are none.

    Parameters
    ----------
    progress : is told how many of how many are measured.

    >>> row = RatioRow(name="X", what="one", over="another", target=2.0, measure=lambda: Ratios(ratios=(1.0,)))
    >>> [(row.title, found.median) for row, found in measure_rows([row])]
    [('one over another', 1.0)]
    """
    np.empty(_SETTLING)
    for done, row in enumerate(rows, start=1):
        yield row, row.measure()
        if progress is not None:
            progress(done, len(rows))
