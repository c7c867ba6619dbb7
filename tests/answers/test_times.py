"""Frequencies and periods in time units, where the time from one position to the next is known."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.plots.axes import add_cycles, label_times


def read_json(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def table(tmp_path):
    s = np.arange(400.0)[:, None]
    wave = 2 * np.pi * s / np.array([48.0, 11.0])
    np.save(tmp_path / "table.npy", np.hstack([np.sin(wave), np.cos(wave)]) * [1, 0.5, 1, 0.5])


@pytest.mark.parametrize(("step", "seconds"), [("30m", 1800), ("0.2ms", 0.0002), ("1week", 604800)])
def test_the_cycles_of_a_spectrum_are_its_frequencies_in_steps(cli, step, seconds):
    document = read_json(cli(f"spectrum -e sinusoidal:d=16 --step {step} --no-figure --json"))
    turns = np.array(document["omega"]) / (2 * np.pi)
    assert_allclose(document["in_time"]["cycles_per_day"], turns / seconds * 86400, rtol=1e-14)
    bare = read_json(cli("spectrum -e sinusoidal:d=16 --no-figure --json"))
    assert "in_time" not in bare
    assert bare["weights"] == document["weights"]
    assert bare["encoding"] == document["encoding"]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("calendar", "1h"),
        ("calendar:step=15min", "15min"),
        ("periods", "1h"),
        ("periods:steps=48", ""),
        ("hybrid:of=sinusoidal:d=16+periods", "1h"),
        ("sinusoidal", ""),
    ],
)
def test_which_encodings_know_their_step(line, step):
    if line.startswith("hybrid"):
        line = "hybrid:of='sinusoidal:d=16'+periods,mode=concat"
    assert read_encoding(line).time_step == step


def test_a_table_has_the_column_only_where_a_step_is_known(cli):
    lines = cli("spectrum -e calendar --no-figure --format csv").out.splitlines()
    names = lines[0].split(",")
    assert names[names.index("omega") + 1] == "cycles_per_day"
    row = dict(zip(names, lines[-1].split(","), strict=True))
    assert_allclose(float(row["cycles_per_day"]), 12, rtol=1e-14)  # at pi a period is two hours
    assert "cycles_per_day" not in cli("spectrum --no-figure --format csv").out


@pytest.mark.slow
def test_the_periods_of_a_table_are_in_seconds(cli, table):
    document = read_json(cli("inspect table.npy --step 30m --json"))
    steps = [one["period"] for one in document["dominant_periods"]]
    assert_allclose(sorted(document["period_seconds"]), sorted(1800 * np.array(steps)), rtol=1e-14)
    assert "period_seconds" not in read_json(cli("inspect table.npy --json"))
    assert "in time: 1 d, 5.5 h" in cli("inspect table.npy --step 30m").out


@pytest.mark.parametrize("command", ["inspect sinusoidal:d=16", "spectrum -e sinusoidal:d=16"])
@pytest.mark.parametrize("step", ["30x", "0s", "nan", "''"])
def test_steps_that_are_refused(refuse, command, step):
    assert "--step is " in refuse(f"{command} --step {step}")


def test_the_second_axis_has_the_unit_that_people_count_in():
    for step, label, end in (("30min", "frequency (cycles/day)", 24), ("1ms", "frequency (Hz)", 500)):
        axes = Figure().subplots()
        axes.set_xlim(0, np.pi)
        add_cycles(axes, step)
        (above,) = axes.child_axes
        axes.figure.draw_without_rendering()
        assert above.get_xlabel() == label
        assert_allclose(above.get_xlim()[1], end, rtol=1e-12)


def test_an_axis_of_lengths_of_time_names_them():
    for ends, names in (
        ((3600, 40 * 86400), ["1 h", "6 h", "1 d", "7 d", "30 d"]),
        ((60, 400 * 86400), ["1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "1 year"]),
        ((1e-4, 2.0), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]),
    ):
        axes = Figure().subplots()
        axes.set_xlim(*np.log10(ends))
        label_times(axes.xaxis)
        assert [label.get_text() for label in axes.get_xticklabels()] == names
    axes = Figure().subplots()
    axes.set_xlim(np.log10(3700), np.log10(5000))
    label_times(axes.xaxis)  # none of them lies there
    assert not [label.get_text() for label in axes.get_xticklabels() if "h" in label.get_text()]


@pytest.mark.parametrize("line", ["spectrum -e calendar:fields=time --length 96", "inspect table.npy --step 30m"])
def test_figures_have_a_second_axis(cli, table, tmp_path, line):
    assert cli(f"{line} --figure a.svg").code == 0
    text = (tmp_path / "a.svg").read_text()
    assert "cycles/day" in text
    assert compute_spectrum(Sinusoidal(d=8)).in_time == {}
