"""The portrait of one encoding: every view that it has, put together for one look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from pe_spectra.encodings import Encoding, GivenArray, HasBias, HasBiasMap, HasTable
from pe_spectra.encodings.codes import list_places, read_codes, read_grid_codes
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, I64
from pe_spectra.inspection import RowFinding, TableInspection, inspect_table, resize_table
from pe_spectra.inspection.changes import state_spectra
from pe_spectra.limits import (
    MAX_INSPECTED_COLUMNS,
    MAX_INSPECTED_NUMBERS,
    MAX_INSPECTED_PLACES,
    MAX_INSPECTED_ROWS,
)
from pe_spectra.metrics.resolution import measure_ranks
from pe_spectra.metrics.tables import centre
from pe_spectra.spectrum import (
    GridSpectrum,
    Kernel,
    LocalSpectra,
    Spectrum,
    compute_grid_spectrum,
    compute_local_spectra,
    compute_spectrum,
    estimate_grid_kernel,
    estimate_kernel,
    list_axes,
    measure_toeplitz_share,
)
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.table_part import describe_part

Found = TypeVar("Found")
#: Entries of a map that is held for the picture: heads times the square of the length.
_MOST_MAP = 1 << 24
#: Methods that know aligned corners.
_ALIGNED = ("bicubic", "bilinear")
#: Types that traces of rounding are known for.
_STORED = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True, kw_only=True, eq=False)
class Resized:
    """What interpolation to another size does.

    Attributes
    ----------
    encoding : the interpolated table.
    method, align_corners : the convention.
    old, new : (rows,) or (H, W).
    before, after : spectra, one for each axis.
    scales : old/new along each axis, (old - 1)/(new - 1) with aligned corners: a frequency w becomes w times it.
    beyond : share of the weight after that lies above pi old/new, where the old table could have nothing; None
        where the table becomes smaller.
    """

    encoding: Encoding
    method: str
    align_corners: bool
    old: tuple[int, ...]
    new: tuple[int, ...]
    before: tuple[Spectrum, ...]
    after: tuple[Spectrum, ...]
    scales: tuple[float, ...]
    beyond: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Portrait:
    """Every view of one encoding.

    Attributes
    ----------
    encoding, length : what was looked at, and on how many positions.
    table : (S, d) codes; None without a table.
    kernel : by lag, or by offset on a grid; None without one.
    spectra : one for a line, two for a grid; empty where the codes are all zero.
    plane : of a grid; local : spectra of short stretches of a line.
    inspection : what the table's rows, periods and traces say; None for a single row and without a table.
    lags : (L,) and bias : (heads, L); bias_map : (heads, S, S) query by key, where it can be held.
    resized : where another size was asked for.
    metrics : name -> number, of the rows that the inspection used; None where it does not exist.
    notes : what a reader must know.

    >>> from pe_spectra import Dft
    >>> portrait = draw_portrait(Dft(d=8))
    >>> portrait.length, portrait.spectra[0].weights.round(3).tolist()
    (80, [0.125, 0.25, 0.25, 0.25, 0.125])
    """

    encoding: Encoding
    length: int
    table: F64 | None
    kernel: Kernel | None
    spectra: tuple[Spectrum, ...]
    plane: GridSpectrum | None
    local: LocalSpectra | None
    inspection: TableInspection | None
    lags: I64 | None
    bias: F64 | None
    bias_map: F64 | None
    resized: Resized | None
    metrics: Mapping[str, float | None]
    notes: tuple[str, ...]

    @property
    def findings(self) -> tuple[RowFinding, ...]:
        """What a reader should know: of the table, then of the spectra."""
        of_table = self.inspection.findings if self.inspection is not None else ()
        return (*of_table, *state_spectra(self.spectra))


def draw_portrait(encoding: Encoding, *, length: int | None = None, resized: Resized | None = None) -> Portrait:
    """Look at one encoding from every side.

    Parameters
    ----------
    length : number of positions; default all rows of a table, 80 of a formula, 256 lags of a bias.
    resized : from :func:`resize_encoding`.

    Raises
    ------
    InputError : a length that the encoding has not.

    >>> from pe_spectra import Sinusoidal
    >>> draw_portrait(Sinusoidal(d=8), length=64).table.shape
    (64, 8)
    """
    size = check_length(encoding, length)
    part = describe_part(encoding, size)
    notes = [*encoding.all_notes, *([f"{part} are looked at; without --length all are"] if part else [])]
    table = read_codes(encoding, size) if isinstance(encoding, HasTable) else None
    whole = table if table is None or encoding.shape is None else _read_grid(encoding, table)
    kernel = _attempt(notes, lambda: _find_kernel(encoding, size, whole))
    spectra = _attempt(notes, lambda: _find_spectra(encoding, size, kernel)) or ()
    plane = _attempt([], lambda: compute_grid_spectrum(encoding, kernel=kernel) if encoding.shape else None)
    has_stretches = table is not None and encoding.shape is None and size >= 32
    inspection = _attempt(notes, lambda: _inspect(encoding, whole, size)) if whole is not None and size > 1 else None
    return Portrait(
        encoding=encoding,
        length=size,
        table=table,
        kernel=kernel,
        spectra=spectra,
        plane=plane,
        local=compute_local_spectra(encoding, length=size, codes=table) if has_stretches else None,
        inspection=inspection,
        **_find_biases(encoding, size),
        resized=resized,
        metrics=MappingProxyType(_measure(encoding, whole, kernel, inspection)),
        notes=tuple(dict.fromkeys(notes)),
    )


def is_given(encoding: Encoding) -> bool:
    """Whether the table is held already, for a file or a caller gave it.

    >>> from pe_spectra import GivenArray, Learned, Sinusoidal
    >>> is_given(Learned(values=GivenArray([[1.0], [2.0]]))), is_given(Sinusoidal())
    (True, False)
    """
    return isinstance(encoding, Learned) and not encoding.is_random


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
        raise InputError("--resize does not fit the encoding", "x".join(map(str, new)), accepted)
    if math.prod(new) * encoding.d > MAX_INSPECTED_NUMBERS:
        asked = f"{'x'.join(map(str, new))} x {encoding.d} columns"
        raise InputError("--resize asks for too much", asked, f"at most {MAX_INSPECTED_NUMBERS} numbers")
    codes = read_codes(encoding, size) if shape is None else read_grid_codes(encoding, shape)
    values = resize_table(
        codes, new[0] if shape is None else (new[0], new[1]), method=method, align_corners=align_corners, grid=shape
    )
    name = f"{encoding.label} resized to {'x'.join(map(str, new))}"
    given = GivenArray(values, origin=name)
    resized = Learned(values=given, grid="x".join(map(str, new)) if shape is not None else None)
    plain = Learned(values=GivenArray(codes, origin=encoding.label), grid="x".join(map(str, old)) if shape else None)
    before, after = _find_spectra(plain, None), _find_spectra(resized, None)
    aligned = align_corners and method in _ALIGNED
    scales = tuple(_find_scale(a, b, aligned) for a, b in zip(old, new, strict=True))
    beyond = tuple(_measure_beyond(spectrum, scale) for spectrum, scale in zip(after, scales, strict=True))
    return Resized(
        encoding=resized,
        method=method,
        align_corners=align_corners,
        old=old,
        new=new,
        before=before,
        after=after,
        scales=scales,
        beyond=beyond,
    )


def _find_scale(old: int, new: int, aligned: bool) -> float:
    """By how much interpolation stretches an axis: frequencies become w times it."""
    return (old - 1) / (new - 1) if aligned and new > 1 else old / new


def _measure_beyond(spectrum: Spectrum, scale: float) -> float | None:
    if scale >= 1:
        return None
    return float(np.sum(spectrum.weights[spectrum.omega > math.pi * scale]))


def _attempt(notes: list[str], find: Callable[[], Found]) -> Found | None:
    """What a view gives, or None with a note why there is none."""
    try:
        return find()
    except (InputError, UndefinedError) as error:
        notes.append(str(error))
        return None


def _read_grid(encoding: Encoding, table: F64) -> F64:
    """All rows of an encoding on a grid, special ones in front included; the table where it has them all."""
    count = encoding.rows or math.prod(encoding.shape or ())
    return table if len(table) == count else read_codes(encoding, count)


def _find_kernel(encoding: Encoding, size: int, codes: F64 | None) -> Kernel:
    if encoding.shape is not None:
        return estimate_grid_kernel(encoding, None if codes is None else codes[-math.prod(encoding.shape) :])
    return estimate_kernel(encoding, length=size, count=size, codes=codes)


def _find_spectra(encoding: Encoding, size: int | None, kernel: Kernel | None = None) -> tuple[Spectrum, ...]:
    length = None if encoding.shape is not None else size
    # a kernel that was averaged over the positions holds all lags that they have; others go on
    held = kernel if encoding.shape is not None or (kernel is not None and kernel.length == size) else None
    return tuple(compute_spectrum(encoding, length=length, axis=axis, kernel=held) for axis in list_axes(encoding))


def _inspect(encoding: Encoding, codes: F64, size: int) -> TableInspection:
    width = int(getattr(encoding, "d", 1))
    rows = MAX_INSPECTED_ROWS if encoding.shape is None else MAX_INSPECTED_PLACES
    if size > rows or width > MAX_INSPECTED_COLUMNS or size * width > MAX_INSPECTED_NUMBERS:
        raise InputError(
            "rows, seams and periods are left out, for the table is too large",
            f"{size} x {width}",
            f"{rows} rows, {MAX_INSPECTED_COLUMNS} columns, {MAX_INSPECTED_NUMBERS} numbers in all are "
            "looked at one by one; --length or --rows takes a part",
        )
    if isinstance(encoding, Learned) and (encoding.shape is None or size == encoding.rows):
        return inspect_table(
            encoding.file_rows[: encoding.prefix + size],
            grid=encoding.shape,
            prefix=encoding.prefix,
            dtype=encoding.stored_type if encoding.stored_type in _STORED else "float64",
            row_offset=encoding.first,
        )
    # a formula was not trained: what its codes are is stated, and no story of training is told
    trained = isinstance(encoding, Learned)
    if encoding.shape is None:
        return inspect_table(codes, is_trained=trained)
    prefix = len(codes) - math.prod(encoding.shape)
    return inspect_table(codes, grid=encoding.shape, prefix=prefix, is_trained=trained)


def _find_biases(encoding: Encoding, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {"lags": None, "bias": None, "bias_map": None}
    if isinstance(encoding, HasBias):
        found["lags"] = np.sort(list_places(encoding, size))
        found["bias"] = encoding.bias(found["lags"])
        found["bias_map"] = _spread_bias(encoding, size)
    elif isinstance(encoding, HasBiasMap) and encoding.heads * size * size <= _MOST_MAP:
        found["bias_map"] = encoding.bias_map(size)
    return found


def _spread_bias(encoding: HasBias, size: int) -> F64 | None:
    """The map of queries by keys that a bias of the lag makes; nan where a causal one has nothing."""
    if size * size > _MOST_MAP // 8:
        return None
    lags = np.subtract.outer(np.arange(size), np.arange(size))
    values = encoding.bias(np.arange(size)) if encoding.causal else encoding.bias(np.arange(1 - size, size))
    if not encoding.causal:
        return values[:1, lags + size - 1]
    return np.where(lags[None] >= 0, values[:1, np.maximum(lags, 0)], np.nan)


def _measure(
    encoding: Encoding, table: F64 | None, kernel: Kernel | None, inspection: TableInspection | None
) -> dict[str, float | None]:
    if table is None or table.size > MAX_INSPECTED_NUMBERS:
        return {}
    found: dict[str, float | None] = dict(inspection.metrics) if inspection is not None else {}
    codes = table if encoding.shape is None else table[-math.prod(encoding.shape) :]
    if inspection is not None and encoding.shape is None:  # what is left out there is no part of these numbers either
        first, last = (row - (encoding.origin if isinstance(encoding, Learned) else 0) for row in inspection.rows_used)
        codes = table[max(first, 0) : last]
    is_measured = kernel is not None and kernel.toeplitz_share is not None and kernel.length == len(codes)
    found["toeplitz_share"] = (
        kernel.toeplitz_share if kernel and is_measured else measure_toeplitz_share(codes, encoding.shape)
    )
    found["toeplitz_share_centred"] = measure_toeplitz_share(centre(codes), encoding.shape)
    ranks = measure_ranks(codes)
    for name in ("stable_rank", "stable_rank_centred", "effective_rank_entropy", "effective_rank_entropy_centred"):
        found[name] = getattr(ranks, name)
    return found
