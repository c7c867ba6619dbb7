"""Whether weights are even, and whether the encoding is or only the kernel that blurs it.

Weights are compared per basis function. Eq. (15) and a lag window sample a density, which is just that; on the lattice,
where they are masses, one of 0 and one of pi belong to one basis function each and all others to two. To blur an even
spectrum leaves it even, so only where weights look even is it asked whether they do at the finest that a lattice shows.
"""

from __future__ import annotations

from typing import NamedTuple

from pe_spectra.exact import F64

#: From this share of the largest on the smallest weight is nearly the same. The weights of d columns of noise at
#: bandwidth b have a standard deviation of 1/sqrt(2 sqrt(pi) b d): those of 128 columns at half a bin, 0.067, stay
#: within three of it, between 0.8 and 1.2.
LEAST_EVEN = 2 / 3
#: Without reflection half of the kernels at 0 and at pi is lost, and even weights end at one half of themselves.
_LEAST_CUT = 1 / 2
#: In bins: the Gaussian whose width at half of its height is about one bin. Its window is exp(-pi**2/2), 0.7 %, at
#: the lag N: all that it shows is in as many lags as the lattice has points.
FINEST = 0.5


class Finest(NamedTuple):
    """Weights at the finest that a lattice, and the lags that are known, show: (N // 2 + 1,), not normalised."""

    bandwidth: float
    weights: F64


def compare_ends(weights: F64) -> float:
    """Return the smallest of weights over the largest, from 0 (or below 0) to 1 (all the same).

    >>> import numpy as np
    >>> compare_ends(np.array([1.0, 4.0, 3.0]))
    0.25
    """
    smallest, largest = float(weights.min()), float(weights.max())
    return max(0.0, smallest) / largest if largest > 0 else 0.0


def may_be_even(weights: F64, boundary: str) -> bool:
    """Return whether what was blurred to these weights may be even itself: no blur takes weights farther apart.

    >>> import numpy as np
    >>> may_be_even(np.array([0.35, 1.0]), "reflect"), may_be_even(np.array([0.35, 1.0]), "none")
    (False, True)
    """
    return compare_ends(weights) >= LEAST_EVEN * (1.0 if boundary == "reflect" else _LEAST_CUT)
