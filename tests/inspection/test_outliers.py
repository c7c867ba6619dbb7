"""Rows whose norm is far from the others', and curves, walks and parts of a table that only look so."""

import numpy as np
import pytest

from pe_spectra import inspect_table
from pe_spectra.inspection.outliers import find_outliers


def test_a_short_row_between_long_steps_stands_out_and_one_where_a_walk_passes_zero_does_not():
    walk = np.log1p(np.abs(np.random.default_rng(4).normal(size=(300, 1)).cumsum(axis=0)))
    assert np.abs(walk).min() < np.median(np.abs(walk)) / 20  # it passes zero
    assert not find_outliers(walk, np.abs(walk[:, 0]))[0].size
    table = np.sin(np.arange(256.0)[:, None] * np.linspace(0.02, 0.2, 16)) + 3
    table[100] *= 0.1
    assert find_outliers(table, np.linalg.norm(table, axis=1))[0].tolist() == [100]


@pytest.mark.few(3, keep=["2"])
@pytest.mark.parametrize("seed", range(12))
def test_rows_of_one_factor_may_be_of_any_length(seed):
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(256, 1)) * generator.normal(size=32) + 0.01 * generator.normal(size=(256, 32))
    assert {finding.code for finding in inspect_table(table).findings} <= {"no-structure"}


def test_a_run_of_short_rows_is_told_whole():
    table = np.sin(np.arange(256.0)[:, None] * np.linspace(0.02, 0.2, 16)) + np.cos(0.03 * np.arange(256.0))[:, None]
    table[100:110] *= 0.1
    assert find_outliers(table, np.linalg.norm(table, axis=1))[0].tolist() == [*range(100, 110)]


def test_half_of_a_table_is_not_odd():
    table = np.sin(np.arange(256.0)[:, None] * np.linspace(0.02, 0.2, 16))
    table[128:] += 2
    assert not find_outliers(table, np.linalg.norm(table, axis=1))[0].size


@pytest.mark.parametrize(("factors", "words"), [((3.2101, 3.2099), "3.21 times"), ((3.2, 5), "3.2 to 5 times")])
def test_factors_that_are_written_alike_are_written_once(factors, words):
    table = np.random.default_rng(0).normal(size=(256, 64))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[[90, 170]] *= np.array(factors)[:, None]
    (found,) = [one for one in inspect_table(table).findings if one.code == "outlier-rows"]
    assert found.message == f"Rows 90 and 170 have {words} the median norm."
