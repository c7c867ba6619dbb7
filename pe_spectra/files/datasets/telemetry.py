"""SMAP and MSL, telemetry of two spacecraft: an array for each channel, and one table of anomalies.

Format: github.com/khundman/telemanom, train/*.npy and test/*.npy (time x inputs, column 0 is the telemetry, the others
are commands), labeled_anomalies.csv with chan_id, spacecraft, anomaly_sequences, class, num_values; a sequence is its
first and its last row, counted from 0. Hundman et al. 2018, Detecting Spacecraft Anomalies Using LSTMs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import I64
from pe_spectra.files.csv_lines import split_cells, split_lines
from pe_spectra.files.datasets.recorded import NORMAL_OR_NOT, RecordedSet, Recording
from pe_spectra.files.datasets.server_machines import check_anomalies
from pe_spectra.files.reading import RefusedError, RegularFile, naming, open_regular
from pe_spectra.files.tables import read_array
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

_TABLE = "labeled_anomalies.csv"
_COLUMNS = ("chan_id", "spacecraft", "anomaly_sequences", "class", "num_values")
#: Where the folders train and test lie, beside the table, as it is published and as it is unpacked.
_PLACES = (".", "data", "data/data")
_CHANNEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_COUNT = re.compile(r"[0-9]{1,15}")
_PAIR = r"\[\s*([0-9]{1,15})\s*,\s*([0-9]{1,15})\s*\]"
_PAIRS = re.compile(rf"\[\s*(?:{_PAIR}\s*(?:,\s*{_PAIR}\s*)*)?\]")


@dataclass(frozen=True, kw_only=True)
class _Channel:
    """What the table says of a channel: (first, last) rows that are anomalous, of so many rows, and in which lines."""

    name: str
    sequences: tuple[tuple[int, int], ...]
    rows: int
    lines: tuple[int, ...]


def read_telemetry(folder: Path, spacecraft: str, *, label: str = "") -> RecordedSet:
    """Read the channels of one spacecraft: for each a part `train` without labels, and a part `test` with them.

    A channel may have several lines in the table, as P-2 of SMAP has; a row is anomalous where any of them says so.

    Parameters
    ----------
    folder : where labeled_anomalies.csv lies, beside the folders train and test or data/train and data/test.
    spacecraft : "smap" or "msl".
    label : the option that named it, for messages; may be empty.

    Raises
    ------
    FileError : a file is missing, a line of the table is damaged, an array has another number of rows than the table
        says or of columns than the others have; no row is anomalous, or none is normal.

    >>> from tempfile import TemporaryDirectory
    >>> table = "chan_id,spacecraft,anomaly_sequences,class,num_values;A-1,SMAP,'[[1, 2]]',[point],4"
    >>> with TemporaryDirectory() as folder:
    ...     for part in ("train", "test"):
    ...         (Path(folder) / part).mkdir()
    ...         np.save(Path(folder) / part / "A-1.npy", np.zeros((4, 25)))
    ...     _ = (Path(folder) / _TABLE).write_text(table.replace(";", chr(10)).replace("'", '"'))
    ...     found = read_telemetry(Path(folder), "smap")
    >>> found.recordings[1].labels.tolist(), found.channels[:2]
    ([0, 1, 1, 0], ('telemetry', 'command 1'))
    """
    with open_regular(folder / _TABLE, label=label) as file:
        channels = _read_channels(file, spacecraft.upper())
    place = next((folder / one for one in _PLACES if (folder / one / "test").is_dir()), folder)
    recordings: list[Recording] = []
    with naming(place, label):
        for channel in channels:
            recordings += _read_arrays(place, channel, label, recordings[:1])
            if sum(one.values.size for one in recordings) > MAX_HELD_ENTRIES:
                raise RefusedError(f"has too many numbers; at most {MAX_HELD_ENTRIES} are accepted")
        notes = check_anomalies(recordings)
    columns = recordings[0].values.shape[1]
    return RecordedSet(
        form=spacecraft,
        origin=str(folder),
        channels=("telemetry", *(f"command {number}" for number in range(1, columns))),
        classes=NORMAL_OR_NOT,
        recordings=tuple(recordings),
        notes=(*_note_repeated(channels), *notes, "the part train has no labels: its publishers hold it to be normal"),
    )


def _note_repeated(channels: list[_Channel]) -> Iterator[str]:
    for one in channels:
        if len(one.lines) > 1:
            lines = join([str(line) for line in one.lines])
            yield f"channel {one.name} stands in lines {lines} of {_TABLE}: their anomalies were put together"


def _read_arrays(place: Path, channel: _Channel, label: str, first: list[Recording]) -> list[Recording]:
    found: list[Recording] = []
    for part in ("train", "test"):
        path = place / part / f"{channel.name}.npy"
        values = read_array(path, label=label).values
        with naming(path, label):
            if part == "test" and len(values) != channel.rows:
                said = f"{_TABLE} says {channel.rows} (line {channel.lines[0]}, num_values)"
                raise RefusedError(f"has {count(len(values), 'row')} where {said}")
            known = next(iter([*first, *found]), None)
            if known is not None and values.shape[1] != known.values.shape[1]:
                said = f"{known.origin} has {known.values.shape[1]}"
                raise RefusedError(f"has {count(values.shape[1], 'column')} where {said}")
        labels = _mark(channel) if part == "test" else None
        found.append(Recording(name=channel.name, part=part, values=values, labels=labels, origin=str(path)))
    return found


def _mark(channel: _Channel) -> I64:
    labels = np.zeros(channel.rows, dtype=np.int64)
    for begin, end in channel.sequences:
        labels[begin : end + 1] = 1
    return labels


def _read_channels(file: RegularFile, spacecraft: str) -> list[_Channel]:
    """Read the lines of one spacecraft, those of one channel put together."""
    lines = split_lines(file, ",")
    header = [cell.strip() for cell in split_cells(next(lines, ""), 1, ",")]
    for name in _COLUMNS:
        if header.count(name) != 1:
            what = "is given twice" if name in header else "is missing"
            raise RefusedError(f"line 1: column {name} {what}; {', '.join(_COLUMNS)} are expected")
    found: dict[str, _Channel] = {}
    for number, line in enumerate(lines, start=2):
        cells = [cell.strip() for cell in split_cells(line, number, ",")]
        if cells == [""]:
            continue
        if len(cells) != len(header):
            raise RefusedError(f"line {number} has {count(len(cells), 'cell')} where {len(header)} are expected")
        row = dict(zip(header, cells, strict=True))
        if row["spacecraft"] not in ("SMAP", "MSL"):
            said = shorten(row["spacecraft"], 20) or "empty"
            raise RefusedError(f"line {number}, column spacecraft is neither SMAP nor MSL ({said})")
        if row["spacecraft"] == spacecraft:
            one = _read_channel(row, number)
            found[one.name] = _join(found[one.name], one) if one.name in found else one
    if not found:
        raise RefusedError(f"has no line of {spacecraft}")
    return list(found.values())


def _join(known: _Channel, other: _Channel) -> _Channel:
    if other.rows != known.rows:
        said = f"where line {known.lines[0]} says {known.rows} of the same channel ({known.name})"
        raise RefusedError(f"line {other.lines[0]}, column num_values is {other.rows} {said}")
    return _Channel(
        name=known.name,
        sequences=(*known.sequences, *other.sequences),
        rows=known.rows,
        lines=(*known.lines, *other.lines),
    )


def _read_channel(row: dict[str, str], number: int) -> _Channel:
    name = row["chan_id"]
    # a name becomes a part of a path
    if not _CHANNEL.fullmatch(name):
        raise RefusedError(f"line {number}, column chan_id is no name ({shorten(name, 20) or 'empty'})")
    if not _COUNT.fullmatch(row["num_values"]) or not int(row["num_values"]):
        said = shorten(row["num_values"], 20) or "empty"
        raise RefusedError(f"line {number}, column num_values is no number of rows ({said})")
    rows = int(row["num_values"])
    if not _PAIRS.fullmatch(row["anomaly_sequences"]):
        said = shorten(row["anomaly_sequences"], 40) or "empty"
        raise RefusedError(f"line {number}, column anomaly_sequences is not readable ({said}); [[FIRST, LAST], ..]")
    pairs = tuple((int(begin), int(end)) for begin, end in re.findall(_PAIR, row["anomaly_sequences"]))
    for begin, end in pairs:
        if not begin <= end < rows:
            said = f"[{begin}, {end}] of rows 0 .. {rows - 1}"
            raise RefusedError(f"line {number}, column anomaly_sequences: no such rows ({said})")
    kinds = len([kind for kind in row["class"].strip("[]").split(",") if kind.strip()])
    if kinds != len(pairs):
        said = f"names {count(kinds, 'anomaly', 'anomalies')} where anomaly_sequences has {len(pairs)}"
        raise RefusedError(f"line {number}, column class {said}")
    return _Channel(name=name, sequences=pairs, rows=rows, lines=(number,))
