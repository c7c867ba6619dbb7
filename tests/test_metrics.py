"""Metrics: each against its definition in slow loops, facts from the catalogue, laws, and edges."""

import itertools
import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.metrics import (
    METRICS,
    Resolution,
    find_kernel_periods,
    measure_kernel_metrics,
    measure_ladder_resolution,
    measure_periods,
    measure_table_metrics,
    measure_table_resolution,
)
from pe_spectra.metrics import order as order_module
from pe_spectra.metrics.invariance import measure_translation_invariance
from pe_spectra.metrics.kernel_shape import measure_half_width, measure_sidelobe
from pe_spectra.metrics.linearity import SHIFTS, measure_shift_linearity
from pe_spectra.metrics.order import (
    compute_spearman,
    compute_squared_distances,
    count_descents,
    measure_distance_lag_spearman,
    measure_kernel_monotonicity,
    measure_table_monotonicity,
)
from pe_spectra.metrics.probes import (
    FOLDS,
    RIDGES,
    fit_ridge,
    measure_extrapolation,
    measure_position_probe,
)
from pe_spectra.metrics.rank import compute_effective_rank_entropy, compute_stable_rank, measure_ranks
from pe_spectra.metrics.tables import average_diagonals, narrow, triangulate
from tests import naive


def draw(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def sinusoidal(d, length, start=0):
    return naive.sinusoidal_table(d, 10000.0, range(start, start + length))


def one_hot(n):
    return np.eye(n)


def dft(d, length):
    return naive.basis(d).T[np.arange(length) % d]


def ramp(length, columns=3):
    return np.linspace(0, 1, length)[:, None] * np.ones(columns)


TABLES = {
    "sinusoidal": sinusoidal(16, 30),
    "wide": sinusoidal(64, 20),
    "one-hot": one_hot(12),
    "dft": dft(8, 20),
    "ramp": ramp(25),
    "random": draw(24, 5),
    "walk": np.cumsum(draw(40, 6, seed=3), axis=0),
    "one column": draw(17, 1, seed=4),
}
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)

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
    assert "5000 x 5000" in ranks.note


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (500, 2), (1, 1)])
def test_a_triangle_has_the_products_of_its_table(shape, monkeypatch):
    monkeypatch.setattr("pe_spectra.metrics.tables._BLOCK", 100)
    table = draw(*shape)
    triangle = triangulate(table)
    assert_allclose(triangle.T @ triangle, table.T @ table, atol=1e-11)
    assert_allclose(narrow(table) @ narrow(table).T, table @ table.T, atol=1e-11)
    assert narrow(table).shape[1] <= shape[0]


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
    assert measure_sidelobe(1 + 1e-15 * draw(50, 1)[:, 0]) is None


def test_the_sidelobe_of_a_period_is_that_period():
    found = measure_sidelobe(np.cos(2 * np.pi * np.arange(100) / 24) + 2)
    assert found.lag == 24
    assert found.value == pytest.approx(1)


# ----------------------------------------------------------------------------------- order


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


def test_a_bias_keeps_the_order_that_its_exponential_loses():
    bias = -2.0 * np.arange(600.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = np.exp(bias)
    assert measure_kernel_metrics(kernel).values["kernel_monotonicity"] < 0.6
    assert measure_kernel_metrics(kernel, bias=bias).values["kernel_monotonicity"] == 1.0


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (4, 7), (2, 16), (5, 17)])
def test_descents_are_counted_row_by_row(shape):
    rows = np.random.default_rng(1).integers(0, 4, size=shape).astype(float)
    filled = np.hstack([rows, np.full((shape[0], 3), np.inf)])
    for given in (rows, filled):
        descending, ties = count_descents(given)
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
    assert compute_spearman(first, second) == pytest.approx(expected, abs=1e-14)
    assert compute_spearman(second, first) == pytest.approx(expected, abs=1e-14)


def test_spearman_of_a_constant_is_undefined():
    assert compute_spearman([1, 2, 3], [5, 5, 5]) is None


@each_table
def test_squared_distances_by_lag_are_means_over_pairs(table):
    length = len(table)
    expected = [
        np.mean([np.sum((table[s] - table[s + lag]) ** 2) for s in range(length - lag)]) for lag in range(1, length)
    ]
    assert_allclose(compute_squared_distances(table), expected, atol=1e-10)


def test_distance_grows_with_the_lag_along_a_ramp_and_not_among_one_hot_codes():
    assert measure_distance_lag_spearman(ramp(200)) == pytest.approx(1)
    assert measure_distance_lag_spearman(ramp(200) + 1e6) == pytest.approx(1)
    assert measure_distance_lag_spearman(one_hot(200)) is None
    assert measure_distance_lag_spearman(dft(200, 150)) is None
    assert measure_distance_lag_spearman(ramp(2)) is None


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
    table = 1 + 0.01 * draw(60, 20)
    gram = table @ table.T
    energy = sum(np.trace(gram, offset=lag) ** 2 / (60 - abs(lag)) for lag in range(-59, 60)) / np.sum(gram**2)
    assert energy > 0.999
    assert measure_translation_invariance(table) < 0.2


@pytest.mark.parametrize("table", [np.ones((9, 2)), np.zeros((4, 4)), np.ones((1, 5))])
def test_translation_invariance_of_a_constant_gram_matrix_is_undefined(table):
    assert measure_translation_invariance(table) is None


# ----------------------------------------------------------------------------------- resolution


def test_fisher_information_of_a_ladder_is_the_sum_of_squared_frequencies():
    w = naive.frequencies(16, 10000.0)
    found = measure_ladder_resolution(w, np.ones(8), amplitude=0.5)
    assert found.fisher_information_mean == pytest.approx(0.25 * sum(x * x for x in w), rel=1e-15)
    assert found.fisher_information_min == found.fisher_information_mean
    assert found.cramer_rao_bound_worst == pytest.approx(2 / math.sqrt(sum(x * x for x in w)))
    assert found.is_exact


def test_fisher_information_of_a_ladder_is_the_derivative_of_its_codes():
    step = 1e-5
    w = naive.frequencies(15, 10000.0)
    codes = [naive.sinusoidal_table(15, 10000.0, [s - step, s + step]) for s in np.arange(0, 20000, 7.3)]
    information = np.mean([np.sum(((after - before) / (2 * step)) ** 2) for before, after in codes])
    assert measure_ladder_resolution(w, naive.masses(15)).fisher_information_mean == pytest.approx(
        information, rel=1e-5
    )


def test_a_lone_column_counts_half():
    times = np.arange(0, 1000, 0.01)
    slope = np.mean((0.7 * np.cos(0.7 * times)) ** 2)
    assert measure_ladder_resolution([0.7], [0.5]).fisher_information_mean == pytest.approx(slope, rel=1e-3)


def test_fisher_information_of_a_table_by_central_differences():
    table = draw(12, 4)
    expected = [sum(((table[s + 1, j] - table[s - 1, j]) / 2) ** 2 for j in range(4)) for s in range(1, 11)]
    found = measure_table_resolution(table)
    assert found.fisher_information_mean == pytest.approx(np.mean(expected))
    assert found.fisher_information_min == pytest.approx(min(expected))
    assert found.cramer_rao_bound_worst == pytest.approx(1 / math.sqrt(min(expected)))
    assert not found.is_exact


def test_central_differences_see_the_sine_of_a_frequency():
    found = measure_table_resolution(sinusoidal(32, 100))
    expected = sum(math.sin(w) ** 2 for w in naive.frequencies(32, 10000.0))
    assert found.fisher_information_mean == pytest.approx(expected)


def test_equal_codes_carry_no_information():
    found = measure_table_resolution(np.ones((5, 2)))
    assert found.fisher_information_mean == 0
    assert found.cramer_rao_bound_mean is None
    assert found.cramer_rao_bound_worst is None
    assert measure_table_resolution(np.ones((2, 2))) is None


def test_information_below_the_range_of_float64_is_no_zero():
    table = draw(12, 4)
    found, plain = measure_table_resolution(1e-200 * table), measure_table_resolution(table)
    assert found.fisher_information_mean is None
    assert found.fisher_information_min is None
    assert found.cramer_rao_bound_mean == pytest.approx(1e200 * plain.cramer_rao_bound_mean)
    assert found.cramer_rao_bound_worst == pytest.approx(1e200 * plain.cramer_rao_bound_worst)
    ladder = measure_ladder_resolution([1.0, 0.5], [1.0, 1.0], amplitude=1e-200)
    assert ladder.fisher_information_mean is None
    assert ladder.cramer_rao_bound_mean == pytest.approx(1e200 / math.sqrt(1.25))
    slow = measure_ladder_resolution([1e-200], [1.0])
    assert (slow.fisher_information_min, slow.cramer_rao_bound_worst) == (None, pytest.approx(1e200))
    still = measure_ladder_resolution([0.0], [1.0])
    assert (still.fisher_information_min, still.cramer_rao_bound_worst) == (0.0, None)


def test_one_slow_place_is_below_the_range_alone():
    table = np.array([[0.0], [1e-180], [2e-180], [1.0], [2.0]])
    found = measure_table_resolution(table)
    assert found.fisher_information_mean == pytest.approx((0.25 + 1.0) / 3)
    assert found.fisher_information_min is None
    assert found.cramer_rao_bound_worst == pytest.approx(1e180)


# ----------------------------------------------------------------------------------- shift linearity


@pytest.mark.parametrize(("d", "length"), [(16, 64), (64, 512), (256, 80), (256, 512), (768, 1024)])
def test_the_sinusoid_is_shifted_by_a_linear_map(d, length):
    found = measure_shift_linearity(sinusoidal(d, length))
    assert found.worst > 0.9999
    assert found.worst <= found.mean <= 1
    assert [k for k, _ in found.by_shift] == [k for k in SHIFTS if k <= length // 8]


def test_random_codes_are_not_shifted_by_a_linear_map():
    found = measure_shift_linearity(draw(512, 32))
    assert found.mean < 0.05
    assert found.components == 32


def test_the_fit_is_the_least_squares_fit_on_what_is_not_held_out():
    table = draw(40, 3, seed=5).cumsum(axis=0)
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
    assert_allclose([found.mean, found.worst], [np.mean(scores), min(scores)], rtol=1e-7)


def test_shift_linearity_is_none_where_it_would_overfit():
    for table in (one_hot(80), dft(256, 80), draw(100, 64)):
        found = measure_shift_linearity(table)
        assert found.mean is found.worst is None
        assert "overfit" in found.note
    assert "too few" in measure_shift_linearity(one_hot(7)).note
    assert "equal" in measure_shift_linearity(np.ones((50, 3))).note


def test_shift_linearity_of_many_positions_looks_at_some():
    angle = np.arange(20000)[:, None] * np.array([1.0, 0.1])
    found = measure_shift_linearity(np.hstack([np.sin(angle), np.cos(angle)]))
    assert found.worst == pytest.approx(1)
    assert len(found.by_shift) == len(SHIFTS)


# ----------------------------------------------------------------------------------- probes


def solve_ridge_slowly(codes, wanted):
    """Every ridge in turn, the trace of the hat matrix formed; the first of the best."""
    n = len(codes)
    mean, middle = codes.mean(axis=0), wanted.mean()
    centred = codes - mean
    gram = centred.T @ centred
    unit = np.linalg.norm(gram, 2)
    best = None
    for ridge in RIDGES:
        inverse = np.linalg.inv(gram + ridge * unit * np.eye(len(gram)))
        hat = centred @ inverse @ centred.T + 1 / n
        residual = np.sum(((np.eye(n) - hat) @ wanted) ** 2)
        score = residual / (1 - np.trace(hat) / n) ** 2
        if best is None or score < best[0] * (1 - 1e-9):
            best = (score, inverse @ centred.T @ (wanted - middle))
    return lambda rows: (rows - mean) @ best[1] + middle


@pytest.mark.parametrize("table", [draw(30, 4), draw(31, 4).cumsum(axis=0), sinusoidal(8, 40)])
def test_the_probe_is_five_ridge_regressions(table):
    wanted = np.arange(len(table), dtype=float)
    errors = np.empty(len(table))
    for fold in range(FOLDS):
        held_out = np.arange(len(table)) % FOLDS == fold
        predict = solve_ridge_slowly(table[~held_out], wanted[~held_out])
        errors[held_out] = predict(table[held_out]) - wanted[held_out]
    found = measure_position_probe(table)
    assert found.rmse == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
    assert found.r2 == pytest.approx(1 - np.sum(errors**2) / np.sum((wanted - wanted.mean()) ** 2), abs=1e-6)


def test_the_probe_reads_a_ramp_and_not_one_hot_codes():
    assert measure_position_probe(ramp(60)).r2 == pytest.approx(1, abs=1e-9)
    assert measure_position_probe(one_hot(60)).r2 < 0
    assert measure_position_probe(draw(400, 8)).r2 < 0.05
    assert measure_position_probe(sinusoidal(64, 200)).rmse < 0.1


def test_the_probe_does_not_depend_on_rotation_scale_or_origin():
    table = draw(50, 4).cumsum(axis=0)
    turn, _ = np.linalg.qr(draw(9, 9, seed=2))
    moved = 1e30 * (np.hstack([table, np.zeros((50, 5))]) @ turn)
    assert measure_position_probe(moved).r2 == pytest.approx(measure_position_probe(table).r2, abs=1e-9)
    assert measure_position_probe(table + 5).r2 == pytest.approx(measure_position_probe(table).r2, abs=1e-9)


def test_the_probe_says_why_it_is_none():
    assert "too few" in measure_position_probe(one_hot(9)).note
    assert "budget" in measure_position_probe(np.broadcast_to(1.0, (3000, 3000))).note
    assert measure_position_probe(np.ones((20, 2))).r2 <= 0


@pytest.mark.parametrize("rows", [9, 25])
@pytest.mark.parametrize("seed", range(8))
def test_a_ridge_fit_is_that_of_the_slow_loop(rows, seed):
    # noise on few rows: the ridge that is chosen depends on every term of the criterion
    rng = np.random.default_rng(seed)
    table, wanted = rng.normal(size=(rows, 6)), rng.normal(size=rows)
    assert_allclose(fit_ridge(table, wanted).predict(table), solve_ridge_slowly(table, wanted)(table), rtol=1e-8)


def test_extrapolation_holds_along_a_ramp():
    line = np.arange(200.0)[:, None] * np.array([[0.5, -1.0]])
    found = measure_extrapolation(line[:100], line[100:])
    assert found.rmse < 1e-3
    assert found.smallest_separation == pytest.approx(math.sqrt(1.25))


def test_extrapolation_fails_for_a_period_and_finds_the_repeated_code():
    table = dft(32, 64)
    found = measure_extrapolation(table[:32], table[32:])
    assert found.rmse > 30
    assert found.smallest_separation == 0
    trained = sinusoidal(64, 256)
    assert measure_extrapolation(trained[:128], trained[128:]).rmse > 20


def test_extrapolation_is_the_slow_fit_asked_further_on():
    table = draw(60, 5).cumsum(axis=0)
    predict = solve_ridge_slowly(table[:40], np.arange(40.0))
    expected = np.sqrt(np.mean((predict(table[40:]) - np.arange(40, 60)) ** 2))
    assert measure_extrapolation(table[:40], table[40:]).rmse == pytest.approx(expected, rel=1e-6)


def test_extrapolation_refuses_two_widths():
    with pytest.raises(InputError, match=r"2 and 3"):
        measure_extrapolation(np.ones((10, 2)), np.ones((10, 3)))


def test_information_below_the_range_of_float64_is_said_to_be_so():
    found = measure_table_metrics(1e-200 * draw(12, 3))
    assert found.values["fisher_information_mean"] is None
    assert found.notes["fisher_information_mean"] == "below the range of float64"


# ----------------------------------------------------------------------------------- periods

DAY, WEEK = ("day", 86400.0), ("week", 604800.0)


def test_hourly_kernel_comes_back_after_a_day_and_a_week():
    lags = np.arange(400)
    kernel = 1 + np.cos(2 * np.pi * lags / 24) + 0.5 * np.cos(2 * np.pi * lags / 168)
    w = 2 * np.pi / np.array([24.0, 168.0])
    day, week = measure_periods(kernel, step_seconds=3600, periods=[DAY, WEEK], frequencies=w)
    assert (day.lag, week.lag) == (24, 168)
    assert day.is_local_maximum
    assert week.is_local_maximum
    assert week.ratio == pytest.approx(1)
    assert day.ratio == pytest.approx((2 + 0.5 * math.cos(2 * math.pi / 7)) / 2.5)
    assert (day.nearest_period, week.nearest_period) == (pytest.approx(86400), pytest.approx(604800))
    assert day.nearest_ratio == pytest.approx(1)
    assert day.note == ""


def test_a_kernel_without_the_period_says_so():
    (day,) = measure_periods(np.exp(-np.arange(100) / 30), step_seconds=3600, periods=[DAY])
    assert day.is_local_maximum is False
    assert day.nearest_period is None
    assert day.ratio == pytest.approx(math.exp(-0.8))


def test_a_period_beyond_the_kernel_is_none_with_a_note():
    (week,) = measure_periods(np.ones(100), step_seconds=3600, periods=[WEEK])
    assert week.ratio is week.is_local_maximum is None
    assert "lag 99" in week.note
    (last,) = measure_periods(np.ones(169), step_seconds=3600, periods=[WEEK])
    assert last.ratio == 1
    assert last.is_local_maximum is None


def test_a_lag_between_two_steps_is_taken_linearly_from_values_and_exactly_from_a_function():
    step = 3600 * 24 / 10.5
    kernel = np.cos(2 * np.pi * np.arange(50) / 10.5)
    (values,) = measure_periods(kernel, step_seconds=step, periods=[DAY])
    (function,) = measure_periods(lambda lags: np.cos(2 * np.pi * lags / 10.5), step_seconds=step, periods=[DAY])
    assert values.ratio == pytest.approx((kernel[10] + kernel[11]) / 2)
    assert "not whole" in values.note
    assert function.ratio == pytest.approx(1)
    assert function.note == ""
    assert function.nearest_period is None
    # the whole lags on either side are as high as each other, and higher than theirs
    assert values.is_local_maximum
    assert function.is_local_maximum


@pytest.mark.parametrize(("seconds", "expected"), [(10.6, True), (11, True), (11.4, True), (10, False), (12.5, False)])
def test_a_maximum_is_looked_for_at_the_whole_lags_next_to_the_period(seconds, expected):
    kernel = np.cos(2 * np.pi * np.arange(40) / 11)
    (found,) = measure_periods(kernel, step_seconds=1, periods=[("eleven", seconds)])
    assert found.is_local_maximum is expected


def test_a_period_shorter_than_a_step_is_no_maximum():
    (found,) = measure_periods(np.ones(10), step_seconds=100, periods=[("short", 50)])
    assert found.is_local_maximum is False
    assert "shorter than a step" in found.note


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_length_of_time_is_above_0(seconds):
    with pytest.raises(InputError):
        measure_periods(np.ones(3), step_seconds=seconds, periods=[DAY])
    with pytest.raises(InputError):
        measure_periods(np.ones(3), step_seconds=1, periods=[("none", seconds)])


@pytest.mark.parametrize("period", [2.5, 6.1, 18.2, 54.6, 164.0])
def test_the_periods_of_a_kernel_are_found(period):
    found = find_kernel_periods(np.cos(2 * np.pi * np.arange(1000) / period))
    assert_allclose(found, [period], rtol=0.01)


def test_periods_are_strongest_first_and_a_trend_is_none():
    lags = np.arange(1000)
    kernel = 3 * np.cos(2 * np.pi * lags / 24) + np.cos(2 * np.pi * lags / 168) + np.exp(-lags / 400)
    assert_allclose(find_kernel_periods(kernel), [24, 168], rtol=0.03)
    for flat in (np.ones(100), np.zeros(100), np.exp(-lags / 50), [1.0, 0.5]):
        assert len(find_kernel_periods(flat)) == 0


# ----------------------------------------------------------------------------------- all together


def test_every_metric_has_a_definition_a_direction_and_a_source():
    for name, metric in METRICS.items():
        assert name == name.lower()
        assert 10 < len(metric.definition) < 100, name
        assert "\n" not in metric.definition
        assert metric.better in {"higher", "lower", None}
        assert len(metric.source) > 10


@pytest.mark.parametrize(
    "table",
    [
        *TABLES.values(),
        np.ones((20, 3)),
        np.zeros((20, 3)),
        np.ones((1, 3)),
        draw(2, 2),
        1e300 * one_hot(20),
        1e-300 * one_hot(9),
    ],
)
def test_every_value_is_finite_or_has_a_note(table):
    for beyond in (None, table):
        found = measure_table_metrics(table, beyond=beyond)
        assert list(found.values) == list(METRICS)
        assert set(found.notes) == {name for name, value in found.values.items() if value is None}
        assert all(len(note) > 5 for note in found.notes.values())
        assert all(
            type(value) is float and math.isfinite(value) for value in found.values.values() if value is not None
        )


@each_table
def test_the_gathered_values_are_those_of_the_functions(table):
    found = measure_table_metrics(table).values
    kernel = average_diagonals(table)
    assert found["kernel_half_width"] == measure_half_width(kernel)
    assert found["kernel_monotonicity"] == measure_kernel_monotonicity(kernel)
    assert found["table_monotonicity"] == measure_table_monotonicity(table)
    assert found["translation_invariance"] == measure_translation_invariance(table)
    assert found["distance_lag_spearman"] == measure_distance_lag_spearman(table)
    assert found["stable_rank_centred"] == measure_ranks(table).stable_rank_centred
    assert found["probe_rmse"] == measure_position_probe(table).rmse
    assert found["shift_linearity_worst"] == measure_shift_linearity(table).worst
    assert found["fisher_information_min"] == measure_table_resolution(table).fisher_information_min


def test_an_exact_kernel_and_resolution_take_the_place_of_the_table_s():
    exact = Resolution(
        fisher_information_mean=2.0,
        fisher_information_min=2.0,
        cramer_rao_bound_mean=0.5,
        cramer_rao_bound_worst=0.5,
        is_exact=True,
    )
    found = measure_table_metrics(draw(20, 3), kernel=[1.0, 0.0, 0.9, 0.0], resolution=exact).values
    assert (found["kernel_half_width"], found["sidelobe_ratio"], found["sidelobe_lag"]) == (0.5, 0.9, 2.0)
    assert found["fisher_information_mean"] == 2.0


def test_a_kernel_alone_has_no_table():
    found = measure_kernel_metrics([1.0, 0.2, 0.4, 0.1])
    assert found.values["sidelobe_lag"] == 2
    assert found.notes["probe_rmse"] == "the encoding has no table of codes"
    assert set(found.notes) == set(METRICS) - {
        "kernel_half_width",
        "sidelobe_ratio",
        "sidelobe_lag",
        "kernel_monotonicity",
    }


def test_two_runs_agree_to_the_bit_and_leave_the_table_alone():
    table = draw(60, 8).cumsum(axis=0)
    before = table.copy()
    assert dict(measure_table_metrics(table).values) == dict(measure_table_metrics(table).values)
    assert_array_equal(table, before)


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((2, 2, 2)), np.empty((0, 3)), [[1.0, math.nan]], [[math.inf]]])
def test_a_table_that_is_none_is_refused(wrong):
    for measure in (measure_table_metrics, measure_ranks, measure_translation_invariance, measure_position_probe):
        with pytest.raises(InputError):
            measure(wrong)


@pytest.mark.parametrize("wrong", [[], [[1.0]], [1.0, math.nan]])
def test_a_kernel_that_is_none_is_refused(wrong):
    for measure in (measure_half_width, measure_sidelobe, measure_kernel_monotonicity, measure_kernel_metrics):
        with pytest.raises(InputError):
            measure(wrong)


def test_of_a_plateau_its_beginning_is_the_sidelobe():
    for kernel in ([4.0, 1.0, 2.0, 2.0, 2.0, 0.0], [4.0, 1.0, 2.0, 2.0, 1.0, 2.0, 0.0]):
        assert (measure_sidelobe(kernel).lag, measure_sidelobe(kernel).value) == (2, 0.5)
