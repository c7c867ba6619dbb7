"""Any encoding at real positions, or at whole ones with gaps."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_positions, as_times, check_rows
from pe_spectra.encodings.parameters import FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Encoding, Frequencies, HasContinuousTable, HasFrequencies, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.records import NamedTuple, dataclass

#: Integers up to this are computed as such, whatever the encoding adds to them.
_LAST_INTEGER = 1 << 52


@final
@dataclass(frozen=True, kw_only=True)
class Sampled(Encoding):
    """A continuous encoding at given real positions, or any table at whole ones; `spectrum` and others make it.

    It has no name of its own on the command line. Where the positions were times, `start` is the moment of position 0
    and `step` the time from one to the next.
    """

    is_sampled: ClassVar[bool] = True
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
    start: str = ""
    step: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.times is None:
            raise InputError("sampled: positions are missing", accepted="an array of numbers")
        check_positions(self.encoding, as_times(self.times.values))
        self.keep_step(self.step or self.encoding.time_step)

    @property
    def positions(self) -> F64:
        """The real positions, (S,)."""
        return self.times.values if self.times is not None else as_times([])

    @cached_property
    def integers(self) -> I64 | None:
        """The positions, where all are integers that the encoding itself has vectors for; else None."""
        return _find_integers(self.encoding, self.positions)

    @property
    def d(self) -> int:
        """Width of the position vectors."""
        return self.encoding.d if isinstance(self.encoding, HasTable | HasContinuousTable) else 0

    @property
    def rows(self) -> int:
        """Number of positions."""
        return len(self.positions)

    @property
    def is_random(self) -> bool:
        """As the encoding's."""
        return self.encoding.is_random

    @property
    def is_stored(self) -> bool:
        """As the encoding's."""
        return self.encoding.is_stored

    @property
    def notes(self) -> tuple[str, ...]:
        """As the encoding's, and what a lag is here."""
        return (*self.encoding.notes, "a lag is a number of steps from one of the real positions to another")

    @property
    def label(self) -> str:
        """The encoding, and at how many positions."""
        kind = "real" if isinstance(self.encoding, HasContinuousTable) else "whole"
        return f"{self.encoding.label} at {self.rows} {kind} positions"

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the encoding, how many positions there are, and of times what they are counted in."""
        time = {"start": self.start, "step": self.step} if self.step else {}
        return {**self.encoding.parameters, **time, "encoding": self.encoding.name, "positions": self.rows}

    def write_spec(self, *, brief: bool = False) -> str:
        """The SPEC of the encoding; --positions stands beside it."""
        return self.encoding.write_spec(brief=brief)

    def describe_position(self, s: int) -> str:
        """The real position, or its moment."""
        if self.step:
            from pe_spectra.domains import describe_moment

            return describe_moment(self.start, self.step, float(self.positions[s]))
        if self.integers is not None and not isinstance(self.encoding, HasContinuousTable):
            return self.encoding.describe_position(int(self.integers[s]))
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
        return read_table_at(self.encoding, self.positions[s])


def _find_integers(encoding: Encoding, times: F64) -> I64 | None:
    """The positions, where all are integers that the encoding itself has vectors for; else None."""
    if not (times.size and isinstance(encoding, HasTable) and np.array_equal(times, np.rint(times))):
        return None
    last = _LAST_INTEGER if encoding.rows is None else encoding.rows - 1
    return times.astype(np.int64) if times.min() >= 0 and times.max() <= last else None


class Obstacle(NamedTuple):
    """Why an encoding has no vectors at some positions: what is wrong, where, and what is accepted.

    >>> from pe_spectra import read_encoding
    >>> find_obstacle(read_encoding("one-hot:d=8"), np.array([0.0, 9.0])).given
    'one-hot d=8 at 9'
    """

    what: str
    given: str
    accepted: str


def find_obstacle(encoding: Encoding, times: F64) -> Obstacle | None:
    """Say why an encoding has no vectors at some positions; None where it has.

    >>> from pe_spectra import Dft
    >>> find_obstacle(Dft(d=4), np.array([0.0, 7.0])), find_obstacle(Dft(d=4), np.array([0.5])).what
    (None, 'this encoding takes no real positions')
    """
    if isinstance(encoding, HasContinuousTable) or _find_integers(encoding, times) is not None:
        return None
    what = "this encoding takes no real positions"
    if not isinstance(encoding, HasTable) or encoding.shape is not None:
        return Obstacle(what, encoding.label, "--length gives it integers")
    last = _LAST_INTEGER if encoding.rows is None else encoding.rows - 1
    if not times.size:
        return Obstacle("positions are missing", encoding.label, "an array of numbers")
    wrong = float(times[(times != np.rint(times)) | (times < 0) | (times > last)][0])
    if wrong == round(wrong):
        what = "this encoding has no such position"
    most = "on" if encoding.rows is None else f"to {last}"
    return Obstacle(what, f"{encoding.label} at {wrong:.12g}", f"whole positions from 0 {most} are accepted")


def check_positions(encoding: Encoding, times: F64) -> None:
    """Refuse positions at which an encoding has no vectors.

    Raises
    ------
    InputError : as :func:`find_obstacle` says.

    >>> from pe_spectra import Dft
    >>> check_positions(Dft(d=4), np.array([0.0, 7.0]))
    """
    found = find_obstacle(encoding, times)
    if found is not None:
        raise InputError(*found)


def read_table_at(encoding: Encoding, times: F64) -> F64:
    """Return the vectors of an encoding at real positions, or at whole ones where it takes no others, shape (S, d).

    Raises
    ------
    InputError : positions at which it has no vectors.

    >>> from pe_spectra import Dft
    >>> read_table_at(Dft(d=2), np.array([0.0, 3.0])).round(3)
    array([[ 0.707,  0.707],
           [ 0.707, -0.707]])
    """
    if isinstance(encoding, HasContinuousTable):
        return encoding.table_at(times)
    check_positions(encoding, times)
    whole = _find_integers(encoding, times)
    return np.empty((0, 0)) if whole is None or not isinstance(encoding, HasTable) else encoding.table(whole)


def list_frequencies(encoding: Encoding) -> Frequencies | None:
    """Return the frequencies of an encoding, those of the one that is sampled at real positions; None without a list.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> list_frequencies(Sinusoidal(d=4)).values.tolist(), list_frequencies(read_encoding("alibi"))
    ([1.0, 0.01], None)
    """
    one = encoding.encoding if isinstance(encoding, Sampled) else encoding
    return one.frequencies() if isinstance(one, HasFrequencies) and one.shape is None else None
