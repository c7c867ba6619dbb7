"""The first negative sum of cosines, the base for a length, and the bases of the literature."""

import math
import os
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import scale_linear, scale_llama3, scale_ntk, scale_yarn
from pe_spectra.limits import THREAD_VARIABLES
from pe_spectra.models import cosine_sums
from pe_spectra.models.cosine_sums import (
    MAX_SEARCHED,
    _bound_sum_error,
    _sum_exactly,
    find_first_negative_lag,
    search_base,
)
from pe_spectra.models.lengths.proposals import list_bounds_of_change, list_bounds_of_length


def find_bound(name, *, d=128, base=1e4, trained=8, target):
    """The value of one bound."""
    bounds = (*list_bounds_of_change(d, base, trained, target), *list_bounds_of_length(d, target))
    return next(bound.value for bound in bounds if bound.name == name)


def sum_naively(base, d, lag):
    """The sum of cosines as the paper writes it, with 40 digits."""
    with mpmath.workdps(40):
        return mpmath.fsum(mpmath.cos(lag * mpmath.power(base, mpmath.mpf(-2 * i) / d)) for i in range(d // 2))


def find_naively(base, d, limit):
    return next((lag for lag in range(1, limit + 1) if sum_naively(base, d, lag) < 0), None)


# ----------------------------------------------------------------------------------- the first negative lag


@pytest.mark.parametrize(("base", "lag"), [(1e4, 1707), (5e5, 18438), (1e6, 27115)])
def test_the_first_negative_lag_of_common_bases(base, lag):
    # computed apart from this code, exactly: the fit of the paper gives 1996, 22067 and 33779
    ladder = compute_ladder(base, 128)
    assert find_first_negative_lag(ladder, 1 << 20) == lag
    assert find_first_negative_lag(ladder, lag) == lag
    assert find_first_negative_lag(ladder, lag - 1) is None
    assert sum_naively(base, 128, lag) < 0
    assert sum_naively(base, 128, lag - 1) >= 0


@pytest.mark.parametrize("d", [2, 4, 6, 10, 32])
@pytest.mark.parametrize("base", [2.0, 10.0, 100.0, 1234.5])
def test_against_the_naive_sum(d, base):
    assert find_first_negative_lag(compute_ladder(base, d), 120) == find_naively(base, d, 120)


@given(
    st.lists(st.decimals("1e-6", "3.2", places=6), min_size=1, max_size=6),
    st.integers(1, 3000),
)
def test_against_naive_sums_of_any_frequencies(frequencies, limit):
    theta = np.array([float(f) for f in frequencies])
    sums = np.sum(np.cos(np.arange(1, limit + 1)[:, None] * theta), axis=1)
    lag = find_first_negative_lag(frequencies, limit)
    found = np.flatnonzero(sums < -1e-9)
    assert lag is None or sums[lag - 1] < 1e-9
    assert lag is None or not (sums[: lag - 1] < -1e-9).any()
    if found.size:
        assert lag is not None
        assert lag <= found[0] + 1


@pytest.mark.parametrize("pairs", [1, 64, 300])
def test_blocks_do_not_matter(monkeypatch, pairs):
    ladder = compute_ladder(10000, 2 * pairs)
    whole = find_first_negative_lag(ladder, 5000)
    for first, largest, held in ((1, 1, 1 << 20), (7, 50, 1 << 20), (1 << 12, 1 << 12, 300)):
        monkeypatch.setattr(cosine_sums, "_FIRST_BLOCK", first)
        monkeypatch.setattr(cosine_sums, "_LARGEST_BLOCK", largest)
        monkeypatch.setattr(cosine_sums, "_HELD", held)
        assert find_first_negative_lag(ladder, 5000) == whole


def test_a_sum_near_zero_is_decided_exactly():
    # the cosine of 11 times this frequency is some 1e-25 below, then above zero: float64 sees 1e-16 of either sign
    quarter = Decimal("1.5707963267948966192313216916397514420985846996875529") / 11
    below, above = quarter + Decimal("1e-26"), quarter - Decimal("1e-26")
    assert float(below) == float(above)
    assert find_first_negative_lag([below], 20) == 11
    assert find_first_negative_lag([above], 20) == 12
    assert Decimal("-2e-25") < _sum_exactly([below], 11) < Decimal("-1e-25")


@pytest.mark.parametrize("lag", [1, 18438, 123456789, 1 << 30])
def test_the_exact_sum(lag):
    ladder = compute_ladder(500000, 128)
    with mpmath.workdps(40):
        assert abs(mpmath.mpf(str(_sum_exactly(ladder, lag))) - sum_naively(500000, 128, lag)) < mpmath.mpf("1e-25")


@pytest.mark.parametrize(
    ("base", "d", "first"), [(1e4, 128, 1), (5e5, 128, 1 << 21), (1e18, 64, 999), (2.0, 600, 77777)]
)
def test_the_error_of_fast_sums_is_within_its_bound(base, d, first):
    ladder = compute_ladder(base, d)
    theta = np.array([float(f) for f in ladder])
    sums = cosine_sums._sum_block(theta, first, first + 5000)
    bound = _bound_sum_error(theta, first + 5000)
    assert bound < 1e-6
    for place in (0, 1, 70, 71, 72, 2500, 4999):
        assert abs(sums[place] - float(_sum_exactly(ladder, first + place))) <= bound
    plain = np.sum(np.cos(np.multiply.outer(np.arange(first, first + 5000.0), theta)), axis=1)
    assert np.max(np.abs(sums - plain)) <= 2 * bound


def test_none_within_the_limit():
    assert find_first_negative_lag(compute_ladder(1e15, 128), 1 << 16) is None
    assert find_first_negative_lag([Decimal(0), Decimal(1)], 1000) is None  # 1 + cos m is never negative
    assert find_first_negative_lag([Decimal(0), Decimal(1), Decimal(1)], 1000) == 3


def test_scaled_frequencies_count_too():
    lags = np.arange(1, 1 << 14)[:, None]
    sums = np.sum(np.cos(lags / 4 * 10000.0 ** (-np.arange(64) / 64)), axis=1)
    slowed = find_first_negative_lag(scale_linear(10000, 128, factor=4).frequencies, 1 << 16)
    assert slowed == np.flatnonzero(sums < 0)[0] + 1
    assert sum_naively(10000, 128, mpmath.mpf(slowed) / 4) < 0


@pytest.mark.parametrize(("d", "limit"), [(128, 1 << 20), (8192, 1 << 14)])
def test_a_scan_holds_little(d, limit):
    ladder = compute_ladder(1e18, d)
    tracemalloc.start()
    assert find_first_negative_lag(ladder, limit) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 26


SCAN = """
import time
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.models.cosine_sums import find_first_negative_lag
ladder, whole, own = compute_ladder(1e18, 4096), time.process_time(), time.thread_time()
assert find_first_negative_lag(ladder, 1 << 20) is None
print(time.process_time() - whole, time.thread_time() - own)
"""


@pytest.mark.slow
def test_a_scan_keeps_to_one_thread():
    """Threads of a BLAS that wait for each other take many times what they save, beside other work."""
    free = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    done = subprocess.run([sys.executable, "-c", SCAN], capture_output=True, text=True, check=True, env=free)
    whole, own = map(float, done.stdout.split())
    assert whole <= 1.3 * own


# ----------------------------------------------------------------------------------- the base for a length


def list_bases(last):
    bases = [float(f"{k}e{e - 1}") for e in range(15) for k in range(10, 100)]
    return [base for base in bases if 1 < base <= last]


@pytest.mark.few(2)
@pytest.mark.parametrize(("d", "length"), [(128, 8), (128, 100), (64, 300), (16, 40), (128, 1024)])
def test_the_base_for_a_length_by_trying_each(d, length):
    found = search_base(d, length)
    holding = {
        base: find_first_negative_lag(compute_ladder(base, d), length) is None for base in list_bases(2 * found.base)
    }
    assert found.base == next(base for base, holds in holding.items() if holds)
    later = [holds for base, holds in holding.items() if base > found.base]
    assert (found.tried, found.failed) == (len(later), later.count(False))
    around = [base for base in list_bases(2 * found.settled) if base >= found.settled]
    assert all(find_first_negative_lag(compute_ladder(base, d), length) is None for base in around)
    below = max(base for base in list_bases(found.settled) if base < found.settled)
    assert found.settled == found.base or find_first_negative_lag(compute_ladder(below, d), length) is not None


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("length", "base"),
    [
        (1000, 4300.0),
        (2000, 16000.0),
        (4000, 27000.0),
        (8000, 84000.0),
        (64000, 2.1e6),
        (128000, 7.8e6),
        (131072, 8.8e6),
    ],
)
def test_bases_for_common_lengths(length, base):
    found = search_base(128, length)
    assert found.base == base
    # the points of the paper's Fig. 1 lie about its line
    assert 0.5 < base / find_bound("men-fit", target=length) < 2


def test_the_smallest_base_is_not_monotone():
    assert find_first_negative_lag(compute_ladder(8.8e6, 128), 131072) is None
    assert find_first_negative_lag(compute_ladder(8.9e6, 128), 131072) is not None
    assert search_base(128, 131072).failed == 8


def test_no_base():
    assert search_base(2, 100).base is None  # a single pair: cos 2 < 0 at any base


# ----------------------------------------------------------------------------------- the literature


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("base", "trained", "target", "expected"),
    [
        (5e5, 8192, 16384, 1776948.1),
        (1e4, 4096, 16384, 71738),
        (1e4, 4096, 12288, 47661),
        (1e4, 4096, 8192, 26784),
    ],
)
def test_the_critical_base_is_the_automatic_base_of_koboldcpp(base, trained, target, expected):
    # LostRuins/koboldcpp#910, column "Gradient"; computed there in float32 with 6.28318 for 2 pi
    assert find_bound("critical-base", base=base, trained=trained, target=target) == pytest.approx(expected, rel=1e-5)


def test_the_critical_base_of_another_reader():
    # mistralai/Mistral-Large-Instruct-2407, discussion 16: 32768 to 131072 from base 1e6
    assert math.floor(find_bound("critical-base", base=1e6, trained=32768, target=131072)) == 9370821


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("base", "trained", "turned"), [(1e4, 4096, 92), (5e5, 8192, 70), (1e6, 32768, 80), (2, 1 << 20, 128), (1e18, 8, 2)]
)
def test_the_critical_dimension(base, trained, turned):
    assert find_bound("critical-dimension", base=base, trained=trained, target=2 * trained) == turned
    wavelengths = [2 * math.pi * base ** (2 * i / 128) for i in range(64)]
    assert turned == 2 * sum(wavelength <= trained for wavelength in wavelengths)


@pytest.mark.slow
def test_the_critical_dimension_and_pairs_that_never_turn():
    for d, base, trained, never in (
        (128, 1e4, 4096, 18),
        (128, 5e5, 8192, 29),
        (128, 1e6, 32768, 24),
        (256, 1e4, 8192, 28),
    ):
        channels = find_bound("critical-dimension", d=d, base=base, trained=trained, target=2 * trained)
        assert (d - channels) // 2 == never


def test_other_bases():
    change = {"base": 1e4, "trained": 4096, "target": 8 * 4096}
    enlarged, critical = find_bound("ntk-base", **change), find_bound("critical-base", **change)
    assert enlarged == pytest.approx(1e4 * 8 ** (128 / 126), rel=1e-14)
    limit = find_bound("extrapolation-limit", **change)
    assert limit == pytest.approx(2 * math.pi * critical ** (92 / 128), rel=1e-14)
    assert find_bound("critical-base", base=1e18, target=1 << 30) is None  # beyond 1e300
    slowest = float(scale_ntk(1e4, 128, factor=8).frequencies[-1])
    assert slowest == pytest.approx(enlarged ** (-126 / 128), rel=1e-13)


def test_every_bound_has_an_assumption_and_a_source():
    bounds = {b.name: b for b in (*list_bounds_of_change(128, 5e5, 8192, 131072), *list_bounds_of_length(128, 131072))}
    values = {name: bound.value for name, bound in bounds.items()}
    assert values == pytest.approx(
        {
            "critical-dimension": 70,
            "critical-base": 5e5 ** (math.log(131072 / math.tau) / math.log(8192 / math.tau)),
            "extrapolation-limit": math.tau * values["critical-base"] ** (70 / 128),
            "ntk-base": 5e5 * 16 ** (128 / 126),
            "men-exact": 8.8e6,
            "men-settled": 2.3e7,
            "men-fit": 0.0424 * 131072**1.628,
            "quarter-turn-base": 2 * 131072 / math.pi,
            "half-turn-base": 131072 / math.pi,
            "full-turn-base": 131072 / math.tau,
            "alias-bound": 131072 / math.tau,
            "stability-bound": 131072 / math.acos(0.9),
            "precision-bound": 2.0**23,
        },
        rel=1e-12,
    )
    assert all(len(bound.assumption) > 20 and "arXiv" in bound.source for bound in bounds.values())
    assert all(("not peer reviewed" in b.source) == b.name.endswith("-bound") for b in bounds.values())
    assert "8 of the 19" in bounds["men-exact"].remark


def test_bounds_that_are_not_known_say_why():
    beyond = MAX_SEARCHED // 64 + 1  # one position more than is searched
    far = {bound.name: bound for bound in list_bounds_of_length(128, beyond)}
    assert far["men-exact"].value is None
    assert "1,048,576" in far["men-exact"].remark
    change = {bound.name: bound for bound in list_bounds_of_change(128, 1e18, 8, 1 << 30)}
    assert (change["critical-base"].value, change["extrapolation-limit"].value) == (None, None)
    assert "1e300" in change["critical-base"].remark


def test_every_pair_does_a_quarter_turn_with_the_quarter_turn_base():
    for bound, turns in zip(list_bounds_of_length(128, 16384)[3:6], (1 / 4, 1 / 2, 1), strict=True):
        slowest = float(compute_ladder(bound.value, 128)[-1])
        assert 16384 * slowest / math.tau >= turns


def test_yarn_and_llama3_turn_negative_later_than_nothing():
    keys = {"factor": 16.0, "original": 8192}
    for scaled in (scale_yarn(5e5, 128, **keys), scale_llama3(5e5, 128, **keys)):
        lag = find_first_negative_lag(scaled.frequencies, 1 << 20)
        assert lag is not None
        assert lag > 131072
