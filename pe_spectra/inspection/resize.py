"""What interpolation to another size does to a table: the weights that PyTorch uses, as matrices.

A resized table is W e along each axis, W of shape (new, old). With the scale c = old/new, or
(old - 1)/(new - 1) when the corners are aligned, output i reads the source around
x(i) = c (i + 1/2) - 1/2, or c i. Linear weights are 1 - |x - j|; cubic ones are Keys' convolution
with A = -0.75; indices beyond the ends are moved to the ends. With antialiasing (as timm resizes)
the cubic has A = -0.5 and what falls beyond the ends is dropped and the rest rescaled.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange

SIZE = IntegerRange(minimum=1, maximum=MAX_LENGTH)
METHODS = ("bicubic", "bilinear", "nearest", "bicubic-antialias", "bilinear-antialias")
METHOD = Choice(members=METHODS)
#: Keys' parameter: PyTorch's bicubic, and its antialiased bicubic (Pillow's).
_KEYS, _KEYS_ANTIALIAS = -0.75, -0.5


def build_resize_matrix(old: int, new: int, *, method: str = "bicubic", align_corners: bool = False) -> F64:
    """Build the matrix W that interpolates `old` values to `new` ones; each row sums to 1.

    Parameters
    ----------
    old, new : number of values before and after, 1 to 1048576; old x new at most 2**26.
    method : bicubic, bilinear (also for the cubic and linear methods of a line), nearest, or one of
        the first two with -antialias.
    align_corners : whether the first and last values stay where they are; nearest and the
        antialiased methods have no such convention and ignore it.

    Returns
    -------
    (new, old), float64, read-only.

    Raises
    ------
    InputError : a size or method out of range.

    References
    ----------
    Keys 1981, IEEE Trans. ASSP 29, 1153; torch.nn.functional.interpolate.

    >>> build_resize_matrix(2, 4, method="bilinear")[:, 0].tolist()
    [1.0, 0.75, 0.25, 0.0]
    >>> build_resize_matrix(2, 3, method="bilinear", align_corners=True)[:, 0].tolist()
    [1.0, 0.5, 0.0]
    """
    before, after = SIZE.check(old, "old size"), SIZE.check(new, "new size")
    if before * after > MAX_HELD_ENTRIES:
        raise InputError("old x new size is too large", f"{before} x {after}", f"at most {MAX_HELD_ENTRIES}")
    indices, weights = compute_taps(before, after, np.arange(after), method=method, align_corners=align_corners)
    matrix = np.zeros((after, before))
    np.add.at(matrix, (np.arange(after)[:, None], indices), weights)
    matrix.flags.writeable = False
    return matrix


def compute_taps(
    old: int, new: int, rows: I64, *, method: str = "bicubic", align_corners: bool = False
) -> tuple[I64, F64]:
    """Return which old values the given new ones are made of, and with which weights.

    Parameters
    ----------
    old, new : sizes; rows : (R,) outputs, 0 .. new-1.

    Returns
    -------
    indices (R, taps) and weights (R, taps); an index may occur twice in a row (the ends).

    >>> indices, weights = compute_taps(4, 8, np.array([0]), method="bilinear")
    >>> weights.sum(axis=1).tolist()
    [1.0]
    """
    kind = METHOD.check(method, "method")
    if old == new:
        return rows[:, None].astype(np.int64), np.ones((len(rows), 1))
    if kind == "nearest":
        return (rows[:, None] * old // new).astype(np.int64), np.ones((len(rows), 1))
    if kind.endswith("-antialias"):
        return _antialias(old, new, rows, kind)
    if align_corners:
        source = rows * ((old - 1) / (new - 1) if new > 1 else 0.0)
    else:
        source = (rows + 0.5) * (old / new) - 0.5
    if kind == "bilinear":
        source = np.maximum(source, 0.0)
        offsets = np.array([0, 1])
    else:
        offsets = np.array([-1, 0, 1, 2])
    base = np.floor(source)
    distance = (source - base)[:, None] - offsets
    weights = np.maximum(1 - np.abs(distance), 0.0) if kind == "bilinear" else _cubic(distance, _KEYS)
    return np.clip(base[:, None] + offsets, 0, old - 1).astype(np.int64), weights


def resize_table(
    table: ArrayLike,
    new: int | tuple[int, int],
    *,
    method: str = "bicubic",
    align_corners: bool = False,
    grid: tuple[int, int] | None = None,
) -> F64:
    """Interpolate a table to another number of rows, or a grid to another size.

    Parameters
    ----------
    table : (S, d); without special rows (CLS): leave those out and put them back.
    new : number of rows; for a grid (H, W).
    method, align_corners : as `build_resize_matrix`.
    grid : (H, W) with H W = S where the rows are a grid in reading order; None for a line.

    Returns
    -------
    (new, d), float64, read-only; for a grid (H W, d) of the new size.

    Raises
    ------
    InputError : sizes that do not fit each other, or more than 2**26 numbers.

    >>> resize_table([[0.0], [1.0]], 4, method="bilinear")[:, 0].tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2:
        raise InputError("table must have rows and columns", f"shape {values.shape}", "(S, d) is accepted")
    if (grid is None) != isinstance(new, int):
        raise InputError("the new size does not fit the table", str(new), "N for a line, (H, W) for a grid")
    old = (len(values),) if grid is None else grid
    sizes = (new,) if isinstance(new, int) else new
    if math.prod(old) != len(values):
        raise InputError("the grid does not have the table's rows", f"{old}", f"H x W = {len(values)} is accepted")
    if math.prod(SIZE.check(size, "new size") for size in sizes) * values.shape[1] > MAX_HELD_ENTRIES:
        raise InputError("the resized table is too large", f"{new}", f"at most {MAX_HELD_ENTRIES} numbers")
    result = values.reshape(*old, -1)
    for axis, (before, after) in enumerate(zip(old, sizes, strict=True)):
        result = _apply(
            result, axis, *compute_taps(before, after, np.arange(after), method=method, align_corners=align_corners)
        )
    resized: F64 = np.array(result).reshape(math.prod(sizes), -1)
    resized.flags.writeable = False
    return resized


def _apply(values: F64, axis: int, indices: I64, weights: F64) -> F64:
    shape = [1] * values.ndim
    shape[axis] = -1
    total: F64 = np.take(values, indices[:, 0], axis=axis) * weights[:, 0].reshape(shape)
    for tap in range(1, indices.shape[1]):
        total += np.take(values, indices[:, tap], axis=axis) * weights[:, tap].reshape(shape)
    return total


def _cubic(distance: F64, keys: float) -> F64:
    x = np.abs(distance)
    near = ((keys + 2) * x - (keys + 3)) * x * x + 1
    far = ((keys * x - 5 * keys) * x + 8 * keys) * x - 4 * keys
    weights: F64 = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return weights


def _antialias(old: int, new: int, rows: I64, kind: str) -> tuple[I64, F64]:
    # the filter is widened when shrinking, cut at the ends, and its weights made to sum to 1 again
    scale = old / new
    stretch = max(scale, 1.0)
    support = (2.0 if kind.startswith("bicubic") else 1.0) * stretch
    centre = scale * (rows + 0.5)
    first = np.maximum(np.floor(centre - support + 0.5), 0).astype(np.int64)
    last = np.minimum(np.floor(centre + support + 0.5), old).astype(np.int64)
    indices = first[:, None] + np.arange(math.ceil(support) * 2 + 1)
    distance = (indices + 0.5 - centre[:, None]) / stretch
    if kind.startswith("bicubic"):
        weights = _cubic(distance, _KEYS_ANTIALIAS)
    else:
        weights = np.maximum(1 - np.abs(distance), 0.0)
    weights[indices >= last[:, None]] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return np.minimum(indices, old - 1), weights
