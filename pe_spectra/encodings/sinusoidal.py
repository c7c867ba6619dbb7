"""Ladders of sines and cosines that are added to a token."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.pairs import Pairs, compute_geometric_words, explain_aliasing, interleave
from pe_spectra.encodings.parameters import RHO, WIDTH, Parameter, parameter
from pe_spectra.encodings.protocol import Frequencies, Theorem
from pe_spectra.exact import (
    CONTEXT,
    F64,
    I64,
    PI,
    TWO_PI,
    compute_ratio,
    ladder_pairs,
    ladder_words,
    sin_cos,
    stack_words,
    to_words,
)
from pe_spectra.limits import MAX_LENGTH, MIN_LENGTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.records import dataclass

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

    d: int = parameter(like=WIDTH)
    rho: float = parameter(like=RHO)
    layout: str = parameter(
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

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put the columns in the order of the layout, and multiply them with the scale."""
        if self.layout == "concatenated":
            rows = np.concatenate([sine, cosine], axis=1)[:, : self.d]
        else:
            rows = interleave(sine, cosine)[:, : self.d]
        return rows if self.scale == 1.0 else rows * self.scale

    #: Equal position vectors need a lag that is a multiple of 2 pi.
    theorem = Theorem(
        kind="irrational-frequency",
        text="sin s and cos s (frequency 1 rad) agree only where s - t is a multiple of 2 pi, and pi is irrational",
    )


# The first frequency is 1/min_timescale, a rational number: the theorem holds.
@final
@dataclass(frozen=True, kw_only=True)
class Tensor2Tensor(Pairs, keeps_theorem=True):
    """The ladder as tensor2tensor, fairseq and Whisper compute it: its slowest frequency is exactly 1/max_timescale."""

    name: ClassVar[str] = "tensor2tensor"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the sinusoid of tensor2tensor, fairseq and Whisper: both ends of the ladder are met"
    formula: ClassVar[str] = (
        "e(s) = (sin w_0 s, sin w_1 s, .., cos w_0 s, cos w_1 s, ..), w_i = (1/min) (max/min)**(-i/(h-1)), h = d // 2"
    )
    source: ClassVar[str] = (
        "tensorflow/tensor2tensor, common_attention.py, get_timing_signal_1d; facebookresearch/fairseq, "
        "sinusoidal_positional_embedding.py; openai/whisper, model.py, sinusoids; cosines first: "
        "huggingface/transformers 5.24.0, models/musicgen/modeling_musicgen.py"
    )
    pitfalls: ClassVar[str] = (
        "not the paper's frequencies: 25 % apart at d = 64, 3.5 % at d = 512; published code has min_timescale * where "
        "1/min_timescale is meant, which shows when it is not 1; odd d has a last column of zeros; d = 2 and 3 divide "
        "by 0 in fairseq and Whisper, tensor2tensor and this have the frequency 1/min_timescale; fairseq starts at "
        "padding_idx + 1 (offset) and zeroes the padding row"
    )

    d: int = parameter(like=WIDTH)
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
    layout: str = parameter(
        accepts=Choice(members=("concatenated", "cosines-first")),
        meaning="all sine columns first, or all cosine columns, as in MusicGen",
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

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all sines first, or all cosines, and a column of zeros last where d is odd."""
        halves = [sine, cosine] if self.layout == "concatenated" else [cosine, sine]
        return np.concatenate([*halves, np.zeros((len(sine), self.d % 2))], axis=1)


# The first frequency is d/L, a rational number: the theorem holds.
@final
@dataclass(frozen=True, kw_only=True)
class Tape(Pairs, keeps_theorem=True):
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
        "without d/L, and it has exactly L rows, of even d; the same position has another vector in a longer series"
    )

    # the published code fails on odd d: its sine and cosine columns differ in number
    d: int = parameter(like=WIDTH, multiple=2)
    rho: float = parameter(like=RHO)
    length: int = parameter(
        default=1024,
        accepts=IntegerRange(minimum=MIN_LENGTH, maximum=MAX_LENGTH),
        meaning="length L of the series (max_len in the code), in positions",
    )

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
        return interleave(sine, cosine)


@final
@dataclass(frozen=True, kw_only=True)
class PixelBands(Pairs):
    """Bands of frequencies over a coordinate in [-1, 1], as for the pixels along one side of an image."""

    name: ClassVar[str] = "pixel-bands"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "sines and cosines of pi b x, x in [-1, 1], bands b from 1 to max_freq/2"
    formula: ClassVar[str] = (
        "e(s) = (sin pi b_i x, .., cos pi b_i x, ..), x = 2s/(n-1) - 1, "
        "b_i = 1 + i (m/2 - 1)/(k-1) or (m/2)**(i/(k-1)), k = d/2"
    )
    source: ClassVar[str] = (
        "lucidrains/rotary-embedding-torch, freqs_for='pixel'; huggingface/pytorch-image-models, "
        "timm/layers/pos_embed_sincos.py, pixel_freq_bands and build_fourier_pos_embed; Jaegle et al. 2021, "
        "arXiv:2103.03206"
    )
    pitfalls: ClassVar[str] = (
        "the unit is rad per unit of x: times 2/(n-1) for rad/position; where all bands are integers the first and "
        "last position share a vector; max_freq above n-1 aliases; both sources also rotate by these angles; timm's "
        "FourierEmbed passes number of bands and max_freq in the wrong order (224 bands up to 32)"
    )

    d: int = parameter(like=WIDTH, multiple=2, meaning="number of columns, two for each band")
    bands: str = parameter(
        accepts=Choice(members=("linear", "octave")),
        meaning="bands evenly spaced, or evenly on a logarithmic scale (timm: linear_bands=False)",
    )
    max_freq: float = parameter(
        default=10.0,
        accepts=RealRange(minimum=2.0, maximum=1e6),
        meaning="twice the last band: half-waves over the whole length; 10 in lucidrains, 224 in timm",
    )
    length: int = parameter(
        default=224,
        accepts=IntegerRange(minimum=2, maximum=MAX_LENGTH),
        meaning="number of positions n along the side, from x = -1 to x = 1",
    )

    @property
    def rows(self) -> int:
        """The length."""
        return self.length

    @property
    def notes(self) -> tuple[str, ...]:
        """That frequencies are aliased."""
        return explain_aliasing(self)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, M) words."""
        first = CONTEXT.divide(CONTEXT.multiply(PI, Decimal(2)), Decimal(self.length - 1))
        last, gaps = CONTEXT.divide(Decimal.from_float(self.max_freq), Decimal(2)), Decimal(max(self.d // 2 - 1, 1))
        if self.bands == "linear":
            slope = CONTEXT.divide(CONTEXT.subtract(last, Decimal(1)), gaps)
            return _compute_linear_words(first, CONTEXT.multiply(first, slope), self.d // 2)
        return compute_geometric_words(first, CONTEXT.power(last, CONTEXT.divide(Decimal(1), gaps)), self.d // 2)

    def _turn(self, s: I64 | F64) -> tuple[F64, F64]:
        return sin_cos(self.words() / 2, 2 * s - (self.length - 1))

    @property
    def _are_integers(self) -> bool:
        from fractions import Fraction

        gaps = self.d // 2 - 1
        last = Fraction(self.max_freq) / 2
        if not gaps:
            return True  # the band 1 alone
        if self.bands == "linear":
            return ((last - 1) / gaps).denominator == 1
        return Fraction(round(float(last) ** (1 / gaps))) ** gaps == last

    def exact_key(self, positions: I64) -> I64:
        """The position, modulo n-1 where all bands are integers."""
        key: I64 = np.mod(positions, self.length - 1) if self._are_integers else positions
        return key

    @property
    def theorem(self) -> Theorem:
        """Two positions have equal vectors where (s - t) b/(n-1) is an integer for all bands b, of which 1 is one."""
        text = "position vectors agree where (s - t) b/(n-1) is an integer for every band b; b = 1 leaves s - t = n-1, "
        more = "and all bands are integers" if self._are_integers else "and a band that is no integer rules it out"
        return Theorem(kind="whole-turns", text=text + more)


@lru_cache(maxsize=8)
def _compute_linear_words(first: Decimal, step: Decimal, count: int) -> F64:
    return stack_words(CONTEXT.add(first, CONTEXT.multiply(step, Decimal(i))) for i in range(count))
