"""Ladders whose columns stand in an order of no implementation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import draw_portrait, inspect_table
from pe_spectra.answers.portraits import answer_portrait
from pe_spectra.encodings import GivenArray, Learned
from pe_spectra.inspection.column_order import ANOTHER_ORDER, find_column_order
from tests import planted


def make_mixed(rows, width, rho, dtype, seed=0):
    """The sinusoidal encoding, written out, with columns in an order that is drawn."""
    order = planted.make_generator(seed).permutation(width)
    return planted.make_sinusoid(rows, width, rho)[:, order].astype(dtype).astype(np.float64), order


@pytest.mark.parametrize(
    ("rows", "width", "rho", "dtype"),
    [
        (96, 8, 10000.0, "float16"),
        (512, 64, 10000.0, "float32"),
        (128, 192, 10000.0, "float64"),
        (300, 33, 500.0, "float32"),
        (256, 32, 500000.0, "float64"),
    ],
)
def test_a_ladder_is_told_with_its_columns_in_any_order(rows, width, rho, dtype):
    table, order = make_mixed(rows, width, rho, dtype)
    formula = inspect_table(table, dtype=dtype).formula
    assert (formula.exact, formula.order) == (True, ANOTHER_ORDER)
    assert formula.spec == f"sinusoidal:d={width}" + ("" if rho == 10000 else f",rho={rho:.0f}")
    # the formula that stands beside the table has its columns where they are
    assert_allclose(
        formula.fit.read(np.arange(rows), rows), planted.make_sinusoid(rows, width, rho)[:, order], atol=1e-9
    )


def test_an_order_that_implementations_have_is_named_as_before():
    table = planted.make_sinusoid(128, 16)
    for columns in (table, np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)):
        formula = inspect_table(columns).formula
        assert formula.exact
        assert formula.order != ANOTHER_ORDER


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_an_order_is_told_only_where_the_numbers_fit(seed):
    table = make_mixed(128, 16, 10000.0, "float64", seed)[0]
    changed = table.copy()
    changed[70, 5] += 1e-3
    formula = inspect_table(changed).formula
    assert (formula.exact, formula.order) == (False, ANOTHER_ORDER)
    assert_allclose(formula.numbers_share, 1 - 1 / table.size, atol=0.01)
    noisy = inspect_table(table + 1e-4 * planted.make_generator(seed).standard_normal(table.shape)).formula
    assert noisy is None or noisy.order != ANOTHER_ORDER


@pytest.mark.parametrize("make", [planted.make_noise, planted.make_ramp, planted.make_trained])
def test_what_is_no_ladder_has_no_order(make):
    assert find_column_order(make(128, 16)) is None
    assert find_column_order(np.zeros((128, 16))) is None


def test_an_answer_says_that_the_columns_are_in_another_order():
    portrait = draw_portrait(Learned(values=GivenArray(make_mixed(96, 8, 10000.0, "float64")[0])))
    said = dict(answer_portrait(portrait).facts)["formula"]
    assert said == f"it is sinusoidal:d=8 number by number (float64), {ANOTHER_ORDER}"
