"""A rotation that was found from arrays."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.rotation import Rotation
from pe_spectra.records import NamedTuple, dataclass


class Arrangement(NamedTuple):
    """Where one array of shape (S, 2P) has cosines and sines.

    >>> Arrangement(interleaved=True, sines_first=True).sines_first
    True
    """

    interleaved: bool
    sines_first: bool


class StrayedRows(NamedTuple):
    """Rows that leave the lines of those before: the first, how many, whether all that follow are, and what they do.

    >>> StrayedRows(5, 1, False, "repeats row 0").say("B")
    'row 5 of B repeats row 0'
    """

    first: int
    number: int
    to_the_end: bool
    does: str

    def say(self, letter: str = "") -> str:
        """Say so in a clause, of the side with a letter."""
        of = f" of {letter}" if letter else ""
        if self.number == 1:
            return f"row {self.first:,}{of} {self.does}"
        if self.to_the_end:
            return f"rows{of} from {self.first:,} on {self.does}"
        return f"{self.number:,} rows{of}, from {self.first:,} on, {self.does}"


@dataclass(frozen=True, kw_only=True)
class Dump(Rotation):
    """A rotation that was found from arrays."""

    from_arrays: ClassVar[bool] = True
    kind: Literal["frequencies", "cache", "call"]  #: a dump of inv_freq; cosines and sines, cached or given by a call
    frequencies: F64  #: (D/2,) rad/position, in their order; read-only
    error_bounds: F64  #: (D/2,) largest relative error of each; read-only
    rest: float = 0.0  #: rad/position: up to this, storing may have made 0 of a frequency
    rows: int | None = None  #: positions that the cache has; None for frequencies
    backward: bool = False  #: all sines have the opposite sign, so that the port turns the other way
    half_turn: bool = False  #: all cosines have the opposite sign, so that each phase is half a turn ahead
    phase_error: float | None = None  #: largest distance in rad of a phase from frequency times position
    imprecise: bool = False  #: that is more than storing explains
    angles_rounded: bool = False  #: and has the size and growth of angles that were computed in too few digits
    strayed: StrayedRows | None = None  #: or begins at a row, up to which all are right
    first_row_off: int | None = None  #: then the first row where a phase is off by more than pi/8
    position_dtype: str | None = None  #: the type that positions were rounded to, where that explains it
    frequency_dtype: str | None = None  #: the type, coarser than float32, that frequencies were rounded to
    later: Dump | None = None  #: a second cache that follows in the same rows, for lengths above `rows`
    arrangement: Arrangement | None = None  #: how the columns of one array of cosines and sines stand
    repeats: str | None = None  #: of a call that gave each pair twice: half, interleaved, as a layout would have them

    @property
    def signs(self) -> tuple[int, int]:
        """The signs that sines and cosines are to be multiplied by."""
        return -1 if self.backward != self.half_turn else 1, -1 if self.half_turn else 1


def split_in_two(values: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Split the columns, or a list, into two: its halves, and every second one in turn.

    >>> split_in_two(np.arange(4))["interleaved"]
    (array([0, 2]), array([1, 3]))
    """
    half = values.shape[-1] // 2
    return {"half": (values[..., :half], values[..., half:]), "interleaved": (values[..., 0::2], values[..., 1::2])}
