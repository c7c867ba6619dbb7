"""What is drawn at random, by NumPy's PCG64.

With seed 0 few numbers are drawn without `numpy.random`, which loads OpenSSL: its import takes a tenth of that of
NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.exact import F64, I64

if TYPE_CHECKING:
    from numpy.random import Generator

#: Of more than so many numbers NumPy's own generator takes less time, its import included.
FEW = 1 << 10
#: The first `FEW` normal numbers, eight bytes each, which tests.foundations.normal_numbers writes.
_NORMAL = Path(__file__).with_name("normal.f8")
#: State, increment and multiplier of PCG64 with seed 0 (O'Neill 2014: a linear congruence of 128 bits, of which 64 are
#: given, halves xored and turned by the top six bits).
_STATE = 0x1AA1B5345996452D09585EB7A69561E3
_INCREMENT = 0x418DDADB3AF71A82588133BC447873A9
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_WORD = (1 << 64) - 1
_HALF = (1 << 32) - 1


@lru_cache(maxsize=8)
def permute(count: int) -> I64:
    """Return the numbers 0 .. count - 1 in an order drawn at random, shape (count,); read-only.

    >>> permute(8).tolist()
    [2, 4, 3, 6, 5, 0, 1, 7]
    """
    if count > FEW:
        drawn: I64 = start_generator(0).permutation(count)
        drawn.flags.writeable = False  # it is kept
        return drawn
    order, halves = list(range(count)), _draw_halves()
    for place in reversed(range(1, count)):
        mask = (1 << place.bit_length()) - 1
        other = next(number for half in halves if (number := half & mask) <= place)
        order[place], order[other] = order[other], order[place]
    drawn = np.array(order, dtype=np.int64)
    drawn.flags.writeable = False
    return drawn


def draw_normal(count: int) -> F64:
    """Return independent normal numbers of mean 0 and standard deviation 1, shape (count,).

    >>> draw_normal(3).round(6)
    array([ 0.12573 , -0.132105,  0.640423])
    """
    if count > FEW:
        return start_generator(0).standard_normal(count)
    numbers: F64 = np.fromfile(_NORMAL, dtype="<f8", count=count).astype(np.float64)
    return numbers


def start_generator(seed: int) -> Generator:
    """Return the random numbers that belong to a seed.

    >>> bool(start_generator(7).normal() == start_generator(7).normal() != start_generator(8).normal())
    True
    """
    return np.random.Generator(np.random.PCG64(seed))


def _draw_halves() -> Iterator[int]:
    """Give numbers of 32 bits, two of each of 64, the lower half first."""
    state = _STATE
    while True:
        state = (state * _MULTIPLIER + _INCREMENT) & ((1 << 128) - 1)
        word, turn = ((state >> 64) ^ state) & _WORD, state >> 122
        word = ((word >> turn) | (word << (64 - turn))) & _WORD
        yield word & _HALF
        yield word >> 32
