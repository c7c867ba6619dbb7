"""The places that are asked for, and the codes there: rows of a table or for lags, or biases, a column for each head.

Places are positions, or the lags between them. Whoever asks for codes, or for the integers that decide
which of them are equal, asks here; no other module goes through the views that may hold them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from pe_spectra.encodings.protocol import Encoding, HasBias, HasFrequencies, HasLagTable, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_PAIR_WORK, MAX_POSITION
from pe_spectra.records import NamedTuple
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.encodings.sampled import Sampled


class Codes(NamedTuple):
    """How the codes of an encoding are read: numbers in each, and the function of places that gives them, (S, d)."""

    columns: int
    at: Callable[[I64], F64]


def find_codes(encoding: Encoding) -> Codes | None:
    """Return how codes are read; None where neither positions nor lags have one: a bias of a query and a key.

    >>> from pe_spectra import Dft, read_encoding
    >>> found = find_codes(Dft(d=4)), find_codes(read_encoding("alibi:heads=2")), find_codes(read_encoding("fire"))
    >>> found[0].columns, found[1].columns, found[2]
    (4, 2, None)
    """
    if isinstance(encoding, HasTable):
        return Codes(encoding.d, encoding.table)
    if isinstance(encoding, HasLagTable):
        return Codes(int(encoding.lag_table([0]).shape[1]), encoding.lag_table)
    if isinstance(encoding, HasBias):
        bias = encoding.bias
        return Codes(encoding.kernel_count, lambda lags: bias(lags).T.copy())
    return None


def list_places(encoding: Encoding, length: int) -> I64:
    """Return what codes belong to: positions 0 .. length-1, or the lags that occur between so many positions.

    Lags of either sign: 0 .. length-1, then -1 .. -(length-1), so that witnesses are small and positive.

    >>> from pe_spectra import Dft, read_encoding
    >>> list_places(Dft(d=4), 3).tolist(), list_places(read_encoding("alibi:causal=no"), 3).tolist()
    ([0, 1, 2], [0, 1, 2, -1, -2])
    """
    if encoding.domain == "positions" or getattr(encoding, "causal", False):
        return np.arange(length)
    return np.concatenate([np.arange(length), np.arange(-1, -length, -1)])


def read_codes(encoding: Encoding, length: int) -> F64:
    """Return the codes of positions 0 .. length-1, (S, d).

    Raises
    ------
    InputError : an encoding without a table, or one too large to hold.

    >>> from pe_spectra.encodings.absolute import OneHot
    >>> read_codes(OneHot(d=3), 2)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    if not isinstance(encoding, HasTable):
        raise InputError("this encoding gives positions no vector", encoding.label, "an encoding with a table")
    check_held("the table", length, encoding.d)
    return encoding.table(length)


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


def count_work(encodings: Sequence[Encoding], sizes: Sequence[int], least: int) -> tuple[int, int]:
    """Return how many numbers so many codes have, and the multiplications of a search among all pairs of rows.

    Parameters
    ----------
    sizes : number of positions of each encoding.
    least : what a position costs at least, in numbers; the width, where that is more.

    >>> from pe_spectra import Dft, read_encoding
    >>> count_work([Dft(d=4), read_encoding("one-hot:d=4")], [100, 3], 1)  # 100 x 4 + 3 x 4; 3 x 3 x 4
    (412, 36)
    """
    widths = [int(getattr(encoding, "d", 1)) for encoding in encodings]
    pairs = [
        min(s * s * d, MAX_PAIR_WORK)
        for encoding, s, d in zip(encodings, sizes, widths, strict=True)
        if isinstance(encoding, HasTable) and not isinstance(encoding, HasFrequencies)
    ]
    return sum(s * max(d, least) for s, d in zip(sizes, widths, strict=True)), sum(pairs)


def read_grid_codes(encoding: Encoding, shape: tuple[int, int]) -> F64:
    """Return the codes of the places of a grid in reading order, without special rows before them.

    >>> from pe_spectra import GivenArray, Learned
    >>> table = Learned(values=GivenArray(np.arange(5.0)[:, None]), prefix=1, grid="2x2")
    >>> read_grid_codes(table, (2, 2)).ravel()
    array([1., 2., 3., 4.])
    """
    cells = shape[0] * shape[1]
    return read_codes(encoding, encoding.rows or cells)[-cells:]


def find_exact_key(encoding: Encoding, places: I64) -> I64 | None:
    """Return integers, (S,), that are equal exactly where the codes are, by a theorem; None without one.

    >>> from pe_spectra import Dft
    >>> find_exact_key(Dft(d=4), np.arange(6)).tolist()
    [0, 1, 2, 3, 0, 1]
    """
    return None if encoding.theorem is None else encoding.exact_key(places)


def check_encoding(given: object) -> None:
    """Refuse what is no encoding.

    Raises
    ------
    InputError : a text, an array or anything else.

    >>> check_encoding("dft")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: no encoding (str); read_encoding("dft:d=64") or Learned(values=array) is accepted
    """
    if not isinstance(given, Encoding):
        accepted = 'read_encoding("dft:d=64") or Learned(values=array) is accepted'
        raise InputError("no encoding", type(given).__name__, accepted)


def as_positions(positions: int | ArrayLike, width: int) -> I64:
    """Read positions: S for 0 .. S-1, or integers from 0 to 2**53; shape (S,).

    Raises
    ------
    InputError : a position that is no such integer, or a table that would be too large to hold.

    >>> as_positions(3, 256).tolist(), as_positions([5, 40], 256).tolist()
    ([0, 1, 2], [5, 40])
    """
    if isinstance(positions, int | np.integer):
        if positions < 0:
            raise InputError("a number of positions is negative", str(positions), "0 or more is accepted")
        check_held("the table", int(positions), width)
        return np.arange(positions, dtype=np.int64)
    array = as_integers(positions, "positions")
    if array.size and (array.min() < 0 or array.max() > MAX_POSITION):
        raise InputError("a position is out of range", accepted=f"0 to {MAX_POSITION} is accepted")
    check_held("the table", array.size, width)
    return array


def as_lags(lags: ArrayLike) -> I64:
    """Read lags: integers of magnitude at most 2**53; shape (L,).

    Raises
    ------
    InputError : a lag that is no such integer.

    >>> as_lags([-1, 0, 1]).tolist()
    [-1, 0, 1]
    """
    array = as_integers(lags, "lags")
    if array.size and max(-int(array.min()), int(array.max())) > MAX_POSITION:
        raise InputError("a lag is out of range", accepted=f"-{MAX_POSITION} to {MAX_POSITION} is accepted")
    return array


def as_integers(values: ArrayLike, name: str) -> I64:
    """Read a sequence of integers, shape (n,).

    Raises
    ------
    InputError : not integers, or more than one axis.

    >>> as_integers([1.5], "positions")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: positions are not integers (float64); a sequence of integers is accepted
    """
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise InputError(f"{name} have {array.ndim} axes", str(array.shape), "a sequence of integers is accepted")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{name} are not integers", str(array.dtype), "a sequence of integers is accepted")
    return array.astype(np.int64)


def check_held(what: str, *sizes: int) -> None:
    """Refuse what would be too large to hold.

    Raises
    ------
    InputError : the product of the sizes is above the limit.

    >>> check_held("the table", 10**6, 256)
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: the table is too large to hold (1000000 x 256); at most 67108864 numbers
    """
    if math.prod(sizes) > MAX_HELD_ENTRIES:
        given = " x ".join(map(str, sizes))
        raise InputError(f"{what} is too large to hold", given, f"at most {MAX_HELD_ENTRIES} numbers")


def as_times(times: ArrayLike) -> F64:
    """Read real positions: finite numbers of magnitude at most 2**53; shape (S,).

    Raises
    ------
    InputError : not finite, too large, or more than one axis.

    >>> as_times([0, 0.5]).tolist()
    [0.0, 0.5]
    """
    array = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if array.ndim != 1:
        raise InputError(f"positions have {array.ndim} axes", str(array.shape), "a sequence of numbers is accepted")
    if array.size and not np.abs(array).max() <= MAX_POSITION:
        raise InputError("a position is out of range", accepted=f"-{MAX_POSITION} to {MAX_POSITION} is accepted")
    return array


def check_rows(s: I64, count: int | None, name: str = "") -> None:
    """Refuse positions beyond the rows of an encoding; `count` is None where there is no end.

    Raises
    ------
    InputError : a position from `count` on.

    >>> check_rows(np.array([0, 80]), 80, "one-hot")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: one-hot: a position has no row (80); 0 to 79 is accepted
    """
    if count is not None and s.size and int(s.max()) >= count:
        what = f"{name}: a position has no row" if name else "a position has no row"
        raise InputError(what, str(int(s.max())), f"0 to {count - 1} is accepted")


def describe_part(encoding: Encoding, length: int) -> str:
    """Say that only the first of the positions that an encoding has were taken, else nothing; a grid is always whole.

    >>> from pe_spectra import Learned, Sinusoidal
    >>> table = Learned(init="normal", d=4, length=512)
    >>> describe_part(table, 128), describe_part(table, 1), describe_part(table, 512), describe_part(Sinusoidal(), 128)
    ('the first 128 of 512 rows', 'the first of 512 rows', '', '')
    """
    if encoding.rows is None or encoding.shape is not None or length >= encoding.rows:
        return ""
    first = "the first" if length == 1 else f"the first {length}"
    return f"{first} of {encoding.rows} {encoding.rows_are}"


def is_sampled(encoding: Encoding) -> TypeGuard[Sampled]:
    """Whether an encoding is another one at given positions; who asks need not load what that is.

    >>> from pe_spectra.encodings import Sinusoidal
    >>> is_sampled(Sinusoidal(d=4))
    False
    """
    return encoding.is_sampled
