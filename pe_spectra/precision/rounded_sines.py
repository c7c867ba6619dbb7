"""Sines and cosines of many angles of float32, rounded to it, in less than half of the time that float64's take.

With a the nearest of 4096 angles to a turn, whose sines are tabulated, and b the rest, sin(a + b) = sin a cos b +
cos a sin b. Of b, which is below 8e-4, two terms each are enough to know most numbers to 3e-14; where that leaves
open which number of float32 is the nearest, one in 250,000, NumPy's sine and cosine decide. So what is returned is
theirs, rounded.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cache

import numpy as np

from pe_spectra.exact import C128, CONTEXT, F64, TWO_PI, NDArray, sin_cos_of_turns

F32 = NDArray[np.float32]

#: Angles in the table, a power of 2.
_NODES = 4096
#: Up to here the number of the nearest of them has at most 31 bits, so that its products with words of 22 are exact.
FURTHEST = 2.0**21
_WORD_BITS = (31, 53)
#: Added to a number, rounds it to an integer, whose last bits are then those of the sum.
_SHIFT = 1.5 * 2.0**52
#: Units of the last place of a double by which the first look may be off, more than three times what it is at most.
_OPEN = 1024
#: Lifts the last 29 bits of a double, which float32 has no place for, to the top.
_LIFT = 35
#: Angles that are worked on at a time.
_ROOM = 1 << 14


class RoundedSines:
    """Sines and cosines of rows of so many angles; what they are worked out in is kept from block to block.

    >>> sine, cosine = np.empty((2, 1, 2), dtype=np.float32)
    >>> RoundedSines(2).compute(np.array([[0.0, 0.5]]), sine, cosine)
    >>> sine.tolist() == [[0.0, float(np.float32(np.sin(0.5)))]], float(cosine[0, 0])
    (True, 1.0)
    """

    def __init__(self, columns: int) -> None:
        self._rows = max(1, _ROOM // columns)
        self._room = np.empty((8, self._rows * columns))

    def compute(self, angles: F64, sine: F32, cosine: F32) -> None:
        """Fill `sine` and `cosine`, (n, columns), with those of angles below `FURTHEST`, numbers of float32."""
        for start in range(0, len(angles), self._rows):
            part = slice(start, start + self._rows)
            self._compute_block(angles[part], sine[part], cosine[part])

    def _compute_block(self, angles: F64, sine: F32, cosine: F32) -> None:
        shape, size = angles.shape, angles.size
        number, spare, rest, square = (row[:size].reshape(shape) for row in self._room[:4])
        node, turn = (
            two.reshape(-1)[: 2 * size].view(complex).reshape(shape) for two in self._room[4:].reshape(2, 2, -1)
        )
        table, per_radian, words = _tabulate()
        np.multiply(angles, per_radian, out=number)
        number += _SHIFT
        places = np.bitwise_and(number.view(np.int64), _NODES - 1, out=spare.view(np.int64))
        table.take(places, out=node, mode="clip")
        number -= _SHIFT
        left = angles
        for word in words:
            np.multiply(number, word, out=spare)
            left = np.subtract(left, spare, out=rest)
        np.multiply(rest, rest, out=square)
        np.multiply(square, 1 / 6, out=spare)
        spare *= rest
        np.subtract(rest, spare, out=turn.imag)
        square *= 0.5
        np.subtract(1.0, square, out=turn.real)
        node *= turn
        sine[...], cosine[...] = node.imag, node.real
        bits, room = node.view(np.uint64), self._room.reshape(-1)[: 2 * size].view(np.uint64)
        lost = np.left_shift(bits, np.uint64(_LIFT), out=room.reshape(bits.shape))
        lost += np.uint64((1 << 63) + (_OPEN << _LIFT))  # open next to half a unit of float32
        are_open = lost <= np.uint64(2 * _OPEN << _LIFT)
        if are_open.any():
            for which, wave, out in ((are_open[:, 1::2], np.sin, sine), (are_open[:, ::2], np.cos, cosine)):
                out[which] = wave(angles[which])


@cache
def _tabulate() -> tuple[C128, float, tuple[float, ...]]:
    """The table, as complex numbers; how many of its steps a radian has; and a step in three words."""
    sine, cosine = sin_cos_of_turns(np.arange(_NODES), _NODES)
    table = cosine + 1j * sine
    table.flags.writeable = False  # the same for all
    step, words = CONTEXT.divide(TWO_PI, Decimal(_NODES)), []
    for bits in _WORD_BITS:
        words.append(math.ldexp(math.floor(step * 2**bits), -bits))
        step = CONTEXT.subtract(step, Decimal.from_float(words[-1]))
    return table, float(CONTEXT.divide(Decimal(_NODES), TWO_PI)), (*words, float(step))
