"""The normalised sinusoid of detectors against the formula, one number at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.encodings import find_encoding
from pe_spectra.errors import InputError
from tests.naive import detr_sine

DETR = find_encoding("detr-sine")


@pytest.mark.parametrize("normalise", ["yes", "no"])
@pytest.mark.parametrize(
    ("d", "height", "width", "rho"), [(4, 1, 1, 1e4), (8, 3, 5, 20.0), (12, 6, 2, 1e4), (256, 2, 3, 1e4)]
)
def test_every_cell_by_the_formula(d, height, width, rho, normalise):
    ours = DETR(d=d, height=height, width=width, rho=rho, normalise=normalise)
    theirs = detr_sine(d, height, width, rho, normalise=normalise == "yes")
    assert_allclose(ours.table(height * width), theirs, rtol=0, atol=4e-15)


def test_a_cell_has_another_code_in_a_larger_picture():
    small, large = (DETR(d=8, height=side, width=side).table(1) for side in (7, 14))
    assert np.abs(small - large).max() > 0.3


def test_the_last_row_is_just_below_a_turn():
    last = DETR(d=4, height=10, width=1).table(10)[-1]
    assert_allclose(last[:2], [-2 * np.pi * 1e-7, 1], atol=1e-12)


def test_places_have_names_and_an_end():
    encoding = DETR(d=8, height=2, width=3)
    assert encoding.describe_position(5) == "row 1, column 2"
    with pytest.raises(InputError):
        encoding.table([6])
