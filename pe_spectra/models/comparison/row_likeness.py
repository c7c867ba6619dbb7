"""How alike rows of two tables are at one index, whatever the magnitude of their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pe_spectra.exact import F64, I64

#: Cosines above this are written as 1 minus what is missing; lengths that differ by less are the same.
_NEARLY_ONE, _SAME_LENGTH = 0.9999, 5e-4


def state_likeness(a: F64, b: F64) -> Iterator[str]:
    """Say how alike rows at the same index are, and how long, as sentences without a full stop.

    Parameters
    ----------
    a, b : (S, d) finite numbers of any magnitude.

    >>> list(state_likeness(np.eye(2), -2 * np.eye(2)))
    ["rows at one index have a cosine of -1.0000, B's are 2 times as long as A's (medians)"]
    """
    (a, exponents_a), (b, exponents_b) = scale_rows(a), scale_rows(b)
    norms = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    usable = (norms[0] > 0) & (norms[1] > 0)
    if not usable.any():
        empty = [name for name, found in zip("AB", norms, strict=True) if not found.any()]
        yield from (f"{name} has only zeros" for name in empty)
        return
    cosine = float(np.median(np.einsum("ij,ij->i", a, b)[usable] / (norms[0] * norms[1])[usable]))
    shown = f"{cosine:.4f}" if cosine < _NEARLY_ONE else f"1 - {max(1 - cosine, 1e-16):.1g}"
    ratios, exponents = norms[1][usable] / norms[0][usable], (exponents_b - exponents_a)[usable]
    with np.errstate(over="ignore"):
        ratio = float(np.median(np.ldexp(ratios, exponents)))
    normal = np.finfo(float).tiny <= ratio < math.inf
    # beyond float64 a power of ten, from logarithms
    times = f"{ratio:.4g}" if normal else f"10^{float(np.median(np.log2(ratios) + exponents)) * math.log10(2):.4g}"
    length = "as long as A's" if abs(ratio - 1) < _SAME_LENGTH else f"{times} times as long as A's"
    yield f"rows at one index have a cosine of {shown}, B's are {length} (medians)"


def scale_rows(table: F64) -> tuple[F64, I64]:
    """Return each row times 2**-exponent, with a largest number from 1/2 to 1 where it is not 0, and the exponents.

    Norms, products and squares of such rows stay in the range of float64.

    Parameters
    ----------
    table : (S, d) finite numbers. Returned: (S, d), (S,).

    >>> rows, exponents = scale_rows(np.array([[3.0, -8.0], [0.0, 1e-300]]))
    >>> rows[0].tolist(), exponents.tolist()
    ([0.1875, -0.5], [4, -996])
    """
    exponents = np.frexp(np.abs(table).max(axis=1))[1].astype(np.int64)
    return np.ldexp(table, -exponents[:, None]), exponents
