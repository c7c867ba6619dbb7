"""Numerical rank and condition number of a table of codes, and the dot products of the first of them."""

from __future__ import annotations

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasTable
from pe_spectra.exact import F64
from pe_spectra.faithfulness.closest_pair import scale_down, scale_up
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.limits import MAX_RANK_WORK
from pe_spectra.records import dataclass

#: float64 cannot see larger condition numbers: the smallest singular value drowns in rounding.
LARGEST_CONDITION = 1e15
#: Singular values that a result holds.
_MOST_VALUES = 1024
#: Rows of a Gram matrix, and numbers of the codes that it is made from, at most.
_GRAM_ROWS, _GRAM_NUMBERS = 256, 1 << 22
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True)
class Conditioning:
    """Rank and condition of the (S, d) table as `Faithfulness` describes them, and why something is None."""

    rank: int | None = None
    rank_tolerance: float | None = None
    condition_number: float | None = None
    singular_values: F64 | None = None
    notes: tuple[str, ...] = ()


def measure_conditioning(table: CodeTable) -> Conditioning:
    """Measure rank and condition of a table of codes.

    The DFT encoding has a closed form. Otherwise the singular values of the table are taken, never
    the eigenvalues of its Gram matrix, which square the condition number.

    >>> from pe_spectra import Dft
    >>> found = measure_conditioning(CodeTable(Dft(d=8), 8))
    >>> found.rank, found.condition_number
    (8, 1.0)
    """
    rows, width = len(table.places), table.columns
    if isinstance(table.encoding, Dft):
        return _summarise(_dft_singular_values(width, rows), width, rows)
    if not width:
        return Conditioning()
    if rows * width * min(rows, width) > MAX_RANK_WORK or table.codes is None:
        note = (
            f"rank and condition number of a {rows} x {width} table are beyond the budget of "
            f"{MAX_RANK_WORK:.2g} multiplications, so they are left out"
        )
        return Conditioning(notes=(note,))
    scaled, exponent = scale_down(table.codes)
    values = np.asarray(np.linalg.svd(scaled, compute_uv=False), dtype=np.float64)
    return _summarise(values, width, rows, exponent)


def _dft_singular_values(d: int, length: int) -> F64:
    # Rows repeat with period d and are orthonormal within one: E^T E = F diag(repeats) F^T.
    repeats = np.bincount(np.arange(length) % d, minlength=min(d, length))
    values: F64 = np.sqrt(np.sort(repeats)[::-1].astype(float))
    return values


def _summarise(values: F64, d: int, length: int, exponent: int = 0) -> Conditioning:
    """Sum up the singular values of a table times 2**-exponent."""
    tolerance = max(length, d) * _EPS * float(values[0])
    condition = float(values[0] / values[-1]) if values[-1] > 0 else np.inf
    notes: tuple[str, ...] = ()
    if not values[0] > 0:
        notes = ("all vectors are zero, so they have no condition number",)
    elif not condition <= LARGEST_CONDITION:
        notes = ("condition number > 1e15: float64 cannot tell how much larger; see the numerical rank",)
    return Conditioning(
        rank=int(np.count_nonzero(values > tolerance)),
        rank_tolerance=scale_up(tolerance, exponent),
        condition_number=None if notes else condition,
        singular_values=_list_largest(values, exponent),
        notes=notes,
    )


def _list_largest(values: F64, exponent: int) -> F64 | None:
    with np.errstate(over="ignore", under="ignore"):
        largest: F64 = np.ldexp(values[:_MOST_VALUES], exponent)
    return largest if np.isfinite(largest).all() else None


def compute_gram_matrix(encoding: Encoding, length: int) -> F64 | None:
    """Return the dot products of the codes of the first positions, over the largest squared norm; (n, n).

    n is at most 256, and less where codes are wide; None for an encoding of lags, for a single position
    and for codes that are all zero.

    >>> from pe_spectra import Dft
    >>> compute_gram_matrix(Dft(d=4), 3).round(12) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    if not isinstance(encoding, HasTable) or encoding.domain != "positions":
        return None
    rows = min(length, _GRAM_ROWS, max(2, _GRAM_NUMBERS // encoding.d))
    if rows < 2:
        return None
    codes, _ = scale_down(encoding.table(np.arange(rows)))
    gram: F64 = codes @ codes.T
    largest = float(gram.diagonal().max())
    return gram / largest if largest > 0 else None
