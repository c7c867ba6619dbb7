"""Interpolation to another size: the table that it gives, and what becomes of the spectrum."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from pe_spectra.encodings import Encoding, GivenArray, HasTable
from pe_spectra.encodings.codes import read_codes, read_grid_codes
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.inspection.interpolation import compute_taps
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_INSPECTED_NUMBERS, MAX_LENGTH
from pe_spectra.metrics.measures import check_table
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.spectrum.lag_window import compute_spectrum, list_axes
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import AXES, CORNER_METHODS, RESIZE_METHODS

SIZE = IntegerRange(minimum=1, maximum=MAX_LENGTH)
METHOD = Choice(members=RESIZE_METHODS)


@dataclass(frozen=True, kw_only=True)
class ResizedAxis(Result):
    """The spectrum before and after, in one direction."""

    axis: str | None = quantity("The direction on a grid; null on a line.", words=AXES)
    scale: float = quantity("Old over new size: a frequency w becomes w times this.", above=0)
    centroid_before: float | None = quantity(
        "Centroid of the spectrum before; null where the weights are not a distribution.", unit="rad/position"
    )
    centroid_after: float | None = quantity(
        "Centroid of the spectrum after; null where the weights are not a distribution.", unit="rad/position"
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


class ResizedRows(NamedTuple):
    """The rows of an encoding before and after interpolation, with how it was done.

    `old` and `new` are sizes: (rows,) of a line, (H, W) of a grid. `front` are the rows before the positions (CLS,
    padding), which are kept.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    method: str
    align_corners: bool
    before: F64
    after: F64
    front: F64

    def __str__(self) -> str:
        corners = f", align_corners={self.align_corners}" if self.method in CORNER_METHODS else ""
        return f"{_write_size(self.old)} to {_write_size(self.new)}, {self.method}{corners}"


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
    kind = METHOD.check(method, "method")
    result = values.reshape(*old, -1)
    for axis, (before, after) in enumerate(zip(old, sizes, strict=True)):
        taps, weights = compute_taps(before, after, np.arange(after), method=kind, align_corners=align_corners)
        rows = np.moveaxis(result, axis, 0)
        parts = (np.einsum("r,r...->r...", w, rows[i]) for i, w in zip(taps.T, weights.T, strict=True))
        result = np.moveaxis(reduce(np.add, parts), 0, axis)
    resized: F64 = np.array(result).reshape(math.prod(sizes), -1)
    resized.flags.writeable = False
    return resized


def resize_rows(
    encoding: Encoding,
    new: tuple[int, ...],
    *,
    method: str = "bicubic",
    align_corners: bool = False,
    length: int | None = None,
) -> ResizedRows:
    """Interpolate an encoding's table to another size; rows before the positions stay as they are.

    Parameters
    ----------
    new : (rows,) of a line, (H, W) of a grid, or (side,) of a square one.
    method, align_corners : as :func:`pe_spectra.inspection.resize_table` has them.

    Raises
    ------
    InputError : an encoding without a table, or a size of the wrong kind.

    >>> from pe_spectra import Sinusoidal
    >>> found = resize_rows(Sinusoidal(d=8), (128,), length=64)
    >>> str(found), found.after.shape, len(found.front)
    ('64 to 128, bicubic, align_corners=False', (128, 8), 0)
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
    return ResizedRows(old, new, method, align_corners, codes, values, _take_front(encoding, codes))


def _take_front(encoding: Encoding, codes: F64) -> F64:
    return encoding.file_rows[: encoding.prefix] if isinstance(encoding, Learned) else codes[:0]


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
    found = resize_rows(encoding, new, method=method, align_corners=align_corners, length=length)

    def hold(rows: F64, sides: tuple[int, ...], origin: str) -> Learned:
        return Learned(values=GivenArray(rows, origin=origin), grid=_write_size(sides) if len(sides) > 1 else None)

    plain = hold(found.before, found.old, encoding.label)
    resized = hold(found.after, found.new, f"{encoding.label} resized to {_write_size(found.new)}")
    aligned = align_corners and method in CORNER_METHODS
    return Resized(
        encoding=resized,
        method=method,
        align_corners=align_corners,
        old=found.old,
        new=found.new,
        before=tuple(compute_spectrum(plain, axis=axis) for axis in list_axes(plain)),
        after=tuple(compute_spectrum(resized, axis=axis) for axis in list_axes(resized)),
        scales=tuple(
            (a - 1) / (b - 1) if aligned and b > 1 else a / b for a, b in zip(found.old, found.new, strict=True)
        ),
    )


def _write_size(sides: tuple[int, ...]) -> str:
    return "x".join(map(str, sides))


def _compare_axis(before: Spectrum, after: Spectrum, scale: float) -> ResizedAxis:
    means = [None if one.form == "signed" else one.summary.centroid for one in (before, after)]
    beyond = None
    if scale < 1 and after.form != "signed":
        beyond = float(np.sum(after.weights[after.omega > math.pi * scale]))
    return ResizedAxis(axis=before.axis, scale=scale, centroid_before=means[0], centroid_after=means[1], beyond=beyond)
