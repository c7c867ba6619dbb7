"""Sinusoids whose frequencies all columns share: built, fitted to a table together, moved to where they fit best."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64

#: Gauss-Newton steps at most; in cycles over a side the longest, and one below which none is left to make.
_MOST_STEPS, _FARTHEST, _STILL = 16, 0.4, 1e-6
#: Cycles over a side by which a frequency is moved off pi, where by symmetry no step would move it.
_NUDGE = 0.25
_TINY = 1e-300


def build_axes(shape: tuple[int, ...]) -> list[F64]:
    """Return the centred coordinates of each row, one array (S,) for each axis.

    >>> [axis.tolist() for axis in build_axes((2, 2))]
    [[-0.5, -0.5, 0.5, 0.5], [-0.5, 0.5, -0.5, 0.5]]
    """
    places = np.indices(shape).reshape(len(shape), -1).astype(np.float64)
    return [axis - axis.mean() for axis in places]


def build_waves(axes: list[F64], frequencies: list[F64]) -> F64:
    """Return cosine and sine of each frequency side by side, (S, 2 k), in cycles a row.

    A frequency is a number for each axis, or for the first of them.

    >>> build_waves([np.arange(3.0)], [np.array([0.25])]).T.round(9).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    terms = np.zeros((max(map(len, frequencies), default=1), len(frequencies)))
    for index, frequency in enumerate(frequencies):
        terms[: len(frequency), index] = frequency
    angles = 2 * math.pi * (np.array(axes[: len(terms)]).T @ terms)
    waves = np.empty((len(axes[0]), len(frequencies), 2))
    np.cos(angles, out=waves[:, :, 0])
    np.sin(angles, out=waves[:, :, 1])
    return waves.reshape(len(waves), -1)


def measure_energy(waves: F64, amplitudes: F64) -> float:
    """Return the sum of squares of waves (S, w) with amplitudes (w, d).

    >>> measure_energy(np.ones((3, 1)), np.array([[2.0]]))
    12.0
    """
    gram = waves.T @ waves
    return float(np.einsum("ik,ij,jk->", amplitudes, gram, amplitudes))


def orthonormalise(columns: F64) -> F64:
    """Return an orthonormal basis of what columns (S, w) span; those that depend on others are left out.

    >>> orthonormalise(np.array([[2.0, 2.0], [0.0, 0.0]])).shape
    (2, 1)
    """
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), _TINY)
    basis, triangle = np.linalg.qr(scaled)
    kept: F64 = basis[:, np.abs(np.diag(triangle)) > 1e-9]
    return kept


def subtract_waves(values: F64, axes: list[F64], found: list[F64], trend: F64) -> F64:
    """Return what least squares with the trend and the sinusoids leave of values (S, c).

    >>> axes = build_axes((8,))
    >>> wave = np.cos(np.pi / 2 * np.arange(8.0))[:, None]
    >>> float(abs(subtract_waves(wave, axes, [np.array([0.25])], np.ones((8, 1)) / 8**0.5)).max().round(12))
    0.0
    """
    basis = np.column_stack([trend, build_waves(axes, found)])
    orthonormal = orthonormalise(basis)
    left: F64 = values - orthonormal @ (orthonormal.T @ values)
    return left


def refine_waves(values: F64, axes: list[F64], found: list[F64], trend: F64, steps: int = _MOST_STEPS) -> None:
    """Move the frequencies in place to where they fit best together, by Gauss-Newton steps, `steps` at most.

    Beyond pi a frequency is the one mirrored there; so is the steps' start, for a slope that is zero by symmetry.

    >>> axes, found = build_axes((40,)), [np.array([0.5])]
    >>> refine_waves(np.cos(2 * np.pi * 0.495 * axes[0])[:, None], axes, found, np.ones((40, 1)) / 40**0.5)
    >>> round(float(found[0][0]), 6)
    0.495
    """
    sides = [float(axis.max() - axis.min()) + 1 for axis in axes]
    for frequency in found:
        if all(value in (0.0, 0.5, -0.5) for value in frequency):
            frequency -= [_NUDGE / side if value else 0.0 for value, side in zip(frequency, sides, strict=False)]
    # all components in one array, and each frequency a part of it
    lengths = [len(frequency) for frequency in found]
    components, alone = np.concatenate(found), np.repeat(np.array(lengths) == 1, lengths)
    moving = np.split(components, np.cumsum(lengths)[:-1])
    side_of_each = np.concatenate([sides[:length] for length in lengths])
    for _ in range(steps):
        moves = _find_moves(values, axes, moving, trend) * side_of_each
        components += np.clip(moves, -_FARTHEST, _FARTHEST) / side_of_each
        components -= np.round(components)
        components[alone] = np.abs(components[alone])
        if float(np.abs(moves).max()) < _STILL:
            break
    for frequency, moved in zip(found, moving, strict=True):
        frequency[:] = moved


def _solve(matrix: F64, values: F64) -> F64:
    """Solve by elimination where no column was left out of the basis; least squares take ten times as long."""
    if len(matrix) == matrix.shape[1]:
        return np.asarray(np.linalg.solve(matrix, values), dtype=np.float64)
    return np.asarray(np.linalg.lstsq(matrix, values, rcond=None)[0], dtype=np.float64)


def _find_moves(values: F64, axes: list[F64], found: list[F64], trend: F64) -> F64:
    """Return the Gauss-Newton step of each component, one frequency's after the other's, of each by itself."""
    waves = build_waves(axes, found)
    basis = np.column_stack([trend, waves])
    orthonormal = orthonormalise(basis)
    projected = orthonormal.T @ values
    residual: F64 = values - orthonormal @ projected
    amplitudes = _solve(orthonormal.T @ basis, projected)
    lengths = [len(frequency) for frequency in found]
    owners = np.repeat(np.arange(len(found)), lengths)  # of each component its frequency
    along = np.array(axes).T[:, np.concatenate([np.arange(length) for length in lengths])]
    # the slope by a component is turned @ mixed, as large as the table and of rank 2, so it is never built
    turned = 2 * math.pi * along[:, :, None] * (waves.reshape(len(waves), -1, 2) * [1.0, -1.0])[:, owners]
    turned = turned.reshape(len(waves), -1)
    turned -= orthonormal @ (orthonormal.T @ turned)
    mixed = amplitudes[trend.shape[1] :].reshape(len(found), 2, -1)[:, ::-1]
    count = len(owners)
    grams = (mixed @ mixed.transpose(0, 2, 1))[owners]
    sizes = np.einsum("minj,mij->mn", (turned.T @ turned).reshape(count, 2, count, 2), grams)
    sizes[owners[:, None] != owners] = 0.0
    slopes = np.einsum("mic,mic->m", (turned.T @ residual).reshape(count, 2, -1), mixed[owners])
    scale = np.sqrt(np.maximum(np.diag(sizes), _TINY))
    sizes /= np.multiply.outer(scale, scale)
    moves: F64 = np.linalg.lstsq(sizes, slopes / scale, rcond=1e-9)[0] / scale
    return moves
