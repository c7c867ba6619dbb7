"""The sum of cosines of a rotary encoding by lag: how it falls, where it turns negative, and with which base.

S(m) = sum_i cos(m theta_i) over the pairs is what two equal tokens at lag m keep of their similarity,
up to a factor, when queries and keys are alike in all pairs. Men et al. 2024 (arXiv:2405.14591) take
the smallest base with S(m) >= 0 for all m up to a context length as the least for that length.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_cosine, compute_ladder
from pe_spectra.exact import C128, CONTEXT, F64
from pe_spectra.ordering import list_distinct
from pe_spectra.records import NamedTuple, dataclass

#: Lags of the first block of a scan, and of the largest; numbers of each of six arrays that are held.
_FIRST_BLOCK, _LARGEST_BLOCK, _HELD = 1 << 10, 1 << 18, 1 << 20
#: Products of two numbers up to which OpenBLAS starts no threads. Here those would wait for each other, where
#: something else runs, for many times as long as they compute.
_UNDIVIDED = 1 << 18
#: Half a unit in the last place of numbers from 1/2 to 1.
_U = 2.0**-53
#: Pairs times positions beyond which the smallest base is not searched for: about a hundred scans are made.
MAX_SEARCHED = 1 << 26
#: Beyond, the search ends at twice the smallest base, and from where on all bases hold is not known.
_MAX_SETTLED = 1 << 24
#: Lags that a look at a base takes from the upper half of the context, and of how many the first look takes one.
_SAMPLED, _FEW = 256, 16
#: Powers of ten that the search of a base goes through.
_DECADES = 15
#: Cosines that are computed for one stretch of lags, and the lags that it has computed at least.
_COSINES, _FEWEST = 1 << 14, 16


def find_first_negative_lag(frequencies: Sequence[Decimal] | Sequence[float], limit: int) -> int | None:
    """Find the smallest integer m from 1 to `limit` with sum_i cos(m theta_i) < 0.

    Blocks of lags come from products of two tables of cosines and sines in float64, with a bound on their
    error. A sum within that bound of zero is computed again in 60 digits, so every sign is right.

    Parameters
    ----------
    frequencies : theta_i in rad/position, to 50 digits, as the ways to scale give them; floats are exact.
    limit : >= 1; a second is enough for some 1 << 28 over the number of pairs.

    Returns
    -------
    The lag in positions; None where no sum up to `limit` is negative.

    >>> find_first_negative_lag(compute_ladder(10000, 128), 4096)
    1707
    """
    theta = np.array([float(frequency) for frequency in frequencies])
    # each block is four times as long as the one before, to a largest, whose tables are of its square root
    largest = min(_LARGEST_BLOCK, (_HELD // theta.size) ** 2)
    first, size = 1, min(_FIRST_BLOCK, largest)
    while first <= limit:
        stop = min(first + size, limit + 1)
        sums, doubt = _sum_block(theta, first, stop), _bound_sum_error(theta, stop - 1)
        for place in np.flatnonzero(sums <= doubt):
            lag = first + int(place)
            if sums[place] < -doubt or _sum_exactly(tuple(map(Decimal, frequencies)), lag) < 0:
                return lag
        first, size = stop, min(4 * size, largest)
    return None


def _sum_block(theta: F64, first: int, stop: int) -> F64:
    """Compute sum_i cos(m theta_i) for m = first .. stop - 1 by the addition theorem, m = first + a + step b."""
    step = math.isqrt(stop - first - 1) + 1
    # as pairs of real numbers, one side conjugate: their product is cos cos - sin sin
    left = _list_waves(theta, first, step, -(-(stop - first) // step)).conj().view(float)
    right = _list_waves(theta, 0, 1, step).view(float).T
    sums: F64 = np.empty((len(left), step))
    # their product, by square tiles that are each computed in one thread
    side = max(1, math.isqrt(_UNDIVIDED // left.shape[1]))
    for top, begin in itertools.product(range(0, len(left), side), range(0, step, side)):
        rows, columns = slice(top, top + side), slice(begin, begin + side)
        np.matmul(left[rows], right[:, columns], out=sums[rows, columns])
    return sums.ravel()[: stop - first]


def _list_waves(theta: F64, first: int, step: int, count: int) -> C128:
    """Compute exp(i m theta) for m = first, first + step, .., (count, M), by the addition theorem as well."""
    side = math.isqrt(count - 1) + 1
    lags = step * np.arange(side, dtype=float), first + step * side * np.arange(-(-count // side), dtype=float)
    waves = np.empty((side + len(lags[1]), len(theta)), complex)
    angles = np.multiply.outer(np.concatenate(lags), theta)
    waves.real, waves.imag = np.cos(angles), np.sin(angles)
    return (waves[side:, None] * waves[:side]).reshape(-1, len(theta))[:count]


def _bound_sum_error(theta: F64, lag: int) -> float:
    """Bound the error of the sums of cosines up to `lag` that come from float64 frequencies.

    Frequencies and angles are rounded, together at most 2 u m theta, u = 2**-53. Sines and cosines are right to 4 u, so
    that products of two waves have 4 u sqrt(8) + 1.5 u < 13 u in each part, and those of two such have
    13 u sqrt(8) + 1.5 u < 40 u; the sum of M of them in any order has 2 M u on each. Twice of all that.
    """
    return 2 * _U * (2 * lag * float(np.sum(theta)) + theta.size * (2 * theta.size + 40))


def _sum_exactly(frequencies: Sequence[Decimal], lag: int) -> Decimal:
    """Compute sum_i cos(lag theta_i) with decimals, to some 45 digits.

    It is never 0 for the ladders of a rational base: by Lindemann and Weierstrass, cosines of distinct
    algebraic numbers are linearly independent.
    """
    total = Decimal(0)
    for theta in frequencies:
        total = CONTEXT.add(total, compute_cosine(CONTEXT.multiply(theta, Decimal(lag))))
    return total


@dataclass(frozen=True, kw_only=True)
class KernelSample:
    """S(m)/S(0), the mean cosine over the pairs, by stretches of lags that are equally long in the logarithm."""

    lags: F64  #: (B,) geometric middle of each stretch, in positions
    low: F64  #: (B,) least value in each
    mean: F64  #: (B,) mean value in each
    high: F64  #: (B,) largest value in each


def sample_kernel(frequencies: F64, longest: int, *, stretches: int = 160) -> KernelSample:
    """Sample the kernel of a rotary encoding from lag 1 to `longest`, on a logarithmic axis.

    Parameters
    ----------
    frequencies : (D/2,), rad/position. longest : lag, >= 2.
    stretches : how many at most; each holds one lag at least, of longer ones some lags are computed, evenly spread.

    >>> sample = sample_kernel(np.array([1.0]), 100, stretches=4)
    >>> len(sample.mean)
    4
    """
    most = max(_FEWEST, _COSINES // frequencies.size)
    edges = np.unique(np.rint(np.geomspace(1, longest + 1, stretches + 1)).astype(np.int64)).tolist()
    rows = []
    for first, following in itertools.pairwise(edges):
        last = following - 1
        lags = np.unique(np.linspace(first, last, min(most, last - first + 1)).astype(np.int64)).astype(float)
        values = np.mean(np.cos(np.multiply.outer(lags, frequencies)), axis=1)
        rows.append((math.sqrt(first * last), values.min(), values.mean(), values.max()))
    lags, low, mean, high = np.array(rows).T
    return KernelSample(lags=lags, low=low, mean=mean, high=high)


# --------------------------------------------------------------------- the smallest base without a negative sum


class BaseSearch(NamedTuple):
    """The smallest base without a negative sum up to a length, and those up to twice it."""

    base: float | None  #: None where there is none
    tried: int  #: how many there are up to twice it
    failed: int  #: how many of them have a negative sum again: the property is not monotone in the base
    settled: float | None  #: the smallest from which on none up to twice it has one; None where that is not known


@lru_cache(maxsize=32)
def search_base(d: int, length: int) -> BaseSearch:
    """Find the smallest base with sum_i cos(m base**(-2i/d)) >= 0 for all m = 1 .. length (Men et al. 2024).

    Searched are the bases of two significant digits, 1.1, 1.2, .. 9.9, 10, 11, .. 99, 100, 110, .., in
    this order, and each smaller one has a negative sum. Between them others exist: where a sum turns
    negative is not monotone in the base, so a finer grid finds isolated smaller bases.

    >>> search_base(128, 1024).base
    4300.0
    """
    found = settled = None
    tried, failed = 0, 0
    is_long = d // 2 * length > _MAX_SETTLED
    for base, holds in _try_bases(d, length):
        if (settled is not None and base > 2 * settled) or (is_long and found is not None and base > 2 * found):
            break
        if found is not None and base <= 2 * found:
            tried, failed = tried + 1, failed + (not holds)
        if holds:
            found, settled = found or base, settled or base
        else:
            settled = None
    return BaseSearch(found, tried, failed, None if is_long else settled)


def _try_bases(d: int, length: int) -> Iterator[tuple[float, bool]]:
    """Every base of two digits, with whether no sum up to the length is negative."""
    # most that have a negative sum show it for certain at some lags of the upper half of the context, often at few
    lags = list_distinct(np.linspace(max(1, length // 2), length, _SAMPLED).astype(np.int64)).astype(float)
    for exponent, digits in itertools.product(range(_DECADES), range(10, 100)):
        base = float(f"{digits}e{exponent - 1}")
        if base > 1:
            theta = base ** (-2.0 * np.arange(d // 2) / d)
            # a power has the error of its exponent times ln base as well
            doubt = (2 + math.log(base)) * _bound_sum_error(theta, length)
            looks = (np.sum(np.cos(np.multiply.outer(some, theta)), axis=1) for some in (lags[::_FEW], lags))
            is_out = any(bool(np.min(sums) < -doubt) for sums in looks)
            yield base, not is_out and find_first_negative_lag(compute_ladder(base, d), length) is None
