"""The closest two rows of any table, against brute force in exact arithmetic."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.learned import Learned
from pe_spectra.faithfulness import closest_pair as closest_module
from pe_spectra.faithfulness.closest_pair import ROOMY, find_closest_pair, measure_pairs, scale_down, scale_up
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.separation import (
    _separate_codes,
    _square_distances,
    _square_distances_by_scipy,
    _trace_lags,
)
from tests import naive
from tests.making import draw_table

LARGEST = 1.7e308


def square(table, s, t):
    """The squared distance of two rows, exactly."""
    return sum((Fraction(float(x)) - Fraction(float(y))) ** 2 for x, y in zip(table[s], table[t], strict=True))


def root(value):
    """The square root of a fraction as a float; None beyond the range."""
    shift = 0
    if value == 0:
        return 0.0
    while value >= 2**200:
        value, shift = value / 2**200, shift + 100
    while value < Fraction(1, 2**200):
        value, shift = value * 2**200, shift - 100
    try:
        return math.ldexp(math.sqrt(float(value)), shift)
    except OverflowError:
        return None


def compare(table, ties=1e-14):
    """Compare with all pairs; distances that agree to `ties` are the same."""
    table = np.asarray(table, dtype=float)
    squares = {pair: square(table, *pair) for pair in combinations(range(len(table)), 2)}
    best = min(squares.values())
    found = find_closest_pair(table)
    expected = root(best)
    if expected is None:
        assert found.distance is None
    else:
        assert_allclose(found.distance, expected, rtol=1e-14, atol=0 if expected > 1e-300 else 5e-324)
    near = [pair for pair, value in squares.items() if value <= best * (1 + Fraction(ties))]
    exact = [pair for pair, value in squares.items() if value == best]
    assert near[0] <= found.pair <= exact[0]
    assert found.pair in near
    return found


@pytest.mark.few(12)
@pytest.mark.parametrize("scale", [1e-318, 1e-200, 1e-160, 1.0, 1e150, 1e200, 1e306])
@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (2, 5), (25, 1), (20, 3), (15, 40)])
def test_drawn_tables_of_any_scale(scale, rows, columns):
    compare(draw_table(rows, columns, seed=rows + columns) * scale)


@pytest.mark.parametrize(
    "table",
    [
        [[0.0], [0.0]],
        [[0.0], [-0.0]],
        [[1.0, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]],
        [[1.0, 0], [0, 1], [-1, 0], [0, -1]],
        [[0.0], [1], [2], [3], [4]],
        [[3.0], [0], [9], [6], [12]],
        [[LARGEST, -LARGEST], [-LARGEST, LARGEST]],
        [[LARGEST], [-LARGEST], [0.0]],
        [[LARGEST, LARGEST], [-LARGEST, LARGEST], [LARGEST, -LARGEST], [-LARGEST, -LARGEST]],
        [[LARGEST], [1e-10], [2.5e-10]],
        [[1e200], [1e-200], [2e-200]],
        [[0.0, 1e-200], [1e-200, 0.0], [1.0, 1.0]],
        [[1.0, 1e-200], [1.0, 5e-200], [1.0, 7e-200], [1.0, 7.5e-200]],
        [[0.1, 1e-200], [0.1, 5e-200], [0.1, 7e-200], [0.1, 7.5e-200]],
        [[5e-324], [0.0], [1e-323], [1.0]],
        [[1e16], [1e16 + 2], [1e16 + 6]],
        np.eye(12),
        -2.5 * np.eye(7) + 1e3,
        np.eye(12)[::-1] * 1e-200,
        np.tile(np.arange(6.0), (9, 1)) + np.arange(9.0)[:, None],
        1e6 + 1e-6 * draw_table(30, 3),
        np.round(draw_table(40, 2), 1),
        draw_table(60, 2).astype(np.float16),
        draw_table(60, 3).astype(np.float32),
    ],
)
def test_hand_picked_tables(table):
    compare(table)


def test_near_duplicates_keep_their_digits():
    # 1 + 1e-9 rounds: the difference of these doubles is 1.000000082740371e-09
    found = find_closest_pair(np.array([[1.0, 2, 3, 4], [1 + 1e-9, 2, 3, 4], [0, 0, 0, 0]]))
    assert found.distance == 1.000000082740371e-09
    assert found.pair == (0, 1)


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 9), st.integers(1, 3)),
        elements=st.one_of(
            st.integers(-3, 3).map(float),
            st.floats(-1e308, 1e308, allow_subnormal=True),
            st.floats(-1, 1, allow_subnormal=False),
        ),
    )
)
def test_any_table(table):
    compare(table)


def test_of_equal_rows_those_with_the_first_row_are_named():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [1.0, 2.0]])
    assert find_closest_pair(table) == closest_module.ClosestPair(distance=0.0, pair=(0, 3))


@pytest.mark.parametrize("rows", [511, 512, 513, 1023, 1024, 1025, 1537])
def test_tables_of_several_blocks(rows):
    table = draw_table(rows, 4, seed=rows)
    expected = min((float(np.sqrt(((table[s + 1 :] - table[s]) ** 2).sum(axis=1)).min()), s) for s in range(rows - 1))
    found = find_closest_pair(table)
    assert_allclose(found.distance, expected[0], rtol=1e-14)
    assert found.pair[0] == expected[1]
    table[rows - 1] = table[3] + 1e-9
    assert find_closest_pair(table).pair == (3, rows - 1)
    table[rows - 1] = table[3]
    assert find_closest_pair(table) == closest_module.ClosestPair(distance=0.0, pair=(3, rows - 1))


@pytest.mark.slow
@pytest.mark.parametrize("budget", [closest_module._BUDGET, 1])
def test_very_many_ties(monkeypatch, budget):
    monkeypatch.setattr(closest_module, "_BUDGET", budget)
    rotated = np.linalg.qr(draw_table(600, 600))[0]
    found = find_closest_pair(rotated)
    assert_allclose(found.distance, math.sqrt(2), rtol=1e-13)
    assert find_closest_pair(rotated, error=1e-14).pair == (0, 1)
    # one pair is closer by more than rounding, and stands in the last block
    rotated[550] += 1e-9 * rotated[599]
    found = find_closest_pair(rotated)
    assert found.pair == (550, 599)
    assert_allclose(found.distance, np.linalg.norm(rotated[550] - rotated[599]), rtol=1e-14)
    assert find_closest_pair(np.eye(520)).pair == (0, 1)


def test_an_error_of_entries_makes_ties():
    table = np.array([[0.0], [1.0 + 1e-12], [5.0], [6.0]])
    assert find_closest_pair(table).pair == (2, 3)
    assert find_closest_pair(table, error=1e-12).pair == (0, 1)
    assert find_closest_pair(table, error=1e-14).pair == (2, 3)
    repeated = np.tile(draw_table(40, 3), (30, 1)) + 1e-15 * draw_table(1200, 3, seed=1)
    assert find_closest_pair(repeated, error=1e-14).pair == (0, 40)


@pytest.mark.slow
def test_memory_stays_small_where_everything_ties():
    import tracemalloc

    table = np.eye(1000)
    tracemalloc.start()
    try:
        find_closest_pair(table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * table.nbytes


# ----------------------------------------------------------------------------------- what surrounds it


def test_scales():
    for exponent in (-1074, -500, 0, 500, 1023):
        table = np.array([[math.ldexp(1.0, exponent), 0.0]])
        scaled, found = scale_down(table)
        assert found == exponent + 1
        assert scaled[0, 0] == 0.5
        assert scale_up(0.5, found) == table[0, 0]
    assert scale_up(1.0, 1024) is None
    assert scale_up(1.0, -1080) == 0.0
    assert scale_down(np.zeros((2, 2)))[1] == 0
    assert scale_down(np.array([[1e-300], [1e200]]), below=ROOMY)[1] == 0
    assert scale_down(np.array([[LARGEST]]), below=ROOMY)[1] == 24


def test_distances_of_pairs(monkeypatch):
    table = draw_table(30, 5)
    s, t = np.arange(29), np.arange(1, 30)
    expected = [np.linalg.norm(table[a] - table[b]) for a, b in zip(s, t, strict=True)]
    assert_allclose(measure_pairs(table, s, t), expected, rtol=1e-14)
    monkeypatch.setattr(closest_module, "_HELD", 7)
    assert_allclose(measure_pairs(table, s, t), expected, rtol=1e-14)
    assert_allclose(measure_pairs(table * 1e-200, s, t), np.array(expected) * 1e-200, rtol=1e-13)


@pytest.mark.parametrize(
    "table",
    [
        draw_table(2, 1),
        draw_table(40, 3),
        1e3 + 1e-9 * draw_table(30, 4),
        np.eye(20),
        np.zeros((5, 2)),
        np.tile(draw_table(3, 2), (4, 1)),
        naive.sinusoidal_table(8, 1e4, range(60)),
    ],
)
def test_the_curve_over_the_lag(table):
    assert_allclose(_trace_lags(table), naive.separation_by_lag(table), rtol=1e-14)
    assert_allclose(_trace_lags(table * 2.0**-664), naive.separation_by_lag(table) * 2.0**-664, rtol=1e-14)


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_few_differences_come_out_as_many(width):
    rows, others = draw_table(64, width), np.concatenate([draw_table(300, width), np.full((20, width), np.inf)])
    found = [np.empty((64, 320)) for _ in range(2)]
    for square, out in zip((_square_distances, _square_distances_by_scipy), found, strict=True):
        square(rows, others, out)
    assert_array_equal(*found)


def test_the_curve_beyond_the_range_is_none():
    assert _trace_lags(np.array([[LARGEST], [-LARGEST]])) is None
    assert_allclose(_trace_lags(np.array([[1e200], [1e-200], [2e-200]])), [1e-200, 1e200])


def test_rows_are_separated():
    table = draw_table(30, 3)
    found = _separate_codes(CodeTable(Learned(values=table), 30), table, None)
    expected, pair = naive.smallest_separation(table)
    assert_allclose(found.smallest, expected, rtol=1e-14)
    assert found.pair == pair
    assert_allclose(found.by_lag, naive.separation_by_lag(table), rtol=1e-14)


def test_pairs_too_close_for_single_precision_are_found_by_their_order():
    """A hundred pairs, 1e-4 to 2e-4 apart around points on a sphere: products in float32 cannot order them."""
    generator = np.random.default_rng(5)
    centres, step = generator.standard_normal((100, 8)), generator.standard_normal((100, 8))
    sizes = np.linspace(1e-4, 2e-4, 100)[generator.permutation(100)]
    step *= (sizes / np.linalg.norm(step, axis=1))[:, None]
    table = np.concatenate([centres, centres + step])[generator.permutation(200)]
    found = find_closest_pair(table)
    distances = np.linalg.norm(table[:, None] - table[None], axis=2) + np.eye(200)
    assert found.pair == tuple(np.sort(np.unravel_index(np.argmin(distances), distances.shape)))
    assert_allclose(found.distance, distances.min(), rtol=1e-12)


def test_of_equal_distances_the_pair_with_the_first_row_is_named():
    table = np.array([[0.0, 0.0], [10.0, 0.0], [11.0, 0.0], [100.0, 0.0], [200.0, 0.0], [0.0, 1.0]])
    assert find_closest_pair(table).pair == (0, 5)
