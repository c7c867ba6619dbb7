"""Absolute encodings: every position has a vector of its own."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_lags, as_positions, as_times, check_rows
from pe_spectra.encodings.pairs import OnLattice, interleave
from pe_spectra.encodings.parameters import WIDTH, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.exact import F64, I64, ArrayLike, sin_cos_of_turns
from pe_spectra.fourier import count_basis_functions, evaluate_basis
from pe_spectra.limits import MAX_LENGTH, MAX_WIDTH
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.records import dataclass

_PAPER = "Ide, Labaien & Chen 2024, arXiv:2405.09061"


@final
@dataclass(frozen=True, kw_only=True)
class Dft(OnLattice):
    """The DFT encoding of the paper.

    Implements Eq. (17), Eq. (18), Eq. (19), Eq. (20) and Eq. (21): the real orthonormal DFT of the one-hot
    function, in the order a_0, a_1 .. a_K, b_1 .. b_K, b_0; odd d has no b_0.

    >>> import numpy as np
    >>> Dft(d=4).table(2) * np.sqrt(2)
    array([[ 0.70710678,  1.        ,  0.        ,  0.70710678],
           [ 0.70710678,  0.        ,  1.        , -0.70710678]])
    """

    is_algebraic = True
    name: ClassVar[str] = "dft"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the discrete Fourier transform of the one-hot position function"
    formula: ClassVar[str] = "e(s) = sqrt(2/d) (1/sqrt 2, cos w_k s, sin w_k s, cos(pi s)/sqrt 2), w_k = 2 pi k/d"
    source: ClassVar[str] = f"Eq. (17) to (21) of {_PAPER}"
    pitfalls: ClassVar[str] = "repeats after d positions; the authors' published code differs (dfstrans)"

    d: int = parameter(like=WIDTH)

    def lattice_masses(self) -> F64:
        """Columns at each DFT frequency: 1 at both ends, 2 between (odd d: 1, 2, .., 2)."""
        return count_basis_functions(self.d)

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); zeros are exact."""
        s = np.mod(as_positions(positions, self.d), self.d)
        return evaluate_basis(s, self.d)

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two position vectors by their lag: 1 at multiples of d, else 0; shape (1, L)."""
        repeats: F64 = np.equal(np.mod(as_lags(lags), self.d), 0).astype(float)
        return repeats[None, :]

    def exact_key(self, positions: I64) -> I64:
        """The position modulo d."""
        key: I64 = np.mod(positions, self.d)
        return key

    @property
    def theorem(self) -> Theorem:
        """Its position vectors are the orthonormal basis of d functions, again and again."""
        return Theorem(
            kind="period",
            text=f"any {self.d} position vectors in a row are orthonormal, and k s modulo d repeats after d = {self.d} "
            "positions",
        )


@final
@dataclass(frozen=True, kw_only=True)
class DfsTrans(OnLattice):
    """The DFT encoding as its authors' published code computes it (repository dfstrans/DFStrans).

    Positions start at 1, columns are cos(2 pi k s/d), sin(2 pi k s/d) in turns for k = 0 .. d/2 - 1,
    and the factor sqrt(1/d) stands on the first and last position in place of the first and last
    frequency; all others have sqrt(2/d).

    >>> import numpy as np
    >>> np.round(DfsTrans(d=4).table(4), 3)
    array([[ 0.5  ,  0.   ,  0.   ,  0.5  ],
           [ 0.707,  0.   , -0.707,  0.   ],
           [ 0.707,  0.   ,  0.   , -0.707],
           [ 0.5  ,  0.   ,  0.5  ,  0.   ]])
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

    # the published code fails on odd d: its sine and cosine columns differ in number
    d: int = parameter(like=WIDTH, multiple=2)

    def lattice_masses(self) -> F64:
        """Columns at each DFT frequency that are not identically 0: 1, 2, .., 2, 0."""
        masses = count_basis_functions(self.d)
        masses[-1] = 0.0
        return masses

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d); the first and last of them carry the end factor."""
        s = as_positions(positions, self.d)
        sine, cosine = sin_cos_of_turns(np.mod(s + 1, self.d)[:, None] * np.arange(self.d // 2), self.d)
        rows: F64 = interleave(cosine, sine)
        rows[1:-1] *= np.sqrt(2 / self.d)
        for end in (slice(0, 1), slice(-1, None)):  # in turn: a lone position carries both factors
            rows[end] *= np.sqrt(1 / self.d)
        return rows

    def exact_key(self, positions: I64) -> I64:
        """The position modulo d, and whether it is the first or last of those given."""
        key: I64 = np.mod(positions, self._period)
        key[[0, -1][: len(key)]] += self._period
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


@final
@dataclass(frozen=True, kw_only=True)
class Ramp(Encoding):
    """The position itself as a share of the length, the same in every column.

    >>> Ramp(length=5).table(5).tolist()
    [[0.0], [0.25], [0.5], [0.75], [1.0]]
    """

    is_algebraic = True
    name: ClassVar[str] = "ramp"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "the position over the length, in every column"
    formula: ClassVar[str] = "e(s) = (s/(n-1), .., s/(n-1)), or s/n"
    source: ClassVar[str] = (
        "s/(n-1): Liu et al. 2018 (CoordConv), arXiv:1807.03247, before it is stretched to [-1, 1]; "
        "s/n: the coordinates of Tancik et al. 2020, arXiv:2006.10739"
    )
    pitfalls: ClassVar[str] = (
        "rank 1 at any width, and dot products grow with the position: not a function of the lag; s/n or s/(n-1); the "
        "same position has another vector at another length; neighbours merge in float16 from 2050 positions on"
    )

    d: int = parameter(
        default=1,
        accepts=IntegerRange(minimum=1, maximum=MAX_WIDTH),
        meaning="number of columns, all alike",
    )
    length: int = parameter(
        default=80,
        accepts=IntegerRange(minimum=2, maximum=MAX_LENGTH),
        meaning="number of positions n",
    )
    denominator: str = parameter(
        accepts=Choice(members=("n-1", "n")),
        meaning="n-1: the last position has 1; n: it has 1 - 1/n",
    )

    @property
    def rows(self) -> int:
        """The length."""
        return self.length

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d), correctly rounded."""
        s = as_positions(positions, self.d)
        check_rows(s, self.rows, self.name)
        return self.table_at(s.astype(float))

    def table_at(self, times: F64) -> F64:
        """Vectors of real positions, shape (S, d), correctly rounded; the line goes on beyond both ends."""
        share = as_times(times) / (self.length - (self.denominator == "n-1"))
        return np.repeat(share[:, None], self.d, axis=1)

    #: A line that rises.
    theorem = Theorem(kind="monotone", text="every column rises strictly with the position")


@final
@dataclass(frozen=True, kw_only=True)
class OneHot(Encoding):
    """The unit vectors: a column for each position.

    >>> OneHot(d=3).table([2, 0]).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    is_algebraic = True
    name: ClassVar[str] = "one-hot"
    family: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "a column of its own for every position"
    formula: ClassVar[str] = "e(s) = (0, .., 0, 1, 0, .., 0), 1 in column s; s = 0 .. d-1"
    source: ClassVar[str] = f"the one-hot function of {_PAPER}; the start of every embedding layer"
    pitfalls: ClassVar[str] = (
        "no position beyond d; all positions are equally far apart, sqrt(2), so that neighbours are not near; the DFT "
        "encoding is these vectors rotated: the same distances and similarities up to position d-1"
    )

    d: int = parameter(like=WIDTH, meaning="number of columns, and of positions")

    @property
    def rows(self) -> int:
        """As many as columns."""
        return self.d

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the positions, shape (S, d)."""
        s = as_positions(positions, self.d)
        check_rows(s, self.rows, self.name)
        rows = np.zeros((len(s), self.d))
        rows[np.arange(len(s)), s] = 1.0
        return rows

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two position vectors by their lag: 1 at lag 0, else 0; shape (1, L)."""
        same: F64 = np.equal(as_lags(lags), 0).astype(float)
        return same[None, :]

    #: Unit vectors.
    theorem = Theorem(kind="unit-vectors", text="different positions have different unit vectors")
