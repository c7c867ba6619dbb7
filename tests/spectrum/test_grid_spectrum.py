"""The spectrum of a grid: the double sum over offsets, its marginals, and its axes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import compute_spectrum, find_encoding
from pe_spectra.errors import InputError
from pe_spectra.spectrum import compute_grid_spectrum, estimate_grid_kernel, list_axes
from pe_spectra.spectrum.gram import count_grid_pairs
from tests import naive
from tests.making import draw_table
from tests.spectrum.tables import read

SHAPES = ((1, 1), (1, 6), (6, 1), (2, 2), (2, 3), (5, 4), (3, 8))


# ----------------------------------------------------------------------------------- grids


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 30.0])
def test_the_spectrum_of_a_grid_is_the_double_sum(shape, bandwidth):
    height, width = shape
    encoding = read(draw_table(height * width, 2, seed=width) + 0.2, grid=f"{height}x{width}")
    found = compute_grid_spectrum(encoding, bandwidth=bandwidth)
    n = max(2, height), max(2, width)
    plane = naive.grid_lag_window(naive.gram_offsets(encoding.table(height * width), shape), n, bandwidth)
    half = plane[: n[0] // 2 + 1]
    order = [(j - n[1] // 2) % n[1] for j in range(n[1])]
    atol = 1e-12 * np.abs(half).max() / abs(half.sum())
    assert_allclose(found.weights, half[:, order] / half.sum(), rtol=0, atol=atol)
    assert_allclose(found.omega_vertical, [2 * np.pi * i / n[0] for i in range(n[0] // 2 + 1)])
    assert_allclose(found.omega_horizontal, [2 * np.pi * (j - n[1] // 2) / n[1] for j in range(n[1])])
    # both marginals of the whole plane are the spectra along the axes
    for axis, marginal in (("vertical", plane.sum(axis=1)), ("horizontal", plane.sum(axis=0))):
        line = compute_spectrum(encoding, axis=axis, bandwidth=bandwidth)
        expected = marginal[: len(line.weights)]
        assert line.axis == axis
        atol = 1e-11 * np.abs(expected).max() / abs(expected.sum())
        assert_allclose(line.weights, expected / expected.sum(), rtol=0, atol=atol)


def test_the_marginals_of_what_is_returned():
    encoding = read(draw_table(42, 3), grid="6x7")
    weights = compute_grid_spectrum(encoding, bandwidth=1.0).weights
    vertical = compute_spectrum(encoding, axis="vertical", bandwidth=1.0).weights
    assert_allclose(weights.sum(axis=1), vertical, rtol=0, atol=1e-13)
    # H = 6: rows 1 and 2 have an opposite, rows 0 and 3 are their own
    below = weights[1:3, ::-1]  # W = 7 is odd, so opposite frequencies mirror
    horizontal = (weights.sum(axis=0) + below.sum(axis=0))[3:]
    expected = compute_spectrum(encoding, axis="horizontal", bandwidth=1.0).weights
    assert_allclose(horizontal / horizontal.sum(), expected, rtol=0, atol=1e-13)


def test_special_rows_before_a_grid_are_left_out():
    table = draw_table(21, 4)
    plain = compute_grid_spectrum(read(table[1:], grid="4x5")).weights
    assert_array_equal(compute_grid_spectrum(read(table, grid="4x5", prefix=1)).weights, plain)
    cls = find_encoding("sincos2d")
    names = [p.name for p in cls.accepts]
    if "cls" in names:
        with_row = cls(d=16, height=4, width=5, cls="yes")
        without = cls(d=16, height=4, width=5, cls="no")
        assert_array_equal(compute_grid_spectrum(with_row).weights, compute_grid_spectrum(without).weights)


def test_a_bias_on_a_grid_is_averaged_by_offset():
    swin = find_encoding("swin")()
    height, width = swin.shape
    maps = swin.bias_map(height * width)
    raised = np.exp(maps - maps.max(axis=(1, 2), keepdims=True))
    found = estimate_grid_kernel(swin)
    sums = np.zeros(found.values.shape[1:])
    for s in range(height * width):
        for t in range(height * width):
            dy, dx = t // width - s // width, t % width - s % width
            sums[height - 1 + dy, width - 1 + dx] += raised[0, s, t]
    means = sums / count_grid_pairs((height, width))
    assert_allclose(found.values[0], (means + means[::-1, ::-1]) / 2, rtol=1e-12)
    assert list_axes(swin) == ("vertical", "horizontal")


def test_axes_are_checked():
    grid, line = read(draw_table(6, 2), grid="2x3"), read(draw_table(6, 2))
    assert compute_spectrum(grid).axis == "horizontal"
    with pytest.raises(InputError, match="axis is not known"):
        compute_spectrum(grid, axis="diagonal")
    with pytest.raises(InputError, match="axis has no meaning"):
        compute_spectrum(line, axis="vertical")
    with pytest.raises(InputError, match="fills no grid"):
        compute_grid_spectrum(line)
