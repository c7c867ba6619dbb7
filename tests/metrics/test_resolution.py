"""Ranks and Fisher information: of frequencies, of tables, and at the ends of the range of float64."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Dft, Sinusoidal, compare_encodings
from pe_spectra.metrics import measure_ladder_resolution
from pe_spectra.metrics.measures import centre, narrow, triangulate
from pe_spectra.metrics.resolution import _measure_table_resolution, measure_ranks
from tests import naive
from tests.making import draw_table
from tests.metrics.tables import (
    beside,
    dft,
    each_table,
    measure_all,
    measure_distance_lag_spearman,
    measure_translation_invariance,
    one_hot,
    ramp,
    sinusoidal,
    waves,
    widen,
)

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
    table = draw_table(12, 4)
    expected = [sum(((table[s + 1, j] - table[s - 1, j]) / 2) ** 2 for j in range(4)) for s in range(1, 11)]
    found = _measure_table_resolution(table)
    assert found.fisher_information_mean == pytest.approx(np.mean(expected))
    assert found.fisher_information_min == pytest.approx(min(expected))
    assert found.cramer_rao_bound_worst == pytest.approx(1 / math.sqrt(min(expected)))
    assert not found.is_exact


def test_central_differences_see_the_sine_of_a_frequency():
    found = _measure_table_resolution(sinusoidal(32, 100))
    expected = sum(math.sin(w) ** 2 for w in naive.frequencies(32, 10000.0))
    assert found.fisher_information_mean == pytest.approx(expected)


def test_equal_codes_carry_no_information():
    found = _measure_table_resolution(np.ones((5, 2)))
    assert found.fisher_information_mean == 0
    assert found.cramer_rao_bound_mean is None
    assert found.cramer_rao_bound_worst is None
    assert _measure_table_resolution(np.ones((2, 2))) is None


def test_information_below_the_range_of_float64_is_no_zero():
    table = draw_table(12, 4)
    found, plain = _measure_table_resolution(1e-200 * table), _measure_table_resolution(table)
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
    found = _measure_table_resolution(table)
    assert found.fisher_information_mean == pytest.approx((0.25 + 1.0) / 3)
    assert found.fisher_information_min is None
    assert found.cramer_rao_bound_worst == pytest.approx(1e180)


# ----------------------------------------------------------------------------------- probes


def test_information_below_the_range_of_float64_is_said_to_be_so():
    found = measure_all(1e-200 * draw_table(12, 3))
    assert found.values["fisher_information_mean"] is None
    assert found.notes["fisher_information_mean"] == "below the range of float64"


FISHER = ("fisher_information_mean", "fisher_information_min", "cramer_rao_bound_mean", "cramer_rao_bound_worst")


# ----------------------------------------------------------------------------------- Fisher information


def find_information(table):
    """Exact J at the positions 1 .. S-2."""
    rows = [[Fraction(float(x)) for x in row] for row in table]
    return [
        sum((after - before) ** 2 for after, before in zip(rows[s + 1], rows[s - 1], strict=True)) / 4
        for s in range(1, len(rows) - 1)
    ]


def invert_root(information):
    with mpmath.workdps(40):
        return float(mpmath.sqrt(mpmath.mpf(information.denominator) / information.numerator))


LINE = np.arange(12.0)[:, None]
SCALES = np.array([1e-300, 2e-300, 1e-170, 3e-170, 1e-20, 1.0, 1.0, 1e160, -1e160, 1.7e308, -1.7e308])[:, None]


@pytest.mark.parametrize(
    "table",
    [
        widen(1e-170 * LINE, 1.0),
        widen(1e-161 * LINE, 1.0),
        widen(1e-145 * LINE, 1e8),
        1e160 * LINE,
        SCALES,
        SCALES[:5],
        np.array([[0.0], [5e-324], [5e-324], [1.0]]),
        np.array([[1.7e308, 0.0], [0.0, 0.0], [-1.7e308, 5e-324]]),
        np.array([[0.0, 3e-300], [4e-300, 1.0], [1e-300, 1e-300], [4e-300, 1.0]]),
    ],
)
def test_information_and_bounds_are_those_in_fractions(table):
    exact = find_information(table)
    mean, least = sum(exact) / len(exact), min(exact)
    found = _measure_table_resolution(table)
    for value, name in ((mean, FISHER[0]), (least, FISHER[1])):
        shown = getattr(found, name)
        if value and not 0 < round_to_float(value) < math.inf:
            assert shown is None
            assert found.reasons[name] == f"{'below' if value < 1 else 'beyond'} the range of float64"
        else:
            assert shown == pytest.approx(round_to_float(value), rel=1e-14, abs=5e-324)
    for value, name in ((mean, FISHER[2]), (least, FISHER[3])):
        shown = getattr(found, name)
        if not value:
            assert (shown, found.reasons[name]) == (None, "the information is 0")
        elif invert_root(value) == math.inf:
            assert (shown, found.reasons[name]) == (None, "beyond the range of float64")
        else:
            assert shown == pytest.approx(invert_root(value), rel=1e-14, abs=0)


def round_to_float(value):
    with mpmath.workdps(40):
        return float(mpmath.mpf(value.numerator) / value.denominator)


def test_information_of_a_ladder_at_the_ends_of_the_range():
    found = measure_ladder_resolution([1e200, 1.0], [1.0, 1.0], amplitude=3.0)
    assert (found.fisher_information_mean, found.reasons[FISHER[0]]) == (None, "beyond the range of float64")
    assert found.cramer_rao_bound_mean == pytest.approx(1e-200 / 3, rel=1e-14)
    slow = measure_ladder_resolution([1.0, 1e-200], [0.0, 1.0])
    assert (slow.fisher_information_mean, slow.cramer_rao_bound_mean) == (None, pytest.approx(1e200, rel=1e-14))
    still = measure_ladder_resolution([1e-200], [1.0], amplitude=1e-200)
    assert (still.cramer_rao_bound_mean, still.reasons[FISHER[2]]) == (None, "beyond the range of float64")
    assert still.reasons[FISHER[0]] == "below the range of float64"


@pytest.mark.parametrize(
    ("options", "length"),
    [
        ({"d": 3, "rho": 1e-6}, 3),
        ({"d": 3, "rho": 1.0}, 2),
        ({"d": 5, "rho": 0.01, "offset": 1, "scale": 0.3}, 40),
        ({"d": 63}, 128),
        ({"d": 3, "rho": 2.0}, 1),
    ],
)
def test_a_lone_sine_informs_by_its_slope_at_the_positions(options, length):
    d, scale, offset = options["d"], options.get("scale", 1.0), options.get("offset", 0)
    with mpmath.workdps(40):
        rho = mpmath.mpf(options.get("rho", 10000.0))
        w = [rho ** (-mpmath.mpf(index) / d) for index in range(0, d, 2)]
        pairs, lone = sum(x**2 for x in w[:-1]), w[-1]
        exact = [
            mpmath.mpf(scale) ** 2 * (pairs + (lone * mpmath.cos(lone * (s + offset))) ** 2) for s in range(length)
        ]
        mean, least = float(sum(exact) / length), float(min(exact))
    found = compare_encodings([Sinusoidal(**options)], length=length)[0].values
    expected = (mean, least, 1 / math.sqrt(mean), 1 / math.sqrt(least))
    assert tuple(found[name] for name in FISHER) == pytest.approx(expected, rel=1e-14)


def test_the_lone_cosine_at_pi_never_moves_at_integers():
    found = compare_encodings([Dft(d=2)], length=2)[0]
    assert found.values[FISHER[0]] == found.values[FISHER[1]] == 0
    assert found.notes[FISHER[2]] == "the information is 0"


@pytest.mark.parametrize("d", [64, 7, 2])
def test_the_information_of_the_dft_encoding_is_that_of_its_frequencies(d):
    """A sine and cosine of frequency w and amplitude a inform with a**2 w**2; the cosine of pi never moves."""
    found = compare_encodings([Dft(d=d)], length=d)[0].values
    k = np.arange(1, (d + 1) // 2)
    assert_allclose(found["fisher_information_mean"] or 0.0, 2 / d * np.sum((2 * np.pi * k / d) ** 2), rtol=1e-14)


def test_the_information_of_a_ladder_is_the_sum_of_its_squares():
    w = 10000.0 ** (-2 * np.arange(32) / 64)
    found = compare_encodings([Sinusoidal(d=64)])[0].values
    assert_allclose(found["fisher_information_mean"], np.sum(w**2), rtol=1e-14)
    assert_allclose(found["fisher_information_min"], np.sum(w**2), rtol=1e-14)


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
    zero = measure_ranks(np.zeros((7, 3)))
    assert zero.stable_rank is zero.effective_rank_entropy is None


def test_ranks_beyond_the_budget_are_none_with_a_note():
    ranks = measure_ranks(np.broadcast_to(1.0, (5000, 5000)))
    assert ranks.stable_rank is None
    assert "5000 x 5000" in ranks.reasons["stable_rank"]


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (500, 2), (1, 1)])
def test_a_triangle_has_the_products_of_its_table(shape, monkeypatch):
    monkeypatch.setattr("pe_spectra.metrics.measures._BLOCK", 100)
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
