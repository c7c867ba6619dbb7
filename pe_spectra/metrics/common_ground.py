"""What encodings are compared on: one number of positions, and one lattice for all spectra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pe_spectra.encodings import Encoding, HasFrequencies
from pe_spectra.encodings.codes import count_work
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.limits import MAX_COMPARED_NUMBERS, MAX_LENGTH, MAX_PAIR_WORK_TOGETHER
from pe_spectra.spectrum import (
    Spectrum,
    choose_bandwidth,
    compute_density_spectrum,
    compute_lag_window_spectrum,
    compute_spectrum,
)
from pe_spectra.wording import count

DEFAULT_LENGTH = 128
#: What a position costs at least, in columns, whatever the width.
LEAST_WIDTH = 64
#: At 0 and pi all spectra are reflected: a table's can be had in no other way, as its kernel tells w from -w nowhere.
BOUNDARY = "reflect"


def count_positions(encoding: Encoding) -> int | None:
    """How many positions an encoding has: its rows, or the places of its grid; None without an end.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> count_positions(Sinusoidal()), count_positions(read_encoding("one-hot:d=64"))
    (None, 64)
    """
    return encoding.rows if encoding.shape is None else math.prod(encoding.shape)


def explain_absence(encoding: Encoding, length: int) -> str:
    """Say how many positions an encoding has that cannot be had at so many; empty where it can.

    >>> from pe_spectra import read_encoding
    >>> explain_absence(read_encoding("one-hot:d=64"), 65), explain_absence(read_encoding("one-hot:d=64"), 64)
    ('64 positions', '')
    """
    most = count_positions(encoding)
    return "" if most is None or length <= most else count(most, "position")


def choose_length(encodings: Sequence[Encoding]) -> int:
    """Return the number of positions that encodings are compared on unless told otherwise.

    The fewest that one of them has, 128 where none has an end. Where that is too much for all together, at most 128.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> choose_length([Sinusoidal()]), choose_length([Sinusoidal(), read_encoding("ramp:length=300")])
    (128, 300)
    """
    ends = [most for most in map(count_positions, encodings) if most is not None]
    length = min(ends, default=DEFAULT_LENGTH)
    numbers, pairs = count_work(encodings, [length] * len(encodings), LEAST_WIDTH)
    fits = numbers <= MAX_COMPARED_NUMBERS and pairs <= MAX_PAIR_WORK_TOGETHER and length <= MAX_LENGTH
    return length if fits else min(length, DEFAULT_LENGTH)


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """What the spectra of one comparison have in common, so that none depends on the width of its encoding.

    All are reflected at 0 and pi, whatever is compared. Eq. (15) as printed, cut off there, needs a list of
    frequencies; reflected, a formula has the same numbers as its own table, and alone the same as beside one.

    >>> from pe_spectra import Dft
    >>> Lattice.choose([Dft(d=8)], 24)
    Lattice(length=24, bandwidth=4.0)
    """

    length: int  #: positions that all are to be measured on
    bandwidth: float

    @property
    def points(self) -> int:
        """N: as many as there are positions, and two of one."""
        return _count_points(self.length)

    @classmethod
    def choose(cls, encodings: Sequence[Encoding], length: int) -> Lattice:
        """Choose it for encodings that are compared on so many positions."""
        return cls(length=length, bandwidth=choose_bandwidth(encodings, _count_points(length)))


def _count_points(length: int) -> int:
    return max(2, length)


def find_spectrum(encoding: Encoding, size: int, lattice: Lattice) -> Spectrum | str:
    """Return the spectrum on the lattice of all, at real positions on theirs, the same for all; or why there is none.

    >>> from pe_spectra import Dft
    >>> find_spectrum(Dft(d=8), 24, Lattice.choose([Dft(d=8)], 24)).grid
    24
    """
    grid, bandwidth = lattice.points, lattice.bandwidth
    try:
        if isinstance(encoding, Sampled):
            return compute_spectrum(encoding)
        if _is_ladder(encoding):
            return compute_density_spectrum(
                encoding, grid=grid, bandwidth=bandwidth, boundary=BOUNDARY, always_blur=True
            )
        length = None if encoding.shape is not None else size
        return compute_lag_window_spectrum(encoding, grid=grid, bandwidth=bandwidth, length=length)
    except (InputError, UndefinedError) as error:
        return str(error).removeprefix(f"{encoding.label}: ")


def _is_ladder(encoding: Encoding) -> bool:
    return isinstance(encoding, HasFrequencies) and encoding.shape is None and not isinstance(encoding, Sampled)
