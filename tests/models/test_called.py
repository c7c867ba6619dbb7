"""What a module gave when it was called, beside the frequencies that it holds."""

import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.models.dumps.called import read_called

LADDER = 10000.0 ** -(np.arange(16) / 16)


def give(ladder=LADDER, size=32, kind=np.float32):
    angles = np.arange(size)[:, None] * ladder
    return np.hstack([np.cos(angles), np.cos(angles), np.sin(angles), np.sin(angles)]).astype(kind).astype(np.float64)


def test_frequencies_are_those_of_the_list_where_the_rows_agree():
    alone, both = read_called(give(), "float32"), read_called(give(), "float32", LADDER, "float64")
    assert (both.kind, both.rows, both.layout, both.offset, both.attention_scaling) == ("call", None, None, 0, 1)
    assert not np.array_equal(alone.frequencies, LADDER)
    np.testing.assert_array_equal(both.frequencies, LADDER)
    assert (both.base, both.scaling, both.dtype) == (10000, "none", "float32")
    assert both.error_bound < alone.error_bound


def test_a_list_of_few_digits_says_so():
    import ml_dtypes

    rounded = LADDER.astype(ml_dtypes.bfloat16).astype(np.float64)
    found = read_called(give(rounded), "float32", rounded, "bfloat16")
    assert (found.frequency_dtype, found.dtype) == ("bfloat16", "float32")


@pytest.mark.parametrize("listed", [LADDER**1.1, LADDER[:8]])
def test_a_list_that_the_rows_do_not_follow_is_left_and_said(listed):
    found = read_called(give(), "float32", listed, "float64")
    assert found.base == 10000
    assert found.notes == ("the module holds other frequencies than those that it turns by",)


def test_a_list_that_is_none_is_left():
    assert read_called(give(), "float32", np.array([0.1, 1.0, 0.5]), "float64").base == 10000


def test_rows_that_turn_nothing_are_refused():
    with pytest.raises(InputError):
        read_called(np.ones((4, 4)), "float32", LADDER, "float64")
