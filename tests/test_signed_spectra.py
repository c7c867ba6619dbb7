"""Spectra whose weights are no shares, and positions that come back elsewhere: no number without meaning is praised."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from pe_spectra import Dft, Sinusoidal, compare_encodings, compute_spectrum, read_encoding, reconstruct_positions
from pe_spectra.compare import OF_SHARES, SIGNED, sort_comparisons
from pe_spectra.encodings.learned import GivenArray, Learned
from pe_spectra.plots.grid_spectrum import entitle_planes
from pe_spectra.plots.inspection_words import describe_portrait, entitle_portrait
from pe_spectra.plots.reconstruction import compose_reconstruction, read_panel
from pe_spectra.plots.reconstruction_words import entitle
from pe_spectra.plots.spectrum_words import entitle_spectra
from pe_spectra.portrait import draw_portrait, resize_encoding
from pe_spectra.reconstruction import measure_shift
from pe_spectra.records.inspection import answer_portrait
from pe_spectra.records.reconstruction import answer_reconstructions
from pe_spectra.records.spectrum import answer_spectra
from pe_spectra.spectrum import compute_grid_spectrum
from pe_spectra.spectrum.summary import MOST_NEGATIVE, classify_shape, explain_signs

BUCKETS = 32
NULL = ("low_bin_mass", "centroid", "effective_bins_entropy", "effective_bins_participation", "flatness")
#: By default; learned values are drawn with the default seed.
BIASES = ("alibi", "kerple", "t5", "erpe", "sandwich", "swin", "fire", "tupe")


@pytest.fixture
def previous(tmp_path, monkeypatch):
    """Write the table of heads that look at the previous token, and give a SPEC of it."""
    monkeypatch.chdir(tmp_path)
    bias = -0.3 * np.arange(BUCKETS)[:, None] * np.linspace(0.5, 2, 4)
    bias[1] += 6
    np.save("previous.npy", bias)
    return "t5:table=previous.npy"


@pytest.fixture
def noise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("heads.npy", np.random.default_rng(0).normal(size=(BUCKETS, 8)))
    return "t5:table=heads.npy"


def spectrum_of(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


def truncated(bandwidth=0.25):
    """Too few lags of a kernel that is a constant."""
    return compute_spectrum(Learned(values=GivenArray(np.ones((4, 1)))), bandwidth=bandwidth)


def naive_negative(values, grid, bandwidth=4.0):
    """The sum of negative weights of a kernel, lag by lag."""
    sigma = bandwidth * 2 * math.pi / grid
    weights = []
    for k in range(grid // 2 + 1):
        terms = (
            2 * math.exp(-0.5 * (sigma * lag) ** 2) * value * math.cos(2 * math.pi * k * lag / grid)
            for lag, value in enumerate(values)
            if lag
        )
        weights.append(values[0] + math.fsum(terms))
    total = math.fsum(weights)
    return -math.fsum(w / total for w in weights if w < 0)


# ----------------------------------------------------------------------------------- what is signed


@pytest.mark.parametrize("name", BIASES)
def test_biases_of_the_catalogue_have_shares(name):
    spectrum = spectrum_of(name)
    assert classify_shape(spectrum) != "signed"
    assert spectrum.summary.negative_mass < 0.8 * MOST_NEGATIVE


def test_a_bias_that_peaks_beside_lag_0_has_none(previous):
    spectrum = spectrum_of(previous + ",head=0")
    assert classify_shape(spectrum) == "signed"
    bias = read_encoding(previous + ",head=0").bias(np.arange(-300, 301))[0]
    raised = np.exp(bias - bias.max())
    kernel = [(raised[300 + lag] + raised[300 - lag]) / 2 for lag in range(300)]
    expected = naive_negative(kernel, spectrum.grid)
    assert spectrum.summary.negative_mass == pytest.approx(expected, rel=1e-9)
    assert f"negative ones sum to {expected:.3g}" in explain_signs(spectrum)
    assert kernel[1] > kernel[0]
    assert "the similarity is larger at lag 1 than at lag 0, so no share" in explain_signs(spectrum)


def test_where_no_lag_stands_out_none_is_named():
    assert truncated().summary.negative_mass > MOST_NEGATIVE
    assert "as far as its lags are known, is not one of frequencies" in explain_signs(truncated())


def test_a_window_that_folds_lags_names_none(previous):
    assert "as far as its lags are known" in explain_signs(spectrum_of(previous, bandwidth=1.0))


def test_summaries_out_of_their_ranges_are_signed_below_the_bound():
    low = spectrum_of("t5:seed=8")
    assert low.summary.negative_mass < MOST_NEGATIVE
    assert low.summary.centroid < 0
    assert classify_shape(low) == "signed"
    # a flat kernel with one negative bin: more effective bins than there are
    table = np.zeros((80, 80))
    np.fill_diagonal(table, 1.0)
    flat = compute_spectrum(Learned(values=GivenArray(table)))
    weights = flat.weights.copy()
    weights[3] = -0.02
    weights[:3] += (1 - weights.sum()) / 3
    many = type(flat)(**{name: getattr(flat, name) for name in flat.__dataclass_fields__} | {"weights": weights})
    assert classify_shape(flat) != "signed"
    assert many.summary.negative_mass < MOST_NEGATIVE
    assert many.summary.effective_bins_entropy > len(many.omega)
    assert classify_shape(many) == "signed"


def test_rounding_below_zero_is_not_signed():
    constant = compute_spectrum(Learned(values=GivenArray(np.ones((200, 1)))), bandwidth=4.0)
    assert constant.summary.centroid < 1
    assert classify_shape(constant) != "signed"


# ----------------------------------------------------------------------------------- spectrum


def test_no_share_is_printed_of_weights_of_both_signs(cli, previous):
    done = cli(f"spectrum -e {previous} --no-figure")
    first, facts = done.out.splitlines()[0], done.out.partition("\nk\t")[0]
    assert first.startswith("Weights of both signs (negative ones sum to ")
    for name in ("centroid", "effective bins", "flatness"):
        assert f"{name}: - (weights of both signs)" in facts
    assert "%" not in facts
    assert "rad/position" not in facts
    document = json.loads(cli(f"spectrum -e {previous} --no-figure --json").out)
    assert (document["verdict"]["level"], document["verdict"]["code"]) == ("warning", "no-shares")
    assert [document["summary"][name] for name in NULL] == [None] * len(NULL)
    assert document["summary"]["negative_mass"] == pytest.approx(-sum(w for w in document["weights"] if w < 0))
    assert any("no low_bin_mass, centroid" in note for note in document["notes"])


def test_noise_for_buckets_is_not_flat(cli, noise):
    for head in range(8):
        answer = answer_spectra([spectrum_of(f"{noise},head={head}")], None)
        assert answer.verdict.code == "no-shares"


def test_several_spectra_say_which_has_no_shares(previous):
    spectra = [Sinusoidal(d=64), read_encoding(previous)]
    answer = answer_spectra([compute_spectrum(one) for one in spectra], None)
    good, bad = (text for _, text in answer.facts)
    assert "centroid" in good
    assert bad.startswith("no shares: weights of both signs (negative ones sum to ")
    assert [one["summary"]["centroid"] is None for one in answer.body["spectra"]] == [False, True]


def test_a_share_a_little_above_1_is_all(noise):
    spectrum = spectrum_of("tupe:head=0", length=128)
    assert 1.005 < spectrum.summary.low_bin_mass < 1 + MOST_NEGATIVE
    assert "hold 100.0 % of the weight" in answer_spectra([spectrum], None).verdict.text
    assert entitle_spectra([spectrum]) == "100.0 % of the weight lies in the first 10 of 65 frequencies"


def test_titles_of_signed_spectra(previous):
    signed, other = spectrum_of(previous), compute_spectrum(Sinusoidal(d=64))
    assert entitle_spectra([signed]) == explain_signs(signed)
    several = "Weights of both signs are no shares, and their mean is no frequency: t5"
    assert entitle_spectra([other, signed]) == several
    assert "depend on the bandwidth" in entitle_spectra([signed, spectrum_of(previous, bandwidth=8.0)])


def test_titles_of_signed_planes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = np.full((13 * 13, 1), -4.0)
    table[6 * 13 + 7] = table[6 * 13 + 5] = 4.0  # one to the left, one to the right
    np.save("sides.npy", table)
    plane = compute_grid_spectrum(read_encoding("swin:window=7,heads=1,table=sides.npy"))
    text = "Weights of both signs are no shares, and their mean is no frequency"
    assert entitle_planes([plane]) == text
    assert entitle_planes([compute_grid_spectrum(read_encoding("swin:window=7")), plane]) == f"{text}: swin"


# ----------------------------------------------------------------------------------- inspect


def test_inspect_finds_signed_spectra(cli, previous):
    done = cli(f"inspect {previous} --fail-on warning --json")
    document = json.loads(done.out)
    (finding,) = document["findings"]
    assert (finding["level"], finding["code"], finding["rows"]) == ("warning", "no-shares", [])
    assert document["verdict"]["code"] == "no-shares"
    assert "larger at lag 1 than at lag 0" in document["verdict"]["text"]
    assert done.code == 1
    text = cli(f"inspect {previous}").out
    assert "spectrum: mean frequency - (weights of both signs)\n" in text
    assert "effective bins" not in text.replace("number of bins", "")


def test_portraits_say_it_in_their_title(previous):
    portrait = draw_portrait(read_encoding(previous))
    assert "Weights of both signs" in entitle_portrait(portrait)
    assert not [line for line in describe_portrait(portrait) if line.startswith("Weights of both signs")]


def test_findings_of_spectra_stand_behind_those_of_the_table(previous):
    assert draw_portrait(read_encoding("alibi")).findings == ()
    (found,) = draw_portrait(read_encoding(previous)).findings
    assert found.data["axis"] is None
    portrait = draw_portrait(Learned(values=GivenArray(np.array([[0.0], [1.0], [5.0], [1.0]]))))
    both = type(portrait)(
        **{name: getattr(portrait, name) for name in portrait.__dataclass_fields__} | {"spectra": (truncated(),)}
    )
    assert [one.code for one in both.findings] == [*(one.code for one in portrait.findings), "no-shares"]


def test_resized_tables_give_no_mean_frequency_of_signed_weights():
    table = Learned(values=GivenArray(np.concatenate([np.full((1, 1), 0.1), np.ones((4, 1)), np.full((1, 1), 0.1)])))
    resized = resize_encoding(table, (9,), method="bilinear")
    body = answer_portrait(draw_portrait(table, resized=resized)).body["resized"]["axes"]
    assert body[0]["centroid_before"] is not None
    signed = type(resized)(
        **{name: getattr(resized, name) for name in resized.__dataclass_fields__} | {"after": (truncated(),)}
    )
    answer = answer_portrait(draw_portrait(table, resized=signed))
    (axis,) = answer.body["resized"]["axes"]
    assert (axis["centroid_after"], axis["beyond"]) == (None, None)
    text = dict(answer.facts)["mean frequency"]
    assert "-> - (weights of both signs) rad/position" in text
    assert "above pi" not in text


# ----------------------------------------------------------------------------------- compare


@pytest.mark.parametrize("metric", OF_SHARES)
def test_signed_spectra_are_in_no_ranking(previous, metric):
    rows = sort_comparisons(compare_encodings([read_encoding(s) for s in (previous, "alibi", "sandwich")]), metric)
    assert rows[-1].encoding.name == "t5"
    assert rows[-1].values[metric] is None
    assert rows[-1].notes[metric] == SIGNED
    assert all(row.values[metric] is not None for row in rows[:-1])


def test_compare_says_why_a_signed_spectrum_has_no_value(cli, previous):
    document = json.loads(cli(f"compare {previous} alibi sandwich --sort centroid --json").out)
    assert "t5" not in document["verdict"]["text"].partition(";")[0]
    assert document["rows"][-1]["metrics"]["centroid"] is None
    assert document["rows"][-1]["undefined"]["centroid"] == SIGNED
    assert sum(SIGNED in note for note in document["notes"]) == 1
    assert document["rows"][-1]["metrics"]["toeplitz_share"] == 1.0


# ----------------------------------------------------------------------------------- reconstruct


def naive_reconstruction(weights, grid, s):
    """Algorithm 1 by sums: the curve of position s, not yet of norm 1."""
    whole = [weights[min(k, grid - k)] for k in range(grid)]
    return [math.fsum(w * math.cos(2 * math.pi * k * (t - s) / grid) for k, w in enumerate(whole)) for t in range(grid)]


@pytest.mark.parametrize("s", [0, 40, 255])
def test_a_shift_is_that_of_the_sums(previous, s):
    spectrum = spectrum_of(previous)
    (one,) = reconstruct_positions(spectrum, [s]).positions
    curve = naive_reconstruction(spectrum.weights.tolist(), 256, s)
    assert {t for t in range(256) if curve[t] > 0.999 * max(curve)} == {(s - 1) % 256, (s + 1) % 256}
    assert measure_shift(one.values, s) == 1


def test_equal_peaks_are_no_shift():
    curve = [1.0, 0.0, 1.0 + 1e-12, 0.0]
    assert measure_shift(curve, 0) == 0
    assert measure_shift(curve, 1) == 1
    assert measure_shift([0.0, 0.0, 0.0, 0.0, 1.0], 0) == 1


def test_a_moved_position_is_not_praised(cli, previous):
    document = json.loads(cli(f"reconstruct -e {previous} -s 40 -s 100 --no-figure --json").out)
    verdict = document["verdict"]
    assert (verdict["level"], verdict["code"]) == ("warning", "peak-moved")
    assert "comes back elsewhere through t5, 1 position away" in verdict["text"]
    assert "(2 of 2: s = 40 at 41 and s = 100 at 101)" in verdict["text"]
    assert "wide" not in verdict["text"]
    header = cli(f"reconstruct -e {previous} -s 40 --no-figure").out.splitlines()
    assert any("\ts\tpeak\t" in line for line in header)


def reconstruct(spectra, s=(40,)):
    return [reconstruct_positions(spectrum, s) for spectrum in spectra]


def judge(results):
    return answer_reconstructions(results).verdict


def test_the_verdict_names_what_moves_and_what_does_not(previous, noise):
    spectra = [
        spectrum_of(f"{noise},head=2"),
        spectrum_of(previous),
        compute_spectrum(Sinusoidal()),
        compute_spectrum(Dft()),
    ]
    results = reconstruct(spectra, (5, 6, 7, 8, 9))
    far = measure_shift(results[0].positions[0].values, 5)
    text = judge(results).text
    assert far > 1
    assert f"{far} positions away" in text
    assert "(10 of 20: s = 5 at " in text
    assert "and 2 more)" in text
    assert "; so through t5 buckets=32 heads=4 table=previous.npy at bandwidth 4 (1 away); " in text
    assert "times as high through sinusoidal at bandwidth 4; through dft it comes back exactly." in text


def test_beside_a_moved_one_many_are_a_range(previous):
    spectra = [spectrum_of(previous), *(compute_spectrum(Sinusoidal(d=d)) for d in (64, 96, 128, 192, 256))]
    text = judge(reconstruct(spectra)).text
    assert "; through 5 encodings a single position comes back from " in text


def test_the_verdict_covers_all_encodings():
    spectra = [
        compute_spectrum(Sinusoidal(d=64)),
        spectrum_of("alibi"),
        compute_spectrum(Sinusoidal(d=96), bandwidth=2.0),
    ]
    text = judge(reconstruct([*spectra, compute_spectrum(Dft(d=64))])).text
    assert text.startswith("At bandwidth 4 a single position comes back ")
    clauses = text.removesuffix(".").split("; ")
    assert [clause.partition(" through ")[2] for clause in clauses[:3]] == [
        "sinusoidal d=64 rho=10000",
        "alibi",
        "sinusoidal d=96 rho=10000 at bandwidth 2",
    ]
    assert clauses[3] == "through dft it comes back exactly"


def test_of_many_encodings_the_ends_are_named():
    spectra = [compute_spectrum(Sinusoidal(d=d)) for d in (256, 64, 96, 128, 192)]
    text = judge(reconstruct(spectra)).text
    widths = [reconstruct_positions(spectrum, [40]).positions[0].fwhm for spectrum in spectra]
    assert all(widths[1] < other for other in (widths[0], *widths[2:]))
    assert text.startswith(f"Through 5 encodings a single position comes back from {widths[1]:.1f} positions wide")
    assert "through sinusoidal d=64 rho=10000 at bandwidth 4 to " in text
    assert f"{widths[0]:.1f} positions wide" in text
    assert text.endswith("through sinusoidal d=256 rho=10000 at bandwidth 4.")


def test_many_exact_ones_are_counted():
    sizes = (80, 90, 96, 100, 120)
    text = judge(reconstruct([compute_spectrum(Dft(d=d)) for d in sizes])).text
    assert text == "Exact: through dft d=80, dft d=90, dft d=96 and 2 more a single position comes back as it was."


def test_one_that_is_exact_at_one_bandwidth_is_named_with_it():
    double = read_encoding("hybrid:of='dft:d=64'+'dft:d=64',mode=concat")
    spectra = [compute_spectrum(double, grid=128, length=128, bandwidth=b) for b in (0.25, 4.0)]
    verdict = judge(reconstruct(spectra, (0,)))
    assert verdict.code == "peak-moved"
    assert "64 positions away" in verdict.text
    assert "(1 of 2: s = 0 at 64); through hybrid at bandwidth 4 it comes back exactly." in verdict.text


def test_a_sweep_says_its_last_bandwidth():
    widths = (1.0, 4.0, 16.0)
    results = reconstruct([compute_spectrum(Sinusoidal(), bandwidth=b) for b in widths])
    assert all(a.positions[0].fwhm > b.positions[0].fwhm for a, b in pairwise(results))
    assert "through sinusoidal, at bandwidth 16 " in judge(results).text


# ----------------------------------------------------------------------------------- titles


def test_titles_cover_all_panels():
    spectra = [spectrum_of("alibi"), compute_spectrum(Dft(d=200)), compute_spectrum(Sinusoidal(d=200))]
    panels = [read_panel(result) for result in reconstruct(spectra)]
    most = panels[0].fwhm
    assert most > panels[2].fwhm > panels[1].fwhm == 1
    title = entitle(panels)
    assert title.startswith(f"At bandwidth 4 a single position comes back 1 (dft) to {most:.3g} (alibi) positions wide")
    assert title.endswith(" to 1 high")


def test_titles_of_moved_positions_praise_no_width(previous):
    moved, other = reconstruct([spectrum_of(previous), compute_spectrum(Sinusoidal())])
    panel = read_panel(moved)
    assert (panel.fwhm, panel.width_10) == (None, None)
    assert entitle([panel]) == "A single position comes back elsewhere, 1 position away"
    both = entitle([panel, read_panel(other)])
    assert both == f"In 1 of 2 panels a single position comes back elsewhere, 1 position away: {panel.heading}"
    texts = [text.get_text() for axes in compose_reconstruction(moved).axes for text in axes.texts]
    assert not [text for text in texts if "wide" in text]


def test_titles_of_different_shifts_give_their_range(previous, noise):
    panels = [read_panel(one) for one in reconstruct([spectrum_of(previous), spectrum_of(f"{noise},head=2")])]
    far = measure_shift(panels[1].values[0], 40)
    assert entitle(panels) == f"A single position comes back elsewhere, 1 to {far} positions away"
