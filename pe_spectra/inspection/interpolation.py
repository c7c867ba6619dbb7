"""Interpolation: the weights that PyTorch uses, as matrices, and the traces that they leave in a table.

A resized table is W e along each axis, W of shape (new, old). With the scale c = old/new, or
(old - 1)/(new - 1) when the corners are aligned, output i reads the source around
x(i) = c (i + 1/2) - 1/2, or c i. Linear weights are 1 - |x - j|; cubic ones are Keys' convolution
with A = -0.75; indices beyond the ends are moved to the ends. With antialiasing (as timm resizes)
the cubic has A = -0.5 and what falls beyond the ends is dropped and the rest rescaled.

A table that was not trained since betrays its old size: W e has the column space of W, so that the
numerical rank along that axis drops to the old size, and only the right size, method and convention
explain the table down to the rounding of its stored type. A smooth table may have a low rank too, but
no interpolation matrix fits it that well, or many do: it must be one size, and the next smaller one
must be worse by a factor of ten. Interpolation is local: a window of w rows of a long axis comes from
about w old/new + 4 old ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.precision.dtypes import DTYPES

#: Types that tables are stored in, the finest first.
STORED_TYPES = ("float64", "float32", "float16", "bfloat16")
#: (method, align_corners); nearest makes equal rows and is told by those too.
CONVENTIONS = (
    ("bicubic", False),
    ("bicubic", True),
    ("bilinear", False),
    ("bilinear", True),
    ("bicubic-antialias", False),
    ("nearest", False),
)
#: Keys' parameter: PyTorch's bicubic, and its antialiased bicubic (Pillow's).
_KEYS, _KEYS_ANTIALIAS = -0.75, -0.5
#: Rows of a window; shortest axis that is looked at.
_WINDOW, _SHORTEST = 64, 5
#: A fit is one when its residual is below this many times what storing rounds off.
_FIT = 5.0
#: Interpolation in float32 places its samples with this error (in old rows, for each new row).
_PLACING = 2.0**-24
#: The right size fits this many times better than the next smaller one.
_DROP = 10.0
#: and the right method this many times better than any other.
_RIVAL = 2.0
#: Old sizes that are tried; where more are possible, only usual ones.
_MOST_SIZES = 160
_USUAL = (64, 77, 128, 196, 197, 256, 448, 512, 576, 768, 1024, 1500, 1536, 2048, 4096, 8192, 16384, 32768)


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


@dataclass(frozen=True, kw_only=True)
class Resizing:
    """How one axis was made longer.

    Attributes
    ----------
    axis : 0 along the lines of the grid (its height) or the rows of a line, 1 for the width.
    old, new : sizes.
    method, align_corners : the convention that fits best; align_corners None where it has no such
        convention.
    residual, expected_residual : part of the table (relative, root of energies) outside the column space of
        the best W, and what storing in `dtype` leaves there.
    rivals : method, align_corners and residual of the others at the same size, best first.
    edge_ratio : step length at the two ends over that in the middle; below 1 where align_corners is
        False (the ends are held), near 1 where it is True. None where rows in the middle are equal, as nearest
        makes them.
    """

    axis: int
    old: int
    new: int
    method: str
    align_corners: bool | None
    residual: float
    expected_residual: float
    edge_ratio: float | None
    rivals: list[dict[str, object]]


def find_stored_dtype(table: F64, dtype: str = "float64") -> str:
    """Return the coarsest of bfloat16, float16, float32, float64 that holds every number exactly.

    A table stored in float32 may have been copied from a float16 one. `dtype` is an upper bound.

    >>> find_stored_dtype(np.array([[0.5, 1.25]]))
    'bfloat16'
    """
    for name in STORED_TYPES[:0:-1]:
        if DTYPES[name].digits > DTYPES[dtype].digits:
            return dtype
        if DTYPES[name].holds(table):
            return name
    return dtype


def find_resizing(table: F64, *, grid: tuple[int, int] | None = None, dtype: str = "float64") -> tuple[Resizing, ...]:
    """Find the axes along which a table was interpolated to more rows.

    Parameters
    ----------
    table : (S, d) without special rows; grid : (H, W) with H W = S, or None for a line.
    dtype : type that the table is stored in (a coarser one is noticed).

    Returns
    -------
    one entry for each axis that was; empty for a table of its own size, and where too little is
    left to tell (an axis below 5, fewer columns than old rows in a window, a table that is smooth
    beyond the old size).

    >>> find_resizing(np.random.default_rng(0).normal(size=(64, 8)))
    ()
    """
    stored = find_stored_dtype(table, dtype)
    shape = grid or (len(table),)
    cube = table.reshape(*shape, -1)
    sides = (np.moveaxis(cube, axis, 0).reshape(size, -1) for axis, size in enumerate(shape))
    return tuple(filter(None, (_examine_axis(side, axis, stored) for axis, side in enumerate(sides))))


def _examine_axis(values: F64, axis: int, dtype: str) -> Resizing | None:
    new = len(values)
    width = min(new, _WINDOW, values.shape[1])
    if width < _SHORTEST:
        return None
    starts = sorted({0, (new - width) // 2, new - width})
    windows = [(start, *_compress(values[start : start + width], dtype)) for start in starts]
    if any(size <= 0 for _, _, size, _ in windows):
        return None
    noise = max(window[3] for window in windows)
    placing = _PLACING * new if dtype == "float32" else 0.0
    best: tuple[int, list[tuple[float, tuple[str, bool]]]] | None = None
    for old in _propose_sizes(windows, new, width, placing):
        limit = _FIT * _expect(noise, width, old / new) + placing
        # one window rules most sizes out
        if min(_measure_fit(windows[:1], old, new, *kind) for kind in CONVENTIONS) > limit:
            continue
        fits = sorted((_measure_fit(windows, old, new, *kind), kind) for kind in CONVENTIONS)
        if fits[0][0] <= limit and (best is None or fits[0][0] < best[1][0][0] / 4):
            best = (old, fits)
    if best is None:
        return None
    old, fits = best
    residual, (method, align) = fits[0]
    smaller = _measure_fit(windows, old - 1, new, method, align) if old > 2 else 1.0
    if smaller < _DROP * max(residual, float(np.finfo(float).eps)) or fits[1][0] < _RIVAL * residual:
        return None
    return Resizing(
        axis=axis,
        old=old,
        new=new,
        method=method,
        align_corners=align if method in ("bicubic", "bilinear") else None,
        residual=residual,
        expected_residual=_expect(noise, width, old / new),
        edge_ratio=_compare_edges(values),
        rivals=[{"method": name, "align_corners": corners, "residual": fit} for fit, (name, corners) in fits[1:]],
    )


def _compress(window: F64, dtype: str) -> tuple[F64, float, float]:
    """Return a square factor with the window's column space, its norm, and the relative rounding noise."""
    factor: F64 = np.linalg.qr(window.T)[1].T if window.shape[1] > window.shape[0] else window
    norm = float(np.linalg.norm(window))
    kind = DTYPES[dtype]
    exponents = np.maximum(np.frexp(window)[1] - 1, kind.exponent)  # the spacing falls no further below the normal ones
    spacing = np.ldexp(1.0, exponents - kind.digits + 1)
    noise = float(np.linalg.norm(spacing)) / math.sqrt(12)
    return factor, norm, noise / norm if norm > 0 else 0.0


def _expect(noise: float, width: int, ratio: float) -> float:
    # rounding falls into the part that W leaves free; never less than the arithmetic itself
    free = max(1 - ratio - 4 / width if width == _WINDOW else 1 - ratio, 0.05)
    return max(noise * math.sqrt(free), 4 * float(np.finfo(float).eps))


def _propose_sizes(windows: list[tuple[int, F64, float, float]], new: int, width: int, placing: float) -> Iterator[int]:
    """Return the old sizes that the numerical rank of the windows allows."""
    ranks = []
    for _, factor, norm, noise in windows:
        singular = np.linalg.svd(factor, compute_uv=False)
        # the largest singular value that rounding alone would make, and a margin
        level = (3 * max(noise, float(np.finfo(float).eps)) + placing) * norm
        ranks.append(int((singular > level).sum()))
    rank = max(ranks)
    if rank >= width or rank < 2:
        return iter(())
    if width == new:
        return iter(range(rank, min(new, rank + 3)))
    low = math.floor((rank - 5) * new / width)
    high = math.ceil((rank + 2) * new / width)
    sizes = range(max(low, 2), min(high, new - 1) + 1)
    if len(sizes) <= _MOST_SIZES:
        return iter(sizes)
    usual = {*_USUAL, *(new * part // 8 for part in range(1, 8)), new // 3, 2 * new // 3}
    return (size for size in sorted(usual) if size in sizes)


def _measure_fit(
    windows: list[tuple[int, F64, float, float]], old: int, new: int, method: str, align_corners: bool
) -> float:
    """Return the largest relative residual of the windows outside the column space of W."""
    worst = 0.0
    for start, factor, norm, _ in windows:
        rows = np.arange(start, start + len(factor))
        indices, weights = compute_taps(old, new, rows, method=method, align_corners=align_corners)
        first = int(indices.min())
        matrix = np.zeros((len(rows), int(indices.max()) - first + 1))
        np.add.at(matrix, (np.arange(len(rows))[:, None], indices - first), weights)
        if matrix.shape[1] >= len(rows):
            return 1.0  # everything would fit
        basis = np.linalg.qr(matrix)[0]
        residual = factor - basis @ (basis.T @ factor)
        worst = max(worst, float(np.linalg.norm(residual)) / norm)
    return worst


def _compare_edges(values: F64) -> float | None:
    steps = np.linalg.norm(np.diff(values, axis=0), axis=1)
    middle = float(np.median(steps[len(steps) // 4 : max(3 * len(steps) // 4, len(steps) // 4 + 1)]))
    return float(steps[0] + steps[-1]) / 2 / middle if middle > 0 else None
