"""The closest two rows of tables with planted truth, and the bound of their distance, in fractions."""

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Sinusoidal, compute_spectrum
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.temporal import Time2Vec
from pe_spectra.faithfulness import closest_pair as closest_module
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.conditioning import compute_gram_matrix
from pe_spectra.faithfulness.separation import _find_closest_neighbours, count_pair_work
from pe_spectra.reconstruction import reconstruct
from tests.making import make_encoding

EPS = 2.0**-52


# ----------------------------------------------------------------------------------- tables


def square(first, second):
    return sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(first.tolist(), second.tolist(), strict=True))


def take_root(value):
    """The square root of a fraction to 60 digits."""
    with mpmath.workdps(60):
        return mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator)


def hold(table):
    """The closest pair is the closest in fractions, within a unit in the last place."""
    found = find_closest_pair(table)
    best, pair = min((square(table[s], table[t]), (s, t)) for s, t in combinations(range(len(table)), 2))
    ours = square(table[found.pair[0]], table[found.pair[1]])
    assert ours <= best * (1 + Fraction(1, 10**14))
    assert found.pair <= pair
    with mpmath.workdps(60):
        assert abs(mpmath.mpf(found.distance) - take_root(best)) <= found.error
    assert found.error <= EPS * found.distance
    return found


@st.composite
def planted_tables(draw):
    """Random tables with duplicates and rows that differ by few last bits, anywhere."""
    rows, width, seed = draw(st.integers(3, 14)), draw(st.integers(1, 6)), draw(st.integers(0, 2**32 - 1))
    scale = 2.0 ** draw(st.sampled_from([-600, -30, 0, 1, 30, 600]))
    table = np.random.default_rng(seed).normal(size=(rows, width)) * scale + draw(st.sampled_from([0.0, scale * 1e6]))
    for _ in range(draw(st.integers(1, 3))):
        s, t = draw(st.integers(0, rows - 1)), draw(st.integers(0, rows - 1))
        table[s] = table[t]
        for column in draw(st.lists(st.integers(0, width - 1), max_size=2)):
            for _ in range(draw(st.integers(1, 3))):
                table[s, column] = np.nextafter(table[s, column], draw(st.sampled_from([-np.inf, np.inf])))
    return table


@given(planted_tables())
def test_planted_pairs_are_found(table):
    hold(table)
    found = measure_faithfulness(Learned(values=table))
    equal = [pair for pair in combinations(range(len(table)), 2) if square(*table[list(pair)]) == 0]
    assert found.injective is (not equal)
    assert found.collisions.count == len(equal)
    if equal:
        assert (found.closest_pair, found.min_separation) == (equal[0], 0.0)


@pytest.mark.parametrize("rows", [600, 1500])
def test_a_pair_that_differs_in_the_last_bit_among_many(rows):
    table = np.random.default_rng(rows).normal(size=(rows, 12)) + 1e5
    table[rows - 2] = table[17]
    table[rows - 2, 5] = np.nextafter(table[17, 5], 1e9)
    found = find_closest_pair(table)
    assert (found.pair, found.distance) == ((17, rows - 2), table[rows - 2, 5] - table[17, 5])
    assert measure_faithfulness(Learned(values=table)).injective is True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_out_where_all_tie_is_inside_the_bound(monkeypatch, seed):
    monkeypatch.setattr(closest_module, "_BUDGET", 1)
    monkeypatch.setattr(closest_module, "_MANY", 3)
    table = np.linalg.qr(np.random.default_rng(seed).normal(size=(60, 60)))[0]
    found = find_closest_pair(table)
    best = min(square(table[s], table[t]) for s, t in combinations(range(60), 2))
    with mpmath.workdps(60):
        assert abs(mpmath.mpf(found.distance) - take_root(best)) <= found.error
    assert found.error < 1e-12


@pytest.mark.long
def test_the_closest_pair_of_65536_by_384_in_bounded_memory():
    import tracemalloc

    table = np.random.default_rng(0).normal(size=(65536, 384))
    table[60000] = table[123]
    table[60000, 7] = np.nextafter(table[60000, 7], 9)
    tracemalloc.start()
    try:
        found = find_closest_pair(table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.pair == (123, 60000)
    assert found.distance == abs(table[60000, 7] - table[123, 7])
    assert peak < 0.6 * table.nbytes


@given(
    st.lists(
        st.one_of(st.floats(-1e308, 1e308), st.integers(-4, 4).map(float), st.sampled_from([5e-324, 1.0, 1.0 + EPS])),
        min_size=2,
        max_size=12,
    )
)
@example([1.0715086071862673e301, 0.0, 5e-324, 5e-324])
@example([1e308, -1e308, 0.0, 5e-324, 5e-324])
@example([1e308, -1e308])
def test_numbers_are_sorted(values):
    table = np.array(values)[:, None]
    found, slow = _find_closest_neighbours(table), find_closest_pair(table)
    gaps = {(s, t): abs(Fraction(values[s]) - Fraction(values[t])) for s, t in combinations(range(len(values)), 2)}
    best = min(gaps.values())
    assert gaps[found.pair] <= best * (1 + Fraction(1, 10**14))
    if found.distance is not None:
        assert abs(Fraction(found.distance) - best) <= Fraction(found.error) + Fraction(5e-324)
    assert (found.distance is None) == (slow.distance is None)


def test_a_single_column_has_no_limit():
    assert count_pair_work(10**6, 1) == 10**6
    assert count_pair_work(100, 2) == count_pair_work(100, 64)
    found = _find_closest_neighbours(np.array([[0.0], [1.0 + 1e-12], [5.0], [6.0]]), error=1e-12)
    assert found.pair == (0, 1)
    assert found.error >= 2e-12
    table = np.random.default_rng(0).permutation(200_000)[:, None] + np.linspace(0, 0.1, 200_000)[:, None]
    assert measure_faithfulness(Learned(values=table)).min_separation > 0


def measure_exactly(table):
    """The smallest distance of two rows, from fractions in the current precision."""
    rows = [[Fraction(value) for value in row] for row in table.tolist()]
    squares = [sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in combinations(rows, 2)]
    least = min(squares)
    return mpmath.sqrt(mpmath.mpf(least.numerator) / least.denominator)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("find", [find_closest_pair, _find_closest_neighbours])
def test_bounds_hold_for_subnormal_distances(find, seed):
    steps = np.random.default_rng(seed).integers(1, 300, size=(8, 3))
    table = np.cumsum(steps, axis=0) * 1e-320
    found = find(table)
    with mpmath.workdps(50):
        off = abs(mpmath.mpf(found.distance) - measure_exactly(table))
    assert 0 < off <= found.error <= 1e-323


@pytest.mark.parametrize("share", [0.3, 0.6, 1.7, 40.2])
def test_bounds_hold_for_what_large_entries_make_vanish(share):
    small = math.floor(share * 2**24) * 5e-324
    for columns in (1, 3):
        table = np.repeat([[-1.7e308], [0.0], [small], [1.7e308]], columns, axis=1)
        for find in (find_closest_pair, _find_closest_neighbours):
            found = find(table)
            with mpmath.workdps(50):
                assert abs(mpmath.mpf(found.distance) - measure_exactly(table)) <= found.error <= 1e-315


def test_errors_of_entries_are_in_the_bound():
    """Sines of w s + b in 50 digits: the smallest distance of the computed table is as near as it says."""
    encoding = Time2Vec(values=np.random.default_rng(2).normal(size=(2, 4)))
    found = measure_faithfulness(encoding, length=30)
    with mpmath.workdps(50):
        w, b = ([mpmath.mpf(x) for x in row] for row in encoding.entries.tolist())
        rows = [[w[0] * s + b[0], *(mpmath.sin(w[i] * s + b[i]) for i in range(1, 4))] for s in range(30)]
        exact = min(
            mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(rows[s], rows[t], strict=True)))
            for s, t in combinations(range(30), 2)
        )
        assert abs(found.min_separation - exact) <= found.error_bound < 1e-11


def test_what_is_stored_is_exact():
    for spec in ("shaw:clip=4,d=8", "erpe:length=8,heads=4"):
        found = measure_faithfulness(make_encoding(spec), length=4)
        assert 0 < found.error_bound <= EPS * found.min_separation
    unknown = measure_faithfulness(make_encoding("rnn:d=4"), length=12)
    assert unknown.error_bound is None
    assert any("error_bound" in note for note in unknown.notes)


# ------------------------------------------------------------------------- conditioning, Gram matrices, reconstructions


def test_singular_values_are_those_of_the_table():
    encoding = Sinusoidal(d=8)
    found = measure_faithfulness(encoding, length=40)
    expected = np.linalg.svd(encoding.table(40), compute_uv=False)
    assert_allclose(found.singular_values, expected, rtol=0, atol=1e-13 * expected[0])
    assert found.rank == np.count_nonzero(expected > found.rank_tolerance)
    assert_allclose(found.condition_number, expected[0] / expected[-1], rtol=1e-3)
    orthonormal = measure_faithfulness(make_encoding("dft:d=1500"), length=1500)
    assert orthonormal.condition_number == 1.0
    assert_array_equal(orthonormal.singular_values, np.ones(1024))
    assert measure_faithfulness(Sinusoidal(d=2048), length=2048).singular_values is None
    large = measure_faithfulness(Learned(values=np.array([[1.7e308], [-1.7e308]])))
    assert large.singular_values is None


@pytest.mark.slow
def test_gram_matrices_are_bounded():
    table = np.random.default_rng(0).normal(size=(300, 5))
    found = measure_faithfulness(Learned(values=table)).gram
    expected = table[:256] @ table[:256].T
    assert_allclose(found, expected / expected.diagonal().max(), atol=1e-14)
    assert compute_gram_matrix(Sinusoidal(d=1 << 16), 80).shape == (64, 64)
    assert compute_gram_matrix(make_encoding("alibi"), 9) is None
    assert compute_gram_matrix(Sinusoidal(d=4), 1) is None
    assert compute_gram_matrix(Learned(values=np.zeros((3, 2))), 3) is None
    huge = compute_gram_matrix(Learned(values=np.array([[1e200], [2e200]])), 2)
    assert_allclose(huge, [[0.25, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "rope:d=10", "dft:d=9"])
def test_the_quality_of_reconstructions_is_that_of_every_position(spec):
    encoding = make_encoding(spec)
    spectrum = compute_spectrum(encoding)
    found = measure_faithfulness(encoding, length=12)
    for s in range(spectrum.grid):
        one = np.zeros(spectrum.grid)
        one[s] = 1.0
        curve = reconstruct(one, spectrum)
        assert_allclose(np.linalg.norm(curve - one), found.relative_error, rtol=1e-12, atol=1e-14)
        assert int(np.argmax(curve)) == s
