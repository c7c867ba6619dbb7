"""What a port really computes: rotations from a dump of its inverse frequencies.

The numbers are the port's own, so they are taken as they are; base and scaling are named where the
published formulas give them within the rounding of their type (`identification`). A dump of cosines
and sines is read in `caches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.limits import MAX_WIDTH
from pe_spectra.models.dumps.identification import identify_scaling
from pe_spectra.models.dumps.rounding import FLOORS, ROUNDOFF, bound_stored_frequencies, find_rounding
from pe_spectra.models.rotation import Rotation

_ACCEPTED = "D/2 frequencies in rad/position, fastest first, or each of them twice"


class Arrangement(NamedTuple):
    """Where one array of shape (S, 2P) has cosines and sines.

    >>> Arrangement(interleaved=True, sines_first=True).sines_first
    True
    """

    interleaved: bool
    sines_first: bool


@dataclass(frozen=True, kw_only=True)
class Dump(Rotation):
    """A rotation that was found from arrays."""

    kind: Literal["frequencies", "cache"]  #: a dump of inv_freq, or cosines and sines
    frequencies: F64  #: (D/2,) rad/position, fastest first; read-only
    error_bounds: F64  #: (D/2,) largest relative error of each; read-only
    rows: int | None = None  #: positions that the cache has; None for frequencies
    backward: bool = False  #: all sines have the opposite sign, so that the port turns the other way
    half_turn: bool = False  #: all cosines have the opposite sign, so that each phase is half a turn ahead
    phase_error: float | None = None  #: largest distance in rad of a phase from frequency times position
    imprecise: bool = False  #: that is more than storing explains: angles were computed in too few digits
    first_row_off: int | None = None  #: then the first row where a phase is off by more than pi/8
    frequency_dtype: str | None = None  #: the type, coarser than float32, that frequencies were rounded to
    arrangement: Arrangement | None = None  #: how the columns of one array of cosines and sines stand

    @property
    def signs(self) -> tuple[int, int]:
        """The signs that sines and cosines are to be multiplied by."""
        return -1 if self.backward != self.half_turn else 1, -1 if self.half_turn else 1


def read_inverse_frequencies(values: np.ndarray, dtype: str | None = None) -> Dump:
    """Read a dump of inv_freq as a rotation.

    Parameters
    ----------
    values : (D/2,) rad/position, fastest first, or (D,) with every frequency twice: the list repeated
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
    stored = name_dtype(values, dtype)
    listed = _flatten(values)
    rounding = find_rounding(listed, stored)
    notes: tuple[str, ...] = ()
    if listed[-1] > listed[0] >= 1 and not np.any(np.diff(listed) < 0):
        listed, notes = _invert(listed)
    layout, frequencies = _undouble(listed)
    bound = bound_stored_frequencies(rounding)
    check_order(frequencies, np.full(len(frequencies), bound), _ACCEPTED)
    bounds = bound + FLOORS.get(rounding, 0.0) / np.maximum(frequencies, 1e-300)
    found = identify_scaling(frequencies, bounds)
    return Dump(
        kind="frequencies",
        rotary_dim=2 * len(frequencies),
        base=found.base,
        scaling=found.scaling,
        options=found.options,
        frequencies=frequencies,
        error_bounds=np.where(frequencies > 0, bounds, 0.0),
        layout=layout,
        dtype=rounding,
        error_bound=bound,
        frequency_dtype=rounding if rounding in ("bfloat16", "float16") else None,
        notes=(*notes, *describe_rounding(stored, rounding), *found.notes),
    )


def check_order(frequencies: F64, bounds: F64, accepted: str) -> None:
    """Refuse frequencies that rise from one pair to the next by more than their rounding.

    Raises
    ------
    InputError : they rise, or all are 0.

    >>> check_order(np.array([0.1, 1.0]), np.full(2, 1e-7), "the fastest first is accepted")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: the frequencies do not fall (0.1, then 1 at index 1); the fastest first is accepted
    """
    if not frequencies.any():
        raise InputError("no pair is turned", "all frequencies are 0", accepted)
    if len(frequencies) > 1 and np.ptp(frequencies) == 0:
        raise InputError("the frequencies do not fall", f"all are {frequencies[0]:g}", accepted)
    rises = np.diff(frequencies) > (bounds[1:] + bounds[:-1]) * frequencies[:-1]
    if rises.any():
        first = int(np.argmax(rises))
        given = f"{frequencies[first]:.6g}, then {frequencies[first + 1]:.6g} at index {first + 1}"
        raise InputError("the frequencies do not fall", given, accepted)


def split_in_two(values: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Split the columns, or a list, into two: its halves, and every second one in turn.

    >>> split_in_two(np.arange(4))["interleaved"]
    (array([0, 2]), array([1, 3]))
    """
    half = values.shape[-1] // 2
    return {"half": (values[..., :half], values[..., half:]), "interleaved": (values[..., 0::2], values[..., 1::2])}


def name_dtype(values: np.ndarray, stored: str | None = None) -> str:
    """Name the type that an array was stored in (default: its own); of complex numbers, that of their parts.

    >>> name_dtype(np.zeros(2, dtype=np.complex64)), name_dtype(np.zeros(2, dtype=np.float32), "bfloat16")
    ('float32', 'bfloat16')
    """
    name = stored or np.asarray(values).dtype.name
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


def describe_rounding(stored: str, rounding: str) -> tuple[str, ...]:
    """Say that numbers were rounded to a coarser type than the one that they are stored in.

    >>> describe_rounding("float32", "bfloat16")
    ('stored as float32, values rounded to bfloat16',)
    """
    if ROUNDOFF[rounding] > ROUNDOFF.get(stored, ROUNDOFF["float32"]) and rounding != stored:
        return (f"stored as {stored}, values rounded to {rounding}",)
    return ()


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
