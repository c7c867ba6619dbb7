"""Encodings of lags: each against its published formula, written out again, naively."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.absolute import Sinusoidal
from pe_spectra.encodings.bias_maps import BIAS_MAPS, Fire, Tupe
from pe_spectra.encodings.biases import BIASES, Alibi, Kerple, Sandwich, compute_slopes
from pe_spectra.encodings.buckets import BUCKETS, T5, compute_buckets
from pe_spectra.encodings.heads import HeadedEncoding
from pe_spectra.encodings.lag_tables import LAG_TABLES, Erpe, Shaw
from pe_spectra.encodings.protocol import (
    HasBias,
    HasBiasMap,
    HasExactKey,
    HasKernel,
    HasLagTable,
    HasTable,
)
from pe_spectra.encodings.windows import WINDOWS, Swin
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION

CLASSES = (*BIASES, *BUCKETS, *LAG_TABLES, *BIAS_MAPS, *WINDOWS)
HEADED = [cls for cls in CLASSES if issubclass(cls, HeadedEncoding)]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
every_headed = pytest.mark.parametrize("cls", HEADED, ids=lambda cls: cls.name)

TABLE = np.random.default_rng(7).normal(size=(32, 12))


def compute_numbers(encoding, size=9):
    """What the encoding has for a few lags or positions, heads first."""
    if isinstance(encoding, HasBiasMap):
        return encoding.bias_map(size)
    if isinstance(encoding, HasLagTable):
        return encoding.lag_table(np.arange(size))[None]
    return encoding.bias(np.arange(size))


# ----------------------------------------------------------------------------------- all of them


def test_nine_names():
    names = [cls.name for cls in CLASSES]
    assert sorted(names) == ["alibi", "erpe", "fire", "kerple", "sandwich", "shaw", "swin", "t5", "tupe"]


@every_class
def test_views_are_those_of_lags(cls):
    encoding = cls()
    assert encoding.domain == "lags"
    assert encoding.causal in (True, False)
    assert sum(isinstance(encoding, view) for view in (HasBias, HasBiasMap, HasLagTable)) == 1
    assert not isinstance(encoding, HasTable | HasKernel)
    assert isinstance(encoding, HasExactKey) == (not isinstance(encoding, HasBiasMap))
    assert encoding.family == "relative"


@every_class
def test_numbers_are_finite_and_the_same_every_time(cls):
    encoding = cls()
    numbers = compute_numbers(encoding)
    assert numbers.dtype == np.float64
    assert numbers.shape[0] == encoding.heads
    assert np.isfinite(numbers).all()
    again = cls(**encoding.given)
    assert again == encoding
    assert hash(again) == hash(encoding)
    assert_array_equal(numbers, compute_numbers(again))


@every_class
def test_the_default_length_can_be_asked_for(cls):
    encoding = cls()
    assert 2 <= encoding.default_length <= 512
    assert compute_numbers(encoding, encoding.default_length).shape[1] == encoding.default_length


@every_headed
def test_a_head_is_a_row_of_all(cls):
    numbers = compute_numbers(cls())
    for head in (0, 2, len(numbers) - 1):
        one = cls(head=head)
        assert one.heads == 1
        assert_allclose(compute_numbers(one)[0], numbers[head], rtol=1e-13, atol=1e-300)
    with pytest.raises(InputError, match="head is out of range"):
        cls(head=len(numbers))


@every_headed
def test_heads_are_counted(cls):
    assert cls(head_count=3).heads == 3
    assert cls(head_count=3).parameters["heads"] == 3
    for count in (0, 1025, 2.5, "3"):
        with pytest.raises(InputError, match=f"{cls.name}: heads"):
            cls(head_count=count)


@pytest.mark.parametrize("cls", [Kerple, T5, Erpe, Shaw, Fire, Tupe, Swin])
def test_drawn_values_say_so_and_follow_the_seed(cls):
    encoding = cls()
    assert encoding.is_random
    assert any("drawn at random" in note for note in encoding.notes)
    assert np.any(compute_numbers(encoding) != compute_numbers(cls(seed=1)))


@pytest.mark.parametrize("cls", [Alibi, Sandwich])
def test_a_formula_is_not_random(cls):
    assert not cls().is_random
    assert not cls().notes


@pytest.mark.parametrize("cls", [Alibi, Kerple, Sandwich, T5, Erpe])
def test_lags_that_are_none_are_refused(cls):
    for lags in ([1.5], [[1, 2]], ["a"], [MAX_POSITION + 1]):
        with pytest.raises(InputError):
            cls().bias(lags)
    assert cls().bias([]).shape == (8, 0)


@pytest.mark.parametrize("encoding", [Alibi(), Kerple(), Sandwich(), T5(bidirectional="no")], ids=lambda e: e.name)
def test_causal_biases_have_no_negative_lags(encoding):
    assert encoding.causal
    assert np.isfinite(encoding.bias([0, 1, MAX_POSITION])).all()
    for ask in (encoding.bias, encoding.exact_key):
        with pytest.raises(InputError, match=r"a lag is negative \(-3\)"):
            ask(np.array([1, -3]))


@pytest.mark.parametrize("cls", [Fire, Tupe, Swin])
def test_lengths_of_maps(cls):
    assert compute_numbers(cls(), 1).shape[1:] == (1, 1)
    for length in (0, -1, 2.5, 1 << 30, True):
        with pytest.raises(InputError):
            cls().bias_map(length)
    if cls is not Swin:
        big, small = compute_numbers(cls(), 20), compute_numbers(cls(), 12)
        assert_allclose(big[:, :12, :12], small, rtol=1e-12)


def test_what_cannot_be_held_is_refused():
    with pytest.raises(InputError, match="too large to hold"):
        Alibi(head_count=1024).bias(np.zeros(MAX_HELD_ENTRIES // 1024 + 1, dtype=int))
    with pytest.raises(InputError, match="too large to hold"):
        Fire().bias_map(10000)
    with pytest.raises(InputError, match="too large to hold"):
        Erpe(length=1 << 20, head_count=1024)
    with pytest.raises(InputError, match="too large to hold"):
        Tupe(head_count=64, width=256)
    with pytest.raises(InputError, match="too large to hold"):
        Shaw(clip=1 << 16, width=1 << 10)


KEYED = [
    Alibi(),
    Alibi(direction="no"),
    Kerple(),
    Kerple(kind="power", head=3),
    Sandwich(),
    Sandwich(first=0, d=6, head=1),
    T5(),
    T5(bidirectional="no"),
    T5(values=np.repeat(TABLE[:8], 4, axis=0)),
    Erpe(length=40),
    Erpe(values=np.array([[1.0], [2], [3], [2], [-0.0], [0.0], [1]])),
    Shaw(),
    Shaw(values=np.array([[1.0, 2], [0, 1], [1, 2]])),
]


@pytest.mark.parametrize("encoding", KEYED, ids=lambda encoding: encoding.label)
def test_keys_are_equal_where_the_numbers_are(encoding):
    reach = min(40, encoding.default_length)
    lags = np.arange(0 if encoding.causal else 1 - reach, reach)
    keys = encoding.exact_key(lags)
    assert keys.dtype == np.int64
    assert keys.shape == lags.shape
    numbers = encoding.lag_table(lags).T if isinstance(encoding, HasLagTable) else encoding.bias(lags)
    same = np.abs(numbers[:, :, None] - numbers[:, None, :]).max(axis=0) < 1e-12
    assert_array_equal(np.equal.outer(keys, keys), same)
    assert encoding.theorem.kind.replace("-", "").isalnum()
    assert len(encoding.theorem.text) > 20


# ----------------------------------------------------------------------------------- ALiBi


def write_slopes(heads):
    """The list that ofirpress/attention_with_linear_biases builds, by its own recursion."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return write_slopes(below) + write_slopes(2 * below)[0::2][: heads - below]


def test_slopes_by_hand():
    assert compute_slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    twelve = [2.0**-h for h in range(1, 9)] + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert_allclose(compute_slopes(12), twelve, rtol=1e-15)
    forty = [2 ** (-h / 4) for h in range(1, 33)] + [2 ** (-(2 * k + 1) / 8) for k in range(8)]
    assert_allclose(compute_slopes(40), forty, rtol=1e-15)


@pytest.mark.parametrize("heads", [*range(1, 41), 64, 71, 112, 128, 1023, 1024])
def test_slopes_are_those_of_the_published_recursion(heads):
    slopes = compute_slopes(heads)
    assert slopes.shape == (heads,)
    assert_allclose(slopes, write_slopes(heads), rtol=1e-12)


def test_the_plain_formula_gives_other_slopes():
    naive = 2.0 ** (-8 * np.arange(1, 13) / 12)
    assert np.abs(np.sort(naive) - np.sort(compute_slopes(12))).max() > 0.01
    for heads in (0, 1025, 2.5):
        with pytest.raises(InputError, match="heads"):
            compute_slopes(heads)
    assert_array_equal(compute_slopes(np.int64(12)), compute_slopes(12))


def test_alibi_is_minus_slope_times_distance():
    bias = Alibi(head_count=12, direction="no").bias([-3, 0, 5])
    assert_allclose(bias, -np.outer(write_slopes(12), [3, 0, 5]), rtol=1e-12)
    assert not np.signbit(bias[:, 1]).any()
    assert_array_equal(Alibi(direction="no").exact_key(np.array([-3, 3, 0])), [3, 3, 0])


def test_stored_rows_differ_from_alibi_by_a_constant_of_the_query():
    n, slope = 9, compute_slopes(8)[2]
    query, key = np.arange(n)[:, None], np.arange(n)[None, :]
    ours = Alibi(head=2, direction="no").bias((query - key).ravel())[0].reshape(n, n)
    for stored in (slope * key, -slope * (n - 1 - key)):
        shift = np.tril(stored - ours - (stored - ours)[:, :1])
        assert_allclose(shift, 0, atol=1e-14)


# ----------------------------------------------------------------------------------- KERPLE, Sandwich


def test_kerple_by_its_formulas():
    r1, r2 = (1.5, 0.25), (0.5, 2.0)
    lags = np.arange(7)
    log = Kerple(r1=r1, r2=r2).bias(lags)
    power = Kerple(kind="power", r1=r1, r2=r2).bias(lags)
    for head in range(2):
        for lag in range(7):
            assert log[head, lag] == pytest.approx(-r1[head] * math.log(1 + r2[head] * lag), rel=1e-14)
            assert power[head, lag] == pytest.approx(-r1[head] * lag ** r2[head], rel=1e-14)
    assert not Kerple(r1=r1, r2=r2).is_random
    assert Kerple(r1=r1, r2=r2).heads == 2


def test_kerple_is_drawn_as_published():
    for kind, wide, narrow in (("log", 0, 1), ("power", 1, 0)):
        drawn = Kerple(kind=kind, head_count=1024).coefficients
        assert 0.01 == drawn[narrow].min() < 0.02
        assert 0.98 < drawn[narrow].max() < 1
        assert 1.98 < drawn[wide].max() < 2
        assert drawn[wide].min() == 0.01
    assert Kerple(r1=(1.0,)).is_random
    assert Kerple(r1=(1.0,)).coefficients[0] == 1


def test_kerple_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="r2 is too large for a power"):
        Kerple(kind="power", r1=(1.0,), r2=(2.5,))
    with pytest.raises(InputError, match="r2 has 1 members"):
        Kerple(r1=(1.0, 2.0), r2=(2.5,))
    with pytest.raises(InputError, match="heads contradicts"):
        Kerple(r1=(1.0, 2.0), head_count=3)
    with pytest.raises(InputError):
        Kerple(r1=(0.0,))


def test_sandwich_is_the_kernel_of_the_sinusoidal_encoding():
    lags = np.arange(300)
    kernel = Sinusoidal(d=128, rho=10000).kernel(lags)[0]
    for ratio in ("divide", "multiply"):
        bias = Sandwich(first=0, ratio=ratio).bias(lags)
        for head in range(8):
            factor = 8 * (head + 1) / 8
            factor = 1 / factor if ratio == "divide" else factor
            assert_allclose(bias[head], factor * (kernel - 64), rtol=0, atol=1e-11)
    table = Sinusoidal(d=128, rho=10000).table(300)
    assert_allclose(Sandwich(first=0).bias(lags)[0] + 64, table @ table[0], atol=1e-11)


def test_sandwich_as_published_code_counts_frequencies():
    mp.dps = 40
    lags = [0, 1, 17, 1000, 10**9]
    for heads, d in ((8, 128), (3, 6)):
        bias = Sandwich(head_count=heads, d=d).bias(lags)
        for head in range(heads):
            for place, lag in enumerate(lags):
                total = sum(mp.cos(lag * mpf(10000) ** (-mpf(2 * i) / d)) for i in range(1, d // 2 + 1))
                expected = (total - d // 2) / (mpf(8 * (head + 1)) / heads)
                assert bias[head, place] == pytest.approx(float(expected), rel=1e-11, abs=1e-12)
    assert_array_equal(bias[:, 0], 0)
    with pytest.raises(InputError, match="d is odd"):
        Sandwich(d=7)


# ----------------------------------------------------------------------------------- T5


def bucket_of(relative, buckets=32, max_distance=128, bidirectional=True, real=np.float64):
    """The published formula, one number at a time; `real` is the type that its logarithms are taken in."""
    found, n = 0, -relative
    if bidirectional:
        buckets //= 2
        if n < 0:
            found += buckets
        n = abs(n)
    else:
        n = max(n, 0)
    exact = buckets // 2
    if n < exact:
        return found + n
    share = np.log(real(n) / real(exact)) / real(math.log(max_distance / exact))
    return found + min(exact + int(share * real(buckets - exact)), buckets - 1)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("buckets", "max_distance"), [(32, 128), (64, 128), (32, 256), (16, 100), (4, 20), (128, 1000)]
)
def test_buckets_by_the_published_formula(buckets, max_distance, bidirectional, real):
    relative = np.arange(-1100, 1101)
    expected = [bucket_of(int(r), buckets, max_distance, bidirectional, real) for r in relative]
    found = compute_buckets(relative, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    assert_array_equal(found, expected)


def test_buckets_in_words():
    forward = compute_buckets(-np.arange(201), bidirectional=False)
    assert_array_equal(forward[:17], range(17))
    assert forward[16] == forward[17] != forward[15]
    assert np.flatnonzero(forward == 31)[0] == 113
    both = compute_buckets(-np.arange(201))
    assert_array_equal(both[:9], range(9))
    assert both[8] == both[9] != both[7]
    assert np.flatnonzero(both == 15)[0] == 91
    # a key after its query: the upper half, and bucket 16 stays empty
    assert_array_equal(compute_buckets(np.arange(1, 201)), both[1:] + 16)
    assert_array_equal(compute_buckets(np.arange(1, 9), bidirectional=False), 0)
    assert set(compute_buckets(np.arange(-300, 301))) == set(range(32)) - {16}
    assert_array_equal(compute_buckets([-(2**53), 2**53]), [15, 31])
    assert_array_equal(
        compute_buckets(np.arange(9), buckets=np.int64(128), max_distance=np.int64(5000)), [0, *range(65, 73)]
    )


def test_buckets_that_cannot_be():
    for settings in ({"buckets": 3}, {"buckets": 1, "bidirectional": False}, {"max_distance": 8}):
        with pytest.raises(InputError):
            compute_buckets([0], **settings)
    with pytest.raises(InputError):
        compute_buckets([0.5])
    with pytest.raises(InputError, match="t5: max_distance is too small"):
        T5(max_distance=16, bidirectional="no")


def test_t5_takes_rows_of_its_table():
    encoding = T5(values=TABLE)
    assert encoding.heads == 12
    assert not encoding.is_random
    lags = np.arange(-150, 151)
    bias = encoding.bias(lags)
    for place, lag in enumerate(lags):
        assert_array_equal(bias[:, place], TABLE[bucket_of(-int(lag))])
    assert_array_equal(T5(values=TABLE, head=5).bias(lags), bias[5:6])
    assert_array_equal(T5(values=TABLE, bidirectional="no").bias([120]), TABLE[31:].T)


def test_t5_keys_look_at_the_rows_of_the_table():
    values = TABLE.copy()
    values[17, 1:] = values[1, 1:]
    keys = T5(values=values).exact_key(np.array([-1, 1]))
    assert keys[0] != keys[1]
    keys = T5(values=values, head=4).exact_key(np.array([-1, 1, 2]))
    assert keys[0] == keys[1] != keys[2]


def test_t5_is_drawn_as_published():
    assert T5(head_count=12).entries.shape == (32, 12)
    assert T5(head_count=512, buckets=256).entries.std() == pytest.approx((64 * 512) ** -0.5, rel=0.02)
    assert any("from 91" in note for note in T5().notes)
    assert any("from 113" in note for note in T5(bidirectional="no").notes)


@pytest.mark.parametrize(
    "build",
    [
        lambda: T5(values=TABLE, buckets=16),
        lambda: T5(values=TABLE, head_count=8),
        lambda: Erpe(values=TABLE[:31], length=17),
        lambda: Shaw(values=TABLE[:31], clip=16),
        lambda: Shaw(values=TABLE[:31], width=13),
        lambda: Swin(values=TABLE[:9], window=3),
    ],
)
def test_sizes_that_contradict_the_table(build):
    with pytest.raises(InputError, match="contradicts the given values"):
        build()


@pytest.mark.parametrize("cls", [Erpe, Shaw, Swin])
def test_tables_of_a_wrong_number_of_rows(cls):
    with pytest.raises(InputError, match="rows"):
        cls(values=TABLE)
    with pytest.raises(InputError):
        cls(values=np.full((9, 2), np.nan))


# ----------------------------------------------------------------------------------- eRPE, Shaw


def test_erpe_gathers_as_published():
    length, heads = 16, 12
    encoding = Erpe(values=TABLE[:31])
    assert encoding.rows == encoding.default_length == length
    index = np.arange(length)[:, None] - np.arange(length)[None, :] + length - 1
    lags = np.arange(length)[:, None] - np.arange(length)[None, :]
    gathered = TABLE[:31][index]
    found = encoding.bias(lags.ravel()).reshape(heads, length, length)
    assert_array_equal(found, np.moveaxis(gathered, 2, 0))
    assert any("after softmax" in note for note in encoding.notes)
    for lag in (16, -16):
        with pytest.raises(InputError, match="a lag is beyond the table"):
            encoding.bias([0, lag])


def test_erpe_keys_look_at_the_rows_of_the_table():
    keys = Erpe(values=np.array([[1.0], [2], [3], [2], [-0.0], [0.0], [1]])).exact_key(np.arange(-3, 4))
    assert keys[0] == keys[6]
    assert keys[1] == keys[3]
    assert keys[4] == keys[5]
    assert len(set(keys.tolist())) == 4


def test_shaw_clips_key_minus_query():
    encoding = Shaw(values=TABLE[:5])
    assert (encoding.clip, encoding.d) == (2, 12)
    lags = np.arange(-6, 7)
    table = encoding.lag_table(lags)
    for lag, row in zip(lags, table, strict=True):
        query, key = 10 + int(lag), 10
        assert_array_equal(row, TABLE[min(max(key - query, -2), 2) + 2])
    assert_array_equal(encoding.exact_key(lags) == encoding.exact_key(np.array([9])), lags >= 2)


def test_shaw_is_drawn_as_tensorflow_does():
    key, value = Shaw(clip=100, width=128), Shaw(clip=100, width=128, side="value")
    bound = math.sqrt(6 / (201 + 128))
    assert bound * 0.999 < np.abs(key.entries).max() <= bound
    assert np.all(key.entries != value.entries)
    assert any("100 and more" in note for note in key.notes)


# ----------------------------------------------------------------------------------- FIRE, TUPE, Swin


def test_fire_by_its_formula():
    encoding = Fire(head_count=3, threshold=5, c=0.3)
    weights, shifts, outer, outer_shifts = encoding.layers
    assert np.abs(weights).max() <= 1
    assert np.abs(outer).max() <= 32**-0.5
    found = encoding.bias_map(9)
    for i in range(9):
        for j in range(9):
            x = math.log(0.3 * (i - j) + 1) / math.log(0.3 * max(i, 5) + 1) if j <= i else None
            for head in range(3):
                expected = outer_shifts[head] if j <= i else 0.0
                for unit in range(32 if j <= i else 0):
                    expected += outer[head, unit] * max(weights[unit] * x + shifts[unit], 0)
                assert found[head, i, j] == pytest.approx(expected, rel=1e-12)


def test_fire_is_a_function_of_the_lag_up_to_its_threshold_only():
    found = Fire(threshold=20).bias_map(30)
    for lag in (0, 1, 5):
        diagonal = np.diagonal(found, -lag, 1, 2)
        assert_allclose(diagonal[:, : 21 - lag], diagonal[:, :1] * np.ones(21 - lag), rtol=1e-13)
        assert (np.ptp(diagonal, axis=1).max() > 1e-4) == (lag > 0)
    assert any("up to position 20" in note for note in Fire(threshold=20.5).notes)


def test_tupe_by_its_formula():
    encoding = Tupe(head_count=2, width=3, length=7)
    generator = np.random.Generator(np.random.PCG64(0))
    rows = 0.02 * generator.standard_normal((8, 6))
    rows = [(row - row.mean()) / math.sqrt(row.var() + 1e-5) for row in rows]
    weight = 0.02 * generator.standard_normal((12, 6))
    table = 0.02 * generator.standard_normal((33, 2))
    found, plain = encoding.bias_map(7), Tupe(head_count=2, width=3, length=7, relative="no").bias_map(7)
    for head in range(2):
        queries = [weight[3 * head : 3 * head + 3] @ row for row in rows]
        keys = [weight[6 + 3 * head : 9 + 3 * head] @ row for row in rows]
        for i in range(7):
            for j in range(7):
                a, b = (0, 0) if i == 0 else (1, 1) if j == 0 else (i + 1, j + 1)
                bucket = 16 if i == 0 else 32 if j == 0 else bucket_of(j - i)
                expected = queries[a] @ keys[b] / math.sqrt(2 * 6 / 2)
                assert plain[head, i, j] == pytest.approx(expected, rel=1e-10)
                assert found[head, i, j] == pytest.approx(expected + table[bucket, head], rel=1e-10)


def test_tupe_has_one_number_for_all_partners_of_its_first_position():
    found = Tupe().bias_map(40)
    assert_array_equal(found[:, 0, :], found[:, :1, 0] * np.ones(40))
    assert_array_equal(found[:, 1:, 0], found[:, 1:2, 0] * np.ones(39))
    assert np.all(found[:, 0, 1] != found[:, 1, 0])
    with pytest.raises(InputError, match="length is out of range"):
        Tupe(length=30).bias_map(31)


def test_swin_looks_up_pairs_of_offsets():
    encoding = Swin(values=TABLE[:25, :4])
    assert (encoding.side, encoding.rows, encoding.shape, encoding.heads) == (3, 9, (3, 3), 4)
    found = encoding.bias_map(9)
    for query in range(9):
        for key in range(9):
            down, right = query // 3 - key // 3, query % 3 - key % 3
            assert_array_equal(found[:, query, key], TABLE[(down + 2) * 5 + right + 2, :4])
    assert_array_equal(encoding.bias_map(5), found[:, :5, :5])
    assert encoding.describe_position(5) == "5 (row 1, column 2 of the window)"


@pytest.mark.parametrize(("window", "trained"), [(4, None), (7, 4), (1, None)])
def test_swin_v2_by_its_formula(window, trained):
    encoding = Swin(mode="cpb", window=window, trained=trained, head_count=2)
    generator = np.random.Generator(np.random.PCG64(0))
    inner, outer = 0.02 * generator.standard_normal((512, 2)), 0.02 * generator.standard_normal((2, 512))

    def scale(offset):
        x = 8 * offset / ((trained or window) - 1) if offset else 0.0
        return math.copysign(math.log2(1 + abs(x)) / math.log2(8), x)

    found = encoding.offset_biases
    for down in range(1 - window, window):
        for right in range(1 - window, window):
            hidden = np.maximum(inner @ [scale(down), scale(right)], 0)
            expected = 16 / (1 + np.exp(-(outer @ hidden)))
            assert_allclose(found[:, down + window - 1, right + window - 1], expected, rtol=1e-12)
    assert np.abs(found - 8).max() < 1
    assert scale(window - 1) == pytest.approx(math.log2(9) / 3) or trained or window == 1


def test_swin_keys_that_do_not_go_together():
    with pytest.raises(InputError, match="trained has no meaning here"):
        Swin(trained=4)
    with pytest.raises(InputError, match="table has no meaning here"):
        Swin(mode="cpb", values=TABLE[:25])
    with pytest.raises(InputError, match="seed has no meaning here"):
        Swin(values=TABLE[:25], seed=3)
