"""Calendar encodings: a position is a moment, and its vector is made of fields such as hour and weekday."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from pe_spectra.domains import Duration, Moment, compute_moments, describe_moment, read_duration, read_months
from pe_spectra.encodings.calendar_keys import key_multisets, key_numbers, key_sums, write_roots_of_unity
from pe_spectra.encodings.codes import as_positions
from pe_spectra.encodings.parameters import RHO, SEED, WIDTH, YES_NO, Value, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike, sin_cos_of_turns
from pe_spectra.numbers import Choice, IntegerRange, ListOf
from pe_spectra.records import dataclass

#: Fields: how many values each takes, its first value, its seconds (0: by the calendar), and the
#: seconds after which it repeats, months and years as the mean of 400 Gregorian years (146097 days).
FIELDS = {
    "minute": (60, 0, 60, 3600),
    "hour": (24, 0, 3600, 86400),
    "weekday": (7, 0, 86400, 604800),
    "day": (31, 1, 86400, 2629746),
    "dayofyear": (366, 1, 86400, 31556952),
    "month": (12, 1, 0, 31556952),
    "time": (1440, 0, 60, 86400),
}
#: Drawn numbers are multiples of 1 / _GRAIN, so that sums of them are exact in float64.
_GRAIN = 2.0**32


class _ListsWith(tuple[Value, ...]):
    """Lists of fields that have one of them: every such list is in it, one is shown as an example."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and "minute" in key


@final
@dataclass(frozen=True, kw_only=True)
class Calendar(Encoding):
    """Fields of the calendar of the moment start + s step, each by a row of its own table.

    Fields are numbered as usual: minute (in slots) 0 .., hour 0 .. 23, weekday 0 (Monday) .. 6,
    day 1 .. 31, month 1 .. 12, dayofyear 1 .. 366, time (minute of the day) 0 .. 1439. Rows of a field of P values:
    cyclic (sin, cos)(2 pi v / P); fixed, the sinusoid of v, the same for every field; learned,
    a normal table of its own. Without time zones; `d` columns for each fixed or learned field.
    """

    name: ClassVar[str] = "calendar"
    family: ClassVar[str] = "temporal"
    summary: ClassVar[str] = "hour, weekday, day, month, time of the day and other fields of the moment of a position"
    formula: ClassVar[str] = "e(s) = rows of the fields of the moment start + s step, side by side or summed"
    source: ClassVar[str] = "zhouhaoyi/Informer2020, models/embed.py (rows=fixed, mode=sum); Zhou et al. 2021"
    pitfalls: ClassVar[str] = (
        "moments with the same fields share a vector (hour and weekday: after a week), unless there is a timestamp; "
        "Informer's fixed rows are one sinusoid for all fields, so that swapped numbers give the same sum; fixed rows "
        "do not close: Sunday and Monday are far apart; slots of minutes that are coarser than the step hide steps; "
        "minute is a circle of its own, on which :00 and :30 are opposite; time, the minute of the day, is one circle"
    )

    fields: tuple[str, ...] = parameter(
        default=("hour", "weekday", "day", "month"),
        accepts=ListOf(of=Choice(members=tuple(FIELDS)), most=len(FIELDS)),
        meaning="fields of the calendar, each once",
    )
    minute_slot: int = parameter(
        default=15,
        accepts=IntegerRange(minimum=1, maximum=60),
        meaning="minutes that share one number; 15 as in Informer",
        only_with={"fields": _ListsWith([("minute", "hour", "weekday")])},
    )
    kind: str = parameter(
        name="rows",
        accepts=Choice(members=("cyclic", "fixed", "learned")),
        meaning="a circle for each field, one sinusoid for all (Informer), or a table drawn for each",
    )
    mode: str = parameter(
        accepts=Choice(members=("concat", "sum")),
        meaning="fields side by side, or summed (cyclic: the sum of the unit vectors, two columns)",
    )
    width: int = parameter(
        name="d",
        like=WIDTH,
        default=64,
        meaning="columns of each field; all columns where fields are summed",
        only_with={"kind": ("fixed", "learned")},
    )
    rho: float = parameter(like=RHO, meaning="base of the sinusoid of fixed rows", only_with={"kind": ("fixed",)})
    seed: int = parameter(
        like=SEED,
        meaning="seed of learned rows, which are standard normal",
        only_with={"kind": ("learned",)},
    )
    start: str = parameter(
        default="2016-07-01T00:00",
        accepts=Moment(),
        meaning="moment of position 0, without time zone",
    )
    step: str = parameter(default="1h", accepts=Duration(), meaning="time from one position to the next")
    timestamp: str = parameter(
        accepts=YES_NO,
        meaning="a sinusoid (base rho) of the position itself, beside the fields or in their sum",
    )
    timestamp_d: int = parameter(
        like=WIDTH,
        default=64,
        meaning="columns of the timestamp beside the fields",
        only_with={"timestamp": ("yes",), "mode": ("concat",)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keep_step(self.step)
        if len(set(self.fields)) < len(self.fields):
            raise InputError("calendar: fields has one of them twice", "+".join(self.fields), "each once")

    @property
    def d(self) -> int:
        """Columns of all fields."""
        each = 2 if self.kind == "cyclic" else self.width
        if self.mode == "sum":
            return each
        return each * len(self.fields) + (self.timestamp_d if self.timestamp == "yes" else 0)

    #: Eight days of hours, as in the traffic data of Li et al. 2019: more than one week.
    default_length = 192

    #: Position 0 is a date.
    knows_dates = True

    @property
    def is_random(self) -> bool:
        """Whether rows are drawn in place of learned ones."""
        return self.kind == "learned"

    @property
    def notes(self) -> tuple[str, ...]:
        """That neighbours share a position vector where the finest field lasts longer than a step."""
        step = read_duration(self.step)
        lengths = [60 * self.minute_slot if field == "minute" else FIELDS[field][2] for field in self.fields]
        longest = 0 if read_months(self.step) else 31 * 86400  # of months; a step of some is never shorter
        finest = min((length for length in lengths if length), default=longest)
        if self.timestamp == "yes" or finest <= step:
            return super().notes
        name = f"minute slot of {self.minute_slot}" if finest == 60 * self.minute_slot else "finest field"
        return (
            *super().notes,
            f"calendar: the {name} is coarser than the step ({self.step}): neighbours share a position vector",
        )

    @property
    def periods_in_steps(self) -> tuple[float, ...]:
        """Periods of its fields, and of the timestamp, in steps; without those below two steps."""
        step = read_duration(self.step)
        found = [float(FIELDS[field][3] / step) for field in self.fields if self.count_values(field) > 1]
        if self.timestamp == "yes":
            found += (2 * np.pi / self._timestamp.frequencies().values).tolist()
        return tuple(period for period in found if period >= 2)

    @property
    def _timestamp(self) -> Sinusoidal:
        return Sinusoidal(d=self.timestamp_d if self.mode == "concat" else self.d, rho=self.rho)

    def describe_position(self, s: int) -> str:
        """The moment of a position: `Fri 2016-07-01 00:00`."""
        return describe_moment(self.start, self.step, s)

    def count_values(self, field: str) -> int:
        """How many values a field takes."""
        return -(-60 // self.minute_slot) if field == "minute" else FIELDS[field][0]

    def read_fields(self, positions: I64) -> I64:
        """Numbers of the fields of each position, shape (S, F).

        Raises
        ------
        InputError : a moment beyond year 9999.
        """
        moments = compute_moments(self.start, self.step, positions)
        days, months, years = (moments.astype(f"datetime64[{unit}]") for unit in "DMY")
        seconds = moments.astype(np.int64)
        found = {
            "minute": seconds // 60 % 60 // self.minute_slot,
            "hour": seconds // 3600 % 24,
            "weekday": (days.astype(np.int64) + 3) % 7,  # 1970-01-01 was a Thursday
            "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
            "dayofyear": (days - years.astype("datetime64[D]")).astype(np.int64) + 1,
            "month": months.astype(np.int64) % 12 + 1,
            "time": seconds // 60 % 1440,
        }
        return np.stack([found[field] for field in self.fields], axis=1)

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); fields in the order given, then the timestamp.

        Raises
        ------
        InputError : a moment beyond year 9999.
        """
        s = as_positions(positions, self.d)
        numbers = self.read_fields(s)
        parts = [self._build_rows(field)[numbers[:, column]] for column, field in enumerate(self.fields)]
        if self.timestamp == "yes":
            parts.append(self._timestamp.table(s))
        if self.mode == "concat":
            return np.concatenate(parts, axis=1)
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    def _build_rows(self, field: str) -> F64:
        """The rows of a field by its number; shape (1 + largest number, columns)."""
        count = self.count_values(field)
        numbers = np.arange(count + FIELDS[field][1])
        if self.kind == "cyclic":
            return np.stack(sin_cos_of_turns(numbers, count), axis=1)
        if self.kind == "fixed":
            return Sinusoidal(d=self.width, rho=self.rho).table(numbers)
        # a field has the same table whatever others stand beside it
        seed = np.random.SeedSequence([self.seed, list(FIELDS).index(field)])
        drawn = np.random.Generator(np.random.PCG64(seed)).standard_normal((len(numbers), self.width))
        return np.asarray(np.rint(drawn * _GRAIN) / _GRAIN, dtype=np.float64)

    def exact_key(self, positions: I64) -> I64:
        """An integer for the fields where each is seen, for their multiset, or for their exact sum.

        Raises
        ------
        InputError : a moment beyond year 9999.
        """
        numbers = self.read_fields(positions)
        if self.mode == "sum" and self.kind == "fixed":
            others = [positions[:, None]] if self.timestamp == "yes" else []
            sizes = [self.count_values(field) + FIELDS[field][1] for field in self.fields]
            return key_multisets(np.concatenate([numbers, *others], axis=1), sizes)
        if self.timestamp == "yes":
            return positions
        if self.mode == "sum":
            return key_sums(numbers, [self._write_exactly(field) for field in self.fields])
        return key_numbers(numbers, [self._number_rows(field) for field in self.fields])

    def _write_exactly(self, field: str) -> I64:
        """The rows of a field in integers whose sums are equal if and only if the position vectors are."""
        if self.kind == "learned":
            return (self._build_rows(field) * _GRAIN).astype(np.int64)
        count = self.count_values(field)
        roots = write_roots_of_unity(tuple(self.count_values(other) for other in self.fields))
        return roots[self.fields.index(field)][np.arange(count + FIELDS[field][1]) % count]

    def _number_rows(self, field: str) -> I64:
        """A number for each row of a field, the same for equal rows (two may be drawn alike)."""
        count = self.count_values(field)
        numbers = np.arange(count + FIELDS[field][1])
        if self.kind != "learned":
            return numbers % count if self.kind == "cyclic" else numbers
        return np.unique(self._build_rows(field), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @property
    def theorem(self) -> Theorem:
        """Why equal keys are equal position vectors, by the kind of rows and the way they are joined."""
        if self.mode == "concat" and self.timestamp == "yes":
            return Theorem(
                kind="irrational-frequency",
                text="the timestamp holds sin s and cos s (frequency 1 rad), which no two integers share",
            )
        if self.mode == "concat":
            return Theorem(kind="fields", text="each field is seen by itself, and each of its numbers has its own row")
        if self.kind == "fixed":
            return Theorem(
                kind="lindemann-weierstrass",
                text="the first two columns are the sum of exp(i v) over the numbers v of all fields, and "
                "exponentials of different integers are independent: only equal multisets of numbers have equal sums",
            )
        if self.timestamp == "yes":
            return Theorem(
                kind="lindemann-weierstrass",
                text="the fields add algebraic numbers, which cannot make up for exp(i s) - exp(i t), s != t",
            )
        if self.kind == "cyclic":
            return Theorem(
                kind="cyclotomic", text="sums of roots of unity are compared as integers in a cyclotomic basis"
            )
        return Theorem(
            kind="exact-sums", text="drawn rows are multiples of 2**-32, so that their sums carry no rounding"
        )
