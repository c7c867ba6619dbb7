"""Encodings of time: learned frequencies, and the published forms for series."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_positions, as_times
from pe_spectra.encodings.learned import HeldTable
from pe_spectra.encodings.pairs import Pairs, compute_geometric_words, interleave
from pe_spectra.encodings.parameters import SEED, WIDTH, FileOfNumbers, GivenArray, Parameter, parameter
from pe_spectra.encodings.protocol import (
    Theorem,
)
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, TWO_PI, ArrayLike, compute_ratio, sin_cos, stack_words
from pe_spectra.limits import MIN_WIDTH
from pe_spectra.numbers import RealRange
from pe_spectra.records import dataclass

_DRAWN = {"values": (None,)}
_TABLE = Parameter(
    name="table",
    accepts=FileOfNumbers(what="a table of two rows, frequencies and offsets"),
    meaning="learned values, 2 x d: w in the first row, b in the second, the linear column first; not set: drawn",
)
_SEED = replace(SEED, meaning="seed of what is drawn without a table", only_with=_DRAWN)
_UNIT = Parameter(
    default=48.0,
    accepts=RealRange(minimum=1e-3, maximum=1e12),
    meaning="positions in one unit of t: t = s / unit; 48 where a record of 48 hours is scaled to [0, 1]",
)


class _TrendAndWaves(HeldTable):
    """A linear column and sines: the rows of the table are frequencies in rad per unit of time, and offsets in rad."""

    #: Width, the linear column included.
    d: int
    #: Width where the weights are drawn.
    _drawn_width: ClassVar[int]
    #: Positions in one unit of time.
    unit: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, columns = self.held
        if columns is not None and (rows != 2 or columns < MIN_WIDTH):
            raise InputError(f"{self.name}: table has shape {self.held}", accepted="2 x d is accepted, d at least 2")
        self.settle("d", columns, self._drawn_width)

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); the linear column first, sines right to a few 1e-16 whatever s is."""
        s, unit, weights = as_positions(positions, self.d), Decimal.from_float(self.unit), self.entries
        words = stack_words(CONTEXT.divide(Decimal.from_float(float(w)), unit) for w in weights[0])
        sine, cosine = sin_cos(words, s)
        codes: F64 = sine * np.cos(weights[1]) + cosine * np.sin(weights[1])
        codes[:, 0] = weights[0, 0] * (s / self.unit) + weights[1, 0]
        return codes

    def table_at(self, times: F64) -> F64:
        """Vectors of real positions, shape (S, d), in plain float64."""
        angles: F64 = (as_times(times) / self.unit)[:, None] * self.entries[0] + self.entries[1]
        angles[:, 1:] = np.sin(angles[:, 1:])
        return angles

    def exact_key(self, positions: I64) -> I64:
        """The position itself, unless all frequencies are 0."""
        return positions if self.entries[0].any() else np.zeros_like(positions)

    #: A rational multiple of an integer is no multiple of pi.
    theorem = Theorem(
        kind="rational-frequency",
        text="w and b are float64 numbers and so rational: sin(w s + b) = sin(w t + b) for s != t needs pi to be "
        "rational, or w = 0; only where all w are 0 do positions share a vector",
    )


@final
@dataclass(frozen=True, kw_only=True)
class Time2Vec(_TrendAndWaves, keeps_theorem=True):
    """Time2Vec (Kazemi et al. 2019): a linear column and sines of learned frequencies and offsets.

    Without a table its weights are independent standard normal numbers, as in public PyTorch versions.
    """

    name: ClassVar[str] = "time2vec"
    family: ClassVar[str] = "temporal"
    summary: ClassVar[str] = "a linear trend and sines of learned frequencies and offsets"
    formula: ClassVar[str] = "e(s) = (w_0 s + b_0, sin(w_1 s + b_1), .., sin(w_(d-1) s + b_(d-1)))"
    source: ClassVar[str] = "Kazemi et al. 2019, arXiv:1907.05321, Eq. (1)"
    pitfalls: ClassVar[str] = (
        "the linear column grows without end and outweighs the sines; implementations put it first or last; "
        "some have weights for each position, which is another encoding"
    )

    values: GivenArray | None = parameter(like=_TABLE)
    d: int = parameter(
        like=WIDTH,
        default=None,
        meaning="width, the linear column included; that of the table, or 64 where it is drawn",
    )
    seed: int = parameter(like=_SEED)

    _drawn_width: ClassVar[int] = 64

    def _draw(self, generator: np.random.Generator) -> F64:
        return generator.standard_normal((2, self.d))


@final
@dataclass(frozen=True, kw_only=True)
class MtanLearned(_TrendAndWaves, keeps_theorem=True):
    """The learned time embedding of mTAN (Shukla & Marlin 2021): a linear column and sines of a linear layer.

    Without a table its weights are uniform in [-1, 1], as PyTorch begins a linear layer of one input.
    """

    name: ClassVar[str] = "mtan-learned"
    family: ClassVar[str] = "temporal"
    summary: ClassVar[str] = "mTAN's learned time embedding: a linear column and sines of a linear layer of t"
    formula: ClassVar[str] = "e(t) = (w_0 t + b_0, sin(w_1 t + b_1), .., sin(w_(d-1) t + b_(d-1))), t = s / unit"
    source: ClassVar[str] = "Shukla & Marlin 2021, arXiv:2101.10318; reml-lab/mTAN, src/models.py"
    pitfalls: ClassVar[str] = (
        "t is scaled to [0, 1] over a record: before training no sine completes a sixth of a turn there; "
        "another scale of time makes other frequencies of the same weights"
    )

    values: GivenArray | None = parameter(like=_TABLE)
    d: int = parameter(
        like=WIDTH,
        default=None,
        meaning="width, the linear column included; that of the table, or 128 where it is drawn",
    )
    unit: float = parameter(like=_UNIT)
    seed: int = parameter(like=_SEED)

    _drawn_width: ClassVar[int] = 128

    def _draw(self, generator: np.random.Generator) -> F64:
        return generator.uniform(-1, 1, (2, self.d))


@final
@dataclass(frozen=True, kw_only=True)
class Mtan(Pairs):
    """The fixed time embedding of mTAN (Shukla & Marlin 2021): the sinusoid of 48 t with base 10.

    Columns sin(w_i s), cos(w_i s) in turns, w_i = (48 / unit) 10**(-2i/d) rad/position.
    """

    name: ClassVar[str] = "mtan"
    family: ClassVar[str] = "temporal"
    summary: ClassVar[str] = "mTAN's fixed time embedding: a sinusoid of 48 t with base 10"
    formula: ClassVar[str] = "e(t) = (sin w_i t, cos w_i t), w_i = 48 x 10**(-2i/d), t = s / unit"
    source: ClassVar[str] = "Shukla & Marlin 2021, arXiv:2101.10318; reml-lab/mTAN, src/models.py"
    pitfalls: ClassVar[str] = (
        "the base is 10, not 10000: all wavelengths are within one decade; 48 belongs to records of 48 hours scaled "
        "to [0, 1]; the learned form is mtan-learned"
    )

    d: int = parameter(
        like=WIDTH,
        default=128,
        multiple=2,  # the published code fails on odd d: its sine and cosine columns differ in number
        meaning="width, even",
    )
    unit: float = parameter(like=_UNIT)

    def words(self) -> F64:
        """Frequencies (48 / unit) 10**(-2i/d) in rad/position as (3, M) words, largest first; M = d / 2."""
        return compute_geometric_words(_find_scale(self.unit), compute_ratio(10.0, self.d), self.d // 2)

    def turns(self, index: int) -> Decimal:
        """Frequency `index` in turns per position, to 55 digits."""
        power = CONTEXT.power(Decimal(10), CONTEXT.divide(Decimal(-2 * index), Decimal(self.d)))
        return CONTEXT.divide(CONTEXT.multiply(_find_scale(self.unit), power), TWO_PI)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put sine and cosine columns in turns."""
        return interleave(sine, cosine)

    #: Equal position vectors need a rational number to be a multiple of 2 pi.
    theorem = Theorem(
        kind="irrational-frequency",
        text="sin and cos of (48 / unit) s agree only where (48 / unit)(s - t), a rational number, is 2 pi k",
    )


def _find_scale(unit: float) -> Decimal:
    return CONTEXT.divide(Decimal(48), Decimal.from_float(unit))
