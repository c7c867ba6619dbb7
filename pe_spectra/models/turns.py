"""Phases and whole turns: what is left of a phase, and which phases training did not show."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64

#: A whole turn, in rad.
TURN = 2 * math.pi
#: Phases this much beyond what training showed count as new: rounding of factors is not.
TOLERANCE = 1.01


def mark_unseen(shown: F64, met: F64) -> NDArray[np.bool_]:
    """Mark the pairs that meet phases above 1.01 times the largest that training showed, and less than a turn then.

    Parameters
    ----------
    shown, met : (P,) largest phase of each pair in training and now, in rad.

    >>> mark_unseen(np.array([1.0, 1.0, 7.0]), np.array([1.009, 1.02, 70.0])).tolist()
    [False, True, False]
    """
    unseen: NDArray[np.bool_] = (shown < TURN) & (met > TOLERANCE * shown)
    return unseen


def take_off_turns(phases: F64) -> F64:
    """Wrap phases in rad to -pi .. pi, in place.

    >>> take_off_turns(np.array([7.0])).round(4)  # 7 - 2 pi
    array([0.7168])
    """
    phases -= TURN * np.rint(phases / TURN)
    return phases
