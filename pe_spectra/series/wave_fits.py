"""Sinusoids, a constant and a straight line fitted to a series together, by least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass

#: Samples that are looked at together.
_CHUNK = 1 << 16
#: A frequency moves by no more than this share of a cycle over the record at a time.
_LARGEST_MOVE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class WaveModel(ReadOnly):
    """A constant, a line and sinusoids.

    Attributes
    ----------
    frequencies : (L,) cycles over the record. level, slope : of the line over u from -1 to 1.
    cosines, sines : (L,) of each sinusoid; its phase counts from the middle of the record.
    """

    frequencies: F64
    level: float
    slope: float
    cosines: F64
    sines: F64

    def compute(self, places: F64, lines: F64 | None = None) -> F64:
        """Return its values at places u from -1 to 1; where `lines` are named, of these sinusoids alone.

        >>> flat = WaveModel(frequencies=np.ones(1), level=1.0, slope=2.0, cosines=np.ones(1), sines=np.zeros(1))
        >>> flat.compute(np.array([-1.0, 0.0])).round(9).tolist()
        [-2.0, 2.0]
        """
        which = np.arange(len(self.frequencies)) if lines is None else lines
        found: F64 = np.zeros(len(places)) if lines is not None else self.level + self.slope * places
        for line in which:
            angle = np.pi * self.frequencies[line] * places
            found += self.cosines[line] * np.cos(angle) + self.sines[line] * np.sin(angle)
        return found


def fit_waves(places: F64, values: F64, frequencies: F64) -> WaveModel:
    """Fit the amplitudes of sinusoids whose frequencies are known.

    >>> u = np.linspace(-1, 1, 50)
    >>> fit_waves(u, 3 + u, np.empty(0)).slope.__round__(9)
    1.0
    """
    found = _solve(places, values, partial(_build, frequencies))
    return WaveModel(
        frequencies=frequencies,
        level=float(found[0]),
        slope=float(found[1]),
        cosines=found[2::2],
        sines=found[3::2],
    )


def refine_waves(places: F64, values: F64, frequencies: F64, rounds: int) -> WaveModel:
    """Fit frequencies, too, by Gauss-Newton steps from those that are given.

    >>> u = np.linspace(-1, 1, 200)
    >>> refine_waves(u, np.sin(np.pi * 7.03 * u), np.array([7.0]), 4).frequencies.round(6).tolist()
    [7.03]
    """
    model = fit_waves(places, values, frequencies)
    for _ in range(rounds):
        found = _solve(places, values, partial(_build_moving, model))
        move = np.clip(found[2 + 2 * len(frequencies) :], -_LARGEST_MOVE, _LARGEST_MOVE)
        model = fit_waves(places, values, np.maximum(model.frequencies + move, _LARGEST_MOVE))
    return model


def _solve(places: F64, values: F64, build: Callable[[F64], F64]) -> F64:
    """Solve the normal equations, gathered a part at a time, of columns of norm 1."""
    gram: F64 | float = 0.0
    right: F64 | float = 0.0
    for part, rest in _split(places, values):
        columns = build(part)
        gram = gram + columns.T @ columns
        right = right + columns.T @ rest
    norms = np.sqrt(np.maximum(np.diag(np.asarray(gram)), 1e-300))
    scaled = np.asarray(gram) / np.outer(norms, norms)
    found: F64 = np.linalg.lstsq(scaled, np.asarray(right) / norms, rcond=1e-13)[0] / norms
    return found


def _split(places: F64, values: F64) -> Iterator[tuple[F64, F64]]:
    for start in range(0, len(places), _CHUNK):
        yield places[start : start + _CHUNK], values[start : start + _CHUNK]


def _build(frequencies: F64, places: F64) -> F64:
    columns = np.empty((len(places), 2 + 2 * len(frequencies)))
    columns[:, 0], columns[:, 1] = 1, places
    angles = np.multiply.outer(places, np.pi * frequencies)
    columns[:, 2::2], columns[:, 3::2] = np.cos(angles), np.sin(angles)
    return columns


def _build_moving(model: WaveModel, places: F64) -> F64:
    """The columns of the sinusoids, and what a change of each frequency adds."""
    columns = _build(model.frequencies, places)
    cosines, sines = columns[:, 2::2], columns[:, 3::2]
    slopes = model.sines * cosines - model.cosines * sines
    return np.concatenate([columns, np.pi * places[:, None] * slopes], axis=1)
