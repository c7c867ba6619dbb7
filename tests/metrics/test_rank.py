"""Ranks of tables: sums over singular values, laws, and tables that are hard on float64."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.metrics.order import measure_distance_lag_spearman, measure_translation_invariance
from pe_spectra.metrics.resolution import compute_effective_rank_entropy, compute_stable_rank, measure_ranks
from pe_spectra.metrics.tables import centre, narrow, triangulate
from tests.making import draw_table
from tests.metrics.tables import beside, dft, each_table, measure_all, one_hot, ramp, sinusoidal, waves

# ----------------------------------------------------------------------------------- rank


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stable_rank", 1.61),
        ("stable_rank_centred", 4.46),
        ("effective_rank_entropy", 20.5),
        ("effective_rank_entropy_centred", 24.3),
    ],
)
def test_the_ranks_of_the_sinusoid_are_those_of_the_catalogue(name, expected):
    """80 positions, d = 256: column means removed, singular values and not their squares."""
    value = getattr(measure_ranks(sinusoidal(256, 80)), name)
    assert float(f"{value:.3g}") == expected


@each_table
def test_ranks_are_sums_over_singular_values(table):
    ranks = measure_ranks(table)
    for centred in (False, True):
        rows = table - table.mean(axis=0) if centred else table
        s = np.sqrt(np.maximum(np.linalg.eigvalsh(rows @ rows.T), 0))
        s = s[s > 1e-7 * s.max()]
        entropy = -sum(p * math.log(p) for p in s / s.sum())
        suffix = "_centred" if centred else ""
        assert_allclose(getattr(ranks, f"stable_rank{suffix}"), sum(s**2) / max(s) ** 2, rtol=1e-9)
        assert_allclose(getattr(ranks, f"effective_rank_entropy{suffix}"), math.exp(entropy), rtol=1e-5)


@pytest.mark.parametrize("n", [2, 5, 80])
def test_one_hot_codes_use_every_direction(n):
    ranks = measure_ranks(one_hot(n))
    assert_allclose([ranks.stable_rank, ranks.effective_rank_entropy], n, rtol=1e-12)
    assert_allclose([ranks.stable_rank_centred, ranks.effective_rank_entropy_centred], n - 1, rtol=1e-12)


def test_the_dft_encoding_uses_every_direction_and_a_ramp_one():
    assert_allclose(measure_ranks(dft(9, 9)).effective_rank_entropy, 9)
    found = measure_ranks(ramp(50))
    assert_allclose([found.stable_rank, found.stable_rank_centred, found.effective_rank_entropy], 1, rtol=1e-9)


@each_table
def test_ranks_do_not_depend_on_scale_or_order(table):
    first, second = measure_ranks(table), measure_ranks(-3e120 * table[::-1])
    assert_allclose(second.stable_rank, first.stable_rank, rtol=1e-12)
    assert_allclose(second.effective_rank_entropy_centred, first.effective_rank_entropy_centred, rtol=1e-9)


def test_equal_codes_have_no_centred_rank_and_zeros_none():
    equal = measure_ranks(np.full((7, 3), 0.1))
    assert equal.stable_rank == pytest.approx(1)
    assert equal.stable_rank_centred is None
    assert equal.effective_rank_entropy_centred is None
    assert measure_ranks(np.zeros((7, 3))).stable_rank is None
    assert compute_stable_rank(np.zeros(2)) is None
    assert compute_effective_rank_entropy(np.zeros(2)) is None


def test_ranks_beyond_the_budget_are_none_with_a_note():
    ranks = measure_ranks(np.broadcast_to(1.0, (5000, 5000)))
    assert ranks.stable_rank is None
    assert "5000 x 5000" in ranks.reasons["stable_rank"]


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (500, 2), (1, 1)])
def test_a_triangle_has_the_products_of_its_table(shape, monkeypatch):
    monkeypatch.setattr("pe_spectra.metrics.tables._BLOCK", 100)
    table = draw_table(*shape)
    triangle = triangulate(table)
    assert_allclose(triangle.T @ triangle, table.T @ table, atol=1e-11)
    assert_allclose(narrow(table) @ narrow(table).T, table @ table.T, atol=1e-11)
    assert narrow(table).shape[1] <= shape[0]


FOUR = waves(64, 0.1, -0.1, 0.037, -0.037)


# ----------------------------------------------------------------------------------- ranks


def test_centred_ranks_are_those_of_long_arithmetic():
    with mpmath.workdps(40):
        rows = mpmath.matrix(FOUR.tolist())
        means = [mpmath.fsum(rows[:, j]) / rows.rows for j in range(rows.cols)]
        for i, j in itertools.product(range(rows.rows), range(rows.cols)):
            rows[i, j] -= means[j]
        s = [mpmath.sqrt(x) for x in mpmath.eigsy(rows.T * rows, eigvals_only=True)]
        entropy = -mpmath.fsum(x / mpmath.fsum(s) * mpmath.log(x / mpmath.fsum(s)) for x in s)
        stable, effective = float(mpmath.fsum(x * x for x in s) / max(s) ** 2), float(mpmath.exp(entropy))
    for constant in (0.0, 1e14 / 3, 1e15, 1e20 / 3, -1e300):
        found = measure_ranks(beside(FOUR, constant))
        assert found.stable_rank_centred == pytest.approx(stable, rel=1e-13)
        assert found.effective_rank_entropy_centred == pytest.approx(effective, rel=1e-13)


def test_small_codes_beside_ones_have_the_order_and_rank_of_the_codes_alone():
    found = measure_all(np.hstack([np.ones((12, 1)), 1e-162 * np.arange(12.0)[:, None]])).values
    assert found["distance_lag_spearman"] == pytest.approx(1, abs=1e-14)
    assert found["stable_rank_centred"] == pytest.approx(1, abs=1e-14)
    plain, mixed = measure_ranks(FOUR), measure_ranks(beside(1e-250 * FOUR, 1e80))
    assert mixed.stable_rank_centred == pytest.approx(plain.stable_rank_centred, rel=1e-13)
    assert mixed.effective_rank_entropy_centred == pytest.approx(plain.effective_rank_entropy_centred, rel=1e-13)


@pytest.mark.parametrize("table", [np.full((7, 2), 0.1), np.full((1, 3), 5e-324), np.full((9, 2), -1.7e308)])
def test_equal_codes_are_centred_to_zero(table):
    assert_array_equal(centre(table), 0 * table)
    assert measure_ranks(table).stable_rank_centred is None
    assert measure_translation_invariance(table) is None
    assert measure_distance_lag_spearman(table) is None


def test_codes_at_both_ends_of_float64_are_centred():
    table = np.array([[1.7e308, 1.0], [-1.7e308, 1.0], [-1.7e308, 1.0]])
    expected = np.array([[2.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    found = centre(table)
    assert_allclose(found / found[0, 0], expected / 2, rtol=1e-15)
