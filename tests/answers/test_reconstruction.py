"""What reconstruct answers: a position that moved is not praised, and the verdict covers all encodings."""

import csv
import io
import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, compute_spectrum, read_encoding, reconstruct_positions
from pe_spectra.answers.reconstructions import answer_reconstructions
from pe_spectra.cli import paper
from tests import naive


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- reconstruct


def test_a_moved_position_is_not_praised(cli, previous_heads):
    document = json.loads(cli(f"reconstruct -e {previous_heads} -s 40 -s 100 --no-figure --json").out)
    verdict = document["verdict"]
    assert (verdict["level"], verdict["code"]) == ("warning", "peak-moved")
    assert "comes back elsewhere through t5 (1 position away)" in verdict["text"]
    assert "wide" not in verdict["text"]
    assert [[one["s"], one["peak"]] for one in document["panels"][0]["reconstructions"]] == [[40, 41], [100, 101]]
    lines = cli(f"reconstruct -e {previous_heads} -s 40 --no-figure").out.splitlines()
    assert any("\ts\tpeak\t" in line for line in lines)
    assert any(line.startswith("t5: peak ") and " 1 position away, " in line for line in lines)


def reconstruct_all(spectra, s=(40,)):
    return [reconstruct_positions(spectrum, s) for spectrum in spectra]


def judge(results):
    return answer_reconstructions(results).verdict


def test_the_verdict_names_what_moves_and_what_does_not(previous_heads, noisy_heads):
    spectra = [
        spectrum_of_spec(f"{noisy_heads},head=2"),
        spectrum_of_spec(previous_heads),
        compute_spectrum(Sinusoidal()),
        compute_spectrum(Dft()),
    ]
    results = reconstruct_all(spectra, (5, 6, 7, 8, 9))
    far = results[0].positions[0].shift
    text = judge(results).text
    assert far > 1
    assert text.startswith(
        "At bandwidth 4 a single position comes back elsewhere through t5 buckets=32 heads=8 head=2 "
    )
    assert f"({far} positions away) and t5 buckets=32 heads=4 table=previous.npy (1 position away); " in text
    assert ", through sinusoidal; through dft it comes back exactly." in text


def test_beside_a_moved_one_many_are_a_range(previous_heads):
    spectra = [spectrum_of_spec(previous_heads), *(compute_spectrum(Sinusoidal(d=d)) for d in (64, 96, 128, 192, 256))]
    text = judge(reconstruct_all(spectra)).text
    assert "; a single position is blurred, least to " in text
    assert "through sinusoidal d=64 rho=10000, most to " in text


def test_the_verdict_covers_all_encodings():
    spectra = [
        compute_spectrum(Sinusoidal(d=64)),
        spectrum_of_spec("alibi"),
        compute_spectrum(Sinusoidal(d=96), bandwidth=2.0),
    ]
    text = judge(reconstruct_all([*spectra, compute_spectrum(Dft(d=64))])).text
    assert text.startswith("A single position is blurred, least to ")
    assert "through sinusoidal d=64 rho=10000 at bandwidth 4, most to " in text
    assert text.endswith("; through dft it comes back exactly.")


def test_of_many_encodings_the_ends_are_named():
    spectra = [compute_spectrum(Sinusoidal(d=d)) for d in (256, 64, 96, 128, 192)]
    text = judge(reconstruct_all(spectra)).text
    widths = [reconstruct_positions(spectrum, [40]).positions[0].fwhm for spectrum in spectra]
    assert all(widths[1] < other for other in (widths[0], *widths[2:]))
    assert text.startswith(f"At bandwidth 4 a single position is blurred, least to {widths[1]:.1f} positions (")
    assert text.endswith(
        f"through sinusoidal d=64 rho=10000, most to {widths[0]:.1f} through sinusoidal d=256 rho=10000."
    )


def test_many_exact_ones_are_counted():
    sizes = (80, 90, 96, 100, 120)
    text = judge(reconstruct_all([compute_spectrum(Dft(d=d)) for d in sizes])).text
    assert text == "Exact: through dft d=80, dft d=90, dft d=96 and 2 more a single position comes back as it was."


def test_one_that_is_exact_at_one_bandwidth_is_named_with_it():
    double = read_encoding("hybrid:of='dft:d=64'+'dft:d=64',mode=concat")
    spectra = [compute_spectrum(double, grid=128, length=128, bandwidth=b) for b in (0.25, 4.0)]
    verdict = judge(reconstruct_all(spectra, (0,)))
    assert verdict.code == "peak-moved"
    assert "64 positions away" in verdict.text
    assert verdict.text.endswith("(64 positions away); through hybrid at bandwidth 4 it comes back exactly.")


def test_a_sweep_says_its_narrowest_and_its_widest():
    widths = (1.0, 4.0, 16.0)
    results = reconstruct_all([compute_spectrum(Sinusoidal(), bandwidth=b) for b in widths])
    assert all(a.positions[0].fwhm > b.positions[0].fwhm for a, b in pairwise(results))
    text = judge(results).text
    assert "through sinusoidal at bandwidth 16, most to " in text
    assert text.endswith(" through sinusoidal at bandwidth 1.")


# ----------------------------------------------------------------------------------- weights as they stand


@pytest.mark.slow
@given(st.integers(2, 300), st.data())
def test_weights_as_multipliers_leave_the_error_that_is_said(d, data):
    """Eq. 22 literally, and of the other lattices the same: what the words say is what the slow way finds."""
    spec = data.draw(st.sampled_from(["dft", "dfstrans"])) + f":d={d + d % 2}"
    (result,) = reconstruct_all([spectrum_of_spec(spec)], (0,))
    n, g = result.spectrum.grid, result.spectrum.weights
    if spec.startswith("dft"):
        assert_allclose(g, naive.dft_weights(n), rtol=1e-15)
    spike = naive.one_hot(n, 0)
    error = np.linalg.norm(naive.reconstruct(spike, g) - spike)
    assert_allclose(result.relative_error_of_weights, error, rtol=0, atol=1e-13)
    answer = answer_reconstructions([result])
    what = "literal Eq. 22" if spec.startswith("dft") else "its weights as multipliers"
    assert answer.facts[0][1].endswith(f"; {what}: {result.relative_error_of_weights:.3g}")
    # what Algorithm 1 takes instead: each weight over the number of functions that are said
    said = dict(answer.details)["multipliers"]
    counted = [1 if k == 0 or (k == n / 2 and "1 at 0 and pi" in said) else 2 for k in range(len(g))]
    assert_allclose(result.multipliers, g / counted, rtol=1e-15)


@pytest.mark.parametrize("d", [5, 7, 255])
def test_an_odd_lattice_has_no_function_at_pi(d):
    odd, even = reconstruct_all([compute_spectrum(Dft(d=size)) for size in (d, d + 1)], (0,))
    spike = naive.one_hot(d, 0)
    error = np.linalg.norm(naive.reconstruct(spike, naive.dft_weights(d)) - spike)
    assert_allclose(odd.relative_error_of_weights, error, rtol=1e-12)
    assert "1 at 0 and 2 at others" in dict(answer_reconstructions([odd]).details)["multipliers"]
    assert "1 at 0, at pi where N is even, and 2" in dict(answer_reconstructions([odd, even]).details)["multipliers"]


def test_the_paper_s_number_is_printed(cli):
    done = cli("reconstruct -e dft --s 5 40 75 --no-figure")
    assert "\ndft: peak 1, width 1 (1.8 at a tenth), error 0; literal Eq. 22: 0.0442\n" in done.out
    original = dict(answer_reconstructions(reconstruct_all([compute_spectrum(Sinusoidal())])).details)
    assert "multipliers" not in original
    panels = json.loads(cli("reconstruct --s 5 40 75 --no-figure --json").out)["panels"]
    assert "relative_error_of_weights" not in panels[0]  # its multipliers are its weights
    assert_allclose(panels[1]["relative_error_of_weights"], 0.04416150673355398, rtol=1e-12)


# ----------------------------------------------------------------------------------- the curve as CSV


@pytest.mark.parametrize(
    "line",
    [
        "reconstruct --s 5 40 75",
        "reconstruct -e dft:d=16 sinusoidal:d=8 alibi:heads=2 --s 0 3 --bandwidth 1 4",
        "reconstruct -e sincos2d:d=8,height=4,width=6 --s 1",
    ],
)
def test_csv_has_the_curve_of_each_position(cli, line):
    panels = json.loads(cli(f"{line} --no-figure --json").out)["panels"]
    rows = list(csv.DictReader(io.StringIO(cli(f"{line} --no-figure --format csv").out)))
    curves = [(panel, found) for panel in panels for found in panel["reconstructions"]]
    values = [value for _, found in curves for value in found["values"]]
    assert [float(row["r"]) for row in rows] == values
    assert [int(row["t"]) for row in rows] == [t for _, found in curves for t in range(len(found["values"]))]
    assert all(len(row) == paper._CURVE_COLUMNS for row in rows)
    heads = [row for row in rows if row["t"] == "0"]
    for row, (panel, found) in zip(heads, curves, strict=True):
        assert row["encoding"].startswith(panel["encoding"]["name"])
        assert row["bandwidth"] == ("" if panel["bandwidth"] is None else repr(panel["bandwidth"]))
        assert (int(row["s"]), int(row["peak"]), float(row["cosine"])) == (found["s"], found["peak"], found["cosine"])
        assert float(row["relative_error"]) == found["relative_error"]


def test_a_curve_that_is_too_long_for_csv_is_refused_before_it_is_computed(refuse):
    said = refuse("reconstruct -e dft:d=1048576 --s 5 --no-figure --format csv")
    assert said.startswith("--s, --d, --grid, --bandwidth and --format csv together ask for too much (1.26e+07")


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


def test_rows_are_counted_without_making_them():
    several = [reconstruct_positions(compute_spectrum(Sinusoidal(d=16)), s) for s in ([5], [1, 2, 3])]
    for results in (several[:1], several):
        answer = answer_reconstructions(results)
        assert answer.row_count == len(answer.columns["s"])
    curves = answer_reconstructions(several, is_curve=True)
    assert curves.row_count == len(curves.columns["s"]) == 4 * 16
