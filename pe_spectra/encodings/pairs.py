"""What all encodings have in common whose columns are sines and cosines of the same frequencies."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pe_spectra.encodings.protocol import Encoding, Frequencies, Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import (
    CONTEXT,
    F64,
    I64,
    TWO_PI,
    ArrayLike,
    lattice_pairs,
    list_powers,
    sin_cos,
    stack_words,
    sum_cosines,
)
from pe_spectra.limits import MAX_POSITION

if TYPE_CHECKING:
    from fractions import Fraction

#: Columns of a table in the order of another; a slice for the same order.
Columns: TypeAlias = "I64 | slice"


class Pairs(Encoding):
    """Columns sin(w s), cos(w s) in pairs; a family's class says which frequencies, and in what order.

    Where the frequencies are rational numbers of rad/position, no two integer positions share a code:
    w (s - t) is a multiple of 2 pi for s = t alone, since pi is irrational.
    """

    #: What is added to every position.
    offset: int = 0

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of columns."""

    @abstractmethod
    def words(self) -> F64:
        """Frequencies in rad/position, none negative, as (3, M) words whose sum is right to 48 digits."""

    @property
    def amplitude(self) -> float:
        """What every sine and cosine is multiplied with."""
        return 1.0

    @property
    def default_grid(self) -> int:
        """As many lattice points as columns, as in the paper; as rows where they are limited."""
        return self.d if self.rows is None else max(2, self.rows)

    def frequencies(self) -> Frequencies:
        """Frequencies in the order of the columns, each with its sine and cosine."""
        high, low, _ = self.words()
        ones, zeros = np.ones_like(high), np.zeros_like(high)
        return Frequencies(values=high, low=low, masses=ones, phases=zeros, amplitude=self.amplitude)

    def turns(self, index: int) -> Fraction | Decimal:
        """Frequency `index` in turns per position, to 48 digits."""
        value = Decimal(0)
        for word in self.words()[:, index]:
            value = CONTEXT.add(value, Decimal.from_float(float(word)))
        return CONTEXT.divide(value, TWO_PI)

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); entries right to one or two units in the last place."""
        from pe_spectra.encodings.codes import as_positions, check_rows

        s = as_positions(positions, self.d)
        check_rows(s, self.rows, self.name)
        if s.size and int(s.max()) + self.offset > MAX_POSITION:  # not every integer is a double beyond
            what = f"{self.name}: a position is out of range with offset={self.offset}"
            raise InputError(what, accepted=f"0 to {MAX_POSITION - self.offset}")
        return self.arrange(*self._turn(s + self.offset))

    def table_at(self, times: F64) -> F64:
        """Vectors of real positions, shape (S, d); entries right to one or two units in the last place."""
        from pe_spectra.encodings.codes import as_times

        return self.arrange(*self._turn(as_times(times) + self.offset))

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two position vectors by their lag: amplitude**2 sum of cos(w tau), shape (1, L).

        A lone sine counts one half; its further term in s + t is not a function of the lag.
        """
        from pe_spectra.encodings.codes import as_lags

        return self.amplitude**2 * sum_cosines(self.words(), self.frequencies().masses, as_lags(lags))[None, :]

    def _turn(self, s: I64 | F64) -> tuple[F64, F64]:
        """Sines and cosines at positions, each (S, M)."""
        return sin_cos(self.words(), s)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """Put the columns in their order: all sines first, unless a class says otherwise."""
        return np.concatenate([sine, cosine], axis=1)

    @property
    def theorem(self) -> Theorem | None:
        """Equal position vectors need a lag that is a multiple of 2 pi/w, for a rational w."""
        return Theorem(
            kind="irrational-period",
            text="a frequency is a rational number of rad/position, so its period is no rational number (pi is none): "
            "sine and cosine agree at no two integers",
        )


class OnLattice(Encoding):
    """Sines and cosines of frequencies 2 pi k/d, k = 0, 1, ..: those of the DFT of length d.

    >>> from pe_spectra import Dft
    >>> Dft(d=4).lattice_masses().tolist()
    [1.0, 2.0, 1.0]
    """

    d: int

    @property
    def default_grid(self) -> int:
        """The lattice of its frequencies."""
        return self.d

    def frequencies(self) -> Frequencies:
        """Frequencies 2 pi k/d up to the last that has a column; those at 0 and pi have a lone cosine."""
        masses = np.trim_zeros(self.lattice_masses(), "b") / 2
        values, low = lattice_pairs(len(masses), self.d)
        phases = np.zeros_like(values)
        return Frequencies(values=values, low=low, masses=masses, phases=phases, amplitude=math.sqrt(2 / self.d))

    def turns(self, index: int) -> Fraction:
        """Frequency `index` in turns per position, exactly."""
        from fractions import Fraction

        return Fraction(index, self.d)

    @abstractmethod
    def lattice_masses(self) -> F64:
        """Columns at each DFT frequency that are not identically 0, shape (d // 2 + 1,)."""


def interleave(sine: F64, cosine: F64) -> F64:
    """Put the columns of two arrays, each (S, M), in turns.

    >>> interleave(np.zeros((1, 2)), np.ones((1, 2))).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    return np.stack([sine, cosine], axis=2).reshape(len(sine), 2 * sine.shape[1])


@lru_cache(maxsize=8)
def compute_geometric_words(first: Decimal, ratio: Decimal, count: int) -> F64:
    """Return first ratio**i, i = 0 .. count-1, as (3, count) words whose sum is right to 48 digits; read-only.

    >>> compute_geometric_words(Decimal(1), Decimal("0.5"), 4)[0].tolist()
    [1.0, 0.5, 0.25, 0.125]
    """
    return stack_words(list_powers(ratio, count, first))


def list_orders(width: int) -> Iterator[tuple[str, Columns]]:
    """List the orders in which implementations put the columns of pairs, b = a[:, order]; that of a itself first.

    Each comes with words that have the names {a} and {b} in them; the first with none.

    >>> [order.tolist() for words, order in list_orders(4) if words][:2]
    [[0, 2, 1, 3], [0, 2, 1, 3]]
    """
    yield "", slice(None)
    if width % 2 or width < 4:
        return
    halves = np.arange(width).reshape(2, -1)
    pairs = np.arange(width).reshape(-1, 2)
    yield "the halves of {a}'s columns are interleaved in {b}", halves.T.ravel()
    yield "the interleaved columns of {a} are halves of {b}", pairs.T.ravel()
    yield "the halves of the columns are swapped", halves[::-1].ravel()
    yield "neighbouring columns are swapped", pairs[:, ::-1].ravel()
    yield "the halves of {a}'s columns are interleaved in {b}, the second first", halves[::-1].T.ravel()
    yield "the interleaved columns of {a} are halves of {b}, the second first", pairs[:, ::-1].T.ravel()


def scale_to_words(values: F64, factor: Decimal) -> F64:
    """Return doubles times a decimal number as (3, M) words whose sum is right to 48 digits.

    >>> scale_to_words(np.array([1.0, 3.0]), Decimal("0.5"))[0].tolist()
    [0.5, 1.5]
    """
    if factor == 1:  # at once: a table may give half a million
        return np.stack([values, np.zeros_like(values), np.zeros_like(values)])
    return stack_words(CONTEXT.multiply(Decimal.from_float(float(value)), factor) for value in values)


def explain_aliasing(encoding: Pairs) -> tuple[str, ...]:
    """Say how many frequencies lie beyond pi, where integer positions cannot tell them from slower ones.

    >>> from pe_spectra import read_encoding
    >>> explain_aliasing(read_encoding("sinusoidal:d=8"))
    ()
    """
    values = encoding.words()[0]
    beyond = int(np.count_nonzero(values > np.pi))
    if not beyond:
        return ()
    text = f"{beyond} of {len(values)} frequencies lie beyond pi rad/position (up to {values.max():.4g})"
    return (f"{encoding.label}: {text}: on integer positions they look like slower ones",)
