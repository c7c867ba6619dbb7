"""Any encoding at real positions."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.codes import as_positions, as_times, check_rows
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Encoding, Frequencies, HasContinuousTable, HasFrequencies, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.records import dataclass

#: Integers up to this are computed as such, whatever the encoding adds to them.
_LAST_INTEGER = 1 << 52


@final
@dataclass(frozen=True, kw_only=True)
class Sampled(Encoding):
    """A continuous encoding at given real positions. It has no name of its own on the command line."""

    name: ClassVar[str] = "sampled"
    family: ClassVar[str] = "combined"
    summary: ClassVar[str] = "an encoding at real positions"
    formula: ClassVar[str] = "row s is e(t_s)"
    source: ClassVar[str] = "the encoding that is sampled"
    pitfalls: ClassVar[str] = (
        "unless all positions are integers, vectors are computed in plain float64 arithmetic, without exact reduction"
    )

    encoding: Encoding
    times: GivenArray | None = parameter(name="positions", accepts=FileOfNumbers(axes=(1,)), meaning="real positions")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.encoding, HasContinuousTable):
            raise InputError("this encoding takes no real positions", self.encoding.label, "--length gives it integers")
        if self.times is None:
            raise InputError("sampled: positions are missing", accepted="an array of numbers")
        as_times(self.times.values)

    @property
    def positions(self) -> F64:
        """The real positions, (S,)."""
        return self.times.values if self.times is not None else as_times([])

    @cached_property
    def integers(self) -> I64 | None:
        """The positions, where all are integers that the encoding itself has vectors for; else None."""
        times, rows = self.positions, self.encoding.rows
        if not (times.size and isinstance(self.encoding, HasTable) and np.array_equal(times, np.rint(times))):
            return None
        last = _LAST_INTEGER if rows is None else rows - 1
        return times.astype(np.int64) if times.min() >= 0 and times.max() <= last else None

    @property
    def d(self) -> int:
        """Width of the position vectors."""
        return self.encoding.d if isinstance(self.encoding, HasContinuousTable) else 0

    @property
    def rows(self) -> int:
        """Number of positions."""
        return len(self.positions)

    @property
    def is_random(self) -> bool:
        """As the encoding's."""
        return self.encoding.is_random

    @property
    def notes(self) -> tuple[str, ...]:
        """As the encoding's, and what a lag is here."""
        return (*self.encoding.notes, "a lag is a number of steps from one of the real positions to another")

    @property
    def label(self) -> str:
        """The encoding, and at how many positions."""
        return f"{self.encoding.label} at {self.rows} real positions"

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the encoding, and how many positions there are."""
        return {**self.encoding.parameters, "encoding": self.encoding.name, "positions": self.rows}

    def write_spec(self, *, brief: bool = False) -> str:
        """The SPEC of the encoding; --positions stands beside it."""
        return self.encoding.write_spec(brief=brief)

    def describe_position(self, s: int) -> str:
        """The real position."""
        return f"{self.positions[s]:.12g}"

    def bound_error(self, table: F64) -> float | None:
        """Rounding of the angles w t; None for an encoding without a list of frequencies. Of integers: as it says."""
        if self.integers is not None:
            return self.encoding.bound_error(table)
        if not isinstance(self.encoding, HasFrequencies):
            return None
        found = self.encoding.frequencies()
        angle = float(found.values.max(initial=0.0)) * float(np.abs(self.positions).max(initial=0.0))
        return (
            (16 + 2 * angle) * float(np.finfo(float).eps) * max(found.amplitude, float(np.abs(table).max(initial=0.0)))
        )

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the real positions with these numbers, shape (S, d)."""
        s = as_positions(positions, max(1, self.d))
        check_rows(s, self.rows)
        if self.integers is not None and isinstance(self.encoding, HasTable):
            return self.encoding.table(self.integers[s])
        if not isinstance(self.encoding, HasContinuousTable):
            raise InputError("this encoding takes no real positions", self.encoding.label)
        return self.encoding.table_at(self.positions[s])


def list_frequencies(encoding: Encoding) -> Frequencies | None:
    """Return the frequencies of an encoding, those of the one that is sampled at real positions; None without a list.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> list_frequencies(Sinusoidal(d=4)).values.tolist(), list_frequencies(read_encoding("alibi"))
    ([1.0, 0.01], None)
    """
    one = encoding.encoding if isinstance(encoding, Sampled) else encoding
    return one.frequencies() if isinstance(one, HasFrequencies) and one.shape is None else None
