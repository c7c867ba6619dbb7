"""Encodings of places on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.parameters import parameter
from pe_spectra.encodings.positions import as_positions
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ladder_words, sin_cos
from pe_spectra.limits import MAX_LENGTH, MAX_RHO, MAX_WIDTH, MIN_RHO
from pe_spectra.numbers import Choice, IntegerRange, RealRange


@final
@dataclass(frozen=True, kw_only=True)
class Sincos2d(Encoding):
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

    d: int = parameter(
        default=256,
        accepts=IntegerRange(minimum=4, maximum=MAX_WIDTH),
        meaning="width of the code, a multiple of 4",
    )
    height: int = parameter(
        default=14,
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning="rows of the grid",
    )
    width: int = parameter(
        default=14,
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning="columns of the grid",
    )
    rho: float = parameter(
        default=10000.0,
        accepts=RealRange(minimum=MIN_RHO, maximum=MAX_RHO),
        meaning="base of the geometric ladder of frequencies",
    )
    cls: str = parameter(
        default="no",
        accepts=Choice(members=("no", "yes")),
        meaning="a row of zeros for the CLS token before the grid",
    )
    order: str = parameter(
        default="mae",
        accepts=Choice(members=("mae", "timm", "timm-interleaved")),
        meaning="columns: (sin x, cos x, sin y, cos y), (sin y, sin x, cos y, cos x), (sin y, cos y, sin x, cos x)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d % 4:
            raise InputError("sincos2d: d is no multiple of 4", str(self.d), "a multiple of 4 is accepted")

    @property
    def rows(self) -> int:
        """Patches, and the CLS row."""
        return self.height * self.width + self._before

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid, without the CLS row."""
        return self.height, self.width

    @property
    def _before(self) -> int:
        return int(self.cls == "yes")

    def table(self, positions: int | ArrayLike) -> F64:
        """Codes of the positions, shape (S, d); entries right to one unit in the last place."""
        s = as_positions(positions, self.d)
        if s.size and int(s.max()) >= self.rows:
            raise InputError("a position has no row", str(int(s.max())), f"0 to {self.rows - 1} is accepted")
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

    def exact_key(self, positions: I64) -> I64:
        """The position itself: no two places share a code."""
        return positions

    @property
    def theorem(self) -> Theorem:
        """Each axis has frequency 1 rad, and a CLS row of zeros is on no circle."""
        return Theorem(
            kind="irrational-frequency",
            text="sin and cos of row and of column (frequency 1 rad) tell integers apart; only the CLS row is zero",
        )

    def describe_position(self, s: int) -> str:
        """The place on the grid: `row 3, column 5`, or CLS."""
        row, column = divmod(s - self._before, self.width)
        return "CLS" if s < self._before else f"row {row}, column {column}"
