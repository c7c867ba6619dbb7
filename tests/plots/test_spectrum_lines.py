"""The figure of spectra on one lattice: weights, logarithms and units."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra import Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.answers.captions import describe_spectra, entitle_spectra, name_spectra
from pe_spectra.encodings import DfsTrans, Dft, GivenArray, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.figures import RECIPES
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.plots.blur import compose_reconstruction
from pe_spectra.plots.distances import compose_faithfulness
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.planes import entitle_planes
from pe_spectra.plots.spectrum import compose_spectrum, draw_spectra
from pe_spectra.plots.strips import compose_low_bin
from pe_spectra.plots.style import fixed_style
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.spectrum import Spectrum, compute_grid_spectrum, count_low_bin
from pe_spectra.spectrum.signs import explain_signs
from tests.planted import make_grid, make_noise
from tests.plots.figures import (
    curves_of,
    empty_axes,
    read_all_words,
    read_words,
    reconstructions,
    reference_of,
    separations,
    spectrum_of,
)


def test_labels_have_units() -> None:
    axes = compose_spectrum(spectrum_of()).axes
    assert axes[1].get_xlabel() == "frequency ω (rad/position)"
    assert axes[0].get_ylabel() == "weight $g$ (share of 1)"
    per_radian = compose_spectrum(spectrum_of(64), spectrum_of(128)).axes
    assert per_radian[0].get_ylabel() == "weight per rad/position"
    assert compose_reconstruction(*reconstructions(64, [5])).axes[0].get_xlabel() == "location $t$ (positions)"
    assert compose_faithfulness(*separations(20)).axes[0].get_xlabel() == "lag |s − t| (positions)"
    assert compose_low_bin(count_low_bin(Dft(d=8))).axes[0].get_xlabel() == "frequency ω (rad/position)"


def test_spectrum_lines_carry_the_weights() -> None:
    axes, spectrum, reference = empty_axes(), spectrum_of(), reference_of()
    draw_spectra(axes, [spectrum], reference)
    (red_x, red), (black_x, black) = curves_of(axes)  # the first named lies on top
    np.testing.assert_array_equal(black, spectrum.weights)
    np.testing.assert_array_equal(red, reference.weights)
    np.testing.assert_array_equal(black_x, spectrum.omega)
    np.testing.assert_array_equal(red_x, reference.omega)
    assert axes.get_xlim() == (0, math.pi)


def test_spectra_on_different_lattices_are_drawn_per_radian() -> None:
    axes, small, large = empty_axes(), spectrum_of(64), spectrum_of(128)
    draw_spectra(axes, [small, large])
    (_, second), (_, first) = curves_of(axes)
    np.testing.assert_allclose(first, small.weights * 64 / (2 * math.pi), rtol=1e-15)
    np.testing.assert_allclose(second, large.weights * 128 / (2 * math.pi), rtol=1e-15)


@pytest.mark.parametrize(("d", "last"), [(256, -106.2836003906547), (512, -416.595930916215)])
def test_log_panel_shows_weights_below_the_smallest_double(d: int, last: float) -> None:
    axes = empty_axes()
    draw_spectra(axes, [spectrum_of(d)], logarithmic=True)
    ((_, drawn),) = curves_of(axes)
    assert drawn[-1] == pytest.approx(last, rel=1e-13)
    assert axes.get_ylim()[0] < last
    formatter = axes.yaxis.get_major_formatter()
    assert formatter(-400.0, 0) == "$10^{-400}$"
    assert formatter(-4e15, 0) == "$10^{-4e15}$"


def test_weights_without_a_logarithm_leave_a_gap() -> None:
    spectrum = compute_spectrum(DfsTrans(d=16))
    assert spectrum.weights[-1] == 0
    axes = compose_spectrum(spectrum).axes[1]
    assert np.isnan(curves_of(axes)[0][1][-1])
    assert np.isfinite(axes.get_ylim()).all()


def grid(*, prefix: int = 0) -> Learned:
    parts = [5 * make_noise(1, 48)] * prefix + [make_grid(14, 14, 48)]
    return Learned(values=GivenArray(np.concatenate(parts)), prefix=prefix, grid="14x14")


# ----------------------------------------------------------------------------------- spectra


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spectrum", "title"),
    [
        (compute_spectrum(Dft(d=256)), "Flat: all 129 frequencies have the same weight per basis function"),
        (compute_spectrum(Dft(d=2)), "Flat: all 2 frequencies have the same weight per basis function"),
        (
            compute_spectrum(Sinusoidal(d=64), grid=7),
            "Blurred flat: at bandwidth 4 the smallest of 4 weights is 77.5 % of the largest, at 0.5 it is 0.0 %",
        ),
        (
            compute_spectrum(Sinusoidal(d=2)),
            "Blurred flat: at bandwidth 4 the smallest of 2 weights is 98.9 % of the largest, at 0.5",
        ),
    ],
)
def test_title_of_flat_weights_is_true(spectrum: Spectrum, title: str) -> None:
    assert entitle_spectra([spectrum]).startswith(title)


@pytest.mark.slow
def test_title_of_few_frequencies_does_not_count_all_of_them() -> None:
    (recipe,) = [one for one in RECIPES if one.name == "fig1_spectrum"]
    few, many = (read_words(recipe.draw(recipe.compute(size))) for size in (16, 256))
    assert "; mean frequency 0.1125 rad/position" in few
    assert "the first 10 of 129 frequencies hold" in many


@pytest.mark.slow
def test_long_exponents_are_written_as_logarithms() -> None:
    figure = compose_spectrum(compute_spectrum(Sinusoidal(d=65536)))
    with fixed_style():
        figure.draw_without_rendering()
    lower = figure.axes[1]
    ticks = [tick.get_text() for tick in lower.get_yticklabels()]
    assert lower.get_ylabel() == r"$\log_{10}$ weight, $10^{6}$"
    assert {"0", "\N{MINUS SIGN}2", "\N{MINUS SIGN}4", "\N{MINUS SIGN}6"} <= set(ticks)
    assert not [tick for tick in ticks if "e" in tick]


@pytest.mark.slow
def test_one_narrow_kernel_leaves_the_others_their_room() -> None:
    spectra = [compute_spectrum(Sinusoidal(d=256), bandwidth=b) for b in (0.1, 4.0, 64.0)]
    figure = compose_spectrum(*spectra)
    low, high = figure.axes[1].get_ylim()
    assert high - low < 21
    assert "the logarithmic axis ends 18 powers of ten below its top" in read_words(figure)
    low, high = compose_spectrum(*spectra[1:]).axes[1].get_ylim()
    assert high - low > 100


@pytest.mark.slow
def test_portraits_keep_powers_of_ten_however_far_a_spectrum_falls() -> None:
    far = compute_spectrum(Sinusoidal(d=64), grid=16384)
    axes = compose_portrait(replace(draw_portrait(Sinusoidal(d=64), length=64), spectra=(far,))).axes
    (panel,) = [one for one in axes if one.get_title(loc="left").startswith("Spectrum")]
    assert panel.get_ylabel() == "weight $g$ (log scale)"


@pytest.mark.slow
def test_lines_of_a_grid_at_several_bandwidths_have_names_of_their_own() -> None:
    spectra = [compute_spectrum(grid(), axis=a, bandwidth=b) for b in (1.0, 4.0) for a in ("vertical", "horizontal")]
    names = [name.replace("\u00a0", " ") for name in name_spectra(spectra)]
    assert len(set(names)) == 4
    assert names[0].endswith(", vertical, bandwidth 1 bin")
    assert names[3].endswith(", horizontal, bandwidth 4 bins")


@pytest.mark.slow
def test_bandwidths_that_differ_are_in_the_small_print() -> None:
    spectra = [compute_spectrum(grid(), axis="vertical", bandwidth=1.0), compute_spectrum(Sinusoidal(d=64))]
    text = read_words(compose_spectrum(*spectra))
    assert "array: bandwidth 1 bin; sinusoidal: bandwidth 4 bins" in text


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- spectrum


def test_titles_of_signed_spectra(previous_heads):
    signed, other = spectrum_of_spec(previous_heads), compute_spectrum(Sinusoidal(d=64))
    assert entitle_spectra([signed]) == explain_signs(signed)
    several = "Not a distribution (negative weights), so without a mean frequency: t5"
    assert entitle_spectra([other, signed]) == several
    assert "depend on the bandwidth" in entitle_spectra([signed, spectrum_of_spec(previous_heads, bandwidth=8.0)])


def test_titles_of_signed_planes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = np.full((13 * 13, 1), -4.0)
    table[6 * 13 + 7] = table[6 * 13 + 5] = 4.0  # one to the left, one to the right
    np.save("sides.npy", table)
    plane = compute_grid_spectrum(read_encoding("swin:window=7,heads=1,table=sides.npy"))
    text = "Not a distribution (negative weights), so without a mean frequency"
    assert entitle_planes([plane]) == text
    assert entitle_planes([compute_grid_spectrum(read_encoding("swin:window=7")), plane]) == f"{text}: swin"


# ----------------------------------------------------------------------------------- figures


def test_more_than_five_shares_are_not_listed_in_the_title():
    counts = [count_low_bin(find_encoding("sinusoidal")(d=d)) for d in (16, 32, 64, 128, 256, 512)]
    assert "; and 2 more" in read_all_words(compose_low_bin(*counts))
    assert "76 of 128 frequencies (59.4 %) lie below 2 pi/256" in read_all_words(compose_low_bin(counts[4]))


def test_spectra_are_told_apart_by_what_differs():
    sinusoidal = find_encoding("sinusoidal")(d=32)
    plain, mirrored = (compute_spectrum(sinusoidal, boundary=boundary) for boundary in ("none", "reflect"))
    names = name_spectra([plain, mirrored])
    assert [name.rpartition(", ")[2] for name in names] == ["boundary none", "boundary reflect"]
    heads = [compute_spectrum(find_encoding("alibi")(heads=count)) for count in (4, 8)]
    (line,) = [line for line in describe_spectra(heads) if "median over heads" in line]
    assert "alibi" in line
    (line,) = [line for line in describe_spectra(heads[:1]) if "median over 4 heads" in line]


def test_without_smoothing_neither_bandwidth_nor_boundary_is_named():
    plain, smooth = compute_spectrum(find_encoding("dft")(d=16)), compute_spectrum(find_encoding("sinusoidal")(d=16))
    texts = [read_all_words(compose_reconstruction(reconstruct_positions(one, [4]))) for one in (plain, smooth)]
    for word in ("bandwidth", "boundary"):
        assert [word in text for text in texts] == [False, True]
