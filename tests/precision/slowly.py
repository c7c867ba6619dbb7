"""Finite precision, slowly: rounding by its definition, and every stage of a ladder in fractions and digits."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np

from pe_spectra.precision.dtypes import DTYPES, SATURATING, Recipe

NARROW = [name for name in DTYPES if name not in ("float32", "float64")]
#: Exact up to the phases, which alone are rounded.
PHASES_ONLY = Recipe(
    name="phases",
    when="when phases alone are rounded",
    positions="float64",
    frequencies="float64",
    phases="dtype",
    sines="float64",
    code="float64",
)


def find_dtype(name):
    """The type of ml_dtypes or NumPy; their casts never saturate."""
    name = name.removesuffix(SATURATING)
    return np.dtype(getattr(ml_dtypes, name, None) or name)


# ----------------------------------------------------------------------------------- rounding, as it is defined


def round_fraction(value: Fraction, name: str) -> float:
    """Round an exact number to nearest, ties to even, as the definition says; overflow as ml_dtypes has it."""
    kind = DTYPES[name]
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = math.floor(math.log2(size)) if size > Fraction(2) ** -1000 else -1080
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, kind.exponent) - kind.digits + 1)
    rounded = round(size / step) * step  # Python rounds fractions half to even
    if rounded > Fraction(kind.largest):
        return math.copysign(kind.overflow, value)
    return float(rounded) * (-1 if value < 0 and rounded else 1)


def same(left, right):
    np.testing.assert_array_equal(np.asarray(left, dtype=float), np.asarray(right, dtype=float))


# ----------------------------------------------------------------------------------- the pipeline, slowly


def round_mpf(value, name):
    return round_fraction(Fraction(*mpmath_ratio(value)), name)


def mpmath_ratio(value):
    sign, mantissa, exponent, _ = value._mpf_
    number = -int(mantissa) if sign else int(mantissa)
    return (number << exponent, 1) if exponent >= 0 else (number, 1 << -exponent)


def describe_slowly(table):
    """Distinct rows, the first collision, columns that never change."""
    first: dict[tuple[str, ...], int] = {}
    collision = None
    for t, row in enumerate(table):
        key = tuple(repr(x + 0.0) for x in row)
        if key in first and collision is None:
            collision = (first[key], t)
        first.setdefault(key, t)
    constant = sum(len({repr(x + 0.0) for x in column}) == 1 for column in zip(*table, strict=True))
    return len(first), collision, constant
