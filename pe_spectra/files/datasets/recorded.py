"""What a data set is: series of vectors in time with a class at each step, or cases of which each has one class."""

from __future__ import annotations

from pe_spectra.exact import F64, I64
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass

#: The classes of a set in which anomalies are marked, in the order of their numbers.
NORMAL_OR_NOT = ("normal", "anomalous")
#: The classes of a set without labels, whose windows are judged by what follows them.
RISING_OR_NOT = ("not rising", "rising")


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording(ReadOnly):
    """One series in time.

    Attributes
    ----------
    name : as the data set calls it, as in machine-1-1; unique among the recordings of a part.
    part : `train` or `test`, as it was published; `whole` where there is no such division.
    values : (T, C) float64, finite; rows follow each other in time.
    labels : (T,) the number of each row's class; None where the part has none.
    origin : the file of the values.
    """

    name: str
    part: str
    values: F64
    labels: I64 | None
    origin: str


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedSet(ReadOnly):
    """Series in time, all with the same channels.

    Attributes
    ----------
    form : the name of its form, as in smd.
    origin : the file or folder, as it was given.
    channels : (C,) names of the columns of every recording.
    classes : names of the classes by number; empty where nothing is labelled.
    recordings : in their order.
    forecast : the channel whose rise over the next window is the class of a window; empty where rows have classes.
    notes : what a reader should know, each a sentence.
    """

    form: str
    origin: str
    channels: tuple[str, ...]
    classes: tuple[str, ...]
    recordings: tuple[Recording, ...]
    forecast: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Cases(ReadOnly):
    """Series of one length, each with one class, and no order among them.

    Attributes
    ----------
    values : (N, T, C) float64; what is missing is NaN, everything else finite.
    labels : (N,) the number of each case's class.
    origin : the file.
    """

    values: F64
    labels: I64
    origin: str


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseSet(ReadOnly):
    """Cases for training and, where they were published apart, cases for the test.

    Attributes
    ----------
    form, origin, channels, classes, notes : as those of :class:`RecordedSet`.
    name : what the file calls its problem.
    train : the cases of the file whose name ends in _TRAIN, or of the only file.
    test : those of the file beside it whose name ends in _TEST; None where there is none.
    """

    form: str
    origin: str
    name: str
    channels: tuple[str, ...]
    classes: tuple[str, ...]
    train: Cases
    test: Cases | None
    notes: tuple[str, ...] = ()
