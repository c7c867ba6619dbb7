"""Sums of exponentials at uneven times for a ladder of frequencies: a transform of type 1, by gridding.

Each sample is spread over the nearest points of a fine grid with a smooth kernel, the grid is transformed, and the
transform of the kernel is divided out. The work is N w + M log M in place of N M.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pe_spectra.exact import C128, F64
from pe_spectra.records import dataclass

#: Points of the grid that a sample is spread over: with a grid twice as fine as needed errors are near 1e-13.
_WIDTH = 14
#: Shape of the kernel exp(beta (sqrt(1 - z**2) - 1)), by its width.
_BETA = 2.30 * _WIDTH
#: Steps of the quadrature for the transform of the kernel, over half a turn: with 36 it has all digits.
_STEPS = 40
#: The grid has so many points for each frequency, and so many parts are transformed one by one.
_PARTS = 4
#: Samples that are spread at a time.
_CHUNK = 1 << 17


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """The first `count` multiples of a frequency, 0 included.

    >>> found = Ladder(count=4).transform(np.array([0.0, 0.25]), np.array([1.0, 1.0]))
    >>> np.round(found, 9) + 0
    array([2.+0.j, 1.-1.j, 0.+0.j, 1.+1.j])
    """

    count: int

    @cached_property
    def _size(self) -> int:
        """Points of the grid: four for each frequency, a product of small primes."""
        return _PARTS * choose_size(max(self.count, _WIDTH))

    @cached_property
    def _kernel(self) -> F64:
        """The transform of the kernel at each frequency, by equal steps of the angle whose sine is z.

        Both ends, where the kernel is some 1e-14, then have weight 0, and the error falls as for a periodic function.
        """
        turns = np.arange(self.count) * (np.pi * _WIDTH / self._size)
        angles = np.pi / _STEPS * np.arange(1, _STEPS // 2)
        total: F64 = np.ones(self.count)
        for z, weight in zip(np.sin(angles), np.cos(angles), strict=True):
            total += 2 * weight * _spread(z) * np.cos(turns * z)
        return total * (np.pi / _STEPS * _WIDTH / 2)

    def transform(self, phases: F64, strengths: F64) -> C128:
        """Return sum_j strengths_j exp(-2 pi i k phases_j) for k = 0 .. count - 1.

        Parameters
        ----------
        phases : (N,) from 0 to below 1, ascending, in turns of the first frequency. strengths : (N,).

        References
        ----------
        Dutt & Rokhlin 1993, SIAM J. Sci. Comput. 14, 1368; Greengard & Lee 2004, SIAM Rev. 46, 443; the kernel:
        Barnett, Magland & af Klinteberg 2019, SIAM J. Sci. Comput. 41, C479.
        """
        grid = np.zeros(self._size)
        for start in range(0, len(phases), _CHUNK):
            self._add(grid, phases[start : start + _CHUNK], strengths[start : start + _CHUNK])
        found = self._sum(grid)
        found /= self._kernel
        return found

    def _sum(self, grid: F64) -> C128:
        """The transform of the grid at the frequencies, which are its first fourth: four short ones in place of one.

        A long one takes several times the memory of its grid.
        """
        part = self._size // _PARTS
        found = np.zeros(self.count, dtype=np.complex128)
        for first in range(_PARTS):
            half = np.fft.rfft(grid[first::_PARTS])
            for start in range(0, self.count, _CHUNK):
                places = np.arange(start, min(start + _CHUNK, self.count))
                mirrored = places >= len(half)
                terms = half[np.where(mirrored, part - places, places)]
                np.conj(terms, out=terms, where=mirrored)
                terms *= np.exp(places * (-2j * np.pi * first / self._size))
                found[start : start + _CHUNK] += terms
        return found

    def _add(self, grid: F64, phases: F64, strengths: F64) -> None:
        """Spread some samples over the grid."""
        places = phases * self._size
        first = np.ceil(places - _WIDTH / 2).astype(np.int64)
        low = int(first[0])
        span = int(first[-1]) - low + _WIDTH
        held = np.zeros(span)
        for offset in range(_WIDTH):
            kernel = _spread((first + offset - places) * (2 / _WIDTH))
            held += np.bincount(first - low + offset, weights=strengths * kernel, minlength=span)
        # the grid is a circle, and what lies beyond its end begins anew
        np.add.at(grid, np.arange(low, low + span) % self._size, held)


def choose_size(least: int) -> int:
    """Return the smallest number from `least` on whose transform is quick, a product of small primes.

    >>> choose_size(1000), choose_size(1025)
    (1024, 1152)
    """
    return min(factor << max(0, (-(-least // factor) - 1).bit_length()) for factor in (1, 3, 5, 9, 15))


def _spread(z: F64) -> F64:
    """The kernel at z from -1 to 1."""
    found: F64 = np.exp(_BETA * (np.sqrt(np.maximum(1 - z * z, 0)) - 1))
    return found
