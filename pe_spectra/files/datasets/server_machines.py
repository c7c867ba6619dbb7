"""SMD, the Server Machine Dataset: a file of numbers for each machine, and one of labels.

Format: github.com/NetManAIOps/OmniAnomaly, ServerMachineDataset/{train,test,test_label}/machine-*.txt, numbers
between commas, a label 0 or 1 in each line; interpretation_label says which columns an anomaly shows in, and is not
needed. Su et al. 2019, Robust Anomaly Detection for Multivariate Time Series through Stochastic RNN.
"""

from __future__ import annotations

import re
from array import array
from itertools import chain
from pathlib import Path

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64, I64
from pe_spectra.files.arrays import Wanted
from pe_spectra.files.csv_lines import split_lines
from pe_spectra.files.csv_table import read_csv_table
from pe_spectra.files.datasets.recorded import NORMAL_OR_NOT, RecordedSet, Recording
from pe_spectra.files.reading import RefusedError, list_folder, naming, open_regular
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.wording import count

_FOLDERS = ("train", "test", "test_label")
_FOLDER = "ServerMachineDataset"
_MACHINE = re.compile(r"machine-.*\.txt")
_NUMBERS = re.compile(r"([0-9]+)")
#: How a label is written; the second by programs that hold it as a float.
_LABELS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


def read_smd(folder: Path, *, label: str = "") -> RecordedSet:
    """Read the machines of SMD: for each a part `train` without labels, and a part `test` with them.

    Parameters
    ----------
    folder : ServerMachineDataset, or the folder that holds it.
    label : the option that named it, for messages; may be empty.

    Raises
    ------
    FileError : a file is missing, has another number of lines or columns, or a cell that is no number or no label;
        no row is anomalous, or none is normal.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, text in {"train": "1,2;3,4", "test": "5,6;7,8", "test_label": "0;1"}.items():
    ...         (Path(folder) / name).mkdir()
    ...         _ = (Path(folder) / name / "machine-1-1.txt").write_text(text.replace(";", chr(10)))
    ...     found = read_smd(Path(folder))
    >>> [(one.name, one.part, one.values.shape) for one in found.recordings]
    [('machine-1-1', 'train', (2, 2)), ('machine-1-1', 'test', (2, 2))]
    >>> found.recordings[1].labels.tolist()
    [0, 1]
    """
    place = folder / _FOLDER if (folder / _FOLDER).is_dir() else folder
    names = set(chain.from_iterable(list_folder(place / part, label) for part in _FOLDERS))
    machines = sorted(filter(_MACHINE.fullmatch, names), key=_split_numbers)
    recordings: list[Recording] = []
    with naming(place, label):
        if not machines:
            raise RefusedError("has no machine-*.txt in its folders train, test and test_label")
        for name in machines:
            recordings += _read_machine(place, name, label, recordings[:1])
            if sum(one.values.size for one in recordings) > MAX_HELD_ENTRIES:
                raise RefusedError(f"has too many numbers; at most {MAX_HELD_ENTRIES} are accepted")
        notes = check_anomalies(recordings)
    channels = tuple(f"column {number}" for number in range(1, recordings[0].values.shape[1] + 1))
    return RecordedSet(
        form="smd",
        origin=str(folder),
        channels=channels,
        classes=NORMAL_OR_NOT,
        recordings=tuple(recordings),
        notes=(*notes, "the part train has no labels: its publishers hold it to be mostly normal"),
    )


def check_anomalies(recordings: list[Recording]) -> tuple[str, ...]:
    """Give notes of labelled recordings of which every row is of one class, which windows of all can bear.

    Raises
    ------
    RefusedError : so are the rows of all of them together.

    >>> one = Recording(name="a", part="test", values=np.zeros((2, 1)), labels=np.array([0, 0]), origin="a.txt")
    >>> check_anomalies([one])
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: has no row that is anomalous in its part test; both classes are needed
    """
    found = {
        one.name: {int(number) for number in np.unique(one.labels)} for one in recordings if one.labels is not None
    }
    together = set().union(*found.values())
    for number, name in enumerate(NORMAL_OR_NOT):
        if number not in together:
            raise RefusedError(f"has no row that is {name} in its part test; both classes are needed")
    alone = [(name, NORMAL_OR_NOT[min(numbers)]) for name, numbers in found.items() if len(numbers) == 1]
    return tuple(f"every row of {name} is {only}" for name, only in alone)


def _split_numbers(name: str) -> list[tuple[int, str]]:
    """Key of a name in the order of the numbers in it, so that machine-3-10 follows machine-3-9."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in _NUMBERS.split(name)]


def _read_machine(place: Path, name: str, label: str, first: list[Recording]) -> list[Recording]:
    train, test = (_read_numbers(place / part / name, label) for part in ("train", "test"))
    # all files have as many columns as the first one of the set
    expected = (first[0].values.shape[1], first[0].origin) if first else (train.shape[1], str(place / "train" / name))
    for part, values in (("train", train), ("test", test)):
        if values.shape[1] != expected[0]:
            with naming(place / part / name, label):
                raise RefusedError(f"has {count(values.shape[1], 'column')} where {expected[1]} has {expected[0]}")
    labels = _read_labels(place / "test_label" / name, label)
    if len(labels) != len(test):
        with naming(place / "test_label" / name, label):
            raise RefusedError(f"has {count(len(labels), 'line')} where {place / 'test' / name} has {len(test)}")
    stem = name.removesuffix(".txt")
    return [
        Recording(name=stem, part="train", values=train, labels=None, origin=str(place / "train" / name)),
        Recording(name=stem, part="test", values=test, labels=labels, origin=str(place / "test" / name)),
    ]


def _read_numbers(path: Path, label: str) -> F64:
    with open_regular(path, label=label) as file:
        return read_csv_table(file, Wanted(), ",").values


def _read_labels(path: Path, label: str) -> I64:
    """Read a label from each line."""
    found = array("b")
    with open_regular(path, label=label) as file:
        for number, line in enumerate(split_lines(file, ","), start=1):
            if line.strip() not in _LABELS:
                raise RefusedError(f"line {number} is neither 0 nor 1 ({shorten(line.strip(), 20) or 'empty'})")
            found.append(_LABELS[line.strip()])
    return np.array(found, dtype=np.int64)
