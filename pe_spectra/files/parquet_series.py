"""Columns of a series from a .parquet file, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.files.parquet_table import check_pyarrow
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.files.series_times import (
    MISSING,
    ONE_DATE,
    DateColumn,
    SeriesCells,
    is_named_as_time,
    read_moments,
)
from pe_spectra.limits import MAX_SERIES_ROWS


def read_parquet_columns(
    file: RegularFile, columns: Sequence[str], time: str | None
) -> tuple[dict[str, SeriesCells], tuple[str, ...]]:
    """Read the columns of a .parquet file that hold numbers or times, and name those that hold neither.

    A value that is null is NaN. Where columns are named, no other one of numbers is read. Text that begins with a
    date is read as in a text with columns.

    Raises
    ------
    PeSpectraError : pyarrow is not installed, or the file is damaged.

    >>> from contextlib import suppress
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.errors import PeSpectraError
    >>> from pe_spectra.files.parquet_table import encode_parquet
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder, suppress(PeSpectraError):
    ...     _ = (Path(folder) / "a.parquet").write_bytes(encode_parquet({"load": ["1", "2.5"], "who": ["a", "b"]}))
    ...     with open_regular(Path(folder) / "a.parquet", label="") as file:
    ...         found, left = read_parquet_columns(file, (), None)
    ...     assert (found["load"].tolist(), left) == ([1.0, 2.5], ("who",))
    """
    check_pyarrow()
    import pyarrow
    from pyarrow import parquet

    found: dict[str, SeriesCells] = {}
    try:
        table = parquet.ParquetFile(pyarrow.PythonFile(file.open_at(0), mode="r"))
        rows, names = table.metadata.num_rows, table.schema_arrow.names
        if rows > MAX_SERIES_ROWS:
            raise RefusedError(f"has {rows} rows; at most {MAX_SERIES_ROWS} are accepted")
        for name in names:
            if names.count(name) > 1:
                raise RefusedError(f"has two columns with one name ({shorten(name, 20) or 'empty'})")
            kind = table.schema_arrow.field(name).type
            is_wanted = not columns or name in columns or name == time or is_named_as_time(name)
            if not is_wanted and not _holds_times(kind):
                continue
            cells = None if pyarrow.types.is_nested(kind) else _read_cells(table.read(columns=[name]).column(0), name)
            if cells is not None:
                found[name] = cells
            elif name == time or name in columns:
                raise RefusedError(f"column {shorten(name, 40)} holds no {'times' if name == time else 'numbers'}")
    except OSError as error:
        if error.errno is None:  # pyarrow says so of what it cannot decode
            raise RefusedError("is damaged, pyarrow cannot read it") from error
        raise
    return found, tuple(name for name in names if name not in found)


def _holds_times(kind: Any) -> bool:
    """Whether cells of a type may be times that are none of numbers."""
    from pyarrow import types

    return any(holds(kind) for holds in (types.is_timestamp, types.is_date, types.is_string, types.is_dictionary))


def _read_cells(column: Any, name: str) -> SeriesCells | None:
    """The cells of a column; None where they are neither numbers nor times."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind, column = column.type, column.combine_chunks()
    if types.is_timestamp(kind) or types.is_date(kind):
        moments = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)
        return read_moments(moments.astype("datetime64[us]"), name, zoned=getattr(kind, "tz", None) is not None)
    if types.is_duration(kind):
        column = column.cast(pyarrow.duration("us"), safe=False).cast(pyarrow.int64()).cast(pyarrow.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False) / 1e6)
    if types.is_integer(kind) and not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if any(holds(kind) for holds in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)):
        return np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False))
    if types.is_string(kind) or types.is_large_string(kind):
        texts = [text or "" for text in column.to_pylist()]
        first = next((text.strip() for text in texts if text.strip().lower() not in MISSING), "")
        if ONE_DATE.fullmatch(first):
            dates = DateColumn(name)
            dates.take(texts, 1)
            return dates.finish()
    return None
