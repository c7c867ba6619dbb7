"""What a judgement is made of: the computed values as text, and the grade that they imply.

A judge takes nothing, returns a :class:`Judgement`, and is called by the id of its claim in claims.toml.
Thresholds that turn a number into a word are written where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.vocabulary import Grade

#: Deviations below this are rounding; their digits differ from machine to machine.
ROUNDING = 1e-12
#: Width and positions of the paper's figures.
D = 256
POSITIONS = (5, 40, 75)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Computed values of one claim, as text, and the grade that follows from them."""

    computed: str
    verdict: Grade


def conclude(computed: str, *, holds: bool, partly: bool = False) -> Judgement:
    """Give "ok" if the statement holds, else "partly" if it does so partly, else "wrong".

    >>> conclude("1.5", holds=False, partly=True).verdict
    'partly'
    """
    return Judgement(computed=computed, verdict="ok" if holds else "partly" if partly else "wrong")


def describe_deviation(deviation: float) -> str:
    """Write a deviation; one that is only rounding as a bound, so that the text is reproducible.

    >>> describe_deviation(2.3e-16), describe_deviation(0.25)
    ('below 1e-12', '0.25')
    """
    return "below 1e-12" if deviation < ROUNDING else f"{deviation:.6g}"
