"""Positions and lags as they are given, read into arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION


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
        _check_size(int(positions), width)
        return np.arange(positions, dtype=np.int64)
    array = as_integers(positions, "positions")
    if array.size and (array.min() < 0 or array.max() > MAX_POSITION):
        raise InputError("a position is out of range", accepted=f"0 to {MAX_POSITION} is accepted")
    _check_size(array.size, width)
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


def _check_size(count: int, width: int) -> None:
    if count * width > MAX_HELD_ENTRIES:
        raise InputError("the table is too large to hold", f"{count} x {width}", f"at most {MAX_HELD_ENTRIES} numbers")


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
