"""Real positions from the command line: a range, or a column of numbers in a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LENGTH, MAX_POSITION
from pe_spectra.numbers import RealRange

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64

_TIME = RealRange(minimum=-float(MAX_POSITION), maximum=float(MAX_POSITION))
_FILES = (".npy", ".npz", ".csv", ".tsv", ".safetensors")
_ACCEPTED = "A:B:C (from A by C, end excluded) or a .npy or .csv file with one column of numbers is accepted"


def read_times(text: str, label: str = "--positions") -> F64:
    """Read real positions: `0:10:0.25`, half-open, or a file.

    Raises
    ------
    InputError : an empty range, a step of 0, a position beyond +-2**53, or more of them than are accepted.
    FileError : a file that cannot be read.

    >>> read_times("0:1:0.25")
    array([0.  , 0.25, 0.5 , 0.75])
    """
    import numpy as np

    parts = text.split(":")
    if len(parts) == 3 and not any(part.endswith(("npy", "csv", "tsv")) for part in parts):
        start, stop, step = (_TIME.parse(part, label) for part in parts)
        if not step > 0 or not stop > start:
            raise InputError(f"{label} is an empty range", text, _ACCEPTED)
        if not (stop - start) / step <= MAX_LENGTH:
            raise InputError(f"{label} lists too many positions", text, f"at most {MAX_LENGTH}")
        # as decimals: in float64, 2.1/0.7 is more than 3
        first, end, each = (Fraction(repr(value)) for value in (start, stop, step))
        count = math.ceil((end - first) / each)
        times: F64 = start + step * np.arange(count, dtype=np.float64)
        return times[times < stop]
    if not text or ("." not in text and "/" not in text):
        what = "has no step" if len(parts) == 2 else "is no range"
        raise InputError(f"{label} {what}", text or "''", _ACCEPTED)
    if not text.lower().endswith(_FILES):
        raise InputError(f"{label} is no file of a kind that is read here", text, _ACCEPTED)
    from pe_spectra.files.tables import read_array

    found = read_array(Path(text).expanduser(), None, label=label, axes=(1, 2)).values
    if found.ndim == 2 and 1 not in found.shape:
        raise InputError(f"{label} has shape {found.shape}", text, _ACCEPTED)
    times = found.ravel()
    for value in times[~(np.abs(times) <= MAX_POSITION)][:1].tolist():
        _TIME.check(value, label)
    return times


def sample(encodings: Sequence[Encoding], positions: str | None, length: str | None) -> tuple[Encoding, ...]:
    """Put encodings at the real positions of --positions, if it is given.

    Raises
    ------
    InputError : --length beside it, no range, or an encoding that takes integers only.
    FileError : a file that cannot be read.
    """
    if positions is None:
        return tuple(encodings)
    if length is not None:
        raise InputError("--length and --positions exclude each other", length, "one of them")
    from pe_spectra.encodings import GivenArray, HasContinuousTable
    from pe_spectra.encodings.sampled import Sampled

    whole = next((encoding.label for encoding in encodings if not isinstance(encoding, HasContinuousTable)), None)
    if whole is not None:
        accepted = f"--length gives it integers, in place of {positions or repr(positions)}"
        raise InputError("--positions: this encoding takes no real positions", whole, accepted)
    times = GivenArray(read_times(positions), origin=positions)
    return tuple(Sampled(encoding=encoding, times=times) for encoding in encodings)
