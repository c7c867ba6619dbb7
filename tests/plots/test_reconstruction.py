"""The figure of reconstructions: curves, widths, panels, and titles that are true."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra import Dft, Sinusoidal, compute_spectrum, read_encoding, reconstruct_positions
from pe_spectra.encodings import Encoding, find_encoding
from pe_spectra.plots.blur import MOST_PANELS, compose_reconstruction, draw_reconstruction
from pe_spectra.plots.style import fixed_style
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
    draw_reconstruction(axes, result, top=1.0)
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
        "At bandwidth 4 a single position is blurred to 11.9 positions (full width at half maximum, 32.6 at a tenth), "
        "peak 0.34, through sinusoidal; through dft it comes back exactly" in title.replace("\n", " ")
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


@pytest.mark.slow
def test_panels_beyond_the_limit_are_counted() -> None:
    many = [reconstruct_positions(spectrum_of(8, bandwidth=b), [1]) for b in range(1, MOST_PANELS + 3)]
    figure = compose_reconstruction(*many)
    assert len(figure.axes) == MOST_PANELS
    assert any(f"{MOST_PANELS} of {MOST_PANELS + 2} panels" in text.get_text() for text in figure.texts)


def reconstruct(encoding: Encoding, s: list[int], bandwidth: float = 4.0) -> Figure:
    spectra = compute_spectrum(encoding, bandwidth=bandwidth), compute_spectrum(Dft(d=encoding.d))
    return compose_reconstruction(*[reconstruct_positions(spectrum, s) for spectrum in spectra])


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
def test_widths_without_room_are_said_below_the_panels() -> None:
    words = read_words(reconstruct(Sinusoidal(d=16), list(range(16))))
    assert "sinusoidal d=16 rho=10000: 1.42 wide at half, 3.2 at a tenth, bandwidth 4" in words


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- reconstruct


def reconstruct_all(spectra, s=(40,)):
    return [reconstruct_positions(spectrum, s) for spectrum in spectra]


# ----------------------------------------------------------------------------------- titles


def test_moved_positions_have_no_width(previous_heads):
    (moved,) = reconstruct_all([spectrum_of_spec(previous_heads)])
    figure = compose_reconstruction(moved)
    assert "a single position comes back elsewhere through t5 (1 position away)" in read_words(figure)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert not [text for text in texts if "wide" in text]


# ----------------------------------------------------------------------------------- figures


def test_a_reconstruction_that_never_falls_to_half_says_so():
    spectrum = compute_spectrum(find_encoding("sinusoidal")(d=16), bandwidth=0.01)
    result = reconstruct_positions(spectrum, [4])
    assert result.positions[0].fwhm is None
    words = read_all_words(compose_reconstruction(result))
    assert "a single position is blurred so that it never falls to half of its maximum" in words
    assert "wide at half" not in words


@pytest.mark.slow
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
