"""What can be done to the frequencies of a rotary encoding: pure functions on lists of decimals.

Frequencies are in rad/position, one for each pair of channels, fastest first, as decimals of 60 digits.
Published ways to scale them are built from these in `rope_scaling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache

from pe_spectra.exact import CONTEXT, PI, TWO_PI, compute_ratio, list_powers

_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)


#: Ladders that are kept: the readings of one model, and models of one kind, share theirs.
_KEPT = 32


@lru_cache(maxsize=_KEPT)
def compute_ladder(base: float | Decimal, width: int, pairs: int | None = None) -> tuple[Decimal, ...]:
    """Compute the first `pairs` (default: all) of theta_i = base**(-2i/width), to 50 digits.

    Parameters
    ----------
    base : > 0. width : D, even, >= 2.

    >>> [str(theta) for theta in compute_ladder(10000, 4)][0]
    '1'
    """
    return tuple(list_powers(compute_ratio(base, width), width // 2 if pairs is None else pairs))


def divide_frequencies(frequencies: Sequence[Decimal], factor: Decimal) -> tuple[Decimal, ...]:
    """Divide every frequency by `factor`.

    >>> divide_frequencies([Decimal(1), Decimal("0.5")], Decimal(4))
    (Decimal('0.25'), Decimal('0.125'))
    """
    return tuple(CONTEXT.divide(theta, factor) for theta in frequencies)


def blend_frequencies(frequencies: Sequence[Decimal], factor: Decimal, ramp: Sequence[Decimal]) -> tuple[Decimal, ...]:
    """Return theta where the ramp is 0, theta/factor where it is 1, and the linear blend between.

    >>> blend_frequencies([Decimal(1)] * 3, Decimal(2), [Decimal(0), Decimal("0.5"), Decimal(1)])
    (Decimal('1.0'), Decimal('0.75'), Decimal('0.5'))
    """
    slow = divide_frequencies(frequencies, factor)
    return tuple(
        CONTEXT.add(CONTEXT.multiply(CONTEXT.subtract(_ONE, u), theta), CONTEXT.multiply(u, divided))
        for theta, divided, u in zip(frequencies, slow, ramp, strict=True)
    )


def clip_to_unit(value: Decimal) -> Decimal:
    """Return the nearest number from 0 to 1.

    >>> clip_to_unit(Decimal("1.5")), clip_to_unit(Decimal("-0.5")), clip_to_unit(Decimal("0.25"))
    (Decimal('1'), Decimal('0'), Decimal('0.25'))
    """
    return min(max(value, _ZERO), _ONE)


def blend_by_turns(
    frequencies: Sequence[Decimal], factor: float, original: int, low: float, high: float
) -> tuple[Decimal, ...]:
    """Divide by s what turns fewer than `low` times within L, keep what turns more than `high` times.

    Between the two the blend is linear in the turns. Where high is low or below there is nothing between,
    and it is a step at `low`: in the published code what turns less often is divided before anything else. That
    compares wavelengths: all are above one of low turns below 0, and none is below one of high turns below 0.

    >>> two_pi = Decimal("6.283185307179586")
    >>> [float(w) for w in blend_by_turns([two_pi / 2, two_pi / 200], 4.0, 100, 1.0, 4.0)]  # 50 turns, and 1/2
    [3.141592653589793, 0.007853981633974482]
    """
    span = CONTEXT.subtract(Decimal(high), Decimal(low))
    ramp = []
    for theta in frequencies:
        turns = CONTEXT.divide(CONTEXT.multiply(Decimal(original), theta), TWO_PI)
        if turns < low or low < 0:
            ramp.append(_ONE)
        elif turns > high >= 0 or not span:
            ramp.append(_ZERO)
        else:
            ramp.append(CONTEXT.subtract(_ONE, CONTEXT.divide(CONTEXT.subtract(turns, Decimal(low)), span)))
    return blend_frequencies(frequencies, Decimal(factor), ramp)


def round_wavelength(theta: Decimal) -> int:
    """Round the wavelength 2 pi/theta to an integer, at least 1 position.

    >>> round_wavelength(Decimal(1)), round_wavelength(Decimal(100))
    (6, 1)
    """
    return max(1, int(CONTEXT.divide(TWO_PI, theta).to_integral_value(ROUND_HALF_EVEN)))


def taper_slowest(frequencies: Sequence[Decimal], pairs: int, taper: str = "hann") -> tuple[Decimal, ...]:
    """Multiply the last n = `pairs` frequencies by (1 + cos(pi j/(n-1)))/2, j = 0 .. n-1; "hard": by 0.

    A single tapered pair keeps its frequency, as published.

    >>> [round(float(w), 12) for w in taper_slowest([Decimal(1)] * 4, 3)]
    [1.0, 1.0, 0.5, 0.0]
    """
    count = min(pairs, len(frequencies))
    weights = _compute_hann_fall(count) if taper == "hann" else [_ZERO] * count
    kept = len(frequencies) - count
    tapered = (CONTEXT.multiply(theta, w) for theta, w in zip(frequencies[kept:], weights, strict=True))
    return (*frequencies[:kept], *tapered)


def _compute_hann_fall(count: int) -> list[Decimal]:
    if count < 2:
        return [_ONE] * count
    # c_j = cos(j a) by c_(j+1) = 2 cos(a) c_j - c_(j-1); the errors grow as count squared, from 60 digits
    step = compute_cosine(CONTEXT.divide(PI, Decimal(count - 1)))
    cosines = [_ONE, step]
    while len(cosines) < count:
        twice = CONTEXT.multiply(CONTEXT.multiply(_TWO, step), cosines[-1])
        cosines.append(CONTEXT.subtract(twice, cosines[-2]))
    cosines[-1] = -_ONE
    return [CONTEXT.divide(CONTEXT.add(_ONE, cosine), _TWO) for cosine in cosines]


def compute_cosine(angle: Decimal) -> Decimal:
    """Compute a cosine from its series, of the angle in rad without whole turns.

    >>> round(float(compute_cosine(Decimal(7))), 12)
    0.753902254343
    """
    turns = CONTEXT.divide(angle, TWO_PI).to_integral_value(ROUND_HALF_EVEN)
    rest = CONTEXT.subtract(angle, CONTEXT.multiply(turns, TWO_PI))
    square, total, term, n = CONTEXT.multiply(rest, rest), _ONE, _ONE, 0
    while abs(term) > Decimal("1e-70"):
        n += 2
        term = CONTEXT.divide(CONTEXT.multiply(term, square), Decimal(-n * (n - 1)))
        total = CONTEXT.add(total, term)
    return total
