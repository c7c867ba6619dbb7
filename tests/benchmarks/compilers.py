"""Whether NumExpr or Numba would pay for what they cost to load: measured by hand, in an environment that has them.

    pip install -e . numexpr numba
    python -m tests.benchmarks.compilers

On 2026-12-01 with NumExpr 2.14.2, Numba 0.68.1 and NumPy 2.4.6 on one core of an AMD EPYC (AVX-512), in two runs,
neither did. Products and exponentials of 32,768 numbers took NumExpr 4.0 and 4.1 times as long as NumPy. The moments of
Eq. (15), at d = 65536 more than half of its time, took a loop of Numba 0.97 and 1.01 of what the batched products of
NumPy take; its import takes 3.7 and 3.9 times that of NumPy, more than a whole `spectrum` does (row S4), and each
function 0.5 s to be compiled first. Numba and what it needs are 210 MB of files. So neither is used.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from pe_spectra.benchmarks.formula_ratios import BANDWIDTH, WIDTH, list_bins
from pe_spectra.benchmarks.measuring import Ratios, compare_calls, compare_programs
from pe_spectra.spectrum import gaussian_cells

_NUMBERS, _TERMS = 1 << 15, 25
_NUMPY = ["-c", "import numpy"]


def compare_exponentials() -> Ratios:
    """One expression of NumExpr over the same in three passes of NumPy, both into a given array."""
    numexpr = importlib.import_module("numexpr")
    numexpr.set_num_threads(1)
    x, y = np.linspace(-40.0, 0.0, _NUMBERS), np.linspace(0.0, 1.0, _NUMBERS)
    out = np.empty(_NUMBERS)

    def compute() -> None:
        np.multiply(x, y, out=out)
        np.exp(out, out=out)
        np.multiply(out, y, out=out)

    return compare_calls(lambda: numexpr.evaluate("exp(x * y) * y", {"x": x, "y": y}, out=out), compute)


def compare_moments() -> tuple[Ratios, float]:
    """The 25 moments of each cell by a loop of Numba over those of NumPy, and the seconds that compiling took."""
    numba = importlib.import_module("numba")
    u, size = np.sort(list_bins(WIDTH)), int(3 * BANDWIDTH)
    edges = size * np.arange(0, u[-1] // size + 2) - 0.5
    centres = edges[:-1] + size / 2
    cells = np.searchsorted(edges, u, side="right") - 1

    @numba.njit
    def compute(u: np.ndarray, cells: np.ndarray, centres: np.ndarray, moments: np.ndarray) -> None:
        for j in range(u.size):
            y, power = u[j] - centres[cells[j]], 1.0
            for term in range(_TERMS):
                moments[cells[j], term] += power
                power *= y

    found, ones, zeros = np.zeros((len(centres), _TERMS)), np.ones_like(u), np.zeros_like(u)
    start = time.process_time()
    compute(u, cells, centres, found)
    compiling = time.process_time() - start
    bounds = np.searchsorted(u, edges)
    ours = gaussian_cells._compute_moments(u, zeros, ones, bounds, centres)
    half = (size / 2.0) ** gaussian_cells._POWERS  # places reach so far from a centre
    np.testing.assert_allclose(found[:, gaussian_cells._POWERS] / half, ours / half, rtol=1e-9, atol=1e-9)
    return compare_calls(
        lambda: compute(u, cells, centres, found),
        lambda: gaussian_cells._compute_moments(u, zeros, ones, bounds, centres),
    ), compiling


def _show(what: str, measure: Callable[[], Ratios | str]) -> None:
    found = measure()
    print(f"{what:52}", found if isinstance(found, str) else f"{found.median:.2f}")


def main() -> None:
    """Print the ratios."""
    moments, compiling = compare_moments()
    _show("NumExpr over NumPy, products and exponentials", compare_exponentials)
    _show("Numba over NumPy, moments of Eq. (15)", lambda: moments)
    print(f"{'the same to compile, seconds':52} {compiling:.2f}")
    for name in ("numexpr", "numba"):
        _show(f"import {name} over import numpy", partial(compare_programs, ["-c", f"import {name}"], _NUMPY))


if __name__ == "__main__":
    main()
