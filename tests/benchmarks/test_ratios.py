"""Measure every row of the table; a row that is a gate fails when its target is missed."""

from __future__ import annotations

import pytest

from tests.benchmarks.measuring import Measured
from tests.benchmarks.table import ROWS, Row

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.what}")
def test_ratio(row: Row, results: list[tuple[Row, Measured | str]], quick: bool) -> None:
    if quick and row.margin is None:
        pytest.skip("not in the quick form")
    measured = row.measure()
    results.append((row, measured))
    if isinstance(measured, str):
        pytest.skip(measured)
    limit = f"{row.target:.4g}" + (f", or {row.margin:g} times worse" if quick else "")
    assert not row.fails(measured.median, quick), f"{row.what}: {measured.median:.4g}, target {limit}"
