"""Biases of the catalogue against what the real packages returned, frozen in tests/reference/packages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from tests.making import make_named
from tests.reference.frozen_packages import FREQUENCY, SLOPE, U, cases, read

# ----------------------------------------------------------------------------------- biases


@cases("alibi", "bloom")
def test_alibi_of_bloom(case):
    # slope x key; softmax does not see what all keys of a query share, so the bias is minus slope x lag
    theirs = np.array(case["values"], dtype=float)
    alibi = make_named("alibi", heads=case["arguments"]["num_heads"])
    assert_allclose(alibi.bias([0, 1, 2, 3]), -theirs, rtol=SLOPE, atol=0)


@cases("alibi", "mpt")
def test_alibi_of_mpt(case):
    # minus slope x (last key - key): the bias of the last query
    theirs = np.array(case["values"], dtype=float)
    alibi = make_named("alibi", heads=case["arguments"]["num_heads"])
    assert_allclose(alibi.bias([3, 2, 1, 0]), theirs, rtol=SLOPE, atol=0)


def test_both_packages_have_the_same_slopes_for_any_number_of_heads():
    found = {}
    for case in read("alibi")["cases"]:
        slopes = np.abs(np.diff(np.array(case["values"], dtype=float), axis=1)[:, -1])
        found.setdefault(case["arguments"]["num_heads"], []).append(slopes)
    assert set(found) == {1, 2, 8, 12, 40}
    for bloom, mpt in found.values():
        assert_allclose(bloom, mpt, rtol=SLOPE, atol=0)


RELATIVE = np.arange(-300, 301)


@cases("t5_buckets")
def test_t5_buckets(case):
    asked = case["arguments"]
    theirs = np.array(case["values"])
    both, count, far = asked["bidirectional"], asked["num_buckets"], asked["max_distance"]
    # the table holds its own row numbers, so the bias is the bucket; a lag is query minus key, T5's is its opposite
    numbers = np.arange(float(count))[:, None]
    t5 = make_named("t5", values=numbers, max_distance=far, bidirectional="yes" if both else "no")
    seen = np.less_equal(RELATIVE, 300 if both else 0)
    assert_array_equal(t5.bias(-RELATIVE[seen])[0], theirs[seen])
    keys = t5.exact_key(-RELATIVE[seen])
    assert_array_equal(keys[:, None] == keys, theirs[seen][:, None] == theirs[seen])


PLACES = np.subtract.outer(np.arange(6), np.arange(6))  # query minus key


@cases("lag_maps", "T5Attention", is_decoder=False)
def test_bias_of_t5_between_queries_and_keys(case):
    t5 = make_named("t5", values=np.arange(8.0)[:, None], max_distance=20)
    assert_array_equal(t5.bias(PLACES.ravel())[0].reshape(6, 6), case["values"])


@cases("lag_maps", "T5Attention", is_decoder=True)
def test_bias_of_t5_between_queries_and_earlier_keys(case):
    t5 = make_named("t5", values=np.arange(8.0)[:, None], max_distance=20, bidirectional="no")
    seen = PLACES >= 0
    assert_array_equal(t5.bias(PLACES[seen])[0], np.array(case["values"])[seen])


@cases("lag_maps", "relative_key")
def test_rows_of_shaw_between_queries_and_keys(case):
    shaw = make_named("shaw", values=np.arange(5.0)[:, None])
    assert_array_equal(shaw.lag_table(PLACES.ravel()).reshape(6, 6), case["values"])


def test_in_a_decoder_of_t5_keys_after_the_query_share_bucket_0():
    (case,) = [
        c
        for c in read("t5_buckets")["cases"]
        if c["arguments"] == {"bidirectional": False, "num_buckets": 32, "max_distance": 128}
    ]
    assert set(np.array(case["values"])[RELATIVE >= 0]) == {0}
    with pytest.raises(InputError, match="negative"):
        make_named("t5", bidirectional="no").bias([-1])


# ----------------------------------------------------------------------------------- grids


@cases("swin", "SwinRelativePositionBias", window_size=[3, 3])
def test_swin_reads_its_table_by_offset(case):
    rows = np.arange(25.0)[:, None]
    assert_array_equal(make_named("swin", values=rows).bias_map(9)[0], case["values"])


@cases("swin", "relative_position_index")
def test_offsets_of_swin_v2(case):
    side = case["arguments"]["window_size"][0]
    rows = np.arange(float((2 * side - 1) ** 2))[:, None]
    assert_array_equal(make_named("swin", values=rows).bias_map(side**2)[0], case["values"])


@cases("swin", "relative_coords_table")
def test_logarithmic_offsets_of_swin_v2(case):
    # ours are seen through the network that is drawn for seed 0: ReLU between two layers, 16 sigmoid after them
    asked, offsets = case["arguments"], np.array(case["values"], dtype=float)
    side, trained = asked["window_size"][0], asked["pretrained_window_size"][0] or None
    swin = make_named("swin", window=side, mode="cpb", heads=2, trained=trained, seed=0)
    draw = np.random.Generator(np.random.PCG64(0))
    inner, outer = 0.02 * draw.standard_normal((512, 2)), 0.02 * draw.standard_normal((2, 512))
    logits = np.maximum(offsets @ inner.T, 0) @ outer.T
    theirs = np.moveaxis(16 / (1 + np.exp(-logits)), -1, 0)
    assert np.ptp(theirs) > 0.05
    assert_allclose(swin.offset_biases, theirs, rtol=FREQUENCY, atol=0)


@cases("swin", "of zeros")
def test_continuous_bias_of_swin_v2(case):
    # tokens of zeros leave the bias alone, so attention is its softmax; the weights are those that ours draws
    asked, theirs = case["arguments"], np.array(case["values"], dtype=float)
    side, trained = asked["window_size"], asked["pretrained_window_size"] or None
    swin = make_named("swin", window=side, mode="cpb", heads=asked["num_heads"], trained=trained, seed=0)
    weights = np.exp(swin.bias_map(side**2))
    assert_allclose(weights / weights.sum(axis=2, keepdims=True), theirs, rtol=64 * U, atol=0)
