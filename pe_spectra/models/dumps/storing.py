"""What storing numbers in a type leaves of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.precision.dtypes import STORED_TYPES

#: Largest relative error of rounding to nearest, for normal numbers; coarsest type first.
ROUNDOFF: Mapping[str, float] = MappingProxyType({name: kind.roundoff for name, kind in STORED_TYPES.items()})
#: Half the spacing of the smallest numbers of a type: what is no larger is rounded to 0.
FLOORS: Mapping[str, float] = MappingProxyType({name: kind.step / 2 for name, kind in STORED_TYPES.items()})


def describe_rounding(stored: str, rounding: str) -> tuple[str, ...]:
    """Say that numbers were rounded to a coarser type than the one that they are stored in.

    >>> describe_rounding("float32", "bfloat16")
    ('stored as float32, values rounded to bfloat16',)
    """
    if ROUNDOFF[rounding] > ROUNDOFF.get(stored, ROUNDOFF["float32"]):
        return (f"stored as {stored}, values rounded to {rounding}",)
    return ()
