"""The periods of a series: sinusoids that stand out of the noise, one after another, and harmonics as such.

The highest ordinate of the periodogram, over the level of noise at its frequency, is a period where noise alone
has one so high in few series only. It is refined, fitted together with those found before, and taken out; then the
rest is looked at anew.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pe_spectra.exact import F64, NDArray
from pe_spectra.ordering import find_median
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.series.noise import Background, fit_background, measure_false_alarm
from pe_spectra.series.periodogram import (
    OVERSAMPLING,
    Sums,
    choose_frequencies,
    compute_power,
    find_weakest,
    prepare_sums,
)
from pe_spectra.series.transform import choose_size
from pe_spectra.series.wave_fits import WaveModel, fit_waves, refine_waves

#: In so many of a hundred series of noise a period may be told that is none: what is promised, and what each test is
#: held to, for the level of noise is itself an estimate.
RATE, _HELD = 0.05, 0.01
#: Sinusoids at most, harmonics among them.
MOST_LINES = 16
#: Samples below which no period is looked for.
FEWEST_SAMPLES = 24
#: A wave of fewer cycles over the record cannot be told from a slow trend.
LEAST_CYCLES = 2.0
#: Share of the variance below which a sinusoid is not told: rounded numbers repeat with their period.
SMALLEST_SHARE = 1e-4
#: Lines that are taken at a time at most, of so many peaks; each this far above what the others leak there.
_TOGETHER, _PEAKS, _ABOVE_LEAKAGE = 8, 256, 9.0
#: Of so many of them those whose power is less than that many times lower than the highest are alike.
_COMPARED, _ALIKE = 32, 2.25
_REFINED, _SETTLED = 3, 2
#: Cycles over the record within which sinusoids may cancel.
_APART = 0.5
#: Ordinates of waves that are a trend.
_SLOWEST = math.ceil(LEAST_CYCLES * OVERSAMPLING)


@dataclass(frozen=True, kw_only=True, eq=False)
class Line(ReadOnly):
    """A sinusoid that was found: cycles over the record, and how likely noise alone has one so high."""

    cycles: float
    false_alarm: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Found(ReadOnly):
    """What the search found in the values of one column.

    Attributes
    ----------
    model : trend and sinusoids. lines : those of the model, in its order. trend_share : of the line by itself.
    power : of the series without its trend, in units of its variance, at k `spacing`. background : what the noise
        is there, with the sinusoids taken out.
    rest : the variance that is left, as a share.
    own_cycles : how often the period passes that the times themselves have; None without one.
    """

    model: WaveModel
    lines: tuple[Line, ...]
    power: F64
    background: Background
    spacing: float
    threshold: float
    trend_share: float
    rest: float
    own_cycles: float | None = None


def search_lines(times: F64, values: F64, step: float) -> Found:
    """Find the sinusoids of a series that stand out of red and white noise.

    Parameters
    ----------
    times : (N,) ascending, from 0 on, N >= FEWEST_SAMPLES. values : (N,), not all equal. step : as times.

    >>> times = np.arange(400.0)
    >>> noise = np.random.default_rng(0).standard_normal(400)
    >>> found = search_lines(times, np.sin(times / 5) + 0.5 * noise, 1.0)
    >>> [round(399 / line.cycles, 1) for line in found.lines]  # 10 pi
    [31.4]
    """
    span = float(times[-1])
    places = 2 * times / span - 1
    scaled = _scale(values)
    spacing, count = choose_frequencies(span, step)
    sums = prepare_sums(times, spacing, count)
    # of the false alarm: the highest frequency times the root of 4 pi times the variance of the times
    width = (count - 1) * spacing * math.sqrt(4 * math.pi * float(np.var(times)))
    threshold = _find_threshold(width, len(times))
    model = fit_waves(places, scaled, np.empty(0))
    rest = scaled - model.compute(places)
    trend_share = max(0.0, 1 - float(np.mean(rest**2)))
    lines, before = list[Line](), -1
    whole: F64 | None = None
    while True:
        power = compute_power(sums, rest) * (0.5 * len(rest) * np.var(rest))
        whole = power if whole is None else whole
        background = fit_background(power, step, spacing, threshold)
        level = _raise_where_times_leak(background.level, power, sums, threshold)
        peaks = _pick(power, level, sums, threshold, lines)
        picked = [one for one in peaks if _is_no_trend(one[0], power, level, threshold, sums, places, rest)]
        if not picked or len(lines) in (before, MOST_LINES):
            break
        before = len(lines)  # where it stays, what was given up would be found anew
        del power, background, level  # of a million samples each is large, and so is what is made next
        told = [Line(cycles=k / OVERSAMPLING, false_alarm=measure_false_alarm(r, width, len(rest))) for k, r in picked]
        held = (lines + told)[:MOST_LINES]
        refined = refine_waves(places, rest, np.array([line.cycles for line in held[len(lines) :]]), _REFINED)
        lines, model = _settle(places, scaled, held, [*(one.cycles for one in lines), *refined.frequencies.tolist()])
        rest = scaled - model.compute(places)
    lines, model = _keep_standing(places, scaled, lines, model, threshold * level)
    return Found(
        model=model,
        lines=tuple(lines),
        power=whole,
        background=replace(background, level=level),
        spacing=spacing,
        threshold=threshold,
        trend_share=trend_share,
        rest=float(np.mean((scaled - model.compute(places)) ** 2)),
        own_cycles=_find_own_cycles(sums, threshold),
    )


def _scale(values: F64) -> F64:
    """The values with mean 0 and variance 1."""
    centred = values - np.mean(values)
    found: F64 = centred / np.std(centred)
    return found


def _settle(places: F64, values: F64, lines: list[Line], moved: list[float]) -> tuple[list[Line], WaveModel]:
    """Fit all lines together to values of variance 1.

    Of two that run into each other and cancel, each with more than all of the variance, the one that was found later
    is given up: such a pair follows any trend.
    """
    while True:
        model = refine_waves(places, values, np.array(moved), _SETTLED)
        found = model.frequencies.tolist()
        large = (model.cosines**2 + model.sines**2 > 2).tolist()
        later = [
            one
            for one, k in enumerate(found)
            if large[one] and any(large[other] and abs(k - found[other]) < _APART for other in range(one))
        ]
        if not later:
            return [replace(line, cycles=k) for line, k in zip(lines, found, strict=True)], model
        lines = [one for place, one in enumerate(lines) if place not in later]
        moved = [one for place, one in enumerate(moved) if place not in later]


def _find_threshold(width: float, samples: int) -> float:
    """The ratio to the level of noise from which on an ordinate is told."""
    low, high = 1.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if measure_false_alarm(middle, width, samples) > _HELD else (low, middle)
    return high


def _pick(power: F64, level: F64, sums: Sums, threshold: float, lines: list[Line]) -> list[tuple[int, float]]:
    """The peaks above their level, the highest first, of those alike the slowest, with their ratios to it; none that
    another may have leaked.
    """
    ratio = power / level
    floor = SMALLEST_SHARE * len(sums.phases) / 2
    candidate = (ratio > threshold) & (power > floor)
    candidate[:_SLOWEST] = False
    for line in lines:  # what is left beside a line that was taken out is that line, which is not quite a sinusoid
        place = round(line.cycles * OVERSAMPLING)
        candidate[max(0, place - OVERSAMPLING // 2) : place + OVERSAMPLING // 2 + 1] = False
    candidate[1:-1] &= (power[1:-1] >= power[:-2]) & (power[1:-1] >= power[2:])
    peaks = np.flatnonzero(candidate)
    peaks = peaks[np.argsort(-power[peaks], kind="stable")][:_PEAKS]
    taken: list[int] = []
    for peak in peaks.tolist():
        leaked = sum(float(power[one]) * _find_leakage(sums, peak, one) for one in taken)
        if len(taken) < _COMPARED and power[peak] > _ABOVE_LEAKAGE * leaked:
            taken.append(peak)
    # of the multiples of a pulse, which are alike, the first tells its period
    alike = sum(power[peak] > power[taken[0]] / _ALIKE for peak in taken)
    return [(peak, float(ratio[peak])) for peak in [*sorted(taken[:alike]), *taken[alike:]][:_TOGETHER]]


def _is_no_trend(peak: int, power: F64, level: F64, threshold: float, sums: Sums, places: F64, rest: F64) -> bool:
    """Whether a peak is above the least power still when the strongest slower wave, a trend, is fitted beside it."""
    slow = int(np.argmax(power[:_SLOWEST]))
    leaked = float(power[slow]) * _find_leakage(sums, peak, slow)
    if power[peak] > _ABOVE_LEAKAGE * leaked:
        return True
    both = refine_waves(places, rest / np.std(rest), np.array([slow, peak]) / OVERSAMPLING, _REFINED)
    left = float(both.cosines[1] ** 2 + both.sines[1] ** 2) * len(rest) / 4
    return bool(both.frequencies[1] >= LEAST_CYCLES and left * float(np.var(rest)) > threshold * float(level[peak]))


def _keep_standing(
    places: F64, values: F64, lines: list[Line], model: WaveModel, least: F64
) -> tuple[list[Line], WaveModel]:
    """Give up the sinusoids whose power is not above the least with all others fitted: what stood for another."""
    at = np.clip(np.rint(model.frequencies * OVERSAMPLING), 0, len(least) - 1).astype(np.int64)
    kept = np.flatnonzero((model.cosines**2 + model.sines**2) * len(values) / 4 > least[at])
    if len(kept) == len(lines):
        return lines, model
    return _settle(places, values, [lines[one] for one in kept], model.frequencies[kept].tolist())


def _find_own(window: F64, threshold: float, floor: float) -> NDArray[np.int64]:
    """Frequencies at which the times themselves stand out of a floor, and out of the window of one stretch."""
    cycles = np.maximum(np.arange(len(window)), 1) / OVERSAMPLING
    return np.flatnonzero(window > threshold * np.maximum(floor, 1 / (np.pi * cycles) ** 2))


def _find_own_cycles(sums: Sums, threshold: float) -> float | None:
    """How often the period of the times passes, as a week in days of business; None without one."""
    window = sums.cosine**2 + sums.sine**2
    own = _find_own(window, threshold, 1 / len(sums.phases))  # that of random times
    if not len(own):
        return None
    first = int(own[window[own] > window[own].max() / 2][0])
    near = np.arange(first, min(first + 2 * OVERSAMPLING, len(window)))
    weights = np.where(window[near] > window[near].max() / 2, window[near], 0)
    return float(near @ weights / weights.sum()) / OVERSAMPLING


def _raise_where_times_leak(level: F64, power: F64, sums: Sums, threshold: float) -> F64:
    """The level of noise with what times that have a period themselves, as days of business, carry to each frequency of
    the noise at others: slow noise is found again at that period, and beside it. What is too slow to be a period leaks
    as it is.
    """
    window = sums.cosine**2 + sums.sine**2
    if not len(_find_own(window, threshold, float(find_median(window)) / math.log(2))):
        return level  # the fit has it all
    source = level.copy()
    source[:_SLOWEST] = np.maximum(level[:_SLOWEST], power[:_SLOWEST])
    size = choose_size(2 * len(level))
    between = (0, size + 1 - 2 * len(level))  # the frequencies are a circle, near enough, as those of a lattice are
    spread, found = (
        np.fft.rfft(np.concatenate([np.pad(one, between, mode="edge"), one[:0:-1]])) for one in (window, source)
    )
    found *= spread
    found /= spread[0].real
    carried = np.fft.irfft(found, size)[: len(level)]
    return np.maximum(level, carried, out=carried)


def _find_leakage(sums: Sums, peak: int, other: int) -> float:
    """The most that the times leak to a peak, or near it, from another frequency or its mirror image.

    It is the more, the less a sine and a cosine of the peak's frequency differ at these times: next to one cycle in two
    steps little of another wave makes a large one.
    """
    total = 0.0
    for distance in (abs(peak - other), min(peak + other, 2 * len(sums.cosine) - peak - other)):
        near = slice(max(0, distance - OVERSAMPLING), distance + OVERSAMPLING + 1)
        total += float(np.max(sums.cosine[near] ** 2 + sums.sine[near] ** 2, initial=0.0))
    return total * 0.5 / float(find_weakest(sums, peak))
