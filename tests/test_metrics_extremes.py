"""Metrics of tables that are hard on float64: large constant columns, scales far apart, near ties; by second roads."""

import itertools
import warnings
from dataclasses import astuple
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import read_encoding
from pe_spectra.metrics import measure_table_metrics
from pe_spectra.metrics.invariance import measure_translation_invariance
from pe_spectra.metrics.kernel_shape import measure_half_width, measure_sidelobe
from pe_spectra.metrics.order import (
    count_descents,
    measure_distance_lag_spearman,
    measure_kernel_monotonicity,
    measure_table_monotonicity,
)
from pe_spectra.metrics.rank import measure_ranks
from pe_spectra.metrics.tables import average_diagonals, centre
from pe_spectra.spectrum import compute_gram_kernel


def waves(length, *columns):
    """Columns sin(w s) for w > 0, cos(w s) for w < 0."""
    s = np.arange(float(length))
    return np.stack([np.sin(w * s) if w > 0 else np.cos(w * s) for w in columns], axis=1)


def beside(table, constant):
    return np.hstack([table, np.full((len(table), 1), constant)])


THREE = waves(24, 0.7, -0.7, 0.05)
FOUR = waves(64, 0.1, -0.1, 0.037, -0.037)
STEPS = np.arange(24.0)[:, None]
FIRST = np.eye(24)[:, :1]
HARD = {
    "plain": THREE,
    "large mean": THREE + 1e8,
    "means that cancel": THREE + np.array([1e8, -1e5, 3.0]),
    "whole numbers": 1e15 + STEPS * np.array([1.0, -1.0]),
    "a large constant": beside(THREE, 1e5),
    "a huge constant": beside(1e-180 * (THREE + 5), 1e150),
    "a first row like no other": THREE + 1e8 * FIRST,
    "one unit in the last place": np.ones((24, 3)) + 2.0**-52 * FIRST,
    "scales far apart": THREE * np.array([1.0, 1e-100, 1e150]),
    "subnormal": 1e-320 * THREE,
    "largest numbers": np.where(THREE > 0, 1.7e308, -1.7e308),
    "two rows": THREE[:2],
}

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
    found = measure_table_metrics(np.hstack([np.ones((12, 1)), 1e-162 * np.arange(12.0)[:, None]])).values
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


# ----------------------------------------------------------------------------------- ties


def count_in_order(values, tie):
    """Pairs that fall and pairs that tie, one by one."""
    pairs = list(itertools.combinations(values, 2))
    return sum(a - b > tie for a, b in pairs), sum(abs(a - b) <= tie for a, b in pairs)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 40])
def test_descents_and_ties_are_those_of_all_pairs(length):
    rng = np.random.default_rng(length)
    # eighths: differences are exact, and none but 0 is just the tie
    rows = rng.integers(-20, 20, size=(6, length)) / 8
    for tie in (0.0, 1 / 16, 5 / 16, 9.0):
        descending, ties = count_descents(np.hstack([rows, np.full((6, 3), np.inf)]), tie)
        expected = [count_in_order(row, tie) for row in rows.tolist()]
        assert list(zip(descending.tolist(), ties.tolist(), strict=True)) == expected


def test_equal_values_tie_wherever_they_lie():
    """One-hot codes beside a column whose square is an odd multiple of 2**-11 of the largest one's."""
    table = np.hstack([np.eye(600), np.full((600, 1), 1 / np.sqrt(1023))])
    pairs = 600 * 599 / 2
    expected = (599 + (pairs - 599) / 2) / pairs
    assert measure_kernel_monotonicity(compute_gram_kernel(table)) == pytest.approx(expected, abs=1e-14)
    assert measure_table_monotonicity(table) == 0.5
    assert measure_distance_lag_spearman(table) is None


@pytest.mark.parametrize("middle", [0.5, 2.0**-10, 0.3 + 0.5e-9, 0.7])
def test_values_tie_by_what_is_between_them(middle):
    for gap, expected in ((1e-16, 2.5 / 3), (0.99e-9, 2.5 / 3), (1.01e-9, 2 / 3), (-1.01e-9, 1.0)):
        assert measure_kernel_monotonicity([1.0, middle, middle + gap]) == pytest.approx(expected, abs=1e-15)


def test_a_slow_fall_is_no_tie_of_its_ends():
    """In a tail of 1/t**2 neighbours tie beyond 1260 lags, and values that are further apart still fall."""
    kernel = 1 / (1.0 + np.arange(3000.0) ** 2)
    apart = kernel[:, None] - kernel
    falls, ties = (np.sum(np.triu(mask, 1)) for mask in (apart > 1e-9, np.abs(apart) <= 1e-9))
    assert ties > 8000
    assert measure_kernel_monotonicity(kernel) == pytest.approx((falls + ties / 2) / (3000 * 2999 / 2), abs=1e-14)
    assert measure_kernel_monotonicity(kernel) > 0.99


def test_equal_distances_share_their_ranks():
    """Codes on a circle of 8 steps: lags t and 8 - t are as far, but for rounding."""
    length = 30
    lags = np.arange(1, length)
    ring = np.minimum(lags % 8, -lags % 8)
    ranks = np.array([np.sum(ring < x) + (np.sum(ring == x) + 1) / 2 for x in ring])
    found = measure_distance_lag_spearman(waves(length, 2 * np.pi / 8, -2 * np.pi / 8))
    assert found == pytest.approx(np.corrcoef(lags, ranks)[0, 1], abs=1e-13)


# ----------------------------------------------------------------------------------- scale


@pytest.mark.parametrize("scale", [1e150, 1e-150, -1e300, 1e-300])
@pytest.mark.parametrize("table", [THREE, FOUR + 3, np.eye(12), np.random.default_rng(0).normal(size=(20, 5))])
def test_no_metric_of_order_or_rank_depends_on_scale(table, scale):
    def collect(codes):
        orders = (measure_translation_invariance, measure_table_monotonicity, measure_distance_lag_spearman)
        return [measure(codes) for measure in orders] + list(astuple(measure_ranks(codes))[:4])

    assert_allclose(np.array(collect(scale * table), float), np.array(collect(table), float), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-300])
def test_no_metric_of_a_kernel_depends_on_scale(scale):
    def collect(kernel):
        sidelobe = measure_sidelobe(kernel)
        return measure_kernel_monotonicity(kernel), measure_half_width(kernel), sidelobe.lag, sidelobe.value

    kernel = np.cos(0.3 * np.arange(50.0)) * np.exp(-np.arange(50.0) / 20)
    assert_allclose(collect(scale * kernel), collect(kernel), rtol=1e-12)


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


def test_diagonal_means_beyond_float64_are_infinite_or_zero():
    assert_array_equal(average_diagonals(np.diag([1.7e308] * 3)), [np.inf, 0.0, 0.0])
    assert_array_equal(average_diagonals(np.diag([1e-200] * 3)), [0.0, 0.0, 0.0])
    long = average_diagonals(np.diag([1.7e308] * 600))
    assert not np.isnan(long).any()
    assert set(np.abs(long).tolist()) <= {0.0, np.inf}
