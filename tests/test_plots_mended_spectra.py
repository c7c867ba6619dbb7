"""What figures of spectra, audits, ladders, portraits and comparisons say is true, and can be told apart in grey."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.compare import compare_encodings
from pe_spectra.encodings import Dft, GivenArray, Sinusoidal, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.figures import recipes
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.kernel_samples import sample_kernel
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.plots.audit import _list_key, compose_audit, plot_wavelengths
from pe_spectra.plots.comparison import compose_comparison
from pe_spectra.plots.context import compose_context
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.ladder import LadderCell, compose_ladders
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.spectrum_words import entitle_spectra, name_spectra
from pe_spectra.plots.style import fixed_style
from pe_spectra.portrait import draw_portrait, resize_encoding
from pe_spectra.spectrum import Spectrum, compute_spectrum
from tests.planted import make_grid, make_noise, make_trained

#: Figures that are drawn take their time.
pytestmark = pytest.mark.slow

MODELS = Path(__file__).parent / "models"


def words(figure: Figure) -> str:
    return " ".join(" ".join(text.get_text() for text in figure.texts).replace("\u00a0", " ").split())


def grid(*, prefix: int = 0) -> Learned:
    parts = [5 * make_noise(1, 48)] * prefix + [make_grid(14, 14, 48)]
    return Learned(values=GivenArray(np.concatenate(parts)), prefix=prefix, grid="14x14")


def line() -> Learned:
    return Learned(values=GivenArray(make_trained(64, 16)))


# ------------------------------------------------------------------------------------ spectra


@pytest.mark.parametrize(
    ("spectrum", "title"),
    [
        (compute_spectrum(Dft(d=256)), "All frequencies but the two ends weigh the same"),
        (compute_spectrum(Dft(d=2)), "All 2 frequencies weigh the same"),
        (compute_spectrum(Sinusoidal(d=64), grid=7), "Blurred flat: a kernel of 4 bins spans all 4"),
        (compute_spectrum(Sinusoidal(d=2)), "Blurred flat: a kernel of 4 bins spans all 2"),
    ],
)
def test_title_of_flat_weights_is_true(spectrum: Spectrum, title: str) -> None:
    assert entitle_spectra([spectrum]) == title


def test_title_of_few_frequencies_does_not_count_all_of_them() -> None:
    (recipe,) = [one for one in recipes.RECIPES if one.name == "fig1_spectrum"]
    few, many = (words(recipe.draw(recipe.compute(size))) for size in (16, 256))
    assert few.startswith("The mean frequency is 1.09 rad per position")
    assert "of the weight lies in the first 10 of 129 frequencies" in many


def test_long_exponents_are_written_as_logarithms() -> None:
    figure = compose_spectrum(compute_spectrum(Sinusoidal(d=65536)))
    with fixed_style():
        figure.draw_without_rendering()
    lower = figure.axes[1]
    ticks = [tick.get_text() for tick in lower.get_yticklabels()]
    assert lower.get_ylabel() == r"$\log_{10}$ weight, $10^{6}$"
    assert {"0", "-2", "-4", "-6"} <= set(ticks)
    assert not [tick for tick in ticks if "e" in tick]


def test_one_narrow_kernel_leaves_the_others_their_room() -> None:
    spectra = [compute_spectrum(Sinusoidal(d=256), bandwidth=b) for b in (0.1, 4.0, 64.0)]
    figure = compose_spectrum(*spectra)
    low, high = figure.axes[1].get_ylim()
    assert high - low < 21
    assert "the logarithmic axis ends 18 powers of ten below its top" in words(figure)
    low, high = compose_spectrum(*spectra[1:]).axes[1].get_ylim()
    assert high - low > 100


def test_portraits_keep_powers_of_ten_however_far_a_spectrum_falls() -> None:
    far = compute_spectrum(Sinusoidal(d=64), grid=16384)
    axes = compose_portrait(replace(draw_portrait(Sinusoidal(d=64), length=64), spectra=(far,))).axes
    (panel,) = [one for one in axes if one.get_title(loc="left").startswith("Spectrum")]
    assert panel.get_ylabel() == "weight $g$ (log scale)"


def test_lines_of_a_grid_at_several_bandwidths_have_names_of_their_own() -> None:
    spectra = [compute_spectrum(grid(), axis=a, bandwidth=b) for b in (1.0, 4.0) for a in ("vertical", "horizontal")]
    names = [name.replace("\u00a0", " ") for name in name_spectra(spectra)]
    assert len(set(names)) == 4
    assert names[0].endswith(", vertical, bandwidth 1 bin")
    assert names[3].endswith(", horizontal, bandwidth 4 bins")


def test_bandwidths_that_differ_are_in_the_small_print() -> None:
    spectra = [compute_spectrum(grid(), axis="vertical", bandwidth=1.0), compute_spectrum(Sinusoidal(d=64))]
    text = words(compose_spectrum(*spectra))
    assert "array: bandwidth 1 bin; sinusoidal: bandwidth 4 bins" in text


# ------------------------------------------------------------------------------------ audits and ladders


def audit(name: str) -> Figure:
    return compose_audit(audit_configuration(read_model(str(MODELS / name))))


def find_classes(ladder: Axes) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata(), dtype=float) for line in ladder.lines if line.get_linewidth() > 1.5]


@pytest.mark.parametrize("name", ["gpt-neox-20b.json", "llama-4-scout-17b-16e-instruct.json", "modernbert-base.json"])
def test_no_class_of_pairs_crosses_the_trained_length(name: str) -> None:
    layers = [one for one in audit_configuration(read_model(str(MODELS / name))).layers if one.frequencies.size]
    for layer, ladder in zip(layers, audit(name).axes, strict=False):
        limit = math.log10(layer.limit(layer.trained_length))
        drawn = find_classes(ladder)
        for waves in drawn:
            seen = waves[np.isfinite(waves)]
            assert (seen <= limit).all() or (seen >= limit).all()
        np.testing.assert_array_equal(np.sum([np.isfinite(waves) for waves in drawn], axis=0), 1)


def test_a_pair_alone_in_its_class_is_a_dot() -> None:
    config = {"model_type": "llama", "head_dim": 8, "max_position_embeddings": 300}
    (layer,) = audit_configuration(read_configuration(config, "config.json")).layers
    assert layer.states == ("many", "few", "never", "never")
    axes = Figure().add_subplot()
    plot_wavelengths(axes, layer)
    marks = [line.get_markevery() for line in axes.lines if line.get_marker() == "o"]
    assert marks == [[0], [1]]


def test_before_scaling_is_dashed_as_in_a_context() -> None:
    layers = audit_configuration(read_model(str(MODELS / "llama-3.1-8b.json"))).layers
    figure = audit("llama-3.1-8b.json")
    _, kernel = figure.axes
    assert len({str(style["linestyle"]) for _, style in _list_key(layers)}) == 4
    before, after = [line for line in kernel.lines if len(line.get_xdata()) > 2]
    assert (before.get_linestyle(), after.get_linestyle()) == ("--", "-")
    assert "over the pairs, solid after scaling, dashed before;" in words(figure)
    assert "dashed before" not in words(audit("gpt-neox-20b.json"))


def make_cells() -> list[LadderCell]:
    w = 10000.0 ** (-np.arange(8) / 8)
    kernels = {"kernel_before": sample_kernel(w, 128), "kernel_after": sample_kernel(w / 2, 128)}
    return [LadderCell(label="linear", words="", before=2 * np.pi / w, after=4 * np.pi / w, unseen=w < 0.1, **kernels)]


def test_ladders_name_axes_and_only_the_classes_that_are_drawn() -> None:
    figure = compose_context(compare_methods(128, 500000.0, 8192, 131072))
    assert {axes.get_ylabel() for axes in figure.axes} == {"wavelength", "mean cos"}
    assert "pairs with phases that training never showed" in words(figure)
    (cell,) = [axes for axes in figure.axes if axes.texts and axes.texts[-1].get_text() == "ntk"]
    white, beads = cell.lines[-2:]
    assert white.get_color() == "white"
    assert white.get_linewidth() == beads.get_linewidth() >= 2.5
    cells = [replace(cell, unseen=np.zeros(8, dtype=bool)) for cell in make_cells()]
    none = words(compose_ladders(cells, trained=64, target=128, title="t"))
    assert "pairs with phases" not in none


# ------------------------------------------------------------------------------------ portraits


def test_a_row_too_narrow_to_be_shaded_is_named() -> None:
    text = words(compose_portrait(draw_portrait(grid(prefix=1))))
    assert "periods and components: rows 1 to 196 only, row 0 is left out" in text
    assert "shaded" not in text


def test_line_at_the_old_highest_frequency_is_explained() -> None:
    larger, smaller = (draw_portrait(line(), resized=resize_encoding(line(), (size,))) for size in (96, 48))
    figure = compose_portrait(larger)
    assert "grey line: the highest frequency of the old 64 rows after resizing, 2.09 rad/position" in words(figure)
    assert "weight per rad/position" in [axes.get_ylabel() for axes in figure.axes]
    assert "grey line" not in words(compose_portrait(smaller))


# ------------------------------------------------------------------------------------ comparisons


def test_lags_are_in_the_steps_that_were_asked_for() -> None:
    encodings = [find_encoding("calendar")(), Sinusoidal(d=64)]
    periods = [("day", 86400.0), ("week", 604800.0)]
    figure = compose_comparison(compare_encodings(encodings, step_seconds=3600.0, periods=periods))
    assert figure.axes[0].get_xlabel() == "lag (steps of 1 h)"
    assert [24.0, 24.0] in [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert "dotted: day." in words(figure)
    for seconds, name in ((300.0, "5 min"), (86400.0, "1 d"), (0.5, "0.5 s"), (5400.0, "90 min")):
        (one,) = compare_encodings([Dft(d=8)], length=8, step_seconds=seconds, periods=[("p", 3 * seconds)])
        assert compose_comparison([one]).axes[0].get_xlabel() == f"lag (steps of {name})"
    plain = compose_comparison(compare_encodings(encodings))
    assert plain.axes[0].get_xlabel() == "lag (positions)"
    assert "dotted" not in words(plain)


def test_the_kernel_is_spelled_in_one_way() -> None:
    text = words(compose_comparison(compare_encodings([Dft(d=8)])))
    assert text.count("k(τ)") == 2
    assert "tau" not in text


# ------------------------------------------------------------------------------------ the edge of the sheet


@pytest.mark.parametrize("target", [131_072, 1_048_576])
def test_no_tick_is_cut_at_the_right_edge(target: int) -> None:
    found = audit_configuration(read_model(str(MODELS / "llama-2-7b.json")), served=target)
    for figure in (compose_context(compare_methods(16, 10000.0, 8192, target)), compose_audit(found)):
        with fixed_style():
            figure.draw_without_rendering()
            for axes in figure.axes:
                ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                ends = [label.get_window_extent().x1 for at, label in ticks if at <= axes.get_xlim()[1]]
                assert max(ends, default=0.0) <= figure.bbox.x1 - 1
