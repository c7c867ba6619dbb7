"""Numbers and sentences of tables, calendars and configurations, each held against a second road."""

import json
import math
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import compare_encodings, compute_spectrum, draw_portrait, inspect_table, read_encoding
from pe_spectra.encodings import GivenArray, Learned, Sinusoidal
from pe_spectra.inspection.resize import resize_table
from pe_spectra.inspection.rows import compute_mean_row
from pe_spectra.plots.spectrum_words import entitle_spectra

#: What an `inspect` answer has of the changes of a table about its mean row.
ABOUT_THE_MEAN = ("neighbour_cosine_centred_median", "trend_share", "trend_and_periods_share")
ABOUT_THE_MEAN += ("sinusoid_per_channel_share", "toeplitz_share_centred", "stable_rank_centred")


def look_at(table):
    return draw_portrait(Learned(values=GivenArray(table)))


def draw_noise(rows: int, columns: int, seed: int = 0):
    return np.random.default_rng(seed).standard_normal((rows, columns))


# ----------------------------------------------------------------------------------- few rows


def explain_by_lines(table):
    """The share of the variance that a line in each column explains, in fractions."""
    size, explained, total = len(table), Fraction(0), Fraction(0)
    places = [Fraction(2 * s - size + 1, 2) for s in range(size)]
    for column in np.asarray(table).T.tolist():
        numbers = [Fraction(x) for x in column]
        mean = sum(numbers) / size
        slope = sum(p * x for p, x in zip(places, numbers, strict=True))
        explained += slope**2 / sum(p * p for p in places)
        total += sum((x - mean) ** 2 for x in numbers)
    return float(explained / total)


@pytest.mark.parametrize("rows", [2, 3, 5, 7, 8])
def test_trend_of_few_rows_is_measured(rows):
    table = draw_noise(rows, 3) + np.arange(rows)[:, None]
    metrics = inspect_table(table).metrics
    assert_allclose(metrics["trend_share"], explain_by_lines(table), rtol=1e-13)
    assert metrics["trend_and_periods_share"] >= metrics["trend_share"] * (1 - 1e-15)
    assert (metrics["sinusoid_per_channel_share"] is None) == (rows < 8)  # fewer have no periods


def test_two_rows_have_no_nearest_ladder():
    """Any ladder meets two numbers with an amplitude and a phase."""
    for rows, known in ((2, False), (3, True)):
        metrics = inspect_table(draw_noise(rows, 4)).metrics
        assert [metrics[f"nearest_sinusoid_{name}"] is not None for name in ("rho", "share")] == [known] * 2


# ----------------------------------------------------------------------------------- constant columns


@pytest.mark.parametrize("number", [0.1, 1 / 3, 7.0, -1e8 / 3])
def test_what_never_changes_has_no_share_of_changes(number):
    metrics = look_at(np.full((10, 4), number)).metrics
    assert [metrics[name] for name in ABOUT_THE_MEAN] == [None] * len(ABOUT_THE_MEAN)


def test_zero_table_has_no_ladder():
    metrics = look_at(np.zeros((10, 4))).metrics
    assert metrics["nearest_sinusoid_rho"] is metrics["nearest_sinusoid_share"] is None


@pytest.mark.parametrize(("number", "scale"), [(1e12 / 3, 1.0), (1e8 / 3, 1e-6), (0.1, 1e-14)])
def test_constant_column_changes_nothing_about_the_mean(number, scale):
    codes = scale * Sinusoidal(d=16).table(100)
    beside = np.concatenate([codes, np.full((100, 1), number)], axis=1)
    expected, found = look_at(codes), look_at(beside)
    for name in ABOUT_THE_MEAN:
        assert_allclose(found.metrics[name], expected.metrics[name], rtol=1e-9, err_msg=name)
    assert_allclose(found.inspection.helix.shares, expected.inspection.helix.shares, rtol=1e-9, atol=1e-15)


def test_mean_row_of_one_number_is_that_number():
    table = np.concatenate([np.full((1001, 1), 0.1), draw_noise(1001, 2)], axis=1)
    mean = compute_mean_row(table)
    assert mean[0] == 0.1
    exact = [float(sum(map(Fraction, column)) / 1001) for column in table.T.tolist()]
    assert_allclose(mean, exact, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("columns", "says"), [(1, "Column 2 is the"), (3, "Columns 2 to 4 are the")])
def test_constant_columns_are_named_in_their_number(columns, says):
    table = np.concatenate([draw_noise(40, 2), np.ones((40, columns))], axis=1)
    (message,) = [one.message for one in inspect_table(table).findings if one.code == "constant-columns"]
    them = "it" if columns == 1 else "them"
    assert message == f"{says} same in every row: no position can be told by {them}."


# ----------------------------------------------------------------------------------- equal rows, noise


def find_codes(table):
    return [one.code for one in inspect_table(table).findings]


def test_a_part_that_is_there_twice_is_no_period():
    table = draw_noise(80, 16)
    table[10:20] = table[:10]
    (found,) = [one for one in inspect_table(table).findings if one.code.startswith(("dupl", "rep"))]
    assert found.code == "duplicate-rows"
    assert found.message.startswith("10 rows are equal to an earlier row (first 0 and 10)")


@pytest.mark.parametrize("period", [10, 44, 60])
def test_whole_table_that_repeats_is_a_period(period):
    once = draw_noise(period, 16)
    assert "repeating-rows" in find_codes(np.concatenate([once] * 8)[:80])
    once[3] = 0  # rows of zeros are no codes that are equal, and repeat as well
    assert "repeating-rows" in find_codes(np.concatenate([once] * 8)[:80])


def test_deviation_of_noise_is_about_the_mean_row():
    noise = draw_noise(64, 32)
    (plain,) = inspect_table(noise).findings
    (moved,) = inspect_table(noise + 10 * draw_noise(1, 32, 1)).findings
    total = sum((x - sum(column) / 64) ** 2 for column in noise.T.tolist() for x in column)
    assert_allclose([plain.data["deviation"], moved.data["deviation"]], (total / (63 * 32)) ** 0.5, rtol=1e-12)
    assert "deviation 1, as before" in plain.message
    assert "deviation 1 about a mean row." in moved.message


def test_equal_rows_in_the_middle_have_no_edge_to_compare():
    walk = 3 + np.cumsum(draw_noise(45, 64), axis=0)[5:]
    for method, known in (("nearest", False), ("bilinear", True)):
        found = inspect_table(resize_table(walk, 128, method=method)).findings
        (message,) = [one.message for one in found if one.code == "interpolated"]
        assert ("steps at the edge" in message) == known
        assert "inf" not in message


# ----------------------------------------------------------------------------------- what was not looked at


@pytest.mark.parametrize(
    ("table", "why"), [(np.ones((1, 3)), "a single row, with no other to compare it with"), (1.7e308, "see the notes")]
)
def test_rows_that_were_not_looked_at_are_not_called_ordinary(cli, tmp_path, table, why):
    np.save(tmp_path / "t.npy", np.broadcast_to(table, (12, 3)) if np.ndim(table) == 0 else table)
    verdict = json.loads(cli(f"inspect {tmp_path / 't.npy'} --json").out)["verdict"]
    assert (verdict["level"], verdict["code"]) == ("note", "rows-not-looked-at")
    assert verdict["text"].endswith(f": its rows were not looked at one by one ({why}).")


# ----------------------------------------------------------------------------------- calendars


def count_in_a_row(slot: int, step: int, positions: int = 2000) -> int:
    """The most positions in a row with one minute slot and one hour."""
    start = datetime(2016, 7, 1)
    moments = [start + timedelta(minutes=step * s) for s in range(positions)]
    fields = [(one.hour, one.minute // slot) for one in moments]
    longest = run = 1
    for before, after in pairwise(fields):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize(
    ("slot", "step", "most"),
    [(15, 5, ""), (15, 10, "up to "), (15, 7, "up to "), (14, 7, "up to "), (60, 45, "up to ")],
)
def test_positions_that_share_a_slot_are_counted(slot, step, most):
    encoding = read_encoding(f"calendar:fields=minute+hour,minute_slot={slot},step={step}min")
    ((remark,),) = [one.remarks for one in compare_encodings([encoding], step_seconds=60 * step)]
    assert remark.endswith(f"so {most}{count_in_a_row(slot, step)} positions in a row share their fields")


@pytest.mark.parametrize(("days", "shares"), [(28, True), (30, True), (31, False), (59, False)])
def test_months_are_coarser_than_steps_below_their_longest(days, shares):
    encoding = read_encoding(f"calendar:fields=month,start=2016-01-01,step={days}d")
    months = [(datetime(2016, 1, 1) + timedelta(days=days * s)).month for s in range(200)]
    assert any(a == b for a, b in pairwise(months)) == shares
    assert any("neighbours share a code" in note for note in encoding.notes) == shares


# ----------------------------------------------------------------------------------- reconstructions, configurations


def test_bare_kernel_of_a_bias_is_the_mean_over_its_heads(cli):
    (panel, *_) = json.loads(cli("reconstruct -e alibi:heads=3 --s 0 --window-free --json --no-figure").out)["panels"]
    slopes = [Fraction(1, 16), Fraction(1, 256), Fraction(1, 4)]  # of 2 heads, then the first of 4
    expected = [sum(math.exp(-slope * lag) for slope in slopes) / 3 for lag in range(len(panel["kernel"]))]
    assert_allclose(panel["kernel"], expected, rtol=1e-14)


def test_directions_of_a_square_grid_are_named(cli):
    line = "reconstruct -e sincos2d:d=8,height=4,width=4 sinusoidal:d=8 --s 0 --json --no-figure"
    panels = json.loads(cli(line).out)["panels"]
    assert [panel.get("axis") for panel in panels] == ["vertical", "horizontal", None]


def test_spectrum_of_partial_rotation_is_on_a_point_for_each_channel(cli, tmp_path):
    config = {"model_type": "phi3", "hidden_size": 640, "num_attention_heads": 8, "max_position_embeddings": 512}
    config |= {"partial_rotary_factor": 0.5, "rope_theta": 1e6}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (layer,) = json.loads(cli(f"audit {tmp_path / 'config.json'} --json --no-figure").out)["models"][0]["layer_types"]
    assert (layer["head_dim"], layer["rotary_dim"]) == (80, 40)
    omega = [2 * math.pi * k / 80 for k in range(41)]
    sigma = 4 * 2 * math.pi / 80
    frequencies = [1e6 ** (-2 * i / 40) for i in range(20)]
    weights = [sum(math.exp(-((w - f) ** 2) / (2 * sigma**2)) for f in frequencies) for w in omega]
    mean = sum(w * g for w, g in zip(omega, weights, strict=True)) / sum(weights)
    assert_allclose(layer["spectrum"]["centroid"], mean, rtol=1e-13)


def state_gemma(**others):
    shape = {"model_type": "gemma3_text", "hidden_size": 2560, "num_attention_heads": 8, "head_dim": 256}
    return shape | {"max_position_embeddings": 32768, "rope_theta": 1e6, "rope_local_base_freq": 1e4} | others


@pytest.mark.parametrize(("served", "turns"), [(300000, "1 of them turns there"), (2000000, " of them turn there")])
def test_pairs_that_turn_for_the_first_time_are_counted(cli, tmp_path, served, turns):
    config = state_gemma(rope_scaling={"rope_type": "linear", "factor": 8.0})
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = json.loads(cli(f"audit {tmp_path / 'config.json'} --served {served} --json --no-figure").out)["models"][0]
    (message,) = [one["message"] for one in found["findings"] if one["code"] == "unseen-phases"]
    phases = [1e6 ** (-2 * i / 256) / 8 * served for i in range(128)]
    newly = sum(phase >= 2 * math.pi > phase * 262144 / served for phase in phases)  # 262,144 = 8 x 32,768
    assert f"({newly} of them" in message
    assert turns in message


def test_first_negative_lag_is_no_lasting_change(cli, tmp_path):
    config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096, "rope_theta": 1e4}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = json.loads(cli(f"audit {tmp_path / 'config.json'} --json --no-figure").out)["models"][0]["findings"]
    (message,) = [one["message"] for one in found if one["code"] == "base-below-bound"]
    sums = [math.fsum(math.cos(lag * 1e4 ** (-i / 64)) for i in range(64)) for lag in range(1, 4096)]
    first = next(lag for lag, total in enumerate(sums, 1) if total < 0)
    assert sums[first] > 0  # at the next lag already
    start = f"the sum of cosines with base 10000 is first negative at lag {first:,}; "
    assert message == f"{start}the 4,096 positions that are served are {4096 / first:.3g} times as many"


def test_a_lag_that_no_two_positions_have_is_no_finding(cli, tmp_path):
    """Of 1,707 positions the farthest two are 1,706 apart."""
    for length, found in ((1707, False), (1708, True)):
        config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": length, "rope_theta": 1e4}
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        document = json.loads(cli(f"audit {tmp_path / 'config.json'} --json --no-figure").out)
        assert ("base-below-bound" in [one["code"] for one in document["models"][0]["findings"]]) == found


# ----------------------------------------------------------------------------------- one and many


@pytest.mark.parametrize(("bandwidth", "says"), [("1", "of 1 bin spans"), ("2", "of 2 bins spans")])
def test_a_kernel_of_one_bin_is_no_plural(cli, bandwidth, says):
    encoding = read_encoding("sincos2d:d=4,height=2,width=2")
    assert says in cli(f"spectrum -e sincos2d:d=4,height=2,width=2 --bandwidth {bandwidth} --no-figure").out
    assert says in entitle_spectra([compute_spectrum(encoding, bandwidth=float(bandwidth), axis="vertical")])


def test_a_first_row_and_a_pair_are_no_plurals(cli, tmp_path):
    np.save(tmp_path / "t.npy", draw_noise(9, 2))
    assert "9 x 2, first row: " in cli(f"inspect {tmp_path / 't.npy'} --length 1").out
    assert "9 x 2, first 2 rows: " in cli(f"inspect {tmp_path / 't.npy'} --length 2").out
    scaling = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 256}
    config = {"model_type": "llama", "head_dim": 6, "hidden_size": 12, "num_attention_heads": 2}
    config |= {"max_position_embeddings": 512, "rope_theta": 100.0, "rope_scaling": scaling}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert "1 pair kept, 1 blended" in cli(f"diff {tmp_path / 'config.json'} --stack yarn-paper").out
