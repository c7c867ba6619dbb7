"""When two values that were frozen are equal: numbers within a tolerance, and nothing as if it were not there."""

import numpy as np
import pytest

from pe_spectra.frozen.equality import are_equal


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (np.array([1.0]), np.array([1.0, 2.0]), False),
        (np.array([0.0]), np.array([0.0]), True),
        ((1.0, 2), (1.0, 2), True),
        ((1.0,), (1.0, 2.0), False),
        ({}, None, True),
        (False, None, True),
        (0, None, False),
        (True, None, False),
        ("", None, True),
        (1.0, "1.0", False),
    ],
)
def test_equal(a, b, equal):
    assert are_equal(a, b, 0.0) is are_equal(b, a, 0.0) is equal
