"""Columns of text as a .parquet table of numbers and words, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pe_spectra.errors import PeSpectraError

if TYPE_CHECKING:
    from pe_spectra.files.reading import RegularFile
    from pe_spectra.files.series_times import SeriesCells


def check_pyarrow() -> None:
    """Refuse to begin where pyarrow is missing.

    Raises
    ------
    PeSpectraError : with what installs it.

    >>> from contextlib import suppress
    >>> with suppress(PeSpectraError):
    ...     check_pyarrow()
    """
    if find_spec("pyarrow") is None:
        raise PeSpectraError("a .parquet file needs pyarrow; pip install pyarrow installs it, and .csv needs nothing")


def read_column(cells: Sequence[str]) -> list[int | float | str | None]:
    """Read the cells of a column as integers, else as numbers, else as text; an empty one is None.

    >>> read_column(["1", ""]), read_column(["1", "2.5"]), read_column(["1", "a"])
    ([1, None], [1.0, 2.5], ['1', 'a'])
    """
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(cell) if cell else None for cell in cells]
    return [cell or None for cell in cells]


def read_parquet_columns(file: RegularFile) -> dict[str, SeriesCells]:
    """Read the columns of a .parquet file that hold numbers or times; a value that is null is NaN.

    Raises
    ------
    PeSpectraError : pyarrow is not installed.

    >>> from contextlib import suppress
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder, suppress(PeSpectraError):
    ...     _ = (Path(folder) / "a.parquet").write_bytes(encode_parquet({"load": ["1", "2.5"]}))
    ...     with open_regular(Path(folder) / "a.parquet", label="") as file:
    ...         assert read_parquet_columns(file)["load"].tolist() == [1.0, 2.5]
    """
    check_pyarrow()
    import pyarrow
    from pyarrow import parquet

    from pe_spectra.files.series_times import read_moments

    found: dict[str, SeriesCells] = {}
    table = parquet.ParquetFile(pyarrow.PythonFile(file.open_at(0), mode="r"))
    for field in table.schema_arrow:
        kind = field.type
        if not (pyarrow.types.is_temporal(kind) or pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
            continue
        column = table.read(columns=[field.name]).column(0).combine_chunks()
        if pyarrow.types.is_temporal(kind):
            moments = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)
            zoned = getattr(kind, "tz", None) is not None
            found[field.name] = read_moments(moments.astype("datetime64[us]"), field.name, zoned=zoned)
        elif pyarrow.types.is_integer(kind) and not column.null_count:
            found[field.name] = column.to_numpy(zero_copy_only=False)
        else:
            found[field.name] = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    return found


def encode_parquet(columns: Mapping[str, Sequence[str]]) -> bytes:
    """Return columns of text as a .parquet file.

    Raises
    ------
    PeSpectraError : pyarrow is not installed.

    >>> from contextlib import suppress
    >>> with suppress(PeSpectraError):
    ...     assert encode_parquet({"d": ["4", "8"]})[:4] == b"PAR1"
    """
    check_pyarrow()
    import pyarrow
    from pyarrow import parquet

    stream = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({name: read_column(cells) for name, cells in columns.items()}), stream)
    data: bytes = stream.getvalue().to_pybytes()
    return data
