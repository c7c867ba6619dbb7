"""The real orthonormal discrete Fourier transform, Eq. (10) to Eq. (14), and its lattice of frequencies.

Coefficients stand in the order of Eq. (21): a_0, a_1 .. a_K, b_1 .. b_K, b_0 with K = ceil(n/2) - 1.
Odd n has no b_0, for there is no frequency pi.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, ArrayLike, scale_pair, sin_cos_pairs_of_turns
from pe_spectra.limits import MAX_WIDTH, MIN_WIDTH
from pe_spectra.numbers import IntegerRange

GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)


def basis(n: int) -> F64:
    """Return the basis functions phi_l(t) on the lattice as rows, shape (n, n): an orthogonal matrix.

    >>> np.round(basis(2) * np.sqrt(2), 12)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    return evaluate_basis(np.arange(n), n).T


def evaluate_basis(t: I64, n: int) -> F64:
    """Return the basis functions phi_l at the points t, shape (T, n), in the order of Eq. (21).

    Implements Eq. (11) and Eq. (12): over n points in a row the columns are orthonormal. Zeros are
    exact, other entries right to two units in the last place.

    >>> (evaluate_basis(np.arange(2), 4) * 2).round(12) + 0.0
    array([[ 1.        ,  1.41421356,  0.        ,  1.        ],
           [ 1.        ,  0.        ,  1.41421356, -1.        ]])
    """
    last = (n - 1) // 2
    k = np.arange(n // 2 + 1)
    sine, cosine = sin_cos_pairs_of_turns(np.mod(t[:, None] * k, n), n)
    single, double = (CONTEXT.divide(Decimal(c), Decimal(n)) for c in (1, 2))
    first, inner, end = slice(0, 1), slice(1, last + 1), slice(last + 1, None)
    columns = [scale_pair(_take(cosine, first), single), scale_pair(_take(cosine, inner), double)]
    columns += [scale_pair(_take(sine, inner), double), scale_pair(_take(cosine, end), single)]
    return np.concatenate(columns, axis=1)


def _take(pair: tuple[F64, F64], columns: slice) -> tuple[F64, F64]:
    return pair[0][:, columns], pair[1][:, columns]


def count_basis_functions(n: int) -> F64:
    """How many real DFT basis functions each frequency k = 0 .. n // 2 has: 1, 2, .., 2, 1 (odd n: no last 1).

    >>> count_basis_functions(6).tolist(), count_basis_functions(5).tolist()
    ([1.0, 2.0, 2.0, 1.0], [1.0, 2.0, 2.0])
    """
    counts = np.full(n // 2 + 1, 2.0)
    counts[0] = 1.0
    if n % 2 == 0:
        counts[-1] = 1.0
    return counts


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


def transform(f: ArrayLike) -> F64:
    """Return the coefficients c_l of a function on the lattice; both of shape (n,).

    Implements Eq. (13) and Eq. (14), by a fast transform.

    >>> transform([1.0, 1.0, 1.0, 1.0]).round(12) + 0.0
    array([2., 0., 0., 0.])
    """
    function = _as_vector(f)
    n = len(function)
    last = (n - 1) // 2
    c = np.fft.rfft(function)
    end = [c.real[-1:] / np.sqrt(n)] if n % 2 == 0 else []
    pairs = [c.real[1 : last + 1] * np.sqrt(2 / n), -c.imag[1 : last + 1] * np.sqrt(2 / n)]
    return np.concatenate([c.real[:1] / np.sqrt(n), *pairs, *end])


def invert(coefficients: ArrayLike) -> F64:
    """Return the function with these coefficients; both of shape (n,).

    Implements Eq. (10).

    >>> invert(transform([5.0, 7.0, 9.0])).round(12)
    array([5., 7., 9.])
    """
    c = _as_vector(coefficients)
    n = len(c)
    last = (n - 1) // 2
    half = np.zeros(n // 2 + 1, dtype=complex)
    half[0] = c[0] * np.sqrt(n)
    half[1 : last + 1] = (c[1 : last + 1] - 1j * c[last + 1 : 2 * last + 1]) * np.sqrt(n / 2)
    if n % 2 == 0:
        half[-1] = c[-1] * np.sqrt(n)
    return np.fft.irfft(half, n)


def _as_vector(values: ArrayLike) -> F64:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not array.size:
        raise InputError("not a function on a lattice", f"shape {array.shape}", "shape (n,) is accepted")
    return array
