"""Absolute encodings: every position has a vector of its own.

Adding one is a frozen class here and its name in `ABSOLUTE`, at the end of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.parameters import Parameter
from pe_spectra.encodings.protocol import Encoding, Frequencies, Ladder, Theorem, as_lags, as_positions
from pe_spectra.errors import InputError
from pe_spectra.exact import (
    CONTEXT,
    F64,
    I64,
    TWO_PI,
    ladder_pairs,
    ladder_words,
    lattice_pairs,
    sin_cos,
    sin_cos_of_turns,
    sum_cosines,
)
from pe_spectra.fourier import count_basis_functions, evaluate_basis
from pe_spectra.limits import MAX_RHO, MAX_WIDTH, MIN_RHO, MIN_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, RealRange

_PAPER = "Ide, Labaien & Chen 2024, arXiv:2405.09061"
_WIDTH = Parameter(
    name="d",
    default=256,
    accepts=IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH),
    meaning="width of the code, and length of the lattice in the paper",
)


@final
@dataclass(frozen=True, kw_only=True)
class Sinusoidal(Encoding):
    """The sinusoidal encoding of Vaswani et al. 2017.

    Implements Eq. (2) and Eq. (3): columns sin(w_l s), cos(w_l s) with w_l = rho**(-l/d),
    l = 0, 2, .., in rad/position. Odd d: the last frequency has only its sine.
    """

    name: ClassVar[str] = "sinusoidal"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "sines and cosines on a geometric ladder of frequencies"
    formula: ClassVar[str] = "e(s) = (sin w_l s, cos w_l s), w_l = rho**(-l/d), l = 0, 2, .., d-2"
    source: ClassVar[str] = f"Vaswani et al. 2017, Sec. 3.5; Eq. (2), (3) of {_PAPER}"
    pitfalls: ClassVar[str] = (
        "implementations differ in the order of columns (layout), in odd d, and in whether positions start at 0 or 1; "
        "the frequencies are the same"
    )
    accepts: ClassVar[tuple[Parameter, ...]] = (
        _WIDTH,
        Parameter(
            name="rho",
            default=10000.0,
            accepts=RealRange(minimum=MIN_RHO, maximum=MAX_RHO),
            meaning="base of the geometric ladder; the slowest wavelength is nearly 2 pi rho positions",
        ),
        Parameter(
            name="layout",
            default="interleaved",
            accepts=Choice(members=("interleaved", "concatenated")),
            meaning="sine and cosine columns in turns, or all sines first",
        ),
    )

    d: int = 256
    rho: float = 10000.0
    layout: str = "interleaved"

    @property
    def default_grid(self) -> int:
        """The paper's lattice has as many points as the code has columns."""
        return self.d

    @property
    def ladder(self) -> Ladder:
        """Base and width of the ladder of Eq. (3)."""
        return Ladder(base=float(self.rho), width=self.d)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, M) words."""
        return ladder_words(float(self.rho), self.d)

    def frequencies(self) -> Frequencies:
        """Frequencies of Eq. (3), largest first for rho > 1; M = ceil(d / 2)."""
        values, low = ladder_pairs(float(self.rho), self.d)
        masses, phases = np.ones_like(values), np.zeros_like(values)
        if self.d % 2:
            masses[-1], phases[-1] = 0.5, -np.pi / 2
        return Frequencies(values=values, low=low, masses=masses, phases=phases)

    def turns(self, index: int) -> Decimal:
        """Frequency `index` in turns per position, to 55 digits."""
        exponent = CONTEXT.divide(Decimal(-2 * index), Decimal(self.d))
        return CONTEXT.divide(CONTEXT.power(Decimal.from_float(self.rho), exponent), TWO_PI)

    def table(self, positions: int | ArrayLike) -> F64:
        """Codes of the positions, shape (S, d); entries right to one unit in the last place."""
        s = as_positions(positions, self.d)
        sine, cosine = sin_cos(self.words(), s)
        if self.layout == "concatenated":
            return np.concatenate([sine, cosine], axis=1)[:, : self.d]
        return np.stack([sine, cosine], axis=2).reshape(len(s), 2 * sine.shape[1])[:, : self.d]

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two codes by their lag: sum of cos(w tau), shape (1, L).

        Odd d: the lone sine counts one half; its further term in s + t is not a function of the lag.
        """
        return sum_cosines(self.words(), self.frequencies().masses, as_lags(lags))[None, :]

    def exact_key(self, positions: I64) -> I64:
        """The position itself: no two integers share a code."""
        return positions

    @property
    def theorem(self) -> Theorem:
        """Equal codes need a lag that is a multiple of 2 pi."""
        return Theorem(
            kind="irrational-frequency",
            text="sin s and cos s (frequency 1 rad) agree only where s - t is a multiple of 2 pi, and pi is irrational",
        )


@final
@dataclass(frozen=True, kw_only=True)
class Dft(Encoding):
    """The DFT encoding of the paper.

    Implements Eq. (17), Eq. (18), Eq. (19), Eq. (20) and Eq. (21): the real orthonormal DFT of the one-hot
    function, in the order a_0, a_1 .. a_K, b_1 .. b_K, b_0; odd d has no b_0.
    """

    name: ClassVar[str] = "dft"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the discrete Fourier transform of the one-hot position function"
    formula: ClassVar[str] = "e(s) = sqrt(2/d) (1/sqrt 2, cos w_k s, sin w_k s, cos(pi s)/sqrt 2), w_k = 2 pi k/d"
    source: ClassVar[str] = f"Eq. (17) to (21) of {_PAPER}"
    pitfalls: ClassVar[str] = "repeats after d positions; the authors' published code differs (dfstrans)"
    accepts: ClassVar[tuple[Parameter, ...]] = (_WIDTH,)

    d: int = 256

    @property
    def default_grid(self) -> int:
        """The lattice whose DFT it is."""
        return self.d

    def frequencies(self) -> Frequencies:
        """Frequencies 2 pi k/d, k = 0 .. d // 2; those at 0 and pi have a lone cosine."""
        values, low = lattice_pairs(self.d // 2 + 1, self.d)
        return Frequencies(values=values, low=low, masses=self.lattice_masses() / 2, phases=np.zeros_like(values))

    def turns(self, index: int) -> Fraction:
        """Frequency `index` in turns per position, exactly."""
        return Fraction(index, self.d)

    def lattice_masses(self) -> F64:
        """Columns at each DFT frequency: 1 at both ends, 2 between (odd d: 1, 2, .., 2)."""
        return count_basis_functions(self.d)

    def table(self, positions: int | ArrayLike) -> F64:
        """Codes of the positions, shape (S, d); zeros are exact."""
        s = np.mod(as_positions(positions, self.d), self.d)
        return evaluate_basis(s, self.d)

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two codes by their lag: 1 at multiples of d, else 0; shape (1, L)."""
        repeats: F64 = np.equal(np.mod(as_lags(lags), self.d), 0).astype(float)
        return repeats[None, :]

    def exact_key(self, positions: I64) -> I64:
        """The position modulo d."""
        key: I64 = np.mod(positions, self.d)
        return key

    @property
    def theorem(self) -> Theorem:
        """Its codes are the orthonormal basis of d functions, again and again."""
        return Theorem(
            kind="period",
            text=f"any {self.d} codes in a row are orthonormal, and k s modulo d repeats after d = {self.d} positions",
        )


@final
@dataclass(frozen=True, kw_only=True)
class DfsTrans(Encoding):
    """The DFT encoding as its authors' published code computes it (repository dfstrans/DFStrans).

    Positions start at 1, columns are cos(2 pi k s/d), sin(2 pi k s/d) in turns for k = 0 .. d/2 - 1,
    and the factor sqrt(1/d) stands on the first and last position in place of the first and last
    frequency; all others have sqrt(2/d).
    """

    name: ClassVar[str] = "dfstrans"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the DFT encoding as published in code: no Nyquist column, end factors on positions"
    formula: ClassVar[str] = (
        "e(s) = c_s (cos w_k (s+1), sin w_k (s+1)), k = 0 .. d/2-1, c_s = sqrt(1/d) at both ends, else sqrt(2/d)"
    )
    source: ClassVar[str] = "dfstrans/DFStrans, positional_encodings.py, class DFTEncoding"
    pitfalls: ClassVar[str] = (
        "one column is identically 0 and cos(pi s) is missing; the module scales its buffer in place, so that in the "
        "published code the encoding shrinks by sqrt(2/d) again at every forward call: this is the first call; "
        "a row depends on which positions are asked for, by its end factor"
    )
    accepts: ClassVar[tuple[Parameter, ...]] = (_WIDTH,)

    d: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d % 2:
            # the published code fails on odd d: its sine and cosine columns differ in number
            raise InputError("dfstrans: d is odd", str(self.d), "an even d is accepted")

    @property
    def default_grid(self) -> int:
        """The lattice of its frequencies."""
        return self.d

    def frequencies(self) -> Frequencies:
        """Frequencies 2 pi k/d, k = 0 .. d/2 - 1; that at 0 has a lone cosine."""
        values, low = lattice_pairs(self.d // 2, self.d)
        masses = self.lattice_masses()[:-1] / 2
        return Frequencies(values=values, low=low, masses=masses, phases=np.zeros_like(values))

    def turns(self, index: int) -> Fraction:
        """Frequency `index` in turns per position, exactly."""
        return Fraction(index, self.d)

    def lattice_masses(self) -> F64:
        """Columns at each DFT frequency that are not identically 0: 1, 2, .., 2, 0."""
        masses = count_basis_functions(self.d)
        masses[-1] = 0.0
        return masses

    def table(self, positions: int | ArrayLike) -> F64:
        """Codes of the positions, shape (S, d); the first and last of them carry the end factor."""
        s = as_positions(positions, self.d)
        sine, cosine = sin_cos_of_turns(np.mod(s + 1, self.d)[:, None] * np.arange(self.d // 2), self.d)
        rows: F64 = np.stack([cosine, sine], axis=2).reshape(len(s), self.d)
        rows[1:-1] *= np.sqrt(2 / self.d)
        for end in (slice(0, 1), slice(-1, None)):  # in turn: a lone position carries both factors
            rows[end] *= np.sqrt(1 / self.d)
        return rows

    def exact_key(self, positions: I64) -> I64:
        """The position modulo d, and whether it is the first or last of those given."""
        key: I64 = np.mod(positions, self._period)
        key[_ends(len(positions))] += self._period
        return key

    @property
    def _period(self) -> int:
        return self.d if self.d > 2 else 1  # d = 2 has the frequency 0 alone

    @property
    def theorem(self) -> Theorem:
        """As for `dft`, apart from the two positions that carry the end factor."""
        return Theorem(
            kind="period",
            text=f"its columns repeat after {self._period} positions, and only both ends carry a factor of their own",
        )


def _ends(count: int) -> list[int]:
    return [0, count - 1] if count > 1 else [0]


ABSOLUTE: tuple[type[Encoding], ...] = (Sinusoidal, Dft, DfsTrans)
