"""Shift linearity: one linear map for each shift, fitted and held out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.metrics import linearity
from pe_spectra.metrics.linearity import SHIFTS
from pe_spectra.metrics.linearity import _measure_shift_linearity as measure_shift_linearity
from tests.making import draw_table
from tests.metrics.tables import dft, one_hot, sinusoidal

# ----------------------------------------------------------------------------------- shift linearity


@pytest.mark.few(2)
@pytest.mark.parametrize(("d", "length"), [(16, 64), (64, 512), (256, 80), (256, 512), (768, 1024)])
def test_the_sinusoid_is_shifted_by_a_linear_map(d, length):
    found = measure_shift_linearity(sinusoidal(d, length))
    assert found.shift_linearity_worst > 0.9999
    assert found.shift_linearity_worst <= found.shift_linearity_mean <= 1
    assert [k for k, _ in found.by_shift] == [k for k in SHIFTS if k <= length // 8]


def test_random_codes_are_not_shifted_by_a_linear_map():
    found = measure_shift_linearity(draw_table(512, 32))
    assert found.shift_linearity_mean < 0.05
    assert found.components == 32


def test_the_fit_is_the_least_squares_fit_on_what_is_not_held_out():
    table = draw_table(40, 3, seed=5).cumsum(axis=0)
    centred = table - table.mean(axis=0)
    _, s, vectors = np.linalg.svd(centred, full_matrices=False)
    assert np.sum(s[:2] ** 2) / np.sum(s**2) < 0.9999
    codes = centred @ vectors.T
    scores = []
    for shift in (1, 4):
        order = np.random.Generator(np.random.PCG64(0)).permutation(40 - shift)
        cut = int(0.8 * (40 - shift))
        fitted, held_out = order[:cut], order[cut:]
        design = np.column_stack([codes, np.ones(40)])
        mapping = np.linalg.lstsq(design[fitted], codes[fitted + shift], rcond=None)[0]
        error = codes[held_out + shift] - design[held_out] @ mapping
        about = codes[held_out + shift] - codes[fitted + shift].mean(axis=0)
        scores.append(1 - np.sum(error**2) / np.sum(about**2))
    found = measure_shift_linearity(table)
    assert_allclose([score for _, score in found.by_shift], scores, rtol=1e-7)
    assert_allclose(
        [found.shift_linearity_mean, found.shift_linearity_worst], [np.mean(scores), min(scores)], rtol=1e-7
    )


def test_shift_linearity_is_none_where_it_would_overfit():
    for table in (one_hot(80), dft(256, 80), draw_table(100, 64)):
        found = measure_shift_linearity(table)
        assert found.shift_linearity_mean is found.shift_linearity_worst is None
        assert "overfit" in found.reasons["shift_linearity_mean"]
    assert "too few" in measure_shift_linearity(one_hot(7)).reasons["shift_linearity_worst"]
    assert "equal" in measure_shift_linearity(np.ones((50, 3))).reasons["shift_linearity_worst"]


def test_shift_linearity_of_many_positions_looks_at_some():
    angle = np.arange(20000)[:, None] * np.array([1.0, 0.1])
    found = measure_shift_linearity(np.hstack([np.sin(angle), np.cos(angle)]))
    assert found.shift_linearity_worst == pytest.approx(1)
    assert len(found.by_shift) == len(SHIFTS)


# ----------------------------------------------------------------------------------- shift linearity


def test_codes_over_the_whole_range_are_shifted_as_smaller_ones_are():
    s = np.arange(40.0)
    table = np.column_stack([np.cos(s), np.cos(0.3 * s + 1)])
    found, expected = measure_shift_linearity(1.7e308 * table), measure_shift_linearity(table)
    assert (found.shift_linearity_mean, found.shift_linearity_worst) == pytest.approx(
        (expected.shift_linearity_mean, expected.shift_linearity_worst), rel=1e-9
    )


@pytest.mark.parametrize("columns", [1, 5])
def test_where_the_fitted_codes_are_equal_there_is_only_a_mean(columns):
    table = np.ones((16, columns))
    table[-1] += np.random.default_rng(3).normal(size=columns)  # never a source of a shift
    assert measure_shift_linearity(table).by_shift == ((1, 0.0),)


def test_a_mean_predicts_what_is_constant(monkeypatch):
    monkeypatch.setattr(linearity, "_MOST_POSITIONS", 8)
    table = np.ones((64, 3))
    table[5] = (1.3, 0.2, -0.7)  # not among the positions that are looked at
    assert measure_shift_linearity(table).by_shift == ((1, 1.0), (4, 1.0))
