"""Half-width and sidelobe of a kernel."""

import math
import warnings

import numpy as np
import pytest

from pe_spectra.faithfulness.separation import find_sidelobe
from pe_spectra.metrics.kernel_shape import measure_half_width, measure_sidelobe
from pe_spectra.metrics.tables import average_diagonals
from tests.making import draw_table
from tests.metrics.tables import dft

# ----------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1, 0], 0.5),
        ([2, 1], 1.0),
        ([4, 3, 1], 1.5),
        ([1, 0.6, 0.9, 0.2], 2 + 0.4 / 0.7),
        ([1, 0.9, 0.51], None),
        ([1], None),
        ([0, 1], None),
        ([-1, 0], None),
        ([1, -1], 0.25),
    ],
)
def test_the_half_width_is_where_the_kernel_first_falls_to_a_half(kernel, expected):
    assert measure_half_width(kernel) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("w", [0.3, 0.05, 0.011])
def test_the_half_width_of_a_cosine_is_a_sixth_of_its_period(w):
    assert measure_half_width(7 * np.cos(w * np.arange(400))) == pytest.approx(math.pi / 3 / w, rel=0.02)


def test_the_half_width_of_the_gaussian_is_known():
    lags = np.arange(200)
    assert measure_half_width(np.exp(-(lags**2) / (2 * 30.0**2))) == pytest.approx(30 * 1.17741, rel=1e-3)


def test_the_sidelobe_is_the_highest_maximum_beyond_the_first_minimum():
    found = measure_sidelobe([4, 2, 1, 2.5, 1, 3, 0])
    assert (found.lag, found.value) == (5, 0.75)
    assert measure_sidelobe([4, 3, 2]) is None
    assert measure_sidelobe([0, 1, 0]) is None


def test_rounding_has_no_sidelobe():
    assert measure_sidelobe(average_diagonals(dft(64, 50))) is None
    assert measure_sidelobe(1 + 1e-15 * draw_table(50, 1)[:, 0]) is None


def test_the_sidelobe_of_a_period_is_that_period():
    found = measure_sidelobe(np.cos(2 * np.pi * np.arange(100) / 24) + 2)
    assert found.lag == 24
    assert found.value == pytest.approx(1)


# ----------------------------------------------------------------------------------- all together


def test_of_a_plateau_its_beginning_is_the_sidelobe():
    for kernel in ([4.0, 1.0, 2.0, 2.0, 2.0, 0.0], [4.0, 1.0, 2.0, 2.0, 1.0, 2.0, 0.0]):
        assert (measure_sidelobe(kernel).lag, measure_sidelobe(kernel).value) == (2, 0.5)


# ----------------------------------------------------------------------------------- scale


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1e-300, 1e300, 0.0], 2.0),
        ([1e-300, 1e300, -1e300], 1.5),
        ([1e300, -1.7e308], 0.5e300 / 1.7e308),
        ([1.7e308, -1.7e308], 0.25),
        ([5e-324, 0.0], 0.5),
        ([1.5e-323, 1e-323, 0.0], 1.25),
    ],
)
def test_half_widths_hold_where_values_are_no_multiples_of_the_first(kernel, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measure_half_width(kernel) == pytest.approx(expected, rel=1e-13)


def test_the_rounding_of_a_flat_kernel_has_no_sidelobe():
    flat = np.r_[1.0, 1e-17 * np.random.default_rng(0).standard_normal(30)]
    assert find_sidelobe(flat) is None
    assert find_sidelobe(np.array([1.0, 0.2, 0.5, 0.1])).lag == 2
