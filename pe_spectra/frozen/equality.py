"""When two values that were frozen count as equal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Difference of two values of a metric, relative or absolute, that roundings of the steps on the way to it explain.
_METRIC = 1e-7


def are_equal(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two values are equal, numbers within a relative difference; what is empty is as if it were not there.

    >>> are_equal(np.array([1.0]), np.array([1 + 2**-52]), 2**-52), are_equal(1.0, 1 + 2**-52, 0.0)
    (True, False)
    >>> are_equal((), None, 0.0), are_equal(0, None, 0.0)
    (True, False)
    """
    if not holds(a) or not holds(b):
        return holds(a) == holds(b)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool((np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))).all())
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= tolerance * max(abs(a), abs(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(are_equal(one, other, tolerance) for one, other in zip(a, b, strict=True))
    return bool(a == b)


def holds(value: Any) -> bool:
    """Whether something is there: not null, not false, not empty.

    >>> holds(0), holds(()), holds(False)
    (True, False, False)
    """
    return value is not None and value is not False and not (hasattr(value, "__len__") and len(value) == 0)


def is_rounding(a: Any, b: Any) -> bool:
    """Whether two values of a metric, of the same numbers, differ by what another library of linear algebra rounds.

    >>> is_rounding(0.5, 0.5 + 1e-12), is_rounding(0.5, 0.501), is_rounding(None, 0.5)
    (True, False, False)
    """
    return isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=_METRIC, abs_tol=_METRIC)
