"""In how many comparisons of the study an encoding is shown to be learned better or worse than the sinusoidal one."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra.study.lines import Group, list_accuracies
from pe_spectra.study.shown import Shown
from pe_spectra.study.statistics import compute_sign_flip_p, correct_by_holm
from pe_spectra.vocabulary import NORMS

#: What all others are compared with, at its own norm; the tasks that no network without positions learns.
REFERENCE = "sinusoidal"
NEEDING = ("where", "lag", "period", "order", "trend-change", "anomaly")
#: Corrected p below which a difference is shown.
LEVEL = 0.05


def count_shown() -> Mapping[tuple[str, str], Shown]:
    """Count for every encoding and norm; p is corrected as the report does, over all of one task and length.

    >>> count_shown()["dft", "own"]
    Shown(better=0, worse=5, comparisons=12)
    """
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
