"""What a few seeds allow to be said, by two roads: all signs, all samples, SciPy, definitions as they are written."""

import itertools
import math

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

from pe_spectra.errors import InputError
from pe_spectra.study import statistics
from pe_spectra.study.statistics import (
    bootstrap_mean,
    compare_pairs,
    compute_sign_flip_p,
    correct_by_holm,
    correlate_ranks,
    measure_spread,
    rank,
)
from tests.refusing import catch


def draw(count, seed=0, *, ties=False):
    values = np.random.default_rng([seed, count]).normal(size=count)
    return np.round(values, 0) if ties else values


# ----------------------------------------------------------------------------------- mean and spread


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101])
def test_spread_against_its_definition(count):
    values = draw(count).tolist()
    found = measure_spread(values)
    mean = math.fsum(values) / count
    assert (found.count, found.low, found.high) == (count, min(values), max(values))
    assert_allclose(found.mean, mean, atol=1e-15)
    if count == 1:
        assert found.deviation is None
    else:
        assert_allclose(found.deviation, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (count - 1)))


@pytest.mark.parametrize("values", [[], [math.nan], [1.0, math.inf], [[1.0]]])
def test_numbers_that_are_none(values):
    for call in (measure_spread, bootstrap_mean, compute_sign_flip_p):
        assert "are not usable" in catch(call, values, kind=InputError)


# ----------------------------------------------------------------------------------- intervals


def find_tail(count, confidence):
    return scipy.stats.norm.cdf(-math.sqrt(count / (count - 1)) * scipy.stats.t.ppf(0.5 + confidence / 2, count - 1))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
def test_intervals_against_all_samples(count, confidence):
    values = draw(count)
    means = sorted(np.mean(sample) for sample in itertools.product(values, repeat=count))
    tail = find_tail(count, confidence)
    found = bootstrap_mean(values, confidence=confidence)
    assert_allclose(found.estimate, values.mean())
    # drawn quantiles lie between those of all samples a little to each side
    slack = 4 * math.sqrt(tail * (1 - tail) / statistics.RESAMPLES) + 1e-4
    for end, at in ((found.low, tail), (found.high, 1 - tail)):
        low, high = np.quantile(means, [max(0, at - slack), min(1, at + slack)], method="inverted_cdf")
        assert low - 1e-12 <= end <= high + 1e-12


def test_intervals_against_scipy():
    values = draw(25)
    confidence = 1 - 2 * find_tail(25, 0.95)
    other = scipy.stats.bootstrap(
        (values,), np.mean, confidence_level=confidence, n_resamples=20000, method="percentile"
    )
    found = bootstrap_mean(values)
    width = found.high - found.low
    assert_allclose([found.low, found.high], [*other.confidence_interval], atol=0.08 * width)
    # and nearly the interval of Student, which holds for normal numbers
    student = scipy.stats.t.interval(0.95, 24, loc=values.mean(), scale=scipy.stats.sem(values))
    assert_allclose([found.low, found.high], student, atol=0.1 * width)


@pytest.mark.parametrize("count", [5, 10])
def test_intervals_cover_the_truth_as_often_as_they_say(count):
    covered = 0
    for seed in range(300):
        found = bootstrap_mean(draw(count, seed), resamples=400)
        covered += found.low <= 0 <= found.high
    # 95 % are meant; few numbers fall short of it, as the page says of the method
    assert 0.90 * 300 <= covered <= 0.985 * 300


def test_intervals_at_corners():
    one = bootstrap_mean([0.5])
    assert (one.estimate, one.low, one.high, one.excludes_zero) == (0.5, None, None, False)
    same = bootstrap_mean([0.1] * 7)
    assert (same.estimate, same.low, same.high, same.excludes_zero) == (0.1, 0.1, 0.1, True)
    # three numbers: no wider than they are themselves
    three = bootstrap_mean([1.0, 2.0, 4.0])
    assert (three.low, three.high) == (1.0, 4.0)
    assert bootstrap_mean([-1.0, -2.0, -4.0]).excludes_zero
    assert bootstrap_mean([1.0, 2.0, 4.0]) == three
    assert not bootstrap_mean([-1.0, 2.0, 4.0]).excludes_zero
    assert "confidence is out of range" in catch(bootstrap_mean, [1.0, 2.0], confidence=1.0, kind=InputError)
    assert "resamples is out of range" in catch(bootstrap_mean, [1.0, 2.0], resamples=1, kind=InputError)


# ----------------------------------------------------------------------------------- signs


def flip_naively(values):
    """All choices of signs, one after the other, in exact steps of 2^-20."""
    whole = [round(v * 2**20) for v in values]
    choices = itertools.product((1, -1), repeat=len(whole))
    sums = [abs(sum(sign * one for sign, one in zip(signs, whole, strict=True))) for signs in choices]
    return sum(one >= abs(sum(whole)) for one in sums) / len(sums)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 12])
@pytest.mark.parametrize("ties", [False, True])
def test_signs_against_all_of_them_and_scipy(count, ties):
    values = np.round(draw(count, 3, ties=ties) * 2**20) / 2**20
    p, drawn = compute_sign_flip_p(values)
    assert drawn is None
    assert p == flip_naively(values)
    if count > 1 and np.ptp(values) > 0:
        other = scipy.stats.permutation_test(
            (values,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
        )
        # SciPy doubles the smaller tail, which is the same where no sum is 0
        if p < 1:
            assert_allclose(p, other.pvalue, rtol=1e-12)


def test_signs_at_corners():
    assert compute_sign_flip_p([0.0, 0.0, 0.0]) == (1.0, None)
    assert compute_sign_flip_p([0.3]) == (1.0, None)
    assert compute_sign_flip_p([0.1] * 10) == (2 / 2**10, None)
    assert compute_sign_flip_p([-0.1] * 10) == (2 / 2**10, None)
    # sums that differ by rounding alone are equal: 0.1 + 0.2 and 0.3
    assert compute_sign_flip_p([0.1, 0.2, -0.3])[0] == 1.0
    assert compute_sign_flip_p([0.1, 0.2, 0.3])[0] == 0.25


def test_many_signs_are_drawn(monkeypatch):
    values = draw(13, 5) + 0.4
    p, drawn = compute_sign_flip_p(values)
    assert drawn == 99_999
    assert compute_sign_flip_p(values) == (p, drawn)
    exact = flip_naively(values)
    assert abs(p - exact) < 5 * math.sqrt(exact * (1 - exact) / drawn)
    # never 0: what was found is one of them
    assert compute_sign_flip_p([1.0] * 40)[0] == 1 / 100_000
    monkeypatch.setattr(statistics, "_CHUNK", 1000)
    assert abs(compute_sign_flip_p(values)[0] - exact) < 5 * math.sqrt(exact * (1 - exact) / drawn)


# ----------------------------------------------------------------------------------- pairs


def test_pairs_are_of_one_seed():
    first, second = {0: 0.9, 1: 0.7, 2: 0.6}, {2: 0.5, 0: 0.5, 1: 0.5}
    found = compare_pairs(first, second)
    assert_allclose(found.difference, (0.4 + 0.2 + 0.1) / 3)
    assert (found.pairs, found.missing, found.p) == (3, 0, 0.25)
    other = compare_pairs(second, first)
    assert_allclose([other.difference, other.low, other.high], [-found.difference, -found.high, -found.low])


def test_pairs_that_are_missing_are_counted():
    found = compare_pairs({0: 0.9, 1: 0.7, 5: 0.1}, {0: 0.5, 7: 0.0})
    assert (found.pairs, found.missing, found.difference) == (1, 3, 0.4)
    assert (found.low, found.high, found.p) == (None, None, 1.0)
    assert compare_pairs({0: 0.9}, {1: 0.9}) is None
    assert compare_pairs({}, {1: 0.9}) is None


# ----------------------------------------------------------------------------------- corrections


def correct_naively(ps):
    """As it is written: reject one after the other, from the smallest p on, while p <= level/(m - k + 1)."""
    known = sorted(p for p in ps if p is not None)

    def is_rejected(p, level):
        for k, one in enumerate(known):
            if one > level / (len(known) - k):
                return False
            if one == p:
                return True
        return False

    found = []
    for p in ps:
        # the smallest level at which it is rejected
        levels = sorted({min(1.0, one * (len(known) - k)) for k, one in enumerate(known)} | {1.0})
        found.append(None if p is None else next((one for one in levels if is_rejected(p, one * (1 + 1e-12))), 1.0))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_holm_against_its_steps(seed):
    generator = np.random.default_rng(seed)
    ps = (generator.random(generator.integers(1, 9)) ** 3).tolist()
    ps = [None if generator.random() < 0.2 else round(p, 2) for p in ps]
    for one, other in zip(correct_by_holm(ps), correct_naively(ps), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_allclose(one, other, rtol=1e-9)


def test_holm_at_corners():
    assert correct_by_holm([]) == ()
    assert correct_by_holm([None]) == (None,)
    assert correct_by_holm([0.04]) == (0.04,)
    assert correct_by_holm([1.0, 0.9, 0.01]) == (1.0, 1.0, 0.03)
    # equal ones stay equal
    assert correct_by_holm([0.01, 0.01]) == (0.02, 0.02)
    for wrong in (-0.1, 1.1, math.nan):
        assert "p is out of range" in catch(correct_by_holm, [wrong], kind=InputError)


# ----------------------------------------------------------------------------------- ranks


@pytest.mark.parametrize("count", [3, 4, 5, 8, 48])
@pytest.mark.parametrize("ties", [False, True])
def test_ranks_against_scipy(count, ties):
    one, other = draw(count, 1, ties=ties), draw(count, 2, ties=ties)
    assert rank(one).tolist() == scipy.stats.rankdata(one).tolist()
    found = correlate_ranks(one.tolist(), other.tolist())
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert found.rho is None
    else:
        assert_allclose(found.rho, scipy.stats.spearmanr(one, other).statistic, atol=1e-12)


def test_what_rounding_leaves_is_no_order():
    # 1 from sums of weights, and a norm that was scaled to 4
    ones = [1.0, 1.0 - 2**-53, 1.0 + 2**-52, 1.0, 1.0 - 2**-52, 1.0]
    assert rank(ones).tolist() == [3.5] * 6
    assert correlate_ranks(ones, [1, 2, 3, 4, 5, 6]).rho is None
    assert rank([4.0, 3.9999999999999996, 1e-18, 0.0, -2e-18]).tolist() == [4.5, 4.5, 2, 2, 2]
    assert rank([1e-7, 0.0, 1.0]).tolist() == [2, 1, 3]


@pytest.mark.parametrize(("count", "ties"), [(5, False), (8, True), (20, False), (48, True)])
def test_p_of_correlations_against_scipy(count, ties):
    one, other = draw(count, 3, ties=ties), draw(count, 4, ties=ties)
    other = other + 0.5 * one
    found = correlate_ranks(one.tolist(), other.tolist())
    generator, resamples = np.random.default_rng(1), 2000
    ranks, others = (scipy.stats.zscore(scipy.stats.rankdata(side)) for side in (one, other))
    assert found.rho == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    orders = generator.permuted(np.tile(ranks, (resamples, 1)), axis=1)
    as_far = np.count_nonzero(np.abs(orders @ others) >= abs(ranks @ others) - 1e-9)
    known = (as_far + 1) / (resamples + 1)
    assert abs(found.p - known) < 5 * math.sqrt(known * (1 - known) * (1 / 2000 + 1 / 9999)) + 1e-3
    assert correlate_ranks(other.tolist(), one.tolist()).rho == found.rho


@pytest.mark.slow
def test_p_of_correlations_holds_its_level():
    generator = np.random.default_rng(3)
    # with a ceiling that most of one side reach, as accuracies do
    ps = [
        correlate_ranks(generator.normal(size=15).tolist(), np.minimum(generator.normal(size=15), 0).tolist()).p
        for _ in range(2000)
    ]
    for level in (0.05, 0.2):
        share = np.mean(np.array(ps) <= level)
        assert abs(share - level) < 5 * math.sqrt(level * (1 - level) / 2000)


def test_ranks_against_the_formula_without_ties():
    one, other = draw(9, 1), draw(9, 2)
    distance = sum((a - b) ** 2 for a, b in zip(rank(one), rank(other), strict=True))
    assert_allclose(correlate_ranks(one.tolist(), other.tolist()).rho, 1 - 6 * distance / (9 * 80))


def test_intervals_of_correlations():
    rho, count = 0.6, 20000
    generator = np.random.default_rng(7)
    # the rank correlation of two normal numbers with correlation r is 6/pi arcsin(r/2)
    true = 6 / math.pi * math.asin(rho / 2)
    pairs = generator.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=(count // 25, 25))
    inside = 0
    for sample in pairs:
        found = correlate_ranks(sample[:, 0].tolist(), sample[:, 1].tolist())
        assert -1 <= found.low < found.rho < found.high <= 1
        inside += found.low <= true <= found.high
    assert 0.92 < inside / len(pairs) < 0.98
    wide = correlate_ranks([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    half = scipy.stats.norm.ppf(0.975) * math.sqrt((1 + 0.8**2 / 2) / 2)
    assert_allclose([wide.low, wide.high], np.tanh(np.arctanh(0.8) + np.array([-half, half])))


def test_correlations_at_corners():
    two = correlate_ranks([1.0, 2.0], [2.0, 1.0])
    assert (two.count, two.rho, two.low, two.high) == (2, None, None, None)
    same = correlate_ranks([1.0] * 6, [1, 2, 3, 4, 5, 6])
    assert (same.count, same.rho) == (6, None)
    perfect = correlate_ranks([1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 60])
    assert (perfect.rho, perfect.low, perfect.high) == (1.0, None, None)
    gaps = correlate_ranks([1.0, None, 2.0, 3.0, 5.0], [1.0, 7.0, 2.0, None, 4.0])
    assert (gaps.count, gaps.rho) == (3, 1.0)
    assert "differ in length" in catch(correlate_ranks, [1.0], [1.0, 2.0], kind=InputError)
    assert "are not usable" in catch(correlate_ranks, [1.0, 2.0, math.nan], [1.0, 2.0, 3.0], kind=InputError)
