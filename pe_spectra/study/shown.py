"""Where the study shows an encoding to be learned better, or worse, than the sinusoidal one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pe_spectra.records import NamedTuple
from pe_spectra.study.lines import Group, list_accuracies
from pe_spectra.study.statistics import compute_sign_flip_p, correct_by_holm
from pe_spectra.vocabulary import NORMS

#: What all others are compared with, at its own norm; the tasks that no network without positions learns.
REFERENCE = "sinusoidal"
NEEDING = ("where", "lag", "period", "order", "trend-change", "anomaly")
#: Corrected p below which a difference is shown.
LEVEL = 0.05


class Shown(NamedTuple):
    """In how many of so many comparisons of task and length an encoding is shown to be better, and worse."""

    better: int
    worse: int
    comparisons: int


def find_shown(arm: str) -> Shown | None:
    """Return what the study shows of an encoding at the norm of the sinusoid; None where it has not trained it.

    What is not added to tokens, or has that norm by itself, was trained at its own.

    >>> find_shown("periods") is None
    True
    """
    found = _list_shown()
    return next((found[arm, norm] for norm in reversed(NORMS) if (arm, norm) in found), None)


@cache
def _list_shown() -> Mapping[tuple[str, str], Shown]:
    """Of every encoding and norm; p is corrected as the report on the study does, over all of one task and length."""
    accuracies = list_accuracies()
    families: dict[tuple[str, int, str], list[tuple[str, float, float]]] = {}
    for group, runs in accuracies.items():
        other = accuracies.get(Group(group.task, group.length, REFERENCE, NORMS[0]), {})
        differences = [runs[seed] - other[seed] for seed in sorted(runs.keys() & other.keys())]
        if group.arm != REFERENCE and differences:
            one = (group.arm, sum(differences), compute_sign_flip_p(differences)[0])
            families.setdefault((group.task, group.length, group.norm), []).append(one)
    found: dict[tuple[str, str], Shown] = {}
    for (task, _, norm), family in families.items():
        ps = correct_by_holm([p for *_, p in family])
        for (arm, difference, _), p in zip(family, ps, strict=True):
            if task in NEEDING:
                is_shown = p is not None and p < LEVEL
                better, worse, total = found.get((arm, norm), Shown(0, 0, 0))
                better, worse = better + (is_shown and difference > 0), worse + (is_shown and difference < 0)
                found[arm, norm] = Shown(better, worse, total + 1)
    return found
