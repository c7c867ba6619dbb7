"""Slow lines whose frequency drifts along a table: too few turns for short windows, fitted to the whole of it.

The frequency of such a line is a polynomial of the row. It is looked for as a constant one is, in a plane of
frequencies and of what they change by along the table. Turned back by its own change it is a constant line, and is
held against the continuum beside it as that is.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre

from pe_spectra.exact import F64
from pe_spectra.inspection.peaks import select_lines
from pe_spectra.inspection.ridges import LEAST_DRIFT, Ridge
from pe_spectra.inspection.rows import reduce_columns
from pe_spectra.inspection.sinusoids import build_waves, orthonormalise, refine_waves, subtract_waves

#: Terms of the polynomial at first and at most.
_FIRST, _MOST_TERMS = 3, 7
#: Cycles over the table of the slowest instant of a line, of the fastest one of a line that drifts and of one that
#: does not, which is followed so as to be told from it; by how much it changes at most.
_SLOWEST, _FASTEST, _CONSTANT, _MOST_DRIFT = 1.0, 56.0, 64.0, 24.0
#: Steps of the plane, in cycles over the table: half of what a line of S rows tells apart, and three times that.
_STEP, _DRIFT_STEP = 0.5, 1.5
#: Means of neighbouring rows stand for the table in the search, so many at least, and so many principal columns.
_FEWEST_MEANS, _COLUMNS = 192, 32
#: A term explains this many times what one number of noise does.
_GAIN = 7.0
#: Kinds of a bend that each further term tells apart in noise.
_FORMS = 4
#: Lines of all kinds that are followed, and from which share of the variance on.
_MOST, _SMALLEST_SHARE = 16, 0.004


def build_drift_axes(size: int) -> list[F64]:
    """Return what the terms of a line's frequency are multiplied with to give its turns; (S,) each.

    The turns are S/2 sum_k a_k P_(k+1)(y) with Legendre's polynomials, which are orthogonal, and y from -1 to 1 along
    the table; the frequency is sum_k a_k P'_(k+1)(y).

    >>> [axis.round(3).tolist() for axis in build_drift_axes(3)[:2]]
    [[-1.0, 0.0, 1.0], [0.25, -0.75, 0.25]]
    """
    places = (np.arange(size) - (size - 1) / 2) * 2 / size
    return [size / 2 * legendre.legval(places, row) for row in np.eye(_MOST_TERMS + 1)[1:]]


def find_chirps(values: F64, trend: F64, rest: float, total: float) -> list[F64]:
    """Find slow lines that drift by more than two cycles over the table.

    Each explains more than two constant lines in its place do, and stands out of what is beside it as a line that is
    named has to.

    Parameters
    ----------
    values : (S, c) principal columns without fast lines that drift; trend : (S, t) orthonormal; rest : level of the
        columns left out; total : sum of squares of the table about its mean row.

    Returns
    -------
    terms of the frequency of each, as in `build_drift_axes`, in cycles a row.

    References
    ----------
    Mann & Haykin 1995, IEEE Trans. Signal Process. 43, 2745 (chirplets); Djuric & Kay 1990, IEEE Trans. ASSP 38, 2118.

    >>> s = np.arange(256.0)
    >>> chirp = np.cos(2 * np.pi * (8 + 4 * s / 256) * s / 256)[:, None]  # 8 to 16 cycles over the table
    >>> [(256 * one).round(1).tolist()[:2] for one in find_chirps(chirp, np.ones((256, 1)) / 16, 0.0, 128.0)]
    [[12.0, 1.3]]
    """
    axes, block = build_drift_axes(len(values)), _choose_block(len(values))
    plane = _build_plane(len(values))
    if not len(plane):
        return []
    means, coarse_trend, *coarse = (_average(one, block) for one in (values, trend, *axes))
    if means.shape[1] > _COLUMNS:
        means = reduce_columns(means, _COLUMNS, rounds=2, seed=2)
    coarse_trend = orthonormalise(coarse_trend)
    found = _follow(means, coarse, coarse_trend, plane, _build_atoms(len(values)), _SMALLEST_SHARE * total / block)
    if all(len(one) == 1 for one in found):
        return []
    found = _bend(means, coarse, found, coarse_trend)
    refine_waves(values, axes, found, trend, steps=3)
    return [one for one in _select(values, axes, found, trend, rest) if len(one) > 1]


def describe_chirp(terms: F64) -> Ridge:
    """Return where a line that drifts begins and ends, and the band that it crosses.

    >>> describe_chirp(np.array([0.1, 0.02])).last
    0.16
    """
    along = legendre.legval(np.linspace(-1, 1, 65), legendre.legder(np.append(0.0, terms)))
    return Ridge(first=float(along[0]), last=float(along[-1]), low=float(along.min()), high=float(along.max()))


def _choose_block(size: int) -> int:
    return max(1, size // _FEWEST_MEANS)


def _average(values: F64, block: int) -> F64:
    """Means of neighbouring rows; a few that are left over are left out."""
    count = len(values) // block
    means: F64 = values[: count * block].reshape(count, block, *values.shape[1:]).mean(axis=1)
    return means


def _build_plane(size: int) -> F64:
    """First two terms of the frequencies that are tried, (n, 2), in cycles a row."""
    middles = np.arange(_SLOWEST, _CONSTANT + _STEP, _STEP)
    halves = np.arange(-_MOST_DRIFT, _MOST_DRIFT + _DRIFT_STEP, _DRIFT_STEP) / 2
    plane = np.stack(np.meshgrid(middles, halves, indexing="ij"), axis=-1).reshape(-1, 2)
    slowest, fastest = (plane[:, 0] + sign * np.abs(plane[:, 1]) for sign in (-1, 1))
    highest = np.minimum(np.where(plane[:, 1] == 0, _CONSTANT, _FASTEST), size / 2 - 1)
    # the slope of P_2 at the ends is 3
    kept: F64 = plane[(slowest >= _SLOWEST) & (fastest <= highest)] / size / [1.0, 3.0]
    return kept


def _follow(values: F64, axes: list[F64], trend: F64, plane: F64, atoms: F64, smallest: float) -> list[F64]:
    """Return lines of both kinds, strongest first, until no place has the smallest energy."""
    found: list[F64] = []
    residual = values - trend @ (trend.T @ values)
    while len(found) < _MOST:
        powers = np.sum((atoms @ residual) ** 2, axis=1).reshape(2, -1).sum(axis=0) / len(values)
        best = int(np.argmax(powers))
        if 2 * powers[best] < smallest:
            break
        found = _add_line(values, axes, found, plane[best], trend)
        residual = subtract_waves(values, axes, found, trend)
    return found


@lru_cache(maxsize=1)
def _build_atoms(size: int) -> F64:
    """Cosines, and below them sines, of every place of the plane at the means of a table, (2 n, rows).

    Tables of one size come one after the other: parts of one, and draws of noise beside it.
    """
    plane, rows = _build_plane(size), [_average(axis, _choose_block(size)) for axis in build_drift_axes(size)[:2]]
    waves = np.exp(-2j * np.pi * (plane @ np.array(rows)))
    return np.concatenate([waves.real, waves.imag])


def _add_line(values: F64, axes: list[F64], found: list[F64], place: F64, trend: F64) -> list[F64]:
    """Add the line at a place of the plane: one that drifts, where that explains more than two that do not."""

    def refine(*more: list[float]) -> tuple[float, list[F64]]:
        longer = [*(one.copy() for one in found), *(np.array(one) for one in more)]
        refine_waves(values, axes, longer, trend, steps=4)
        return float(np.sum(subtract_waves(values, axes, longer, trend) ** 2)), longer

    middle, second = (float(one) for one in place)
    if second == 0.0:
        return refine([middle])[1]
    beside = 1.5 * abs(second)
    (left, one), (two_left, two) = refine([middle, second, 0.0]), refine([middle - beside], [middle + beside])
    return one if left < two_left else two


def _bend(values: F64, axes: list[F64], found: list[F64], trend: F64) -> list[F64]:
    """Refine the lines together, and add a term to one that drifts where that explains more than noise would."""
    refine_waves(values, axes, found, trend)
    left = subtract_waves(values, axes, found, trend)
    index = 0
    while index < len(found):
        # an even term may be no use without the odd one after it
        for more in (1, 2):
            terms = len(found[index]) + more
            if len(found[index]) == 1 or terms > _MOST_TERMS:
                continue
            longer = [line.copy() for line in found]
            longer[index] = np.append(longer[index], np.zeros(more))
            refine_waves(values, axes, longer, trend)
            less = subtract_waves(values, axes, longer, trend)
            if float(np.sum(left**2) - np.sum(less**2)) > _GAIN * more * _measure_level(left):
                found, left = longer, less
                break
        else:
            index += 1
    return found


def _measure_level(left: F64) -> float:
    """Mean square of a number at the frequencies at which lines are followed, of (S, c)."""
    slow = np.fft.rfft(left, axis=0)[1 : int(_CONSTANT) + 1]
    return float(np.mean(np.abs(slow) ** 2)) / len(left)


def _select(values: F64, axes: list[F64], found: list[F64], trend: F64, rest: float) -> list[F64]:
    """Return the lines that stand out of all but those that do: others may be of noise, which is less without them."""
    kept: list[F64] = []
    while True:
        new = [one for one in found if all(one is not other for other in kept)]
        more = next((one for one in new if _stands_out(values, axes, [*kept, one], trend, rest)), None)
        if more is None:
            return kept
        kept.append(more)


def _stands_out(values: F64, axes: list[F64], lines: list[F64], trend: F64, rest: float) -> bool:
    """Say whether the last line stands out where it is turned back to a constant one, and the others are gone."""
    size, line = len(values), lines[-1]
    ridge = describe_chirp(line)
    if len(line) > 1 and (
        abs(ridge.last - ridge.first) * size < LEAST_DRIFT or ridge.low * size < _SLOWEST / 2 or ridge.high >= 0.5
    ):
        return False
    basis = np.column_stack([trend, build_waves(axes, lines)])
    amplitudes = np.linalg.lstsq(basis, values, rcond=None)[0]
    turned = _turn_back(values - basis[:, :-2] @ amplitudes[:-2], axes, line)
    flat = orthonormalise(np.ones((size, 1)))
    waves = build_waves(axes, [line[:1]])
    forms = 1 if len(line) == 1 else round(2 * _MOST_DRIFT / _DRIFT_STEP) * _FORMS ** (len(line) - 2)
    return bool(select_lines(turned, (size,), flat, waves, size * line[None, :1], rest, forms))


def _turn_back(values: F64, axes: list[F64], line: F64) -> F64:
    """Shift the frequencies of each row by as much as a line has changed there."""
    if len(line) == 1:
        return values
    spectrum = np.fft.fft(values, axis=0)
    spectrum[len(values) // 2 + 1 :] = 0.0
    spectrum[1 : (len(values) + 1) // 2] *= 2
    turns = np.sum([term * axis for term, axis in zip(line[1:], axes[1:], strict=False)], axis=0)
    turned: F64 = (np.fft.ifft(spectrum, axis=0) * np.exp(-2j * np.pi * turns)[:, None]).real
    return turned
