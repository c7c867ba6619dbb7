"""What a series asks of an encoding, and encodings to choose from: a short list, and those that its periods suggest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from pe_spectra.domains import PERIODS, Duration, Moment, read_duration, read_months
from pe_spectra.encodings import Encoding, find_encoding
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.known_periods import KnownPeriods
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_CHOSEN_WINDOW
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.series.series_report import SeriesPeriod, SeriesReport
from pe_spectra.series.times import Sampling
from pe_spectra.wording import count_digits

#: Samples of a window where no period gives it.
DEFAULT_WINDOW = 128
#: Periods of one length but for this share are one; periods that an encoding is made of at most, and their harmonics.
_ALIKE, _MOST, _HARMONICS = 0.01, 4, 8
#: Lengths closer than this share to a whole number of steps are that number.
_WHOLE = 0.002
#: Encodings of the catalogue that are looked at by default; none whose numbers are learned is among them.
CATALOGUE = ("sinusoidal", "tape", "dft", "rope", "alibi")
#: The field of the calendar that turns with each of its periods.
_FIELDS = {"hour": "minute", "day": "hour", "week": "weekday", "month": "day", "year": "dayofyear"}


@dataclass(frozen=True, kw_only=True)
class SharedPeriod(Result):
    """A period of a series, of all its columns together."""

    name: str = quantity("The calendar's name for it, else its length in steps.")
    steps: float = quantity("Its length in steps, as exactly as it is known.", above=0)
    share: float = quantity("Share of the variance that it explains, the mean over the columns.", minimum=0)
    inside: bool = quantity("Whether the window is longer than it, so that positions can show it.")
    harmonics: int = quantity("Highest multiple of its frequency that stands out of the noise.", minimum=1)
    #: (steps, variance) of each of its sinusoids.
    waves: tuple[tuple[float, float], ...] = ()
    #: (name, share of its variance) of each column that has it.
    by_column: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Demand(Result):
    """What a series asks of an encoding."""

    window: int = quantity("Samples that a model sees at once.", minimum=2)
    reason: str = quantity("Why so many.")
    d: int = quantity("Width of the model.", minimum=2)
    wanted: tuple[SharedPeriod, ...] = quantity("The periods of the series, by falling share.", key="periods")


class Proposal(NamedTuple):
    """An encoding to look at, or why there is none of this name."""

    name: str
    encoding: Encoding | None
    why_not: str = ""


def find_demand(report: SeriesReport, *, d: int, window: int | None = None) -> Demand:
    """Gather the periods of all columns, and choose a window where none is given.

    Parameters
    ----------
    d : width of the model. window : samples that it sees at once.

    Raises
    ------
    InputError : a window that is longer than the series.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> steps = np.arange(480.0)
    >>> found = find_demand(describe_series({"load": np.sin(2 * np.pi * steps / 48)}, steps), d=64)
    >>> found.window, found.reason, [(one.name, one.steps) for one in found.wanted]
    (96, 'two of the longest period', [('48 steps', 48.0)])
    """
    samples = report.sampling.samples
    if window is not None and window > samples:
        raise InputError("--window is longer than the series", str(window), f"2 to {samples} samples are accepted")
    merged = _merge_periods(report)
    size, reason = (
        (window, "as given") if window is not None else _choose_window([one.steps for one in merged], samples)
    )
    wanted = _join_inside([replace(one, inside=one.steps < size) for one in merged], size)
    return Demand(window=size, reason=reason, d=d, wanted=tuple(wanted))


def _join_inside(periods: Sequence[SharedPeriod], window: int) -> list[SharedPeriod]:
    """Put periods that no window tells apart, less than a cycle from each other in it, to the one of most variance."""
    found: list[SharedPeriod] = []
    for one in periods:
        near = (
            place
            for place, other in enumerate(found)
            if one.inside and other.inside and abs(1 / one.steps - 1 / other.steps) * window < 1
        )
        place = next(near, None)
        if place is None:
            found.append(one)
        else:
            other = found[place]
            shares = dict(other.by_column)
            shares |= {name: shares.get(name, 0.0) + share for name, share in one.by_column}
            found[place] = replace(
                other,
                share=other.share + one.share,
                waves=(*other.waves, *one.waves),
                by_column=tuple(shares.items()),
            )
    return sorted(found, key=lambda one: -one.share)


def _choose_window(steps: Sequence[float], samples: int) -> tuple[int, str]:
    most = min(samples, MAX_CHOSEN_WINDOW)
    fitting = [length for length in steps if math.ceil(2 * length) <= most]
    if not fitting:
        return max(2, min(most, DEFAULT_WINDOW)), "no period fits twice" if steps else "no period was found"
    whole = "of the longest period" if len(fitting) == len(steps) else f"of the longest that fits twice in {most:,}"
    return max(2, math.ceil(2 * max(fitting))), f"two {whole}"


def _merge_periods(report: SeriesReport) -> list[SharedPeriod]:
    """The periods, those of several columns as one, before there is a window."""
    looked = [one for one in report.columns if one.silent is None]
    groups: list[list[SeriesPeriod]] = []
    # what the calendar names is known best, then what has the smallest error
    every = (period for one in looked for period in one.periods)
    for period in sorted(every, key=lambda one: (one.named is None, one.error / one.period)):
        near = (
            group
            for group in groups
            if (period.named is not None and period.named == group[0].named)
            or abs(period.steps - group[0].steps) <= _ALIKE * group[0].steps
        )
        group = next(near, None)
        if group is None:
            groups.append([period])
        else:
            group.append(period)
    merged = [_merge(group, len(looked), report) for group in groups]
    return sorted(merged, key=lambda one: -one.share)


def _merge(group: Sequence[SeriesPeriod], columns: int, report: SeriesReport) -> SharedPeriod:
    """One period of some columns of all; its length is that of the first."""
    steps = _find_steps(group[0], report)
    by_column: dict[str, float] = {}
    for one in group:  # a column may have two of about one length
        by_column[one.column] = by_column.get(one.column, 0.0) + one.share
    return SharedPeriod(
        name=group[0].named or f"{steps:.6g} steps",
        steps=steps,
        share=sum(one.share for one in group) / columns,
        inside=False,
        harmonics=max((multiple for one in group for multiple in one.harmonics), default=1),
        waves=tuple((length, power / columns) for one in group for length, power in one.waves),
        by_column=tuple(by_column.items()),
    )


def _find_steps(period: SeriesPeriod, report: SeriesReport) -> float:
    """The length in steps: of the calendar's periods exactly, of others to the digits that its error leaves."""
    step = report.sampling.step
    error = period.error / step
    steps = PERIODS[period.named] / step if period.named is not None else period.steps
    is_lattice = report.sampling.spacing != "uneven"
    if is_lattice and abs(steps - round(steps)) <= max(_WHOLE * steps if period.named else 0.0, min(2 * error, 0.5)):
        return float(round(steps))
    return steps if period.named is not None else float(f"{steps:.{count_digits(steps, error, most=8)}g}")


# --------------------------------------------------------------------- proposals


def propose_candidates(report: SeriesReport, demand: Demand) -> list[Proposal]:
    """Propose the short list of the catalogue at the model's width, and encodings of the periods of the series.

    The periods stand alone, and beside a sinusoidal ladder, both with half of the squared norm, so that none drowns
    the other; where the series has dates, so do the fields of the calendar that turn with its periods.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> found = describe_series({"load": np.sin(2 * np.pi * np.arange(480.0) / 48)}, np.arange(480.0))
    >>> [one.name for one in propose_candidates(found, find_demand(found, d=64)) if one.encoding is not None]
    ['sinusoidal', 'tape', 'dft', 'rope', 'alibi', 'periods', 'ladder and periods']
    """
    d, inside = demand.d, [one for one in demand.wanted if one.inside][:_MOST]
    found = [_propose(name, partial(_build, name, demand)) for name in CATALOGUE]
    if inside:
        periods = _propose("periods", lambda: _build_periods(inside, d, report.sampling))
        found += [periods, _join_ladder(periods, d)]
    if report.sampling.is_dated and any(one.name in _FIELDS for one in demand.wanted):
        calendar = _propose("calendar", lambda: _build_calendar(report, demand))
        found += [calendar, _join_ladder(calendar, d)]
    return found


def _propose(name: str, make: Callable[[], Encoding]) -> Proposal:
    try:
        return Proposal(name, make())
    except InputError as error:
        return Proposal(name, None, str(error))


def _build(name: str, demand: Demand) -> Encoding:
    cls: Any = find_encoding(name)
    given = {one.keyword for one in cls.accepts}
    own = {"d": demand.d, "length": demand.window}
    built: Encoding = cls(**{key: value for key, value in own.items() if key in given})
    return built


def _build_periods(inside: Sequence[SharedPeriod], d: int, sampling: Sampling) -> Encoding:
    """The periods, with as many harmonics as stand out, in at most half of the columns."""
    shortest, highest = min(one.steps for one in inside), max(one.harmonics for one in inside)
    harmonics = min(highest, _HARMONICS, int(shortest // 2), d // (4 * len(inside)))
    known = {}
    if sampling.is_dated:
        with suppress(InputError):
            known["step"] = write_step(sampling)
    return KnownPeriods(steps=tuple(one.steps for one in inside), harmonics=max(1, harmonics), **known)


def _build_calendar(report: SeriesReport, demand: Demand) -> Encoding:
    """The fields of the periods, and all that are finer down to the step."""
    from pe_spectra.encodings.calendar import FIELDS, Calendar

    sampling = report.sampling
    text = write_step(sampling)
    step = read_duration(text)
    try:
        begin = Moment().parse(sampling.start, "the first time")
    except InputError:
        raise InputError("a calendar begins with a date, and the first time has none") from None
    if read_months(text):  # of the fields those of the year alone turn
        return Calendar(fields=("month",), start=begin, step=text)
    wanted = {_FIELDS[one.name] for one in demand.wanted if one.name in _FIELDS}
    _, _, hour, day = FIELDS["hour"]
    if "hour" in wanted or (step < day and any(FIELDS[name][3] > day for name in wanted)):
        # below an hour the minute of the day, else steps in a row would share their fields
        wanted = wanted - {"hour"} | {"time" if step < hour else "hour"}
    fields = sorted(wanted, key=lambda name: FIELDS[name][3])
    more: dict[str, Any] = {"minute_slot": math.gcd(60, max(1, int(step // 60)))} if "minute" in fields else {}
    return Calendar(fields=tuple(fields), start=begin, step=text, **more)


def write_step(sampling: Sampling) -> str:
    """Write the step of times on a lattice as `--step` takes it: in months, whole microseconds, or of times that are
    only near a lattice in whole minutes, seconds or milliseconds, where it is near these.

    Raises
    ------
    InputError : times on no lattice, or a step that is none of these.

    >>> from pe_spectra.series.times import arrange_times
    >>> import numpy as np
    >>> write_step(arrange_times(np.arange(3) * 0.25, rows=3, origin=np.datetime64("2024-01-01"))[0])
    '250ms'
    """
    if sampling.spacing == "months":
        return Duration().parse(f"{round(sampling.step / PERIODS['month'])}month", "the step")
    is_even = sampling.spacing == "even"
    for unit in () if sampling.spacing == "uneven" else (1e-6,) if is_even else (60, 1, 1e-3):
        count = round(sampling.step / unit)
        if count and abs(count * unit - sampling.step) <= (1e-6 if is_even else _WHOLE) * sampling.step:
            return Duration().parse(f"{round(count * unit * 10**6)}us", "the step")
    raise InputError("a calendar counts steps of one length, or months", sampling.write(sampling.step))


def _join_ladder(beside: Proposal, d: int) -> Proposal:
    name, other = f"ladder and {beside.name}", beside.encoding
    if other is None:
        return Proposal(name, None, beside.why_not)
    columns = int(getattr(other, "d", 0))
    if columns > d // 2:
        return Proposal(name, None, f"{columns} columns of {beside.name} are more than half of {d}")
    weights = tuple(float(f"{math.sqrt(d / (2 * part)):.4g}") for part in (d - columns, columns))
    ladder = Sinusoidal(d=d - columns)
    return _propose(name, lambda: Hybrid(of=(ladder, other), weights=weights, mode="concat"))
