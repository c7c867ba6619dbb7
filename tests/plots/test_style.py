"""Lines, words and labels of figures: told apart without colour, escaped, cut and wrapped."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra.encodings import find_encoding
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.plots.axes import MOST_POINTS, _thin_curve, draw_curve, place_label
from pe_spectra.plots.blur import compose_reconstruction
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import curve_style, escape_text, measure_text, shorten_text, wrap_text
from pe_spectra.plots.wavelengths import compose_context
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.spectrum import compute_spectrum
from tests.plots.figures import empty_axes, labels, read_words


def test_long_curves_keep_each_point_at_the_left_end_of_a_logarithmic_axis() -> None:
    x = np.arange(1.0, 100_001.0)
    assert [int(_thin_curve(x, np.sin(x), logarithmic=scale)[0][9]) for scale in (False, True)] == [212, 10]


def test_long_curves_keep_their_extremes_and_ends() -> None:
    x = np.arange(100_001.0)
    y = np.sin(x)
    y[[77, 50_003]] = [9.0, -9.0]
    y[60_000:61_000] = np.nan
    thin_x, thin_y = _thin_curve(x, y)
    assert thin_x.size <= MOST_POINTS + 2
    assert {0.0, 77.0, 50_003.0, 100_000.0} <= set(thin_x)
    np.testing.assert_array_equal(thin_y, y[thin_x.astype(int)])
    short = _thin_curve(x[:MOST_POINTS], y[:MOST_POINTS])
    assert short[0].size == MOST_POINTS


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain d=256, ω", "plain d=256, ω"),
        ("$x$", r"\$x\$"),
        ("a\nb\x1b[31m\x7f\x9b", r"a\x0ab\x1b[31m\x7f\x9b"),
        ("\u202eabc\u2028\ud800", r"\u202eabc\u2028\ud800"),
        ("back\\slash", r"back\x5cslash"),
        ("漢\U00020000", r"\u6f22\U00020000"),
    ],
)
def test_text_from_outside_is_escaped(text: str, escaped: str) -> None:
    assert escape_text(text) == escaped


def test_long_text_from_outside_is_cut() -> None:
    assert escape_text("a" * 500) == "a" * 29 + "…" + "a" * 30
    assert len(escape_text("a" * 60)) == 60


def test_lines_are_told_apart_without_colour() -> None:
    styles = [tuple(map(str, curve_style(index).values())) for index in range(30)]
    assert len(set(styles)) == 30
    assert len({curve_style(index)["linestyle"] for index in range(5)}) == 5


def test_words_are_wrapped_and_cut_to_the_width() -> None:
    lines = wrap_text("one two three four five six seven " + "x" * 80, 7.0, 1.0)
    assert "".join(lines).replace(" ", "") == "onetwothreefourfivesixseven" + "x" * 80
    assert all(measure_text(line, 7.0) <= 1.02 for line in lines)
    assert wrap_text("", 7.0, 1.0) == ()
    assert wrap_text("lattice N\u00a0=\u00a0256", 7.0, 0.6) == ("lattice", "N\u00a0=\u00a0256")
    cut = shorten_text("abcdefghij" * 10, 7.0, 1.0)
    assert (cut[:3], cut[-3:], cut.count("…")) == ("abc", "hij", 1)
    assert measure_text(cut, 7.0) <= 1.0
    dollars = shorten_text(escape_text("$" * 60), 7.0, 1.0)
    assert set(dollars.replace(r"\$", "")) == {"…"}


def test_sheet_grows_with_its_words() -> None:
    short, _ = lay_out(Layout(title="short", heights=(1.0,)))
    long, panels = lay_out(Layout(title="word " * 40, heights=(1.0, 2.0), small_print=("more " * 40,)))
    assert long.get_size_inches()[1] > short.get_size_inches()[1] + 2
    heights = [axes.get_position().height * long.get_size_inches()[1] for axes in panels]
    assert heights == pytest.approx([1.0, 2.0])


ROPE = "rope d=128 base=10000 scaling=llama3 factor=8"


# ----------------------------------------------------------------------------------- text


@pytest.mark.parametrize("width", [1.3, 1.6, 2.0, 2.2])
def test_labels_are_cut_between_words(width: float) -> None:
    cut = shorten_text(ROPE, 7.0, width)
    assert measure_text(cut, 7.0) <= width
    head, tail = cut.split(" … ")
    assert ROPE.startswith(f"{head} ")
    assert ROPE.endswith(f" {tail}")


def test_a_long_word_is_cut_inside_and_a_short_text_is_not_cut() -> None:
    long = "a" * 40 + " " + "b" * 40
    assert "a…" in shorten_text(long, 7.0, 1.0)
    assert shorten_text(ROPE, 7.0, 9.0) == ROPE
    assert escape_text("a " + "x" * 70 + " b") == "a " + "x" * 27 + "…" + "x" * 28 + " b"


def test_text_from_outside_is_cut_between_words() -> None:
    assert escape_text(ROPE, longest=40) == "rope d=128 … scaling=llama3 factor=8"
    assert len(escape_text(ROPE * 2)) <= 60


@pytest.mark.slow
def test_bases_are_written_as_the_text_writes_them() -> None:
    report = compare_methods(128, 10000.0, 4096, 32768)
    figure = compose_context(report)
    shown = [text for axes in figure.axes for text in labels(axes)]
    assert {"critical-base 192,144", "men-base 630,000"} <= set(shown)
    assert "base 10,000, factor 8" in read_words(figure)


# ----------------------------------------------------------------------------------- figures


def test_a_label_without_a_place_is_not_written():
    axes = empty_axes()
    assert place_label(axes, "name", []) is None
    assert not axes.texts


def test_panels_of_an_odd_number_leave_no_empty_frame():
    sinusoidal = find_encoding("sinusoidal")(d=16)
    spectra = [compute_spectrum(sinusoidal, bandwidth=width) for width in (1.0, 2.0, 4.0, 8.0, 16.0)]
    figure = compose_reconstruction(*(reconstruct_positions(spectrum, [4]) for spectrum in spectra))
    assert len(figure.axes) == 5


# ----------------------------------------------------------------------------------- faithfulness


@pytest.mark.slow
def test_curves_on_logarithmic_lags_are_thinned_as_they_are_drawn() -> None:
    lags = np.arange(1.0, 20_000.0)
    distances = np.sin(lags)
    axes = Figure().add_subplot()
    axes.set_xscale("log")
    line = draw_curve(axes, lags, distances, {"color": "black", "linestyle": "-"})
    drawn = np.asarray(line.get_xdata())
    np.testing.assert_array_equal(drawn[:200], lags[:200])
    np.testing.assert_array_equal(line.get_ydata(), distances[drawn.astype(int) - 1])
    assert drawn[-1] == lags[-1]
    assert drawn.size <= MOST_POINTS + 2
    assert np.diff(np.log(drawn)).max() == np.log(2)
    assert _thin_curve(lags, distances)[0][9] > 10  # equal lags on an axis with equal steps


# ----------------------------------------------------------------------------------- reconstruction


@pytest.mark.slow
def test_a_label_of_a_point_outside_has_a_size() -> None:
    axes = Figure().add_subplot()
    outside = [(1.5, 0.5, "right"), (0.5, 0.5, "right")]
    first = place_label(axes, "first", [outside[1]])
    assert first is not None
    assert place_label(axes, "second", outside) is None
