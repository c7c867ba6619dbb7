"""Exact keys and theorems of every encoding: equal keys are equal rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings import Encoding, HasTable
from tests.laws.variants import choose_lags, choose_positions, every, has_theorem, is_of_lags, list_codes


def compare_rows(table):
    """Which rows are equal: the rest differ by far more than the rounding of the largest entry."""
    distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
    largest = np.abs(table).max(initial=0.0)
    equal = distances <= 2e-14 * largest
    assert np.all(equal | (distances > 1e-10 * largest)), "these rows tell nothing"
    return equal


@pytest.mark.few(6)
@every(Encoding, HasTable, where=has_theorem)
def test_equal_keys_are_equal_rows(encoding):
    for length in (1, 2, 3, encoding.d, 2 * encoding.d + 3, 60):
        s = choose_positions(encoding, np.arange(min(length, 60)))
        keys = encoding.exact_key(s)
        assert keys.shape == s.shape
        assert keys.dtype == np.int64
        assert_array_equal(np.equal.outer(keys, keys), compare_rows(encoding.table(s)))


@every(Encoding, where=lambda e: is_of_lags(e) and has_theorem(e))
def test_equal_keys_of_lags_are_equal_codes(encoding):
    lags = choose_lags(encoding, np.arange(40))
    keys = encoding.exact_key(lags)
    assert keys.shape == lags.shape
    assert keys.dtype == np.int64
    assert_array_equal(np.equal.outer(keys, keys), compare_rows(list_codes(encoding, lags)))


@every(Encoding, where=has_theorem)
def test_keys_do_not_change_what_they_are_given(encoding):
    places = choose_lags(encoding) if is_of_lags(encoding) else choose_positions(encoding)
    kept = places.copy()
    encoding.exact_key(places)
    assert_array_equal(places, kept)


@every(Encoding, where=has_theorem)
def test_the_theorem_has_a_name_and_a_sentence(encoding):
    assert encoding.theorem.kind.replace("-", "").isalnum()
    assert len(encoding.theorem.text) > 20
    assert "\n" not in encoding.theorem.text
