"""Encodings with learned numbers for each lag (query minus key), or for each bucket of lags."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_integers, check_held
from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.encodings.head_tables import HeadTable
from pe_spectra.encodings.heads import HEAD, LAG_LENGTH, TABLE_SEED, LagEncoding, build_heads, build_table
from pe_spectra.encodings.learned import HeldTable
from pe_spectra.encodings.parameters import YES_NO, GivenArray, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.records import dataclass


@final
@dataclass(frozen=True, kw_only=True)
class Erpe(HeadTable):
    """The efficient relative encoding of ConvTran, Foumani et al. 2024: a learned number for each lag."""

    is_stored = True
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

    length: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning=f"positions L, for 2 L - 1 lags; not set: as many as the table is for, or {LAG_LENGTH}",
    )
    heads: int = parameter(like=build_heads(None))
    head: int | None = parameter(like=HEAD)
    values: GivenArray | None = parameter(like=build_table("2 L - 1 x heads, from lag -(L-1) on"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        held = self.held[0]
        if held is not None and held % 2 == 0:
            raise InputError("erpe: table has an even number of rows", str(held), "2 L - 1 rows are accepted")
        self.settle("length", held and (held + 1) // 2, LAG_LENGTH)
        check_held("erpe: the table", self.height, self.heads)

    @property
    def rows(self) -> int:
        """Positions that the table is for."""
        return self.length

    @property
    def height(self) -> int:
        """Number of lags."""
        return 2 * self.rows - 1

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

    #: The numbers are given, so they are compared as they are.
    theorem = Theorem(kind="rows", text="each lag has its own row of the table; rows are compared bit by bit")


@final
@dataclass(frozen=True, kw_only=True)
class Shaw(LagEncoding, HeldTable):
    """Relative position representations, Shaw et al. 2018: a learned vector for each clipped lag."""

    is_stored = True
    name: ClassVar[str] = "shaw"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a learned vector for each lag up to a distance, added to keys or values"
    formula: ClassVar[str] = "score = q (k + a[clip(-lag, -k, k)]) / sqrt d; side=value: output = sum of w (v + a)"
    source: ClassVar[str] = (
        "Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155; tensorflow/tensor2tensor, layers/common_attention.py"
    )
    pitfalls: ClassVar[str] = (
        "lags beyond the clip are not distinguished; keys and values have a table each; some stacks share it over "
        "heads, others do not; rows count key minus query"
    )

    clip: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=1 << 16),
        meaning="largest distance that is distinguished; not set: that of the table, or 16",
    )
    d: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=1 << 10),
        meaning="width of a head; not set: that of the table, or 64",
    )
    side: str = parameter(
        accepts=Choice(members=("key", "value")),
        meaning="the table that is added to keys, or the one that is added to values",
    )
    values: GivenArray | None = parameter(like=build_table("2 clip + 1 x d, from key minus query = -clip on"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, columns = self.held
        if rows is not None and (rows % 2 == 0 or rows < 3):
            raise InputError("shaw: table has the wrong number of rows", str(rows), "2 clip + 1 rows are accepted")
        self.settle("clip", rows and rows // 2, 16)
        self.settle("d", columns, 64)
        check_held("shaw: the table", 2 * self.clip + 1, self.d)

    @property
    def numbers_per_lag(self) -> int:
        """Each lag has a vector."""
        return self.d

    @property
    def notes(self) -> tuple[str, ...]:
        """From where on lags are not distinguished."""
        return (*super().notes, f"shaw: lags of {self.clip} and more share a vector, on each side")

    def _draw(self, generator: np.random.Generator) -> F64:
        """Uniform after Glorot as in TensorFlow; the table for values is drawn after that for keys."""
        shape = (2 * self.clip + 1, self.d)
        bound = (6 / sum(shape)) ** 0.5
        keys, values = (generator.uniform(-bound, bound, shape) for _ in range(2))
        return keys if self.side == "key" else values

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

    #: Lags are clipped in integers, and rows compared as they are.
    theorem = Theorem(kind="rows", text="clipped lags share a row of the table; rows are compared bit by bit")

    def _find_rows(self, lags: I64) -> I64:
        clipped = np.clip(lags, -self.clip, self.clip)
        return self.clip - clipped  # rows count key minus query


_BUCKETS, _MAX_DISTANCE = 32, 128


def compute_buckets(
    relative_positions: ArrayLike,
    *,
    buckets: int = _BUCKETS,
    max_distance: int = _MAX_DISTANCE,
    bidirectional: bool = True,
) -> I64:
    """Compute the buckets of T5 from key minus query; shape (L,).

    Of N buckets (half of them for each direction if bidirectional) the first e = N // 2 hold one distance each,
    the others e + floor(ln(n/e) / ln(max_distance/e) (N - e)), at most N - 1. Decided in integers.

    Parameters
    ----------
    relative_positions : (L,) integers, key minus query: the sign is that of T5, opposite to a lag.
    buckets : how many in all.
    max_distance : from here on all distances share the last bucket (which starts before).
    bidirectional : a key after its query has its own buckets, from buckets // 2; else it counts as distance 0.

    Raises
    ------
    InputError : no integers, or too few buckets, or a max_distance within those of one distance each.

    Raffel et al. 2020, arXiv:1910.10683; tensorflow/mesh, mesh_tensorflow/transformer/transformer_layers.py.

    >>> compute_buckets([0, -1, 1, -7, -8, -9, -90, -91, 91]).tolist()
    [0, 1, 17, 7, 8, 8, 14, 15, 31]
    """
    relative = as_integers(relative_positions, "relative positions")
    count = int(buckets) // 2 if bidirectional else int(buckets)
    starts = np.array(_start_buckets(count, int(max_distance)), dtype=np.int64)  # no integers of 64 bits inside
    distances = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
    found = np.searchsorted(starts, distances, side="right") - 1
    after = np.greater(relative, 0) if bidirectional else np.zeros(len(relative), dtype=bool)
    return found.astype(np.int64) + count * after.astype(np.int64)


@lru_cache(maxsize=32)
def _start_buckets(count: int, max_distance: int) -> tuple[int, ...]:
    """The smallest distance of each bucket of one direction; the same twice for a bucket that stays empty."""
    exact = count // 2
    if exact < 1:
        raise InputError("buckets are too few", str(count), "at least 2 for each direction are accepted")
    if max_distance <= exact:
        raise InputError("max_distance is too small", str(max_distance), f"more than {exact} is accepted")
    starts = list(range(exact))
    logarithmic = count - exact
    for k in range(logarithmic):
        # the least n with (n/e)**(N-e) >= (max_distance/e)**k
        n = max(exact, int(exact * (max_distance / exact) ** (k / logarithmic)) - 1)
        bound = max_distance**k * exact ** (logarithmic - k)
        while n**logarithmic < bound:
            n += 1
        starts.append(n)
    return tuple(starts)


@final
@dataclass(frozen=True, kw_only=True)
class T5(HeadTable):
    """The relative position bias of T5, Raffel et al. 2020: a learned number for each bucket of lags.

    >>> import numpy as np
    >>> bias = T5(bidirectional="no", head=0).bias(np.array([15, 16, 17, 113, 9999]))[0]
    >>> [bool(bias[i] == bias[i + 1]) for i in range(4)]
    [False, True, False, True]
    """

    is_stored = True
    name: ClassVar[str] = "t5"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a learned number for each bucket of lags; buckets widen with the distance"
    formula: ClassVar[str] = (
        "b_h(lag) = table[bucket(lag), h]; buckets of one distance up to e, then e + floor(ln(n/e)/ln(D/e) (N-e))"
    )
    source: ClassVar[str] = (
        "Raffel et al. 2020, arXiv:1910.10683; tensorflow/mesh, mesh_tensorflow/transformer/transformer_layers.py"
    )
    pitfalls: ClassVar[str] = (
        "the last bucket starts at distance 113 (one direction) or 91 (both), not at 128; the first merged pair is "
        "16, 17 or 8, 9; T5 counts key minus query and puts keys after the query into the upper half; its scores are "
        "not divided by sqrt(d)"
    )

    buckets: int = parameter(
        accepts=IntegerRange(minimum=4, maximum=1 << 10),
        meaning=f"number of buckets, over both directions; not set: rows of the table, or {_BUCKETS}",
    )
    max_distance: int = parameter(
        default=_MAX_DISTANCE,
        accepts=IntegerRange(minimum=9, maximum=MAX_LENGTH),
        meaning="distance from which all share the last bucket at the latest",
    )
    bidirectional: str = parameter(
        default="yes",
        accepts=YES_NO,
        meaning="yes: an encoder, half of the buckets for keys after the query; no: a decoder",
    )
    heads: int = parameter(like=build_heads(None))
    head: int | None = parameter(like=HEAD)
    values: GivenArray | None = parameter(like=build_table("buckets x heads"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.settle("buckets", self.held[0], _BUCKETS)
        try:
            _start_buckets(self.height if self.causal else self.height // 2, self.max_distance)
        except InputError as error:
            raise InputError(f"t5: {error.what}", error.given, error.accepted) from error

    @property
    def height(self) -> int:
        """Number of buckets."""
        return self.buckets

    @property
    def spread(self) -> float:
        """d_model**-0.5 as published, with 64 columns for each head as in the small, base and large models."""
        return float((64 * self.heads) ** -0.5)

    @property
    def causal(self) -> bool:
        """Whether only lags 0, 1, .. occur."""
        return self.bidirectional == "no"

    @property
    def notes(self) -> tuple[str, ...]:
        """Where distances begin to share a bucket, and where the last one starts."""
        starts = _start_buckets(self.height if self.causal else self.height // 2, self.max_distance)
        last = f"t5: one bucket holds all distances from {starts[-1]}"
        return (*super().notes, last)

    def find_buckets(self, lags: ArrayLike) -> I64:
        """The bucket of each lag, shape (L,)."""
        return compute_buckets(
            -self.read_lags(lags, 1),
            buckets=self.height,
            max_distance=self.max_distance,
            bidirectional=not self.causal,
        )

    def bias(self, lags: ArrayLike) -> F64:
        """What is added at the lags, shape (heads, L)."""
        return self.look_up(self.find_buckets(self.read_lags(lags)))

    def exact_key(self, positions: I64) -> I64:
        """A number for the bucket of each lag, the same for buckets with equal rows."""
        return self.row_numbers[self.find_buckets(positions)]

    #: Buckets are decided in integers, and their numbers compared as they are.
    theorem = Theorem(kind="buckets", text="lags of one bucket share a row of the table; rows are compared bit by bit")
