"""What the kernel of an encoding does at each period of a series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.metrics import measure_periods
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.series.proposing import SharedPeriod
from pe_spectra.spectrum import estimate_kernel

#: A kernel comes back at a period where it is by more than this, of k(0), above what it is within the period.
LEAST_RISE = 0.01
#: Lags within a period longer than the window at which its kernel is looked at.
_WITHIN = 128


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
        "(k(P) - h)/k(0), h the larger of k(P/2) and of local maxima between P/4 and 3 P/4: how far the kernel comes "
        "back at a whole period from what it is within one; 2 of one wave of that period, 0 of a wave that passes "
        "several times in it, below 0 where similarity falls with the distance; null likewise."
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
    >>> day = SharedPeriod(name="day", steps=8.0, share=1.0, harmonics=1, inside=True)
    >>> (at,) = read_periods(read_encoding("periods:steps=8"), [day], 20)
    >>> round(at.ratio, 9), round(at.rise, 9), at.is_local_maximum
    (1.0, 2.0, True)
    """
    if not inside:
        return ()
    count = max(window, math.ceil(2.2 * max(one.steps for one in inside)) + 2)
    count = min(count, encoding.rows or count)
    kernel = find_kernel(encoding, count)
    names, unknown = [(one.name, one.steps) for one in inside], [1.0]
    matches = measure_periods(kernel, step_seconds=1.0, periods=names, frequencies=unknown)
    within = [_find_highest(kernel, match.lag) for match in matches]
    return tuple(
        AtPeriod(
            name=match.name,
            lag=match.lag,
            ratio=match.ratio,
            is_local_maximum=match.is_local_maximum,
            rise=None if match.ratio is None else match.ratio - highest,
        )
        for match, highest in zip(matches, within, strict=True)
    )


def _find_highest(kernel: F64, lag: float) -> float:
    """k(P/2), or a larger local maximum between P/4 and 3 P/4: each shorter period that divides P comes back there."""
    lags = np.arange(max(1, math.ceil(lag / 4)), max(1, math.floor(3 * lag / 4)) + 1)
    lags = lags[lags + 1 < len(kernel)]
    before, here, after = (kernel[lags + one] for one in (-1, 0, 1))
    peaks = here[(here >= before) & (here >= after)]
    half = float(np.interp(lag / 2, np.arange(len(kernel)), kernel))
    return max(half, float(peaks.max(initial=-np.inf)))


def read_date(encoding: Encoding, period: SharedPeriod, others: Sequence[float], window: int) -> AtPeriod:
    """Return what the kernel does, between two windows, at a period that is longer than a window.

    Positions count from the start of each window, so that only dates tell where in the period it is: of a hybrid the
    first member that knows them is asked. Within the period it is looked at after half of it and after whole numbers of
    the shorter periods, where an encoding of these alone has come back.

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
    within = {lag // 2} | {round(one * n) for one in others for n in range(1, math.ceil(lag / one))}
    within = {one for one in within if lag <= 4 * one <= 3 * lag}
    chosen = sorted(within)[:: max(1, len(within) // _WITHIN)]
    try:
        whole, *near, highest = (
            max(float(np.sum(codes * dated.table(np.arange(window) + one))) for one in lags)
            for lags in ([0], [lag - 1], [lag], [lag + 1], chosen)
        )
    except InputError:  # of a moment beyond the calendar
        return at
    ratio, rise = near[1] / whole, (near[1] - highest) / whole
    return replace(at, ratio=ratio, is_local_maximum=near[1] >= max(near[0], near[2]), rise=rise)
