"""The codes of an encoding at the places that are asked for: built once, and only where somebody looks at them."""

from __future__ import annotations

import math
from functools import cached_property

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.encodings.codes import find_codes, list_places
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.records import dataclass


@dataclass(frozen=True, eq=False)
class CodeTable:
    """The codes of positions 0 .. length-1, or of the lags between so many.

    >>> from pe_spectra import Dft
    >>> table = CodeTable(Dft(d=4), 3)
    >>> table.places.tolist(), table.columns, table.codes.shape
    ([0, 1, 2], 4, (3, 4))
    """

    encoding: Encoding
    length: int

    @cached_property
    def places(self) -> I64:
        """What the codes belong to, (S,)."""
        return list_places(self.encoding, self.length)

    @cached_property
    def columns(self) -> int:
        """Numbers of a code; 0 where there are none."""
        found = find_codes(self.encoding)
        return 0 if found is None else found.columns

    @cached_property
    def codes(self) -> F64 | None:
        """Rows for places, (S, columns); None where there are none, or too many to hold."""
        found = find_codes(self.encoding)
        if found is None or len(self.places) * found.columns > MAX_HELD_ENTRIES:
            return None
        return self.encoding.table(self.length) if isinstance(self.encoding, HasTable) else found.at(self.places)

    @cached_property
    def error(self) -> float | None:
        """By how much an entry may be wrong: 0 of given numbers; None where it is not known."""
        if self.encoding.is_stored:
            return 0.0
        return None if self.codes is None else self.encoding.bound_error(self.codes)

    @property
    def distance_error(self) -> float | None:
        """By how much the distance of two codes may be wrong; two equal ones are computed no farther apart."""
        return None if self.error is None else 2 * math.sqrt(self.columns) * self.error
