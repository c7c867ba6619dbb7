"""Spectra of the vectors themselves: at real positions, which have no lattice, and of short stretches of a table."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.codes import as_times, read_codes
from pe_spectra.encodings.sampled import check_positions, read_table_at
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike, find_largest, two_product, two_sum
from pe_spectra.fourier import compute_omega
from pe_spectra.limits import MAX_DIRECT_WORK, MAX_HELD_ENTRIES, MAX_WIDTH
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.spectrum.density import BANDWIDTH, DEFAULT_BANDWIDTH, normalise
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.spectrum.record import Spectrum

_BLOCK = 256
#: Median steps in all: at the end of such a span float64 has positions to some 1e-4 of a step.
_LARGEST_SPAN = 1e12
#: Frequencies of smaller steps leave the range of float64.
_LEAST_STEP = 1e-307
#: Turns are split at multiples of this: products with up to 2**20 of the larger part are exact.
_UNIT = 2.0**-32
#: exp(-x**2/2) at this x is below 1e-17: images farther away do not count.
_LAST_IMAGE = 8.9
#: Sums of Gaussians this many circles wide differ by less than rounding all around, so that wider ones are equal.
_WIDEST = 2.0
#: Positions in a stretch at least.
_LEAST = 4
#: Stretches are an eighth of the table, within these bounds, and begin at most a fourth of their length apart.
_PART, _SHORTEST, _LONGEST = 8, 16, 512
#: Of long tables at most so many steps, evenly spread: stretches then overlap less, or not at all.
_MOST = 128


@np.errstate(under="ignore")
def compute_irregular_spectrum(
    encoding: Encoding, positions: ArrayLike, *, bandwidth: float = DEFAULT_BANDWIDTH
) -> Spectrum:
    """Return the smoothed periodogram of an encoding at real positions.

    P(omega) is the sum over columns of |sum_n e(t_n) exp(-i omega t_n)|**2, as in Lomb-Scargle without its
    correction for unequal sine and cosine power, smoothed with a Gaussian of `bandwidth` bins that is
    reflected at both ends, as often as it reaches them. The lattice has a point for each position:
    omega_k = 2 pi k/(N delta), k = 0 .. N // 2, with delta the median step as float64 has it.

    Angles omega t are reduced before they are rounded, so that gaps of any length leave weights that are right
    for the codes in float64 to some 1e-13 of the largest; smoothing keeps relative errors of some 1e-13.

    Parameters
    ----------
    encoding : one that takes real positions, or whole ones where they are such.
    positions : (N,) real, at least 2 different ones; sorted here.
    bandwidth : kernel width in bins.

    Raises
    ------
    InputError : an encoding without these positions; too few positions, too uneven or too close ones; too much work.
    UndefinedError : vectors that are all zero.

    >>> from pe_spectra import Sinusoidal
    >>> spectrum = compute_irregular_spectrum(Sinusoidal(d=8), np.arange(0, 10, 0.25))
    >>> spectrum.estimator, spectrum.weights.shape
    ('nudft', (21,))
    """
    b = BANDWIDTH.check(bandwidth, "bandwidth")
    given = as_times(positions)
    check_positions(encoding, given)
    times = np.unique(given)
    n, d = len(times), int(getattr(encoding, "d", 1))
    most = min(MAX_WIDTH, MAX_HELD_ENTRIES // d, math.isqrt(MAX_DIRECT_WORK // d))
    if not 2 <= n <= most:
        few = "few" if n < 2 else "many"
        raise InputError(f"different positions are too {few} for a spectrum", str(n), f"2 to {most} at d={d}")
    delta = _measure_step(times)
    omega = np.arange(n // 2 + 1, dtype=np.float64) * (2 * np.pi / (n * delta))
    power = _transform(read_table_at(encoding, times), times, delta)
    weights, log_weights = normalise(_smooth(power, n, b), encoding)
    which = f"{n} real positions" if n == len(given) else f"the {n} different ones of {len(given)} real positions"
    note = f"{encoding.label}: smoothed periodogram at {which} (no list of frequencies was used)"
    return Spectrum(
        encoding=encoding,
        grid=n,
        bandwidth=b,
        boundary="reflect",
        estimator="nudft",
        omega=omega,
        weights=weights,
        log_weights=log_weights,
        notes=(note,),
        length=n,
    )


def _measure_step(times: F64) -> float:
    """Return the median step."""
    delta = float(np.median(np.diff(times)))
    span = float(times[-1] - times[0])
    if not span / delta < _LARGEST_SPAN:
        raise InputError("positions are too uneven", f"{span:g} in all, median step {delta:g}", "steps alike in size")
    if delta < _LEAST_STEP:
        raise InputError("positions are too close together", f"median step {delta:g}", f"{_LEAST_STEP:g} and more")
    return delta


def _transform(table: F64, times: F64, delta: float) -> F64:
    """Return P at k = 0 .. N // 2; the turns k t/(N delta) are reduced before they are rounded."""
    high, low = _reduce_turns(times, delta)
    power = np.empty(len(times) // 2 + 1)
    for start in range(0, len(power), _BLOCK):
        k = np.arange(start, min(start + _BLOCK, len(power)), dtype=np.float64)
        angle = np.multiply.outer(k, high)
        angle -= np.rint(angle)
        angle += np.multiply.outer(k, low)
        angle *= 2 * np.pi
        power[start : start + _BLOCK] = np.sum((np.cos(angle) @ table) ** 2 + (np.sin(angle) @ table) ** 2, axis=1)
    return power


def _reduce_turns(times: F64, delta: float) -> tuple[F64, F64]:
    """Return (t - t_0)/(N delta) less a whole number, as a multiple of 2**-32 and the rest."""
    n = len(times)
    exponent = math.frexp(n * delta)[1]
    shift, shift_low = (np.ldexp(word, -exponent) for word in two_sum(times, np.full(n, -times[0])))
    period, period_low = two_product(np.full(n, float(n)), np.full(n, math.ldexp(delta, -exponent)))
    turns = shift / period
    product, error = two_product(turns, period)
    rest = ((shift - product) - error + shift_low - turns * period_low) / period
    reduced = turns - np.rint(turns)
    high = _UNIT * np.rint(reduced / _UNIT)
    return high, (reduced - high) + rest


def _smooth(power: F64, grid: int, bandwidth: float) -> F64:
    """Convolve with a Gaussian of `bandwidth` bins, the axis reflected at 0 and at half the lattice."""
    circle = np.concatenate([power, power[grid - len(power) : 0 : -1]])
    turn = len(circle)
    width = min(bandwidth, _WIDEST * turn)
    # the axis reflected again and again: a Gaussian that goes around the circle meets itself
    reach = math.ceil(_LAST_IMAGE * width / turn)
    images = turn * np.arange(-reach - 1, reach + 1)
    kernel = np.sum(np.exp(-0.5 * (np.add.outer(images, np.arange(turn)) / width) ** 2), axis=0)
    # term by term, all of them positive: a transform would lose what is small beside the largest
    unrolled = np.concatenate([circle[1:], circle[: len(power)]])
    smoothed: F64 = np.convolve(unrolled, kernel, mode="valid")
    return smoothed


# --------------------------------------------------------------------- short stretches


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalSpectra(ReadOnly):
    """Spectra of stretches of positions.

    Attributes
    ----------
    encoding : what was analysed.
    window : positions in a stretch; a Hann taper fades both ends.
    centres : (F,) the middle of each stretch, in positions.
    omega : (window // 2 + 1,) rad/position.
    weights : (F, window // 2 + 1), each row sums to 1; a row of zeros where the stretch is zero.

    >>> from pe_spectra import Sinusoidal
    >>> found = compute_local_spectra(Sinusoidal(d=8), length=128)
    >>> found.window, found.weights.shape
    (16, (29, 9))
    """

    encoding: Encoding
    window: int
    centres: F64
    omega: F64
    weights: F64


def compute_local_spectra(
    encoding: Encoding, *, length: int | None = None, window: int | None = None, codes: F64 | None = None
) -> LocalSpectra:
    """Return the short-window spectra of an encoding's table: power summed over columns.

    Parameters
    ----------
    encoding : an encoding with a table.
    length : number of positions; default all rows of a table.
    window : positions in a stretch, 4 to `length`; default an eighth of them, from 16 to 512.
    codes : (length, d) of the positions, where they were read already.

    Raises
    ------
    InputError : an encoding without a table, or a window that does not fit.

    >>> from pe_spectra import Sinusoidal
    >>> compute_local_spectra(Sinusoidal(d=8), length=64).weights.shape
    (13, 9)
    """
    size = check_length(encoding, length)
    if size < _LEAST:
        raise InputError("positions are too few for a window", str(size), f"at least {_LEAST} are accepted")
    usual = min(size, max(_SHORTEST, min(_LONGEST, size // _PART)))
    width = usual if window is None else IntegerRange(minimum=_LEAST, maximum=size).check(window, "window")
    codes = read_codes(encoding, size) if codes is None else codes
    step = max(1, width // 4, math.ceil((size - width) / _MOST))
    # the last stretch ends with the table, so those between are spread evenly
    starts = np.rint(np.linspace(0, size - width, math.ceil((size - width) / step) + 1)).astype(np.int64)
    taper = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(width) + 0.5) / width)
    weights = np.zeros((len(starts), width // 2 + 1))
    for row, start in enumerate(starts):
        part = codes[start : start + width]
        largest = find_largest(part)
        # squares stay in range; each row is relative to its sum anyway
        spectrum = np.fft.rfft((part / largest if largest > 0 else part).T * taper)
        power = np.sum(spectrum.real**2 + spectrum.imag**2, axis=0)
        total = float(np.sum(power))
        weights[row] = power / total if total > 0 else 0.0
    return LocalSpectra(
        encoding=encoding,
        window=width,
        centres=starts.astype(np.float64) + (width - 1) / 2,
        omega=compute_omega(width),
        weights=weights,
    )
