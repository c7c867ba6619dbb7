"""T5, eRPE and Shaw: which row a lag takes, against the published formulas, one number at a time."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings.bias_maps import Swin
from pe_spectra.encodings.lag_tables import T5, Erpe, Shaw, compute_buckets
from pe_spectra.errors import InputError
from tests.naive import bucket_of

TABLE = np.random.default_rng(7).normal(size=(32, 12))


# ----------------------------------------------------------------------------------- T5


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
    assert encoding.kernel_count == 12
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
    assert T5(heads=12).entries.shape == (32, 12)
    assert T5(heads=512, buckets=256).entries.std() == pytest.approx((64 * 512) ** -0.5, rel=0.02)
    assert any("from 91" in note for note in T5().notes)
    assert any("from 113" in note for note in T5(bidirectional="no").notes)


@pytest.mark.parametrize(
    "build",
    [
        lambda: T5(values=TABLE, buckets=16),
        lambda: T5(values=TABLE, heads=8),
        lambda: Erpe(values=TABLE[:31], length=17),
        lambda: Shaw(values=TABLE[:31], clip=16),
        lambda: Shaw(values=TABLE[:31], d=13),
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
    key, value = Shaw(clip=100, d=128), Shaw(clip=100, d=128, side="value")
    bound = math.sqrt(6 / (201 + 128))
    assert bound * 0.999 < np.abs(key.entries).max() <= bound
    assert np.all(key.entries != value.entries)
    assert any("100 and more" in note for note in key.notes)
