"""How much of the Gram matrix is a function of the lag alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64
from pe_spectra.metrics.tables import MAX_PRODUCT_WORK, centre, check_table, count_product_work
from pe_spectra.spectrum.gram import compute_gram_kernel

#: Columns of a product of two tables that are held at a time.
_COLUMNS = 1 << 10


def measure_translation_invariance(table: ArrayLike) -> float | None:
    """1 - Var(along diagonals) / Var(all) of the Gram matrix G_st = <e_s, e_t>; 0 to 1, without a unit.

    Var(all) is the variance of all S**2 entries, Var(along diagonals) the mean square of what is left
    when each diagonal's own mean is taken off. 1: a dot product depends on the lag alone.

    Not to be confused with the Toeplitz share (:func:`pe_spectra.spectrum.gram.measure_toeplitz_share`), the
    share of the *energy* (sum of squares) of G that its diagonal means hold: that one counts the grand
    mean as well, so it is high for any codes with a large common part; this one asks what explains
    the differences.

    No S x S matrix is formed, and no sum of squares is taken from another. With the mean code m,
    z_s = e_s - m and a_s = <m, z_s>, G_st less its mean is a_s + a_t + <z_s, z_t>: over all pairs its squares
    sum to 2 S ||a||**2 + ||Z'Z||**2, and the means of <z_s, z_t> along diagonals come by FFT.

    Parameters
    ----------
    table : (S, d), positions 0 .. S-1 in its rows.

    Returns
    -------
    None where all codes, and so all entries of G, are equal, or beyond 2**34 multiplications S d min(S, d).

    Source: translation invariance as a property: Wang et al., ICLR 2021; this indicator is our own
    (the correlation ratio, Fisher 1925).

    >>> round(measure_translation_invariance(np.eye(4)), 12)
    1.0
    >>> measure_translation_invariance([[1.0, 1.0], [1.0, 1.0]]) is None
    True
    """
    values = check_table(table)
    if count_product_work(values) > MAX_PRODUCT_WORK:
        return None
    # a constant column adds the same to each dot product
    varying = values[:, (values != values[0]).any(axis=0)]
    if not varying.size:
        return None
    # to a largest entry near 1: then the largest change is above 2**-54, and `centre` keeps the scale
    varying = np.ldexp(varying, -math.frexp(float(np.max(np.abs(varying))))[1])
    centred = centre(varying)
    # the mean code is the first less what is left of it, and rounds if it is written down
    along = centred @ varying[0] - centred @ centred[0]
    length = len(values)
    spread = 2 * length * float(along @ along) + _sum_gram_squares(centred)
    pairs = np.arange(length, 0, -1.0)
    ends = np.cumsum(along)[::-1] + np.cumsum(along[::-1])[::-1]
    means = compute_gram_kernel(centred) + ends / pairs
    entries = 2 * pairs
    entries[0] = length
    return min(1.0, float(np.sum(entries * means**2)) / spread)


def _sum_gram_squares(table: F64) -> float:
    # ||E E^T|| = ||E^T E|| in the Frobenius norm: take the smaller one, some rows at a time
    tall = table if len(table) >= table.shape[1] else table.T
    total = 0.0
    for start in range(0, tall.shape[1], _COLUMNS):
        product = tall[:, start : start + _COLUMNS].T @ tall
        total += float(np.sum(product * product))
    return total
