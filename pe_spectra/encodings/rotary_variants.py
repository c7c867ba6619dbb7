"""Rotary encodings that are no list of frequencies along a line: on a grid, and of mixed sinusoids."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.draws import start_generator
from pe_spectra.encodings.codes import as_positions, check_rows
from pe_spectra.encodings.grids import OnGrid
from pe_spectra.encodings.pairs import interleave
from pe_spectra.encodings.parameters import SEED, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.exact import CONTEXT, F64, TWO_PI, ArrayLike, sin_cos, stack_words
from pe_spectra.limits import MAX_CONTEXT, MAX_HEAD_WIDTH, MAX_RHO
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.records import dataclass

#: Widest head of mixed sinusoids: its matrices hold d/2 times d/4 numbers each.
_MAX_MIXED_WIDTH = 1 << 12
_MAX_SIDE, _MAX_HEADS = 1 << 10, 1 << 10
_DRAWN = "seed of the numbers that are drawn"


@final
@dataclass(frozen=True, kw_only=True)
class RopeAxial(OnGrid):
    """The rotary encoding of a grid: positions fill it in reading order, s = y width + x.

    axial: the first d/4 pairs turn by x theta_i, the others by y theta_i, theta_i = base**(-4i/d).
    mixed: pair i turns by fx_i x + fy_i y; the vectors (fx, fy) are learned and begin with length
    theta_i in two directions at a right angle, drawn once for each head.
    """

    name: ClassVar[str] = "rope-axial"
    family: ClassVar[str] = "rotary"
    summary: ClassVar[str] = "rotary encoding of a grid: half of the pairs turn with x, half with y, or all with both"
    formula: ClassVar[str] = "pairs turn by x theta_i, then y theta_i, theta_i = base**(-4i/d), i = 0 .. d/4 - 1"
    source: ClassVar[str] = "Heo et al. 2024, arXiv:2403.13298; naver-ai/rope-vit, models/vit_rope.py"
    pitfalls: ClassVar[str] = (
        "the base is 100, or 10 for mixed, far below that of language models; x comes first; DINOv3 has coordinates "
        "from -1 to 1 times 2 pi in place of indices; the class token is not turned"
    )

    d: int = parameter(
        default=64,
        accepts=IntegerRange(minimum=4, maximum=MAX_HEAD_WIDTH),
        multiple=4,
        meaning="width of a head, a multiple of 4",
    )
    height: int = parameter(default=14, accepts=IntegerRange(minimum=1, maximum=_MAX_SIDE), meaning="rows of the grid")
    width: int = parameter(
        default=14,
        accepts=IntegerRange(minimum=1, maximum=_MAX_SIDE),
        meaning="columns of the grid",
    )
    base: float | None = parameter(
        accepts=RealRange(minimum=1, maximum=MAX_RHO),
        meaning="base of the geometric ladder; not set: 100, or 10 for mixed",
    )
    mode: str = parameter(
        accepts=Choice(members=("axial", "mixed")),
        meaning="each pair along one axis, or along a direction of its own as drawn before training",
    )
    head: int = parameter(
        default=0,
        accepts=IntegerRange(minimum=0, maximum=_MAX_HEADS - 1),
        meaning="which head's directions, from 0",
        only_with={"mode": ("mixed",)},
    )
    seed: int = parameter(like=SEED, meaning=_DRAWN, only_with={"mode": ("mixed",)})

    @property
    def is_random(self) -> bool:
        """Whether directions were drawn in place of learned ones."""
        return self.mode == "mixed"

    def vectors(self) -> F64:
        """Frequencies of the d/2 pairs along x and along y, in rad/cell, shape (2, d/2)."""
        theta = self._words()[0]
        if self.mode == "axial":
            return np.stack([np.concatenate([theta, 0 * theta]), np.concatenate([0 * theta, theta])])
        angle = 2 * np.pi * start_generator(self.seed).random(self.head + 1)[-1]
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        return np.concatenate([np.outer(along, theta), np.outer(across, theta)], axis=1)

    def _words(self) -> F64:
        base = self.base if self.base is not None else 100.0 if self.mode == "axial" else 10.0
        return stack_words(compute_ladder(base, self.d // 2))

    def table(self, positions: int | ArrayLike) -> F64:
        """The cache of cosines and sines, shape (S, d): cosine and sine of each pair in turn.

        Raises
        ------
        InputError : a position outside the grid.
        """
        s = as_positions(positions, self.d)
        check_rows(s, self.rows, self.name)
        y, x = np.divmod(s, self.width)
        if self.mode == "axial":
            words = self._words()
            (sine_x, cosine_x), (sine_y, cosine_y) = sin_cos(words, x), sin_cos(words, y)
            sine, cosine = np.concatenate([sine_x, sine_y], axis=1), np.concatenate([cosine_x, cosine_y], axis=1)
        else:
            along_x, along_y = self.vectors()
            angles = np.multiply.outer(x, along_x) + np.multiply.outer(y, along_y)
            sine, cosine = np.sin(angles), np.cos(angles)
        return interleave(cosine, sine)

    @property
    def theorem(self) -> Theorem:
        """Both coordinates can be read from two pairs."""
        if self.mode == "axial":
            which = "the column and by the row, in rad"
        else:
            which = "c x + r y and by c y - r x with rational c and r"
        return Theorem(
            kind="irrational-frequency",
            text=f"two pairs turn by {which}: position vectors agree only where both angles differ by a multiple of "
            "2 pi, and pi is irrational",
        )


@final
@dataclass(frozen=True, kw_only=True)
class Fope(Encoding):
    """The Fourier encoding of Hua et al. 2024: each channel turns by a mix of the rotary frequencies.

    Frequencies below 2 pi/length are left out. Cosines and sines of the others are multiplied by a
    matrix each, a matrix of ones and zeros plus normal numbers, of one head; they are not trained in
    the published runs. The table holds the cosines, then the sines, d/2 columns each; columns beyond
    the published d/4 are 1 in both, as in the code.
    """

    name: ClassVar[str] = "fope"
    family: ClassVar[str] = "rotary"
    summary: ClassVar[str] = "rotary encoding without its slowest pairs, each channel a mix of the others"
    formula: ClassVar[str] = "(cos s w) C, (sin s w) S; w = base**(-2i/d) >= 2 pi/length; C, S = eye + normal numbers"
    source: ClassVar[str] = "Hua et al. 2024, arXiv:2412.17739; TsinghuaC3I/Fourier-Position-Embedding, olmo/model.py"
    pitfalls: ClassVar[str] = (
        "channels without a frequency have 1 in cosine and sine alike, so they are not left as they are and double "
        "their part of a score; the variance of the drawn numbers depends on the number of heads, since a matrix of "
        "three axes is drawn at once; at most d/4 mixed pairs; some copies divide the "
        "columns of the matrices by their sums; products of two position vectors are no function of the lag"
    )

    d: int = parameter(
        default=64,
        accepts=IntegerRange(minimum=4, maximum=_MAX_MIXED_WIDTH),
        multiple=2,
        meaning="width of a head, even",
    )
    base: float = parameter(
        default=10000.0,
        accepts=RealRange(minimum=1, maximum=MAX_RHO),
        meaning="base of the geometric ladder of frequencies",
    )
    length: int = parameter(
        default=512,
        accepts=IntegerRange(minimum=7, maximum=MAX_CONTEXT),
        meaning="context length of the training: pairs that do not complete a turn in it are left out",
    )
    gain: float = parameter(
        default=0.3,
        accepts=RealRange(minimum=0, maximum=1e3),
        meaning="gain of the normal numbers (Xavier); 0 leaves the matrices of ones and zeros",
    )
    model_heads: int = parameter(
        default=12,
        accepts=IntegerRange(minimum=1, maximum=_MAX_HEADS),
        meaning="heads of the model, which the variance depends on",
    )
    head: int = parameter(
        default=0,
        accepts=IntegerRange(minimum=0, maximum=_MAX_HEADS - 1),
        meaning="which head's matrices, from 0",
    )
    seed: int = parameter(like=SEED, meaning=_DRAWN)

    @property
    def is_random(self) -> bool:
        """The matrices are drawn."""
        return self.gain > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """That the matrices are drawn."""
        return (f"{self.label}: drawn at random, as published: not trained",) if self.is_random else ()

    def words(self) -> F64:
        """Frequencies that are mixed, in rad/position as (3, M) words."""
        floor = CONTEXT.divide(TWO_PI, self.length)
        return stack_words(w for w in compute_ladder(self.base, self.d) if w >= floor)

    @cached_property
    def mixing(self) -> tuple[F64, F64]:
        """The matrices of the sines and of the cosines, shape (M, min(M, d // 4)) each."""
        frequencies = self.words().shape[1]
        mixed = min(frequencies, self.d // 4)
        # the published matrices have three axes (heads, M, mixed); the usual rule takes the last for a filter's size
        std = self.gain * np.sqrt(2 / (mixed * (frequencies + self.model_heads)))
        step = -(-frequencies // mixed)
        kept = np.arange(0, frequencies, step)[:mixed]
        matrices = []
        for which in range(2):
            normal = np.random.Generator(np.random.PCG64([self.seed, self.head, which]))
            matrix = std * normal.standard_normal((frequencies, mixed))
            matrix[kept, np.arange(len(kept))] += 1
            matrix.flags.writeable = False
            matrices.append(matrix)
        return matrices[0], matrices[1]

    def table(self, positions: int | ArrayLike) -> F64:
        """Mixed cosines, then mixed sines, with ones where the published code has them; shape (S, d)."""
        s = as_positions(positions, self.d)
        parts = []
        for plain, matrix in zip(sin_cos(self.words(), s), self.mixing, strict=True):
            ones = np.ones((len(s), self.d // 2 - matrix.shape[1]))
            # summed along an axis: a product of matrices would round a row by how many others there are
            mixed = [np.sum(plain * column, axis=1) for column in matrix.T]
            parts.append(np.concatenate([np.stack(mixed, axis=1), ones], axis=1))
        return np.concatenate(parts[::-1], axis=1)
