"""The DFT lattice: its frequencies, and the weights of the DFT encoding on it, Eq. (22)."""

from __future__ import annotations

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.fourier import count_basis_functions
from pe_spectra.limits import MAX_WIDTH, MIN_WIDTH
from pe_spectra.numbers import IntegerRange

GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)


def compute_dft_weights(grid: int) -> F64:
    """Return the weights of the DFT encoding on its own lattice, shape (grid // 2 + 1,).

    Implements Eq. (22), first form: 1/d at both ends, 2/d between. It is the mass at each
    frequency and sums to 1; the second form printed in the paper does not.

    >>> compute_dft_weights(4)
    array([0.25, 0.5 , 0.25])
    """
    return count_basis_functions(GRID.check(grid, "grid")) / grid


def compute_omega(grid: int) -> F64:
    """Return the DFT frequencies 2 pi k/N, k = 0 .. N // 2, in rad/position.

    >>> (compute_omega(4) / np.pi).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.arange(grid // 2 + 1, dtype=np.float64) * (2 * np.pi / grid)
