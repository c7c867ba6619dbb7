"""What portraits say of a table: titles, rows that are meant, and lines that are explained."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pe_spectra import Learned, read_encoding
from pe_spectra.answers.portraits import answer_portrait, describe_portrait, entitle_portrait
from pe_spectra.encodings import GivenArray, Sinusoidal, find_encoding
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.inspection.resize import resize_encoding
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.inspection_panels import draw_bias
from pe_spectra.plots.planes import describe_planes, draw_grid_kernel
from pe_spectra.plots.style import curve_style
from pe_spectra.spectrum import compute_grid_spectrum
from tests.making import give_table, make_named
from tests.planted import make_grid, make_noise, make_trained
from tests.plots.figures import empty_axes, make_weird, read_words


def grid(*, prefix: int = 0) -> Learned:
    parts = [5 * make_noise(1, 48)] * prefix + [make_grid(14, 14, 48)]
    return Learned(values=GivenArray(np.concatenate(parts)), prefix=prefix, grid="14x14")


def line() -> Learned:
    return Learned(values=GivenArray(make_trained(64, 16)))


# ----------------------------------------------------------------------------------- portraits


@pytest.mark.slow
def test_a_row_too_narrow_to_be_shaded_is_named() -> None:
    text = read_words(compose_portrait(draw_portrait(grid(prefix=1))))
    assert "periods and components: rows 1 to 196 only, row 0 is left out" in text
    assert "shaded" not in text


@pytest.mark.slow
def test_line_at_the_old_highest_frequency_is_explained() -> None:
    larger, smaller = (draw_portrait(line(), resized=resize_encoding(line(), (size,))) for size in (96, 48))
    figure = compose_portrait(larger)
    assert "grey line: the highest frequency of the old 64 rows after resizing, 2.09 rad/position" in read_words(figure)
    assert "weight per rad/position" in [axes.get_ylabel() for axes in figure.axes]
    assert "grey line" not in read_words(compose_portrait(smaller))


# ----------------------------------------------------------------------------------- inspection


def sum_toeplitz_share(codes: np.ndarray) -> float:
    """Over the Gram matrix's energy, that of the matrix with the mean of each diagonal in its place."""
    size = len(codes)
    gram = [[math.fsum(a * b) for b in codes] for a in codes]
    energy = math.fsum(value**2 for row in gram for value in row)
    diagonals = [[gram[s][s + lag] for s in range(size - lag)] for lag in range(size)]
    parts = [(2 if lag else 1) * math.fsum(one) ** 2 / len(one) for lag, one in enumerate(diagonals)]
    return math.fsum(parts) / energy


@pytest.mark.slow
def test_the_toeplitz_share_is_the_same_in_text_and_figure_and_names_its_rows() -> None:
    table = make_weird()
    table[1:150] += np.random.default_rng(1).normal(0, 0.1, (149, 64))
    portrait = draw_portrait(give_table(table))
    assert portrait.inspection is not None
    assert portrait.inspection.rows_used == (1, 150)
    share = f"{100 * sum_toeplitz_share(table[1:150]):.1f} %"
    assert share != "100.0 %"
    facts = dict(answer_portrait(portrait).facts)
    assert facts["toeplitz share"] == f"{share} (rows 1 to 149)"
    said = "Toeplitz share of rows 1 to 149 (of the Gram matrix's energy, what is a function of the lag alone)"
    text = read_words(compose_portrait(portrait))
    assert f"{said}: {share}" in text
    assert text.count("Toeplitz") == 1


def test_no_rows_are_named_where_none_is_left_out() -> None:
    portrait = draw_portrait(give_table(Sinusoidal(d=16).table(96)))
    assert dict(answer_portrait(portrait).facts)["toeplitz share"] == "100.0 %"


def test_a_grid_says_offset_and_a_bias_has_no_toeplitz_share() -> None:
    codes = np.random.default_rng(2).standard_normal((36, 4))
    grid = Learned(values=GivenArray(codes), grid="6x6")
    assert "Toeplitz share (of the Gram matrix's energy, what is a function of the offset alone)" in read_words(
        compose_portrait(draw_portrait(grid))
    )
    assert "Toeplitz" not in read_words(compose_portrait(draw_portrait(make_named("alibi"), length=32)))


def test_heads_of_one_colour_are_told_apart_by_a_piece_of_their_line() -> None:
    axes = Figure().subplots()
    draw_bias(axes, np.arange(4.0), np.linspace(0, 1, 32).reshape(8, 4), first=3)
    pieces = [artist for artist in axes.figure.artists if isinstance(artist, Line2D)]
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    styles = {}
    for head in range(8):
        (piece,) = [one for one in pieces if one.get_ydata()[0] == heights[f"head {head + 3}"]]
        style = curve_style(head)
        expected = Line2D([], [], **style)
        assert piece.get_color() == style["color"]
        assert piece._unscaled_dash_pattern == expected._unscaled_dash_pattern
        styles[head] = (piece.get_color(), str(piece._unscaled_dash_pattern))
    assert styles[0][0] == styles[6][0]
    assert len(set(styles.values())) == 8


# ----------------------------------------------------------------------------------- inspect


def test_portraits_say_it_in_their_title(previous_heads):
    portrait = draw_portrait(read_encoding(previous_heads))
    assert "Not a distribution" in entitle_portrait(portrait)
    assert not [line for line in describe_portrait(portrait) if line.startswith("Not a distribution")]


# ----------------------------------------------------------------------------------- parts of tables


def test_a_figure_of_the_first_rows_says_so(trained_table):
    portrait = draw_portrait(Learned(values=trained_table), length=128)
    assert ", first 128 rows. " in entitle_portrait(portrait)
    assert "first" not in entitle_portrait(draw_portrait(Learned(values=trained_table))).partition(". ")[0]


# ----------------------------------------------------------------------------------- figures


def test_biases_over_a_grid_have_no_toeplitz_share():
    with_share, without = (compute_grid_spectrum(find_encoding(name)()) for name in ("sincos2d", "swin"))
    assert any(line.startswith("Toeplitz share") for line in describe_planes([with_share]))
    assert not any(line.startswith("Toeplitz share") for line in describe_planes([without]))


def test_a_grid_of_one_row_is_drawn():
    plane = compute_grid_spectrum(give_table(np.random.default_rng(0).normal(size=(16, 4)), grid="1x16"))
    axes = empty_axes()
    draw_grid_kernel(axes, plane)
    assert axes.images or axes.collections


def test_a_portrait_of_one_row_has_no_steps():
    words = [axes.get_title(loc=place) for axes in compose_portrait(draw_portrait(give_table([[1.0, 2.0]]))).axes
             for place in ("left", "center")]  # fmt: skip
    assert not any("Step" in word for word in words)
