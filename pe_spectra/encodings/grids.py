"""Encodings of the places of a grid, by sines and cosines of both coordinates."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_positions, check_rows
from pe_spectra.encodings.pairs import compute_geometric_words, interleave
from pe_spectra.encodings.parameters import RHO, YES_NO, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.exact import CONTEXT, F64, TWO_PI, ArrayLike, compute_ratio, ladder_words, sin_cos
from pe_spectra.limits import MAX_LENGTH, MAX_WIDTH
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.records import dataclass

#: What is added to the number of rows or columns before it divides.
_EPSILON = Decimal("1e-6")
_SIDE = IntegerRange(minimum=1, maximum=MAX_LENGTH)


class OnGrid(Encoding):
    """Positions that fill a grid in reading order.

    >>> image = Sincos2d(d=4, height=2, width=3)
    >>> image.rows, image.shape, image.describe_position(5)
    (6, (2, 3), 'row 1, column 2')
    """

    #: Rows and columns of the grid.
    height: int
    width: int

    @property
    def rows(self) -> int:
        """Places of the grid."""
        return self.height * self.width

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        return self.height, self.width

    def describe_position(self, s: int) -> str:
        """The place on the grid: `row 3, column 5`."""
        return f"row {s // self.width}, column {s % self.width}"


@dataclass(frozen=True, kw_only=True)
class _WavesOfBothAxes(OnGrid):
    """Sines and cosines of both coordinates, half of the columns for each."""

    d: int = parameter(
        default=256,
        accepts=IntegerRange(minimum=4, maximum=MAX_WIDTH),
        multiple=4,
        meaning="width, a multiple of 4",
    )
    height: int = parameter(default=14, accepts=_SIDE, meaning="rows of the grid")
    width: int = parameter(default=14, accepts=_SIDE, meaning="columns of the grid")
    rho: float = parameter(like=RHO, meaning="base of the geometric ladder of frequencies")


@final
@dataclass(frozen=True, kw_only=True)
class Sincos2d(_WavesOfBothAxes):
    """The sinusoid on a grid of patches (MAE, MoCo v3): half of the columns for each axis.

    Each half holds sin and cos of w_i x, w_i = rho**(-i / (d/4)), i < d/4, x the index of the column or row;
    positions run along the rows of the grid, after a row of zeros for CLS where there is one.
    """

    name: ClassVar[str] = "sincos2d"
    family: ClassVar[str] = "structural"
    summary: ClassVar[str] = "the sinusoidal encoding of both axes of a grid of patches"
    formula: ClassVar[str] = "e(row y, column x) = (sin w x, cos w x, sin w y, cos w y), w_i = rho**(-4i/d)"
    source: ClassVar[str] = "facebookresearch/mae, util/pos_embed.py; timm, layers/pos_embed_sincos.py"
    pitfalls: ClassVar[str] = (
        "MAE's first half encodes the column of the patch although its code calls it emb_h; timm puts rows first and "
        "all sines before all cosines; the CLS row is zero; read as a line it has false seams where rows wrap"
    )

    cls: str = parameter(accepts=YES_NO, meaning="a row of zeros for the CLS token before the grid")
    order: str = parameter(
        accepts=Choice(members=("mae", "timm", "timm-interleaved")),
        meaning="columns: (sin x, cos x, sin y, cos y), (sin y, sin x, cos y, cos x), (sin y, cos y, sin x, cos x)",
    )

    @property
    def rows(self) -> int:
        """Patches, and the CLS row."""
        return super().rows + self._before

    @property
    def _before(self) -> int:
        return int(self.cls == "yes")

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); entries right to one unit in the last place."""
        s = as_positions(positions, self.d)
        check_rows(s, self.rows)
        words = ladder_words(self.rho, self.d // 2)
        place = np.maximum(s - self._before, 0)
        (sin_y, cos_y), (sin_x, cos_x) = (sin_cos(words, index) for index in np.divmod(place, self.width))
        parts = {
            "mae": (sin_x, cos_x, sin_y, cos_y),
            "timm": (sin_y, sin_x, cos_y, cos_x),
            "timm-interleaved": (sin_y, cos_y, sin_x, cos_x),
        }
        codes = np.concatenate(parts[self.order], axis=1)
        codes[s < self._before] = 0.0
        return codes

    #: Each axis has frequency 1 rad, and a CLS row of zeros is on no circle.
    theorem = Theorem(
        kind="irrational-frequency",
        text="sin and cos of row and of column (frequency 1 rad) tell integers apart; only the CLS row is zero",
    )

    def describe_position(self, s: int) -> str:
        """The place on the grid: `row 3, column 5`, or CLS."""
        return "CLS" if s < self._before else super().describe_position(s - self._before)


@final
@dataclass(frozen=True, kw_only=True)
class DetrSine(_WavesOfBothAxes):
    """The sinusoid on a grid as DETR and its successors have it: rows first, counted from 1, over one whole turn.

    Each half holds sin and cos of w_i y in turns, w_i = rho**(-4i/d), i < d/4; y is the number of the row from 1,
    normalised to y 2 pi / (height + 1e-6).
    """

    name: ClassVar[str] = "detr-sine"
    family: ClassVar[str] = "structural"
    summary: ClassVar[str] = "the sinusoid of both axes of a grid, each normalised to one turn"
    formula: ClassVar[str] = (
        "e(row y, column x) = (sin w v, cos w v, .., sin w u, cos w u, ..), v = 2 pi (y + 1)/(height + 1e-6), "
        "u = 2 pi (x + 1)/(width + 1e-6), w_i = rho**(-4i/d)"
    )
    source: ClassVar[str] = (
        "Carion et al. 2020, arXiv:2005.12872; huggingface/transformers 5.24.0, models/detr/modeling_detr.py, "
        "class DetrSinePositionEmbedding"
    )
    pitfalls: ClassVar[str] = (
        "a pixel's code changes with the size of the picture; nearly all columns are nearly constant, since the "
        "fastest frequency is one turn over the whole side; the mask of padded pictures shortens the side; without "
        "normalisation rows count from 1, not from 0; Deformable DETR takes the middle of a place "
        "(centred); the code calls rho temperature; RT-DETR and D-FINE have sincos2d instead"
    )

    normalise: str = parameter(
        default="yes",
        accepts=YES_NO,
        meaning="coordinates from 0 to 2 pi in place of numbers of rows and columns",
    )
    centred: str = parameter(
        accepts=YES_NO,
        meaning="coordinates of the middle of a place, half a place less (Deformable DETR)",
    )

    def _list_words(self, side: int) -> F64:
        """Frequencies along a side in rad/place, of centred places in rad per half a place, as (3, d/4) words."""
        first = CONTEXT.divide(TWO_PI, CONTEXT.add(Decimal(side), _EPSILON)) if self.normalise == "yes" else Decimal(1)
        first = CONTEXT.divide(first, 2) if self.centred == "yes" else first
        return compute_geometric_words(first, compute_ratio(self.rho, self.d // 2), self.d // 4)

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); entries right to one unit in the last place."""
        s = as_positions(positions, self.d)
        check_rows(s, self.rows)
        sides = zip(np.divmod(s, self.width), self.shape, strict=True)
        counted = ((side, 2 * place + 1 if self.centred == "yes" else place + 1) for place, side in sides)
        halves = (interleave(*sin_cos(self._list_words(side), number)) for side, number in counted)
        return np.concatenate([*halves], axis=1)

    @property
    def theorem(self) -> Theorem:
        """The first pair of each half tells rows, and columns, apart."""
        if self.normalise == "yes":
            text = "sin and cos of 2 pi y/(height + 1e-6), and of x, are less than one turn in all: no two agree"
            return Theorem(kind="less-than-a-turn", text=text)
        text = "sin and cos of row and of column (frequency 1 rad) tell integers apart"
        return Theorem(kind="irrational-frequency", text=text)
