"""The portrait of one encoding: every view that it has, put together for one look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from pe_spectra.domains import count_cycles
from pe_spectra.encodings import Encoding, HasBias, HasBiasMap, HasTable
from pe_spectra.encodings.codes import describe_part, is_sampled, list_places, read_codes
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, I64
from pe_spectra.inspection import DominantPeriod, RowFinding, TableInspection, inspect_table
from pe_spectra.inspection.diagnosis import find_in_spectra
from pe_spectra.inspection.formulas import Formula
from pe_spectra.inspection.resize import Resized
from pe_spectra.limits import (
    MAX_INSPECTED_COLUMNS,
    MAX_INSPECTED_NUMBERS,
    MAX_INSPECTED_PLACES,
    MAX_INSPECTED_ROWS,
)
from pe_spectra.metrics.measures import centre
from pe_spectra.metrics.resolution import measure_ranks
from pe_spectra.precision.dtypes import STORED_TYPES
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.gram import measure_toeplitz_share
from pe_spectra.spectrum.grid_spectrum import GridSpectrum, compute_grid_spectrum
from pe_spectra.spectrum.kernels import Kernel, check_length, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.lag_window import compute_spectrum, list_axes
from pe_spectra.spectrum.periodograms import LocalSpectra, compute_local_spectra
from pe_spectra.spectrum.record import Spectrum

Found = TypeVar("Found")
#: Entries of a map that is held for the picture: heads times the square of the length.
_MOST_MAP = 1 << 24

#: What each number about a table is; those that take its Gram matrix or its singular values last.
TABLE_METRICS: Mapping[str, str] = MappingProxyType(
    {
        "rows": "Number of rows that the numbers are about.",
        "columns": "Number of columns.",
        "norm_median": "Median Euclidean norm of a row; null without such rows.",
        "norm_smallest": "Smallest norm of a row; null without such rows.",
        "norm_largest": "Largest norm of a row; null without such rows.",
        "step_median": "Median distance of neighbouring rows; null without such rows.",
        "neighbour_cosine_median": "Median cosine of neighbouring rows; null without such rows.",
        "neighbour_cosine_centred_median": "The same about the mean row; null without such rows.",
        "mean_row_share": "Share of the table's energy that lies in its mean row; null for a table of zeros.",
        "trend_share": "Share of the variance about the mean row that a straight line in each column explains; "
        "null for a constant table.",
        "trend_and_periods_share": "Share of that variance that the trend and the dominant periods explain; "
        "null for a constant table.",
        "channels_with_period": "Number of columns in which one period stands out.",
        "sinusoid_per_channel_share": "Share of the variance that one sinusoid for each column explains; "
        "null for a constant table.",
        "nearest_sinusoid_rho": "Base of the ladder of sinusoids that fits best; null where none tells anything.",
        "nearest_sinusoid_share": "Share of the energy that this ladder explains; null where none tells anything.",
        "toeplitz_share": "Share of the Gram matrix's energy that is a function of the lag, or offset, alone; "
        "null for a table of zeros.",
        "toeplitz_share_centred": "The same of the table less its column means; null for a constant table.",
        "stable_rank": "Sum of squared singular values over the largest; null for a table of zeros.",
        "stable_rank_centred": "The same of the table less its column means; null for a constant table.",
        "effective_rank_entropy": "exp of the entropy of the singular values over their sum; "
        "null for a table of zeros.",
        "effective_rank_entropy_centred": "The same of the table less its column means; null for a constant table.",
    }
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Portrait(Result):
    """The portrait of one encoding or table: every view of it.

    Beside its numbers it has a `table`, (S, d) codes; the `kernel` by lag, or by offset on a grid; `spectra`, one for a
    line, two for a grid, none where the codes are all zero; `plane`, of a grid; `local`, spectra of short stretches of
    a line; the `inspection`, what the table's rows, periods and traces say; `lags` (L,) and `bias` (heads, L);
    `bias_map` (heads, S, S), query by key, where it can be held; and `notes`. What there is not is None.

    >>> from pe_spectra import Dft
    >>> portrait = draw_portrait(Dft(d=8))
    >>> portrait.length, portrait.spectra[0].weights.round(3).tolist()
    (80, [0.125, 0.25, 0.25, 0.25, 0.125])
    """

    encoding: Encoding = quantity("The encoding that was looked at.")
    length: int = quantity("Number of positions that were looked at.", minimum=1, asked=True)
    table: F64 | None
    kernel: Kernel | None
    spectra: tuple[Spectrum, ...]
    plane: GridSpectrum | None
    local: LocalSpectra | None
    inspection: TableInspection | None
    lags: I64 | None = None
    bias: F64 | None = None
    bias_map: F64 | None = None
    notes: tuple[str, ...]

    @derived(
        "Rows [from, to) of the file that the numbers are about, without special rows and an untrained tail; null "
        "without a table, and for one that is too large.",
        minimum=0,
        column=None,
    )
    def rows_used(self) -> tuple[int, int] | None:
        return None if self.inspection is None else self.inspection.rows_used

    @derived(
        "Rows and columns of the grid that the positions fill; null for a line.",
        minimum=1,
        least=1,
        most=2,
        column=None,
    )
    def grid(self) -> tuple[int, ...] | None:
        return self.encoding.shape

    metrics: Mapping[str, float | None] = quantity(
        "Numbers about the table; empty without one.",
        schema={
            "type": "object",
            "properties": {
                name: {"type": ["number", "null"], "description": text} for name, text in TABLE_METRICS.items()
            },
            "required": [],
            "additionalProperties": False,
        },
    )

    @derived("The periods of the table, the largest share first.", column=None)
    def dominant_periods(self) -> tuple[DominantPeriod, ...]:
        return () if self.inspection is None else self.inspection.dominant_periods

    @derived(
        "Their lengths in seconds, where the time from one position to the next is known; of one that drifts, at its "
        "mean frequency.",
        unit="s",
        column=None,
        only=lambda portrait: portrait.encoding.time_step and portrait.encoding.shape is None,
    )
    def period_seconds(self) -> tuple[float, ...]:
        step = self.encoding.time_step
        if not step or self.encoding.shape is not None:
            return ()
        return tuple(86400 * one.period / count_cycles(step) for one in self.dominant_periods)

    @derived(
        "The formula of the catalogue that a table from a file is, or is near to; null where it has none, and for "
        "encodings that are formulas.",
        column=None,
    )
    def formula(self) -> Formula | None:
        return None if self.inspection is None else self.inspection.formula

    @derived("What a reader should know, single rows first, then of the spectra.", column=None)
    def findings(self) -> tuple[RowFinding, ...]:
        of_table = self.inspection.findings if self.inspection is not None else ()
        return (*of_table, *find_in_spectra(self.spectra))

    resized: Resized | None = quantity(
        "With --resize: what interpolation to another size does.",
        only=lambda portrait: portrait.resized is not None,
        column=None,
    )


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
    if inspection is not None and inspection.spacing is None:
        notes.append("positions are not evenly apart: no periods are looked for")
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


def _find_spectra(encoding: Encoding, size: int, kernel: Kernel | None) -> tuple[Spectrum, ...]:
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
            dtype=encoding.stored_type if encoding.stored_type in STORED_TYPES else "float64",
            row_offset=encoding.first,
        )
    prefix = 0 if encoding.shape is None else len(codes) - math.prod(encoding.shape)
    # a formula was not trained: what its codes are is stated, and no story of training is told
    trained, spacing = isinstance(encoding, Learned), _find_spacing(encoding)
    return inspect_table(codes, grid=encoding.shape, prefix=prefix, is_trained=trained, spacing=spacing)


def _find_spacing(encoding: Encoding) -> float | None:
    """Positions from row to row; None where they are not evenly apart."""
    if not is_sampled(encoding):
        return 1.0
    steps = np.diff(encoding.positions)
    step = float(np.mean(steps))
    # what is left of a step after the subtraction of positions that were rounded
    rounding = 4 * float(np.spacing(np.abs(encoding.positions).max()))
    return abs(step) if step and float(np.abs(steps - step).max()) <= rounding else None


def _find_biases(encoding: Encoding, size: int) -> dict[str, Any]:
    if isinstance(encoding, HasBias):
        lags = np.sort(list_places(encoding, size))
        return {"lags": lags, "bias": encoding.bias(lags), "bias_map": _spread_bias(encoding, size)}
    if isinstance(encoding, HasBiasMap) and encoding.kernel_count * size * size <= _MOST_MAP:
        return {"bias_map": encoding.bias_map(size)}
    return {}


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
    return found | {name: getattr(ranks, name) for name in ranks.quantities()}
