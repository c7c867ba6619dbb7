"""Biases of the square windows that images are cut into: two-dimensional offsets in place of lags."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.heads import HEAD, SEED, HeadTable, build_heads, start_generator
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, parameter
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.numbers import Choice, IntegerRange

#: Width of the network of Swin v2, and the standard deviation that its weights start with.
_HIDDEN, _SPREAD = 512, 0.02

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

    window: int | None = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_WINDOW),
        meaning="side M of the window; not set: that of the table, or 8",
    )
    mode: str = parameter(
        default="table",
        accepts=Choice(members=("table", "cpb")),
        meaning="a table (Swin), or the continuous bias on a logarithmic scale (Swin v2)",
    )
    head_count: int | None = parameter(like=build_heads(None))
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
    seed: int = parameter(like=SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        held = self.held_rows
        if held is not None and (math.isqrt(held) ** 2 != held or held % 2 == 0):
            raise InputError("swin: table has the wrong number of rows", str(held), "(2 M - 1)**2 rows are accepted")
        self.settle("window", "window", None if held is None else (math.isqrt(held) + 1) // 2, 8)
        self.check_size("table", self.height, self.all_heads)

    @property
    def side(self) -> int:
        """Side of the window."""
        return self.window or 8

    @property
    def rows(self) -> int:
        """Cells of the window."""
        return self.side**2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the window."""
        return self.side, self.side

    @property
    def height(self) -> int:
        """Pairs of offsets."""
        return (2 * self.side - 1) ** 2

    @property
    def causal(self) -> bool:
        """A query sees all keys of its window."""
        return False

    def describe_position(self, s: int) -> str:
        """The cell's row and column in the window."""
        return f"{s} (row {s // self.side}, column {s % self.side} of the window)"

    @cached_property
    def offset_biases(self) -> F64:
        """Biases by offset, query minus key, shape (heads, 2M-1, 2M-1): vertical by horizontal, from -(M-1) on."""
        sides = (2 * self.side - 1, 2 * self.side - 1)
        if self.mode == "table":
            return self.choose_heads(self.entries.T).reshape(-1, *sides)
        scaled = _scale_offsets(self.side, self.trained or self.side)
        generator = start_generator(self.seed)
        inner = _SPREAD * generator.standard_normal((_HIDDEN, 2))
        outer = self.choose_heads(_SPREAD * generator.standard_normal((self.all_heads, _HIDDEN)))
        coordinates = np.stack(np.meshgrid(scaled, scaled, indexing="ij")).reshape(2, -1)
        logits: F64 = outer @ np.maximum(inner @ coordinates, 0)
        return 16 / (1 + np.exp(-logits)).reshape(-1, *sides)

    def bias_map(self, length: int) -> F64:
        """What is added, shape (heads, S, S), query by key, over the first cells of the window in reading order."""
        y, x = np.divmod(np.arange(self.check_map(length)), self.side)
        last = self.side - 1
        return self.offset_biases[:, np.subtract.outer(y, y) + last, np.subtract.outer(x, x) + last]


def _scale_offsets(side: int, trained: int) -> F64:
    # offsets -8 .. 8 for the window of training, on a logarithmic scale
    offsets = 8 * np.arange(1 - side, side) / max(trained - 1, 1)
    return np.asarray(np.sign(offsets) * np.log2(1 + np.abs(offsets)) / math.log2(8))
