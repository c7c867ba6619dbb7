"""The lines of the study, as they were written."""

from __future__ import annotations

import csv
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pe_spectra.tuples import NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PLACE = ("pe_spectra.study", "results.csv")


class Group(NamedTuple):
    """What all networks of one kind have in common."""

    task: str
    length: int
    arm: str
    norm: str


def find_study() -> Traversable | None:
    """Return the file of the study, or None where this version has none.

    >>> file = find_study()
    >>> file is None or file.name == "results.csv"
    True
    """
    from importlib import resources

    package, name = _PLACE
    file = resources.files(package).joinpath(name)
    return file if file.is_file() else None


def list_accuracies() -> Mapping[Group, Mapping[int, float]]:
    """Return the accuracy of each network by its seed, for every kind; nothing where there is no study.

    >>> all(0 <= one <= 1 for group in list_accuracies().values() for one in group.values())
    True
    """
    try:  # what finds a file of a package by its place takes three times as long to load as all the rest of this
        written = pkgutil.get_data(*_PLACE) or b""
    except FileNotFoundError:
        return {}
    found: dict[Group, dict[int, float]] = {}
    lines = written.decode("utf-8").splitlines()[1:]  # the first has the settings
    for row in csv.DictReader(lines):
        group = Group(row["task"], int(row["length"]), row["arm"], row["norm"])
        found.setdefault(group, {})[int(row["seed"])] = float(row["accuracy"])
    return found
