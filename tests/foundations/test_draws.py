"""What is drawn with seed 0 against NumPy's generator, below and above the counts that take it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.draws import FEW, draw_normal, permute
from tests.foundations.normal_numbers import NORMAL, draw_numbers

COUNTS = [0, 1, 2, 3, 4, 5, 8, 9, 127, 128, 129, 1000, FEW, FEW + 1, 5 * FEW]


@pytest.mark.parametrize("count", COUNTS)
def test_orders_and_normal_numbers_are_those_of_numpy(count):
    order, drawn = permute(count), draw_normal(count)
    assert_array_equal(order, np.random.Generator(np.random.PCG64(0)).permutation(count), strict=True)
    assert_array_equal(drawn, np.random.Generator(np.random.PCG64(0)).standard_normal(count), strict=True)


@pytest.mark.parametrize("count", [5, FEW + 5])
def test_an_order_is_kept_and_cannot_be_changed(count):
    with pytest.raises(ValueError, match="read-only"):
        permute(count)[:] = 0


def test_the_file_of_normal_numbers_is_what_numpy_draws():
    assert NORMAL.read_bytes() == draw_numbers()
