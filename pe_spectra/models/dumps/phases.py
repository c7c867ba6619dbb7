"""The lines that phases of a cache lie on: one for each pair, with slope, start, and how well it fits.

A phase is followed over windows of rows that double, each placed by the line through the window
before, so that turns are counted right, and whole turns are never guessed across a break.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, list_blocks
from pe_spectra.models.dumps.dump import FLOAT32_ARITHMETIC, FLOAT64_ARITHMETIC, ROUNDOFF, Dump, describe_rounding
from pe_spectra.models.rotation import TURN, take_off_turns
from pe_spectra.precision.dtypes import DTYPES, round_to

#: Rows of the first window; a phase further than this from the line ends the windows, in rad.
FIRST_WINDOW, _LOST = 8, 1.0
#: Phases are off for another reason than storing when they are off by this many times what that explains.
_UNEXPLAINED = 4.0
#: Share of it that may be left where rounded positions explain it, and the types that they may be rounded to.
_EXPLAINED, _NARROW = 0.01, ("bfloat16", "float16")
#: An offset is an integer when it is this near one.
_NEAR_INTEGER = 0.02


class _Lines(NamedTuple):
    """The line through each pair's phases: frequency, phase of row 0, rows it holds for, largest residual there."""

    frequencies: F64
    starts: F64
    rows: NDArray[np.int64]
    residuals: F64


class _Examined(NamedTuple):
    """How far phases are off the lines at most, from which row on by pi/8, by what rounding of positions, and notes."""

    largest: float
    first_row_off: int | None
    position_dtype: str | None
    notes: tuple[str, ...]


def read_phases(
    phases: F64, first: NDArray[np.complex128], turned: NDArray[np.bool_], *, stored: str, rounding: str
) -> Dump:
    """Follow the phases of each pair from row to row; those that all fall are turned, in place.

    Parameters
    ----------
    phases : (S, P) radians.
    first : (FIRST_WINDOW, P) cosines + i sines of the first rows, fewer where there are fewer.
    turned : (P,) whether a pair has a sine that is not 0.
    stored, rounding : the type of the array, and the one that its numbers were rounded to.

    Returns
    -------
    Dump of all that phases show: frequencies with a bound of each error, offset, signs, and how far phases are off.

    Raises
    ------
    InputError : phases of a pair that do not lie on a line from the start, or sines given for cosines.

    >>> w, s = np.array([1.0, 0.01]), np.arange(64.0)[:, None]
    >>> first, turned = np.exp(1j * s[:FIRST_WINDOW] * w), np.ones(2, dtype=bool)
    >>> found = read_phases(s * w, first, turned, stored="float64", rounding="float64")
    >>> found.frequencies.round(12).tolist(), found.offset, found.backward
    ([1.0, 0.01], 0, False)
    """
    lines, backward = _turn_forward(phases, _follow_phases(phases, first, turned))
    offset, remarks = _find_offset(lines, rounding)
    # cosines have the opposite sign where the slowest pair, which hardly turns up to the first row, has one
    turning = np.flatnonzero(lines.frequencies)
    half_turn = offset is None and turning.size > 0 and math.cos(lines.starts[turning[-1]]) < 0
    lines = lines._replace(frequencies=_refine_frequencies(phases, lines, offset))
    frequencies = _add_turns(lines.frequencies)
    bounds = _bound_errors(lines, frequencies, rounding)
    examined = _examine_phases(phases, lines, rounding)
    above = "a cache shows frequencies above pi only up to whole periods per position"
    turned_back = "all sines have the opposite sign: right only where the rotation takes them with that sign"
    return Dump(
        kind="cache",
        rotary_dim=2 * len(frequencies),
        frequencies=frequencies,
        error_bounds=bounds,
        error_bound=float(bounds.max()),
        offset=offset,
        dtype=rounding,
        rows=len(phases),
        backward=backward,
        half_turn=half_turn,
        phase_error=examined.largest,
        imprecise=bool(examined.notes),
        first_row_off=examined.first_row_off,
        position_dtype=examined.position_dtype,
        notes=(
            *remarks,
            *([above] if (frequencies > math.pi).any() else []),
            *([turned_back] if backward else []),
            *describe_rounding(stored, rounding),
            *examined.notes,
        ),
    )


def _follow_phases(phases: F64, first: NDArray[np.complex128], turned: NDArray[np.bool_]) -> _Lines:
    """Fit a line to the phases of each pair over windows that double, as long as phases stay near it."""
    size, pairs = phases.shape
    window = len(first)
    slopes = np.angle((first[1:] * first[:-1].conj()).sum(axis=0))
    slopes[~turned] = 0.0
    starts = phases[0].copy()
    rows, residuals = np.zeros(pairs, dtype=np.int64), np.zeros(pairs)
    active = np.ones(pairs, dtype=bool)
    while active.any():
        followed = np.flatnonzero(active)
        for held in (followed[block] for block in list_blocks(len(followed), window)):
            found = _fit_window(phases[:window, held], slopes[held], starts[held], turned[held])
            near = found[2] <= _LOST
            slopes[held[near]], starts[held[near]], residuals[held[near]] = (part[near] for part in found)
            rows[held[near]] = window
            active[held[~near]] = False
        if window == size:
            break
        window = min(2 * window, size)
    if (rows == 0).any():
        pair = int(np.argmax(rows == 0))
        raise InputError("phases do not grow evenly from row to row", f"pair {pair}", "row p for position p")
    return _Lines(slopes, starts, rows, residuals)


def _fit_window(phases: F64, slopes: F64, starts: F64, turned: NDArray[np.bool_]) -> tuple[F64, F64, F64]:
    """Return slopes, starts and largest residuals of least-squares lines near those given, where turned."""
    positions = np.arange(len(phases), dtype=float)
    centred = positions - positions.mean()
    rest = _measure_rest(phases, positions, slopes, starts)
    for _ in range(2):
        slope = centred @ rest / (centred @ centred)
        start = rest.mean(axis=0) - slope * positions.mean()
        slopes, starts = slopes + turned * slope, starts + turned * start
        rest = _measure_rest(phases, positions, slopes, starts)
    return slopes, starts, np.abs(rest).max(axis=0)


def _measure_rest(phases: F64, positions: F64, slopes: F64, starts: F64) -> F64:
    """Return phases minus lines, wrapped to -pi .. pi, (S, P)."""
    rest: F64 = phases - (positions[:, None] * slopes + starts)
    return take_off_turns(rest)


def _turn_forward(phases: F64, lines: _Lines) -> tuple[_Lines, bool]:
    """Turn phases that all fall, in place; return their lines, and whether they did."""
    turning = lines.frequencies != 0
    if not turning.any() or (lines.frequencies[turning] > 0).any():
        return lines, False
    if abs(abs(lines.starts[-1]) - math.pi / 2) < 0.1:
        raise InputError("cosines and sines are in the wrong order", "row 0 has cosines of 0", "cosines first")
    np.negative(phases, out=phases)
    return lines._replace(frequencies=-lines.frequencies, starts=-lines.starts), True


def _find_offset(lines: _Lines, rounding: str) -> tuple[int | None, tuple[str, ...]]:
    """Return the offset that all phases of row 0 have in common, from the slowest pair to the fastest."""
    turning = np.flatnonzero(lines.frequencies > 0)
    if not turning.size:
        return None, ()
    estimate = 0.0
    for pair in turning[::-1]:
        frequency = lines.frequencies[pair]
        rest = lines.starts[pair] - frequency * estimate
        estimate += (rest - TURN * round(rest / TURN)) / frequency
    rest = take_off_turns(lines.starts[turning] - lines.frequencies[turning] * estimate)
    allowed = 8 * ROUNDOFF[rounding] + 4 * lines.residuals[turning].max()
    if np.abs(rest).max() > max(allowed, 1e-6):
        return None, ("the phases of the first row are not those of one offset",)
    nearest = round(estimate)
    if abs(estimate - nearest) > max(_NEAR_INTEGER, 2 * allowed):
        return None, (f"the first row is at position {estimate:.6g}, which is no integer",)
    return nearest, ()


def _refine_frequencies(phases: F64, lines: _Lines, offset: int | None) -> F64:
    """Fit frequencies again, with the phase of row 0 fixed at frequency times offset."""
    refined = lines.frequencies.copy()
    for rows in np.unique(lines.rows) if offset is not None else ():
        chosen = np.flatnonzero((lines.rows == rows) & (lines.frequencies != 0))
        positions = np.arange(rows, dtype=float) + (offset or 0)
        for block in list_blocks(len(chosen), int(rows)) if positions.any() else ():
            held = chosen[block]
            rest = _measure_rest(phases[:rows, held], positions, refined[held], np.zeros(len(held)))
            refined[held] += positions @ rest / (positions @ positions)
    return refined


def _add_turns(frequencies: F64) -> F64:
    """Add 2 pi to frequencies of which a cache shows only what is left of a turn for each position."""
    found = frequencies.copy()
    for pair in range(len(found) - 1, -1, -1):
        behind = found[pair + 1] if pair + 1 < len(found) else 0.0
        if found[pair] < -1e-6 or (behind > math.pi / 2 and found[pair] < 0.9 * behind):
            found[pair] += TURN
    return found


def _bound_errors(lines: _Lines, frequencies: F64, rounding: str) -> F64:
    """Bound the relative error of each frequency, (P,): arithmetic of the port, storing, and what was left over.

    An error e of the phases of n rows moves the slope by at most 1.5 e/n; for small phases rounding
    is relative, so that the slope's is too.
    """
    arithmetic = FLOAT64_ARITHMETIC * 10 if rounding == "float64" else FLOAT32_ARITHMETIC
    unit = ROUNDOFF[rounding]
    scale = np.maximum(np.abs(frequencies), 1e-300)
    left = np.maximum(lines.residuals, unit) * 1.5 / (lines.rows * scale)
    bounds: F64 = arithmetic + np.minimum(left, np.maximum(2 * unit, lines.residuals * 1.5 / (lines.rows * scale)))
    bounds[frequencies == 0] = 0.0
    return bounds


def _examine_phases(phases: F64, lines: _Lines, rounding: str) -> _Examined:
    """Compare all phases with frequency times position, and with what rounding explains."""
    largest, row, pair, first_off = _find_furthest(phases, lines)
    step = ROUNDOFF["float64" if rounding == "float64" else "float32"]
    expected = 2 * ROUNDOFF[rounding] + 4 * step * float(np.abs(lines.frequencies).max()) * len(phases)
    if largest <= _UNEXPLAINED * expected:
        return _Examined(largest, None, None, ())
    text = f"phases are off by up to {largest:.2g} rad (row {row}, pair {pair})"
    kind = _find_rounding(phases, lines, max(_UNEXPLAINED * expected, _EXPLAINED * largest))
    cause = (
        "angles were computed in a type with too few digits" if kind is None else f"positions were rounded to {kind}"
    )
    note = f"{text}, where storing explains {expected:.2g}: {cause}"
    return _Examined(largest, first_off, kind, (note,))


def _find_rounding(phases: F64, lines: _Lines, allowed: float) -> str | None:
    """Name the type to which positions were rounded before they were multiplied, if that explains all phases."""
    for name in _NARROW:
        positions = round_to(np.arange(len(phases), dtype=float), DTYPES[name]).astype(np.float64)
        if (
            max(
                float(np.abs(_measure_rest(phases[block], positions[block], *lines[:2])).max())
                for block in list_blocks(*phases.shape)
            )
            <= allowed
        ):
            return name
    return None


def _find_furthest(phases: F64, lines: _Lines) -> tuple[float, int, int, int | None]:
    """Return the largest distance from a line, its row and pair, and the first row with one above pi/8."""
    found, first_off = (-1.0, 0, 0), None
    size, pairs = phases.shape
    for block in list_blocks(size, pairs):
        start, part = block.start, phases[block]
        rest = np.abs(_measure_rest(part, np.arange(start, start + len(part), dtype=float), *lines[:2]))
        place = int(np.argmax(rest))
        found = max(found, (float(rest.flat[place]), start + place // pairs, place % pairs), key=lambda one: one[0])
        if first_off is None and found[0] > math.pi / 8:
            first_off = start + int(np.argmax((rest > math.pi / 8).any(axis=1)))
    return *found, first_off
