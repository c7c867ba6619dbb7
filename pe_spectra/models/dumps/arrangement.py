"""How one array holds the cosines and sines of all pairs: interleaved or in halves, which first, with which signs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, I64


class Arrangement(NamedTuple):
    """Where one array of shape (S, 2P) has cosines and sines; whether they are those of the opposite sign.

    >>> Arrangement(interleaved=True, sines_first=True).sine_sign
    1
    """

    interleaved: bool
    sines_first: bool
    sine_sign: int = 1
    cosine_sign: int = 1

    def negate(self, *, sines: bool, cosines: bool) -> Arrangement:
        """Return the same places with the sign of sines or of cosines turned.

        >>> Arrangement(interleaved=True, sines_first=True).negate(sines=True, cosines=False).sine_sign
        -1
        """
        signs = (-self.sine_sign if sines else self.sine_sign), (-self.cosine_sign if cosines else self.cosine_sign)
        return self._replace(sine_sign=signs[0], cosine_sign=signs[1])


def align_columns(a: Arrangement, b: Arrangement, width: int) -> tuple[I64, F64]:
    """Return for each column of b the column of a that holds the same wave, and the sign between them, (width,) each.

    >>> columns, signs = align_columns(Arrangement(True, True), Arrangement(False, True, sine_sign=-1), 6)
    >>> columns.tolist(), signs.tolist()
    ([0, 2, 4, 1, 3, 5], [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    """
    columns, signs = np.empty(width, dtype=np.int64), np.empty(width)
    ours, theirs = find_places(a, width), find_places(b, width)
    for one, other, sign in zip(ours, theirs, (a.sine_sign * b.sine_sign, a.cosine_sign * b.cosine_sign), strict=True):
        columns[other], signs[other] = one, sign
    return columns, signs


def find_places(arrangement: Arrangement, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns of the sines and those of the cosines, fastest pair first.

    >>> [place.tolist() for place in find_places(Arrangement(interleaved=False, sines_first=False), 4)]
    [[2, 3], [0, 1]]
    """
    every = np.arange(width)
    first, second = (
        (every[0::2], every[1::2]) if arrangement.interleaved else (every[: width // 2], every[width // 2 :])
    )
    return (first, second) if arrangement.sines_first else (second, first)


def state_arrangements(a: Arrangement, b: Arrangement) -> str:
    """Say how the columns of A and of B stand; empty where they stand alike.

    >>> state_arrangements(Arrangement(True, True), Arrangement(False, True))
    'sines and cosines interleaved in A, in halves in B'
    >>> state_arrangements(Arrangement(True, True), Arrangement(True, False))
    'sines first in A, cosines first in B'
    """
    if a[:2] == b[:2]:
        return ""
    if a.interleaved == b.interleaved:
        return ", ".join(
            f"{'sines' if one.sines_first else 'cosines'} first in {letter}" for letter, one in (("A", a), ("B", b))
        )
    names = ["sines and cosines" if one.sines_first else "cosines and sines" for one in (a, b)]
    ways = ["interleaved" if one.interleaved else "in halves" for one in (a, b)]
    other = "" if names[0] == names[1] else f"{names[1]} "
    return f"{names[0]} {ways[0]} in A, {other}{ways[1]} in B"


def state_signs(a: Arrangement, b: Arrangement) -> str:
    """Say which numbers of B have the sign that they have not in A; empty where none.

    >>> state_signs(Arrangement(True, True), Arrangement(True, True, sine_sign=-1))
    'the sines of B have the opposite sign'
    """
    named = (("sines", a.sine_sign != b.sine_sign), ("cosines", a.cosine_sign != b.cosine_sign))
    turned = [name for name, differs in named if differs]
    return f"the {' and the '.join(turned)} of B have the opposite sign" if turned else ""
