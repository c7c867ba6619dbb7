"""Whether a table is a grid: smooth fields are found, and lines stay lines."""

import math

import numpy as np
import pytest
import scipy

from pe_spectra import find_encoding
from pe_spectra.spectrum.gram import _measure_fold, _measure_wraps, settle_grid
from tests import naive, planted
from tests.making import draw_table


def make_smooth_field(side, columns, seed, noise):
    """Independent smooth random surfaces: white noise blurred over two or three places, and noise."""
    generator = np.random.default_rng(seed)
    taps = np.exp(-0.5 * (np.arange(-6, 7) / 2.0) ** 2)
    white = generator.normal(size=(columns, side + 12, side + 12))
    for axis in (1, 2):
        white = np.apply_along_axis(lambda line: np.convolve(line, taps, "valid"), axis, white)
    field = white / white.std()
    return (field + noise * generator.normal(size=field.shape)).reshape(columns, -1).T


def settle(table, **values):
    found, notes = settle_grid(table, values)
    return found.get("grid"), found.get("prefix"), notes


@pytest.mark.few(14)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("side", "columns"), [(7, 64), (14, 64), (16, 32), (24, 16)])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_smooth_fields_are_found(side, columns, noise, seed):
    table = make_smooth_field(side, columns, seed, noise)
    assert settle(table)[:2] == (f"{side}x{side}", None)
    row = 3 * np.random.default_rng(seed).normal(size=(1, columns))
    grid, prefix, notes = settle(np.concatenate([row, table]))
    assert (grid, prefix) == (f"{side}x{side}", 1)
    assert "prefix=1" in notes[0]


@pytest.mark.few(3)
@pytest.mark.parametrize("side", [8, 14, 16, 24])
@pytest.mark.parametrize("d", [64, 192])
def test_sincos2d_is_found(side, d):
    table = find_encoding("sincos2d")(d=d, height=side, width=side).table(side * side)
    assert settle(table)[0] == f"{side}x{side}"
    assert settle(np.concatenate([np.zeros((1, d)), table]))[:2] == (f"{side}x{side}", 1)
    assert settle(table + 0.3 * draw_table(*table.shape))[0] == f"{side}x{side}"
    assert settle(planted.make_grid(side, side, d))[0] == f"{side}x{side}"


SHAPES = ((7, 20), (10, 16), (12, 27), (8, 32), (4, 36), (9, 11), (6, 50), (20, 7))


@pytest.mark.few(5)
@pytest.mark.parametrize("order", ["mae", "timm"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("d", [16, 64])
def test_the_width_is_that_of_the_wraps(shape, d, order):
    height, width = shape
    table = find_encoding("sincos2d")(d=d, height=height, width=width, order=order).table(height * width)
    for noise in (0.0, 0.02, 0.3)[: 2 + (d == 64)]:
        noisy = table + noise * table.std() * draw_table(*table.shape)
        assert settle(noisy)[:2] == (f"{height}x{width}", None)
        for row in (np.zeros((1, d)), draw_table(1, d, seed=1)):
            assert settle(np.concatenate([row, noisy]))[:2] == (f"{height}x{width}", 1)


def test_the_lead_of_wraps_is_a_difference_of_means():
    steps = np.random.default_rng(0).uniform(1, 2, 59)
    ends = np.array([s % 12 == 11 for s in range(59)])
    assert _measure_wraps(steps, 12) == pytest.approx(scipy.stats.ttest_ind(steps[ends], steps[~ends]).statistic)


LINES = {
    "sinusoidal": lambda n, d, seed: naive.sinusoidal_table(d, 10.0 ** (2 + seed), range(n)),
    "walk": lambda n, d, seed: np.cumsum(draw_table(n, d, seed=seed), axis=0),
    "noise": lambda n, d, seed: draw_table(n, d, seed=seed),
    "trained": lambda n, d, seed: planted.make_trained(n, d, seed=seed),
    "periodic": lambda n, d, seed: planted.make_periodic(n, d, seed=seed),
    "root": lambda n, d, seed: planted.make_periodic(n, d, seed=seed, periods=(500.0, math.sqrt(n)), shares=(0.5, 0.4)),
    "only root": lambda n, d, seed: planted.make_periodic(n, d, seed=seed, periods=(math.sqrt(n),), shares=(0.9,)),
    "constant": lambda n, d, seed: np.full((n, d), 0.1 * (seed + 1)),
    "one-hot": lambda n, _, __: np.eye(n),
}


@pytest.mark.few(32, keep=["144-16-only root-0"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize(("rows", "d"), [(196, 48), (256, 64), (1024, 32), (144, 16), (197, 32), (324, 64)])
def test_lines_stay_lines(kind, rows, d, seed):
    table = LINES[kind](rows, d, seed)
    assert settle(table)[0] is None
    assert settle(table * 1e-200)[0] is None


@pytest.mark.parametrize("period", [7, 9, 13, 14, 15, 28])
def test_a_line_with_the_period_of_a_square_is_said_to_be_read_as_a_line(period):
    """The note is made where the kernel has a peak at the width of the grid, and there alone."""
    generator = np.random.default_rng(period)
    phases = generator.uniform(0, 2 * np.pi, 32)
    table = np.cos(2 * np.pi * np.arange(196)[:, None] / period + phases) + 0.1 * generator.normal(size=(196, 32))
    grid, _, notes = settle(table)
    assert grid is None
    assert bool(notes) == (14 % period == 0)
    assert not notes or notes[0].startswith("196 rows could be a grid of 14 x 14, but are read as a line")


NOISE = {
    "white": lambda n, d, seed: draw_table(n, d, seed=seed),
    "one column": lambda n, d, seed: draw_table(n, 1, seed=seed) * draw_table(1, d, seed=seed + 99),
    "two columns": lambda n, d, seed: draw_table(n, 2, seed=seed) @ draw_table(2, d, seed=seed + 99),
    "memory": lambda n, d, seed: planted.make_walk(n, d, seed, 0.7),
    "walk of one column": lambda n, d, seed: planted.make_walk(n, 1, seed) * draw_table(1, d, seed=seed + 99),
    "trained": planted.make_trained,
}


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("values", [{}, {"prefix": 0}], ids=["nothing said", "prefix said"])
def test_a_square_number_of_rows_is_no_evidence(kind, values):
    cases = [(n, d, seed) for n, d in ((16, 16), (64, 8), (196, 32)) for seed in range(12)]
    grids = [case for case in cases if "grid" in settle_grid(NOISE[kind](*case), values)[0]]
    assert len(grids) <= 1, grids


def test_what_was_said_is_obeyed():
    table = make_smooth_field(14, 64, 0, 0.0)
    assert settle_grid(table, {"grid": "1x196"}) == ({"grid": "1x196"}, ())
    assert settle(table, first=1)[0] is None
    assert settle(np.concatenate([table, table]), last=196)[0] == "14x14"
    assert settle(np.concatenate([table[:2], table]), prefix=2)[:2] == ("14x14", 2)
    assert settle(draw_table(4, 3))[0] is None
    assert settle(draw_table(0, 3))[0] is None
    assert settle(table, first=500)[0] is None


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e306])
def test_a_grid_has_no_scale(scale):
    table = make_smooth_field(14, 64, 0, 0.0)
    assert _measure_fold(table * scale, 14) == pytest.approx(_measure_fold(table, 14), rel=1e-3)
    assert settle(table * scale)[0] == "14x14"


def test_a_kernel_that_falls_steadily_has_no_peak_at_the_width_of_a_grid():
    phases = np.random.default_rng(2).uniform(0, 2 * np.pi, 256)
    codes = np.cos(0.15 * np.arange(64)[:, None] + phases)
    assert _measure_fold(codes, 8)[2] < 0
    assert settle_grid(codes, {"prefix": 0}) == ({"prefix": 0}, ())
