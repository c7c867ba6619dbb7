"""The smallest separation of lags and of codes that rise or fall, and of real positions."""

import math
from dataclasses import dataclass
from itertools import combinations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra import Sinusoidal
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.separation import _find_closest_neighbours, _separate_codes, measure_separation
from tests.faithfulness.digits import distance_at, ladder
from tests.making import make_encoding

# ----------------------------------------------------------------------------------- biases, and ties


@pytest.mark.few(4)
@pytest.mark.parametrize("ratio", ["multiply", "divide"])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("heads", [1, 3, 8])
def test_sandwich_in_50_digits(heads, first, ratio):
    for d, length in ((2, 2), (4, 2), (8, 3), (64, 2), (128, 5), (512, 17)):
        found = measure_faithfulness(
            make_encoding(f"sandwich:heads={heads},d={d},first={first},ratio={ratio}"), length=length
        )
        with mpmath.workdps(50):
            w = [mpmath.mpf(10000) ** (-mpmath.mpf(2 * i) / d) for i in range(first, first + d // 2)]
            factors = [(mpmath.mpf(8 * h) / heads) ** (1 if ratio == "multiply" else -1) for h in range(1, heads + 1)]
            sums = [mpmath.fsum(mpmath.cos(wl * lag) for wl in w) for lag in range(length)]
            exact = mpmath.norm(factors) * min(abs(x - y) for x, y in combinations(sums, 2))
            assert abs(found.min_separation - exact) <= found.error_bound


def test_sandwich_of_many_lags_has_a_bound_of_its_own():
    encoding = make_encoding("sandwich:heads=2,d=4096")
    lags = np.arange(1000)
    assert 1000 * 2048 > 1 << 20
    many = encoding.bias(lags)
    few = np.concatenate([encoding.bias(lags[:500]), encoding.bias(lags[500:])], axis=1)
    assert encoding.bound_error(few[:, :500].T) < encoding.bound_error(many.T)
    assert 0 < np.abs(many - few).max() < encoding.bound_error(many.T) < 1e-6


@pytest.mark.few(1)
@pytest.mark.parametrize(("spec", "pair"), [("shaw:clip=16", (16, 17)), ("shaw:clip=3,d=1024", (3, 4))])
def test_keys_of_a_million_lags_need_no_vectors(spec, pair):
    found = measure_faithfulness(make_encoding(spec), length=1_000_000)
    assert (found.injective, found.closest_pair, found.min_separation) == (False, pair, 0.0)
    with pytest.raises(InputError, match="too large to hold"):
        make_encoding(spec).lag_table(np.arange(-999_999, 1_000_000))


def test_nothing_is_said_of_a_distance_of_0_that_is_not_decided():
    found = measure_faithfulness(make_encoding("rnn:d=4"), length=80)
    assert (found.injective, found.min_separation, found.error_bound) == (None, None, None)
    assert found.separation_by_length == ()
    exact = measure_faithfulness(make_encoding("dft:d=4"), length=9)
    assert (exact.injective, exact.min_separation, exact.error_bound) == (False, 0.0, 0.0)


@pytest.mark.parametrize("spec", ["alibi:heads=12", "alibi:heads=1", "kerple:kind=power,r1=0.3+0.7,r2=1+1"])
def test_lags_that_tie_within_the_bound_are_named_in_order(spec):
    found = measure_faithfulness(make_encoding(spec), length=60)
    assert {found.closest_pair, *(one.pair for one in found.separation_by_length)} == {(0, 1)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["alibi", "kerple:seed=3", "kerple:kind=power,seed=1", "ramp:d=4,length=1000000", "alibi:heads=1,head=0"]
)
def test_codes_that_rise_or_fall_are_closest_at_neighbours(spec):
    found = measure_faithfulness(make_encoding(spec), length=1_000_000)
    s, t = found.closest_pair
    assert t == s + 1
    encoding = make_encoding(spec)
    codes = encoding.bias(np.arange(1_000_000)).T if encoding.domain == "lags" else encoding.table(1_000_000)
    steps = np.linalg.norm(np.diff(codes, axis=0), axis=1)
    assert abs(found.min_separation - steps.min()) <= found.error_bound < 1e-2 * found.min_separation
    assert int(steps.argmin()) >= s


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_the_closest_of_rows_that_rise_or_fall(seed):
    generator = np.random.default_rng(seed)
    table = np.cumsum(generator.uniform(0, 1, (90, 3)), axis=0) * [1, -2, 1e-3]
    found, slow = _find_closest_neighbours(table), find_closest_pair(table)
    assert found.pair == slow.pair
    assert abs(found.distance - slow.distance) <= found.error < 1e-14
    assert _find_closest_neighbours(table, 0.5).pair == find_closest_pair(table, 0.5).pair
    assert _find_closest_neighbours(generator.permutation(table)) is None


@pytest.mark.parametrize("first", [0, 5, 999_999_000])
def test_real_positions_that_tie_are_named_in_order(first):
    found = measure_faithfulness(Sampled(encoding=Sinusoidal(d=8, rho=3.0), times=first + np.arange(800.0)))
    with mpmath.workdps(50):
        exact = distance_at(ladder(8, 3.0), 446)
        assert abs(found.min_separation - exact) <= found.error_bound < 1e-15
    assert found.closest_pair == (0, 446)


def test_a_coarse_bound_makes_no_ties():
    encoding = Sampled(encoding=Sinusoidal(d=8, rho=3.0), times=1e15 + 1.5 * np.arange(600))
    found, plain = measure_separation(CodeTable(encoding, 600)), find_closest_pair(encoding.table(600))
    assert found.error > 2 * math.sqrt(8) * encoding.bound_error(encoding.table(600)) > 0.1
    assert found.smallest == pytest.approx(plain.distance, abs=1e-12)


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=9,rho=3", "sinusoidal:d=8,offset=3", "rope:d=8", "time2vec:d=8", "ramp:d=3,length=5000"]
)
def test_real_positions_that_are_integers_have_the_codes_of_integers(spec):
    encoding = make_encoding(spec)
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
    for encoding, times in ((Sinusoidal(d=6), [-3.0, 4.0]), (make_encoding("ramp:d=2,length=5"), [3.0, 9.0])):
        assert_array_equal(
            Sampled(encoding=encoding, times=np.array(times)).table(2), encoding.table_at(np.array(times))
        )


# ----------------------------------------------------------------------------------- figures


@dataclass(frozen=True)
class Coarse:
    """An encoding whose computed entries may be wrong by `wrong`."""

    wrong: float | None
    domain = "positions"
    is_stored = False

    def bound_error(self, _codes):
        return self.wrong


def hold(encoding, codes):
    """A table of these codes."""
    table = CodeTable(encoding, len(codes))
    table.__dict__["codes"] = codes
    return table


@pytest.mark.parametrize("wrong", [0.0, 1e-12, 0.25])
def test_the_error_of_entries_is_in_the_error_of_the_distance(wrong):
    """However coarse it is: ties are made up to 2**-16 of the largest entry only, the bound has all of it."""
    codes = np.array([[0.0, 0.0], [3.0, 4.0], [30.0, 40.0]])
    found = _separate_codes(hold(Coarse(wrong), codes), codes, None)
    assert (found.smallest, found.pair) == (5.0, (0, 1))
    assert 0 <= found.error - 2 * math.sqrt(2) * wrong <= 20 * 5 * 2.0**-52
    assert _separate_codes(hold(Coarse(None), codes), codes, None).error is None
