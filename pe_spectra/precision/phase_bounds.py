"""By how much rounded positions, frequencies and products can put an angle off, before any is computed."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.precision.dtypes import DTYPES, NumberType, Steps, round_to
from pe_spectra.records import NamedTuple

#: Of a frequency: what float64 leaves of it, and what computing a bound in float64 takes off.
_KNOWN = 2.0**-51


class PhaseBounds(NamedTuple):
    """Upper bounds of the error of an angle, in rad, after each of the three steps; None where one is not finite."""

    positions: float | None
    frequencies: float | None
    phases: float | None


def bound_phase_errors(frequencies: F64, last: float, steps: Steps, *, are_whole: bool = True) -> PhaseBounds:
    """Bound the error of w s for all positions s up to `last` in magnitude, and all frequencies w.

    With s', w' rounded, s' w' - s w = (s' - s) w' + s (w' - w); then the product is rounded. Each part is largest at
    the last position, where it is at most half a unit in the last place (of whole numbers none while the unit is 1),
    or what a cast that saturates cuts off.

    Parameters
    ----------
    frequencies : (M,) not negative, in rad/position; exact ones may differ by half a unit in the last place.
    last : at least 0.
    are_whole : whether all positions are integers.
    steps : the types that positions, frequencies and their products are in.

    >>> from pe_spectra.precision.dtypes import RECIPES
    >>> bound_phase_errors(np.array([1.0]), 4095, RECIPES["all-bf16"].resolve("float16")).positions
    1.0
    >>> round(bound_phase_errors(np.array([1.0]), 4095, RECIPES["all-bf16"].resolve("float16")).phases, 6)
    2.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        end = np.array([float(last)])
        moved, furthest = _bound_roundings(end, steps.positions), round_to(end, steps.positions).astype(np.float64)
        moved = np.where(np.isfinite(furthest), np.where((moved > 0.5) | (not are_whole), moved, 0.0), math.inf)
        cast = round_to(frequencies, steps.frequencies).astype(np.float64)
        turned = moved * cast + end * (np.abs(cast - frequencies) + _KNOWN * frequencies)
        products = furthest * cast
        rounded = round_to(products, steps.phases).astype(np.float64)
        unit = sum(_bound_roundings(products, kind) for kind in _list_roundings(steps))
        errors = (moved * frequencies, turned, np.where(np.isfinite(rounded), turned + unit, math.inf))
    return PhaseBounds(*(float(one.max()) if np.isfinite(one).all() else None for one in errors))


def _list_roundings(steps: Steps) -> tuple[NumberType, ...]:
    """The types that a product is rounded to: its own, and before that its carrier's where that is too narrow."""
    factors = (steps.positions, steps.frequencies)
    carrier = DTYPES["float64" if any(kind.is_double for kind in (*factors, steps.phases)) else "float32"]
    is_exact = sum(kind.digits for kind in factors) <= carrier.digits
    return (steps.phases,) if is_exact or carrier is steps.phases else (carrier, steps.phases)


def _bound_roundings(values: F64, kind: NumberType) -> F64:
    is_finite = np.isfinite(values)
    return np.where(is_finite, kind.bound_roundings(np.where(is_finite, values, 1.0)), math.inf)


def bound_cast(largest: float, kind: NumberType) -> float:
    """Return by how much a cast changes a number up to a size, at most; what is beyond the type is cut off.

    >>> bound_cast(512.0, DTYPES["float8_e4m3fn"])  # a sixteenth, the step of the smallest numbers, and 512 - 448
    96.001953125
    """
    return largest * kind.roundoff + kind.step + max(0.0, largest - kind.largest)
