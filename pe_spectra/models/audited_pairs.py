"""Pairs of channels: how often each turns, what is left of a phase, and which phases training did not cover."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64
from pe_spectra.quantities import Result, derived, quantity

#: A whole turn, in rad.
TURN = 2 * math.pi
#: Phases this much beyond what training showed count as new: rounding of factors is not.
TOLERANCE = 1.01
#: A pair that turns so often within the training is left alone by YaRN (its beta_fast).
MANY_TURNS = 32.0


@dataclass(frozen=True, kw_only=True)
class AuditedPair(Result):
    """One pair of channels."""

    pair: int = quantity("Index of the pair, from 0.", minimum=0)
    frequency_before: float | None = quantity(
        "Frequency of the ladder before scaling, 0 for a pair at rest; null where there is no base.",
        unit="rad/position",
        minimum=0,
    )
    frequency: float = quantity("Frequency at the inference context length.", unit="rad/position", minimum=0)

    @derived("Positions of a period, 2 pi over the frequency; null for a pair at rest.", unit="positions", above=0)
    def wavelength(self) -> float | None:
        wave = 2 * math.pi / self.frequency if self.frequency else math.inf
        return wave if math.isfinite(wave) else None

    turns: float | None = quantity(
        "Periods within the training context length, or the window; null where it is not known.", minimum=0
    )
    turns_served: float | None = quantity(
        "Periods within the inference context length, or the window; null where it is not known.", minimum=0
    )

    @derived(
        "Periods within the training context length: many from 32 on, few from 1 on, never below; null where the "
        "length is not known.",
        words=("many", "few", "never"),
    )
    def state(self) -> str | None:
        if self.turns is None:
            return None
        return "never" if self.turns < 1 else "few" if self.turns < MANY_TURNS else "many"


@dataclass(frozen=True, kw_only=True)
class AuditedLowBin(Result):
    """The frequencies below 2 pi over the training context length."""

    length: int = quantity("The training context length, or the window.", unit="positions", minimum=1)
    bin_edge: float = quantity("Width of the lowest bin.", unit="rad/position", above=0)
    crossing: float | None = quantity(
        "l* of Eq. 16, where the ladder crosses the edge, in units of its index l; null where there is no ladder or it "
        "never crosses."
    )
    inside: int = quantity("Number of frequencies strictly between 0 and the edge.", minimum=0)
    outside: int = quantity("Number of the others.", minimum=0)
    total: int = quantity("Number of all frequencies.", minimum=1)


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
