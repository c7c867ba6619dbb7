"""What interpolation to another size does to a table: the weights that PyTorch uses, as matrices.

A resized table is W e along each axis, W of shape (new, old). With the scale c = old/new, or
(old - 1)/(new - 1) when the corners are aligned, output i reads the source around
x(i) = c (i + 1/2) - 1/2, or c i. Linear weights are 1 - |x - j|; cubic ones are Keys' convolution
with A = -0.75; indices beyond the ends are moved to the ends. With antialiasing (as timm resizes)
the cubic has A = -0.5 and what falls beyond the ends is dropped and the rest rescaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings import Encoding, GivenArray, HasTable
from pe_spectra.encodings.codes import read_codes, read_grid_codes
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_INSPECTED_NUMBERS, MAX_LENGTH
from pe_spectra.metrics.measures import check_table
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.spectrum import Spectrum, compute_spectrum, list_axes
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.vocabulary import AXES, CORNER_METHODS, RESIZE_METHODS

SIZE = IntegerRange(minimum=1, maximum=MAX_LENGTH)
METHOD = Choice(members=RESIZE_METHODS)
#: Keys' parameter: PyTorch's bicubic, and its antialiased bicubic (Pillow's).
_KEYS, _KEYS_ANTIALIAS = -0.75, -0.5


@dataclass(frozen=True, kw_only=True)
class ResizedAxis(Result):
    """The spectrum before and after, in one direction."""

    axis: str | None = quantity("The direction on a grid; null on a line.", words=AXES)
    scale: float = quantity("Old over new size: a frequency w becomes w times this.", above=0)
    centroid_before: float | None = quantity(
        "Mean frequency before; null where the weights are not a distribution.", unit="rad/position"
    )
    centroid_after: float | None = quantity(
        "Mean frequency after; null where the weights are not a distribution.", unit="rad/position"
    )
    beyond: float | None = quantity(
        "Share of the weight after that lies above pi times scale, where the old table had nothing; null where the "
        "table did not grow, or the weights are not a distribution."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Resized(Result):
    """What interpolation to another size does to the spectrum.

    >>> from pe_spectra import Sinusoidal
    >>> resize_encoding(Sinusoidal(d=8), (128,), length=64).axes[0].scale
    0.5
    """

    #: The interpolated table.
    encoding: Encoding
    method: str = quantity("How values between rows were found.", words=RESIZE_METHODS)
    align_corners: bool = quantity("Whether the first and last rows stayed in place.")
    old: tuple[int, ...] = quantity("Size before, in rows, or rows and columns of a grid.", minimum=1, least=1, most=2)
    new: tuple[int, ...] = quantity("Size after, likewise.", minimum=1, least=1, most=2)
    #: Spectra, one for each axis.
    before: tuple[Spectrum, ...]
    after: tuple[Spectrum, ...]
    #: old/new along each axis, (old - 1)/(new - 1) with aligned corners: a frequency w becomes w times it.
    scales: tuple[float, ...]

    @derived("One entry for a line, two for a grid.", least=1)
    def axes(self) -> tuple[ResizedAxis, ...]:
        return tuple(map(_compare_axis, self.before, self.after, self.scales))


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
    method : bicubic, bilinear (also for the cubic and linear methods of a line), nearest, or one of
        the first two with -antialias.
    align_corners : whether the first and last values stay where they are; nearest and the
        antialiased methods have no such convention and ignore it.
    grid : (H, W) with H W = S where the rows are a grid in reading order; None for a line.

    Returns
    -------
    (new, d), float64, read-only; for a grid (H W, d) of the new size.

    Raises
    ------
    InputError : sizes that do not fit each other, or more than 2**26 numbers.

    References
    ----------
    Keys 1981, IEEE Trans. ASSP 29, 1153; torch.nn.functional.interpolate.

    >>> resize_table([[0.0], [1.0]], 4, method="bilinear")[:, 0].tolist()
    [0.0, 0.25, 0.75, 1.0]
    >>> resize_table([[0.0], [1.0]], 3, method="bilinear", align_corners=True)[:, 0].tolist()
    [0.0, 0.5, 1.0]
    """
    values = check_table(table)
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


def resize_encoding(
    encoding: Encoding,
    new: tuple[int, ...],
    *,
    method: str = "bicubic",
    align_corners: bool = False,
    length: int | None = None,
) -> Resized:
    """Interpolate an encoding's table to another size, and compare the spectra.

    Parameters
    ----------
    new : (rows,) of a line, (H, W) of a grid, or (side,) of a square one.
    method, align_corners : as :func:`pe_spectra.inspection.resize_table` has them.

    Raises
    ------
    InputError : an encoding without a table, or a size of the wrong kind.

    >>> from pe_spectra import Sinusoidal
    >>> resize_encoding(Sinusoidal(d=8), (128,), length=64).scales
    (0.5,)
    """
    if not isinstance(encoding, HasTable) or not isinstance(encoding, Encoding):
        raise InputError("this encoding has no table to resize", encoding.label, "an encoding with a table")
    shape = encoding.shape
    size = check_length(encoding, length)
    old: tuple[int, ...] = (size,) if shape is None else shape
    new = (*new, *new) if shape is not None and len(new) == 1 else new
    if len(new) != len(old):
        accepted = "N for a line, HxW for a grid"
        raise InputError("--resize does not fit the encoding", _write_size(new), accepted)
    if math.prod(new) * encoding.d > MAX_INSPECTED_NUMBERS:
        asked = f"{_write_size(new)} x {encoding.d} columns"
        raise InputError("--resize asks for too much", asked, f"at most {MAX_INSPECTED_NUMBERS} numbers")
    codes = read_codes(encoding, size) if shape is None else read_grid_codes(encoding, shape)
    values = resize_table(
        codes, new[0] if shape is None else (new[0], new[1]), method=method, align_corners=align_corners, grid=shape
    )

    def hold(rows: F64, sides: tuple[int, ...], origin: str) -> Learned:
        return Learned(values=GivenArray(rows, origin=origin), grid=_write_size(sides) if shape else None)

    plain = hold(codes, old, encoding.label)
    resized = hold(values, new, f"{encoding.label} resized to {_write_size(new)}")
    aligned = align_corners and method in CORNER_METHODS
    return Resized(
        encoding=resized,
        method=method,
        align_corners=align_corners,
        old=old,
        new=new,
        before=tuple(compute_spectrum(plain, axis=axis) for axis in list_axes(plain)),
        after=tuple(compute_spectrum(resized, axis=axis) for axis in list_axes(resized)),
        scales=tuple((a - 1) / (b - 1) if aligned and b > 1 else a / b for a, b in zip(old, new, strict=True)),
    )


def _write_size(sides: tuple[int, ...]) -> str:
    return "x".join(map(str, sides))


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


def _compare_axis(before: Spectrum, after: Spectrum, scale: float) -> ResizedAxis:
    means = [None if one.form == "signed" else one.summary.centroid for one in (before, after)]
    beyond = None
    if scale < 1 and after.form != "signed":
        beyond = float(np.sum(after.weights[after.omega > math.pi * scale]))
    return ResizedAxis(axis=before.axis, scale=scale, centroid_before=means[0], centroid_after=means[1], beyond=beyond)
