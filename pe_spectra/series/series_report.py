"""What a series shows: when its samples are, and of each column its trend, its periods and its noise."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, NDArray
from pe_spectra.ordering import list_distinct
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.series.grouping import LineGroup, group_lines, name_period
from pe_spectra.series.line_search import FEWEST_SAMPLES, LEAST_CYCLES, RATE, Found, search_lines
from pe_spectra.series.periodogram import OVERSAMPLING
from pe_spectra.series.times import Sampling, arrange_times

#: From the median, in ranges of the middle half, within which all values of most series are.
FAR = 30.0
#: Points of the spectrum that are kept for its picture: of the frequencies between two the highest.
_DRAWN = 512
#: Why no periods are looked for in a column; None where they are.
REASONS = ("too few samples", "all values are equal", None)
#: Numbers that there are only where they are looked for.
_OF_A_SEARCH = ("trend_share", "slope", "explained", "correlation", "white", "threshold", "slowest", "fastest")


@dataclass(frozen=True, kw_only=True)
class SeriesPeriod(Result):
    """A period of one column."""

    column: str = quantity("Name of the column.")
    period: float = quantity("Its length, in the unit of the times.", above=0)
    error: float = quantity(
        "Standard error of its length, from the noise at its frequency and its harmonics; of one that is not steady "
        "how far its sinusoids are apart.",
        minimum=0,
    )
    named: str | None = quantity(
        "The calendar's name for it, where that lies within four standard errors and 2 %; null otherwise."
    )
    steps: float = quantity("Its length in steps.", above=0)
    cycles: float = quantity("How often it passes in the record.", above=0)
    share: float = quantity("Share of the variance that it explains, with its harmonics.", minimum=0)
    amplitude: float = quantity("Amplitude of its strongest sinusoid, in units of the column.", minimum=0)
    harmonics: tuple[int, ...] = quantity(
        "Which multiples of its frequency stand out of the noise, too.", write=lambda found: " ".join(map(str, found))
    )
    modulated: tuple[str, ...] = quantity(
        "Slower periods that its amplitude changes with: sinusoids at sums and differences of both frequencies stand "
        "out of the noise, too, and are its own.",
        write=", ".join,
    )
    drifts: bool = quantity("Whether it is several sinusoids too near each other to be told apart: it is not steady.")
    false_alarm: float = quantity(
        "How likely noise alone has a sinusoid so strong at any of the frequencies looked at.", minimum=0, maximum=1
    )
    #: (steps, share of the variance) of each sinusoid that it is made of.
    waves: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesColumn(Result):
    """One column of values."""

    column: str = quantity("Name of the column.", column=None)
    values: int = quantity("Samples that have a value.", minimum=0, column=None)
    missing: int = quantity("Samples without a value, which are left out.", minimum=0, column=None)
    longest_missing: int = quantity("Most samples without a value in a row.", minimum=0, column=None)
    mean: float | None = quantity("Mean of the values; null without any.", column=None)
    deviation: float | None = quantity("Their standard deviation; null without any.", minimum=0, column=None)
    far: int = quantity(
        f"Values more than {FAR:g} ranges of the middle half from the median; 0 where that half has no range.",
        minimum=0,
        column=None,
    )
    farthest: float | None = quantity("The farthest of these; null without one.", column=None)
    silent: str | None = quantity("Why no periods were looked for; null where they were.", words=REASONS, column=None)
    trend_share: float | None = quantity(
        "Share of the variance that a straight line explains by itself; null without variance.", minimum=0, column=None
    )
    slope: float | None = quantity("Its slope, per unit of time; null without variance.", column=None)
    explained: float | None = quantity(
        "Share of the variance that line and periods explain together; null without variance.", column=None
    )
    correlation: float | None = quantity(
        "Of the noise that was fitted: how its red part is correlated from step to step.", column=None
    )
    white: float | None = quantity("Share of white noise in that.", minimum=0, maximum=1, column=None)
    threshold: float | None = quantity(
        "How often the level of noise an ordinate has to have, to be a period.", minimum=0, column=None
    )
    slowest: float | None = quantity("Longest period that was looked for.", above=0, column=None)
    fastest: float | None = quantity("Shortest one.", above=0, column=None)
    periods: tuple[SeriesPeriod, ...] = quantity("Its periods, by falling share.")
    frequencies: F64 = quantity("Frequencies of the picture of its spectrum, in cycles per unit of time.", column=None)
    power: F64 = quantity("Power at each, without the line, as a share of the largest.", column=None)
    noise: F64 = quantity("Level of the noise at each, in the same unit.", column=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesReport(Result):
    """When the samples of a series are, and what its columns show."""

    file: str = quantity("The file as it was named.", asked=True)
    timed: str | None = quantity(
        "Column that holds the times; null where rows count as evenly spaced.", key="time", column=None
    )
    rate: float = quantity("In how many series of noise alone a period is told at most, as a share.", column=None)
    sampling: Sampling = quantity("When the samples are.", column=None)
    columns: tuple[SeriesColumn, ...] = quantity("The columns.", least=1)
    #: (N,) of the samples, in steps after the first.
    places: F64

    @derived("Periods in all columns.", minimum=0, column=None)
    def period_count(self) -> int:
        return sum(len(one.periods) for one in self.columns)


def describe_series(
    values: Mapping[str, F64], times: F64, *, file: str = "", timed: str | None = None, **known: Any
) -> SeriesReport:
    """Look at the times of a series, and for periods in each of its columns.

    Parameters
    ----------
    values : name -> (R,) values of the rows; NaN where there is none. times : (R,) of the rows.
    known : what else :func:`arrange_times` takes.

    Raises
    ------
    InputError : fewer than two different times.

    >>> times = np.arange(500.0)
    >>> load = np.sin(2 * np.pi * times / 48) + np.random.default_rng(0).standard_normal(500)
    >>> found = describe_series({"load": load}, times).columns[0].periods
    >>> len(found), round(found[0].period)
    (1, 48)
    """
    if len(times) < 2 or np.ptp(times) == 0:
        raise InputError(f"{file or 'the series'} has one time only", accepted="rows at two times or more are accepted")
    sampling, order = arrange_times(times, columns=tuple(values.values()), **{"rows": len(times), **known})
    columns = [_describe_column(name, order.gather(column), order.times, sampling) for name, column in values.items()]
    return SeriesReport(
        file=file, timed=timed, rate=RATE, sampling=sampling, columns=tuple(columns), places=order.times / sampling.step
    )


def _describe_column(name: str, values: F64, times: F64, sampling: Sampling) -> SeriesColumn:
    known = np.isfinite(values)
    kept, places = values[known], times[known]
    largest = float(np.max(np.abs(kept), initial=0.0)) or 1.0
    # squares of the largest numbers are out of range
    mean, deviation = (float(measure(kept / largest) * largest) if len(kept) else None for measure in (np.mean, np.std))
    is_equal = len(kept) > 0 and np.ptp(kept / largest) == 0
    silent = "all values are equal" if is_equal else "too few samples" if len(kept) < FEWEST_SAMPLES else None
    found: dict[str, Any] = dict.fromkeys(_OF_A_SEARCH)
    found |= {"periods": (), "frequencies": np.empty(0), "power": np.empty(0), "noise": np.empty(0)}
    if silent is None:
        places = places - places[0]
        search = search_lines(places, kept / largest, sampling.step)
        found |= _describe_search(name, search, places, (deviation or 0.0), sampling)
    far = _list_far(kept / largest) * largest
    return SeriesColumn(
        column=name,
        far=len(far),
        farthest=float(far[-1]) if len(far) else None,
        values=len(kept),
        missing=len(values) - len(kept),
        longest_missing=_find_longest(~known),
        mean=mean,
        deviation=0.0 if is_equal else deviation,
        silent=silent,
        **found,
    )


def _list_far(values: F64) -> F64:
    """The values that are far from all others, the farthest last."""
    if not len(values):
        return values
    last = len(values) - 1
    low, middle, high = np.interp([0.25 * last, 0.5 * last, 0.75 * last], np.arange(last + 1), np.sort(values))
    far = values[np.abs(values - middle) > FAR * (high - low)] if high > low else np.empty(0)
    ordered: F64 = far[np.argsort(np.abs(far - middle), kind="stable")]
    return ordered


def _find_longest(missing: NDArray[np.bool_]) -> int:
    """The most in a row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def _describe_search(name: str, found: Found, times: F64, deviation: float, sampling: Sampling) -> dict[str, Any]:
    """What a search comes to, in the units of the column and of its times."""
    span, places = float(times[-1]), 2 * times / float(times[-1]) - 1
    periods = [
        _describe_period(name, group, found, places, span, deviation, sampling)
        for group in group_lines(found, span, len(times), is_dated=sampling.is_dated)
        if group.cycles >= LEAST_CYCLES  # a slower one is a trend, where its frequency settled there
    ]
    edges = list_distinct(np.geomspace(OVERSAMPLING, len(found.power), _DRAWN + 1).astype(np.int64))
    drawn = [int(a + np.argmax(found.power[a:b])) for a, b in pairwise(edges)]
    return {
        "trend_share": found.trend_share,
        "slope": 2 * found.model.slope * deviation / span,
        "explained": max(0.0, 1 - found.rest),
        "correlation": found.background.correlation,
        "white": found.background.white,
        "threshold": found.threshold,
        "slowest": span / LEAST_CYCLES,
        "fastest": 1 / ((len(found.power) - 1) * found.spacing),
        "periods": tuple(sorted(periods, key=lambda one: -one.share)),
        "frequencies": np.array(drawn) * found.spacing,
        "power": found.power[drawn] * (2 / len(times)),
        "noise": found.background.level[drawn] * (2 / len(times)),
    }


def _describe_period(
    name: str, group: LineGroup, found: Found, places: F64, span: float, deviation: float, sampling: Sampling
) -> SeriesPeriod:
    period = span / group.cycles
    error = period * group.error / group.cycles
    lines = list(group.lines)
    powers = (found.model.cosines[lines] ** 2 + found.model.sines[lines] ** 2) / 2
    lengths = span / found.model.frequencies[lines] / sampling.step
    return SeriesPeriod(
        column=name,
        period=period,
        error=error,
        named=name_period(period, error) if sampling.is_dated else None,
        steps=period / sampling.step,
        cycles=group.cycles,
        share=float(np.var(found.model.compute(places, np.array(group.lines)))),
        amplitude=group.strongest * deviation,
        harmonics=group.harmonics,
        modulated=tuple(_name(span / cycles, sampling) for cycles in group.modulated),
        drifts=group.drifts,
        false_alarm=group.false_alarm,
        waves=tuple(zip(lengths.tolist(), powers.tolist(), strict=True)),
    )


def _name(period: float, sampling: Sampling) -> str:
    return (name_period(period, 0.0) if sampling.is_dated else None) or sampling.write(period)
