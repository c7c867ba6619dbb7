"""The commands of the paper as people meet them: answers, formats, defaults, positions and requirements."""

from __future__ import annotations

import itertools
import json

import pytest

from pe_spectra.domains import parse_periods
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST
from tests.cli.paper import DRAWING, PAPER
from tests.documents import read_csv, read_json

PNG, SVG, PDF = b"\x89PNG", b"<?xml", b"%PDF"


# ----------------------------------------------------------------------------------- answers


@pytest.mark.few(1)
@pytest.mark.parametrize("command", DRAWING)
def test_an_answer_and_its_figure(cli, tmp_path, command):
    done = cli(f"{command} --d 8")
    assert done.code == 0
    assert done.err.splitlines()[-1] == f"wrote {DRAWING[command]} (--no-figure leaves it out)"
    assert (tmp_path / DRAWING[command]).read_bytes().startswith(PNG)
    verdict = done.out.splitlines()[0]
    assert verdict.endswith(".")
    assert verdict == json.loads(cli(f"{command} --d 8 --json --no-figure").out)["verdict"]["text"]


@pytest.mark.few(2)
@pytest.mark.parametrize("command", PAPER)
def test_formats_agree(cli, command):
    document = cli(f"{command} --d 8 --json --no-figure")
    assert document == cli(f"{command} --d 8 --format json --no-figure")
    rows = read_csv(cli(f"{command} --d 8 --format csv --no-figure").out)
    if command == "reconstruct":  # in CSV each row is there for every t, with the value r
        rows = [{name: row[name] for name in row if name not in ("t", "r")} for row in rows if row["t"] == "0"]
    table = [line.split("\t") for line in cli(f"{command} --d 8 --no-figure").out.splitlines() if "\t" in line]
    assert table[0] == list(rows[0])
    assert len(table) == len(rows) + 1
    for row, cells in zip(rows, table[1:], strict=True):
        words = {"": "-", "True": "yes", "False": "no"}
        assert [words.get(cell, cell) for cell in row.values()] == cells


def test_numbers_have_all_their_digits(cli):
    weights = json.loads(cli("spectrum --json --no-figure").out)["weights"]
    rows = read_csv(cli("spectrum --format csv --no-figure").out)
    assert [float(row["weight"]) for row in rows] == weights
    assert [row["weight"] for row in rows] == [repr(weight) for weight in weights]


@pytest.mark.parametrize("line", ["spectrum --d 256 --rho 10000", "reconstruct --s 5 40 75"])
def test_the_two_lines_of_the_paper_are_the_defaults(cli, line):
    command = line.split()[0]
    assert cli(f"{line} --json --no-figure") == cli(f"{command} --json --no-figure")


def test_defaults_are_those_of_the_paper(cli):
    spectrum = json.loads(cli("spectrum --json --no-figure").out)
    own = {"d": 256, "rho": 10000.0, "layout": "interleaved", "offset": 0, "scale": 1.0}
    assert spectrum["encoding"]["parameters"] == own
    assert spectrum["parameters"] == {"grid": 256, "bandwidth": 4.0, "boundary": "none", "estimator": "kde"}
    reconstruction = json.loads(cli("reconstruct --json --no-figure").out)
    assert reconstruction["parameters"]["s"] == [5, 40, 75]
    assert [panel["encoding"]["name"] for panel in reconstruction["panels"]] == ["sinusoidal", "dft"]
    faithfulness = json.loads(cli("faithfulness --json --no-figure").out)
    assert [row["encoding"]["name"] for row in faithfulness["rows"]] == ["sinusoidal", "dft"]
    assert {row["length"] for row in faithfulness["rows"]} == {80}
    (row,) = json.loads(cli("count-low-bin --json --no-figure").out)["rows"]
    assert (row["inside"], row["total"]) == (76, 128)


def test_options_stand_in_any_order(cli):
    parts = ["--s 5 40", "--encoding sinusoidal", "--d 64", "--bandwidth 1 2", "--json", "--no-figure"]
    lines = [" ".join(order) for order in itertools.permutations(parts)][::36]
    first, *others = [cli(f"reconstruct {line}").out for line in lines]
    assert len(others) > 15
    assert set(others) == {first}


@pytest.mark.parametrize(
    "spelling",
    [
        "--s 5 40 75",
        "--s 5 --s 40 --s 75",
        "--s 5,40,75",
        "--s '5 40 75'",
        "--s=5 40 75",
        "-s 5 40 75",
        "-s5 40 75",
        "--s 5 40 --grid 128 --s 75",
        "--s=5,40 75 --quiet",
        "--s 5:76:35",
    ],
)
def test_spellings_of_positions(cli, spelling):
    document = json.loads(cli(f"reconstruct --d 128 {spelling} --json --no-figure").out)
    assert document["parameters"]["s"] == [5, 40, 75]
    document = json.loads(cli(f"reconstruct --json --no-figure {spelling} --d 128").out)
    assert document["parameters"]["s"] == [5, 40, 75]


def test_default_positions_are_clipped_with_a_note_and_typed_ones_refused(cli, refuse):
    document = json.loads(cli("reconstruct --d 64 --json --no-figure").out)
    assert document["parameters"]["s"] == [5, 40, 63]
    assert any("clipped" in note for note in document["notes"])
    assert "note: the default positions" in cli("reconstruct --d 64 --no-figure").err
    assert refuse("reconstruct --d 64 --s 5 40 75") == ("--s is out of range (75); an integer from 0 to 63 is accepted")


def test_the_smallest_lattice_bounds_the_positions(refuse):
    assert "0 to 7" in refuse("reconstruct -e sinusoidal:d=64 dft:d=8 --s 8")
    assert "0 to 3" in refuse("reconstruct --d 64 --grid 4 --s 4")


def test_limit(cli):
    line = "faithfulness -e dft:d=4 --length 40 --json --no-figure"
    for option, count in (("", 10), ("--limit 3", 3), ("--limit 1000", 36)):
        collisions = json.loads(cli(f"{line} {option}").out)["rows"][0]["collisions"]
        assert collisions["count"] == 4 * 45
        assert len(collisions["examples"]) == count


def test_limit_zero_names_no_pair_and_counts_all(cli):
    line = "faithfulness -e dft:d=4 --length 40 --json --no-figure --limit 0"
    (row,) = json.loads(cli(line).out)["rows"]
    expected = {"count": 180, "distinct": 4, "sharing": 40, "largest": 10, "examples": [], "named": []}
    assert row["collisions"] == expected
    assert row["closest_pair"] == [0, 4]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("demands", "code"),
    [
        ("injective", 0),
        ("separation>=2.67", 0),
        ("separation>=2.68", 1),
        ("separation>2", 0),
        ("separation<2", 1),
        ("separation<=1e9", 0),
        ("rank>=42", 0),
        ("rank>=43", 1),
        ("rank<43 injective", 0),
        ("rank<43 rank<42", 1),
    ],
)
def test_require(cli, demands, code):
    words = [word for demand in demands.split() for word in ("--require", demand)]
    done = cli("faithfulness -e sinusoidal --json --no-figure", *words)
    assert done.code == code
    document = json.loads(done.out)
    assert any(note.startswith("required: ") for note in document["notes"]) == bool(code)
    several = cli("faithfulness -e sinusoidal --json --no-figure --require", *demands.split())
    assert several == done


def test_faithfulness_leaves_out_what_has_fewer_positions(cli, refuse):
    """As compare does, in the same words."""
    lines = ["faithfulness --no-figure -e ramp one-hot:d=8 dft:d=90", "compare ramp one-hot:d=8 dft:d=90"]
    for line in lines:
        done = cli(f"{line} --length 81 --require injective")
        assert done.code == 1
        for label, rows in (("ramp d=1", 80), ("one-hot d=8", 8)):
            assert f"note: {label}: left out: {rows} positions, not 81" in done.err
            assert f"required: injective; found: not decided ({label}, left out)" in done.err
        document = read_json(cli(f"{line} --length 81 --json"))
        assert [row["encoding"]["name"] for row in document["rows"]] == ["dft"]
        assert document["parameters"]["length"] == 81
        assert len(read_json(cli(f"{line} --length 8 --json"))["rows"]) == 3
        assert refuse(f"{line.removesuffix(' dft:d=90')} --length 81") == (
            "--length is beyond the rows of an encoding (81); ramp d=1 has 80 positions"
        )


def test_require_of_what_collides_or_is_not_known(cli):
    assert cli("faithfulness -e dft:d=4 --length 4 --no-figure --require injective").code == 0
    done = cli("faithfulness -e dft:d=4 --length 5 --no-figure --require injective")
    assert done.code == 1
    assert "Not injective" in done.out
    assert "check failed: required: injective; found: not injective (dft d=4)" in done.err
    assert cli("faithfulness -e dft --length 1 --no-figure --require", "separation>=0").code == 1


@pytest.mark.parametrize("text", ["", "injectiv", "separation", "separation>=", "separation=1", "rank>=x", "rank>=nan"])
def test_refused_requirements(refuse, text):
    assert refuse("faithfulness --require", text).startswith("--require")


def test_claims_and_their_check(cli, quick_claims):
    assert cli("claims").code == 0
    done = cli("claims --check --json")
    assert done.code == 1
    assert json.loads(done.out)["notes"] == ["claim claim-1: recorded ok, computed partly"]
    assert [row["id"] for row in read_csv(cli("claims --format csv").out)] != []


@pytest.mark.slow
def test_figures_and_their_check(cli, refuse, tmp_path):
    done = cli("figures --output f")
    assert done.code == 0
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert names == sorted(line for line in done.out.splitlines() if "." in line and " " not in line)
    assert {"fig1_spectrum.csv", "fig2_reconstruction.svg", "manifest.json"} <= set(names)
    assert cli("figures --check --output f").code == 0
    path = tmp_path / "f" / "fig1_spectrum.csv"
    path.write_text(path.read_text().replace("0.1", "0.2", 1))
    done = cli("figures --check --output f")
    assert done.code == 1
    assert "fig1_spectrum" in done.out.splitlines()[0]
    assert "--output" in refuse("figures --output f/manifest.json")
    assert "--output" in refuse("figures --output", "")


def test_a_missing_file_of_numbers_is_told_in_words(cli):
    done = cli("figures --check --output nothing")
    assert done.code == 1
    assert "None" not in done.out.splitlines()[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "dft:d=4 --positions 0:1:0.5",
            "--positions: this encoding takes no real positions (dft d=4 at 0.5); whole positions from 0 on are",
        ),
        ("sinusoidal --positions late.csv", "--positions is out of range (-1e+17); a number from"),
        ("sinusoidal --positions 0:1e17:1e16", "--positions is out of range (1e17); a number from"),
    ],
)
def test_refused_positions_are_named_with_their_option(refuse, tmp_path, line, words):
    (tmp_path / "late.csv").write_text("t\n0\n9007199254740992\n-1e17\n", encoding="utf-8")
    assert refuse(f"faithfulness -e {line}").startswith(words)


# ----------------------------------------------------------------------------------- too much of one thing


def test_too_many_periods_are_refused_before_they_are_read():
    with pytest.raises(InputError, match="--periods lists too many values") as caught:
        parse_periods(["day", ",".join(["week"] * MAX_LIST)], "--periods")
    assert (caught.value.given, caught.value.accepted) == ("day", f"at most {MAX_LIST}")
    assert parse_periods(["day", ",".join(["week"] * (MAX_LIST - 1))], "--periods") == (
        ("day", 86400),
        ("week", 604800),
    )


# ----------------------------------------------------------------- values that a file states and that no encoding takes


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"relative_attention_num_buckets": 1},
            "t5: buckets is out of range (1); an integer from 4 to 1024 is accepted",
        ),
        ({"relative_attention_max_distance": 3}, "t5: max_distance is out of range (3); an integer from 9"),
        ({"num_heads": 2**21}, "t5: heads is out of range (2097152); an integer from 1 to 1024 is accepted"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "audit"])
def test_a_configuration_out_of_range_is_named_with_its_key(refuse, tmp_path, command, keys, words):
    stated = {"model_type": "t5", "d_model": 64, "num_heads": 8, **keys}
    (tmp_path / "config.json").write_text(json.dumps(stated), encoding="utf-8")
    (tmp_path / "answers").mkdir()
    assert refuse(f"{command} config.json").startswith(f"config.json: {words}")


def test_what_has_too_few_positions_is_left_out_of_several_spectra(cli, refuse):
    found = read_json(cli("spectrum -e ramp sinusoidal:d=64 alibi --length 336 --no-figure --json"))
    assert [one["encoding"]["name"] for one in found["spectra"]] == ["sinusoidal", "alibi"]
    assert "ramp d=1: left out: 80 positions, not 336" in found["notes"]
    alone = refuse("spectrum -e ramp --length 336 --no-figure")
    assert alone == "--length is beyond the rows of an encoding (336); ramp d=1 has 80 positions"
