"""The times of a series: their order, their step, and what is missing, repeated or moved among them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

import numpy as np

from pe_spectra.domains import PERIODS
from pe_spectra.exact import F64, I64
from pe_spectra.ordering import find_median
from pe_spectra.quantities import ReadOnly, Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import write_time

#: How the times of a series follow each other, the most regular first: all on one lattice; near it; of the calendar,
#: whose months are not alike; on none.
SPACINGS = ("even", "jittered", "months", "uneven")
#: Root mean square distance from the lattice, in steps, of times that are on it, and near it.
_ON, _NEAR = 1e-3, 0.25
#: Steps from which on a distance is a gap, where times are near a lattice and where they are on none.
_GAP, _UNEVEN_GAP = 1.75, 20.0
#: How many gaps and repeated times an answer names.
_NAMED = 20
#: Where clocks are changed: months, hours of a Sunday.
_MONTHS, _HOURS, _SUNDAY = (3, 4, 9, 10, 11), range(5), 6
_HOUR = 3600.0
_MICROSECONDS = 1e6
#: Of so many hours twice or missing no clock is the reason.
_MOST_CHANGES = 1000


@dataclass(frozen=True, kw_only=True)
class Gap(Result):
    """A stretch of time without samples."""

    after: str = quantity("Time of the last sample before it.")
    before: str = quantity("Time of the first sample behind it.")
    length: float = quantity("How long it is, in seconds of dated times, else in units of the times.", above=0)
    missing: int = quantity("Steps that are missing in it.", minimum=1)


@dataclass(frozen=True, kw_only=True)
class Sampling(Result):
    """When the samples of a series are."""

    rows: int = quantity("Rows of the file below its header.", minimum=1)
    samples: int = quantity("Different times.", minimum=2)
    unit: str = quantity("Unit of lengths of time.", words=("s", "rows", "units of the times"))
    start: str = quantity("The first time, in UTC where the file has zones.")
    end: str = quantity("The last time.")
    spacing: str = quantity("How the times follow each other.", words=SPACINGS)
    step: float = quantity("The usual time from sample to sample, in `unit`; a month is a twelfth of a year.", above=0)
    jitter: float = quantity(
        "Root mean square distance of the steps from whole multiples of the usual one, as a share of it.", minimum=0
    )
    span: float = quantity("From the first time to the last, in `unit`.", above=0)
    gaps: int = quantity("Stretches without samples.", minimum=0)
    missing: int = quantity("Steps that are missing in gaps.", minimum=0)
    named_gaps: tuple[Gap, ...] = quantity("The longest gaps, at most 20 of them.", column=None)
    timeless: int = quantity("Rows without a time, which are left out.", minimum=0)
    disordered: int = quantity("Rows that are earlier than one above them; they are sorted in.", minimum=0)
    repeated: int = quantity(
        "Rows whose time another row above has; of values at one time the mean is taken.", minimum=0
    )
    contradicting: int = quantity("Repeated rows with other values than the row above has.", minimum=0)
    named_repeats: tuple[str, ...] = quantity("The first times that are there more than once, at most 20.", column=None)
    clock_changes: int = quantity(
        "How often clocks were changed: of times without zones those behind are moved to what had passed.", minimum=0
    )
    named_changes: tuple[str, ...] = quantity("The last times before the first 20 of them.", column=None)

    @derived("Whether lengths of time are seconds.", key=None, column=None)
    def is_dated(self) -> bool:
        return self.unit == "s"

    def write(self, length: float, digits: int = 4) -> str:
        """Write a length of time in words.

        >>> arrange_times(np.arange(3.0), rows=3)[0].write(2.5)
        '2.5 rows'
        """
        if not self.is_dated:
            units = self.unit if length != 1 else self.unit.replace("rows", "row").replace("units", "unit")
            return f"{length:.{digits}g} {units}"
        if length >= 2 * PERIODS["year"]:
            return f"{length / PERIODS['year']:.{digits}g} years"
        if length >= 1:
            return write_time(float(f"{length:.{digits}g}"))
        return f"{length * 1e3:.{digits}g} ms" if length >= 1e-3 else f"{length * 1e6:.{digits}g} us"


@dataclass(frozen=True, kw_only=True, eq=False)
class Order(ReadOnly):
    """How rows become samples.

    Attributes
    ----------
    times : (N,) ascending, from 0 on; months of the calendar, which are no lattice, count as even.
    order : rows in the order of their times. starts : of each sample in `order`.
    """

    times: F64
    order: I64
    starts: I64

    def gather(self, values: F64) -> F64:
        """Return the values of the samples, of several rows of one time the mean of those that have a value.

        >>> arrange_times(np.array([1.0, 0.0, 0.0]), rows=3)[1].gather(np.array([5.0, 1.0, 2.0])).tolist()
        [1.5, 5.0]
        """
        sorted_values = values[self.order]
        if len(self.starts) == len(sorted_values):
            return sorted_values
        known = np.isfinite(sorted_values)
        counts = np.add.reduceat(known.astype(np.float64), self.starts)
        sums = np.add.reduceat(np.where(known, sorted_values, 0), self.starts)
        found: F64 = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return found


def arrange_times(
    times: F64,
    *,
    rows: int,
    unit: str = "rows",
    origin: np.datetime64 | None = None,
    shifts: Sequence[tuple[int, float]] = (),
    columns: Sequence[F64] = (),
    timeless: int = 0,
) -> tuple[Sampling, Order]:
    """Sort the times of a series, and say how they follow each other.

    Parameters
    ----------
    times : (R,) of the rows that have one, in the order of the file; seconds after `origin` where that is given.
    rows : of the file. unit : of times without an origin. shifts : rows before which the zone changes, and by how
        many seconds. columns : values of the rows, to be compared where times are repeated. timeless : rows left out.

    >>> sampling, order = arrange_times(np.array([0.0, 1.0, 2.0, 6.0]), rows=4)
    >>> sampling.spacing, sampling.step, sampling.named_gaps[0].missing
    ('even', 1.0, 3)
    """
    clock = _Clock(origin=origin)
    changed = np.array([row - 1 for row, _ in shifts], dtype=np.int64)
    changes = [clock.write(times[row]) for row in changed[:_NAMED]]
    if origin is not None and not shifts:
        changed, moved = _find_clock_changes(times, origin)
        changes = [clock.write(times[row]) for row in changed[:_NAMED]]
        clock = _Clock(origin=origin, after=times[changed] - moved[:-1], moved=moved)
        times = times - np.repeat(moved, np.diff(np.concatenate([[0], changed + 1, [len(times)]])))
    order = np.argsort(times, kind="stable").astype(np.int64)
    ordered = times[order]
    is_first = np.concatenate([[True], np.diff(ordered) > 0])
    unique, repeats = ordered[is_first], np.flatnonzero(~is_first)
    months = _find_months(unique, origin) if origin is not None else None
    spacing, step, jitter, counts = _measure_step(unique, months)
    gaps, missing = _find_gaps(unique, counts, spacing, clock)
    sampling = Sampling(
        rows=rows,
        samples=len(unique),
        unit="s" if origin is not None else unit,
        start=clock.write(unique[0]),
        end=clock.write(unique[-1]),
        spacing=spacing,
        step=step,
        jitter=jitter,
        span=float(unique[-1] - unique[0]),
        gaps=len(missing),
        missing=sum(missing),
        named_gaps=gaps,
        timeless=timeless,
        disordered=int(np.count_nonzero(times < np.maximum.accumulate(times))),
        repeated=len(repeats),
        contradicting=_count_contradictions([column[order] for column in columns], repeats),
        named_repeats=tuple(dict.fromkeys(clock.write(ordered[place]) for place in repeats[: 4 * _NAMED]))[:_NAMED],
        clock_changes=len(changed),
        named_changes=tuple(changes),
    )
    starts = np.flatnonzero(is_first).astype(np.int64)
    counted = unique - unique[0] if months is None else (months - months[0]) * float(PERIODS["month"])
    return sampling, Order(times=counted, order=order, starts=starts)


def _find_gaps(times: F64, counts: F64, spacing: str, clock: _Clock) -> tuple[tuple[Gap, ...], list[int]]:
    """The longest gaps in their order, and the steps that are missing in each of all."""
    distances = np.diff(times)
    gaps = np.flatnonzero(counts >= (_UNEVEN_GAP if spacing == "uneven" else _GAP))
    longest = np.sort(gaps[np.argsort(-distances[gaps], kind="stable")][:_NAMED])
    named = [
        Gap(
            after=clock.write(times[place]),
            before=clock.write(times[place + 1]),
            length=float(distances[place]),
            missing=round(float(counts[place])) - 1,
        )
        for place in longest.tolist()
    ]
    return tuple(named), [round(one) - 1 for one in counts[gaps].tolist()]


def _count_contradictions(columns: Sequence[F64], repeats: I64) -> int:
    """How many repeated rows have another value than the row before, in any column."""
    differ = np.zeros(len(repeats), dtype=bool)
    for values in columns:
        before, after = values[repeats - 1], values[repeats]
        differ |= ~((before == after) | (np.isnan(before) & np.isnan(after)))
    return int(np.count_nonzero(differ))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Clock:
    """How times are written: as the file has them; where clocks were changed, with what was taken off.

    `after` are the last times before each change, `moved` what was taken off from there on, 0 before the first.
    """

    origin: np.datetime64 | None
    after: F64 | Sequence[float] = ()
    moved: F64 | Sequence[float] = (0.0,)

    def write(self, time: float) -> str:
        if self.origin is None:
            return f"{float(time):.12g}"
        time += float(self.moved[int(np.searchsorted(self.after, time))])
        text = str(_add(self.origin, time)).replace("T", " ")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.removesuffix(":00") if text.count(":") == 2 else text


def _add(origin: np.datetime64, seconds: float) -> np.datetime64:
    found: np.datetime64 = origin.astype("datetime64[us]") + np.timedelta64(round(seconds * _MICROSECONDS), "us")
    return found


def _find_clock_changes(times: F64, origin: np.datetime64) -> tuple[I64, F64]:
    """Last rows before clocks are changed, and what is to be taken off the rows from each on, 0 before the first."""
    distances = np.diff(times)
    rising = distances[distances > 0]
    step = float(find_median(rising)) if len(rising) else 2 * _HOUR
    jumps = distances - step
    places = np.flatnonzero(np.abs(np.abs(jumps) - _HOUR) < 0.01 * step) if step <= _HOUR else np.empty(0, dtype=int)
    if len(places) <= _MOST_CHANGES:
        places = places[[_is_hour_of_change(_add(origin, float(times[place]))) for place in places.tolist()]]
    # an hour that is missing may be an outage: clocks were changed where one is there twice, too
    if len(places) > _MOST_CHANGES or not (jumps[places] < 0).any():
        return np.empty(0, dtype=np.int64), np.zeros(1)
    return places.astype(np.int64), np.concatenate([[0.0], np.cumsum(np.sign(jumps[places])) * _HOUR])


def _is_hour_of_change(moment: np.datetime64) -> bool:
    one = moment.item()
    return (
        isinstance(one, datetime.datetime) and one.weekday() == _SUNDAY and one.month in _MONTHS and one.hour in _HOURS
    )


def _find_months(times: F64, origin: np.datetime64) -> I64 | None:
    """The month of each time, where all are at one day and hour of their months, or at their last days."""
    if len(times) < 3 or times[-1] - times[0] < 27 * 86400 * (len(times) - 1):
        return None
    moments = origin.astype("datetime64[us]") + np.rint(times * _MICROSECONDS).astype("timedelta64[us]")
    months = moments.astype("datetime64[M]")
    inside = moments - months.astype("datetime64[us]")
    until = (months + 1).astype("datetime64[us]") - moments
    if (inside == inside[0]).all() or (until == until[0]).all():
        found: I64 = months.astype(np.int64)
        return found
    return None


def _measure_step(times: F64, months: I64 | None) -> tuple[str, float, float, F64]:
    """How times follow each other, their step, their distance from its multiples, and each distance in steps."""
    distances = np.diff(times)
    if months is not None:
        between = np.diff(months)
        usual = max(1, int(find_median(between)))
        return "months", float(usual * PERIODS["month"]), 0.0, between / usual
    step = float(find_median(distances))
    counts = distances / step
    whole = np.rint(counts)
    near = whole == 1
    if near.mean() > 0.5:
        step = step if np.ptp(distances[near]) == 0 else float(np.mean(distances[near]))
        counts = distances / step
        whole = np.rint(counts)
    jitter = math.sqrt(float(np.mean((counts - whole) ** 2)))
    spacing = "even" if jitter <= _ON else "jittered" if jitter <= _NEAR and near.mean() > 0.5 else "uneven"
    return spacing, step, jitter, counts
