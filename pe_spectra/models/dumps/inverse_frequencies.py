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
    """Where one array of shape (S, 2P) has cosines and sines; whether they are those of the opposite sign.

    >>> Arrangement(interleaved=True, sines_first=True).sine_sign
    1
    """

    interleaved: bool
    sines_first: bool
    sine_sign: int = 1
    cosine_sign: int = 1

    def negate(self, *, sines: bool, cosines: bool) -> Arrangement:
        """Return the same places with the sign of sines or of cosines turned.

        >>> Arrangement(interleaved=True, sines_first=True).negate(sines=True, cosines=False).sine_sign
        -1
        """
        signs = (-self.sine_sign if sines else self.sine_sign), (-self.cosine_sign if cosines else self.cosine_sign)
        return self._replace(sine_sign=signs[0], cosine_sign=signs[1])


@dataclass(frozen=True, kw_only=True)
class Dump(Rotation):
    """A rotation that was found from arrays.

    Attributes
    ----------
    kind : "frequencies", a dump of inv_freq, or "cache", cosines and sines.
    rows : positions that the cache has; None for frequencies.
    error_bounds : (D/2,) largest relative error of each frequency. Read-only.
    backward : True where all sines have the opposite sign, so that the port turns the other way.
    half_turn : True where all cosines have the opposite sign, so that each phase is half a turn ahead.
    phase_error : largest distance in rad of a phase of the cache from frequency times position.
    imprecise : whether that is more than storing explains, so that angles were computed in too few digits.
    first_row_off : then the first row where a phase is off by more than pi/8; None where none is.
    frequency_dtype : the type that the frequencies themselves were rounded to, where it is coarser than
        float32; None otherwise.
    arrangement : how the columns of one array of cosines and sines stand; None for other arrays.
    """

    kind: Literal["frequencies", "cache"]
    rows: int | None = None
    error_bounds: F64 | None = None
    backward: bool = False
    half_turn: bool = False
    phase_error: float | None = None
    imprecise: bool = False
    first_row_off: int | None = None
    frequency_dtype: str | None = None
    arrangement: Arrangement | None = None


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
    if not _falls(listed) and listed[0] >= 1 and not np.any(np.diff(listed) < 0):
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
        frequencies=freeze(frequencies),
        layout=layout,
        dtype=rounding,
        error_bound=bound,
        error_bounds=freeze(np.where(frequencies > 0, bounds, 0.0)),
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


def freeze(values: F64) -> F64:
    """Return a read-only copy.

    >>> values = np.ones(2)
    >>> freeze(values).flags.writeable, values.flags.writeable
    (False, True)
    """
    copied = np.array(values, dtype=np.float64)
    copied.flags.writeable = False
    return copied


def _flatten(values: np.ndarray) -> F64:
    listed = np.squeeze(np.asarray(values))
    if listed.ndim == 0:
        listed = listed.reshape(1)
    if listed.ndim != 1 or not 1 <= listed.size <= MAX_WIDTH or np.iscomplexobj(listed):
        raise InputError("a dump of inv_freq is one list of numbers", f"shape {np.shape(values)}", _ACCEPTED)
    listed = np.asarray(listed, dtype=np.float64)
    unusable = ~np.isfinite(listed) | (listed < 0)
    if unusable.any():
        first = int(np.argmax(unusable))
        raise InputError("a frequency cannot be used", f"{listed[first]:g} at index {first}", _ACCEPTED)
    return listed


def _falls(listed: F64) -> bool:
    return bool(len(listed) < 2 or listed[0] > listed[-1] or np.ptp(listed) == 0)


def _invert(listed: F64) -> tuple[F64, tuple[str, ...]]:
    if len(listed) > 2 and listed[0] == listed[1] == listed[2]:
        # rope_freqs.weight of a GGUF file: 1, 1, .., 8
        given = f"{listed[0]:g}, {listed[1]:g}, .., {listed[-1]:g}"
        raise InputError("these are divisors of frequencies, as in rope_freqs.weight", given, _ACCEPTED)
    return 1 / listed, ("the numbers rise from 1, so they are taken as 1/frequency, as MLX holds them",)


def _undouble(listed: F64) -> tuple[str | None, F64]:
    """Return the layout that repeats show, and each frequency once."""
    half = len(listed) // 2
    if len(listed) % 2 or np.ptp(listed) == 0:
        return None, listed
    if np.array_equal(listed[:half], listed[half:]):
        return "half", listed[:half]
    if np.array_equal(listed[0::2], listed[1::2]):
        return "interleaved", listed[0::2]
    return None, listed
