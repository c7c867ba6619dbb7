"""What positions are in time: moments, durations, and how a position is written as a date.

Position s is the moment start + s step of the proleptic Gregorian calendar, without time zones and
leap seconds, in whole seconds from year 1 to year 9999.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST
from pe_spectra.numbers import Accepts, quote
from pe_spectra.records import dataclass

_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2}))?)?")
_DURATION = re.compile(r"([0-9]+)([a-z]+)")
#: Units of durations, largest first, each with its seconds and the spellings that are read.
_UNITS = (
    ("week", 604800, ("week", "weeks", "w")),
    ("d", 86400, ("d", "day", "days")),
    ("h", 3600, ("h", "hour", "hours")),
    ("min", 60, ("min", "minute", "minutes")),
    ("s", 1, ("s", "sec", "second", "seconds")),
)
#: Longest duration: from the first second of year 1 to the last of year 9999.
_MAX_SECONDS = 315_537_897_599
#: Seconds of the named periods; month and year are means of the Gregorian calendar (146,097 days in 400 years).
PERIODS = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2_629_746, "year": 31_556_952}
#: Abbreviations in English whatever the locale is; Monday is 0.
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, kw_only=True)
class Moment(Accepts[str]):
    """The kind of a moment: an ISO date or date and time without zone, kept as normalised text.

    >>> Moment().parse("2016-07-01", "--start")
    '2016-07-01T00:00'
    """

    @property
    def accepted(self) -> str:
        return "an ISO date or time without zone from year 0001 to 9999 is accepted, as 2016-07-01T00:00"

    def parse(self, text: str, name: str) -> str:
        found = _MOMENT.fullmatch(text)
        if not found:
            raise InputError(f"{name} is not a date or time", quote(text), self.accepted)
        day, time, seconds = found.group(1), found.group(2) or "00:00", found.group(3) or "00"
        try:
            return _write_moment(datetime.fromisoformat(f"{day}T{time}:{seconds}"))
        except ValueError:
            raise InputError(f"{name} is not a date or time of the calendar", quote(text), self.accepted) from None

    def check(self, value: object, name: str) -> str:
        if isinstance(value, date):  # a datetime is one, and a zone or a fraction shows in its text
            value = value.isoformat()
        if not isinstance(value, str):
            raise InputError(f"{name} is not a date or time", repr(value), self.accepted)
        return self.parse(value, name)


@dataclass(frozen=True, kw_only=True)
class Duration(Accepts[str]):
    """The kind of a duration: a whole number of s, min, h, d or week, kept as normalised text.

    >>> Duration().parse("60min", "--step")
    '1h'
    """

    @property
    def accepted(self) -> str:
        return "a whole number of s, min, h, d or week from 1s to 9998 years is accepted, as 5min"

    def parse(self, text: str, name: str) -> str:
        seconds = read_duration(text, name)
        unit, size, _ = next(unit for unit in _UNITS if seconds % unit[1] == 0)
        return f"{seconds // size}{unit}"

    def check(self, value: object, name: str) -> str:
        if isinstance(value, timedelta) and not value.microseconds:
            value = f"{value.days * 86400 + value.seconds}s"
        if not isinstance(value, str):
            raise InputError(f"{name} is no duration", repr(value), self.accepted)
        return self.parse(value, name)


def read_duration(text: str, name: str = "duration") -> int:
    """Turn the text of a duration into seconds; `name` is the option or key that a message names.

    Raises
    ------
    InputError : no such duration.

    >>> read_duration("5min")
    300
    """
    found = _DURATION.fullmatch(text)
    size = next((unit[1] for unit in _UNITS if found and found.group(2) in unit[2]), None)
    if found is None or size is None:
        raise InputError(f"{name} is no duration", quote(text), Duration().accepted)
    count = int(found.group(1)) if len(found.group(1).lstrip("0")) <= 12 else _MAX_SECONDS + 1
    if not 1 <= count * size <= _MAX_SECONDS:
        raise InputError(f"{name} is out of range", text, Duration().accepted)
    return count * size


def compute_moments(start: str, step: str, positions: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Return the moments start + s step of positions s >= 0, shape (S,), in whole seconds.

    Raises
    ------
    InputError : a moment beyond year 9999.

    >>> compute_moments("2016-07-01", "1h", np.array([0, 25])).astype(str).tolist()
    ['2016-07-01T00:00:00', '2016-07-02T01:00:00']
    """
    begin, seconds = datetime.fromisoformat(Moment().parse(start, "start")), read_duration(step)
    last = (datetime.max - begin) // timedelta(seconds=seconds)
    if positions.size and int(positions.max()) > last:
        raise InputError(
            "a position is beyond year 9999", f"{int(positions.max())} steps of {step} from {start}", f"0 to {last}"
        )
    moments: NDArray[np.datetime64] = np.datetime64(begin, "s") + (positions * seconds).astype("timedelta64[s]")
    return moments


def describe_moment(start: str, step: str, s: int) -> str:
    """Write the moment of a position with its weekday; seconds where there are any.

    Raises
    ------
    InputError : a moment beyond year 9999.

    >>> describe_moment("2016-07-01T00:00", "1h", 73)
    'Mon 2016-07-04 01:00'
    """
    moment: datetime = compute_moments(start, step, np.array([s]))[0].item()
    return f"{WEEKDAYS[moment.weekday()]} {_write_moment(moment).replace('T', ' ')}"


def parse_periods(texts: Sequence[str], label: str) -> tuple[tuple[str, int], ...]:
    """Read periods: names or durations joined by commas or blanks; each with its seconds, repeated ones once.

    A month is 30.436875 days and a year 365.2425 days, the means of the Gregorian calendar.

    Raises
    ------
    InputError : neither a name nor a duration, or too many.

    >>> parse_periods(["day,week", "90min"], "--periods")
    (('day', 86400), ('week', 604800), ('90min', 5400))
    """
    items = [item for text in texts for item in re.split(r"[, ]", text)]
    if len(items) > MAX_LIST:
        raise InputError(f"{label} lists too many values", texts[0], f"at most {MAX_LIST}")
    return tuple(dict.fromkeys(_parse_period(item, label) for item in items))


def _parse_period(text: str, label: str) -> tuple[str, int]:
    if text in PERIODS:
        return text, PERIODS[text]
    if not _DURATION.fullmatch(text):
        raise InputError(f"{label} is no period", quote(text), f"{', '.join(PERIODS)} or a duration as 90min")
    return Duration().parse(text, label), read_duration(text, label)


def _write_moment(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")
