"""Frequencies that a port holds in another unit than rad/position by mistake, and what to call it."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.rotation import Rotation

#: What a ladder that begins at 1 then begins with, and what that looks like.
_UNITS = (
    (180 / math.pi, "180/pi times a ladder: in degrees?"),
    (2 * math.pi, "2 pi times a ladder: a factor 2 pi too much?"),
    (0.5 / math.pi, "1/(2 pi) times a ladder: in turns?"),
)
#: Relative error with which numbers of that origin are written.
_UNIT_ERROR = 1e-5


def name_unit(a: Rotation, b: Rotation) -> str:
    """Say that a dump is a ladder in another unit than rad/position, as a clause; empty where none is.

    >>> ladder = 100.0 ** -np.arange(0, 1, 0.5)
    >>> name_unit(Rotation(frequencies=ladder), Dump(kind="frequencies", frequencies=np.degrees(ladder)))
    '; B is 180/pi times a ladder: in degrees?'
    """
    for letter, side, other in (("A", a, b), ("B", b, a)):
        if not isinstance(side, Dump) or side.frequencies is None or not len(side.frequencies):
            continue
        for unit, words in _UNITS:
            allowed = max(4 * side.error_bound, _UNIT_ERROR)
            if abs(side.frequencies[0] / unit - 1) > allowed:
                continue
            if side.base is not None or _is_multiple(side.frequencies, other.frequencies, unit, allowed):
                return f"; {letter} is {words}"
    return ""


def _is_multiple(values: F64, of: F64 | None, factor: float, allowed: float) -> bool:
    if of is None or len(of) != len(values):
        return False
    return bool(np.all(np.abs(values - factor * of) <= allowed * factor * of))
