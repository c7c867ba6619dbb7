"""The figure of faithfulness: curves over the lag, marks, maps and collisions."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import Sinusoidal
from pe_spectra.encodings import DfsTrans, Dft, Learned, find_encoding
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness
from pe_spectra.faithfulness.pair_lags import compute_distances
from pe_spectra.faithfulness.separation import find_pair_words
from pe_spectra.figures import RECIPES
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.plots.distances import _find_gram_scale, _part_curves, compose_faithfulness
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.style import curve_style, fixed_style
from tests.making import give_table, make_encoding, make_named
from tests.plots.figures import (
    curves_of,
    labels,
    list_axes,
    make_weird,
    notes_of,
    read_all_words,
    read_words,
    separations,
)


def test_separation_lines_carry_the_curve_and_mark_the_closest_pair() -> None:
    result = measure_faithfulness(Sinusoidal(d=8, rho=3.0), length=800)
    axes = compose_faithfulness(result).axes[0]
    (x, y), (lag, distance) = curves_of(axes)
    np.testing.assert_array_equal(x, np.arange(1, 800))
    np.testing.assert_array_equal(y, result.separation_by_lag)
    assert (lag.tolist(), distance.tolist()) == ([446], [result.min_separation])
    assert any("closest: 0 and 446, distance 0.95283" in text.get_text() for text in axes.texts)


@pytest.mark.slow
def test_mark_of_a_pair_that_does_not_begin_at_zero_stands_at_its_lag() -> None:
    result = measure_faithfulness(DfsTrans(d=16), length=50)
    assert result.closest_pair == (1, 17)
    assert curves_of(compose_faithfulness(result).axes[0])[-1][0].tolist() == [16]


@pytest.mark.slow
def test_encoding_without_a_curve_is_named_in_the_axes() -> None:
    (result, other) = separations(50)
    figure = compose_faithfulness(dataclasses.replace(result, separation_by_lag=None), other)
    assert figure.axes[0].get_title(loc="left") == "no curve by lag: sinusoidal d=16 rho=10000"


@pytest.mark.slow
def test_small_separations_stand_on_a_logarithmic_axis() -> None:
    figure = compose_faithfulness(measure_faithfulness(Sinusoidal(d=2), length=1000))
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_xscale() == "linear"
    assert compose_faithfulness(*separations(2000)).axes[0].get_xscale() == "log"


ALIBI = find_encoding("alibi")()


# ----------------------------------------------------------------------------------- faithfulness


@pytest.mark.slow
@pytest.mark.parametrize(("least", "said"), [(0.48569, "0.48"), (0.5, "0.50"), (-0.301, "-0.31"), (0.57, "0.56")])
def test_no_dot_product_falls_below_what_the_title_says(least: float, said: str) -> None:
    below = np.nextafter(least, -1.0) if least == 0.57 else least
    result = measure_faithfulness(Dft(d=8), length=2)
    vars(result)["gram"] = np.array([[1.0, below], [below, 1.0]])  # what is remembered of it
    figure = RECIPES[7].draw(result)
    assert f"never fall below {said} of the largest" in read_words(figure)
    assert float(said) <= below


def collide(*, rows: int = 12) -> Faithfulness:
    table = np.random.default_rng(0).normal(size=(rows, 4))
    table[7] = table[3]
    return measure_faithfulness(Learned(values=table))


@pytest.mark.slow
def test_maps_and_collisions_are_named_among_several() -> None:
    tables = [measure_faithfulness(encoding, length=20) for encoding in (Sinusoidal(d=8), ALIBI, Dft(d=32))]
    first, last = tables[0].encoding.label, tables[2].encoding.label
    found = collide()
    words = read_words(compose_faithfulness(*tables, found))
    assert f"{found.encoding.label} on 0 .. {found.length - 1} (positions 3 and 7 have the same vector)" in words
    assert words.endswith(f"; of {first} and {last}")
    assert "Injective at length 20: " in read_words(compose_faithfulness(*tables))
    assert "; of " not in read_words(compose_faithfulness(tables[0], tables[2]))
    many = read_words(compose_faithfulness(*[found] * 5))
    assert "Not injective on 0 .. " in many
    assert "and 2 more" in many
    same = dataclasses.replace(found, encoding=ALIBI)
    assert f"alibi on 0 .. {found.length - 1} (positions 3 and 7 have the same vector)" in read_words(
        compose_faithfulness(tables[0], same)
    )


@pytest.mark.slow
def test_a_single_position_is_no_panel_of_nothing() -> None:
    one = measure_faithfulness(Sinusoidal(d=8), length=1)
    figure = compose_faithfulness(one)
    (axes,) = figure.axes
    assert notes_of(axes) == ["one position: nothing to compare"]
    assert not figure.artists  # no key
    assert not axes.get_xticks().size + axes.get_yticks().size
    assert read_words(figure).endswith(" 1 position")
    both = compose_faithfulness(one, measure_faithfulness(Dft(d=8), length=8))
    assert len(both.artists) == 1
    assert "one position: nothing to compare" not in notes_of(both.axes[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "said"), [(300, "positions 0 to 255 of 300"), (200, "the first 200 position vectors")]
)
def test_a_map_says_which_positions_it_leaves_out(length: int, said: str) -> None:
    assert said in read_words(compose_faithfulness(measure_faithfulness(Dft(d=256), length=length)))


@functools.cache
def draw_separations() -> Figure:
    encodings = (give_table(Sinusoidal(d=64).table(200), "sin.npy"), Dft(d=64), make_named("alibi"))
    return compose_faithfulness(*[measure_faithfulness(encoding) for encoding in encodings])


# ----------------------------------------------------------------------------------- Gram matrices


def test_a_row_of_large_norm_does_not_wash_out_the_gram_matrix() -> None:
    table = make_weird()
    figure = compose_faithfulness(measure_faithfulness(give_table(table)))
    axes = figure.axes[1]
    (bar,) = axes.child_axes
    (image,) = axes.images
    norms = sorted(math.fsum(row**2) for row in table)
    reach = norms[math.ceil(0.9 * (len(norms) - 1))] / norms[-1]
    assert reach == pytest.approx(0.04, rel=1e-9)
    assert image.get_clim() == pytest.approx((-reach, reach), rel=1e-12)
    assert float(image.get_array().max()) == pytest.approx(1.0)
    (arrow,) = [patch for patch in bar.patches if isinstance(patch, Polygon)]
    assert arrow.get_xy()[:, 1].max() > 1  # at the upper end: no product is as far below zero
    assert "colours end at 0.04, which 90 % of the squared norms do not exceed (arrow)" in read_words(figure)


@pytest.mark.slow
def test_arrows_stand_at_both_ends_of_a_table_that_is_cut() -> None:
    figure = compose_portrait(draw_portrait(give_table(make_weird())))
    bars = [bar for axes in figure.axes for bar in axes.child_axes]
    tips = [float(y) for bar in bars for patch in bar.patches for y in patch.get_xy()[:, 1]]
    assert min(tips) < 0 < 1 < max(tips)


def test_a_gram_matrix_of_even_norms_keeps_all_its_colours() -> None:
    codes = np.arange(40.0)[:, None]
    assert _find_gram_scale(codes @ codes.T / 39**2) is None
    assert _find_gram_scale(np.zeros((20, 20))) is None
    assert "colours" not in read_words(draw_separations())
    assert not [patch for axes in list_axes(draw_separations()) for patch in axes.patches if isinstance(patch, Polygon)]


@pytest.mark.slow
def test_of_two_gram_matrices_the_one_that_is_cut_is_named() -> None:
    both = [measure_faithfulness(encoding) for encoding in (Dft(d=16), give_table(make_weird()))]
    assert "colours of table.npy 200 x 64 end at 0.04" in read_words(compose_faithfulness(*both))


# ----------------------------------------------------------------------------------- distances


def test_distances_of_other_sizes_stand_in_two_panels_with_their_labels_near() -> None:
    figure = draw_separations()
    near, far = figure.axes[:2]
    assert near.get_ylim()[1] < 10 < 100 < far.get_ylim()[1]
    assert [text for text in labels(near) if text.startswith("closest")] == [
        "closest: 0 and 1, distance 1.4718",
        "closest: 0 and 64, distance 0",
    ]
    (label,) = far.texts
    assert label.get_text() == "closest: 0 and 1, distance 0.57735"
    box = label.get_window_extent()
    across, up = far.transData.transform((1, 0.57735))
    gap = np.hypot(max(box.x0 - across, 0), max(box.y0 - up, up - box.y1, 0)) / figure.dpi
    assert gap < 0.5  # inches
    assert far.lines[0].get_color() == curve_style(2)["color"]
    assert "two panels, for the distances differ more than tenfold" in read_words(figure)


def test_distances_of_one_size_or_of_many_stand_in_one_panel() -> None:
    nothing = measure_faithfulness(Sinusoidal(d=8), length=1)
    (pair,) = [measure_faithfulness(Sinusoidal(d=8), length=2)]

    def curve(distance: float) -> Faithfulness:
        return dataclasses.replace(pair, separation_by_lag=np.array([distance]), min_separation=distance)

    assert _part_curves([curve(1.0), curve(10.0)]) == [[0, 1]]
    assert _part_curves([curve(11.0), nothing, curve(0.0), curve(1.0)]) == [[0], [1, 2, 3]]
    assert _part_curves([curve(0.001), curve(5.0)]) == [[0, 1]]  # a logarithmic axis shows both
    assert _part_curves([nothing]) == [[0]]


# ----------------------------------------------------------------------------------- figures


@pytest.mark.slow
def test_the_figure_has_a_gram_matrix_for_the_first_two_tables():
    results = [
        measure_faithfulness(make_encoding(spec), length=30)
        for spec in ("sinusoidal:d=8", "alibi", "dft:d=9", "rope:d=8")
    ]
    figure = compose_faithfulness(*results)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == [
        "Gram matrix of sinusoidal d=8 rho=10000",
        "Gram matrix of dft d=9",
    ]
    words = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert words.endswith("of sinusoidal d=8 rho=10000 and dft d=9")
    (image,) = next(axes.images for axes in figure.axes if axes.get_title(loc="left").startswith("Gram matrix of dft"))
    assert_array_equal(image.get_array(), results[2].gram)


def test_curves_of_very_many_lags_are_drawn_by_stretches():
    result = measure_faithfulness(Sinusoidal(d=8), length=200_000)
    assert result.separation_by_lag is None
    lags, distances = result.envelope
    assert len(lags) < 4096
    assert (np.diff(lags) > 0).all()
    assert lags[0] == 1
    assert result.closest_pair[1] in lags
    words = find_pair_words(Sinusoidal(d=8)).words
    assert_allclose(distances, compute_distances(words, lags), rtol=1e-9)
    middle = int(np.searchsorted(lags, 5000))
    assert compute_distances(words, np.arange(lags[middle - 1] + 1, lags[middle])).min() > min(
        distances[middle - 1 : middle + 1]
    )
    axes = compose_faithfulness(result).axes[0]
    assert_array_equal(axes.lines[0].get_xdata(), lags)
    assert axes.get_title(loc="left") == ""
    assert measure_faithfulness(Sinusoidal(d=8), length=100).envelope is None


@pytest.mark.slow
def test_the_label_of_the_closest_pair_stands_by_its_circle():
    """Below a flat curve no side of the circle is free; the nearest place is."""
    results = [measure_faithfulness(encoding, length=400) for encoding in (Dft(), Sinusoidal())]
    figure = compose_faithfulness(*results)
    axes = figure.axes[0]
    with fixed_style():
        figure.draw_without_rendering()
        label = next(text for text in axes.texts if "0 and 256" in text.get_text()).get_window_extent()
    mark = axes.transData.transform((256, 0))
    assert max(label.x0 - mark[0], mark[0] - label.x1, 0) < 0.1 * axes.bbox.width
    assert abs(label.y0 - mark[1]) < 0.1 * axes.bbox.height


# ----------------------------------------------------------------------------------- figures


def test_an_encoding_without_a_closest_pair_gets_a_title():
    result = measure_faithfulness(find_encoding("sinusoidal")(d=8), length=1)
    assert result.min_separation is None
    assert "Injective on 0 .. 0" in read_all_words(compose_faithfulness(result))
