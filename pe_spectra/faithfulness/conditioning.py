"""Numerical rank and condition number of a table of codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasTable
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_RANK_WORK

#: float64 cannot see larger condition numbers: the smallest singular value drowns in rounding.
LARGEST_CONDITION = 1e15
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True)
class Conditioning:
    """Rank and conditioning of the (S, d) table.

    Attributes
    ----------
    rank : number of singular values above `rank_tolerance`; None beyond the budget of work.
    rank_tolerance : max(S, d) eps times the largest singular value.
    condition_number : largest over smallest of the min(S, d) singular values; None above 1e15.
    notes : why something is None.
    """

    rank: int | None
    rank_tolerance: float | None
    condition_number: float | None
    notes: tuple[str, ...] = ()


def measure_conditioning(encoding: Encoding, length: int) -> Conditioning:
    """Measure rank and condition of the codes of 0 .. length-1.

    The DFT encoding has a closed form. Otherwise the singular values of the table are taken, never
    the eigenvalues of its Gram matrix, which square the condition number.
    """
    if isinstance(encoding, Dft):
        return _summarise(_dft_singular_values(encoding.d, length), encoding.d, length)
    if not isinstance(encoding, HasTable):
        return Conditioning(rank=None, rank_tolerance=None, condition_number=None)
    work = length * encoding.d * min(length, encoding.d)
    if work > MAX_RANK_WORK or length * encoding.d > MAX_HELD_ENTRIES:
        note = (
            f"rank and condition number of a {length} x {encoding.d} table are beyond the budget of "
            f"{MAX_RANK_WORK:.2g} multiplications, so they are left out"
        )
        return Conditioning(rank=None, rank_tolerance=None, condition_number=None, notes=(note,))
    from scipy.linalg import svdvals

    return _summarise(svdvals(encoding.table(length), check_finite=False), encoding.d, length)


def _dft_singular_values(d: int, length: int) -> F64:
    # Rows repeat with period d and are orthonormal within one: E^T E = F diag(repeats) F^T.
    repeats = np.bincount(np.arange(length) % d, minlength=min(d, length))
    values: F64 = np.sqrt(np.sort(repeats)[::-1].astype(float))
    return values


def _summarise(values: F64, d: int, length: int) -> Conditioning:
    tolerance = max(length, d) * _EPS * float(values[0])
    condition = float(values[0] / values[-1]) if values[-1] > 0 else np.inf
    notes: tuple[str, ...] = ()
    if not condition <= LARGEST_CONDITION:
        notes = ("condition number > 1e15: float64 cannot tell how much larger; see the numerical rank",)
    return Conditioning(
        rank=int(np.count_nonzero(values > tolerance)),
        rank_tolerance=tolerance,
        condition_number=None if notes else condition,
        notes=notes,
    )
