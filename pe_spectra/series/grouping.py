"""Sinusoids that belong together: harmonics, sidebands, and those too near each other to be told apart."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pe_spectra.domains import PERIODS
from pe_spectra.exact import F64
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.series.line_search import LEAST_CYCLES, Found
from pe_spectra.series.periodogram import OVERSAMPLING

#: Highest multiple that is a harmonic; one above the third is weaker than the period, and not its only harmonic, or
#: follows all lower ones.
_HIGHEST, _MAY_LEAD = 64, 3
#: A multiple of a pattern is a period of its own where it is so much above all others; of a pulse all are alike.
_CLEARLY = 1.5
#: Cycles over the record within which weaker sinusoids are of one that is not steady: what changes its amplitude in
#: fewer cycles than a period has is no period, and half a cycle is told apart.
_TOGETHER = LEAST_CYCLES + 0.5
#: Cycles within which a weaker sinusoid may be what a sudden change of the amplitude leaves beside the stronger one.
_WING = 5.0
#: Standard errors within which a frequency is a multiple of another, and at most so many cycles over the record.
_ERRORS, _FARTHEST, _LEAST = 4.0, 0.5, 0.02
#: Cycles below the highest frequency within which a sinusoid is not told apart from its mirror image above it.
_MIRRORED = 1.0
#: Share of the frequencies that are so near a multiple by chance, where errors are smaller than what is told apart.
_BY_CHANCE = 0.05
#: A period that is so near one of the calendar's has its name.
_NAMED = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class LineGroup(ReadOnly):
    """A period: the sinusoids that it is made of.

    Attributes
    ----------
    cycles, error : how often it passes in the record, with the standard error. lines : places in the model, that of its
        strongest sinusoid first. harmonics : multiples. strongest : the largest amplitude.
    false_alarm : of its surest sinusoid.
    drifts : whether it is not steady. modulated : cycles of the slower periods that its amplitude changes with.
    """

    cycles: float
    error: float
    lines: tuple[int, ...]
    harmonics: tuple[int, ...]
    strongest: float
    false_alarm: float
    drifts: bool
    modulated: tuple[float, ...] = ()


def group_lines(found: Found, span: float, samples: int, *, is_dated: bool) -> list[LineGroup]:
    """Put the sinusoids of a search together to periods.

    Parameters
    ----------
    span : of the record, in seconds where `is_dated`. samples : how many it has.

    >>> from pe_spectra.series.line_search import search_lines
    >>> times = np.arange(480.0)
    >>> noise = 0.1 * np.random.default_rng(0).standard_normal(480)
    >>> found = search_lines(times, (times % 48 < 16) + noise, 1.0)
    >>> [(round(479 / one.cycles), one.harmonics[:2]) for one in group_lines(found, 479.0, 480, is_dated=False)]
    [(48, (2, 4))]
    """
    amplitudes = np.hypot(found.model.cosines, found.model.sines)
    cycles = found.model.frequencies
    errors = _measure_errors(found, amplitudes, samples)
    clusters: list[list[int]] = []
    for line in np.argsort(-amplitudes).tolist():
        cluster = next((one for one in clusters if _is_beside(line, one[0], cycles, amplitudes)), None)
        if cluster is None:
            clusters.append([line])
        else:
            cluster.append(line)
    groups: list[LineGroup] = []
    for cluster in sorted(clusters, key=lambda one: float(cycles[one[0]])):
        lead = cluster[0]
        one = LineGroup(
            cycles=float(cycles[lead]),
            error=float(errors[lead]) if len(cluster) == 1 else float(np.ptp(cycles[cluster])),
            lines=tuple(cluster),
            harmonics=(),
            strongest=float(amplitudes[lead]),
            false_alarm=min(found.lines[line].false_alarm for line in cluster),
            drifts=len(cluster) > 1,
        )
        repeats = any(abs(cycles[other[0]] - 2 * one.cycles) <= _FARTHEST for other in clusters)
        place = _find_base(one, groups, span if is_dated else None, found.own_cycles, repeats=repeats)
        if place is None:
            groups.append(_lengthen(one, found.own_cycles, span if is_dated else None))
        else:
            groups[place] = _add(groups[place], one)
    return _join_sidebands(groups, span if is_dated else None)


def _is_beside(line: int, lead: int, cycles: F64, amplitudes: F64) -> bool:
    """Whether a sinusoid is a part of a stronger one that is not steady.

    A step of the amplitude in mid-record leaves 2/(pi Delta) of the mean amplitude Delta cycles away.
    """
    away = abs(float(cycles[line] - cycles[lead]))
    is_wing = away < _WING and float(amplitudes[line]) * math.pi * away < 2 * float(amplitudes[lead])
    return away < _TOGETHER or is_wing


def _measure_errors(found: Found, amplitudes: F64, samples: int) -> F64:
    """Standard errors of the frequencies, in cycles over the record (Montgomery & O'Donoghue 1999).

    The variance of the noise is that which white noise of the level at the frequency would have. Next to the highest
    frequency that is looked at, a sinusoid and its mirror image at that frequency are not told apart.
    """
    places = np.clip(np.rint(found.model.frequencies * OVERSAMPLING), 1, len(found.power) - 1).astype(int)
    noise = np.sqrt(found.background.level[places])
    errors: F64 = np.sqrt(6 / samples) * noise / (np.pi * np.maximum(amplitudes, 1e-300))
    is_last = len(found.power) / OVERSAMPLING - found.model.frequencies < _MIRRORED
    return np.where(is_last, np.maximum(errors, _FARTHEST), errors)


def _find_base(
    one: LineGroup, groups: list[LineGroup], span: float | None, own_cycles: float | None, *, repeats: bool
) -> int | None:
    """The period that it is a harmonic of; none of one that the calendar has a name for.

    `own_cycles` : of the period of the times, of which any multiple is a harmonic: what the times leave out makes some.
    `repeats` : whether it has a harmonic of its own, as a day has in a week.
    """
    if span is not None and name_period(span / one.cycles, 0.0) is not None:
        return None
    for place, base in reversed(list(enumerate(groups))):  # twice the day before fourteen times the week
        multiple = round(one.cycles / base.cycles)
        error = max(_ERRORS * math.hypot(one.error, multiple * base.error), _BY_CHANCE / 2 * base.cycles)
        within = _LEAST + min(_TOGETHER if base.drifts else _FARTHEST, error)
        near = abs(one.cycles - multiple * base.cycles) <= within
        is_weaker = bool(base.harmonics) and one.strongest < _CLEARLY * base.strongest
        is_next = set(range(2, multiple)) <= set(base.harmonics) and not repeats
        is_own = own_cycles is not None and abs(base.cycles - own_cycles) <= _FARTHEST
        follows = multiple <= _MAY_LEAD or is_weaker or is_next or is_own
        if 2 <= multiple <= _HIGHEST and near and follows:
            return place
    return None


def _lengthen(one: LineGroup, own_cycles: float | None, span: float | None) -> LineGroup:
    """The period of the times, where it is a harmonic of that: in hours of the day alone half a day is told from a day
    as little as a wave from its alias.
    """
    if own_cycles is None or (span is not None and name_period(span / one.cycles, 0.0) is not None):
        return one
    multiple = round(one.cycles / own_cycles)
    if not 2 <= multiple <= _MAY_LEAD or abs(one.cycles - multiple * own_cycles) > _FARTHEST:
        return one
    return replace(one, cycles=one.cycles / multiple, error=one.error / multiple, harmonics=(multiple,))


def _join_sidebands(groups: list[LineGroup], span: float | None) -> list[LineGroup]:
    """Put what lies at the sum or the difference of the frequencies of two stronger periods to the quicker of both.

    A period whose amplitude goes up and down with a slower one has such sidebands, as its harmonics have.
    """
    ordered = sorted(groups, key=lambda one: -one.strongest)
    for place in reversed(range(2, len(ordered))):
        found = _find_carrier(ordered[place], ordered[:place], span)
        if found is not None:
            carrier, slower = found
            one, base = ordered.pop(place), ordered[carrier]
            ordered[carrier] = replace(
                base,
                lines=(*base.lines, *one.lines),
                modulated=tuple(dict.fromkeys((*base.modulated, slower, *one.modulated))),
                false_alarm=min(base.false_alarm, one.false_alarm),
            )
    return sorted(ordered, key=lambda one: one.cycles)


def _find_carrier(one: LineGroup, stronger: list[LineGroup], span: float | None) -> tuple[int, float] | None:
    """The period that it is a sideband of, and the cycles of the slower one; none of one that the calendar names."""
    if span is not None and name_period(span / one.cycles, 0.0) is not None:
        return None
    for place, base in enumerate(stronger):
        for multiple in (1, *base.harmonics):
            away = abs(one.cycles - multiple * base.cycles)
            for slower in stronger:
                error = math.hypot(one.error, multiple * base.error, slower.error)
                within = _LEAST + min(_FARTHEST, _ERRORS * error)
                if slower.cycles < base.cycles / 2 and abs(away - slower.cycles) <= within:
                    return place, slower.cycles
    return None


def _add(base: LineGroup, one: LineGroup) -> LineGroup:
    multiple = round(one.cycles / base.cycles)
    cycles, error = _average(base, one.cycles / multiple, one.error / multiple)
    return LineGroup(
        cycles=cycles,
        error=error,
        lines=(*base.lines, *one.lines),
        harmonics=(*base.harmonics, multiple),
        strongest=max(base.strongest, one.strongest),
        false_alarm=min(base.false_alarm, one.false_alarm),
        drifts=base.drifts or one.drifts,
    )


def _average(base: LineGroup, cycles: float, error: float) -> tuple[float, float]:
    """The frequency of a period and its error after a harmonic, which may tell it better than its strongest sinusoid.

    They are averaged by their errors; a harmonic that is near only because the period is not steady adds nothing.
    """
    both = math.hypot(base.error, error)
    if base.drifts or both == 0 or abs(cycles - base.cycles) > _ERRORS * both:
        return base.cycles, base.error
    share = (base.error / both) ** 2
    return base.cycles + share * (cycles - base.cycles), base.error * error / both


def name_period(seconds: float, error: float) -> str | None:
    """Return the calendar's name of a length of time, where it is within four standard errors and 2 % of one.

    >>> name_period(86390.0, 5.0), name_period(50000.0, 5.0)
    ('day', None)
    """
    return next(
        (
            name
            for name, size in PERIODS.items()
            if abs(seconds - size) <= min(_NAMED * size, max(4 * error, 0.002 * size))
        ),
        None,
    )
