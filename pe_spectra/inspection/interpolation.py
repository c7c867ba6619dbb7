"""Interpolation: the weights that PyTorch uses, as matrices.

A resized table is W e along each axis, W of shape (new, old). With the scale c = old/new, or
(old - 1)/(new - 1) when the corners are aligned, output i reads the source around
x(i) = c (i + 1/2) - 1/2, or c i. Linear weights are 1 - |x - j|; cubic ones are Keys' convolution
with A = -0.75; indices beyond the ends are moved to the ends. With antialiasing (as timm resizes)
the cubic has A = -0.5 and what falls beyond the ends is dropped and the rest rescaled.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64

#: Keys' parameter: PyTorch's bicubic, and its antialiased bicubic (Pillow's).
_KEYS, _KEYS_ANTIALIAS = -0.75, -0.5


def compute_taps(old: int, new: int, rows: I64, *, method: str, align_corners: bool) -> tuple[I64, F64]:
    """Return which old values the given new ones are made of, and with which weights.

    Parameters
    ----------
    old, new : sizes; rows : (R,) outputs, 0 .. new-1; method, align_corners : as `resize_table` has them.

    Returns
    -------
    indices (R, taps) and weights (R, taps); an index may occur twice in a row (the ends).

    >>> indices, weights = compute_taps(4, 8, np.array([0]), method="bilinear", align_corners=False)
    >>> weights.sum(axis=1).tolist()
    [1.0]
    """
    if old == new or method == "nearest":
        return rows[:, None] * old // new, np.ones((len(rows), 1))
    if method.endswith("-antialias"):
        return _antialias(old, new, rows, method)
    if align_corners:
        source = rows * ((old - 1) / (new - 1) if new > 1 else 0.0)
    else:
        source = (rows + 0.5) * (old / new) - 0.5
    if method == "bilinear":
        source = np.maximum(source, 0.0)
    base = np.floor(source)
    offsets = np.array([0, 1] if method == "bilinear" else [-1, 0, 1, 2])
    weights = _weigh((source - base)[:, None] - offsets, method, _KEYS)
    return np.clip(base[:, None] + offsets, 0, old - 1).astype(np.int64), weights


def _weigh(distance: F64, method: str, keys: float) -> F64:
    """Weights at a distance: a triangle, or Keys' cubic."""
    x = np.abs(distance)
    if method.startswith("bilinear"):
        triangle: F64 = np.maximum(1 - x, 0.0)
        return triangle
    near = ((keys + 2) * x - (keys + 3)) * x * x + 1
    far = ((keys * x - 5 * keys) * x + 8 * keys) * x - 4 * keys
    weights: F64 = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return weights


def _antialias(old: int, new: int, rows: I64, method: str) -> tuple[I64, F64]:
    # the filter is widened when shrinking, cut at the ends, and its weights made to sum to 1 again
    scale = old / new
    stretch = max(scale, 1.0)
    support = (2.0 if method.startswith("bicubic") else 1.0) * stretch
    centre = scale * (rows + 0.5)
    first = np.maximum(np.floor(centre - support + 0.5), 0).astype(np.int64)
    last = np.minimum(np.floor(centre + support + 0.5), old).astype(np.int64)
    indices = first[:, None] + np.arange(math.ceil(support) * 2 + 1)
    weights = _weigh((indices + 0.5 - centre[:, None]) / stretch, method, _KEYS_ANTIALIAS)
    weights[indices >= last[:, None]] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return np.minimum(indices, old - 1), weights
