"""Spectra of short stretches of a table: what an average over all positions would hide."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.codes import read_codes
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.numbers import IntegerRange
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.spectrum.lattice import compute_omega

_LEAST = 4
#: Stretches are an eighth of the table, within these bounds, and begin at most a fourth of their length apart.
_PART, _SHORTEST, _LONGEST = 8, 16, 512
#: Of long tables at most so many steps, evenly spread: stretches then overlap less, or not at all.
_MOST = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalSpectra:
    """Spectra of stretches of positions.

    Attributes
    ----------
    encoding : what was analysed.
    window : positions in a stretch; a Hann taper fades both ends.
    centres : (F,) the middle of each stretch, in positions.
    omega : (window // 2 + 1,) rad/position.
    weights : (F, window // 2 + 1), each row sums to 1; a row of zeros where the stretch is zero.

    >>> from pe_spectra import Sinusoidal
    >>> found = compute_local_spectra(Sinusoidal(d=8), length=128)
    >>> found.window, found.weights.shape
    (16, (29, 9))
    """

    encoding: Encoding
    window: int
    centres: F64
    omega: F64
    weights: F64

    def __post_init__(self) -> None:
        for array in (self.centres, self.omega, self.weights):
            array.flags.writeable = False


def compute_local_spectra(
    encoding: Encoding, *, length: int | None = None, window: int | None = None, codes: F64 | None = None
) -> LocalSpectra:
    """Return the short-window spectra of an encoding's table: power summed over columns.

    Parameters
    ----------
    encoding : an encoding with a table.
    length : number of positions; default all rows of a table.
    window : positions in a stretch, 4 to `length`; default an eighth of them, from 16 to 512.
    codes : (length, d) of the positions, where they were read already.

    Raises
    ------
    InputError : an encoding without a table, or a window that does not fit.

    >>> from pe_spectra import Sinusoidal
    >>> compute_local_spectra(Sinusoidal(d=8), length=64).weights.shape
    (13, 9)
    """
    size = check_length(encoding, length)
    if size < _LEAST:
        raise InputError("positions are too few for a window", str(size), f"at least {_LEAST} are accepted")
    usual = min(size, max(_SHORTEST, min(_LONGEST, size // _PART)))
    width = usual if window is None else IntegerRange(minimum=_LEAST, maximum=size).check(window, "window")
    codes = read_codes(encoding, size) if codes is None else codes
    step = max(1, width // 4, math.ceil((size - width) / _MOST))
    # the last stretch ends with the table, so those between are spread evenly
    starts = np.rint(np.linspace(0, size - width, math.ceil((size - width) / step) + 1)).astype(np.int64)
    taper = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(width) + 0.5) / width)
    weights = np.zeros((len(starts), width // 2 + 1))
    for row, start in enumerate(starts):
        part = codes[start : start + width]
        largest = max(float(part.max()), -float(part.min()))
        # squares stay in range; each row is relative to its sum anyway
        spectrum = np.fft.rfft((part / largest if largest > 0 else part).T * taper)
        power = np.sum(spectrum.real**2 + spectrum.imag**2, axis=0)
        total = float(np.sum(power))
        weights[row] = power / total if total > 0 else 0.0
    return LocalSpectra(
        encoding=encoding,
        window=width,
        centres=starts.astype(np.float64) + (width - 1) / 2,
        omega=compute_omega(width),
        weights=weights,
    )
