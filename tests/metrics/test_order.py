"""Whether similarity falls with distance and depends on the lag alone: pairs, triples, ranks, ties, variances."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import read_encoding
from pe_spectra.metrics import order as order_module
from pe_spectra.metrics.order import (
    _compute_squared_distances,
    _correlate,
    _count_descents,
    _rank,
    measure_kernel_monotonicity,
)
from pe_spectra.spectrum import compute_gram_kernel
from tests.making import draw_table
from tests.metrics.tables import (
    HARD,
    beside,
    dft,
    each_table,
    measure_all,
    measure_distance_lag_spearman,
    measure_table_monotonicity,
    measure_translation_invariance,
    one_hot,
    ramp,
    sinusoidal,
    waves,
)

# ----------------------------------------------------------------------------------- order


def correlate_ranks(first, second):
    """Spearman's correlation of two lists."""
    return _correlate(*(_rank(np.array(values, float)) for values in (first, second)))


def count_in_order(values):
    """Share of pairs that fall, ties one half."""
    pairs = list(itertools.combinations(values, 2))
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 8, 9, 33])
@pytest.mark.parametrize("levels", [1, 2, 5, 1000])
def test_kernel_monotonicity_is_the_share_of_pairs_that_fall(length, levels):
    kernel = np.random.default_rng(length).integers(0, levels, size=length) / 8
    assert measure_kernel_monotonicity(kernel) == pytest.approx(count_in_order(kernel), abs=1e-14)


def test_kernel_monotonicity_at_its_ends():
    lags = np.arange(1000.0)
    assert measure_kernel_monotonicity(-lags) == 1.0
    assert measure_kernel_monotonicity(lags) == 0.0
    assert measure_kernel_monotonicity(np.ones(1000)) == 0.5
    assert measure_kernel_monotonicity(np.zeros(5)) == 0.5
    assert measure_kernel_monotonicity([1.0]) is None


def test_lags_where_the_exponential_of_a_bias_vanishes_are_ties():
    bias = -2.0 * np.arange(600.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = np.exp(bias)
    assert measure_all(kernel=kernel).values["kernel_monotonicity"] < 0.6
    assert measure_kernel_monotonicity(bias) == 1.0


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (4, 7), (2, 16), (5, 17)])
def test_descents_are_counted_row_by_row(shape):
    rows = np.random.default_rng(1).integers(0, 4, size=shape).astype(float)
    filled = np.hstack([rows, np.full((shape[0], 3), np.inf)])
    for given in (rows, filled):
        descending, ties = _count_descents(given)
        pairs = [list(itertools.combinations(row, 2)) for row in rows.tolist()]
        assert descending.tolist() == [sum(a > b for a, b in row) for row in pairs]
        assert ties.tolist() == [sum(a == b for a, b in row) for row in pairs]


def triples_in_order(table):
    gram = np.round(table @ table.T, 9)
    scores = []
    for s, t, u in itertools.combinations(range(len(table)), 3):
        for near, far in ((gram[s, t], gram[s, u]), (gram[u, t], gram[u, s])):
            scores.append(1.0 if near > far else 0.5 if near == far else 0.0)
    return sum(scores) / len(scores)


@each_table
def test_table_monotonicity_is_the_share_of_triples_in_order(table):
    assert measure_table_monotonicity(table) == pytest.approx(triples_in_order(table), abs=1e-12)


def test_table_monotonicity_of_many_positions_is_near_that_of_all(monkeypatch):
    table = sinusoidal(16, 300)
    whole = measure_table_monotonicity(table)
    monkeypatch.setattr(order_module, "_MOST_ENTRIES", 300 * 40)
    monkeypatch.setattr(order_module, "_BLOCK", 300 * 7)
    sampled = measure_table_monotonicity(table)
    assert sampled != whole
    assert sampled == pytest.approx(whole, abs=0.02)


def test_table_monotonicity_of_codes_on_an_arc_is_1_and_of_one_hot_codes_a_half():
    angle = np.linspace(0, 3, 40)
    assert measure_table_monotonicity(np.stack([np.cos(angle), np.sin(angle)], axis=1)) == 1.0
    assert measure_table_monotonicity(one_hot(9)) == 0.5
    assert measure_table_monotonicity(one_hot(2)) is None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),
        # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5)
        ([1, 2, 2, 3], [1, 2, 3, 4], 4.5 / math.sqrt(22.5)),
        # Spearman's IQ and television example: -29/165
        (
            [86, 97, 99, 100, 101, 103, 106, 110, 112, 113],
            [2, 20, 28, 27, 50, 29, 7, 17, 6, 12],
            -29 / 165,
        ),
    ],
)
def test_spearman_takes_average_ranks(first, second, expected):
    assert correlate_ranks(first, second) == pytest.approx(expected, abs=1e-14)
    assert correlate_ranks(second, first) == pytest.approx(expected, abs=1e-14)


def test_spearman_of_a_constant_is_undefined():
    assert correlate_ranks([1, 2, 3], [5, 5, 5]) is None


@each_table
def test_squared_distances_by_lag_are_means_over_pairs(table):
    length = len(table)
    expected = [
        np.mean([np.sum((table[s] - table[s + lag]) ** 2) for s in range(length - lag)]) for lag in range(1, length)
    ]
    assert_allclose(_compute_squared_distances(table), expected, atol=1e-10)


def test_distance_grows_with_the_lag_along_a_ramp_and_not_among_one_hot_codes():
    assert measure_distance_lag_spearman(ramp(200)) == pytest.approx(1)
    assert measure_distance_lag_spearman(ramp(200) + 1e6) == pytest.approx(1)
    assert measure_distance_lag_spearman(one_hot(200)) is None
    assert measure_distance_lag_spearman(dft(200, 150)) is None
    assert measure_distance_lag_spearman(ramp(2)) is None


# ----------------------------------------------------------------------------------- ties


def count_pairs(values, tie):
    """Pairs that fall and pairs that tie, one by one."""
    pairs = list(itertools.combinations(values, 2))
    return sum(a - b > tie for a, b in pairs), sum(abs(a - b) <= tie for a, b in pairs)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 40])
def test_descents_and_ties_are_those_of_all_pairs(length):
    rng = np.random.default_rng(length)
    # eighths: differences are exact, and none but 0 is just the tie
    rows = rng.integers(-20, 20, size=(6, length)) / 8
    for tie in (0.0, 1 / 16, 5 / 16, 9.0):
        descending, ties = _count_descents(np.hstack([rows, np.full((6, 3), np.inf)]), tie)
        expected = [count_pairs(row, tie) for row in rows.tolist()]
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


# ----------------------------------------------------------------------------------- translation


@each_table
def test_diagonal_means_are_those_of_the_gram_matrix(table):
    gram = table @ table.T
    expected = [np.mean(np.diagonal(gram, offset=lag)) for lag in range(len(table))]
    assert_allclose(compute_gram_kernel(table), expected, atol=1e-10)


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
