"""The shapes in which cosines and sines are stored: two arrays or one, in halves or in turn, once or twice."""

from __future__ import annotations

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.models.dumps.dump import Arrangement, split_in_two
from pe_spectra.records import NamedTuple

#: What is accepted, for messages.
ACCEPTED_WAVES = (
    "cosines and sines of shape (S, D/2) or (S, D), one array with cosines and sines side by side, "
    "or complex numbers, row p for position p"
)


#: Share by which squares of radii differ at most, more than rounding to bfloat16 leaves.
_ROUND = 0.05


class CacheWaves(NamedTuple):
    """Cosines and sines of each pair once, (S, P), seen where they lie.

    layout is what repeats showed, arrangement how both stand side by side in one array; notes are remarks.
    """

    cosines: F64
    sines: F64
    layout: str | None
    notes: tuple[str, ...] = ()
    arrangement: Arrangement | None = None


def pair_up(cosines: np.ndarray, sines: np.ndarray | None) -> CacheWaves:
    """Find the cosines and the sines of each pair in one array or in two; shapes as in `read_cache`.

    Raises
    ------
    InputError : shapes that do not fit, numbers that are not finite.

    >>> pair_up(np.ones((2, 4)), np.zeros((2, 4))).layout, pair_up(np.eye(2), None).sines.tolist()
    ('half', [[0.0], [1.0]])
    """
    first = _as_rows(cosines)
    if sines is None:
        return _split(first)
    second = _as_rows(sines)
    if first.shape != second.shape or np.iscomplexobj(first) or np.iscomplexobj(second) or first.ndim != 2:
        raise InputError("cosines and sines do not fit", f"{np.shape(cosines)} and {np.shape(sines)}", ACCEPTED_WAVES)
    return _undouble_columns(first, second)


def _undouble_columns(first: F64, second: F64) -> CacheWaves:
    """Take each pair once where every column is there twice, and say in which layout."""
    if first.shape[1] % 2 == 0 and first.shape[1] > 2:
        for layout, (left, right) in split_in_two(first).items():
            left_sines, right_sines = split_in_two(second)[layout]
            if np.array_equal(left, right):
                if np.array_equal(left_sines, right_sines):
                    return CacheWaves(right, right_sines, layout)
                if np.array_equal(left_sines, -right_sines):
                    note = "the first sine of each pair is stored with its minus sign"
                    return CacheWaves(right, right_sines, layout, (note,))
    return CacheWaves(first, second, None)


def _as_rows(values: np.ndarray) -> np.ndarray:
    given = np.asarray(values)
    found = given
    while found.ndim > 2 and 1 in found.shape:
        found = np.squeeze(found, axis=found.shape.index(1))
    if found.ndim not in (2, 3) or (found.ndim == 3 and found.shape[2] != 2):
        raise InputError("a cache has rows and columns", f"shape {given.shape}", ACCEPTED_WAVES)
    if found.dtype.kind not in "fciu" and found.dtype.name != "bfloat16":
        raise InputError("a cache has numbers", f"{found.dtype.name}", ACCEPTED_WAVES)
    if len(found) < 2 or not 0 < found.size <= MAX_HELD_ENTRIES:
        raise InputError("the cache needs 2 rows or more", f"shape {given.shape}", ACCEPTED_WAVES)
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64, copy=False)
    bad = ~np.isfinite(found)
    if bad.any():
        row = int(np.argmax(bad.reshape(len(found), -1).any(axis=1)))
        raise InputError("the cache has numbers that are not finite", f"row {row}", ACCEPTED_WAVES)
    return found


def _split(values: np.ndarray) -> CacheWaves:
    """Take one array apart: complex, a last axis of 2, or cosines and sines side by side."""
    if np.iscomplexobj(values):
        return CacheWaves(values.real, values.imag, None)
    if values.ndim == 3:
        return CacheWaves(values[..., 0], values[..., 1], None)
    width = values.shape[1]
    if width % 2 or width == 0:
        raise InputError("one array of cosines and sines has an even width", f"{width} columns", ACCEPTED_WAVES)
    ways = split_in_two(values)
    doubled = _undouble_columns(*_put_cosines_first(*ways["half"])[:2])
    if doubled.layout == "interleaved" and _lie_on_circle(doubled):  # cosines and then sines, each of them twice
        return doubled
    if width > 2 and any(np.array_equal(*both) for both in ways.values()):
        raise InputError("the cache has one of cosines and sines", "every column is there twice", ACCEPTED_WAVES)
    layout = min(ways, key=lambda way: _measure_spread(*ways[way]))
    cosine, sine = ways[layout]
    cosine, sine, sines_first = _put_cosines_first(cosine, sine)
    if layout == "half" and (found := _undouble_columns(cosine, sine)).layout is not None:
        return found
    return CacheWaves(cosine, sine, None, arrangement=Arrangement(layout == "interleaved", sines_first))


def _put_cosines_first(first: F64, second: F64) -> tuple[F64, F64, bool]:
    """Tell cosines from sines: the cosine of a slow pair is near the radius, its sine near 0."""
    sines_first = bool(np.abs(first[0]).sum() < np.abs(second[0]).sum())
    return (second, first, True) if sines_first else (first, second, False)


def _lie_on_circle(waves: CacheWaves) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        square = waves.cosines[:512] ** 2 + waves.sines[:512] ** 2
        return bool(np.ptp(square) <= _ROUND * square.max())


def _measure_spread(cosine: F64, sine: F64) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # what is so large is refused with its radius
        square = cosine[:512] ** 2 + sine[:512] ** 2
        return float(np.ptp(square))


def part_rows(waves: CacheWaves) -> tuple[CacheWaves, ...]:
    """Part the rows where position 0 comes again: caches of two ladders stand one after the other.

    Rows that only repeat those before them are no second cache.

    >>> sines = np.array([[0.0], [0.5], [0.0], [0.7]])
    >>> [len(one.sines) for one in part_rows(CacheWaves(np.sqrt(1 - sines**2), sines, None))]
    [2, 2]
    """
    starts = np.flatnonzero(~waves.sines.any(axis=1))
    if len(starts) != 2 or starts[0] != 0 or min(starts[1], len(waves.sines) - starts[1]) < 2:
        return (waves,)
    rows = (slice(None, starts[1]), slice(starts[1], None))
    rest = len(waves.sines) - starts[1]
    if rest <= starts[1] and all(np.array_equal(one[:rest], one[rows[1]]) for one in (waves.cosines, waves.sines)):
        return (waves,)
    return tuple(waves._replace(cosines=waves.cosines[part], sines=waves.sines[part]) for part in rows)


def say_later(first: CacheWaves) -> str:
    """Say that a second cache follows the first.

    >>> say_later(CacheWaves(np.ones((2, 1)), np.zeros((2, 1)), None)).partition(":")[0]
    'position 0 comes again in row 2'
    """
    rows = len(first.sines)
    return f"position 0 comes again in row {rows:,}: a second cache, for lengths above {rows:,}, follows the first"
