"""Columns of text as a .parquet table of numbers and words, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec

from pe_spectra.errors import PeSpectraError


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
