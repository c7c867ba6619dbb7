"""What storing numbers in a type leaves of them: unit roundoff, and the type that values were rounded to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from pe_spectra.exact import F64
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
#: Numbers that are looked at at a time.
_BLOCK = 1 << 20


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
    given = dtype if dtype in ROUNDOFF else "float64"
    held, tells = list(ROUNDOFF), False
    for part in (part for one in (values, *others) for part in _split(one)):
        tells = tells or bool(((np.abs(part) != 1) & (part != 0)).any())
        held = [name for name in held if _holds(name, part)]
    return held[0] if tells and held else given


def list_blocks(rows: int, width: int) -> Iterator[slice]:
    """List blocks of rows: beside a large array, little else fits into memory.

    >>> list(list_blocks(3, 1 << 19))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def _split(values: F64) -> Iterator[F64]:
    """Split an array into blocks; before them a few rows, which rule most types out."""
    yield values[:: max(1, len(values) // 64)]
    for block in list_blocks(len(values), math.prod(values.shape[1:])):
        yield values[block]


@np.errstate(over="ignore", under="ignore")
def _holds(name: str, values: F64) -> bool:
    if name == "float64":
        return True
    narrow = values.astype(np.float16 if name == "float16" else np.float32)
    exact = bool((narrow == values).all())
    # bfloat16 is the first half of float32
    return exact and (name != "bfloat16" or not (narrow.view(np.uint32) & 0xFFFF).any())


def bound_stored_frequencies(dtype: str) -> float:
    """Largest relative error of a frequency that was computed as usual and stored in `dtype`.

    >>> bound = bound_stored_frequencies
    >>> bound("bfloat16") > bound("float32") > bound("float64")
    True
    """
    stored = ROUNDOFF[dtype] if dtype in ("bfloat16", "float16") else 0.0
    return FLOAT64_ARITHMETIC if dtype == "float64" else FLOAT32_ARITHMETIC + stored
