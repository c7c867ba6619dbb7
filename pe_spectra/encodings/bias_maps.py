"""Biases by query and key, where they are no function of the lag alone."""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.draws import start_generator
from pe_spectra.encodings.codes import check_held
from pe_spectra.encodings.head_tables import HeadTable
from pe_spectra.encodings.heads import HEAD, TABLE_SEED, HeadedEncoding, build_heads
from pe_spectra.encodings.lag_tables import compute_buckets
from pe_spectra.encodings.parameters import SEED, YES_NO, FileOfNumbers, GivenArray, parameter
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.records import dataclass

#: Width of FIRE's network as published.
_FIRE_HIDDEN = 32
#: The standard deviation that weights of TUPE and Swin v2 start with; TUPE's normalisation and buckets.
_SPREAD = 0.02
_LAYER_NORM_EPSILON = 1e-5
_TUPE_BUCKETS = 32


@final
@dataclass(frozen=True, kw_only=True)
class Fire(HeadedEncoding):
    """Functional interpolation of relative positions, Li et al. 2024: a small network of a normalised distance."""

    name: ClassVar[str] = "fire"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a small network of the distance, on a scale that the query's position sets"
    formula: ClassVar[str] = "b_h(i, j) = MLP_h(psi(i - j) / psi(max(i, L))), psi(x) = ln(c x + 1)"
    source: ClassVar[str] = (
        "Li et al. 2024, arXiv:2310.04418; mcleish7/arithmetic, cramming/architectures/embeddings.py, class FIRE"
    )
    pitfalls: ClassVar[str] = (
        "from position L on it is no function of the lag: the query's own position sets the scale; that public copy "
        "takes |i - j|, draws positions at random while it trains and adds 1e-6 to the divisor"
    )

    heads: int = parameter(like=build_heads(12))
    head: int | None = parameter(like=HEAD)
    c: float = parameter(
        default=0.1,
        accepts=RealRange(minimum=1e-9, maximum=1e9),
        meaning="1/position: the distance from which psi bends, learned from 0.1",
    )
    threshold: float = parameter(
        default=512.0,
        accepts=RealRange(minimum=1, maximum=MAX_LENGTH),
        meaning="position L up to which the scale is fixed, learned from 512",
    )
    seed: int = parameter(like=SEED)

    #: A query sees only keys before it.
    causal = True
    #: Its network is drawn, as PyTorch starts linear layers.
    is_random = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Up to where it is a function of the lag."""
        return (*super().notes, f"fire: a function of the lag alone up to position {math.floor(self.threshold)}")

    @cached_property
    def layers(self) -> tuple[F64, F64, F64, F64]:
        """Weights and biases of the two layers: (32,), (32,), (heads, 32), (heads,); uniform within fan_in**-0.5."""
        generator = start_generator(self.seed)
        bound = _FIRE_HIDDEN**-0.5
        return (
            generator.uniform(-1, 1, _FIRE_HIDDEN),
            generator.uniform(-1, 1, _FIRE_HIDDEN),
            self.choose_heads(generator.uniform(-bound, bound, (self.heads, _FIRE_HIDDEN))),
            self.choose_heads(generator.uniform(-bound, bound, self.heads)),
        )

    def bias_map(self, length: int) -> F64:
        """What is added, shape (heads, S, S), query by key; 0 where the key comes after the query."""
        size = self.check_map(length)
        weights, shifts, outer, outer_shifts = self.layers
        maps = np.zeros((self.kernel_count, size, size))
        distances = np.log1p(self.c * np.arange(size))
        for i in range(size):  # a row at a time: the hidden layer is 32 times as large as a row
            x = distances[i::-1] / np.log1p(self.c * max(i, self.threshold))
            hidden = np.maximum(np.outer(weights, x) + shifts[:, None], 0)
            maps[:, i, : i + 1] = outer @ hidden + outer_shifts[:, None]
        return maps


@final
@dataclass(frozen=True, kw_only=True)
class Tupe(HeadedEncoding):
    """Untied positional encoding, Ke et al. 2021: positions have queries and keys of their own."""

    name: ClassVar[str] = "tupe"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "queries and keys of the positions themselves, and a bias for buckets of lags"
    formula: ClassVar[str] = "b_h(i, j) = (LN(P_i) W_q)_h . (LN(P_j) W_k)_h / sqrt(2 d/H) + table[bucket(i - j), h]"
    source: ClassVar[str] = (
        "Ke, He & Liu 2021, arXiv:2006.15595; guolinke/TUPE, fairseq/modules/transformer_sentence_encoder.py"
    )
    pitfalls: ClassVar[str] = (
        "the score of the contents is divided by the same sqrt(2 d/H), not sqrt(d/H); row and column 0 are CLS, with "
        "one number each for all its partners; one set of weights serves all layers; no function of the lag"
    )

    heads: int = parameter(like=build_heads(12, most=64))
    head: int | None = parameter(like=HEAD)
    width: int = parameter(
        default=64,
        accepts=IntegerRange(minimum=1, maximum=256),
        meaning="width of a head, d/H; the model's width d is heads times this",
    )
    length: int = parameter(
        default=512,
        accepts=IntegerRange(minimum=1, maximum=1 << 14),
        meaning="positions that have a row, CLS among them",
    )
    relative: str = parameter(
        default="yes",
        accepts=YES_NO,
        meaning="yes: with the bias for buckets of lags (TUPE-R); no: without (TUPE-A)",
    )
    seed: int = parameter(like=SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        d = self.heads * self.width
        check_held("tupe: the table", self.length + 1, d)
        check_held("tupe: the projection", 2 * d, d)

    #: Its weights are drawn, as published.
    is_random = True

    @property
    def rows(self) -> int:
        """Positions that have a row."""
        return self.length

    @property
    def default_length(self) -> int:
        """256 positions, or all."""
        return min(self.length, 256)

    @cached_property
    def weights(self) -> tuple[F64, F64, F64]:
        """Queries (scaled) and keys of the length + 1 rows, (heads, length + 1, width), and biases (heads, 33)."""
        d = self.heads * self.width
        generator = start_generator(self.seed)
        rows = _SPREAD * generator.standard_normal((self.length + 1, d))
        rows -= rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt(np.mean(rows**2, axis=1, keepdims=True) + _LAYER_NORM_EPSILON)
        both = rows @ (_SPREAD * generator.standard_normal((2 * d, d))).T
        query, key = both.reshape(self.length + 1, 2, self.heads, self.width).transpose(1, 2, 0, 3)
        query = self.choose_heads(query) * (2 * self.width) ** -0.5
        buckets = _SPREAD * generator.standard_normal((_TUPE_BUCKETS + 1, self.heads))
        return query, self.choose_heads(key), self.choose_heads(buckets.T)

    def bias_map(self, length: int) -> F64:
        """What is added, shape (heads, S, S), query by key; position 0 is CLS."""
        size = self.check_map(length)
        query, key, biases = self.weights
        maps: F64 = query[:, 1 : size + 1] @ key[:, 1 : size + 1].transpose(0, 2, 1)
        # rows 0 and 1 stand for CLS as query and as key: each has one number for all partners
        others_to_cls = np.sum(query[:, 1] * key[:, 1], axis=1)
        cls_to_others = np.sum(query[:, 0] * key[:, 0], axis=1)
        maps[:, :, 0] = others_to_cls[:, None]
        maps[:, 0, :] = cls_to_others[:, None]
        if self.relative == "yes":
            buckets = _map_buckets(size)
            for one, bias in zip(maps, biases, strict=True):  # a head at a time: the maps are large
                one += bias[buckets]
        return maps


def _map_buckets(size: int) -> I64:
    position = np.arange(size)
    offsets = compute_buckets(np.arange(1 - size, size))  # key minus query
    buckets: I64 = offsets[position[None, :] - position[:, None] + size - 1]
    buckets[:, 0] = _TUPE_BUCKETS
    buckets[0, :] = _TUPE_BUCKETS // 2  # a bucket that no lag falls into
    return buckets


#: Width of the network of Swin v2.
_HIDDEN = 512
#: Largest side: the map over all its cells, of 8 heads, can still be held.
MAX_WINDOW = 48


@final
@dataclass(frozen=True, kw_only=True)
class Swin(HeadTable):
    """The bias of windows of an image: a table of Swin, or the continuous bias of Swin v2 (Liu et al. 2021, 2022)."""

    name: ClassVar[str] = "swin"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a number for each pair of offsets in a square window, from a table or a small network"
    formula: ClassVar[str] = (
        "b_h(dy, dx) = table[(dy + M-1)(2M-1) + dx + M-1, h]; cpb: 16 sigmoid(MLP_h(g(dy), g(dx))), "
        "g(x) = sign(x) log2(1 + 8 |x|/(M-1)) / log2 8"
    )
    source: ClassVar[str] = (
        "Liu et al. 2021, arXiv:2103.14030; Liu et al. 2022, arXiv:2111.09883; huggingface/transformers, "
        "models/swinv2/modeling_swinv2.py"
    )
    pitfalls: ClassVar[str] = (
        "offsets are two-dimensional: in reading order it is no function of the lag; Swin v2 normalises by "
        "(window - 1) of the window it was trained with, and 16 sigmoid keeps its bias between 0 and 16, near 8 before "
        "training"
    )

    window: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_WINDOW),
        meaning="side M of the window; not set: that of the table, or 8",
    )
    mode: str = parameter(
        accepts=Choice(members=("table", "cpb")),
        meaning="a table (Swin), or the continuous bias on a logarithmic scale (Swin v2)",
    )
    heads: int = parameter(like=build_heads(None))
    head: int | None = parameter(like=HEAD)
    trained: int | None = parameter(
        accepts=IntegerRange(minimum=2, maximum=MAX_WINDOW),
        meaning="side of the window in training, by which offsets are normalised; not set: the window",
        only_with={"mode": ("cpb",)},
    )
    values: GivenArray | None = parameter(
        name="table",
        accepts=FileOfNumbers(),
        meaning="learned values, (2M-1)**2 x heads, vertical offset first; not set: drawn at random",
        only_with={"mode": ("table",)},
    )
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        held = self.held[0]
        if held is not None and (math.isqrt(held) ** 2 != held or held % 2 == 0):
            raise InputError("swin: table has the wrong number of rows", str(held), "(2 M - 1)**2 rows are accepted")
        self.settle("window", held and (math.isqrt(held) + 1) // 2, 8)
        check_held("swin: the table", self.height, self.heads)

    @property
    def rows(self) -> int:
        """Cells of the window."""
        return self.window**2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the window."""
        return self.window, self.window

    @property
    def height(self) -> int:
        """Pairs of offsets."""
        return (2 * self.window - 1) ** 2

    def describe_position(self, s: int) -> str:
        """The cell's row and column in the window."""
        return f"{s} (row {s // self.window}, column {s % self.window} of the window)"

    @cached_property
    def offset_biases(self) -> F64:
        """Biases by offset, query minus key, shape (heads, 2M-1, 2M-1): vertical by horizontal, from -(M-1) on."""
        sides = (2 * self.window - 1, 2 * self.window - 1)
        if self.mode == "table":
            return self.choose_heads(self.entries.T).reshape(-1, *sides)
        scaled = _scale_offsets(self.window, self.trained or self.window)
        generator = start_generator(self.seed)
        inner = _SPREAD * generator.standard_normal((_HIDDEN, 2))
        outer = self.choose_heads(_SPREAD * generator.standard_normal((self.heads, _HIDDEN)))
        coordinates = np.stack(np.meshgrid(scaled, scaled, indexing="ij")).reshape(2, -1)
        logits: F64 = outer @ np.maximum(inner @ coordinates, 0)
        return 16 / (1 + np.exp(-logits)).reshape(-1, *sides)

    def bias_map(self, length: int) -> F64:
        """What is added, shape (heads, S, S), query by key, over the first cells of the window in reading order."""
        y, x = np.divmod(np.arange(self.check_map(length)), self.window)
        last = self.window - 1
        return self.offset_biases[:, np.subtract.outer(y, y) + last, np.subtract.outer(x, x) + last]


def _scale_offsets(side: int, trained: int) -> F64:
    # offsets -8 .. 8 for the window of training, on a logarithmic scale
    offsets = 8 * np.arange(1 - side, side) / max(trained - 1, 1)
    return np.asarray(np.sign(offsets) * np.log2(1 + np.abs(offsets)) / math.log2(8))
