"""Where the study shows an encoding to be learned better, or worse, than the sinusoidal one.

`shown.tsv` has what `counting` makes of the lines of the study, which took a fifth of the processor time of a short
series; tests.study.shown_counts writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pe_spectra.records import NamedTuple
from pe_spectra.study.lines import find_study
from pe_spectra.vocabulary import NORMS


class Shown(NamedTuple):
    """In how many of so many comparisons of task and length an encoding is shown to be better, and worse."""

    better: int
    worse: int
    comparisons: int


def find_shown(arm: str) -> Shown | None:
    """Return what the study shows of an encoding at the norm of the sinusoid; None where none is there, or trained it.

    What is not added to tokens, or has that norm by itself, was trained at its own.

    >>> find_shown("periods") is None
    True
    """
    found = _read_shown() if find_study() is not None else {}
    return next((found[arm, norm] for norm in reversed(NORMS) if (arm, norm) in found), None)


@cache
def _read_shown() -> Mapping[tuple[str, str], Shown]:
    _, *lines = Path(__file__).with_name("shown.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return {(arm, norm): Shown(*map(int, counts)) for arm, norm, *counts in rows}
