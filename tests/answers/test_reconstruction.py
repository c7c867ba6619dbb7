"""What reconstruct answers: a position that moved is not praised, and the verdict covers all encodings."""

import json
import math
from fractions import Fraction
from itertools import pairwise

from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, compute_spectrum, read_encoding, reconstruct_positions
from pe_spectra.answers.reconstructions import answer_reconstructions


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
