"""Equal rows are found, held or computed again, against a dictionary and NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_array_equal

from pe_spectra.encodings import equal_rows
from pe_spectra.encodings.equal_rows import choose_columns, find_first_equal, hash_rows, number_equal_rows
from tests.making import draw_table


def number_slowly(table):
    """The first row that each row is equal to."""
    firsts = {}
    return [firsts.setdefault(tuple(0.0 if x == 0 else x for x in row), s) for s, row in enumerate(table.tolist())]


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 5e-324, 1e308, 0.1]),
    )
)
def test_equal_rows_have_one_number(table):
    found = number_equal_rows(table)
    assert_array_equal(found, number_slowly(table))
    _, inverse = np.unique(table + 0.0, axis=0, return_inverse=True)
    same = inverse.ravel()[:, None] == inverse.ravel()
    assert_array_equal(found[:, None] == found, same)


def test_rows_are_compared_where_hashes_agree(monkeypatch):
    monkeypatch.setattr(equal_rows, "hash_rows", lambda table, _=None: np.zeros(len(table), dtype=np.uint64))
    table = np.array([[1.0], [2.0], [1.0], [3.0], [2.0], [-0.0], [0.0]])
    assert_array_equal(number_equal_rows(table), [0, 1, 0, 3, 1, 5, 5])


def test_many_equal_rows_among_many():
    table = np.round(draw_table(20000, 2), 1)
    found = number_equal_rows(table)
    assert len(np.unique(found)) == len(np.unique(table + 0.0, axis=0))
    assert_array_equal(table[found], table)


def test_hashes_of_rows_with_few_digits_rarely_agree():
    whole = np.stack(np.divmod(np.arange(65536.0), 256), axis=1)
    assert len(np.unique(hash_rows(whole))) > 65000
    swapped = np.concatenate([whole, whole[:, ::-1]])
    assert len(np.unique(number_equal_rows(swapped))) == 65536


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=60), st.integers(0, 3))
def test_the_first_equal_row_is_found(values, bits):
    table = np.array(values, dtype=np.float32)
    hashes = (table[:, 0].astype(np.uint64)) >> np.uint64(bits)
    found = find_first_equal(hashes, lambda numbers: table[numbers], 3)
    assert found.tolist() == [values.index(value) for value in values]


def test_columns_that_the_first_hash_leaves_out_tell_rows_apart():
    table = np.zeros((40, 500))
    left_out = sorted(set(range(500)) - set(choose_columns(500).tolist()))
    table[np.arange(40), left_out[:40]] = 1.0
    assert len(np.unique(hash_rows(table, choose_columns(500)))) == 1
    assert_array_equal(number_equal_rows(np.concatenate([table, table])), np.tile(np.arange(40), 2))
