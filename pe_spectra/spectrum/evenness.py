"""Whether weights are even, or crowded at the bottom, and whether the encoding is or only the kernel that blurs it.

Weights are compared per basis function. Eq. (15) and a lag window sample a density, which is just that; on the lattice,
where they are masses, one of 0 and one of pi belong to one basis function each and all others to two. To blur an even
spectrum leaves it even, so only where weights look even is it asked whether they do at the finest that a lattice shows;
and so where they look crowded, as a wide kernel fills the first bins from above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from pe_spectra.exact import F64
from pe_spectra.records import dataclass

#: From this share of the largest on the smallest weight is nearly the same. The weights of d columns of noise at
#: bandwidth b have a standard deviation of 1/sqrt(2 sqrt(pi) b d): those of 128 columns at half a bin, 0.067, stay
#: within three of it, between 0.8 and 1.2.
LEAST_EVEN = 2 / 3
#: Without reflection half of the kernels at 0 and at pi is lost, and even weights end at one half of themselves.
_LEAST_CUT = 1 / 2
#: In bins: the Gaussian whose width at half of its height is about one bin. Its window is exp(-pi**2/2), 0.7 %, at
#: the lag N: all that it shows is in as many lags as the lattice has points.
FINEST = 0.5


#: How many of the lowest bins `low_bin_mass` adds up; all where there are fewer.
LOW_BINS = 10


@dataclass(frozen=True, eq=False)
class Finest:
    """The finest that a lattice, and the lags that are known, show."""

    bandwidth: float
    find: Callable[[], F64]

    @cached_property
    def weights(self) -> F64:
        """The weights there, (N // 2 + 1,), not normalised; computed when they are first asked for."""
        return self.find()


def compare_ends(weights: F64) -> float:
    """Return the smallest of weights over the largest, from 0 (or below 0) to 1 (all the same).

    >>> import numpy as np
    >>> compare_ends(np.array([1.0, 4.0, 3.0]))
    0.25
    """
    smallest, largest = float(weights.min()), float(weights.max())
    return max(0.0, smallest) / largest if largest > 0 else 0.0


def is_crowded(weights: F64) -> bool:
    """Return whether the first ten of weights hold a tenth of all and twice their even share; never of less than 20.

    >>> import numpy as np
    >>> is_crowded(np.arange(40.0)[::-1] ** 2), is_crowded(np.ones(40)), is_crowded(np.eye(1, 19)[0])
    (True, False, False)
    """
    bins = len(weights)
    return bins >= 2 * LOW_BINS and float(weights[:LOW_BINS].sum() / weights.sum()) >= max(0.1, 2 * LOW_BINS / bins)


def needs_finest(weights: F64, boundary: str) -> bool:
    """Return whether these weights look even or crowded, so that it must be seen whether the kernel made them so.

    No blur takes weights farther apart, so that what is uneven here was not even.

    >>> import numpy as np
    >>> needs_finest(np.array([0.35, 1.0]), "none"), needs_finest(np.array([0.35, 1.0]), "reflect")
    (True, False)
    """
    least = LEAST_EVEN * (1.0 if boundary == "reflect" else _LEAST_CUT)
    return compare_ends(weights) >= least or is_crowded(weights)
