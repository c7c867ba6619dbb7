"""What the kernel of an encoding does at each period of a series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.metrics.kernel_shape import measure_periods
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.series.proposing import SharedPeriod
from pe_spectra.spectrum.kernels import estimate_kernel

#: A kernel comes back at a period where it is by more than this, of k(0), above what it is within the period.
LEAST_RISE = 0.01
#: Parts of a period after which an encoding may come back sooner, and by what share of itself another period of the
#: series may miss one; multiples at which the kernel between windows is looked at.
_PARTS, _DIVIDES, _WITHIN = 12, 0.05, 128


@dataclass(frozen=True, kw_only=True)
class AtPeriod(Result):
    """What the kernel of an encoding does at a period of the series."""

    name: str = quantity("The period.")
    lag: float = quantity("Its length in steps.", unit="steps", above=0)
    ratio: float | None = quantity(
        "k(P)/k(0), linear between whole lags; null where the kernel is not known so far, and at periods longer than "
        "the window of encodings that know no dates."
    )
    is_local_maximum: bool | None = quantity(
        "Whether a whole lag next to the period (the lag itself where it is whole) is a local maximum of the kernel; "
        "null where a neighbour is not known."
    )
    rise: float | None = quantity(
        "(k(P) - h)/k(0), h the most that k keeps at all multiples of one of the periods P/2, .. P/12 and of shorter "
        "periods of the series: how far the kernel comes back for the first time; 1.5 of one wave of that period, 0 of "
        "one that passes several times in it, below 0 where similarity falls with the distance; null likewise."
    )

    @property
    def is_seen(self) -> bool:
        """Whether the kernel comes back at the period."""
        return self.rise is not None and self.rise > LEAST_RISE


def find_kernel(encoding: Encoding, count: int, length: int | None = None) -> F64:
    """Return k(tau)/k(0) at lags 0 .. count-1, the mean over heads.

    Raises
    ------
    InputError : a kernel that is not known so far.

    >>> from pe_spectra import Dft
    >>> find_kernel(Dft(d=4), 3).round(9).tolist()
    [1.0, 0.0, 0.0]
    """
    values: F64 = np.mean(estimate_kernel(encoding, length=length or count, count=count).values, axis=0)
    if len(values) < count or not values[0] > 0:
        raise InputError("its kernel is not known over a window", encoding.label)
    found: F64 = values / values[0]
    return found


def read_periods(encoding: Encoding, inside: list[SharedPeriod], window: int) -> tuple[AtPeriod, ...]:
    """Return what the kernel does at each period, as a mean over twice as many positions as the longest has.

    >>> from pe_spectra import read_encoding
    >>> day = SharedPeriod(name="day", steps=12.0, share=1.0, harmonics=1, inside=True)
    >>> (at,) = read_periods(read_encoding("periods:steps=12"), [day], 30)
    >>> round(at.ratio, 9), round(at.rise, 9), at.is_local_maximum
    (1.0, 1.5, True)
    """
    if not inside:
        return ()
    count = max(window, math.ceil(2.2 * max(one.steps for one in inside)) + 2)
    count = min(count, encoding.rows or count)
    kernel = find_kernel(encoding, count)
    names, unknown = [(one.name, one.steps) for one in inside], [1.0]
    matches = measure_periods(kernel, step_seconds=1.0, periods=names, frequencies=unknown)
    others = [one.steps for one in inside]
    kept = [
        max(
            float(np.interp(lags, np.arange(count), kernel).min()) for lags in _list_sooner(match.lag, others, _DIVIDES)
        )
        for match in matches
    ]
    return tuple(
        AtPeriod(
            name=match.name,
            lag=match.lag,
            ratio=match.ratio,
            is_local_maximum=match.is_local_maximum,
            rise=None if match.ratio is None else match.ratio - most,
        )
        for match, most in zip(matches, kept, strict=True)
    )


def _list_sooner(lag: float, others: Sequence[float], share: float) -> Iterator[F64]:
    """The multiples below a period of each shorter one that divides it; `others` do within a share of themselves."""
    for number in range(2, _PARTS + 1):
        yield np.arange(1.0, number) * (lag / number)
    for ratio in (lag / other for other in others):
        if ratio > 1 + share and abs(ratio - round(ratio)) <= share:
            yield np.arange(1.0, math.ceil(ratio - share)) * (lag / ratio)


def read_date(encoding: Encoding, period: SharedPeriod, others: Sequence[float], window: int) -> AtPeriod:
    """Return what the kernel does, between two windows, at a period that is longer than a window.

    Positions count from the start of each window, so that only dates tell where in the period it is: of a hybrid the
    first member that knows them is asked. Shorter periods need not divide it: a calendar of days comes back after each
    of them, though a year has not a whole number.

    >>> from pe_spectra import read_encoding
    >>> week = SharedPeriod(name="week", steps=7.0, share=1.0, harmonics=1, inside=False)
    >>> at = read_date(read_encoding("calendar:fields=weekday,step=1d"), week, [], 3)
    >>> round(at.ratio, 9), at.is_seen
    (1.0, True)
    """
    at = AtPeriod(name=period.name, lag=period.steps, ratio=None, is_local_maximum=None, rise=None)
    members: tuple[Any, ...] = getattr(encoding, "members", (encoding,))
    dated = next((one for one in members if one.knows_dates), None)
    if not isinstance(dated, HasTable):
        return at
    lag, codes = round(period.steps), dated.table(window)

    def dot(steps: float) -> float:
        return float(np.sum(codes * dated.table(np.arange(window) + round(steps))))

    try:
        whole, *near = map(dot, (0, lag - 1, lag, lag + 1))
        # what is looked at of many multiples can only be more than the least of all
        sooner = (lags[:: max(1, len(lags) // _WITHIN)].tolist() for lags in _list_sooner(period.steps, others, 0.5))
        most = max(min(map(dot, lags)) for lags in sooner)
    except InputError:  # of a moment beyond the calendar
        return at
    ratio, rise = near[1] / whole, (near[1] - most) / whole
    return replace(at, ratio=ratio, is_local_maximum=near[1] >= max(near[0], near[2]), rise=rise)
