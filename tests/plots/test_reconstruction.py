"""The figure of reconstructions: curves, widths, panels, and titles that are true."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra import Dft, Sinusoidal, compute_spectrum, read_encoding, reconstruct_positions
from pe_spectra.answers.panels import ReconstructionPanel, entitle_panels, read_panel
from pe_spectra.encodings import Encoding, find_encoding
from pe_spectra.figures.collection import RECIPES
from pe_spectra.plots.blur import (
    MOST_PANELS,
    compose_panels,
    compose_reconstruction,
    plot_reconstruction,
)
from pe_spectra.plots.style import fixed_style
from pe_spectra.reconstruction import measure_shift
from tests.plots.figures import (
    FIGURES,
    curves_of,
    empty_axes,
    kernel_of,
    read_all_words,
    read_words,
    reconstructions,
    spectrum_of,
)


def test_reconstruction_lines_carry_the_values() -> None:
    (result, _), axes = reconstructions(64, [5, 40]), empty_axes()
    plot_reconstruction(axes, result)
    for (x, y), position in zip(curves_of(axes), result.positions, strict=True):
        np.testing.assert_array_equal(x, np.arange(64))
        np.testing.assert_array_equal(y, position.values)


def test_reconstruction_says_its_width_once_with_its_bandwidth() -> None:
    figure = FIGURES["reconstruction of the paper"]()
    upper = [text.get_text() for text in figure.axes[0].texts]
    assert upper == ["s\u2009=\u20095", "s\u2009=\u200940", "s\u2009=\u200975", upper[-1]]
    assert upper[-1].split("\n") == ["11.9 wide at half,", "32.6 at a tenth,", "bandwidth 4"]
    title = " ".join(text.get_text() for text in figure.texts)
    assert (
        "At bandwidth 4 a single position is blurred to 11.9 positions (full width at half maximum), peak 0.34" in title
    )


def test_panels_have_one_scale_where_all_peaks_can_be_seen() -> None:
    upper, lower = FIGURES["reconstruction of the paper"]().axes
    assert upper.get_ylim()[1] == lower.get_ylim()[1]
    tops = {axes.get_ylim()[1] for axes in FIGURES["reconstruction, bandwidths"]().axes}
    assert len(tops) > 1


def test_kernel_stands_beside_what_the_window_leaves() -> None:
    figure = FIGURES["reconstruction, window-free"]()
    assert len(figure.axes) == 3
    (x, bare), (_, windowed) = curves_of(figure.axes[2])
    np.testing.assert_allclose(bare, kernel_of(64)[:33] / 32, rtol=1e-14)
    np.testing.assert_array_equal(x, np.arange(33))
    assert windowed[0] == 1
    assert (windowed[1:] < bare[1:]).all()


def test_panels_beyond_the_limit_are_counted() -> None:
    many = [reconstruct_positions(spectrum_of(8, bandwidth=b), [1]) for b in range(1, MOST_PANELS + 3)]
    figure = compose_reconstruction(*many)
    assert len(figure.axes) == MOST_PANELS
    assert any(f"{MOST_PANELS} of {MOST_PANELS + 2} panels" in text.get_text() for text in figure.texts)


def reconstruct(encoding: Encoding, s: list[int], bandwidth: float = 4.0) -> Figure:
    spectra = compute_spectrum(encoding, bandwidth=bandwidth), compute_spectrum(Dft(d=encoding.d))
    return compose_reconstruction(*[reconstruct_positions(spectrum, s) for spectrum in spectra])


def panel(fwhm: float | None, bandwidth: float | None = 4.0, peak: float = 0.5, **more: object) -> ReconstructionPanel:
    shown = {"positions": (4,), "values": np.array([[0, 0, 0, peak / 4, peak, peak / 4, 0, 0, 0, 0.0]])} | more
    return ReconstructionPanel(heading="one", fwhm=fwhm, width_10=None, bandwidth=bandwidth, **shown)


# ----------------------------------------------------------------------------------- reconstruction


@pytest.mark.slow
@pytest.mark.parametrize("s", [0, 2, 255])
def test_bars_are_as_wide_as_is_written_on_the_circle(s: int) -> None:
    figure = reconstruct(Sinusoidal(d=256), [s])
    result = reconstruct_positions(compute_spectrum(Sinusoidal(d=256), bandwidth=4.0), [s]).positions[0]
    bars = [path.vertices[:, 0] for lines in figure.axes[0].collections for path in lines.get_paths()]
    assert len(bars) == 4
    drawn = sum(right - left for left, right in bars)
    assert drawn == pytest.approx(result.fwhm + result.width_10 - 2, abs=0.01)  # from 255 back to 0 nothing is drawn
    assert all(0 <= left < right <= 255 for left, right in bars)
    assert read_words(figure).endswith("locations are circular: after the last comes 0")


@pytest.mark.slow
def test_peaks_in_the_middle_are_not_called_circular() -> None:
    figure = reconstruct(Sinusoidal(d=256), [100])
    assert len(figure.axes[0].collections) == 2
    assert "circular" not in read_words(figure)
    assert "circular" not in read_words(
        compose_reconstruction(reconstruct_positions(compute_spectrum(Dft(d=16)), [15]))
    )


@pytest.mark.slow
@pytest.mark.parametrize(("d", "s"), [(512, [5, 250, 511]), (64, [60, 63]), (16, list(range(16)))])
def test_widths_keep_clear_of_locations_or_stand_in_the_small_print(d: int, s: list[int]) -> None:
    figure = reconstruct(Sinusoidal(d=d), s)
    for axes in figure.axes:
        with fixed_style():
            boxes = [(text.get_text(), text.get_window_extent()) for text in axes.texts]
        notes = [(text, box) for text, box in boxes if "wide" in text]
        for text, box in notes:
            assert [name for name, other in boxes if name != text and box.overlaps(other)] == []
        name = axes.get_title(loc="left").removesuffix(", bandwidth 4")
        assert bool(notes) != (f"{name}: " in read_words(figure))


@pytest.mark.slow
def test_titles_give_the_range_of_their_panels() -> None:
    text, half = "single position is blurred to", "(full width at half maximum), peak"
    assert (
        entitle_panels([panel(7.19), panel(16.54, peak=0.3)])
        == f"At bandwidth 4 a {text} 7.19 to 16.5 positions {half} 0.3 to 0.5"
    )
    assert (
        entitle_panels([panel(7.19), panel(1.0, None, peak=1)]) == f"At bandwidth 4 a {text} 7.19 positions {half} 0.5"
    )
    assert entitle_panels([panel(1.0, None, peak=1), panel(7.19)]) == f"A {text} 1 to 7.19 positions {half} 0.5 to 1"
    assert entitle_panels([panel(7.0), panel(None)]).endswith("; 1 of 2 never fall to half of their maximum")
    four = [panel(width, b) for width, b in ((7.0, 1.0), (8.0, 1.0), (3.0, 4.0), (2.0, 4.0))]
    assert entitle_panels(four) == f"At bandwidth 1 to 4 a {text} 2 to 8 positions {half} 0.5"


@pytest.mark.slow
def test_the_width_is_said_to_fall_only_where_it_does() -> None:
    falling = entitle_panels([panel(7.0, 1.0), panel(5.0, 2.0), panel(3.0, 4.0)])
    assert falling == "The width of the blur falls as the bandwidth grows: 7 positions at 1, 3 at 4"
    rising = entitle_panels([panel(7.0, 1.0), panel(8.0, 2.0), panel(3.0, 4.0)])
    assert rising == "The blur, by bandwidth: 7 positions at 1, 3 at 4"
    recipe = next(recipe for recipe in RECIPES if recipe.name == "fig3_width_bandwidth")
    figure = recipe.draw(
        {"bandwidth": np.array([1.0, 4.0]), "fwhm": np.array([9.0, 4]), "width_10": np.array([20.0, 9])}
    )
    assert "falls as the bandwidth grows" in read_words(figure)


@pytest.mark.slow
def test_widths_without_room_are_said_below_the_panels() -> None:
    crowded = panel(2.0, positions=tuple(range(10)), values=np.eye(10))
    assert "one: 2 wide at half, bandwidth 4" in read_words(compose_panels([crowded], title="", small_print=()))


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- reconstruct


def reconstruct_all(spectra, s=(40,)):
    return [reconstruct_positions(spectrum, s) for spectrum in spectra]


# ----------------------------------------------------------------------------------- titles


def test_titles_cover_all_panels():
    spectra = [spectrum_of_spec("alibi"), compute_spectrum(Dft(d=200)), compute_spectrum(Sinusoidal(d=200))]
    panels = [read_panel(result) for result in reconstruct_all(spectra)]
    most = panels[0].fwhm
    assert most > panels[2].fwhm > panels[1].fwhm == 1
    title = entitle_panels(panels)
    assert title.startswith(f"At bandwidth 4 a single position is blurred to 1 (dft) to {most:.3g} (alibi) positions")
    assert title.endswith(", peak 0.29 to 1")


def test_titles_of_moved_positions_praise_no_width(previous_heads):
    moved, other = reconstruct_all([spectrum_of_spec(previous_heads), compute_spectrum(Sinusoidal())])
    panel = read_panel(moved)
    assert (panel.fwhm, panel.width_10) == (None, None)
    assert entitle_panels([panel]) == "A single position comes back elsewhere, 1 position away"
    both = entitle_panels([panel, read_panel(other)])
    assert both == f"In 1 of 2 panels a single position comes back elsewhere, 1 position away: {panel.heading}"
    texts = [text.get_text() for axes in compose_reconstruction(moved).axes for text in axes.texts]
    assert not [text for text in texts if "wide" in text]


def test_titles_of_different_shifts_give_their_range(previous_heads, noisy_heads):
    panels = [
        read_panel(one)
        for one in reconstruct_all([spectrum_of_spec(previous_heads), spectrum_of_spec(f"{noisy_heads},head=2")])
    ]
    far = measure_shift(panels[1].values[0], 40)
    assert entitle_panels(panels) == f"A single position comes back elsewhere, 1 to {far} positions away"


# ----------------------------------------------------------------------------------- figures


def test_a_reconstruction_that_never_falls_to_half_says_so():
    spectrum = compute_spectrum(find_encoding("sinusoidal")(d=16), bandwidth=0.01)
    result = reconstruct_positions(spectrum, [4])
    assert read_panel(result).fwhm is None
    words = read_all_words(compose_reconstruction(result))
    assert "A single position is blurred so that it never falls to half of its maximum" in words
    assert "wide at half" not in words


def test_a_figure_of_numbers_near_the_largest_is_drawn_or_refused(cli, tmp_path):
    """Quietly: what the drawing library says of its axes is nobody's business."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(16, 4))
    for name, scale in (("large", 1.7e308), ("less", 1e307), ("small", 1e-310)):
        np.save(tmp_path / f"{name}.npy", rows * scale)
    done = cli("inspect large.npy --figure a.png")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: a figure of the table cannot be drawn (1.69e+308); numbers up to 1e+307 are accepted;"
        " without --figure the answer is given\n"
    )
    for line in ("faithfulness -e large.npy", "inspect less.npy", "inspect small.npy"):
        done = cli(f"{line} --figure a.png")
        assert (done.code, "Warning" in done.err, (tmp_path / "a.png").exists()) == (0, False, True)
