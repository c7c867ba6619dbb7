"""What the command faithfulness prints: no digit beyond the error bound, and CSV for programs."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.plots.faithfulness import compose_faithfulness
from pe_spectra.plots.style import fixed_style
from pe_spectra.records.faithfulness import _count_digits

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
    assert _count_digits(distance, error) == digits


def test_sentences_and_tables_are_rounded_and_data_are_not(cli):
    row = json.loads(cli(f"{DULL} --json").out)["rows"][0]
    place = row["error_bound"]
    out = cli(f"{DULL} --color always").out
    short = f"{row['min_separation']:.{_count_digits(row['min_separation'], place)}g}"
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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "dft:d=4 --positions 0:1:0.5",
            "--positions: this encoding takes no real positions (dft d=4); --length gives it integers, in place of 0:1",
        ),
        ("sinusoidal --positions late.csv", "--positions is out of range (-1e+17); a number from"),
        ("sinusoidal --positions 0:1e17:1e16", "--positions is out of range (1e17); a number from"),
    ],
)
def test_refused_positions_are_named_with_their_option(refuse, tmp_path, line, words):
    (tmp_path / "late.csv").write_text("t\n0\n9007199254740992\n-1e17\n", encoding="utf-8")
    assert refuse(f"faithfulness -e {line}").startswith(words)


@pytest.mark.parametrize(
    ("command", "spec"), [("precision", "sinusoidal:d=8 --length 20"), ("compare", "sinusoidal:d=8")]
)
def test_help_shows_how_to_require_two_things(cli, command, spec):
    text = " ".join(cli(f"{command} --help").out.split())
    assert "--require TEXT 'injective'" in text
    assert "give --require again for each" in text
    assert cli(f"{command} {spec} --require injective --require 'separation>=9'").code == 1


def test_help_names_every_default_length(cli):
    text = " ".join(cli("precision --help").out.split())
    assert "[80; 256 lags; 192 of calendar; all rows of a table]" in text


def test_the_label_of_the_closest_pair_stands_by_its_circle():
    """Below a flat curve no side of the circle is free; the nearest place is."""
    results = [measure_faithfulness(encoding, length=400) for encoding in (Dft(), Sinusoidal())]
    figure = compose_faithfulness(*results)
    axes = figure.axes[0]
    with fixed_style():
        figure.draw_without_rendering()
        label = next(text for text in axes.texts if "0 and 256" in text.get_text()).get_window_extent()
    mark = axes.transData.transform((256, 0))
    assert max(label.x0 - mark[0], mark[0] - label.x1, 0) < 0.1 * axes.bbox.width
    assert abs(label.y0 - mark[1]) < 0.1 * axes.bbox.height
