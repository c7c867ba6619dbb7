"""How much of the Gram matrix is a function of the lag alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64
from pe_spectra.metrics.tables import MAX_PRODUCT_WORK, check_table, count_product_work, tame
from pe_spectra.spectrum.gram import compute_gram_kernel

#: Columns of a product of two tables that are held at a time.
_COLUMNS = 1 << 10
#: Variance below this share of the mean square is rounding.
_NOISE = 1e-12


def measure_translation_invariance(table: ArrayLike) -> float | None:
    """1 - Var(along diagonals) / Var(all) of the Gram matrix G_st = <e_s, e_t>; 0 to 1, without a unit.

    Var(all) is the variance of all S**2 entries, Var(along diagonals) the mean square of what is left
    when each diagonal's own mean is taken off. 1: a dot product depends on the lag alone.

    Not to be confused with the Toeplitz share (:func:`pe_spectra.spectrum.gram.measure_toeplitz_share`), the
    share of the *energy* (sum of squares) of G that its diagonal means hold: that one counts the grand
    mean as well, so it is high for any codes with a large common part; this one asks what explains
    the differences.

    No S x S matrix is formed: sum of G**2 from the smaller Gram matrix, diagonal sums by FFT.

    Parameters
    ----------
    table : (S, d), positions 0 .. S-1 in its rows.

    Returns
    -------
    None where all entries of G are equal, or beyond 2**34 multiplications S d min(S, d).

    Source: translation invariance as a property: Wang et al., ICLR 2021; this indicator is our own
    (the correlation ratio, Fisher 1925).

    >>> round(measure_translation_invariance(np.eye(4)), 12)
    1.0
    >>> measure_translation_invariance([[1.0, 1.0], [1.0, 1.0]]) is None
    True
    """
    values, _ = tame(check_table(table))
    if count_product_work(values) > MAX_PRODUCT_WORK:
        return None
    length = len(values)
    squares = _sum_gram_squares(values)
    column_sums = values.sum(axis=0)
    total = float(column_sums @ column_sums)
    spread = squares - total / length * (total / length)
    if spread <= _NOISE * squares:
        return None
    entries = 2 * np.arange(length, 0, -1.0)
    entries[0] = length
    explained = float(np.sum(entries * compute_gram_kernel(values) ** 2))
    return min(1.0, max(0.0, 1.0 - (squares - explained) / spread))


def _sum_gram_squares(table: F64) -> float:
    # ||E E^T|| = ||E^T E|| in the Frobenius norm: take the smaller one, some rows at a time
    tall = table if len(table) >= table.shape[1] else table.T
    total = 0.0
    for start in range(0, tall.shape[1], _COLUMNS):
        product = tall[:, start : start + _COLUMNS].T @ tall
        total += float(np.sum(product * product))
    return total
