"""Positions from a column of a file: numbers, or times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64, I64
from pe_spectra.files.reading import RefusedError, RegularFile, open_regular
from pe_spectra.files.series_text import holds_times, read_text_columns
from pe_spectra.files.series_times import ReadTimes, SeriesCells
from pe_spectra.files.tables import read_array
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.records import dataclass
from pe_spectra.wording import join

#: Kinds of files that positions are read from.
POSITION_FILES = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz", ".safetensors")
_TEXTS = (".csv", ".tsv", ".txt")
_MICROSECONDS = 10**6
#: Names of columns that a message lists.
_LISTED = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadPositions:
    """What a column holds.

    Attributes
    ----------
    numbers : (S,) real positions, or as an array has them; None of times.
    moments : (S,) ascending microseconds since 1970; None of numbers. zoned : whether they are in UTC for a zone.
    """

    numbers: F64 | None = None
    moments: I64 | None = None
    zoned: bool = False


def read_position_file(path: Path, column: str | None, *, label: str) -> ReadPositions:
    """Read positions from a file: its only column of times or of numbers, or the one that is named.

    Parameters
    ----------
    path : one of `POSITION_FILES`; .parquet where pyarrow is installed.
    column : its name, or that of an array of a .npz or .safetensors; None for the only one that there is.
    label : the option that named the file, for messages.

    Raises
    ------
    FileError : the file cannot be read, or has no such column; times that are missing, repeated or out of order.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("date,load@1970-01-01,5@1970-01-02,7".replace("@", chr(10)))
    ...     found = read_position_file(Path(folder) / "a.csv", None, label="")
    ...     read_position_file(Path(folder) / "a.csv", "load", label="").numbers, found.moments.tolist()
    (array([5., 7.]), [0, 86400000000])
    """
    suffix = path.suffix.lower()
    if suffix in _TEXTS or suffix == ".parquet":
        with open_regular(path, label=label) as file:
            if file.size == 0:
                raise RefusedError("is empty (0 bytes)")
            if suffix in (".txt", ".parquet") or column is not None or holds_times(file):
                return _take(_read_columns(file, suffix, column), column)
    return ReadPositions(numbers=read_array(path, column, label=label, axes=(1, 2)).values)


def _read_columns(file: RegularFile, suffix: str, column: str | None) -> Mapping[str, SeriesCells]:
    if suffix == ".parquet":
        from pe_spectra.files.parquet_series import read_parquet_columns

        return read_parquet_columns(file, () if column is None else (column,), None)[0]
    return read_text_columns(file, () if column is None else (column,), column)[0]


def _take(found: Mapping[str, SeriesCells], column: str | None) -> ReadPositions:
    """Take the column that is named, the only one with times, or the only one of numbers."""
    if column is not None and column not in found:
        raise RefusedError(f"has no column {shorten(column, 40)} of numbers or times; it has {_list(found)}")
    dated = [name for name, cells in found.items() if isinstance(cells, ReadTimes)]
    offered = dated or list(found)
    if column is None and len(offered) != 1:
        have = f"has {len(offered)} columns {'of times' if dated else 'of numbers'} ({_list(offered)})"
        raise RefusedError(f"{have}; FILE::COLUMN names one" if offered else "has no column of numbers or times")
    name = offered[0] if column is None else column
    cells = found[name]
    if isinstance(cells, ReadTimes):
        return _order(cells, name)
    if len(cells) > MAX_LENGTH:
        raise RefusedError(f"has {len(cells)} rows; at most {MAX_LENGTH} are accepted")
    missing = np.flatnonzero(~np.isfinite(cells))
    if len(missing):
        raise RefusedError(
            f"column {shorten(name, 40)} has no number in row {missing[0] + 1} of those below its header"
        )
    return ReadPositions(numbers=cells.astype(np.float64))


def _order(times: ReadTimes, name: str) -> ReadPositions:
    """Refuse times that are missing, repeated or out of order: each is a position, and they are counted as they are."""
    rows = len(times.rows)
    if rows > MAX_LENGTH:
        raise RefusedError(f"has {rows} times; at most {MAX_LENGTH} are accepted")
    where = f"column {shorten(name, 40)}"
    if times.missing:
        gaps = np.flatnonzero(times.rows != np.arange(rows))
        row = int(gaps[0]) + 1 if len(gaps) else rows + 1
        raise RefusedError(f"{where} has no time in row {row} of those below its header")
    # whole seconds are exact in float64, microseconds beside them nearly so
    whole = np.floor(times.seconds)
    parts = np.rint((times.seconds - whole) * _MICROSECONDS).astype(np.int64)
    first = 0 if times.origin is None else int(times.origin.astype("datetime64[us]").astype(np.int64))
    moments = first + whole.astype(np.int64) * _MICROSECONDS + parts
    falls = np.flatnonzero(np.diff(moments) <= 0)[:1]
    if len(falls):
        before, after = (_write(moments[place]) for place in (falls[0], falls[0] + 1))
        said = f"again {after}" if before == after else f"{after} after {before}"
        raise RefusedError(f"{where} has {said} (row {falls[0] + 2}); ascending times, each once, are accepted")
    return ReadPositions(moments=moments, zoned=times.zoned)


def _write(moment: int) -> str:
    return str(np.datetime64(int(moment), "us")).replace("T", " ").removesuffix(".000000").removesuffix(":00")


def _list(names: Iterable[str]) -> str:
    return join([shorten(one, 30) for one in names], _LISTED) or "none"
