"""Ladders of sines and cosines that are added to a token."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.pairs import Pairs, add_offset, compute_geometric_words, compute_ratio, explain_aliasing
from pe_spectra.encodings.parameters import Parameter, parameter
from pe_spectra.encodings.positions import as_lags
from pe_spectra.encodings.protocol import Frequencies, Ladder, Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, TWO_PI, ladder_pairs, ladder_words, sin_cos, sum_cosines, to_words
from pe_spectra.limits import MAX_LENGTH, MAX_RHO, MAX_WIDTH, MIN_LENGTH, MIN_RHO, MIN_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange

_WIDTH = Parameter(
    default=256,
    accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
    meaning="width of the code, and length of the lattice in the paper",
)
_RHO = Parameter(
    default=10000.0,
    accepts=RealRange(minimum=MIN_RHO, maximum=MAX_RHO),
    meaning="base of the geometric ladder; the slowest wavelength is nearly 2 pi rho positions",
)
_OFFSET = Parameter(
    default=0,
    accepts=IntegerRange(minimum=0, maximum=MAX_LENGTH),
    meaning="number of the first position: 1 in some stacks, padding_idx + 1 in fairseq",
)
_TIMESCALE = RealRange(minimum=1e-6, maximum=1e12)


@final
@dataclass(frozen=True, kw_only=True)
class Sinusoidal(Pairs):
    """The sinusoidal encoding of Vaswani et al. 2017.

    Implements Eq. (2) and Eq. (3): columns sin(w_l s), cos(w_l s) with w_l = rho**(-l/d),
    l = 0, 2, .., in rad/position. Odd d: the last frequency has only its sine.

    >>> Sinusoidal(d=4).table(2).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0]]
    """

    name: ClassVar[str] = "sinusoidal"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "sines and cosines on a geometric ladder of frequencies"
    formula: ClassVar[str] = (
        "e(s) = scale (sin w_l (s + offset), cos w_l (s + offset)), w_l = rho**(-l/d), l = 0, 2, .., d-2"
    )
    source: ClassVar[str] = (
        "Vaswani et al. 2017, Sec. 3.5; Eq. (2), (3) of Ide, Labaien & Chen 2024, arXiv:2405.09061; "
        "scale: lucidrains/x-transformers, ScaledSinusoidalEmbedding"
    )
    pitfalls: ClassVar[str] = (
        "implementations differ in the order of columns (layout), in odd d, in whether positions start at 0 or 1, "
        "and in a factor on all entries (x-transformers: d**-0.5, learned from there); the frequencies are the same"
    )

    d: int = parameter(like=_WIDTH)
    rho: float = parameter(like=_RHO)
    layout: str = parameter(
        default="interleaved",
        accepts=Choice(members=("interleaved", "concatenated")),
        meaning="sine and cosine columns in turns, or all sines first",
    )
    offset: int = parameter(like=_OFFSET)
    scale: float = parameter(
        default=1.0,
        accepts=RealRange(minimum=1e-9, maximum=1e9),
        meaning="what all entries are multiplied with",
    )

    @property
    def amplitude(self) -> float:
        """The factor on all entries."""
        return self.scale

    @property
    def ladder(self) -> Ladder:
        """Base and width of the ladder of Eq. (3)."""
        return Ladder(base=float(self.rho), width=self.d)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, M) words."""
        return ladder_words(float(self.rho), self.d)

    def frequencies(self) -> Frequencies:
        """Frequencies of Eq. (3), largest first for rho > 1; M = ceil(d / 2)."""
        values, low = ladder_pairs(float(self.rho), self.d)
        masses, phases = np.ones_like(values), np.zeros_like(values)
        if self.d % 2:
            masses[-1] = 0.5
            # the lone sine as a cosine: sin(w (s + offset)) = cos(w s + phase)
            word = to_words(CONTEXT.multiply(self.turns(len(values) - 1), TWO_PI))
            sine, cosine = sin_cos(np.array([word]).T, [self.offset])
            phases[-1] = np.arctan2(-cosine[0, 0], sine[0, 0])
        return Frequencies(values=values, low=low, masses=masses, phases=phases, amplitude=self.scale)

    def turns(self, index: int) -> Decimal:
        """Frequency `index` in turns per position, to 55 digits."""
        exponent = CONTEXT.divide(Decimal(-2 * index), Decimal(self.d))
        return CONTEXT.divide(CONTEXT.power(Decimal.from_float(self.rho), exponent), TWO_PI)

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two codes by their lag: scale**2 sum of cos(w tau), shape (1, L).

        Odd d: the lone sine counts one half; its further term in s + t is not a function of the lag.
        """
        kernel = sum_cosines(self.words(), self.frequencies().masses, as_lags(lags))[None, :]
        return self.scale**2 * kernel

    def evaluate(self, s: I64) -> tuple[F64, F64]:
        """Sines and cosines at integer positions, each (S, M)."""
        return sin_cos(self.words(), add_offset(s, self.offset, self.name))

    def evaluate_at(self, times: F64) -> tuple[F64, F64]:
        """Sines and cosines at real positions, each (S, M)."""
        return sin_cos(self.words(), times + self.offset)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put the columns in the order of the layout, and multiply them with the scale."""
        if self.layout == "concatenated":
            rows = np.concatenate([sine, cosine], axis=1)[:, : self.d]
        else:
            rows = np.stack([sine, cosine], axis=2).reshape(len(sine), 2 * sine.shape[1])[:, : self.d]
        return rows if self.scale == 1.0 else rows * self.scale

    @property
    def theorem(self) -> Theorem:
        """Equal codes need a lag that is a multiple of 2 pi."""
        return Theorem(
            kind="irrational-frequency",
            text="sin s and cos s (frequency 1 rad) agree only where s - t is a multiple of 2 pi, and pi is irrational",
        )


@final
@dataclass(frozen=True, kw_only=True)
class Tensor2Tensor(Pairs):
    """The ladder as tensor2tensor, fairseq and Whisper compute it: its slowest frequency is exactly 1/max_timescale."""

    name: ClassVar[str] = "tensor2tensor"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the sinusoid of tensor2tensor, fairseq and Whisper: both ends of the ladder are met"
    formula: ClassVar[str] = (
        "e(s) = (sin w_0 s, sin w_1 s, .., cos w_0 s, cos w_1 s, ..), w_i = (1/min) (max/min)**(-i/(h-1)), h = d // 2"
    )
    source: ClassVar[str] = (
        "tensorflow/tensor2tensor, common_attention.py, get_timing_signal_1d; facebookresearch/fairseq, "
        "sinusoidal_positional_embedding.py; openai/whisper, model.py, sinusoids"
    )
    pitfalls: ClassVar[str] = (
        "not the paper's frequencies: 25 % apart at d = 64, 3.5 % at d = 512; published code has min_timescale * where "
        "1/min_timescale is meant, which shows when it is not 1; odd d has a last column of zeros; d = 2 and 3 divide "
        "by 0 in fairseq and Whisper, tensor2tensor and this have the frequency 1/min_timescale; fairseq starts at "
        "padding_idx + 1 (offset) and zeroes the padding row"
    )

    d: int = parameter(like=_WIDTH)
    min_timescale: float = parameter(
        default=1.0,
        accepts=_TIMESCALE,
        meaning="first wavelength over 2 pi, in positions",
    )
    max_timescale: float = parameter(
        default=10000.0,
        accepts=_TIMESCALE,
        meaning="last wavelength over 2 pi, in positions",
    )
    offset: int = parameter(like=_OFFSET)

    @property
    def notes(self) -> tuple[str, ...]:
        """That a column is dead, and that frequencies are aliased."""
        dead = (f"{self.label}: d is odd, so the last column is 0 everywhere",) if self.d % 2 else ()
        return dead + explain_aliasing(self)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, M) words, M = d // 2."""
        least, most = Decimal.from_float(self.min_timescale), Decimal.from_float(self.max_timescale)
        count = self.d // 2
        exponent = CONTEXT.divide(Decimal(1), Decimal(max(count - 1, 1)))
        ratio = CONTEXT.power(CONTEXT.divide(least, most), exponent)
        return compute_geometric_words(CONTEXT.divide(Decimal(1), least), ratio, count)

    def evaluate(self, s: I64) -> tuple[F64, F64]:
        """Sines and cosines at integer positions, each (S, M)."""
        return sin_cos(self.words(), add_offset(s, self.offset, self.name))

    def evaluate_at(self, times: F64) -> tuple[F64, F64]:
        """Sines and cosines at real positions, each (S, M)."""
        return sin_cos(self.words(), times + self.offset)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all sines first, and a column of zeros last where d is odd."""
        return np.concatenate([sine, cosine, np.zeros((len(sine), self.d % 2))], axis=1)

    @property
    def theorem(self) -> Theorem:
        """The first frequency is 1/min_timescale, a rational number."""
        return super().theorem


@final
@dataclass(frozen=True, kw_only=True)
class Tape(Pairs):
    """Time absolute position encoding (tAPE): the sinusoid with angles times d/L, for series of length L."""

    name: ClassVar[str] = "tape"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "tAPE of ConvTran: the sinusoid with all frequencies times d/L"
    formula: ClassVar[str] = "e(s) = (sin w_i s d/L, cos w_i s d/L), w_i = rho**(-2i/d), i = 0 .. d/2-1"
    source: ClassVar[str] = (
        "Foumani et al. 2023, arXiv:2305.16642; Navidfoumani/ConvTran, Models/AbsolutePositionalEncoding.py, class tAPE"
    )
    pitfalls: ClassVar[str] = (
        "frequencies go up to d/L: beyond pi, for L < d/pi, they alias; the code's docstring still states the formula "
        "without d/L, and it has exactly L rows, of even d; the same position has another code in a longer series"
    )

    d: int = parameter(like=_WIDTH)
    rho: float = parameter(like=_RHO)
    length: int = parameter(
        default=1024,
        accepts=IntegerRange(minimum=MIN_LENGTH, maximum=MAX_LENGTH),
        meaning="length L of the series (max_len in the code), in positions",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d % 2:
            # the published code fails on odd d: its sine and cosine columns differ in number
            raise InputError("tape: d is odd", str(self.d), "an even d is accepted")

    @property
    def default_length(self) -> int:
        """The length of the series."""
        return self.length

    @property
    def notes(self) -> tuple[str, ...]:
        """That frequencies are aliased."""
        return explain_aliasing(self)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, M) words."""
        first = CONTEXT.divide(Decimal(self.d), Decimal(self.length))
        return compute_geometric_words(first, compute_ratio(self.rho, self.d), self.d // 2)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put sine and cosine columns in turns."""
        return np.stack([sine, cosine], axis=2).reshape(len(sine), self.d)

    @property
    def theorem(self) -> Theorem:
        """The first frequency is d/L, a rational number."""
        return super().theorem
