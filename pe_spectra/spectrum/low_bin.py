"""How many frequencies fall into the lowest bin, counted exactly."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import ENCODINGS, Encoding, Frequencies, HasFrequencies
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, TWO_PI, to_words
from pe_spectra.limits import MAX_CONTEXT, MIN_LENGTH
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.record import Spectrum

if TYPE_CHECKING:
    from fractions import Fraction

LENGTH = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_CONTEXT)
#: Relative distance to the edge below which pairs of doubles (31 digits) do not decide.
_GUARD = 1e-28


@dataclass(frozen=True, kw_only=True)
class LowBinCount(Result):
    """The frequencies 0 < w < bin_edge of one encoding: the ladder of Eq. 3, which Eq. 16 is about, has no frequency 0.

    >>> from pe_spectra import Sinusoidal
    >>> found = count_low_bin(Sinusoidal(d=256))
    >>> found.inside, found.total, found.share_inside
    (76, 128, 0.59375)
    """

    encoding: Encoding = quantity("The encoding that was analysed.", write=attrgetter("name"))

    @derived("Width of the encoding, in columns; null for one without this parameter.", minimum=1)
    def d(self) -> int | None:
        return getattr(self.encoding, "d", None)

    @derived("Base of the ladder; null for an encoding without this parameter.", above=0)
    def rho(self) -> float | None:
        return getattr(self.encoding, "rho", None)

    length: int | None = quantity("T, where the edge is 2 pi/T; null where it is the paper's 2 pi/d.", minimum=1)
    bin_edge: float = quantity("Width of the lowest bin.", unit="rad/position", above=0)
    crossing: float | None = quantity(
        "l* of Eq. 16, where the ladder, continued beyond its ends, crosses the edge, in units of its index l; null "
        "for any but the sinusoidal encoding, and where all its frequencies are equal (rho = 1)."
    )
    inside: int = quantity("Number of frequencies strictly between 0 and the edge, counted exactly.", minimum=0)
    outside: int = quantity("Number of the others; a frequency 0 is one of them.", minimum=0)
    zero: int = quantity("Number of frequencies that are 0, which Eq. 16 does not count: they never turn.", minimum=0)
    total: int = quantity("Number of all frequencies.", minimum=1)
    #: The edge is 2 pi over it.
    points: int

    @derived("inside over total, from 0 to 1.", minimum=0, maximum=1)
    def share_inside(self) -> float:
        return self.inside / self.total


def count_low_bin(encoding: Encoding, *, length: int | None = None) -> LowBinCount:
    """Count the frequencies strictly between 0 and 2 pi/d, or 2 pi/T when `length` is T.

    Implements Eq. (16). The comparison is exact: pairs of doubles decide, and 60 decimal digits or
    fractions where a frequency lies within 1e-28 of the edge.

    Raises
    ------
    InputError : a length out of range, or an encoding without frequencies.

    >>> from pe_spectra import Sinusoidal
    >>> count = count_low_bin(Sinusoidal(d=256))
    >>> count.inside, count.total, round(count.crossing, 2)
    (76, 128, 103.04)
    """
    if not isinstance(encoding, HasFrequencies):
        names = ", ".join(cls.name for cls in ENCODINGS if hasattr(cls, "frequencies"))
        raise InputError("this encoding has no list of frequencies", encoding.label, f"those with one are {names}")
    size = None if length is None else LENGTH.check(length, "length")
    return _count(encoding, encoding.frequencies(), size)


def count_low_frequencies(spectrum: Spectrum, length: int | None = None) -> LowBinCount | None:
    """Count the low frequencies of a spectrum as :func:`count_low_bin` does; None where it lists no frequencies.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> count_low_frequencies(compute_spectrum(Sinusoidal(d=256))).inside
    76
    """
    return None if spectrum.frequencies is None else _count(spectrum.encoding, spectrum.frequencies, length)


def _count(encoding: Encoding, frequencies: Frequencies, length: int | None) -> LowBinCount:
    points = encoding.default_grid if length is None else length
    edge, edge_low = to_words(CONTEXT.divide(TWO_PI, Decimal(points)), 2)
    distance = (frequencies.values - edge) + (frequencies.low - edge_low)
    below = distance < 0
    for index in np.flatnonzero(np.abs(distance) <= _GUARD * edge):
        below[index] = isinstance(encoding, HasFrequencies) and _is_below(encoding.turns(int(index)), points)
    inside = int(np.count_nonzero(below & (frequencies.values > 0)))
    total = len(frequencies.values)
    return LowBinCount(
        encoding=encoding,
        length=length,
        bin_edge=edge,
        crossing=_compute_crossing(encoding, points),
        inside=inside,
        outside=total - inside,
        zero=int(np.count_nonzero(frequencies.values == 0)),
        total=total,
        points=points,
    )


def _compute_crossing(encoding: Encoding, points: int) -> float | None:
    """l* = d ln(points / 2 pi) / ln rho, where the ladder is 2 pi/points; None without one."""
    if getattr(encoding, "rho", 1.0) == 1.0:
        return None
    from pe_spectra.encodings import Sinusoidal

    if not isinstance(encoding, Sinusoidal):
        return None
    logarithm = CONTEXT.ln(CONTEXT.divide(Decimal(points), TWO_PI))
    base = CONTEXT.ln(Decimal.from_float(encoding.rho))
    return float(CONTEXT.divide(CONTEXT.multiply(Decimal(encoding.d), logarithm), base))


def _is_below(turns: Fraction | Decimal, points: int) -> bool:
    # A ladder cannot meet the edge exactly: rho**(-l/d) is algebraic and 2 pi/T is not.
    if not isinstance(turns, Decimal):
        return turns * points < 1
    return CONTEXT.multiply(turns, Decimal(points)) < 1
