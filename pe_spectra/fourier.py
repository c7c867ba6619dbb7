"""The real orthonormal discrete Fourier transform, Eq. (10) to Eq. (14).

Coefficients stand in the order of Eq. (21): a_0, a_1 .. a_K, b_1 .. b_K, b_0 with K = ceil(n/2) - 1.
Odd n has no b_0, for there is no frequency pi.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64, sin_cos_of_turns


def basis(n: int) -> F64:
    """Return the basis functions phi_l(t) as rows, shape (n, n).

    Implements Eq. (11) and Eq. (12): the rows are orthonormal.
    """
    last = (n - 1) // 2
    k = np.arange(n // 2 + 1)
    sine, cosine = sin_cos_of_turns(np.mod(k[:, None] * np.arange(n), n), n)
    scale = np.sqrt(np.where((k == 0) | (2 * k == n), 1.0, 2.0) / n)[:, None]
    rows = [(scale * cosine)[: last + 1], (scale * sine)[1 : last + 1], (scale * cosine)[last + 1 :]]
    return np.concatenate(rows)


def transform(f: ArrayLike) -> F64:
    """Return the coefficients c_l of a function on the lattice; both of shape (n,).

    Implements Eq. (13) and Eq. (14), by a fast transform.
    """
    function = np.asarray(f, dtype=float)
    n = len(function)
    last = (n - 1) // 2
    c = np.fft.rfft(function)
    end = [c.real[-1:] / np.sqrt(n)] if n % 2 == 0 else []
    pairs = [c.real[1 : last + 1] * np.sqrt(2 / n), -c.imag[1 : last + 1] * np.sqrt(2 / n)]
    return np.concatenate([c.real[:1] / np.sqrt(n), *pairs, *end])


def invert(coefficients: ArrayLike) -> F64:
    """Return the function with these coefficients; both of shape (n,).

    Implements Eq. (10).
    """
    c = np.asarray(coefficients, dtype=float)
    n = len(c)
    last = (n - 1) // 2
    half = np.zeros(n // 2 + 1, dtype=complex)
    half[0] = c[0] * np.sqrt(n)
    half[1 : last + 1] = (c[1 : last + 1] - 1j * c[last + 1 : 2 * last + 1]) * np.sqrt(n / 2)
    if n % 2 == 0:
        half[-1] = c[-1] * np.sqrt(n)
    return np.fft.irfft(half, n)
