"""The period of each channel, and the sinusoidal ladder nearest to a table."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.periods import FEWEST_ROWS, choose_padding
from pe_spectra.inspection.rows import compute_mean_row
from pe_spectra.ordering import list_distinct
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass

Layout = Literal["interleaved", "concatenated", "tensor2tensor"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "concatenated", "tensor2tensor")
#: Chance that noise alone gives a channel a period.
_CHANCE = 1e-3
#: Gauss-Newton steps, and those near pi, where sine and cosine are nearly one.
_STEPS, _STEPS_AT_PI = 2, 12
_BLOCK = 1 << 20
_TINY = 1e-300
#: A ladder explains more than it leaves; share of the energy that rounding to bfloat16 changes, at most.
_HALF, _ROUNDED = 0.5, 2.0**-18
#: Columns and rows that candidates for a ladder are tried on; bases that are tried.
_TRIED_COLUMNS, _FEW_ROWS, _TRIED_ROWS = 32, 96, 384
_BASES = np.exp(np.linspace(math.log(1.5), math.log(1e8), 100))


@dataclass(frozen=True, kw_only=True, eq=False)
class ChannelPeriods(ReadOnly):
    """The dominant period of each column.

    Attributes
    ----------
    periods : (d,) in rows; NaN for a column without one (constant, noise, or slower than the table).
    shares : (d,) share of the column's variance that one sinusoid of that period explains.
    explained : share of the whole table's variance that one sinusoid for each column explains; None without
        variance, and where no periods are looked for.
    """

    periods: F64
    shares: F64
    explained: float | None


@dataclass(frozen=True, kw_only=True)
class SinusoidFit:
    """The nearest table of sines and cosines on a geometric ladder.

    Attributes
    ----------
    rho : base of the ladder; layout : order of the columns (tensor2tensor: the last is exactly 1/rho).
    share : share of the energy (about zero) that the ladder explains, each column with an amplitude
        and phase of its own.
    """

    rho: float
    layout: Layout
    share: float


def find_channel_periods(table: F64) -> ChannelPeriods:
    """Find the period of each column: the best single sinusoid beside a constant.

    The highest peak of the zero-padded periodogram between one cycle in the table and half a cycle
    a row, refined by Gauss-Newton steps; two exactly where noise would leave as much to gain beside it.
    It counts if noise would have such a share with probability below 0.001 (Fisher's test of the
    largest of S/2 ordinates).

    Parameters
    ----------
    table : (S, d) without special rows; fewer than 8 rows have no periods.

    >>> table = np.cos(2 * np.pi * np.arange(48) / 12)[:, None]
    >>> find_channel_periods(table).periods.round(3).tolist()
    [12.0]
    """
    size, width = table.shape
    periods, shares, explained, total = np.full(width, np.nan), np.zeros(width), 0.0, 0.0
    if size < FEWEST_ROWS:
        return ChannelPeriods(periods=periods, shares=shares, explained=None)
    padded = choose_padding(size)
    first = math.ceil(0.75 * padded / size)
    bins = (size - 1) // 2
    threshold = 1 - (_CHANCE / bins) ** (1 / max(bins - 1, 1))
    columns = max(1, _BLOCK // padded)
    for start in range(0, width, columns):
        block = np.ascontiguousarray(table[:, start : start + columns].T)
        mean = compute_mean_row(block.T)[:, None]
        block = block - mean
        energy = np.einsum("ij,ij->i", block, block)
        power = np.abs(np.fft.rfft(block, padded, axis=1)[:, first:]) ** 2
        cycles, gained = _refine_columns(block, (first + np.argmax(power, axis=1)) / padded)
        share = gained / np.maximum(energy, _TINY)
        # what rounding leaves of a constant column is no variance
        found = (share > threshold) & (cycles * size >= 0.98) & (energy > 1e-24 * size * mean[:, 0] ** 2)
        place = slice(start, start + len(block))
        periods[place] = np.where(found, 1 / np.maximum(cycles, _TINY), np.nan)
        shares[place] = np.where(found, np.minimum(share, 1.0), 0.0)
        explained += float(np.minimum(gained, energy).sum())
        total += float(energy.sum())
    return ChannelPeriods(periods=periods, shares=shares, explained=explained / total if total > _TINY else None)


def fit_sinusoid(table: F64) -> SinusoidFit | None:
    """Fit the ladder rho^(-2i/d), i = 0 .. d/2 - 1, in each layout, to a table; None where it tells nothing.

    Bases from 1.5 to 1e8 are tried on 32 columns and 96 rows, the best one is refined by golden
    section on 384 rows, and its share is that of all columns in those rows.

    An amplitude and a phase in each column explain much of any smooth table. A ladder counts that explains more than
    it leaves, and more than it would with the columns in another order: with a chance of less than 0.001 among all
    that are tried. Too few columns have too few orders; then what is left must be no more than rounding. Two columns
    or rows are met by any ladder.

    >>> from pe_spectra import Sinusoidal
    >>> fit = fit_sinusoid(Sinusoidal(d=16).table(64))
    >>> round(fit.rho), round(fit.share, 3)
    (10000, 1.0)
    >>> fit_sinusoid(Sinusoidal(d=2).table(64)) is None  # its one frequency is 1 whatever the base
    True
    """
    width = table.shape[1]
    if min(table.shape) < 3:
        return None
    few, rows = table[:_FEW_ROWS], table[:_TRIED_ROWS]
    tried = list_distinct(np.linspace(0, width - 1, min(width, _TRIED_COLUMNS)).astype(int))
    best: tuple[float, float, Layout] = (-1.0, float(_BASES[0]), "interleaved")
    for layout in LAYOUTS[:2]:
        exponents = _build_exponents(width, layout)[tried]
        scores = [_measure_ladder(few[:, tried], base, exponents) for base in _BASES]
        low, high = (math.log(_BASES[int(np.clip(np.argmax(scores) + side, 0, len(_BASES) - 1))]) for side in (-1, 1))
        base, _ = _refine_base(few[:, tried], exponents, low, high)
        near = 4 * math.log(base) / len(few) / max(math.log(base), 1.0) if base > 1 else 0.1
        base, score = _refine_base(rows[:, tried], exponents, math.log(base) - near, math.log(base) + near)
        if score > best[0] + 1e-9:
            best = (score, base, layout)
    share, rho, layout = _measure_ladder(rows, best[1], _build_exponents(width, best[2])), best[1], best[2]
    # a base at an end of those that were tried is no best one
    if not _BASES[0] < rho < _BASES[-1]:
        return None
    if share < _HALF or not (1 - share < _ROUNDED or _prefers_order(few[:, tried], rho, layout, tried, width)):
        return None
    half = width // 2
    alternative = rho ** ((half - 1) / half) if half > 1 else rho
    if layout == "concatenated" and _is_power_of_ten(alternative) and not _is_power_of_ten(rho):
        rho, layout = alternative, "tensor2tensor"  # the same ladder: rho^(i/h) = rho'^(i/(h - 1))
    return SinusoidFit(rho=rho, layout=layout, share=min(share, 1.0))


def _prefers_order(values: F64, rho: float, layout: Layout, columns: I64, width: int) -> bool:
    """Whether a ladder explains columns better than it would those in another order (Hoeffding 1951).

    Of all orders of n columns, the sum of e[j, p(j)] has the mean n e.. and the variance sum d**2/(n - 1), d the
    entries of e less the means of their row and column. Each column has the energy 1: one alone decides nothing.
    """
    energies = np.einsum("ij,ij->j", values, values)
    kept = energies > _TINY
    values, exponents = values[:, kept] / np.sqrt(energies[kept]), _build_exponents(width, layout)[columns][kept]
    angles = np.arange(len(values))[:, None] * rho**-exponents
    count = len(exponents)
    waves = (np.repeat(one, count, axis=1) for one in (np.cos(angles), np.sin(angles)))
    explained = _project(np.tile(values, (1, count)), *waves).reshape(count, count)
    apart = explained - explained.mean(axis=0) - explained.mean(axis=1)[:, None] + explained.mean()
    deviation = math.sqrt(float(np.sum(apart * apart)) / max(count - 1, 1))
    lead = float(np.trace(explained)) - count * float(explained.mean())
    # a normal deviate exceeds z with a chance of less than exp(-z**2 / 2)
    return lead > deviation * math.sqrt(2 * math.log(2 * len(_BASES) / _CHANCE)) and lead > _TINY


def _is_power_of_ten(value: float) -> bool:
    return abs(math.log10(value) - round(math.log10(value))) < 2e-4


def _build_exponents(width: int, layout: Layout) -> F64:
    """Return x of rho^-x for each column."""
    columns, half = np.arange(width), max(width // 2, 1)
    if layout == "interleaved":
        return columns // 2 * 2 / width
    index = columns % half
    return index / half


def _measure_ladder(values: F64, base: float, exponents: F64) -> float:
    angles = np.arange(len(values))[:, None] * base**-exponents
    total = float(np.einsum("ij,ij->", values, values))
    return float(_project(values, np.cos(angles), np.sin(angles)).sum()) / total if total > _TINY else 0.0


def _project(values: F64, cosine: F64, sine: F64) -> F64:
    """Return, for each column, the energy of its projection on the span of two waves."""
    cc, ss, cs = (np.einsum("ij,ij->j", a, b) for a, b in ((cosine, cosine), (sine, sine), (cosine, sine)))
    xc, xs = (np.einsum("ij,ij->j", values, wave) for wave in (cosine, sine))
    # Gram-Schmidt: a slow wave's sine and cosine may be nearly the same, or the sine be zero
    rest = ss - cs * cs / np.maximum(cc, _TINY)
    along = (xs - xc * cs / np.maximum(cc, _TINY)) ** 2
    energy: F64 = xc * xc / np.maximum(cc, _TINY) + np.where(
        rest > 1e-12 * (cc + ss), along / np.maximum(rest, _TINY), 0.0
    )
    return energy


def _refine_base(values: F64, exponents: F64, low: float, high: float) -> tuple[float, float]:
    ratio = (math.sqrt(5) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    scores = [_measure_ladder(values, math.exp(x), exponents) for x in inner]
    for _ in range(30):
        left = scores[0] >= scores[1]  # the side that the largest is on
        low, high = (low, inner[1]) if left else (inner[0], high)
        new = high - ratio * (high - low) if left else low + ratio * (high - low)
        score = _measure_ladder(values, math.exp(new), exponents)
        inner = [new, inner[0]] if left else [inner[1], new]
        scores = [score, scores[0]] if left else [scores[1], score]
        if high - low < 1e-7:
            break
    best = int(scores[1] > scores[0])
    return math.exp(inner[best]), scores[best]


def _refine_columns(block: F64, cycles: F64) -> tuple[F64, F64]:
    """Refine one frequency for each row of `block`; return it and the energy that its sinusoid explains."""
    size = block.shape[1]
    cycles, gained = _step_columns(block, cycles, _STEPS)
    near = np.flatnonzero((0.5 - cycles) * size < 1)
    if not len(near):
        return cycles, gained
    # at pi itself the slope is zero by symmetry
    some = block[near]
    beside, more = _step_columns(some, np.minimum(cycles[near], 0.5 - 0.25 / size), _STEPS_AT_PI)
    wave = (-1.0) ** np.arange(size)
    wave -= wave.mean()
    exact = (some @ wave) ** 2 / float(wave @ wave)
    energy = np.einsum("ij,ij->i", some, some)
    # the two dimensions of a wave have so large a share of noise in size - 2 with this chance
    share = 1 - _CHANCE ** (2 / max(size - 4, 1))
    is_exact = more - exact <= share * (energy - exact) + 1e-12 * energy
    cycles[near], gained[near] = np.where(is_exact, 0.5, beside), np.where(is_exact, exact, more)
    return cycles, gained


def _step_columns(block: F64, cycles: F64, steps: int) -> tuple[F64, F64]:
    times = 2 * math.pi * (np.arange(block.shape[1]) - (block.shape[1] - 1) / 2)
    energy = np.einsum("ij,ij->i", block, block)
    limit = 0.3 / block.shape[1]
    gained = np.zeros(len(block))
    for left in range(steps, -1, -1):
        angles = cycles[:, None] * times
        # times are centred: the sine has no mean and is orthogonal to the cosine
        cosine, sine = np.cos(angles), np.sin(angles)
        cosine -= cosine.mean(axis=1, keepdims=True)
        norms = [np.maximum(np.einsum("ij,ij->i", wave, wave), _TINY) for wave in (cosine, sine)]
        a, b = (np.einsum("ij,ij->i", block, wave) / norm for wave, norm in zip((cosine, sine), norms, strict=True))
        gained = a * a * norms[0] + b * b * norms[1]
        if not left:
            break
        slope = times * (b[:, None] * cosine - a[:, None] * sine)
        for wave, norm in zip((cosine, sine), norms, strict=True):
            slope -= (np.einsum("ij,ij->i", slope, wave) / norm)[:, None] * wave
        slope -= slope.mean(axis=1, keepdims=True)
        size = np.einsum("ij,ij->i", slope, slope)
        # the slope is orthogonal to both waves, so the residual's product with it is the block's
        move = np.einsum("ij,ij->i", slope, block) / np.maximum(size, _TINY)
        move = np.where(size > 1e-12 * energy, np.clip(move, -limit, limit), 0.0)
        cycles = np.maximum(0.5 - np.abs(0.5 - cycles - move), 1e-9)  # mirrored at pi
    return cycles, gained
