"""What faithfulness answers: no digit beyond the error bound, and CSV for programs."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from pe_spectra import Dft, measure_faithfulness, read_encoding
from pe_spectra.answers.injectivity import judge_faithfulness
from pe_spectra.encodings.learned import Learned
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


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("specs", "length"),
    [
        ("dft:d=256 calendar sinusoidal:d=8", 192),  # a calendar's own
        ("one-hot:d=50 calendar", 50),  # one-hot has no more
        ("alibi sinusoidal:d=8", 256),
        ("sinusoidal:d=8 dft:d=8", 80),
    ],
)
def test_encodings_of_one_call_have_one_length(cli, specs, length):
    document = json.loads(cli(f"faithfulness -e {specs} --json").out)
    assert document["parameters"]["length"] == length
    assert {row["length"] for row in document["rows"]} == {length}
    where = f"at length {length}" if "alibi" in specs else f"on 0 .. {length - 1}"
    assert where in document["verdict"]["text"]


def test_lengths_that_differ_are_said_one_by_one():
    results = [measure_faithfulness(Dft(d=8), length=n) for n in (5, 7)]
    text = "Injective: dft d=8 on 0 .. 4 and dft d=8 on 0 .. 6."
    assert judge_faithfulness(results).text == text.replace("dft d=8", "dft")


def save_waves(folder, pairs, period, rows):
    """Write sines and cosines over whole periods, as float64 computes them; the exact ones repeat."""
    angles = 2 * np.pi / period * np.outer(np.arange(rows), np.arange(1, pairs + 1))
    table = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    np.save(folder / "waves.npy", table)
    return table


@pytest.mark.parametrize(("pairs", "period", "rows"), [(1, 24, 48), (4, 7, 14), (12, 24, 100), (128, 50, 100)])
def test_what_only_rounding_keeps_apart_is_a_warning(cli, tmp_path, pairs, period, rows):
    table = save_waves(tmp_path, pairs, period, rows)
    apart = np.linalg.norm(table[:, None] - table[None, :], axis=2)[~np.eye(rows, dtype=bool)]
    document = json.loads(cli(f"faithfulness -e {tmp_path}/waves.npy --json").out)
    assert document["rows"][0]["injective"] is True
    assert document["rows"][0]["min_separation"] == pytest.approx(apart.min(), rel=1e-9)
    assert (document["verdict"]["level"], document["verdict"]["code"]) == ("warning", "distinct-by-rounding")
    assert f"Distinct on 0 .. {rows - 1}, but by no more than float64 rounds off" in document["verdict"]["text"]
    both = json.loads(cli(f"faithfulness -e {tmp_path}/waves.npy sinusoidal:d=8 --json").out)["verdict"]
    assert both["code"] == "distinct-by-rounding"
    assert both["text"].endswith(f"Injective on 0 .. {rows - 1}: sinusoidal.")


@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e290])
@pytest.mark.parametrize(("part", "code"), [(1e-15, "distinct-by-rounding"), (1e-11, "injective")])
def test_rounding_is_relative_to_the_vectors(scale, part, code):
    table = scale * np.array([[1.0, 0.0], [1.0, part], [0.0, 1.0]])
    assert judge_faithfulness([measure_faithfulness(Learned(values=table))]).code == code
    assert judge_faithfulness([measure_faithfulness(Learned(values=table), length=1)]).code == "injective"


def test_small_separations_of_exact_codes_are_no_rounding():
    # distances of 6.7e-10 between numbers near 1/8
    features = read_encoding("fourier-features:gamma=1e9")
    assert judge_faithfulness([measure_faithfulness(features, length=80)]).code == "injective"


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 3), (3, 5)])
def test_zero_vectors_have_no_condition_number(cli, tmp_path, rows, columns):
    np.save(tmp_path / "zeros.npy", np.zeros((rows, columns)))
    done = cli(f"faithfulness -e {tmp_path}/zeros.npy --json")
    row = json.loads(done.out)["rows"][0]
    assert (row["rank"], row["condition_number"]) == (0, None)
    done = cli(f"faithfulness -e {tmp_path}/zeros.npy --quiet")
    assert f"rank: 0 of {min(rows, columns)} (singular values above 0)\n" in done.out
    assert "1e15" not in done.out + done.err
