"""The script that measures compilers beside NumPy fits the code that it measures."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.benchmarks import compilers


def test_a_loop_has_the_moments_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=lambda function: function))
    monkeypatch.setattr(compilers, "WIDTH", 64)
    ratios, _ = compilers.compare_moments()  # which compares them
    assert ratios.median > 0
