"""An array as a digest of its numbers, with digests of stretches of its rows: a change then has a place."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.exact import F64

if TYPE_CHECKING:
    from pe_spectra.frozen.entries import FrozenArray

#: Stretches that the rows are in at most, and characters that are kept of the digest of each.
_STRETCHES, _CHARACTERS = 32, 8


def digest_array(values: F64, dtype: str) -> FrozenArray:
    """Take the digest of an array as float64, least byte first: its numbers count, not how they are stored.

    Parameters
    ----------
    values : of one axis or more; rows are along the first. dtype : the type that it is stored in.

    >>> a, b = (digest_array(np.array(one), "float64") for one in ([[1.0, 0.0]], [[1.0, -0.0]]))
    >>> a.digest == b.digest
    True
    """
    from pe_spectra.frozen.entries import FrozenArray

    # -0.0 is equal to 0.0
    numbers = np.ascontiguousarray(values + 0.0, dtype="<f8")
    rows = len(numbers)
    stretch = max(1, -(-rows // _STRETCHES))
    parts = (numbers[start : start + stretch] for start in range(0, rows, stretch))
    return FrozenArray(
        shape=values.shape,
        dtype=dtype,
        digest=sha256(numbers.data).hexdigest(),
        stretch=stretch,
        stretches=tuple(sha256(part.data).hexdigest()[:_CHARACTERS] for part in parts),
    )
