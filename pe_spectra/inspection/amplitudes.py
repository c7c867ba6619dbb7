"""Small changes for good of what the rows of a table share, and of what they do not: its waves, and its noise.

A table that was trained is a few factors, vectors that come and go smoothly along its rows, and white noise beside
them. The lengths of rows and steps mix both, and come and go with the waves. Apart, each can be held against what it
should be: of noise, the squared length of a row is a chi-squared variable; of what is smooth, each row is known from
all others by the covariances of rows, so that only the noise of a row hides by which part it is larger. Either may
drift; a step must explain what no drift does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pe_spectra.exact import F64
from pe_spectra.inspection.levels import MEDIAN_SQUARE
from pe_spectra.inspection.rows import reduce_columns
from pe_spectra.inspection.series import Mask, bridge, measure_spread
from pe_spectra.ordering import find_median
from pe_spectra.records import NamedTuple

#: Rows that are looked at together, at most and at least; places are those of their inner half where there are more.
_TOGETHER, _FEWEST = 512, 384
#: Columns that are looked at.
_COLUMNS = 1024
#: Factors that are looked for; fewer in tables of which they are a tenth of the rows, or a third of the columns.
_FACTORS, _PART_OF_ROWS, _PART_OF_COLUMNS = 48, 10, 3
#: Variances of noise alone are no larger than so many times the edge of their spectrum.
_ABOVE = 1.05
#: Noise of neighbouring rows has a smaller correlation than this, and so many times the energy of what storing rounds.
_WHITE, _ROUNDED = 0.05, 4
#: Rows on either side over which covariances are averaged. A place has as many of its own on either side: near the ends
#: there are none; changes nearer to one another are one.
BESIDE = 48
_ENDS = 2 * BESIDE
#: Rows for each degree of a stiff drift of amplitudes, a polynomial, and of those that bend more and more; degrees of
#: those of noise, which has no waves; where it bends more, nothing is told.
_ROWS_PER_DEGREE, _NOISE_DEGREES = (80, 48, 32), (1, 3, 5)
#: Standard errors that are left scatter by up to so much: few of them are independent.
_SCATTER = 1.5
#: One table in so many would be wrongly said to change beside one drift; far fewer are beside two.
_TABLES = 50
#: Changes are looked for where one by this part would be found, larger ones show in lengths; a change by less than the
#: other is not told, for waves that are no stationary process have as much.
_SMALL, _LEAST = 0.07, 0.03


class SmallChange(NamedTuple):
    """What is larger by a part behind a row, that part, and of how many standard errors it is."""

    row: int
    what: Literal["amplitude", "noise"]
    ratio: float
    errors: float


class _Parts(NamedTuple):
    """Factors along rows, (n, k); energies of what is left of each row, (n,); its variance; columns."""

    factors: F64
    left: F64
    variance: float
    width: int


class _Slopes(NamedTuple):
    """Slopes of a log-likelihood by logarithms of amplitudes along rows, (n,), and their covariances, (n, n)."""

    values: F64
    covariances: F64


def find_small_changes(table: F64, regular: Mask, rounding: F64) -> Iterator[SmallChange]:
    """Find rows behind which amplitudes, or noise, are larger or smaller by a part.

    Parameters
    ----------
    table : (S, d); regular : (S,) rows to trust; others are bridged; rounding : (S,) energies that storing leaves in
        each row.

    >>> rng = np.random.default_rng(0)
    >>> curve = np.sin(np.arange(384)[:, None] / np.arange(4, 20, 3)) @ rng.normal(size=(6, 256))
    >>> table = curve + np.repeat([1.0, 1.07], 192)[:, None] * rng.normal(size=(384, 256))
    >>> [found[:2] for found in find_small_changes(table, np.ones(384, dtype=bool), np.zeros(384))]
    [(191, 'noise')]
    """
    inside = np.flatnonzero(regular)
    first, last = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 0)
    rows = bridge(table[first:last, :: -(-table.shape[1] // _COLUMNS)], regular[first:last])
    beyond = max(len(rows) - _TOGETHER, 0)
    starts = np.linspace(0, beyond, -(-2 * beyond // _TOGETHER) + 1).astype(int).tolist()
    for start in starts:
        some = slice(start, min(start + _TOGETHER, len(rows)))
        low, high = (_TOGETHER // 4 if is_cut else _ENDS for is_cut in (start > 0, some.stop < len(rows)))
        asked = rows[some], regular[first:last][some], rounding[first:last][some], 1 / _TABLES / len(starts)
        for found in _find_in_part(*asked):
            if low <= found.row + 1 <= some.stop - start - high:
                yield found._replace(row=found.row + first + start)


def _find_in_part(rows: F64, regular: Mask, rounding: F64, rate: float) -> Iterator[SmallChange]:
    parts = _split(rows) if len(rows) >= _FEWEST else None
    if parts is not None and float(find_median(parts.left)) > _ROUNDED * float(find_median(rounding)):
        yield from _find_step(_score_noise(parts, regular), _NOISE_DEGREES, rate, "noise")
        yield from _find_step(
            _score_amplitudes(parts), [len(rows) // each for each in _ROWS_PER_DEGREE], rate, "amplitude"
        )


def _split(rows: F64) -> _Parts | None:
    """Separate factors and noise; None where factors are not few, or what is left is not white.

    Factors are principal components above the spectrum of noise (Marchenko & Pastur 1967, Math. USSR Sb. 1, 457).
    """
    size, width = rows.shape
    count = min(_FACTORS, size // _PART_OF_ROWS, width // _PART_OF_COLUMNS)
    energy = float(np.einsum("ij,ij->", rows, rows))
    if count < 1 or energy <= 0:
        return None
    reduced = reduce_columns(rows, count, rounds=2, seed=1)
    values, vectors = np.linalg.eigh(reduced.T @ reduced)
    values, vectors = values[::-1], vectors[:, ::-1]
    orders = np.arange(count)
    variances = (energy - np.cumsum(values) + values) / ((size - orders) * (width - orders))
    is_noise = values <= _ABOVE * variances * (math.sqrt(size) + math.sqrt(width)) ** 2
    few = int(np.argmax(is_noise))
    if not 0 < few < count or not is_noise[few] or variances[few] <= 0:
        return None
    factors = reduced @ vectors[:, :few]
    unit = factors / np.sqrt(values[:few])
    left, beside = (
        np.einsum("ij,ij->i", rows[lag:], rows[: size - lag])
        - np.einsum("ij,ij->i", factors[lag:], factors[: size - lag])
        for lag in (0, 1)
    )
    # factors that were fitted to noise have a part of it
    correlation = float(beside.sum() / left.sum() + np.sum(unit[1:] * unit[:-1]) / (size - few))
    if not abs(correlation) < _WHITE:
        return None
    return _Parts(factors, left / (1 - np.sum(unit**2, axis=1)), float(variances[few]), width)


def _score_noise(parts: _Parts, regular: Mask) -> _Slopes:
    """Score lengths of what is left: of twice their logarithm the variance is 2 over the numbers in a row."""
    count = parts.width - parts.factors.shape[1]
    logarithms = np.log(np.maximum(parts.left, np.finfo(float).tiny))
    slopes = count * np.where(regular, logarithms - find_median(logarithms), 0.0)
    return _Slopes(slopes, np.diag(2.0 * count * regular))


def _score_amplitudes(parts: _Parts) -> _Slopes:
    """Score what is left of factors along themselves, where each row is smoothed by all.

    With C = K + v I for the covariance of rows, of which K is smooth, the slope by the amplitude of row t is
    <C^-1 x, K C^-1 x> at t, less its mean; in the symmetric A = v C^-1 and H = K C^-1 = I - A.
    """
    size, few = parts.factors.shape
    smooth = _average_covariances(parts.factors, min(BESIDE, size // 8)) / parts.width
    unit = np.eye(size)
    rest = parts.variance * np.linalg.inv(smooth + parts.variance * unit)
    kept = unit - rest
    unexplained = rest @ parts.factors
    slopes = np.sum(unexplained * (parts.factors - unexplained), axis=1) / parts.variance
    squares = np.sum(kept**2, axis=1)
    slopes -= parts.width * squares + few * (np.diag(kept) - squares)
    return _Slopes(slopes, parts.width * (rest * (smooth / parts.variance - kept) + kept**2))


def _average_covariances(factors: F64, beside: int) -> F64:
    """Average the products of rows s and t over `beside` places on either side, lag by lag; (n, n).

    Rows beyond the ends are those before them in reverse, so that what comes out has no negative variance.
    """
    size, together = len(factors), 2 * beside + 1
    padded = np.pad(factors, ((beside, beside), (0, 0)), mode="reflect")
    products, (stride, item) = padded @ padded.T, (8 * (size + 2 * beside), 8)
    flat = np.append(products.ravel(), np.zeros(size))
    by_lag = as_strided(flat, (len(padded), size), (stride + item, item), writeable=False)
    sums = np.zeros((len(padded) + 1, size))
    np.cumsum(by_lag, axis=0, out=sums[1:])
    averages = np.zeros(size * (size + 1) + size)
    as_strided(averages, (size, size), (item * (size + 1), item))[:] = (sums[together:] - sums[:-together]) / together
    upper = np.triu(averages[: size * size].reshape(size, size))
    return upper + np.triu(upper, 1).T


def _find_step(
    slopes: _Slopes, degrees: Sequence[int], rate: float, what: Literal["amplitude", "noise"]
) -> Iterator[SmallChange]:
    """Find the surest step that is one beside a stiff drift, and beside another that leaves little more than chance."""
    places = np.arange(len(slopes.values))
    stiff, *others = (np.polynomial.legendre.legvander(2 * places / places[-1] - 1, degree) for degree in degrees)
    inside = slice(_ENDS - 1, len(places) - _ENDS)
    plain, _ = _compare_steps(slopes, stiff)
    for drift in others:
        errors, units = _compare_steps(slopes, drift)
        limit = bound_errors(errors[inside], rate)
        are_alike = (errors * plain > 0) & (limit * units < _SMALL) & (np.abs(errors * units) > _LEAST)
        told = (np.minimum(np.abs(errors), np.abs(plain)) * are_alike)[inside]
        row, most = int(told.argmax()) + _ENDS - 1, float(told.max())
        if most <= limit:
            return
        left, _ = _compare_steps(slopes, np.column_stack([drift, places > row]))
        scatter = measure_spread(left[inside][np.abs(places[inside] - row) > BESIDE]) / _SCATTER
        if most > limit * max(1.0, scatter) ** 2:
            yield SmallChange(row, what, math.exp(errors[row] * units[row]), most)
            return


def _compare_steps(slopes: _Slopes, drift: F64) -> tuple[F64, F64]:
    """Compare a drift, (n, k), with a step behind each row beside it: of how many standard errors the step is, and
    how large one of them is; (n - 1,) each."""
    weighed = slopes.covariances @ drift
    inverse = np.linalg.pinv(drift.T @ weighed, hermitian=True)
    shared = _sum_behind(weighed)
    steps = _sum_behind(slopes.values) - shared @ (inverse @ (drift.T @ slopes.values))
    energies = _sum_behind(np.diag(slopes.covariances) + 2 * np.triu(slopes.covariances, 1).sum(axis=1))
    left = energies - np.einsum("ij,jk,ik->i", shared, inverse, shared)
    # what a drift explains wholly has no errors of its own
    units = 1 / np.sqrt(np.maximum(left, 1e-9 * energies.max()))
    return steps * units, units


def _sum_behind(values: F64) -> F64:
    sums: F64 = np.cumsum(values[:0:-1], axis=0)[::-1]
    return sums


def bound_errors(errors: F64, rate: float) -> float:
    """Bound the largest of standard errors along places by chance: it is exceeded at one of them at this rate.

    Neighbouring places are nearly one where errors change little between them.

    References
    ----------
    Siegmund 1985, Sequential Analysis, ch. 4 and 11 (the largest of correlated normal numbers in steps).

    >>> alike, apart = np.zeros(400), np.tile([0.0, 9.0], 200)
    >>> round(bound_errors(alike, 0.01), 2), round(bound_errors(apart, 0.01), 2)
    (2.58, 4.21)
    """
    from scipy.special import chdtri, ndtr

    count = len(errors)
    # half the square of what changes is one less the correlation
    apart = min(float(find_median(np.diff(errors) ** 2)) / 2 / MEDIAN_SQUARE, 1.0) if count > 1 else 1.0
    level = math.sqrt(chdtri(1, rate / count))
    half = level * math.sqrt(max(apart, 1e-12) / 2)
    density = math.exp(-(half**2) / 2) / math.sqrt(2 * math.pi)
    overshoot = (ndtr(half) - 0.5) / half / (half * ndtr(half) + density)
    places = min(1 + (count - 1) * apart * level**2 * overshoot, count)
    return math.sqrt(chdtri(1, rate / places))
