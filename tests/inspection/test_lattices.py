"""Lattices under an axis: least squares by bands against dense least squares; what is kept for the next table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.inspection.lattices import CONVENTIONS, solve_lattice
from pe_spectra.inspection.resize import resize_table


def make_matrix(old, new, kind):
    """W as it acts on each row alone."""
    return resize_table(np.eye(old), new, method=kind[0], align_corners=kind[1])


@pytest.mark.parametrize("kind", CONVENTIONS, ids=str)
@pytest.mark.parametrize(("old", "new"), [(2, 7), (5, 16), (24, 41), (300, 451)])
def test_least_squares_leave_what_dense_ones_leave(old, new, kind):
    values = np.random.default_rng(old).normal(size=(new, 3))
    matrix = make_matrix(old, new, kind)
    nodes, left = solve_lattice(values, old, new, kind)
    assert_allclose(nodes, np.linalg.lstsq(matrix, values, rcond=None)[0], atol=1e-11)
    assert_allclose(left, values - matrix @ nodes, atol=1e-12)


@pytest.mark.parametrize("kind", CONVENTIONS, ids=str)
@pytest.mark.parametrize("start", [0, 1])
def test_rows_of_a_part_are_read_where_they_stand_and_lost_ones_not_at_all(start, kind):
    """One after the other in both orders, for what was built for some rows is kept, and no other rows may get it."""
    values = np.random.default_rng(1).normal(size=(30, 4))
    lost = values.copy()
    lost[[1, 12, 13]] = np.nan
    for given in (values, lost, values, lost):
        heard = ~np.isnan(given[:, 0])
        matrix = make_matrix(20, 40, kind)[start : start + 30]
        read = np.flatnonzero(matrix.any(axis=0))
        assert_array_equal(read, np.arange(read[0], read[-1] + 1))
        _, left = solve_lattice(given, 20, 40, kind, start)
        best = np.linalg.lstsq(matrix[heard], given[heard], rcond=None)[0]
        assert_allclose(left[heard], given[heard] - matrix[heard] @ best, atol=1e-9)
        assert_array_equal(left[~heard], 0.0)
    assert np.isnan(lost[1]).all()
