"""The smallest separation, its witness and its error bound, against exhaustive search in 50 digits and in fractions."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Dft, Sinusoidal, compare_encodings, compute_spectrum
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.rotary import Rope
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.encodings.temporal import Time2Vec
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import closest_pair as closest_module
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness import pair_lags as lags_module
from pe_spectra.faithfulness.closest_lag import find_closest_lag
from pe_spectra.faithfulness.closest_numbers import count_pair_work, find_closest_neighbours, find_closest_numbers
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.growth import compute_gram_matrix
from pe_spectra.faithfulness.pair_lags import PairLags, PairWords, compute_distances
from pe_spectra.faithfulness.separation import find_pair_words, find_sidelobe, measure_separation, separate_codes
from pe_spectra.metrics.kernel_shape import measure_sidelobe
from pe_spectra.plots.faithfulness import compose_faithfulness, plot_gram
from pe_spectra.reconstruction import reconstruct
from pe_spectra.records.faithfulness import answer_faithfulness
from pe_spectra.sources import build_encodings

RHO = (0.5, 1.0, 2.0, 3.0, 10.0, 10000.0)
EPS = 2.0**-52
ALL_LADDERS = (
    "sinusoidal:d=512", "sinusoidal:d=64", "sinusoidal:d=65", "sinusoidal:d=16", "sinusoidal:d=64,rho=1",
    "sinusoidal:d=256,rho=3", "sinusoidal:d=32,rho=0.5", "rope:base=500000,d=128", "tape:d=64",
    "rope:d=64,base=100,scaling=resonance",
)  # fmt: skip


def make(spec):
    (encoding,) = build_encodings([spec], {})
    return encoding


def ladder(d, rho):
    """Frequencies of Eq. 3 in the current precision."""
    return [mpmath.mpf(rho) ** (-mpmath.mpf(index) / d) for index in range(0, d, 2)]


def distance_at(w, lag):
    """D(lag) of complete pairs in the current precision."""
    return mpmath.sqrt(mpmath.fsum(4 * mpmath.sin(wl * lag / 2) ** 2 for wl in w))


def search_slowly(d, rho, length):
    """The smallest distance of all pairs, each with its pair, in the current precision."""
    w = ladder(d, rho)
    columns = [mpmath.cos if index % 2 else mpmath.sin for index in range(d)]
    rows = [[wave(w[index // 2] * s) for index, wave in enumerate(columns)] for s in range(length)]
    return min(
        (mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(rows[s], rows[t], strict=True))), (s, t))
        for s, t in combinations(range(length), 2)
    )


# ladders ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", RHO)
def test_every_small_ladder_in_50_digits(rho):
    """Exhaustive: d from 2 to 7, S from 2 to 12."""
    with mpmath.workdps(50):
        for d in range(2, 8):
            for length in range(2, 13):
                exact, pair = search_slowly(d, rho, length)
                found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=length)
                assert abs(found.min_separation - exact) <= found.error_bound <= 60 * EPS * max(1.0, float(exact))
                s, t = found.closest_pair
                assert s < t
                assert (s, t) <= pair or abs(found.min_separation / exact - 1) < 1e-14
                if d % 2 == 0:
                    assert (s, t) == (0, pair[1] - pair[0])
                    assert found.error_bound == pytest.approx(2 * EPS * found.min_separation, rel=1e-9)


@pytest.mark.parametrize("offset", [5, 999_983, 1_048_576])
def test_lone_sines_far_from_zero_in_50_digits(offset):
    with mpmath.workdps(50):
        for d, rho, length in ((3, 0.5, 40), (5, 3.0, 7), (7, 10000.0, 40)):
            w = ladder(d, rho)
            lone = [mpmath.sin(w[-1] * (s + offset)) for s in range(length)]
            exact = min(
                mpmath.sqrt(distance_at(w[:-1], t - s) ** 2 + (lone[s] - lone[t]) ** 2)
                for s, t in combinations(range(length), 2)
            )
            found = measure_faithfulness(Sinusoidal(d=d, rho=rho, offset=offset), length=length)
            assert abs(found.min_separation - exact) <= found.error_bound < 1e-13


@pytest.mark.parametrize(
    ("d", "rho", "length", "lag"),
    [(8, 3.0, 800, 446), (8, 10000.0, 6300, 6283), (256, 1.0, 1000, 710), (64, 1.0, 711, 710), (2, 10000.0, 1000, 710),
     (4, 10000.0, 10**6, 735761), (8, 10000.0, 10**6, 169646), (16, 10000.0, 10**6, 615746)],
)  # fmt: skip
def test_known_witnesses(d, rho, length, lag):
    found = measure_separation(Sinusoidal(d=d, rho=rho), length)
    with mpmath.workdps(50):
        exact = distance_at(ladder(d, rho), lag)
        assert abs(found.smallest - exact) <= found.error
    assert found.pair == (0, lag)


@pytest.mark.parametrize("spec", ["sinusoidal:d=256", "rope:base=500000,d=128", "sinusoidal:d=255"])
def test_a_million_positions_have_their_certificate(spec):
    encoding = make(spec)
    found = measure_faithfulness(encoding, length=1_000_000)
    assert found.injective is True
    assert 0 < found.error_bound < 2e-14
    s, t = found.closest_pair
    assert t - s == 1
    with mpmath.workdps(50):
        w = ladder(encoding.d, 500000.0 if spec.startswith("rope") else 10000.0)
        if encoding.d % 2:
            lone = mpmath.sin(w[-1] * t) - mpmath.sin(w[-1] * s)
            exact = mpmath.sqrt(distance_at(w[:-1], 1) ** 2 + lone**2)
        else:
            exact = distance_at(w, 1)
        assert abs(found.min_separation - exact) <= found.error_bound


@pytest.mark.parametrize("spec", ALL_LADDERS)
@pytest.mark.parametrize("length", [40, 2047, 2048, 5000, 100_000])
def test_few_frequencies_rule_out_most_lags(spec, length):
    words = find_pair_words(make(spec))
    found, slow = find_closest_lag(words, length), PairLags(words, length).find_closest(length)
    assert (found.pair, found.error) == (slow.pair, slow.error)
    assert found.distance == slow.distance


@pytest.mark.parametrize(("d", "lag"), [(4, 735761), (8, 169646), (16, 615746), (512, 1)])
def test_closest_of_a_million_lags(d, lag):
    assert find_closest_lag(find_pair_words(Sinusoidal(d=d)), 10**6).pair == (0, lag)


@pytest.mark.slow
def test_wide_ladders_over_a_million_lags():
    found = measure_separation(Sinusoidal(d=4096), 1_000_000)
    assert found.pair == (0, 1)
    words = Sinusoidal(d=4096).words()
    lags = np.random.default_rng(0).integers(2, 10**6, 500)
    assert compute_distances(words, lags).min() > found.smallest


@pytest.mark.parametrize(("d", "rho"), [(2, 10000.0), (8, 3.0), (64, 10000.0), (256, 10000.0), (16, 1.0)])
def test_separations_at_positions_up_to_a_billion_in_50_digits(d, rho):
    """Arguments are reduced before a sine sees them: both the lag and the positions may be large."""
    words = Sinusoidal(d=d, rho=rho).words()
    lags = [1, 7, 710, 999_983, 10**9 - 1, 10**9, 411_557_987]
    found = compute_distances(words, np.array(lags))
    naive = []
    with mpmath.workdps(50):
        for lag, ours in zip(lags, found.tolist(), strict=True):
            exact = distance_at(ladder(d, rho), lag)
            assert abs(ours / exact - 1) < 2e-15
            w = np.array([rho ** (-index / d) for index in range(0, d, 2)])
            codes = [np.concatenate([np.sin(w * s), np.cos(w * s)]) for s in (10**9, 10**9 + lag)]
            naive.append(float(abs(np.linalg.norm(codes[0] - codes[1]) / exact - 1)))
    if rho > 1:
        assert max(naive) > 1e-9  # what the obvious way loses


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=64", "rope:base=500000,d=64", "tape:d=16", "rope:d=16,scaling=linear,factor=7"]
)
def test_products_of_tables_are_right_to_what_they_claim(spec):
    words = find_pair_words(make(spec))
    lags = PairLags(words, 200_000)
    some = np.random.default_rng(1).integers(1, 200_000, 4000)
    squared = compute_distances(words.words[:, : words.count], some) ** 2
    assert np.abs(2 * (words.count - lags.kernel[some]) - squared).max() < lags._slack / 8


def test_lags_that_are_given_up_are_none_that_could_win(monkeypatch):
    monkeypatch.setattr(lags_module, "_NEAR_TERMS", 1)
    monkeypatch.setattr(lags_module, "_EXACT_CURVE", 1)
    for frequencies in (np.linspace(2e-9, 1e-9, 40), np.linspace(1e-6, 1e-7, 21), np.array([1.0, 1e-7, 3e-8])):
        words = np.stack([frequencies, np.zeros_like(frequencies), np.zeros_like(frequencies)])
        pairs = PairWords(words=words, count=len(frequencies), amplitude=2.0, phase=0.0)
        found = PairLags(pairs, 3000).find_closest(3000)
        exact = 2 * compute_distances(words, np.arange(1, 3000))
        assert found.pair == (0, 1 + int(exact.argmin()))
        assert_allclose(found.distance, exact.min(), rtol=1e-15)


@pytest.mark.parametrize(
    "spec",
    [
        "sinusoidal:d=8,rho=3",
        "sinusoidal:d=9,rho=3",
        "rope:d=8,base=20,scaling=resonance",
        "dft:d=7",
        "time2vec:d=4",
        "alibi:heads=2",
    ],
)
def test_separation_falls_with_the_length(spec):
    encoding = make(spec)
    first = measure_faithfulness(encoding, length=20)
    grown = first.separation_by_length
    assert (grown[0].length, grown[0].separation, grown[0].pair) == (20, first.min_separation, first.closest_pair)
    assert [one.length for one in grown] == [20 << power for power in range(len(grown))]
    assert len(grown) > 6
    for before, after in pairwise(grown):
        assert after.separation <= before.separation
        assert after.pair >= (0, 1)
    for one in grown[:6]:
        found = measure_faithfulness(encoding, length=one.length)
        assert_allclose(one.separation, found.min_separation, rtol=1e-15, atol=1e-15)
        assert one.pair == found.closest_pair


def test_tables_grow_to_their_last_row():
    table = np.random.default_rng(5).normal(size=(100, 3))
    found = measure_faithfulness(Learned(values=table), length=12)
    assert [one.length for one in found.separation_by_length] == [12, 24, 48, 96, 100]
    assert measure_faithfulness(Learned(values=table)).separation_by_length[0].length == 100
    assert measure_faithfulness(Learned(values=table), length=1).separation_by_length == ()
    lags = measure_faithfulness(make("erpe:length=8,heads=2"), length=8)
    assert len(lags.separation_by_length) == 1


# the DFT ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 4, 5, 64, 65, 256, 257])
def test_duplicates_of_the_dft_are_exact(d):
    for length in (d, d + 1, 2 * d):
        found = measure_faithfulness(make(f"dft:d={d}"), length=length)
        rows = make(f"dft:d={d}").table(length)
        assert found.collisions.count == length - d == len(rows) - len(np.unique(rows, axis=0))
        assert (found.injective, found.condition_number is not None) == (length == d, True)
    assert found.separation_by_length[-1].separation == 0.0


# tables -------------------------------------------------------------------------------------------------


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
def test_numbers_are_sorted(values):
    table = np.array(values)[:, None]
    found, slow = find_closest_numbers(table), find_closest_pair(table)
    gaps = {(s, t): abs(Fraction(values[s]) - Fraction(values[t])) for s, t in combinations(range(len(values)), 2)}
    best = min(gaps.values())
    assert gaps[found.pair] <= best * (1 + Fraction(1, 10**14))
    if found.distance is not None:
        assert abs(Fraction(found.distance) - best) <= Fraction(found.error) + Fraction(5e-324)
    assert (found.distance is None) == (slow.distance is None)


def test_a_single_column_has_no_limit():
    assert count_pair_work(10**6, 1) == 10**6
    assert count_pair_work(100, 2) == count_pair_work(100, 64)
    found = find_closest_numbers(np.array([[0.0], [1.0 + 1e-12], [5.0], [6.0]]), error=1e-12)
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
@pytest.mark.parametrize("find", [find_closest_pair, find_closest_neighbours])
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
        for find in (find_closest_pair, find_closest_neighbours, find_closest_numbers):
            if find is not find_closest_numbers or columns == 1:
                found = find(table)
                with mpmath.workdps(50):
                    assert abs(mpmath.mpf(found.distance) - measure_exactly(table)) <= found.error <= 1e-315


def test_errors_of_entries_are_in_the_bound():
    """Sines of w s + b in 50 digits: the smallest distance of the computed table is as near as it says."""
    encoding = Time2Vec(values=np.random.default_rng(2).normal(size=(2, 4)))
    found = measure_faithfulness(encoding, length=30)
    with mpmath.workdps(50):
        w, b = ([mpmath.mpf(x) for x in row] for row in encoding.weights.tolist())
        rows = [[w[0] * s + b[0], *(mpmath.sin(w[i] * s + b[i]) for i in range(1, 4))] for s in range(30)]
        exact = min(
            mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(rows[s], rows[t], strict=True)))
            for s, t in combinations(range(30), 2)
        )
        assert abs(found.min_separation - exact) <= found.error_bound < 1e-11


def test_what_is_stored_is_exact():
    for spec in ("shaw:clip=4,d=8", "erpe:length=8,heads=4"):
        found = measure_faithfulness(make(spec), length=4)
        assert 0 < found.error_bound <= EPS * found.min_separation
    unknown = measure_faithfulness(make("rnn:d=4"), length=12)
    assert unknown.error_bound is None
    assert any("error_bound" in note for note in unknown.notes)


# conditioning, Gram matrices, reconstructions -----------------------------------------------------------


def test_singular_values_are_those_of_the_table():
    encoding = Sinusoidal(d=8)
    found = measure_faithfulness(encoding, length=40)
    expected = np.linalg.svd(encoding.table(40), compute_uv=False)
    assert_allclose(found.singular_values, expected, rtol=0, atol=1e-13 * expected[0])
    assert found.rank == np.count_nonzero(expected > found.rank_tolerance)
    assert_allclose(found.condition_number, expected[0] / expected[-1], rtol=1e-3)
    orthonormal = measure_faithfulness(make("dft:d=1500"), length=1500)
    assert orthonormal.condition_number == 1.0
    assert_array_equal(orthonormal.singular_values, np.ones(1024))
    assert measure_faithfulness(Sinusoidal(d=2048), length=2048).singular_values is None
    large = measure_faithfulness(Learned(values=np.array([[1.7e308], [-1.7e308]])))
    assert large.singular_values is None


def test_gram_matrices_are_bounded():
    table = np.random.default_rng(0).normal(size=(300, 5))
    found = measure_faithfulness(Learned(values=table)).gram
    expected = table[:256] @ table[:256].T
    assert_allclose(found, expected / expected.diagonal().max(), atol=1e-14)
    assert compute_gram_matrix(Sinusoidal(d=1 << 16), 80).shape == (64, 64)
    assert compute_gram_matrix(make("alibi"), 9) is None
    assert compute_gram_matrix(Sinusoidal(d=4), 1) is None
    assert compute_gram_matrix(Learned(values=np.zeros((3, 2))), 3) is None
    huge = compute_gram_matrix(Learned(values=np.array([[1e200], [2e200]])), 2)
    assert_allclose(huge, [[0.25, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "rope:d=10", "dft:d=9"])
def test_the_quality_of_reconstructions_is_that_of_every_position(spec):
    encoding = make(spec)
    spectrum = compute_spectrum(encoding)
    found = measure_faithfulness(encoding, length=12)
    for s in range(spectrum.grid):
        one = np.zeros(spectrum.grid)
        one[s] = 1.0
        curve = reconstruct(one, spectrum)
        assert_allclose(np.linalg.norm(curve - one), found.relative_error, rtol=1e-12, atol=1e-14)
        assert int(np.argmax(curve)) == s


# biases, and ties ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", ["multiply", "divide"])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("heads", [1, 3, 8])
def test_sandwich_in_50_digits(heads, first, ratio):
    for d, length in ((2, 2), (4, 2), (8, 3), (64, 2), (128, 5), (512, 17)):
        found = measure_faithfulness(make(f"sandwich:heads={heads},d={d},first={first},ratio={ratio}"), length=length)
        with mpmath.workdps(50):
            w = [mpmath.mpf(10000) ** (-mpmath.mpf(2 * i) / d) for i in range(first, first + d // 2)]
            factors = [(mpmath.mpf(8 * h) / heads) ** (1 if ratio == "multiply" else -1) for h in range(1, heads + 1)]
            sums = [mpmath.fsum(mpmath.cos(wl * lag) for wl in w) for lag in range(length)]
            exact = mpmath.norm(factors) * min(abs(x - y) for x, y in combinations(sums, 2))
            assert abs(found.min_separation - exact) <= found.error_bound


def test_sandwich_of_many_lags_has_a_bound_of_its_own():
    encoding = make("sandwich:heads=2,d=4096")
    lags = np.arange(1000)
    assert 1000 * 2048 > 1 << 20
    many = encoding.bias(lags)
    few = np.concatenate([encoding.bias(lags[:500]), encoding.bias(lags[500:])], axis=1)
    assert encoding.bound_error(few[:, :500].T) < encoding.bound_error(many.T)
    assert 0 < np.abs(many - few).max() < encoding.bound_error(many.T) < 1e-6


@pytest.mark.parametrize(("spec", "pair"), [("shaw:clip=16", (16, 17)), ("shaw:clip=3,d=1024", (3, 4))])
def test_keys_of_a_million_lags_need_no_vectors(spec, pair):
    found = measure_faithfulness(make(spec), length=1_000_000)
    assert (found.injective, found.closest_pair, found.min_separation) == (False, pair, 0.0)
    with pytest.raises(InputError, match="too large to hold"):
        make(spec).lag_table(np.arange(-999_999, 1_000_000))


def test_nothing_is_said_of_a_distance_of_0_that_is_not_decided():
    found = measure_faithfulness(make("rnn:d=4"), length=80)
    assert (found.injective, found.min_separation, found.error_bound) == (None, None, None)
    assert found.separation_by_length == ()
    exact = measure_faithfulness(make("dft:d=4"), length=9)
    assert (exact.injective, exact.min_separation, exact.error_bound) == (False, 0.0, 0.0)


@pytest.mark.parametrize("spec", ["alibi:heads=12", "alibi:heads=1", "kerple:kind=power,r1=0.3+0.7,r2=1+1"])
def test_lags_that_tie_within_the_bound_are_named_in_order(spec):
    found = measure_faithfulness(make(spec), length=60)
    assert {found.closest_pair, *(one.pair for one in found.separation_by_length)} == {(0, 1)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["alibi", "kerple:seed=3", "kerple:kind=power,seed=1", "ramp:d=4,length=1000000", "alibi:heads=1,head=0"]
)
def test_codes_that_rise_or_fall_are_closest_at_neighbours(spec):
    found = measure_faithfulness(make(spec), length=1_000_000)
    s, t = found.closest_pair
    assert t == s + 1
    encoding = make(spec)
    codes = encoding.bias(np.arange(1_000_000)).T if encoding.domain == "lags" else encoding.table(1_000_000)
    steps = np.linalg.norm(np.diff(codes, axis=0), axis=1)
    assert abs(found.min_separation - steps.min()) <= found.error_bound < 1e-2 * found.min_separation
    assert int(steps.argmin()) >= s


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_the_closest_of_rows_that_rise_or_fall(seed):
    generator = np.random.default_rng(seed)
    table = np.cumsum(generator.uniform(0, 1, (90, 3)), axis=0) * [1, -2, 1e-3]
    found, slow = find_closest_neighbours(table), find_closest_pair(table)
    assert found.pair == slow.pair
    assert abs(found.distance - slow.distance) <= found.error < 1e-14
    assert find_closest_neighbours(table, 0.5).pair == find_closest_pair(table, 0.5).pair
    assert find_closest_neighbours(generator.permutation(table)) is None


@pytest.mark.parametrize("first", [0, 5, 999_999_000])
def test_real_positions_that_tie_are_named_in_order(first):
    found = measure_faithfulness(Sampled(encoding=Sinusoidal(d=8, rho=3.0), times=first + np.arange(800.0)))
    with mpmath.workdps(50):
        exact = distance_at(ladder(8, 3.0), 446)
        assert abs(found.min_separation - exact) <= found.error_bound < 1e-15
    assert found.closest_pair == (0, 446)


def test_a_coarse_bound_makes_no_ties():
    encoding = Sampled(encoding=Sinusoidal(d=8, rho=3.0), times=1e15 + 1.5 * np.arange(600))
    found, plain = measure_separation(encoding, 600), find_closest_pair(encoding.table(600))
    assert found.error > 2 * math.sqrt(8) * encoding.bound_error(encoding.table(600)) > 0.1
    assert found.smallest == pytest.approx(plain.distance, abs=1e-12)


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=9,rho=3", "sinusoidal:d=8,offset=3", "rope:d=8", "time2vec:d=8", "ramp:d=3,length=5000"]
)
def test_real_positions_that_are_integers_have_the_codes_of_integers(spec):
    encoding = make(spec)
    s = np.array([7, 8, 9, 4000, 4999, 12]) if encoding.rows else np.array([7, 8, 9, 4000, 999_999_999, 12])
    sampled = Sampled(encoding=encoding, times=s.astype(float))
    assert_array_equal(sampled.table(6), encoding.table(s))
    assert sampled.bound_error(sampled.table(6)) == encoding.bound_error(encoding.table(s))
    found = measure_faithfulness(sampled)
    assert found.min_separation == pytest.approx(find_closest_pair(encoding.table(s)).distance, rel=1e-15)
    assert found.error_bound is not None
    beside = Sampled(encoding=encoding, times=np.array([*s[:-1], 12.5]))
    assert_array_equal(beside.table(6), encoding.table_at(beside.positions))


def test_real_positions_below_zero_or_beyond_a_table_are_computed_as_they_are():
    for encoding, times in ((Sinusoidal(d=6), [-3.0, 4.0]), (make("ramp:d=2,length=5"), [3.0, 9.0])):
        assert_array_equal(
            Sampled(encoding=encoding, times=np.array(times)).table(2), encoding.table_at(np.array(times))
        )


# how it is told -----------------------------------------------------------------------------------------


def test_the_answer_has_the_bound_beside_the_distance():
    result = measure_faithfulness(Sinusoidal(d=256), length=80)
    answer = answer_faithfulness([result])
    assert answer.verdict.text.endswith("neighbours (lag 1, 0 and 1), distance 2.6712 (+- 1.2e-15).")
    assert ("longer", "smallest separation 2.6712 up to length 655360") in answer.facts
    (row,) = json.loads(json.dumps(answer.to_document(None)))["rows"]
    assert row["error_bound"] == result.error_bound
    assert row["separation_by_length"][0] == [80, result.min_separation, [0, 1]]
    assert row["separation_by_length"][-1][0] == 655360
    assert row["singular_values"] == result.singular_values.tolist()
    assert answer.columns["error_bound"] == [result.error_bound]


def test_longer_lengths_are_told_in_words():
    facts = dict(answer_faithfulness([measure_faithfulness(Sinusoidal(d=8, rho=3.0), length=400)]).facts)
    assert facts["longer"].startswith("smallest separation ")
    assert facts["longer"].endswith("up to length 819200")
    assert "length 819200 (positions 0 and 780623)" in facts["longer"]
    collided = answer_faithfulness([measure_faithfulness(make("dft:d=4"), length=9)])
    assert "longer" not in dict(collided.facts)
    biases = dict(answer_faithfulness([measure_faithfulness(make("t5:heads=8"), length=20)]).facts)
    assert biases["rank"].startswith("8 of 8")


def test_bounds_hold_for_amplitudes():
    rope = Rope(d=16, scaling="yarn", factor=4.0, original=64, attention_factor=2.0)
    found = measure_faithfulness(rope, length=50)
    rows = rope.table(50)
    assert abs(found.min_separation - math.dist(rows[found.closest_pair[0]], rows[found.closest_pair[1]])) < 1e-13
    assert found.error_bound == pytest.approx(3 * EPS * found.min_separation, rel=1e-6)


# figures ------------------------------------------------------------------------------------------------


def test_the_figure_has_a_gram_matrix_for_the_first_two_tables():
    results = [
        measure_faithfulness(make(spec), length=30) for spec in ("sinusoidal:d=8", "alibi", "dft:d=9", "rope:d=8")
    ]
    figure = compose_faithfulness(*results)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == [
        "Gram matrix of sinusoidal d=8 rho=10000",
        "Gram matrix of dft d=9",
    ]
    words = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert words.endswith("of sinusoidal d=8 rho=10000 and dft d=9")
    (image,) = next(axes.images for axes in figure.axes if axes.get_title(loc="left").startswith("Gram matrix of dft"))
    assert_array_equal(image.get_array(), results[2].gram)
    with pytest.raises(ValueError, match="no Gram matrix"):
        plot_gram(Figure().add_subplot(), results[1])


def test_curves_of_very_many_lags_are_drawn_by_stretches():
    result = measure_faithfulness(Sinusoidal(d=8), length=200_000)
    assert result.separation_by_lag is None
    lags, distances = result.envelope
    assert len(lags) < 4096
    assert (np.diff(lags) > 0).all()
    assert lags[0] == 1
    assert result.closest_pair[1] in lags
    words = find_pair_words(Sinusoidal(d=8)).words
    assert_allclose(distances, compute_distances(words, lags), rtol=1e-9)
    middle = int(np.searchsorted(lags, 5000))
    assert compute_distances(words, np.arange(lags[middle - 1] + 1, lags[middle])).min() > min(
        distances[middle - 1 : middle + 1]
    )
    axes = compose_faithfulness(result).axes[0]
    assert_array_equal(axes.lines[0].get_xdata(), lags)
    assert axes.get_title(loc="left") == ""
    assert measure_faithfulness(Sinusoidal(d=8), length=100).envelope is None


@dataclass(frozen=True)
class Coarse:
    """An encoding whose computed entries may be wrong by `wrong`."""

    wrong: float | None

    def bound_error(self, _codes):
        return self.wrong


@pytest.mark.parametrize("wrong", [0.0, 1e-12, 0.25])
def test_the_error_of_entries_is_in_the_error_of_the_distance(wrong):
    """However coarse it is: ties are made up to 2**-16 of the largest entry only, the bound has all of it."""
    codes = np.array([[0.0, 0.0], [3.0, 4.0], [30.0, 40.0]])
    found = separate_codes(Coarse(wrong), codes)
    assert (found.smallest, found.pair) == (5.0, (0, 1))
    assert 0 <= found.error - 2 * math.sqrt(2) * wrong <= 20 * 5 * 2.0**-52
    assert separate_codes(Coarse(None), codes).error is None


def test_witnesses_lie_within_the_length():
    found = measure_separation(Dft(d=8), 8)
    assert (found.pair, found.sidelobe) == ((0, 1), None)
    assert measure_separation(Dft(d=8), 9).pair == (0, 8)


def test_of_positions_that_tie_the_first_is_named_with_a_lone_sine_too():
    """The lone sine turns by 1e-200 rad: no double sees where it is, so that all pairs at a lag are equally far."""
    assert measure_separation(Sinusoidal(d=3, rho=1e300), 100).pair == (0, 44)


# sidelobes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1.0, 0.0, 0.2, 0.1, 0.5, 0.5, 0.6, 0.7], (2, 0.2)),  # a stair that rises to the end
        ([1.0, 0.0, 0.2, 0.1, 0.5, 0.5, 0.6, 0.4], (6, 0.6)),
        ([1.0, 0.0, 0.5, 0.5], None),  # a shelf at the end
        ([1.0, 0.7, 0.7, 0.2, 0.2, 0.1], None),  # a stair that falls
        ([1.0, 0.2, 0.5, 0.5, 0.1], (2, 0.5)),
        ([1.0, 1.2, 0.5, 0.6], (1, 1.2)),
        ([1.0], None),
        # rounding alone, on two sides of a half multiple of 1e-9
        ([1.0, 0.2, 0.5 + 4.999e-10, 0.2, 0.5 + 5.001e-10, 0.1], (2, 0.5 + 4.999e-10)),
        ([1.0, 0.5 - 5.001e-10, 0.5 - 4.999e-10, 0.5 - 5.001e-10, 0.4], None),
        # a slow fall whose single steps are below 1e-9 is a fall
        ([1.0, 0.2, *(0.5 - 4e-10 * np.arange(8)), 0.5], (2, 0.5)),
    ],
)
def test_a_sidelobe_has_fallen_again(kernel, expected):
    found = find_sidelobe(np.array(kernel))
    assert (None if found is None else (found.lag, found.value)) == expected


def test_the_last_bucket_of_a_bias_is_no_sidelobe():
    encoding = make("t5:heads=1,seed=27,bidirectional=no")
    kernel = np.exp(encoding.bias(np.arange(128))[0])  # what softmax makes of it
    inner = [lag for lag in range(1, 127) if kernel[lag - 1] < kernel[lag] > kernel[lag + 1]]
    found = measure_sidelobe(kernel)
    assert (found.lag, round(found.value, 4)) == (7, 0.9834)
    assert max(inner, key=lambda lag: kernel[lag]) == 7
    (one,) = compare_encodings([encoding], length=128)
    assert one.values["sidelobe_lag"] == 7
    assert one.values["sidelobe_ratio"] == pytest.approx(found.value, rel=1e-15)
