"""Where the sum of cosines of a rotary encoding turns negative: the bound of Men et al., computed exactly.

S(m) = sum_i cos(m theta_i) over the pairs is what two equal tokens at lag m keep of their similarity,
up to a factor, when queries and keys are alike in all pairs. Men et al. 2024 (arXiv:2405.14591) take
the smallest base with S(m) >= 0 for all m up to a context length as the least for that length.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, TWO_PI

#: Pairs times lags that one scan may go through: about a second.
MAX_SCANNED = 1 << 28
#: The same for the search of a base, which makes about a hundred scans.
MAX_SEARCHED = 1 << 26
#: Beyond, the search ends at twice the smallest base, and from where on all bases hold is not known.
_MAX_SETTLED = 1 << 24
#: Lags of the first block of a scan, and of the largest; numbers of each of six arrays that are held.
_FIRST_BLOCK, _LARGEST_BLOCK, _HELD = 1 << 10, 1 << 18, 1 << 20
#: Half a unit in the last place of numbers from 1/2 to 1.
_U = 2.0**-53
#: Lags that a first look at a base takes from the upper half of the context.
_SAMPLED = 256
#: Powers of ten that the search of a base goes through.
_DECADES = 15


def find_first_negative_lag(frequencies: Sequence[Decimal], limit: int) -> int | None:
    """Find the smallest integer m from 1 to `limit` with sum_i cos(m theta_i) < 0.

    Blocks of lags come from products of two tables of cosines and sines in float64, with a bound on their
    error. A sum within that bound of zero is computed again in 60 digits, so every sign is right.

    Parameters
    ----------
    frequencies : theta_i in rad/position, to 50 digits, as the ways to scale give them.
    limit : >= 1; at most `MAX_SCANNED` over the number of pairs.

    Returns
    -------
    The lag in positions; None where no sum up to `limit` is negative.

    Raises
    ------
    InputError : more lags than a scan may go through.

    >>> find_first_negative_lag(compute_ladder(10000, 128), 4096)
    1707
    """
    if limit * len(frequencies) > MAX_SCANNED:
        accepted = f"at most {MAX_SCANNED // max(1, len(frequencies))} lags for {len(frequencies)} pairs"
        raise InputError("too many lags to scan", str(limit), accepted)
    theta = np.array([float(frequency) for frequency in frequencies])
    for first, stop in _split(limit, theta.size):
        sums, doubt = _sum_block(theta, first, stop), bound_sum_error(theta, stop - 1)
        for place in np.flatnonzero(sums <= doubt):
            lag = first + int(place)
            if sums[place] < -doubt or sum_exactly(frequencies, lag) < 0:
                return lag
    return None


def _sum_block(theta: F64, first: int, stop: int) -> F64:
    """Compute sum_i cos(m theta_i) for m = first .. stop - 1 by the addition theorem, m = first + a + step b."""
    step = math.isqrt(stop - first - 1) + 1
    fine = np.multiply.outer(theta, np.arange(step, dtype=float))
    coarse = np.multiply.outer(first + step * np.arange(-(-(stop - first) // step), dtype=float), theta)
    sums: F64 = np.cos(coarse) @ np.cos(fine) - np.sin(coarse) @ np.sin(fine)
    return sums.ravel()[: stop - first]


def bound_sum_error(theta: F64, lag: int) -> float:
    """Bound the error of the sums of cosines up to `lag` that come from float64 frequencies.

    Frequencies and angles are rounded, together at most 2 u m theta, u = 2**-53; each of the 2 M products of
    sines and cosines (right to 4 units in the last place) has 20 u, and their sum in any order 2 M u on each
    of M terms. Twice of all that.

    >>> bound_sum_error(np.array([1.0, 0.01]), 1000) < 1e-12
    True
    """
    return 2 * _U * (2 * lag * float(np.sum(theta)) + theta.size * (2 * theta.size + 40))


def sum_exactly(frequencies: Sequence[Decimal], lag: int) -> Decimal:
    """Compute sum_i cos(lag theta_i) with decimals, to some 45 digits.

    It is never 0 for the ladders of a rational base: by Lindemann and Weierstrass, cosines of distinct
    algebraic numbers are linearly independent.

    >>> float(round(sum_exactly([Decimal(1)], 3), 12))  # cos 3
    -0.9899924966
    """
    total = Decimal(0)
    for theta in frequencies:
        total = CONTEXT.add(total, _compute_cosine(CONTEXT.multiply(theta, Decimal(lag))))
    return total


def _compute_cosine(angle: Decimal) -> Decimal:
    turns = CONTEXT.divide(angle, TWO_PI).to_integral_value()
    rest = CONTEXT.subtract(angle, CONTEXT.multiply(turns, TWO_PI))
    square, total, term = CONTEXT.multiply(rest, rest), Decimal(1), Decimal(1)
    for n in itertools.count(2, 2):
        term = CONTEXT.divide(CONTEXT.multiply(term, square), Decimal(-n * (n - 1)))
        total = CONTEXT.add(total, term)
        if abs(term) < Decimal("1e-62"):
            break
    return total


def _split(limit: int, pairs: int) -> Iterator[tuple[int, int]]:
    """Blocks of lags [first, stop) from 1 to `limit`, each four times as long as the one before, to a largest."""
    largest = min(_LARGEST_BLOCK, (_HELD // pairs) ** 2)  # tables of the square root of a block
    first, size = 1, min(_FIRST_BLOCK, largest)
    while first <= limit:
        stop = min(first + size, limit + 1)
        yield first, stop
        first, size = stop, min(4 * size, largest)


@dataclass(frozen=True, kw_only=True)
class BaseSearch:
    """The smallest base of two significant digits without a negative sum up to a context length.

    Attributes
    ----------
    d, length : rotary width in channels, context length in positions.
    base : the smallest; None where none below 1e15 does.
    tried : bases with two significant digits from `base` to twice that were tried as well.
    failed : how many of them have a negative sum again: the property is not monotone in the base.
    settled : the smallest base with two significant digits from which on none up to twice it has a negative sum; None
        where none below 1e15 is so, and for lengths of more than 2**24 over the number of pairs.
    """

    d: int
    length: int
    base: float | None
    tried: int
    failed: int
    settled: float | None


@lru_cache(maxsize=32)
def find_base_for_length(d: int, length: int) -> BaseSearch:
    """Find the smallest base with sum_i cos(m base**(-2i/d)) >= 0 for all m = 1 .. length.

    Searched are the bases of two significant digits, 1.1, 1.2, .. 9.9, 10, 11, .. 99, 100, 110, .., in
    this order, and each smaller one has a negative sum. Between them others exist: where a sum turns
    negative is not monotone in the base, so a finer grid finds isolated smaller bases.

    Parameters
    ----------
    d : rotary width, even, >= 2. length : context length, >= 1; d/2 length at most `MAX_SEARCHED`.

    Raises
    ------
    InputError : more than that.

    >>> find_base_for_length(128, 1024).base
    4300.0
    """
    if d // 2 * length > MAX_SEARCHED:
        accepted = f"a length of at most {MAX_SEARCHED // (d // 2)} for d = {d}"
        raise InputError("too many lags to search a base for", str(length), accepted)
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
    settled = None if is_long else settled
    return BaseSearch(d=d, length=length, base=found, tried=tried, failed=failed, settled=settled)


def _try_bases(d: int, length: int) -> Iterator[tuple[float, bool]]:
    """Every base of two digits, with whether no sum up to the length is negative."""
    for bases in _list_bases():
        for base, is_out in zip(bases.tolist(), _look_for_negative_sums(bases, d, length), strict=True):
            yield base, not is_out and find_first_negative_lag(compute_ladder(base, d), length) is None


def _list_bases() -> Iterator[F64]:
    """Bases of two significant digits, ten at a time; each the double nearest to the decimal."""
    for exponent, tens in itertools.product(range(_DECADES), range(1, 10)):
        bases = [float(f"{10 * tens + ones}e{exponent - 1}") for ones in range(10)]
        yield np.array([base for base in bases if base > 1])


def _look_for_negative_sums(bases: F64, d: int, length: int) -> Sequence[bool]:
    """Find bases that have a negative sum for certain, from some lags of the upper half of the context."""
    lags = np.unique(np.linspace(max(1, length // 2), length, _SAMPLED).astype(np.int64)).astype(float)
    exponents = -2.0 * np.arange(d // 2) / d
    out = []
    for base in bases:
        theta = base**exponents
        sums = np.sum(np.cos(np.multiply.outer(lags, theta)), axis=1)
        # a power has the error of its exponent times ln base as well
        doubt = (2 + math.log(base)) * bound_sum_error(theta, length)
        out.append(bool(np.min(sums) < -doubt))
    return out
