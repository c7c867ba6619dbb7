"""Fourier features: sines and cosines of a coordinate, often a normalised one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.pairs import (
    Pairs,
    check_frequencies,
    check_rows,
    compute_geometric_words,
    compute_linear_words,
    explain_aliasing,
    fit_width,
    scale_to_words,
)
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.exact import CONTEXT, F64, I64, PI, sin_cos
from pe_spectra.limits import MAX_LENGTH, MAX_WIDTH, MIN_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange

_DRAWN = {"values": (None,)}


@final
@dataclass(frozen=True, kw_only=True)
class FourierFeatures(Pairs):
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

    values: GivenArray | None = parameter(
        name="table",
        accepts=FileOfNumbers(axes=(1, 2), what="frequencies"),
        meaning="the learned frequencies, d/2 numbers in rad per unit of the coordinate; not set: drawn",
    )
    width: int | None = parameter(
        name="d",
        accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
        meaning="width of the code; twice the frequencies of the table, or 256",
    )
    gamma: float = parameter(
        default=10.0,
        accepts=RealRange(minimum=1e-5, maximum=1e9),
        meaning="width of the kernel in units of the coordinate: frequencies have standard deviation 1/gamma",
        only_with=_DRAWN,
    )
    seed: int = parameter(
        default=0,
        accepts=IntegerRange(minimum=0, maximum=2**32 - 1),
        meaning="seed of the frequencies that are drawn",
        only_with=_DRAWN,
    )
    coordinate: str = parameter(
        default="position",
        accepts=Choice(members=("position", "unit", "symmetric")),
        meaning="what frequencies multiply: s, s/n in [0, 1), or 2s/(n-1) - 1 in [-1, 1]",
    )
    length: int = parameter(
        default=80,
        accepts=IntegerRange(minimum=2, maximum=MAX_LENGTH),
        meaning="number of positions n that the coordinate is normalised by",
        only_with={"coordinate": ("unit", "symmetric")},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = check_frequencies(self.name, self.values.values) if self.values else None
        object.__setattr__(self, "width", fit_width(self.name, self.width, given))

    @property
    def d(self) -> int:
        """Number of columns, twice that of the frequencies."""
        return self.width or 0

    @property
    def rows(self) -> int | None:
        """As many as the coordinate is normalised by; no end where it is the position."""
        return None if self.coordinate == "position" else self.length

    @property
    def is_random(self) -> bool:
        """Whether the frequencies are drawn."""
        return self.values is None

    @property
    def notes(self) -> tuple[str, ...]:
        """That the frequencies are drawn, and that some are aliased."""
        drawn = (f"{self.label}: frequencies drawn at random, as before training",) if self.is_random else ()
        return drawn + explain_aliasing(self)

    @property
    def amplitude(self) -> float:
        """The factor 1/sqrt(d)."""
        return 1 / math.sqrt(self.d)

    @cached_property
    def weights(self) -> F64:
        """The frequencies in rad per unit of the coordinate, (d/2,), with their signs."""
        if self.values is not None:
            return self.values.values.ravel()
        generator = np.random.Generator(np.random.PCG64(self.seed))
        drawn = generator.standard_normal(self.d // 2) / self.gamma
        drawn.flags.writeable = False
        return drawn

    @cached_property
    def _words(self) -> F64:
        span = {"position": Fraction(1), "unit": Fraction(1, self.length), "symmetric": Fraction(2, self.length - 1)}
        step = span[self.coordinate]
        return scale_to_words(np.abs(self.weights), CONTEXT.divide(Decimal(step.numerator), Decimal(step.denominator)))

    def words(self) -> F64:
        """Magnitudes of the frequencies in rad/position as (3, M) words."""
        return self._words

    def evaluate(self, s: I64) -> tuple[F64, F64]:
        """Sines and cosines at integer positions, each (S, M)."""
        check_rows(s, self.rows, self.name)
        if self.coordinate == "symmetric":
            return sin_cos(self.words() / 2, 2 * s - (self.length - 1))
        return sin_cos(self.words(), s)

    def evaluate_at(self, times: F64) -> tuple[F64, F64]:
        """Sines and cosines at real positions, each (S, M)."""
        if self.coordinate == "symmetric":
            return sin_cos(self.words() / 2, 2 * times - (self.length - 1))
        return sin_cos(self.words(), times)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all cosines first, then the sines with the sign of their frequency."""
        signed = sine * np.where(self.weights < 0, -self.amplitude, self.amplitude)
        return np.concatenate([cosine * self.amplitude, signed], axis=1)

    def exact_key(self, positions: I64) -> I64:
        """The position itself; the same for all where every frequency is 0."""
        return positions if self.weights.any() else np.zeros_like(positions)

    @property
    def theorem(self) -> Theorem:
        """As for every rational frequency, and doubles are rational; or all frequencies are 0."""
        if not self.weights.any():
            return Theorem(kind="constant", text="every frequency is 0, so that every position has the same code")
        return super().theorem


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
        "last position share a code; max_freq above n-1 aliases; both sources also rotate by these angles; timm's "
        "FourierEmbed passes number of bands and max_freq in the wrong order (224 bands up to 32)"
    )

    d: int = parameter(
        default=256,
        accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
        meaning="number of columns, two for each band",
    )
    bands: str = parameter(
        default="linear",
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

    def __post_init__(self) -> None:
        super().__post_init__()
        fit_width(self.name, self.d, None)

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
            return compute_linear_words(first, CONTEXT.multiply(first, slope), self.d // 2)
        return compute_geometric_words(first, CONTEXT.power(last, CONTEXT.divide(Decimal(1), gaps)), self.d // 2)

    def evaluate(self, s: I64) -> tuple[F64, F64]:
        """Sines and cosines at integer positions, each (S, M)."""
        check_rows(s, self.rows, self.name)
        return sin_cos(self.words() / 2, 2 * s - (self.length - 1))

    def evaluate_at(self, times: F64) -> tuple[F64, F64]:
        """Sines and cosines at real positions, each (S, M)."""
        return sin_cos(self.words() / 2, 2 * times - (self.length - 1))

    @property
    def _are_integers(self) -> bool:
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
        """Two codes are equal where (s - t) b/(n-1) is an integer for all bands b, and b = 1 is one of them."""
        text = "codes agree where (s - t) b/(n-1) is an integer for every band b; b = 1 leaves s - t = n-1 alone, "
        more = "and all bands are integers" if self._are_integers else "and a band that is no integer rules it out"
        return Theorem(kind="whole-turns", text=text + more)
