"""What faithfulness answers: no digit beyond the error bound, and CSV for programs."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from pe_spectra.wording import count_digits

DULL = "faithfulness -e mtan-learned:d=2,seed=0,unit=1e12 --length 30 --no-figure"


@pytest.mark.parametrize(
    ("distance", "error", "digits"),
    [
        (3.7857e-13, 1.38e-14, 3),
        (6.0289e-05, 2.1e-06, 2),
        (0.95283, 0.0025, 3),
        (0.95283, 0.00096, 4),
        (0.95283, 3.0, 1),
        (2.6712, 1.2e-15, 5),
        (2.6712, 0.0, 5),
        (2.6712, None, 5),
        (0.0, 1e-3, 5),
        (5e-324, 5e-324, 1),
        (1.5, float("inf"), 5),
    ],
)
def test_a_distance_has_the_digits_that_its_error_leaves(distance, error, digits):
    assert count_digits(distance, error) == digits


def test_sentences_and_tables_are_rounded_and_data_are_not(cli):
    row = json.loads(cli(f"{DULL} --json").out)["rows"][0]
    place = row["error_bound"]
    out = cli(f"{DULL} --color always").out
    short = f"{row['min_separation']:.{count_digits(row['min_separation'], place)}g}"
    assert len(short) < len("3.7857e-13")
    assert f"distance {short} (+- {place:.2g})" in " ".join(out.split())
    assert f"smallest separation {short} up to" in " ".join(out.split())
    assert out.count(f"{row['min_separation']:.5g}") == 0
    table = csv.DictReader(io.StringIO(cli(f"{DULL} --format csv").out))
    assert [float(cells["min_separation"]) for cells in table] == [row["min_separation"]]


def test_csv_holds_near_pairs_and_no_words_for_numbers(cli):
    line = "faithfulness -e calendar sinusoidal:d=64 sinusoidal:d=256 --no-figure --length 80"
    rows = list(csv.DictReader(io.StringIO(cli(f"{line} --within 0.5 --format csv").out)))
    near = [row["near_pairs"] for row in json.loads(cli(f"{line} --within 0.5 --json").out)["rows"]]
    assert [int(row["near_count"]) for row in rows] == [found["count"] for found in near]
    assert [row["near_pair"] for row in rows] == [" ".join(map(str, (found["examples"] or [""])[0])) for found in near]
    assert near[0]["count"] > 0 == near[1]["count"]
    assert all(row["near_count"] == "" for row in csv.DictReader(io.StringIO(cli(f"{line} --format csv").out)))
    assert rows[2]["condition_number"] == ""
    assert "condition > 1e15" in cli(line).out


# ----------------------------------------------------------------------------------- single values


def test_one_code_is_one(cli, tmp_path):
    np.save(tmp_path / "zeros.npy", np.zeros((20, 4)))
    assert "share theirs with another, 1 distinct)" in cli("faithfulness -e zeros.npy --no-figure").out
    np.save(tmp_path / "two.npy", np.repeat(np.eye(2), 3, axis=0))
    assert "another, 2 distinct)" in cli("faithfulness -e two.npy --no-figure").out
