"""The line that the phases of each pair lie on, followed over windows of rows that double; rows that leave it.

Each window is placed by the line through the window before, so that turns are counted right, and whole turns are
never guessed across a break.
"""

from __future__ import annotations

import numpy as np

from pe_spectra.exact import C128, F64, NDArray, list_blocks
from pe_spectra.models.dumps.dump import StrayedRows
from pe_spectra.models.rotation import take_off_turns
from pe_spectra.records import NamedTuple

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
    first: C128,
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


# --------------------------------------------------------------------- rows off their lines


def describe_rows(phases: F64, frequencies: F64, starts: F64, allowed: float) -> StrayedRows | None:
    """Describe the rows whose phases are off the lines by more than `allowed`; None where none is.

    Parameters
    ----------
    phases : (S, P) radians. frequencies, starts : (P,) the line of each pair, rad/row and rad.
    allowed : rad, what storing explains.

    >>> w, rows = np.array([1.0, 0.01]), np.minimum(np.arange(64.0), 40)
    >>> describe_rows(rows[:, None] * w, w, np.zeros(2), 1e-6).say("B")
    'rows of B from 41 on repeat row 40'
    """
    size, pairs = phases.shape
    shown = np.full(size, -1, dtype=np.int64)
    off = np.zeros(size, dtype=bool)
    for block in list_blocks(size, pairs):
        turned = phases[block] - starts
        off[block] = _are_off(turned, np.arange(size, dtype=float)[block], frequencies, allowed)
        found = np.rint(_place_rows(turned, frequencies))
        shown[block] = np.where(_are_off(turned, found, frequencies, allowed), -1, found)
    rows = np.flatnonzero(off)
    if not rows.size:
        return None
    first, seen = int(rows[0]), shown[rows]
    return StrayedRows(first, rows.size, bool(off[first:].all()), _say_shown(rows, seen, first))


def _are_off(turned: F64, positions: F64, frequencies: F64, allowed: float) -> NDArray[np.bool_]:
    rest = take_off_turns(turned - positions[:, None] * frequencies)
    return np.asarray((np.abs(rest) > allowed).any(axis=1))


def _place_rows(turned: F64, frequencies: F64) -> F64:
    """Find the row on the lines that each row has the phases of, from the slowest pair to the fastest."""
    places = np.zeros(len(turned))
    for pair in np.flatnonzero(frequencies)[::-1]:
        places += take_off_turns(turned[:, pair] - frequencies[pair] * places) / frequencies[pair]
    return places


def _say_shown(rows: NDArray[np.int64], seen: NDArray[np.int64], first: int) -> str:
    """Say what rows that are off have, with a verb."""
    s = "s" if len(rows) == 1 else ""
    if (seen < 0).any():
        return f"leave{s} the phases of the rows before"
    if (seen == seen[0]).all() and seen[0] < first:
        return f"repeat{s} row {seen[0]:,}"
    if np.array_equal(seen, rows % first):
        return "repeat those from row 0 on"
    return f"{'has' if s else 'have'} the phases of other rows, the first those of row {seen[0]:,}"
