"""An encoding of periods that are known: a sine and a cosine of each, and of its harmonics."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from pe_spectra.domains import Duration, parse_periods, read_duration
from pe_spectra.encodings.pairs import Pairs, explain_aliasing, interleave
from pe_spectra.encodings.parameters import format_value, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, TWO_PI, stack_words
from pe_spectra.limits import MAX_LENGTH, MAX_POSITION
from pe_spectra.numbers import Accepts, IntegerRange, ListOf, RealRange
from pe_spectra.records import dataclass

_STEPS = RealRange(minimum=2, maximum=MAX_POSITION)
#: Most periods, and harmonics of each.
_MOST = 32


@dataclass(frozen=True, kw_only=True)
class StatedPeriod(Accepts[float | str]):
    """A period: a number of positions, a name as `day`, or a duration as `90min`.

    >>> StatedPeriod().parse("48", "steps"), StatedPeriod().parse("60min", "steps")
    (48.0, '1h')
    """

    @property
    def accepted(self) -> str:
        return (
            "a number of positions from 2 on, minute, hour, day, week, month, year or a duration as 90min is accepted"
        )

    def parse(self, text: str, name: str) -> float | str:
        if not text[-1:].isalpha():
            return _STEPS.parse(text, name)
        try:
            ((found, _),) = parse_periods([text], name)
        except (InputError, ValueError):
            raise InputError(f"{name} has no such period", text, self.accepted) from None
        return found

    def check(self, value: object, name: str) -> float | str:
        return self.parse(value, name) if isinstance(value, str) else _STEPS.check(value, name)


@final
@dataclass(frozen=True, kw_only=True)
class KnownPeriods(Pairs):
    """Sine and cosine of each of some periods, and of their harmonics.

    Columns sin(w s), cos(w s) in turns, w = 2 pi h / P rad/position for the periods P in their order, and of each
    for the harmonics h = 1, 2, ..

    >>> KnownPeriods(steps=(4,)).table(2).round(6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    name: ClassVar[str] = "periods"
    family: ClassVar[str] = "temporal"
    summary: ClassVar[str] = "a sine and a cosine of each period that is given, and of its harmonics"
    formula: ClassVar[str] = "e(s) = (sin(2 pi h s/P), cos(2 pi h s/P), ..) for each period P and harmonic h = 1, 2, .."
    source: ClassVar[str] = (
        "harmonic regression; Taylor & Letham 2018, Forecasting at Scale, Sec. 3.2: a Fourier series of each period"
    )
    pitfalls: ClassVar[str] = (
        "repeats after the least common multiple of its periods, and tells nothing else apart; periods in time units "
        "follow the step; a month and a year are means of the calendar; harmonics shorter than two positions alias"
    )

    steps: tuple[float | str, ...] = parameter(
        default=("day", "week"),
        accepts=ListOf(of=StatedPeriod(), most=_MOST),
        meaning="periods in positions, or in time units: minute, hour, day, week, month, year, or as 90min; each once",
    )
    harmonics: int = parameter(
        default=1,
        accepts=IntegerRange(minimum=1, maximum=_MOST),
        meaning="a sine and a cosine of P, P/2, .., P/harmonics for each period P",
    )
    step: str = parameter(
        default="1h", accepts=Duration(), meaning="time from one position to the next, for periods in time units"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(isinstance(one, str) for one in self.steps):  # else nothing is in time units
            self.keep_step(self.step)
        lengths = self._lengths
        for text, length in zip(self.steps, lengths, strict=True):
            if length < 2:
                what = f"periods: steps has a period of less than two positions at a step of {self.step}"
                raise InputError(what, str(text), "two positions or more are accepted")
        if len(set(lengths)) < len(lengths):
            raise InputError("periods: steps has a period twice", format_value(self.steps), "each once")

    @property
    def _lengths(self) -> tuple[Fraction, ...]:
        """The periods in positions, exactly: a number is what its shortest decimal says."""
        step = read_duration(self.step)
        return tuple(
            Fraction(parse_periods([one], "steps")[0][1], step) if isinstance(one, str) else Fraction(repr(one))
            for one in self.steps
        )

    @property
    def d(self) -> int:
        """Two columns for each harmonic of each period."""
        return 2 * self.harmonics * len(self.steps)

    @property
    def default_length(self) -> int:
        """Two turns of the longest period, as far as is accepted, and no fewer than of others."""
        return min(MAX_LENGTH, max(super().default_length, math.ceil(2 * max(self._lengths))))

    @property
    def default_grid(self) -> int:
        """As many lattice points as positions are looked at."""
        return self.default_length

    @property
    def periods_in_steps(self) -> tuple[float, ...]:
        """Its periods and their harmonics in positions, without those below two positions."""
        found = (float(length / h) for length in self._lengths for h in range(1, self.harmonics + 1))
        return tuple(period for period in found if period >= 2)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many harmonics lie beyond pi, where integer positions cannot tell them from slower ones."""
        return (*super().notes, *explain_aliasing(self))

    def turns(self, index: int) -> Fraction:
        """Frequency `index` in turns per position, exactly."""
        return (index % self.harmonics + 1) / self._lengths[index // self.harmonics]

    def words(self) -> F64:
        """Frequencies 2 pi h / P in rad/position as (3, M) words, in the order of the columns."""
        turns = (self.turns(index) for index in range(self.d // 2))
        return stack_words(
            CONTEXT.divide(CONTEXT.multiply(TWO_PI, Decimal(turn.numerator)), Decimal(turn.denominator))
            for turn in turns
        )

    def _turn(self, s: I64 | F64) -> tuple[F64, F64]:
        """Sines and cosines at positions, by their place in what repeats, so that equal rows are the same numbers."""
        repeats = self._repeats
        return super()._turn(np.fmod(s, repeats) if repeats <= MAX_POSITION else s)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put sine and cosine columns in turns."""
        return interleave(sine, cosine)

    @property
    def _repeats(self) -> int:
        """Positions after which all of it repeats."""
        return math.lcm(*(length.numerator for length in self._lengths))

    def exact_key(self, positions: I64) -> I64:
        """The position modulo the least common multiple of the periods."""
        repeats = self._repeats
        key: I64 = np.mod(positions, repeats) if repeats <= MAX_POSITION else positions
        return key

    @property
    def theorem(self) -> Theorem:
        """Whole turns of all periods are whole multiples of their least common multiple."""
        return Theorem(
            kind="period",
            text=f"its angles are equal where s - t is a whole number of each period, a multiple of {self._repeats}",
        )
