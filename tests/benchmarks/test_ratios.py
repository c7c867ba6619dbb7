"""Measure every row of the table; a row that is a gate fails when its target is missed."""

from __future__ import annotations

import pytest

from tests.benchmarks.measuring import Measured
from tests.benchmarks.table import ROWS, Row

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.what}")
def test_ratio(row: Row, results: list[tuple[Row, Measured | str]]) -> None:
    measured = row.measure()
    results.append((row, measured))
    if isinstance(measured, str):
        pytest.skip(measured)
    if row.gate:
        assert row.is_reached(measured.median), f"{row.what}: {measured.median:.4g}, target {row.target:.4g}"
