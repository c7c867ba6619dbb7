"""Dominant periods of a table, and of each of its channels.

The model of the whole table is a mean row, a straight trend, and K sinusoids whose frequencies all
columns share; each column has its own amplitudes and phases. Frequencies are found one at a time as
the highest peak of the periodogram summed over columns, refined by Gauss-Newton steps, and kept if
they stand out of what surrounds them. A line that drifts is no sinusoid: it is followed by itself and
counts once, with the share of the band that it covers (:mod:`pe_spectra.inspection.ridges`). A grid
has two-dimensional frequencies and no trend in reading order, so the end of a line makes no false peak.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.inspection.backgrounds import (
    count_columns,
    find_bins,
    find_continuum,
    find_median_level,
    find_ratio,
    measure_distances,
)
from pe_spectra.inspection.chirps import build_drift_axes, describe_chirp, find_chirps
from pe_spectra.inspection.peaks import compute_periodogram, select_lines
from pe_spectra.inspection.ridges import Ridge, find_ridges, measure_bands, remove_bands
from pe_spectra.inspection.rows import compute_mean_row, reduce_columns
from pe_spectra.inspection.sinusoids import (
    build_axes,
    build_waves,
    measure_energy,
    orthonormalise,
    refine_waves,
    subtract_waves,
)
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

#: Sinusoids that are looked for, and periods that an answer names and its figure labels.
MAX_PERIODS, NAMED_PERIODS = 12, 6
#: A sinusoid counts from this share of the variance on.
_SMALLEST_SHARE = 0.004
#: A wave that does not complete one cycle along either side, as nearly as that is known, is a trend.
_LEAST_CYCLES = 0.98
#: Its surroundings are this many bins on either side, of those that are so many cycles away at least.
_AROUND, _CLEAR = 12, 1.5
#: Principal columns that stand for the table in the search; numbers of them at most.
_MAX_COLUMNS, _MAX_NUMBERS = 48, 1 << 21
#: Frequencies per cycle over the length of the table (zero padding).
_PADDING = 4
#: Shorter tables have no periods.
FEWEST_ROWS = 8
#: Share of the variance that counts as rounding, of numbers and of fits, and as noise of many columns.
_ROUNDING = 1e-10
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class DominantPeriod(Result):
    """A sinusoid that many columns share, or a line that drifts.

    >>> from pe_spectra import Sinusoidal, inspect_table
    >>> found = inspect_table(Sinusoidal(d=8).table(96)).dominant_periods[1]
    >>> round(found.period, 2), found.along  # 2 pi positions
    (6.28, None)
    """

    period: float = quantity(
        "Its length; on a grid 1/|f|, the distance from crest to crest; of one that drifts, at its mean frequency.",
        unit="positions",
        above=0,
    )
    share: float = quantity(
        "Share of the variance that it explains, from 0 to 1; of one that drifts, the share of the band that it "
        "covers, above the level beside it.",
        minimum=0,
        maximum=1.000001,
    )
    along: tuple[float | None, float | None] | None = quantity(
        "On a grid its lengths down and across, null where it does not change that way; across is "
        "below zero where the crests run down to the right; null on a line.",
        default=None,
    )
    drift: tuple[float, float] | None = quantity(
        "Its length at the first and at the last row where it drifts; null where it is constant, and on a grid.",
        unit="positions",
        above=0,
        default=None,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Periods:
    """What periods a table has.

    Attributes
    ----------
    dominant : by falling share.
    trend_share : share of the variance that a straight line in each column explains by itself.
    explained : share that trend and all dominant sinusoids explain together. Both None without variance.
    """

    dominant: tuple[DominantPeriod, ...]
    trend_share: float | None
    explained: float | None


def find_periods(table: F64, grid: tuple[int, int] | None = None) -> Periods:
    """Find the sinusoids that the columns of a table have in common.

    Parameters
    ----------
    table : (S, d) without special rows; grid : (H, W) with H W = S, or None for a line.

    Returns
    -------
    Periods; nothing dominant for noise, for a constant table, and for fewer than 8 rows.

    References
    ----------
    Rife & Boorstyn 1976, Bell Syst. Tech. J. 55, 1389 (several tones); Fisher 1929 (test of a peak).

    >>> from pe_spectra import Sinusoidal
    >>> [round(one.period, 2) for one in find_periods(Sinusoidal(d=8).table(96)).dominant]
    [62.85, 6.28]
    """
    shape = grid or (len(table),)
    centred = table - compute_mean_row(table)
    total = float(np.einsum("ij,ij->", centred, centred))
    if total <= _TINY:
        return Periods(dominant=(), trend_share=None, explained=None)
    axes = build_axes(shape)
    trend = orthonormalise(np.column_stack([np.ones(len(table)), *axes]))
    trend_share = float(np.sum((trend.T @ centred) ** 2)) / total
    if len(table) < FEWEST_ROWS:
        return Periods(dominant=(), trend_share=min(trend_share, 1.0), explained=min(trend_share, 1.0))
    count = max(4, min(_MAX_COLUMNS, _MAX_NUMBERS // len(table)))
    principal = centred if table.shape[1] <= count else reduce_columns(centred, count, rounds=2, seed=1)
    rest = max(total - float(np.einsum("ij,ij->", principal, principal)), _ROUNDING * total) / len(table)
    ridges, chirps, found = _find_lines(principal, axes, shape, trend, total, rest)
    slow = build_waves(build_drift_axes(len(table)), chirps)
    model = np.column_stack([trend, build_waves(axes, found), slow])
    basis = orthonormalise(model) if found or chirps else trend
    amplitudes = np.asarray(np.linalg.lstsq(model, centred, rcond=None)[0], dtype=np.float64)
    firsts = range(trend.shape[1], model.shape[1], 2)
    shares = [measure_energy(model[:, one : one + 2], amplitudes[one : one + 2]) / total for one in firsts]
    drifting = [energy / total for energy in measure_bands(centred - model @ amplitudes, ridges)] if ridges else []
    # sinusoids that are not quite orthogonal share what they explain together
    excess = max(sum(shares) + sum(drifting), 1.0)
    dominant = [_describe(one, share / excess, grid is not None) for one, share in zip(found, shares, strict=False)]
    pairs = zip([*ridges, *map(describe_chirp, chirps)], [*drifting, *shares[len(found) :]], strict=True)
    dominant += [_describe_ridge(one, share / excess) for one, share in pairs if share >= _SMALLEST_SHARE]
    return Periods(
        dominant=tuple(sorted(dominant, key=_rank)),
        trend_share=trend_share,
        explained=min(float(np.sum((basis.T @ centred) ** 2)) / total + sum(drifting), 1.0),
    )


def _find_lines(
    values: F64, axes: list[F64], shape: tuple[int, ...], trend: F64, total: float, rest: float
) -> tuple[list[Ridge], list[F64], list[F64]]:
    """Find fast and slow lines that drift, and the frequencies of the others where nothing of those is left."""
    ridges = find_ridges(values - trend @ (trend.T @ values), rest) if len(shape) == 1 else []
    if ridges:
        values = remove_bands(values, ridges)
    chirps = find_chirps(values, trend, rest, total) if len(shape) == 1 else []
    if chirps:
        values = subtract_waves(values, build_drift_axes(len(values)), chirps, trend)
    found = _search(values, axes, shape, trend, total, rest)
    found = [one for one in found if not any(ridge.holds(float(one[0])) for ridge in ridges)]
    if not found:
        return ridges, chirps, found
    # only narrow peaks, no parts of a falling continuum
    narrow = select_lines(values, shape, trend, build_waves(axes, found), np.array(found) * shape, rest)
    return ridges, chirps, [found[i] for i in narrow]


def _search(values: F64, axes: list[F64], shape: tuple[int, ...], trend: F64, total: float, rest: float) -> list[F64]:
    """Add frequencies, strongest first, until the highest peak does not stand out."""
    found: list[F64] = []
    refused: list[F64] = []
    residual = values - trend @ (trend.T @ values)
    while len(found) + len(refused) < MAX_PERIODS:
        candidate = _find_peak(residual, shape, [*found, *refused], rest, total)
        if candidate is None:
            break
        longer = [*(one.copy() for one in found), candidate.copy()]
        refine_waves(values, axes, longer, trend, steps=3)
        if _has_merged(longer, shape):
            refused.append(candidate)  # two sinusoids closer than the table can resolve
            continue
        found = longer
        residual = subtract_waves(values, axes, found, trend)
    if found:
        refine_waves(values, axes, found, trend)
        found = _settle_at_pi(values, axes, found, shape, trend, rest)
    return [one for one in found if _is_inside(one, shape)]


def _settle_at_pi(
    values: F64, axes: list[F64], found: list[F64], shape: tuple[int, ...], trend: F64, rest: float
) -> list[F64]:
    """Put a frequency at pi where the second wave that it has beside pi explains no more than noise would."""
    for index, frequency in enumerate(found):
        exact = np.round(2 * frequency) / 2
        if not exact.any() or (np.abs(frequency - exact) * shape > 1).any():
            continue
        settled = [*found[:index], np.abs(exact), *found[index + 1 :]]
        left, more = (subtract_waves(values, axes, which, trend) for which in (found, settled))
        level, ratio = _look_around(left, frequency, shape, rest)
        if float(np.sum(more**2) - np.sum(left**2)) <= ratio * level:
            found = settled
    return found


def _find_peak(residual: F64, shape: tuple[int, ...], taken: list[F64], rest: float, total: float) -> F64 | None:
    sizes = [choose_padding(size) for size in shape]
    power = compute_periodogram(residual, shape, sizes) + rest
    frequencies = np.stack(_build_frequencies(shape, sizes), axis=-1)
    usable = (np.abs(frequencies) * shape >= 0.9).any(axis=-1)
    for one in taken:
        cycles = frequencies.reshape(-1, len(shape)) * shape
        usable &= measure_distances(cycles, one * shape, shape).reshape(power.shape) >= 0.7
    if not usable.any():
        return None
    # on a line what is highest above its surroundings comes first: where noise falls with the frequency it is a line
    height = power if len(shape) > 1 else power / find_continuum(power, _AROUND * sizes[0] // shape[0])
    place = np.unravel_index(int(np.argmax(np.where(usable, height, -1.0))), power.shape)
    candidate: F64 = frequencies[place]
    level, ratio = _look_around(residual, candidate, shape, rest)
    if power[place] <= ratio * level or 2 * power[place] < _SMALLEST_SHARE * total:
        return None
    return candidate


def _look_around(residual: F64, frequency: F64, shape: tuple[int, ...], rest: float) -> tuple[float, float]:
    """Return the level of the bins around a frequency, and how many times that a peak must be for a closer look."""
    bins = find_bins(residual, shape, rest).take_nearest(frequency * shape, 2 * _AROUND, _CLEAR)
    if not len(bins.cycles):
        return math.inf, 1.0
    columns = count_columns(bins)
    return find_median_level(bins.powers, columns), find_ratio(columns, math.inf, len(residual))


def _has_merged(found: list[F64], shape: tuple[int, ...]) -> bool:
    cycles = np.array(found) * shape
    return bool((measure_distances(cycles[:-1], cycles[-1], shape) < 1.0).any())


def _is_inside(frequency: F64, shape: tuple[int, ...]) -> bool:
    return any(abs(value) * size >= _LEAST_CYCLES for value, size in zip(frequency, shape, strict=True))


def _rank(one: DominantPeriod) -> tuple[float, bool]:
    """By falling share; of equal ones, which only rounding orders, those down a grid first."""
    return -round(one.share, 9), one.along is not None and one.along[0] is None


def _describe(frequency: F64, share: float, is_grid: bool) -> DominantPeriod:
    period = 1 / float(np.linalg.norm(frequency))
    if not is_grid:
        return DominantPeriod(period=period, share=share)
    flat = 0.05 * float(np.abs(frequency).max())
    down, across = (None if abs(value) <= flat else 1 / float(value) for value in frequency)
    if down is not None and across is not None:
        return DominantPeriod(period=period, share=share, along=(abs(down), math.copysign(across, down * across)))
    return DominantPeriod(period=period, share=share, along=(down and abs(down), across and abs(across)))


def _describe_ridge(ridge: Ridge, share: float) -> DominantPeriod:
    middle = 2 / (ridge.first + ridge.last)
    return DominantPeriod(period=middle, share=share, drift=(1 / ridge.first, 1 / ridge.last))


def choose_padding(size: int) -> int:
    """Return the length that rows are padded to with zeros: the power of two from four times as many on, or twice.

    >>> choose_padding(100), choose_padding(1 << 15)
    (512, 65536)
    """
    return 1 << math.ceil(math.log2((_PADDING if size <= 1 << 14 else 2) * size))


def _build_frequencies(shape: tuple[int, ...], sizes: list[int]) -> list[F64]:
    last: F64 = np.fft.rfftfreq(sizes[-1]).astype(np.float64)
    if len(shape) == 1:
        return [last]
    first: F64 = np.fft.fftfreq(sizes[0]).astype(np.float64)
    return list(np.meshgrid(first, last, indexing="ij"))
