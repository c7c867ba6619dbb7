"""Rows of a cache that leave the lines of those before them: which they are, and of which rows they have the phases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64, list_blocks
from pe_spectra.models.dumps.dump import StrayedRows
from pe_spectra.models.rotation import take_off_turns


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
