"""What every encoding of lags must keep: shapes, heads, and that nothing too large is made."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import HasBias, HasBiasMap, HasLagTable, HasTable
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION, MAX_WIDTH
from tests.laws.variants import LAGS, NO_INTEGERS, choose_lags, every, every_class, has_parameter, is_of_lags, show

# ----------------------------------------------------------------------------------- lags


@every(where=is_of_lags)
def test_every_encoding_of_lags_has_one_view(encoding):
    views = [isinstance(encoding, view) for view in (HasBias, HasBiasMap, HasLagTable)]
    assert sum(views) == 1
    assert not isinstance(encoding, HasTable)
    assert isinstance(encoding.causal, bool)


@every(where=lambda e: not is_of_lags(e))
def test_every_encoding_of_positions_has_a_table(encoding):
    assert isinstance(encoding, HasTable)
    assert not isinstance(encoding, HasBias | HasBiasMap | HasLagTable)
    assert encoding.kernel_count == 1


@every(HasBias)
def test_bias_has_shape_type_and_finite_numbers(encoding):
    lags = choose_lags(encoding)
    for some in (lags, lags[:1], []):
        bias = encoding.bias(some)
        assert bias.shape == (encoding.kernel_count, len(some))
        assert bias.dtype == np.float64
        assert np.isfinite(bias).all()
    first = encoding.bias(lags)
    assert_array_equal(first, type(encoding)(**encoding.given).bias(list(lags)))
    assert_array_equal(encoding.bias(lags[::-1]), first[:, ::-1])
    assert_array_equal(np.hstack([encoding.bias([lag]) for lag in lags]), first)
    kept = first.copy()
    first += 1
    assert_array_equal(encoding.bias(lags), kept)


@every(HasLagTable)
def test_lag_table_has_shape_type_and_finite_numbers(encoding):
    lags = choose_lags(encoding)
    for some in (lags, lags[:1], []):
        table = encoding.lag_table(some)
        assert table.shape == (len(some), encoding.d)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
    first = encoding.lag_table(lags)
    assert_array_equal(first, type(encoding)(**encoding.given).lag_table(list(lags)))
    assert_array_equal(np.vstack([encoding.lag_table([lag]) for lag in lags]), first)
    kept = first.copy()
    first += 1
    assert_array_equal(encoding.lag_table(lags), kept)


def list_lag_views(encoding):
    """What takes lags."""
    found = [getattr(encoding, name) for name in ("bias", "lag_table") if hasattr(encoding, name)]
    return found + ([encoding.exact_key] if encoding.theorem is not None else [])


@every(where=lambda e: isinstance(e, HasBias | HasLagTable))
def test_what_is_no_lag_is_refused(encoding):
    far = MAX_POSITION if encoding.rows is None else encoding.rows - 1
    for view in list_lag_views(encoding):
        for lags in (*NO_INTEGERS, "a", 1.5):
            with pytest.raises(InputError):
                view(lags)
        assert np.isfinite(view([far])).all()
        with pytest.raises(InputError, match=r"beyond the table|out of range"):
            view([far + 1])
        if encoding.causal:
            with pytest.raises(InputError, match="a lag is negative"):
                view([0, -1])
        else:
            assert np.isfinite(view([-far])).all()
            with pytest.raises(InputError, match=r"beyond the table|out of range"):
                view([-far - 1])


@every(HasBias, where=lambda e: e.name == "alibi" and not e.causal)
def test_a_bias_in_both_directions_alike_is_symmetric(encoding):
    assert_array_equal(encoding.bias(LAGS), encoding.bias(-LAGS))


@every(HasBias, where=lambda e: e.name in ("alibi", "kerple", "sandwich"))
def test_a_penalty_is_none_at_lag_0_and_never_a_reward(encoding):
    bias = encoding.bias(np.arange(300))
    assert_array_equal(bias[:, 0], np.zeros(encoding.kernel_count))
    assert np.all(bias[:, 1:] < 0)
    if encoding.name != "sandwich":  # a sum of cosines comes back
        assert np.all(np.diff(bias) < 0)


@every(where=lambda e: has_parameter("heads")(e) and e.head is None)
def test_a_head_is_its_row_of_all_heads(encoding):
    whole = show(encoding) if isinstance(encoding, HasBiasMap) else show(encoding).T
    assert len(whole) == encoding.kernel_count == encoding.heads
    for head in range(encoding.kernel_count):
        one = type(encoding)(**{**encoding.given, "head": head})
        found = show(one) if isinstance(one, HasBiasMap) else show(one).T
        assert one.kernel_count == len(found) == 1
        assert_allclose(found[0], whole[head], rtol=1e-14, atol=1e-15 * np.abs(whole).max())
    with pytest.raises(InputError, match=f"^{encoding.name}: head is out of range"):
        type(encoding)(**{**encoding.given, "head": encoding.kernel_count})


@every_class
def test_an_answer_that_cannot_be_held_is_refused(cls):
    if not hasattr(cls, "bias") or cls.name == "erpe":  # whose lags end with its table
        return
    encoding = cls(heads=1024)
    with pytest.raises(InputError, match="too large to hold"):
        encoding.bias(np.zeros(MAX_HELD_ENTRIES // 1024 + 1, dtype=int))


# ----------------------------------------------------------------------------------- maps


@every(HasBiasMap)
def test_maps_have_shape_type_and_finite_numbers(encoding):
    for size in {1, min(7, encoding.rows or 7), min(40, encoding.rows or 40)}:
        found = encoding.bias_map(size)
        assert found.shape == (encoding.kernel_count, size, size)
        assert found.dtype == np.float64
        assert np.isfinite(found).all()
        assert_array_equal(found, type(encoding)(**encoding.given).bias_map(size))
        if encoding.causal:
            assert not np.triu(found, 1).any()


@every(HasBiasMap)
def test_a_map_is_the_corner_of_a_larger_one(encoding):
    size = min(30, encoding.rows or 30)
    whole = encoding.bias_map(size)
    for part in {1, 1 + size // 2}:
        assert_allclose(encoding.bias_map(part), whole[:, :part, :part], rtol=1e-13, atol=1e-15 * np.abs(whole).max())


@every(HasBiasMap)
def test_what_is_no_length_of_a_map_is_refused(encoding):
    beyond = (encoding.rows or MAX_WIDTH) + 1
    for length in (0, -1, 1.5, "a", True, None, beyond, 2**60):
        with pytest.raises(InputError, match=f"^{encoding.name}: length "):
            encoding.bias_map(length)


@every(HasBiasMap, where=lambda e: e.name == "fire")
def test_fire_is_a_function_of_the_lag_up_to_its_threshold(encoding):
    whole = encoding.bias_map(30)
    for i in range(min(30, math.floor(encoding.threshold) + 1)):
        for j in range(i + 1):
            same = np.diagonal(whole, j - i, axis1=1, axis2=2)[:, 0]  # the first pair at this lag
            assert_allclose(whole[:, i, j], same, rtol=1e-13, atol=1e-15)
    if encoding.threshold < 10:
        assert np.ptp(np.diagonal(whole, -1, axis1=1, axis2=2), axis=1).min() > 1e-9


@every(HasBiasMap, where=lambda e: e.name == "tupe" and e.relative == "yes" and e.length > 1)
def test_tupe_without_its_scores_is_a_function_of_the_lag(encoding):
    """Beside row and column 0, which stand for CLS and have one number each."""
    size = min(30, encoding.length)
    scores = type(encoding)(**{**encoding.given, "relative": "no"}).bias_map(size)
    added = encoding.bias_map(size) - scores
    for lag in range(2 - size, size - 1):
        assert np.ptp(np.diagonal(added[:, 1:, 1:], -lag, axis1=1, axis2=2), axis=1).max() < 1e-14
    assert np.ptp(encoding.bias_map(size)[:, 1:, 0], axis=1).max() == 0
    assert np.ptp(encoding.bias_map(size)[:, 0, :], axis=1).max() == 0


@every(HasBiasMap, where=lambda e: e.name == "swin")
def test_swin_is_a_function_of_the_offset_on_its_grid(encoding):
    height, width = encoding.shape
    places = encoding.bias_map(encoding.rows).reshape(-1, height, width, height, width)
    assert_array_equal(places[:, 1:, :, 1:, :], places[:, :-1, :, :-1, :])
    assert_array_equal(places[:, :, 1:, :, 1:], places[:, :, :-1, :, :-1])
