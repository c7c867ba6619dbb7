"""What storing numbers in a type leaves of them: unit roundoff, and the type that values were rounded to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from pe_spectra.exact import F64, list_blocks
from pe_spectra.precision.dtypes import DTYPES

#: Largest relative error of rounding to nearest, for normal numbers; coarsest type first.
ROUNDOFF: Mapping[str, float] = MappingProxyType(
    {name: DTYPES[name].roundoff for name in ("bfloat16", "float16", "float32", "float64")}
)
#: Half the spacing of the smallest numbers of a type, where that matters for a frequency.
FLOORS: Mapping[str, float] = MappingProxyType({"float16": DTYPES["float16"].step / 2})
#: Arithmetic in float32, as implementations compute a ladder: a power, a quotient, a scaling.
FLOAT32_ARITHMETIC = 2e-6
#: The same in float64.
FLOAT64_ARITHMETIC = 1e-14


def find_rounding(values: F64, dtype: str, *others: F64) -> str:
    """Return the coarsest of bfloat16, float16, float32, float64 that holds every number exactly.

    Parameters
    ----------
    values : any shape; zeros and ones are in every type and say nothing.
    dtype : the type that the numbers were stored in; the answer where the values say nothing.
    others : more arrays of that type.

    >>> find_rounding(np.array([1.0, 0.1]).astype(np.float32).astype(float), "float64")
    'float32'
    """
    arrays = (values, *others)
    parts = (one[rows] for one in arrays for rows in list_blocks(len(one), math.prod(one.shape[1:])))
    if not any(bool(((np.abs(part) != 1) & (part != 0)).any()) for part in parts):
        return dtype if dtype in ROUNDOFF else "float64"
    return next(name for name in ROUNDOFF if all(DTYPES[name].holds(one) for one in arrays))


def find_shortest(low: float, high: float) -> float:
    """Return a decimal number between two others, with few digits.

    >>> find_shortest(9999.3, 10000.4), find_shortest(0.2497, 0.2504)
    (10000.0, 0.25)
    """
    middle = (low + high) / 2
    for digits in range(16):
        candidate = float(f"{middle:.{digits}e}")
        if low <= candidate <= high:
            return candidate
    return middle


def bound_stored_frequencies(dtype: str) -> float:
    """Largest relative error of a frequency that was computed as usual and stored in `dtype`.

    >>> bound = bound_stored_frequencies
    >>> bound("bfloat16") > bound("float32") > bound("float64")
    True
    """
    stored = ROUNDOFF[dtype] if dtype in ("bfloat16", "float16") else 0.0
    return FLOAT64_ARITHMETIC if dtype == "float64" else FLOAT32_ARITHMETIC + stored
