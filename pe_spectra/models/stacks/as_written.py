"""The formulas of the catalogue's `rope` with numbers that it does not accept, as a file has them.

Modules of transformers compute with any number that a file has: a base below 1, a share above 1, a factor below 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, SupportsFloat

import numpy as np

from pe_spectra.encodings.rope_scaling import SCALINGS, Scaled
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HEAD_WIDTH
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import Written

#: Beyond it a frequency is infinite in float32, which modules have.
_LARGEST = float(np.finfo(np.float32).max)
#: The frequency of each pair and the attention factor.
_Computed = tuple[Iterable[SupportsFloat], SupportsFloat]


def compute_formula(values: Mapping[str, Any]) -> _Computed:
    """Compute the formula of `rope` with values that it does not accept.

    Raises
    ------
    InputError, ArithmeticError, TypeError, ValueError : nothing is computed with such a value.

    >>> frequencies, attention = compute_formula({"d": 4, "share": 1.0, "base": 0.25, "scaling": "none"})
    >>> [float(one) for one in frequencies]
    [1.0, 2.0]
    """
    scaling, is_whole = SCALINGS[values["scaling"]], values["scaling"] == "proportional"
    width = values["d"] if is_whole else int(values["d"] * values["share"])
    if width % 2 or width > MAX_HEAD_WIDTH:
        raise InputError("the width that is turned is odd, or too large", str(width))
    options = {key: values[key] for key in (*scaling.keys, *(("share",) if is_whole else ())) if key in values}
    if "truncate" in options:
        options["truncate"] = options["truncate"] == "yes"
    return scaling.function(values["base"], width, **options) if width else Scaled(())


def compute_with_fault(turn: Callable[[], Rotation], fault: str) -> Rotation | None:
    """Return a rotation with what is wrong with a value; None where no finite frequencies follow.

    Parameters
    ----------
    turn : computes it. fault : what is wrong with the value.

    >>> found = compute_with_fault(lambda: Rotation(frequencies=np.ones(1), attention_scaling=1.0), "base is 0.5")
    >>> found.fault, found.by_fault
    ('base is 0.5', True)
    """
    try:
        found = turn()
    except (ArithmeticError, InputError, TypeError, ValueError):  # as where a factor is nan, or 0 divides
        return None
    values, factor = found.frequencies, found.attention_scaling or 0.0
    if values is None or not (np.abs(values) <= _LARGEST).all() or not 0 < factor < math.inf:  # nan is not
        return None
    taken = any(isinstance(one, Written) for one in (found.base, *found.options.values()))
    return replace(found, fault=fault, by_fault=taken or found.rope is None)
