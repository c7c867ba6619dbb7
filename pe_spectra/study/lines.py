"""The lines of the study, as they were written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pe_spectra.records import NamedTuple


class Group(NamedTuple):
    """What all networks of one kind have in common."""

    task: str
    length: int
    arm: str
    norm: str


def find_study() -> Path | None:
    """Return the file of the study, or None where this version has none.

    >>> file = find_study()
    >>> file is None or file.name == "results.csv"
    True
    """
    file = Path(__file__).with_name("results.csv")
    return file if file.is_file() else None


def list_accuracies() -> Mapping[Group, Mapping[int, float]]:
    """Return the accuracy of each network by its seed, for every kind; nothing where there is no study.

    >>> all(0 <= one <= 1 for group in list_accuracies().values() for one in group.values())
    True
    """
    import csv

    file = find_study()
    found: dict[Group, dict[int, float]] = {}
    if file is not None:
        lines = file.read_text(encoding="utf-8").splitlines()[1:]  # the first has the settings
        for row in csv.DictReader(lines):
            group = Group(row["task"], int(row["length"]), row["arm"], row["norm"])
            found.setdefault(group, {})[int(row["seed"])] = float(row["accuracy"])
    return found
