"""What positions are in time: moments, durations, and how a position is written as a date.

Position s is the moment start + s step of the proleptic Gregorian calendar, without time zones and
leap seconds, from year 1 to year 9999; the start is a whole microsecond, a step may be less than one. A step of months
is one of the calendar: from a day of one month to the same day of another, or to its last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import NDArray
from pe_spectra.limits import MAX_LIST
from pe_spectra.numbers import Accepts, quote
from pe_spectra.records import dataclass

_MOMENT = r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6}0*+)?))?)?"
_DURATION = r"(?=\.?[0-9])0*([0-9]{0,40}(?:\.[0-9]{1,40})?)([a-zµμ]+)"
#: Units of durations, largest first, each with its seconds and the spellings that are read.
_UNITS = (
    ("week", Fraction(604800), ("week", "weeks", "w")),
    ("d", Fraction(86400), ("d", "day", "days")),
    ("h", Fraction(3600), ("h", "hour", "hours")),
    ("min", Fraction(60), ("min", "minute", "minutes", "m")),
    ("s", Fraction(1), ("s", "sec", "second", "seconds")),
    ("ms", Fraction(1, 10**3), ("ms", "millisecond", "milliseconds")),
    ("us", Fraction(1, 10**6), ("us", "µs", "μs", "microsecond", "microseconds")),
    ("ns", Fraction(1, 10**9), ("ns", "nanosecond", "nanoseconds")),
)
#: Units of the calendar, which are not all of one length, in months; only whole numbers of months are read.
_MONTHS = {"month": 1, "months": 1, "year": 12, "years": 12}
#: From so many cycles a day on they are counted in a second, from so many of these on in thousands.
_MANY_CYCLES = 20_000
#: Shortest duration; longest one: from the first second of year 1 to the last of year 9999.
_MIN_SECONDS, _MAX_SECONDS = Fraction(1, 10**9), 315_537_897_599
#: Months from year 0 to the last one of year 9999.
_LAST_MONTH = 12 * 9999 + 11
#: Most digits behind the point of a duration, in seconds: steps of 48 kHz in ns with ten digits.
_DIGITS = 18
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
        found = re.fullmatch(_MOMENT, text)
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
    """The kind of a duration: a decimal number of a unit from ns to weeks, or months; kept as normalised text.

    >>> Duration().parse("60min", "--step"), Duration().parse("0.2ms", "--step"), Duration().parse("12months", "--step")
    ('1h', '200us', '1year')
    """

    @property
    def accepted(self) -> str:
        return (
            "a number of ns, us, ms, s, min, h, d or week, or a whole number of months, from 1ns to 9998 years is "
            "accepted, as 5min, 0.2ms or 1month"
        )

    def parse(self, text: str, name: str) -> str:
        seconds = read_duration(text, name)
        if months := read_months(text):
            return f"{months // 12}year" if months % 12 == 0 else f"{months}month"
        whole = next((unit for unit in _UNITS if seconds % unit[1] == 0 and unit[1] >= 1), None)
        unit, size, _ = whole or next(unit for unit in _UNITS if unit[1] <= min(seconds, Fraction(1)))
        return f"{_write_decimal(seconds / size)}{unit}"

    def check(self, value: object, name: str) -> str:
        if isinstance(value, timedelta):
            value = f"{_write_decimal(Fraction(value // timedelta(microseconds=1), 10**6))}s"
        if not isinstance(value, str):
            raise InputError(f"{name} is no duration", repr(value), self.accepted)
        return self.parse(value, name)


def _write_decimal(number: Fraction) -> str:
    """Write a fraction that is a decimal number as one, with all its digits."""
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    text = str(abs(number) * 10**digits).rjust(digits + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{text[:-digits]}.{text[-digits:]}" if digits else f"{sign}{text}"


def read_months(text: str) -> int:
    """Return how many months of the calendar a duration is; 0 where it is of one length.

    >>> read_months("3month"), read_months("1year"), read_months("4week")
    (3, 12, 0)
    """
    found = re.fullmatch(_DURATION, text)
    months = Fraction(f"0{found.group(1)}") * _MONTHS.get(found.group(2), 0) if found else Fraction(0)
    return int(months) if months.denominator == 1 else 0


def read_duration(text: str, name: str = "duration") -> Fraction:
    """Turn the text of a duration into seconds, exactly; `name` is the option or key that a message names.

    Of months these are the mean of the Gregorian calendar.

    Raises
    ------
    InputError : no such duration.

    >>> read_duration("5min") == 300, read_duration("33.3us")
    (True, Fraction(333, 10000000))
    """
    found, months = re.fullmatch(_DURATION, text), read_months(text)
    size = next((unit[1] for unit in _UNITS if found and found.group(2) in unit[2]), None)
    if months:
        size = Fraction(PERIODS["month"])
    if found is None or size is None:
        raise InputError(f"{name} is no duration", quote(text), Duration().accepted)
    seconds = (months or Fraction(f"0{found.group(1)}")) * size
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise InputError(f"{name} is out of range", text, Duration().accepted)
    if (seconds * 10**_DIGITS).denominator > 1:
        raise InputError(f"{name} has too many digits", text, f"{_DIGITS} behind the point in seconds are accepted")
    return seconds


def count_cycles(step: str) -> float:
    """Return how many cycles a day one cycle from a position to the next is.

    >>> count_cycles("30min")
    48.0
    """
    return float(86400 / read_duration(step))


def name_cycles(step: str) -> tuple[str, float]:
    """Return in which unit a person counts cycles at this step, and how many one from a position to the next is.

    >>> name_cycles("30min"), name_cycles("1ms"), name_cycles("20us")
    (('cycles/day', 48.0), ('Hz', 1000.0), ('kHz', 50.0))
    """
    seconds, cycles = read_duration(step), count_cycles(step)
    if cycles <= _MANY_CYCLES:
        return "cycles/day", cycles
    return ("Hz", float(1 / seconds)) if 1 / seconds <= _MANY_CYCLES else ("kHz", float(1 / seconds / 1000))


def compute_moments(start: str, step: str, positions: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Return the whole seconds in which the moments start + s step of positions s >= 0 lie, shape (S,).

    Raises
    ------
    InputError : a moment beyond year 9999.

    >>> compute_moments("2016-07-01", "1h", np.array([0, 25])).astype(str).tolist()
    ['2016-07-01T00:00:00', '2016-07-02T01:00:00']
    >>> compute_moments("2016-01-31", "1month", np.array([1, 2])).astype("datetime64[D]").astype(str).tolist()
    ['2016-02-29', '2016-03-31']
    """
    begin, seconds, months = _read_start(start), read_duration(step), read_months(step)
    if months:
        last = (_LAST_MONTH - _number_month(begin)) // months
    else:
        last = math.ceil(Fraction((datetime.max - begin) // timedelta(microseconds=1) + 1, 10**6) / seconds) - 1
    if positions.size and int(positions.max()) > last:
        raise InputError(
            "a position is beyond year 9999", f"{int(positions.max())} steps of {step} from {start}", f"0 to {last}"
        )
    if months:
        dates = [_add_months(begin, s * months).replace(microsecond=0) for s in positions.tolist()]
        return np.array(dates, dtype="datetime64[s]")
    whole, part = seconds.numerator, seconds.denominator
    if part == 1:
        passed = positions * whole
    else:  # products that may be beyond 64 bits
        each, first, size = whole * 10**6, begin.microsecond * part, part * 10**6
        passed = np.array([(s * each + first) // size for s in positions.tolist()], dtype=np.int64)
    moments: NDArray[np.datetime64] = np.datetime64(begin.replace(microsecond=0), "s") + passed.astype("timedelta64[s]")
    return moments


def _read_start(start: str) -> datetime:
    return datetime.fromisoformat(Moment().parse(start, "start"))


def _number_month(moment: datetime) -> int:
    return 12 * moment.year + moment.month - 1


def _add_months(begin: datetime, months: int) -> datetime:
    """The same day and time of another month, or its last day where it has no such day."""
    number = _number_month(begin) + months
    if not 12 <= number <= _LAST_MONTH:
        raise OverflowError
    first = begin.replace(year=number // 12, month=number % 12 + 1, day=1)
    days = (first + timedelta(days=31)).replace(day=1) - first if number < _LAST_MONTH else timedelta(days=31)
    return first + (min(days, timedelta(days=begin.day)) - timedelta(days=1))


def describe_moment(start: str, step: str, s: float) -> str:
    """Write the moment of a position with its weekday; seconds, and parts of one, where there are any.

    That of a position that is not whole, which float64 rounds, is right to a microsecond; of months it is of mean ones.

    Raises
    ------
    InputError : a moment beyond year 9999.

    >>> describe_moment("2016-07-01T00:00", "1h", 73), describe_moment("2016-07-01T00:00", "0.2ms", 3)
    ('Mon 2016-07-04 01:00', 'Fri 2016-07-01 00:00:00.0006')
    """
    begin, seconds = _read_start(start), Fraction(s) * read_duration(step)
    if s != int(s):
        seconds = Fraction(round(seconds * 10**6), 10**6)
    try:
        if (months := read_months(step)) and s == int(s):
            begin, seconds = _add_months(begin, int(s) * months), Fraction(0)
        seconds += Fraction(begin.microsecond, 10**6)
        whole = math.floor(seconds)
        moment = begin.replace(microsecond=0) + timedelta(seconds=whole)
    except OverflowError:
        raise InputError("a position is beyond the calendar", f"{s:g} steps of {step} from {start}") from None
    part = _write_decimal(seconds - whole)
    text = moment.isoformat(sep=" ", timespec="seconds") + part[1:] if part != "0" else _write_moment(moment)
    return f"{WEEKDAYS[moment.weekday()]} {text.replace('T', ' ')}"


def parse_periods(texts: Sequence[str], label: str) -> tuple[tuple[str, Fraction], ...]:
    """Read periods: names or durations joined by commas or blanks; each with its seconds, repeated ones once.

    A month is 30.436875 days and a year 365.2425 days, the means of the Gregorian calendar.

    Raises
    ------
    InputError : neither a name nor a duration, or too many.

    >>> parse_periods(["day,week", "90min"], "--periods") == (("day", 86400), ("week", 604800), ("90min", 5400))
    True
    """
    items = [item for text in texts for item in re.split(r"[, ]", text)]
    if len(items) > MAX_LIST:
        raise InputError(f"{label} lists too many values", texts[0], f"at most {MAX_LIST}")
    return tuple(dict.fromkeys(_parse_period(item, label) for item in items))


def _parse_period(text: str, label: str) -> tuple[str, Fraction]:
    if text in PERIODS:
        return text, Fraction(PERIODS[text])
    if not re.fullmatch(_DURATION, text):
        raise InputError(f"{label} is no period", quote(text), f"{', '.join(PERIODS)} or a duration as 90min")
    return Duration().parse(text, label), read_duration(text, label)


def _write_moment(moment: datetime) -> str:
    if moment.microsecond:
        return moment.isoformat(timespec="microseconds").rstrip("0")
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")
