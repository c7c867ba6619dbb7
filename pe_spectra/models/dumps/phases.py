"""What the phases of a cache show: frequencies, offset and signs, and which phases are off their lines, and why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import C128, F64, NDArray, list_blocks
from pe_spectra.models.dumps.dump import (
    Dump,
)
from pe_spectra.models.dumps.phase_lines import Lines, describe_rows, follow_phases, measure_rest
from pe_spectra.models.dumps.storing import FLOORS, ROUNDOFF, describe_rounding
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC, FLOAT64_ARITHMETIC, TURN, take_off_turns
from pe_spectra.precision.dtypes import DTYPES, round_to

#: Phases are off for another reason than storing when they are off by this many times what that explains.
_UNEXPLAINED = 4.0
#: Share of it that may be left where rounded positions explain it, and the types that they may be rounded to.
_EXPLAINED, _NARROW = 0.01, ("bfloat16", "float16")
#: Roundings to the coarsest of them that angles are off by at most, and the share of the largest error, measured
#: against the angle, that the first half of the rows has at least: rounding is relative, so both halves have as much.
_ROUNDINGS, _GROWN = 2, 0.1
#: An offset is an integer when it is this near one.
_NEAR_INTEGER = 0.02


def read_phases(phases: F64, first: C128, turned: NDArray[np.bool_], *, stored: str, rounding: str) -> Dump:
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
    >>> first, turned = np.exp(1j * s[:8] * w), np.ones(2, dtype=bool)
    >>> found = read_phases(s * w, first, turned, stored="float64", rounding="float64")
    >>> found.frequencies.round(12).tolist(), found.offset, found.backward
    ([1.0, 0.01], 0, False)
    """
    lines, strays, kind = _fit_lines(phases, first, turned, rounding)
    lines, backward = _turn_forward(phases, lines)
    offset, remarks = _find_offset(lines, rounding)
    # cosines have the opposite sign where the slowest pair, which hardly turns up to the first row, has one
    turning = np.flatnonzero(lines.frequencies)
    slowest = turning[np.argmin(np.abs(lines.frequencies[turning]))] if turning.size else 0
    half_turn = offset is None and turning.size > 0 and math.cos(lines.starts[slowest]) < 0
    lines = lines._replace(frequencies=_refine_frequencies(phases, lines, offset, kind))
    frequencies = _add_turns(lines.frequencies)
    bounds = _bound_errors(lines, frequencies, rounding)
    examined, causes = _examine_phases(phases, lines, rounding, strays=strays, kind=kind)
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
        **examined,
        notes=(
            *remarks,
            *([above] if (frequencies > math.pi).any() else []),
            *([turned_back] if backward else []),
            *describe_rounding(stored, rounding),
            *causes,
        ),
    )


def _fit_lines(phases: F64, first: C128, turned: NDArray[np.bool_], rounding: str) -> tuple[Lines, bool, str | None]:
    """Fit the line of each pair to all rows, or to those in front that others stray from; say whether some do.

    Returned is the type, too, that positions were rounded to, where lines over rounded positions explain all rows.
    """
    lines = follow_phases(phases, first, turned)
    if (lines.rows == 0).any():
        pair = int(np.argmax(lines.rows == 0))
        raise InputError("phases do not grow evenly from row to row", f"pair {pair}", "row p for position p")
    expected = _expect_errors(lines, rounding, len(phases))
    largest = _find_furthest(phases, lines)[0]
    if largest <= _UNEXPLAINED * expected:
        return lines, False, None
    for kind in _NARROW:
        rounded = _follow_rounded(phases, first, turned, kind, max(_UNEXPLAINED * expected, _EXPLAINED * largest))
        if rounded is not None:
            return rounded, False, kind
    even = _count_even_rows(phases, first, turned, _UNEXPLAINED * expected)
    return (lines, False, None) if even is None else (follow_phases(phases[:even], first, turned), True, None)


def _follow_rounded(phases: F64, first: C128, turned: NDArray[np.bool_], kind: str, allowed: float) -> Lines | None:
    """Fit lines over positions that were rounded to a type before they were multiplied, if that explains all phases.

    Steps of rounded positions move lines over even ones, which would then not be those that were computed.
    """
    positions = _round_positions(len(phases), kind)
    for pairs in (slice(0, 1), slice(None)):  # the fastest pair alone says no at once
        lines = follow_phases(phases[:, pairs], first[:, pairs], turned[pairs], positions=positions)
        for block in list_blocks(*phases[:, pairs].shape):
            if np.abs(measure_rest(phases[block, pairs], positions[block], *lines[:2])).max() > allowed:
                return None
    return lines


def _round_positions(rows: int, kind: str | None) -> F64:
    positions = np.arange(rows, dtype=float)
    return positions if kind is None else round_to(positions, DTYPES[kind]).astype(np.float64)


def _count_even_rows(phases: F64, first: C128, turned: NDArray[np.bool_], allowed: float) -> int | None:
    """Count the rows in front that are as even as storing leaves them; None where rounding may say why not all are.

    Lines through rows beyond a break are no lines of those before it.
    """
    held = int(follow_phases(phases, first, turned, allowed).rows.min())
    if held < len(first):
        return None
    near = follow_phases(phases[:held], first, turned)
    begin = phases[: 2 * held]  # no further than lines can be drawn on
    off = (np.abs(measure_rest(begin, np.arange(len(begin), dtype=float), *near[:2])) > allowed).any(axis=1)
    if not off.any():
        return None
    even = int(np.argmax(off))
    near = follow_phases(phases[:even], first, turned)
    # rounding is relative: what leaves errors behind leaves them, as much smaller as angles are, before
    before = 0.0
    for block in list_blocks(*phases.shape):
        positions = np.arange(len(phases), dtype=float)[block]
        rest = np.abs(measure_rest(phases[block], positions, *near[:2]))
        before = max(before, float((rest * (even / np.maximum(positions, even))[:, None]).max()))
    return even if before * _GROWN > allowed else None


def _turn_forward(phases: F64, lines: Lines) -> tuple[Lines, bool]:
    """Turn phases that all fall, in place; return their lines, and whether they did."""
    turning = lines.frequencies != 0
    if not turning.any() or (lines.frequencies[turning] > 0).any():
        return lines, False
    if abs(abs(lines.starts[np.argmin(np.abs(lines.frequencies))]) - math.pi / 2) < 0.1:
        raise InputError("cosines and sines are in the wrong order", "row 0 has cosines of 0", "cosines first")
    np.negative(phases, out=phases)
    return lines._replace(frequencies=-lines.frequencies, starts=-lines.starts), True


def _find_offset(lines: Lines, rounding: str) -> tuple[int | None, tuple[str, ...]]:
    """Return the offset that all phases of row 0 have in common, from the slowest pair to the fastest."""
    turning = np.flatnonzero(lines.frequencies > 0)
    if not turning.size:
        return None, ()
    estimate = 0.0
    for pair in turning[np.argsort(lines.frequencies[turning])]:
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


def _refine_frequencies(phases: F64, lines: Lines, offset: int | None, kind: str | None) -> F64:
    """Fit frequencies again, with the phase of row 0 fixed at frequency times offset."""
    refined = lines.frequencies.copy()
    for rows in np.unique(lines.rows) if offset is not None else ():
        chosen = np.flatnonzero((lines.rows == rows) & (lines.frequencies != 0))
        positions = _round_positions(int(rows), kind) + (offset or 0)
        for block in list_blocks(len(chosen), int(rows)) if positions.any() else ():
            held = chosen[block]
            rest = measure_rest(phases[:rows, held], positions, refined[held], np.zeros(len(held)))
            refined[held] += positions @ rest / (positions @ positions)
    return refined


def is_slowest_first(frequencies: F64) -> bool:
    """Whether frequencies up to a turn for each position rise from the first to the last.

    >>> is_slowest_first(np.array([0.1, 1.0])), is_slowest_first(np.array([1.0, 0.1]))
    (True, False)
    """
    return bool(0 < frequencies[0] < frequencies[-1] <= TURN and not np.any(np.diff(frequencies) < 0))


def _add_turns(frequencies: F64) -> F64:
    """Add 2 pi to frequencies of which a cache shows only what is left of a turn for each position."""
    copied = frequencies.copy()
    found = copied[::-1] if is_slowest_first(copied) else copied
    for pair in range(len(found) - 1, -1, -1):
        behind = found[pair + 1] if pair + 1 < len(found) else 0.0
        if found[pair] < -1e-6 or (behind > math.pi / 2 and found[pair] < 0.9 * behind):
            found[pair] += TURN
    return copied


def _bound_errors(lines: Lines, frequencies: F64, rounding: str) -> F64:
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


def _expect_errors(lines: Lines, rounding: str, rows: int) -> float:
    """What storing and arithmetic explain of the distance of a phase from its line, in rad."""
    step = ROUNDOFF["float64" if rounding == "float64" else "float32"]
    return 2 * ROUNDOFF[rounding] + 4 * step * float(np.abs(lines.frequencies).max()) * rows


def _examine_phases(
    phases: F64, lines: Lines, rounding: str, *, strays: bool, kind: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Compare all phases with frequency times position, and with what rounding explains; say what does."""
    largest, row, pair, first_off = _find_furthest(phases, lines)
    expected = _expect_errors(lines, rounding, len(phases))
    if largest <= _UNEXPLAINED * expected:
        return {"phase_error": largest}, ()
    strayed = describe_rows(phases, *lines[:2], _UNEXPLAINED * expected) if strays else None
    rounds = not strays and kind is None and _grows_as_rounding(phases, lines, expected)
    cause = "rounding does not leave such errors"
    if kind is not None:
        cause = f"positions were rounded to {kind}"
    elif rounds:
        cause = "angles were computed in a type with too few digits"
    elif strayed is not None:
        cause = strayed.say()
    text = f"phases are off by up to {largest:.2g} rad (row {row}, pair {pair})"
    note = f"{text}, where storing explains {expected:.2g}: {cause}"
    found = {"phase_error": largest, "imprecise": True, "first_row_off": first_off, "position_dtype": kind}
    return found | {"angles_rounded": rounds, "strayed": strayed}, (note,)


def _grows_as_rounding(phases: F64, lines: Lines, expected: float) -> bool:
    """Whether errors have the size and growth of angles that were rounded: a small share of them, in all rows alike."""
    size, pairs = phases.shape
    half = size // 2
    largest = np.zeros((2, pairs))
    for block in list_blocks(size, pairs):
        positions = np.arange(size, dtype=float)[block]
        rest = np.abs(measure_rest(phases[block], positions, *lines[:2]))
        for part, chosen in enumerate((positions < half, positions >= half)):
            largest[part] = np.maximum(largest[part], rest[chosen].max(axis=0, initial=0.0))
    floor = _UNEXPLAINED * expected + FLOORS["float16"]
    angles = np.abs(lines.frequencies) * size
    if (largest > _ROUNDINGS * ROUNDOFF["bfloat16"] * angles + floor).any():
        return False
    shares = (np.maximum(largest - floor, 0.0) / np.maximum(angles, floor)).max(axis=1)
    return bool(shares[0] > _GROWN * shares[1])


def _find_furthest(phases: F64, lines: Lines) -> tuple[float, int, int, int | None]:
    """Return the largest distance from a line, its row and pair, and the first row with one above pi/8."""
    found, first_off = (-1.0, 0, 0), None
    size, pairs = phases.shape
    for block in list_blocks(size, pairs):
        start, part = block.start, phases[block]
        rest = np.abs(measure_rest(part, np.arange(start, start + len(part), dtype=float), *lines[:2]))
        place = int(np.argmax(rest))
        found = max(found, (float(rest.flat[place]), start + place // pairs, place % pairs), key=lambda one: one[0])
        if first_off is None and found[0] > math.pi / 8:
            first_off = start + int(np.argmax((rest > math.pi / 8).any(axis=1)))
    return *found, first_off
