"""Quantiles: medians, and what a gamma variable, a ratio of two, Student's t or a normal one exceeds by chance.

NumPy and SciPy have them, too, but load for them what takes an eighth of the import of NumPy, and three times as long:
longer than a command that asks for a few. Those of noise are solved for by Newton's steps, for the logarithm of the
chance over that of the variable: it is concave, so that from any start they come to the root from one side.

References
----------
DiDonato & Morris 1992, ACM Trans. Math. Softw. 18, 360 (Algorithm 708, eq. 9); NIST Digital Library of Mathematical
Functions, 8.9 (the incomplete gamma function) and 5.11.1 (Stirling's series).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64

#: Steps and terms, at most: of terms some roots of the shape are needed.
_MOST_STEPS, _MOST_TERMS = 100, 1_000_000
_ROUNDING = 2.0**-53
#: The logarithm of the largest number.
_LARGEST = 709.78


def find_median(values: ArrayLike, axis: int | None = None) -> F64:
    """Return the median of all numbers, or those along an axis; NaN where there is one.

    That of NumPy asks whether arrays are masked, and loads what masks them, which takes an eighth of its import.

    >>> float(find_median([3.0, 1.0, 2.0, 9.0]))
    2.5
    """
    given = np.asarray(values).reshape(-1) if axis is None else np.moveaxis(np.asarray(values), axis, 0)
    last = len(given) - 1
    ordered = np.partition(given, sorted({last // 2, (last + 1) // 2, last}), axis=0)
    middle = ordered[last // 2] if last % 2 == 0 else (ordered[last // 2] + ordered[last // 2 + 1]) / 2
    median: F64 = np.where(np.isnan(ordered[last]), np.nan, middle)[()]
    return median


def find_gamma_quantile(shape: float, chance: float) -> float:
    """Return what a gamma variable of this shape and of scale 1 exceeds with this chance.

    >>> round(find_gamma_quantile(1.0, 0.05), 12) == round(-math.log(0.05), 12)
    True
    """
    if shape == 1:
        return -math.log(chance)
    size = math.log(shape / (2 * math.pi)) / 2 - _miss_of_stirling(shape)

    def measure(u: float) -> tuple[float, float]:
        value = shape * math.exp(u)
        density = size - shape * (math.expm1(u) - u)  # of the logarithm of the variable, over its mean
        if value < shape + 1:
            return math.log1p(-math.exp(density) * _sum_series(shape, value)), density
        return density - math.log(_divide(_list_gamma_terms(shape, value))), density

    return shape * math.exp(_solve(measure, chance))


def find_ratio_quantile(above: float, below: float, chance: float) -> float:
    """Return what a ratio of gamma variables of mean 1 and of these shapes exceeds with this chance.

    It has Fisher's distribution of twice as many degrees of freedom. Infinite is what no number is large enough for.

    >>> round(find_ratio_quantile(1.0, 5.0, 0.05), 4)
    4.1028
    """
    both = above + below
    size = math.log(above / both * below / (2 * math.pi)) / 2
    size += _miss_of_stirling(both) - _miss_of_stirling(above) - _miss_of_stirling(below)

    def measure(u: float) -> tuple[float, float]:
        height, share, rest, lead = _place(above, below, u) if above < below else _place_inverse(above, below, u)
        density = size + height  # of the logarithm of the ratio
        if share <= (above + 1) / (both + 2):
            return math.log1p(-math.exp(density) / _divide(_list_beta_terms(above, below, share, -lead))), density
        return density - math.log(_divide(_list_beta_terms(below, above, rest, lead))), density

    found = _solve(measure, chance)
    return math.exp(found) if found < _LARGEST else math.inf


def _place(above: float, below: float, u: float) -> tuple[float, float, float, float]:
    """The density at a logarithm of the ratio, the variable of the beta function there, its rest, and how far it is on.

    These keep their digits where the first shape is the smaller one, as the inverse does where it is the larger one.
    """
    both = above + below
    shift = math.log1p(above / both * math.expm1(u))
    share, rest = above / both * math.exp(u - shift), below / both * math.exp(-shift)
    return above * u - both * shift, share, rest, above * rest * math.expm1(u)


def _place_inverse(above: float, below: float, u: float) -> tuple[float, float, float, float]:
    height, rest, share, lead = _place(below, above, -u)
    return height, share, rest, -lead


def find_student_quantile(degrees: float, chance: float) -> float:
    """Return what Student's t of these degrees of freedom exceeds with this chance, of at most a half.

    >>> round(find_student_quantile(9, 0.025), 4)
    2.2622
    """
    return math.sqrt(find_ratio_quantile(0.5, degrees / 2, 2 * chance)) if chance < 0.5 else 0.0


def find_normal_quantile(chance: float) -> float:
    """Return what a normal variable of mean 0 and variance 1 exceeds with this chance.

    >>> round(find_normal_quantile(0.025), 4)
    1.96
    """
    from statistics import NormalDist

    return -NormalDist().inv_cdf(chance)


def find_normal_chance(value: float) -> float:
    """Return the chance with which a normal variable of mean 0 and variance 1 exceeds a value.

    >>> find_normal_chance(0.0)
    0.5
    """
    return math.erfc(value / math.sqrt(2)) / 2


def _solve(measure: Callable[[float], tuple[float, float]], chance: float) -> float:
    """Find where the logarithm of a chance has a value; `measure` gives it, and that of the density."""
    wanted, place, last = math.log(chance), 0.0, math.inf
    for _ in range(_MOST_STEPS):
        found, density = measure(place)
        step = min((found - wanted) * math.exp(found - density), max(1.0, abs(place)))  # behind the root it is steep
        place += step
        if abs(step) <= _ROUNDING or (abs(step) < 1e-9 and abs(step) >= last):
            break
        last = abs(step)
    return place


def _miss_of_stirling(shape: float) -> float:
    """The logarithm of the gamma function less Stirling's formula."""
    if shape < 16:
        return math.lgamma(shape) - (shape - 0.5) * math.log(shape) + shape - math.log(2 * math.pi) / 2
    inverse = 1 / shape / shape
    return (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / shape


def _sum_series(shape: float, value: float) -> float:
    """The incomplete gamma function below, over the density."""
    term = total = 1 / shape
    for place in range(1, _MOST_TERMS):
        term *= value / (shape + place)
        total += term
        if term < _ROUNDING * total:
            break
    return total


def _list_gamma_terms(shape: float, value: float) -> Iterator[tuple[float, float]]:
    yield 1.0, value + 1 - shape
    for place in range(1, _MOST_TERMS):
        yield place * (shape - place), value + 1 - shape + 2 * place


def _list_beta_terms(one: float, other: float, share: float, lead: float) -> Iterator[tuple[float, float]]:
    """Those of the density over the incomplete beta function; `lead`: one less share times both."""
    yield 1.0, one / (one + 1) * (lead + 1)
    for n in range(1, _MOST_TERMS):
        odd = one + 2 * n - 1
        rising, falling = (one + n - 1) / odd * (one + other + n - 1), n / odd * (other - n) * share
        yield rising * share * falling, n + falling + (one + n) / (odd + 2) * (lead + 1 + n * (2 - share))


def _divide(terms: Iterator[tuple[float, float]]) -> float:
    """Evaluate a continued fraction of numerators, the first of them 1, and denominators: its inverse (Lentz)."""
    _, value = next(terms)
    value = value or _ROUNDING
    above, below = value, 0.0
    for numerator, denominator in terms:
        above = (denominator + numerator / above) or _ROUNDING
        below = 1 / ((denominator + numerator * below) or _ROUNDING)
        value *= above * below
        if abs(above * below - 1) < 4 * _ROUNDING:
            break
    return value
