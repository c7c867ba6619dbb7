"""Tables of grids: no seam, the periods of two axes, and a grid read as a line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.periods import find_periods
from tests import planted
from tests.inspection.tables import EACH_SEED, find_only, inspect_codes


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", [(14, 14), (7, 20), (16, 16), (24, 24)], ids=str)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_grid_has_no_seam(shape, seed):
    assert inspect_codes(planted.make_grid(*shape, 192, seed), grid=shape) == []


def test_a_grid_with_cls():
    table = np.concatenate([np.zeros((1, 768)), planted.make_grid(14, 14, 768)])
    finding, result = find_only(planted.plant_cls(table), "special-first-row", grid=(14, 14), prefix=1)
    assert finding.rows == (0,)
    assert result.rows_used == (1, 197)
    assert np.isnan(result.steps[[0, 14, 28]]).all()
    assert np.isfinite(result.steps[1:14]).all()
    assert all(one.along is not None for one in result.dominant_periods)


@pytest.mark.slow
@pytest.mark.parametrize(("height", "width"), [(14, 14), (8, 16), (10, 24)])
def test_a_grid_read_as_a_line_is_said_to_be_one(height, width):
    finding, _ = find_only(planted.make_grid(height, width, 768), "regular-jumps")
    assert finding.data["spacing"] == width
    assert finding.rows[0] == width - 1
    assert f"grid={height}x{width}" in finding.message


def test_a_small_rectangular_grid():
    assert inspect_codes(planted.make_grid(2, 8, 64), grid=(2, 8)) == []


@pytest.mark.slow
def test_sincos2d_is_a_grid_without_findings():
    for side in (14, 24):
        assert inspect_codes(planted.make_sincos2d(side, side, 384), grid=(side, side)) == []


def test_periods_of_a_grid_are_two_dimensional():
    y, x = np.divmod(np.arange(24 * 20), 20)
    generator = planted.make_generator(3)
    table = np.cos(2 * np.pi * (y / 6 + x / 9))[:, None] * generator.standard_normal(64)
    table += 0.7 * np.cos(2 * np.pi * x / 5)[:, None] * generator.standard_normal(64)
    table += 0.3 * generator.standard_normal(table.shape)
    first, second = find_periods(table, (24, 20)).dominant
    assert_allclose(np.abs(first.along), [6, 9], rtol=0.02)
    assert np.prod(np.sign(first.along)) == 1
    assert second.along[0] is None
    assert_allclose(second.along[1], 5, rtol=0.02)
    assert_allclose(first.period, 1 / np.hypot(1 / 6, 1 / 9), rtol=0.02)


@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_grid_has_no_period_of_its_line(seed):
    for one in find_periods(planted.make_grid(14, 14, 192, seed), (14, 14)).dominant:
        assert abs(one.along[1] or 1e9) > 3  # nothing at harmonics of the line's length in reading order


def transpose(table, shape):
    return table.reshape(*shape, -1).transpose(1, 0, 2).reshape(table.shape)


def list_periods(table, shape):
    return sorted(
        (one.period, one.share, *(along or 0.0 for along in one.along)) for one in find_periods(table, shape).dominant
    )


@pytest.mark.parametrize("shape", [(14, 14), (12, 20), (24, 24)], ids=str)
def test_a_grid_turned_over_has_its_periods_swapped(shape):
    generator = planted.make_generator(7)
    y, x = np.indices(shape)
    waves = [
        np.cos(2 * np.pi * (y * down + x * across)) for down, across in ((0.2, 0), (0, 0.2), (0.17, -0.29), (0.5, 0.5))
    ]
    table = np.einsum("kyx,kc->yxc", waves, generator.standard_normal((4, 48))).reshape(-1, 48)
    table += 0.2 * generator.standard_normal(table.shape)
    found, turned = list_periods(table, shape), list_periods(transpose(table, shape), shape[::-1])
    assert len(found) == 4
    swapped = sorted((period, share, abs(b), np.copysign(a, b)) for period, share, a, b in found)
    for one, other in zip(swapped, turned, strict=True):
        assert_allclose(np.abs(one), np.abs(other), rtol=1e-6)
        assert np.sign(one[2] * one[3]) == np.sign(other[2] * other[3])


@pytest.mark.parametrize("side", [14, 16, 24])
def test_what_is_the_same_down_and_across_has_the_same_periods(side):
    generator = planted.make_generator(side)
    y, x = np.indices((side, side))
    amplitudes = generator.standard_normal((2, 32))
    for table in (
        planted.make_sincos2d(side, side, 64),
        (
            np.cos(2 * np.pi * y / 5)[..., None] * amplitudes[0]
            + np.sin(2 * np.pi * y / 5)[..., None] * amplitudes[1]
            + np.cos(2 * np.pi * x / 5)[..., None] * amplitudes[0]
            + np.sin(2 * np.pi * x / 5)[..., None] * amplitudes[1]
        ).reshape(-1, 32),
    ):
        found = find_periods(table, (side, side)).dominant
        down, across = (sorted(one.period for one in found if one.along[axis] is None) for axis in (1, 0))
        assert_allclose(down, across, rtol=1e-6)
    assert_allclose(down, [5.0], rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 3])
def test_odd_rows_are_bridged_alike_down_and_across(seed):
    """Of a table that is its own transpose, where rows are so short that they are left out."""
    generator = planted.make_generator(seed)
    y, x = np.indices((12, 12))
    table = generator.standard_normal((12, 12, 16)) * 0.05
    amplitudes, phases = generator.standard_normal((2, 8))
    for line in (y, x):
        table[..., :8] += amplitudes * np.cos(np.pi / 2 * line[..., None] + phases)
    table[..., 8:] += generator.standard_normal(8) * (y + x)[..., None] / 12
    table = (table + table.swapaxes(0, 1)) / 2
    table[3, 8] = table[8, 3] = 0.01 * table[3, 8]
    result = inspect_table(table.reshape(144, 16), grid=(12, 12))
    assert {row for finding in result.findings if finding.code == "outlier-rows" for row in finding.rows} >= {44, 99}
    down, across = (next(one for one in result.dominant_periods if one.along[axis] is None) for axis in (1, 0))
    assert_allclose([down.period, down.share], [across.period, across.share], rtol=1e-6)
    assert_allclose(down.period, 4.0, rtol=5e-3)
