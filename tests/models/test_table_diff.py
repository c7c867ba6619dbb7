"""Tables against each other: shifts, factors, orders of columns, rows that moved."""

import statistics
import warnings
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_spectra.errors import InputError
from pe_spectra.models.comparison.row_likeness import _SAME_LENGTH
from pe_spectra.models.comparison.table_diff import compare_tables
from pe_spectra.precision.dtypes import STORED_TYPES, round_to
from tests.models.rotations import told

# ----------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(5).standard_normal((200, 32)).astype(np.float32).astype(float)


HALVES = np.arange(32).reshape(2, 16)


def test_equal_tables(table):
    diff = compare_tables(table, table.copy())
    assert (diff.agree, diff.equal_rows, diff.first_row, diff.max_difference) == (True, 200, None, 0.0)
    assert (diff.shape_a, diff.shape_b, diff.near) == (table.shape, table.shape, True)
    assert told(diff) == ("same", "The same: all 200 rows are equal.")


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_a_table_and_its_rounding_agree(table, dtype):
    rounded = table.astype(dtype).astype(float)
    diff = compare_tables(table, rounded)
    assert diff.agree
    assert diff.dtypes == ("float32", np.dtype(dtype).name)
    assert diff.max_difference == np.abs(table - rounded).max()
    assert "(B is rounded)" in diff.findings[0]


@pytest.mark.parametrize(("shift", "factor"), [(2, 1.0), (-1, 1.0), (0, 8.0), (0, -1.0), (7, 0.1), (60, 1.0)])
def test_shifts_and_factors_are_found(table, shift, factor):
    other = factor * (table[shift:] if shift >= 0 else np.vstack([np.full((-shift, 32), 9.0), table]))
    diff = compare_tables(table, other)
    assert (diff.agree, diff.explained, diff.shift, diff.factor) == (False, True, shift, pytest.approx(factor))
    rows = [row for row in range(len(other)) if 0 <= row + shift < len(table)]
    np.testing.assert_allclose(other[rows], diff.factor * table[np.add(rows, shift)])
    assert diff.unmatched_rows == tuple(range(-shift))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (HALVES.T.ravel(), "the halves of A's columns are interleaved in B"),
        (np.argsort(HALVES.T.ravel()), "the interleaved columns of A are halves of B"),
        (HALVES[::-1].ravel(), "the halves of the columns are swapped"),
        (np.arange(32).reshape(16, 2)[:, ::-1].ravel(), "neighbouring columns are swapped"),
        (np.random.default_rng(0).permutation(32), "the columns of B are those of A in another order"),
    ],
)
def test_orders_of_columns_are_found(table, columns, words):
    diff = compare_tables(table, table[:, columns])
    assert diff.order == words
    np.testing.assert_array_equal(diff.columns, columns)
    assert told(diff) == ("explained", f"Different: {words}.")


def test_order_shift_and_factor_together(table):
    diff = compare_tables(table, 0.5 * table[3:][:, HALVES.T.ravel()])
    assert (diff.shift, diff.factor) == (3, 0.5)
    np.testing.assert_array_equal(diff.columns, HALVES.T.ravel())


def test_special_rows_are_named(table):
    other = table.copy()
    other[[0, 17]] += 1
    diff = compare_tables(table, other)
    assert (diff.unmatched_rows, diff.first_row, diff.equal_rows) == ((0, 17), 0, 198)
    assert diff.findings[0] == "A and B are the same except rows 0, 17 of B"


def test_a_longer_table_with_the_same_rows(table):
    diff = compare_tables(table[:150], table)
    assert (diff.agree, diff.explained, diff.equal_rows) == (False, True, 150)
    text = "Different: B has 50 rows more (150 and 200); the 150 rows that both have are equal."
    assert told(diff) == ("explained", text)


def test_tables_that_have_nothing_in_common(table):
    other = np.random.default_rng(6).standard_normal(table.shape)
    diff = compare_tables(table, other)
    assert (diff.agree, diff.explained, diff.shift, diff.factor, diff.columns) == (False, False, None, None, None)
    assert diff.max_difference == np.abs(table - other).max()
    assert told(diff)[0] == "differs"


def test_tables_that_are_nearly_the_same(table):
    diff = compare_tables(table, table + 1e-3)
    assert not diff.explained
    assert diff.findings[-1] == "rows at one index have a cosine of 1 - 5e-07, B's are as long as A's (medians)"


def test_other_widths(table):
    diff = compare_tables(table, table[:, :16])
    assert told(diff) == (
        "differs",
        "Different: A has 32 columns and B has 16; the first 16 columns are equal (200 rows).",
    )
    diff = compare_tables(table, table[:, 8:16])
    assert diff.findings == ("A has 32 columns and B has 8",)
    diff = compare_tables(table, table.T)
    assert diff.findings == ("rows of B are columns of A: B is A transposed (200 x 32 and 32 x 200)",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t[::-1], "the rows of B are those of A in reverse order"),
        (lambda t: t[np.random.default_rng(0).permutation(200)], "the rows of B are those of A in another order"),
        (lambda t: np.repeat(t, 2, axis=0), "400 of 400 rows of B are in A, at other indices"),
        (lambda t: np.vstack([t[::-1][:150], 0 * t[:50]]), "150 of 200 rows of B are in A, at other indices"),
    ],
    ids=["reverse", "another order", "twice", "some"],
)
def test_rows_that_moved_are_found(table, change, words):
    diff = compare_tables(table, change(table))
    assert (diff.explained, diff.findings[0]) == (False, words)
    assert told(diff)[1].startswith(f"Different: {words}; ")


def test_a_table_of_zeros_is_said_to_be_one(table):
    assert compare_tables(table, 0 * table).findings[-1] == "B has only zeros"
    assert compare_tables(table, np.vstack([table, 9 + table[:1]])).findings[0] == "B has 1 row more (200 and 201)"
    assert "no row equals the one at its index" in compare_tables(table, table**3).findings[0]


def test_small_and_empty_tables(table):
    assert compare_tables(table[:1], table[:1]).agree
    assert compare_tables(0 * table, 0 * table).agree
    assert not compare_tables(0 * table, table).explained
    for bad in (np.zeros(3), np.zeros((0, 3)), np.full((2, 2), np.nan)):
        with pytest.raises(InputError):
            compare_tables(table, bad)


# ----------------------------------------------------------------------------------- magnitudes


def compare_quietly(a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compare_tables(a, b)


def state_likeness(a, b):
    """What is to be said of rows at one index, from integers and fractions: no number is too large or too small."""
    exact = [[[Fraction(value) for value in row] for row in table.tolist()] for table in (a, b)]
    dots = [
        [sum(x * y for x, y in zip(*pair, strict=True)) for pair in zip(*two, strict=True)]
        for two in (exact, exact[:1] * 2, exact[1:] * 2)
    ]
    with mpmath.workdps(30):
        roots = [[mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator) for value in dots[k]] for k in (1, 2)]
        cosines = [
            mpmath.mpf(dot.numerator) / dot.denominator / one / other
            for dot, one, other in zip(dots[0], *roots, strict=True)
        ]
        ratios = [other / one for one, other in zip(*roots, strict=True)]
        return statistics.median(cosines), statistics.median(ratios)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from([0, 200, -200, 300, -300]), st.sampled_from([0, 200, -200, 300, -300]), st.integers(0, 2**32))
def test_likeness_and_differences_are_those_of_the_numbers_at_every_magnitude(scale_a, scale_b, seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=(9, 4)) * 10.0**scale for scale in (scale_a, scale_b))
    found = compare_quietly(a, b)
    cosine, ratio = state_likeness(a, b)
    shown = found.findings[-1]
    assert f"a cosine of {float(cosine):.4f}, B's are" in shown
    written = shown.split("B's are ")[1].split()[0]
    if written == "as":  # "as long as A's"
        assert float(ratio) == pytest.approx(1, abs=_SAME_LENGTH)
    elif np.finfo(float).tiny < ratio < np.finfo(float).max:
        assert float(written) == pytest.approx(float(ratio), rel=1e-3)
    else:
        assert float(written.removeprefix("10^")) == pytest.approx(float(mpmath.log10(ratio)), rel=1e-3)
    unit = 10.0 ** max(scale_a, scale_b)
    rest = a / unit - b / unit
    assert found.max_difference == pytest.approx(np.abs(rest).max() * unit, rel=1e-12)
    assert found.rms_difference == pytest.approx(np.sqrt(np.mean(rest**2)) * unit, rel=1e-12)
    assert not any("zeros" in text for text in found.findings)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
@pytest.mark.parametrize("factor", [1.0, 0.5, -3.0])
def test_a_shift_and_a_factor_are_found_at_every_magnitude(scale, factor):
    table = np.random.default_rng(3).normal(size=(30, 6))
    found = compare_quietly(scale * table, scale * factor * table[2:])
    assert (found.shift, found.factor, found.unmatched_rows) == (2, factor, ())
    # from one magnitude to another
    found = compare_quietly(table, scale * table[2:])
    assert (found.shift, found.factor) == (2, pytest.approx(scale, rel=1e-9))
    # a row that the factor takes beyond float64 is not matched, whatever it is
    table[5] = 1e290
    found = compare_quietly(table, 1e100 * np.where(np.arange(30)[:, None] == 5, 1.0, table))
    assert (found.unmatched_rows, found.shift) == ((5,), 0)


def test_a_difference_beyond_float64_is_null_and_said_to_be():
    largest = np.finfo(float).max
    table = np.random.default_rng(3).uniform(0.5, 1, size=(6, 3)) * largest
    found = compare_quietly(table, -table[::-1])
    assert (found.max_difference, found.rms_difference, found.differing_columns) == (None, None, 3)
    assert "numbers differ by more than 1.798e+308" in found.findings[0]


@pytest.mark.parametrize(("rows", "words"), [(1, "the only row is equal"), (2, "all 2 rows are equal")])
def test_one_row_is_spoken_of_as_one(rows, words):
    table = np.random.default_rng(3).normal(size=(rows, 4))
    assert compare_tables(table, table).findings == (words,)
    assert words in compare_tables(table, table * (1 + 1e-14)).findings[0]
    longer = np.vstack([table, table + 1])
    both = "the one row that both have is equal" if rows == 1 else "the 2 rows that both have are equal"
    assert compare_tables(table, longer).findings[-1] == both


# ----------------------------------------------------------------------------------- tables and dumps


def test_tables_of_an_odd_width_and_of_one_row():
    table = np.random.default_rng(0).normal(size=(40, 7))
    assert compare_tables(table, table[:, ::-1]).order == "the columns of B are those of A in another order"
    assert compare_tables(table, table[3:]).shift == 3
    other = np.random.default_rng(1).normal(size=(1, 7))
    assert not compare_tables(table[:1], other).explained
    assert compare_tables(table, table[:1]).findings[0] == "A has 39 rows more (40 and 1)"


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "float16"])
def test_a_copy_in_a_narrow_type_is_the_same_within_its_rounding(dtype):
    table = np.random.default_rng(0).normal(size=(96, 32))
    kind = STORED_TYPES[dtype]
    copy = round_to(table, kind).astype(float)
    found = compare_tables(table, copy, stored=("float64", dtype))
    assert (found.agree, found.dtypes) == (True, ("float64", dtype))
    assert f"within the rounding of {dtype} (B is rounded)" in found.findings[0]
    # a row that rounding does not explain is named, also where it is nearer than a measured factor could say
    table[50] += 4 * kind.roundoff * np.abs(table[50]).max()
    found = compare_tables(table, copy, stored=("float64", dtype))
    assert (found.agree, found.unmatched_rows) == (False, (50,))
    assert found.findings[0] == "A and B are the same except row 50 of B"
