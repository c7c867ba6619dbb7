"""Sums over cells against every kernel in extended precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from pe_spectra.spectrum import gaussian_cells
from pe_spectra.spectrum.gaussian_cells import compute_chebyshev, sum_cells


def sum_kernels(u: np.ndarray, masses: np.ndarray, width: float, points: np.ndarray) -> np.ndarray:
    distance = (points[:, None] - u.astype(np.longdouble)) / np.longdouble(width)
    return (np.exp(-0.5 * distance**2) * masses).sum(axis=1)


def test_chebyshev_coefficients_have_their_digits() -> None:
    count = 25
    nodes, matrix = compute_chebyshev(count)
    with mpmath.workdps(30):
        angles = [mpmath.pi * (2 * j + 1) / (2 * count) for j in range(count)]
        exact = np.array([[float(mpmath.cos(n * angle) * (2 if n else 1) / count) for angle in angles]
                          for n in range(count)])  # fmt: skip
        np.testing.assert_allclose(nodes, [float(mpmath.cos(angle)) for angle in angles], rtol=0, atol=4e-16)
    np.testing.assert_allclose(matrix, exact, rtol=0, atol=1e-16)


@pytest.mark.parametrize("width", [1.0, 1.3, 1.34, 1.99, 2.0, 4.0, 7.3, 100.0, 1234.5])
@pytest.mark.parametrize("place", [0.0, 0.003, 0.25, 0.5, 0.999])
def test_a_kernel_is_right_to_a_few_units_of_its_peak(width: float, place: float) -> None:
    size = int(gaussian_cells._CELL_WIDTHS * width)
    u = np.array([size * (12 + place) - 0.5])
    start, sums, trusted = sum_cells(u, np.zeros(1), np.ones(1), width, 40 * size)
    exact = sum_kernels(u, np.ones(1), width, np.arange(40.0 * size))
    np.testing.assert_allclose(sums, exact[start : start + len(sums)], rtol=0, atol=3e-15)
    np.testing.assert_allclose(sums[trusted], exact[start : start + len(sums)][trusted], rtol=1e-13)
    assert np.delete(exact, np.arange(start, start + len(sums))).max() < 3e-18
    assert trusted[int(u[0]) - start]
    assert trusted.sum() > 2 * width


@pytest.mark.parametrize("crowd", [1, 31, 32, 33, 87, 88, 89, 176, 177, 1000, (1 << 15) - 1, 1 << 15, 70000])
@pytest.mark.parametrize("uniform", [True, False])
def test_crowds_of_every_size(crowd: int, uniform: bool) -> None:
    """A cell is full, the next one is not, and one that is far has a source whose powers are large."""
    rng, width = np.random.default_rng(crowd), 4.0
    u = np.sort(np.concatenate([rng.uniform(60.0, 71.0, crowd), [75.0, 90.0, 90.0, 4000.0]]))
    masses = np.ones_like(u) if uniform else rng.uniform(0.1, 9.0, len(u))
    low = rng.uniform(-1e-9, 1e-9, len(u))
    start, sums, trusted = sum_cells(u, low, masses, width, 200)
    points = np.arange(0.0, 200.0)[start : start + len(sums)]
    exact = sum_kernels(u.astype(np.longdouble) + low, masses, width, points[trusted])
    np.testing.assert_allclose(sums[trusted], exact, rtol=1e-13)
    assert trusted[60 - start : 72 - start].all()


def test_no_cells_where_the_lattice_is_coarser_than_the_kernel() -> None:
    start, sums, trusted = sum_cells(np.array([5.0]), np.zeros(1), np.ones(1), 0.99, 11)
    assert (start, len(sums), len(trusted)) == (0, 0, 0)
