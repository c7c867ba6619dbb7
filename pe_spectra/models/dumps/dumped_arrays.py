"""What a port really computes: rotations from its inverse frequencies, or from its cache of cosines and sines.

The numbers are the port's own, so they are taken as they are; base and scaling are named where the
published formulas give them within the rounding of their type (`identification`). Row p of a cache
holds a cos(w (p + o)) and a sin(w (p + o)) for each frequency w: the radius is the attention scaling a,
the phase grows by w from row to row (`phases`), and the phase of row 0 is w times the offset o.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, NDArray, list_blocks
from pe_spectra.limits import MAX_WIDTH
from pe_spectra.models.dumps.cache_shapes import ACCEPTED_WAVES, CacheWaves, pair_up, part_rows, say_later
from pe_spectra.models.dumps.dump import (
    Dump,
    split_in_two,
)
from pe_spectra.models.dumps.identification import identify_scaling
from pe_spectra.models.dumps.phase_lines import FIRST_WINDOW
from pe_spectra.models.dumps.phases import is_slowest_first, read_phases
from pe_spectra.models.dumps.storing import FLOORS, ROUNDOFF, describe_rounding
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC, FLOAT64_ARITHMETIC, Rotation
from pe_spectra.numbers import find_shortest
from pe_spectra.precision.dtypes import DTYPES, find_stored_type, round_to

_ACCEPTED = "D/2 frequencies in rad/position, fastest first, or each of them twice"
#: A cache is on a circle when its radii differ by less than this many roundings, and what quick sines add.
_RADIUS_ROUNDINGS, _RADIUS_ERROR = 6, 4e-6
#: Squares of what is larger, and their sums, may leave the range of float64.
_LARGEST_RADIUS = 1e140
#: Share of the pairs that may be slower than the next one.
_FEW = 0.25
#: Rows, at least, that the typical radius is the median of.
_MEDIAN_ROWS = 4096


def read_inverse_frequencies(values: np.ndarray, dtype: str | None = None) -> Dump:
    """Read a dump of inv_freq as a rotation.

    Parameters
    ----------
    values : (D/2,) rad/position, fastest first or last, or (D,) with every frequency twice: the list repeated
        (layout half) or each number repeated (layout interleaved). Axes of length 1 are left out. Numbers
        that rise from 1 are taken as 1/frequency, as MLX holds them.
    dtype : the type that they were stored in (default: that of the array); a coarser one that holds them
        all is found.

    Returns
    -------
    Dump, with attention scaling and offset None: frequencies do not say them.

    Raises
    ------
    InputError : not one list of numbers, negative or not finite ones, or ones that rise and fall.

    >>> found = read_inverse_frequencies(np.array([1.0, 0.1, 0.01, 0.001] * 2))
    >>> found.base, found.scaling, found.layout, found.rotary_dim
    (10000.0, 'none', 'half', 8)
    """
    stored = _name_dtype(values, dtype)
    listed = _flatten(values)
    rounding = find_stored_type(stored, listed)
    notes: tuple[str, ...] = ()
    if listed[-1] > listed[0] >= 1 and not np.any(np.diff(listed) < 0):
        listed, notes = _invert(listed)
    layout, frequencies = _undouble(listed)
    bound = _bound_stored(rounding)
    _check_order(frequencies, np.full(len(frequencies), bound), _ACCEPTED)
    rest = FLOORS[rounding]
    bounds = bound + rest / np.where(frequencies > 0, frequencies, math.inf)
    found = _identify_ordered(frequencies, bounds, rest)
    return Dump(
        kind="frequencies",
        rotary_dim=2 * len(frequencies),
        base=found.base,
        scaling=found.scaling,
        options=found.options,
        frequencies=frequencies,
        error_bounds=np.where(frequencies > 0, bounds, 0.0),
        rest=rest,
        layout=layout,
        dtype=rounding,
        error_bound=bound,
        frequency_dtype=rounding if ROUNDOFF[rounding] > ROUNDOFF["float32"] else None,
        notes=(*notes, *describe_rounding(stored, rounding), *found.notes),
    )


def read_cache(cosines: np.ndarray, sines: np.ndarray | None = None, dtype: str | None = None) -> Dump:
    """Read a cache of cosines and sines as a rotation.

    Parameters
    ----------
    cosines, sines : (S, D/2), or (S, D) with every pair twice: the list repeated (layout half) or each
        number repeated (layout interleaved). Alone: (S, D) with cosines and sines side by side, in
        halves or in turn, (S, 2D) with each of them twice, (S, D/2, 2), or complex (S, D/2). Axes of length 1
        are left out. Where position 0 comes again, what follows is a cache of its own: `later`.
    dtype : the type that they were stored in (default: that of the array); a coarser one that holds them
        all is found.

    Returns
    -------
    Dump, with a bound of the error for each frequency. Frequencies are known up to 2 pi.

    Raises
    ------
    InputError : fewer than 2 rows, shapes that do not fit, points off a circle, phases that do not grow evenly.

    >>> angles = np.arange(64)[:, None] * 10000.0 ** -(np.arange(4) / 4)
    >>> found = read_cache(np.cos(angles), np.sin(angles))
    >>> found.base, found.attention_scaling, found.offset
    (10000.0, 1.0, 0)
    """
    stored = _name_dtype(cosines, dtype)
    waves = pair_up(cosines, sines)
    first, *others = part_rows(waves)
    found = _read_waves(first, stored)
    later = _read_waves(others[0], stored) if others else None
    return found if later is None else replace(found, later=later, notes=(*found.notes, say_later(first)))


def _read_waves(waves: CacheWaves, stored: str) -> Dump:
    rounding = find_stored_type(stored, waves.cosines, waves.sines)
    attention = _measure_radius(waves, rounding)
    phases = _measure_phases(waves)
    first = waves.cosines[:FIRST_WINDOW] + 1j * waves.sines[:FIRST_WINDOW]
    seen = read_phases(phases, first, np.any(waves.sines, axis=0), stored=stored, rounding=rounding)
    _check_order(seen.frequencies, seen.error_bounds, ACCEPTED_WAVES)
    # sines no further than this from 0, at the first row and at the last, are all 0
    even = seen.strayed.first if seen.strayed else len(phases)
    rest = 2 * FLOORS[rounding] / (attention * (even - 1))
    narrow, found = _identify(seen.frequencies, seen.error_bounds, rest)
    return replace(
        seen,
        base=found.base,
        scaling=found.scaling,
        options=found.options,
        layout=waves.layout,
        rest=rest,
        attention_scaling=attention,
        frequency_dtype=narrow,
        arrangement=waves.arrangement,
        notes=(*waves.notes, *seen.notes, *found.notes),
    )


def _identify(frequencies: F64, bounds: F64, rest: float) -> tuple[str | None, Rotation]:
    """Name ladder and scaling, of frequencies that may have been rounded themselves; return to what type."""
    for name in ("bfloat16", "float16"):
        rounded = round_to(frequencies, DTYPES[name]).astype(np.float64)
        # powers of two are numbers of every type and say nothing
        telling = (frequencies > 0) & (np.abs(np.frexp(frequencies)[0] - 0.5) > 1e-3) & (bounds < 1e-4)
        if telling.sum() >= 3 and np.all(np.abs(rounded - frequencies)[telling] <= (2 * bounds * frequencies)[telling]):
            found = _identify_ordered(frequencies, bounds + _bound_stored(name), max(rest, FLOORS[name]))
            note = f"the frequencies were rounded to {name} before the cache was computed"
            return name, replace(found, notes=(note, *found.notes))
    return None, _identify_ordered(frequencies, bounds, rest)


def _identify_ordered(frequencies: F64, bounds: F64, rest: float) -> Rotation:
    """Name ladder and scaling of frequencies that fall, or all rise; of others none is known."""
    if is_slowest_first(frequencies):
        found = identify_scaling(frequencies[::-1], bounds[::-1], rest)
        return replace(found, notes=("the frequencies rise: the fastest pair is the last", *found.notes))
    rises = np.flatnonzero(_find_rises(frequencies, bounds))
    if len(rises):
        where = f"from pair {rises[0]} to {rises[0] + 1}" if len(rises) == 1 else f"at {len(rises)} pairs"
        return Rotation(notes=(f"the frequencies rise {where}; base and scaling are unknown",))
    return identify_scaling(frequencies, bounds, rest)


def _bound_stored(dtype: str) -> float:
    """Largest relative error of a frequency that was computed as usual and stored in a type."""
    stored = ROUNDOFF[dtype] if ROUNDOFF[dtype] > ROUNDOFF["float32"] else 0.0
    return FLOAT64_ARITHMETIC if dtype == "float64" else FLOAT32_ARITHMETIC + stored


def _check_order(frequencies: F64, bounds: F64, accepted: str) -> None:
    """Refuse frequencies that are all 0 or all one, or that rise at more than a few pairs by more than their rounding.

    A scaling that was inverted makes those rise that it blends.
    """
    if not frequencies.any():
        raise InputError("no pair is turned", "all frequencies are 0", accepted)
    if len(frequencies) > 1 and np.ptp(frequencies) == 0:
        raise InputError("the frequencies do not fall", f"all are {frequencies[0]:g}", accepted)
    rises = _find_rises(frequencies, bounds)
    if rises.sum() > _FEW * len(rises) and not is_slowest_first(frequencies):
        first = int(np.argmax(rises))
        given = f"{frequencies[first]:.6g}, then {frequencies[first + 1]:.6g} at index {first + 1}"
        raise InputError("the frequencies do not fall", given, accepted)


def _find_rises(frequencies: F64, bounds: F64) -> NDArray[np.bool_]:
    """Tell which frequencies the next is above, by more than their rounding, (P - 1,)."""
    found: NDArray[np.bool_] = np.diff(frequencies) > (bounds[1:] + bounds[:-1]) * frequencies[:-1]
    return found


def _name_dtype(values: np.ndarray, stored: str | None = None) -> str:
    """Name the type that an array was stored in (default: its own); of complex numbers, that of their parts."""
    name = stored or np.asarray(values).dtype.name
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


# --------------------------------------------------------------------- lists


def _flatten(values: np.ndarray) -> F64:
    listed = np.atleast_1d(np.squeeze(values))
    if listed.ndim != 1 or not 1 <= listed.size <= MAX_WIDTH or np.iscomplexobj(listed):
        raise InputError("a dump of inv_freq is one list of numbers", f"shape {np.shape(values)}", _ACCEPTED)
    listed = np.array(listed, dtype=np.float64)
    unusable = ~np.isfinite(listed) | (listed < 0)
    if unusable.any():
        first = int(np.argmax(unusable))
        raise InputError("a frequency cannot be used", f"{listed[first]:g} at index {first}", _ACCEPTED)
    return listed


def _invert(listed: F64) -> tuple[F64, tuple[str, ...]]:
    if len(listed) > 2 and listed[0] == listed[1] == listed[2]:
        # rope_freqs.weight of a GGUF file: 1, 1, .., 8
        given = f"{listed[0]:g}, {listed[1]:g}, .., {listed[-1]:g}"
        raise InputError("these are divisors of frequencies, as in rope_freqs.weight", given, _ACCEPTED)
    return 1 / listed, ("the numbers rise from 1, so they are taken as 1/frequency, as MLX holds them",)


def _undouble(listed: F64) -> tuple[str | None, F64]:
    """Return the layout that repeats show, and each frequency once."""
    if len(listed) % 2 == 0 and np.ptp(listed) > 0:
        for layout, (left, right) in split_in_two(listed).items():
            if np.array_equal(left, right):
                return layout, left
    return None, listed


# --------------------------------------------------------------------- radii and phases


def _measure_phases(waves: CacheWaves) -> F64:
    """Return all phases in rad, (S, P)."""
    rows, pairs = waves.cosines.shape
    phases: F64 = np.empty((rows, pairs))
    for block in list_blocks(rows, pairs):
        np.arctan2(waves.sines[block], waves.cosines[block], out=phases[block])
    return phases


def _measure_radius(waves: CacheWaves, rounding: str) -> float:
    rows, pairs = waves.cosines.shape
    few = slice(None, None, max(1, rows // _MEDIAN_ROWS))
    with np.errstate(over="ignore"):  # a table of any numbers may be taken for a cache
        typical = float(np.median(np.hypot(waves.cosines[few], waves.sines[few])))
        # roundings of the many phases of a fast pair cancel; those of a slow pair are nearly all the same
        fast = max(1, pairs // 4)
        lowest, highest, squares = math.inf, 0.0, 0.0
        for block in list_blocks(rows, pairs):
            radii = np.hypot(waves.cosines[block], waves.sines[block])
            lowest, highest = min(lowest, float(radii.min())), max(highest, float(radii.max()))
            squares += float(np.square(radii[:, :fast]).sum())
    allowed = _RADIUS_ROUNDINGS * ROUNDOFF[rounding] + _RADIUS_ERROR
    if not 0 < typical < _LARGEST_RADIUS or max(highest / typical - 1, 1 - lowest / typical) > allowed:
        what = "cosines and sines do not lie on one circle"
        row = _find_other_radius(waves, allowed)
        what += f": row {row:,} is the first off that of row 0" if row else ""
        raise InputError(what, f"radii from {lowest:.4g} to {highest:.4g}", ACCEPTED_WAVES)
    mean = math.sqrt(squares / (rows * fast))
    unit = ROUNDOFF[rounding]
    error = max(2 * unit / math.sqrt(rows), unit / 32, 4e-16 if rounding == "float64" else 2e-7)
    return find_shortest(mean * (1 - error), mean * (1 + error))


def _find_other_radius(waves: CacheWaves, allowed: float) -> int | None:
    """Find the first row with a radius that is not that of row 0; row 0 where it has no one radius, None for no row."""
    rows, pairs = waves.cosines.shape
    with np.errstate(over="ignore", invalid="ignore"):
        usual = float(np.median(np.hypot(waves.cosines[0], waves.sines[0])))
        for block in list_blocks(rows, pairs):
            radii = np.hypot(waves.cosines[block], waves.sines[block])
            off = ~(np.abs(radii - usual) <= allowed * usual).all(axis=1)
            if off.any():
                return int(block.start) + int(np.argmax(off))
    return None
