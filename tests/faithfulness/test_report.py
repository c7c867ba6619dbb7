"""Definition 1 for any encoding: collisions by exact keys, separation by several roads, conditioning, edges."""

import math
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import ENCODINGS, find_encoding
from pe_spectra.encodings.codes import list_places
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.structural import Rnn
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.certificates import _find_collisions, certify_distance
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.conditioning import measure_conditioning
from pe_spectra.faithfulness.separation import measure_separation
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.spectrum import compute_spectrum
from tests import naive
from tests.faithfulness.pairs import list_equal
from tests.making import make_encoding

BERT_LIKE = 12


def measure(spec, length=None, **keys):
    return measure_faithfulness(make_encoding(spec), length=length, **keys)


# ----------------------------------------------------------------------------------- collisions


@pytest.mark.parametrize("seed", range(6))
def test_collisions_are_all_pairs_of_equal_keys(seed):
    keys = np.random.default_rng(seed).integers(0, 3 + 4 * seed, 40)
    pairs = list_equal(keys.tolist())
    found = _find_collisions(keys, 5)
    assert found.count == len(pairs)
    assert found.first == pairs[0]
    following = {}
    for s, t in pairs:
        following.setdefault(s, t)
    assert found.examples == tuple(following.items())[:5]
    assert _find_collisions(keys, 0).examples == ()
    assert _find_collisions(keys, 0).first == pairs[0]


def test_distinct_keys_do_not_collide():
    found = _find_collisions(np.array([3, 1, 2]), 10)
    assert (found.count, found.first, found.examples) == (0, None, ())
    assert _find_collisions(np.array([7]), 10).count == 0


def t5_bucket(lag, bidirectional, buckets=32, most=128):
    """The bucket of query minus key = lag as the paper's public code has it, by comparison of integers.

    Bucket of a large distance n: first + floor(log(n / first) / log(most / first) * (buckets - first)).
    """
    offset = 0
    if bidirectional:
        buckets //= 2
        offset = buckets if lag < 0 else 0
    n = abs(lag)
    first = buckets // 2
    if n < first:
        return offset + n
    more = 0  # the largest m with (n / first)^(buckets - first) >= (most / first)^m
    while more < buckets - first - 1 and n ** (buckets - first) * first ** (more + 1) >= most ** (more + 1) * first ** (
        buckets - first
    ):
        more += 1
    return offset + first + more


@pytest.mark.parametrize(
    ("spec", "bidirectional", "first", "last"), [("t5:bidirectional=no", False, 16, 113), ("t5", True, 8, 91)]
)
def test_buckets_of_t5_merge_lags(spec, bidirectional, first, last):
    encoding = make_encoding(spec)
    found = measure_faithfulness(encoding, length=200)
    lags = list(range(200)) + (list(range(-1, -200, -1)) if bidirectional else [])
    assert_array_equal(list_places(encoding, 200), lags)
    merged = list_equal([t5_bucket(lag, bidirectional) for lag in lags])
    assert found.collisions.count == len(merged)
    assert (found.injective, found.closest_pair, found.min_separation) == (False, (first, first + 1), 0.0)
    assert found.domain == "lags"
    named = dict(measure_faithfulness(encoding, length=200, limit=500).collisions.examples)
    assert named[last] == last + 1
    tail = [t5_bucket(lag, bidirectional) for lag in range(200)]
    assert tail.index(tail[-1]) == last
    if bidirectional:
        assert named[-last - 1] == -last
    assert all(s < t for s, t in named.items())
    assert f"from {last}" in " ".join(found.notes)


@pytest.mark.parametrize("clip", [1, 3, 5])
def test_shaw_merges_lags_beyond_its_clip(clip):
    found = measure(f"shaw:clip={clip},d=8", 9)
    lags = [*range(9), *range(-1, -9, -1)]
    clipped = list_equal([max(-clip, min(clip, lag)) for lag in lags])
    assert (found.injective, found.closest_pair) == (False, (clip, clip + 1))
    assert found.collisions.count == len(clipped)
    assert measure(f"shaw:clip={clip},d=8", clip + 1).injective is True


def test_alibi_of_both_sides_merges_them():
    found = measure("alibi:causal=no", 9)
    assert (found.injective, found.closest_pair, found.collisions.count) == (False, (-1, 1), 8)
    assert found.collisions.examples == tuple((-lag, lag) for lag in range(1, 9))
    assert measure("alibi:causal=no", 5).closest_pair == (-1, 1)
    causal = measure("alibi:heads=8", 9)
    assert causal.injective is True
    assert_allclose(causal.min_separation, math.sqrt(sum(4.0**-h for h in range(1, 9))), rtol=1e-14)
    assert causal.closest_pair == (0, 1)


def test_the_closest_lags_are_in_order():
    found = measure("shaw:clip=4,d=8", 5)
    assert found.injective is True
    assert found.closest_pair[0] < found.closest_pair[1]
    table = make_encoding("shaw:clip=4,d=8").lag_table(np.arange(-4, 5))
    apart = {(s - 4, t - 4): np.linalg.norm(table[s] - table[t]) for s, t in combinations(range(9), 2)}
    assert found.closest_pair == min(apart, key=apart.get)


def test_maps_are_not_decided():
    found = measure("tupe", 10)
    assert found.injective is None
    assert "a query and a key" in found.certificate.text
    assert (found.min_separation, found.closest_pair, found.rank) == (None, None, None)


# ----------------------------------------------------------------------- calendars: facts of the article on time series


def test_a_week_of_hours_repeats_after_168():
    encoding = make_encoding("calendar:fields=hour+weekday")
    found = measure_faithfulness(encoding, length=192)
    assert found.injective is False
    assert found.closest_pair == (0, 168)
    assert [encoding.describe_position(s) for s in found.closest_pair] == [
        "Fri 2016-07-01 00:00",
        "Fri 2016-07-08 00:00",
    ]
    assert found.collisions.count == 24
    for s, t in found.collisions.examples:
        assert t - s == 168
        first, second = (datetime.fromisoformat(encoding.describe_position(p)[4:]) for p in (s, t))
        assert second - first == timedelta(hours=168)
    assert measure_faithfulness(encoding, length=168).injective is True
    assert measure("calendar:fields=hour+weekday,timestamp=yes", 192).injective is True


@pytest.mark.parametrize(
    ("fields", "distinct"),
    [("hour+weekday", 168), ("minute+hour+weekday,minute_slot=15", 672), ("minute+hour+weekday,minute_slot=5", 2016)],
)
def test_distinct_tuples_of_five_minute_data(fields, distinct):
    encoding = make_encoding(f"calendar:fields={fields},step=5min")
    assert len(np.unique(encoding.exact_key(np.arange(2304)))) == distinct
    start = datetime(2016, 7, 1)
    slot = 60 if "slot" not in fields else int(fields.rpartition("=")[2])
    moments = [start + timedelta(minutes=5 * s) for s in range(2304)]
    tuples = [(m.weekday(), m.hour, m.minute // slot) for m in moments]
    assert len(set(tuples)) == distinct
    found = measure_faithfulness(encoding, length=2304)
    assert found.injective is False
    assert found.collisions.count == len(list_equal(tuples))
    assert found.collisions.first == list_equal(tuples)[0]


def test_sums_of_informer_are_shared():
    encoding = make_encoding("calendar:fields=month+day+weekday+hour,rows=fixed,mode=sum")
    start = datetime(2016, 7, 1)
    moments = [start + timedelta(hours=s) for s in range(17420)]
    sums = [tuple(sorted((m.month, m.day, m.weekday(), m.hour))) for m in moments]
    counts = defaultdict(int)
    for one in sums:
        counts[one] += 1
    assert sum(counts[one] > 1 for one in sums) == 10388
    found = measure_faithfulness(encoding, length=17420)
    assert found.collisions.count == len(list_equal(sums)) == 10691
    assert [encoding.describe_position(s) for s in found.collisions.first] == [
        "Fri 2016-07-01 00:00",
        "Mon 2016-07-04 01:00",
    ]
    assert_allclose(*encoding.table(np.array(found.collisions.first)), rtol=0, atol=1e-14)


# ----------------------------------------------------------------------------------- learned tables


def test_equal_rows_are_witnesses():
    table = np.random.default_rng(0).normal(size=(60, BERT_LIKE))
    table[37], table[50], table[59] = table[11], table[11], -0.0 * table[0]
    table[20] = 0.0
    found = measure_faithfulness(Learned(values=table))
    assert (found.injective, found.min_separation, found.closest_pair) == (False, 0.0, (11, 37))
    assert found.collisions.count == 4  # three of (11, 37, 50), and the zeros
    assert found.collisions.examples == ((11, 37), (20, 59), (37, 50))
    assert found.certificate.kind == "rows"
    assert_allclose(found.separation_by_lag, naive.separation_by_lag(table), rtol=1e-12)
    moved = measure_faithfulness(Learned(values=table, first=10, prefix=1))
    assert moved.closest_pair == (0, 26)
    assert moved.encoding.describe_position(26) == "37"


def test_distinct_rows_are_injective_however_near():
    table = np.array([[1.0, 2, 3, 4], [1 + 1e-9, 2, 3, 4], [0, 0, 0, 1]])
    found = measure_faithfulness(Learned(values=table))
    assert found.injective is True
    assert found.min_separation == 1.000000082740371e-09
    table = np.array([[1e200], [1e-200], [2e-200]])
    found = measure_faithfulness(Learned(values=table))
    assert (found.injective, found.min_separation, found.closest_pair) == (True, 1e-200, (1, 2))


@pytest.mark.parametrize("exponent", [-1060, -600, 0, 600, 1022])
def test_rank_and_condition_have_no_scale(exponent):
    table = np.array([[1.0, 0.0], [0.0, 0.25], [1.0, 0.25], [0.5, 0.5]])
    plain = np.linalg.svd(table, compute_uv=False)
    found = measure_faithfulness(Learned(values=np.ldexp(table, exponent)))
    assert found.rank == 2
    assert_allclose(found.condition_number, plain[0] / plain[1], rtol=1e-12)
    if exponent > -1000:
        assert_allclose(found.rank_tolerance, np.ldexp(4 * 2.0**-52 * plain[0], exponent), rtol=1e-12)


def test_numbers_beyond_the_range_are_left_out():
    found = measure_faithfulness(Learned(values=np.array([[1.7e308], [-1.7e308]])))
    assert found.injective is True
    assert (found.min_separation, found.closest_pair, found.separation_by_lag) == (None, (0, 1), None)
    assert "larger than the largest double" in " ".join(found.notes)


def test_one_row_and_one_column():
    found = measure_faithfulness(Learned(values=np.array([[2.0]])))
    assert (found.injective, found.min_separation, found.closest_pair, found.rank) == (True, None, None, 1)
    found = measure_faithfulness(Learned(values=np.zeros((3, 1))))
    assert (found.injective, found.closest_pair, found.rank, found.condition_number) == (False, (0, 1), 0, None)
    # a note is told of its encoding by name, so it does not begin with that name itself
    assert "no reconstruction: all vectors are zero, so there are no weights to normalise" in found.notes
    with pytest.raises(InputError, match="beyond the rows"):
        measure_faithfulness(Learned(values=np.zeros((3, 1))), length=4)


# -------------------------------------------------------------------------------- separation by lag against brute force


LADDERS = (
    "rope:d=16", "rope:d=16,scaling=linear,factor=4", "rope:d=16,scaling=ntk,factor=4",
    "rope:d=16,scaling=yarn,factor=4,original=64", "rope:d=16,scaling=yarn,factor=4,original=64,attention_factor=2",
    "rope:d=16,scaling=llama3,factor=8,original=128,low_freq_factor=1,high_freq_factor=4", "rope:d=2",
    "rope:d=16,share=0.5",
    "tape:d=16", "tensor2tensor:d=16", "tensor2tensor:d=9", "sinusoidal:d=16", "sinusoidal:d=9",
    "sinusoidal:d=9,scale=3,offset=5",
    "sinusoidal:d=5,rho=3,offset=1000003", "sinusoidal:d=8,scale=0.001,layout=concatenated",
    "sinusoidal:d=3,rho=2,offset=7",
    "sinusoidal:d=16,rho=0.5", "dft:d=12", "dft:d=7", "rnn:d=6", "time2vec:d=5", "one-hot:d=50", "ramp", "fope:d=16",
    "learnable-sinusoid", "fourier-features:d=8", "tree:depth=6", "sincos2d:d=16", "dfstrans", "pixel-bands",
)  # fmt: skip


@pytest.mark.few(40)
@pytest.mark.parametrize("spec", LADDERS)
@pytest.mark.parametrize("length", [2, 3, 40])
def test_separation_agrees_with_brute_force(spec, length):
    encoding = make_encoding(spec)
    if not hasattr(encoding, "table") or (encoding.rows is not None and encoding.rows < length):
        pytest.skip("no table, or a shorter one")
    rows = encoding.table(length)
    found = measure_separation(CodeTable(encoding, length))
    largest = np.abs(rows).max()
    by_lag = naive.separation_by_lag(rows)
    if found.by_lag is not None:
        assert_allclose(found.by_lag, by_lag, rtol=1e-11, atol=1e-13 * largest)
    distance, pair = naive.smallest_separation(rows)
    assert_allclose(found.smallest, distance, rtol=1e-11, atol=1e-13 * largest)
    s, t = found.pair
    assert (s, t) <= pair or math.isclose(np.linalg.norm(rows[s] - rows[t]), distance, rel_tol=1e-12)
    assert_allclose(np.linalg.norm(rows[s] - rows[t]), distance, rtol=1e-11, atol=1e-13 * largest)


@pytest.mark.few(2)
@pytest.mark.parametrize("spec", ["rope", "rope:scaling=linear,factor=4", "tensor2tensor", "tape", "sinusoidal:d=65"])
def test_a_million_positions(spec):
    encoding = make_encoding(spec)
    found = measure_separation(CodeTable(encoding, 1_000_000))
    s, t = found.pair
    if hasattr(encoding, "table"):
        first, second = encoding.table(np.array([s, t]))
        assert_allclose(np.linalg.norm(first - second), found.smallest, rtol=1e-9)
    # no lag of a sample is closer: distance**2 = 2 (k(0) - k(tau))
    lags = np.unique(np.concatenate([np.arange(1, 3000), np.random.default_rng(0).integers(1, 10**6, 3000)]))
    if encoding.frequencies().masses.min() == 1:
        kernel = encoding.kernel(np.concatenate([[0], lags]))[0]
        squared = 2 * (kernel[0] - kernel[1:])
        assert squared.min() >= found.smallest**2 * (1 - 1e-9)
        assert_allclose(found.by_lag[lags - 1] ** 2, squared, rtol=0, atol=1e-12 * kernel[0])


@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_every_encoding_has_an_answer(cls):
    encoding = cls(init="normal", length=40, d=8) if cls is Learned else cls()
    length = min(30, encoding.rows or 30)
    if encoding.shape is not None:
        length = None
    found = measure_faithfulness(encoding, length=length, limit=3)
    assert len(found.collisions.examples) <= 3
    if found.injective:
        assert found.collisions.count == 0
    if found.injective is False:
        assert found.min_separation == 0.0
        assert found.closest_pair == found.collisions.first
    if hasattr(encoding, "table") and encoding.domain == "positions" and length:
        distance = find_closest_pair(encoding.table(length)).distance
        largest = float(np.abs(encoding.table(length)).max())
        assert_allclose(found.min_separation, distance, rtol=1e-10, atol=1e-13 * largest)


def test_a_distance_that_could_be_rounding_certifies_nothing():
    bound = 1.6e-14
    assert certify_distance(1e-3, bound).kind == "separation"
    assert certify_distance(bound, bound).kind == "rounding"
    assert certify_distance(bound * 1.001, bound).kind == "separation"
    assert certify_distance(0.0, 0.0).kind == "rounding"
    assert certify_distance(1.0, None).kind == "undecided"


@pytest.mark.parametrize(
    "spec",
    [
        "hybrid:of='sinusoidal:d=64,scale=3'+'sinusoidal:d=64',weights=7+-21",
        "hybrid:of='sinusoidal:d=8,scale=3'+'sinusoidal:d=8',weights=1+-3,mode=sum",
    ],
)
def test_parts_that_cancel_are_not_certified_by_their_rounding(spec):
    """Every code is exactly 0; what is computed is rounding."""
    result = measure(spec, 20)
    assert result.injective is None
    assert result.certificate.kind == "rounding"
    assert result.min_separation is None


def test_a_network_is_not_certified_without_a_bound_of_its_error():
    weights = 4 * np.random.default_rng(0).standard_normal((16, 17))
    result = measure_faithfulness(Rnn(values=weights, length=100))
    assert result.injective is None
    assert "how exact" in result.certificate.text


@pytest.mark.slow
def test_lags_beyond_memory_are_refused():
    with pytest.raises(InputError, match="too large to hold"):
        make_encoding("t5:heads=40,seed=1").bias(np.arange(1 - (1 << 20), 1 << 20))
    found = measure("t5:heads=40,seed=1", 1 << 20)  # its buckets decide it
    assert (found.injective, found.min_separation, found.condition_number) == (False, 0.0, None)


@pytest.mark.parametrize(("d", "length", "squares"), [(4, 6, [2, 2, 1, 1]), (5, 3, [1, 1, 1]), (3, 7, [3, 2, 2])])
def test_the_singular_values_of_a_dft_table_are_roots_of_how_often_each_code_comes(d, length, squares):
    found = measure_conditioning(CodeTable(find_encoding("dft")(d=d), length))
    assert_allclose(found.singular_values, np.sqrt(squares), rtol=4e-16)
    assert_allclose(found.condition_number, math.sqrt(squares[0] / squares[-1]), rtol=4e-16)
    assert found.rank == len(squares)


@pytest.mark.parametrize("given", ["sinusoidal", np.eye(3), None], ids=["text", "array", "nothing"])
@pytest.mark.parametrize("ask", [compute_spectrum, measure_faithfulness, measure_precision])
def test_what_is_no_encoding_is_refused_in_words(ask, given):
    with pytest.raises(InputError, match=r"no encoding \(.*\); read_encoding\(.*\) or Learned\(values=array\)"):
        ask(given)


# ----------------------------------------------------------------------------------- encodings


def test_a_sum_with_a_part_of_unknown_error_has_an_unknown_error():
    sinusoidal, rnn = find_encoding("sinusoidal")(d=64), find_encoding("rnn")()
    hybrid = find_encoding("hybrid")
    known, unknown = hybrid(of=(sinusoidal, sinusoidal)), hybrid(of=(sinusoidal, rnn))
    assert known.bound_error(known.table(8)) > 0
    assert unknown.bound_error(unknown.table(8)) is None


@pytest.mark.few(1)
@pytest.mark.parametrize(("spec", "last"), [("shaw:d=8", 1 << 20), ("t5", 1 << 13), ("erpe", 256)])
def test_growth_over_lags_ends_where_their_heads_cost_too_much(spec, last):
    assert measure(spec).separation_by_length[-1].length == last
