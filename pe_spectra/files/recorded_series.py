"""Series that somebody recorded: values and the times that they are of, from text, .npy, .npz and .parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64, NDArray
from pe_spectra.files.reading import RefusedError, RegularFile, open_regular
from pe_spectra.files.series_text import holds_times, read_text_columns
from pe_spectra.files.series_times import (
    NumberUnit,
    ReadTimes,
    SeriesCells,
    may_be_times,
    read_dates,
    read_number_times,
)
from pe_spectra.limits import MAX_SERIES_COLUMNS, MAX_SERIES_ROWS
from pe_spectra.records import dataclass
from pe_spectra.wording import join

_TEXTS = (".csv", ".tsv", ".txt")
#: Names of columns that a message lists.
_LISTED = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedSeries:
    """The columns of a file, in its order.

    Attributes
    ----------
    columns : name -> (R,) values; NaN where there is none. rows : R of the file.
    times : of the rows, where the file has any; rows without a time are left out of `columns` already.
    timed : the name of the column of times. notes : what a reader should know.
    """

    columns: Mapping[str, F64]
    rows: int
    times: ReadTimes | None
    timed: str | None
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> dict[str, Any]:
        """What is known of the times, as their description takes it; rows are their own times where there are none."""
        if self.times is None:
            return {"times": np.arange(self.rows, dtype=np.float64)}
        return {
            "times": self.times.seconds,
            "rows": self.rows,
            "origin": self.times.origin,
            "shifts": self.times.shifts,
            "timeless": self.rows - len(self.times.rows),
            "unit": self.times.unit,
        }


def read_series(
    path: Path,
    *,
    columns: Sequence[str] = (),
    time: str | None = None,
    unit: NumberUnit | None = None,
    label: str = "",
) -> RecordedSeries:
    """Read a series from a file: all columns of numbers, or those that are named.

    Parameters
    ----------
    path : a text with separated columns, .npy, .npz, or .parquet where pyarrow is installed.
    columns : names of those to read; none for all of numbers. time : the name of the column of times; None for the
        first that holds dates or is called as such columns are.
    unit : of times that are numbers, and of rows where there are none; None for one that is not known.
    label : the option that named the file, for messages; may be empty.

    Raises
    ------
    FileError : the file cannot be read, or has no such column; one line that names it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("date,load;2024-01-01,1;2024-01-02,".replace(";", chr(10)))
    ...     found = read_series(Path(folder) / "a.csv")
    >>> found.timed, found.columns["load"].tolist(), found.times.seconds.tolist()
    ('date', [1.0, nan], [0.0, 86400.0])
    """
    with open_regular(path, label=label) as file:
        if file.size == 0:
            raise RefusedError("is empty (0 bytes)")
        suffix = path.suffix.lower()
        if suffix in _TEXTS:
            found, left = read_text_columns(file, columns, time)
            return _join(found, time, columns, left, unit=unit)
        if suffix == ".parquet":
            from pe_spectra.files.parquet_series import read_parquet_columns

            found, others = read_parquet_columns(file, columns, time)
            return _join(found, time, columns, dict.fromkeys(others, ""), unit=unit)
        if suffix in (".npy", ".npz"):
            return _join(_read_arrays(file, suffix), time, columns, unit=unit)
        raise RefusedError(
            "is no kind of file that a series is read from; .csv, .tsv, .txt, .npy, .npz and .parquet are"
        )


def is_series(path: Path) -> bool:
    """Whether a file can be nothing else than a series: .parquet, or a text with a date in one of its first two lines.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("2024-01-01,5")
    ...     _ = (Path(folder) / "b.csv").write_text("1,5")
    ...     is_series(Path(folder) / "a.csv"), is_series(Path(folder) / "b.csv"), is_series(Path(folder))
    (True, False, False)
    """
    suffix = path.suffix.lower()
    if suffix not in _TEXTS or not path.is_file():
        return suffix == ".parquet" and path.is_file()
    with open_regular(path, label="") as file:
        return holds_times(file)


def _read_arrays(file: RegularFile, suffix: str) -> Mapping[str, SeriesCells]:
    """The columns of an array, numbered where it has several, or the arrays of an archive by their names."""
    from pe_spectra.files.arrays import Wanted
    from pe_spectra.files.numpy_files import Npz, read_npy

    wanted = Wanted(axes=(1, 2), missing_too=True, dates_too=True)
    if suffix == ".npz":
        archive = Npz(file)
        arrays = {name: archive.read(name, wanted).values for name in archive.names}
    else:
        arrays = {"value": read_npy(file, wanted).values}
    found: dict[str, SeriesCells] = {}
    for name, values in arrays.items():
        if values.ndim == 1:
            found[name] = _take(values, name)
            continue
        places = range(min(values.shape[1], MAX_SERIES_COLUMNS + 2))
        found |= {f"{name}{place}": _take(values[:, place], f"{name}{place}") for place in places}
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) > 1:
        raise RefusedError(f"has arrays of different lengths ({join(sorted(map(str, lengths)), 4)}); one is accepted")
    return found


def _take(cells: NDArray[Any], name: str) -> SeriesCells:
    """Numbers as they are, and dates as times."""
    return read_dates(cells, name) if cells.dtype.kind == "M" else cells


def _join(
    found: Mapping[str, SeriesCells],
    time: str | None,
    columns: Sequence[str],
    cells: Mapping[str, str] | None = None,
    *,
    unit: NumberUnit | None,
) -> RecordedSeries:
    """Settle which column holds the times, and leave out the rows that have none.

    `cells` : the first one of columns that hold neither times nor numbers.
    """
    others = cells or {}
    for name in (*columns, *([time] if time is not None else [])):
        if name not in found:
            raise RefusedError(f"has no column {shorten(name, 40)}; it has {_list_names([*found, *others])}")
    timed = time if time is not None else _find_timed(found)
    held = None if timed is None else found[timed]
    times = read_number_times(held, shorten(timed or ""), unit) if isinstance(held, np.ndarray) else held
    if isinstance(held, ReadTimes) and unit is not None:
        raise RefusedError(f"has dates in column {shorten(timed or '', 40)}; --time-unit goes with numbers")
    kept = {name: cells for name, cells in found.items() if name != timed and (not columns or name in columns)}
    values = {name: cells.astype(np.float64) for name, cells in kept.items() if isinstance(cells, np.ndarray)}
    left = [
        name for name in (*others, *(name for name in kept if name not in values)) if not columns or name in columns
    ]
    told = join(
        [shorten(one, 30) + (f" ({shorten(others[one], 20)})" if others.get(one) else "") for one in left], _LISTED
    )
    if not values or (columns and left):
        words = f"; without numbers: {told}" if left else ""
        raise RefusedError(f"has no numbers beside its times{words}")
    if len(values) > MAX_SERIES_COLUMNS:
        raise RefusedError(f"has {len(values)} columns of numbers; --column chooses at most {MAX_SERIES_COLUMNS}")
    rows = len(next(iter(values.values())))
    if rows > MAX_SERIES_ROWS:
        raise RefusedError(f"has {rows} rows; at most {MAX_SERIES_ROWS} are accepted")
    if times is not None and len(times.rows) < rows:
        values = {name: column[times.rows] for name, column in values.items()}
    notes = times.notes if times is not None else ("no column of times was found: rows count as evenly spaced",)
    if times is None and unit is not None:
        times = read_number_times(np.arange(rows), "", unit)
    if left and not columns:
        notes = (*notes, f"left out, for they hold no numbers: {told}")
    return RecordedSeries(columns=values, rows=rows, times=times, timed=timed, notes=notes)


def _list_names(names: Sequence[str]) -> str:
    return join([shorten(one, 30) for one in names], _LISTED)


def _find_timed(found: Mapping[str, SeriesCells]) -> str | None:
    dated = [name for name, values in found.items() if not isinstance(values, np.ndarray)]
    numbers = {name: values for name, values in found.items() if isinstance(values, np.ndarray)}
    named = [name for name, values in numbers.items() if may_be_times(name, values)] if len(found) > 1 else []
    return next(iter((*dated, *named)), None)
