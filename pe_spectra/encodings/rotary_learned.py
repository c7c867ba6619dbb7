"""Rotary encodings with frequencies of their own for each model: learned, from a file or as they start."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.features import NO_TABLE, TABLE, GivenFrequencies
from pe_spectra.encodings.pairs import compute_geometric_words, explain_aliasing, scale_to_words
from pe_spectra.encodings.parameters import GivenArray, parameter
from pe_spectra.encodings.rotary import Rope
from pe_spectra.exact import F64, compute_ratio
from pe_spectra.records import dataclass

_ROPE = {one.name: one for one in Rope.accepts}
_WIDTH = replace(_ROPE["d"], default=None)
_BASE = replace(_ROPE["base"], only_with=NO_TABLE)


class _FromLadder(GivenFrequencies, keeps_theorem=True):
    """All cosines, then all sines, of frequencies that a file gives, or of the geometric ladder."""

    base: float

    def words(self) -> F64:
        """Magnitudes of the frequencies in rad/position as (3, M) words."""
        if self._given is not None:
            return scale_to_words(np.abs(self._given), Decimal(1))
        return compute_geometric_words(Decimal(1), compute_ratio(self.base, self.d), self.d // 2)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put all cosines first, then the sines with the sign of their frequency."""
        signs = 1.0 if self._given is None else np.where(self._given < 0, -1.0, 1.0)
        return np.concatenate([cosine, sine * signs], axis=1)

    @property
    def notes(self) -> tuple[str, ...]:
        """That some frequencies are aliased."""
        return explain_aliasing(self)


# Its frequencies are float64 numbers, or the first is 1 rad/position: the theorem holds.
@final
@dataclass(frozen=True, kw_only=True)
class Grape(_FromLadder, keeps_theorem=True):
    """Multiplicative GRAPE in commuting planes: the rotary encoding with a learned frequency for each pair.

    Implements Zhang et al. 2025, Sec. 3, in the planes of the channels i and i + d/2. Other planes
    turn the basis of queries and keys, which their weights do as well, and leave frequencies and
    kernel as they are.

    >>> Grape(d=4).table(2).round(2).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.54, 1.0, 0.84, 0.01]]
    """

    name: ClassVar[str] = "grape"
    family: ClassVar[str] = "rotary"
    summary: ClassVar[str] = "pairs of channels turned by learned frequencies, which start as those of rope"
    formula: ClassVar[str] = "pair i turns by s w_i, w_i learned; start: base**(-2i/d), i = 0 .. d/2 - 1"
    source: ClassVar[str] = (
        "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE, model/llama-mha-grape-m-nonctx.py"
    )
    pitfalls: ClassVar[str] = (
        "the published code learns 16 ln w_i, so its weights are no frequencies: w_i = exp(x_i/16); its sines have the "
        "opposite sign of those of rope, for queries and keys alike; the additive form (GRAPE-A) starts as alibi, and "
        "the contextual one turns by what the tokens say, which no table holds"
    )

    values: GivenArray | None = parameter(
        like=TABLE, meaning="the learned frequencies, d/2 numbers in rad/position; not set: as they start"
    )
    default_width: ClassVar[int] = 128
    d: int = parameter(like=_WIDTH, meaning="width of a head, even; not set: 128")
    base: float = parameter(like=_BASE)

    @property
    def notes(self) -> tuple[str, ...]:
        """That the frequencies are not learned ones, and that some are aliased."""
        early = () if self.values else (f"{self.label}: no table is given, so frequencies are as before training",)
        return early + super().notes


# As above.
@final
@dataclass(frozen=True, kw_only=True)
class Pope(_FromLadder, keeps_theorem=True):
    """The polar encoding of Gopalakrishnan et al. 2025, as it starts: a frequency for every channel of a head.

    A channel of a query or key is a magnitude, softplus of its value, at the angle s w_c. The columns
    are what it is multiplied with: all cosines, then all sines, two for each channel. The biases of
    the angles of keys, which are learned, start at 0.

    >>> Pope(d=4).frequencies().values.tolist()
    [1.0, 0.01]
    """

    name: ClassVar[str] = "pope"
    family: ClassVar[str] = "rotary"
    summary: ClassVar[str] = "every channel of a head turned by a frequency of its own, its value a magnitude alone"
    formula: ClassVar[str] = "channel c is softplus(q_c) (cos s w_c, sin s w_c), w_c = base**(-2c/d), c = 0 .. d/2 - 1"
    source: ClassVar[str] = "Gopalakrishnan et al. 2025, arXiv:2509.10534; x-transformers 2.31, class PolarEmbedding"
    pitfalls: ClassVar[str] = (
        "d counts columns, twice the width of a head: frequencies are those of rope at twice the width; values are "
        "never negative, so a kernel of positions alone says more of its scores than it does for rope; learned biases "
        "of the keys' angles, from -2 pi to 0 for each head, shift the kernel's cosines"
    )

    values: GivenArray | None = parameter(
        like=TABLE, meaning="frequencies, d/2 numbers in rad/position; not set: those of the ladder"
    )
    d: int = parameter(like=_WIDTH, meaning="twice the width of a head; not set: 256")
    base: float = parameter(like=_BASE)

    @property
    def turns_alone(self) -> bool:
        """No: values become magnitudes."""
        return False
