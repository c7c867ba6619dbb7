"""Fourier features: sines and cosines of a coordinate, often a normalised one."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.learned import HeldTable
from pe_spectra.encodings.pairs import Pairs, compute_geometric_words, explain_aliasing, scale_to_words
from pe_spectra.encodings.parameters import RHO, SEED, WIDTH, FileOfNumbers, GivenArray, Parameter, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, compute_ratio, sin_cos
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.records import dataclass

NO_TABLE = {"values": (None,)}
TABLE = Parameter(
    name="table",
    accepts=FileOfNumbers(axes=(1, 2), what="frequencies"),
    meaning="the learned frequencies, d/2 numbers in rad per unit of the coordinate; not set: drawn",
)
_WIDTH = replace(WIDTH, default=None, multiple=2, meaning="width; twice the frequencies of the table, or 256")
#: Decades that the frequencies of the published code span at its start: 1 to 1e-9 rad/s.
_DECADES = 9
#: Largest frequency that a file may give, rad/position: that of the steepest ladder that is accepted.
_MAX_FREQUENCY = 1e6


class GivenFrequencies(Pairs):
    """Frequencies that a file gives; without one they are drawn, or those that training starts from."""

    #: Columns where neither a file nor the caller says.
    default_width: ClassVar[int] = 256

    values: GivenArray | None
    #: Number of columns, twice that of the frequencies.
    d: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.settle("d", None if self._given is None else 2 * self._given.size, self.default_width)

    @cached_property
    def _given(self) -> F64 | None:
        if self.values is None:
            return None
        table = self.values.values
        if table.size != max(table.shape):
            raise InputError(f"{self.name}: table has shape {table.shape}", accepted="frequencies in one row or column")
        largest = float(np.abs(table).max())
        if largest > _MAX_FREQUENCY:
            raise InputError(
                f"{self.name}: a frequency is out of range", repr(largest), f"at most {_MAX_FREQUENCY:g} rad"
            )
        return table.ravel()

    @property
    def _moves(self) -> bool:
        return bool(self.words()[0].any())

    def exact_key(self, positions: I64) -> I64:
        """The position itself; the same for all where every frequency is 0."""
        return positions if self._moves else np.zeros_like(positions)

    @property
    def theorem(self) -> Theorem | None:
        """As for every rational frequency, and doubles are rational; or all frequencies are 0."""
        if not self._moves:
            return Theorem(kind="constant", text="every frequency is 0, so that every position has the same vector")
        return super().theorem


# Its frequencies are float64 numbers, and so rational: the theorem holds.
@final
@dataclass(frozen=True, kw_only=True)
class FourierFeatures(GivenFrequencies, HeldTable, keeps_theorem=True):
    """Random or learned Fourier features of the position, without the network that may follow them.

    The squared norm of every code is 1/2. Drawn frequencies approximate a Gaussian kernel: the mean
    of k(tau)/k(0) over all draws is exp(-tau**2/(2 gamma**2)), tau in units of the coordinate.
    """

    name: ClassVar[str] = "fourier-features"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "cosines and sines of normally distributed or learned frequencies"
    formula: ClassVar[str] = (
        "e(s) = (cos w_i x, .., sin w_i x, ..)/sqrt(d), w_i ~ N(0, gamma**-2), x = s, s/n or in [-1, 1]"
    )
    source: ClassVar[str] = (
        "Li et al. 2021, arXiv:2106.02795, Eq. (2); espnet, LearnableFourierPosEnc (x = s); "
        "Tancik et al. 2020, arXiv:2006.10739 (x = s/n); cvg/LightGlue (x in [-1, 1])"
    )
    pitfalls: ClassVar[str] = (
        "the standard deviation is 1/gamma here (gamma**-2 read as the variance), gamma**-2 in "
        "willGuimont/learnable_fourier_positional_encoding and LightGlue, gamma**-0.5 in espnet; Tancik et al. have "
        "2 pi sigma = 1/gamma, sines first and no 1/sqrt(d); after the MLP of Li et al. only a table tells the spectrum"
    )

    values: GivenArray | None = parameter(like=TABLE)
    d: int = parameter(like=_WIDTH)
    gamma: float = parameter(
        default=10.0,
        accepts=RealRange(minimum=1e-5, maximum=1e9),
        meaning="width of the kernel in units of the coordinate: frequencies have standard deviation 1/gamma",
        only_with=NO_TABLE,
    )
    seed: int = parameter(like=SEED, meaning="seed of the frequencies that are drawn", only_with=NO_TABLE)
    coordinate: str = parameter(
        accepts=Choice(members=("position", "unit", "symmetric")),
        meaning="what frequencies multiply: s, s/n in [0, 1), or 2s/(n-1) - 1 in [-1, 1]",
    )
    length: int = parameter(
        default=80,
        accepts=IntegerRange(minimum=2, maximum=MAX_LENGTH),
        meaning="number of positions n that the coordinate is normalised by",
        only_with={"coordinate": ("unit", "symmetric")},
    )

    @property
    def rows(self) -> int | None:
        """As many as the coordinate is normalised by; no end where it is the position."""
        return None if self.coordinate == "position" else self.length

    @property
    def notes(self) -> tuple[str, ...]:
        """That the frequencies are drawn, and that some are aliased."""
        drawn = (f"{self.label}: frequencies drawn at random, as before training",) if self.is_random else ()
        return drawn + explain_aliasing(self)

    @property
    def amplitude(self) -> float:
        """The factor 1/sqrt(d)."""
        return 1 / math.sqrt(self.d)

    def _draw(self, generator: np.random.Generator) -> F64:
        return generator.standard_normal(self.d // 2) / self.gamma

    @property
    def weights(self) -> F64:
        """The frequencies in rad per unit of the coordinate, (d/2,), with their signs."""
        return self.entries.ravel()

    @cached_property
    def _words(self) -> F64:
        span = {"position": Fraction(1), "unit": Fraction(1, self.length), "symmetric": Fraction(2, self.length - 1)}
        step = span[self.coordinate]
        return scale_to_words(np.abs(self.weights), CONTEXT.divide(Decimal(step.numerator), Decimal(step.denominator)))

    def words(self) -> F64:
        """Magnitudes of the frequencies in rad/position as (3, M) words."""
        return self._words

    def _turn(self, s: I64 | F64) -> tuple[F64, F64]:
        if self.coordinate == "symmetric":
            return sin_cos(self.words() / 2, 2 * s - (self.length - 1))
        return super()._turn(s)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all cosines first, then the sines with the sign of their frequency."""
        signed = sine * np.where(self.weights < 0, -self.amplitude, self.amplitude)
        return np.concatenate([cosine * self.amplitude, signed], axis=1)

    @property
    def _moves(self) -> bool:
        return bool(self.weights.any())


# Its frequencies are float64 numbers, or the first is 1 rad/position: the theorem holds.
@final
@dataclass(frozen=True, kw_only=True)
class LearnableSinusoid(GivenFrequencies, keeps_theorem=True):
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
        like=TABLE, meaning="the learned frequencies, d/2 numbers in rad/position; not set: as they start"
    )
    d: int = parameter(like=_WIDTH)
    start: str = parameter(
        accepts=Choice(members=("ladder", "decades")),
        meaning="frequencies before training: those of sinusoidal, or 1 to 1e-9 evenly on a logarithmic scale",
        only_with=NO_TABLE,
    )
    rho: float = parameter(
        like=RHO,
        meaning="base of the geometric ladder that the frequencies start from",
        only_with={**NO_TABLE, "start": ("ladder",)},
    )

    @property
    def notes(self) -> tuple[str, ...]:
        """That the frequencies are not learned ones, and that some are aliased."""
        early = () if self.values else (f"{self.label}: no table is given, so frequencies are as before training",)
        return early + explain_aliasing(self)

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
