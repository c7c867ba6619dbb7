"""Biases on the attention score that depend on the lag alone, by a formula.

Lags are query minus key.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property, lru_cache
from typing import ClassVar, final

import numpy as np

from pe_spectra.draws import start_generator
from pe_spectra.encodings.heads import HEAD, MAX_HEADS, HeadedEncoding, build_heads
from pe_spectra.encodings.parameters import SEED, YES_NO, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, ArrayLike, sin_cos, stack_words, sum_cosines
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange
from pe_spectra.records import dataclass

#: Terms up to which a sum of cosines less its first value is computed without cancellation.
_EXACT_TERMS = 1 << 20


def compute_slopes(heads: int) -> F64:
    """Compute the slopes of ALiBi, one for each head, in 1/position; shape (heads,).

    m_h = 2**(-8 h / H), h = 1 .. H, for a power of two; else those of the largest power of two P below H,
    followed by the first H - P of every other one (the 1st, 3rd, ..) of those of 2 P.

    Parameters
    ----------
    heads : number of heads, 1 to 1024.

    Raises
    ------
    InputError : not such an integer.

    Press et al. 2022, arXiv:2108.12409; ofirpress/attention_with_linear_biases, fairseq/models/transformer.py.

    >>> compute_slopes(3).tolist()
    [0.0625, 0.00390625, 0.25]
    """
    heads = IntegerRange(minimum=1, maximum=MAX_HEADS).check(heads, "heads")
    below = 1 << (heads.bit_length() - 1)
    slopes = np.exp2(-8.0 * np.arange(1, below + 1) / below)
    others = np.exp2(-8.0 * np.arange(1, 2 * below + 1, 2) / (2 * below))
    return np.concatenate([slopes, others[: heads - below]])


@final
@dataclass(frozen=True, kw_only=True)
class Alibi(HeadedEncoding):
    """Attention with linear biases, Press et al. 2022: a penalty that grows with the distance."""

    name: ClassVar[str] = "alibi"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a penalty in proportion to the distance, with a slope for each head"
    formula: ClassVar[str] = "b_h(lag) = -m_h |lag|, m_h = 2**(-8 h/H), h = 1 .. H"
    source: ClassVar[str] = (
        "Press, Smith & Lewis 2022, arXiv:2108.12409; ofirpress/attention_with_linear_biases, "
        "fairseq/models/transformer.py"
    )
    pitfalls: ClassVar[str] = (
        "where H is no power of two, the slopes are those of the power below and every other one of the power above, "
        "not 2**(-8 h/H); BLOOM and fairseq store m j and MPT -m (n-1-j), which softmax takes for the same: such rows "
        "are no functions of the lag; used in both directions it does not tell before from after"
    )

    heads: int = parameter(like=build_heads())
    head: int | None = parameter(like=HEAD)
    direction: str = parameter(
        name="causal",
        default="yes",
        accepts=YES_NO,
        meaning="yes: a query sees only keys before it; no: both directions, alike",
    )

    @property
    def causal(self) -> bool:
        """Whether only lags 0, 1, .. occur."""
        return self.direction == "yes"

    def bias(self, lags: ArrayLike) -> F64:
        """What is added at the lags: -m_h |lag|, shape (heads, L)."""
        distances = np.abs(self.read_lags(lags)).astype(float)
        slopes = self.choose_heads(compute_slopes(self.heads)[:, None])
        penalties: F64 = slopes * distances
        return 0.0 - penalties

    def exact_key(self, positions: I64) -> I64:
        """The distance |lag| of each lag."""
        return np.abs(self.read_lags(positions, 1))

    #: The penalty is strictly monotone in the distance.
    theorem = Theorem(kind="monotone", text="every slope is positive, so m |lag| differs wherever |lag| does")


@final
@dataclass(frozen=True, kw_only=True)
class Kerple(HeadedEncoding):
    """Kernelised relative positions, Chi et al. 2022: a logarithm or power of the distance."""

    name: ClassVar[str] = "kerple"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a penalty that grows as the logarithm or a power of the distance, learned for each head"
    formula: ClassVar[str] = "b_h(lag) = -r1 ln(1 + r2 lag), or -r1 lag**r2 with r2 <= 2"
    source: ClassVar[str] = "Chi et al. 2022, arXiv:2205.09921; chijames/KERPLE, megatron/mpu/layers.py"
    pitfalls: ClassVar[str] = (
        "the published code calls the numbers p and a, which swap their places: log is -p ln(1 + a lag), power is "
        "-a lag**p; its optional factor exp(-a lag**p) on the score is left out here"
    )

    kind: str = parameter(
        accepts=Choice(members=("log", "power")),
        meaning="the logarithm, or a power, of the distance",
    )
    heads: int = parameter(like=build_heads(None))
    head: int | None = parameter(like=HEAD)
    r1: tuple[float, ...] | None = parameter(
        accepts=ListOf(of=RealRange(minimum=1e-6, maximum=1e6), most=1024),
        meaning="factor for each head; not set: drawn from 0 to 2 (log) or 0 to 1 (power), at least 0.01",
    )
    r2: tuple[float, ...] | None = parameter(
        accepts=ListOf(of=RealRange(minimum=1e-6, maximum=1e6), most=1024),
        meaning="1/position (log) or exponent up to 2 (power) for each head; not set: drawn from 0 to 1 or 0 to 2",
    )
    seed: int = parameter(like=SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, values in (("r1", self.r1), ("r2", self.r2)):
            if values is not None and len(values) != self.heads:
                raise InputError(
                    f"kerple: {name} has {len(values)} members", accepted=f"one for each of {self.heads} heads"
                )
        if self.kind == "power" and self.r2 and max(self.r2) > 2:
            # beyond, the kernel is no longer conditionally positive definite, which the paper rests on
            raise InputError("kerple: r2 is too large for a power", str(max(self.r2)), "at most 2 is accepted")

    @property
    def held_heads(self) -> int | None:
        """How many heads r1 or r2 were given for."""
        given = self.r1 or self.r2
        return None if given is None else len(given)

    @property
    def is_random(self) -> bool:
        """Whether r1 or r2 were drawn."""
        return self.r1 is None or self.r2 is None

    #: Only lags 0, 1, .. occur: the published models are decoders.
    causal = True

    @cached_property
    def coefficients(self) -> tuple[F64, F64]:
        """r1 and r2 of all heads, each of shape (all heads,); drawn as published unless given."""
        generator = start_generator(self.seed)
        wide = np.maximum(2 * generator.random(self.heads), 0.01)  # the code's p, then its a
        narrow = np.maximum(generator.random(self.heads), 0.01)
        first, second = (wide, narrow) if self.kind == "log" else (narrow, wide)
        return (first if self.r1 is None else np.array(self.r1)), (second if self.r2 is None else np.array(self.r2))

    def bias(self, lags: ArrayLike) -> F64:
        """What is added at the lags, shape (heads, L)."""
        distances = self.read_lags(lags).astype(float)
        r1, r2 = (self.choose_heads(values[:, None]) for values in self.coefficients)
        growth = np.log1p(r2 * distances) if self.kind == "log" else distances**r2
        return 0.0 - r1 * growth

    #: The penalty is strictly monotone in the lag.
    theorem = Theorem(kind="monotone", text="r1 and r2 are positive, so the penalty grows strictly with the lag")


@final
@dataclass(frozen=True, kw_only=True)
class Sandwich(HeadedEncoding):
    """Sandwich, Chi et al. 2023: the dot product of two sinusoidal position vectors as a bias."""

    name: ClassVar[str] = "sandwich"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "the dot product of two sinusoidal position vectors, with a scale for each head"
    formula: ClassVar[str] = (
        "b_h(lag) = (sum over i of cos(w_i lag) - d/2) / (8 h/H), w_i = 10000**(-2 i/d), i = 1 .. d/2, h = 1 .. H"
    )
    source: ClassVar[str] = (
        "Chi et al. 2023, arXiv:2212.10356; NVIDIA/NeMo, position_embedding/sandwich_relative_position_embedding.py"
    )
    pitfalls: ClassVar[str] = (
        "frequencies start at i = 1 in NeMo and at i = 0 in attention-gym (first=0: the kernel of the sinusoidal "
        "encoding); both divide by 8 h/H, some transcriptions multiply (ratio=multiply); d is not the width of the "
        "heads; it is not monotone in the distance"
    )

    heads: int = parameter(like=build_heads())
    head: int | None = parameter(like=HEAD)
    d: int = parameter(
        default=128,
        accepts=IntegerRange(minimum=2, maximum=4096),
        multiple=2,
        meaning="width of the sinusoidal vectors, even",
    )
    first: int = parameter(
        default=1,
        accepts=IntegerRange(minimum=0, maximum=1),
        meaning="index of the first frequency; 0: those of the sinusoidal encoding",
    )
    ratio: str = parameter(
        accepts=Choice(members=("divide", "multiply")),
        meaning="what is done with 8 h/H, the number of each head",
    )

    #: Only lags 0, 1, .. occur: the published models are decoders.
    causal = True

    def words(self) -> F64:
        """Frequencies in rad/position as (3, d/2) words."""
        return _sandwich_words(self.d, self.first)

    def bias(self, lags: ArrayLike) -> F64:
        """What is added at the lags, shape (heads, L); 0 at lag 0."""
        read, count = self.read_lags(lags), self.d // 2
        if len(read) * count > _EXACT_TERMS:
            return self._factors * (sum_cosines(self.words(), np.ones(count), read) - count)
        half = sin_cos(self.words() / 2, read)[0]  # cos x - 1 = -2 sin(x/2)**2 does not cancel
        halves: F64 = np.sum(half * half, axis=1)
        return self._factors * (0.0 - 2 * halves)

    def bound_error(self, table: F64) -> float | None:
        """A few units of the largest entry; where lags are so many that sums are products of tables, of d/2."""
        if len(table) * self.d // 2 <= _EXACT_TERMS:
            return super().bound_error(table)
        return float(self._factors.max() * np.finfo(float).eps / 2 * (self.d + 2) * (self.d + 36))

    @property
    def _factors(self) -> F64:
        ratios = 8.0 * np.arange(1, self.heads + 1) / self.heads
        return self.choose_heads((ratios if self.ratio == "multiply" else 1 / ratios)[:, None])

    #: Two lags would need the same set of angles.
    theorem = Theorem(
        kind="lindemann-weierstrass",
        text="frequencies are algebraic, and exponentials of distinct algebraic numbers are linearly independent: "
        "equal sums of cosines need equal largest angles, so equal lags",
    )


@lru_cache(maxsize=8)
def _sandwich_words(d: int, first: int) -> F64:
    exponents = (CONTEXT.divide(Decimal(-2 * i), Decimal(d)) for i in range(first, first + d // 2))
    return stack_words(CONTEXT.power(Decimal(10000), exponent) for exponent in exponents)
