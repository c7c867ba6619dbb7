"""Windows of a data set with their classes, split into training, validation and test without leakage.

Series in time are cut into three stretches that follow each other, and a window lies within one of them, so that no
two parts share a step; where windows overlap, a gap keeps the last of one part and the first of the next apart. Means
and spreads by which channels are scaled are those of the training stretch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, NDArray
from pe_spectra.files.datasets.recorded import Cases, CaseSet, RecordedSet, Recording
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

PARTS = ("training", "validation", "test")
#: Of the rows of each series, or of cases that were not published in two parts.
SHARES = (0.6, 0.2, 0.2)
_LENGTH = IntegerRange(minimum=2, maximum=1 << 16)


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowPart(ReadOnly):
    """The windows of one part.

    Attributes
    ----------
    values : (N, L, C), scaled; what is missing is 0, the mean of the training rows.
    labels : (N,) the number of each window's class.
    series : (N,) of which series, or which case of its file.
    starts : (N,) its first row there.
    """

    values: F64
    labels: I64
    series: I64
    starts: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowSet(ReadOnly):
    """The windows of a data set.

    Attributes
    ----------
    origin : the file or folder.
    length, stride : rows of a window, and from one to the next; a stride of 0 where each case is a window.
    gap : rows between two parts that belong to neither.
    channels, classes : their names.
    training, validation, test : their windows.
    weights : (K,) of the classes: windows of training over K times those of the class, so that all weigh alike.
    notes : what a reader should know, each a sentence.
    """

    origin: str
    length: int
    stride: int
    gap: int
    channels: tuple[str, ...]
    classes: tuple[str, ...]
    training: WindowPart
    validation: WindowPart
    test: WindowPart
    weights: F64
    notes: tuple[str, ...]


def cut_windows(found: RecordedSet | CaseSet, *, length: int | None = None, stride: int | None = None) -> WindowSet:
    """Cut a data set into windows of three parts.

    Of series in time, those with labels are taken. With two classes a window has the second where any of its rows has
    it; with more, the class of most of its rows, of two the later one. Of a set that names a channel to forecast, a
    window has the second class where the mean of that channel over the next window, as many rows that follow it, is
    above that over its own; both lie within one part. Of cases each is a window.

    Parameters
    ----------
    found : as `read_dataset` gives it.
    length : rows of a window, from 2 on; default 32, of cases all that they have.
    stride : rows from one window to the next; default half a window.

    Raises
    ------
    InputError : no labels, windows longer than every series or than a third of it will hold, a part without windows,
        training or test with one class only.

    >>> values, labels = np.arange(40.0)[:, None], np.arange(40) // 2 % 2
    >>> one = Recording(name="a", part="whole", values=values, labels=labels, origin="a.csv")
    >>> series = RecordedSet(form="table", origin="a.csv", channels=("x",), classes=("0", "1"), recordings=(one,))
    >>> windows = cut_windows(series, length=2, stride=2)
    >>> [int(part.starts[0]) for part in (windows.training, windows.validation, windows.test)]
    [0, 24, 32]
    """
    notes: list[str] = []
    if isinstance(found, CaseSet):
        stride = gap = 0
        parts = _divide_cases(found, length)
        length = found.train.values.shape[1]
    else:
        length = _LENGTH.check(32 if length is None else length, "length")
        stride = IntegerRange(minimum=1, maximum=length).check(
            max(1, length // 2) if stride is None else stride, "stride"
        )
        gap = length - stride
        parts, notes = _divide_series(found, length, stride, gap)
    for name, part in zip(PARTS, parts, strict=True):
        notes += _check_part(name, part, found)
    counts = np.bincount(parts[0].labels, minlength=len(found.classes))
    weights = np.divide(counts.sum(), len(counts) * counts, out=np.zeros(len(counts)), where=counts > 0)
    return WindowSet(
        origin=found.origin,
        length=length,
        stride=stride,
        gap=gap,
        channels=found.channels,
        classes=found.classes,
        training=parts[0],
        validation=parts[1],
        test=parts[2],
        weights=weights,
        notes=(*found.notes, *notes),
    )


def _check_part(name: str, part: WindowPart, found: RecordedSet | CaseSet) -> list[str]:
    """Refuse a part from which nothing is learned or told; give notes of what a class lacks."""
    there = np.unique(part.labels)
    if len(there) == 1 and name != "validation":
        what = f"{found.origin}: all windows of {name} are of one class"
        accepted = "windows of two classes at least, with another length or stride"
        raise InputError(what, found.classes[there[0]], accepted)
    missing = [one for number, one in enumerate(found.classes) if number not in there]
    return [f"no window of {name} is of class {join(missing, 6, word='or')}"] if missing else []


# ------------------------------------------------------------------- series in time


def _divide_series(
    found: RecordedSet, length: int, stride: int, gap: int
) -> tuple[tuple[WindowPart, WindowPart, WindowPart], list[str]]:
    labelled = [one for one in found.recordings if found.forecast or one.labels is not None]
    if not labelled:
        raise InputError("the data set has no labels", found.origin, "table:FILE.csv with a column of them is accepted")
    rows = [_split_rows(len(one.values), gap) for one in labelled]
    span = _count_span(found, length)
    short = [one.name for one, spans in zip(labelled, rows, strict=True) if min(b - a for a, b in spans) < span]
    if len(short) == len(labelled):
        longest = max(len(one.values) for one in labelled)
        each = f"one each{', and the next one behind it' if found.forecast else ''}"
        said = f"three parts of the longest series, {count(longest, 'row')}, do not hold {each}"
        raise InputError(f"{found.origin}: windows are too long", str(length), said)
    kept = [number for number, one in enumerate(labelled) if one.name not in short]
    total = sum((b - a - span) // stride + 1 for number in kept for a, b in rows[number])
    if total * length * len(found.channels) > MAX_HELD_ENTRIES:
        raise InputError("windows have too many numbers", str(total), "fewer, with a larger stride, are accepted")
    scaled = {number: _scale(labelled[number].values, rows[number][0]) for number in kept}
    parts = [
        _join([_cut(found, labelled[k], scaled[k], k, rows[k][place], length, stride) for k in kept])
        for place in range(len(PARTS))
    ]
    notes = [f"too short for windows of {length} rows in three parts: {join(short, 6)}"] if short else []
    if found.forecast:
        told = f"the mean of {found.forecast} over the next window, in the same part, is above that over its own rows"
        notes.append(f"a window is {found.classes[1]} where {told}")
    return (parts[0], parts[1], parts[2]), notes


def _split_rows(total: int, gap: int) -> list[tuple[int, int]]:
    """Divide rows 0 .. total - 1 into three stretches (first, end), with a gap between two of them."""
    ends = [round(total * SHARES[0]), round(total * (SHARES[0] + SHARES[1])), total]
    firsts = [0, ends[0] + gap, ends[1] + gap]
    return [(first, max(first, end)) for first, end in zip(firsts, ends, strict=True)]


def _scale(values: F64, training: tuple[int, int]) -> F64:
    """Subtract the mean of each channel over the training rows and divide by its spread there, where it has one."""
    rows = values[slice(*training)]
    scaled: F64 = (values - rows.mean(axis=0)) / _find_spread(rows.std(axis=0), np.abs(rows).max(axis=0))
    return scaled


def _find_spread(spread: F64, size: F64) -> F64:
    """The spread of a channel; 1 where it has none but what rounding leaves of a constant."""
    found: F64 = np.where(spread > 1e-12 * size, spread, 1.0)
    return found


def _count_span(found: RecordedSet, length: int) -> int:
    """Count the rows by which a window is judged: its own, and those of the next one where that is forecast."""
    return 2 * length if found.forecast else length


def _cut(
    found: RecordedSet, one: Recording, scaled: F64, number: int, rows: tuple[int, int], length: int, stride: int
) -> WindowPart:
    starts = np.arange(rows[0], rows[1] - _count_span(found, length) + 1, stride)
    places = starts[:, None] + np.arange(length)
    if one.labels is None:
        labels = _look_ahead(one.values[:, found.channels.index(found.forecast)], places)
    else:
        labels = _choose_classes(one.labels[places], len(found.classes))
    return WindowPart(values=scaled[places], labels=labels, series=np.full(len(starts), number), starts=starts)


def _look_ahead(values: F64, places: I64) -> I64:
    """Tell of each window, (N, L), whether the mean of the next one is above its own; exactly."""
    sides = np.concatenate([values[places + places.shape[1]], -values[places]], axis=1)
    return np.array([math.fsum(row) > 0 for row in sides], dtype=np.int64)


def _choose_classes(labels: I64, classes: int) -> I64:
    """Give the class of each window from those of its rows, (N, L)."""
    if classes == 2:
        second: I64 = labels.max(axis=1)
        return second
    counts = np.stack([np.sum(labels == number, axis=1) for number in range(classes)], axis=1)
    most = counts == counts.max(axis=1, keepdims=True)
    # of classes with equally many rows the one that stands last
    places = np.arange(1, labels.shape[1] + 1)
    last = np.stack([np.max((labels == number) * places, axis=1) for number in range(classes)], axis=1)
    found: I64 = np.argmax(np.where(most, last, -1), axis=1)
    return found


def _join(parts: Sequence[WindowPart]) -> WindowPart:
    names = ("values", "labels", "series", "starts")
    return WindowPart(**{name: np.concatenate([getattr(one, name) for one in parts]) for name in names})


# ------------------------------------------------------------------- cases


def _divide_cases(found: CaseSet, length: int | None) -> tuple[WindowPart, WindowPart, WindowPart]:
    """Divide cases: the test as published, or every fifth of each class; of the others every fourth for validation."""
    steps = found.train.values.shape[1]
    if length is not None and length != steps:
        raise InputError("windows are not as long as the cases", str(length), f"{steps}, or none, is accepted")
    order = _rank_in_class(found.train.labels)
    is_test = order % 5 == 4 if found.test is None else np.zeros(len(order), dtype=bool)
    rank = np.where(is_test, -1, order - order // 5 if found.test is None else order)
    is_validation = rank % 4 == 3
    is_validation &= ~is_test
    training = ~(is_test | is_validation)
    known = found.train.values[training].reshape(-1, found.train.values.shape[2])
    if np.isnan(known).all(axis=0).any():
        channel = found.channels[int(np.argmax(np.isnan(known).all(axis=0)))]
        raise InputError("no case of training has a value", channel, "a channel with values is accepted")
    mean, size = np.nanmean(known, axis=0), np.nanmax(np.abs(known), axis=0)
    spread = _find_spread(np.nanstd(known, axis=0), size)

    def take(cases: Cases, chosen: NDArray[np.bool_]) -> WindowPart:
        values = np.nan_to_num((cases.values[chosen] - mean) / spread, nan=0.0)
        places = np.flatnonzero(chosen)
        return WindowPart(values=values, labels=cases.labels[chosen], series=places, starts=np.zeros_like(places))

    if found.test is None:
        tested = take(found.train, is_test)
    else:
        tested = take(found.test, np.ones(len(found.test.labels), dtype=bool))
    if not is_validation.any():
        raise InputError("there are too few cases for validation", str(len(order)), "four of a class, or more")
    if not len(tested.labels):
        raise InputError("there are too few cases for a test", str(len(order)), "five of a class, or more")
    return take(found.train, training), take(found.train, is_validation), tested


def _rank_in_class(labels: I64) -> I64:
    """Number the cases of each class in the order of the file: 0, 1, .."""
    ranks = np.zeros(len(labels), dtype=np.int64)
    for number in np.unique(labels):
        ranks[labels == number] = np.arange(np.sum(labels == number))
    return ranks
