"""FIRE, TUPE and Swin: biases of pairs of positions, against their published formulas."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.bias_maps import Fire, Swin, Tupe
from pe_spectra.errors import InputError
from tests.naive import bucket_of

TABLE = np.random.default_rng(7).normal(size=(32, 12))


# ----------------------------------------------------------------------------------- FIRE, TUPE, Swin


def test_fire_by_its_formula():
    encoding = Fire(heads=3, threshold=5, c=0.3)
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
    encoding = Tupe(heads=2, width=3, length=7)
    generator = np.random.Generator(np.random.PCG64(0))
    rows = 0.02 * generator.standard_normal((8, 6))
    rows = [(row - row.mean()) / math.sqrt(row.var() + 1e-5) for row in rows]
    weight = 0.02 * generator.standard_normal((12, 6))
    table = 0.02 * generator.standard_normal((33, 2))
    found, plain = encoding.bias_map(7), Tupe(heads=2, width=3, length=7, relative="no").bias_map(7)
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
    assert (encoding.window, encoding.rows, encoding.shape, encoding.kernel_count) == (3, 9, (3, 3), 4)
    found = encoding.bias_map(9)
    for query in range(9):
        for key in range(9):
            down, right = query // 3 - key // 3, query % 3 - key % 3
            assert_array_equal(found[:, query, key], TABLE[(down + 2) * 5 + right + 2, :4])
    assert_array_equal(encoding.bias_map(5), found[:, :5, :5])
    assert encoding.describe_position(5) == "5 (row 1, column 2 of the window)"


@pytest.mark.parametrize(("window", "trained"), [(4, None), (7, 4), (1, None)])
def test_swin_v2_by_its_formula(window, trained):
    encoding = Swin(mode="cpb", window=window, trained=trained, heads=2)
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
