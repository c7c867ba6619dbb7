"""What a judgement is made of: the computed values as text, and the verdict that they imply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "partly", "wrong", "not tested"]

#: Deviations below this are rounding; their digits differ from machine to machine.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Computed values of one claim, as text, and the verdict that follows from them."""

    computed: str
    verdict: Verdict


Judge = Callable[[], Finding]


def conclude(computed: str, *, holds: bool, in_part: bool = False) -> Finding:
    """Give "ok" if the statement holds, else "partly" if it does so in part, else "wrong".

    >>> conclude("1.5", holds=False, in_part=True).verdict
    'partly'
    """
    verdict: Verdict = "ok" if holds else "partly" if in_part else "wrong"
    return Finding(computed=computed, verdict=verdict)


def describe_deviation(deviation: float) -> str:
    """Write a deviation; one that is only rounding as a bound, so that the text is reproducible.

    >>> describe_deviation(2.3e-16), describe_deviation(0.25)
    ('below 1e-12', '0.25')
    """
    return "below 1e-12" if deviation < ROUNDING else f"{deviation:.6g}"
