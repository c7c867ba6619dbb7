"""What each way to lengthen a context does: its numbers, the command, its errors and its figure."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import find_encoding
from pe_spectra.errors import InputError
from pe_spectra.models.lengths.kernel_samples import sample_kernel
from pe_spectra.models.lengths.methods import (
    compare_methods,
    find_unseen,
    measure_neighbour_distance,
    measure_unseen_share,
    propose_bases,
)
from pe_spectra.plots.context import compose_context
from pe_spectra.plots.ladder import compose_ladders
from pe_spectra.plots.style import PAGE_WIDTH, SMALL_SIZE, fixed_style
from pe_spectra.records.context import find_best

LLAMA3 = "context --d 128 --base 500000 --trained 8192 --target 131072"
METHODS = ("none", "linear", "ntk", "dynamic", "yarn", "yarn-paper", "llama3", "critical-base", "men-base")


@pytest.fixture(scope="module")
def report():
    return compare_methods(128, 5e5, 8192, 131072)


def rows_of(report):
    return {row.method: row for row in report.methods}


def read_json(done, code=0):
    assert done.code == code, done.err
    return json.loads(done.out)


# ----------------------------------------------------------------------------------- the numbers


def test_the_methods_in_order(report):
    assert tuple(row.method for row in report.methods) == METHODS
    assert (report.pairs, report.never_turn_in_training, report.critical_dimension) == (64, 29, 70)


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_are_those_of_the_catalogue(report, method):
    row = rows_of(report)[method]
    keys = {key: value for key, value in row.parameters.items() if key != "truncate"}
    scaling = "none" if method.endswith("-base") else method
    encoding = find_encoding("rope")(d=128, scaling=scaling, **keys)
    assert_array_equal(row.frequencies, encoding.frequencies().values)
    assert row.attention_scaling == pytest.approx(encoding.frequencies().amplitude, rel=1e-15)


def compute_naively(method, d, base, trained, target):
    """Frequencies by the formulas of the papers, in plain floats."""
    theta = np.array([base ** (-2 * i / d) for i in range(d // 2)])
    s = target / trained
    if method == "linear":
        return theta / s
    if method == "ntk":
        return np.array([(base * s ** (d / (d - 2))) ** (-2 * i / d) for i in range(d // 2)])
    if method == "dynamic":
        grown = base * (s * target / trained - (s - 1)) ** (d / (d - 2))
        return np.array([grown ** (-2 * i / d) for i in range(d // 2)])
    turns = trained * theta / (2 * math.pi)
    if method == "llama3":
        kept = np.clip((turns - 1) / (4 - 1), 0, 1)
    elif method == "yarn-paper":
        kept = np.clip((turns - 1) / (32 - 1), 0, 1)
    elif method == "yarn":
        low, high = (d * math.log(trained / (2 * math.pi * n)) / (2 * math.log(base)) for n in (32, 1))
        low, high = max(math.floor(low), 0), min(math.ceil(high), d - 1)
        kept = 1 - np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    else:
        kept = np.ones(d // 2)
    return kept * theta + (1 - kept) * theta / s


@pytest.mark.parametrize("model", [(128, 5e5, 8192, 131072), (128, 1e4, 4096, 16384), (64, 1e6, 32768, 100000)])
def test_every_row_against_naive_formulas(model):
    d, _, trained, target = model
    before = compute_naively("none", *model)
    for row in compare_methods(*model).methods[:7]:
        after = compute_naively(row.method, *model)
        assert_allclose(row.frequencies, after, rtol=1e-12)
        assert_allclose(row.turns, after * target / (2 * math.pi), rtol=1e-12)
        unseen = [
            a * target > 1.01 * b * trained and b * trained < 2 * math.pi for a, b in zip(after, before, strict=True)
        ]
        assert row.unseen.tolist() == unseen
        assert row.unseen_pairs == sum(unseen)
        assert row.never_turn == sum(theta * target < 2 * math.pi for theta in after)
        assert row.kept_pairs == sum(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(after, before, strict=True))
        assert row.min_wavelength == pytest.approx(2 * math.pi / after[0], rel=1e-14)
        apart = [math.sqrt(sum(2 - 2 * math.cos(theta) for theta in part)) for part in (after, before)]
        assert row.neighbour_distance == pytest.approx(apart[0] / apart[1], rel=1e-9)
        sums = np.sum(np.cos(np.arange(1, 50001)[:, None] * after), axis=1)
        negative = np.flatnonzero(sums < 0)
        if negative.size:
            assert row.first_negative_lag == negative[0] + 1
        else:
            assert row.first_negative_lag is None or row.first_negative_lag > 50000
        assert not row.frequencies.flags.writeable
    assert d // 2 == len(before)


def test_what_is_known_of_llama3(report):
    rows = rows_of(report)
    assert [rows[name].unseen_pairs for name in METHODS] == [29, 0, 28, 0, 0, 0, 0, 0, 27]
    assert [rows[name].first_negative_lag for name in ("none", "men-base")] == [18438, 135110]
    assert rows["linear"].min_wavelength == pytest.approx(16 * 2 * math.pi)
    assert rows["none"].parameters == {"base": 5e5}
    assert rows["men-base"].parameters == {"base": 8.8e6}
    assert rows["yarn"].attention_scaling == pytest.approx(0.1 * math.log(16) + 1, rel=1e-15)
    assert rows["llama3"].never_turn == 29
    assert find_best(report).method == "llama3"


@pytest.mark.parametrize(
    ("d", "base", "trained", "never"),
    [(128, 1e4, 4096, 18), (128, 5e5, 8192, 29), (128, 1e6, 32768, 24), (256, 1e4, 8192, 28)],
)
def test_pairs_that_never_turned_are_those_that_see_new_phases(d, base, trained, never):
    report = compare_methods(d, base, trained, 4 * trained)
    assert (report.never_turn_in_training, report.methods[0].unseen_pairs) == (never, never)
    by_name = rows_of(report)
    assert by_name["yarn"].unseen_pairs == by_name["yarn-paper"].unseen_pairs == by_name["linear"].unseen_pairs == 0


@pytest.mark.parametrize("trained", [1000, 4096, 10007])
@pytest.mark.parametrize("factor", [1.3, *(pytest.param(f, marks=pytest.mark.slow) for f in (3, 7.7)), 100])
def test_rounding_of_the_factor_makes_no_new_phases(trained, factor):
    rows = rows_of(compare_methods(128, 1e4, trained, round(trained * factor)))
    assert [rows[name].unseen_pairs for name in ("linear", "yarn-paper", "llama3")] == [0, 0, 0]


@settings(max_examples=15)
@given(
    st.sampled_from([4, 6, 32, 64, 128]),
    st.floats(2, 1e18),
    st.integers(8, 1 << 14),
    st.integers(1, 1 << 14),
)
def test_laws_of_the_methods(d, base, trained, more):
    rows = rows_of(compare_methods(d, base, trained, trained + more))
    # these divide by the factor whatever never turned in training; and nothing is ever made faster
    assert [rows[name].unseen_pairs for name in ("linear", "yarn-paper", "llama3")] == [0, 0, 0]
    for row in rows.values():
        assert (row.frequencies <= rows["none"].frequencies * (1 + 1e-12)).all()
        assert row.unseen_pairs <= rows["none"].unseen_pairs
        assert 0 <= row.unseen_share <= row.unseen_pairs / (d // 2)
        assert (row.turns < 1).sum() == row.never_turn
        assert 0 < row.neighbour_distance <= 1 + 1e-12
        assert row.min_wavelength == pytest.approx(2 * math.pi / row.frequencies.max())


def test_a_target_just_above_is_within_the_tolerance():
    report = compare_methods(128, 1e4, 4096, 4100)
    assert report.methods[0].unseen_pairs == 0
    assert report.methods[0].unseen_share == 0
    with pytest.raises(InputError, match="target is not above trained"):
        compare_methods(128, 1e4, 4096, 4096)


def test_unseen_phases_of_single_pairs():
    # within 100 positions: a whole turn and more; three radians, of which twice as many are met; nothing new
    before, after = np.array([1.0, 0.03, 0.03]), np.array([1.0, 0.03, 0.015])
    assert find_unseen(before, after, 100, 200).tolist() == [False, True, False]
    assert measure_unseen_share(before, after, 100, 200) == pytest.approx((0 + 0.5 + 0) / 3)
    # a turn at most is met
    assert measure_unseen_share(before, before, 100, 10000) == pytest.approx(2 * (1 - 3 / (2 * math.pi)) / 3)
    assert measure_neighbour_distance(np.array([math.pi, 0.0])) == pytest.approx(2)


def test_bases_that_are_left_out():
    far = compare_methods(128, 1e18, 8, 1 << 30)
    assert "critical-base" not in rows_of(far)
    assert any("critical-base is left out" in note for note in far.notes)
    high = compare_methods(128, 1e9, 8192, 131072)
    assert "men-base" not in rows_of(high)
    assert any("not above the base that there is" in note for note in high.notes)
    assert high.notes[-1].startswith("longrope is left out")


def test_the_inverse_has_bounds_and_no_rows():
    report = propose_bases(128, 1024)
    assert (report.methods, report.base, report.trained, report.scanned) == ((), None, None, None)
    assert [bound.name for bound in report.bounds][:2] == ["men-exact", "men-settled"]


@pytest.mark.parametrize("longest", [2, 3, 100, 5000, 131072])
def test_the_sampled_kernel(longest):
    frequencies = 1e4 ** (-np.arange(16) / 16)
    sample = sample_kernel(frequencies, longest)
    assert (np.diff(sample.lags) > 0).all()
    assert sample.lags[0] == 1
    assert (sample.low <= sample.mean).all()
    assert (sample.mean <= sample.high).all()
    every = np.mean(np.cos(np.arange(1, longest + 1)[:, None] * frequencies), axis=1)
    assert sample.low.min() >= every.min() - 1e-9
    assert sample.high.max() <= every.max() + 1e-9
    if longest <= 5000:  # each lag is computed
        assert sample.low.min() == pytest.approx(every.min())
        assert sample.high.max() == pytest.approx(every.max())


# ----------------------------------------------------------------------------------- the command


def test_json(cli):
    found = read_json(cli(f"{LLAMA3} --json"))
    assert found["kind"] == "context"
    assert found["parameters"] == {"d": 128, "base": 5e5, "trained": 8192, "target": 131072}
    assert [row["method"] for row in found["rows"]] == list(METHODS)
    for row in found["rows"]:
        assert {"method", "parameters", "unseen_pairs", "never_turn", "min_wavelength", "notes"} <= set(row)
        assert [one["pair"] for one in row["frequencies"]] == list(range(64))
        assert sum(one["unseen"] for one in row["frequencies"]) == row["unseen_pairs"]
        for one in row["frequencies"]:
            assert one["wavelength"] * one["frequency"] == pytest.approx(2 * math.pi)
            assert one["turns"] == pytest.approx(131072 / one["wavelength"])
    for bound in found["bounds"]:
        assert set(bound) == {"name", "value", "unit", "assumption", "source", "remark"}
    assert found["verdict"]["code"] == "unseen-phases"
    assert (found["critical_dimension"], found["never_turn_in_training"], found["scanned_lags"]) == (70, 29, 1 << 20)


def test_the_first_line_answers(cli):
    first = cli(LLAMA3).out.splitlines()[0]
    assert first.startswith(
        "At 131,072 positions 29 of 64 pairs see phases that training never showed; llama3 with factor 16"
    )
    assert "leaves none and keeps 29 of 64 as they were" in first
    first = cli("context --d 128 --base 1000 --trained 8192 --target 131072").out.splitlines()[0]
    assert "no pair sees a phase that training never showed" in first
    first = cli("context --target 131072").out.splitlines()[0]
    assert first.startswith("For 131,072 positions at d = 128 take base 23,000,000: from there")
    first = cli("context --target 10000000").out.splitlines()[0]
    assert "the smallest base itself was not found: not searched beyond 1,048,576 positions" in first


def test_csv_and_table_hold_the_same(cli):
    listed = list(csv.DictReader(io.StringIO(cli(f"{LLAMA3} --format csv").out)))
    assert [row["method"] for row in listed] == list(METHODS)
    found = read_json(cli(f"{LLAMA3} --json"))["rows"]
    for row, one in zip(listed, found, strict=True):
        assert float(row["turns_pair_63"]) == one["frequencies"][63]["turns"]
        assert int(row["unseen_pairs"]) == one["unseen_pairs"]
        assert row["notes"] == "; ".join(one["notes"])
    table = [line.split("\t") for line in cli(LLAMA3).out.splitlines() if "\t" in line]
    assert table[0] == list(listed[0])
    assert [cells[0] for cells in table[1:]] == list(METHODS)


def test_the_inverse_on_the_command_line(cli):
    found = read_json(cli("context --d 64 --target 4096 --json"))
    assert found["parameters"] == {"d": 64, "target": 4096}
    assert found["rows"] == []
    names = [bound["name"] for bound in found["bounds"]]
    listed = list(csv.DictReader(io.StringIO(cli("context --d 64 --target 4096 --format csv").out)))
    assert [row["name"] for row in listed] == names
    assert names[:2] == ["men-exact", "men-settled"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal_no_number_is_cut(cli, width):
    shown = cli(f"{LLAMA3} --color always", COLUMNS=str(width)).out
    for number in ("18438", "135110", "100.5"):
        assert number in shown


def test_the_ways_are_side_by_side_on_a_terminal_of_80_columns(cli):
    shown = cli(f"{LLAMA3} --color always", COLUMNS="80").out
    lines = [re.sub("\x1b[^m]*m", "", line).rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 80
    cells = [line.split() for line in lines[lines.index("") :]]
    rows = {row[0]: row[1:] for row in cells if len(row) == 7 and row[0] in METHODS}
    assert tuple(rows) == METHODS
    assert rows["linear"] == ["0", "29", "0", "100.5", "295005", "1"]
    assert rows["yarn"] == ["0", "29", "19", "6.283", "199047", "1.277"]
    said = " ".join(" ".join(lines).split())
    assert "min_wavelength and first_negative_lag are positions" in said
    assert "men-exact base 8,800,000:" in said


def test_csv_with_full_has_every_pair(cli):
    listed = list(csv.DictReader(io.StringIO(cli(f"{LLAMA3} --format csv --full").out)))
    assert list(listed[0]) == ["method", "pair", "frequency", "wavelength", "turns", "unseen"]
    found = read_json(cli(f"{LLAMA3} --json"))["rows"]
    expected = [(row["method"], pair["frequency"], pair["turns"]) for row in found for pair in row["frequencies"]]
    assert [(row["method"], float(row["frequency"]), float(row["turns"])) for row in listed] == expected
    bounds = "context --d 64 --target 4096 --format csv"
    assert cli(f"{bounds} --full").out == cli(bounds).out


def test_the_command_to_try_next_is_one(cli, report):
    from pe_spectra.records.context import answer_context

    for one in (report, propose_bases(128, 1024), compare_methods(64, 1e4, 100, 120)):
        command = answer_context(one).next_command
        assert command.startswith("pe-spectra inspect rope:")
        spec = command.removeprefix("pe-spectra inspect ")
        assert cli(f"encodings {spec} --json").code == 0, spec
    assert answer_context(compare_methods(128, 1e4, 8, 1 << 30)).next_command == ""
    # the base of the verdict
    assert answer_context(propose_bases(128, 131072)).next_command.endswith("base=23000000")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("context --d 128 --base 500000 --trained 8192 --target -1", ("--target", "-1")),
        ("context --d 128 --base nan --trained 8192 --target 131072", ("--base", "nan")),
        ("context --d 128 --base 1 --trained 8192 --target 131072", ("--base", "1", "2 to 1e+18")),
        ("context --d 128 --base 1e400 --trained 8192 --target 131072", ("--base", "1e400")),
        ("context --d 127 --target 100", ("--d", "127", "even")),
        ("context --d 2 --target 100", ("--d", "2", "4 to 16384")),
        ("context --d 16386 --target 100", ("--d", "16386")),
        ("context --d x --target 100", ("--d", "x")),
        ("context --target 7", ("--target", "7", "8 to 1073741824")),
        ("context --target 1e5", ("--target", "1e5", "not an integer")),
        ("context --target 1073741825", ("--target", "1073741825")),
        ("context", ("--target is missing",)),
        ("context --base 10000 --target 8192", ("--trained is missing", "--target")),
        ("context --trained 4096 --target 8192", ("--base is missing",)),
        ("context --base 10000 --trained 4096", ("--target is missing",)),
        ("context --base 10000 --trained 7 --target 8192", ("--trained", "7")),
        ("context --base 10000 --trained 8192 --target 8192", ("--target is not above --trained", "8192 and 8192")),
        ("context --base 10000 --trained 8192 --target 4096", ("--target is not above --trained", "4096 and 8192")),
        ("context --target 8192 --figure a.png", ("--figure", "a.png", "--base and --trained")),
        ("context --target 8192 more", ("more",)),
    ],
)
def test_errors(refuse, line, parts):
    error = refuse(line)
    for part in parts:
        assert part in error


def test_notes_say_what_is_left_out(cli):
    notes = cli(LLAMA3).err
    assert "longrope is left out" in notes
    assert "8 of the 19 larger ones" in notes
    far = cli("context --d 16384 --base 1e6 --trained 8192 --target 1073741824")
    assert far.code == 0
    assert "no negative sum of cosines up to lag 16,384" in far.err


# ----------------------------------------------------------------------------------- the figure


def texts_of(figure):
    texts = [*figure.texts]
    for axes in figure.axes:
        texts += [*axes.texts, axes.xaxis.label, axes.yaxis.label]
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.mark.parametrize(
    "model", [(128, 5e5, 8192, 131072), (4, 2.0, 8, 100), (64, 1e18, 8, 1 << 30), (128, 1e3, 4096, 8192)]
)
def test_the_figure_holds_its_words(model):
    figure = compose_context(compare_methods(*model))
    assert isinstance(figure, Figure)
    with fixed_style():
        figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.dpi
    assert figure.get_size_inches()[0] == PAGE_WIDTH
    for text in texts_of(figure):
        box = text.get_window_extent()
        assert text.get_fontsize() >= SMALL_SIZE
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text


def test_the_figure_draws_the_numbers(report):
    figure = compose_context(report)
    assert len(figure.axes) == 2 * (len(METHODS) - 1)
    ladder, kernel = figure.axes[:2]  # linear
    curves = [np.asarray(line.get_ydata()) for line in ladder.lines if len(line.get_ydata()) == 64]
    assert_allclose(curves[0], np.log10(2 * np.pi / report.methods[0].frequencies))
    assert_allclose(curves[1], np.log10(2 * np.pi / report.methods[1].frequencies))
    assert len(curves) == 2  # no pair with unseen phases
    heights = sorted(float(line.get_ydata()[0]) for line in ladder.lines if len(line.get_ydata()) == 2)
    assert_allclose(heights, np.log10([8192, 131072]))
    ntk = [np.asarray(line.get_ydata()) for line in figure.axes[2].lines if len(line.get_ydata()) == 64]
    assert np.isfinite(ntk[2]).sum() == 28
    sample = sample_kernel(report.methods[1].frequencies, 131072)
    assert_allclose(kernel.lines[-1].get_ydata(), sample.mean)


def test_a_figure_needs_a_model_and_a_cell():
    with pytest.raises(ValueError, match="needs a model"):
        compose_context(propose_bases(64, 100))
    with pytest.raises(ValueError, match="one at least"):
        compose_ladders([], trained=1, target=2, title="")


@pytest.mark.parametrize("name", ["a.png", *(pytest.param(n, marks=pytest.mark.slow) for n in ("a.svg", "a.pdf"))])
def test_a_figure_is_drawn_only_when_asked(cli, tmp_path, name):
    line = "context --d 16 --base 10000 --trained 512 --target 2048"
    assert read_json(cli(f"{line} --json"))["figure"] is None
    assert list(tmp_path.iterdir()) == []
    assert read_json(cli(f"{line} --json --figure {name}"))["figure"] == name
    first = (tmp_path / name).read_bytes()
    assert cli(f"{line} --figure {name}").code == 0
    assert (tmp_path / name).read_bytes() == first
