"""What compare answers: which rows, ties, the best, and rankings that leave out what has no value."""

import csv
import io
import json
from functools import cache

import numpy as np
import pytest

from pe_spectra import GivenArray, Learned, compare_encodings, read_encoding
from pe_spectra.answers.comparisons import answer_comparison
from pe_spectra.metrics import METRICS, SIGNED
from pe_spectra.metrics.compare import sort_comparisons
from pe_spectra.wording import join

# ----------------------------------------------------------------------------------- parts of tables


@pytest.fixture
def little_budget(monkeypatch):
    """A comparison takes 2**14 numbers, a quarter of one-hot vectors for 256 positions."""
    monkeypatch.setattr("pe_spectra.metrics.compare.MAX_COMPARED_NUMBERS", 1 << 14)


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


@pytest.mark.parametrize(
    "line",
    ["learned.npy", "'learned.npy?rows=0:100'", "sinusoidal one-hot:d=256", "sincos2d:d=16", "learned.npy --length 9"],
)
def test_a_comparison_of_all_rows_has_no_such_note(cli, learned, line):
    document = json.loads(cli(f"compare {line} --json").out)
    assert not any("are compared" in note for note in document["notes"])


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
        "dft d=256 has the smallest low_bin_mass (0.07422), sinusoidal d=256 rho=10000 the largest (0.7422); "
    )


def test_a_verdict_where_no_row_is_better_says_that():
    _, text = judge(("sinusoidal:d=32", "rope:d=32"), "min_separation")
    assert text.startswith("The min_separation of all is the same (")
    _, text = judge(("sinusoidal:d=32",), "min_separation")
    assert text == "No collisions found."


def test_a_comparison_in_the_order_named_says_who_is_farthest_apart(cli):
    assert cli("compare sinusoidal:d=32 dft:d=32 --quiet").out.startswith("sinusoidal d=32 rho=10000 has the largest")


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
    done = cli("compare sin64.npy sin32.npy --periods day --quiet")
    assert "sin64.npy 100 x 64, day: " in done.out
    assert "sin32.npy 100 x 32, day: " in done.out
    done = cli("faithfulness -e sin64.npy sin32.npy --no-figure")
    assert "note: condition number > 1e15" in done.err
    assert done.out.startswith("Injective on 0 .. 99: sin64.npy 100 x 64 and sin32.npy 100 x 32.")
    assert "learned" not in done.err
    np.save(sinusoid_files / "drift.npy", np.cumsum(np.eye(8), axis=0) * np.arange(1.0, 9.0)[:, np.newaxis])
    done = cli("reconstruct -e sin32.npy drift.npy --s 1 --window-free --no-figure")
    assert "learned" not in done.out + done.err
    assert "kernel: sin32.npy 100 x 32 " in done.out or "sin32.npy 100 x 32: no kernel" in done.err


def test_two_of_one_name_are_told_apart(cli):
    done = cli("compare sinusoidal:d=16 sinusoidal:d=32 --periods day --quiet")
    assert "sinusoidal d=16 rho=10000, day: " in done.out
    assert "sinusoidal d=32 rho=10000, day: " in done.out


# ----------------------------------------------------------------------------------- scale


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
    assert cli("compare near.npy far.npy --quiet").out.startswith("far.npy 3 x 1 has the largest relative_separation")


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
    [([[3.0, 4.0]], "not defined", 5.0), ([[3.0, 4.0]] * 3, "all position vectors are the same", 5.0)],
)
def test_what_has_no_distance_has_no_relative_one(rows, separation, norm):
    (one,) = compare_encodings([Learned(values=GivenArray(rows, origin="t.npy"))])
    assert one.values["relative_separation"] is None
    assert one.notes["relative_separation"].startswith(separation)
    assert one.values["norm_rms"] == norm
