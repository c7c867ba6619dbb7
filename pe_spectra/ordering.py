"""Medians, and the numbers that differ, by order.

NumPy has both, but asks whether what it is given is masked, and loads for that what takes an eighth of its import.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pe_spectra.exact import F64, ArrayLike, NDArray


def find_median(values: ArrayLike, axis: int | None = None) -> F64:
    """Return the median of all numbers, or those along an axis; NaN where there is one.

    >>> float(find_median([3.0, 1.0, 2.0, 9.0]))
    2.5
    """
    given = np.asarray(values).reshape(-1) if axis is None else np.moveaxis(np.asarray(values), axis, 0)
    last = len(given) - 1
    ordered = np.partition(given, sorted({last // 2, (last + 1) // 2, last}), axis=0)
    middle = ordered[last // 2] if last % 2 == 0 else (ordered[last // 2] + ordered[last // 2 + 1]) / 2
    median: F64 = np.where(np.isnan(ordered[last]), np.nan, middle)[()]
    return median


def list_distinct(values: ArrayLike) -> NDArray[Any]:
    """Return the numbers of an array that differ, in order.

    >>> list_distinct([3, 1, 3]).tolist()
    [1, 3]
    """
    ordered: NDArray[Any] = np.sort(values, axis=None)
    return np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])
