"""The command that measures ratios: its forms, what it leaves behind, and once the whole of it."""

import csv
import io
import json

import pytest

from pe_spectra import benchmarks
from pe_spectra.benchmarks import SHORT_ROWS, RatioRow, Ratios
from tests.documents import find_fault


@pytest.fixture
def two_rows(monkeypatch):
    """Two rows in place of all, one of which is missed."""
    rows = tuple(
        RatioRow(name=name, what="this", over="that", target=2.0, measure=lambda value=value: Ratios(ratios=(value,)))
        for name, value in (("X1", 0.123456789), ("X2", 12345.6789))
    )
    monkeypatch.setattr(benchmarks, "SHORT_ROWS", rows)


@pytest.mark.usefixtures("two_rows")
def test_a_missed_ratio_is_no_failure(cli):
    done = cli("bench")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1 of 2 ratios is as stated or better on this machine.\n")


@pytest.mark.usefixtures("two_rows")
def test_json_and_csv_have_the_same_rows(cli):
    found = json.loads(cli("bench --json").out)
    assert find_fault(found) is None
    rows = list(csv.DictReader(io.StringIO(cli("bench --format csv").out)))
    assert [row["row"] for row in rows] == [row["name"] for row in found["rows"]] == ["X1", "X2"]
    assert [float(row["median"]) for row in rows] == [row["median"] for row in found["rows"]]
    assert found["reached"] == 1


@pytest.mark.slow
def test_every_ratio_is_measured(cli):
    found = json.loads(cli("bench --json").out)
    assert [(row["name"], row["what"]) for row in found["rows"]] == [(row.name, row.what) for row in SHORT_ROWS]
    for row in found["rows"]:
        assert 0 < row["low"] <= row["median"] <= row["high"]
