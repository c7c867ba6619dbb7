"""The arithmetic that answers rest on: products and angles with the rounding error kept.

An angle w s loses digits long before NumPy's sine is called: w is rounded, and so is the product.
Here a frequency is a sum of up to three doubles (`words`, shape (3, M), together some 48 digits),
a product keeps its error, and an angle is reduced to at most pi/4 before sine and cosine see it.
Angles that are rational multiples of a turn are reduced in integers, so that zeros are zeros.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import lru_cache
from itertools import accumulate, islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy import typing

    ArrayLike = typing.ArrayLike
else:
    ArrayLike = Any
_Number = TypeVar("_Number", bound=np.generic)
#: As wide as in numpy.typing, which takes half a millisecond to import.
NDArray = np.ndarray[Any, np.dtype[_Number]]
F64 = NDArray[np.float64]
C128 = NDArray[np.complex128]
I64 = NDArray[np.int64]

#: Relative error of numbers that are exact: a few roundings in float64.
EXACT = 2.0**-50
#: Digits of the decimal arithmetic that frequencies are computed in.
DIGITS = 60
CONTEXT = Context(
    prec=DIGITS,
    rounding=ROUND_HALF_EVEN,
    Emin=-(10**6),
    Emax=10**6,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")
TWO_PI = CONTEXT.multiply(Decimal(2), PI)
#: Bits from which pairs of doubles are made: of 2**11 steps, the most to one, they leave 40 digits.
_BITS = 150
#: Entries that are worked on at a time, so that they stay in cache.
_BLOCK = 1 << 13
#: Entries of a table of cosines that is held at a time.
_TERMS = 1 << 20
_SPLITTER = 134217729.0  # 2**27 + 1: splits a double into two halves of 26 bits


def to_words(value: Decimal, count: int = 3) -> tuple[float, ...]:
    """Write a decimal number as a sum of `count` doubles, largest first.

    >>> to_words(Decimal("0.1"), 2)
    (0.1, -5.551115123125783e-18)
    """
    words = [float(value)]
    for _ in range(count - 1):
        value = CONTEXT.subtract(value, Decimal.from_float(words[-1]))
        words.append(float(value))
    return tuple(words)


@lru_cache(maxsize=16)
def divide_into_words(a: Decimal, b: Decimal) -> tuple[float, ...]:
    """Write a quotient as a pair of doubles; those of a lattice and of a bandwidth are asked for again and again.

    >>> divide_into_words(Decimal(1), Decimal(10))
    (0.1, -5.551115123125783e-18)
    """
    return to_words(CONTEXT.divide(a, b), 2)


_HALF_PI = to_words(CONTEXT.divide(PI, Decimal(2)))


def two_sum(a: F64, b: F64 | np.float64) -> tuple[F64, F64]:
    """Return s = fl(a + b) and the exact error, so that a + b = s + error.

    >>> [float(x) for x in two_sum(np.float64(1.0), np.float64(1e-20))]
    [1.0, 1e-20]
    """
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: F64, b: F64 | np.float64) -> tuple[F64, F64]:
    """Return p = fl(a b) and the exact error, so that a b = p + error; for |a|, |b| < 1e150.

    >>> p, error = two_product(np.float64(1 + 2**-30), np.float64(1 + 2**-30))
    >>> float(error) == 2**-60
    True
    """
    p = a * b
    t = _SPLITTER * a
    a_hi = t - (t - a)
    a_lo = a - a_hi
    if b is a:
        return p, ((a_hi * a_hi - p) + 2 * a_hi * a_lo) + a_lo * a_lo
    s = _SPLITTER * b
    b_hi = s - (s - b)
    b_lo = b - b_hi
    error = (a_hi * b_hi - p) + a_hi * b_lo
    error += a_lo * b_hi
    return p, error + a_lo * b_lo


def _sum_to_pair(terms: list[F64]) -> tuple[F64, F64]:
    """Sum arrays as if in three times the precision, and round to a pair (high, low).

    Two passes of error-free transformation (Ogita, Rump & Oishi 2005, Algorithm 4.8, K = 3).
    """
    for _ in range(2):
        carried = terms[0]
        distilled = []
        for term in terms[1:]:
            carried, error = two_sum(carried, term)
            distilled.append(error)
        terms = [*distilled, carried]
    low = terms[0]
    for term in terms[1:-1]:
        low = low + term
    return two_sum(terms[-1], low)


def list_blocks(rows: int, width: int) -> Iterator[slice]:
    """List blocks of rows of about a million numbers: beside a large array, little else fits into memory.

    >>> list(list_blocks(3, 1 << 19))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, _TERMS // max(1, width))
    return (slice(start, start + step) for start in range(0, rows, step))


def find_largest(array: F64) -> float:
    """Return the largest magnitude, 0 of nothing; without a copy, for arrays may be large.

    >>> find_largest(np.array([1.0, -3.0]))
    3.0
    """
    return max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))


def stack_words(values: Iterable[Decimal], count: int = 3) -> F64:
    """Return decimal numbers as (count, M) words, of which three are right to 48 digits; read-only, for many calls.

    >>> stack_words([Decimal(1), Decimal("0.5")]).tolist()
    [[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]
    """
    words = np.array([to_words(value, count) for value in values]).T.copy()
    words.flags.writeable = False
    return words


def list_powers(ratio: Decimal, count: int, first: Decimal = Decimal(1)) -> list[Decimal]:
    """Return first ratio**i, i = 0 .. count-1, by multiplication in 60 digits: over 2**19 steps some 54 are left.

    >>> list_powers(Decimal("0.5"), 3)
    [Decimal('1'), Decimal('0.5'), Decimal('0.25')]
    """
    return list(islice(accumulate(repeat(ratio), CONTEXT.multiply, initial=first), count))


def compute_ratio(base: float | Decimal, width: int) -> Decimal:
    """Return base**(-2/width), the ratio of the ladder of Eq. (3), to 60 digits.

    >>> compute_ratio(10000.0, 4)
    Decimal('0.0100000000000000000000000000000000000000000000000000000000000')
    """
    exactly = base if isinstance(base, Decimal) else Decimal.from_float(base)
    return CONTEXT.power(exactly, CONTEXT.divide(Decimal(-2), Decimal(width)))


@lru_cache(maxsize=8)
def ladder_pairs(base: float, width: int) -> tuple[F64, F64]:
    """Frequencies base**(-l/width), l = 0, 2, .., as pairs (high, low) right to 31 digits.

    Each of shape (ceil(width / 2),), in rad/position. About sqrt(width) of them are computed as whole
    numbers, in a third of the time that decimals take; the others are products of two of those.

    >>> high, low = ladder_pairs(10000.0, 4)
    >>> high.tolist(), float(low[1]) == float(Decimal("0.01") - Decimal(0.01))
    ([1.0, 0.01], True)
    """
    count = (width + 1) // 2
    step = max(1, math.isqrt(count))
    one = 1 << _BITS + 2 * math.ceil(abs(math.log2(base)))
    fine, stride = _list_whole_powers(_find_whole_ratio(base, width, one), one, step)
    coarse, _ = _list_whole_powers(stride, one, -(-count // step))
    above, below = coarse[:, :, None]
    high, error = two_product(above, fine[0])
    low = error + (above * fine[1] + below * fine[0])
    high, low = (word.ravel()[:count].copy() for word in two_sum(high, low))
    high.flags.writeable = low.flags.writeable = False  # the same arrays serve every call
    return high, low


def _find_whole_ratio(base: float, width: int, one: int) -> int:
    """base**(-2/width) in units of 1 / one, by two steps of Newton's method for its power `width`, base**-2."""
    bits = one.bit_length() - 1
    above, below = math.pow(base, -2 / width).as_integer_ratio()
    ratio, (numerator, denominator) = above * one // below, base.as_integer_ratio()
    for _ in range(2):  # the error of a double, times 2**20 where the power is that large, is squared each time
        power, square, left = one, ratio, width
        while left:
            if left & 1:
                power = power * square >> bits
            square, left = square * square >> bits, left >> 1
        error = power * numerator**2 // denominator**2 - one
        ratio -= ratio * error // (width * one)
    return ratio


def _list_whole_powers(ratio: int, one: int, count: int) -> tuple[F64, int]:
    """Powers 0 .. count-1 of ratio / one as (2, count) words, and the next one in units of 1 / one."""
    bits = one.bit_length() - 1
    *powers, following = accumulate(repeat(ratio, count), lambda power, by: power * by >> bits, initial=one)
    high = [power / one for power in powers]  # a quotient of whole numbers is rounded once
    parts = map(float.as_integer_ratio, high)
    low = [(power - above * (one // below)) / one for power, (above, below) in zip(powers, parts, strict=True)]
    return np.array([high, low]), following


@lru_cache(maxsize=8)
def ladder_words(base: float, width: int) -> F64:
    """Frequencies base**(-l/width), l = 0, 2, .., as words of shape (3, ceil(width / 2)), read-only.

    The sum of the three words, in rad/position, is right to 48 digits.

    >>> ladder_words(10000.0, 8)[0].tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    return stack_words(list_powers(compute_ratio(base, width), (width + 1) // 2))


def lattice_pairs(count: int, n: int) -> tuple[F64, F64]:
    """Frequencies 2 pi k/n, k = 0 .. count-1, as pairs (high, low) right to 31 digits; rad/position.

    >>> high, low = lattice_pairs(3, 4)  # 0, pi/2, pi
    >>> (high / np.pi).tolist(), float(low[2]) == 1.2246467991473532e-16
    ([0.0, 0.5, 1.0], True)
    """
    unit, unit_low = to_words(CONTEXT.divide(TWO_PI, Decimal(n)), 2)
    k = np.arange(count, dtype=float)
    product, error = two_product(k, np.full_like(k, unit))
    return two_sum(product, error + k * unit_low)


def sin_cos(words: F64, s: ArrayLike) -> tuple[F64, F64]:
    """Sine and cosine of w s, each of shape (S, M), to one unit in the last place.

    Parameters
    ----------
    words : (3, M), the frequencies in rad/position, as :func:`ladder_words` gives them.
    s : (S,), numbers of magnitude at most 2**53, each taken as exact.

    >>> sine, cosine = sin_cos(ladder_words(10000.0, 2), [2**53])
    >>> round(float(sine[0, 0]), 15), round(float(cosine[0, 0]), 15)
    (-0.848925964814655, -0.528511784413089)
    """
    position = np.asarray(s, dtype=float)
    sine, cosine = np.empty((2, len(position), words.shape[1]))
    rows = max(1, _BLOCK // max(1, words.shape[1]))
    for start in range(0, len(position), rows):
        part = slice(start, start + rows)
        (sine[part], _), (cosine[part], _) = _sin_cos_block(words, position[part, None])
    return sine, cosine


def sum_cosines(words: F64, masses: F64, lags: I64) -> F64:
    """Sum of mass cos(w tau) over the frequencies, at each lag; shape (L,), in O(L + M) memory.

    Lags that follow one another come from one product of two tables of about sqrt(L) rows (angle
    addition, tau = first + a + b B), right to about 1e-16 times M; others one block at a time.

    Parameters
    ----------
    words : (3, M), the frequencies in rad/position; masses : (M,).
    lags : (L,) integers of magnitude at most 2**53.

    >>> sum_cosines(ladder_words(1.0, 4), np.ones(2), np.array([0, 3])).round(12).tolist()  # 2, and 2 cos 3
    [2.0, -1.979984993201]
    """
    lags = np.abs(lags)
    if len(lags) > 1 and np.all(np.diff(lags) == 1):
        return _sum_cosines_in_a_row(words, masses, int(lags[0]), len(lags))
    total = np.empty(len(lags))
    rows = max(1, _TERMS // max(1, words.shape[1]))
    for start in range(0, len(lags), rows):
        cosine = sin_cos(words, lags[start : start + rows])[1]
        cosine *= masses
        total[start : start + rows] = np.sum(cosine, axis=1)
    return total


def _sum_cosines_in_a_row(words: F64, masses: F64, first: int, length: int) -> F64:
    step = math.isqrt(length - 1) + 1
    places = first + step * np.arange(-(-length // step))
    columns = max(1, _TERMS // step)
    total: F64 | None = None
    for start in range(0, words.shape[1], columns):
        part = slice(start, start + columns)
        fine = np.concatenate(sin_cos(words[:, part], np.arange(step)), axis=1)
        sine, cosine = sin_cos(words[:, part], places)
        coarse = np.concatenate([sine * -masses[part], cosine * masses[part]], axis=1)
        sums: F64 = coarse @ fine.T  # one product, for it is as long as the sum
        total = sums if total is None else np.add(total, sums, out=total)
    return np.zeros(length) if total is None else total.ravel()[:length]


def _sin_cos_block(words: F64, position: F64) -> tuple[tuple[F64, F64], tuple[F64, F64]]:
    hi, mid, lo = words  # rows, which are split before they meet the column of positions
    p, p_error = two_product(hi, position)
    q, q_error = two_product(mid, position)
    turns = np.rint(p / _HALF_PI[0])
    high, low = _subtract_quarter_turns(turns, [p, q, p_error, q_error, lo * position])
    quarter = np.fmod(turns, 4.0)
    more = np.rint(high / _HALF_PI[0])
    if more.any():  # the first quotient was itself rounded: one step more
        high, low = _subtract_quarter_turns(more, [high, low])
        quarter = quarter + np.fmod(more, 4.0)
    return _turn_back(quarter.astype(np.int64), high, low)


def sin_cos_of_turns(numerators: ArrayLike, denominator: int) -> tuple[F64, F64]:
    """Sine and cosine of 2 pi n / d for integers n, with exact zeros and ones; shape of `numerators`.

    >>> sine, cosine = sin_cos_of_turns([0, 1, 2, 3], 4)
    >>> sine.tolist(), cosine.tolist()
    ([0.0, 1.0, 0.0, -1.0], [1.0, 0.0, -1.0, 0.0])
    """
    sine, cosine = sin_cos_pairs_of_turns(numerators, denominator)
    return sine[0], cosine[0]


def sin_cos_pairs_of_turns(numerators: ArrayLike, denominator: int) -> tuple[tuple[F64, F64], tuple[F64, F64]]:
    """Sine and cosine of 2 pi n / d, each as a pair (value, rest of the last sum).

    n is reduced modulo d in integers, then to the nearest quarter turn, so that only an angle of at
    most pi/4 is rounded.

    >>> (sine, rest), _ = sin_cos_pairs_of_turns([1], 12)
    >>> sine.tolist(), abs(float(rest[0])) < 1e-16
    ([0.5], True)
    """
    r = np.mod(np.asarray(numerators, dtype=np.int64), denominator)
    quarter = (8 * r + denominator) // (2 * denominator)
    m = (4 * r - quarter * denominator).astype(float)
    # the small angle pi m / (2 d), its product and its quotient with their errors
    half = [np.broadcast_to(np.asarray(word), m.shape) for word in _HALF_PI]
    product, error = two_product(half[0], m)
    high = product / denominator
    back, back_error = two_product(high, np.full_like(high, float(denominator)))
    low = ((product - back) - back_error + error + half[1] * m) / denominator
    return _turn_back(quarter, high, low)


def scale_pair(pair: tuple[F64, F64], square: Decimal) -> F64:
    """Multiply a pair by the square root of a decimal number, rounding once.

    >>> scale_pair((np.array([3.0]), np.array([0.0])), Decimal(4)).tolist()
    [6.0]
    """
    scale, scale_low = to_words(CONTEXT.sqrt(square), 2)
    product, error = two_product(pair[0], np.full_like(pair[0], scale))
    return product + (error + (pair[0] * scale_low + pair[1] * scale))


def _subtract_quarter_turns(turns: F64, terms: list[F64]) -> tuple[F64, F64]:
    a, a_error = two_product(turns, np.full_like(turns, -_HALF_PI[0]))
    b, b_error = two_product(turns, np.full_like(turns, -_HALF_PI[1]))
    return _sum_to_pair([terms[0], a, *terms[1:], a_error, b, b_error, -_HALF_PI[2] * turns])


def _turn_back(quarter: I64, high: F64, low: F64) -> tuple[tuple[F64, F64], tuple[F64, F64]]:
    small_sin, small_cos = np.sin(high), np.cos(high)
    sine = two_sum(small_sin, small_cos * low)
    cosine = two_sum(small_cos, -small_sin * low)
    odd = (quarter & 1).astype(bool)
    sine_sign = np.where((quarter & 2).astype(bool), -1.0, 1.0)
    cosine_sign = np.where(((quarter + 1) & 2).astype(bool), -1.0, 1.0)
    turned_sine = [np.where(odd, c, s) * sine_sign + 0.0 for s, c in zip(sine, cosine, strict=True)]
    turned_cosine = [np.where(odd, s, c) * cosine_sign + 0.0 for s, c in zip(sine, cosine, strict=True)]
    # adding 0.0 turns -0.0 into 0.0
    return (turned_sine[0], turned_sine[1]), (turned_cosine[0], turned_cosine[1])
