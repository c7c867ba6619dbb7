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
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.inspection.peaks import compute_periodogram, select_lines
from pe_spectra.inspection.ridges import Ridge, find_ridges, measure_bands, remove_bands
from pe_spectra.inspection.rows import compute_mean_row
from pe_spectra.quantities import Result, quantity

#: Sinusoids that are looked for, and periods that an answer names and its figure labels.
MAX_PERIODS, NAMED_PERIODS = 12, 6
#: A sinusoid counts from this share of the variance on.
_SMALLEST_SHARE = 0.004
#: Its peak is this many times the median of the periodogram around it, 12 bins on either side.
_PEAK_RATIO, _AROUND = 3.0, 12
#: Normal quantile of the chance that noise alone makes such a peak.
_QUANTILE = 5.5
#: Principal columns that stand for the table in the search; numbers of them at most.
_MAX_COLUMNS, _MAX_NUMBERS = 48, 1 << 21
#: Frequencies per cycle over the length of the table (zero padding).
_PADDING = 4
#: Shorter tables have no periods.
FEWEST_ROWS = 8
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
        "On a grid its lengths down and across, with the sign of its direction, null where it does not change that "
        "way; null on a line.",
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
    axes = _build_axes(shape)
    trend = _orthonormalise(np.column_stack([np.ones(len(table)), *axes]))
    trend_share = float(np.sum((trend.T @ centred) ** 2)) / total
    if len(table) < FEWEST_ROWS:
        return Periods(dominant=(), trend_share=min(trend_share, 1.0), explained=min(trend_share, 1.0))
    count = max(4, min(_MAX_COLUMNS, _MAX_NUMBERS // len(table)))
    principal = centred if table.shape[1] <= count else reduce_columns(centred, count, rounds=2, seed=1)
    rest = max(total - float(np.einsum("ij,ij->", principal, principal)), 0.0) / len(table)
    ridges, found = _find_lines(principal, axes, shape, trend, total, rest, table.shape[1])
    waves = _build_waves(axes, found)
    model = np.column_stack([trend, *waves])
    basis = _orthonormalise(model) if found else trend
    amplitudes = np.asarray(np.linalg.lstsq(model, centred, rcond=None)[0], dtype=np.float64)
    firsts = range(trend.shape[1], model.shape[1], 2)
    shares = [_measure_energy(model[:, one : one + 2], amplitudes[one : one + 2]) / total for one in firsts]
    drifting = [energy / total for energy in measure_bands(centred - model @ amplitudes, ridges)] if ridges else []
    # sinusoids that are not quite orthogonal share what they explain together
    excess = max(sum(shares) + sum(drifting), 1.0)
    # a wave that does not complete one cycle along either side of a grid is a trend of the picture
    dominant = [
        _describe(frequency, share / excess, grid is not None)
        for frequency, share in zip(found, shares, strict=True)
        if grid is None or max(abs(f) * side for f, side in zip(frequency, shape, strict=True)) >= 1
    ]
    pairs = zip(ridges, drifting, strict=True)
    dominant += [_describe_ridge(one, share / excess) for one, share in pairs if share >= _SMALLEST_SHARE]
    return Periods(
        dominant=tuple(sorted(dominant, key=lambda one: -one.share)),
        trend_share=trend_share,
        explained=min(float(np.sum((basis.T @ centred) ** 2)) / total + sum(drifting), 1.0),
    )


def _find_lines(
    values: F64, axes: list[F64], shape: tuple[int, ...], trend: F64, total: float, rest: float, width: int
) -> tuple[list[Ridge], list[F64]]:
    """Find the lines that drift, and the frequencies of the others where nothing of those is left."""
    if len(shape) > 1:
        return [], _search(values, axes, shape, trend, total, rest, width)
    ratio = _find_ratio(width)
    ridges = find_ridges(values - trend @ (trend.T @ values), rest, ratio)
    if ridges:
        values = remove_bands(values, ridges)
    found = _search(values, axes, shape, trend, total, rest, width)
    found = [one for one in found if not any(ridge.holds(abs(float(one[0]))) for ridge in ridges)]
    if not found:
        return ridges, found
    cycles = [abs(float(one[0])) * len(values) for one in found]
    # only narrow peaks, no parts of a falling continuum
    return ridges, [found[i] for i in select_lines(values, trend, _build_waves(axes, found), cycles, rest, ratio)]


def _search(
    values: F64, axes: list[F64], shape: tuple[int, ...], trend: F64, total: float, rest: float, width: int
) -> list[F64]:
    """Add frequencies, strongest first, until the highest peak does not stand out."""
    found: list[F64] = []
    residual = values - trend @ (trend.T @ values)
    for _ in range(MAX_PERIODS):
        candidate = _find_peak(residual, shape, found, rest, width, total)
        if candidate is None:
            break
        found.append(candidate)
        for _ in range(3):
            residual = _refine(values, axes, found, trend)
        if _has_merged(found, shape):
            found.pop()  # two sinusoids closer than the table can resolve
            break
    return [one for one in found if _is_inside(one, shape)]


def _find_peak(
    residual: F64, shape: tuple[int, ...], found: list[F64], rest: float, width: int, total: float
) -> F64 | None:
    sizes = [choose_padding(size) for size in shape]
    power = compute_periodogram(residual, shape, sizes) + rest
    frequencies = _build_frequencies(shape, sizes)
    step = [1.0 / size for size in shape]
    usable = np.zeros(power.shape, dtype=bool)
    for axis_step, axis in zip(step, frequencies, strict=True):
        usable |= np.abs(axis) >= 0.9 * axis_step
    for one in found:
        near = np.ones(power.shape, dtype=bool)
        for value, axis_step, axis in zip(one, step, frequencies, strict=True):
            near &= np.abs(axis - value) < 0.7 * axis_step
        usable &= ~near
    if not usable.any():
        return None
    place = np.unravel_index(int(np.argmax(np.where(usable, power, -1.0))), power.shape)
    level = _measure_level(power, place, sizes, shape)
    high = power[place] > _find_ratio(width) * level
    if not high or 2 * power[place] < _SMALLEST_SHARE * total:
        return None
    return np.array([float(axis[place]) for axis in frequencies])


def _find_ratio(width: int) -> float:
    """Return how far a peak summed over `width` columns must stand above its surroundings."""
    return max(_PEAK_RATIO, (1 - 1 / (9 * width) + _QUANTILE / math.sqrt(9 * width)) ** 3)  # Wilson-Hilferty


def _measure_level(power: F64, place: tuple[np.intp, ...], sizes: list[int], shape: tuple[int, ...]) -> float:
    # the median over whole bins around, on either side, as far as there are any
    if power.ndim > 1:
        return float(np.median(power[tuple(slice(None, None, _PADDING) for _ in shape)]))
    stride = max(1, round(sizes[0] / shape[0]))
    first = max(int(place[0]) - _AROUND * stride, stride)
    around = power[first : int(place[0]) + _AROUND * stride + 1]
    return float(np.median(around))


def _refine(values: F64, axes: list[F64], found: list[F64], trend: F64) -> F64:
    """Move each frequency by one Gauss-Newton step, in place; return the residual before the moves."""
    waves = _build_waves(axes, found)
    basis = np.column_stack([trend, *waves])
    amplitudes = np.linalg.lstsq(basis, values, rcond=None)[0]
    residual: F64 = values - basis @ amplitudes
    orthonormal = _orthonormalise(basis)
    first = trend.shape[1]
    limit = [0.4 / (axis.max() - axis.min() + 1) for axis in axes]
    for index, frequency in enumerate(found):
        cosine, sine = waves[2 * index : 2 * index + 2]
        mixed = amplitudes[first + 2 * index : first + 2 * index + 2][::-1]
        for which, axis in enumerate(axes):
            # the slope is turned @ mixed, as large as the table and of rank 2, so it is never built
            turned = 2 * math.pi * axis[:, None] * np.column_stack([cosine, -sine])
            turned -= orthonormal @ (orthonormal.T @ turned)
            size = float(np.sum((turned.T @ turned) * (mixed @ mixed.T)))
            move = float(np.sum((turned.T @ residual) * mixed)) / size if size > _TINY else 0.0
            frequency[which] += float(np.clip(move, -limit[which], limit[which]))
    return residual


def _has_merged(found: list[F64], shape: tuple[int, ...]) -> bool:
    newest = found[-1] * shape
    return any(bool((np.abs(newest - other * shape) < 1.0).all()) for other in found[:-1])


def _is_inside(frequency: F64, shape: tuple[int, ...]) -> bool:
    return any(abs(value) * size >= 0.75 for value, size in zip(frequency, shape, strict=True))


def _describe(frequency: F64, share: float, is_grid: bool) -> DominantPeriod:
    period = 1 / float(np.linalg.norm(frequency))
    if not is_grid:
        return DominantPeriod(period=period, share=share)
    flat = 0.05 * float(np.abs(frequency).max())
    along = tuple(None if abs(value) <= flat else 1 / float(value) for value in frequency)
    return DominantPeriod(period=period, share=share, along=(along[0], along[1]))


def _describe_ridge(ridge: Ridge, share: float) -> DominantPeriod:
    middle = 2 / (ridge.first + ridge.last)
    return DominantPeriod(period=middle, share=share, drift=(1 / ridge.first, 1 / ridge.last))


def _build_axes(shape: tuple[int, ...]) -> list[F64]:
    """Return the centred coordinates of each row, one array (S,) for each axis."""
    places = np.indices(shape).reshape(len(shape), -1).astype(np.float64)
    return [axis - axis.mean() for axis in places]


def _build_waves(axes: list[F64], frequencies: list[F64]) -> list[F64]:
    waves: list[F64] = []
    for frequency in frequencies:
        angle = 2 * math.pi * np.sum([value * axis for value, axis in zip(frequency, axes, strict=True)], axis=0)
        waves += [np.cos(angle), np.sin(angle)]
    return waves


def _measure_energy(waves: F64, amplitudes: F64) -> float:
    gram = waves.T @ waves
    return float(np.einsum("ik,ij,jk->", amplitudes, gram, amplitudes))


def _orthonormalise(columns: F64) -> F64:
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), _TINY)
    basis, triangle = np.linalg.qr(scaled)
    kept: F64 = basis[:, np.abs(np.diag(triangle)) > 1e-9]
    return kept


def reduce_columns(centred: F64, count: int, *, rounds: int, seed: int) -> F64:
    """Return (S, count) principal columns, with the same Gram matrix as nearly as so few allow, by subspace iteration.

    References
    ----------
    Halko, Martinsson & Tropp 2011, SIAM Review 53, 217.

    >>> reduce_columns(np.ones((5, 1)) * np.arange(8.0), 1, rounds=2, seed=1).shape
    (5, 1)
    """
    sketch = np.random.Generator(np.random.PCG64(seed)).standard_normal((centred.shape[1], count))
    for _ in range(rounds):
        sketch = np.linalg.qr(centred.T @ (centred @ sketch))[0]
    reduced: F64 = centred @ sketch
    return reduced


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
