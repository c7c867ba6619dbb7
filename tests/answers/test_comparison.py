"""What compare answers: which rows, ties, the best, and rankings that leave out what has no value."""

import csv
import io
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pe_spectra import GivenArray, Learned, compare_encodings, read_encoding
from pe_spectra.answers.comparisons import answer_comparison
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.metrics.compare import list_columns, sort_comparisons
from pe_spectra.metrics.measured import METRICS, SIGNED
from pe_spectra.quantities import tabulate
from pe_spectra.wording import join
from tests.making import draw_table, give_table

# ----------------------------------------------------------------------------------- parts of tables


@pytest.fixture
def little_budget(monkeypatch):
    """A comparison takes 2**14 numbers, a quarter of one-hot vectors for 256 positions."""
    monkeypatch.setattr("pe_spectra.metrics.common_ground.MAX_COMPARED_NUMBERS", 1 << 14)


@pytest.mark.usefixtures("little_budget")
def test_a_comparison_says_that_it_is_of_the_first_rows(cli, terminal):
    note = "one-hot d=256: only the first 128 of 256 positions are compared"
    document = json.loads(cli("compare one-hot:d=256 --json").out)
    assert note in document["notes"]
    assert document["verdict"]["text"] == "No collisions found in the parts compared."
    (row,) = csv.DictReader(io.StringIO(cli("compare one-hot:d=256 --format csv").out))
    assert row["length"] == "128"
    done = cli("compare alibi one-hot:d=256 --color never")
    assert f"note: {note}\n" in done.err
    assert "\neach row: length 128, injective yes" in done.out


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "line",
    ["learned.npy", "'learned.npy?rows=0:100'", "sinusoidal one-hot:d=256", "sincos2d:d=16", "learned.npy --length 9"],
)
def test_a_comparison_of_all_rows_has_no_such_note(cli, learned, line):
    document = json.loads(cli(f"compare {line} --json").out)
    assert not any("are compared" in note for note in document["notes"])


def test_one_lattice_is_stated_once(cli):
    line = "compare sinusoidal:d=16 sinusoidal:d=64 alibi --length 336"
    document = json.loads(cli(f"{line} --json").out)
    assert document["parameters"] == {"length": 336, "grid": 336, "bandwidth": 4}
    # 4 x 2 pi/336
    assert cli(line).out.count("lattice: 336 points, bandwidth 4 bins = 0.0748 rad/position, boundary reflect") == 1
    assert not any("lattice" in note for note in document["notes"])


def test_a_comparison_on_the_fewest_rows_says_of_which_tables_these_are_a_part(cli):
    document = json.loads(cli("compare one-hot:d=16 ramp sinusoidal:d=8 --json").out)
    assert document["parameters"]["length"] == 16
    assert [note for note in document["notes"] if "are compared" in note] == [
        "ramp d=1: only the first 16 of 80 positions are compared"
    ]
    answer = answer_comparison(compare_encodings([read_encoding("ramp"), give_table([[1.0, 2.0]])]))
    assert "ramp d=1: only the first of 80 positions is compared" in answer.notes


@pytest.mark.parametrize(("step", "is_noted"), [(2.0**-52, True), (2.0**-40, False), (0.0, False)])
def test_a_separation_that_rounding_alone_keeps_from_zero_is_noted(step, is_noted):
    (one,) = compare_encodings([give_table(1 + step * np.arange(6)[:, np.newaxis])])
    answer = answer_comparison([one])
    assert one.injective is (step > 0)
    assert one.outcome == measure_faithfulness(one.encoding).outcome
    note = "table.npy 6 x 1: its closest vectors are no further apart than float64 rounds off"
    said = "; table.npy 6 x 1: distinct, but by no more than float64 rounds off."
    assert (note in answer.notes) == is_noted == answer.verdict.text.endswith(said)
    assert is_noted == (one.outcome == "distinct-by-rounding")
    assert answer.verdict.level == ("note" if is_noted or not step else "ok")


@pytest.mark.parametrize(("step", "said"), [(4e-15, "distinct, but by no more than"), (0.0, "not injective"), (1, "")])
def test_both_commands_require_the_same(cli, tmp_path, monkeypatch, step, said):
    """Rows that only rounding keeps apart are no more injective for one command than for the other."""
    monkeypatch.chdir(tmp_path)
    rows = 3 * np.random.default_rng(0).normal(size=(30, 4))
    rows[9] = rows[4]
    rows[9, 2] += step
    np.save("near.npy", rows)
    lines = [f"{command} near.npy --require injective" for command in ("compare", "faithfulness -e")]
    found = [[line for line in cli(line).err.splitlines() if line.startswith("check failed")] for line in lines]
    assert found[0] == found[1]
    assert [cli(line).code for line in lines] == [int(bool(said))] * 2
    assert [said in line for line in found[0]] == [True] * bool(said)
    cells = [next(csv.DictReader(io.StringIO(cli(f"{line} --format csv").out)))["injective"] for line in lines]
    assert cells == [{4e-15: "by rounding", 0.0: "False", 1: "True"}[step]] * 2
    rows = [json.loads(cli(f"{line} --json").out)["rows"][0] for line in lines]
    assert {row["outcome"] for row in rows} == {
        {4e-15: "distinct-by-rounding", 0.0: "not-injective", 1: "injective"}[step]
    }
    assert {row["injective"] for row in rows} == {step > 0}


def test_what_rounding_keeps_apart_is_sorted_between(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, step in (("same", 0.0), ("near", 2.0**-52), ("apart", 1.0)):
        np.save(f"{name}.npy", 1 + step * np.arange(6)[:, np.newaxis])
    table = csv.DictReader(
        io.StringIO(cli("compare same.npy near.npy fire apart.npy --sort injective --format csv").out)
    )
    assert [row["injective"] for row in table] == ["True", "by rounding", "False", ""]


# ----------------------------------------------------------------------------------- what has no value


def list_missing(compared):
    """The cells without a value, by label and column."""
    return {
        (one.encoding.label, name) for one in compared for name, (cell,) in one.to_columns().items() if cell is None
    }


def read_missing(notes, compared):
    """The cells that notes say have none: `label, label and label: no column, column to column or column: why`."""
    columns, labels = list(compared[0].to_columns()), [one.encoding.label for one in compared]
    found = set()
    for note in notes:
        named = [label for label in labels if label in note.partition(": no ")[0]]
        said = re.search(": no ([a-z_0-9, ]+): ", note)
        if said is not None:
            for part in re.split(", | or ", said[1]):
                first, _, last = part.partition(" to ")
                run = columns[columns.index(first) : columns.index(last or first) + 1]
                found |= {(label, name) for label in named for name in run}
        elif ": injective is not decided: " in note:
            labelled = note.partition(": injective")[0]
            found |= {(label, "injective") for label in labels if label in labelled}
        elif said := re.search(r": (\w+): k\(lag .* not measurable: .", note):
            found |= {(label, f"{one}_{said[1]}") for one in ("ratio", "maximum") for label in labels if label in note}
        elif ": nothing at --periods: " in note:
            found |= {(label, name) for label in labels if label in note for name in compared[0].at_periods}
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("length", [None, 1, 2, 12])
def test_every_cell_without_a_value_has_a_note(length):
    tables = {
        "noise": draw_table(24, 3),
        "zeros": np.zeros((24, 2)),
        "ones": np.ones((25, 2)),
        "huge": 1e200 * draw_table(24, 3),
        "near": 1 + 2.0**-52 * np.arange(24.0)[:, np.newaxis],
    }
    specs = ["sinusoidal:d=8", "dft:d=12", "alibi:heads=2", "fire:heads=2", "sincos2d:d=8,height=3,width=4"]
    encodings = [*map(read_encoding, specs), *(give_table(rows, f"{name}.npy") for name, rows in tables.items())]
    day = [("day", 86400.0)]
    for compared in (
        compare_encodings(encodings, length=length, step_seconds=3600.0, periods=day),
        *(compare_encodings([one], length=length, step_seconds=3600.0, periods=day) for one in encodings),
    ):
        answer = answer_comparison(compared)
        told = read_missing((*answer.notes, *answer.remarks), compared)
        assert list_missing(compared) == told - {cell for cell in told if cell not in list_missing(compared)}
        assert list_missing(compared) <= told
        metrics = {(one.encoding.label, name) for one in compared for name in one.notes}
        assert {cell for cell in told if cell[1] in METRICS} == metrics


def test_positions_that_are_too_many_for_a_spectrum_are_told(monkeypatch):
    monkeypatch.setattr("pe_spectra.spectrum.periodograms.MAX_DIRECT_WORK", 8 * 30**2)
    (one,) = compare_encodings([Sampled(encoding=read_encoding("sinusoidal:d=8"), times=GivenArray(np.arange(31) / 3))])
    said = "no low_bin_mass to flatness: different positions are too many for a spectrum (31); 2 to 30 at d=8"
    answer = answer_comparison([one])
    assert f"{one.encoding.label}: {said}" in (*answer.notes, *answer.remarks)


@pytest.mark.parametrize("length", [1, 2, 50])
def test_a_grid_that_is_larger_than_the_length_says_that_it_is_whole(cli, length):
    whole = f"sincos2d d=16 rho=10000: the grid is compared whole, 196 positions in place of {length}"
    for line in ("sincos2d:d=16", "sincos2d:d=16 dft:d=16"):
        assert whole in json.loads(cli(f"compare {line} --length {length} --json").out)["notes"]
    assert not any("whole" in note for note in json.loads(cli("compare sincos2d:d=16 dft:d=16 --json").out)["notes"])


def write_repeating(folder):
    """Positions of which the last is the sixth again, and a table of as many rows."""
    times = np.arange(300) / 3
    times[-1] = times[5]
    np.save(folder / "times.npy", times)
    np.save(folder / "rows.npy", np.stack([times, times**2], axis=1))


@pytest.mark.parametrize(
    ("compared", "alone"),
    [
        ("sinusoidal:d=8 --positions times.npy", "-e sinusoidal:d=8 --positions times.npy"),
        ("rows.npy", "-e rows.npy"),
    ],
)
def test_all_positions_are_compared_as_faithfulness_looks_at_all(cli, tmp_path, monkeypatch, compared, alone):
    monkeypatch.chdir(tmp_path)
    write_repeating(tmp_path)
    done = cli(f"compare {compared} --require injective --json")
    other = cli(f"faithfulness {alone} --require injective --json")
    assert done.code == other.code == 1
    (row,), (found,) = json.loads(done.out)["rows"], json.loads(other.out)["rows"]
    assert row["length"] == found["length"] == 300
    assert row["injective"] is found["injective"] is False
    assert row["metrics"]["min_separation"] == found["min_separation"] == 0


@pytest.mark.usefixtures("little_budget")
def test_of_a_part_that_nobody_asked_for_nothing_is_decided(cli):
    part = "the first 128 of 256 positions"
    done = cli("compare one-hot:d=256 --require injective --require 'separation>=1'")
    assert done.code == 1
    assert f"required: injective; found: not decided (one-hot d=256, {part})" in done.err
    assert f"required: separation>=1; found: separation not known (one-hot d=256, {part})" in done.err
    assert f"note: one-hot d=256: only {part} are compared" in done.err
    assert cli("compare one-hot:d=256 --length 128 --require injective").code == 0


# ----------------------------------------------------------------------------------- verdicts


@cache
def compare(*specs):
    return compare_encodings([read_encoding(spec) for spec in specs], length=32)


def judge(specs, metric):
    ordered = sort_comparisons(compare(*specs), metric)
    return ordered, answer_comparison(ordered, metric).verdict.text


@pytest.mark.parametrize("metric", METRICS)
def test_the_verdict_names_the_first_row(metric):
    ordered, text = judge(("sinusoidal:d=32", "dft:d=32", "ramp:length=32", "alibi", "t5"), metric)
    known = [one for one in ordered if one.values[metric] is not None and not one.encoding.is_random]
    if len(known) < 2:
        assert metric not in text
        return
    first, last = known[0], known[-1]
    top = first.values[metric]
    best = [one.encoding.label for one in known if abs(one.values[metric] - top) <= 1e-9 * abs(top)]
    leading = join(best, most=3)
    has, be = ("has", "is") if len(best) == 1 else ("have", "are")
    pairs = [(f"({top:.{digits}g})", f"({last.values[metric]:.{digits}g})") for digits in (4, 7, 11)]
    written, beyond = next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])
    end = "largest" if METRICS[metric].better == "higher" else "smallest"
    if len(best) == len(known):
        assert f" {metric} of all " in text
        return
    among = " of those not drawn at random"
    says = {
        True: f"{leading} {has} the smallest {metric}{among} {written}, {last.encoding.label} the largest {beyond}; ",
        False: f"{leading} {be} the best by {metric}{among}, the {end} {written}, {last.encoding.label} "
        f"the last {beyond}; ",
    }[METRICS[metric].better is None]
    assert text.startswith(says)


def test_a_verdict_by_what_has_no_better_direction(cli):
    done = cli("compare sinusoidal dft --sort low_bin_mass --quiet")
    assert done.out.startswith(
        "dft d=256 has the smallest low_bin_mass (0.1538), sinusoidal d=256 rho=10000 the largest (0.8972); "
    )


@pytest.mark.parametrize(
    ("specs", "says"),
    [
        (("fire",), "Not decided whether vectors are distinct."),
        (("fire", "tupe"), "Not decided for any of the 2 whether vectors are distinct."),
        (("fire", "sinusoidal:d=8"), "No collisions found in 1 of 2; not decided: fire heads=12."),
        (
            ("fire", "dft:d=8"),
            "Collisions (positions or lags with one vector) in 1 of 2 (dft d=8); not decided: fire heads=12.",
        ),
    ],
)
def test_what_is_not_decided_has_no_verdict_of_the_others(cli, specs, says):
    verdict = json.loads(cli(f"compare {' '.join(specs)} --length 16 --json").out)["verdict"]
    assert (verdict["level"], verdict["text"]) == ("note", says)


@pytest.mark.parametrize("column", ["encoding", "random", "injective"])
def test_words_are_in_no_ranking(column):
    assert judge(("sinusoidal:d=32", "dft:d=32"), column)[1] == "No collisions found."


def test_a_length_is_ranked_as_any_number():
    _, text = judge(("sincos2d:d=16", "dft:d=32"), "length")
    assert text.startswith("dft d=32 has the smallest length (32), sincos2d d=16 rho=10000 the largest (196); ")


def test_a_verdict_where_no_row_is_better_says_that():
    _, text = judge(("sinusoidal:d=32", "rope:d=32"), "min_separation")
    assert text.startswith("The min_separation of all is the same (")
    _, text = judge(("sinusoidal:d=32",), "min_separation")
    assert text == "No collisions found."


def test_a_comparison_begins_with_who_is_farthest_apart(cli):
    done = cli("compare ramp:length=32 sinusoidal:d=32 --format csv")
    assert [line.partition(",")[0] for line in done.out.splitlines()[1:]] == [
        "sinusoidal d=32 rho=10000",
        "ramp d=1 length=32",
    ]
    says = "sinusoidal d=32 rho=10000 is the best by relative_separation, the largest (0."
    assert cli("compare ramp:length=32 sinusoidal:d=32 --quiet").out.startswith(says)


def test_a_comparison_in_the_order_named_says_who_is_farthest_apart():
    text = answer_comparison(compare("ramp:length=32", "sinusoidal:d=32")).verdict.text
    assert text.startswith("sinusoidal d=32 rho=10000 has the largest relative_separation (0.")


# ----------------------------------------------------------------------------------- compare


def test_compare_says_why_a_signed_spectrum_has_no_value(cli, previous_heads):
    document = json.loads(cli(f"compare {previous_heads} alibi sandwich --sort centroid --json").out)
    assert "t5" not in document["verdict"]["text"].partition(";")[0]
    assert document["rows"][-1]["metrics"]["centroid"] is None
    assert document["rows"][-1]["undefined"]["centroid"] == SIGNED
    assert sum(SIGNED in note for note in document["notes"]) == 1
    assert document["rows"][-1]["metrics"]["toeplitz_share"] == 1.0


# ----------------------------------------------------------------------------------- ties


def make_rows(factors):
    """Tables whose smallest separations are the factors: two codes at that distance."""
    sinusoid_files = [GivenArray([[0.0, 0.0], [factor, 0.0]], origin=f"t{n}.npy") for n, factor in enumerate(factors)]
    return compare_encodings([Learned(values=table) for table in sinusoid_files])


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ((1 + 9e-10, 1.0), "The min_separation of all is the same (1)"),
        ((2.0, 2 + 4e-16, 1.0), "t0.npy 2 x 2 and t1.npy 2 x 2 "),
        ((2.0, 2.0, 2.0, 2.0, 1.0), "t0.npy 2 x 2, t1.npy 2 x 2 and 2 more "),
        ((1 + 3e-9, 1.0), "t0.npy 2 x 2 "),
        ((2.0, 1.0), "t0.npy 2 x 2 "),
    ],
)
def test_one_rule_for_ties(factors, says):
    text = answer_comparison(make_rows(factors), "min_separation").verdict.text
    assert text.startswith(says)
    if not says.startswith("The"):
        assert text.removeprefix(says).startswith("are the best by" if " and " in says else "is the best by")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (([0, 1, 2], [0, 3, 6], [0, 1, 3]), "t0.npy 3 x 1 and t1.npy 3 x 1 have the largest relative_separation (0.7"),
        (([0, 1, 2], [0, 1, 3]), "t0.npy 3 x 1 has the largest relative_separation (0.7"),  # 1/sqrt 2
        (([0, 1, 2], [0, 3, 6]), "The relative_separation of all is the same (0.7071)"),
    ],
)
def test_unsorted_tables_tie_whatever_their_scale(lines, says):
    tables = [GivenArray(np.array([line]).T, origin=f"t{n}.npy") for n, line in enumerate(lines)]
    compared = compare_encodings([Learned(values=table) for table in tables])
    assert answer_comparison(compared, None).verdict.text.startswith(says)


def test_what_is_no_tie_is_written_apart():
    text = answer_comparison(make_rows((1 + 3e-9, 1.0)), "min_separation").verdict.text
    assert "the largest (1.000000003), t1.npy 2 x 2 the last (1); " in text
    text = answer_comparison(make_rows((1.00004, 1.0)), "min_separation").verdict.text
    assert "the largest (1.00004), t1.npy" in text


@pytest.mark.usefixtures("sinusoid_files")
def test_a_table_ties_with_its_formula_in_both_orders(cli):
    for more, same in (("", "relative_separation of all is the same (0.2839)"), (" --sort min_separation", "(1.472)")):
        done = cli(f"compare sin64.npy sinusoidal:d=64 --length 100 --quiet{more}")
        assert done.out.startswith("The ")
        assert f"{same}; no collisions found." in done.out


# ----------------------------------------------------------------------------------- files by name


def test_files_are_called_by_their_names(cli, sinusoid_files):
    rows = cli("compare sin64.npy sin32.npy --periods day --format csv").out.splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == ["sin32.npy 100 x 32", "sin64.npy 100 x 64"]
    done = cli("faithfulness -e sin64.npy sin32.npy --no-figure")
    assert "note: condition number > 1e15" in done.err
    assert done.out.startswith("Injective on 0 .. 99: sin64.npy 100 x 64 and sin32.npy 100 x 32.")
    assert "learned" not in done.err
    np.save(sinusoid_files / "drift.npy", np.cumsum(np.eye(8), axis=0) * np.arange(1.0, 9.0)[:, np.newaxis])
    done = cli("reconstruct -e sin32.npy drift.npy --s 1 --window-free --no-figure")
    assert "learned" not in done.out + done.err
    assert "kernel: sin32.npy 100 x 32 " in done.out or "sin32.npy 100 x 32: no kernel" in done.err


def test_periods_are_a_table_on_a_terminal(cli, terminal):
    line = "compare calendar:fields=hour+weekday sinusoidal:d=64 --step 1h --periods day,week --sort {} --color never"
    table = cli(line.format("ratio_day")).out.partition("encoding                      period")[2].splitlines()[1:5]
    assert [row[30:].split()[:4] for row in table] == [
        ["day", "24", "0.811745", "yes"],
        ["day", "24", "0.616348", "no"],
        ["week", "168", "1", "yes"],
        ["week", "168", "0.345462", "yes"],
    ]
    assert [row.split()[0] for row in table] == ["calendar", "sinusoidal"] * 2
    other = cli(line.format("relative_separation")).out.partition("encoding                      period")[2]
    assert [row.split()[0] for row in other.splitlines()[1:5]] == ["sinusoidal", "calendar"] * 2


def test_periods_are_a_table_below_the_other_in_a_pipe_and_columns_in_csv(cli):
    line = "compare calendar:fields=hour+weekday sinusoidal:d=64 --step 1h --periods day"
    piped = cli(line).out
    below = piped.partition("\nencoding\tperiod\t")[2].splitlines()
    assert below[0].split("\t") == ["lag", "ratio", "maximum", "nearest", "nearest_ratio"]
    (row,) = [one.split("\t") for one in below if one.startswith("calendar")]
    document = json.loads(cli(f"{line} --json").out)
    match = next(one for one in document["rows"] if one["encoding"]["name"] == "calendar")["periods"][0]
    assert row[1:5] == ["day", repr(match["lag"]), repr(match["ratio"]), "yes"]
    assert (row[5], float(row[6])) == ("1 d", match["nearest_ratio"])
    assert "\nencoding\tperiod" not in cli(line.partition(" --step")[0]).out
    assert cli(f"{line} --format csv").out.splitlines()[0].endswith("ratio_day,maximum_day,nearest_day")


# ----------------------------------------------------------------------------------- scale

TABLE = draw_table(24, 3, seed=7).cumsum(axis=0)


@cache
def compare_scaled(scales):
    return compare_encodings([give_table(scale * TABLE, f"t{n}.npy") for n, scale in enumerate(scales)])


def list_cells(compared):
    """The rows of csv."""
    return list(zip(*tabulate(compared).values(), strict=True))


def test_who_is_farthest_apart_is_no_matter_of_scale(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    near, far = np.array([[0.0], [1.0], [10.0]]), np.array([[0.0], [1.0], [2.0]])
    np.save("near.npy", 100 * near)
    np.save("far.npy", far)
    document = json.loads(cli("compare near.npy far.npy --sort relative_separation --json").out)
    assert document["verdict"]["text"].startswith("far.npy 3 x 1 is the best by relative_separation")
    first, last = (row["metrics"] for row in document["rows"])
    # of pairs 1, 1 and 2 apart; and of 1, 9 and 10
    assert first["relative_separation"] == pytest.approx(1 / np.sqrt((1 + 1 + 4) / 3))
    assert last["relative_separation"] == pytest.approx(1 / np.sqrt((1 + 81 + 100) / 3))
    assert last["min_separation"] == pytest.approx(100)
    assert last["norm_rms"] == pytest.approx(100 * np.sqrt(101 / 3))
    documents = [cli(f"compare {line} --json").out for line in ("near.npy far.npy", "far.npy near.npy")]
    assert documents[0] == documents[1]
    assert [row["encoding"]["parameters"]["table"] for row in json.loads(documents[0])["rows"]] == [
        "far.npy",
        "near.npy",
    ]


@pytest.mark.few(60)
@pytest.mark.parametrize("scales", [(1.0, 3.0, 0.5), (2.0, 2.0), (1.0, -1.0), (1.0, 1e-9, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("column", [None, *list_columns()])
def test_where_the_norm_matters_it_is_said(scales, column):
    """A column sorted by scale says how far norms differ; where they are one, or scale is no matter, nothing is."""
    compared = compare_scaled(scales)
    (first, *others) = [dict(zip(list_columns(), row, strict=True)) for row in list_cells(compared)]
    notes = [note for note in answer_comparison(compared, column).notes if "norm_rms" in note]
    typical = float(np.sqrt(np.mean(np.sum(TABLE**2, axis=1))))
    known = [column in METRICS and one.values[column] is not None for one in compared]
    norms = [abs(scale) * typical for scale, is_known in zip(scales, known, strict=True) if is_known]
    moves = column is not None and column in METRICS and METRICS[column].degree != 0 and column != "norm_rms"
    assert bool(notes) == (moves and len(set(norms)) > 1)
    if notes:
        assert notes[0].startswith(f"{column} changes with the scale of the vectors, and norm_rms goes from ")
        assert [float(word) for word in notes[0].split() if word[0].isdigit()] == pytest.approx(
            [min(norms), max(norms)], rel=1e-3
        )
    if column not in (None, "encoding", "norm_rms") and not moves and all(scales) and first[column] is not None:
        assert all(other[column] == pytest.approx(first[column], rel=1e-6) for other in others)


def test_a_column_of_scale_is_doubted_where_a_row_has_no_norm(cli):
    doubt = "min_separation changes with the scale of the vectors, and alibi heads=8 has no norm_rms"
    assert doubt in json.loads(cli("compare alibi sinusoidal --sort min_separation --json").out)["notes"]
    alone = json.loads(cli("compare alibi --sort min_separation --json").out)["notes"]
    assert not any("scale" in note for note in alone)


def test_a_note_without_a_name_is_about_its_encoding(cli):
    steps = "a lag is a number of steps from one of the real positions to another"
    notes = json.loads(cli("compare sinusoidal:d=8 --positions 0:4.5:0.5 --json").out)["notes"]
    assert f"sinusoidal d=8 rho=10000 at 9 real positions: {steps}" in notes


@pytest.mark.parametrize("power", [-1000, -40, 40, 1000])
def test_scaling_changes_norms_and_distances_alone(power):
    rows = np.random.default_rng(1).normal(loc=5, size=(12, 3))
    scaled = np.ldexp(rows, power)
    one, other = (
        compare_encodings([Learned(values=GivenArray(table, origin="t.npy"))])[0].values for table in (rows, scaled)
    )
    assert other["relative_separation"] == pytest.approx(one["relative_separation"], rel=1e-12)
    for name in ("min_separation", "norm_rms"):
        assert other[name] == pytest.approx(np.ldexp(one[name], power), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("rows", "separation", "norm"),
    [([[3.0, 4.0]], "a single position has no pair", 5.0), ([[3.0, 4.0]] * 3, "all position vectors are equal", 5.0)],
)
def test_what_has_no_distance_has_no_relative_one(rows, separation, norm):
    (one,) = compare_encodings([Learned(values=GivenArray(rows, origin="t.npy"))])
    assert one.values["relative_separation"] is None
    assert one.notes["relative_separation"].startswith(separation)
    assert one.values["norm_rms"] == norm


@pytest.mark.slow
def test_the_whole_catalogue_is_a_line_for_each_and_the_verdict(cli, monkeypatch):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    ran = cli("compare --all --length 16", COLUMNS="80", LINES="24")
    lines = ran.out.splitlines()
    names = [one["encoding"]["name"] for one in json.loads(cli("compare --all --length 16 --json").out)["rows"]]
    table = [line.split()[0] for line in lines[-2 - len(names) :]]
    assert set(names) <= set(table)
    assert len(lines) <= len(names) + 16
    assert "note: " not in ran.err
    full = " ".join(cli("compare --all --length 16 --full", COLUMNS="80").out.split())
    assert "drawn at random, as before training" in full


def test_a_copy_of_an_answer_has_its_notes_once():
    answer = answer_comparison(compare_encodings([read_encoding("dft:d=4"), read_encoding("calendar")], length=8), None)
    again = replace(replace(answer))
    assert answer.remarks
    assert again.details == answer.details
    assert len({*again.details}) == len(again.details)
