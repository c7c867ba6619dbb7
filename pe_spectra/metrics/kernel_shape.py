"""The shape of a kernel k(tau): how wide its main lobe is, what rises beside it, and at which times it comes back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.faithfulness.separation import find_sidelobe
from pe_spectra.metrics.measures import TIE, Measure, Metrics, check_kernel, metric, metric_of_order, or_reason
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from fractions import Fraction

#: A peak of a kernel's spectrum counts from this share of the largest.
_SMALLEST_PEAK = 0.01
#: Points of the padded transform for each lag.
_PADDING = 8


@dataclass(frozen=True, kw_only=True)
class KernelShape(Metrics):
    """The form of a kernel."""

    kernel_half_width: float | None = metric(
        "first lag where k(tau)/k(0) falls to 1/2, linear between lags",
        unit="positions",
        above=0,
        source="half width at half maximum",
    )
    sidelobe_ratio: float | None = metric(
        "largest local maximum of k(tau)/k(0) beyond its first local minimum",
        better="lower",
        source="sidelobe level, array processing",
    )
    sidelobe_lag: float | None = metric(
        "lag of that maximum", unit="positions", above=0, source="sidelobe level, array processing"
    )
    kernel_monotonicity: float | None = metric_of_order(
        "share of pairs t1 < t2 of lags with k(t1) > k(t2), ties one half"
    )


def measure_kernel_shape(kernel: ArrayLike) -> KernelShape:
    """Measure the form of a kernel, (L,) at lags 0, 1, .., one head.

    >>> measure_kernel_shape([4.0, 3.0, 1.0]).kernel_half_width
    1.5
    """
    from pe_spectra.metrics.order import measure_kernel_monotonicity

    values = check_kernel(kernel)
    flat = "k(0) is not positive" if values[0] <= 0 else ""
    sidelobe = None if flat else find_sidelobe(values / values[0])
    alone = flat or "no local maximum beyond the main lobe"
    wide = flat or f"the kernel stays above half of its value at lag 0 up to lag {len(values) - 1}"
    return KernelShape.tell(
        {
            "kernel_half_width": or_reason(_measure_half_width(values), wide),
            "sidelobe_ratio": sidelobe.value if sidelobe else alone,
            "sidelobe_lag": sidelobe.lag if sidelobe else alone,
            "kernel_monotonicity": or_reason(measure_kernel_monotonicity(values), "fewer than two lags"),
        }
    )


MEASURES = (Measure(kind=KernelShape, function=measure_kernel_shape, needs=("kernel",)),)


def _measure_half_width(values: F64) -> float | None:
    """First lag at which k(tau)/k(0) is 1/2, linear between whole lags; None where the kernel never falls that low."""
    if values[0] <= 0:
        return None
    with np.errstate(over="ignore"):
        below = np.flatnonzero(values / values[0] <= 0.5)
    if not len(below):
        return None
    lag = int(below[0])
    # k(0) may be so small beside the two values that they leave float64 as its multiples
    unit = float(np.max(np.abs(values[lag - 1 : lag + 1])))
    before, half, after = float(values[lag - 1]) / unit, 0.5 * (float(values[0]) / unit), float(values[lag]) / unit
    return lag - 1 + (before - half) / (before - after)


@dataclass(frozen=True, kw_only=True)
class PeriodMatch(Result):
    """What a kernel does at one period of the data.

    >>> kernel = np.cos(2 * np.pi * np.arange(49) / 24)
    >>> day, = measure_periods(kernel, step_seconds=3600.0, periods=[("day", 86400.0)])
    >>> day.lag, day.ratio, day.is_local_maximum
    (24.0, 1.0, True)
    """

    name: str = quantity("The period as it was named.")
    seconds: float = quantity("Its length.", unit="s", above=0)
    lag: float = quantity("Its length in steps, which need not be whole.", unit="steps", above=0)
    ratio: float | None = quantity(
        "k(lag)/k(0), linear between whole lags; null where it is not known so far out, or k(0) is not positive."
    )
    is_local_maximum: bool | None = quantity(
        "Whether a whole lag next to the period (the lag itself where it is whole) is a local maximum of the kernel; "
        "null where a neighbour is not known."
    )
    nearest_period: float | None = quantity(
        "The encoding's own period that is nearest on a logarithmic scale; null where it has none.", unit="s"
    )
    nearest_ratio: float | None = quantity("That period over the one asked for; 1 where the encoding has it.")
    note: str = quantity("What a reader must know; mostly empty.", schema={"type": "string"}, default="")


class _ColumnOfPeriod(NamedTuple):
    """A column of each period that was asked for."""

    field: str  #: of its match
    better: str | None  #: which end is the better one
    text: str  #: what it is, with places for the lag and the time


#: By the prefix of their names.
OF_PERIOD: Mapping[str, _ColumnOfPeriod] = {
    "ratio": _ColumnOfPeriod("ratio", "higher", "k(lag {lag:g})/k(0), the lag of {time}"),
    "maximum": _ColumnOfPeriod(
        "is_local_maximum",
        "higher",
        "whether the kernel has a local maximum at lag {lag:g}, or next to it where that is not whole",
    ),
    "nearest": _ColumnOfPeriod("nearest_period", None, "the encoding's own period that is nearest to {time}, in s"),
}


def measure_periods(
    kernel: ArrayLike,
    *,
    step_seconds: float | Fraction,
    periods: Sequence[tuple[str, float | Fraction]],
    frequencies: ArrayLike | None = None,
) -> tuple[PeriodMatch, ...]:
    """Read a kernel at the periods of the data: lag = seconds / step_seconds, linearly between whole lags.

    Parameters
    ----------
    kernel : (L,) at lags 0, 1, ...
    step_seconds : time from one position to the next, above 0.
    periods : names, and lengths in seconds above 0.
    frequencies : (M,) of the encoding, rad/position; None: the peaks of the kernel's spectrum.

    Raises
    ------
    InputError : a step or a period that is not above 0.

    Source: the question of a kernel's period is standard in time series analysis; the indicator is our own.

    >>> hours = np.cos(2 * np.pi * np.arange(200) / 24)
    >>> (match,) = measure_periods(hours, step_seconds=3600.0, periods=[("day", 86400.0)])
    >>> round(match.ratio, 9), match.is_local_maximum, round(match.nearest_ratio, 2)
    (1.0, True, 1.0)
    """
    step = _take_seconds(step_seconds, "step")
    lengths = [(name, _take_seconds(seconds, f"period {name}")) for name, seconds in periods]
    values = check_kernel(kernel)
    if frequencies is None:
        own = _find_kernel_periods(values)
    else:
        w = np.asarray(frequencies, dtype=float)
        own = 2 * np.pi / w[w > 0]
    return tuple(_match(values, name, length, step, own) for name, length in lengths)


def _find_kernel_periods(values: F64) -> F64:
    """Periods of a kernel in positions, strongest first: peaks of its windowed cosine transform.

    Blackman lag window over all L lags, eight-fold padding, peaks refined by a parabola; those of at least 1 % of the
    largest (Blackman & Tukey 1958). Periods above 2 L/3 cannot be told from a trend and are left out.
    """
    length = len(values)
    angle = np.pi * np.arange(length) / length
    window = 0.42 + 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle)
    weights = window * np.where(np.arange(length) == 0, 1.0, 2.0)
    scale = float(np.max(np.abs(values)))
    if length < 8 or scale <= 0:
        return np.empty(0)
    windowed = (values / scale - np.sum(weights * values / scale) / np.sum(weights)) * weights
    size = _PADDING << length.bit_length()
    spectrum = np.fft.rfft(windowed, n=size).real
    inner = np.flatnonzero((spectrum[1:-1] > spectrum[:-2]) & (spectrum[1:-1] >= spectrum[2:])) + 1
    inner = inner[inner * (2 * length) > 3 * size]
    # a kernel without any period leaves rounding
    floor = max(TIE * float(np.sum(weights)), _SMALLEST_PEAK * float(np.max(spectrum[inner], initial=0.0)))
    inner = inner[spectrum[inner] >= floor]
    inner = inner[np.argsort(-spectrum[inner], kind="stable")]
    left, middle, right = spectrum[inner - 1], spectrum[inner], spectrum[inner + 1]
    place = inner + 0.5 * (left - right) / (left - 2 * middle + right)
    return np.asarray(size / place)


def _match(kernel: F64, name: str, length: Fraction, step: Fraction, own: F64) -> PeriodMatch:
    lag, seconds = float(length / step), float(length)
    value = float(np.interp(lag, np.arange(len(kernel)), kernel)) if lag <= len(kernel) - 1 else None
    found = [_is_maximum(kernel, near) for near in sorted({math.floor(lag), math.ceil(lag)})]
    lengths = own * float(step)
    nearest = float(lengths[np.argmin(np.abs(np.log(lengths / seconds)))]) if len(own) else None
    notes = []
    if lag < 1:
        notes.append("the period is shorter than a step")
    if value is None:
        notes.append(f"the kernel is known up to lag {len(kernel) - 1}")
    elif lag != round(lag):
        notes.append("the lag is not whole: taken linearly between its neighbours")
    return PeriodMatch(
        name=name,
        seconds=seconds,
        lag=lag,
        ratio=value / float(kernel[0]) if value is not None and kernel[0] > 0 else None,
        is_local_maximum=True if True in found else None if None in found else False,
        nearest_period=nearest,
        nearest_ratio=None if nearest is None else nearest / seconds,
        note="; ".join(notes),
    )


def _is_maximum(kernel: F64, lag: int) -> bool | None:
    """Whether the value at a whole lag is below neither neighbour and above one; None where one is not known."""
    if lag < 1:
        return False
    if lag + 1 >= len(kernel):
        return None
    rises = kernel[lag] - kernel[[lag - 1, lag + 1]]
    slack = TIE * abs(float(kernel[0]))
    return bool(rises.max() > slack and rises.min() >= -slack)


def _take_seconds(value: float | Fraction, name: str) -> Fraction:
    """Take a length of time exactly, so that a lag is whole where it is."""
    from fractions import Fraction

    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} is no length of time", repr(value), "a number of seconds above 0 is accepted")
    return value if isinstance(value, Fraction) else Fraction(float(value))
