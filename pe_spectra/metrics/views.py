"""The views of an encoding that a comparison measures: its kernel, its codes, and what lies between positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pe_spectra.encodings import Encoding, HasFrequencies, HasTable
from pe_spectra.encodings.codes import read_codes, read_grid_codes
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, sin_cos
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.metrics import TOO_LARGE, Resolution, Views, measure_ladder_resolution
from pe_spectra.spectrum import estimate_grid_kernel, estimate_kernel

_ON_A_GRID = "its positions fill a grid, so they have no single lag"


def find_kernel(encoding: Encoding, size: int) -> F64 | str:
    """Return the kernel at lags 0 .. size-1, on a grid along a row, relative to lag 0; or why there is none.

    >>> from pe_spectra import Dft
    >>> find_kernel(Dft(d=4), 3).round(12) + 0.0
    array([1., 0., 0.])
    """
    try:
        if encoding.shape is not None:
            plane = np.mean(estimate_grid_kernel(encoding).values, axis=0)
            line = plane[len(plane) // 2, plane.shape[1] // 2 :]
        else:
            line = np.mean(estimate_kernel(encoding, length=size, count=size).values, axis=0)
    except InputError as error:
        return str(error).removeprefix(f"{encoding.label}: ")
    if not line[0] > 0:
        return "k(0) is not positive"
    normalised: F64 = line / line[0]
    return normalised


def find_spacing(encoding: Encoding, size: int) -> float | None:
    """Return how many positions lie between neighbours; None where that differs by more than they are rounded.

    >>> from pe_spectra import Dft
    >>> find_spacing(Dft(d=4), 3)
    1.0
    """
    times = encoding.positions[:size] if isinstance(encoding, Sampled) else np.arange(2.0)
    steps = np.diff(times)
    if not steps.size or np.ptp(steps) > 4 * np.finfo(float).eps * np.abs(times).max() or steps[0] == 0:
        return None
    return abs(float(times[-1] - times[0])) / steps.size


def add_codes(views: Views, encoding: Encoding, size: int) -> Views:
    """Add the codes of `size` positions, and what is known of them; on a grid no two positions have one lag.

    >>> from pe_spectra import Dft
    >>> add_codes(Views(), Dft(d=4), 3).beyond.shape  # of positions 3 .. 5
    (3, 4)
    """
    if encoding.shape is not None:
        vectors = read_grid_codes(encoding, encoding.shape) if isinstance(encoding, HasTable) else None
        return replace(views, vectors=vectors, missing={**views.missing, "table": _ON_A_GRID})
    if not isinstance(encoding, HasTable):
        return views
    if size * encoding.d > MAX_HELD_ENTRIES:
        missing = dict.fromkeys(("vectors", "table", "beyond"), TOO_LARGE)
        return replace(views, missing={**views.missing, **missing})
    # as many positions again, or those that the encoding still has
    last = 2 * size if encoding.rows is None else min(2 * size, encoding.rows)
    goes_on = last - size > 1 and last * encoding.d <= MAX_HELD_ENTRIES
    return replace(
        views,
        table=read_codes(encoding, size),
        resolution=_find_resolution(encoding, size),
        beyond=encoding.table(np.arange(size, last)) if goes_on else None,
    )


def _find_resolution(sampled: Encoding, size: int) -> Resolution | None:
    """Exact Fisher information at the positions, 0 .. size-1 unless others are sampled, of sines and cosines."""
    encoding, times = sampled, np.arange(float(size))
    if isinstance(sampled, Sampled):
        encoding, times = sampled.encoding, sampled.positions[:size]
    if not isinstance(encoding, HasFrequencies) or not isinstance(encoding, HasTable):
        return None
    found = encoding.frequencies()
    masses, is_lone = found.masses, found.masses < 1
    values, phases = found.values[is_lone], found.phases[is_lone]
    sine, cosine = sin_cos(np.stack([values, found.low[is_lone], np.zeros_like(values)]), times)
    # a lone cos(w s + phase) has the slope -w sin(w s + phase); at pi it never moves at integers
    shares = np.where(values == np.pi, 0.0, (sine * np.cos(phases) + cosine * np.sin(phases)) ** 2)
    mean, least = masses.copy(), masses.copy()
    mean[is_lone], least[is_lone] = shares.mean(axis=0), shares[np.argmin(shares @ (values * values))]
    return measure_ladder_resolution(found.values, mean, found.amplitude, least=least)
