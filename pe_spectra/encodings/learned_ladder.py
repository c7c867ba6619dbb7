"""The sinusoid whose frequencies are learned."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.pairs import (
    Pairs,
    check_frequencies,
    compute_geometric_words,
    compute_ratio,
    explain_aliasing,
    fit_width,
    scale_to_words,
)
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.exact import CONTEXT, F64, I64
from pe_spectra.limits import MAX_RHO, MAX_WIDTH, MIN_RHO, MIN_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange

_AT_START = {"values": (None,)}
#: Decades that the frequencies of the published code span at its start: 1 to 1e-9 rad/s.
_DECADES = 9


@final
@dataclass(frozen=True, kw_only=True)
class LearnableSinusoid(Pairs):
    """Sines and cosines of learned frequencies: those that a file gives, or those that training starts from.

    A frequency below 0 is kept in its sine column, which turns its sign; everything else is as for |w|.
    """

    name: ClassVar[str] = "learnable-sinusoid"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "sines and cosines of learned frequencies, from a file or as they start"
    formula: ClassVar[str] = (
        "e(t) = (sin w_i t, .., cos w_i t, ..), w_i learned; start: rho**(-2i/d) or 10**(-9i/(d/2-1)), i = 0 .. d/2-1"
    )
    source: ClassVar[str] = (
        "Lin, Wan, Guo & Lin 2021, AAAI 35, 4241; start=decades: Logan-Lin/CTLE, embed/ctle.py, class TemporalEncoding"
    )
    pitfalls: ClassVar[str] = (
        "positions are times, in seconds there; the published code has d lone cosines cos(w_i t + b_i) with learned "
        "b_i (0 at first) and a factor d**-0.5, so that its similarity is not a function of the lag; float32 "
        "timestamps of 1e9 s are multiples of 64 s"
    )

    values: GivenArray | None = parameter(
        name="table",
        accepts=FileOfNumbers(axes=(1, 2), what="frequencies"),
        meaning="the learned frequencies, d/2 numbers in rad/position; not set: as they start",
    )
    width: int | None = parameter(
        name="d",
        accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
        meaning="width of the code; twice the frequencies of the table, or 256",
    )
    start: str = parameter(
        default="ladder",
        accepts=Choice(members=("ladder", "decades")),
        meaning="frequencies before training: those of sinusoidal, or 1 to 1e-9 evenly on a logarithmic scale",
        only_with=_AT_START,
    )
    rho: float = parameter(
        default=10000.0,
        accepts=RealRange(minimum=MIN_RHO, maximum=MAX_RHO),
        meaning="base of the geometric ladder that the frequencies start from",
        only_with={**_AT_START, "start": ("ladder",)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", fit_width(self.name, self.width, self._given))

    @property
    def d(self) -> int:
        """Number of columns, twice that of the frequencies."""
        return self.width or 0

    @property
    def notes(self) -> tuple[str, ...]:
        """That the frequencies are not learned ones, and that some are aliased."""
        early = () if self.values else (f"{self.label}: no table is given, so frequencies are as before training",)
        return early + explain_aliasing(self)

    @cached_property
    def _given(self) -> F64 | None:
        return check_frequencies(self.name, self.values.values) if self.values else None

    def words(self) -> F64:
        """Magnitudes of the frequencies in rad/position as (3, M) words."""
        if self._given is not None:
            return scale_to_words(np.abs(self._given), Decimal(1))
        count = self.d // 2
        if self.start == "ladder":
            return compute_geometric_words(Decimal(1), compute_ratio(self.rho, self.d), count)
        exponent = CONTEXT.divide(Decimal(-_DECADES), Decimal(max(count - 1, 1)))
        return compute_geometric_words(Decimal(1), CONTEXT.power(Decimal(10), exponent), count)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all sines first, with the sign of their frequency."""
        if self._given is not None:
            sine = sine * np.where(self._given < 0, -1.0, 1.0)
        return np.concatenate([sine, cosine], axis=1)

    def exact_key(self, positions: I64) -> I64:
        """The position itself; the same for all where every frequency is 0."""
        return positions if self.words()[0].any() else np.zeros_like(positions)

    @property
    def theorem(self) -> Theorem:
        """As for every rational frequency, and doubles are rational; or all frequencies are 0."""
        if not self.words()[0].any():
            return Theorem(kind="constant", text="every frequency is 0, so that every position has the same code")
        return super().theorem
