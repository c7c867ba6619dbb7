"""The one parser for numbers that come from outside: options, specifications, settings.

Spelling first (ASCII digits, sign, point, exponent; no blanks, underscores, hexadecimal or other
scripts), then finite, then range. Python's own `int` and `float` accept more than a person means.
"""

from __future__ import annotations

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, SupportsFloat, SupportsIndex, TypeVar

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST
from pe_spectra.records import dataclass

_Number = TypeVar("_Number", int, float)
_Read = TypeVar("_Read")
_Read_co = TypeVar("_Read_co", covariant=True)
#: Spellings; compiled when one is first used.
_INTEGER = r"[+-]?[0-9]+"
#: The + that joins the members of a list in a SPEC; the one of an exponent (1e+5) does not.
_JOINT = r"(?<![0-9.][eE])\+"
_REAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
#: Spellings that other programs read: 32k, 131_072, 131,072.
_SUFFIXED = r"([+-]?[0-9]+(?:\.[0-9]+)?)([kKmMgG])"
_GROUPED = r"[+-]?[0-9]+(?:_[0-9]+)+|[+-]?[0-9]{1,3}(?:,[0-9]{3})+"
_POWERS = {"k": 1, "m": 2, "g": 3}
#: More digits than any accepted integer has; longer ones are out of range without being converted.
_MAX_DIGITS = 30
#: Up to here every integer is a float.
_EXACT = 2**53


class Accepts(ABC, Generic[_Read_co]):
    """A kind of value: reads text, checks what Python gives, and says what it accepts.

    `name` is the option, key or parameter that a message names. What is not accepted is an InputError.
    """

    #: Whether texts name encodings, which are read where files are.
    names_encodings: ClassVar[bool] = False

    @property
    @abstractmethod
    def accepted(self) -> str:
        """What is accepted, in words."""

    def parse(self, text: str, name: str) -> _Read_co:
        """Read a value as it was typed."""
        return self.check(text, name)

    @abstractmethod
    def check(self, value: object, name: str) -> _Read_co:
        """Return a value given in Python, or refuse it."""


@dataclass(frozen=True, kw_only=True)
class _Range(Accepts[_Number]):
    """From `minimum` to `maximum`, both included; `reason` says of a value beyond why they end there."""

    minimum: _Number
    maximum: _Number
    reason: str = ""

    def _check_spelling(self, spelling: str, noun: str, text: str, name: str) -> None:
        if not re.fullmatch(spelling, text):
            hint = _respell(text, self.minimum, self.maximum)
            raise InputError(f"{name} is not {noun}", quote(text), f"{self.accepted}{hint}")

    def _limit(self, value: _Number, name: str, text: str) -> _Number:
        if not self.minimum <= value <= self.maximum:  # nan is not
            accepted = f"{self.accepted}, {self.reason}" if self.reason else self.accepted
            raise InputError(f"{name} is out of range", quote(text), accepted)
        return value


class IntegerRange(_Range[int]):
    """Integers from `minimum` to `maximum`, both included; NumPy integers are integers, True is not.

    >>> IntegerRange(minimum=2, maximum=9).parse("7", "--d"), IntegerRange(minimum=2, maximum=9).check(7, "d")
    (7, 7)
    """

    @property
    def accepted(self) -> str:
        return f"an integer from {self.minimum} to {self.maximum} is accepted"

    def parse(self, text: str, name: str) -> int:
        self._check_spelling(_INTEGER, "an integer", text, name)
        digits = text.lstrip("+-").lstrip("0") or "0"
        beyond = len(digits) > _MAX_DIGITS
        return self._limit(self.maximum + 1 if beyond else int(text[: text.startswith("-")] + digits), name, text)

    def check(self, value: object, name: str) -> int:
        # a type is asked first: whether a protocol is met takes a hundred times as long
        if isinstance(value, bool) or not isinstance(value, int | SupportsIndex):
            raise InputError(f"{name} is not an integer", repr(value), self.accepted)
        return self._limit(operator.index(value), name, str(value))


class RealRange(_Range[float]):
    """Finite numbers from `minimum` to `maximum`, both included; NumPy numbers are numbers, True and text are not.

    >>> RealRange(minimum=0.5, maximum=1e6).parse("1e4", "--rho"), RealRange(minimum=0.5, maximum=1e6).check(4, "rho")
    (10000.0, 4.0)
    """

    @property
    def accepted(self) -> str:
        return f"a number from {self.minimum:g} to {self.maximum:g} is accepted"

    def parse(self, text: str, name: str) -> float:
        self._check_spelling(_REAL, "a number", text, name)
        return self._limit(float(text), name, text)

    def check(self, value: object, name: str) -> float:
        if isinstance(value, bool | str | bytes) or not isinstance(value, float | int | SupportsFloat):
            raise InputError(f"{name} is not a number", repr(value), self.accepted)
        return self._limit(float(value), name, str(value))


def quote(text: str) -> str:
    """Show a value in a message: as it was typed, or `''` when it is empty.

    >>> quote("")
    "''"
    """
    return text or "''"


def _respell(text: str, minimum: float, maximum: float) -> str:
    """Say how to write the integer that was meant, as the end of a message; empty where none is known or accepted."""
    meant = [value for value in _guess(text) if minimum <= value <= maximum] if len(text) <= _MAX_DIGITS else []
    return f"; write {' or '.join(map(str, meant))}" if meant else ""


def _guess(text: str) -> tuple[int, ...]:
    """Read an integer in the spelling of another program; with k, M or G in thousands and in powers of 1024."""
    if re.fullmatch(_GROUPED, text):
        return (int(text.replace("_", "").replace(",", "")),)
    if re.fullmatch(_REAL, text):
        value = float(text)
        return (int(value),) if value.is_integer() and abs(value) <= _EXACT else ()
    found = re.fullmatch(_SUFFIXED, text)
    if not found:
        return ()
    power = _POWERS[found[2].lower()]
    from fractions import Fraction

    values = dict.fromkeys(Fraction(found[1]) * unit**power for unit in (1000, 1024))
    return tuple(int(value) for value in values if value.denominator == 1)


def parse_integers(texts: Sequence[str], name: str, bounds: IntegerRange) -> tuple[int, ...]:
    """Read a list of integers: numbers and half-open ranges `a:b` or `a:b:c`, joined by commas or blanks.

    The order is kept and repeated values are answered once. A range is checked before it is expanded.

    Raises
    ------
    InputError : a hole in the list, an empty range, a step of 0, or a value outside `bounds`.

    >>> parse_integers(["5,40", "70:80:5"], "--s", IntegerRange(minimum=0, maximum=255))
    (5, 40, 70, 75)
    """
    return _parse_list(texts, name, lambda item: _parse_range(item, name, bounds))


def parse_list(texts: Sequence[str], name: str, parse: Callable[[str, str], _Read]) -> tuple[_Read, ...]:
    """Read a list of values as :func:`parse_integers` does, without ranges; `parse` reads one, and is told the name.

    >>> parse_list(["1,4", "16"], "--bandwidth", RealRange(minimum=1e-6, maximum=1e6).parse)
    (1.0, 4.0, 16.0)
    """
    return _parse_list(texts, name, lambda item: (parse(item, name),))


def _parse_list(texts: Sequence[str], name: str, parse: Callable[[str], Iterable[_Read]]) -> tuple[_Read, ...]:
    values: list[_Read] = []
    for text in texts:
        items = [item for part in text.split(",") for item in (part.split(" ") if part.strip() else [""])]
        if "" in items:
            accepted = "values joined by commas or blanks"
            raise InputError(f"{name} has an empty place in its list", quote(text), accepted)
        for item in items:
            values += parse(item)
            if len(values) > MAX_LIST:
                raise InputError(f"{name} lists too many values", text, f"at most {MAX_LIST}")
    return tuple(dict.fromkeys(values))


def _parse_range(item: str, name: str, bounds: IntegerRange) -> range | tuple[int]:
    if ":" not in item:
        return (bounds.parse(item, name),)
    parts = item.split(":")
    if len(parts) not in (2, 3) or not all(re.fullmatch(_INTEGER, part) for part in parts):
        raise InputError(f"{name} is not a range", item, "start:stop or start:stop:step, end excluded")
    ends = replace(bounds, maximum=bounds.maximum + 1)
    start, stop = bounds.parse(parts[0], name), ends.parse(parts[1], name)
    step = replace(ends, minimum=1).parse(parts[2], f"{name} step") if parts[2:] else 1
    if start >= stop:
        raise InputError(f"{name} is an empty range", item, "a start below its stop")
    if len(range(start, stop, step)) > MAX_LIST:
        raise InputError(f"{name} lists too many values", item, f"at most {MAX_LIST}")
    return range(start, stop, step)


@dataclass(frozen=True, kw_only=True)
class Choice(Accepts[str]):
    """One of a closed set of words; case matters.

    >>> Choice(members=("none", "reflect")).parse("none", "--boundary")
    'none'
    """

    members: tuple[str, ...]

    @property
    def accepted(self) -> str:
        return f"accepted: {', '.join(self.members)}"

    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str) or value not in self.members:
            hint = suggest(value, self.members) if isinstance(value, str) else ""
            raise InputError(f"{name} is not known", quote(str(value)), f"{hint}{self.accepted}")
        return value


@dataclass(frozen=True, kw_only=True)
class YesNo(Choice):
    """Yes or no, kept as these words; typed in any case also as true or false, 1 or 0, and in Python as True or False.

    >>> YesNo().parse("true", "bidirectional"), YesNo().check(False, "bidirectional")
    ('yes', 'no')
    """

    members: tuple[str, ...] = ("no", "yes")

    @property
    def accepted(self) -> str:
        return _SPELLINGS.accepted

    def check(self, value: object, name: str) -> str:
        return self.members[_SPELLINGS.members.index(_SPELLINGS.check(str(value).lower(), name)) % 2]


#: Every way to say no and yes, in turn.
_SPELLINGS = Choice(members=("no", "yes", "false", "true", "0", "1"))


def find_nearest(text: str, members: Sequence[str]) -> str | None:
    """Find the member that a text is nearest to; None where none is near.

    >>> find_nearest("roep", ["rope", "alibi"])
    'rope'
    """
    from difflib import get_close_matches

    # beyond this length nothing is near, and the comparison would take its time
    return next(iter(get_close_matches(text, members, n=1)), None) if len(text) <= _MAX_DIGITS else None


def suggest(text: str, members: Sequence[str], prefix: str = "") -> str:
    """Propose the member that a text is nearest to; empty where none is near.

    >>> suggest("roep", ["rope", "alibi"]), suggest("x", ["rope", "alibi"])
    ('did you mean rope? ', '')
    """
    nearest = find_nearest(text, members)
    return f"did you mean {prefix}{nearest}? " if nearest else ""


@dataclass(frozen=True, kw_only=True)
class ListOf(Accepts[tuple[int | float | str, ...]]):
    """Members of one kind, one at least and `most` of them, joined by + where they are typed: `8+4+2`.

    >>> ListOf(of=RealRange(minimum=0, maximum=9)).parse("0.5+1e+0", "weights")
    (0.5, 1.0)
    """

    of: Accepts[int] | Accepts[float] | Accepts[str] | Accepts[float | str]
    most: int = MAX_LIST

    @property
    def accepted(self) -> str:
        return f"a list joined by +, and of each member: {self.of.accepted}"

    def parse(self, text: str, name: str) -> tuple[int | float | str, ...]:
        return self._limit(tuple(self.of.parse(item, name) for item in re.split(_JOINT, text)), name)

    def check(self, value: object, name: str) -> tuple[int | float | str, ...]:
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise InputError(f"{name} is not a list", repr(value), self.accepted)
        return self._limit(tuple(self.of.check(item, name) for item in value), name)

    def _limit(self, values: tuple[int | float | str, ...], name: str) -> tuple[int | float | str, ...]:
        if not 1 <= len(values) <= self.most:
            raise InputError(f"{name} has {len(values)} members", accepted=f"1 to {self.most} are accepted")
        return values


def find_shortest(low: float, high: float) -> float:
    """Return a decimal number between two others, with few digits.

    >>> find_shortest(9999.3, 10000.4), find_shortest(0.2497, 0.2504)
    (10000.0, 0.25)
    """
    middle = (low + high) / 2
    for digits in range(16):
        candidate = float(f"{middle:.{digits}e}")
        if low <= candidate <= high:
            return candidate
    return middle
