"""Measure every row of the table; a row that is a gate fails when its target is missed."""

from __future__ import annotations

import pytest

from pe_spectra.benchmarks import RatioRow, Ratios
from tests.benchmarks.table import ROWS

pytestmark = pytest.mark.benchmark


def fails(row: RatioRow, value: float, *, quick: bool) -> bool:
    """Whether this value ends the run with an error."""
    if quick:
        return row.margin is not None and not row.is_reached(value, row.margin)
    return row.gate and not row.is_reached(value)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.title}")
def test_ratio(row: RatioRow, results: list[tuple[RatioRow, Ratios | str]], quick: bool) -> None:
    if quick and row.margin is None:
        pytest.skip("not in the quick form")
    measured = row.measure()
    results.append((row, measured))
    if isinstance(measured, str):
        pytest.skip(measured)
    limit = f"{row.target:.4g}" + (f", or {row.margin:g} times worse" if quick else "")
    assert not fails(row, measured.median, quick=quick), f"{row.title}: {measured.median:.4g}, target {limit}"
