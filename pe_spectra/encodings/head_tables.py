"""Biases that stand in a table of one column for each head, from a file or as drawn before training."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.encodings.heads import HeadedEncoding
from pe_spectra.encodings.learned import HeldTable
from pe_spectra.exact import F64, I64


class HeadTable(HeadedEncoding, HeldTable):
    """An encoding whose biases stand in a table of one column for each head; drawn from a normal distribution."""

    @property
    @abstractmethod
    def height(self) -> int:
        """Rows of the table."""

    @property
    def spread(self) -> float:
        """Standard deviation of a table that is drawn."""
        return 0.02

    @property
    def held_heads(self) -> int | None:
        """Columns of the table, if it was given."""
        return self.held[1]

    def _draw(self, generator: np.random.Generator) -> F64:
        return self.spread * generator.standard_normal((self.height, self.heads))

    @cached_property
    def row_numbers(self) -> I64:
        """A number for each row of the table, the same where the chosen heads have the same entries."""
        return number_equal_rows(np.ascontiguousarray(self.choose_heads(self.entries.T).T))

    def look_up(self, indices: I64) -> F64:
        """Return the chosen heads' entries, shape (heads, *indices.shape)."""
        return np.moveaxis(self.choose_heads(self.entries.T).T[indices], -1, 0)
