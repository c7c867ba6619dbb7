"""Files of the UCR and UEA archives (.ts): a header of lines that begin with @, then a case in each line.

Format: www.timeseriesclassification.com; aeon-toolkit.org, .ts File Format. Values of a channel stand between commas,
channels between colons, the class behind the last colon; a question mark stands for a value that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.exact import F64
from pe_spectra.files.csv_lines import NUMBER, split_lines
from pe_spectra.files.csv_table import ONE_NUMBER
from pe_spectra.files.datasets.recorded import Cases, CaseSet
from pe_spectra.files.reading import RefusedError, RegularFile, naming, open_regular
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

_SERIES = re.compile(rf"{NUMBER}(?:,{NUMBER})*+")
_MISSING = ("?", "nan")
_PARTS = re.compile(r"(?P<stem>.*)_(?P<part>TRAIN|TEST)")
_YES_OR_NO = {"true": True, "false": False}
_SIZE = re.compile(r"[0-9]{1,9}")
#: What a header must have, and all that it may have.
_NEEDED = ("problemname", "classlabel")
_FLAGS = ("timestamps", "missing", "univariate", "equallength")
_SIZES = ("dimensions", "dimension", "serieslength")
_KNOWN = (*_NEEDED, *_FLAGS, *_SIZES, "targetlabel")


@dataclass(frozen=True, kw_only=True)
class _Header:
    """What the lines with @ say: name, classes, numbers of channels and of steps (0 where they do not say)."""

    name: str
    classes: tuple[str, ...]
    channels: int
    steps: int


def read_ts(path: Path, *, label: str = "") -> CaseSet:
    """Read a .ts file; where its name ends in _TRAIN or _TEST and the other lies beside it, both.

    Parameters
    ----------
    path : the file.
    label : the option that named it, for messages; may be empty.

    Raises
    ------
    FileError : a line of the header that is missing, twice or not readable, time stamps, a target in place of classes,
        a value that is no number, series of different lengths, a class that the header does not name, one class only;
        two parts that do not fit each other.

    >>> from tempfile import TemporaryDirectory
    >>> text = "@problemName Steps;@univariate true;@classLabel true up down;@data;1,2,3:up;3,?,1:down"
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "Steps.ts").write_text(text.replace(";", chr(10)))
    ...     found = read_ts(Path(folder) / "Steps.ts")
    >>> found.train.values[1, :, 0].tolist(), found.train.labels.tolist(), found.classes
    ([3.0, nan, 1.0], [0, 1], ('up', 'down'))
    """
    parts = {path: _read(path, label)}
    match = _PARTS.fullmatch(path.stem)
    places = [path]
    if match is not None:
        both = [path.with_name(f"{match['stem']}_{part}{path.suffix}") for part in ("TRAIN", "TEST")]
        if all(place.exists() for place in both):
            places = both
            parts |= {place: _read(place, label) for place in both if place != path}
    header, train = parts[places[0]]
    notes = []
    if len(places) > 1:
        _compare_parts(header, train, places[1], *parts[places[1]], label=label)
    elif match is not None:
        notes.append(f"the other part of {path.name} does not lie beside it")
    found = [parts[place][1] for place in places]
    if lost := sum(int(np.isnan(one.values).sum()) for one in found):
        total = sum(one.values.size for one in found)
        notes.append(f"{count(lost, 'value')} of {total:,} {'is' if lost == 1 else 'are'} missing")
    return CaseSet(
        form="ucr",
        origin=str(path),
        name=header.name,
        channels=tuple(f"channel {number}" for number in range(1, train.values.shape[2] + 1)),
        classes=header.classes,
        train=train,
        test=found[1] if len(found) > 1 else None,
        notes=tuple(notes),
    )


def _compare_parts(header: _Header, train: Cases, path: Path, other: _Header, test: Cases, *, label: str) -> None:
    with naming(path, label):
        if other.classes != header.classes:
            said = f"has the classes {join(other.classes, 6)} where {train.origin} has {join(header.classes, 6)}"
            raise RefusedError(shorten(said, 300))
        if test.values.shape[1:] != train.values.shape[1:]:
            steps, channels = test.values.shape[1:]
            known = f"{train.origin} has {train.values.shape[1]} and {train.values.shape[2]}"
            raise RefusedError(f"has {count(steps, 'step')} and {count(channels, 'channel')} where {known}")


def _read(path: Path, label: str) -> tuple[_Header, Cases]:
    with open_regular(path, label=label) as file:
        lines = enumerate(split_lines(file, ":"), start=1)
        header = _read_header(lines)
        return header, _read_cases(file, lines, header)


def _read_header(lines: Iterator[tuple[int, str]]) -> _Header:
    said: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.startswith("@"):
            raise RefusedError(f"line {number} stands before @data and does not begin with @ or #")
        key, _, value = text[1:].partition(" ")
        key = key.lower()
        if key == "data":
            return _check_header(said, number)
        if key in said:
            raise RefusedError(f"line {number} gives @{shorten(key, 20)} a second time (line {said[key][0]})")
        if key in _KNOWN:
            said[key] = number, value.strip()
    raise RefusedError("has no line @data")


def _check_header(found: Mapping[str, tuple[int, str]], end: int) -> _Header:
    if "targetlabel" in found:
        raise RefusedError(f"line {found['targetlabel'][0]}: @targetLabel is of regression; @classLabel is accepted")
    for key, shown in zip(_NEEDED, ("@problemName", "@classLabel"), strict=True):
        if key not in found:
            raise RefusedError(f"has no line {shown} before @data (line {end})")
    flags = {key: _read_flag(key, *found[key]) for key in _FLAGS if key in found}
    if flags.get("timestamps"):
        raise RefusedError(f"line {found['timestamps'][0]}: @timestamps true; values without times are accepted")
    if flags.get("equallength") is False:
        raise RefusedError(f"line {found['equallength'][0]}: @equallength false; series of one length are accepted")
    sizes = {key: _read_size(key, *found[key]) for key in _SIZES if key in found}
    channels = sizes.get("dimensions", sizes.get("dimension", 0))
    if flags.get("univariate"):
        if channels > 1:
            raise RefusedError(f"line {found['univariate'][0]}: @univariate true, but {channels} dimensions")
        channels = 1
    number, value = found["classlabel"]
    said, *classes = value.split() or [""]
    if _YES_OR_NO.get(said.lower()) is not True or len(set(classes)) < max(len(classes), 1):
        raise RefusedError(f"line {number}: @classlabel is not true with classes, each once ({shorten(value, 40)})")
    name = found["problemname"][1]
    return _Header(name=name, classes=tuple(classes), channels=channels, steps=sizes.get("serieslength", 0))


def _read_flag(key: str, number: int, value: str) -> bool:
    if value.lower() not in _YES_OR_NO:
        raise RefusedError(f"line {number}: @{key} is neither true nor false ({shorten(value, 20) or 'empty'})")
    return _YES_OR_NO[value.lower()]


def _read_size(key: str, number: int, value: str) -> int:
    if not _SIZE.fullmatch(value) or not int(value):
        raise RefusedError(f"line {number}: @{key} is no integer from 1 on ({shorten(value, 20) or 'empty'})")
    return int(value)


def _read_cases(file: RegularFile, lines: Iterator[tuple[int, str]], header: _Header) -> Cases:
    """Read the lines behind @data; all have the shape of the first, which the header may say, too."""
    values: list[F64] = []
    labels: list[int] = []
    shape, known = (header.channels, header.steps), "the header says"
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        *series, name = line.strip().split(":")
        if not series:
            raise RefusedError(f"line {number} has no colon; values and a class behind it are expected")
        if name.strip() not in header.classes:
            said = shorten(name.strip(), 20) or "empty"
            raise RefusedError(f"line {number}: no class of @classLabel ({said}); {join(header.classes, 6)} are")
        case = [_read_series(one, number, place) for place, one in enumerate(series, start=1)]
        _check_case(case, number, shape, known)
        if not values:
            shape, known = (len(case), len(case[0])), f"line {number} has"
        values.append(np.stack(case, axis=1))
        labels.append(header.classes.index(name.strip()))
        if len(values) * values[0].size > MAX_HELD_ENTRIES:
            raise RefusedError(f"has too many numbers; at most {MAX_HELD_ENTRIES} are accepted")
    if not values:
        raise RefusedError("has no case behind @data")
    if len(set(labels)) == 1:
        raise RefusedError(f"has cases of one class only ({header.classes[labels[0]]})")
    return Cases(values=np.stack(values), labels=np.array(labels, dtype=np.int64), origin=str(file.path))


def _check_case(case: list[F64], number: int, shape: tuple[int, int], known: str) -> None:
    channels, steps = shape
    if channels and len(case) != channels:
        raise RefusedError(f"line {number} has {count(len(case), 'channel')} where {known} {channels}")
    for place, one in enumerate(case, start=1):
        if len(one) != (steps or len(case[0])):
            what = f"line {number}, channel {place} has {count(len(one), 'value')}"
            said = f"{known} {steps}" if steps else f"channel 1 has {len(case[0])}"
            raise RefusedError(f"{what} where {said}")


def _read_series(text: str, number: int, channel: int) -> F64:
    """Read the values of one channel."""
    text = text.strip()
    if not _SERIES.fullmatch(text):
        cells = [cell.strip() for cell in text.split(",")]
        for place, cell in enumerate(cells, start=1):
            if cell.lower() not in _MISSING and not ONE_NUMBER.fullmatch(cell):
                said = f"is neither a number nor ? ({shorten(cell, 20) or 'empty'})"
                raise RefusedError(f"line {number}, channel {channel}, value {place} {said}")
        text = ",".join("nan" if cell == "?" else cell for cell in cells)
    found: F64 = np.array([float(cell) for cell in text.split(",")])
    if np.isinf(found).any():
        place = int(np.flatnonzero(np.isinf(found))[0]) + 1
        raise RefusedError(f"line {number}, channel {channel}, value {place} is no finite number")
    return found
