"""Algorithm 1: what a function looks like through the frequency weights of an encoding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import C128, F64, ArrayLike, find_largest
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.density import DEFAULT_BANDWIDTH
from pe_spectra.spectrum.lag_window import compute_spectrum
from pe_spectra.spectrum.record import WEIGHTS_ARE_SHARES, Spectrum
from pe_spectra.vocabulary import AXES

#: Coefficients below this share of the largest are rounding, not support.
_SUPPORT = 1e-14
#: Squares between this and its inverse are in units of their own.
_ROOM = 1e200
_ANNIHILATED = "the weights annihilate this function, so nothing is left to rescale"
#: Values closer than this share of the largest are equal but for the rounding of two transforms.
_EQUAL = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionReconstruction(Result):
    """Algorithm 1 on the one-hot function of one position.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> found, = reconstruct_positions(compute_spectrum(Dft(d=8)), [3]).positions
    >>> found.peak, round(found.peak_value, 12)
    (3, 1.0)
    """

    s: int = quantity("The position.", minimum=0)
    values: F64 = quantity(
        "The reconstruction at t = 0 .. N-1, with the l2 norm of the original restored, which is 1.",
        least=2,
        column=None,
    )
    peak: int = quantity(
        "Where the reconstruction is largest; of equal peaks the first from s on.", unit="positions", minimum=0
    )
    peak_value: float = quantity("Its value there; 1 in the original.")
    fwhm: float | None = quantity(
        "Full width at half of the peak on the circular lattice, with linear interpolation; null where the curve "
        "never falls so low.",
        unit="positions",
        minimum=0,
    )
    width_10: float | None = quantity(
        "Full width at a tenth of the peak; null where the curve never falls so low.", unit="positions", minimum=0
    )
    relative_error: float = quantity("||r - f|| / ||f|| of the reconstruction r of f.", minimum=0)
    cosine: float = quantity(
        "Cosine of the angle between reconstruction and original, <r, f> / (||r|| ||f||).",
        minimum=-1.000001,
        maximum=1.000001,
    )
    relative_error_unscaled: float = quantity("The relative error without restoring the l2 norm.", minimum=0)

    @cached_property
    def shift(self) -> int:
        """How far the peak is from the position on the circular lattice."""
        size = self.values.size
        return min((self.peak - self.s) % size, (self.s - self.peak) % size)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconstruction(Result):
    """One encoding at one bandwidth, and what it leaves of each position.

    Every curve is a shift of `impulse_response`, of shape (N,).

    >>> from pe_spectra import Dft, compute_spectrum
    >>> reconstruct_positions(compute_spectrum(Dft(d=4)), [1]).impulse_response.round(12) + 0.0
    array([1., 0., 0., 0.])
    """

    schema_rules = WEIGHTS_ARE_SHARES

    @derived("The encoding that was analysed, and on a grid the direction.", key=None, column="encoding")
    def label(self) -> str:
        return self.spectrum.label

    @derived("Kernel width; null where no kernel enters.", unit="bins", key=None)
    def bandwidth(self) -> float | None:
        return self.spectrum.bandwidth

    spectrum: Spectrum = quantity(
        "The spectrum of the encoding.",
        inline=True,
        keys=("encoding", "grid", "bandwidth", "boundary", "estimator", "weights"),
        column=None,
    )

    @derived(
        "Of an encoding that fills a grid: the direction; absent on a line.",
        words=AXES,
        only=lambda found: found.spectrum.axis is not None,
        column=None,
    )
    def axis(self) -> str | None:
        return self.spectrum.axis

    @derived("What Algorithm 1 multiplies the coefficients at each DFT frequency with.", least=2, column=None)
    def multipliers(self) -> F64:
        return self.spectrum.multipliers

    @derived(
        "Relative error of Algorithm 1 where the weights themselves are the multipliers, of `dft` those of Eq. 22, in "
        "place of the weight of each basis function; only of an encoding on the lattice.",
        only=lambda found: found.spectrum.estimator == "lattice",
        minimum=0,
        column=None,
    )
    def relative_error_of_weights(self) -> float:
        return _measure_error(_respond_to_spike(self.spectrum.weights, self.spectrum.grid))

    positions: tuple[PositionReconstruction, ...] = quantity(
        "The positions in the order asked for.", key="reconstructions", least=1
    )
    impulse_response: F64 = quantity("Algorithm 1 at position 0.", key=None, column=None)


def reconstruct(function: ArrayLike, spectrum: Spectrum, *, rescale: bool = True) -> F64:
    """Multiply the DFT coefficients of a function by an encoding's weights and transform back.

    Implements Algorithm 1. With `rescale`, as in the text under it, the result has the l2 norm of the function. Weights
    enter by their logarithms where they might underflow, relative to the largest where the function has any content.

    Parameters
    ----------
    function : (N,), real and finite, N the lattice length of the spectrum.
    spectrum : from :func:`pe_spectra.compute_spectrum`.

    Returns
    -------
    (N,) the reconstruction.

    Raises
    ------
    InputError : a function of another shape, or not finite.
    UndefinedError : rescaling was asked for and nothing is left of the function.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> reconstruct([0, 1, 0, 0], compute_spectrum(Dft(d=4))).round(12)
    array([0., 1., 0., 0.])
    """
    f = np.asarray(function, dtype=float)
    if f.shape != (spectrum.grid,):
        raise InputError("the function does not fit the lattice", str(f.shape), f"shape ({spectrum.grid},)")
    c = np.fft.rfft(f)
    with np.errstate(over="ignore", invalid="ignore"):
        power, energy = _square(c, spectrum.grid)
    unit = 1.0
    if not 1 / _ROOM < energy < _ROOM:
        # in units of the largest part, squares neither overflow nor vanish
        parts = c.view(np.float64)
        unit = find_largest(parts)
        if not np.isfinite(unit):
            raise InputError("the function is not finite", accepted="finite numbers")
    if not rescale:
        return np.fft.irfft(c * spectrum.multipliers, spectrum.grid)
    if not unit > 0:
        raise UndefinedError(_ANNIHILATED)
    if unit != 1.0:
        parts /= unit
        power, energy = _square(c, spectrum.grid)
    factors = _choose_multipliers(power, energy, spectrum)
    power *= factors
    power *= factors
    left = _sum_energy(power, spectrum.grid)
    if not left > 0:
        raise UndefinedError(_ANNIHILATED)
    c *= factors * (unit * math.sqrt(energy / left))
    return np.fft.irfft(c, spectrum.grid)


def _square(c: C128, n: int) -> tuple[F64, float]:
    """The squares of the magnitudes of coefficients, and their energy."""
    power: F64 = c.real**2
    power += c.imag**2
    return power, _sum_energy(power, n)


def _choose_multipliers(power: F64, energy: float, spectrum: Spectrum) -> F64:
    """Return the multipliers in units in which the largest that matters is not small; 0 outside the support."""
    outside = None
    if power.min() <= _SUPPORT**2 * energy:  # which is at least the largest: of most functions one pass tells
        outside = power <= _SUPPORT**2 * power.max()
    if spectrum.estimator == "lag-window" or (spectrum.estimator == "kde" and outside is None):
        factors = spectrum.weights  # a lag window's are signed: they have no logarithm where rounding wins
    else:
        logs = spectrum.log_multipliers
        shift = float((logs if outside is None else logs[~outside]).max())
        if not math.isfinite(shift):
            raise UndefinedError(_ANNIHILATED)
        factors = np.exp(np.minimum(logs - shift, 0.0))
    return factors if outside is None else np.where(outside, 0.0, factors)


def reconstruct_positions(spectrum: Spectrum, s: Sequence[int]) -> Reconstruction:
    """Run Algorithm 1 on the one-hot functions of some positions.

    Implements Algorithm 1 for the functions of Fig. 2. The N curves are circular shifts of one.

    Parameters
    ----------
    spectrum : from :func:`pe_spectra.compute_spectrum`.
    s : positions, each from 0 to N - 1.

    Raises
    ------
    InputError : a position outside the lattice, or more numbers than can be held.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> result = reconstruct_positions(compute_spectrum(Sinusoidal(d=256)), [40])
    >>> result.positions[0].peak, round(result.positions[0].fwhm, 2)
    (40, 11.9)
    """
    n = spectrum.grid
    bounds = IntegerRange(minimum=0, maximum=n - 1)
    places = [bounds.check(position, "s") for position in s]
    if len(places) * n > MAX_HELD_ENTRIES:
        raise InputError("too many curves to hold", f"{len(places)} x {n}", f"at most {MAX_HELD_ENTRIES} numbers")
    rows = reconstruct_all_positions(spectrum)
    at_0 = _measure(rows[0], spectrum)
    return Reconstruction(
        spectrum=spectrum,
        impulse_response=rows[0],
        positions=tuple(replace(at_0, s=s, values=rows[s], peak=(at_0.peak + s) % n) for s in places),
    )


def reconstruct_all_positions(spectrum: Spectrum) -> F64:
    """Run Algorithm 1 on the one-hot functions of all positions at once.

    Row s is Algorithm 1 of the one-hot function of position s, rescaled. All rows are shifts of one curve and share its
    memory of 2 N numbers: copy the array before changing it, and mind that a copy has N**2 numbers.

    Parameters
    ----------
    spectrum : from :func:`pe_spectra.compute_spectrum`.

    Returns
    -------
    (N, N) read-only view, row s over positions t.

    Raises
    ------
    UndefinedError : all multipliers are 0.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> rows = reconstruct_all_positions(compute_spectrum(Sinusoidal(d=256)))
    >>> rows.shape, int(rows[40].argmax()), rows.base is not None
    ((256, 256), 40, True)
    """
    response = _respond_to_spike(spectrum.multipliers, spectrum.grid)
    # row s is the curve shifted by s: N numbers from place N - 1 - s on
    twice = np.concatenate([response[1:], response])
    return np.lib.stride_tricks.sliding_window_view(twice, spectrum.grid)[::-1]


def _respond_to_spike(multipliers: F64, n: int) -> F64:
    """Algorithm 1 of the one-hot function at 0, of unit norm; (N,), even in t. Position s gives the same, shifted."""
    if not multipliers.max() > 0:
        raise UndefinedError("the weights annihilate every function")
    # the largest weight is at least the mean: what of its squares underflows is nothing here
    return np.fft.irfft(multipliers * math.sqrt(n / _sum_energy(multipliers * multipliers, n)), n)


def _measure_error(response: F64) -> float:
    """How far what became of the one-hot function at 0 is from it, whose norm is 1."""
    return float(np.sqrt((response[0] - 1.0) ** 2 + np.sum(response[1:] ** 2)))


def measure_width(curve: ArrayLike, fraction: float) -> float | None:
    """Return the full width of a curve at a fraction of its peak, in positions.

    The lattice is circular and values between samples are interpolated linearly: from the (first)
    peak outwards on both sides to where the curve first falls so low. None where it never does.

    Raises
    ------
    InputError : a curve without a finite peak above 0, or a fraction outside (0, 1).

    >>> measure_width([0.0, 0.0, 1.0, 0.0, 0.0], 0.5)
    1.0
    """
    y = np.asarray(curve, dtype=float)
    if y.ndim != 1 or not y.size or not 0 < np.max(y) < np.inf or not 0 < fraction < 1:
        raise InputError("this curve has no such width", f"fraction {fraction}", "a peak above 0, fraction in (0, 1)")
    y = np.roll(y, -int(np.argmax(y)))
    level = fraction * y[0]
    sides = []
    for side in (y, np.concatenate([y[:1], y[:0:-1]])):
        if not len(below := np.flatnonzero(side <= level)):
            return None
        i = int(below[0])
        sides.append(i - 1 + (side[i - 1] - level) / (side[i - 1] - side[i]))
    return float(sides[0] + sides[1])


def _sum_energy(power: F64, n: int) -> float:
    """The sum over the whole spectrum of a real function of length n from the squares of its half: n ||f||**2."""
    return 2 * float(power.sum()) - float(power[0] + (power[-1] if n % 2 == 0 else 0.0))


def _measure(response: F64, spectrum: Spectrum) -> PositionReconstruction:
    # the curve is even: its peaks on both sides differ by rounding alone
    peak = int(np.argmax(response >= (1 - _EQUAL) * response.max()))
    return PositionReconstruction(
        s=0,
        values=response,
        peak=peak,
        peak_value=float(response[peak]),
        fwhm=measure_width(response, 0.5),
        width_10=measure_width(response, 0.1),
        relative_error=_measure_error(response),
        cosine=float(response[0] / np.sqrt(np.sum(response**2))),
        # by Parseval: the coefficients of a one-hot all have magnitude 1
        relative_error_unscaled=math.sqrt(_sum_energy((1 - spectrum.multipliers) ** 2, spectrum.grid) / spectrum.grid),
    )


@dataclass(frozen=True, kw_only=True)
class Blur(Result):
    """What Algorithm 1 makes of a position on the encoding's own lattice: the same of every one."""

    fwhm: float | None = quantity(
        "Full width at half of the peak; null where the curve never falls so low.", unit="positions", minimum=0
    )
    relative_error: float | None = quantity(
        "||r - f|| / ||f||; null where the encoding has no list of frequencies.", minimum=0
    )


def reconstruct_one(encoding: Encoding, bandwidth: float | None, size: int) -> tuple[Blur, float, tuple[str, ...]]:
    """Apply Algorithm 1 on the encoding's own lattice; give the blur, the bandwidth used, and why there is none.

    >>> from pe_spectra import Dft
    >>> blur, bandwidth, notes = reconstruct_one(Dft(d=8), None, 8)
    >>> bandwidth, notes
    (4.0, ())
    """
    try:
        spectrum = compute_spectrum(encoding, bandwidth=bandwidth, length=None if encoding.shape else size)
        found = reconstruct_positions(spectrum, [0]).positions[0]
    except (InputError, UndefinedError) as error:
        why = f"no reconstruction: {str(error).removeprefix(f'{encoding.label}: ')}"
        return Blur(fwhm=None, relative_error=None), bandwidth or DEFAULT_BANDWIDTH, (why,)
    return Blur(fwhm=found.fwhm, relative_error=found.relative_error), spectrum.bandwidth or DEFAULT_BANDWIDTH, ()
