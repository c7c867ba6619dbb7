"""The sinusoids of grids against their formulas, one number at a time."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.grids import DetrSine, Sincos2d
from pe_spectra.errors import InputError
from tests.naive import detr_sine

# ----------------------------------------------------------------------------------- of patches


def encode_mae(d, height, width, rho=10000.0):
    """facebookresearch/mae, util/pos_embed.py, with loops: the first half encodes the column."""
    rows = []
    for y in range(height):
        for x in range(width):
            row = []
            for place in (x, y):
                angles = [place / rho ** (i / (d / 4)) for i in range(d // 4)]
                row += [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
            rows.append(row)
    return np.array(rows)


def test_sincos2d_is_that_of_mae():
    encoding = Sincos2d(d=16, height=3, width=5)
    assert_allclose(encoding.table(15), encode_mae(16, 3, 5), rtol=0, atol=1e-15)
    assert encoding.shape == (3, 5)
    with_cls = Sincos2d(d=16, height=3, width=5, cls="yes")
    assert_array_equal(with_cls.table(16)[1:], encoding.table(15))
    assert_array_equal(with_cls.table(1), np.zeros((1, 16)))
    assert [with_cls.describe_position(s) for s in (0, 1, 15)] == ["CLS", "row 0, column 0", "row 2, column 4"]


def test_orders_are_permutations_of_columns():
    """timm, layers/pos_embed_sincos.py: the row of the grid first; sines then cosines unless interleaved."""
    quarters = {
        order: np.split(Sincos2d(d=8, order=order).table(196), 4, axis=1)
        for order in Sincos2d.accepts[-1].accepts.members
    }
    sin_x, cos_x, sin_y, cos_y = quarters["mae"]
    assert_array_equal(quarters["timm"], [sin_y, sin_x, cos_y, cos_x])
    assert_array_equal(quarters["timm-interleaved"], [sin_y, cos_y, sin_x, cos_x])
    assert_allclose(sin_y[14], np.sin([1, 0.01]), rtol=1e-15)


def test_sincos2d_to_many_digits():
    encoding = Sincos2d(d=8, height=1, width=2**20, rho=123.0)
    with mpmath.workdps(50):
        for s in (2**20 - 1, 777_777):
            w = mpmath.mpf(123) ** (-mpmath.mpf(1) / 2)
            row = encoding.table([s])[0]
            assert abs(row[1] - mpmath.sin(w * s)) < 2.3e-16
            assert abs(row[3] - mpmath.cos(w * s)) < 2.3e-16
    with pytest.raises(InputError, match="multiple of 4"):
        Sincos2d(d=6)


# ----------------------------------------------------------------------------------- of detectors


@pytest.mark.parametrize("centred", ["yes", "no"])
@pytest.mark.parametrize("normalise", ["yes", "no"])
@pytest.mark.parametrize(
    ("d", "height", "width", "rho"), [(4, 1, 1, 1e4), (8, 3, 5, 20.0), (12, 6, 2, 1e4), (256, 2, 3, 1e4)]
)
def test_every_cell_by_the_formula(d, height, width, rho, normalise, centred):
    ours = DetrSine(d=d, height=height, width=width, rho=rho, normalise=normalise, centred=centred)
    theirs = detr_sine(d, height, width, rho, normalise=normalise == "yes", centred=centred == "yes")
    assert_allclose(ours.table(height * width), theirs, rtol=0, atol=4e-15)


def test_a_cell_has_another_code_in_a_larger_picture():
    small, large = (DetrSine(d=8, height=side, width=side).table(1) for side in (7, 14))
    assert np.abs(small - large).max() > 0.3


def test_the_last_row_is_just_below_a_turn():
    last = DetrSine(d=4, height=10, width=1).table(10)[-1]
    assert_allclose(last[:2], [-2 * np.pi * 1e-7, 1], atol=1e-12)


def test_places_have_names_and_an_end():
    encoding = DetrSine(d=8, height=2, width=3)
    assert encoding.describe_position(5) == "row 1, column 2"
    with pytest.raises(InputError):
        encoding.table([6])
