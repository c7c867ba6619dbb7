"""Encodings with a learned row for each lag.

Lags are query minus key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.codes import number_equal_rows
from pe_spectra.encodings.heads import (
    HEAD,
    LAG_LENGTH,
    TABLE_SEED,
    HeadTable,
    LagEncoding,
    build_heads,
    build_table,
    start_generator,
)
from pe_spectra.encodings.parameters import GivenArray, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange


@final
@dataclass(frozen=True, kw_only=True)
class Erpe(HeadTable):
    """The efficient relative encoding of ConvTran, Foumani et al. 2024: a learned number for each lag."""

    name: ClassVar[str] = "erpe"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a learned number for each lag and head, added after softmax"
    formula: ClassVar[str] = "attention = softmax(q k / sqrt d) + b_h(lag), b_h(lag) = table[lag + L - 1, h]"
    source: ClassVar[str] = (
        "Foumani et al. 2024, arXiv:2305.16642; Navidfoumani/ConvTran, Models/Attention.py, class Attention_Rel_Scl"
    )
    pitfalls: ClassVar[str] = (
        "added after softmax, not before: it is a weight and not a logarithm of one, may be negative, and rows no "
        "longer sum to 1; the published code starts from zeros, where there is nothing to see (here: 0.02 times "
        "normal numbers)"
    )

    length: int | None = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning=f"positions L, for 2 L - 1 lags; not set: as many as the table is for, or {LAG_LENGTH}",
    )
    head_count: int | None = parameter(like=build_heads(None))
    head: int | None = parameter(like=HEAD)
    values: GivenArray | None = parameter(like=build_table("2 L - 1 x heads, from lag -(L-1) on"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        held = self.held_rows
        if held is not None and held % 2 == 0:
            raise InputError("erpe: table has an even number of rows", str(held), "2 L - 1 rows are accepted")
        self.settle("length", "length", None if held is None else (held + 1) // 2, LAG_LENGTH)
        self.check_size("table", self.height, self.all_heads)

    @property
    def rows(self) -> int:
        """Positions that the table is for."""
        return self.length or LAG_LENGTH

    @property
    def height(self) -> int:
        """Number of lags."""
        return 2 * self.rows - 1

    @property
    def causal(self) -> bool:
        """Lags of both signs occur."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """That it is added after softmax."""
        return (*super().notes, "erpe: added after softmax, so exp of it is not a weight")

    def bias(self, lags: ArrayLike) -> F64:
        """What is added to the attention weights (after softmax) at the lags, shape (heads, L)."""
        return self.look_up(self.read_lags(lags) + self.rows - 1)

    def exact_key(self, positions: I64) -> I64:
        """A number for each lag, the same for lags with equal rows."""
        return self.row_numbers[self.read_lags(positions, 1) + self.rows - 1]

    @property
    def theorem(self) -> Theorem:
        """The numbers are given, so they are compared as they are."""
        return Theorem(kind="rows", text="each lag has its own row of the table; rows are compared bit by bit")


@final
@dataclass(frozen=True, kw_only=True)
class Shaw(LagEncoding):
    """Relative position representations, Shaw et al. 2018: a learned vector for each clipped lag."""

    name: ClassVar[str] = "shaw"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a learned vector for each lag up to a distance, added to keys or values"
    formula: ClassVar[str] = "score = q (k + a[clip(-lag, -k, k)]) / sqrt d; side=value: output = sum of w (v + a)"
    source: ClassVar[str] = (
        "Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155; tensorflow/tensor2tensor, layers/common_attention.py"
    )
    pitfalls: ClassVar[str] = (
        "lags beyond the clip are not told apart; keys and values have a table each; some stacks share it over heads, "
        "others do not; rows count key minus query"
    )

    clip: int | None = parameter(
        accepts=IntegerRange(minimum=1, maximum=1 << 16),
        meaning="largest distance that is told apart; not set: that of the table, or 16",
    )
    width: int | None = parameter(
        name="d",
        accepts=IntegerRange(minimum=1, maximum=1 << 10),
        meaning="width of a head; not set: that of the table, or 64",
    )
    side: str = parameter(
        default="key",
        accepts=Choice(members=("key", "value")),
        meaning="the table that is added to keys, or the one that is added to values",
    )
    values: GivenArray | None = parameter(like=build_table("2 clip + 1 x d, from key minus query = -clip on"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        held = None if self.values is None else self.values.values.shape
        if held is not None and (held[0] % 2 == 0 or held[0] < 3):
            raise InputError("shaw: table has the wrong number of rows", str(held[0]), "2 clip + 1 rows are accepted")
        self.settle("clip", "clip", None if held is None else held[0] // 2, 16)
        self.settle("width", "d", None if held is None else held[1], 64)
        self.check_size("table", 2 * self.farthest + 1, self.d)

    @property
    def d(self) -> int:
        """Width of a head."""
        return self.width or 64

    @property
    def farthest(self) -> int:
        """Largest distance that is told apart."""
        return self.clip or 16

    @property
    def numbers_per_lag(self) -> int:
        """Each lag has a vector."""
        return self.d

    @property
    def causal(self) -> bool:
        """Lags of both signs occur."""
        return False

    @property
    def is_random(self) -> bool:
        """Whether the table was drawn."""
        return self.values is None

    @property
    def notes(self) -> tuple[str, ...]:
        """From where on lags are not told apart."""
        return (*super().notes, f"shaw: lags of {self.farthest} and more share a vector, on each side")

    @cached_property
    def entries(self) -> F64:
        """The whole table, shape (2 clip + 1, d), read-only; unless given, uniform after Glorot as in TensorFlow."""
        if self.values is not None:
            return self.values.values
        shape = (2 * self.farthest + 1, self.d)
        bound = (6 / sum(shape)) ** 0.5
        generator = start_generator(self.seed)
        for _ in range(1 if self.side == "key" else 2):  # the table for values is drawn after that for keys
            drawn: F64 = generator.uniform(-bound, bound, shape)
        drawn.flags.writeable = False
        return drawn

    @cached_property
    def row_numbers(self) -> I64:
        """A number for each row of the table, the same for equal rows."""
        return number_equal_rows(self.entries)

    def lag_table(self, lags: ArrayLike) -> F64:
        """The vectors of the lags (query minus key), shape (L, d)."""
        return self.entries[self._find_rows(self.read_lags(lags))]

    def exact_key(self, positions: I64) -> I64:
        """A number for each clipped lag, the same for those with equal rows."""
        return self.row_numbers[self._find_rows(self.read_lags(positions, 1))]

    @property
    def theorem(self) -> Theorem:
        """Lags are clipped in integers, and rows compared as they are."""
        return Theorem(kind="rows", text="clipped lags share a row of the table; rows are compared bit by bit")

    def _find_rows(self, lags: I64) -> I64:
        clipped = np.clip(lags, -self.farthest, self.farthest)
        return self.farthest - clipped  # rows count key minus query
