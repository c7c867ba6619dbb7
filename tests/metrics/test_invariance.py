"""How far a table's products depend on the lag alone; in fractions where float64 is hard."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import read_encoding
from pe_spectra.metrics.order import measure_translation_invariance
from pe_spectra.metrics.tables import average_diagonals
from tests.making import draw_table
from tests.metrics.tables import HARD, beside, dft, each_table, one_hot, sinusoidal, waves

# ----------------------------------------------------------------------------------- translation


@each_table
def test_diagonal_means_are_those_of_the_gram_matrix(table):
    gram = table @ table.T
    expected = [np.mean(np.diagonal(gram, offset=lag)) for lag in range(len(table))]
    assert_allclose(average_diagonals(table), expected, atol=1e-10)
    assert_allclose(average_diagonals(1e140 * table) / 1e280, expected, atol=1e-10)


@each_table
def test_translation_invariance_is_a_ratio_of_variances(table):
    gram = table @ table.T
    along = gram.copy()
    lags = np.subtract.outer(np.arange(len(table)), np.arange(len(table)))
    for lag in np.unique(lags):
        along[lags == lag] -= np.mean(gram[lags == lag])
    assert measure_translation_invariance(table) == pytest.approx(1 - np.var(along) / np.var(gram), abs=1e-10)


@pytest.mark.parametrize("table", [one_hot(30), dft(32, 50), sinusoidal(64, 300)], ids=["one-hot", "dft", "sinusoidal"])
def test_codes_whose_products_depend_on_the_lag_are_invariant(table):
    assert measure_translation_invariance(table) == pytest.approx(1, abs=1e-11)


def test_translation_invariance_is_not_the_share_of_energy():
    table = 1 + 0.01 * draw_table(60, 20)
    gram = table @ table.T
    energy = sum(np.trace(gram, offset=lag) ** 2 / (60 - abs(lag)) for lag in range(-59, 60)) / np.sum(gram**2)
    assert energy > 0.999
    assert measure_translation_invariance(table) < 0.2


@pytest.mark.parametrize("table", [np.ones((9, 2)), np.zeros((4, 4)), np.ones((1, 5))])
def test_translation_invariance_of_a_constant_gram_matrix_is_undefined(table):
    assert measure_translation_invariance(table) is None


# ----------------------------------------------------------------------------------- translation invariance


def compute_invariance_exactly(table):
    """Var(diagonal means) / Var(all) in fractions."""
    rows = [[Fraction(x) for x in row] for row in table.tolist()]
    length = len(rows)
    gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]
    mean = sum(map(sum, gram)) / length**2
    spread = sum((x - mean) ** 2 for row in gram for x in row)
    explained = Fraction(0)
    for lag in range(length):
        diagonal = [gram[s][s + lag] for s in range(length - lag)]
        explained += (2 if lag else 1) * len(diagonal) * (sum(diagonal) / len(diagonal) - mean) ** 2
    return float(explained / spread)


@pytest.mark.parametrize("table", HARD.values(), ids=HARD)
def test_translation_invariance_is_that_of_fractions(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measure_translation_invariance(table) == pytest.approx(compute_invariance_exactly(table), abs=1e-13)


@pytest.mark.parametrize("constant", [0.0, 100.0, 700.0, 1000.0, 1e20 / 3, 1e150])
@pytest.mark.parametrize("scale", [1.0, 1e-150])
def test_a_constant_column_leaves_translation_invariance_alone(constant, scale):
    table = beside(scale * waves(64, 0.7, -0.7, 0.05), constant)
    assert measure_translation_invariance(table) == pytest.approx(0.8887130274755727, abs=1e-13)


@pytest.mark.parametrize("longest", [1e2, 1e3, 1e4, 1e6])
def test_long_waves_in_pairs_depend_on_the_lag_alone(longest):
    table = read_encoding(f"tensor2tensor:d=4,min_timescale={longest:g},max_timescale={longest * 100:g}").table(24)
    assert measure_translation_invariance(table) == pytest.approx(1, abs=1e-12)


# ----------------------------------------------------------------------------------- scale


def test_diagonal_means_beyond_float64_are_infinite_or_zero():
    assert_array_equal(average_diagonals(np.diag([1.7e308] * 3)), [np.inf, 0.0, 0.0])
    assert_array_equal(average_diagonals(np.diag([1e-200] * 3)), [0.0, 0.0, 0.0])
    long = average_diagonals(np.diag([1.7e308] * 600))
    assert not np.isnan(long).any()
    assert set(np.abs(long).tolist()) <= {0.0, np.inf}
