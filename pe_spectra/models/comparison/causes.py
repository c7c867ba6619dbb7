"""Why the frequencies of one side are not those of the other: the first known way that makes them so."""

from __future__ import annotations

import itertools

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.comparison.divergence import EXACT, Cause, find_off
from pe_spectra.models.comparison.start import Start
from pe_spectra.models.comparison.ways import WAYS
from pe_spectra.models.dumps.dump import Dump
from pe_spectra.models.rotation import Rotation

#: Roundings of one side that a way may multiply.
_MULTIPLIED = 4


def find_cause(a: Rotation, b: Rotation, layer: str) -> Cause | None:
    """Name the first known way that makes the frequencies of one side from those of the other.

    What is stated goes before what was computed as the side to start from.

    Parameters
    ----------
    a, b : rotations whose frequencies differ by more than rounding. layer : type of layer.

    >>> a, b = Rotation(frequencies=np.array([1.0, 0.1])), Rotation(frequencies=np.array([0.1, 1.0]))
    >>> find_cause(a, b, "all").text
    'the pairs stand in reverse order'
    """
    if a.frequencies is None or b.frequencies is None or not len(a.frequencies) or not len(b.frequencies):
        return None
    sides = [("A", "B", a, b, _start(a, b.frequencies)), ("B", "A", b, a, _start(b, a.frequencies))]
    sides.sort(key=lambda one: isinstance(one[2], Dump))
    tried = list(itertools.product(WAYS, sides))
    if isinstance(a, Dump) != isinstance(b, Dump):  # the fault is in what was computed
        tried.sort(key=lambda one: isinstance(one[1][2], Dump))
    for way, (here, there, start, target, known) in tried:
        made = way.make(known)
        if made is not None and _fits(made, start, target) and not _fits(made, start, start):
            names = {"here": here, "there": there, "base": start.base, "label": label_scaling(start)}
            return Cause(code=way.code, text=way.words.format(**names), layers=(layer,))
    return None


def _start(side: Rotation, others: F64) -> Start:
    return Start(side, len(others), int(np.count_nonzero(others)))


def label_scaling(rotation: Rotation) -> str | None:
    """Name a scaling with its factor.

    >>> label_scaling(Rotation(scaling="linear", options={"factor": 8.0}))
    'linear x8'
    """
    factor = rotation.options.get("factor")
    if rotation.scaling is None or not isinstance(factor, int | float):
        return rotation.scaling
    return f"{rotation.scaling} x{factor:g}"


def _fits(made: F64, start: Rotation, target: Rotation) -> bool:
    """Whether frequencies that were made from one side are those of another, within the rounding of both."""
    if target.frequencies is None or len(made) != len(target.frequencies):
        return False
    bound = _MULTIPLIED * max(start.error_bound, EXACT)
    return not find_off(Rotation(frequencies=made, error_bound=bound), target).any()
