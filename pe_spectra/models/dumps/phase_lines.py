"""The line that the phases of each pair lie on, followed over windows of rows that double.

Each window is placed by the line through the window before, so that turns are counted right, and whole turns are
never guessed across a break.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, list_blocks
from pe_spectra.models.rotation import take_off_turns

#: Rows of the first window; a phase further than this from the line ends the windows, in rad.
FIRST_WINDOW, LOST = 8, 1.0


class Lines(NamedTuple):
    """The line through each pair's phases: frequency, phase of row 0, rows it holds for, largest residual there."""

    frequencies: F64
    starts: F64
    rows: NDArray[np.int64]
    residuals: F64


def follow_phases(
    phases: F64,
    first: NDArray[np.complex128],
    turned: NDArray[np.bool_],
    lost: float = LOST,
    positions: F64 | None = None,
) -> Lines:
    """Fit a line to the phases of each pair over windows that double, as long as phases stay near it.

    Parameters
    ----------
    phases : (S, P) radians. first : (FIRST_WINDOW, P) cosines + i sines of the first rows, fewer where there are fewer.
    turned : (P,) whether a pair has a sine that is not 0. lost : rad from the line that ends the windows of a pair.
    positions : (S,) of the rows, where they are not 0, 1, 2, ..; those of the first window are.

    Returns
    -------
    Lines, of 0 rows for pairs that are off any line in the first window.

    >>> w, s = np.array([1.0, 0.01]), np.arange(64.0)[:, None]
    >>> first = np.exp(1j * s[:FIRST_WINDOW] * w)
    >>> found = follow_phases(take_off_turns(s * w), first, np.ones(2, dtype=bool))
    >>> found.frequencies.round(12).tolist(), found.rows.tolist()
    ([1.0, 0.01], [64, 64])
    """
    size, pairs = phases.shape
    window = len(first)
    at = np.arange(size, dtype=float) if positions is None else positions
    slopes = np.angle((first[1:] * first[:-1].conj()).sum(axis=0))
    slopes[~turned] = 0.0
    starts = phases[0].copy()
    rows, residuals = np.zeros(pairs, dtype=np.int64), np.zeros(pairs)
    active = np.ones(pairs, dtype=bool)
    while active.any():
        followed = np.flatnonzero(active)
        for held in (followed[block] for block in list_blocks(len(followed), window)):
            found = _fit_window(phases[:window, held], at[:window], slopes[held], starts[held], turned[held])
            near = found[2] <= lost
            slopes[held[near]], starts[held[near]], residuals[held[near]] = (part[near] for part in found)
            rows[held[near]] = window
            active[held[~near]] = False
        if window == size:
            break
        window = min(2 * window, size)
    return Lines(slopes, starts, rows, residuals)


def _fit_window(
    phases: F64, positions: F64, slopes: F64, starts: F64, turned: NDArray[np.bool_]
) -> tuple[F64, F64, F64]:
    """Return slopes, starts and largest residuals of least-squares lines near those given, where turned."""
    centred = positions - positions.mean()
    rest = measure_rest(phases, positions, slopes, starts)
    for _ in range(2):
        slope = centred @ rest / (centred @ centred)
        start = rest.mean(axis=0) - slope * positions.mean()
        slopes, starts = slopes + turned * slope, starts + turned * start
        rest = measure_rest(phases, positions, slopes, starts)
    return slopes, starts, np.abs(rest).max(axis=0)


def measure_rest(phases: F64, positions: F64, slopes: F64, starts: F64) -> F64:
    """Return phases minus lines, wrapped to -pi .. pi, (S, P).

    >>> measure_rest(np.array([[0.0], [0.5]]), np.arange(2.0), np.array([0.25]), np.zeros(1)).tolist()
    [[0.0], [0.25]]
    """
    rest: F64 = phases - (positions[:, None] * slopes + starts)
    return take_off_turns(rest)
