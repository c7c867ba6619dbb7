"""Times of a series, as dates of ISO 8601 with or without a zone, or as numbers: since 1970, or of any unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.domains import compute_moments
from pe_spectra.errors import InputError, shorten
from pe_spectra.exact import F64, I64, NDArray
from pe_spectra.files.reading import RefusedError
from pe_spectra.records import dataclass
from pe_spectra.wording import count

_DATE = r"[0-9]{4}(?:-[0-9]{2}-|/[0-9]{2}/)[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6}0*+)?+)?+)?+"
_ZONE = r"(?: ?(?:[zZ]|UTC)|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?+)"
#: In cells of a column of times a month is its first day, too; in a header it may be the name of a column.
ONE_DATE = re.compile(rf"({_DATE})({_ZONE})?|([0-9]{{4}}-(?:0[1-9]|1[0-2]))")
#: A day without a time, and a time of the day, which another column may hold.
ONE_DAY = re.compile(r"[0-9]{4}(?:-[0-9]{2}-|/[0-9]{2}/)[0-9]{2}")
ONE_HOUR = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?")
_PLAIN_TIMES = re.compile(rf"{_DATE}(?:\n{_DATE})*+")
_ACCEPTED = "dates of ISO 8601 as 2016-07-01 00:30 or 2016-07-01T00:30:00.25+02:00, or with / for -, are accepted"
#: How columns of times are called.
_NAMES = ("time", "date", "datetime", "timestamp", "t", "ts", "ds", "epoch", "unix", "unixtime", "time_s", "time_ms")
_YEARS = ("year", "years", "yr")
#: Numbers from 1973 to 2286 that count from 1970: the smallest, the unit, and how many are a second.
_EPOCHS = (
    (1e17, "nanoseconds", 10**9),
    (1e14, "microseconds", 10**6),
    (1e11, "milliseconds", 1000),
    (1e8, "seconds", 1),
)
_DECADES = 100
#: Whole numbers that are days as YYYYMMDD; numbers that are years, and how far from a twelfth of one a month begins.
_DAYS, _OF_YEARS, _TWELFTH = (1000_01_01, 3000_01_01), (1000, 3000), 1e-3
_UNIX = np.datetime64("1970-01-01", "us")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadTimes:
    """The times of rows.

    Attributes
    ----------
    seconds : (R,) of the rows that have a time: seconds since the first of them, or numbers as they are.
    rows : (R,) which rows these are. origin : the moment of the first; None of numbers that are no dates.
    shifts : places in `seconds` before which the zone changes, and by how many seconds. zoned : whether the file has
        zones, and the times are in UTC. missing : rows without a time. unit : of `seconds` without an origin.
    """

    seconds: F64
    rows: I64
    origin: np.datetime64 | None = None
    shifts: tuple[tuple[int, float], ...] = ()
    notes: tuple[str, ...] = ()
    zoned: bool = False
    missing: int = 0
    unit: str = "units of the times"


#: A column of a file: numbers, or times.
SeriesCells = NDArray[Any] | ReadTimes


def is_named_as_time(name: str) -> bool:
    """Whether a column is called as columns of times are.

    >>> is_named_as_time("Timestamp"), is_named_as_time("load")
    (True, False)
    """
    return name.strip().lower() in (*_NAMES, *_YEARS)


def may_be_times(name: str, values: NDArray[Any]) -> bool:
    """Whether a column of numbers holds times by its name; years that stand there twice are a part of a date.

    >>> may_be_times("t", np.ones(2)), may_be_times("YEAR", np.ones(2)), may_be_times("YEAR", np.arange(1700, 1702))
    (True, False, True)
    """
    if not is_named_as_time(name):
        return False
    return name.strip().lower() not in _YEARS or (_are_years(values) and bool((np.diff(values) > 0).all()))


class DateColumn:
    """Gathers the dates of a column of text, part by part."""

    def __init__(self, name: str) -> None:
        self._name = name
        #: The column that holds the times of the day, where another one does.
        self.hours: str | None = None
        self._moments: list[NDArray[np.datetime64]] = []
        self._zones: list[NDArray[np.int64]] = []
        self._is_zoned: bool | None = None

    def take(self, cells: Sequence[str], first: int) -> None:
        """Read some cells, the first of which stands in line `first`; an empty one is no time."""
        if self._is_zoned is not True and _PLAIN_TIMES.fullmatch("\n".join(cells)):
            self._agree(False, first)
            self._moments.append(self._parse(cells, first))
            return
        dates, zones = [], []
        for line, cell in enumerate(cells, start=first):
            text = cell.strip()
            found = ONE_DATE.fullmatch(text)
            if found is None and text.lower() not in MISSING:
                where = f"line {line}, column {shorten(self._name, 40)}"
                raise RefusedError(f"{where} is no time ({shorten(text, 30)}); {_ACCEPTED}")
            if found is not None:
                self._agree(found[2] is not None, line)
            dates.append("NaT" if found is None else found[1] or found[3])
            zones.append(0 if found is None else _read_zone(found[2] or ""))
        self._moments.append(self._parse(dates, first))
        if self._is_zoned is not False:
            self._zones.append(np.array(zones, dtype=np.int64))

    def finish(self) -> ReadTimes:
        """Give the times of the rows that have one."""
        moments = np.concatenate(self._moments)
        self._moments.clear()  # of millions of rows each copy is large
        zones = np.concatenate(self._zones) if self._is_zoned else None
        if zones is not None:
            moments -= zones.astype("timedelta64[s]")
        found = read_moments(moments, self._name, zones, zoned=zones is not None)
        if self.hours is None:
            return found
        note = f"times of the day of column {shorten(self._name, 40)} are those of column {shorten(self.hours, 40)}"
        return replace(found, notes=(*found.notes, note))

    def _agree(self, is_zoned: bool, line: int) -> None:
        if self._is_zoned not in (None, is_zoned):
            have, other = ("a zone", "none") if is_zoned else ("no zone", "one")
            where = f"line {line}, column {shorten(self._name, 40)}"
            raise RefusedError(f"{where} has {have} where lines above have {other}; all or none is accepted")
        self._is_zoned = is_zoned

    def _parse(self, dates: Sequence[str], first: int) -> NDArray[np.datetime64]:
        try:
            return np.array([date.strip().replace("/", "-") for date in dates], dtype="datetime64[us]")
        except ValueError:
            line, date = next((line, date) for line, date in enumerate(dates, first) if not _is_date(date.strip()))
            where = f"line {line}, column {shorten(self._name, 40)}"
            raise RefusedError(f"{where} is no date of the calendar ({shorten(date, 30)})") from None


def read_moments(
    moments: NDArray[np.datetime64], name: str, zones: I64 | None = None, *, zoned: bool = False
) -> ReadTimes:
    """Take the moments of rows, NaT where there is none; `zones` are seconds ahead of UTC, which they are in then.

    >>> read_moments(np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[us]"), "t").seconds.tolist()
    [0.0, 86400.0]
    """
    rows = np.flatnonzero(~np.isnat(moments)).astype(np.int64)
    if not len(rows):
        raise RefusedError(f"column {shorten(name, 40)} has no time")
    kept = moments[rows]
    shifts: tuple[tuple[int, float], ...] = ()
    if zones is not None:
        changes = np.diff(zones[rows])
        shifts = tuple((int(place) + 1, float(changes[place])) for place in np.flatnonzero(changes))
    told = f"column {shorten(name, 40)}: its zone changes {count(len(shifts), 'time')}"
    seconds = (kept - kept[0]).astype(np.int64) / 1e6
    return ReadTimes(
        seconds=seconds,
        rows=rows,
        origin=kept[0],
        shifts=shifts,
        notes=(f"{told}; times are in UTC, where what goes by local clocks moves by as much",) if shifts else (),
        zoned=zoned,
        missing=len(moments) - len(rows),
    )


def read_dates(dates: NDArray[np.datetime64], name: str) -> ReadTimes:
    """Take dates of NumPy, of any unit from years to nanoseconds; NaT where there is none.

    >>> read_dates(np.array(["2024-01", "2024-02"], dtype="datetime64[M]"), "t").seconds.tolist()
    [0.0, 2678400.0]
    """
    known = dates[~np.isnat(dates)]
    years = known.astype("datetime64[Y]").astype(np.int64) + 1970
    if len(years) and not (years.min() >= 1 and years.max() <= 9999):
        raise RefusedError(f"column {shorten(name, 40)} has a date beyond the years 1 to 9999")
    moments = dates.astype("datetime64[us]")
    found = read_moments(moments, name)
    if (moments[~np.isnat(moments)] == known).all():
        return found
    note = f"column {shorten(name, 40)}: parts of a microsecond were left out"
    return replace(found, notes=(*found.notes, note))


def _is_date(text: str) -> bool:
    """Whether the calendar has it."""
    try:
        np.datetime64(text.replace("/", "-"), "us")
    except ValueError:
        return False
    return True


def _read_zone(text: str) -> int:
    """Seconds that a zone is ahead of UTC."""
    digits = text.strip().lstrip("+-").replace(":", "")
    if not digits.isdigit():
        return 0
    seconds = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
    return -seconds if text.strip().startswith("-") else seconds


@dataclass(frozen=True, kw_only=True)
class NumberUnit:
    """What times that are numbers count: how many seconds one of them is, and the moment of 0 where that is known.

    `months` of the calendar, where it is some; their seconds are those of the mean then.
    """

    seconds: float
    start: np.datetime64 | None = None
    months: int = 0


def read_number_times(values: NDArray[Any], name: str, unit: NumberUnit | None = None) -> ReadTimes:
    """Read times that are numbers: of a unit that is told, else days or years where all are such, else counted from
    1970 where all lie in its range.

    >>> read_number_times(np.array([1.7e9, 1.7e9 + 60]), "t").seconds.tolist()
    [0.0, 60.0]
    >>> read_number_times(np.arange(3), "t", NumberUnit(seconds=1800.0)).seconds.tolist()
    [0.0, 1800.0, 3600.0]
    """
    rows = np.flatnonzero(np.isfinite(values)).astype(np.int64)
    if not len(rows):
        raise RefusedError(f"column {name} has no time")
    kept = values[rows]
    if unit is not None:
        if unit.start is None:
            return ReadTimes(seconds=kept * unit.seconds, rows=rows, unit="s")
        if unit.months:
            return _count_months(kept, rows, name, unit.start, unit.months)
        origin = unit.start + np.timedelta64(round(float(kept[0]) * unit.seconds * 1e6), "us")
        return ReadTimes(seconds=(kept - kept[0]) * unit.seconds, rows=rows, origin=origin)
    least, most = float(kept.min()), float(kept.max())
    for smallest, named, parts in _EPOCHS:
        if least >= smallest and most < smallest * _DECADES:
            origin = _UNIX + np.timedelta64(round(int(kept[0]) * 10**6 / parts), "us")
            note = f"column {name} was read as {named} since 1970-01-01 UTC"
            return ReadTimes(seconds=(kept - kept[0]) / float(parts), rows=rows, origin=origin, notes=(note,))
    moments, form = _read_calendar(kept, name)
    if moments is not None:
        note = f"column {name} was read as {form}"
        seconds = (moments - moments[0]).astype(np.int64) / 1e6
        return ReadTimes(seconds=seconds, rows=rows, origin=moments[0], notes=(note,))
    return ReadTimes(seconds=kept.astype(np.float64), rows=rows)


def _count_months(kept: NDArray[Any], rows: I64, name: str, start: np.datetime64, months: int) -> ReadTimes:
    """The dates of whole numbers of steps of months after `start`."""
    if (np.rint(kept) != kept).any() or kept.min() < 0:
        wrong = kept[(np.rint(kept) != kept) | (kept < 0)][0]
        raise RefusedError(f"column {name} has {wrong:g}; after --start whole months or years from 0 on are accepted")
    try:
        moments = compute_moments(str(start), f"{months}month", np.minimum(kept, 10**9).astype(np.int64))
    except InputError as error:
        raise RefusedError(f"column {name}: {error}") from None
    seconds = (moments - moments[0]).astype(np.int64).astype(np.float64)
    return ReadTimes(seconds=seconds, rows=rows, origin=moments[0].astype("datetime64[us]"))


def _read_calendar(kept: NDArray[Any], name: str) -> tuple[NDArray[np.datetime64] | None, str]:
    """The moments of numbers that are days written as YYYYMMDD, or years, and what they are; None of others.

    Years are known by the name of their column, or by parts of a year that are its months.
    """
    if (np.rint(kept) == kept).all() and _DAYS[0] <= kept.min() and kept.max() < _DAYS[1]:
        texts = [f"{day // 10**4}-{day // 100 % 100:02}-{day % 100:02}" for day in kept.astype(np.int64).tolist()]
        if all(map(_is_date, texts)):
            return np.array(texts, dtype="datetime64[us]"), "days, written as YYYYMMDD"
    if not _are_years(kept):
        return None, ""
    months = np.rint(12 * kept)
    are_months = bool((np.abs(12 * kept - months) < 12 * _TWELFTH).all())
    if not (name.strip().lower() in _YEARS or (are_months and len(np.unique(months % 12)) > 1)):
        return None, ""
    if are_months:
        begun = (months.astype(np.int64) - 12 * 1970).astype("datetime64[M]")
        parts = ", parts of which are months" if len(np.unique(months % 12)) > 1 else ""
        return begun.astype("datetime64[us]"), f"years{parts}"
    years = (np.floor(kept).astype(np.int64) - 1970).astype("datetime64[Y]")
    begin, end = years.astype("datetime64[s]"), (years + 1).astype("datetime64[s]")
    parts = np.rint((kept - np.floor(kept)) * (end - begin).astype(np.int64))
    return (begin + parts.astype("timedelta64[s]")).astype("datetime64[us]"), "years"


def _are_years(values: NDArray[Any]) -> bool:
    return bool(((values >= _OF_YEARS[0]) & (values < _OF_YEARS[1])).all())


#: Cells that hold no value.
MISSING = ("", "nan", "na", "n/a", "nat", "null", "none", "-", "inf", "-inf", "+inf")
