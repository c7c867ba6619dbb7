"""The periodogram of a series at uneven times: how much of its variance a sinusoid of each frequency explains."""

from __future__ import annotations

import numpy as np

from pe_spectra.exact import C128, F64
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.series.transform import Ladder

#: Frequencies for each cycle over the record.
OVERSAMPLING = 4
#: Frequencies that are looked at at most.
MOST_FREQUENCIES = 1 << 22
#: Below this a sine and a cosine are one column as far as float64 tells.
_SINGULAR = 1e-10
#: Frequencies that are looked at together.
_CHUNK = 1 << 17


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums(ReadOnly):
    """What the times alone give at each frequency: sums of cosines and sines, and of their squares and products.

    Attributes
    ----------
    ladder : how sums are made. phases : of the samples in turns of the spacing of the frequencies.
    cosine, sine, cosine2, product : means over the samples; `cosine2` and `product` of cos**2 and of cos sin, less
        the products of the means.
    """

    ladder: Ladder
    phases: F64
    cosine: F64
    sine: F64
    cosine2: F64
    product: F64


def prepare_sums(times: F64, spacing: float, count: int) -> Sums:
    """Return what the times give at the frequencies k `spacing`, k = 0 .. count - 1.

    Parameters
    ----------
    times : (N,) ascending, from 0 on. spacing : cycles per unit of time, at most 1/(2 times[-1]).

    >>> prepare_sums(np.array([0.0, 1.0, 2.0]), 0.125, 3).cosine.round(6).tolist()[:2]
    [1.0, 0.569036]
    """
    ladder, phases = Ladder(count=count), times * spacing
    ones = np.full(len(times), 1 / len(times))
    cosine, sine = _split(ladder.transform(phases, ones))
    twice = ladder.transform(2 * phases, ones)
    return Sums(
        ladder=ladder,
        phases=phases,
        cosine=cosine,
        sine=sine,
        cosine2=(1 + twice.real) / 2 - cosine**2,
        product=-twice.imag / 2 - cosine * sine,
    )


def compute_power(sums: Sums, values: F64) -> F64:
    """Return the share of the variance of `values` that a sinusoid and a constant explain at each frequency.

    It is the periodogram of Lomb and Scargle with a constant that is fitted anew at each frequency.

    References
    ----------
    Scargle 1982, Astrophys. J. 263, 835; Zechmeister & Kuerster 2009, Astron. Astrophys. 496, 577;
    VanderPlas 2018, Astrophys. J. Suppl. 236, 16.

    >>> times = np.arange(64.0)
    >>> power = compute_power(prepare_sums(times, 1 / 256, 128), np.cos(np.pi * times / 4))
    >>> int(np.argmax(power)), float(power.max().round(9))  # 1/8 cycles per unit of time
    (32, 1.0)
    """
    centred = values - np.mean(values)
    variance = float(np.mean(centred**2))
    if variance == 0:
        return np.zeros(sums.ladder.count)
    found = sums.ladder.transform(sums.phases, centred / len(centred))
    power = np.zeros(sums.ladder.count)
    for start in range(0, len(power), _CHUNK):
        part = slice(start, start + _CHUNK)
        cosine, sine = _split(found[part])
        cosine2, product = sums.cosine2[part], sums.product[part]
        sine2 = 1 - sums.cosine[part] ** 2 - sums.sine[part] ** 2 - cosine2
        determinant = cosine2 * sine2 - product**2
        explained = sine2 * cosine**2 + cosine2 * sine**2 - 2 * product * cosine * sine
        np.divide(explained, determinant * variance, out=power[part], where=determinant > _SINGULAR)
    return np.clip(power, 0, 1, out=power)


def find_weakest(sums: Sums, place: int) -> float:
    """Return the least mean square, over the times, of a sinusoid of amplitude 1 and the frequency `place`, and any
    phase: 1/2 where the phase does not matter.

    >>> times = np.arange(64.0)
    >>> sums = prepare_sums(times, 1 / 256, 128)
    >>> round(find_weakest(sums, 32), 9), round(find_weakest(sums, 127), 2)  # 1/8 and 127/256 cycles per unit
    (0.5, 0.18)
    """
    sine2 = 1 - sums.cosine[place] ** 2 - sums.sine[place] ** 2 - sums.cosine2[place]
    apart = np.hypot((sums.cosine2[place] - sine2) / 2, sums.product[place])
    return max(float((sums.cosine2[place] + sine2) / 2 - apart), _SINGULAR)


def _split(sums: C128) -> tuple[F64, F64]:
    """The sums of cosines and of sines, each by itself."""
    return sums.real.copy(), -sums.imag


def choose_frequencies(span: float, step: float) -> tuple[float, int]:
    """Return the spacing of the frequencies to look at, and how many there are, 0 included.

    They go up to one cycle in two steps, that one excluded, or as far as so many frequencies reach.

    >>> choose_frequencies(99.0, 1.0)
    (0.0025252525252525255, 198)
    """
    spacing = 1 / (OVERSAMPLING * span)
    return spacing, int(min(np.ceil(1 / (2 * step * spacing)), MOST_FREQUENCIES))
